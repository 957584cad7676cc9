//===- StreamedBlocks.cpp - Streamed anchors by thread blocks -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread block takes a tile of rows through all anchors, one chunk of the
// streamed dim after the other (StreamedStages, StreamTile). Each row belongs
// to a group of neighbouring threads, which hold its scores, its states and the
// sums of its products in registers. A maximum is exchanged within the group
// once per chunk; all other states are merged at the end. Right operands pass
// through shared memory and are prefetched while a chunk is computed: with
// asynchronous copies if memory holds them in the multiplied type, otherwise
// through registers (right operands of scores only). Terms are relative to a
// reference of their row (StreamReference).
// StreamedBlocks.h lists the other files of the class.
//
//===----------------------------------------------------------------------===//

#include "StreamedBlocks.h"
#include "luminal/Conversion/ScalarMath.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"
#include "luminal/Dialect/LLIR/Utils/SharedMemory.h"
#include "luminal/Dialect/LLIR/Utils/Values.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace luminal;
using namespace luminal::blocks;
using namespace mlir;

using Anchor = StreamedSpace::Anchor;
using Role = StreamedSpace::Role;

//===----------------------------------------------------------------------===//
// Anchors and shared memory of a block
//===----------------------------------------------------------------------===//

void StreamedBlocks::findLayout() {
  tile = StreamTile::get(t, e.loopCase);
  thread = e.team.member;
  if (warpRole == WarpRole::Producer)
    thread = e.sub(thread, e.constant(tile.threads));
  warp = e.team.warp;
  // From here on the code chooses the threads itself; the emitter's loops are
  // not distributed.
  e.team = Emitter::Team();
  for (const StageAxis &axis : s.axes)
    if (axis.block != 1)
      rowAxis = &axis;
  column = e.addDim(t.extent);
  at = s.index;
  at.push_back(Expr::dim(column));
}

void StreamedBlocks::addProduct(const Anchor &anchor) {
  bool isScores = anchor.role == Role::Scores;
  auto &list = isScores ? scores : sums;
  list.push_back(std::make_unique<Product>(anchor, t.analyze(anchor)));
  Product &product = *list.back();
  ProductAnalysis &p = product.p;
  llir::LoopFormAttr form = e.loopCase.getForm(llir::getPosition(anchor.op));
  StreamTile::Part part = tile.getPart(anchor);
  TileShape shape{tile.rows, part.columns, part.depth};
  unsigned warps = tile.threads / warp;
  Type multiplied = getMultipliedType(anchor);
  product.tile = tile.useWarpGroups
                     ? makeWarpGroupTile(e, shape, multiplied, thread, warps)
                 : tile.useTensorCores
                     ? makeTensorTile(e, shape, multiplied, thread, warps,
                                      /*warpColumns=*/1)
                     : makePlainTile(e, shape, p.accumulator, thread);
  unsigned bringing =
      warpRole == WarpRole::Producer ? tile.producers : tile.threads;
  auto makeSide = [&](std::optional<BlockSide> &side, bool ofRows) {
    side.emplace(e, p, ofRows ? p.rows : p.columns, *product.tile,
                 BlockSide::getReading(form, ofRows),
                 ofRows ? tile.rows : part.columns, part.depth, thread,
                 bringing);
  };
  makeSide(product.right, /*ofRows=*/false);
  product.stages = tile.countStages(anchor);
  if (isScores)
    makeSide(product.left, /*ofRows=*/true);
}

void StreamedBlocks::addAnchors() {
  for (const Anchor &anchor : t.getAnchors()) {
    if (anchor.reference && !getReference(anchor))
      references.push_back(Reference(StreamReference::get(t, anchor)));
    if (anchor.role == Role::Reduction)
      states.push_back({&anchor,
                        cast<llir::ReductionOpInterface>(anchor.op),
                        cast<ReductionEmissionOpInterface>(anchor.op),
                        false,
                        {}});
    else
      addProduct(anchor);
  }
  for (RowState &state : states)
    state.isOfTeam = llvm::any_of(references, [&](const Reference &r) {
      return r.maximum == state.anchor->op;
    });
  findScaled();
  findCut();
  for (auto &sum : sums) {
    Value v = StreamedSpace::getTerms(sum->p.op);
    if (llvm::any_of(terms,
                     [&](const Terms &other) { return other.value == v; }))
      continue;
    // The last reduction with this reference computes the terms too.
    const Anchor *by = nullptr;
    for (const RowState &state : states)
      if (state.anchor->reference == sum->anchor.reference)
        by = state.anchor;
    terms.push_back({v, by, {}});
  }
  TileShape shape{tile.rows, t.chunk, StreamTile::kWarpRows};
  Type f32 = e.b.getF32Type();
  layout = tile.useTensorCores
               ? makeTensorTile(e, shape, f32, thread, tile.threads / warp,
                                /*warpColumns=*/1)
               : makePlainTile(e, shape, f32, thread);
}

/// Assigns shared memory to all operands; returns its size in bytes.
int64_t StreamedBlocks::makeRoom() {
  if (!shared)
    shared = e.makeLaunchShared();
  int64_t bytes = 0;
  auto take = [&](Type stored, int64_t count) {
    Value begin = e.address(shared, e.constant(bytes), e.b.getI8Type());
    int64_t size = stored.getIntOrFloatBitWidth() / 8;
    bytes += llvm::alignTo(count * size, llir::kLaunchSharedAlignment);
    return begin;
  };
  auto takeRight = [&](Product &product) {
    BlockSide &side = *product.right;
    product.memory =
        take(product.tile->getStored(), product.stages * side.countElements());
    side.setMemory(product.memory);
  };
  for (auto &product : scores) {
    BlockSide &left = *product->left;
    left.setMemory(take(product->tile->getStored(), left.countElements()));
    takeRight(*product);
  }
  for (auto &product : sums) {
    takeRight(*product);
    if (tile.useTensorCores)
      continue;
    int64_t stride = product->tile->getStride(tile.rows, t.chunk);
    product->room = {take(product->tile->getStored(), tile.rows * stride),
                     stride};
  }
  return bytes;
}

Emitter::Team StreamedBlocks::getBlock() {
  Value all = arith::ConstantOp::create(e.b, e.b.getI32IntegerAttr(-1));
  return {tile.threads, thread, warp, all};
}

/// The threads that share this thread's rows.
Emitter::Team StreamedBlocks::getTeam() {
  unsigned count = layout->getTeam();
  Value all = arith::ConstantOp::create(e.b, e.b.getI32IntegerAttr(-1));
  return {count, e.remU(thread, e.constant(count)), warp, all};
}

//===----------------------------------------------------------------------===//
// Positions of elements
//===----------------------------------------------------------------------===//

/// Clamps `at` to the last element. `inside` is set to whether `at` is within
/// the extent: results of clamped positions must not be used.
Value StreamedBlocks::clampInside(Value at, const Expr &extent, bool isWhole,
                                  Value &inside) {
  if (isWhole)
    return at;
  Value n = e.value(extent);
  inside = e.less(at, n);
  return e.minS(at, e.sub(n, e.constant(1)));
}

Value StreamedBlocks::getPlaceOfRow(unsigned number) {
  for (size_t i = 0, n = layout->countSums(); i < n; ++i)
    if (layout->getRowNumber(i) == number) {
      Value row = layout->getRow(i);
      return e.add(firstRow, rowsOfSet ? e.remU(row, rowsOfSet) : row);
    }
  llvm_unreachable("a row without elements");
}

bool StreamedBlocks::isUsed(unsigned number) const {
  return layout->getLeastRow(number) < tile.usedRows;
}

Value StreamedBlocks::setRow(unsigned number) {
  Value inside, row = getPlaceOfRow(number);
  if (!rowAxis) {
    inside = e.less(row, e.constant(1));
    return inside;
  }
  row = clampInside(row, rowAxis->extent, isWhole(rowAxis->extent, tile.rows),
                    inside);
  e.setDim(rowAxis->dim, row);
  return inside;
}

Value StreamedBlocks::setPlace(size_t place, Value lo, bool isInside) {
  Value inside;
  Value index = clampInside(e.add(lo, layout->getColumn(place)), t.extent,
                            isInside || isWhole(t.extent, t.chunk), inside);
  e.setDim(column, index);
  return inside;
}

SmallVector<Value>
StreamedBlocks::emitPlaces(Type type, Value lo, bool areInside,
                           function_ref<Value(size_t, Value)> emit) {
  SmallVector<Value> elements;
  for (size_t place = 0, n = layout->countSums(); place < n; ++place) {
    unsigned number = layout->getRowNumber(place);
    if (!isUsed(number)) {
      elements.push_back(arith::ConstantOp::create(e.b, e.b.getZeroAttr(type)));
      continue;
    }
    Emitter::MemoScope scope(e);
    setRow(number);
    Value isInside = setPlace(place, lo, areInside);
    rememberScores(place);
    elements.push_back(emit(place, isInside));
  }
  return elements;
}

void StreamedBlocks::rememberRow(unsigned number) {
  for (const Reference &r : references)
    e.remember(r.value, s.index,
               emitCast(e.b, r.used[number], r.type, getElementType(r.value)));
}

void StreamedBlocks::rememberScores(size_t place) {
  for (auto &product : scores) {
    Value result = product->getResult();
    e.remember(result, at,
               emitCast(e.b, product->sums[place], product->p.accumulator,
                        getElementType(result)));
  }
  rememberUnscaled();
  for (auto [select, elements] : llvm::zip(selects, chosen))
    e.remember(select.op.getResult(), at, elements[place]);
}

//===----------------------------------------------------------------------===//
// One chunk
//===----------------------------------------------------------------------===//

/// The loop-carried values of the loop over chunks.
SmallVector<Value> StreamedBlocks::getCarried() const {
  SmallVector<Value> values;
  for (const RowState &state : states)
    for (const SmallVector<Value> &row : state.rows)
      llvm::append_range(values, row);
  for (const Reference &r : references)
    llvm::append_range(values, r.used);
  for (const auto &sum : sums)
    llvm::append_range(values, sum->sums);
  for (const auto &product : scores)
    llvm::append_range(values, product->next);
  return values;
}

void StreamedBlocks::setCarried(ValueRange values) {
  auto take = [&](SmallVector<Value> &list) {
    for (Value &v : list) {
      v = values.front();
      values = values.drop_front();
    }
  };
  for (RowState &state : states)
    for (SmallVector<Value> &row : state.rows)
      take(row);
  for (Reference &r : references)
    take(r.used);
  for (auto &sum : sums)
    take(sum->sums);
  for (auto &product : scores)
    take(product->next);
}

/// The type in which the tile of a sum takes its terms.
static Type getTermType(const Product &sum) {
  return sum.isSplit() ? sum.p.accumulator : sum.tile->getElement();
}

/// Computes the terms that reduction `by` computes, at one position.
void StreamedBlocks::emitTerms(const Anchor *by, size_t place, Value isInside) {
  for (Terms &term : terms) {
    if (term.by != by)
      continue;
    for (auto &sum : sums) {
      if (StreamedSpace::getTerms(sum->p.op) != term.value)
        continue;
      Type multiplied = getTermType(*sum);
      // If the term was widened from the multiplied type, take it before that.
      Value source = llir::skipWidening(term.value);
      if (getElementType(source) != multiplied)
        source = term.value;
      Value element =
          emitCast(e.b, e.emit(source, at), getElementType(source), multiplied);
      element = e.toStorage(element, multiplied);
      if (isInside) {
        Value zero =
            arith::ConstantOp::create(e.b, e.b.getZeroAttr(element.getType()));
        element = arith::SelectOp::create(e.b, isInside, element, zero);
      }
      term.elements[place] = element;
      break;
    }
  }
}

/// Updates the reductions of the thread's rows with the chunk that begins at
/// `lo`, and computes the terms that products read.
void StreamedBlocks::emitRows(Value lo) {
  Emitter::Repeated repeated(e, {t.extent});
  size_t places = layout->countSums();
  // Terms of rows that no tile has are 0.
  for (Terms &term : terms) {
    auto sum = llvm::find_if(sums, [&](const auto &sum) {
      return StreamedSpace::getTerms(sum->p.op) == term.value;
    });
    Type stored = getStorageType(getTermType(**sum));
    term.elements.assign(
        places, arith::ConstantOp::create(e.b, e.b.getZeroAttr(stored)));
  }
  chooseMasks(lo);
  cutTerms(lo);
  auto forRow = [&](unsigned number,
                    function_ref<void(size_t place, Value isInside)> body) {
    for (size_t place = 0; place < places; ++place) {
      if (layout->getRowNumber(place) != number)
        continue;
      Emitter::MemoScope scope(e);
      Value isInside = setPlace(place, lo, /*isInside=*/!cut.empty());
      // The masked elements may be the scores, so they are remembered first.
      rememberCut(place);
      rememberScores(place);
      rememberExponents(number);
      body(place, isInside);
    }
  };
  for (RowState &state : states)
    for (unsigned number = 0; number < layout->countRows(); ++number) {
      if (!isUsed(number))
        continue;
      Emitter::MemoScope scope(e);
      setRow(number);
      rememberRow(number);
      const Anchor &anchor = *state.anchor;
      SmallVector<Value> before = state.rows[number], taken = before;
      if (const Reference *r = getReference(anchor))
        taken =
            state.emission.emitScaled(e.b, before,
                                      emitCast(e.b, r->factors[number], r->type,
                                               state.op.getStateTypes()[0]));
      SmallVector<Value> now =
          state.isOfTeam
              ? state.emission.emitInitial(e.b, state.op.getStateTypes())
              : taken;
      forRow(number, [&](size_t place, Value isInside) {
        SmallVector<Value> next =
            state.emission.emitStep(e.b, now, state.emission.emitTerms(e, at));
        if (isInside)
          for (auto [v, old] : llvm::zip_equal(next, now))
            v = arith::SelectOp::create(e.b, isInside, v, old);
        now = next;
        emitTerms(&anchor, place, isInside);
      });
      if (state.isOfTeam) {
        e.team = getTeam();
        now = e.mergeTeam(state.emission, now);
        e.team = Emitter::Team();
        scaleMaximum(state, now);
        now = state.emission.emitMerge(e.b, taken, now);
        Value maximum = state.emission.emitResults(e.b, now)[0],
              last = state.emission.emitResults(e.b, before)[0];
        for (Reference &r : references) {
          if (r.maximum != anchor.op)
            continue;
          Value used = r.emitUsed(e, s.index, maximum);
          r.factors[number] = r.emitFactor(e, r.used[number], used, last);
          r.used[number] = used;
        }
      }
      state.rows[number] = now;
    }
  // Terms that belong to no reduction.
  if (llvm::none_of(terms, [](const Terms &term) { return !term.by; }))
    return;
  for (unsigned number = 0; number < layout->countRows(); ++number) {
    if (!isUsed(number))
      continue;
    Emitter::MemoScope scope(e);
    setRow(number);
    rememberRow(number);
    forRow(number, [&](size_t place, Value isInside) {
      emitTerms(nullptr, place, isInside);
    });
  }
}

void StreamedBlocks::scaleSums(Product &sum) {
  if (const Reference *r = getReference(sum.anchor))
    for (auto [i, v] : llvm::enumerate(sum.sums)) {
      unsigned number = sum.tile->getRowNumber(i);
      if (!isUsed(number))
        continue;
      Value factor =
          emitCast(e.b, r->factors[number], r->type, sum.p.accumulator);
      v = emitFn(e.b, llir::Fn::Mul, {v, factor}, sum.p.accumulator);
    }
}

void StreamedBlocks::emitSum(Product &sum, Value slot) {
  scaleSums(sum);
  auto it = llvm::find_if(terms, [&](const Terms &term) {
    return term.value == StreamedSpace::getTerms(sum.p.op);
  });
  sum.sums = sum.tile->multiplyTerms(sum.sums, *layout, it->elements, sum.room,
                                     getRight(sum, slot));
}

/// Makes writes of the block to shared memory visible to its threads.
void StreamedBlocks::publish() {
  if (tile.useWarpGroups)
    emitSharedFence(e);
  meetConsumers();
}

void StreamedBlocks::emitChunk(Value lo, Value slot, IndexRange walked) {
  e.clearPlaces();
  // This thread's copies for this chunk have landed; the barrier makes those of
  // all threads visible.
  if (tile.stages > 1)
    NVVM::CpAsyncWaitGroupOp::create(e.b, tile.stages - 2);
  // The barrier also ensures that all threads are done with the previous chunk.
  publish();
  if (tile.stages > 1) {
    CopiedChunk last{e.add(lo, e.constant((tile.stages - 1) * t.chunk)),
                     getSlotBefore(slot)};
    startCopies(last, walked);
  }
  e.setDim(t.begin, lo);
  auto isStored = [](const std::unique_ptr<Product> &product) {
    return !product->isCopied();
  };
  for (auto &product : scores)
    if (isStored(product))
      product->right->store(product->next);
  SmallVector<SmallVector<Value>> loaded(sums.size());
  for (auto [sum, vectors] : llvm::zip_equal(sums, loaded))
    if (isStored(sum))
      vectors = sum->right->load(e.constant(0), e.constant(0));
  if (llvm::any_of(scores, isStored))
    publish();
  for (auto &product : scores)
    product->sums = product->tile->multiply(product->tile->begin(),
                                            product->left->getOperand(),
                                            getRight(*product, slot));
  Value after = e.add(lo, e.constant(t.chunk));
  SmallVector<Value> old;
  for (auto &product : scores)
    llvm::append_range(old, product->next);
  if (!old.empty()) {
    SmallVector<Type> types = llvm::to_vector(ValueRange(old).getTypes());
    SmallVector<Value> next = e.ifElse(
        e.less(after, walked.hi), types,
        [&] {
          SmallVector<Value> all;
          for (auto &product : scores)
            if (isStored(product))
              llvm::append_range(all,
                                 product->right->load(after, e.constant(0)));
          return all;
        },
        [&] { return old; });
    ArrayRef<Value> rest = next;
    for (auto &product : scores) {
      size_t count = product->next.size();
      product->next.assign(rest.begin(), rest.begin() + count);
      rest = rest.drop_front(count);
    }
  }
  emitRows(lo);
  for (auto [sum, vectors] : llvm::zip_equal(sums, loaded))
    if (isStored(sum))
      sum->right->store(vectors);
  if (llvm::any_of(sums, isStored))
    publish();
  for (auto &sum : sums)
    emitSum(*sum, slot);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Writes the results `numbers`; `at` is an index of their sources.
void StreamedBlocks::emitValues(const Index &at, ArrayRef<size_t> numbers) {
  SmallVector<Value> values;
  for (size_t number : numbers)
    values.push_back(e.emit(s.results[number].source, at));
  for (auto [number, v] : llvm::zip_equal(numbers, values))
    e.store(number, s.results[number].getIndex(e, at), v);
}

/// Writes results with lines of `extent` that follow no product. The threads of
/// a group share the line of their row.
void StreamedBlocks::emitLines(const Expr &extent, ArrayRef<size_t> numbers) {
  unsigned dim = e.addDim(extent);
  Index place = s.index;
  place.push_back(Expr::dim(dim));
  Emitter::Repeated repeated(e, {extent});
  Emitter::Team team = getTeam();
  e.forLoop(team.member, e.value(extent), e.constant(team.count),
            [&](Value at) {
              e.setDim(dim, at);
              emitValues(place, numbers);
            });
}

/// The number of elements of a line that a thread writes at once: a divisor of
/// the line, and at most 16 bytes of the narrowest result.
unsigned StreamedBlocks::getRun(const Product &sum) {
  Expr extent = hlir::getExtents(sum.getResult()).back();
  unsigned bits = 128;
  for (const MovedResult &result : s.results) {
    Value v = result.source;
    if (getRank(v) > s.extents.size() && hlir::getExtents(v).back() == extent)
      bits = std::min(bits,
                      std::max(8u, getElementType(v).getIntOrFloatBitWidth()));
  }
  unsigned run = 128 / bits;
  while (!isWhole(extent, run))
    run /= 2;
  return run;
}

void StreamedBlocks::emitEnd() {
  if (warpRole == WarpRole::Producer)
    return;
  // Merge the states of the threads that share a row.
  e.team = getTeam();
  for (RowState &state : states)
    if (!state.isOfTeam)
      for (auto [number, row] : llvm::enumerate(state.rows))
        if (isUsed(number))
          row = e.mergeTeam(state.emission, row);
  e.team = Emitter::Team();
  Value isFirst = arith::CmpIOp::create(e.b, arith::CmpIPredicate::eq,
                                        getTeam().member, e.constant(0));
  // Results with one element per row, and the others by the extent of their
  // lines.
  SmallVector<size_t> ofRows;
  SmallVector<std::pair<Expr, SmallVector<size_t>>> ofLines;
  for (auto [i, result] : llvm::enumerate(s.results)) {
    SmallVector<Expr> extents = hlir::getExtents(result.source);
    if (extents.size() == s.extents.size()) {
      ofRows.push_back(i);
      continue;
    }
    auto it = llvm::find_if(ofLines, [&](const auto &line) {
      return line.first == extents.back();
    });
    if (it == ofLines.end())
      ofLines.push_back({extents.back(), {i}});
    else
      it->second.push_back(i);
  }
  for (unsigned number = 0; number < layout->countRows(); ++number) {
    if (!isUsed(number))
      continue;
    Emitter::MemoScope scope(e);
    for (auto &sum : sums)
      sum->runs = sum->tile->joinRow(sum->sums, number, getRun(*sum));
    Value isInside = setRow(number);
    auto write = [&] {
      SmallVector<Value> factors;
      for (const Reference &r : references) {
        auto state = llvm::find_if(states, [&](const RowState &state) {
          return state.anchor->op == r.maximum;
        });
        Value maximum =
            state->emission.emitResults(e.b, state->rows[number])[0];
        factors.push_back(r.emitEndFactor(e, s.index, maximum, t.extent));
      }
      auto scale = [&](const Anchor &anchor, Type type) {
        const Reference *r = getReference(anchor);
        return emitCast(e.b, factors[r - references.data()], r->type, type);
      };
      for (RowState &state : states) {
        SmallVector<Value> taken = state.rows[number];
        if (state.anchor->reference)
          taken = state.emission.emitScaled(
              e.b, taken, scale(*state.anchor, taken[0].getType()));
        for (auto [result, v] :
             llvm::zip_equal(state.anchor->op->getResults(),
                             state.emission.emitResults(e.b, taken)))
          e.remember(result, s.index, v);
      }
      if (!ofRows.empty())
        e.ifThen(isFirst, [&] { emitValues(s.index, ofRows); });
      for (auto &[extent, numbers] : ofLines) {
        SmallVector<Product *> ofExtent;
        for (auto &sum : sums)
          if (hlir::getExtents(sum->getResult()).back() == extent)
            ofExtent.push_back(sum.get());
        if (ofExtent.empty()) {
          emitLines(extent, numbers);
          continue;
        }
        unsigned dim = e.addDim(extent);
        Index place = s.index;
        place.push_back(Expr::dim(dim));
        Emitter::Repeated repeated(e, {extent});
        bool isFull =
            isWhole(extent, ofExtent.front()->tile->getShape().columns);
        for (size_t i = 0; i < ofExtent.front()->runs.size(); ++i) {
          Value index = ofExtent.front()->runs[i].column;
          auto one = [&, &numbers = numbers] {
            Emitter::MemoScope inner(e);
            e.setDim(dim, index);
            for (Product *sum : ofExtent) {
              SmallVector<Value> line = sum->runs[i].sums;
              Type type = sum->p.accumulator;
              auto multiply = [&](Value by) {
                for (Value &v : line)
                  v = emitFn(e.b, llir::Fn::Mul, {v, by}, type);
              };
              if (double by = sum->tile->getTermScale();
                  sum->isSplit() && by != 1)
                multiply(arith::ConstantOp::create(
                    e.b, FloatAttr::get(type, 1 / by)));
              if (sum->anchor.reference)
                multiply(scale(sum->anchor, type));
              Value all = line.front();
              if (line.size() > 1) {
                e.setLane(dim, line.size());
                all =
                    vector::FromElementsOp::create(e.b, e.laneType(type), line);
              }
              Value result = sum->getResult();
              e.remember(result, place,
                         emitCast(e.b, all, type, getElementType(result)));
            }
            emitValues(place, numbers);
            e.clearLane();
          };
          if (isFull)
            one();
          else
            e.ifThen(e.less(index, e.value(extent)), one);
        }
      }
    };
    if (isInside)
      e.ifThen(isInside, write);
    else
      write();
  }
}

//===----------------------------------------------------------------------===//
// Work items
//===----------------------------------------------------------------------===//

/// Sets the neutral states.
void StreamedBlocks::emitInitial() {
  unsigned rows = layout->countRows();
  for (RowState &state : states)
    state.rows.assign(
        rows, state.emission.emitInitial(e.b, state.op.getStateTypes()));
  for (Reference &r : references) {
    r.used.assign(rows, r.getConstant(e, 0));
    r.factors.assign(rows, Value());
  }
  for (auto &sum : sums)
    sum->sums = sum->tile->begin();
}

/// Computes the states of a work item's rows for `part` of the stream. If
/// `isAll` (i1) is given, `part` is ignored: the work item iterates over the
/// whole stream if it is true, else over what its rows need.
void StreamedBlocks::emitWalk(ArrayRef<IndexRange> ranges, IndexRange part,
                              Value isAll) {
  firstRow = getFirstRow(ranges);
  for (auto *list : {&scores, &sums})
    for (auto &product : *list)
      for (auto [group, dim] :
           llvm::zip_equal(product->p.batch, product->p.batchDims))
        e.setDim(dim, e.value(s.index[group.front()]));
  IndexRange walked = isAll ? getWalkedShared(isAll) : getWalked(part);
  if (warpRole != WarpRole::Producer)
    findExceptions();
  meetBeforeUnit();
  if (warpRole == WarpRole::Producer)
    return emitProducer(walked);
  if (tile.isAhead) {
    if (warpRole == WarpRole::Any)
      startFirstCopies(walked);
  } else {
    for (unsigned i = 0; i + 1 < tile.stages; ++i) {
      CopiedChunk chunk{e.add(walked.lo, e.constant(i * t.chunk)),
                        e.constant(i)};
      startCopies(chunk, walked);
    }
  }
  for (auto &product : scores) {
    product->left->store(product->left->load(firstRow, e.constant(0)));
    if (!product->isCopied())
      product->next = product->right->load(walked.lo, e.constant(0));
  }
  emitInitial();
  if (tile.isAhead)
    return emitWalkAhead(walked);
  SmallVector<Value> state = getCarried();
  state.push_back(e.constant(0));
  state = e.forLoop(walked.lo, walked.hi, e.constant(t.chunk), state,
                    [&](Value lo, ValueRange carried) {
                      setCarried(carried.drop_back());
                      Value slot = carried.back();
                      emitChunk(lo, slot, walked);
                      SmallVector<Value> next = getCarried();
                      next.push_back(getNextSlot(slot));
                      return next;
                    });
  setCarried(ValueRange(state).drop_back());
  if (beforeLastSums)
    beforeLastSums();
}

/// The number of blocks that must fit on a multiprocessor; 0: unlimited.
int64_t StreamedBlocks::countResidents() {
  int64_t blocks = 0;
  for (const Anchor &anchor : t.getAnchors())
    if (anchor.role == Role::Reduction)
      blocks = std::max(blocks, e.loopCase.getForm(llir::getPosition(anchor.op))
                                    .getNumber("blocks", 0));
  return blocks;
}

void StreamedBlocks::find() {
  e.clearPlaces();
  bool fits = t.find() && t.apply(e.loopCase);
  assert(fits && "a schedule that was not verified");
  (void)fits;
  findLayout();
}

WorkShape StreamedBlocks::emit() {
  Emitter::Team team = e.team;
  find();
  return tile.producers ? emitRoles(team) : emitUnits();
}

WorkShape StreamedBlocks::emitUnits() {
  if (NeededSpan found; tile.skipped != StreamTile::Skipped::None &&
                        findStreamSpan(t, s.index, found))
    span = found;
  selects = findStreamSelects(t, s.index);
  addAnchors();
  if (int64_t blocks = countResidents())
    e.setResidents(blocks);
  int64_t bytes = makeRoom() + tile.countBarrierBytes();
  Grid grid = getGrid(s);
  if (tile.skipped == StreamTile::Skipped::Shared)
    emitUnitsShared(grid);
  else if (parts == 1)
    forEachUnit(e, s, grid, loop, [&](SmallVector<IndexRange> ranges) {
      emitWalk(ranges, {e.constant(0), e.value(t.extent)});
      emitEnd();
    });
  else
    emitUnitsOfParts(grid);
  e.clearPlaces();
  WorkShape shape;
  shape.work = grid.countUnits() * parts;
  shape.cost =
      Expr::ceilDiv(grid.getUnitLength() *
                        Expr::max(1, t.extent * llir::getElementCost(e.kernel)),
                    parts);
  shape.shared = bytes;
  return shape;
}

WorkShape luminal::emitStreamedBlocks(Emitter &e, const WorkLoop &loop) {
  return StreamedBlocks(e, loop).emit();
}
