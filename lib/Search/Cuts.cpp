//===- Cuts.cpp - Ranges of a size that want programs of their own --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Search/Cuts.h"

using namespace luminal;
using namespace luminal::search;

std::vector<int64_t> search::getCutPoints(const SymbolRange &range) {
  const int64_t most = range.hi.value_or(std::max(kMostSize, range.lo));
  std::vector<int64_t> points = {range.lo};
  for (int64_t point = 1; point < most; point *= 2) {
    if (point > range.lo)
      points.push_back(point);
    if (point > most / 2)
      break;
  }
  if (points.back() < most)
    points.push_back(most);
  return points;
}

/// The last of `near`, `near + step`, ... before `far` for which `holds` is
/// true, given that it is true for `near`.
template <typename Fn>
static Result<int64_t> bisect(int64_t near, int64_t far, const Fn &holds) {
  while (std::abs(far - near) > 1) {
    const int64_t middle = near + (far - near) / 2;
    LUMINAL_TRY(does, holds(middle));
    (does ? near : far) = middle;
  }
  return near;
}

Result<std::vector<SymbolRange>>
search::findCuts(const SymbolRange &range, const IsWorthwhile &isWorthwhile) {
  const std::vector<int64_t> points = getCutPoints(range);
  const auto count = static_cast<int64_t>(points.size());
  std::vector<SymbolRange> found;
  if (count < 2)
    return found;
  const SymbolRange least{range.lo, range.lo};
  LUMINAL_TRY(leastIs, isWorthwhile(least, range.lo));
  if (leastIs)
    found.push_back(least);

  // The sizes below belong to the range before.
  auto upTo = [&](int64_t i) {
    return SymbolRange{range.lo + 1, i + 1 < count ? points[i] : range.hi};
  };
  auto low = [&](int64_t i) { return isWorthwhile(upTo(i), points[i]); };
  int64_t last = 0;
  LUMINAL_TRY(lowIs, low(1));
  if (lowIs) {
    LUMINAL_TRY(end, bisect(1, count, low));
    last = end;
    found.push_back(upTo(last));
  }

  auto from = [&](int64_t i) { return SymbolRange{points[i], range.hi}; };
  auto high = [&](int64_t i) { return isWorthwhile(from(i), points[i]); };
  if (last + 1 >= count)
    return found;
  LUMINAL_TRY(highIs, high(count - 1));
  if (highIs) {
    LUMINAL_TRY(begin, bisect(count - 1, last, high));
    found.push_back(from(begin));
  }
  return found;
}
