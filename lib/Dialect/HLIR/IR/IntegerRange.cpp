//===- IntegerRange.cpp - Constant bounds of integer elements -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/HLIR/IR/IntegerRange.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;

/// i1 holds 0 and 1.
static bool isSignedElement(Type element) {
  return !element.isInteger(1) && !element.isUnsignedInteger();
}

std::optional<IntegerRange> hlir::getRange(DenseIntElementsAttr elements) {
  if (!elements || elements.empty())
    return std::nullopt;
  IntegerRange range{INT64_MAX, INT64_MIN};
  bool isSigned = isSignedElement(elements.getElementType());
  auto add = [&](const APInt &element) {
    auto value = isSigned ? element.getSExtValue()
                          : static_cast<int64_t>(element.getZExtValue());
    range.lo = std::min(range.lo, value);
    range.hi = std::max(range.hi, value);
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
  // A float holds every integer that fits its significand.
  unsigned digits = element.getIntOrFloatBitWidth();
  bool isSigned = true;
  if (auto type = dyn_cast<FloatType>(element)) {
    digits = type.getFPMantissaWidth();
  } else {
    isSigned = isSignedElement(element);
    digits -= isSigned ? 1 : 0;
  }
  if (digits >= 63)
    return true;
  int64_t limit = int64_t(1) << digits;
  return range.lo >= (isSigned ? -limit : 0) && range.hi < limit;
}
