//===- FormConcats.cpp - Recognises concatenations ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs before fusion. Fusion would cut a chain that exceeds the code budget of
// a kernel, and write the conditions that it computes to memory.
//
// Tested by test/Dialect/LLIR/form-concats.mlir.
//
//===----------------------------------------------------------------------===//

#include "JoinedRows.h"
#include "luminal/Dialect/LLIR/Transforms/Passes.h"
#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"
#include "luminal/Dialect/LLIR/Utils/Remarks.h"

namespace luminal::llir {
#define GEN_PASS_DEF_FORMCONCATSPASS
#include "luminal/Dialect/LLIR/Transforms/Passes.h.inc"
} // namespace luminal::llir

#define DEBUG_TYPE "llir-form-concats"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

namespace {
class FormConcats : public llir::impl::FormConcatsPassBase<FormConcats> {
public:
  using FormConcatsPassBase::FormConcatsPassBase;
  void runOnOperation() override;

private:
  StringRef form(ElementwiseOp root, ArrayRef<Rows> rows);

  Assumptions symbols;
  DenseSet<Operation *> prepared;
};
} // namespace

/// Replaces the chain; otherwise returns why it stays.
StringRef FormConcats::form(ElementwiseOp root, ArrayRef<Rows> rows) {
  Value joined = root.getResult();
  SmallVector<RowsSource> sources;
  size_t numComputed = 0;
  for (const Rows &next : rows) {
    if (!isAligned(next, joined, symbols))
      return "a part is not known to begin at a multiple of the alignment of "
             "buffers";
    RowsSource source = getSource(next, joined, symbols);
    Operation *op = source.value.getDefiningOp();
    if (prepared.contains(op))
      return "a part is computed when weights are bound";
    // Copies are made of elements of arguments and constants, and of values
    // that are computed at each index of the result.
    numComputed +=
        op && !isa<llir::ConstantOp, IotaOp>(op) &&
        haveSameSize(source.extents, hlir::getExtents(source.value), symbols);
    sources.push_back(std::move(source));
  }
  if (2 * numComputed < sources.size())
    return "most parts have to be copied";

  OpBuilder builder(root);
  auto type = cast<RankedTensorType>(joined.getType());
  SmallVector<Value> parts;
  for (const RowsSource &source : sources) {
    RankedTensorType own =
        hlir::getTensorType(source.extents, type.getElementType());
    parts.push_back(isAllInOrder(source.map, source.extents,
                                 hlir::getExtents(source.value), symbols)
                        ? source.value
                        : ViewOp::create(builder, source.value.getLoc(), own,
                                         source.value, source.map));
  }
  auto concat = ConcatOp::create(builder, root.getLoc(), type, parts);
  joined.replaceAllUsesWith(concat.getResult());
  return {};
}

void FormConcats::runOnOperation() {
  func::FuncOp func = getOperation();
  if (func.isDeclaration() || !llvm::hasSingleElement(func.getBody()))
    return;
  symbols = Assumptions(hlir::getAssumptions(func).getSymbols());
  prepared = findPrepared(func);
  Block &block = func.getBody().front();
  // Start with the last op, so that each chain is found at its root.
  SmallVector<ElementwiseOp> ops(block.getOps<ElementwiseOp>());
  DenseSet<Value> inside;
  Reporter reporter(&getContext(), DEBUG_TYPE, func.getSymName());
  for (ElementwiseOp op : llvm::reverse(ops)) {
    if (op.getFn() != Fn::Select || inside.contains(op.getResult()) ||
        prepared.contains(op))
      continue;
    SmallVector<Value> chain;
    SmallVector<Rows> rows = cutRows(op.getResult(), symbols, &chain);
    inside.insert(chain.begin(), chain.end());
    if (rows.size() < fewestParts)
      continue;
    StringRef reason = form(op, rows);
    SmallVector<Reporter::Arg> args = {{"parts", uint64_t(rows.size())}};
    if (reason.empty()) {
      reporter.passed(op.getLoc(), "concat", args);
    } else {
      args.push_back({"reason", reason});
      reporter.missed(op.getLoc(), "concat", args);
    }
  }
}
