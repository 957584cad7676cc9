//===- ExpandUpdates.cpp - Updates of one row agree -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Dialect/LLIR/expand-updates.mlir.
//
//===----------------------------------------------------------------------===//

#include "luminal/Dialect/LLIR/Analysis/UpdateOrder.h"
#include "luminal/Dialect/LLIR/Transforms/Passes.h"
#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"
#include "luminal/Dialect/LLIR/Utils/Remarks.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace luminal::llir {
#define GEN_PASS_DEF_EXPANDUPDATESPASS
#include "luminal/Dialect/LLIR/Transforms/Passes.h.inc"
} // namespace luminal::llir

#define DEBUG_TYPE "llir-expand-updates"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;
using luminal::hlir::MapAttr;

namespace {
struct ExpandUpdates : llir::impl::ExpandUpdatesPassBase<ExpandUpdates> {
  using ExpandUpdatesPassBase::ExpandUpdatesPassBase;
  void runOnOperation() override;
};
} // namespace

/// The updates with each that another of its row follows replaced by the last
/// of them.
static Value takeLast(ScatterOp op, const Assumptions &symbols) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  MLIRContext *context = op.getContext();
  SmallVector<Expr> counts = hlir::getExtents(op.getIndices()),
                    taken = hlir::getExtents(op.getUpdates());
  Expr count = product({counts.begin(), counts.end()}),
       rows = hlir::getExtents(op.getDest())[0];
  bool isNarrow =
      symbols.provablyLessEqual(count, std::numeric_limits<int32_t>::max());
  Type type = isNarrow ? b.getI32Type() : b.getI64Type();
  // No update.
  auto scalar = RankedTensorType::get({}, type);
  Value none = llir::ConstantOp::create(
      b, scalar, DenseElementsAttr::get(scalar, b.getIntegerAttr(type, -1)));
  Value table = ViewOp::create(b, hlir::getTensorType(rows, type), none,
                               MapAttr::get(context, 1, {}));
  std::vector<Expr> index;
  for (unsigned i = 0; i < counts.size(); ++i)
    index.push_back(Expr::dim(i));
  Value position = IotaOp::create(
      b, hlir::getTensorType(counts, type),
      MapAttr::get(context, counts.size(),
                   linearize(index, {counts.begin(), counts.end()})));
  table = ScatterOp::create(b, table.getType(), hlir::Combine::Max, table,
                            op.getIndices(), position, op.getChecked());
  Value last = GatherOp::create(b, position.getType(), table, op.getIndices(),
                                op.getChecked());
  // The updates as rows, one for each position.
  Value updates = op.getUpdates();
  if (counts.size() != 1) {
    SmallVector<Expr> flat = {count};
    llvm::append_range(flat, ArrayRef(taken).drop_front(counts.size()));
    updates = ViewOp::create(
        b,
        hlir::getTensorType(
            flat, cast<RankedTensorType>(updates.getType()).getElementType()),
        updates, hlir::MapAttr(getReshape(context, flat, taken, symbols)));
  }
  return GatherOp::create(b, op.getUpdates().getType(), updates, last,
                          /*checked=*/true);
}

void ExpandUpdates::runOnOperation() {
  if (!blockThreads || getOperation().isDeclaration())
    return;
  Assumptions symbols =
      hlir::getAssumptions(getOperation().getBody().front().getTerminator());
  Reporter reporter(&getContext(), DEBUG_TYPE, getOperation().getSymName());
  SmallVector<ScatterOp> scatters;
  getOperation().walk([&](ScatterOp op) { scatters.push_back(op); });
  for (ScatterOp op : scatters) {
    if (isOrderFree(op, symbols)) {
      reporter.passed(op.getLoc(), "updates", {{"by", "nothing"}});
      continue;
    }
    if (op.getCombine() != hlir::Combine::Set) {
      reporter.missed(op.getLoc(), "updates",
                      {{"reason", "floats are combined in order"}});
      continue;
    }
    op.getUpdatesMutable().assign(takeLast(op, symbols));
    reporter.passed(op.getLoc(), "updates",
                    {{"by", "a table of the last update of each row"}});
  }
}
