//===- Dependences.cpp - Dependences between steps ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Dependences.h"
#include <algorithm>
#include <map>

using namespace luminal;
using namespace luminal::runtime;

namespace {
/// The byte range of a buffer in its memory.
struct Region {
  /// Identifies the arena, or a buffer of the caller or of the artifact.
  uint32_t memory;
  Expr begin, end;
  /// The range for sample sizes; absent if an expression has no value for them.
  struct Place {
    int64_t begin, end;
    bool operator==(const Place &) const = default;
  };
  std::vector<Place> places = {};
  bool operator==(const Region &) const = default;
};

class Regions {
public:
  explicit Regions(const Manifest &m) : assumptions(getRanges(m)) {
    for (const BufferSpec &buffer : m.buffers) {
      const bool isAlias = buffer.kind == BufferSpec::Kind::Alias;
      const bool isArena = buffer.kind == BufferSpec::Kind::Arena;
      Region region{static_cast<uint32_t>(regions.size()), 0, 0};
      if (isAlias)
        region = regions[buffer.of];
      if (isArena)
        region.memory = kArena;
      if (isAlias || isArena) {
        region.begin = region.begin + buffer.offset;
        region.end = region.begin + buffer.bytes;
      } else {
        // An upper limit that covers the whole buffer, whatever its size.
        region.end = Expr(int64_t(1) << 56);
      }
      region.places = getPlaces(region);
      // Arena slots are reused, so buffers with equal regions share one class
      // and the proofs are made once per class.
      auto same = std::find(regions.begin(), regions.end(), region);
      classes.push_back(static_cast<uint32_t>(same - regions.begin()));
      regions.push_back(std::move(region));
    }
  }

  /// Whether two buffers may share a byte for some sizes.
  bool mayOverlap(uint32_t a, uint32_t b) {
    if (regions[a].memory != regions[b].memory)
      return false;
    auto [known, isNew] =
        overlaps.emplace(std::minmax(classes[a], classes[b]), true);
    if (isNew)
      known->second = !areApart(regions[a], regions[b]);
    return known->second;
  }

private:
  static constexpr uint32_t kArena = UINT32_MAX;

  static Assumptions getRanges(const Manifest &m) {
    std::map<std::string, SymbolRange> ranges;
    for (const SymbolSpec &symbol : m.symbols)
      ranges[symbol.name] = symbol.range;
    return Assumptions(std::move(ranges));
  }

  /// The range for sample values of the symbols, at and near the lower ends of
  /// their ranges. A counterexample among them saves an attempt to prove that
  /// two regions are disjoint.
  std::vector<Region::Place> getPlaces(const Region &region) const {
    std::vector<Region::Place> places;
    for (int64_t step : {0, 1, 61}) {
      auto value = [&](std::string_view name) -> std::optional<int64_t> {
        const SymbolRange &range =
            assumptions.getSymbols().find(std::string(name))->second;
        int64_t at = range.lo + step;
        return range.hi ? std::min(at, *range.hi) : at;
      };
      auto begin = region.begin.evaluate(value),
           end = region.end.evaluate(value);
      if (!begin || !end)
        return {};
      places.push_back({*begin, *end});
    }
    return places;
  }

  bool isBefore(const Region &a, const Region &b) const {
    for (size_t i = 0; i < a.places.size() && i < b.places.size(); ++i)
      if (a.places[i].end > b.places[i].begin)
        return false;
    auto end = a.end.asConstant(), begin = b.begin.asConstant();
    return end && begin ? *end <= *begin
                        : assumptions.provablyLessEqual(a.end, b.begin);
  }
  bool areApart(const Region &a, const Region &b) const {
    return isBefore(a, b) || isBefore(b, a);
  }

  Assumptions assumptions;
  std::vector<Region> regions;
  /// For each buffer, the first one with an equal region.
  std::vector<uint32_t> classes;
  std::map<std::pair<uint32_t, uint32_t>, bool> overlaps;
};
} // namespace

std::vector<std::vector<uint32_t>>
runtime::planDependences(const Manifest &m, const std::vector<bool> &active) {
  Regions regions(m);
  auto isOrdered = [&](const StepSpec &a, const StepSpec &b) {
    const size_t readsOfA = a.getFirstResult(), readsOfB = b.getFirstResult();
    for (size_t i = 0; i < a.buffers.size(); ++i)
      for (size_t k = 0; k < b.buffers.size(); ++k)
        if ((i >= readsOfA || k >= readsOfB) &&
            regions.mayOverlap(a.buffers[i], b.buffers[k]))
          return true;
    return false;
  };
  const size_t n = m.steps.size();
  std::vector<std::vector<uint32_t>> edges(n);
  // before[i][j]: some path of edges orders j before i.
  std::vector<std::vector<bool>> before(n, std::vector<bool>(n));
  for (uint32_t i = 0; i < n; ++i) {
    if (!active[i])
      continue;
    // In reverse order, so that paths through later steps are known first.
    for (uint32_t j = i; j-- > 0;) {
      if (!active[j] || before[i][j] || !isOrdered(m.steps[j], m.steps[i]))
        continue;
      edges[i].push_back(j);
      before[i][j] = true;
      for (uint32_t k = 0; k < j; ++k)
        before[i][k] = before[i][k] || before[j][k];
    }
  }
  return edges;
}
