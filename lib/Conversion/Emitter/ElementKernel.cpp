//===- ElementKernel.cpp - Elementwise kernels ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ElementLoops.h"
#include "PartsEmitter.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/SaveAndRestore.h"

#include <utility>

using namespace luminal;
using namespace mlir;

/// The threads of a block as one group.
static Emitter::Team getBlockTeam(Emitter &e) {
  ImplicitLocOpBuilder &b = e.b;
  Value thread = arith::ExtUIOp::create(
      b, b.getI64Type(), NVVM::ThreadIdXOp::create(b, b.getI32Type()));
  Value all = arith::ConstantOp::create(b, b.getI32IntegerAttr(-1));
  return {e.loopCase.getThreads(), thread, e.team.warp, all};
}

/// Computes the values that each thread block shares. Returns the number of
/// blocks that should do so, 0 if nothing is shared. Reductions to one element
/// come first; afterwards their values are known.
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
    llir::findBefore(op->getResult(0), before);
    // In the order of the body, so that operands come first.
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

/// Prefetches the first lines of the operands of the first work item's products
/// while the block computes the shared values.
static void prefetchFirst(Emitter &e, const WorkLoop &loop, const Grid &grid,
                          const Index &index) {
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
    e.teamLoop(k, e.getWhole(e.simplify(first)), e.machine.lineBytes * 8 / bits,
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

//===----------------------------------------------------------------------===//
// Joint reduction of several elements
//===----------------------------------------------------------------------===//

namespace {
/// The elements of a work item whose reductions run in one loop, so that loads
/// they share are done once.
class ElementsTogether {
public:
  ElementsTogether(Emitter &e, const Grid &grid, const Index &index);

  void emit(Value unit);

private:
  /// An element, and whether (i1) it exists; null if it always does.
  struct Element {
    Index index;
    Value isThere;
  };
  /// A block of an axis, and the dims of its elements: one dim for the number
  /// of the block if all blocks are full, else one dim per element.
  struct Block {
    Axis axis;
    int64_t count;
    bool isWhole;
    SmallVector<unsigned> dims;
  };

  SmallVector<Element> setElements(Value unit);
  void reduce(ArrayRef<Element> elements);

  Emitter &e;
  const Grid &grid;
  Index index;
  SmallVector<std::optional<Block>> blocks;
};
} // namespace

ElementsTogether::ElementsTogether(Emitter &e, const Grid &grid,
                                   const Index &index)
    : e(e), grid(grid), index(index) {
  int64_t residents = 0;
  for (llir::LoopFormAttr form : e.loopCase.getForms())
    residents = std::max(residents, form.getNumber("blocks", 0));
  if (residents && e.loopCase.getThreads() &&
      llir::getSharedOps(e.kernel, e.loopCase).empty())
    e.setResidents(residents);
  for (const Axis &axis : grid.axes) {
    std::optional<Block> &block = blocks.emplace_back();
    if (axis.block == 1)
      continue;
    int64_t count = axis.block;
    Expr rest = e.simplify(Expr::mod(axis.extent, count));
    block = {axis, count, rest.isConstant(0), {}};
    if (block->isWhole)
      block->dims.push_back(
          e.addDim(e.simplify(Expr::floorDiv(axis.extent, count))));
    else
      for (int64_t i = 0; i < count; ++i)
        block->dims.push_back(e.addDim(axis.extent));
  }
}

/// Elements past the end repeat the last one of their axis and are not written.
SmallVector<ElementsTogether::Element>
ElementsTogether::setElements(Value unit) {
  SmallVector<Element> elements = {{index, {}}};
  auto ranges = grid.setUnit(e, unit);
  for (auto [block, range] : llvm::zip_equal(blocks, ranges)) {
    if (!block)
      continue;
    if (block->isWhole)
      e.setDim(block->dims[0], e.divU(range.lo, e.constant(block->count)));
    SmallVector<Element> before = std::exchange(elements, {});
    for (int64_t i = 0; i < block->count; ++i) {
      Expr at = Expr::dim(block->dims[block->isWhole ? 0 : i]);
      Value isThere;
      if (block->isWhole) {
        at = at * block->count + i;
      } else {
        Value own = e.add(range.lo, e.constant(i));
        Value last = e.sub(range.hi, e.constant(1));
        e.setDim(block->dims[i], i ? e.minS(own, last) : own);
        // The first element of a block always exists.
        if (i)
          isThere = e.less(own, range.hi);
      }
      for (const Element &outer : before) {
        Element element = outer;
        for (Expr &x : element.index)
          x = e.simplify(
              x.substitute([&](const Expr &leaf) -> std::optional<Expr> {
                if (leaf.asDim() == block->axis.dim)
                  return at;
                return std::nullopt;
              }));
        if (isThere)
          element.isThere =
              outer.isThere ? arith::AndIOp::create(e.b, outer.isThere, isThere)
                            : isThere;
        elements.push_back(element);
      }
    }
  }
  return elements;
}

/// One loop for all reductions with the same extent and form.
void ElementsTogether::reduce(ArrayRef<Element> elements) {
  struct Walk {
    Expr extent;
    llir::LoopFormAttr form;
    SmallVector<Emitter::ReductionAt> reductions;
  };
  SmallVector<Walk> walks;
  auto visit = [&](Value v, const Index &at) {
    auto op = v.getDefiningOp<llir::ReductionOpInterface>();
    if (!op || e.isRemembered(v, at))
      return;
    llir::LoopFormAttr form = e.loopCase.getForm(llir::getPosition(op));
    Expr extent = op.getReducedExtent();
    auto walk = llvm::find_if(walks, [&](const Walk &other) {
      return other.extent == extent &&
             other.form.getNumbers() == form.getNumbers();
    });
    if (walk == walks.end())
      walk = &walks.emplace_back(Walk{extent, form, {}});
    if (llvm::none_of(walk->reductions, [&](const auto &other) {
          return other.op == op && other.index == at;
        }))
      walk->reductions.push_back({op, at});
  };
  for (const Element &element : elements)
    for (Value yielded : getYielded(e.kernel))
      e.walk(yielded, element.index, nullptr, visit);
  for (Walk &walk : walks) {
    auto states = e.emitStates(walk.reductions, /*varies=*/false, walk.form,
                               e.getWhole(walk.extent));
    for (auto [reduction, state] : llvm::zip_equal(walk.reductions, states)) {
      Operation *op = reduction.op;
      auto emission = cast<ReductionEmissionOpInterface>(op);
      for (auto [result, element] :
           llvm::zip_equal(op->getResults(), emission.emitResults(e.b, state)))
        e.remember(result, reduction.index, element);
    }
  }
}

void ElementsTogether::emit(Value unit) {
  SmallVector<Element> elements = setElements(unit);
  reduce(elements);
  // All elements are computed before the first is written.
  SmallVector<SmallVector<Value>> values;
  for (const Element &element : elements) {
    values.emplace_back();
    for (Value v : getYielded(e.kernel))
      values.back().push_back(e.emit(v, element.index));
  }
  e.byOneMember([&] {
    for (auto [element, own] : llvm::zip_equal(elements, values)) {
      auto write = [&, &element = element, &own = own] {
        for (auto [i, v] : llvm::enumerate(own))
          e.store(i, element.index, v);
      };
      if (element.isThere)
        e.ifThen(element.isThere, write);
      else
        write();
    }
  });
}

WorkShape luminal::emitElements(Emitter &e, const WorkLoop &loop) {
  // A select between operands loads only one of them.
  llvm::SaveAndRestore<bool> chooses(e.choosesAddresses, true);
  ValueRange yielded = getYielded(e.kernel);
  auto groups = llir::getGroups(e.loopCase.getGrid());
  Domain domain = makeDomain(e, getResultExtents(e.kernel, 0), groups);
  Grid grid(domain, groups, e.loopCase);
  Emitter::Repeated repeated(e, {domain.extents.begin(), domain.extents.end()});
  if (!llir::getSharedOps(e.kernel, e.loopCase).empty())
    prefetchFirst(e, loop, grid, domain.index);
  Expr blocks = shareValues(e);
  PartsEmitter parts(e);
  auto emitAt = [&](ArrayRef<Index> places) {
    // All elements are computed before the first is written.
    SmallVector<SmallVector<Value>> values;
    for (Value v : yielded) {
      SmallVector<Value> &own = values.emplace_back();
      for (const Index &index : places)
        own.push_back(e.emit(v, index));
    }
    e.byOneMember([&] {
      for (auto [i, own] : llvm::enumerate(values))
        e.storeBeside(i, places, own);
    });
  };
  auto emitElement = [&] { emitAt({domain.index}); };
  auto forEachIndex = [&](Value block, function_ref<void()> body) {
    grid.emitIndices(e, block, body);
  };
  std::optional<ElementsTogether> together;
  if (llir::areTogether(e.loopCase))
    together.emplace(e, grid, domain.index);
  ElementLoops loops(e, grid, domain.index, loop.scratch);
  e.forLoop(loop.begin, loop.end, loop.step, [&](Value unit) {
    if (parts.isCut())
      parts.emitUnit(unit, domain.index, forEachIndex, emitElement);
    else if (together)
      together->emit(unit);
    else
      loops.emit(unit, emitAt);
  });
  e.clearPlaces();
  Expr cost = grid.getUnitLength() * getElementCost(e.kernel);
  if (parts.isCut())
    cost = parts.getUnitCost(cost * parts.countTerms());
  return {parts.countUnits(grid.countUnits()), cost, loops.getScratchBytes(),
          blocks};
}
