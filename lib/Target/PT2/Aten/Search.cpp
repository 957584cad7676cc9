//===- Search.cpp - Binary search and membership --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Positions in sorted sequences are found by binary search with PyTorch's exact
// steps, so a sequence with NaN, which is not sorted in the search's order,
// gives the same result. Membership of many elements uses the same search, if
// the target has a sort; otherwise each element is compared with all others.
//
//===----------------------------------------------------------------------===//

#include "Helpers.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

/// Whether the position of `value` is at or before that of `element`.
using Reached = llvm::function_ref<Value(Value value, Value element)>;

/// The position (i64) of each value in the last dim of `sequence`, which is one
/// sequence, or one for each row of values. `sorter` maps each position in
/// sorted order to the element there.
static Result<Value> findPlaces(OpCall &o, Value sequence, Value values,
                                std::optional<Value> sorter, Reached reached) {
  Composer &c = o.c;
  SmallVector<Expr> shape = o.extents(values), all = o.extents(sequence);
  unsigned last = all.size() - 1;
  Expr n = all.back();
  auto place = [&](const Expr &e) {
    return c.full(shape, extentValue(o, e, o.i64()));
  };
  Value low = place(Expr(0)), high = place(n);
  // A sequence that may be empty gets one more element, which no search reads.
  if (!n.isConstant(0) && !o.assumptions().provablyLessEqual(Expr(1), n)) {
    auto extended = [&](Value v) {
      SmallVector<Expr> one = all;
      one[last] = Expr(1);
      return concatenate(o, {v, c.full(one, c.scalarInt(o.element(v), 0))},
                         last);
    };
    sequence = extended(sequence);
    if (sorter)
      sorter = extended(*sorter);
  }
  SmallVector<Expr> stored = o.extents(sequence);
  Expr width = stored.back(), total = o.numElements(stored);
  // The row-major index of each value's sequence.
  std::vector<Expr> rows(stored.begin(), stored.end() - 1), index;
  for (unsigned i = 0; i < last; ++i)
    index.push_back(Expr::dim(i));
  Value base = last ? c.iota(shape, linearize(index, rows) * width) : Value();
  auto read = [&](Value from, Value at) {
    return c.gather(c.reshape(from, {total}), base ? c.add(base, at) : at);
  };
  Type f64 = c.getBuilder().getF64Type();
  for (unsigned i = 0, steps = n.isConstant(0) ? 0 : halvings(o, n + Expr(1));
       i < steps; ++i) {
    Value sum = c.cast(c.add(low, high), f64);
    Value middle = c.cast(c.mul(sum, c.splat(sum, 0.5)), o.i64());
    Value at = c.minimum(middle, place(width - Expr(1)));
    if (sorter)
      at = read(*sorter, at);
    Value element = read(sequence, at);
    Value isReached = reached(values, element);
    Value behind = c.logicalAnd(c.less(low, high), c.logicalNot(isReached));
    low = c.select(behind, c.add(middle, c.splatInt(middle, 1)), low);
    high = c.select(behind, high, middle);
  }
  return low;
}

/// The position before equal elements or, with `right`, after them.
static Status search(OpCall &o, Value sequence, const Operand &operand,
                     std::optional<Value> sorter, bool right) {
  Composer &c = o.c;
  bool narrow = o.flag("out_int32");
  Type type = computedType(o.promote({sequence, operand}));
  Value values = o.as(operand, type);
  sequence = c.cast(sequence, type);
  if (o.rank(sequence) == 0 || o.isBool(sequence))
    return o.fail("takes a sequence of numbers");
  SmallVector<Expr> shape = o.extents(values), all = o.extents(sequence);
  if (sorter &&
      (o.rank(*sorter) != all.size() || !o.element(*sorter).isInteger(64)))
    return o.fail("takes a sorter of the sequence's shape");
  for (unsigned i = 0; sorter && i < all.size(); ++i)
    if (!o.agree(o.extents(*sorter)[i], all[i]))
      return o.fail("takes a sorter of the sequence's shape");
  unsigned last = all.size() - 1;
  if (last) {
    // One sequence for each row of values.
    bool same = all.size() == shape.size();
    for (unsigned i = 0; same && i < last; ++i)
      same = o.agree(all[i], shape[i]);
    if (!same)
      return o.fail("the values do not fit the sequences");
  }
  LUMINAL_TRY(place,
              findPlaces(o, sequence, values, sorter, [&](Value v, Value e) {
                return right ? c.less(v, e) : c.lessEqual(v, e);
              }));
  return o.ret(narrow ? c.cast(place, c.getBuilder().getI32Type()) : place);
}
static Status searchSorted(OpCall &o) {
  bool right = o.flag("right");
  StringRef side = o.string("side");
  if (!side.empty() && side != "left" && side != "right")
    return o.fail("side '" + side + "' is not known");
  return search(o, o.tensor("sorted_sequence"), o.operand("self"),
                o.tensorOrNone("sorter"), right || side == "right");
}
static Status bucketize(OpCall &o) {
  return search(o, o.tensor("boundaries"), o.operand("self"), std::nullopt,
                o.flag("right"));
}

/// Compares with every element of `t`.
static Value isAmongAll(OpCall &o, Value x, Value t) {
  Composer &c = o.c;
  SmallVector<Expr> space = o.extents(x);
  Expr n = o.extents(t)[0];
  o.grows("for each element by", n);
  unsigned last = space.size();
  SmallVector<Expr> map = identityMap(last);
  space.push_back(n);
  Value hit =
      c.equal(c.view(x, space, map), c.view(t, space, {Expr::dim(last)}));
  return c.reduceMax(hit, {last}, false);
}

/// Searches the sorted elements of `t`. NaN sorts last, where no element
/// reaches.
static Result<Value> isAmongSorted(OpCall &o, Value x, Value t) {
  Composer &c = o.c;
  Value sorted = inOrder(o, t, 0, false, std::nullopt).first;
  LUMINAL_TRY(place,
              findPlaces(o, sorted, x, std::nullopt, [&](Value v, Value e) {
                return c.logicalNot(c.less(e, v));
              }));
  Expr n = o.extents(t)[0];
  Value last = c.full(o.extents(x), extentValue(o, n - Expr(1), o.i64()));
  return c.equal(x, c.gather(sorted, c.minimum(place, last)));
}

/// Whether comparing with so few elements is faster than sorting and searching.
static bool isFew(OpCall &o, const Expr &n) {
  constexpr int64_t kFew = 64;
  return o.assumptions().provablyLessEqual(n, Expr(kFew));
}

static Status isIn(OpCall &o, StringRef elements, StringRef tests) {
  Composer &c = o.c;
  o.ignore({"assume_unique"});
  bool invert = o.flag("invert");
  Operand a = o.operand(elements), b = o.operand(tests);
  Type type = computedType(o.promote({a, b}));
  Value x = o.as(a, type), t = o.as(b, type);
  SmallVector<Expr> from = o.extents(t);
  Expr n = o.numElements(from);
  t = c.reshape(t, {n});
  Value any;
  if (!isFew(o, n) && o.assumptions().provablyLessEqual(Expr(1), n)) {
    LUMINAL_TRY(found, isAmongSorted(o, x, t));
    any = found;
  } else {
    any = isAmongAll(o, x, t);
  }
  return o.ret(invert ? c.logicalNot(any) : any);
}
static Status isInTensors(OpCall &o) {
  return isIn(o, "elements", "test_elements");
}
static Status isInNumber(OpCall &o) {
  return isIn(o, "elements", "test_element");
}
static Status numberIsIn(OpCall &o) {
  return isIn(o, "element", "test_elements");
}

llvm::ArrayRef<OpRow> pt2::getSearchOps() {
  static const OpRow rows[] = {
      {"searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, "
       "bool out_int32=False, bool right=False, str? side=None, "
       "Tensor? sorter=None)",
       searchSorted},
      {"searchsorted.Scalar(Tensor sorted_sequence, Tensor self, *, "
       "bool out_int32=False, bool right=False, str? side=None, "
       "Tensor? sorter=None)",
       searchSorted},
      {"bucketize.Tensor(Tensor self, Tensor boundaries, *, "
       "bool out_int32=False, bool right=False)",
       bucketize},
      {"bucketize.Scalar(Tensor self, Tensor boundaries, *, "
       "bool out_int32=False, bool right=False)",
       bucketize},
      {"isin.Tensor_Tensor(Tensor elements, Tensor test_elements, *, "
       "bool assume_unique=False, bool invert=False)",
       isInTensors},
      {"isin.Tensor_Scalar(Tensor elements, Tensor test_element, *, "
       "bool assume_unique=False, bool invert=False)",
       isInNumber},
      {"isin.Scalar_Tensor(Tensor element, Tensor test_elements, *, "
       "bool assume_unique=False, bool invert=False)",
       numberIsIn},
  };
  return rows;
}
