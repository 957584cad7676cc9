//===- Windows.cpp - Sliding windows over the last dims of a tensor -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Windows.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

Result<SmallVector<int64_t>>
pt2::perDim(OpCall &o, StringRef name, unsigned n,
            std::optional<SmallVector<int64_t>> fallback) {
  SmallVector<int64_t> values =
      o.integersOrNone(name).value_or(SmallVector<int64_t>());
  if (values.empty() && fallback)
    return *fallback;
  if (values.size() == 1)
    values.assign(n, values[0]);
  if (values.size() != n)
    return o.fail("argument '" + name + "' has " + Twine(values.size()) +
                  " entries for " + Twine(n) + " dims");
  for (int64_t value : values)
    if (value < -kMaxWindow || value > kMaxWindow)
      return o.fail("argument '" + name + "' holds " + Twine(value) +
                    ", beyond the limit of " + Twine(kMaxWindow));
  return values;
}

Status pt2::place(OpCall &o, Value x, Window &w) {
  unsigned n = w.size.size(), lead = o.rank(x) - n;
  for (unsigned i = 0; i < n; ++i) {
    if (w.stride[i] <= 0 || w.dilation[i] <= 0 || !o.atMost(Expr(1), w.size[i]))
      return o.fail("a window, stride or dilation is not positive");
    Expr extent = o.extents(x)[lead + i], reach = w.reach(i);
    if (!o.atMost(reach, extent))
      return o.fail("a window of " + reach.str() +
                    " elements is not inside the padded extent " +
                    extent.str());
    if (w.positions.size() == i)
      w.positions.push_back(o.assumptions().simplify(
          Expr::floorDiv(extent - reach, Expr(w.stride[i])) + Expr(1)));
  }
  return {};
}

SmallVector<Expr> pt2::toExprs(ArrayRef<int64_t> values) {
  return SmallVector<Expr>(values.begin(), values.end());
}

Value pt2::windows(OpCall &o, Value x, const Window &w) {
  unsigned n = w.size.size(), lead = o.rank(x) - n;
  std::vector<Expr> inner(w.size.begin(), w.size.end());
  std::vector<Expr> split = delinearize(Expr::dim(lead + n), inner);
  SmallVector<Expr> from = o.extents(x),
                    space(from.begin(), from.begin() + lead), map;
  space.append(w.positions.begin(), w.positions.end());
  space.push_back(product(inner));
  map = identityMap(lead);
  for (unsigned i = 0; i < n; ++i)
    map.push_back(w.index(i, Expr::dim(lead + i), split[i]));
  return o.c.view(x, space, map);
}

Value pt2::fold(OpCall &o, Value columns, const Window &w,
                ArrayRef<int64_t> padding, ArrayRef<Expr> outs) {
  Composer &c = o.c;
  unsigned n = w.size.size(), lead = o.rank(columns) - 2 * n;
  // Without dilation, only every stride-th offset covers an element.
  std::vector<Expr> taps;
  for (unsigned i = 0; i < n; ++i)
    taps.push_back(w.dilation[i] == 1 ? o.assumptions().simplify(Expr::ceilDiv(
                                            w.size[i], Expr(w.stride[i])))
                                      : w.size[i]);
  std::vector<Expr> tap = delinearize(Expr::dim(lead + n), taps);
  SmallVector<Expr> from = o.extents(columns),
                    space(from.begin(), from.begin() + lead), offsets,
                    positions, map = identityMap(lead);
  space.append(outs.begin(), outs.end());
  space.push_back(product(taps));
  Assumptions inside(o.assumptions().getSymbols(),
                     std::vector<Expr>(space.begin(), space.end()));
  Value covered;
  /// Clamps the index, and masks elements that may be outside [0, extent).
  auto hold = [&](const Expr &index, const Expr &extent) {
    Expr last = extent - Expr(1), held = index;
    Value at;
    auto require = [&](Value condition) {
      covered = covered ? c.logicalAnd(covered, condition) : condition;
    };
    if (!inside.provablyLessEqual(index, last)) {
      at = c.iota(space, index);
      require(c.less(at, c.full(space, extentValue(o, extent, o.i64()))));
      held = Expr::min(held, last);
    }
    if (!inside.provablyNonNegative(index)) {
      at = at ? at : c.iota(space, index);
      require(c.less(c.splatInt(at, -1), at));
      held = Expr::max(held, Expr(0));
    }
    return held;
  };
  for (unsigned i = 0; i < n; ++i) {
    Expr stride(w.stride[i]), at = Expr::dim(lead + i) + Expr(padding[i]);
    Expr offset = tap[i], position;
    if (w.dilation[i] == 1) {
      offset = Expr::mod(at, stride) + offset * stride;
      position = Expr::floorDiv(at, stride) - tap[i];
    } else {
      Expr distance = at - offset * Expr(w.dilation[i]);
      position = Expr::floorDiv(distance, stride);
      if (w.stride[i] != 1) {
        Value rest = c.iota(space, Expr::mod(distance, stride));
        Value whole = c.less(rest, c.splatInt(rest, 1));
        covered = covered ? c.logicalAnd(covered, whole) : whole;
      }
    }
    offsets.push_back(hold(offset, w.size[i]));
    positions.push_back(hold(position, from[lead + n + i]));
  }
  map.append(offsets);
  map.append(positions);
  Value v = c.view(columns, space, map);
  if (covered)
    v = c.select(covered, v, c.splatInt(v, 0));
  return c.reduceSum(v, {lead + n}, false);
}
