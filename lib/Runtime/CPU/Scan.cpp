//===- Scan.cpp - Scans ---------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A lane is a row, or a part of a long one. Each step of a lane depends on the
// previous one, so several lanes are interleaved to hide the latency. Extrema
// seldom change: they test several elements at once instead. Elements are
// converted a tile at a time.
//
//===----------------------------------------------------------------------===//

#include "Scan.h"
#include "ScanElements.h"
#include "ScanOps.h"
#include <algorithm>
#include <array>
#include <type_traits>

using namespace luminal;
using namespace luminal::runtime;

std::optional<ScanKind> runtime::getScanKind(std::string_view name) {
  constexpr std::string_view kNames[] = {"sum", "product", "max", "min",
                                         "log_sum_exp"};
  for (size_t i = 0; i < std::size(kNames); ++i)
    if (name == kNames[i])
      return static_cast<ScanKind>(i);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

/// Length of the parts of a long row, in elements.
constexpr int64_t kPart = 4096;
/// Number of interleaved lanes; elements of each in a tile; neighboring columns
/// that are scanned together.
constexpr int64_t kLanes = 8, kTile = 128, kColumns = 64;

template <typename Op>
static int64_t countParts(const ScanShape &shape) {
  if (!Op::kHasParts || (Op::kIsExact && !shape.isShared))
    return 1;
  return (shape.length + kPart - 1) / kPart;
}

namespace {
/// The first element of a lane, or of neighboring columns; the number of
/// elements; the position in the row.
struct Stretch {
  int64_t first, length, place;
};

} // namespace

/// The elements of part `part` of row `outer`.
static Stretch getStretch(const ScanShape &shape, int64_t outer, int64_t part,
                          int64_t parts) {
  const int64_t place = part * kPart;
  const int64_t length =
      parts == 1 ? shape.length : std::min(kPart, shape.length - place);
  return {(outer * shape.length + place) * shape.inner, length, place};
}

namespace {
template <typename Op>
class Scanner {
  using In = typename Op::In;
  using Out = typename Op::Out;
  using State = typename Op::State;

public:
  Scanner(const ScanShape &shape, const void *data, void *result)
      : shape(shape), op(shape), data(static_cast<const uint8_t *>(data)),
        result(static_cast<uint8_t *>(result)), size(dtypeSize(shape.type)),
        resultSize(dtypeSize(shape.resultType)), parts(countParts<Op>(shape)) {}

  /// Scans lanes [begin, end), at most kLanes, of rows that are contiguous in
  /// memory. `states` are the states before each lane; without a result, they
  /// are updated to the states after it.
  void scanRows(int64_t begin, int64_t end, State *states);
  /// Scans columns [begin, end) of a part, at most kColumns.
  void scanColumns(int64_t outer, int64_t part, int64_t begin, int64_t end,
                   State *states);

private:
  template <int64_t lanes>
  void stepTogether(State *states, int64_t count, const int64_t *places);
  /// x[0] has the position `place` in its row.
  void stepAlone(State &state, const In *x, Out *y, int64_t count,
                 int64_t place) {
    if (shape.reverse)
      shape.exclusive ? stepAlong<true, true>(state, x, y, count, place)
                      : stepAlong<true, false>(state, x, y, count, place);
    else
      shape.exclusive ? stepAlong<false, true>(state, x, y, count, place)
                      : stepAlong<false, false>(state, x, y, count, place);
  }
  template <bool isReverse, bool isExclusive>
  void stepAlong(State &state, const In *x, Out *y, int64_t count,
                 int64_t place);
  /// Scans lanes of equal length without tiles: elements are converted while a
  /// step waits for the previous one. For ops that skip no elements. Returns
  /// false, and does nothing, for types that it does not support.
  bool stepThrough(State *states, const Stretch *lanes, int64_t count);
  template <int64_t lanes, typename Memory, bool isExclusive>
  void stepThrough(State *states, const Stretch *all);
  /// Scans one lane and converts a few elements at a time, few enough that
  /// out-of-order execution overlaps converting the next ones with the steps.
  template <typename Memory, bool isReverse, bool isExclusive>
  void stepInBlocks(State &state, const Stretch &lane);

  /// Index of the first element of a tile in scan order, and the increment.
  int64_t first(int64_t count) const { return shape.reverse ? count - 1 : 0; }
  int64_t next() const { return shape.reverse ? -1 : 1; }

  const ScanShape &shape;
  const Op op;
  const uint8_t *data;
  uint8_t *result;
  const int64_t size, resultSize, parts;
  alignas(64) In in[kLanes][kTile];
  alignas(64) Out out[kLanes][kTile];
};
} // namespace

template <typename Op>
template <int64_t lanes>
void Scanner<Op>::stepTogether(State *states, int64_t count,
                               const int64_t *places) {
  std::array<State, lanes> s;
  std::copy_n(states, lanes, s.begin());
  const bool isExclusive = shape.exclusive;
  int64_t i = first(count);
  for (int64_t n = 0; n < count; ++n, i += next()) {
    if (isExclusive)
#pragma GCC unroll 8
      for (int64_t k = 0; k < lanes; ++k)
        out[k][i] = op.value(s[k]);
#pragma GCC unroll 8
    for (int64_t k = 0; k < lanes; ++k)
      op.step(s[k], in[k][i], places[k] + i);
    if (!isExclusive)
#pragma GCC unroll 8
      for (int64_t k = 0; k < lanes; ++k)
        out[k][i] = op.value(s[k]);
  }
  std::copy_n(s.begin(), lanes, states);
}

template <typename Op>
template <bool isReverse, bool isExclusive>
void Scanner<Op>::stepAlong(State &state, const In *x, Out *y, int64_t count,
                            int64_t place) {
  State s = state;
  for (int64_t n = 0; n < count;) {
    // Start of the remaining elements; scanning backward, their end.
    const int64_t from = isReverse ? count - n : n;
    if (const int64_t left = op.skip(s, x + from, count - n, isReverse)) {
      std::fill_n(y + (isReverse ? from - left : from), left, op.value(s));
      n += left;
      continue;
    }
    constexpr int64_t kAtOnce = 8;
    for (const int64_t end = std::min(count, n + kAtOnce); n < end; ++n) {
      const int64_t i = isReverse ? count - 1 - n : n;
      const Out before = op.value(s);
      op.step(s, x[i], place + i);
      y[i] = isExclusive ? before : op.value(s);
    }
  }
  state = s;
}

template <typename Op>
template <int64_t lanes, typename Memory, bool isExclusive>
void Scanner<Op>::stepThrough(State *states, const Stretch *all) {
  using T = typename Memory::Bits;
  constexpr int64_t kLine = 64 / sizeof(T);
  std::array<State, lanes> s;
  std::copy_n(states, lanes, s.begin());
  const T *x[lanes];
  T *y[lanes];
  for (int64_t k = 0; k < lanes; ++k) {
    x[k] = reinterpret_cast<const T *>(data) + all[k].first;
    y[k] = reinterpret_cast<T *>(result) + all[k].first;
  }
  const int64_t count = all[0].length, step = next();
  int64_t i = first(count);
  for (int64_t n = 0; n < count;) {
    // Prefetch the next group of lanes: rows may be too short for the hardware
    // prefetcher.
    for (int64_t k = 0; lanes > 1 && k < lanes; ++k)
      __builtin_prefetch(x[k] + lanes * count + i);
    for (const int64_t end = std::min(count, n + kLine); n < end;
         ++n, i += step)
#pragma GCC unroll 4
      for (int64_t k = 0; k < lanes; ++k) {
        const In element = Memory::template load<In>(x[k][i]);
        const Out before = op.value(s[k]);
        op.step(s[k], element, i);
        y[k][i] = Memory::store(isExclusive ? before : op.value(s[k]));
      }
  }
  std::copy_n(s.begin(), lanes, states);
}

template <typename Op>
template <typename Memory, bool isReverse, bool isExclusive>
void Scanner<Op>::stepInBlocks(State &state, const Stretch &lane) {
  using T = typename Memory::Bits;
  const T *x = reinterpret_cast<const T *>(data) + lane.first;
  T *y = reinterpret_cast<T *>(result) + lane.first;
  State s = state;
  auto step = [&](int64_t from, auto count) {
    In block[decltype(count)::value];
    Out values[decltype(count)::value];
#pragma GCC unroll 16
    for (int64_t k = 0; k < count; ++k)
      block[k] = Memory::template load<In>(x[from + k]);
#pragma GCC unroll 16
    for (int64_t k = 0; k < count; ++k) {
      const int64_t i = isReverse ? count - 1 - k : k;
      const Out before = op.value(s);
      op.step(s, block[i], from + i);
      values[i] = isExclusive ? before : op.value(s);
    }
#pragma GCC unroll 16
    for (int64_t k = 0; k < count; ++k)
      y[from + k] = Memory::store(values[k]);
  };
  constexpr std::integral_constant<int64_t, 16> kBlock;
  constexpr std::integral_constant<int64_t, 1> kOne;
  int64_t n = 0;
  for (; lane.length - n >= kBlock; n += kBlock)
    step(isReverse ? lane.length - n - kBlock : n, kBlock);
  for (; n < lane.length; ++n)
    step(isReverse ? lane.length - n - 1 : n, kOne);
  state = s;
}

template <typename Op>
bool Scanner<Op>::stepThrough(State *states, const Stretch *lanes,
                              int64_t count) {
  if constexpr (Op::kIsThrough) {
    constexpr int64_t kAtOnce = 4;
    auto run = [&]<typename Memory>(Memory) {
      auto all = [&]<bool isExclusive>(std::bool_constant<isExclusive>) {
        if (count == 1)
          return stepThrough<1, Memory, isExclusive>(states, lanes);
        for (int64_t k = 0; k < count; k += kAtOnce)
          stepThrough<kAtOnce, Memory, isExclusive>(states + k, lanes + k);
      };
      shape.exclusive ? all(std::true_type()) : all(std::false_type());
      return true;
    };
    for (int64_t k = 1; k < count; ++k)
      if (count % kAtOnce || lanes[k].length != lanes[0].length)
        return false;
    if (!result || shape.type != shape.resultType)
      return false;
    if (shape.type == DType::F32)
      return run(Stored<float>());
    if (shape.type == DType::F64)
      return run(Stored<double>());
    // Several lanes of bf16 are interleaved just as fast through a tile.
    if (shape.type == DType::BF16 && count == 1) {
      auto along = [&]<bool isReverse>(std::bool_constant<isReverse>) {
        shape.exclusive
            ? stepInBlocks<StoredBF16, isReverse, true>(*states, *lanes)
            : stepInBlocks<StoredBF16, isReverse, false>(*states, *lanes);
      };
      shape.reverse ? along(std::true_type()) : along(std::false_type());
      return true;
    }
  }
  return false;
}

template <typename Op>
void Scanner<Op>::scanRows(int64_t begin, int64_t end, State *states) {
  const int64_t lanes = end - begin;
  Stretch all[kLanes];
  int64_t longest = 0;
  for (int64_t k = 0; k < lanes; ++k) {
    all[k] = getStretch(shape, (begin + k) / parts, (begin + k) % parts, parts);
    longest = std::max(longest, all[k].length);
  }
  if (stepThrough(states, all, lanes))
    return;
  const bool isRead = !isStored<In>(shape.type),
             isWritten = !isStored<Out>(shape.resultType);
  // Without conversion and interleaving, no tile is needed.
  const int64_t tile =
      Op::kTakesTurns || isRead || (result && isWritten) ? kTile : longest;
  for (int64_t done = 0; done < longest; done += tile) {
    int64_t counts[kLanes], froms[kLanes], places[kLanes];
    const In *x[kLanes];
    bool areFull = Op::kTakesTurns && lanes == kLanes && result;
    for (int64_t k = 0; k < lanes; ++k) {
      counts[k] = std::clamp<int64_t>(all[k].length - done, 0, tile);
      froms[k] = shape.reverse ? all[k].length - done - counts[k] : done;
      places[k] = all[k].place + froms[k];
      areFull &= counts[k] == kTile;
      const uint8_t *from = data + (all[k].first + froms[k]) * size;
      x[k] = reinterpret_cast<const In *>(from);
      if (isRead || Op::kTakesTurns) {
        // Prefetch the lane's next tile, or the first tile of the next group of
        // lanes: tiles are too short for the hardware prefetcher.
        const bool isLast = done + tile >= all[k].length;
        prefetch(isLast ? data + (all[k].first + lanes * all[k].length) * size
                        : from + next() * tile * size,
                 std::min(tile, all[k].length) * size);
        readElements(shape.type, from, counts[k], in[k]);
        x[k] = in[k];
      }
    }
    if (areFull)
      stepTogether<kLanes>(states, kTile, places);
    for (int64_t k = 0; k < lanes; ++k) {
      if (!result) {
        // The order of a reduction does not matter, except for positions.
        op.stepAll(states[k], x[k], counts[k], places[k]);
        continue;
      }
      uint8_t *to = result + (all[k].first + froms[k]) * resultSize;
      const bool isDirect = tile != kTile || !(isWritten || Op::kTakesTurns);
      if (!areFull)
        stepAlone(states[k], x[k],
                  isDirect ? reinterpret_cast<Out *>(to) : out[k], counts[k],
                  places[k]);
      if (!isDirect)
        writeElements(shape.resultType, out[k], counts[k], to);
    }
  }
}

template <typename Op>
void Scanner<Op>::scanColumns(int64_t outer, int64_t part, int64_t begin,
                              int64_t end, State *states) {
  const Stretch stretch = getStretch(shape, outer, part, parts);
  const int64_t width = end - begin;
  In *x = in[0];
  Out *y = out[0];
  int64_t i = first(stretch.length);
  for (int64_t n = 0; n < stretch.length; ++n, i += next()) {
    const int64_t from = stretch.first + i * shape.inner + begin;
    readElements(shape.type, data + from * size, width, x);
    if (shape.exclusive)
      for (int64_t k = 0; k < width; ++k)
        y[k] = op.value(states[k]);
    for (int64_t k = 0; k < width; ++k)
      op.step(states[k], x[k], stretch.place + i);
    if (!shape.exclusive)
      for (int64_t k = 0; k < width; ++k)
        y[k] = op.value(states[k]);
    if (result)
      writeElements(shape.resultType, y, width, result + from * resultSize);
  }
}

//===----------------------------------------------------------------------===//
// Work items
//===----------------------------------------------------------------------===//

/// Calls `fn` with the type of the op for a shape.
template <typename Fn>
static auto withOp(const ScanShape &shape, Fn fn) {
  const bool isInteger = !isFloatDType(shape.type);
  // Accumulates in the same types as PyTorch: f16 and bf16 in f32 (in f64 if
  // the result is f64), other floats in f64.
  const bool isHalf = (shape.type == DType::F16 || shape.type == DType::BF16) &&
                      shape.resultType != DType::F64;
  auto extremum = [&]<typename M>(M) {
    const bool isLargest = shape.kind == ScanKind::Max;
    if (shape.positions)
      return isLargest ? fn(std::type_identity<Extremum<M, true, true>>())
                       : fn(std::type_identity<Extremum<M, false, true>>());
    return isLargest ? fn(std::type_identity<Extremum<M, true, false>>())
                     : fn(std::type_identity<Extremum<M, false, false>>());
  };
  switch (shape.kind) {
  case ScanKind::Sum:
    return isInteger ? fn(std::type_identity<Accumulate<int64_t, false>>())
           : isHalf  ? fn(std::type_identity<Accumulate<float, false>>())
                     : fn(std::type_identity<Accumulate<double, false>>());
  case ScanKind::Product:
    return isInteger ? fn(std::type_identity<Accumulate<int64_t, true>>())
           : isHalf  ? fn(std::type_identity<Accumulate<float, true>>())
                     : fn(std::type_identity<Accumulate<double, true>>());
  case ScanKind::LogSumExp:
    return fn(std::type_identity<LogSumExp>());
  default:
    if (isInteger)
      return extremum(Stored<int64_t>());
    if (shape.type == DType::F64)
      return extremum(Stored<double>());
    if (shape.type == DType::BF16 &&
        (shape.positions || shape.resultType == shape.type))
      return extremum(StoredBF16());
    return extremum(Stored<float>());
  }
}

static int64_t getUnitsOfPart(const ScanShape &shape) {
  return (shape.inner + kColumns - 1) / kColumns;
}

bool runtime::hasScanParts(const ScanShape &shape) {
  return withOp(shape, [&](auto op) {
    return countParts<typename decltype(op)::type>(shape) > 1;
  });
}

size_t runtime::getScanStates(const ScanShape &shape) {
  return withOp(shape, [&](auto op) {
    using Op = typename decltype(op)::type;
    const int64_t lanes = shape.outer * countParts<Op>(shape) * shape.inner;
    return static_cast<size_t>(lanes) * sizeof(typename Op::State);
  });
}

int64_t runtime::getScanUnits(const ScanShape &shape) {
  return withOp(shape, [&](auto op) {
    const int64_t lanes =
        shape.outer * countParts<typename decltype(op)::type>(shape);
    return shape.inner == 1 ? (lanes + kLanes - 1) / kLanes
                            : lanes * getUnitsOfPart(shape);
  });
}

double runtime::estimateScanUnit(const ScanShape &shape) {
  const bool isParted = hasScanParts(shape);
  const int64_t length = isParted ? kPart : shape.length;
  const int64_t lanes = shape.inner == 1 ? std::min(kLanes, shape.outer)
                                         : std::min(kColumns, shape.inner);
  const double step = shape.kind == ScanKind::LogSumExp ? 15 : 1;
  return step * static_cast<double>(length) *
         static_cast<double>(isParted && shape.inner == 1 ? kLanes : lanes);
}

/// Scans the work items [begin, end). `before`: the states before each part, or
/// null. `after`: receives the states after each part, or null.
template <typename Op>
static void runUnits(const ScanShape &shape, const void *data, void *result,
                     int64_t begin, int64_t end, typename Op::State *after,
                     const typename Op::State *before) {
  using State = typename Op::State;
  Scanner<Op> scanner(shape, data, result);
  const int64_t parts = countParts<Op>(shape);
  const int64_t lanes = shape.outer * parts, units = getUnitsOfPart(shape);
  State states[kColumns];
  for (int64_t unit = begin; unit < end; ++unit) {
    // `states` has the shape [outer, parts, inner].
    const int64_t lane = shape.inner == 1 ? unit * kLanes : unit / units;
    const int64_t column = shape.inner == 1 ? 0 : unit % units * kColumns;
    const int64_t count = shape.inner == 1
                              ? std::min(kLanes, lanes - lane)
                              : std::min(kColumns, shape.inner - column);
    const int64_t first = lane * shape.inner + column;
    if (before)
      std::copy_n(before + first, count, states);
    else
      std::fill_n(states, count, Op(shape).identity);
    if (shape.inner == 1)
      scanner.scanRows(lane, lane + count, states);
    else
      scanner.scanColumns(lane / parts, lane % parts, column, column + count,
                          states);
    if (after)
      std::copy_n(states, count, after + first);
  }
}

void runtime::scanParts(const ScanShape &shape, const void *data, int64_t begin,
                        int64_t end, void *states) {
  withOp(shape, [&](auto op) {
    using Op = typename decltype(op)::type;
    runUnits<Op>(shape, data, nullptr, begin, end,
                 static_cast<typename Op::State *>(states), nullptr);
  });
}

void runtime::scanJoin(const ScanShape &shape, void *states) {
  withOp(shape, [&](auto kind) {
    using Op = typename decltype(kind)::type;
    using State = typename Op::State;
    const Op op(shape);
    const int64_t parts = countParts<Op>(shape);
    auto *all = static_cast<State *>(states);
    for (int64_t outer = 0; outer < shape.outer; ++outer)
      for (int64_t column = 0; column < shape.inner; ++column) {
        State sum = op.identity;
        for (int64_t n = 0; n < parts; ++n) {
          const int64_t part = shape.reverse ? parts - 1 - n : n;
          State &state = all[(outer * parts + part) * shape.inner + column];
          const State own = state;
          state = sum;
          op.join(sum, own);
        }
      }
  });
}

void runtime::scan(const ScanShape &shape, const void *data, void *result,
                   int64_t begin, int64_t end, const void *states) {
  withOp(shape, [&](auto op) {
    using Op = typename decltype(op)::type;
    runUnits<Op>(shape, data, result, begin, end, nullptr,
                 static_cast<const typename Op::State *>(states));
  });
}
