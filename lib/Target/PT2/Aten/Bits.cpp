//===- Bits.cpp - Bitwise ops, shifts and casts of bits -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Helpers.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

//===----------------------------------------------------------------------===//
// Bits of integers
//===----------------------------------------------------------------------===//

static unsigned widthOf(OpCall &o, Value x) {
  return o.element(x).getIntOrFloatBitWidth();
}

/// A table of values, one per bit, along the last dim of `like`.
static Value bitTable(OpCall &o, Value like, ArrayRef<int64_t> values) {
  Composer &c = o.c;
  Type element = o.element(like);
  auto type =
      RankedTensorType::get({static_cast<int64_t>(values.size())}, element);
  SmallVector<Attribute> attrs;
  for (int64_t v : values)
    attrs.push_back(IntegerAttr::get(
        element, APInt(element.getIntOrFloatBitWidth(), uint64_t(v), true,
                       /*implicitTrunc=*/true)));
  Value table = ConstantOp::create(c.getBuilder(), c.getLoc(), type,
                                   DenseElementsAttr::get(type, attrs));
  SmallVector<Expr> extents = o.extents(like);
  return c.view(table, extents, {Expr::dim(extents.size() - 1)});
}

enum class Bits { And, Or, Xor };
template <Bits kind>
static Status bitwise(OpCall &o) {
  Composer &c = o.c;
  Operand a = o.operand("self"), b = o.operand("other");
  Type type = o.promote({a, b});
  LUMINAL_TRY(operands, o.promotePair(a, b));
  auto [x, y] = operands;
  if (isa<FloatType>(type))
    return o.fail("is not defined for floats");
  Value result = kind == Bits::And  ? c.bitAnd(x, y)
                 : kind == Bits::Or ? c.bitOr(x, y)
                                    : c.bitXor(x, y);
  return o.ret(c.cast(result, type));
}

template <bool left>
static Status shift(OpCall &o) {
  Composer &c = o.c;
  Operand a = o.operand("self"), b = o.operand("other");
  Type type = o.promote({a, b});
  LUMINAL_TRY(operands, o.promotePair(a, b));
  auto [x, y] = operands;
  if (isa<FloatType>(type) || o.isBool(x))
    return o.fail("is supported for integers only");
  // Storage types are computed in 32 bits; the cast back truncates.
  int64_t width = type.getIntOrFloatBitWidth();
  int64_t most = left || type.isUnsignedInteger() ? width : width - 1;
  auto amount = b.tensor ? std::nullopt : b.number.integer.asConstant();
  Value result;
  if (amount && *amount >= 0 && *amount < most) {
    // A product or quotient, about which rules and ranges know more.
    Value factor = c.splatInt(x, int64_t(uint64_t(1) << *amount));
    result = left ? c.mul(x, factor) : c.floorDiv(x, factor);
  } else {
    result = left ? c.shiftLeft(x, y) : c.shiftRight(x, y);
  }
  return o.ret(c.cast(result, type));
}

//===----------------------------------------------------------------------===//
// Bits as elements of another type
//===----------------------------------------------------------------------===//

static IntegerType integerOf(OpCall &o, unsigned width, bool isSigned = true) {
  auto sign = isSigned ? IntegerType::Signless : IntegerType::Unsigned;
  return IntegerType::get(o.c.getBuilder().getContext(), width, sign);
}

/// The bits of each element as a signless integer of the same width, and the
/// reverse. A bool is a byte.
static Value toBits(OpCall &o, Value x) {
  unsigned width = o.isBool(x) ? 8 : widthOf(o, x);
  Type bits = integerOf(o, width);
  return o.isFloat(x) ? o.c.bitcast(x, bits) : o.c.cast(x, bits);
}
static Value fromBits(OpCall &o, Value x, Type type) {
  return isa<FloatType>(type) ? o.c.bitcast(x, type) : o.c.cast(x, type);
}

/// The factors 1, 2^width, 2^(2 width), ...; `count` of them.
static SmallVector<int64_t> factors(unsigned width, int64_t count) {
  SmallVector<int64_t> result;
  for (int64_t k = 0; k < count; ++k)
    result.push_back(int64_t(uint64_t(1) << (k * width)));
  return result;
}

/// Splits each element into several narrower ones, low bits first.
static Value splitBits(OpCall &o, Value x, unsigned width) {
  Composer &c = o.c;
  SmallVector<Expr> extents = o.extents(x), map = identityMap(extents.size());
  int64_t count = widthOf(o, x) / width;
  SmallVector<Expr> merged = extents;
  merged.back() = merged.back() * Expr(count);
  extents.push_back(Expr(count));
  Value spread = c.view(c.cast(x, computedType(o.element(x))), extents, map);
  Value low = c.floorDiv(spread, bitTable(o, spread, factors(width, count)));
  return c.reshape(c.cast(low, integerOf(o, width)), merged);
}

/// Joins groups of narrow elements into one each, as a sum of disjoint bits.
static Value joinBits(OpCall &o, Value x, unsigned width) {
  Composer &c = o.c;
  int64_t count = width / widthOf(o, x);
  SmallVector<Expr> split = o.extents(x);
  split.back() =
      o.assumptions().simplify(Expr::floorDiv(split.back(), Expr(count)));
  split.push_back(Expr(count));
  Type wide = computedType(integerOf(o, width));
  Value part = c.reshape(
      c.cast(c.cast(x, integerOf(o, widthOf(o, x), /*isSigned=*/false)), wide),
      split);
  Value placed = c.mul(part, bitTable(o, part, factors(widthOf(o, x), count)));
  Value sum = c.reduceSum(placed, {unsigned(split.size() - 1)}, false);
  return c.cast(sum, integerOf(o, width));
}

/// Types of the same width have the same shape. Otherwise the size of the last
/// dim is scaled by the ratio of the widths.
static Status viewDType(OpCall &o) {
  Value x = o.tensor("self");
  Type type = o.dtype("dtype");
  if (o.element(x) == type)
    return o.retAlias();
  Value bits = toBits(o, x);
  unsigned from = widthOf(o, bits),
           to = type.isInteger(1) ? 8 : type.getIntOrFloatBitWidth();
  if (from != to && o.rank(x) == 0)
    return o.fail("a tensor without dims has elements of another width");
  if (from > to)
    bits = splitBits(o, bits, to);
  if (from < to) {
    Expr n = o.extents(x).back(), count(int64_t(to / from));
    if (!o.agree(Expr::floorDiv(n, count) * count, n))
      return o.fail("extent " + n.str() + " is not a multiple of " +
                    count.str() + ", how many elements make one");
    bits = joinBits(o, bits, to);
  }
  return o.retMaybeView(fromBits(o, bits, type));
}

//===----------------------------------------------------------------------===//
// Neighbors of floats
//===----------------------------------------------------------------------===//

/// The next float toward `other`. Floats of one sign are ordered like their
/// bits.
static Status nextAfter(OpCall &o) {
  Composer &c = o.c;
  LUMINAL_TRY(operands, o.promotePair(o.operand("self"), o.operand("other")));
  auto [x, y] = operands;
  if (!o.isFloat(x))
    return o.fail("is defined for floats only");
  Type type = o.element(x), bits = integerOf(o, widthOf(o, x));
  Value zero = c.splat(x, 0), i = c.bitcast(x, bits);
  Value grows = c.logicalNot(c.logicalXor(c.less(x, y), c.less(zero, x)));
  Value next = c.add(i, c.select(grows, c.splatInt(i, 1), c.splatInt(i, -1)));
  // From zero: the smallest number with the sign of `other`.
  Value least =
      c.select(c.less(y, zero),
               c.splatInt(i, int64_t(uint64_t(1) << (widthOf(o, x) - 1)) + 1),
               c.splatInt(i, 1));
  next = c.bitcast(c.select(c.equal(x, zero), least, next), type);
  Value result = c.select(c.equal(x, y), y, next);
  Value isNan = c.logicalOr(c.isNan(x), c.isNan(y));
  return o.ret(c.select(isNan, c.add(x, y), result));
}

llvm::ArrayRef<OpRow> pt2::getBitsOps() {
  constexpr auto And = bitwise<Bits::And>;
  constexpr auto Or = bitwise<Bits::Or>;
  constexpr auto Xor = bitwise<Bits::Xor>;
  constexpr auto Left = shift<true>;
  constexpr auto Right = shift<false>;
  static const OpRow rows[] = {
      {"bitwise_and.Tensor(Tensor self, Tensor other)", And},
      {"bitwise_and.Scalar(Tensor self, Tensor other)", And},
      {"bitwise_and.Scalar_Tensor(Tensor self, Tensor other)", And},
      {"bitwise_or.Tensor(Tensor self, Tensor other)", Or},
      {"bitwise_or.Scalar(Tensor self, Tensor other)", Or},
      {"bitwise_or.Scalar_Tensor(Tensor self, Tensor other)", Or},
      {"bitwise_xor.Tensor(Tensor self, Tensor other)", Xor},
      {"bitwise_xor.Scalar(Tensor self, Tensor other)", Xor},
      {"bitwise_xor.Scalar_Tensor(Tensor self, Tensor other)", Xor},
      {"__and__.Tensor(Tensor self, Tensor other)", And},
      {"__and__.Scalar(Tensor self, Tensor other)", And},
      {"__or__.Tensor(Tensor self, Tensor other)", Or},
      {"__or__.Scalar(Tensor self, Tensor other)", Or},
      {"__xor__.Tensor(Tensor self, Tensor other)", Xor},
      {"__xor__.Scalar(Tensor self, Tensor other)", Xor},
      {"bitwise_left_shift.Tensor(Tensor self, Tensor other)", Left},
      {"bitwise_left_shift.Tensor_Scalar(Tensor self, Tensor other)", Left},
      {"bitwise_left_shift.Scalar_Tensor(Tensor self, Tensor other)", Left},
      {"bitwise_right_shift.Tensor(Tensor self, Tensor other)", Right},
      {"bitwise_right_shift.Tensor_Scalar(Tensor self, Tensor other)", Right},
      {"bitwise_right_shift.Scalar_Tensor(Tensor self, Tensor other)", Right},
      {"__lshift__.Tensor(Tensor self, Tensor other)", Left},
      {"__lshift__.Scalar(Tensor self, Tensor other)", Left},
      {"__rshift__.Tensor(Tensor self, Tensor other)", Right},
      {"__rshift__.Scalar(Tensor self, Tensor other)", Right},
      {"view.dtype(Tensor self, ScalarType dtype)", viewDType},
      {"nextafter(Tensor self, Tensor other)", nextAfter},
  };
  return rows;
}
