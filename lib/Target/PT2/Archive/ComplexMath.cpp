//===- ComplexMath.cpp - Functions of complex tensors ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ComplexMath.h"
#include <cmath>

using namespace luminal;
using namespace luminal::pt2;

//===----------------------------------------------------------------------===//
// Nodes of one part
//===----------------------------------------------------------------------===//

TensorMeta ComplexMath::broadcastMeta(const Argument &a, const Argument &b) {
  TensorMeta made = {meta.dtype, {}, {}, Expr(0)};
  for (const Argument *arg : {&a, &b}) {
    if (isNumber(*arg))
      continue;
    const std::vector<Expr> &sizes = program.tensors[arg->names[0]].sizes;
    if (sizes.size() > made.sizes.size())
      made.sizes.insert(made.sizes.begin(), sizes.size() - made.sizes.size(),
                        Expr(1));
    const size_t offset = made.sizes.size() - sizes.size();
    for (size_t i = 0; i < sizes.size(); ++i)
      if (made.sizes[offset + i].isConstant(1))
        made.sizes[offset + i] = sizes[i];
  }
  return made;
}

Argument ComplexMath::unary(const char *op, const Argument &x) {
  return tensor(add(op, {{"self", x}}, broadcastMeta(x, x)));
}

Argument ComplexMath::binary(const char *op, const Argument &a,
                             const Argument &b) {
  return tensor(addBinary(op, a, b, broadcastMeta(a, b)));
}

Argument ComplexMath::plus(const Argument &a, const Argument &b) {
  return isNumber(a) ? binary("add.Tensor", b, a) : binary("add.Tensor", a, b);
}

Argument ComplexMath::minus(const Argument &a, const Argument &b) {
  return isNumber(a) ? binary("rsub.Scalar", b, a) : binary("sub.Tensor", a, b);
}

Argument ComplexMath::times(const Argument &a, const Argument &b) {
  return isNumber(a) ? binary("mul.Tensor", b, a) : binary("mul.Tensor", a, b);
}

Argument ComplexMath::over(const Argument &a, const Argument &b) {
  return isNumber(a) ? times(unary("reciprocal.default", b), a)
                     : binary("div.Tensor", a, b);
}

Argument ComplexMath::choose(const Argument &condition, const Argument &a,
                             const Argument &b) {
  return tensor(add("where.self",
                    {{"condition", condition}, {"self", a}, {"other", b}},
                    broadcastMeta(a, b)));
}

Argument ComplexMath::compare(const char *op, const Argument &x, double value) {
  TensorMeta own = broadcastMeta(x, x);
  own.dtype = DTypeCode::of(DType::I1);
  return tensor(addBinary(op, x, number(value), own));
}

/// The value of a number that is not symbolic.
static double valueOf(const Argument &x) {
  return x.kind == Argument::Float ? x.doubles[0]
                                   : double(*x.exprs[0].asConstant());
}

Argument ComplexMath::minusOf(const Argument &x) {
  return isNumber(x) ? number(-valueOf(x)) : unary("neg.default", x);
}

std::string ComplexMath::broadcast(const Argument &x) {
  return isNumber(x) ? add("full.default",
                           {{"size", integers(meta.sizes)},
                            {"fill_value", x},
                            {"dtype", type(meta.dtype.getReal())}},
                           meta)
                     : add("expand.default",
                           {{"self", x}, {"size", integers(meta.sizes)}}, meta);
}

std::string ComplexMath::magnitude(const Pair &x) {
  return addBinary("hypot.default", tensor(x.re), tensor(x.im),
                   program.tensors[x.re]);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Pair ComplexMath::add(const Parts &a, const Parts &b) {
  return give(plus(a.re, b.re),
              a.im && b.im ? plus(*a.im, *b.im) : *(a.im ? a.im : b.im));
}

Pair ComplexMath::subtract(const Parts &a, const Parts &b) {
  return give(minus(a.re, b.re), a.im && b.im ? minus(*a.im, *b.im)
                                 : a.im       ? *a.im
                                              : minusOf(*b.im));
}

Pair ComplexMath::multiply(const Parts &a, const Parts &b) {
  if (!a.im)
    return give(times(a.re, b.re), times(a.re, *b.im));
  if (!b.im)
    return give(times(a.re, b.re), times(*a.im, b.re));
  return give(minus(times(a.re, b.re), times(*a.im, *b.im)),
              plus(times(a.re, *b.im), times(*a.im, b.re)));
}

Pair ComplexMath::divide(const Parts &a, const Parts &b) {
  if (!b.im)
    return give(over(a.re, b.re), over(*a.im, b.re));
  if (isNumber(b.re)) {
    const double re = valueOf(b.re), im = valueOf(*b.im),
                 larger = std::max(std::abs(re), std::abs(im)),
                 sum = re / larger * re + im / larger * im;
    return multiply(a, {number(re / larger / sum), number(-im / larger / sum)});
  }
  // (a.re + i a.im) (b.re - i b.im) / (b.re^2 + b.im^2)
  Argument larger = binary("maximum.default", unary("abs.default", b.re),
                           unary("abs.default", *b.im)),
           re = over(b.re, larger), im = over(*b.im, larger),
           sum = plus(times(re, b.re), times(im, *b.im)), x = over(re, sum),
           y = over(im, sum);
  return a.im ? give(plus(times(a.re, x), times(*a.im, y)),
                     minus(times(*a.im, x), times(a.re, y)))
              : give(times(a.re, x), minusOf(times(a.re, y)));
}

Pair ComplexMath::power(const Parts &base, const Parts &exponent) {
  /// Limit on exponents that are computed by multiplications.
  constexpr double most = 64;
  if (base.im && !exponent.im && isNumber(exponent.re) &&
      std::abs(valueOf(exponent.re)) <= most &&
      valueOf(exponent.re) == std::trunc(valueOf(exponent.re))) {
    const int64_t count = int64_t(valueOf(exponent.re));
    std::optional<Parts> product;
    Parts factor = base;
    for (int64_t rest = std::abs(count); rest != 0; rest /= 2) {
      if (rest % 2 != 0)
        product = product ? partsOf(multiply(*product, factor)) : factor;
      if (rest > 1)
        factor = partsOf(multiply(factor, factor));
    }
    if (!product)
      return give(number(1), number(0));
    return count < 0 ? divide({number(1)}, *product)
                     : give(product->re, *product->im);
  }
  // Powers of 0 are 0.
  const Pair whole = base.im ? Pair{broadcast(base.re), broadcast(*base.im)}
                             : Pair{broadcast(base.re), broadcast(number(0))};
  const Pair made = exp(multiply(exponent, partsOf(log(whole))));
  Argument isZero = compare("eq.Scalar", tensor(magnitude(whole)), 0),
           zero = tensor(broadcast(number(0)));
  return give(choose(isZero, zero, tensor(made.re)),
              choose(isZero, zero, tensor(made.im)));
}

//===----------------------------------------------------------------------===//
// Functions of one operand
//===----------------------------------------------------------------------===//

Pair ComplexMath::reciprocal(const Pair &x) {
  return divide({number(1)}, partsOf(x));
}

Pair ComplexMath::exp(const Pair &x) {
  Argument size = unary("exp.default", tensor(x.re));
  return give(times(size, unary("cos.default", tensor(x.im))),
              times(size, unary("sin.default", tensor(x.im))));
}

Pair ComplexMath::exp2(const Pair &x) {
  return exp(multiply({number(M_LN2)}, partsOf(x)));
}

Pair ComplexMath::expm1(const Pair &x) {
  // exp(re) cos(im) - 1 = expm1(re) cos(im) - 2 sin(im / 2)^2
  Argument half = unary("sin.default", times(tensor(x.im), number(0.5)));
  return give(minus(times(unary("expm1.default", tensor(x.re)),
                          unary("cos.default", tensor(x.im))),
                    times(times(half, half), number(2))),
              times(unary("exp.default", tensor(x.re)),
                    unary("sin.default", tensor(x.im))));
}

Pair ComplexMath::log(const Pair &x) {
  // log |x|; near 1, where the logarithm of the rounded absolute value would be
  // inexact, log1p(|x|^2 - 1) / 2.
  Argument a = unary("abs.default", tensor(x.re)),
           b = unary("abs.default", tensor(x.im)),
           larger = binary("maximum.default", a, b),
           smaller = binary("minimum.default", a, b),
           size = tensor(magnitude(x)),
           excess =
               plus(times(minus(larger, number(1)), plus(larger, number(1))),
                    times(smaller, smaller)),
           near = times(unary("log1p.default", excess), number(0.5)),
           far = unary("log.default", size),
           isFar = compare("gt.Scalar",
                           unary("abs.default", minus(size, number(1))), 0.5);
  return give(choose(isFar, far, near),
              binary("atan2.default", tensor(x.im), tensor(x.re)));
}

Pair ComplexMath::log2(const Pair &x) {
  return multiply({number(M_LOG2E)}, partsOf(log(x)));
}

Pair ComplexMath::log10(const Pair &x) {
  return multiply({number(M_LOG10E)}, partsOf(log(x)));
}

Pair ComplexMath::log1p(const Pair &x) {
  // log |1 + x|; near 0, log1p(re (2 + re) + im^2) / 2.
  Argument re = tensor(x.re), im = tensor(x.im),
           excess = plus(times(re, plus(re, number(2))), times(im, im)),
           near = times(unary("log1p.default", excess), number(0.5)),
           isFar = compare("gt.Scalar", unary("abs.default", excess), 0.5);
  const Pair far = log(add({number(1)}, partsOf(x)));
  return give(choose(isFar, tensor(far.re), near), tensor(far.im));
}

Pair ComplexMath::sqrt(const Pair &x) {
  // With t = sqrt((|x| + |re|) / 2) and u = im / 2 t: t + i u on the right half
  // of the plane, |u| +- i t on the left one.
  Argument re = tensor(x.re), im = tensor(x.im),
           t = unary("sqrt.default",
                     plus(times(tensor(magnitude(x)), number(0.5)),
                          times(unary("abs.default", re), number(0.5)))),
           u = choose(compare("eq.Scalar", t, 0), im,
                      over(im, times(t, number(2)))),
           isRight = compare("ge.Scalar", re, 0);
  return give(choose(isRight, t, unary("abs.default", u)),
              choose(isRight, u, binary("copysign.Tensor", t, im)));
}

Pair ComplexMath::sin(const Pair &x) {
  Argument re = tensor(x.re), im = tensor(x.im);
  return give(times(unary("sin.default", re), unary("cosh.default", im)),
              times(unary("cos.default", re), unary("sinh.default", im)));
}

Pair ComplexMath::cos(const Pair &x) {
  Argument re = tensor(x.re), im = tensor(x.im);
  return give(
      times(unary("cos.default", re), unary("cosh.default", im)),
      minusOf(times(unary("sin.default", re), unary("sinh.default", im))));
}

Pair ComplexMath::sinh(const Pair &x) {
  Argument re = tensor(x.re), im = tensor(x.im);
  return give(times(unary("sinh.default", re), unary("cos.default", im)),
              times(unary("cosh.default", re), unary("sin.default", im)));
}

Pair ComplexMath::cosh(const Pair &x) {
  Argument re = tensor(x.re), im = tensor(x.im);
  return give(times(unary("cosh.default", re), unary("cos.default", im)),
              times(unary("sinh.default", re), unary("sin.default", im)));
}

Pair ComplexMath::tanh(const Pair &x) {
  // (t (1 + u^2) + i u (1 - t^2)) / (1 + t^2 u^2)
  Argument t = unary("tanh.default", tensor(x.re)),
           u = unary("tan.default", tensor(x.im)), tt = times(t, t),
           uu = times(u, u), sum = plus(times(tt, uu), number(1));
  return give(over(times(t, plus(uu, number(1))), sum),
              over(times(u, minus(number(1), tt)), sum));
}

Pair ComplexMath::tan(const Pair &x) {
  // -i tanh(i x)
  const Pair turned = tanh({minusOf(tensor(x.im)).names[0], x.re});
  return give(tensor(turned.im), minusOf(tensor(turned.re)));
}

Pair ComplexMath::sigmoid(const Pair &x) {
  // With e = exp(-|re| -+ i im): 1 / (1 + e) on the right half of the plane,
  // e / (1 + e) on the left one.
  Argument isRight = compare("ge.Scalar", tensor(x.re), 0),
           im = choose(isRight, minusOf(tensor(x.im)), tensor(x.im)),
           re = minusOf(unary("abs.default", tensor(x.re)));
  const Pair e = exp({re.names[0], im.names[0]}),
             right = reciprocal(add({number(1)}, partsOf(e))),
             left = multiply(partsOf(e), partsOf(right));
  return give(choose(isRight, tensor(right.re), tensor(left.re)),
              choose(isRight, tensor(right.im), tensor(left.im)));
}

Pair ComplexMath::sgn(const Pair &x) {
  Argument size = tensor(magnitude(x)), isZero = compare("eq.Scalar", size, 0),
           zero = tensor(broadcast(number(0)));
  return give(choose(isZero, zero, over(tensor(x.re), size)),
              choose(isZero, zero, over(tensor(x.im), size)));
}

ComplexMath::Function ComplexMath::findFunction(const std::string &op) {
  static const std::map<std::string, Function> functions = {
      {"square", &ComplexMath::square},
      {"reciprocal", &ComplexMath::reciprocal},
      {"exp", &ComplexMath::exp},
      {"exp2", &ComplexMath::exp2},
      {"expm1", &ComplexMath::expm1},
      {"log", &ComplexMath::log},
      {"log2", &ComplexMath::log2},
      {"log10", &ComplexMath::log10},
      {"log1p", &ComplexMath::log1p},
      {"sqrt", &ComplexMath::sqrt},
      {"rsqrt", &ComplexMath::rsqrt},
      {"sin", &ComplexMath::sin},
      {"cos", &ComplexMath::cos},
      {"tan", &ComplexMath::tan},
      {"sinh", &ComplexMath::sinh},
      {"cosh", &ComplexMath::cosh},
      {"tanh", &ComplexMath::tanh},
      {"sigmoid", &ComplexMath::sigmoid},
      {"sgn", &ComplexMath::sgn}};
  auto it = functions.find(op);
  return it == functions.end() ? nullptr : it->second;
}
