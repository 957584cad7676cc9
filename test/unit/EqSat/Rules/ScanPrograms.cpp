//===- ScanPrograms.cpp - Scans, spelled by prefixes ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RulePrograms.h"
#include "luminal/Dialect/HLIR/Utils/RunningProduct.h"

#include <limits>

using namespace mlir;
using namespace luminal;
using namespace luminal::test;

using C = hlir::Composer;
using Vs = ArrayRef<Value>;

namespace {
constexpr double kInf = std::numeric_limits<double>::infinity();

Type elementOf(Value v) {
  return cast<RankedTensorType>(v.getType()).getElementType();
}

/// The type in which elements are added.
Type wideOf(C &c, Value v) {
  Type type = elementOf(v);
  return type.isF16() || type.isBF16() ? Type(c.getBuilder().getF32Type())
                                       : type;
}

/// For each row and position, the elements up to that position, with `fill` for
/// the others.
Value prefixes(C &c, Value x, bool reverse, bool exclusive, Value fill) {
  SmallVector<Expr> extents = hlir::getExtents(x);
  extents.push_back(extents[1]);
  Value v = c.view(x, extents, {Expr::dim(0), Expr::dim(2)});
  Value i = c.iota(extents, Expr::dim(1)), j = c.iota(extents, Expr::dim(2));
  Value first = reverse ? i : j, second = reverse ? j : i;
  Value inside = exclusive ? c.less(first, second) : c.lessEqual(first, second);
  return c.select(inside, v, c.full(extents, fill));
}

/// The same, with repeated elements of the prefix instead of `fill`.
Value repeated(C &c, Value x) {
  SmallVector<Expr> extents = hlir::getExtents(x);
  extents.push_back(extents[1]);
  return c.view(x, extents,
                {Expr::dim(0), Expr::min(Expr::dim(1), Expr::dim(2))});
}

Value sum(C &c, Value x, bool reverse, bool exclusive) {
  Value wide = c.cast(x, wideOf(c, x));
  Value kept =
      prefixes(c, wide, reverse, exclusive, c.scalarInt(elementOf(wide), 0));
  return c.cast(c.reduceSum(kept, {2}, false), elementOf(x));
}

/// A running product over rows of at most 16 elements.
Value runningProduct(C &c, Value x) {
  SmallVector<Expr> extents = hlir::getExtents(x);
  Type i64 = c.getBuilder().getI64Type();
  Value ones = c.full(extents, c.scalarInt(elementOf(x), 1));
  for (int64_t width = 1; width < 16; width *= 2) {
    Expr before = Expr::dim(1) - Expr(width);
    Value v = c.view(x, extents, {Expr::dim(0), Expr::max(before, Expr(0))}),
          at = c.iota(extents, before);
    x = c.mul(x, c.select(c.less(c.splatInt(at, -1, i64), at), v, ones));
  }
  return x;
}

/// The same for floats, accumulated in f32 or f64.
Value runningFloats(C &c, Value x) {
  Type type = elementOf(x), f64 = c.getBuilder().getF64Type();
  Value wide = c.cast(x, wideOf(c, x));
  Type kept = type.isF32() ? f64 : elementOf(wide);
  return c.cast(hlir::runningProduct(c, c.cast(wide, f64), /*axis=*/1,
                                     /*steps=*/4, kept),
                type);
}

Value places(C &c, Value x, bool largest) {
  Value window = repeated(c, x);
  Value best = largest ? c.reduceMax(window, {2}, false)
                       : c.reduceMin(window, {2}, false);
  Value hit = c.equal(x, best);
  if (isa<FloatType>(elementOf(x)))
    hit = c.logicalOr(hit, c.isNan(x));
  Type i64 = c.getBuilder().getI64Type();
  Value at = c.iota(hlir::getExtents(x), Expr::dim(1));
  Value index = c.select(hit, at, c.splatInt(at, 0, i64));
  return c.reduceMax(repeated(c, index), {2}, false);
}

Value logSumExp(C &c, Value x, bool reverse, bool exclusive) {
  Value wide = c.cast(x, wideOf(c, x));
  Value v =
      prefixes(c, wide, reverse, exclusive, c.scalar(elementOf(wide), -kInf));
  Value most = c.reduceMax(v, {2}, false);
  Value infinite = c.equal(c.abs(most), c.splat(most, kInf));
  Value shift = c.select(infinite, c.splat(most, 0), most);
  Value e = c.exp(c.sub(
      v, c.view(shift, hlir::getExtents(v), {Expr::dim(0), Expr::dim(1)})));
  Value all = c.add(c.log(c.reduceSum(e, {2}, false)), shift);
  return c.cast(all, elementOf(x));
}
} // namespace

std::vector<RuleProgram> luminal::test::scanPrograms() {
  std::vector<RuleProgram> list;
  const std::vector<std::string> shape = {"3", "s0 + 2"};
  for (const char *type : {"f16", "bf16", "f32", "f64", "i32", "i64"}) {
    const std::string of = std::string(" of ") + type;
    for (bool reverse : {false, true})
      list.push_back({"sums so far" + of,
                      {{shape, type, {{-9, 9}}, false, true}},
                      [=](C &c, Vs v) {
                        return sum(c, v[0], reverse, /*exclusive=*/reverse);
                      }});
    list.push_back({"sums so far, of all kinds" + of,
                    {{shape, type}},
                    [=](C &c, Vs v) { return sum(c, v[0], false, true); }});
    for (bool largest : {false, true})
      list.push_back({"places of extrema so far" + of,
                      {{shape, type}},
                      [=](C &c, Vs v) { return places(c, v[0], largest); }});
    if (type[0] == 'i') {
      list.push_back({"products so far" + of, {{shape, type}}, [](C &c, Vs v) {
                        return runningProduct(c, v[0]);
                      }});
      continue;
    }
    list.push_back({"sums so far, of the type itself" + of,
                    {{shape, type, {{-9, 9}}, false, true}},
                    [=](C &c, Vs v) {
                      Value zero = c.scalarInt(elementOf(v[0]), 0);
                      Value kept = prefixes(c, v[0], false, false, zero);
                      return c.reduceSum(kept, {2}, false);
                    }});
    list.push_back({"products so far" + of,
                    {{shape, type, {{-3, 3}}}},
                    [](C &c, Vs v) { return runningFloats(c, v[0]); }});
    list.push_back(
        {"log of sums so far" + of,
         {{shape, type, {{-3, 3}}}},
         [=](C &c, Vs v) { return logSumExp(c, v[0], false, false); }});
    list.push_back(
        {"log of sums so far, of all kinds" + of,
         {{shape, type}},
         [=](C &c, Vs v) { return logSumExp(c, v[0], true, true); }});
  }
  return list;
}
