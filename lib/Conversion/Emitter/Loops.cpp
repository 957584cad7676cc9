//===- Loops.cpp - Loops and reductions of kernels ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Conversion/Emitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace luminal;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

SmallVector<Value>
Emitter::forLoop(Value lo, Value hi, Value step, ValueRange init,
                 function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(b, lo, hi, step, init);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  MemoScope inner(*this);
  SmallVector<Value> next =
      body(loop.getInductionVar(), loop.getRegionIterArgs());
  // Without carried values the builder has already added the terminator.
  if (!init.empty())
    scf::YieldOp::create(b, next);
  return loop.getResults();
}

void Emitter::forLoop(Value lo, Value hi, Value step,
                      function_ref<void(Value)> body) {
  forLoop(lo, hi, step, ValueRange(), [&](Value iv, ValueRange) {
    body(iv);
    return SmallVector<Value>();
  });
}

void Emitter::ifThen(Value condition, function_ref<void()> body) {
  auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(branch.thenBlock());
  MemoScope inner(*this);
  body();
}

SmallVector<Value>
Emitter::ifElse(Value condition, TypeRange types,
                function_ref<SmallVector<Value>()> then,
                function_ref<SmallVector<Value>()> otherwise) {
  auto branch = scf::IfOp::create(b, types, condition, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  auto fill = [&](Block *block, function_ref<SmallVector<Value>()> body) {
    b.setInsertionPointToStart(block);
    MemoScope inner(*this);
    SmallVector<Value> values = body();
    if (!types.empty())
      scf::YieldOp::create(b, values);
  };
  fill(branch.thenBlock(), then);
  fill(branch.elseBlock(), otherwise);
  return branch.getResults();
}

void Emitter::laneLoop(unsigned dim, Value lo, Value hi, unsigned width,
                       function_ref<void()> body) {
  Lane saved = lane;
  Value step = constant(width);
  Value whole = hi, rest;
  if (width > 1) {
    rest = remU(sub(hi, lo), step);
    whole = sub(hi, rest);
  }
  // Code that never runs is not emitted where sizes are known.
  auto known = [](Value v) { return getConstantIntValue(v); };
  if (known(sub(whole, lo)) == int64_t(width)) {
    MemoScope scope(*this);
    setDim(dim, lo);
    setLane(dim, width);
    body();
  } else if (!(known(lo) && known(lo) == known(whole)))
    forLoop(lo, whole, step, [&](Value iv) {
      setDim(dim, iv);
      setLane(dim, width);
      body();
    });
  if (rest && known(rest) != 0)
    ifThen(less(constant(0), rest), [&] {
      setDim(dim, whole);
      setLane(dim, width, rest);
      body();
    });
  lane = saved;
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// `types`, as vectors of `width` lanes.
static SmallVector<Type> widen(ArrayRef<Type> types, unsigned width) {
  if (width == 1)
    return SmallVector<Type>(types);
  return llvm::map_to_vector(types, [&](Type type) -> Type {
    return VectorType::get({int64_t(width)}, type);
  });
}

/// The state of all lanes of `state`: halves are merged until one is left.
static SmallVector<Value> mergeLanes(ImplicitLocOpBuilder &b,
                                     ReductionEmissionOpInterface op,
                                     SmallVector<Value> state) {
  auto part = [&](Value v, int64_t from, int64_t size) -> Value {
    return vector::ExtractStridedSliceOp::create(b, v, ArrayRef<int64_t>{from},
                                                 ArrayRef<int64_t>{size},
                                                 ArrayRef<int64_t>{1});
  };
  int64_t width = cast<VectorType>(state[0].getType()).getDimSize(0);
  for (; width > 1; width /= 2) {
    SmallVector<Value> low, high;
    for (Value v : state) {
      low.push_back(part(v, 0, width / 2));
      high.push_back(part(v, width / 2, width / 2));
    }
    state = op.emitMerge(b, low, high);
  }
  for (Value &v : state)
    v = vector::ExtractOp::create(b, v, int64_t(0));
  return state;
}

Emitter::Span Emitter::getWhole(const Expr &extent) {
  return {constant(0), value(extent), {extent}};
}

bool Emitter::isWhole(const Span &span, int64_t step) const {
  // Of a span without any, nothing is known.
  return !span.multiples.empty() &&
         llvm::all_of(span.multiples, [&](const Expr &of) {
           return simplify(Expr::mod(of, step)).isConstant(0);
         });
}

SmallVector<Value>
Emitter::emitReduction(llir::ReductionOpInterface reduction, const Index &index,
                       bool varies, llir::LoopFormAttr form,
                       function_ref<void(const Index &)> before) {
  auto op = dyn_cast<ReductionEmissionOpInterface>(reduction.getOperation());
  if (!op)
    return {};
  Span whole = getWhole(reduction.getReducedExtent());
  return op.emitResults(
      b, emitState(reduction, index, varies, form, whole, before));
}

SmallVector<Value>
Emitter::emitState(llir::ReductionOpInterface reduction, const Index &index,
                   bool varies, llir::LoopFormAttr form, const Span &span,
                   function_ref<void(const Index &)> before) {
  auto op = cast<ReductionEmissionOpInterface>(reduction.getOperation());
  Expr extent = reduction.getReducedExtent();
  Repeated repeated(*this, {extent});
  unsigned k = addDim(extent);
  Index inner = index;
  inner.push_back(Expr::dim(k));
  Lane outer = lane;
  if (!varies)
    clearLane();
  unsigned width = varies ? 1 : form.getNumber("lanes", 1);
  unsigned unroll = form.getNumber("unroll", 1);
  SmallVector<Type> types =
      widen(reduction.getStateTypes(), varies ? lane.width : width);
  size_t size = types.size();
  // `state` once it has taken the terms at the current value of dim k.
  auto take = [&](ValueRange state) {
    if (before)
      before(inner);
    SmallVector<Value> terms = op.emitTerms(*this, inner);
    if (isVector())
      for (Value &term : terms)
        term = spread(term);
    SmallVector<Value> next = op.emitStep(b, state, terms);
    if (!varies && lane.mask)
      for (auto [v, old] : llvm::zip_equal(next, state))
        v = arith::SelectOp::create(b, lane.mask, v, old);
    return next;
  };
  auto setK = [&](Value at) {
    setDim(k, at);
    if (!varies && width > 1)
      setLane(k, width);
  };
  if (!varies && team.count > 1) {
    SmallVector<Value> state =
        teamLoop(k, span, width, unroll, op.emitInitial(b, types), take);
    lane = outer;
    if (width > 1)
      state = mergeLanes(b, op, state);
    return mergeTeam(op, state);
  }
  Value n = add(span.lo, span.length), step = constant(width);
  Value block = constant(int64_t(width) * unroll);
  SmallVector<Value> initial = op.emitInitial(b, types), states;
  for (unsigned u = 0; u < unroll; ++u)
    llvm::append_range(states, initial);
  Value whole = sub(n, remU(span.length, block));
  states =
      forLoop(span.lo, whole, block, states, [&](Value iv, ValueRange carried) {
        SmallVector<Value> next;
        for (unsigned u = 0; u < unroll; ++u) {
          MemoScope scope(*this);
          setK(add(iv, constant(int64_t(u) * width)));
          llvm::append_range(next, take(carried.slice(u * size, size)));
        }
        return next;
      });
  SmallVector<Value> state(ArrayRef(states).take_front(size));
  for (unsigned u = 1; u < unroll; ++u)
    state = op.emitMerge(b, state, ArrayRef(states).slice(u * size, size));
  Value wholeSteps = whole;
  if (unroll > 1) {
    wholeSteps = width > 1 ? sub(n, remU(span.length, step)) : n;
    state = forLoop(whole, wholeSteps, step, state,
                    [&](Value iv, ValueRange carried) {
                      setK(iv);
                      return take(carried);
                    });
  }
  // Where the span is proved to be whole vectors there is no rest.
  if (width > 1 && !isWhole(span, width)) {
    clearLane();
    Value rest = sub(n, wholeSteps);
    state = ifElse(
        less(constant(0), rest), types,
        [&] {
          setDim(k, wholeSteps);
          setLane(k, width, rest);
          return take(state);
        },
        [&] { return state; });
  }
  lane = outer;
  if (!varies && width > 1)
    state = mergeLanes(b, op, state);
  return state;
}
