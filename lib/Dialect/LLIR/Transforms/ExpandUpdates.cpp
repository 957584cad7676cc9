//===- ExpandUpdates.cpp - Makes updates independent of order -------------===//
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

/// Returns the updates as rows, one for each index, in row-major order.
static Value flattenUpdates(ImplicitLocOpBuilder &b, ScatterOp op,
                            const Expr &count, const Assumptions &symbols) {
  Value updates = op.getUpdates();
  SmallVector<Expr> taken = hlir::getExtents(updates);
  const size_t rank = hlir::getExtents(op.getIndices()).size();
  if (rank == 1)
    return updates;
  SmallVector<Expr> flat = {count};
  llvm::append_range(flat, ArrayRef(taken).drop_front(rank));
  return ViewOp::create(
      b, hlir::getTensorType(flat, getElementTypeOrSelf(updates)), updates,
      hlir::MapAttr(getReshape(op.getContext(), flat, taken, symbols)));
}

/// Returns a tensor whose elements are all `number`.
static Value spread(ImplicitLocOpBuilder &b, Type type, int64_t number,
                    ArrayRef<Expr> extents) {
  auto scalar = RankedTensorType::get({}, type);
  Value one = llir::ConstantOp::create(
      b, scalar,
      DenseElementsAttr::get(scalar,
                             Attribute(b.getIntegerAttr(type, number))));
  return ViewOp::create(b, hlir::getTensorType(extents, type), one,
                        MapAttr::get(b.getContext(), extents.size(), {}));
}

/// Replaces the scatter by sorted indices: each row reduces a segment of the
/// sorted updates, which begins after the segments of all rows before it.
static Value reduceSegments(ScatterOp op, const Assumptions &symbols) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  MLIRContext *context = op.getContext();
  SmallVector<Expr> counts = hlir::getExtents(op.getIndices()),
                    shape = hlir::getExtents(op.getDest());
  Expr count = product({counts.begin(), counts.end()}), rows = shape[0];
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  auto choose = [&](const Expr &most) {
    return symbols.provablyLessEqual(most, kMost) ? Type(b.getI32Type())
                                                  : Type(b.getI64Type());
  };
  Value indices = op.getIndices();
  if (counts.size() != 1)
    indices = ViewOp::create(
        b, hlir::getTensorType(count, getElementTypeOrSelf(indices)), indices,
        MapAttr(getReshape(context, {count}, counts, symbols)));
  Type number = choose(count);
  Value ones = spread(b, number, 1, {count}),
        none = spread(b, number, 0, {rows});
  Value sizes = ScatterOp::create(b, none.getType(), hlir::Combine::Add, none,
                                  indices, ones, op.getChecked());
  // Shorter keys are sorted faster.
  Value keys = indices;
  if (Type key = choose(rows);
      getElementTypeOrSelf(keys).isInteger(64) && key.isSignlessInteger(32))
    keys = ElementwiseOp::create(b, hlir::getTensorType(count, key), Fn::Cast,
                                 keys);
  Type i64 = b.getI64Type();
  Value order = ArgsortOp::create(b, hlir::getTensorType(count, i64), keys,
                                  /*descending=*/false, /*nan_first=*/false,
                                  /*begin=*/nullptr);
  Value begins =
      ScanOp::create(b, none.getType(), sizes, ScanKind::Sum, /*axis=*/0,
                     /*reverse=*/false, /*exclusive=*/true,
                     /*positions=*/false);
  Value updates = flattenUpdates(b, op, count, symbols);
  Value sorted = GatherOp::create(b, updates.getType(), updates, order,
                                  /*checked=*/false);
  const bool isSum = op.getCombine() == hlir::Combine::Add;
  Value reduced = SegmentReduceOp::create(
      b, op.getDest().getType(), isSum ? ReduceKind::Sum : ReduceKind::Max,
      sorted, begins);
  Value result = ElementwiseOp::create(b, op.getDest().getType(),
                                       isSum ? Fn::Add : Fn::Max,
                                       ValueRange{op.getDest(), reduced});
  // A row without updates keeps its bits.
  Value isUpdated =
      ElementwiseOp::create(b, hlir::getTensorType(rows, b.getI1Type()),
                            Fn::LessThan, ValueRange{none, sizes});
  isUpdated =
      ViewOp::create(b, hlir::getTensorType(shape, b.getI1Type()), isUpdated,
                     MapAttr::get(context, shape.size(), Expr::dim(0)));
  return ElementwiseOp::create(b, op.getDest().getType(), Fn::Select,
                               ValueRange{isUpdated, result, op.getDest()});
}

/// Returns the updates, with each update that a later one of the same row
/// follows replaced by the last update of that row.
static Value takeLast(ScatterOp op, const Assumptions &symbols) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  MLIRContext *context = op.getContext();
  SmallVector<Expr> counts = hlir::getExtents(op.getIndices());
  Expr count = product({counts.begin(), counts.end()}),
       rows = hlir::getExtents(op.getDest())[0];
  bool isNarrow =
      symbols.provablyLessEqual(count, std::numeric_limits<int32_t>::max());
  Type type = isNarrow ? b.getI32Type() : b.getI64Type();
  // -1 stands for no update.
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
  Value updates = flattenUpdates(b, op, count, symbols);
  return GatherOp::create(b, op.getUpdates().getType(), updates, last,
                          /*checked=*/true);
}

/// Replaces a scatter that writes each row once by a gather with the inverse
/// permutation, which is computed by adding integers to zeros, in any order.
static Value takeByInverse(ScatterOp op, const Assumptions &symbols) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Expr rows = hlir::getExtents(op.getDest())[0];
  Value indices = op.getIndices(), updates = op.getUpdates();
  auto positions = updates.getDefiningOp<IotaOp>();
  auto isCounted = [](Type type) {
    return type.isSignlessInteger(32) || type.isInteger(64);
  };
  const bool isInverse = positions &&
                         isCounted(getElementTypeOrSelf(updates)) &&
                         hlir::getExtents(updates).size() == 1 &&
                         positions.getMap().getResults()[0] == Expr::dim(0);
  bool isNarrow =
      symbols.provablyLessEqual(rows, std::numeric_limits<int32_t>::max());
  Type type = isInverse  ? getElementTypeOrSelf(updates)
              : isNarrow ? Type(b.getI32Type())
                         : Type(b.getI64Type());
  Value position =
      isInverse ? updates
                : IotaOp::create(b, hlir::getTensorType(rows, type),
                                 MapAttr::get(op.getContext(), 1, Expr::dim(0)))
                      .getResult();
  Value inverse = ScatterOp::create(
      b, hlir::getTensorType(rows, type), hlir::Combine::Add,
      spread(b, type, 0, {rows}), indices, position, op.getChecked());
  if (isInverse)
    return inverse;
  return GatherOp::create(b, op.getDest().getType(), updates, inverse,
                          /*checked=*/false);
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
      // The number of updates that one column processes in the time of the
      // other kernels.
      constexpr int64_t kFew = 64;
      const bool isFew = symbols.provablyLessEqual(
          countElements(op.getIndices().getType()), kFew);
      const bool isRounded = op.getCombine() == hlir::Combine::Add;
      if (isFew || (isExact && isRounded)) {
        reporter.missed(op.getLoc(), "updates",
                        {{"reason", isFew ? "few floats are combined in order"
                                          : "floats are combined in order"}});
        continue;
      }
      Value result = reduceSegments(op, symbols);
      reporter.passed(op.getLoc(), "updates", {{"by", "sorted indices"}});
      op.getResult().replaceAllUsesWith(result);
      op.erase();
      continue;
    }
    if (isPermutation(op.getIndices(), hlir::getExtents(op.getDest())[0],
                      symbols)) {
      Value result = takeByInverse(op, symbols);
      reporter.passed(op.getLoc(), "updates",
                      {{"by", "the inverse of a permutation"}});
      op.getResult().replaceAllUsesWith(result);
      op.erase();
      continue;
    }
    op.getUpdatesMutable().assign(takeLast(op, symbols));
    reporter.passed(op.getLoc(), "updates",
                    {{"by", "a table of the last update of each row"}});
  }
}
