//===- Helpers.cpp - Helpers shared by groups of ops ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Helpers.h"
#include "llvm/ADT/STLExtras.h"
#include <limits>

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

Value pt2::extentValue(OpCall &o, const Expr &extent, Type type) {
  if (auto c = extent.asConstant())
    return o.c.scalarInt(type, *c);
  return o.c.cast(o.c.iota({}, extent), type);
}

unsigned pt2::halvings(OpCall &o, const Expr &extent) {
  int64_t most = o.assumptions().upperBound(extent).value_or(int64_t(1) << 31);
  unsigned steps = 0;
  while (steps < 63 && (int64_t(1) << steps) < most)
    ++steps;
  return steps;
}

Value pt2::indexAlong(OpCall &o, Value like, unsigned axis) {
  return o.c.iota(o.extents(like), Expr::dim(axis));
}

Type pt2::sumType(OpCall &o, Type element) {
  return isa<FloatType>(element) ? element : o.i64();
}

//===----------------------------------------------------------------------===//
// Joins and padding
//===----------------------------------------------------------------------===//

Value pt2::concatenate(OpCall &o, ArrayRef<Value> parts, unsigned axis) {
  SmallVector<Value> kept;
  for (Value v : parts)
    if (!o.extents(v)[axis].isConstant(0) || parts.size() == 1)
      kept.push_back(v);
  if (kept.empty())
    return parts.front();
  if (kept.size() == 1)
    return kept.front();
  Composer &c = o.c;
  SmallVector<Expr> extents = o.extents(kept.front());
  Expr total(0);
  SmallVector<Expr> starts;
  bool mayBeEmpty = false;
  for (Value v : kept) {
    Expr n = o.extents(v)[axis];
    starts.push_back(total);
    total = total + n;
    mayBeEmpty |= !o.assumptions().provablyLessEqual(Expr(1), n);
  }
  extents[axis] = total;

  if (mayBeEmpty) {
    // If a part may be empty, there is no element for a clamped index: scatter
    // rows instead.
    SmallVector<Expr> rows = extents;
    std::swap(rows[0], rows[axis]);
    auto order = llvm::to_vector(llvm::seq<unsigned>(0, extents.size()));
    std::swap(order[0], order[axis]);
    Value result = c.full(rows, c.scalarInt(o.element(kept.front()), 0));
    for (auto [v, start] : llvm::zip(kept, starts))
      result = c.scatter(Combine::Set, result,
                         c.iota({o.extents(v)[axis]}, start + Expr::dim(0)),
                         c.permute(v, order));
    return c.permute(result, order);
  }

  return c.concat(kept, axis);
}

/// Extends `x` along a dim that may be empty, so that there may be no element
/// for a clamped index: the kept elements are scattered into rows of `fill`.
static Value padRows(OpCall &o, Value x, const Padding &p, const Expr &cut,
                     const Expr &kept, const Expr &extent, Value fill) {
  Composer &c = o.c;
  if (kept.isConstant(0)) {
    SmallVector<Expr> extents = o.extents(x);
    extents[p.axis] = extent;
    return c.full(extents, fill);
  }
  auto order = llvm::to_vector(llvm::seq<unsigned>(0, o.rank(x)));
  std::swap(order[0], order[p.axis]);
  Value rows = c.permute(c.slice(x, p.axis, cut, kept), order);
  SmallVector<Expr> all = o.extents(rows);
  all[0] = extent;
  Value result = c.scatter(
      Combine::Set, c.full(all, fill),
      c.iota({kept}, Expr::dim(0) + Expr::max(p.before, Expr(0))), rows);
  return c.permute(result, order);
}

Result<Value> pt2::padConstant(OpCall &o, Value x, ArrayRef<Padding> padding,
                               Value fill) {
  if (padding.empty())
    return x;
  Composer &c = o.c;
  const Assumptions &assumptions = o.assumptions();
  SmallVector<Padding> clamped;
  for (const Padding &p : padding) {
    Expr n = o.extents(x)[p.axis],
         extent = assumptions.simplify(n + p.before + p.after);
    if (!o.atMost(Expr(0), extent))
      return o.fail("extent " + extent.str() + " is negative");
    if (o.isKnownAtMost(Expr(1), n)) {
      clamped.push_back(p);
      continue;
    }
    Expr cut = assumptions.simplify(Expr::max(-p.before, Expr(0)));
    Expr kept = assumptions.simplify(n - cut - Expr::max(-p.after, Expr(0)));
    if (!o.atMost(Expr(0), kept))
      return o.fail("crops more than there is of extent " + n.str());
    x = padRows(o, x, p, cut, kept, extent, fill);
  }
  if (clamped.empty())
    return x;
  return placeInside(o, x, clamped, [&](ArrayRef<Expr> extents) {
    return c.full(extents, fill);
  });
}

Value pt2::placeInside(OpCall &o, Value x, ArrayRef<Padding> padding,
                       function_ref<Value(ArrayRef<Expr>)> behind) {
  Composer &c = o.c;
  const Assumptions &assumptions = o.assumptions();
  SmallVector<Expr> from = o.extents(x), extents = from,
                    map = identityMap(extents.size());
  for (const Padding &p : padding)
    extents[p.axis] = assumptions.simplify(from[p.axis] + p.before + p.after);
  Value inside;
  auto restrict = [&](Value condition) {
    inside = inside ? c.logicalAnd(inside, condition) : condition;
  };
  for (const Padding &p : padding) {
    const Expr &n = from[p.axis];
    Expr i = Expr::dim(p.axis) - p.before;
    bool low = !assumptions.provablyLessEqual(p.before, Expr(0)),
         high = !assumptions.provablyLessEqual(p.after, Expr(0));
    Expr source = i;
    Value index;
    if (low || high)
      index = c.iota(extents, i);
    if (high) {
      source = Expr::min(source, n - Expr(1));
      restrict(c.less(index, c.full(extents, extentValue(o, n, o.i64()))));
    }
    if (low) {
      source = Expr::max(source, Expr(0));
      restrict(c.less(c.splatInt(index, -1), index));
    }
    map[p.axis] = source;
  }
  Value read = c.view(x, extents, map);
  return inside ? c.select(inside, read, behind(extents)) : read;
}

//===----------------------------------------------------------------------===//
// Writes
//===----------------------------------------------------------------------===//

/// The dims of the window in the order in which the memory's dims use them;
/// std::nullopt unless each is used by exactly one.
static std::optional<SmallVector<unsigned>> orderOfUse(ArrayRef<Expr> map,
                                                       unsigned rank) {
  SmallVector<unsigned> order;
  for (const Expr &e : map) {
    unsigned before = order.size();
    for (unsigned d = 0; d < rank; ++d)
      if (e.usesDim(d)) {
        if (llvm::is_contained(order, d))
          return std::nullopt;
        order.push_back(d);
      }
    if (order.size() > before + 1)
      return std::nullopt;
  }
  if (order.size() != rank)
    return std::nullopt;
  return order;
}

Value pt2::writeWindow(Composer &c, Value memory, ArrayRef<Expr> window,
                       ArrayRef<Expr> map, Value update) {
  SmallVector<Expr> extents = getExtents(memory);
  // A permuted window: permute the update to the order of the memory's dims.
  auto use = orderOfUse(map, window.size());
  if (use && !llvm::is_sorted(*use)) {
    SmallVector<Expr> sorted, renamed;
    std::vector<Expr> names(use->size());
    for (auto [i, d] : llvm::enumerate(*use)) {
      sorted.push_back(window[d]);
      names[d] = Expr::dim(i);
    }
    for (const Expr &e : map)
      renamed.push_back(e.substituteDims(names));
    return writeWindow(c, memory, sorted, renamed, c.permute(update, *use));
  }
  // If one dim is sliced or indexed (select) and the others stay in order,
  // replace rows along that dim.
  std::optional<unsigned> cut;
  bool rows = true;
  unsigned next = 0;
  for (unsigned i = 0; i < extents.size() && rows; ++i) {
    const Expr &e = map[i];
    bool isNext = e.asDim() == next && next < window.size();
    if (isNext && window[next] == extents[i]) {
      ++next;
      continue;
    }
    rows = !cut.has_value();
    cut = i;
    if (!e.hasDims())
      continue;
    auto linear = e.linearIn(next);
    rows &= linear && !linear->stride.hasDims() && !linear->rest.hasDims();
    ++next;
  }
  rows &= next == window.size();
  if (rows && !cut)
    return update;
  if (rows) {
    bool selected = !map[*cut].hasDims();
    SmallVector<unsigned> order = {*cut}, inverse(extents.size());
    for (unsigned i = 0; i < extents.size(); ++i)
      if (i != *cut)
        order.push_back(i);
    for (auto [i, axis] : llvm::enumerate(order))
      inverse[axis] = i;
    Value updates =
        c.permute(selected ? c.unsqueeze(update, *cut) : update, order);
    Expr count = selected ? Expr(1) : window[*cut];
    Expr row =
        selected
            ? map[*cut]
            : map[*cut].substitute([](const Expr &leaf) -> std::optional<Expr> {
                if (leaf.asDim())
                  return Expr::dim(0);
                return std::nullopt;
              });
    Value indices = c.iota({count}, row);
    Value result =
        c.scatter(Combine::Set, c.permute(memory, order), indices, updates);
    return c.permute(result, inverse);
  }
  // For any other window, scatter single elements.
  std::vector<Expr> all(extents.begin(), extents.end());
  std::vector<Expr> place(map.begin(), map.end());
  Value flat = c.reshape(memory, {product(all)});
  std::vector<Expr> part(window.begin(), window.end());
  Value indices =
      c.reshape(c.iota(window, linearize(place, all)), {product(part)});
  Value updates = c.reshape(update, {product(part)});
  return c.reshape(c.scatter(Combine::Set, flat, indices, updates), extents);
}

//===----------------------------------------------------------------------===//
// Indices
//===----------------------------------------------------------------------===//

/// Whether every element is known to be non-negative.
static bool isNonNegative(OpCall &o, Value v, unsigned depth = 0) {
  Operation *op = v.getDefiningOp();
  if (!op || depth > 16)
    return false;
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    auto elements = dyn_cast<DenseIntElementsAttr>(constant.getValue());
    return elements &&
           llvm::none_of(elements.getValues<APInt>(),
                         [](const APInt &e) { return e.isNegative(); });
  }
  if (auto iota = dyn_cast<IotaOp>(op)) {
    SmallVector<Expr> extents = getExtents(v);
    Assumptions inside(o.assumptions().getSymbols(),
                       std::vector<Expr>(extents.begin(), extents.end()));
    return inside.provablyNonNegative(iota.getMap().getResults()[0]);
  }
  auto operandsAre = [&](ValueRange values) {
    return llvm::all_of(
        values, [&](Value x) { return isNonNegative(o, x, depth + 1); });
  };
  if (isa<ViewOp>(op))
    return operandsAre(op->getOperand(0));
  if (auto castOp = dyn_cast<CastOp>(op)) {
    Type from = o.element(castOp.getOperand());
    return from.isInteger(1) ||
           (from.isInteger(32) && o.element(v).isInteger(64) &&
            operandsAre(castOp.getOperand()));
  }
  if (auto select = dyn_cast<SelectOp>(op))
    return operandsAre({select.getOnTrue(), select.getOnFalse()});
  return false;
}

Value pt2::wrapIndices(OpCall &o, Value index, const Expr &extent) {
  if (isNonNegative(o, index))
    return o.c.cast(index, o.i64());
  Value i = o.c.cast(index, o.i64());
  Value n = o.broadcastTo(extentValue(o, extent, o.i64()), o.extents(i));
  return o.c.select(o.c.less(i, o.c.splatInt(i, 0)), o.c.add(i, n), i);
}

Prefixes pt2::prefixes(OpCall &o, Value x, unsigned axis) {
  Composer &c = o.c;
  SmallVector<Expr> extents = o.extents(x), map = identityMap(extents.size());
  unsigned last = extents.size();
  map[axis] = Expr::dim(last);
  extents.push_back(extents[axis]);
  Value window = c.view(x, extents, map);
  Value i = c.iota(extents, Expr::dim(axis)),
        j = c.iota(extents, Expr::dim(last));
  return {window, c.lessEqual(j, i)};
}

/// One sum for each prefix, in which the rules of Scan.pdll find a scan.
static Value directPrefixSum(OpCall &o, Value x, unsigned axis) {
  auto [window, inside] = prefixes(o, x, axis);
  Value kept = o.c.select(inside, window, o.c.splatInt(window, 0));
  return o.c.reduceSum(kept, {o.rank(x)}, false);
}

/// For targets without scans, splits long dims into blocks: the sum inside each
/// block, plus the sum of the blocks before it. n elements take n * block
/// additions instead of n^2.
Result<Value> pt2::prefixSum(OpCall &o, Value x, unsigned axis) {
  Composer &c = o.c;
  constexpr int64_t block = 64;
  SmallVector<Expr> from = o.extents(x);
  Expr n = from[axis];
  if (o.scansRows())
    return directPrefixSum(o, x, axis);
  auto most = o.assumptions().upperBound(n);
  if ((most && *most <= 2 * block) ||
      !o.assumptions().provablyLessEqual(Expr(1), n)) {
    o.grows("with the square of", n);
    return directPrefixSum(o, x, axis);
  }
  Expr blocks = o.assumptions().simplify(Expr::ceilDiv(n, Expr(block)));
  SmallVector<Padding> behind;
  if (!o.provablyEqual(blocks * Expr(block), n))
    behind.push_back({axis, Expr(0), blocks * Expr(block) - n});
  LUMINAL_TRY(padded, padConstant(o, x, behind, c.scalarInt(o.element(x), 0)));
  SmallVector<Expr> split = from;
  split[axis] = blocks;
  split.insert(split.begin() + axis + 1, Expr(block));
  Value inside = directPrefixSum(o, c.reshape(padded, split), axis + 1);
  Value sums =
      c.squeeze(c.slice(inside, axis + 1, Expr(block - 1), Expr(1)), axis + 1);
  // Without an upper bound, no number of levels would suffice: use one.
  LUMINAL_TRY(through,
              most ? prefixSum(o, sums, axis) : directPrefixSum(o, sums, axis));
  SmallVector<Expr> map;
  for (unsigned i = 0; i < split.size(); ++i)
    if (i != axis + 1)
      map.push_back(Expr::dim(i));
  map[axis] = Expr::max(Expr::dim(axis) - Expr(1), Expr(0));
  Value before = c.view(through, split, map);
  Value first =
      c.less(c.iota(split, Expr::dim(axis)), c.splatInt(before, 1, o.i64()));
  before = c.select(first, c.splatInt(before, 0), before);
  Value total = c.add(inside, before);
  SmallVector<Expr> merged = from;
  merged[axis] = blocks * Expr(block);
  return c.slice(c.reshape(total, merged), axis, Expr(0), n);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Result<Value> pt2::matmulAny(OpCall &o, Value a, Value b) {
  Composer &c = o.c;
  Type type = o.element(a);
  if (type != o.element(b))
    return o.fail("the operands differ in dtype");
  if (o.isBool(a))
    return o.fail("products of bool are not supported");
  a = c.cast(a, o.opmath(type));
  b = c.cast(b, o.opmath(type));
  unsigned ra = o.rank(a), rb = o.rank(b);
  if (ra == 0 || rb == 0)
    return o.fail("an operand has no dims");
  if (ra == 1)
    a = c.unsqueeze(a, 0);
  if (rb == 1)
    b = c.unsqueeze(b, 1);
  SmallVector<Expr> ea = o.extents(a), eb = o.extents(b);
  if (!o.agree(ea.back(), eb[eb.size() - 2]))
    return o.fail("inner extents " + ea.back().str() + " and " +
                  eb[eb.size() - 2].str() + " differ");
  LUMINAL_TRY(batch,
              o.broadcast({SmallVector<Expr>(ArrayRef(ea).drop_back(2)),
                           SmallVector<Expr>(ArrayRef(eb).drop_back(2))}));
  auto widen = [&](Value v, const SmallVector<Expr> &e, const Expr &row,
                   const Expr &column) {
    SmallVector<Expr> full = batch;
    full.push_back(row);
    full.push_back(column);
    return o.broadcastTo(v, full);
  };
  Expr k = ea.back();
  a = widen(a, ea, ea[ea.size() - 2], k);
  b = widen(b, eb, k, eb.back());
  Value result = c.matmul(a, b);
  unsigned lead = batch.size();
  if (rb == 1)
    result = c.squeeze(result, lead + 1);
  if (ra == 1)
    result = c.squeeze(result, lead);
  return result;
}

Value pt2::logSoftmax(OpCall &o, Value x, unsigned axis) {
  Composer &c = o.c;
  SmallVector<Expr> extents = o.extents(x), map;
  for (unsigned i = 0; i < extents.size(); ++i)
    map.push_back(i == axis ? Expr(0) : Expr::dim(i));
  Value shifted = c.sub(x, c.view(c.reduceMax(x, {axis}, true), extents, map));
  Value sum = c.log(c.reduceSum(c.exp(shifted), {axis}, true));
  return c.sub(shifted, c.view(sum, extents, map));
}

Value pt2::softmaxAs(OpCall &o, Value x, unsigned axis, Type result) {
  Type wide = o.opmath(o.element(x));
  if (isa<FloatType>(result) && result.getIntOrFloatBitWidth() > 32)
    wide = result;
  return o.c.cast(o.c.softmax(o.c.cast(x, wide), axis), result);
}
