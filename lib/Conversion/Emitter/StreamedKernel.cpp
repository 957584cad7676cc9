//===- StreamedKernel.cpp - Anchors computed jointly over one dim ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Streamed anchors (attention) on a CPU core. A work item is a block of rows;
// it takes all anchors through one chunk of the streamed dim after the other
// (StreamedStages). For each row it keeps the running state of its reductions
// and of the lines that products sum. Terms are relative to a reference of
// their row (StreamReference).
//
// If a mask has been proved (MaskAnalysis), a work item iterates only over the
// chunks that some of its rows need. A skipped chunk contributes zeros times
// elements of right operands, so those elements are first checked to be finite.
//
//===----------------------------------------------------------------------===//

#include "PartsEmitter.h"
#include "ScoredBound.h"
#include "StageLoops.h"
#include "StreamReference.h"
#include "luminal/Conversion/ScalarMath.h"
#include "luminal/Dialect/LLIR/Analysis/MaskAnalysis.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace luminal;
using namespace mlir;

using Anchor = StreamedSpace::Anchor;
using Role = StreamedSpace::Role;

namespace {
/// Scratch for elements of one type.
struct Room {
  Type type;
  Expr offset;
  Value base;
};

struct Reference : StreamReference {
  explicit Reference(StreamReference r) : StreamReference(r) {}
  /// For each row: the current reference, and the rescale factor of the current
  /// chunk.
  Room used, factor;
};

/// The running state of a reduction for each row.
struct RowState {
  const Anchor *anchor;
  llir::ReductionOpInterface op;
  ReductionEmissionOpInterface emission;
  SmallVector<Room> rooms;
};

/// The lines that a product sums.
struct Sum {
  const Anchor *anchor;
  ProductAnalysis p;
  /// The lines in the accumulator type.
  Room lines;
};

class StreamedKernel {
public:
  StreamedKernel(Emitter &e, const WorkLoop &loop)
      : e(e), loop(loop), t(e), s(t.s), parts(e.loopCase.getParts()) {}

  WorkShape emit();

private:
  void makeRoom();
  void makeStates();
  Room addRoom(Type type, const Expr &count);
  void keep(Value v, const Expr &count);
  void setBases();
  void emitInitial();
  IndexRange emitWalked(IndexRange part);
  void noteWhere(Value isBad);
  void emitFiniteCheck(const Sum &sum, Value lo, Value hi);
  void emitBoundCheck(const Anchor &anchor, Value lo, Value hi);
  void emitChunk(Value lo, Value hi);
  void emitScores(const Anchor &anchor, Value lo, Value hi);
  void emitSum(Sum &sum);
  void emitRow(Value lo, Value hi);
  void emitReferences(RowState &state, Value maximum, Value before);
  IndexRange emitPart(Value part);
  void emitWalk(Value part);
  void emitCopy(Value from, Value to);
  void emitMerge(Value other);
  void emitUnitsOfParts(const Grid &grid);
  void emitEnd();

  llir::LoopFormAttr getForm(const Anchor &anchor) const {
    return e.loopCase.getForm(llir::getPosition(anchor.op));
  }
  Reference *getReference(const Anchor &anchor) {
    auto it = llvm::find_if(references, [&](const Reference &r) {
      return r.value == anchor.reference;
    });
    return it == references.end() ? nullptr : &*it;
  }
  Value getRow(const Index &at) { return e.value(s.getRowPlace()(at)); }
  Value load(const Room &room, Value at) {
    return LLVM::LoadOp::create(e.b, room.type,
                                e.address(room.base, at, room.type));
  }
  void store(const Room &room, Value at, Value v) {
    LLVM::StoreOp::create(e.b, v, e.address(room.base, at, room.type));
  }
  /// A vector over the current lanes.
  Value loadLanes(const Room &room, Value at);
  void storeLanes(const Room &room, Value at, Value v);
  void overLine(const Sum &sum,
                function_ref<void(const Index &at, Value place)> body);

  Emitter &e;
  const WorkLoop &loop;
  StreamedStages t;
  StageAnalysis &s;
  SmallVector<IndexRange> ranges;
  SmallVector<Reference> references;
  SmallVector<RowState> states;
  std::vector<Sum> sums;
  /// Values computed for a chunk, and the reduction that computes them (null:
  /// none).
  SmallVector<std::pair<Value, const Anchor *>> terms;
  /// Values with scratch of their own, and its offset.
  SmallVector<std::pair<Value, Expr>> kept;
  /// The range of the stream that a row needs, if not all of it. `bounds` holds
  /// the range of the work item, and whether it must iterate over the whole
  /// stream.
  std::optional<NeededSpan> span;
  Room bounds;
  /// The end of a range is rounded up to a multiple of this, if it divides the
  /// chunk, so that all forms take whole steps.
  int64_t granule = 1;
  unsigned lanes = 1;
  /// The number of parts of the stream (split-kv), and the size of the states,
  /// which come first in scratch.
  int64_t parts;
  Expr stateBytes = 0;
  Expr bytes = 0, productBytes = 0, cost = 0;
};
} // namespace

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Room StreamedKernel::addRoom(Type type, const Expr &count) {
  Room room{type, bytes, {}};
  bytes = bytes + StreamedStages::countRoom(type, count);
  return room;
}

void StreamedKernel::keep(Value v, const Expr &count) {
  if (llvm::any_of(kept, [&](const auto &other) { return other.first == v; }))
    return;
  kept.push_back({v, bytes});
  addRoom(getStorageType(getElementType(v)), count);
}

/// The states that another work item can continue from
/// (StreamedStages::countStateBytes).
void StreamedKernel::makeStates() {
  Expr rows = s.countRows();
  for (const Anchor *anchor : t.getReferences()) {
    Reference r(StreamReference::get(t, *anchor));
    r.used = addRoom(r.type, rows);
    references.push_back(r);
  }
  for (const Anchor &anchor : t.getAnchors()) {
    if (anchor.role != Role::Reduction)
      continue;
    RowState state{&anchor,
                   cast<llir::ReductionOpInterface>(anchor.op),
                   cast<ReductionEmissionOpInterface>(anchor.op),
                   {}};
    for (Type type : state.op.getStateTypes())
      state.rooms.push_back(addRoom(type, rows));
    states.push_back(state);
  }
  for (const Anchor &anchor : t.getAnchors()) {
    if (anchor.role != Role::Sum)
      continue;
    ProductAnalysis p = t.analyze(anchor);
    Room lines = addRoom(p.accumulator, rows * p.columns.extent);
    sums.push_back({&anchor, std::move(p), lines});
  }
  stateBytes = bytes;
}

void StreamedKernel::makeRoom() {
  makeStates();
  Expr rows = s.countRows();
  if (span)
    bounds = addRoom(e.b.getI64Type(), 3);
  for (Reference &r : references)
    r.factor = addRoom(r.type, rows);
  for (const Anchor &anchor : t.getAnchors()) {
    if (anchor.role == Role::Scores)
      keep(anchor.op->getResult(0), rows * t.chunk);
    if (anchor.role == Role::Reduction)
      for (Value result : anchor.op->getResults())
        keep(result, rows);
    Value v = anchor.role == Role::Sum ? t.getComputedTerms(anchor) : Value();
    if (!v)
      continue;
    // The last reduction with this reference computes the terms too.
    const Anchor *by = nullptr;
    for (const Anchor &other : t.getAnchors())
      if (other.role == Role::Reduction && other.reference == anchor.reference)
        by = &other;
    if (llvm::none_of(terms, [&](auto &term) { return term.first == v; }))
      terms.push_back({v, by});
    keep(v, rows * t.chunk);
  }
  for (const Sum &sum : sums) {
    Value result = sum.anchor->op->getResult(0);
    if (getElementType(result) == sum.p.accumulator)
      kept.push_back({result, sum.lines.offset});
    else
      keep(result, rows * sum.p.columns.extent);
  }
}

void StreamedKernel::setBases() {
  auto at = [&](const Expr &offset) {
    return e.address(loop.scratch, e.value(offset), e.b.getI8Type());
  };
  for (const auto &[v, offset] : kept)
    e.setBase(v, at(offset));
  for (Reference &r : references)
    for (Room *room : {&r.used, &r.factor})
      room->base = at(room->offset);
  for (RowState &state : states)
    for (Room &room : state.rooms)
      room.base = at(room.offset);
  for (Sum &sum : sums)
    sum.lines.base = at(sum.lines.offset);
  if (span)
    bounds.base = at(bounds.offset);
}

Value StreamedKernel::loadLanes(const Room &room, Value at) {
  return LLVM::LoadOp::create(e.b, e.laneType(room.type),
                              e.address(room.base, at, room.type),
                              room.type.getIntOrFloatBitWidth() / 8);
}

void StreamedKernel::storeLanes(const Room &room, Value at, Value v) {
  Value address = e.address(room.base, at, room.type);
  unsigned alignment = room.type.getIntOrFloatBitWidth() / 8;
  if (Value mask = e.getLane().mask)
    LLVM::MaskedStoreOp::create(e.b, v, address, mask, alignment);
  else
    LLVM::StoreOp::create(e.b, v, address, alignment);
}

/// Iterates over the elements of the row's line, as vectors.
void StreamedKernel::overLine(
    const Sum &sum, function_ref<void(const Index &at, Value place)> body) {
  Value result = sum.anchor->op->getResult(0);
  Index at = s.index;
  if (getRank(result) == at.size())
    return body(at, e.value(s.getPlace(result)(at)));
  Expr extent = hlir::getExtents(result).back();
  unsigned column = e.addDim(extent);
  at.push_back(Expr::dim(column));
  e.laneLoop(column, e.constant(0), e.value(extent), lanes,
             [&] { body(at, e.value(s.getPlace(result)(at))); });
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

void StreamedKernel::emitInitial() {
  forEachRow(e, s, ranges, [&] {
    Value row = getRow(s.index);
    for (RowState &state : states)
      for (auto [room, v] : llvm::zip_equal(
               state.rooms,
               state.emission.emitInitial(e.b, state.op.getStateTypes())))
        store(room, row, v);
    for (Reference &r : references)
      for (Room *room : {&r.used, &r.factor})
        store(*room, row, r.getConstant(e, 0));
    for (Sum &sum : sums)
      overLine(sum, [&](const Index &, Value place) {
        Type type = e.laneType(sum.lines.type);
        storeLanes(sum.lines, place,
                   arith::ConstantOp::create(e.b, e.b.getZeroAttr(type)));
      });
  });
}

/// Updates the references that follow a running maximum, which grew from
/// `before` to `maximum`, and the rescale factors.
void StreamedKernel::emitReferences(RowState &state, Value maximum,
                                    Value before) {
  Value row = getRow(s.index);
  for (Reference &r : references) {
    if (r.maximum != state.anchor->op)
      continue;
    Value now = r.emitUsed(e, s.index, maximum);
    Value factor = r.emitFactor(e, load(r.used, row), now, before);
    store(r.used, row, now);
    store(r.factor, row, factor);
  }
}

/// Updates the reductions of a row with [lo, hi), and computes the terms that
/// products read.
void StreamedKernel::emitRow(Value lo, Value hi) {
  Value row = getRow(s.index);
  KernelAnalysis::Place place = t.getChunkPlace();
  auto keepTerms = [&](const Anchor *by, const Index &at) {
    for (auto [v, writer] : terms)
      if (writer == by)
        e.keep(v, place(at), e.emit(v, at));
  };
  Emitter::Span part{lo, e.sub(hi, lo), {t.extent, t.chunk}};
  if (span)
    part.multiples.push_back(granule);
  for (RowState &state : states) {
    const Anchor &anchor = *state.anchor;
    llir::LoopFormAttr form = getForm(anchor);
    SmallVector<Value> ofPart =
        e.emitState(state.op, s.index, /*varies=*/false, form, part,
                    [&](const Index &at) { keepTerms(&anchor, at); });
    SmallVector<Value> before;
    for (const Room &room : state.rooms)
      before.push_back(load(room, row));
    SmallVector<Value> taken = before;
    if (const Reference *r = getReference(anchor)) {
      Type type = state.rooms[0].type;
      Value factor = emitCast(e.b, load(r->factor, row), r->type, type);
      taken = state.emission.emitScaled(e.b, before, factor);
    }
    SmallVector<Value> now = state.emission.emitMerge(e.b, taken, ofPart);
    for (auto [room, v] : llvm::zip_equal(state.rooms, now))
      store(room, row, v);
    if (llvm::any_of(references, [&](const Reference &r) {
          return r.maximum == anchor.op;
        }))
      emitReferences(state, state.emission.emitResults(e.b, now)[0],
                     state.emission.emitResults(e.b, before)[0]);
  }
  // Terms that belong to no reduction.
  if (llvm::none_of(terms, [](auto &term) { return !term.second; }))
    return;
  unsigned column = e.addDim(t.extent);
  Index at = s.index;
  at.push_back(Expr::dim(column));
  Emitter::Repeated repeated(e, {t.extent});
  e.laneLoop(column, lo, hi, lanes, [&] { keepTerms(nullptr, at); });
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

void StreamedKernel::emitScores(const Anchor &anchor, Value lo, Value hi) {
  ProductAnalysis p = t.analyze(anchor);
  StageProduct product(e, s, ranges, p, getForm(anchor));
  product.loops.setScratch(
      e.address(loop.scratch, e.value(bytes), e.b.getI8Type()));
  Value result = anchor.op->getResult(0);
  product.loops.finish = [&](Value sum) {
    Value element = emitCast(e.b, sum, p.accumulator, getElementType(result));
    e.keep(result, t.getChunkPlace()(p.index), element);
  };
  product.emit(IndexRange{lo, hi});
  productBytes = Expr::max(productBytes, product.loops.getScratchBytes());
  cost = cost + product.getCost();
}

void StreamedKernel::emitSum(Sum &sum) {
  ProductAnalysis &p = sum.p;
  StageProduct product(e, s, ranges, p, getForm(*sum.anchor));
  product.loops.setScratch(
      e.address(loop.scratch, e.value(bytes), e.b.getI8Type()));
  Value result = sum.anchor->op->getResult(0);
  const Reference *r = getReference(*sum.anchor);
  product.loops.finish = [&](Value chunk) {
    Value place = e.value(s.getPlace(result)(p.index));
    Value line = loadLanes(sum.lines, place);
    if (r) {
      Value factor = emitCast(e.b, load(r->factor, getRow(p.index)), r->type,
                              p.accumulator);
      line =
          emitFn(e.b, llir::Fn::Mul, {line, e.spread(factor)}, p.accumulator);
    }
    storeLanes(
        sum.lines, place,
        emitFn(e.b, llir::Fn::Add, {line, e.spread(chunk)}, p.accumulator));
  };
  product.emit();
  productBytes = Expr::max(productBytes, product.loops.getScratchBytes());
  cost = cost + product.getCost();
}

//===----------------------------------------------------------------------===//
// Work items
//===----------------------------------------------------------------------===//

/// Records that the work item must iterate over the whole stream if this
/// condition (i1) is true in some lane.
void StreamedKernel::noteWhere(Value isBad) {
  if (e.isVector()) {
    if (Value mask = e.getLane().mask)
      isBad = arith::AndIOp::create(e.b, isBad, mask);
    isBad = vector::ReductionOp::create(e.b, vector::CombiningKind::OR, isBad);
  }
  e.ifThen(isBad, [&] { store(bounds, e.constant(2), e.constant(1)); });
}

/// Records whether an element of the right operand of `sum` at [lo, hi) of the
/// stream is not finite.
void StreamedKernel::emitFiniteCheck(const Sum &sum, Value lo, Value hi) {
  ProductAnalysis p = t.analyze(*sum.anchor);
  llir::LoopFormAttr form = getForm(*sum.anchor);
  StageProduct product(e, s, ranges, p, form);
  Value zero = e.constant(0), one = e.constant(1);
  Index at = p.getOperandIndex(p.columns);
  // Adds zero times the element: 0 or NaN.
  auto takeZero = [&](Value sum) -> Value {
    Value v = emitCast(e.b, e.emit(p.columns.operand, at),
                       getElementType(p.columns.operand), p.accumulator);
    Value none = arith::ConstantOp::create(e.b, e.b.getZeroAttr(v.getType()));
    v = e.spread(emitFn(e.b, llir::Fn::Mul, {v, none}, p.accumulator));
    return sum ? emitFn(e.b, llir::Fn::Add, {sum, v}, p.accumulator) : v;
  };
  auto note = [&](Value sum) {
    noteWhere(arith::CmpFOp::create(e.b, arith::CmpFPredicate::UNO, sum, sum));
  };
  unsigned width = form.getNumber("lanes", 1);
  e.setDim(t.begin, lo);
  e.ifThen(e.less(lo, hi), [&] {
    Value count = e.sub(hi, lo), columns = e.value(p.columns.extent);
    product.forEachBatch([&] {
      if (p.columns.alongK && !p.columns.alongOwn)
        return e.forLoop(zero, columns, one, [&](Value column) {
          e.setDim(p.columns.dim, column);
          e.laneLoop(p.kDim, zero, count, width, [&] { note(takeZero({})); });
        });
      e.laneLoop(p.columns.dim, zero, columns, width, [&] {
        Value none = arith::ConstantOp::create(
            e.b, e.b.getZeroAttr(e.laneType(p.accumulator)));
        note(e.forLoop(zero, count, one, none, [&](Value k, ValueRange sum) {
          e.setDim(p.kDim, k);
          return SmallVector<Value>{takeZero(sum[0])};
        })[0]);
      });
    });
  });
}

/// Records whether an operand of the scores of the work item's rows, at indices
/// [lo, hi) of the stream, is too large (ScoredBound.h).
void StreamedKernel::emitBoundCheck(const Anchor &anchor, Value lo, Value hi) {
  ProductAnalysis p = t.analyze(anchor);
  llir::LoopFormAttr form = getForm(anchor);
  StageProduct product(e, s, ranges, p, form);
  Value zero = e.constant(0), one = e.constant(1);
  Value steps = e.value(p.kExtent);
  unsigned width = form.getNumber("lanes", 1);
  auto element = cast<FloatType>(p.accumulator);
  auto check = [&](const ProductSide &side, IndexRange range) {
    Index at = p.getOperandIndex(side);
    auto note = [&] {
      Value v = emitCast(e.b, e.emit(side.operand, at),
                         getElementType(side.operand), element);
      noteWhere(
          emitExceedsBound(e.b, emitMagnitude(e.b, e.spread(v)), element));
    };
    auto loops = [&](unsigned along, IndexRange ofLanes, unsigned other,
                     IndexRange rest) {
      e.forLoop(rest.lo, rest.hi, one, [&](Value i) {
        e.setDim(other, i);
        e.laneLoop(along, ofLanes.lo, ofLanes.hi, width, note);
      });
    };
    if (side.alongK && !side.alongOwn)
      loops(p.kDim, {zero, steps}, side.dim, range);
    else
      loops(side.dim, range, p.kDim, {zero, steps});
  };
  e.ifThen(e.less(lo, hi), [&] {
    product.forEachBatch([&] {
      check(p.rows, product.getRows());
      check(p.columns, {lo, hi});
    });
  });
}

/// The range of `part` that the work item iterates over: whole chunks that
/// cover what its rows need.
IndexRange StreamedKernel::emitWalked(IndexRange part) {
  Value first = e.constant(0), last = e.constant(1), isAll = e.constant(2);
  Value none = e.constant(0), extent = e.value(t.extent);
  store(bounds, first, extent);
  store(bounds, last, none);
  store(bounds, isAll, none);
  forEachRow(e, s, ranges, [&] {
    Value lo = e.maxS(none, e.value(span->lo));
    Value hi = e.minS(extent, e.value(span->hi));
    e.ifThen(e.less(lo, hi), [&] {
      store(bounds, first, e.minS(load(bounds, first), lo));
      store(bounds, last, e.maxS(load(bounds, last), hi));
    });
  });
  auto roundDown = [&](Value v, int64_t step) {
    return e.mul(e.divU(v, e.constant(step)), e.constant(step));
  };
  Value lo = roundDown(load(bounds, first), t.chunk);
  Value hi = e.add(load(bounds, last), e.constant(granule - 1));
  // The range is empty if the part has nothing that is needed.
  lo = e.maxS(part.lo, e.minS(part.hi, lo));
  hi = e.maxS(part.lo, e.minS(part.hi, roundDown(hi, granule)));
  for (const Sum &sum : sums) {
    emitFiniteCheck(sum, part.lo, lo);
    emitFiniteCheck(sum, hi, part.hi);
  }
  if (span->assumesBounded)
    for (const Anchor &anchor : t.getAnchors())
      if (anchor.role == Role::Scores) {
        emitBoundCheck(anchor, part.lo, lo);
        emitBoundCheck(anchor, hi, part.hi);
      }
  Value isNeeded = e.less(none, load(bounds, isAll));
  return {arith::SelectOp::create(e.b, isNeeded, part.lo, lo),
          arith::SelectOp::create(e.b, isNeeded, part.hi, hi)};
}

void StreamedKernel::emitChunk(Value lo, Value hi) {
  e.clearPlaces();
  e.setDim(t.begin, lo);
  if (t.end)
    e.setDim(*t.end, hi);
  for (const Anchor &anchor : t.getAnchors())
    if (anchor.role == Role::Scores)
      emitScores(anchor, lo, hi);
  for (const Anchor &anchor : t.getAnchors())
    if (anchor.role == Role::Scores)
      t.placeInChunk(anchor.op->getResult(0));
  forEachRow(e, s, ranges, [&] { emitRow(lo, hi); });
  for (auto [v, by] : terms)
    t.placeInChunk(v);
  for (Sum &sum : sums)
    emitSum(sum);
}

/// Turns the final states into the anchors' results and writes the kernel's
/// results.
void StreamedKernel::emitEnd() {
  e.clearPlaces();
  forEachRow(e, s, ranges, [&] {
    Value row = getRow(s.index);
    llvm::MapVector<Value, Value> factors;
    auto scale = [&](const Anchor &anchor, Type type) {
      Value factor = factors.lookup(anchor.reference);
      return emitCast(e.b, factor, getReference(anchor)->type, type);
    };
    for (RowState &state : states) {
      SmallVector<Value> taken;
      for (const Room &room : state.rooms)
        taken.push_back(load(room, row));
      if (state.anchor->reference)
        taken = state.emission.emitScaled(
            e.b, taken, scale(*state.anchor, state.rooms[0].type));
      SmallVector<Value> results = state.emission.emitResults(e.b, taken);
      for (auto [result, v] :
           llvm::zip_equal(state.anchor->op->getResults(), results))
        e.keep(result, s.getPlace(result)(s.index), v);
      for (const Reference &r : references)
        if (r.maximum == state.anchor->op)
          factors[r.value] = r.emitEndFactor(e, s.index, results[0], t.extent);
    }
    for (Sum &sum : sums) {
      Value result = sum.anchor->op->getResult(0);
      Type type = getElementType(result);
      if (!sum.anchor->reference && type == sum.lines.type)
        continue;
      overLine(sum, [&](const Index &at, Value place) {
        Value line = loadLanes(sum.lines, place);
        if (sum.anchor->reference)
          line = emitFn(e.b, llir::Fn::Mul,
                        {line, e.spread(scale(*sum.anchor, sum.lines.type))},
                        sum.lines.type);
        e.keep(result, s.getPlace(result)(at),
               emitCast(e.b, line, sum.lines.type, type));
      });
    }
  });
  for (const Anchor &anchor : t.getAnchors())
    if (anchor.role != Role::Scores)
      for (Value result : anchor.op->getResults())
        s.place(result);
  forEachRow(e, s, ranges, [&] { emitRowResults(e, s, lanes); });
}

/// The range of part `part` of the stream; all of it if there is one part.
IndexRange StreamedKernel::emitPart(Value part) {
  Value extent = e.value(t.extent);
  if (parts == 1)
    return {e.constant(0), extent};
  Value share =
      e.value(e.simplify(llir::getPartExtent(t.extent, parts, t.chunk)));
  Value lo = e.minS(extent, e.mul(part, share));
  return {lo, e.minS(extent, e.add(lo, share))};
}

/// Computes the states of the work item's rows for `part` of the stream.
void StreamedKernel::emitWalk(Value part) {
  setBases();
  emitInitial();
  IndexRange walked = emitPart(part);
  if (span)
    walked = emitWalked(walked);
  Value step = e.constant(t.chunk);
  bool isWhole =
      !span && e.simplify(Expr::mod(t.extent, t.chunk)).isConstant(0);
  e.forLoop(walked.lo, walked.hi, step, [&](Value lo) {
    Value hi = e.add(lo, step);
    emitChunk(lo, isWhole ? hi : e.minS(hi, walked.hi));
  });
}

//===----------------------------------------------------------------------===//
// Split-kv
//===----------------------------------------------------------------------===//

/// Copies the states at `from` to `to`; both are aligned to the states'
/// alignment.
void StreamedKernel::emitCopy(Value from, Value to) {
  constexpr int64_t kPiece = 64;
  Type i64 = e.b.getI64Type(), i8 = e.b.getI8Type();
  Type piece = VectorType::get({kPiece / 8}, i64);
  e.forLoop(
      e.constant(0), e.value(stateBytes), e.constant(kPiece), [&](Value at) {
        Value v = LLVM::LoadOp::create(e.b, piece, e.address(from, at, i8),
                                       /*alignment=*/8);
        LLVM::StoreOp::create(e.b, v, e.address(to, at, i8),
                              /*alignment=*/8);
      });
}

/// Merges the states at `other` into those of the work item.
void StreamedKernel::emitMerge(Value other) {
  auto theirs = [&](Room room) {
    room.base = e.address(other, e.value(room.offset), e.b.getI8Type());
    return room;
  };
  forEachRow(e, s, ranges, [&] {
    Value row = getRow(s.index);
    // The rescale factors of both states.
    llvm::MapVector<Value, std::pair<Value, Value>> factors;
    auto scale = [&](RowState &state, SmallVector<Value> v, Value factor) {
      const Reference *r = getReference(*state.anchor);
      factor = emitCast(e.b, factor, r->type, state.rooms[0].type);
      return state.emission.emitScaled(e.b, v, factor);
    };
    for (RowState &state : states) {
      SmallVector<Value> mine, others;
      for (const Room &room : state.rooms) {
        mine.push_back(load(room, row));
        others.push_back(load(theirs(room), row));
      }
      SmallVector<Value> x = mine, y = others;
      if (Value reference = state.anchor->reference) {
        x = scale(state, mine, factors[reference].first);
        y = scale(state, others, factors[reference].second);
      }
      SmallVector<Value> now = state.emission.emitMerge(e.b, x, y);
      for (auto [room, v] : llvm::zip_equal(state.rooms, now))
        store(room, row, v);
      auto getMaximum = [&](ArrayRef<Value> v) {
        return state.emission.emitResults(e.b, v)[0];
      };
      for (const Reference &r : references) {
        if (r.maximum != state.anchor->op)
          continue;
        Value used = r.emitUsed(e, s.index, getMaximum(now));
        factors[r.value] = {
            r.emitFactor(e, load(r.used, row), used, getMaximum(mine)),
            r.emitFactor(e, load(theirs(r.used), row), used,
                         getMaximum(others))};
        store(r.used, row, used);
      }
    }
    for (const Sum &sum : sums)
      overLine(sum, [&](const Index &, Value place) {
        Type type = sum.lines.type;
        Value x = loadLanes(sum.lines, place),
              y = loadLanes(theirs(sum.lines), place);
        if (const Reference *r = getReference(*sum.anchor)) {
          auto scaled = [&](Value line, Value factor) {
            factor = e.spread(emitCast(e.b, factor, r->type, type));
            return emitFn(e.b, llir::Fn::Mul, {line, factor}, type);
          };
          x = scaled(x, factors[r->value].first);
          y = scaled(y, factors[r->value].second);
        }
        storeLanes(sum.lines, place, emitFn(e.b, llir::Fn::Add, {x, y}, type));
      });
  });
}

/// Work items with split-kv: each stores the states of its part to memory, and
/// the last to arrive for a block of rows merges those of all parts in order.
void StreamedKernel::emitUnitsOfParts(const Grid &grid) {
  Emitter::Repeated repeated(e, {s.extents.begin(), s.extents.end()});
  Value count = e.constant(parts), size = e.value(stateBytes);
  e.forLoop(loop.begin, loop.end, loop.step, [&](Value unit) {
    Value block = e.divU(unit, count), part = e.remU(unit, count);
    auto getStates = [&](Value part) {
      Value number = e.add(e.mul(block, count), part);
      return e.address(e.states, e.mul(number, size), e.b.getI8Type());
    };
    ranges = setUnit(e, s, grid, block);
    emitWalk(part);
    emitCopy(loop.scratch, getStates(part));
    e.ifThen(emitArrival(e, block, parts), [&] {
      emitInitial();
      e.forLoop(e.constant(0), count, e.constant(1),
                [&](Value other) { emitMerge(getStates(other)); });
      emitEnd();
    });
  });
}

WorkShape StreamedKernel::emit() {
  e.clearPlaces();
  bool fits = t.find() && t.apply(e.loopCase);
  assert(fits && "a schedule that was not verified");
  (void)fits;
  for (llir::LoopFormAttr form : e.loopCase.getForms())
    lanes = std::max<int64_t>(lanes, form.getNumber("lanes", 1));
  if (NeededSpan found; findStreamSpan(t, s.index, found)) {
    span = found;
    t.end = e.addDim(t.extent + 1);
    for (llir::LoopFormAttr form : e.loopCase.getForms())
      granule = std::lcm(granule, form.getNumber("lanes", 1) *
                                      form.getNumber("vectors", 1) *
                                      form.getNumber("unroll", 1));
    if (t.chunk % granule)
      granule = 1;
  }
  makeRoom();
  Grid grid = getGrid(s);
  if (parts == 1)
    forEachUnit(e, s, grid, loop, [&](SmallVector<IndexRange> ofUnit) {
      ranges = std::move(ofUnit);
      emitWalk({});
      emitEnd();
    });
  else
    emitUnitsOfParts(grid);
  e.clearPlaces();
  cost = cost +
         t.extent * (llir::getElementCost(e.kernel) * int64_t(states.size()));
  cost = Expr::ceilDiv(grid.getUnitLength() * Expr::max(1, cost), parts);
  return {grid.countUnits() * parts, cost, bytes + productBytes};
}

WorkShape luminal::emitStreamed(Emitter &e, const WorkLoop &loop) {
  return StreamedKernel(e, loop).emit();
}
