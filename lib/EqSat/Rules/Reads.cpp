//===- Reads.cpp - Values that are read through views ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Reads.h"

#include <cmath>

using namespace mlir;
using namespace luminal;
using namespace luminal::eqsat;
using hlir::MapAttr;

std::optional<double> ViewReader::getNumber(ClassId cls) const {
  constexpr int64_t kMost = int64_t(1) << 53;
  Attribute fact = c.fact("number", cls);
  if (auto number = dyn_cast_or_null<FloatAttr>(fact)) {
    double value = number.getValueAsDouble();
    return std::isnan(value) ? std::nullopt : std::optional(value);
  }
  if (auto number = dyn_cast_or_null<IntegerAttr>(fact)) {
    if (number.getType().isInteger(1))
      return double(number.getValue().getBoolValue());
    int64_t value = number.getInt();
    if (value <= kMost && value >= -kMost)
      return double(value);
  }
  return std::nullopt;
}

Read ViewReader::compose(const Read &read, const MatchedOp &view) const {
  auto inner = cast<MapAttr>(c.attrOf(view, "map"));
  return {view.operands[0], MapAttr::get(context, read.map.getNumDims(),
                                         read.map.composeResults(inner))};
}

SmallVector<Read> ViewReader::getSources(Read read,
                                         const Assumptions &space) const {
  constexpr size_t kMost = 16;
  SmallVector<Read> sources = {read};
  for (size_t i = 0; i < sources.size() && sources.size() < kMost; ++i) {
    Read from = sources[i];
    c.forEachNode(from.cls, "hlir.view", [&](const MatchedOp &view) {
      Read source = compose(from, view);
      source.map =
          MapAttr::getSimplified(context, source.map.getResults(), space);
      if (!llvm::is_contained(sources, source))
        sources.push_back(source);
      return sources.size() < kMost;
    });
  }
  return sources;
}

std::optional<Expr> ViewReader::getIndex(Read read,
                                         const Assumptions &space) const {
  for (const Read &source : getSources(read, space)) {
    std::optional<Expr> index;
    c.forEachNode(source.cls, "hlir.iota", [&](const MatchedOp &iota) {
      auto map = cast<MapAttr>(c.attrOf(iota, "map"));
      index = space.simplify(source.map.composeResults(map)[0]);
      return false;
    });
    if (index)
      return index;
    if (std::optional<double> number = getNumber(source.cls);
        number && isOfType(source.cls, [](Type t) { return t.isInteger(64); }))
      return Expr(static_cast<int64_t>(*number));
  }
  return std::nullopt;
}
