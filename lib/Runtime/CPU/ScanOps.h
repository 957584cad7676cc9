//===- ScanOps.h - Operations of a scan -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operations of a scan: sum, product, extremum and log-sum-exp. Each
// defines a state, `step` (adds an element to the state) and `join` (adds the
// state of a following part).
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_RUNTIME_CPU_SCANOPS_H
#define LUMINAL_LIB_RUNTIME_CPU_SCANOPS_H

#include "Scan.h"
#include "ScanElements.h"
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace luminal::runtime {

/// The sum or product of two values; integers wrap.
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
  /// Whether cutting a row into parts leaves the result unchanged.
  static constexpr bool kIsExact = std::is_integral_v<T>;
  /// Whether lanes are interleaved to hide latency: a float addition depends on
  /// the previous one for several cycles, an integer addition for one.
  static constexpr bool kTakesTurns = std::is_floating_point_v<T>;
  /// Whether long rows are cut into parts. Not for float products: an overflow
  /// would happen at other elements than from left to right.
  static constexpr bool kHasParts = !isProduct || std::is_integral_v<T>;
  /// Whether a single lane is latency-bound, so that converting elements is
  /// hidden behind the steps.
  static constexpr bool kIsThrough = std::is_floating_point_v<T>;
  explicit Accumulate(const ScanShape &) {}

  State identity = isProduct ? T(1) : T(0);
  void step(State &s, In x, int64_t) const { s = wrap(s, x, isProduct); }
  void join(State &s, const State &next) const { step(s, next, 0); }
  Out value(const State &s) const { return s; }
  /// Adds all of some elements to the state, in any order.
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
  /// Number of next elements that leave the state unchanged, if the op can test
  /// several at once.
  int64_t skip(const State &, const In *, int64_t, bool) const { return 0; }
};

/// The extremum so far, and the position of the last element equal to it. NaN
/// is beyond every number. Elements are read in their memory format.
template <typename Memory, bool isLargest, bool hasPlaces>
struct Extremum {
  using T = typename Memory::Value;
  struct State {
    T best;
    int64_t at;
  };
  using In = typename Memory::Bits;
  using Out = std::conditional_t<hasPlaces, int64_t, In>;
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
  /// Whether x leaves the state unchanged; false if either is NaN.
  static bool leaves(T best, T x) {
    return hasPlaces ? isLess(x, best) : isLess(x, best) | (x == best);
  }
  static T load(In x) { return Memory::template load<T>(x); }
  void step(State &s, In x, int64_t place) const { take(s, load(x), place); }
  void take(State &s, T x, int64_t place) const {
    if constexpr (std::is_integral_v<T>) {
      // Equal values are frequent: select without a branch.
      const bool stays = leaves(s.best, x);
      s.best = stays ? s.best : x;
      s.at = stays ? s.at : place;
    } else if (__builtin_expect(!leaves(s.best, x), 0) &&
               (s.best == s.best || x != x)) {
      s = {x, place};
    }
  }
  void join(State &s, const State &next) const { take(s, next.best, next.at); }
  void stepAll(State &s, const In *x, int64_t count, int64_t place) const {
    for (int64_t i = 0; i < count;) {
      i += skip(s, x + i, count - i, false);
      for (const int64_t end = std::min(count, i + kAtOnce); i < end; ++i)
        step(s, x[i], place + i);
    }
  }
  static constexpr int64_t kAtOnce = 8;
  /// Tests elements forward from `x`, or backward from the one before it.
  int64_t skip(const State &s, const In *x, int64_t count, bool back) const {
#if defined(__x86_64__)
    if constexpr (std::is_same_v<In, int64_t>)
      if (__builtin_cpu_supports("avx2"))
        return skipWide(s.best, x, count, back);
#endif
    int64_t left = 0;
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
      return Memory::store(s.best);
  }

private:
#if defined(__x86_64__)
  /// AVX2 is the first extension with comparisons of 64-bit integer vectors.
  __attribute__((target("avx2"))) static int64_t
  skipWide(int64_t best, const int64_t *x, int64_t count, bool back) {
    static_assert(kAtOnce == 8);
    const __m256i limit = _mm256_set1_epi64x(best);
    int64_t left = 0;
    for (; count - left >= kAtOnce; left += kAtOnce) {
      const int64_t *next = back ? x - left - kAtOnce : x + left;
      const __m256i a = _mm256_loadu_si256((const __m256i *)next);
      const __m256i b = _mm256_loadu_si256((const __m256i *)(next + 4));
      // With positions, finds elements that leave the state unchanged; equal
      // ones do not, as they update the position. Without, finds elements that
      // change it.
      const bool above = isLargest == hasPlaces;
      const __m256i first =
          above ? _mm256_cmpgt_epi64(limit, a) : _mm256_cmpgt_epi64(a, limit);
      const __m256i second =
          above ? _mm256_cmpgt_epi64(limit, b) : _mm256_cmpgt_epi64(b, limit);
      const bool stays =
          hasPlaces
              ? _mm256_movemask_epi8(_mm256_and_si256(first, second)) == -1
              : _mm256_movemask_epi8(_mm256_or_si256(first, second)) == 0;
      if (!stays)
        break;
    }
    return left;
  }
#endif
  static bool leavesAll(T best, const In *x) {
    if constexpr (std::is_integral_v<T>) {
      // Few machines compare wide integers as vectors.
      bool all = true;
#pragma clang loop vectorize(disable)
      for (int64_t i = 0; i < kAtOnce; ++i)
        all &= leaves(best, x[i]);
      return all;
    }
    // A vector of comparison results: true is all ones.
    using Vector = T __attribute__((vector_size(16)));
    constexpr int64_t kWidth = 16 / sizeof(T);
    auto get = [&](int64_t i) {
      Vector v;
      for (int64_t k = 0; k < kWidth; ++k)
        v[k] = load(x[i + k]);
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

/// The log of a sum of exponentials: `sum` is relative to the maximum.
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
    if (s.most == next.most) // Also equal infinities, whose difference is NaN.
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

} // namespace luminal::runtime

#endif // LUMINAL_LIB_RUNTIME_CPU_SCANOPS_H
