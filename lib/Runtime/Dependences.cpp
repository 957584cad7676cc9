//===- Dependences.cpp - Which steps must wait for which ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Dependences.h"
#include <map>

using namespace luminal;
using namespace luminal::runtime;

namespace {
/// Which bytes of which memory a buffer is.
struct Region {
  /// The arena, or a buffer of the caller or the artifact.
  uint32_t memory;
  Expr begin, end;
};

class Regions {
public:
  explicit Regions(const Manifest &m) : m(m), assumptions(getRanges(m)) {
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
        // The whole buffer, whatever its size.
        region.end = Expr(int64_t(1) << 56);
      }
      regions.push_back(std::move(region));
    }
  }

  /// Whether two buffers may share a byte.
  bool mayOverlap(uint32_t a, uint32_t b) {
    if (regions[a].memory != regions[b].memory)
      return false;
    auto [known, isNew] = overlaps.emplace(std::minmax(a, b), true);
    if (isNew)
      known->second = !isBefore(regions[a], regions[b]) &&
                      !isBefore(regions[b], regions[a]);
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

  bool isBefore(const Region &a, const Region &b) const {
    auto end = a.end.asConstant(), begin = b.begin.asConstant();
    return end && begin ? *end <= *begin
                        : assumptions.provablyLessEqual(a.end, b.begin);
  }

  const Manifest &m;
  Assumptions assumptions;
  std::vector<Region> regions;
  std::map<std::pair<uint32_t, uint32_t>, bool> overlaps;
};
} // namespace

std::vector<std::vector<uint32_t>>
runtime::planDependences(const Manifest &m, const std::vector<bool> &active) {
  Regions regions(m);
  auto isOrdered = [&](const StepSpec &a, const StepSpec &b) {
    const size_t readsOfA = a.buffers.size() - a.results;
    const size_t readsOfB = b.buffers.size() - b.results;
    for (size_t i = 0; i < a.buffers.size(); ++i)
      for (size_t k = 0; k < b.buffers.size(); ++k)
        if ((i >= readsOfA || k >= readsOfB) &&
            regions.mayOverlap(a.buffers[i], b.buffers[k]))
          return true;
    return false;
  };
  const size_t n = m.steps.size();
  std::vector<std::vector<uint32_t>> edges(n);
  // before[i][j]: some path orders j before i.
  std::vector<std::vector<bool>> before(n, std::vector<bool>(n));
  for (uint32_t i = 0; i < n; ++i) {
    if (!active[i])
      continue;
    // Backwards, so that paths through later steps are known first.
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
