//===- IntegerRange.cpp - Constant bounds of integer elements -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/HLIR/IR/IntegerRange.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;

std::optional<IntegerRange> hlir::getRange(DenseIntElementsAttr elements) {
  if (!elements || elements.empty())
    return std::nullopt;
  IntegerRange range{INT64_MAX, INT64_MIN};
  auto add = [&](const APInt &element) {
    range.lo = std::min(range.lo, element.getSExtValue());
    range.hi = std::max(range.hi, element.getSExtValue());
  };
  if (elements.isSplat())
    add(elements.getSplatValue<APInt>());
  else
    llvm::for_each(elements.getValues<APInt>(), add);
  return range;
}

std::optional<IntegerRange> hlir::getRange(const Expr &e,
                                           const Assumptions &assumptions) {
  std::optional<int64_t> lo = assumptions.lowerBound(e),
                         hi = assumptions.upperBound(e);
  if (!lo || !hi)
    return std::nullopt;
  return IntegerRange{*lo, *hi};
}

bool hlir::holds(Type element, IntegerRange range) {
  return !element.isInteger(32) ||
         (range.lo >= INT32_MIN && range.hi <= INT32_MAX);
}
