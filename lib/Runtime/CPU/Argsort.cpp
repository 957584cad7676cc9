//===- Argsort.cpp - Sorts the elements of rows ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Keys are mapped to unsigned integers of the same order and combined with
// their positions, so no two elements are equal and any sorting algorithm is
// stable. Long rows use a radix sort. If only the first few elements of a long
// row are needed, only candidates for them are kept.
//
//===----------------------------------------------------------------------===//

#include "Argsort.h"
#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

using namespace luminal;
using namespace luminal::runtime;

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

namespace {
/// A key and a position in one integer, ordered by key, then by position.
struct Narrow {
  using Key = uint32_t;
  uint64_t bits;
  static Narrow make(Key key, uint32_t position) {
    return {uint64_t(key) << 32 | position};
  }
  Key key() const { return static_cast<Key>(bits >> 32); }
  uint32_t position() const { return static_cast<uint32_t>(bits); }
  bool operator<(const Narrow &other) const { return bits < other.bits; }
};
struct Wide {
  using Key = uint64_t;
  uint64_t bits;
  uint32_t place;
  static Wide make(Key key, uint32_t position) { return {key, position}; }
  Key key() const { return bits; }
  uint32_t position() const { return place; }
  bool operator<(const Wide &other) const {
    return bits != other.bits ? bits < other.bits : place < other.place;
  }
};

/// Maps floats, given as bits of an unsigned type, to keys; `kInfinity` are the
/// bits of infinity.
template <typename Bits, Bits kInfinity>
struct FloatKeys {
  using Element = std::conditional_t<sizeof(Bits) == 8, Wide, Narrow>;
  using Key = typename Element::Key;
  static constexpr Bits kSign = Bits(1) << (8 * sizeof(Bits) - 1);

  explicit FloatKeys(const ArgsortShape &shape)
      : flip(shape.descending ? Bits(~Bits(0)) : Bits(0)),
        nan(shape.nanFirst ? Bits(0) : Bits(~Bits(0))) {}
  Key operator()(Bits x) const {
    const Bits size = x & Bits(~kSign);
    // -0 becomes 0. The keys of NaN are not those of any number.
    x = size == 0 ? Bits(0) : x;
    const Bits key = Bits((x & kSign ? Bits(~x) : Bits(x | kSign)) ^ flip);
    return size > kInfinity ? nan : key;
  }
  using Stored = Bits;
  Bits flip, nan;
};

template <typename Bits>
struct IntegerKeys {
  using Element = std::conditional_t<sizeof(Bits) == 8, Wide, Narrow>;
  using Key = typename Element::Key;
  static constexpr Bits kSign = Bits(1) << (8 * sizeof(Bits) - 1);

  explicit IntegerKeys(const ArgsortShape &shape)
      : flip(shape.descending ? Bits(~kSign) : kSign) {}
  Key operator()(Bits x) const { return Bits(x ^ flip); }
  using Stored = Bits;
  Bits flip;
};

/// Calls fn(keys) with the key mapping of the shape's type.
template <typename Fn>
decltype(auto) withKeys(const ArgsortShape &shape, Fn fn) {
  switch (shape.type) {
  case DType::F16:
    return fn(FloatKeys<uint16_t, 0x7C00>(shape));
  case DType::BF16:
    return fn(FloatKeys<uint16_t, 0x7F80>(shape));
  case DType::F64:
    return fn(FloatKeys<uint64_t, 0x7FF0000000000000>(shape));
  case DType::I32:
    return fn(IntegerKeys<uint32_t>(shape));
  case DType::I64:
    return fn(IntegerKeys<uint64_t>(shape));
  default:
    return fn(FloatKeys<uint32_t, 0x7F800000>(shape));
  }
}

//===----------------------------------------------------------------------===//
// Sorting
//===----------------------------------------------------------------------===//

/// Up to this many elements are sorted by comparison instead of radix sort.
constexpr int64_t kFewElements = 192;
constexpr unsigned kDigitBits = 8, kDigits = 1 << kDigitBits;

/// Radix sort of `n` elements by keys of `keyBytes` bytes; returns the buffer
/// that holds the result, `elements` or `other`.
template <typename Element>
Element *sortByDigits(Element *elements, Element *other, int64_t n,
                      unsigned keyBytes) {
  std::array<std::array<uint32_t, kDigits>, sizeof(typename Element::Key)>
      counts = {};
  for (int64_t i = 0; i < n; ++i) {
    auto key = elements[i].key();
    for (unsigned d = 0; d < keyBytes; ++d)
      ++counts[d][key >> (d * kDigitBits) & (kDigits - 1)];
  }
  for (unsigned d = 0; d < keyBytes; ++d) {
    std::array<uint32_t, kDigits> &places = counts[d];
    // Skip a digit that is the same in all keys.
    if (places[elements[0].key() >> (d * kDigitBits) & (kDigits - 1)] == n)
      continue;
    uint32_t sum = 0;
    for (uint32_t &place : places)
      sum += std::exchange(place, sum);
    for (int64_t i = 0; i < n; ++i)
      other[places[elements[i].key() >> (d * kDigitBits) & (kDigits - 1)]++] =
          elements[i];
    std::swap(elements, other);
  }
  return elements;
}

/// Sorts elements whose positions ascend. Same buffers as sortByDigits.
template <typename Element>
Element *sort(Element *elements, Element *other, int64_t n, unsigned keyBytes) {
  if (n > kFewElements)
    return sortByDigits(elements, other, n, keyBytes);
  std::sort(elements, elements + n);
  return elements;
}

/// Up to this many candidates are kept sorted by insertion.
constexpr int64_t kFewFirst = 16;

/// Capacity for candidates for the first `count` elements. When it is full, all
/// but the best `count` are dropped.
int64_t getCandidates(int64_t count) {
  constexpr int64_t kLeast = 64;
  return count <= kFewFirst ? count : count + std::max(count, kLeast);
}

/// Whether elements from the middle of a row are selected by the leading bits
/// of their keys (`pick`): keeping candidates would need too many of them.
bool picks(const ArgsortShape &shape) {
  constexpr int64_t kMany = 512;
  return shape.length > kFewElements && shape.begin > 0 &&
         (shape.begin >= kMany ||
          getCandidates(shape.getEnd()) >= shape.length);
}

/// Whether the first elements of a row are selected by keeping candidates.
bool selects(const ArgsortShape &shape, int64_t length) {
  return shape.count > 0 && !picks(shape) &&
         getCandidates(shape.getEnd()) < length;
}

/// Buffer size in elements for a part of a row of `length` elements.
int64_t getRoom(const ArgsortShape &shape, int64_t length) {
  return selects(shape, length) ? getCandidates(shape.getEnd()) : length;
}

/// Collects the first `count` of the added elements, which must be added in
/// order of position.
template <typename Element>
class Candidates {
public:
  using Key = typename Element::Key;

  Candidates(Element *elements, int64_t count)
      : elements(elements), count(count), room(getCandidates(count)) {}

  /// Whether an element with this key may be among the first `count`. One whose
  /// key equals the current `count`-th is not, because its position is later.
  bool takes(Key key) const { return !isLimited || key < limit; }
  /// The exclusive upper bound of the keys of further candidates; null if any
  /// key may be one.
  const Key *getLimit() const { return isLimited ? &limit : nullptr; }

  void add(const Element &element) {
    if (count <= kFewFirst)
      return insert(element);
    elements[kept++] = element;
    if (kept == room)
      drop();
  }

  /// Sorts the result.
  void finish() {
    if (count <= kFewFirst)
      return;
    if (kept > count)
      drop();
    std::sort(elements, elements + kept);
  }

private:
  void insert(const Element &element) {
    int64_t at = kept == count ? kept - 1 : kept++;
    for (; at > 0 && element < elements[at - 1]; --at)
      elements[at] = elements[at - 1];
    elements[at] = element;
    if (kept == count)
      bound();
  }
  void drop() {
    std::nth_element(elements, elements + count - 1, elements + kept);
    kept = count;
    bound();
  }
  void bound() {
    limit = elements[count - 1].key();
    isLimited = true;
  }

  Element *elements;
  const int64_t count, room;
  int64_t kept = 0;
  Key limit = 0;
  bool isLimited = false;
};

/// Returns the sorted elements of a row from rank shape.begin on, in one of the
/// two buffers. Buckets elements by the leading bits of their keys, and sorts
/// only the buckets that contain wanted ranks.
template <typename Keys, typename Element = typename Keys::Element>
Element *pick(const Keys &keys, const ArgsortShape &shape,
              const typename Keys::Stored *row, Element *elements,
              Element *other) {
  constexpr int kBits = 11;
  using Key = typename Element::Key;
  constexpr int kKeyBits = 8 * sizeof(typename Keys::Stored);
  int shift = kKeyBits - kBits;
  Key least = 0;
  auto getBucket = [&](Key key) {
    return static_cast<unsigned>((key - least) >> shift) & ((1u << kBits) - 1);
  };
  // Two alternating histograms: incrementing a count again right after its
  // store would wait for store forwarding.
  std::array<uint32_t, 1 << kBits> counts, others;
  auto count = [&] {
    counts = {};
    others = {};
    int64_t i = 0;
    for (; i + 2 <= shape.length; i += 2) {
      ++counts[getBucket(keys(row[i]))];
      ++others[getBucket(keys(row[i + 1]))];
    }
    if (i < shape.length)
      ++counts[getBucket(keys(row[i]))];
    for (unsigned b = 0; b < counts.size(); ++b)
      counts[b] += others[b];
  };
  // First and last bucket that contain wanted ranks, and the number of elements
  // before the first and up to the end of the last.
  int64_t before = 0, through = 0;
  unsigned low = 0, high = 0;
  auto find = [&] {
    count();
    before = low = 0;
    while (before + counts[low] <= shape.begin)
      before += counts[low++];
    through = before;
    high = low;
    while ((through += counts[high]) < shape.getEnd())
      ++high;
  };
  find();
  // If too many elements fall into few buckets, the keys are close together:
  // bucket them by their difference to the minimum instead.
  constexpr int64_t kFewerTimes = 16;
  if (through - before > shape.count + shape.length / kFewerTimes) {
    least = std::numeric_limits<Key>::max();
    Key most = 0;
    for (int64_t i = 0; i < shape.length; ++i) {
      const Key key = keys(row[i]);
      least = std::min(least, key);
      most = std::max(most, key);
    }
    const int width = static_cast<int>(std::bit_width(Key(most - least)));
    shift = std::max(0, width - kBits);
    find();
  }
  int64_t kept = 0;
  const int64_t all = through - before;
  for (int64_t i = 0; kept < all; ++i) {
    const auto key = keys(row[i]);
    const unsigned bucket = getBucket(key);
    elements[kept] = Element::make(key, static_cast<uint32_t>(i));
    kept += bucket >= low && bucket <= high;
  }
  return sort(elements, other, kept, sizeof(typename Keys::Stored)) +
         (shape.begin - before);
}

#if defined(__x86_64__)
/// Whether any of `n` integers, a multiple of 4, has a key below `limit`. Needs
/// AVX2, the first extension with vector comparisons of 64-bit integers.
__attribute__((target("avx2"))) bool hasBelow(const IntegerKeys<uint64_t> &keys,
                                              const uint64_t *x, int64_t n,
                                              uint64_t limit) {
  // With the first bit restored, keys are ordered as signed numbers.
  constexpr uint64_t kSign = IntegerKeys<uint64_t>::kSign;
  const __m256i flip = _mm256_set1_epi64x(int64_t(keys.flip ^ kSign));
  const __m256i bound = _mm256_set1_epi64x(int64_t(limit ^ kSign));
  __m256i any = _mm256_setzero_si256();
  for (int64_t i = 0; i < n; i += 4) {
    const __m256i v = _mm256_loadu_si256((const __m256i *)(x + i));
    any = _mm256_or_si256(any,
                          _mm256_cmpgt_epi64(bound, _mm256_xor_si256(v, flip)));
  }
  return !_mm256_testz_si256(any, any);
}
#endif

/// Returns the sorted elements of a part of a row, in one of the two buffers of
/// getRoom elements: the first shape.getEnd() elements, or all.
template <typename Keys, typename Element = typename Keys::Element>
Element *sortPart(const Keys &keys, const ArgsortShape &shape,
                  const typename Keys::Stored *row, int64_t begin, int64_t end,
                  Element *elements, Element *other) {
  constexpr unsigned kBytes = sizeof(typename Keys::Stored);
  const int64_t length = end - begin;
  if (!selects(shape, length)) {
    for (int64_t i = begin; i < end; ++i)
      elements[i - begin] =
          Element::make(keys(row[i]), static_cast<uint32_t>(i));
    return sort(elements, other, length, kBytes);
  }
  Candidates<Element> candidates(elements, shape.getEnd());
  // A block without a candidate costs one comparison per element.
  using Key = typename Element::Key;
  constexpr int64_t kBlock = 32;
  std::array<Key, kBlock> block;
  for (int64_t at = begin; at < end; at += kBlock) {
    const int64_t n = std::min(kBlock, end - at);
#if defined(__x86_64__)
    if constexpr (std::is_same_v<Keys, IntegerKeys<uint64_t>>)
      if (const Key *limit = candidates.getLimit();
          limit && n == kBlock && __builtin_cpu_supports("avx2") &&
          !hasBelow(keys, row + at, n, *limit))
        continue;
#endif
    Key least = std::numeric_limits<Key>::max();
    if (n == kBlock) {
      for (int64_t i = 0; i < kBlock; ++i) {
        block[i] = keys(row[at + i]);
        least = std::min(least, block[i]);
      }
      if (!candidates.takes(least))
        continue;
    } else {
      for (int64_t i = 0; i < n; ++i)
        block[i] = keys(row[at + i]);
    }
    for (int64_t i = 0; i < n; ++i)
      if (candidates.takes(block[i]))
        candidates.add(Element::make(block[i], static_cast<uint32_t>(at + i)));
  }
  candidates.finish();
  return elements;
}

int64_t partBegin(const ArgsortShape &shape, int64_t part, int64_t parts) {
  return shape.length / parts * part + std::min(part, shape.length % parts);
}

/// Number of elements that a part contributes to the merge.
int64_t getKept(const ArgsortShape &shape, int64_t part, int64_t parts) {
  return std::min(shape.getEnd(), partBegin(shape, part + 1, parts) -
                                      partBegin(shape, part, parts));
}

/// Size in elements of each of the two buffers of a part.
int64_t getPartRoom(const ArgsortShape &shape, int64_t parts) {
  return getRoom(shape, shape.length / parts + 1);
}
} // namespace

/// Counts reading the row, and counting and moving the elements for each digit.
double runtime::estimateRow(const ArgsortShape &shape) {
  const double n = static_cast<double>(shape.length);
  if (selects(shape, shape.length))
    return n + 32.0 * static_cast<double>(shape.getEnd());
  if (shape.begin > 0)
    return 4 * n;
  return n * (2.0 + 3.0 * dtypeSize(shape.type));
}

size_t runtime::getArgsortScratch(const ArgsortShape &shape) {
  return getPartsScratch(shape, 1);
}

size_t runtime::getPartsScratch(const ArgsortShape &shape, int64_t parts) {
  return withKeys(shape, [&](auto keys) {
    return static_cast<size_t>(parts * 2 * getPartRoom(shape, parts)) *
               sizeof(typename decltype(keys)::Element) +
           static_cast<size_t>(parts) * sizeof(void *);
  });
}

namespace {
/// The scratch of the parts: a pointer to each part's sorted elements, then the
/// buffers.
template <typename Element>
struct PartBuffers {
  PartBuffers(const ArgsortShape &shape, int64_t parts, void *scratch)
      : lists(static_cast<Element **>(scratch)),
        room(getPartRoom(shape, parts)),
        elements(reinterpret_cast<Element *>(lists + parts)) {}
  Element *get(int64_t part, int64_t which) const {
    return elements + (2 * part + which) * room;
  }
  Element **lists;
  int64_t room;
  Element *elements;
};
} // namespace

void runtime::argsort(const ArgsortShape &shape, const void *data,
                      int64_t *positions, int64_t begin, int64_t end,
                      void *scratch) {
  withKeys(shape, [&](auto keys) {
    using Keys = decltype(keys);
    using Element = typename Keys::Element;
    const auto *rows = static_cast<const typename Keys::Stored *>(data);
    const PartBuffers<Element> buffers(shape, 1, scratch);
    for (int64_t r = begin; r < end; ++r) {
      const auto *row = rows + r * shape.length;
      Element *first = buffers.get(0, 0), *second = buffers.get(0, 1);
      const Element *sorted =
          picks(shape)
              ? pick(keys, shape, row, first, second)
              : sortPart(keys, shape, row, 0, shape.length, first, second) +
                    shape.begin;
      for (int64_t i = 0; i < shape.count; ++i)
        positions[r * shape.count + i] = sorted[i].position();
    }
  });
}

void runtime::argsortPart(const ArgsortShape &shape, const void *row,
                          int64_t part, int64_t parts, void *scratch) {
  withKeys(shape, [&](auto keys) {
    using Keys = decltype(keys);
    const PartBuffers<typename Keys::Element> buffers(shape, parts, scratch);
    buffers.lists[part] = sortPart(
        keys, shape, static_cast<const typename Keys::Stored *>(row),
        partBegin(shape, part, parts), partBegin(shape, part + 1, parts),
        buffers.get(part, 0), buffers.get(part, 1));
  });
}

/// Number of elements of list `part` among the first `rank` of all lists.
template <typename Element>
static int64_t findSplit(std::span<const std::span<const Element>> lists,
                         size_t part, int64_t rank) {
  const std::span<const Element> list = lists[part];
  int64_t low = 0, high = static_cast<int64_t>(list.size());
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    int64_t before = 0;
    for (std::span<const Element> other : lists)
      before += std::lower_bound(other.begin(), other.end(), list[middle]) -
                other.begin();
    if (before < rank)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

void runtime::argsortJoin(const ArgsortShape &shape, int64_t *positions,
                          int64_t parts, int64_t begin, int64_t end,
                          void *scratch) {
  withKeys(shape, [&](auto keys) {
    using Element = typename decltype(keys)::Element;
    const PartBuffers<Element> buffers(shape, parts, scratch);
    std::vector<std::span<const Element>> lists;
    for (int64_t p = 0; p < parts; ++p)
      lists.emplace_back(buffers.lists[p],
                         static_cast<size_t>(getKept(shape, p, parts)));
    std::vector<int64_t> next;
    for (size_t p = 0; p < lists.size(); ++p)
      next.push_back(findSplit<Element>(lists, p, begin));
    for (int64_t i = begin; i < end; ++i) {
      size_t least = lists.size();
      for (size_t p = 0; p < lists.size(); ++p)
        if (next[p] < static_cast<int64_t>(lists[p].size()) &&
            (least == lists.size() ||
             lists[p][next[p]] < lists[least][next[least]]))
          least = p;
      positions[i] = lists[least][next[least]++].position();
    }
  });
}
