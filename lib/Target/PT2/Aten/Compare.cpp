//===- Compare.cpp - Comparisons, logic, selection, casts -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OpCall.h"
#include <limits>

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

//===----------------------------------------------------------------------===//
// Comparisons
//===----------------------------------------------------------------------===//

namespace {
enum class Relation { Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual };
} // namespace

template <Relation relation>
static Status compare(OpCall &o) {
  LUMINAL_TRY(operands, o.promotePair(o.operand("self"), o.operand("other")));
  auto [x, y] = operands;
  switch (relation) {
  case Relation::Equal:
    return o.ret(o.c.equal(x, y));
  case Relation::NotEqual:
    return o.ret(o.c.logicalNot(o.c.equal(x, y)));
  case Relation::Less:
    return o.ret(o.c.less(x, y));
  case Relation::LessEqual:
    return o.ret(o.c.lessEqual(x, y));
  case Relation::Greater:
    return o.ret(o.c.less(y, x));
  case Relation::GreaterEqual:
    return o.ret(o.c.lessEqual(y, x));
  }
}

static Status isNan(OpCall &o) { return o.ret(o.c.isNan(o.tensor("self"))); }
static Status isInf(OpCall &o) {
  Value x = o.tensor("self");
  if (!o.isFloat(x))
    return o.ret(o.c.splatInt(x, 0, o.i1()));
  Value inf = o.c.splat(x, std::numeric_limits<double>::infinity());
  return o.ret(o.c.equal(o.c.abs(x), inf));
}
static Status isFinite(OpCall &o) {
  Value x = o.tensor("self");
  if (!o.isFloat(x))
    return o.ret(o.c.splatInt(x, 1, o.i1()));
  Value inf = o.c.splat(x, std::numeric_limits<double>::infinity());
  return o.ret(o.c.less(o.c.abs(x), inf));
}

//===----------------------------------------------------------------------===//
// Logic
//===----------------------------------------------------------------------===//

template <Value (Composer::*fn)(Value, Value)>
static Status logical(OpCall &o) {
  Operand a = o.operand("self"), b = o.operand("other");
  LUMINAL_TRY(shape, o.commonShape({a, b}));
  auto boolean = [&](const Operand &x) { return o.as(x, o.i1(), shape); };
  Value x = boolean(a), y = boolean(b);
  return o.ret((o.c.*fn)(x, y));
}

static Status logicalNot(OpCall &o) {
  return o.ret(o.c.logicalNot(o.isNonZero(o.tensor("self"))));
}
static Status bitwiseNot(OpCall &o) {
  Value x = o.tensor("self");
  if (o.isBool(x))
    return o.ret(o.c.logicalNot(x));
  return o.ret(o.c.add(o.c.neg(x), o.c.splatInt(x, -1)));
}

//===----------------------------------------------------------------------===//
// Selection
//===----------------------------------------------------------------------===//

static Status where(OpCall &o) {
  Value condition = o.tensor("condition");
  if (!o.isBool(condition))
    return o.fail("the condition is not bool");
  Operand a = o.operand("self"), b = o.operand("other");
  Type type = o.promote({a, b});
  LUMINAL_TRY(shape, o.commonShape({condition, a, b}));
  Value x = o.as(a, type, shape), y = o.as(b, type, shape);
  return o.ret(o.c.select(o.broadcastTo(condition, shape), x, y));
}

static Status maskedFill(OpCall &o) {
  Value x = o.tensor("self"), mask = o.tensor("mask");
  Operand value = o.operand("value");
  if (!o.isBool(mask))
    return o.fail("the mask is not bool");
  if (o.rank(value))
    return o.fail("the value has more than one element");
  LUMINAL_TRY(shape, o.commonShape({x, mask}));
  Value fill = o.as(value, o.element(x), shape);
  return o.ret(
      o.c.select(o.broadcastTo(mask, shape), fill, o.broadcastTo(x, shape)));
}

//===----------------------------------------------------------------------===//
// Casts and copies
//===----------------------------------------------------------------------===//

/// Returns the tensor itself if nothing changes, as PyTorch does.
static Status to(OpCall &o, std::optional<Type> type, bool copy) {
  Value x = o.tensor("self");
  if (!type || *type == o.element(x))
    return copy ? o.ret(x) : o.retAlias();
  return o.ret(o.c.cast(x, *type));
}
static Status toDType(OpCall &o) {
  return to(o, o.dtypeOrNone("dtype"), o.flag("copy"));
}
static Status toOther(OpCall &o) {
  Type type = o.element(o.tensor("other"));
  return to(o, type, o.flag("copy"));
}
static Status typeAs(OpCall &o) {
  return to(o, o.element(o.tensor("other")), false);
}
static Status toCopy(OpCall &o) { return to(o, o.dtypeOrNone("dtype"), true); }

static Status convertElementType(OpCall &o) {
  return o.ret(o.c.cast(o.tensor("a"), o.dtype("dtype")));
}
static Status copyOf(OpCall &o) { return o.ret(o.tensor("self")); }
static Status alias(OpCall &o) { return o.retAlias(); }

static Status contiguous(OpCall &o) {
  Value x = o.tensor("self");
  return o.retReshaped(x, o.extents(x));
}

/// `src`, broadcast and converted to self's shape and type.
static Status copy(OpCall &o) {
  Value self = o.tensor("self"), src = o.tensor("src");
  LUMINAL_TRY(shape, o.commonShape({self, src}));
  if (shape.size() != o.rank(self))
    return o.fail("the source cannot be broadcast to the destination");
  return o.ret(o.broadcastTo(o.c.cast(src, o.element(self)), shape));
}
static Status fill(OpCall &o) {
  Value self = o.tensor("self");
  Operand value = o.operand("value");
  if (o.rank(value))
    return o.fail("the value has more than one element");
  return o.ret(o.as(value, o.element(self), o.extents(self)));
}
static Status zero(OpCall &o) {
  return o.ret(o.c.splatInt(o.tensor("self"), 0));
}

llvm::ArrayRef<OpRow> pt2::getCompareOps() {
  constexpr auto And = &Composer::logicalAnd;
  constexpr auto Or = &Composer::logicalOr;
  constexpr auto Xor = &Composer::logicalXor;
  static const OpRow rows[] = {
      {"eq.Tensor(Tensor self, Tensor other)", compare<Relation::Equal>},
      {"eq.Scalar(Tensor self, Tensor other)", compare<Relation::Equal>},
      {"ne.Tensor(Tensor self, Tensor other)", compare<Relation::NotEqual>},
      {"ne.Scalar(Tensor self, Tensor other)", compare<Relation::NotEqual>},
      {"lt.Tensor(Tensor self, Tensor other)", compare<Relation::Less>},
      {"lt.Scalar(Tensor self, Tensor other)", compare<Relation::Less>},
      {"le.Tensor(Tensor self, Tensor other)", compare<Relation::LessEqual>},
      {"le.Scalar(Tensor self, Tensor other)", compare<Relation::LessEqual>},
      {"gt.Tensor(Tensor self, Tensor other)", compare<Relation::Greater>},
      {"gt.Scalar(Tensor self, Tensor other)", compare<Relation::Greater>},
      {"ge.Tensor(Tensor self, Tensor other)", compare<Relation::GreaterEqual>},
      {"ge.Scalar(Tensor self, Tensor other)", compare<Relation::GreaterEqual>},
      {"isnan(Tensor self)", isNan},
      {"isinf(Tensor self)", isInf},
      {"isfinite(Tensor self)", isFinite},
      {"logical_and(Tensor self, Tensor other)", logical<And>},
      {"logical_or(Tensor self, Tensor other)", logical<Or>},
      {"logical_xor(Tensor self, Tensor other)", logical<Xor>},
      {"logical_not(Tensor self)", logicalNot},
      {"bitwise_not(Tensor self)", bitwiseNot},
      {"where.self(Tensor condition, Tensor self, Tensor other)", where},
      {"where.ScalarSelf(Tensor condition, Tensor self, Tensor other)", where},
      {"where.ScalarOther(Tensor condition, Tensor self, Tensor other)", where},
      {"where.Scalar(Tensor condition, Tensor self, Tensor other)", where},
      {"masked_fill.Scalar(Tensor self, Tensor mask, Tensor value)",
       maskedFill},
      {"masked_fill.Tensor(Tensor self, Tensor mask, Tensor value)",
       maskedFill},
      {"to.dtype(Tensor self, ScalarType? dtype, bool non_blocking=False, "
       "bool copy=False, MemoryFormat? memory_format=None)",
       toDType},
      {"to.device(Tensor self, Device? device, ScalarType? dtype, "
       "bool non_blocking=False, bool copy=False, "
       "MemoryFormat? memory_format=None)",
       toDType},
      {"to.dtype_layout(Tensor self, *, ScalarType? dtype=None, "
       "Layout? layout=None, Device? device=None, bool? pin_memory=None, "
       "bool non_blocking=False, bool copy=False, "
       "MemoryFormat? memory_format=None)",
       toDType},
      {"to.other(Tensor self, Tensor other, bool non_blocking=False, "
       "bool copy=False, MemoryFormat? memory_format=None)",
       toOther},
      {"type_as(Tensor self, Tensor other)", typeAs},
      {"_to_copy(Tensor self, *, ScalarType? dtype=None, "
       "Layout? layout=None, Device? device=None, bool? pin_memory=None, "
       "bool non_blocking=False, MemoryFormat? memory_format=None)",
       toCopy},
      {"prims::convert_element_type(Tensor a, ScalarType dtype)",
       convertElementType},
      {"clone(Tensor self, *, MemoryFormat? memory_format=None)", copyOf},
      {"contiguous(Tensor self, *, MemoryFormat memory_format=contiguous)",
       contiguous},
      {"detach(Tensor self)", alias},
      {"detach_(Tensor self)", alias},
      {"alias(Tensor self)", alias},
      {"lift_fresh(Tensor self)", alias},
      {"lift_fresh_copy(Tensor self)", copyOf},
      {"detach_copy(Tensor self)", copyOf},
      {"alias_copy(Tensor self)", copyOf},
      {"copy(Tensor self, Tensor src, bool non_blocking=False)", copy},
      {"fill.Scalar(Tensor self, Tensor value)", fill},
      {"fill.Tensor(Tensor self, Tensor value)", fill},
      {"zero(Tensor self)", zero},
  };
  return rows;
}
