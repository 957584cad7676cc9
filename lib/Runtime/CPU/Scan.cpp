//===- Scan.cpp - Running sums, products and extrema ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A lane is a row, or a part of a long one. What a step adds to a state waits
// for the step before, so several lanes take turns; extrema, which seldom
// change, look at several elements at once instead. Elements are converted a
// tile at a time.
//
//===----------------------------------------------------------------------===//

#include "Scan.h"
#include "luminal/Support/Scalar.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
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
// Elements
//===----------------------------------------------------------------------===//

/// Exact, without a branch: 2^112 moves the exponent, of subnormals too.
static float readF16(uint16_t bits) {
  const uint32_t sign = uint32_t(bits & 0x8000U) << 16,
                 rest = uint32_t(bits & 0x7FFFU) << 13;
  const float size = std::bit_cast<float>(rest) * 0x1p112F;
  const uint32_t special = rest | 0x7F800000U;
  const uint32_t moved =
      rest >= 0x0F800000U ? special : std::bit_cast<uint32_t>(size);
  return std::bit_cast<float>(moved | sign);
}

/// To nearest even, once: what f32 rounds to the middle between two numbers is
/// rounded from the number itself.
static uint16_t writeBF16(double value) {
  const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  if ((bits & 0x7F800000U) == 0x7F800000U || (bits & 0xFFFFU) == 0x8000U)
    return doubleToBF16(value);
  return static_cast<uint16_t>((bits + 0x8000U) >> 16);
}
/// The same of an f32, without a branch.
static uint16_t writeBF16(float value) {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7FFFU + (bits >> 16 & 1U)) >> 16,
                 quiet = bits >> 16 | 0x40U;
  return static_cast<uint16_t>(value == value ? rounded : quiet);
}

template <typename T>
static uint16_t writeF16(T value) {
  const auto bits = std::bit_cast<uint32_t>(static_cast<float>(value));
  const uint32_t size = bits & 0x7FFFFFFFU;
  constexpr uint32_t kLeast = 0x38800000U, kMost = 0x477FE000U;
  if (size < kLeast || size > kMost || (bits & 0x1FFFU) == 0x1000U)
    return doubleToF16(static_cast<double>(value));
  return static_cast<uint16_t>((bits >> 16 & 0x8000U) |
                               ((size - 0x38000000U + 0x1000U) >> 13));
}

template <typename From, typename T, typename Fn>
static void convert(const void *from, int64_t count, T *to, Fn fn) {
  const auto *elements = static_cast<const From *>(from);
  for (int64_t i = 0; i < count; ++i)
    to[i] = fn(elements[i]);
}

template <typename T>
static void read(DType type, const void *from, int64_t count, T *to) {
  auto same = [](auto x) { return static_cast<T>(x); };
  switch (type) {
  case DType::F16:
    return convert<uint16_t>(
        from, count, to, [](uint16_t x) { return static_cast<T>(readF16(x)); });
  case DType::BF16:
    return convert<uint16_t>(from, count, to, [](uint16_t x) {
      return static_cast<T>(bf16ToFloat(x));
    });
  case DType::F32:
    return convert<float>(from, count, to, same);
  case DType::F64:
    return convert<double>(from, count, to, same);
  case DType::I32:
    return convert<int32_t>(from, count, to, same);
  default:
    return convert<int64_t>(from, count, to, same);
  }
}

static void prefetch(const uint8_t *from, int64_t bytes) {
  constexpr int64_t kLine = 64;
  for (int64_t at = 0; at < bytes; at += kLine)
    __builtin_prefetch(from + at);
}

template <typename T>
static void write(DType type, const T *from, int64_t count, void *to) {
  auto as = [&](auto *elements, auto fn) {
    for (int64_t i = 0; i < count; ++i)
      elements[i] = fn(from[i]);
  };
  switch (type) {
  case DType::F16:
    return as(static_cast<uint16_t *>(to), [](T x) { return writeF16(x); });
  case DType::BF16:
    return as(static_cast<uint16_t *>(to), [](T x) {
      if constexpr (std::is_same_v<T, float>)
        return writeBF16(x);
      else
        return writeBF16(static_cast<double>(x));
    });
  case DType::F32:
    return as(static_cast<float *>(to),
              [](T x) { return static_cast<float>(x); });
  case DType::F64:
    return as(static_cast<double *>(to),
              [](T x) { return static_cast<double>(x); });
  case DType::I32:
    return as(static_cast<int32_t *>(to),
              [](T x) { return static_cast<int32_t>(x); });
  default:
    return as(static_cast<int64_t *>(to),
              [](T x) { return static_cast<int64_t>(x); });
  }
}

/// An element as memory holds it: a number of that type, or the bits of a bf16.
template <typename T>
struct Stored {
  using Bits = T;
  template <typename To>
  static To load(T x) {
    return static_cast<To>(x);
  }
  template <typename From>
  static T store(From x) {
    return static_cast<T>(x);
  }
};
struct StoredBF16 {
  using Bits = uint16_t;
  template <typename To>
  static To load(uint16_t x) {
    return static_cast<To>(bf16ToFloat(x));
  }
  template <typename From>
  static uint16_t store(From x) {
    return writeBF16(x);
  }
};

//===----------------------------------------------------------------------===//
// What is carried
//===----------------------------------------------------------------------===//

namespace {
/// Integers wrap.
template <typename T>
T wrap(T a, T b, bool isProduct) {
  if constexpr (std::is_integral_v<T>) {
    const auto x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    return static_cast<T>(isProduct ? x * y : x + y);
  } else {
    return isProduct ? a * b : a + b;
  }
}

template <typename T, bool isProduct>
struct Accumulate {
  using In = T;
  using Out = T;
  using State = T;
  /// Whether parts change nothing.
  static constexpr bool kIsExact = std::is_integral_v<T>;
  /// Additions of floats wait for each other, of integers they do not.
  static constexpr bool kTakesTurns = std::is_floating_point_v<T>;
  /// Products of floats overflow where they do from the left.
  static constexpr bool kHasParts = !isProduct || std::is_integral_v<T>;
  /// One lane alone waits for each step longer than it takes to convert.
  static constexpr bool kIsThrough = std::is_floating_point_v<T>;
  explicit Accumulate(const ScanShape &) {}

  State identity = isProduct ? T(1) : T(0);
  void step(State &s, In x, int64_t) const { s = wrap(s, x, isProduct); }
  void join(State &s, const State &next) const { step(s, next, 0); }
  Out value(const State &s) const { return s; }
  /// All of some elements.
  void stepAll(State &s, const In *x, int64_t count, int64_t) const {
    constexpr int64_t kAtOnce = 16;
    T sums[kAtOnce];
    std::fill_n(sums, kAtOnce, identity);
    int64_t i = 0;
    for (; count - i >= kAtOnce; i += kAtOnce)
      for (int64_t k = 0; k < kAtOnce; ++k)
        sums[k] = wrap(sums[k], x[i + k], isProduct);
    for (; i < count; ++i)
      s = wrap(s, x[i], isProduct);
    for (T sum : sums)
      s = wrap(s, sum, isProduct);
  }
  /// How many of the next elements leave the state as it is, where these are
  /// looked at together.
  int64_t skip(const State &, const In *, int64_t, bool) const { return 0; }
};

/// The extremum so far, or the place of the last element that is it. NaN is
/// beyond every number.
template <typename T, bool isLargest, bool hasPlaces>
struct Extremum {
  struct State {
    T best;
    int64_t at;
  };
  using In = T;
  using Out = std::conditional_t<hasPlaces, int64_t, T>;
  static constexpr bool kIsExact = true, kTakesTurns = false, kHasParts = true,
                        kIsThrough = false;

  explicit Extremum(const ScanShape &shape) {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_floating_point_v<T>)
      identity.best = isLargest ? -Limits::infinity() : Limits::infinity();
    else if (shape.type == DType::I32)
      identity.best = isLargest ? T(INT32_MIN) : T(INT32_MAX);
    else
      identity.best = isLargest ? Limits::min() : Limits::max();
  }

  State identity = {T(0), 0};
  static bool isLess(T a, T b) { return isLargest ? a < b : b < a; }
  /// Whether x leaves the state as it is; false where either is NaN.
  static bool leaves(T best, T x) {
    return hasPlaces ? isLess(x, best) : isLess(x, best) | (x == best);
  }
  void step(State &s, In x, int64_t place) const {
    if constexpr (std::is_integral_v<T>) {
      // Often equal: without a branch.
      const bool stays = leaves(s.best, x);
      s.best = stays ? s.best : x;
      s.at = stays ? s.at : place;
    } else if (__builtin_expect(!leaves(s.best, x), 0) &&
               (s.best == s.best || x != x)) {
      s = {x, place};
    }
  }
  void join(State &s, const State &next) const { step(s, next.best, next.at); }
  void stepAll(State &s, const In *x, int64_t count, int64_t place) const {
    constexpr int64_t kLanes = 8;
    T best[kLanes];
    bool isNan[kLanes] = {};
    std::fill_n(best, kLanes, identity.best);
    const int64_t whole = count - count % kLanes;
    for (int64_t i = 0; i < whole; i += kLanes)
      for (int64_t k = 0; k < kLanes; ++k) {
        best[k] = isLess(best[k], x[i + k]) ? x[i + k] : best[k];
        isNan[k] |= x[i + k] != x[i + k];
      }
    if (std::find(isNan, isNan + kLanes, true) != isNan + kLanes) {
      for (int64_t i = 0; i < count; ++i)
        step(s, x[i], place + i);
      return;
    }
    State all{identity.best, 0};
    for (T one : best)
      all.best = isLess(all.best, one) ? one : all.best;
    // The last place of it.
    int64_t at = whole;
    while (hasPlaces && at > 0 && x[at - 1] != all.best)
      --at;
    all.at = place + at - 1;
    if (whole > 0)
      join(s, all);
    for (int64_t i = whole; i < count; ++i)
      step(s, x[i], place + i);
  }
  static constexpr int64_t kAtOnce = 8;
  /// From `x` on, or back from before it.
  int64_t skip(const State &s, const In *x, int64_t count, bool back) const {
    int64_t left = 0;
    // Integers are often equal, and few machines compare wide ones together.
    if (std::is_integral_v<T>)
      return 0;
    while (count - left >= kAtOnce) {
      const In *next = back ? x - left - kAtOnce : x + left;
      if (!leavesAll(s.best, next))
        break;
      left += kAtOnce;
    }
    return left;
  }
  Out value(const State &s) const {
    if constexpr (hasPlaces)
      return s.at;
    else
      return s.best;
  }

private:
  static bool leavesAll(T best, const T *x) {
    // Lanes of a vector: true is all ones.
    using Vector = T __attribute__((vector_size(16)));
    constexpr int64_t kWidth = 16 / sizeof(T);
    auto get = [&](int64_t i) {
      Vector v;
      std::memcpy(&v, x + i, sizeof(v));
      return v;
    };
    const Vector limit = best - Vector{};
    auto holds = [&](Vector v) {
      if constexpr (hasPlaces)
        return isLargest ? v < limit : limit < v;
      else
        return isLargest ? v <= limit : limit <= v;
    };
    auto all = holds(get(0));
    for (int64_t i = kWidth; i < kAtOnce; i += kWidth)
      all &= holds(get(i));
    uint64_t bits[2];
    std::memcpy(bits, &all, sizeof(bits));
    return (bits[0] & bits[1]) == ~uint64_t(0);
  }
};

/// log of a sum of exponentials, `sum` of them relative to the largest.
struct LogSumExp {
  struct State {
    double most, sum;
  };
  using In = double;
  using Out = double;
  static constexpr bool kIsExact = false, kTakesTurns = true, kHasParts = true,
                        kIsThrough = false;
  explicit LogSumExp(const ScanShape &) {}

  State identity = {-std::numeric_limits<double>::infinity(), 0};
  void step(State &s, double x, int64_t) const { join(s, {x, 1}); }
  void join(State &s, const State &next) const {
    if (s.most == next.most) // infinities too, which have no difference
      s.sum += next.sum;
    else if (next.most < s.most)
      s.sum += next.sum * std::exp(next.most - s.most);
    else if (s.most < next.most)
      s = {next.most, s.sum * std::exp(s.most - next.most) + next.sum};
    else
      s = {std::numeric_limits<double>::quiet_NaN(), 1};
  }
  double value(const State &s) const { return s.most + std::log(s.sum); }
  void stepAll(State &s, const double *x, int64_t count, int64_t) const {
    for (int64_t i = 0; i < count; ++i)
      join(s, {x[i], 1});
  }
  int64_t skip(const State &, const double *, int64_t, bool) const { return 0; }
};

//===----------------------------------------------------------------------===//
// Lanes
//===----------------------------------------------------------------------===//

/// Elements of a part of a long row.
constexpr int64_t kPart = 4096;
/// Lanes that take turns, elements of each in a tile, and neighbouring columns
/// that are scanned at once.
constexpr int64_t kLanes = 8, kTile = 128, kColumns = 64;

template <typename Op>
int64_t countParts(const ScanShape &shape) {
  if (!Op::kHasParts || (Op::kIsExact && !shape.isShared))
    return 1;
  return (shape.length + kPart - 1) / kPart;
}

/// Where a lane or some neighbouring ones begin, and how many elements they
/// have.
struct Stretch {
  int64_t first, length, place;
};

/// Part `part` of row `outer`.
Stretch getStretch(const ScanShape &shape, int64_t outer, int64_t part,
                   int64_t parts) {
  const int64_t place = part * kPart;
  const int64_t length =
      parts == 1 ? shape.length : std::min(kPart, shape.length - place);
  return {(outer * shape.length + place) * shape.inner, length, place};
}

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

  /// Lanes [begin, end) of rows one after the other, at most kLanes; their
  /// states before, and after where there is no result.
  void scanRows(int64_t begin, int64_t end, State *states);
  /// Columns [begin, end) of a part, at most kColumns.
  void scanColumns(int64_t outer, int64_t part, int64_t begin, int64_t end,
                   State *states);

private:
  template <int64_t lanes>
  void stepTogether(State *states, int64_t count, const int64_t *places);
  /// The element x[0] is at `place`.
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
  /// Lanes of one length from memory to memory, where nothing is skipped: their
  /// elements are converted while a step waits for the one before. Whether they
  /// have types of which that is known.
  bool stepThrough(State *states, const Stretch *lanes, int64_t count);
  template <int64_t lanes, typename Memory, bool isExclusive>
  void stepThrough(State *states, const Stretch *all);
  /// Whether elements in memory are those of the states.
  template <typename T>
  static bool isStored(DType type) {
    return std::is_same_v<T, double>    ? type == DType::F64
           : std::is_same_v<T, float>   ? type == DType::F32
           : std::is_same_v<T, int64_t> ? type == DType::I64
                                        : false;
  }

  /// The first of a tile, and from one to the next.
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
    // The next element, or of those that follow back the one behind.
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
    // The lanes behind these: rows may be too short for the processor to see
    // what comes next.
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
    // Several lanes of bf16 take turns as well from a tile.
    if (shape.type == DType::BF16 && count == 1)
      return run(StoredBF16());
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
  // What is not converted needs no tile, where lanes do not take turns.
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
        // A tile is too short for the processor to see what comes next: the
        // lane's next tile, or the first one of the unit's next lanes.
        const bool isLast = done + tile >= all[k].length;
        prefetch(isLast ? data + (all[k].first + lanes * all[k].length) * size
                        : from + next() * tile * size,
                 std::min(tile, all[k].length) * size);
        read(shape.type, from, counts[k], in[k]);
        x[k] = in[k];
      }
    }
    if (areFull)
      stepTogether<kLanes>(states, kTile, places);
    for (int64_t k = 0; k < lanes; ++k) {
      if (!result) {
        // Of a reduction the order does not matter, but for its places.
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
        write(shape.resultType, out[k], counts[k], to);
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
    read(shape.type, data + from * size, width, x);
    if (shape.exclusive)
      for (int64_t k = 0; k < width; ++k)
        y[k] = op.value(states[k]);
    for (int64_t k = 0; k < width; ++k)
      op.step(states[k], x[k], stretch.place + i);
    if (!shape.exclusive)
      for (int64_t k = 0; k < width; ++k)
        y[k] = op.value(states[k]);
    if (result)
      write(shape.resultType, y, width, result + from * resultSize);
  }
}

//===----------------------------------------------------------------------===//
// Units
//===----------------------------------------------------------------------===//

/// fn(type of the op) for what a shape says.
template <typename Fn>
static auto withOp(const ScanShape &shape, Fn fn) {
  const bool isInteger = !isFloatDType(shape.type);
  // As PyTorch adds them: those that result in f64 in f64.
  const bool isHalf = (shape.type == DType::F16 || shape.type == DType::BF16) &&
                      shape.resultType != DType::F64;
  auto extremum = [&]<typename T>(T) {
    const bool isLargest = shape.kind == ScanKind::Max;
    if (shape.positions)
      return isLargest ? fn(std::type_identity<Extremum<T, true, true>>())
                       : fn(std::type_identity<Extremum<T, false, true>>());
    return isLargest ? fn(std::type_identity<Extremum<T, true, false>>())
                     : fn(std::type_identity<Extremum<T, false, false>>());
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
      return extremum(int64_t());
    return shape.type == DType::F64 ? extremum(double()) : extremum(float());
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
    // Of states, which are those of [outer, parts, inner].
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
