//===- Lanes.h - Arithmetic on scalars and vectors ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CONVERSION_SCALARMATH_LANES_H
#define LUMINAL_LIB_CONVERSION_SCALARMATH_LANES_H

#include "luminal/Conversion/ScalarMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"

namespace luminal {

/// Builds arith and math ops whose operands are scalars or vectors alike: a
/// constant takes the shape of the other operand.
class Lanes {
public:
  explicit Lanes(mlir::ImplicitLocOpBuilder &b) : b(b) {}

  mlir::ImplicitLocOpBuilder &b;

  /// `element` in the shape of `like` (a scalar, or a vector of like's length).
  static mlir::Type typeLike(mlir::Value like, mlir::Type element) {
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(like.getType()))
      return vector.clone(element);
    return element;
  }
  static mlir::Type element(mlir::Value v) {
    return mlir::getElementTypeOrSelf(v.getType());
  }

  mlir::Value splat(mlir::Value like, mlir::TypedAttr scalar) {
    mlir::Type type = typeLike(like, scalar.getType());
    if (auto vector = mlir::dyn_cast<mlir::VectorType>(type))
      return mlir::arith::ConstantOp::create(
          b, mlir::DenseElementsAttr::get(vector, mlir::Attribute(scalar)));
    return mlir::arith::ConstantOp::create(b, scalar);
  }
  /// A float constant of x's own element type.
  mlir::Value num(mlir::Value x, double v) {
    return splat(x, b.getFloatAttr(element(x), v));
  }
  mlir::Value integer(mlir::Value x, int64_t v) {
    return splat(x, b.getIntegerAttr(element(x), v));
  }
  mlir::Value integerAs(mlir::Value like, mlir::Type type, int64_t v) {
    return splat(like, b.getIntegerAttr(type, v));
  }

  mlir::Value add(mlir::Value x, mlir::Value y) {
    return mlir::arith::AddFOp::create(b, x, y);
  }
  mlir::Value sub(mlir::Value x, mlir::Value y) {
    return mlir::arith::SubFOp::create(b, x, y);
  }
  mlir::Value mul(mlir::Value x, mlir::Value y) {
    return mlir::arith::MulFOp::create(b, x, y);
  }
  mlir::Value div(mlir::Value x, mlir::Value y) {
    return mlir::arith::DivFOp::create(b, x, y);
  }
  mlir::Value neg(mlir::Value x) { return mlir::arith::NegFOp::create(b, x); }
  mlir::Value abs(mlir::Value x) { return mlir::math::AbsFOp::create(b, x); }
  mlir::Value fma(mlir::Value x, mlir::Value y, mlir::Value z) {
    return mlir::math::FmaOp::create(b, x, y, z);
  }
  mlir::Value select(mlir::Value c, mlir::Value x, mlir::Value y) {
    return mlir::arith::SelectOp::create(b, c, x, y);
  }
  mlir::Value cmp(mlir::arith::CmpFPredicate p, mlir::Value x, mlir::Value y) {
    return mlir::arith::CmpFOp::create(b, p, x, y);
  }
  mlir::Value cmp(mlir::arith::CmpIPredicate p, mlir::Value x, mlir::Value y) {
    return mlir::arith::CmpIOp::create(b, p, x, y);
  }
  mlir::Value lt(mlir::Value x, mlir::Value y) {
    return cmp(mlir::arith::CmpFPredicate::OLT, x, y);
  }
  mlir::Value eq(mlir::Value x, mlir::Value y) {
    return cmp(mlir::arith::CmpFPredicate::OEQ, x, y);
  }
  mlir::Value isNan(mlir::Value x) {
    return cmp(mlir::arith::CmpFPredicate::UNO, x, x);
  }
  mlir::Value both(mlir::Value x, mlir::Value y) {
    return mlir::arith::AndIOp::create(b, x, y);
  }
  mlir::Value either(mlir::Value x, mlir::Value y) {
    return mlir::arith::OrIOp::create(b, x, y);
  }
  mlir::Value no(mlir::Value x) {
    return mlir::arith::XOrIOp::create(b, x, integer(x, 1));
  }
  mlir::Value copySign(mlir::Value magnitude, mlir::Value sign) {
    return mlir::math::CopySignOp::create(b, magnitude, sign);
  }
  /// x limited to [lo, hi]; NaN stays.
  mlir::Value clamp(mlir::Value x, double lo, double hi) {
    mlir::Value l = num(x, lo), h = num(x, hi);
    x = select(lt(x, l), l, x);
    return select(lt(h, x), h, x);
  }

  mlir::Value addi(mlir::Value x, mlir::Value y) {
    return mlir::arith::AddIOp::create(b, x, y);
  }
  mlir::Value subi(mlir::Value x, mlir::Value y) {
    return mlir::arith::SubIOp::create(b, x, y);
  }
  mlir::Value muli(mlir::Value x, mlir::Value y) {
    return mlir::arith::MulIOp::create(b, x, y);
  }
  mlir::Value shl(mlir::Value x, int64_t n) {
    return mlir::arith::ShLIOp::create(b, x, integer(x, n));
  }
  mlir::Value shru(mlir::Value x, int64_t n) {
    return mlir::arith::ShRUIOp::create(b, x, integer(x, n));
  }
  mlir::Value shrs(mlir::Value x, int64_t n) {
    return mlir::arith::ShRSIOp::create(b, x, integer(x, n));
  }
  mlir::Value andi(mlir::Value x, int64_t mask) {
    return mlir::arith::AndIOp::create(b, x, integer(x, mask));
  }

  mlir::Value bitcast(mlir::Value x, mlir::Type to) {
    return mlir::arith::BitcastOp::create(b, typeLike(x, to), x);
  }
  mlir::Value extf(mlir::Value x, mlir::Type to) {
    return mlir::arith::ExtFOp::create(b, typeLike(x, to), x);
  }
  mlir::Value truncf(mlir::Value x, mlir::Type to) {
    return mlir::arith::TruncFOp::create(b, typeLike(x, to), x);
  }
  mlir::Value extu(mlir::Value x, mlir::Type to) {
    return mlir::arith::ExtUIOp::create(b, typeLike(x, to), x);
  }
  mlir::Value exts(mlir::Value x, mlir::Type to) {
    return mlir::arith::ExtSIOp::create(b, typeLike(x, to), x);
  }
  mlir::Value trunci(mlir::Value x, mlir::Type to) {
    return mlir::arith::TruncIOp::create(b, typeLike(x, to), x);
  }
  mlir::Value sitofp(mlir::Value x, mlir::Type to) {
    return mlir::arith::SIToFPOp::create(b, typeLike(x, to), x);
  }
  mlir::Value fptosi(mlir::Value x, mlir::Type to) {
    return mlir::arith::FPToSIOp::create(b, typeLike(x, to), x);
  }

  /// c[0] + x (c[1] + x (c[2] + ...)), fused.
  mlir::Value poly(mlir::Value x, llvm::ArrayRef<double> c) {
    mlir::Value r = num(x, c.back());
    for (double v : llvm::reverse(c.drop_back()))
      r = fma(r, x, num(x, v));
    return r;
  }
};

/// `rare()` where the condition holds, else `values`; by a branch around it
/// where no lane does.
llvm::SmallVector<mlir::Value>
emitRare(Lanes &m, mlir::Value condition, mlir::ValueRange values,
         llvm::function_ref<llvm::SmallVector<mlir::Value>()> rare);
mlir::Value emitRare(Lanes &m, mlir::Value condition, mlir::Value value,
                     llvm::function_ref<mlir::Value()> rare);
/// !(x < bound): true for NaN.
mlir::Value notBelow(Lanes &m, mlir::Value x, double bound);

// f32 in, f32 out. Sigmoids are silu with `timesX`.
mlir::Value emitExpF32(Lanes &m, mlir::Value x);
mlir::Value emitExpFastF32(Lanes &m, mlir::Value x);
mlir::Value emitExp2F32(Lanes &m, mlir::Value x);
mlir::Value emitExp2FastF32(Lanes &m, mlir::Value x);
mlir::Value emitExpApproxF32(Lanes &m, mlir::Value x);
mlir::Value emitSinCosF32(Lanes &m, mlir::Value x, bool cosine);
mlir::Value emitSigmoidF32(Lanes &m, mlir::Value x, bool timesX);
mlir::Value emitErfF32(Lanes &m, mlir::Value x);
mlir::Value emitGeluF32(Lanes &m, mlir::Value x);
mlir::Value emitAtanF32(Lanes &m, mlir::Value x);
mlir::Value emitAsinF32(Lanes &m, mlir::Value x, bool cosine);

// Of an f32 that an f16 or a bf16 was, exact enough to be rounded to that type.
mlir::Value emitSigmoidNarrow(Lanes &m, mlir::Value x, bool timesX);
mlir::Value emitGeluNarrow(Lanes &m, mlir::Value x);
mlir::Value emitGeluTanhNarrow(Lanes &m, mlir::Value x);
mlir::Value emitErfNarrow(Lanes &m, mlir::Value x);
mlir::Value emitTanhNarrow(Lanes &m, mlir::Value x);
mlir::Value emitAtanNarrow(Lanes &m, mlir::Value x);

// Of f32, computed in f64 and rounded once.
mlir::Value emitExpm1ThroughF64(Lanes &m, mlir::Value x);
mlir::Value emitLogThroughF64(Lanes &m, mlir::Value x);
mlir::Value emitLog2ThroughF64(Lanes &m, mlir::Value x);
mlir::Value emitLog1pThroughF64(Lanes &m, mlir::Value x);
mlir::Value emitTanhThroughF64(Lanes &m, mlir::Value x);
mlir::Value emitSigmoidThroughF64(Lanes &m, mlir::Value x, bool timesX);
mlir::Value emitGeluThroughF64(Lanes &m, mlir::Value x);
mlir::Value emitGeluTanhThroughF64(Lanes &m, mlir::Value x);
mlir::Value emitPowThroughF64(Lanes &m, mlir::Value x, mlir::Value y);

// Of f64, by the math dialect: the C library of the CPU, and all functions of a
// GPU, whose library has code for one element.
mlir::Value emitSigmoidByMath(Lanes &m, mlir::Value x, bool timesX);
mlir::Value emitGeluByMath(Lanes &m, mlir::Value x);
mlir::Value emitGeluTanhByMath(Lanes &m, mlir::Value x);
/// The u for which gelu_tanh(x) is x / (1 + exp(-u)), in f64.
mlir::Value emitGeluArgument(Lanes &m, mlir::Value x);

// Of f64, by code on lanes.
mlir::Value emitExpF64(Lanes &m, mlir::Value x);
mlir::Value emitExp2F64(Lanes &m, mlir::Value x);
mlir::Value emitExpm1F64(Lanes &m, mlir::Value x);
mlir::Value emitLogF64(Lanes &m, mlir::Value x);
mlir::Value emitLog2F64(Lanes &m, mlir::Value x);
mlir::Value emitLog1pF64(Lanes &m, mlir::Value x);
mlir::Value emitSinCosF64(Lanes &m, mlir::Value x, bool cosine);
mlir::Value emitTanhF64(Lanes &m, mlir::Value x);
mlir::Value emitAtanF64(Lanes &m, mlir::Value x);
mlir::Value emitAsinF64(Lanes &m, mlir::Value x, bool cosine);
mlir::Value emitSigmoidF64(Lanes &m, mlir::Value x, bool timesX);
mlir::Value emitGeluTanhF64(Lanes &m, mlir::Value x);

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_SCALARMATH_LANES_H
