//===- ComplexMath.h - Functions of complex tensors -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_TARGET_PT2_ARCHIVE_COMPLEXMATH_H
#define LUMINAL_LIB_TARGET_PT2_ARCHIVE_COMPLEXMATH_H

#include "Transforms.h"

namespace luminal::pt2 {

/// An operand of a complex function. Each part is a tensor or a number; a real
/// operand has no imaginary part.
struct Parts {
  Argument re;
  std::optional<Argument> im;

  Parts(Argument re, std::optional<Argument> im = std::nullopt)
      : re(std::move(re)), im(std::move(im)) {}
};

/// Builds nodes that compute elementwise functions of complex numbers from the
/// parts, which have the type of the current node's result; results have its
/// sizes.
/// Operands whose parts are infinite may give NaN where PyTorch does not.
class ComplexMath : protected Transforms {
protected:
  using Transforms::Transforms;

  static Parts partsOf(const Pair &x) { return {tensor(x.re), tensor(x.im)}; }
  static bool isNumber(const Argument &arg) {
    return arg.kind == Argument::Int || arg.kind == Argument::Float;
  }

  Pair add(const Parts &a, const Parts &b);
  Pair subtract(const Parts &a, const Parts &b);
  Pair multiply(const Parts &a, const Parts &b);
  /// Scaled by the larger part of the divisor, so that its square does not
  /// overflow.
  Pair divide(const Parts &a, const Parts &b);
  /// By multiplications for small integers, else exp(exponent log(base)).
  Pair power(const Parts &base, const Parts &exponent);

  /// The function of one operand that this ATen op computes; null for others.
  using Function = Pair (ComplexMath::*)(const Pair &);
  static Function findFunction(const std::string &op);

  /// The absolute value.
  std::string magnitude(const Pair &x);
  /// A node of one part.
  Argument binary(const char *op, const Argument &a, const Argument &b);
  using Transforms::add;

private:
  /// The sizes of two operands of a node, with the type of the result.
  TensorMeta broadcastMeta(const Argument &a, const Argument &b);

  // Nodes of one part.
  Argument unary(const char *op, const Argument &x);
  Argument plus(const Argument &a, const Argument &b);
  Argument minus(const Argument &a, const Argument &b);
  Argument times(const Argument &a, const Argument &b);
  Argument over(const Argument &a, const Argument &b);
  Argument choose(const Argument &condition, const Argument &a,
                  const Argument &b);
  /// A comparison with a number.
  Argument compare(const char *op, const Argument &x, double number);
  Argument minusOf(const Argument &x);
  /// A tensor of the result's sizes.
  std::string broadcast(const Argument &x);
  Pair give(const Argument &re, const Argument &im) {
    return {broadcast(re), broadcast(im)};
  }

  Pair square(const Pair &x) { return multiply(partsOf(x), partsOf(x)); }
  Pair reciprocal(const Pair &x);
  Pair exp(const Pair &x);
  Pair exp2(const Pair &x);
  Pair expm1(const Pair &x);
  Pair log(const Pair &x);
  Pair log2(const Pair &x);
  Pair log10(const Pair &x);
  Pair log1p(const Pair &x);
  Pair sqrt(const Pair &x);
  Pair rsqrt(const Pair &x) { return reciprocal(sqrt(x)); }
  Pair sin(const Pair &x);
  Pair cos(const Pair &x);
  Pair tan(const Pair &x);
  Pair sinh(const Pair &x);
  Pair cosh(const Pair &x);
  Pair tanh(const Pair &x);
  Pair sigmoid(const Pair &x);
  Pair sgn(const Pair &x);
};

} // namespace luminal::pt2

#endif // LUMINAL_LIB_TARGET_PT2_ARCHIVE_COMPLEXMATH_H
