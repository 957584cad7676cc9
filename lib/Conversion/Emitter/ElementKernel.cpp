//===- ElementKernel.cpp - Kernels that compute every element for itself --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PartsEmitter.h"
#include "luminal/Dialect/LLIR/Analysis/Conditions.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <set>
#include <utility>

using namespace luminal;
using namespace mlir;

/// The threads of a block as one team.
static Emitter::Team getBlockTeam(Emitter &e) {
  ImplicitLocOpBuilder &b = e.b;
  Value thread = arith::ExtUIOp::create(
      b, b.getI64Type(), NVVM::ThreadIdXOp::create(b, b.getI32Type()));
  Value all = arith::ConstantOp::create(b, b.getI32IntegerAttr(-1));
  return {e.loopCase.getThreads(), thread, e.team.warp, all};
}

/// Computes what each block of threads shares; how many blocks are to do so, 0
/// where nothing is shared. Reductions that are one element come first, and are
/// known from there on.
static Expr shareValues(Emitter &e) {
  SmallVector<Operation *> shared = llir::getSharedOps(e.kernel, e.loopCase);
  if (shared.empty())
    return 0;
  Emitter::Team saved = e.team;
  e.team = getBlockTeam(e);
  int64_t blocks = 0;
  llvm::SmallPtrSet<Operation *, 8> known;
  for (Operation *op : shared) {
    llvm::SetVector<Operation *> before;
    before.insert(op);
    for (size_t i = 0; i < before.size(); ++i)
      for (Value operand : before[i]->getOperands())
        if (Operation *def = operand.getDefiningOp())
          before.insert(def);
    // In the order of the body, in which each follows what it reads.
    for (Operation &inner : e.kernel.getOps())
      if (before.contains(&inner) && llir::hasLoops(&inner) &&
          known.insert(&inner).second)
        for (Value result : inner.getResults())
          e.emit(result, Index(getRank(result), Expr(0)));
    Value v = op->getResult(0);
    llir::LoopFormAttr form = e.loopCase.getForm(llir::getPosition(op));
    blocks = std::max(blocks, form.getNumber("blocks", 1));
    e.setResidents(form.getNumber("each", 1));
    Index index = getExtentsOf(v);
    Expr length = product({index.begin(), index.end()});
    unsigned dim = e.addDim(length);
    for (Expr &at : index)
      at = at.isConstant(1) ? Expr(0) : Expr::dim(dim);
    e.setBase(
        v, e.makeShared(getStorageType(getElementType(v)),
                        cast<RankedTensorType>(v.getType()).getNumElements()));
    e.teamLoop(dim, e.getWhole(length), form.getNumber("lanes", 1),
               /*unroll=*/1, {}, [&](ValueRange) {
                 e.keep(v, Expr::dim(dim), e.emit(v, index));
                 return SmallVector<Value>();
               });
    NVVM::Barrier0Op::create(e.b);
    Index extents = getExtentsOf(v);
    e.place(v, [extents](const Index &at) { return linearize(at, extents); });
  }
  e.team = saved;
  return blocks;
}

/// Lets the cache bring what the first unit's products read of operands first,
/// while the block computes what it shares.
static void prefetchFirst(Emitter &e, const WorkLoop &loop, const Grid &grid,
                          const Index &index) {
  constexpr int64_t kLineBytes = 128;
  auto prefetchOf = [&](llir::ProductOpInterface op) {
    Value rhs = op.getRhs();
    llir::LoopFormAttr form = e.loopCase.getForm(llir::getPosition(op));
    int64_t bits = std::max(8u, getElementType(rhs).getIntOrFloatBitWidth());
    Expr first = Expr::min(op.getReducedExtent(),
                           form.getNumber("lanes", 1) *
                               form.getNumber("unroll", 1) * e.team.count);
    unsigned k = e.addDim(op.getReducedExtent());
    Index at = index;
    at.push_back(Expr::dim(k));
    at = e.mapIndex(op.getRhsMap(), at);
    e.teamLoop(k, e.getWhole(e.simplify(first)), kLineBytes * 8 / bits,
               /*unroll=*/1, {}, [&](ValueRange) {
                 e.prefetch(rhs, at);
                 return SmallVector<Value>();
               });
  };
  e.ifThen(e.less(loop.begin, loop.end), [&] {
    grid.emitIndices(e, loop.begin, [&] {
      for (auto op :
           e.kernel.getBody().front().getOps<llir::ProductOpInterface>())
        prefetchOf(op);
    });
  });
}

/// The indices of `axis`, of which a unit has all, cut where comparisons change
/// that elements depend on, as those that tell the borders of an image: in each
/// part they need no code. One part where there are none, or too many.
static SmallVector<std::pair<int64_t, int64_t>>
findParts(Emitter &e, const Axis &axis, IndexRange range, const Index &index) {
  constexpr size_t kMostParts = 3;
  std::optional<int64_t> extent = getConstantIntValue(range.hi);
  if (axis.block || axis.lanes == 1 || !extent || e.loopCase.getThreads())
    return {};
  std::set<int64_t> edges;
  for (Value v : getYielded(e.kernel))
    edges.merge(findEdges(e, v, index, axis.dim));
  SmallVector<std::pair<int64_t, int64_t>> parts;
  int64_t begin = 0;
  for (int64_t edge : edges)
    if (edge > begin && edge < *extent)
      parts.push_back({std::exchange(begin, edge), edge});
  parts.push_back({begin, *extent});
  if (parts.size() < 2 || parts.size() > kMostParts)
    return {};
  return parts;
}

/// Calls `body` for every index of a unit, part by part.
static void forEachPart(Emitter &e, const Grid &grid, Value unit,
                        const Index &index,
                        function_ref<void(const Index &)> body) {
  grid.emitUnit(e, unit, [&](const Axis *inner, IndexRange range) {
    if (!inner)
      return body(index);
    auto parts = findParts(e, *inner, range, index);
    if (parts.empty())
      return e.laneLoop(inner->dim, range.lo, range.hi, inner->lanes,
                        [&] { body(index); });
    for (auto [begin, end] : parts) {
      unsigned dim = e.addDim(end - begin);
      Index at = index;
      for (Expr &x : at)
        x = e.simplify(
            x.substitute([&](const Expr &leaf) -> std::optional<Expr> {
              if (leaf.asDim() == inner->dim)
                return begin + Expr::dim(dim);
              return std::nullopt;
            }));
      e.laneLoop(dim, e.constant(0), e.constant(end - begin), inner->lanes,
                 [&] { body(at); });
    }
  });
}

WorkShape luminal::emitElements(Emitter &e, const WorkLoop &loop) {
  ValueRange yielded = getYielded(e.kernel);
  auto groups = llir::getGroups(e.loopCase.getGrid());
  Domain domain = makeDomain(e, getResultExtents(e.kernel, 0), groups);
  Grid grid(domain, groups, e.loopCase);
  Emitter::Repeated repeated(e, {domain.extents.begin(), domain.extents.end()});
  if (!llir::getSharedOps(e.kernel, e.loopCase).empty())
    prefetchFirst(e, loop, grid, domain.index);
  Expr blocks = shareValues(e);
  PartsEmitter parts(e);
  auto emitAt = [&](const Index &index) {
    // All are computed before one is written.
    SmallVector<Value> values;
    for (Value v : yielded)
      values.push_back(e.emit(v, index));
    e.byOneMember([&] {
      for (auto [i, v] : llvm::enumerate(values))
        e.store(i, index, v);
    });
  };
  auto emitElement = [&] { emitAt(domain.index); };
  auto forEachIndex = [&](Value block, function_ref<void()> body) {
    grid.emitIndices(e, block, body);
  };
  e.forLoop(loop.begin, loop.end, loop.step, [&](Value unit) {
    if (parts.isCut())
      parts.emitUnit(unit, domain.index, forEachIndex, emitElement);
    else
      forEachPart(e, grid, unit, domain.index, emitAt);
  });
  e.clearPlaces();
  Expr cost = grid.getUnitLength() * getElementCost(e.kernel);
  if (parts.isCut())
    cost = parts.getUnitCost(cost * parts.countTerms());
  return {parts.countUnits(grid.countUnits()), cost, 0, blocks};
}
