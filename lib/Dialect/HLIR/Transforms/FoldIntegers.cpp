//===- FoldIntegers.cpp - Folds integers that equal an expression ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %0 = iota <(d0) -> (d0 + 1)>
//   %1 = iota <(d0) -> (d0)>
//   %2 = less_than %1, %0              -->    %2 = true everywhere
//
// Tested by test/Dialect/HLIR/fold-integers.mlir, and on numbers by
// test/Integration/fold-integers.mlir.
//
//===----------------------------------------------------------------------===//

#include "luminal/Dialect/HLIR/Transforms/FoldIntegers.h"
#include "PiecewiseAffine.h"
#include "luminal/Dialect/HLIR/Transforms/Passes.h"
#include "luminal/Dialect/HLIR/Utils/DeadOps.h"
#include "luminal/Dialect/HLIR/Utils/Reporter.h"
#include "mlir/IR/Builders.h"

namespace luminal::hlir {
#define GEN_PASS_DEF_FOLDINTEGERSPASS
#include "luminal/Dialect/HLIR/Transforms/Passes.h.inc"
} // namespace luminal::hlir

#define DEBUG_TYPE "hlir-fold-integers"

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;

namespace {
class FoldIntegers : public hlir::impl::FoldIntegersPassBase<FoldIntegers> {
public:
  using FoldIntegersPassBase::FoldIntegersPassBase;
  void runOnOperation() override;
};
} // namespace

/// Whether the op is in its simplest form already.
static bool isPlain(Operation *op) {
  return isa<hlir::ConstantOp, IotaOp, ViewOp>(op);
}

/// A splat constant or an `iota`; null if the type has neither.
static Value build(OpBuilder &builder, Location loc, const Expr &e,
                   RankedTensorType type) {
  MLIRContext *context = builder.getContext();
  const unsigned rank = type.getRank();
  if (std::optional<int64_t> value = e.asConstant()) {
    Type element = type.getElementType();
    auto scalar = DenseElementsAttr::get(RankedTensorType::get({}, element),
                                         APInt(element.getIntOrFloatBitWidth(),
                                               *value, /*isSigned=*/true,
                                               /*implicitTrunc=*/true));
    Value constant = hlir::ConstantOp::create(builder, loc, scalar);
    if (rank == 0)
      return constant;
    return ViewOp::create(builder, loc, type, constant,
                          MapAttr::get(context, rank, {}));
  }
  if (type.getElementType().isInteger(1))
    return nullptr;
  return IotaOp::create(builder, loc, type, MapAttr::get(context, rank, {e}));
}

void hlir::findKnownIntegers(
    func::FuncOp func, function_ref<void(Value value, Value same)> found) {
  Reporter reporter(func.getContext(), DEBUG_TYPE, func.getSymName());
  PiecewiseAffine values(func);
  // Folded at the end, because later queries are about the existing ops.
  SmallVector<std::pair<Operation *, Expr>> folded;
  // In pre-order, operands come before their readers, and ops before their
  // regions.
  func.walk([&](Operation *op) {
    if (values.isExhausted())
      return;
    values.add(op);
    if (values.isExhausted() && reporter.isListening())
      reporter.missed(op->getLoc(), "integer",
                      {{"reason", "the limit of sets to test is reached"}});
    if (op->getNumResults() != 1 || isPlain(op))
      return;
    std::optional<Expr> e = values.getExpr(op->getResult(0));
    if (!e)
      return;
    folded.push_back({op, *e});
  });
  OpBuilder builder(func.getContext());
  for (const auto &[op, e] : folded) {
    builder.setInsertionPoint(op);
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Value value = build(builder, op->getLoc(), e, type);
    if (!value)
      continue;
    if (reporter.isListening())
      reporter.passed(op->getLoc(), "integer",
                      {{"op", op->getName().getStringRef()}, {"is", e.str()}});
    found(op->getResult(0), value);
  }
}

void FoldIntegers::runOnOperation() {
  func::FuncOp func = getOperation();
  bool changed = false;
  findKnownIntegers(func, [&](Value value, Value same) {
    value.replaceAllUsesWith(same);
    changed = true;
  });
  if (!changed)
    return markAllAnalysesPreserved();
  // Erases the folded ops and what only they used.
  func.walk([](Block *block) { eraseDeadOps(*block); });
}
