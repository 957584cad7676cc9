//===- StreamedBlocksParts.cpp - Split-kv ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Split-kv: a work item is a part of the stream for a tile of rows. Each thread
// stores its states to memory. The last block to arrive for a tile merges the
// states of all parts in order, each thread reading those of the same thread of
// other blocks, and writes the results. If a warp has few rows, its threads
// without a row merge a share of the parts for the others.
//
//===----------------------------------------------------------------------===//

#include "PartsEmitter.h"
#include "StreamedBlocks.h"
#include "luminal/Conversion/ScalarMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace luminal;
using namespace luminal::blocks;
using namespace mlir;

/// The values of the states, in the order of StreamTile::countStateBytes.
SmallVector<StreamedBlocks::Slot>
StreamedBlocks::getSlots(std::optional<unsigned> ofRow) {
  SmallVector<Slot> slots;
  int64_t offset = 0;
  auto add = [&](Value &v, unsigned row) {
    Type type = v.getType();
    slots.push_back({&v, type, row, offset});
    int64_t bytes = getStorageType(type).getIntOrFloatBitWidth() / 8;
    offset += int64_t(tile.threads) * bytes;
  };
  for (Reference &r : references)
    for (auto [row, v] : llvm::enumerate(r.used))
      add(v, row);
  for (RowState &state : states)
    for (auto [row, values] : llvm::enumerate(state.rows))
      for (Value &v : values)
        add(v, row);
  for (auto &sum : sums)
    for (auto [i, v] : llvm::enumerate(sum->sums))
      add(v, sum->tile->getRowNumber(i));
  assert(offset == int64_t(tile.threads) * tile.countStateBytes(t) &&
         "the workspace is of another size");
  if (ofRow)
    llvm::erase_if(slots, [&](const Slot &slot) { return slot.row != *ofRow; });
  return slots;
}

/// The address of a thread's value in the states of a block, which begin at
/// `states`.
Value StreamedBlocks::getAddress(const Slot &slot, Value states) {
  Value first = e.address(states, e.constant(slot.offset), e.b.getI8Type());
  return e.address(first, threadOfSet ? threadOfSet : thread,
                   getStorageType(slot.type));
}

void StreamedBlocks::leaveStates(Value to) {
  for (unsigned number = 0; number < layout->countRows(); ++number) {
    if (!isUsed(number))
      continue;
    auto write = [&] {
      for (const Slot &slot : getSlots(number))
        LLVM::StoreOp::create(e.b, e.toStorage(*slot.value, slot.type),
                              getAddress(slot, to));
    };
    Emitter::MemoScope scope(e);
    if (Value isInside = setRow(number))
      e.ifThen(isInside, write);
    else
      write();
  }
}

/// Merges another part's state of a row, `other` in the order of slots, into
/// the thread's state.
void StreamedBlocks::mergeRow(unsigned number, ArrayRef<Value> other) {
  Emitter::MemoScope scope(e);
  auto take = [&](size_t count) {
    ArrayRef<Value> taken = other.take_front(count);
    other = other.drop_front(count);
    return taken;
  };
  SmallVector<Value> used;
  for (size_t i = 0; i < references.size(); ++i)
    used.push_back(take(1)[0]);
  // For each reference, the rescale factors of this state and of the other one.
  SmallVector<std::pair<Value, Value>> factors(references.size());
  auto getFactors = [&](const StreamedSpace::Anchor &anchor) {
    return factors[getReference(anchor) - references.data()];
  };
  for (RowState &state : states) {
    SmallVector<Value> mine = state.rows[number], x = mine;
    SmallVector<Value> theirs(take(mine.size())), y = theirs;
    if (const Reference *r = getReference(*state.anchor)) {
      auto scale = [&](SmallVector<Value> &v, Value factor) {
        v = state.emission.emitScaled(
            e.b, v,
            emitCast(e.b, factor, r->type, state.op.getStateTypes()[0]));
      };
      auto [ofMine, ofTheirs] = getFactors(*state.anchor);
      scale(x, ofMine);
      scale(y, ofTheirs);
    }
    SmallVector<Value> now = state.emission.emitMerge(e.b, x, y);
    auto getMaximum = [&](ArrayRef<Value> v) {
      return state.emission.emitResults(e.b, v)[0];
    };
    for (auto [i, r] : llvm::enumerate(references)) {
      if (r.maximum != state.anchor->op)
        continue;
      Value reference = r.emitUsed(e, s.index, getMaximum(now));
      factors[i] = {
          r.emitFactor(e, r.used[number], reference, getMaximum(mine)),
          r.emitFactor(e, used[i], reference, getMaximum(theirs))};
      r.used[number] = reference;
    }
    state.rows[number] = now;
  }
  for (auto &sum : sums)
    for (auto [i, v] : llvm::enumerate(sum->sums)) {
      if (sum->tile->getRowNumber(i) != number)
        continue;
      Type type = sum->p.accumulator;
      Value x = v, y = take(1)[0];
      if (const Reference *r = getReference(sum->anchor)) {
        auto [ofMine, ofTheirs] = getFactors(sum->anchor);
        auto scaled = [&](Value line, Value factor) {
          return emitFn(e.b, llir::Fn::Mul,
                        {line, emitCast(e.b, factor, r->type, type)}, type);
        };
        x = scaled(x, ofMine);
        y = scaled(y, ofTheirs);
      }
      v = emitFn(e.b, llir::Fn::Add, {x, y}, type);
    }
}

/// Merges the states of other parts, which begin at `others`, into the block's
/// states.
void StreamedBlocks::mergeStates(ArrayRef<Value> others) {
  for (unsigned number = 0; number < layout->countRows(); ++number) {
    if (!isUsed(number))
      continue;
    SmallVector<Value *> mine;
    auto merge = [&] {
      SmallVector<SmallVector<Value>> read(others.size());
      for (auto [values, from] : llvm::zip_equal(read, others))
        for (const Slot &slot : getSlots(number))
          values.push_back(
              e.fromStorage(LLVM::LoadOp::create(e.b, getStorageType(slot.type),
                                                 getAddress(slot, from)),
                            slot.type));
      for (ArrayRef<Value> values : read)
        mergeRow(number, values);
      SmallVector<Value> merged;
      for (Value *v : mine)
        merged.push_back(*v);
      return merged;
    };
    SmallVector<Value> before;
    for (const Slot &slot : getSlots(number)) {
      mine.push_back(slot.value);
      before.push_back(*slot.value);
    }
    Emitter::MemoScope scope(e);
    Value isInside = setRow(number);
    SmallVector<Value> after =
        isInside ? e.ifElse(isInside, ValueRange(before).getTypes(), merge,
                            [&] { return before; })
                 : merge();
    for (auto [slot, v] : llvm::zip_equal(mine, after))
      *slot = v;
  }
}

/// Merges the states of the sets of threads within a warp; every set gets the
/// result.
void StreamedBlocks::mergeSets(unsigned sets) {
  for (unsigned by = sets / 2; by > 0; by /= 2) {
    SmallVector<Value> others;
    for (const Slot &slot : getSlots(/*row=*/0))
      others.push_back(e.getOfNeighbour(*slot.value, warp / sets * by));
    Emitter::MemoScope scope(e);
    setRow(0);
    mergeRow(0, others);
  }
}

/// Merges the states that all parts stored for the work item's rows.
void StreamedBlocks::mergeParts(function_ref<Value(Value part)> getStates) {
  emitInitial();
  unsigned sets = tile.countMergingSets();
  while (parts % sets)
    sets /= 2;
  const int64_t share = parts / sets;
  int64_t atOnce = std::min<int64_t>(share, StreamTile::kMergedAtOnce);
  while (share % atOnce)
    --atOnce;
  Value ofSet = e.constant(0);
  if (sets > 1) {
    Value threads = e.constant(warp / sets);
    rowsOfSet = e.constant(warp / sets / layout->getTeam());
    threadOfSet = e.remU(thread, threads);
    ofSet = e.mul(e.divU(thread, threads), e.constant(share));
  }
  SmallVector<Slot> slots = getSlots();
  auto getValues = [&] {
    SmallVector<Value> values;
    for (const Slot &slot : slots)
      values.push_back(*slot.value);
    return values;
  };
  auto setValues = [&](ValueRange values) {
    for (auto [slot, v] : llvm::zip_equal(slots, values))
      *slot.value = v;
  };
  setValues(e.forLoop(e.constant(0), e.constant(share), e.constant(atOnce),
                      getValues(), [&](Value first, ValueRange carried) {
                        setValues(carried);
                        SmallVector<Value> others;
                        for (int64_t i = 0; i < atOnce; ++i)
                          others.push_back(getStates(
                              e.add(ofSet, e.add(first, e.constant(i)))));
                        mergeStates(others);
                        return getValues();
                      }));
  if (sets > 1)
    mergeSets(sets);
  rowsOfSet = threadOfSet = Value();
}

void StreamedBlocks::emitUnitsOfParts(const Grid &grid) {
  Emitter::Repeated repeated(e, {s.extents.begin(), s.extents.end()});
  Value count = e.constant(parts), extent = e.value(t.extent);
  Value size = e.constant(int64_t(tile.threads) * tile.countStateBytes(t));
  Value share =
      e.value(e.simplify(llir::getPartExtent(t.extent, parts, t.chunk)));
  e.forLoop(loop.begin, loop.end, loop.step, [&](Value unit) {
    Value block = e.divU(unit, count), part = e.remU(unit, count);
    auto getStates = [&](Value part) {
      Value number = e.add(e.mul(block, count), part);
      return e.address(e.states, e.mul(number, size), e.b.getI8Type());
    };
    Value lo = e.minS(extent, e.mul(part, share));
    emitWalk(setUnit(e, s, grid, block),
             {lo, e.minS(extent, e.add(lo, share))});
    leaveStates(getStates(part));
    // All threads have stored their states before one thread counts the block.
    barrier();
    e.team = getBlock();
    Value isLast = emitArrival(e, block, parts);
    e.team = Emitter::Team();
    e.ifThen(isLast, [&] {
      mergeParts(getStates);
      emitEnd();
    });
  });
}
