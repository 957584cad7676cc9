//===- ScalarMath.cpp - Code for every scalar function --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Conversion/ScalarMath.h"
#include "Lanes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace luminal;
using namespace mlir;
using llir::Fn;

SmallVector<Value>
luminal::emitRare(Lanes &m, Value condition, ValueRange values,
                  llvm::function_ref<SmallVector<Value>()> rare) {
  Value any = condition;
  if (isa<VectorType>(condition.getType()))
    any =
        vector::ReductionOp::create(m.b, vector::CombiningKind::OR, condition);
  auto branch =
      scf::IfOp::create(m.b, values.getTypes(), any, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(m.b);
  m.b.setInsertionPointToStart(branch.thenBlock());
  SmallVector<Value> results = rare();
  for (auto [result, value] : llvm::zip(results, values))
    result = m.select(condition, result, value);
  scf::YieldOp::create(m.b, results);
  m.b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(m.b, values);
  return branch.getResults();
}

Value luminal::emitRare(Lanes &m, Value condition, Value value,
                        llvm::function_ref<Value()> rare) {
  return emitRare(m, condition, ValueRange{value},
                  [&] { return SmallVector<Value>{rare()}; })[0];
}

Value luminal::notBelow(Lanes &m, Value x, double bound) {
  return m.cmp(arith::CmpFPredicate::UGE, x, m.num(x, bound));
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

namespace {
/// Quotient toward zero and remainder of the dividend's sign; both 0 for a zero
/// divisor, and the wrapped negation for -1 (the least value over -1 traps on
/// x86).
struct Division {
  Value quotient, remainder;
};
} // namespace

static Division divideInts(Lanes &m, Value x, Value y) {
  Value zero = m.integer(y, 0);
  Value byZero = m.cmp(arith::CmpIPredicate::eq, y, zero);
  Value byMinusOne = m.cmp(arith::CmpIPredicate::eq, y, m.integer(y, -1));
  Value safe = m.select(m.either(byZero, byMinusOne), m.integer(y, 1), y);
  Value q = arith::DivSIOp::create(m.b, x, safe);
  Value r = arith::RemSIOp::create(m.b, x, safe);
  q = m.select(byMinusOne, m.subi(zero, x), q);
  // The remainder by 1 or -1 is 0, so only the quotient by zero must be
  // corrected.
  return {m.select(byZero, zero, q), r};
}

static Value emitInt(Lanes &m, Fn fn, ValueRange a) {
  using P = arith::CmpIPredicate;
  OpBuilder &b = m.b;
  Location loc = m.b.getLoc();
  bool isBool = Lanes::element(a[0]).isInteger(1);
  switch (fn) {
  case Fn::Neg:
    return m.subi(m.integer(a[0], 0), a[0]);
  case Fn::Abs: {
    Value zero = m.integer(a[0], 0);
    return m.select(m.cmp(P::slt, a[0], zero), m.subi(zero, a[0]), a[0]);
  }
  case Fn::Not:
    return isBool ? m.no(a[0]) : Value();
  case Fn::Add:
    return isBool ? Value() : m.addi(a[0], a[1]);
  case Fn::Sub:
    return isBool ? Value() : m.subi(a[0], a[1]);
  case Fn::Mul:
    return isBool ? m.both(a[0], a[1]) : m.muli(a[0], a[1]);
  case Fn::Div:
    return divideInts(m, a[0], a[1]).quotient;
  case Fn::Mod:
    return divideInts(m, a[0], a[1]).remainder;
  case Fn::FloorDiv:
  case Fn::FloorMod: {
    Division d = divideInts(m, a[0], a[1]);
    Value zero = m.integer(a[0], 0);
    // If the remainder's sign is not the divisor's, the quotient was rounded
    // up.
    Value signs =
        m.cmp(P::slt, arith::XOrIOp::create(b, loc, d.remainder, a[1]), zero);
    Value off = m.both(m.cmp(P::ne, d.remainder, zero), signs);
    if (fn == Fn::FloorDiv)
      return m.select(off, m.subi(d.quotient, m.integer(a[0], 1)), d.quotient);
    return m.select(off, m.addi(d.remainder, a[1]), d.remainder);
  }
  case Fn::Max:
    return isBool ? m.either(a[0], a[1])
                  : Value(arith::MaxSIOp::create(b, loc, a[0], a[1]));
  case Fn::Min:
    return isBool ? m.both(a[0], a[1])
                  : Value(arith::MinSIOp::create(b, loc, a[0], a[1]));
  case Fn::Or:
    return isBool ? m.either(a[0], a[1]) : Value();
  case Fn::LessThan:
    return m.cmp(isBool ? P::ult : P::slt, a[0], a[1]);
  case Fn::LessEqual:
    return m.cmp(isBool ? P::ule : P::sle, a[0], a[1]);
  case Fn::Equal:
    return m.cmp(P::eq, a[0], a[1]);
  case Fn::Floor:
  case Fn::Ceil:
  case Fn::Round:
  case Fn::Trunc:
    return a[0];
  case Fn::IsNan:
    return m.integerAs(a[0], m.b.getI1Type(), 0);
  default:
    return {};
  }
}

//===----------------------------------------------------------------------===//
// f32 and f64
//===----------------------------------------------------------------------===//

/// Python's floor division and remainder of floats, as PyTorch has them: from
/// the exact fmod.
static Value emitFloorFloat(Lanes &m, Fn fn, Value x, Value y) {
  Value zero = m.num(x, 0.0);
  Value mod = arith::RemFOp::create(m.b, x, y);
  Value nonZero = m.cmp(arith::CmpFPredicate::UNE, mod, zero);
  Value off = m.both(
      nonZero, m.cmp(arith::CmpIPredicate::ne, m.lt(y, zero), m.lt(mod, zero)));
  if (fn == Fn::FloorMod)
    return m.select(off, m.add(mod, y), mod);
  Value div = m.div(m.sub(x, mod), y);
  div = m.select(off, m.sub(div, m.num(x, 1.0)), div);
  Value floor = math::FloorOp::create(m.b, div);
  floor = m.select(m.lt(m.num(x, 0.5), m.sub(div, floor)),
                   m.add(floor, m.num(x, 1.0)), floor);
  Value quotient = m.div(x, y);
  Value result = m.select(m.eq(div, zero), m.copySign(zero, quotient), floor);
  return m.select(m.eq(y, zero), quotient, result);
}

/// NaN where `a` is, else `value`. A constant, for a NaN that is copied would
/// make one long chain of a comparison, an or and a selection of each step of a
/// maximum: LLVM joins selections of one value.
static Value orNan(Lanes &m, Value a, Value value) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  return m.select(m.isNan(a), m.num(a, kNan), value);
}

static Value emitWideFloat(Lanes &m, Fn fn, ValueRange a) {
  using P = arith::CmpFPredicate;
  OpBuilder &b = m.b;
  Location loc = m.b.getLoc();
  Value x = a[0];
  bool isF64 = Lanes::element(x).isF64();
  switch (fn) {
  case Fn::Neg:
    return m.neg(x);
  case Fn::Abs:
    return m.abs(x);
  case Fn::Sqrt:
    return math::SqrtOp::create(b, loc, x);
  case Fn::Recip:
    return m.div(m.num(x, 1.0), x);
  case Fn::Floor:
    return math::FloorOp::create(b, loc, x);
  case Fn::Ceil:
    return math::CeilOp::create(b, loc, x);
  case Fn::Round:
    return math::RoundEvenOp::create(b, loc, x);
  case Fn::Trunc:
    return math::TruncOp::create(b, loc, x);
  case Fn::IsNan:
    return m.isNan(x);
  case Fn::Add:
    return m.add(x, a[1]);
  case Fn::Sub:
    return m.sub(x, a[1]);
  case Fn::Mul:
    return m.mul(x, a[1]);
  case Fn::Div:
    return m.div(x, a[1]);
  case Fn::Mod:
    return arith::RemFOp::create(b, loc, x, a[1]);
  case Fn::Max:
    if (Lanes::element(x).isF32() && hasFloatInstructions(b))
      return arith::MaximumFOp::create(b, loc, x, a[1]);
    return orNan(m, a[1], m.select(m.lt(x, a[1]), a[1], x));
  case Fn::Min:
    return orNan(m, a[1], m.select(m.lt(a[1], x), a[1], x));
  case Fn::LessThan:
    return m.lt(x, a[1]);
  case Fn::LessEqual:
    return m.cmp(P::OLE, x, a[1]);
  case Fn::Equal:
    return m.eq(x, a[1]);
  case Fn::FloorDiv:
  case Fn::FloorMod:
    return emitFloorFloat(m, fn, x, a[1]);
  case Fn::Exp:
    return isF64 ? emitF64(m, fn, a) : emitExpF32(m, x);
  case Fn::ExpFast:
    return isF64 ? emitF64(m, Fn::Exp, a) : emitExpFastF32(m, x);
  case Fn::ExpApprox:
    return isF64 ? emitF64(m, Fn::Exp, a) : emitExpApproxF32(m, x);
  case Fn::Exp2:
    return isF64 ? emitF64(m, fn, a) : emitExp2F32(m, x);
  case Fn::Exp2Fast:
    return isF64 ? emitF64(m, Fn::Exp2, a) : emitExp2FastF32(m, x);
  case Fn::Sin:
  case Fn::Cos:
    return isF64 ? emitF64(m, fn, a) : emitSinCosF32(m, x, fn == Fn::Cos);
  case Fn::Erf:
    return isF64 ? emitF64(m, fn, a) : emitErfF32(m, x);
  case Fn::Rsqrt:
    return m.div(m.num(x, 1.0), math::SqrtOp::create(b, loc, x));
  case Fn::Sigmoid:
  case Fn::Silu:
    return isF64 ? emitF64(m, fn, a) : emitSigmoidF32(m, x, fn == Fn::Silu);
  case Fn::Gelu:
    return isF64 ? emitF64(m, fn, a) : emitGeluF32(m, x);
  case Fn::Expm1:
  case Fn::Log:
  case Fn::Log2:
  case Fn::Log1p:
  case Fn::Tanh:
  case Fn::GeluTanh:
  case Fn::Pow:
    return isF64 ? emitF64(m, fn, a) : emitThroughF64(m, fn, a);
  default:
    return {};
  }
}

/// f16 and bf16: exact in, f32 inside, rounded once.
static Value emitNarrowFloat(Lanes &m, Fn fn, ValueRange a,
                             Type resultElement) {
  Type narrow = Lanes::element(a[0]), f32 = m.b.getF32Type();
  SmallVector<Value> wide;
  for (Value v : a)
    wide.push_back(emitCast(m.b, v, narrow, f32));
  Value y = emitNarrowF32(m, fn, wide[0]);
  if (!y)
    y = emitWideFloat(m, fn, wide);
  if (!y || resultElement.isInteger(1))
    return y;
  return emitCast(m.b, y, f32, narrow);
}

Value luminal::emitFn(ImplicitLocOpBuilder &b, Fn fn, ValueRange args,
                      Type resultElement) {
  Lanes m(b);
  if (fn == Fn::Select)
    return m.select(args[0], args[1], args[2]);
  Type element = Lanes::element(args[0]);
  if (fn == Fn::Cast)
    return emitCast(b, args[0], element, resultElement);
  if (isa<IntegerType>(element))
    return emitInt(m, fn, args);
  if (element.isF32() || element.isF64())
    return emitWideFloat(m, fn, args);
  if (element.isF16() || element.isBF16())
    return emitNarrowFloat(m, fn, args, resultElement);
  return {};
}

Value luminal::emitMax(ImplicitLocOpBuilder &b, Value x, Value y) {
  return emitFn(b, Fn::Max, {x, y}, Lanes::element(x));
}
