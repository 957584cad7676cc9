//===- ScalarMath.cpp - Code for every scalar function --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Conversion/ScalarMath.h"
#include "Lanes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

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

static Value emitAbsInt(Lanes &m, Value x) {
  Value zero = m.integer(x, 0);
  return m.select(m.cmp(arith::CmpIPredicate::slt, x, zero), m.subi(zero, x),
                  x);
}

/// Python's floor division, or its remainder. By 2^k, a shift or the low k
/// bits.
static Value emitFloorInt(Lanes &m, Value x, Value y, bool isRemainder) {
  APInt divisor;
  if (matchPattern(y, m_ConstantInt(&divisor)) && divisor.isPowerOf2() &&
      !divisor.isNegative())
    return isRemainder ? m.andi(x, divisor.getSExtValue() - 1)
                       : m.shrs(x, divisor.logBase2());
  using P = arith::CmpIPredicate;
  Division d = divideInts(m, x, y);
  Value zero = m.integer(x, 0);
  // If the remainder's sign is not the divisor's, the quotient was rounded up.
  Value signs = m.cmp(P::slt, arith::XOrIOp::create(m.b, d.remainder, y), zero);
  Value off = m.both(m.cmp(P::ne, d.remainder, zero), signs);
  if (isRemainder)
    return m.select(off, m.addi(d.remainder, y), d.remainder);
  return m.select(off, m.subi(d.quotient, m.integer(x, 1)), d.quotient);
}

/// LLVM leaves shifts by negative amounts, and by the width or more, undefined.
static Value emitShiftLeft(Lanes &m, Value x, Value amount) {
  unsigned width = Lanes::element(x).getIntOrFloatBitWidth();
  Value inside =
      m.cmp(arith::CmpIPredicate::ult, amount, m.integer(amount, width));
  return m.select(inside, arith::ShLIOp::create(m.b, x, amount),
                  m.integer(x, 0));
}

static Value emitShiftRight(Lanes &m, Value x, Value amount) {
  unsigned width = Lanes::element(x).getIntOrFloatBitWidth();
  Value most =
      arith::MinUIOp::create(m.b, amount, m.integer(amount, width - 1));
  return arith::ShRSIOp::create(m.b, x, most);
}

//===----------------------------------------------------------------------===//
// f32 and f64
//===----------------------------------------------------------------------===//

/// The exact remainder of a truncating division, with the sign of x. Below the
/// limit, where all integers are numbers of the type, the rounded quotient
/// exceeds the exact one by less than one, and x - whole * y is exact. Larger
/// quotients, which are rare, call fmod.
static Value emitRemainder(Lanes &m, Value x, Value y) {
  auto call = [&] { return arith::RemFOp::create(m.b, x, y).getResult(); };
  if (hasFloatInstructions(m.b))
    return call();
  Value zero = m.num(x, 0), quotient = m.div(x, y);
  Value most = m.num(x, Lanes::element(x).isF64() ? 0x1p53 : 0x1p24);
  Value whole = math::TruncOp::create(m.b, quotient);
  Value rest = m.fma(m.neg(whole), y, x);
  Value isPast = m.select(m.lt(x, zero), m.lt(zero, rest), m.lt(rest, zero));
  rest = m.select(isPast, m.add(rest, m.copySign(m.abs(y), x)), rest);
  rest = m.select(m.lt(m.abs(x), m.abs(y)), x, m.copySign(m.abs(rest), x));
  // NaN too: of infinite x, and of y that is 0.
  Value isRare = m.no(m.lt(m.abs(quotient), most));
  return emitRare(m, isRare, rest, call);
}

/// Python's floor division and remainder of floats, as PyTorch has them: from
/// the exact fmod.
static Value emitFloorFloat(Lanes &m, Value x, Value y, bool isRemainder) {
  Value zero = m.num(x, 0.0);
  Value mod = emitRemainder(m, x, y);
  Value nonZero = m.cmp(arith::CmpFPredicate::UNE, mod, zero);
  Value off = m.both(
      nonZero, m.cmp(arith::CmpIPredicate::ne, m.lt(y, zero), m.lt(mod, zero)));
  if (isRemainder)
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

static Value emitMaxFloat(Lanes &m, Value x, Value y) {
  if (Lanes::element(x).isF32() && hasFloatInstructions(m.b))
    return arith::MaximumFOp::create(m.b, x, y);
  return orNan(m, y, m.select(m.lt(x, y), y, x));
}

static Value emitMinFloat(Lanes &m, Value x, Value y) {
  return orNan(m, y, m.select(m.lt(y, x), y, x));
}

//===----------------------------------------------------------------------===//
// The functions
//===----------------------------------------------------------------------===//

namespace {
using Code = Value (*)(Lanes &m, ValueRange a);

/// What computes a function, by the type of its operands; null: nothing of its
/// own.
struct FnCode {
  Fn fn;
  Code integer = nullptr, boolean = nullptr;
  /// Of f32, and of f64 where that is other code.
  Code f32 = nullptr, f64 = nullptr;
  /// Of f64 on vectors, where the library has code for one element.
  Code lanesF64 = nullptr;
  /// Of f16 and bf16, in f32, where that is less exact.
  Code narrow = nullptr;
};
} // namespace

/// A function of values, or one of Lanes, as code of operands.
template <auto F, auto... Flags>
static Value code(Lanes &m, ValueRange a) {
  if constexpr (std::is_invocable_v<decltype(F), Lanes &, Value, Value,
                                    decltype(Flags)...>)
    return std::invoke(F, m, a[0], a[1], Flags...);
  else
    return std::invoke(F, m, a[0], Flags...);
}

/// The same of an op.
template <typename Op>
static Value op(Lanes &m, ValueRange a) {
  if constexpr (Op::template hasTrait<OpTrait::OneOperand>())
    return Op::create(m.b, a[0]);
  else
    return Op::create(m.b, a[0], a[1]);
}

template <auto Predicate>
static Value compare(Lanes &m, ValueRange a) {
  return m.cmp(Predicate, a[0], a[1]);
}

using IntIs = arith::CmpIPredicate;
using FloatIs = arith::CmpFPredicate;

// clang-format off
static constexpr FnCode kFunctions[] = {
    {.fn = Fn::Neg,
     .integer = [](Lanes &m, ValueRange a) { return m.subi(m.integer(a[0], 0), a[0]); },
     .f32 = code<&Lanes::neg>},
    {.fn = Fn::Abs, .integer = code<emitAbsInt>, .f32 = code<&Lanes::abs>},
    {.fn = Fn::Not, .boolean = code<&Lanes::no>},
    {.fn = Fn::Or, .boolean = code<&Lanes::either>},
    {.fn = Fn::Add, .integer = code<&Lanes::addi>, .f32 = code<&Lanes::add>},
    {.fn = Fn::Sub, .integer = code<&Lanes::subi>, .f32 = code<&Lanes::sub>},
    {.fn = Fn::Mul, .integer = code<&Lanes::muli>, .boolean = code<&Lanes::both>, .f32 = code<&Lanes::mul>},
    {.fn = Fn::Div,
     .integer = [](Lanes &m, ValueRange a) { return divideInts(m, a[0], a[1]).quotient; },
     .f32 = code<&Lanes::div>},
    {.fn = Fn::Mod,
     .integer = [](Lanes &m, ValueRange a) { return divideInts(m, a[0], a[1]).remainder; },
     .f32 = code<emitRemainder>},
    {.fn = Fn::FloorDiv, .integer = code<emitFloorInt, false>, .f32 = code<emitFloorFloat, false>},
    {.fn = Fn::FloorMod, .integer = code<emitFloorInt, true>, .f32 = code<emitFloorFloat, true>},
    {.fn = Fn::BitAnd, .integer = op<arith::AndIOp>},
    {.fn = Fn::BitOr, .integer = op<arith::OrIOp>},
    {.fn = Fn::BitXor, .integer = op<arith::XOrIOp>},
    {.fn = Fn::ShiftLeft, .integer = code<emitShiftLeft>},
    {.fn = Fn::ShiftRight, .integer = code<emitShiftRight>},
    {.fn = Fn::Max, .integer = op<arith::MaxSIOp>, .boolean = code<&Lanes::either>, .f32 = code<emitMaxFloat>},
    {.fn = Fn::Min, .integer = op<arith::MinSIOp>, .boolean = code<&Lanes::both>, .f32 = code<emitMinFloat>},
    {.fn = Fn::LessThan, .integer = compare<IntIs::slt>, .boolean = compare<IntIs::ult>, .f32 = code<&Lanes::lt>},
    {.fn = Fn::LessEqual, .integer = compare<IntIs::sle>, .boolean = compare<IntIs::ule>, .f32 = compare<FloatIs::OLE>},
    {.fn = Fn::Equal, .integer = compare<IntIs::eq>, .boolean = compare<IntIs::eq>, .f32 = code<&Lanes::eq>},
    {.fn = Fn::IsNan, .f32 = code<&Lanes::isNan>},
    {.fn = Fn::Floor, .f32 = op<math::FloorOp>},
    {.fn = Fn::Ceil, .f32 = op<math::CeilOp>},
    {.fn = Fn::Round, .f32 = op<math::RoundEvenOp>},
    {.fn = Fn::Trunc, .f32 = op<math::TruncOp>},
    {.fn = Fn::Sqrt, .f32 = op<math::SqrtOp>},
    {.fn = Fn::Recip, .f32 = [](Lanes &m, ValueRange a) { return m.div(m.num(a[0], 1.0), a[0]); }},
    {.fn = Fn::Rsqrt,
     .f32 = [](Lanes &m, ValueRange a) { return m.div(m.num(a[0], 1.0), op<math::SqrtOp>(m, a)); }},
    {.fn = Fn::Exp, .f32 = code<emitExpF32>, .f64 = op<math::ExpOp>, .lanesF64 = code<emitExpF64>,
     .narrow = code<emitExpFastF32>},
    {.fn = Fn::ExpFast, .f32 = code<emitExpFastF32>, .f64 = op<math::ExpOp>, .lanesF64 = code<emitExpF64>},
    {.fn = Fn::ExpApprox, .f32 = code<emitExpApproxF32>, .f64 = op<math::ExpOp>, .lanesF64 = code<emitExpF64>},
    {.fn = Fn::Exp2, .f32 = code<emitExp2F32>, .f64 = op<math::Exp2Op>, .lanesF64 = code<emitExp2F64>},
    {.fn = Fn::Exp2Fast, .f32 = code<emitExp2FastF32>, .f64 = op<math::Exp2Op>, .lanesF64 = code<emitExp2F64>},
    {.fn = Fn::Expm1, .f32 = code<emitExpm1ThroughF64>, .f64 = op<math::ExpM1Op>, .lanesF64 = code<emitExpm1F64>},
    {.fn = Fn::Log, .f32 = code<emitLogThroughF64>, .f64 = op<math::LogOp>, .lanesF64 = code<emitLogF64>},
    {.fn = Fn::Log2, .f32 = code<emitLog2ThroughF64>, .f64 = op<math::Log2Op>, .lanesF64 = code<emitLog2F64>},
    {.fn = Fn::Log1p, .f32 = code<emitLog1pThroughF64>, .f64 = op<math::Log1pOp>, .lanesF64 = code<emitLog1pF64>},
    {.fn = Fn::Sin, .f32 = code<emitSinCosF32, false>, .f64 = op<math::SinOp>, .lanesF64 = code<emitSinCosF64, false>},
    {.fn = Fn::Cos, .f32 = code<emitSinCosF32, true>, .f64 = op<math::CosOp>, .lanesF64 = code<emitSinCosF64, true>},
    {.fn = Fn::Tanh, .f32 = code<emitTanhThroughF64>, .f64 = op<math::TanhOp>, .lanesF64 = code<emitTanhF64>,
     .narrow = code<emitTanhNarrow>},
    {.fn = Fn::Atan, .f32 = code<emitAtanF32>, .f64 = code<emitAtanF64>, .narrow = code<emitAtanNarrow>},
    {.fn = Fn::Asin, .f32 = code<emitAsinF32, false>, .f64 = code<emitAsinF64, false>},
    {.fn = Fn::Acos, .f32 = code<emitAsinF32, true>, .f64 = code<emitAsinF64, true>},
    {.fn = Fn::Erf, .f32 = code<emitErfF32>, .f64 = op<math::ErfOp>, .narrow = code<emitErfNarrow>},
    {.fn = Fn::Sigmoid, .f32 = code<emitSigmoidF32, false>, .f64 = code<emitSigmoidByMath, false>,
     .lanesF64 = code<emitSigmoidF64, false>, .narrow = code<emitSigmoidNarrow, false>},
    {.fn = Fn::Silu, .f32 = code<emitSigmoidF32, true>, .f64 = code<emitSigmoidByMath, true>,
     .lanesF64 = code<emitSigmoidF64, true>, .narrow = code<emitSigmoidNarrow, true>},
    {.fn = Fn::Gelu, .f32 = code<emitGeluF32>, .f64 = code<emitGeluByMath>, .narrow = code<emitGeluNarrow>},
    {.fn = Fn::GeluTanh, .f32 = code<emitGeluTanhThroughF64>, .f64 = code<emitGeluTanhByMath>,
     .lanesF64 = code<emitGeluTanhF64>, .narrow = code<emitGeluTanhNarrow>},
    {.fn = Fn::Pow, .f32 = code<emitPowThroughF64>, .f64 = op<math::PowFOp>},
};
// clang-format on

static bool isNarrow(Type element) {
  return element.isF16() || element.isBF16();
}

/// What computes the function of operands of a type; f16 and bf16 as f32.
static Code findCode(OpBuilder &b, Fn fn, Type element) {
  const auto *found = llvm::find_if(
      kFunctions, [&](const FnCode &function) { return function.fn == fn; });
  if (found == std::end(kFunctions))
    return nullptr;
  if (isa<IntegerType>(element))
    return element.isInteger(1) ? found->boolean : found->integer;
  if (isNarrow(element) && found->narrow)
    return found->narrow;
  if (!element.isF64())
    return element.isF32() || isNarrow(element) ? found->f32 : nullptr;
  if (found->lanesF64 && !hasFloatInstructions(b))
    return found->lanesF64;
  return found->f64 ? found->f64 : found->f32;
}

Value luminal::emitFn(ImplicitLocOpBuilder &b, Fn fn, ValueRange args,
                      Type resultElement) {
  Lanes m(b);
  if (fn == Fn::Select)
    return m.select(args[0], args[1], args[2]);
  Type element = Lanes::element(args[0]);
  if (fn == Fn::Cast)
    return emitCast(b, args[0], element, resultElement);
  Code code = findCode(b, fn, element);
  if (!code || !isNarrow(element))
    return code ? code(m, args) : Value();
  // Exact in, f32 inside, rounded once.
  Type f32 = b.getF32Type();
  SmallVector<Value> wide;
  for (Value v : args)
    wide.push_back(emitCast(b, v, element, f32));
  Value y = code(m, wide);
  return resultElement.isInteger(1) ? y : emitCast(b, y, f32, element);
}

Value luminal::emitMax(ImplicitLocOpBuilder &b, Value x, Value y) {
  return emitFn(b, Fn::Max, {x, y}, Lanes::element(x));
}
