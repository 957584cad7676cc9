//===- ReduceOps.cpp - The pass reduce-ops --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// reduction-tree drops whole functions and dead ops, but never removes an op
// whose result is used. This pass replaces an op by one of its operands, or by
// zeros, as long as the test still finds the rest interesting.
//
//===----------------------------------------------------------------------===//

#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Reducer/Tester.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;
using namespace luminal;

static constexpr StringLiteral kArgument = "reduce-ops";

namespace {
class ReduceOps : public PassWrapper<ReduceOps, OperationPass<ModuleOp>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReduceOps)
  ReduceOps() = default;
  ReduceOps(const ReduceOps &other) : PassWrapper(other) {}
  StringRef getArgument() const override { return kArgument; }
  StringRef getDescription() const override {
    return "Replace ops by operands or zeros while a test exits with 1";
  }
  void runOnOperation() override;

private:
  bool shorten(unsigned index, const Tester &tester);

  Option<std::string> test{
      *this, "test",
      llvm::cl::desc("Program that, given a file name, exits with 1 "
                     "if the file is still interesting")};
  ListOption<std::string> testArgs{*this, "test-arg",
                                   llvm::cl::desc("Arguments before the name")};
};
} // namespace

/// The ops that may be replaced, in order.
static SmallVector<Operation *> getCandidates(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<func::FuncOp>(op) ||
        (isa_and_nonnull<hlir::HLIRDialect, llir::LLIRDialect>(
             op->getDialect()) &&
         op->getNumResults() == 1 && !op->hasTrait<OpTrait::ConstantLike>()))
      ops.push_back(op);
  });
  return ops;
}

/// Possible replacements of an op: an operand of its type, or zeros.
static SmallVector<Value> getSubstitutes(Operation *op) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<Value> values;
  for (Value operand : op->getOperands())
    if (operand.getType() == type && !llvm::is_contained(values, operand))
      values.push_back(operand);
  OpBuilder builder(op);
  if (!type || !type.hasStaticShape() ||
      !isa_and_nonnull<hlir::HLIRDialect>(op->getDialect()))
    return values;
  if (auto zeros = dyn_cast_or_null<ElementsAttr>(builder.getZeroAttr(type)))
    values.push_back(hlir::ConstantOp::create(builder, op->getLoc(), zeros));
  return values;
}

static void eraseDead(ModuleOp module) {
  module.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

static bool isInteresting(ModuleOp module, const Tester &tester) {
  return tester.isInteresting(module).first == Tester::Interestingness::True;
}

bool ReduceOps::shorten(unsigned index, const Tester &tester) {
  for (unsigned choice = 0;; ++choice) {
    OwningOpRef<ModuleOp> copy = getOperation().clone();
    SmallVector<Operation *> ops = getCandidates(*copy);
    if (index >= ops.size())
      return false;
    Operation *op = ops[index];
    if (isa<func::FuncOp>(op)) {
      if (choice > 0)
        return false;
    } else {
      SmallVector<Value> values = getSubstitutes(op);
      if (choice >= values.size())
        return false;
      op->getResult(0).replaceAllUsesWith(values[choice]);
    }
    op->erase();
    eraseDead(*copy);
    if (failed(verify(*copy)) || !isInteresting(*copy, tester))
      continue;
    getOperation().getBodyRegion().takeBody(copy->getBodyRegion());
    return true;
  }
}

void ReduceOps::runOnOperation() {
  Tester tester(test, testArgs);
  if (!llvm::sys::fs::can_execute(test) ||
      !isInteresting(getOperation(), tester)) {
    emitError(getOperation().getLoc())
        << kArgument << ": the test '" << test << "' does not exit with 1 here";
    return signalPassFailure();
  }
  // The last op first, because ops used only by it become dead with it. Each
  // change leaves fewer candidates, so this terminates.
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned i = getCandidates(getOperation()).size(); i-- > 0;)
      changed |= shorten(i, tester);
  }
}

void registerReduceOpsPass() { PassRegistration<ReduceOps>(); }
