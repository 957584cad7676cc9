//===- ReduceKernel.cpp - Kernels that reduce rows ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every reduction of the body is one pass over a row; the elements of results
// that have the whole domain's shape are a last pass. A pass finds the results
// of earlier reductions in the emitter's memo. Where elements of a row are far
// apart and rows are next to each other, lanes run over rows.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace luminal;
using namespace mlir;

namespace {
class ReduceKernel {
public:
  ReduceKernel(Emitter &e, const WorkLoop &loop) : e(e), loop(loop) {
    for (auto op : e.kernel.getBody().getOps<llir::ReduceOp>())
      reduces.push_back(op);
    rows = hlir::getExtents(reduces[0].getOperand());
    extent = rows.pop_back_val();
    column = e.addDim(extent);
  }

  WorkShape emit() {
    domain = makeDomain(
        e, rows, [&](const Index &index, function_ref<void(const Leaf &)> v) {
          walk(index, v);
        });
    Emitter::Repeated repeated(e,
                               {domain.extents.begin(), domain.extents.end()});
    // The mean cost of a pass is that of the body.
    int64_t passes = reduces.size() + 1;
    Expr cost = extent * (getElementCost(e.kernel) * passes);
    if (!loop.single && shouldVectorizeRows())
      return emitAcrossRows(cost);
    return emitAlongRows(cost);
  }

private:
  bool isRowLevel(Value v) const {
    return cast<RankedTensorType>(v.getType()).getRank() ==
           int64_t(rows.size());
  }
  Index withColumn(Index index) const {
    index.push_back(Expr::dim(column));
    return index;
  }

  void walk(const Index &index, function_ref<void(const Leaf &)> visit) {
    for (llir::ReduceOp op : reduces)
      e.walk(op.getResult(), index, visit);
    for (auto [i, v] : llvm::enumerate(getYielded(e.kernel))) {
      Index at = isRowLevel(v) ? index : withColumn(index);
      e.walk(v, at, visit);
      SmallVector<Expr> extents = getResultExtents(e.kernel, i);
      visit({nullptr,
             e.simplify(linearize(at, {extents.begin(), extents.end()}))});
    }
  }

  bool shouldVectorizeRows() {
    if (domain.dims.empty() || e.maxLanes == 1)
      return false;
    unsigned row = domain.dims.back();
    unsigned along = 0, across = 0;
    for (llir::ReduceOp op : reduces)
      e.walk(op.getOperand(), withColumn(domain.index), [&](const Leaf &leaf) {
        auto inColumn = leaf.address.linearIn(column);
        auto inRow = leaf.address.linearIn(row);
        if (!leaf.argument)
          return;
        if (inColumn && inColumn->stride.isConstant(1))
          ++along;
        else if (inRow && inRow->stride.isConstant(1) &&
                 !(inColumn && inColumn->stride.isConstant(0)))
          ++across;
      });
    if (across != along)
      return across > along;
    // Rows too short to fill a vector.
    std::optional<int64_t> n = extent.asConstant();
    std::optional<int64_t> count = domain.extents.back().asConstant();
    return n && *n < int64_t(e.maxLanes) / 2 &&
           (!count || *count > int64_t(e.maxLanes));
  }

  /// A value that is expensive to compute, reduced, and used again: the pass
  /// that reduces it stores its row, in the row of a result that the last pass
  /// overwrites, or in scratch.
  llir::ReduceOp findKept() {
    for (llir::ReduceOp op : reduces) {
      auto def = op.getOperand().getDefiningOp<llir::ElementwiseOp>();
      if (def && llir::getFlops(def.getFn()) >= 8 && !def->hasOneUse())
        return op;
    }
    return {};
  }

  Type keptElement() {
    return cast<RankedTensorType>(kept.getOperand().getType()).getElementType();
  }
  Type keptType() { return getStorageType(keptElement()); }

  Value keptAddress() {
    return e.address(loop.scratch, e.value(Expr::dim(keptColumn)), keptType());
  }

  /// A result with the element type of `kept`, whose row holds them until the
  /// last pass: its memory is fetched while there is much to compute.
  std::optional<unsigned> findKeptResult() {
    for (auto [i, v] : llvm::enumerate(getYielded(e.kernel)))
      if (!isRowLevel(v) &&
          cast<RankedTensorType>(v.getType()).getElementType() == keptElement())
        return i;
    return std::nullopt;
  }

  /// The reduction of `kept`, which also stores the row.
  void emitKept() {
    Type element = cast<RankedTensorType>(kept.getType()).getElementType();
    Value sum = e.emitReduction(
        kept.getKind(), element, extent, /*varies=*/false, 2,
        [&](const Expr &k) {
          Index at = domain.index;
          at.push_back(k);
          Value v = e.emit(kept.getOperand(), at);
          if (keptResult) {
            e.store(*keptResult, at, v);
            return v;
          }
          keptColumn = *k.asDim();
          Value spread = e.toStorage(e.spread(v), keptElement());
          unsigned alignment = keptType().getIntOrFloatBitWidth() / 8;
          if (Value mask = e.getLane().mask)
            LLVM::MaskedStoreOp::create(e.b, spread, keptAddress(), mask,
                                        alignment);
          else
            LLVM::StoreOp::create(e.b, spread, keptAddress(), alignment);
          return v;
        });
    e.remember(kept.getResult(), domain.index, sum);
  }

  void rememberKept(const Index &at) {
    if (keptResult) {
      SmallVector<Expr> extents = getResultExtents(e.kernel, *keptResult);
      Expr address =
          e.simplify(linearize(at, {extents.begin(), extents.end()}));
      e.remember(kept.getOperand(), at, e.loadResult(*keptResult, address));
      return;
    }
    keptColumn = column;
    Type type = e.laneType(keptType());
    unsigned alignment = keptType().getIntOrFloatBitWidth() / 8;
    Value v;
    if (Value mask = e.getLane().mask) {
      Value zero = arith::ConstantOp::create(e.b, e.b.getZeroAttr(type));
      v = LLVM::MaskedLoadOp::create(e.b, type, keptAddress(), mask, zero,
                                     alignment);
    } else {
      v = LLVM::LoadOp::create(e.b, type, keptAddress(), alignment);
    }
    e.remember(kept.getOperand(), at, e.fromStorage(v, keptElement()));
  }

  /// Results with one element per row.
  void emitRowLevel() {
    for (llir::ReduceOp op : reduces) {
      if (op == kept)
        emitKept();
      else
        e.emit(op.getResult(), domain.index);
    }
    SmallVector<std::pair<unsigned, Value>> values;
    for (auto [i, v] : llvm::enumerate(getYielded(e.kernel)))
      if (isRowLevel(v))
        values.push_back({i, e.emit(v, domain.index)});
    for (auto [i, v] : values)
      e.store(i, domain.index, v);
  }

  bool hasElementLevel() {
    return llvm::any_of(getYielded(e.kernel),
                        [&](Value v) { return !isRowLevel(v); });
  }

  void emitElementLevel() {
    Emitter::Repeated repeated(e, {extent});
    Index at = withColumn(domain.index);
    if (kept)
      rememberKept(at);
    SmallVector<std::pair<unsigned, Value>> values;
    for (auto [i, v] : llvm::enumerate(getYielded(e.kernel)))
      if (!isRowLevel(v))
        values.push_back({i, e.emit(v, at)});
    for (auto [i, v] : values)
      e.store(i, at, v);
  }

  WorkShape emitAlongRows(const Expr &cost) {
    if (!loop.single && hasElementLevel())
      kept = findKept();
    if (kept)
      keptResult = findKeptResult();
    Expr scratch = 0;
    if (kept && !keptResult)
      scratch = extent * int64_t(keptType().getIntOrFloatBitWidth() / 8);
    e.forLoop(loop.begin, loop.end, loop.step, [&](Value unit) {
      setDims(e, domain.dims, domain.extents, unit);
      emitRowLevel();
      if (hasElementLevel())
        e.laneLoop(column, e.constant(0), e.value(extent),
                   chooseLanes(extent, e.maxLanes),
                   [&] { emitElementLevel(); });
    });
    return {product({domain.extents.begin(), domain.extents.end()}),
            getGrain(cost), scratch};
  }

  WorkShape emitAcrossRows(const Expr &cost) {
    Units units = makeUnits(domain, 4 * e.maxLanes);
    e.forLoop(loop.begin, loop.end, loop.step, [&](Value unit) {
      emitUnit(e, domain, units, unit, [&](Value lo, Value hi) {
        e.laneLoop(domain.dims.back(), lo, hi,
                   chooseLanes(domain.extents.back(), e.maxLanes), [&] {
                     emitRowLevel();
                     if (!hasElementLevel())
                       return;
                     e.forLoop(e.constant(0), e.value(extent), e.constant(1),
                               [&](Value k) {
                                 e.setDim(column, k);
                                 emitElementLevel();
                               });
                   });
      });
    });
    return {units.count, getGrain(units.length * cost), 0};
  }

  Emitter &e;
  const WorkLoop &loop;
  SmallVector<llir::ReduceOp> reduces;
  SmallVector<Expr> rows;
  Expr extent;
  unsigned column;
  llir::ReduceOp kept;
  std::optional<unsigned> keptResult;
  unsigned keptColumn = 0;
  Domain domain;
};
} // namespace

WorkShape luminal::emitReduceKernel(Emitter &e, const WorkLoop &loop) {
  return ReduceKernel(e, loop).emit();
}
