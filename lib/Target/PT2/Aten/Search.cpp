//===- Search.cpp - Places in sorted sequences, membership ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// By counting: the position in a sorted sequence is the number of elements that
// come before.
//
//===----------------------------------------------------------------------===//

#include "Helpers.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

/// How many elements of the last dim of `sequence` are below each value (or
/// not above it). NaN is above everything.
static Status search(OpCall &o, Value sequence, const Operand &operand,
                     bool right) {
  Composer &c = o.c;
  bool narrow = o.flag("out_int32");
  Type type = o.promote({sequence, operand});
  Value values = o.as(operand, type);
  sequence = c.cast(sequence, type);
  if (o.rank(sequence) == 0 || o.isBool(sequence))
    return o.fail("takes a sequence of numbers");
  SmallVector<Expr> shape = o.extents(values), space = shape, map;
  SmallVector<Expr> all = o.extents(sequence);
  unsigned last = shape.size();
  space.push_back(all.back());
  SmallVector<Expr> valueMap = identityMap(last);
  if (all.size() > 1) {
    // One sequence for each row of values.
    bool same = all.size() == shape.size();
    for (unsigned i = 0; same && i + 1 < all.size(); ++i) {
      same = o.provablyEqual(all[i], shape[i]);
      map.push_back(Expr::dim(i));
    }
    if (!same)
      return o.fail("the values do not fit the sequences");
  }
  map.push_back(Expr::dim(last));
  Value v = c.view(values, space, valueMap), s = c.view(sequence, space, map);
  Value before = c.logicalNot(right ? c.less(v, s) : c.lessEqual(v, s));
  Value count = c.reduceSum(c.cast(before, o.i64()), {last}, false);
  return o.ret(narrow ? c.cast(count, c.getBuilder().getI32Type()) : count);
}
static Status searchSorted(OpCall &o) {
  // An order in which the sequence is sorted does not change the counts.
  o.ignore({"sorter"});
  bool right = o.flag("right");
  StringRef side = o.string("side");
  if (!side.empty() && side != "left" && side != "right")
    return o.fail("side '" + side + "' is not known");
  return search(o, o.tensor("sorted_sequence"), o.operand("self"),
                right || side == "right");
}
static Status bucketize(OpCall &o) {
  return search(o, o.tensor("boundaries"), o.operand("self"), o.flag("right"));
}

static Status isIn(OpCall &o, StringRef elements, StringRef tests) {
  Composer &c = o.c;
  o.ignore({"assume_unique"});
  bool invert = o.flag("invert");
  Operand a = o.operand(elements), b = o.operand(tests);
  Type type = computedType(o.promote({a, b}));
  Value x = o.as(a, type), t = o.as(b, type);
  SmallVector<Expr> shape = o.extents(x), from = o.extents(t), map;
  Expr n = o.numElements(from);
  unsigned last = shape.size();
  SmallVector<Expr> space = shape;
  space.push_back(n);
  map = identityMap(last);
  Value hit = c.equal(c.view(x, space, map),
                      c.view(c.reshape(t, {n}), space, {Expr::dim(last)}));
  Value any = c.reduceMax(hit, {last}, false);
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
