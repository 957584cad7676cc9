//===- Points.h - Every point in range ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_TEST_UNIT_SUPPORT_POINTS_H
#define LUMINAL_TEST_UNIT_SUPPORT_POINTS_H

#include "luminal/Support/Expr.h"
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace luminal::test {

/// Of symbols, by name.
using Values = std::map<std::string, int64_t>;

inline Expr::SymbolValues lookUp(const Values &values) {
  return [&values](std::string_view name) -> std::optional<int64_t> {
    auto it = values.find(std::string(name));
    return it == values.end() ? std::nullopt
                              : std::optional<int64_t>(it->second);
  };
}

/// Calls fn(symbols, dims) for every point in range; an unbounded symbol is
/// taken up to its least value + 4.
inline void forEachPoint(
    const Assumptions &assumptions,
    const std::function<void(const Values &, const std::vector<int64_t> &)>
        &fn) {
  std::vector<std::pair<std::string, SymbolRange>> symbols(
      assumptions.getSymbols().begin(), assumptions.getSymbols().end());
  Values values;
  std::function<void(size_t)> overSymbols = [&](size_t i) {
    if (i < symbols.size()) {
      int64_t hi = symbols[i].second.hi.value_or(symbols[i].second.lo + 4);
      for (int64_t v = symbols[i].second.lo; v <= hi; ++v) {
        values[symbols[i].first] = v;
        overSymbols(i + 1);
      }
      return;
    }
    std::vector<int64_t> extents, dims(assumptions.getExtents().size());
    for (const Expr &extent : assumptions.getExtents()) {
      std::optional<int64_t> value = extent.evaluate(lookUp(values));
      if (!value || *value < 1)
        return;
      extents.push_back(*value);
    }
    std::function<void(size_t)> overDims = [&](size_t j) {
      if (j == extents.size()) {
        fn(values, dims);
        return;
      }
      for (dims[j] = 0; dims[j] < extents[j]; ++dims[j])
        overDims(j + 1);
      dims[j] = 0;
    };
    overDims(0);
  };
  overSymbols(0);
}

} // namespace luminal::test

#endif // LUMINAL_TEST_UNIT_SUPPORT_POINTS_H
