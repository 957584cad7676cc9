//===- ResampleBytes.cpp - Interpolation of bytes -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PyTorch resamples bytes in integer arithmetic: the weights of a dim become
// 16-bit fixed-point numbers, with as many fractional bits as the largest of
// them allows, and each dim is rounded to bytes before the next one.
//
//===----------------------------------------------------------------------===//

#include "Resample.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

namespace {
/// For each result, the elements that it reads: [out, taps].
struct Taps {
  Value index;  ///< i64, not clamped to the end of the source
  Value weight; ///< f64, 0 where there is no such element
};
} // namespace

/// The elements around the coordinate of each result. The weight of an element
/// beyond an end is added to the last one there.
static Taps tapsAround(OpCall &o, const Resampled &r, bool isCubic) {
  Composer &c = o.c;
  const int64_t count = isCubic ? 4 : 2;
  Type f64 = c.getBuilder().getF64Type();
  SmallVector<Expr> space = {r.out, Expr(count)};
  Value i = c.cast(c.iota(space, Expr::dim(0)), f64),
        tap = c.iota(space, Expr::dim(1));
  Value shift = c.splat(i, r.alignCorners ? 0.0 : 0.5);
  Value source =
      c.sub(c.mul(c.full(space, stepOf(o, r)), c.add(i, shift)), shift);
  Value whole = c.floor(source), fraction = c.sub(source, whole);
  Value first = c.add(c.cast(whole, o.i64()), c.splatInt(tap, 1 - count / 2));
  Value begin = c.maximum(first, c.splatInt(tap, 0));
  Value last = c.full(space, extentValue(o, r.in - Expr(1), o.i64()));
  Value weight;
  for (int64_t k = 0; k < count; ++k) {
    Value at = c.minimum(
        c.maximum(c.add(first, c.splatInt(tap, k)), c.splatInt(tap, 0)), last);
    Value distance = c.abs(
        c.sub(c.splat(i, static_cast<double>(k + 1 - count / 2)), fraction));
    Value term = c.select(c.equal(c.sub(at, begin), tap),
                          kernelAt(c, distance, isCubic, -0.75), c.splat(i, 0));
    weight = weight ? c.add(weight, term) : term;
  }
  return {c.add(begin, tap), weight};
}

/// All elements under a kernel that is widened by the step if that is above 1.
static Taps tapsUnder(OpCall &o, const Resampled &r, bool isCubic) {
  Composer &c = o.c;
  const int64_t width = isCubic ? 4 : 2;
  Expr reach(width / 2), less(r.alignCorners ? 1 : 0);
  if (!r.alignCorners && r.scale)
    reach = Expr::max(
        reach, Expr(static_cast<int64_t>(std::ceil(width / 2 / *r.scale))));
  else
    reach = Expr::max(reach, Expr::ceilDiv((r.in - less) * Expr(width / 2),
                                           Expr::max(r.out - less, Expr(1))));
  reach = o.assumptions().simplify(reach);
  Type f64 = c.getBuilder().getF64Type();
  SmallVector<Expr> space = {r.out, Expr(2) * reach + Expr(1)};
  Value i = c.cast(c.iota(space, Expr::dim(0)), f64),
        tap = c.iota(space, Expr::dim(1));
  Value step = c.full(space, stepOf(o, r)), half = c.splat(i, 0.5);
  Value wide = c.maximum(step, c.splat(i, 1)),
        support = c.mul(wide, c.splat(i, width / 2.0));
  Value center = c.mul(step, c.add(i, half));
  auto indexOf = [&](Value edge) { return c.cast(c.add(edge, half), o.i64()); };
  Value begin = c.maximum(indexOf(c.sub(center, support)), c.splatInt(tap, 0));
  Value end = c.minimum(indexOf(c.add(center, support)),
                        c.full(space, extentValue(o, r.in, o.i64())));
  Value index = c.add(begin, tap);
  Value distance = c.abs(
      c.mul(c.add(c.sub(c.cast(index, f64), center), half), c.recip(wide)));
  Value weight = c.select(c.less(index, end),
                          kernelAt(c, distance, isCubic, -0.5), c.splat(i, 0));
  Value total = c.reduceSum(weight, {1}, false);
  return {index, c.div(weight, c.view(total, space, {Expr::dim(0)}))};
}

/// 2^n for the largest n, at most 22, for which all weights fit into 16 bits.
static Value fixedPoint(OpCall &o, Value weight) {
  Composer &c = o.c;
  SmallVector<double> powers;
  for (int bits = 0; bits <= 22; ++bits)
    powers.push_back(std::ldexp(1.0, bits));
  auto type = RankedTensorType::get({static_cast<int64_t>(powers.size())},
                                    c.getBuilder().getF64Type());
  Value all = ConstantOp::create(
      c.getBuilder(), c.getLoc(), type,
      DenseFPElementsAttr::get(type, ArrayRef<double>(powers)));
  Value most = c.full(o.extents(all), c.reduceMax(weight, {0, 1}, false));
  Value largest = c.add(c.mul(most, all), c.splat(all, 0.5));
  Value fits = c.less(largest, c.splat(all, 32768));
  return c.reduceMax(c.select(fits, all, c.splat(all, 1)), {0}, false);
}

Value pt2::resampleBytes(OpCall &o, Value x, const Resampled &r, bool isCubic,
                         bool antialias) {
  Composer &c = o.c;
  Type f64 = c.getBuilder().getF64Type(), i32 = c.getBuilder().getI32Type();
  Taps taps = antialias ? tapsUnder(o, r, isCubic) : tapsAround(o, r, isCubic);
  SmallVector<Expr> space = o.extents(taps.weight);
  Value one = fixedPoint(o, taps.weight);
  Value scaled = c.mul(taps.weight, c.full(space, one));
  Value half = c.splat(scaled, 0.5), zero = c.splat(scaled, 0);
  Value away =
      c.select(c.less(scaled, zero), c.sub(scaled, half), c.add(scaled, half));
  Value weight = c.cast(away, i32);
  Value last = c.full(space, extentValue(o, r.in - Expr(1), o.i64()));
  Value index = c.minimum(taps.index, last);

  // [out, taps, others]
  SmallVector<unsigned> order =
      llvm::to_vector(llvm::seq<unsigned>(0, o.rank(x)));
  std::swap(order[0], order[r.axis]);
  Value read = c.cast(c.gather(c.permute(x, order), index), i32);
  Value spread = c.view(weight, o.extents(read), {Expr::dim(0), Expr::dim(1)});
  Value sum = c.cast(c.reduceSum(c.mul(read, spread), {1}, false), f64);
  Value whole = c.floor(
      c.add(c.div(sum, c.full(o.extents(sum), one)), c.splat(sum, 0.5)));
  whole = c.minimum(c.maximum(whole, c.splat(whole, 0)), c.splat(whole, 255));
  return c.permute(c.cast(whole, o.element(x)), order);
}
