//===- Quantize.cpp - Fake quantisation -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rounds elements to those that an integer of a few bits holds, scaled, and
// tells which of them were in its range:
//
//   q = round(x * (1 / scale)) + zero point
//   result = (clamp(q, least, most) - zero point) * scale, mask = q in range
//
//===----------------------------------------------------------------------===//

#include "Helpers.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

/// `scale` and `zeroPoint` have the shape of x, and are f32 and of a type whose
/// values f32 holds. The product is of type `product`.
static Status fakeQuantize(OpCall &o, Value x, Value scale, Value zeroPoint,
                           Type product, std::optional<Value> enabled = {}) {
  Composer &c = o.c;
  int64_t least = o.integer("quant_min"), most = o.integer("quant_max");
  if (least > most)
    return o.fail("has an empty range");
  Type type = o.element(x), wide = o.opmath(type);
  Value inverse = c.cast(c.recip(scale), wide), zero = c.cast(zeroPoint, wide);
  Value q = c.add(c.round(c.mul(c.cast(x, wide), inverse)), zero);
  Value low = c.splat(q, double(least)), high = c.splat(q, double(most));
  Value inside = c.logicalAnd(c.lessEqual(low, q), c.lessEqual(q, high));
  // NaN is in the range of no integer, and becomes the least one.
  Value kept = c.select(c.less(low, q), c.minimum(q, high), low);
  Value result = c.cast(
      c.mul(c.cast(c.sub(kept, zero), product), c.cast(scale, product)), type);
  if (enabled) {
    result = c.select(*enabled, result, x);
    inside =
        c.select(*enabled, inside, c.cast(c.splatInt(q, 1, o.i64()), o.i1()));
  }
  return o.ret({result, inside});
}

static Status ofNumbers(OpCall &o) {
  Value x = o.tensor("self");
  return fakeQuantize(o, x, o.c.splat(x, o.real("scale"), o.f32()),
                      o.c.splatInt(x, o.integer("zero_point"), o.i64()),
                      o.f32());
}

static Status ofTensors(OpCall &o) {
  Value x = o.tensor("self");
  SmallVector<Expr> extents = o.extents(x);
  auto scalar = [&](StringRef name) {
    return o.c.full(extents, o.c.reshape(o.tensor(name), {}));
  };
  for (StringRef name : {"scale", "zero_point", "fake_quant_enabled"})
    if (!o.provablyEqual(o.numElements(o.tensor(name)), Expr(1)))
      return o.fail("is defined for one scale");
  return fakeQuantize(o, x, o.c.cast(scalar("scale"), o.f32()),
                      scalar("zero_point"), o.f32(),
                      o.isNonZero(scalar("fake_quant_enabled")));
}

static Status ofChannels(OpCall &o) {
  Value x = o.tensor("self"), zeroPoint = o.tensor("zero_point");
  LUMINAL_TRY(axis, o.axis("axis", x));
  if (o.isFloat(zeroPoint))
    return o.fail("is defined for zero points that are integers");
  SmallVector<Expr> extents = o.extents(x), map = {Expr::dim(axis)};
  auto spread = [&](Value v) -> Value { return o.c.view(v, extents, map); };
  for (Value v : {o.tensor("scale"), zeroPoint})
    if (o.rank(v) != 1 || !o.agree(o.extents(v)[0], extents[axis]))
      return o.fail("has another number of scales than of channels");
  return fakeQuantize(o, x, spread(o.c.cast(o.tensor("scale"), o.f32())),
                      spread(zeroPoint), o.opmath(o.element(x)));
}

llvm::ArrayRef<OpRow> pt2::getQuantizeOps() {
  static const OpRow rows[] = {
      {"fake_quantize_per_tensor_affine_cachemask(Tensor self, float scale, "
       "int zero_point, int quant_min, int quant_max)",
       ofNumbers},
      {"_fake_quantize_per_tensor_affine_cachemask_tensor_qparams(Tensor self, "
       "Tensor scale, Tensor zero_point, Tensor fake_quant_enabled, "
       "int quant_min, int quant_max)",
       ofTensors},
      {"fake_quantize_per_channel_affine_cachemask(Tensor self, Tensor scale, "
       "Tensor zero_point, int axis, int quant_min, int quant_max)",
       ofChannels},
  };
  return rows;
}
