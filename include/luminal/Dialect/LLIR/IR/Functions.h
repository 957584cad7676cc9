//===- Functions.h - Properties of the scalar functions ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table itself is Functions.def.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_IR_FUNCTIONS_H
#define LUMINAL_DIALECT_LLIR_IR_FUNCTIONS_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include <cmath>

namespace luminal::llir {

/// The element types that a function accepts as operands. `Number` is a float
/// type with arithmetic, i32 or i64; `Integer` is one of the last two.
enum class OperandTypes { Float, Integer, Number, NumberOrBool, Bool, Any };

/// Returns the operand types that `fn` accepts.
OperandTypes getOperandTypes(Fn fn);

/// Returns the maximum error of the code of `fn`, in ulps of `element`, the
/// element type of the result. 0 for i1 and integers.
double getUlps(Fn fn, mlir::Type element);

/// Evaluates `fn` on floats, in f64; std::nullopt if Functions.def gives no
/// value.
std::optional<double> evaluate(Fn fn, llvm::ArrayRef<double> operands);

/// Returns whether the code of `fn` gives the same numbers if its two operands
/// are exchanged. False for max and min, which may return either zero.
bool isCommutative(Fn fn);

/// The f64 functions that Functions.def names.
namespace values {

inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// x * Phi(x), by erfc, which keeps the lower tail accurate.
inline double gelu(double x) {
  return 0.5 * x * std::erfc(-x * std::sqrt(0.5));
}

inline double geluTanh(double x) {
  double u = std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x);
  // (1 + tanh u) / 2 is the sigmoid of 2 u.
  return x / (1 + std::exp(-2 * u));
}

inline double max(double x, double y) {
  return std::isnan(x) || std::isnan(y) ? NAN : std::max(x, y);
}
inline double min(double x, double y) {
  return std::isnan(x) || std::isnan(y) ? NAN : std::min(x, y);
}

/// Python's floor division of floats: the quotient of x - x mod y.
inline double floorDivide(double x, double y) {
  if (y == 0)
    return x / y;
  double r = std::fmod(x, y);
  double q = (x - r) / y;
  if (r != 0 && (r < 0) != (y < 0))
    q -= 1;
  return q == 0 ? std::copysign(0.0, x / y) : std::nearbyint(q);
}
inline double floorModulo(double x, double y) {
  double r = std::fmod(x, y);
  return r != 0 && (r < 0) != (y < 0) ? r + y : r;
}

} // namespace values
} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_IR_FUNCTIONS_H
