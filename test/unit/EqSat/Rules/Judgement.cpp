//===- Judgement.cpp - Whether values are what a rule promises ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Judgement.h"
#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;
using namespace luminal;
using namespace luminal::test;

/// The numbers of a tensor of floats.
static std::vector<double> numbersOf(MLIRContext *context,
                                     const reference::Tensor &tensor) {
  std::vector<double> numbers;
  DenseElementsAttr elements = reference::toAttribute(context, tensor);
  for (APFloat x : elements.getValues<APFloat>()) {
    bool loses;
    x.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
    numbers.push_back(x.convertToDouble());
  }
  return numbers;
}

static std::string digits(double x) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.17g", x);
  return text;
}

/// The distance of the numbers of a float type next to `x`.
static double ulpOf(double x, FloatType type) {
  const llvm::fltSemantics &semantics = type.getFloatSemantics();
  int least = APFloat::semanticsMinExponent(semantics);
  int exponent = x == 0 || !std::isfinite(x) ? least : std::ilogb(x);
  exponent = std::clamp(exponent, least,
                        int(APFloat::semanticsMaxExponent(semantics)));
  return std::ldexp(1.0, exponent - int(type.getFPMantissaWidth()) + 1);
}

/// Any NaN is NaN.
static bool sameBits(double a, double b) {
  return std::isnan(a) ? std::isnan(b)
                       : a == b && std::signbit(a) == std::signbit(b);
}

/// Whether `x` of a float type is off by no more than `allowed`.
static bool isClose(double x, double exact, double allowed, FloatType type) {
  if (std::isnan(x) || std::isnan(exact))
    return std::isnan(x) && std::isnan(exact);
  if (x == exact)
    return true;
  if (std::isinf(x)) {
    // The type ends half an ulp after its largest number.
    double end =
        APFloat::getLargest(type.getFloatSemantics()).convertToDouble();
    return std::signbit(x) == std::signbit(exact) &&
           std::fabs(exact) + allowed >= end;
  }
  return std::fabs(x - exact) <= allowed;
}

std::vector<std::string> test::judge(MLIRContext *context,
                                     const reference::Tensor &value,
                                     const Standard &s) {
  const reference::Tensor &expected = *s.expected;
  if (value.getShape() != expected.getShape())
    return {"is of another shape"};
  auto type =
      dyn_cast<FloatType>(hlir::getElementType(context, value.getDType()));
  if (!type || s.ulps < 0) {
    if (value.getDType() != expected.getDType())
      return {"is of another type"};
    if (!std::memcmp(value.data(), expected.data(), value.getNumBytes()))
      return {};
    if (!type)
      return {"is an integer, the other side another"};
  }
  std::vector<double> x = numbersOf(context, value),
                      y = numbersOf(context, expected), rough, kept, terms;
  if (s.terms)
    terms = numbersOf(context, *s.terms);
  if (s.rough)
    rough = numbersOf(context, *s.rough);
  if (s.kept)
    kept = numbersOf(context, *s.kept);
  std::vector<std::string> wrong;
  for (size_t k = 0; k != x.size(); ++k) {
    bool isGood = sameBits(x[k], y[k]);
    if (s.ulps >= 0) {
      // The error of f64 is 2^29 times smaller than that of f32; some bits
      // always remain.
      double off = !rough.empty() && std::isfinite(rough[k])
                       ? std::fabs(rough[k] - y[k])
                       : std::fabs(y[k]) * 0x1p-18;
      double slack = off * 0x1p-22 + std::fabs(y[k]) * 0x1p-47;
      if (!kept.empty())
        slack += std::fabs(kept[k]) * 0x1p-50;
      bool hasTerms = !terms.empty() && std::isfinite(terms[k]);
      double unit = ulpOf(hasTerms ? terms[k] : y[k], type);
      isGood = isClose(x[k], y[k], s.ulps * unit + slack, type);
    }
    if (!isGood)
      wrong.push_back("is " + digits(x[k]) + ", the other side " +
                      digits(y[k]));
  }
  return wrong;
}
