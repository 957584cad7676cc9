//===- RowProgramKernel.cpp - Kernels that take rows step by step ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A unit of work is a vector of rows. It computes each step for all of them
// (RowProgram) and keeps it in scratch, where the rows of an element are side
// by side. Or it is a single row: then lanes run along what steps reduce, and
// along the last dim of what they keep.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "luminal/Conversion/ScalarMath.h"
#include "luminal/Dialect/LLIR/Analysis/RowProgram.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/TypeUtilities.h"

using namespace luminal;
using namespace mlir;

namespace {
class RowProgramKernel {
public:
  RowProgramKernel(Emitter &e, const WorkLoop &loop) : e(e), loop(loop), p(e) {}

  WorkShape emit();

private:
  void setBases();
  /// Calls `body` for the elements that each row has of a value, with their
  /// indices: in loops over its dims, `count` of the last one at a time.
  void forEach(Value v, int64_t count,
               function_ref<void(ArrayRef<Index>)> body);
  SmallVector<Value> take(Operation *op, ValueRange state, const Index &index);
  void emitAcross(Operation *op);
  void emitAlong(Operation *op);
  /// Calls `body` for all elements that each row has of a value, in vectors of
  /// rows or of its last dim.
  void forEachVector(Value v, unsigned width,
                     function_ref<void(const Index &)> body);
  void emitRowByRow(Value v, unsigned width);
  void emitRows();
  void keep(Value v, const Index &at, Value element);

  Emitter &e;
  const WorkLoop &loop;
  RowProgram p;
  /// Rows that a unit has, and lanes of the loops over elements of one.
  int64_t lanes = 1;
  unsigned columnLanes = 1;
  /// The index of a row, and its number in its vector.
  Index row;
  Expr inVector = 0;
};
} // namespace

void RowProgramKernel::setBases() {
  for (Operation *op : p.steps)
    for (Value v : op->getResults())
      e.setBase(v, e.address(loop.scratch, e.value(p.getOffset(v, lanes)),
                             e.b.getI8Type()));
}

void RowProgramKernel::keep(Value v, const Index &at, Value element) {
  e.keep(v, p.getPlace(v, at, lanes, inVector), element);
}

void RowProgramKernel::forEach(Value v, int64_t count,
                               function_ref<void(ArrayRef<Index>)> body) {
  SmallVector<Expr> own = hlir::getExtents(v);
  ArrayRef<Expr> local = ArrayRef(own).drop_front(p.extents.size());
  Emitter::Repeated repeated(e, {local.begin(), local.end()});
  Index at = row;
  std::function<void(size_t)> nest = [&](size_t i) {
    if (i == local.size())
      return body({at});
    Expr extent = local[i];
    if (extent.isConstant(1)) {
      at.push_back(0);
      nest(i + 1);
      at.pop_back();
      return;
    }
    bool isLast = llvm::all_of(local.drop_front(i + 1), [](const Expr &inner) {
      return inner.isConstant(1);
    });
    int64_t step = isLast ? count : 1;
    // Each of those taken together is a dim of its own.
    auto take = [&](Value first, int64_t together) {
      SmallVector<Index> indices;
      for (int64_t u = 0; u < together; ++u) {
        unsigned dim = e.addDim(extent);
        e.setDim(dim, e.add(first, e.constant(u)));
        at.push_back(Expr::dim(dim));
        if (!isLast) {
          nest(i + 1);
          at.pop_back();
          continue;
        }
        Index index = at;
        index.resize(own.size(), Expr(0));
        indices.push_back(index);
        at.pop_back();
      }
      if (isLast)
        body(indices);
    };
    Value zero = e.constant(0), all = e.value(extent);
    Value rest = e.remU(all, e.constant(step)), whole = e.sub(all, rest);
    e.forLoop(zero, whole, e.constant(step),
              [&](Value first) { take(first, step); });
    // A rest that is known is taken together as well.
    std::optional<int64_t> known = getConstantIntValue(rest);
    if (known == 0)
      return;
    int64_t together = known.value_or(1);
    e.forLoop(whole, all, e.constant(together),
              [&](Value first) { take(first, together); });
  };
  nest(0);
}

/// The state of a reduction once it has taken its terms at `index`.
SmallVector<Value> RowProgramKernel::take(Operation *op, ValueRange state,
                                          const Index &index) {
  auto emission = cast<ReductionEmissionOpInterface>(op);
  auto product = dyn_cast<llir::ProductOpInterface>(op);
  Type wide = getElementTypeOrSelf(state[0].getType());
  if (!product || !isa<FloatType>(wide)) {
    SmallVector<Value> terms = emission.emitTerms(e, index);
    for (Value &term : terms)
      term = e.spread(term);
    return emission.emitStep(e.b, state, terms);
  }
  auto factor = [&](Value v, hlir::MapAttr map) {
    Value element = e.emit(v, e.mapIndex(map, index));
    return e.spread(emitCast(e.b, element, getElementType(v), wide));
  };
  Value x = factor(product.getLhs(), product.getLhsMap()),
        y = factor(product.getRhs(), product.getRhsMap());
  return {math::FmaOp::create(e.b, x, y, state[0])};
}

/// Several elements of a reduction's results at once: what they read of the
/// same is read once.
void RowProgramKernel::emitAcross(Operation *op) {
  auto reduction = cast<llir::ReductionOpInterface>(op);
  auto emission = dyn_cast<ReductionEmissionOpInterface>(op);
  if (!emission)
    return e.fail(op, "has no code inside a kernel");
  llir::LoopFormAttr form = e.loopCase.getForm(llir::getPosition(op));
  Expr extent = reduction.getReducedExtent();
  SmallVector<Type> types;
  for (Type type : reduction.getStateTypes())
    types.push_back(e.laneType(type));
  size_t size = types.size();
  forEach(op->getResult(0), form.getNumber("columns", 1),
          [&](ArrayRef<Index> indices) {
            Emitter::Repeated repeated(e, {extent});
            unsigned k = e.addDim(extent);
            SmallVector<Value> states;
            for (size_t i = 0; i < indices.size(); ++i)
              llvm::append_range(states, emission.emitInitial(e.b, types));
            states = e.forLoop(
                e.constant(0), e.value(extent), e.constant(1), states,
                [&](Value at, ValueRange before) {
                  e.setDim(k, at);
                  SmallVector<Value> next;
                  for (auto [i, index] : llvm::enumerate(indices)) {
                    Index inner = index;
                    inner.push_back(Expr::dim(k));
                    llvm::append_range(
                        next, take(op, before.slice(i * size, size), inner));
                  }
                  return next;
                });
            for (auto [i, index] : llvm::enumerate(indices))
              for (auto [v, element] : llvm::zip_equal(
                       op->getResults(),
                       emission.emitResults(
                           e.b, ArrayRef(states).slice(i * size, size))))
                keep(v, index, element);
          });
}

/// The elements of one row, each a loop with lanes along what it reduces.
void RowProgramKernel::emitAlong(Operation *op) {
  auto reduction = cast<llir::ReductionOpInterface>(op);
  forEach(op->getResult(0), 1, [&](ArrayRef<Index> indices) {
    SmallVector<Value> elements =
        e.emitReduction(reduction, indices[0], /*varies=*/false,
                        e.loopCase.getForm(llir::getPosition(op)));
    if (elements.empty())
      return e.fail(op, "has no code inside a kernel");
    for (auto [v, element] : llvm::zip_equal(op->getResults(), elements))
      keep(v, indices[0], element);
  });
}

void RowProgramKernel::forEachVector(Value v, unsigned width,
                                     function_ref<void(const Index &)> body) {
  SmallVector<Expr> own = hlir::getExtents(v);
  bool hasLocal = own.size() > p.extents.size() && !own.back().isConstant(1);
  if (e.isVector() || !hasLocal)
    return forEach(v, 1,
                   [&](ArrayRef<Index> indices) { body(indices.front()); });
  // All dims but the last in loops.
  SmallVector<Expr> local(own.begin() + p.extents.size(), own.end());
  Emitter::Repeated repeated(e, {local.begin(), local.end()});
  Index at = row;
  std::function<void(size_t)> nest = [&](size_t i) {
    unsigned dim = e.addDim(local[i]);
    at.push_back(local[i].isConstant(1) ? Expr(0) : Expr::dim(dim));
    Value zero = e.constant(0), all = e.value(local[i]);
    if (i + 1 == local.size())
      e.laneLoop(dim, zero, all, width, [&] { body(at); });
    else
      e.forLoop(zero, all, e.constant(1), [&](Value index) {
        e.setDim(dim, index);
        nest(i + 1);
      });
    at.pop_back();
  };
  nest(0);
}

/// What each row of the vector looks up for itself, lanes along its last dim.
void RowProgramKernel::emitRowByRow(Value v, unsigned width) {
  Emitter::Lane saved = e.getLane();
  Value first = e.value(Expr::dim(saved.dim));
  Value count = saved.count ? saved.count : e.constant(saved.width);
  {
    Emitter::FreshScope fresh(e);
    e.clearLane();
    e.keepsVectors = false;
    e.forLoop(e.constant(0), count, e.constant(1), [&](Value number) {
      e.setDim(saved.dim, e.add(first, number));
      forEachVector(v, width,
                    [&](const Index &at) { keep(v, at, e.emit(v, at)); });
    });
    e.keepsVectors = true;
  }
  e.setDim(saved.dim, first);
  e.setLane(saved.dim, saved.width, saved.count);
}

/// The rows of a unit through all steps.
void RowProgramKernel::emitRows() {
  e.clearPlaces();
  for (Operation *op : p.steps) {
    Value v = op->getResult(0);
    int64_t own =
        e.loopCase.getForm(llir::getPosition(op)).getNumber("lanes", 0);
    if (!llir::hasLoops(op) && lanes > 1 && own)
      emitRowByRow(v, own);
    else if (!llir::hasLoops(op))
      forEachVector(v, own ? own : 1,
                    [&](const Index &at) { keep(v, at, e.emit(v, at)); });
    else if (lanes > 1)
      emitAcross(op);
    else
      emitAlong(op);
    for (Value result : op->getResults())
      p.place(result, lanes, inVector);
  }
  for (auto [i, result] : llvm::enumerate(p.results))
    forEachVector(result.source, columnLanes, [&](const Index &at) {
      e.store(i, result.getIndex(e, at), e.emit(result.source, at));
    });
}

WorkShape RowProgramKernel::emit() {
  e.clearPlaces();
  bool found(p.apply(e.loopCase));
  assert(found && "a schedule that was not verified");
  (void)found;
  for (llir::LoopAxisAttr axis : e.loopCase.getGrid())
    lanes = axis.getLanes();
  for (llir::LoopFormAttr form : e.loopCase.getForms())
    columnLanes = std::max<int64_t>(columnLanes, form.getNumber("lanes", 1));
  e.keepsVectors = lanes > 1;
  auto groups = llir::getGroups(e.loopCase.getGrid());
  Domain domain = makeDomain(e, p.extents, groups);
  row = domain.index;
  Grid grid(domain, groups, e.loopCase);
  Emitter::Repeated repeated(e, {domain.extents.begin(), domain.extents.end()});
  std::optional<unsigned> begin;
  if (!domain.dims.empty()) {
    begin = e.addDim(domain.extents.back());
    inVector = Expr::dim(domain.dims.back()) - Expr::dim(*begin);
  }
  e.forLoop(loop.begin, loop.end, loop.step, [&](Value unit) {
    setBases();
    grid.emitIndices(e, unit, [&] {
      if (begin)
        e.setDim(*begin, e.value(Expr::dim(domain.dims.back())));
      emitRows();
    });
  });
  e.clearPlaces();
  e.keepsVectors = false;
  Expr cost = 0;
  for (Operation *op : p.steps) {
    Expr elements = p.countLocal(op->getResult(0));
    if (auto reduction = dyn_cast<llir::ReductionOpInterface>(op))
      cost = cost + elements * reduction.getReducedExtent();
    else
      cost = cost + elements * cast<llir::CodeOpInterface>(op).getCodeSize();
  }
  return {grid.countUnits(), grid.getUnitLength() * Expr::max(1, cost),
          p.countBytes(lanes)};
}

WorkShape luminal::emitRowProgram(Emitter &e, const WorkLoop &loop) {
  return RowProgramKernel(e, loop).emit();
}
