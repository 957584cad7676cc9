//===- SymbolSolver.cpp - Symbols from the extents of inputs --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Support/SymbolSolver.h"
#include "luminal/Support/IndexCheck.h"
#include <algorithm>

using namespace luminal;

std::vector<SymbolSource>
luminal::planSymbols(const std::vector<NamedRange> &symbols,
                     const std::vector<Expr> &extents) {
  std::vector<SymbolSource> sources;
  std::vector<bool> found(symbols.size());
  std::map<std::string, SymbolRange> ranges;
  for (const NamedRange &symbol : symbols)
    ranges[symbol.name] = boundedRange(symbol.range);
  auto indexOf = [&](std::string_view name) {
    return static_cast<size_t>(
        std::lower_bound(symbols.begin(), symbols.end(), name,
                         [](const NamedRange &a, std::string_view b) {
                           return a.name < b;
                         }) -
        symbols.begin());
  };
  auto add = [&](SymbolSource source) {
    found[source.symbol] = true;
    sources.push_back(std::move(source));
  };
  for (uint32_t i = 0; i < symbols.size(); ++i)
    if (symbols[i].range.hi == symbols[i].range.lo)
      add({SymbolSource::Kind::Range, i, 0, Expr(), Expr()});
  for (uint32_t k = 0; k < extents.size(); ++k)
    if (std::optional<std::string_view> name = extents[k].asSymbol())
      if (size_t i = indexOf(*name); i < symbols.size() && !found[i])
        add({SymbolSource::Kind::Bare, static_cast<uint32_t>(i), k, Expr(),
             Expr()});

  // Returns the symbol of an extent whose value is unknown, if it is the only
  // one.
  auto onlyUnknown = [&](const Expr &extent) -> std::optional<uint32_t> {
    std::vector<std::string> used;
    extent.collectSymbols(used);
    std::optional<uint32_t> unknown;
    for (const std::string &name : used) {
      size_t i = indexOf(name);
      if (i == symbols.size() || (unknown && !found[i]))
        return std::nullopt;
      if (!found[i])
        unknown = static_cast<uint32_t>(i);
    }
    return unknown;
  };
  auto source = [&](const Expr &extent, uint32_t symbol,
                    uint32_t k) -> std::optional<SymbolSource> {
    // Substitute a dim for the symbol, to get the linear form from linearIn.
    auto with = [&](const Expr &value) {
      return extent.substitute([&](const Expr &leaf) -> std::optional<Expr> {
        if (leaf.asSymbol() == std::string_view(symbols[symbol].name))
          return value;
        return std::nullopt;
      });
    };
    std::optional<Expr::Linear> linear = with(Expr::dim(0)).linearIn(0);
    if (linear && !linear->stride.isUndefined() &&
        !linear->rest.isUndefined() && !linear->stride.isConstant(0))
      return SymbolSource{SymbolSource::Kind::Linear, symbol, k, linear->stride,
                          linear->rest};
    // Check within the symbol's range: there, max(n, 5) may equal n, and n * n
    // may be increasing.
    Expr n = Expr::symbol(symbols[symbol].name);
    Assumptions known(ranges);
    Expr rise = with(n + Expr(1)) - extent;
    // The increment is needed for all but the last value of the range.
    std::map<std::string, SymbolRange> steps = ranges;
    --*steps[symbols[symbol].name].hi;
    if (Assumptions(steps).provablyLess(0, rise))
      return SymbolSource{SymbolSource::Kind::Rising, symbol, k, Expr(),
                          Expr()};
    return std::nullopt;
  };
  for (bool changed = true; changed;) {
    changed = false;
    for (uint32_t k = 0; k < extents.size(); ++k)
      if (std::optional<uint32_t> unknown = onlyUnknown(extents[k]))
        if (std::optional<SymbolSource> s = source(extents[k], *unknown, k)) {
          add(std::move(*s));
          changed = true;
        }
  }
  return sources;
}

static std::string rangeText(const SymbolRange &range) {
  return "[" + std::to_string(range.lo) + ", " +
         (range.hi ? std::to_string(*range.hi) : std::string("inf")) + "]";
}

Result<int64_t> luminal::solveSymbol(const SymbolSource &source,
                                     const NamedRange &symbol,
                                     const Expr &extent, int64_t value,
                                     const Expr::SymbolValues &known) {
  const SymbolRange range = boundedRange(symbol.range);
  auto noValue = [&] {
    return Error("which is not a value of " + extent.str());
  };
  int64_t result = value;
  switch (source.kind) {
  case SymbolSource::Kind::Range:
    return range.lo;
  case SymbolSource::Kind::Bare:
    break;
  case SymbolSource::Kind::Linear: {
    std::optional<int64_t> stride = source.stride.evaluate(known),
                           rest = source.rest.evaluate(known);
    int64_t distance = 0;
    if (stride == 0)
      return Error("which does not determine " + symbol.name + " by " +
                   extent.str());
    if (!stride || !rest || __builtin_sub_overflow(value, *rest, &distance) ||
        (distance == INT64_MIN && *stride == -1) || distance % *stride != 0)
      return noValue();
    result = distance / *stride;
    break;
  }
  case SymbolSource::Kind::Rising: {
    // Binary search for the smallest symbol value whose extent is at least
    // `value`; an overflow counts as larger.
    auto at = [&](int64_t n) {
      return extent.evaluate([&](std::string_view name) {
        return name == symbol.name ? std::optional<int64_t>(n) : known(name);
      });
    };
    int64_t lo = range.lo, hi = *range.hi;
    while (lo < hi) {
      int64_t middle = lo + (hi - lo) / 2;
      std::optional<int64_t> found = at(middle);
      if (found && *found < value)
        lo = middle + 1;
      else
        hi = middle;
    }
    if (at(lo) != value)
      return Error("which is not a value of " + extent.str() + " with " +
                   symbol.name + " in " + rangeText(symbol.range));
    return lo;
  }
  }
  if (result >= range.lo && result <= *range.hi)
    return result;
  std::string text =
      source.kind == SymbolSource::Kind::Bare
          ? ""
          : "so " + symbol.name + " is " + std::to_string(result) + ", ";
  if (result >= range.lo && !symbol.range.hi)
    return Error(text + "more than an extent may be, " +
                 std::to_string(kLargestExtent));
  return Error(text + "outside the range " + rangeText(symbol.range) + " of " +
               symbol.name);
}

std::string luminal::describeUnsolved(const std::string &symbol,
                                      const std::vector<Expr> &extents) {
  std::string text = "the value of '" + symbol +
                     "' does not follow from the shape of any input";
  for (const Expr &extent : extents)
    if (extent.usesSymbol(symbol))
      return text + ": '" + extent.str() + "' has no single solution";
  return text;
}
