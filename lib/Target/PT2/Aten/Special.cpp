//===- Special.cpp - Bessel and gamma functions ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Helpers.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

/// Applies fn in f64 to floats (integers become f32), and rounds once.
static Status inF64(OpCall &o,
                    llvm::function_ref<Value(Composer &, Value)> fn) {
  Value x = o.toFloat(o.tensor("self"));
  Type type = o.element(x), f64 = o.c.getBuilder().getF64Type();
  return o.ret(o.c.cast(fn(o.c, o.c.cast(x, f64)), type));
}

//===----------------------------------------------------------------------===//
// Modified Bessel functions of the first kind
//===----------------------------------------------------------------------===//

// Chebyshev coefficients (utils/dev/math_coefficients.py): of exp(-x) I0(x) and
// exp(-x) I1(x) / x for x = 4 (t + 1), and of sqrt(x) exp(-x) I(x) for x = 16 /
// (t + 1).
static constexpr double kSmall0[] = {
    0.338397637204738042,     -0.304682672343198399,
    0.171620901522208775,     -0.0949010970480476444,
    0.0493052842396707085,    -0.0237374148058994688,
    0.0105464603945949983,    -0.00432430999505057594,
    0.0016394756169413358,    -0.000576375574538582366,
    0.000188502885095841656,  -0.000057541950100821037,
    0.0000164484480707288971, -4.41673835845875056e-6,
    1.11738753912010372e-6,   -2.67079385394061173e-7,
    6.04699502254191895e-8,   -1.30002500998624804e-8,
    2.65982372468238665e-9,   -5.18979560163526291e-10,
    9.67580903537323691e-11,  -1.72682629144155571e-11,
    2.95505266312963983e-12,  -4.85644678311192946e-13,
    7.67618549860493562e-14,  -1.16853328779934517e-14,
    1.71539128555513303e-15,  -2.43127984654795469e-16,
    3.3307945188222381e-17,   -4.41534164647933938e-18};
static constexpr double kLarge0[] = {
    0.402245205507054416,     0.00336911647825569409,
    0.0000688975834691682398, 2.89137052083475648e-6,
    2.04891858946906374e-7,   2.26666899049817806e-8,
    3.39623202570838635e-9,   4.94060238822496959e-10,
    1.18891471078464383e-11,  -3.14991652796324136e-11,
    -1.32158118404477131e-11, -1.79417853150680612e-12,
    7.18012445138366623e-13,  3.8527783827421427e-13,
    1.54008621752140983e-14,  -4.15056934728722209e-14,
    -9.55484669882830765e-15, 3.81168066935262242e-15,
    1.77256013305652638e-15,  -3.42548561967721913e-16,
    -2.82762398051658348e-16, 3.46122286769746109e-17,
    4.46562142029676e-17,     -4.83050448594418207e-18,
    -7.23318048787475395e-18, 9.9214754121736986e-19,
    1.19365089084598209e-18};
static constexpr double kSmall1[] = {
    0.126293593221816827,     -0.176416518357834055,
    0.102643658689847095,     -0.0529459812080949914,
    0.0247264490306265168,    -0.0105640848946261982,
    0.00415642294431288816,   -0.00151357245063125315,
    0.000512285956168575773,  -0.000161760815825896746,
    0.0000478156510755005423, -0.0000132731636560394358,
    3.47025130813767848e-6,   -8.56872026469545474e-7,
    2.00329475355213526e-7,   -4.44505912879632808e-8,
    9.38153738649577178e-9,   -1.88724975172282929e-9,
    3.62559028155211704e-10,  -6.66348972350202774e-11,
    1.17361862988909016e-11,  -1.98397439776494372e-12,
    3.22379336594557471e-13,  -5.04218550472791169e-14,
    7.60068429473540693e-15,  -1.10559694773538631e-15,
    1.55363195773620047e-16,  -2.11142121435816608e-17,
    2.77791411276104637e-18};
static constexpr double kLarge1[] = {
    0.38928811750914006,      -0.00976109749136146841,
    -0.000110588938762623716, -3.88256480887769039e-6,
    -2.51223623787020893e-7,  -2.63146884688951951e-8,
    -3.83538038596423702e-9,  -5.58974346219658381e-10,
    -1.89749581235054123e-11, 3.25260358301548824e-11,
    1.41258074366137813e-11,  2.03562854414708951e-12,
    -7.19855177624590851e-13, -4.08355111109219732e-13,
    -2.10154184277266431e-14, 4.27244001671195135e-14,
    1.04202769841288028e-14,  -3.8144030724370078e-15,
    -1.88035477551078245e-15, 3.30820231092092828e-16,
    2.96262899764595014e-16,  -3.20952592199342396e-17,
    -4.65030536848935833e-17, 4.41434832307170795e-18,
    7.51729631084210481e-18,  -9.31417886732688338e-19,
    -1.24219327519489096e-18};

/// The Chebyshev series at t in [-1, 1], by Clenshaw's recurrence.
static Value chebyshev(Composer &c, ArrayRef<double> terms, Value t) {
  Value twice = c.add(t, t), next = c.splat(t, 0), after = next;
  for (size_t k = terms.size(); k-- > 1;) {
    Value sum = c.add(c.sub(c.mul(twice, next), after), c.splat(t, terms[k]));
    after = next;
    next = sum;
  }
  return c.add(c.sub(c.mul(t, next), after), c.splat(t, terms[0]));
}

/// exp(-|x|) I(x), of order 0 or 1.
static Value scaledBessel(Composer &c, Value x, int order) {
  Value size = c.abs(x), eight = c.splat(x, 8), one = c.splat(x, 1);
  Value nearly = c.minimum(size, eight), far = c.maximum(size, eight);
  Value low = chebyshev(c, order ? ArrayRef(kSmall1) : ArrayRef(kSmall0),
                        c.sub(c.mul(nearly, c.splat(x, 0.25)), one));
  Value high = c.div(chebyshev(c, order ? ArrayRef(kLarge1) : ArrayRef(kLarge0),
                               c.sub(c.div(c.splat(x, 16), far), one)),
                     c.sqrt(far));
  if (!order)
    return c.select(c.less(eight, size), high, low);
  Value negative = c.less(x, c.splat(x, 0));
  return c.select(c.less(eight, size), c.select(negative, c.neg(high), high),
                  c.mul(low, x));
}
Value pt2::besselI0(Composer &c, Value x) {
  return c.mul(c.exp(c.abs(x)), scaledBessel(c, x, 0));
}
static Status i0(OpCall &o) { return inF64(o, besselI0); }
template <int order>
static Status scaled(OpCall &o) {
  return inF64(o,
               [](Composer &c, Value x) { return scaledBessel(c, x, order); });
}
static Status i1(OpCall &o) {
  return inF64(o, [](Composer &c, Value x) {
    return c.mul(c.exp(c.abs(x)), scaledBessel(c, x, 1));
  });
}

//===----------------------------------------------------------------------===//
// Digamma
//===----------------------------------------------------------------------===//

/// The asymptotic series for x >= 10, which is reached by the recurrence psi(x)
/// = psi(x + 1) - 1 / x; reflected below 0.
static Status digamma(OpCall &o) {
  return inF64(o, [](Composer &c, Value x) {
    const double inf = std::numeric_limits<double>::infinity();
    constexpr double pi = 3.141592653589793;
    Value zero = c.splat(x, 0), one = c.splat(x, 1), ten = c.splat(x, 10);
    Value negative = c.less(x, zero);
    Value z = c.select(negative, c.sub(one, x), x), sum = zero;
    for (unsigned i = 0; i < 10; ++i) {
      Value small = c.less(z, ten);
      sum = c.sub(sum, c.select(small, c.recip(z), zero));
      z = c.select(small, c.add(z, one), z);
    }
    // Bernoulli numbers B(2k) / 2k.
    constexpr double terms[] = {1.0 / 12,   -1.0 / 120, 1.0 / 252,
                                -1.0 / 240, 1.0 / 132,  -691.0 / 32760,
                                1.0 / 12};
    Value y = c.recip(c.mul(z, z)), series = zero;
    for (size_t k = std::size(terms); k-- > 0;)
      series = c.mul(c.add(series, c.splat(x, terms[k])), y);
    sum = c.add(sum, c.sub(c.sub(c.log(z), c.div(c.splat(x, 0.5), z)), series));
    // pi / tan(pi x), from the distance to the nearest integer, which is exact.
    Value turn = c.mul(c.sub(x, c.round(x)), c.splat(x, pi));
    Value mirror = c.div(c.mul(c.splat(x, pi), c.cos(turn)), c.sin(turn));
    Value whole = c.equal(x, c.trunc(x));
    Value below =
        c.select(whole, c.splat(x, std::numeric_limits<double>::quiet_NaN()),
                 c.sub(sum, mirror));
    // At zero, the sign of the result depends on the sign of the zero.
    Value pole =
        c.select(c.less(c.recip(x), zero), c.splat(x, inf), c.splat(x, -inf));
    return c.select(c.equal(x, zero), pole, c.select(negative, below, sum));
  });
}

llvm::ArrayRef<OpRow> pt2::getSpecialOps() {
  static const OpRow rows[] = {
      {"i0(Tensor self)", i0},
      {"special_i0e(Tensor self)", scaled<0>},
      {"special_i1(Tensor self)", i1},
      {"special_i1e(Tensor self)", scaled<1>},
      {"digamma(Tensor self)", digamma},
  };
  return rows;
}
