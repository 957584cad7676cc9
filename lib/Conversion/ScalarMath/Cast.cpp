//===- Cast.cpp - Conversions between element types -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rounding is written out in integer arithmetic where a target's own
// instruction is not exact (f32 to bf16 flushes denormals on x86) or a call to
// a compiler library would be needed (f64 to f16).
//
//===----------------------------------------------------------------------===//

#include "Lanes.h"

using namespace luminal;
using namespace mlir;

/// f64 to f32 rounded to odd: a later rounding to a narrower type is then as if
/// from the f64 at once.
static Value roundToOdd(Lanes &m, Value x) {
  Type f32 = m.b.getF32Type(), f64 = m.b.getF64Type(), i32 = m.b.getI32Type();
  Value y = m.truncf(x, f32);
  Value back = m.extf(y, f64);
  Value bits = m.bitcast(y, i32);
  Value inexact = m.cmp(arith::CmpFPredicate::ONE, back, x);
  Value even =
      m.cmp(arith::CmpIPredicate::eq, m.andi(bits, 1), m.integer(bits, 0));
  Value tooBig = m.lt(m.abs(x), m.abs(back));
  Value odd = m.select(tooBig, m.subi(bits, m.integer(bits, 1)),
                       m.addi(bits, m.integer(bits, 1)));
  return m.bitcast(m.select(m.both(inexact, even), odd, bits), f32);
}

bool luminal::hasFloatInstructions(OpBuilder &b) {
  Operation *op = b.getInsertionBlock()->getParentOp();
  while (op && !op->hasTrait<OpTrait::IsIsolatedFromAbove>())
    op = op->getParentOp();
  return op && op->hasAttr(kHasFloatInstructions);
}

static Value f32ToBF16(Lanes &m, Value x) {
  if (hasFloatInstructions(m.b))
    return m.truncf(x, m.b.getBF16Type());
  Type i16 = m.b.getIntegerType(16);
  Value bits = m.bitcast(x, m.b.getI32Type());
  Value low = m.andi(m.shru(bits, 16), 1);
  Value rounded =
      m.shru(m.addi(bits, m.addi(low, m.integer(bits, 0x7FFF))), 16);
  Value quiet =
      arith::OrIOp::create(m.b, m.shru(bits, 16), m.integer(bits, 0x40));
  return m.bitcast(m.trunci(m.select(m.isNan(x), quiet, rounded), i16),
                   m.b.getBF16Type());
}

static Value bf16ToF32(Lanes &m, Value x) {
  Value bits = m.extu(m.bitcast(x, m.b.getIntegerType(16)), m.b.getI32Type());
  return m.bitcast(m.shl(bits, 16), m.b.getF32Type());
}

/// A small float format: bits 0..7 are mantissa, exponent, sign; no infinity if
/// `finite` (all ones is NaN).
struct SmallFloat {
  int mantissaBits, bias;
  bool finite;
};

static std::optional<SmallFloat> getSmallFloat(Type t) {
  if (isa<Float8E4M3FNType>(t))
    return SmallFloat{3, 7, true};
  if (isa<Float8E5M2Type>(t))
    return SmallFloat{2, 15, false};
  return std::nullopt;
}

/// Decodes 8 bits: a shift to f32's places, then an exact scale that also gives
/// denormals their value.
static Value smallToF32(Lanes &m, Value x, SmallFloat f) {
  Type i32 = m.b.getI32Type(), f32 = m.b.getF32Type();
  Value bits = m.extu(x, i32);
  Value magnitude = m.andi(bits, 0x7F);
  Value sign = m.shl(m.andi(bits, 0x80), 24);
  Value placed = m.bitcast(m.shl(magnitude, 23 - f.mantissaBits), f32);
  Value scaled = m.mul(placed, m.num(placed, std::ldexp(1.0, 127 - f.bias)));
  Value result = m.bitcast(scaled, i32);
  int exponentOnes = 0x7F >> f.mantissaBits;
  Value nan = m.integer(bits, 0x7FC00000), inf = m.integer(bits, 0x7F800000);
  if (f.finite) {
    result = m.select(
        m.cmp(arith::CmpIPredicate::eq, magnitude, m.integer(bits, 0x7F)), nan,
        result);
  } else {
    Value top = m.integer(bits, exponentOnes << f.mantissaBits);
    result =
        m.select(m.cmp(arith::CmpIPredicate::eq, magnitude, top), inf, result);
    result =
        m.select(m.cmp(arith::CmpIPredicate::ugt, magnitude, top), nan, result);
  }
  return m.bitcast(arith::OrIOp::create(m.b, result, sign), f32);
}

/// Encodes to nearest even. A finite-only format saturates: too large values
/// and infinities become its largest value.
static Value f32ToSmall(Lanes &m, Value x, SmallFloat f) {
  Type i32 = m.b.getI32Type(), f32 = m.b.getF32Type();
  Value bits = m.bitcast(x, i32);
  Value sign = m.shru(m.andi(bits, 0x80000000), 24);
  Value a = m.andi(bits, 0x7FFFFFFF);
  int drop = 23 - f.mantissaBits;
  // Normal results: round at the dropped bits and rebias.
  Value odd = m.andi(m.shru(a, drop), 1);
  Value rounded =
      m.shru(m.addi(a, m.addi(odd, m.integer(a, (1 << (drop - 1)) - 1))), drop);
  Value normal =
      m.subi(rounded, m.integer(a, (127 - f.bias) << f.mantissaBits));
  // Denormal results: adding a power of two rounds at the right place.
  double shifter = std::ldexp(1.0, 23 + 1 - f.bias - f.mantissaBits);
  Value af = m.bitcast(a, f32);
  Value shifted = m.bitcast(m.add(af, m.num(af, shifter)), i32);
  Value denormal = m.subi(shifted, m.bitcast(m.num(af, shifter), i32));
  Value isDenormal = m.lt(af, m.num(af, std::ldexp(1.0, 1 - f.bias)));
  Value code = m.select(isDenormal, denormal, normal);
  int largest =
      f.finite ? 0x7E : (0x7F >> f.mantissaBits << f.mantissaBits) - 1;
  int beyond = f.finite ? largest : largest + 1;
  code =
      m.select(m.cmp(arith::CmpIPredicate::sgt, code, m.integer(code, largest)),
               m.integer(code, beyond), code);
  code = m.select(m.isNan(x), m.integer(code, 0x7F), code);
  return m.trunci(arith::OrIOp::create(m.b, code, sign), m.b.getI8Type());
}

/// An i64 made exact in f64 by a sticky bit, so that a later rounding to a
/// narrower float is right.
static Value stickyI64ToF64(Lanes &m, Value x) {
  Value kept = m.andi(x, ~int64_t(0x7FF));
  Value lost =
      m.cmp(arith::CmpIPredicate::ne, m.andi(x, 0x7FF), m.integer(x, 0));
  Value sticky = m.select(
      lost, arith::OrIOp::create(m.b, kept, m.integer(x, 0x800)), kept);
  constexpr int64_t kExact = int64_t(1) << 53;
  Value small =
      m.both(m.cmp(arith::CmpIPredicate::slt, x, m.integer(x, kExact)),
             m.cmp(arith::CmpIPredicate::sgt, x, m.integer(x, -kExact)));
  return m.sitofp(m.select(small, x, sticky), m.b.getF64Type());
}

static Value toFloat(Lanes &m, Value x, Type from, Type to) {
  Type f32 = m.b.getF32Type(), f64 = m.b.getF64Type();
  if (from == to)
    return x;
  // First to f32 or f64 ...
  if (auto small = getSmallFloat(from))
    x = smallToF32(m, x, *small), from = f32;
  else if (from.isBF16())
    x = bf16ToF32(m, x), from = f32;
  else if (from.isF16())
    x = m.extf(x, f32), from = f32;
  else if (from.isInteger(1) || from.isUnsignedInteger(8) ||
           from.isUnsignedInteger(16))
    x = m.sitofp(m.extu(x, m.b.getI32Type()), f32), from = f32;
  else if (from.isInteger(8) || from.isInteger(16))
    x = m.sitofp(x, f32), from = f32;
  else if (from.isUnsignedInteger(32))
    x = m.sitofp(m.extu(x, m.b.getI64Type()), f64), from = f64;
  else if (from.isInteger(32))
    x = m.sitofp(x, f64), from = f64;
  else if (from.isInteger(64)) {
    if (to.isF64())
      return m.sitofp(x, f64);
    x = stickyI64ToF64(m, x), from = f64;
  }
  // ... then down.
  if (from == to)
    return x;
  if (from.isF32() && to.isF64())
    return m.extf(x, f64);
  if (from.isF64() && to.isF32())
    return m.truncf(x, f32);
  if (from.isF64())
    x = roundToOdd(m, x);
  if (to.isBF16())
    return f32ToBF16(m, x);
  if (to.isF16())
    return m.truncf(x, to);
  if (auto small = getSmallFloat(to))
    return f32ToSmall(m, x, *small);
  return {};
}

/// Truncates toward zero; NaN gives 0. i32 and i64 saturate. The storage types
/// get the low bits of 64, and 0 for what 64 bits do not hold.
static Value floatToInt(Lanes &m, Value x, Type to) {
  Type f64 = m.b.getF64Type(), i64 = m.b.getI64Type();
  bool wraps = hlir::isStorageType(to);
  unsigned width = wraps ? 64 : to.getIntOrFloatBitWidth();
  Value w = Lanes::element(x).isF64() ? x : m.extf(x, f64);
  double hi = std::ldexp(1.0, width - 1), lo = -hi;
  int64_t max = width == 64 ? INT64_MAX : int64_t(hi) - 1,
          min = width == 64 ? INT64_MIN : int64_t(lo);
  Value inside = m.both(m.lt(w, m.num(w, hi)),
                        m.cmp(arith::CmpFPredicate::OGE, w, m.num(w, lo)));
  Value v = m.fptosi(m.select(inside, w, m.num(w, 0.0)), i64);
  if (wraps)
    return m.trunci(v, m.b.getIntegerType(to.getIntOrFloatBitWidth()));
  v = m.select(m.cmp(arith::CmpFPredicate::OGE, w, m.num(w, hi)),
               m.integer(v, max), v);
  v = m.select(m.lt(w, m.num(w, lo)), m.integer(v, min), v);
  return width == 64 ? v : m.trunci(v, to);
}

Value luminal::emitCast(ImplicitLocOpBuilder &b, Value x, Type from, Type to) {
  Lanes m(b);
  if (from == to)
    return x;
  bool fromFloat = isa<FloatType>(from), toFloatType = isa<FloatType>(to);
  if (toFloatType)
    return toFloat(m, x, from, to);
  if (fromFloat && !from.isF64())
    x = toFloat(m, x, from, b.getF32Type());
  if (to.isInteger(1)) {
    if (fromFloat)
      return m.cmp(arith::CmpFPredicate::UNE, x, m.num(x, 0.0));
    return m.cmp(arith::CmpIPredicate::ne, x, m.integer(x, 0));
  }
  unsigned width = to.getIntOrFloatBitWidth();
  Type signless = b.getIntegerType(width);
  if (fromFloat)
    return floatToInt(m, x, to);
  unsigned fromWidth = from.getIntOrFloatBitWidth();
  if (fromWidth == width)
    return x;
  if (fromWidth > width)
    return m.trunci(x, signless);
  return from.isInteger(1) || from.isUnsignedInteger() ? m.extu(x, signless)
                                                       : m.exts(x, signless);
}
