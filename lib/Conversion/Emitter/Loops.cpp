//===- Loops.cpp - Loops and reductions of kernels ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Conversion/Emitter.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"
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
  // Without carried values the builder adds the terminator.
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
  // If sizes are known, code that never runs is not emitted.
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

/// `types` as vectors of `width` lanes.
static SmallVector<Type> widen(ArrayRef<Type> types, unsigned width) {
  if (width == 1)
    return SmallVector<Type>(types);
  return llvm::map_to_vector(types, [&](Type type) -> Type {
    return VectorType::get({int64_t(width)}, type);
  });
}

/// Merges the lanes of `state` by halves.
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
  // Without multiples nothing is known about the span.
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
  return emitStates(reduction, index, varies, form, span, before).front();
}

SmallVector<Value>
Emitter::stateLoop(Value lo, Value hi, int64_t step, ValueRange init,
                   function_ref<SmallVector<Value>(Value, ValueRange)> body,
                   MergeStates merge, size_t size) {
  if (!merge)
    return forLoop(lo, hi, constant(step), init, body);
  Value many = constant(kSumRounds * step);
  return forLoop(lo, hi, many, init, [&](Value from, ValueRange before) {
    Value to = minS(add(from, many), hi);
    SmallVector<Value> merged,
        after = forLoop(from, to, constant(step), init, body);
    for (size_t i = 0; i < after.size(); i += size)
      llvm::append_range(merged, merge(before.slice(i, size),
                                       ValueRange(after).slice(i, size)));
    return merged;
  });
}

namespace {
/// The states of several reductions as one list of values. Terms have `width`
/// lanes and are added to states with `sums` lanes.
class JointState {
public:
  JointState(ArrayRef<Emitter::ReductionAt> reductions, unsigned width,
             unsigned sums)
      : width(width), sums(sums) {
    for (auto [reduction, index] : reductions) {
      ops.push_back(
          cast<ReductionEmissionOpInterface>(reduction.getOperation()));
      indices.push_back(index);
      types.push_back(
          widen(llir::ReductionOpInterface(reduction).getStateTypes(), sums));
      llvm::append_range(allTypes, types.back());
    }
  }

  ArrayRef<Type> getTypes() const { return allTypes; }
  size_t size() const { return allTypes.size(); }

  /// Splits `state` into the values of each reduction.
  SmallVector<SmallVector<Value>> split(ValueRange state) const {
    SmallVector<SmallVector<Value>> states;
    for (ArrayRef<Type> own : types) {
      states.emplace_back(state.take_front(own.size()));
      state = state.drop_front(own.size());
    }
    return states;
  }
  SmallVector<Value> emitInitial(ImplicitLocOpBuilder &b) {
    SmallVector<Value> state;
    for (auto [op, own] : llvm::zip_equal(ops, types))
      llvm::append_range(state, op.emitInitial(b, own));
    return state;
  }
  SmallVector<Value> emitMerge(ImplicitLocOpBuilder &b, ValueRange x,
                               ValueRange y) {
    SmallVector<Value> state;
    for (auto [op, ofX, ofY] : llvm::zip_equal(ops, split(x), split(y)))
      llvm::append_range(state, op.emitMerge(b, ofX, ofY));
    return state;
  }
  bool roundsSteps() {
    return llvm::any_of(ops, [](auto op) { return op.roundsSteps(); });
  }
  /// The terms of each reduction at reduced index `k`.
  SmallVector<SmallVector<Value>> emitTerms(Emitter &e, const Expr &k) {
    SmallVector<SmallVector<Value>> all;
    for (auto [op, index] : llvm::zip_equal(ops, indices)) {
      Index at = index;
      at.push_back(k);
      SmallVector<Value> terms = op.emitTerms(e, at);
      if (e.isVector())
        for (Value &term : terms)
          term = e.spread(term);
      all.push_back(std::move(terms));
    }
    return all;
  }
  /// The state after the terms are added to it; with `mask`, in its lanes only.
  SmallVector<Value> emitStep(Emitter &e, ValueRange state,
                              ArrayRef<SmallVector<Value>> allTerms,
                              Value mask) {
    SmallVector<Value> next;
    for (auto [op, terms, own] : llvm::zip_equal(ops, allTerms, split(state))) {
      for (unsigned from = 0; from < width; from += sums) {
        SmallVector<Value> taken =
            op.emitStep(e.b, own, slice(e.b, terms, from));
        if (mask) {
          Value isThere = slice(e.b, mask, from)[0];
          for (auto [v, old] : llvm::zip_equal(taken, own))
            v = arith::SelectOp::create(e.b, isThere, v, old);
        }
        own = std::move(taken);
      }
      llvm::append_range(next, own);
    }
    return next;
  }

  SmallVector<ReductionEmissionOpInterface, 2> ops;

private:
  /// The lanes from `from` on, as many as the state has.
  SmallVector<Value> slice(ImplicitLocOpBuilder &b, ValueRange values,
                           int64_t from) const {
    if (sums == width)
      return values;
    return llvm::map_to_vector(values, [&](Value v) -> Value {
      if (sums == 1)
        return vector::ExtractOp::create(b, v, from);
      return vector::ExtractStridedSliceOp::create(
          b, v, ArrayRef<int64_t>{from}, ArrayRef<int64_t>{int64_t(sums)},
          ArrayRef<int64_t>{1});
    });
  }

  unsigned width, sums;
  SmallVector<Index, 2> indices;
  SmallVector<SmallVector<Type>, 2> types;
  SmallVector<Type> allTypes;
};
} // namespace

SmallVector<SmallVector<Value>>
Emitter::emitStates(ArrayRef<llir::ReductionOpInterface> reductions,
                    const Index &index, bool varies, llir::LoopFormAttr form,
                    const Span &span,
                    function_ref<void(const Index &)> before) {
  auto all = llvm::map_to_vector<2>(reductions, [&](auto reduction) {
    return ReductionAt{reduction, index};
  });
  return emitStates(all, varies, form, span, before);
}

SmallVector<SmallVector<Value>>
Emitter::emitStates(ArrayRef<ReductionAt> reductions, bool varies,
                    llir::LoopFormAttr form, const Span &span,
                    function_ref<void(const Index &)> before) {
  llir::ReductionOpInterface first = reductions.front().op;
  Expr extent = first.getReducedExtent();
  Repeated repeated(*this, {extent});
  unsigned k = addDim(extent);
  Lane outer = lane;
  if (!varies)
    clearLane();
  unsigned width = varies ? 1 : form.getNumber("lanes", 1);
  unsigned sums = varies ? lane.width : form.getNumber("sums", width);
  unsigned unroll = form.getNumber("unroll", 1);
  JointState joint(reductions, varies ? sums : width, sums);
  size_t size = joint.size();
  Index inner = reductions.front().index;
  inner.push_back(Expr::dim(k));
  // Adds the terms at the current value of dim k to `state`.
  auto take = [&](ValueRange state) {
    if (before)
      before(inner);
    return joint.emitStep(*this, state, joint.emitTerms(*this, Expr::dim(k)),
                          varies ? Value() : lane.mask);
  };
  auto setK = [&](Value at) {
    setDim(k, at);
    if (!varies && width > 1)
      setLane(k, width);
  };
  if (llir::hasSpreadTerms(form)) {
    SmallVector<SmallVector<Value>> all =
        computeInParts(*llir::getSpreadTerms(first), [&](Value number) {
          setDim(k, number);
          return joint.emitTerms(*this, Expr::dim(k)).front();
        });
    SmallVector<Value> state = joint.emitInitial(b);
    for (SmallVector<Value> &terms : all)
      state = joint.emitStep(*this, state, {terms}, /*mask=*/{});
    lane = outer;
    return joint.split(state);
  }
  if (!varies && team.count > 1) {
    // The terms of the unrolled iterations, loaded before any of them is added.
    SmallVector<SmallVector<SmallVector<Value>>> loaded;
    auto load = [&](unsigned dim) {
      loaded.push_back(joint.emitTerms(*this, Expr::dim(dim)));
    };
    auto takeLoaded = [&](ValueRange state) {
      if (loaded.empty())
        return take(state);
      SmallVector<SmallVector<Value>> terms = std::move(loaded.front());
      loaded.erase(loaded.begin());
      return joint.emitStep(*this, state, terms, /*mask=*/{});
    };
    bool loadsFirst = form.getForm().getValue() == "together";
    auto states = joint.split(
        teamLoop(k, span, width, unroll, joint.emitInitial(b), takeLoaded,
                 loadsFirst ? function_ref<void(unsigned)>(load) : nullptr));
    lane = outer;
    if (sums > 1)
      for (auto [op, state] : llvm::zip_equal(joint.ops, states))
        state = mergeLanes(b, op, state);
    mergeTeam(joint.ops, states);
    return states;
  }
  // A short loop across lanes is unrolled completely: the indices are
  // constants, and other elements hide the latency of the single state.
  std::optional<int64_t> length = getConstantIntValue(span.length);
  if (varies && unroll > 1 && getConstantIntValue(span.lo) == 0 && length &&
      *length <= int64_t(unroll)) {
    SmallVector<Value> state = joint.emitInitial(b);
    for (int64_t u = 0; u < *length; ++u) {
      inner.back() = Expr(u);
      if (before)
        before(inner);
      state = joint.emitStep(*this, state, joint.emitTerms(*this, inner.back()),
                             /*mask=*/{});
    }
    return joint.split(state);
  }
  Value n = add(span.lo, span.length), step = constant(width);
  int64_t perRound = int64_t(width) * unroll;
  Value block = constant(perRound);
  SmallVector<Value> initial = joint.emitInitial(b), states;
  for (unsigned u = 0; u < unroll; ++u)
    llvm::append_range(states, initial);
  Value whole = sub(n, remU(span.length, block));
  auto takeRound = [&](Value iv, ValueRange carried) {
    SmallVector<Value> next;
    for (unsigned u = 0; u < unroll; ++u) {
      MemoScope scope(*this);
      setK(add(iv, constant(int64_t(u) * width)));
      llvm::append_range(next, take(carried.slice(u * size, size)));
    }
    return next;
  };
  auto merge = [&](ValueRange x, ValueRange y) {
    return joint.emitMerge(b, x, y);
  };
  // For a part, the whole extent is an upper bound.
  std::optional<int64_t> most =
      length ? length : getConstantIntValue(value(extent));
  const bool isLong = !most || *most >= 2 * kSumRounds * perRound;
  states = stateLoop(
      span.lo, whole, perRound, states, takeRound,
      joint.roundsSteps() && isLong ? MergeStates(merge) : nullptr, size);
  SmallVector<Value> state(ArrayRef(states).take_front(size));
  for (unsigned u = 1; u < unroll; ++u)
    state = joint.emitMerge(b, state, ArrayRef(states).slice(u * size, size));
  Value wholeSteps = whole;
  if (unroll > 1) {
    wholeSteps = width > 1 ? sub(n, remU(span.length, step)) : n;
    state = forLoop(whole, wholeSteps, step, state,
                    [&](Value iv, ValueRange carried) {
                      setK(iv);
                      return take(carried);
                    });
  }
  // No remainder if the span is provably whole vectors.
  if (width > 1 && !isWhole(span, width)) {
    clearLane();
    Value rest = sub(n, wholeSteps);
    state = ifElse(
        less(constant(0), rest), joint.getTypes(),
        [&] {
          setDim(k, wholeSteps);
          setLane(k, width, rest);
          return take(state);
        },
        [&] { return state; });
  }
  lane = outer;
  auto results = joint.split(state);
  if (!varies && sums > 1)
    for (auto [op, own] : llvm::zip_equal(joint.ops, results))
      own = mergeLanes(b, op, own);
  return results;
}
