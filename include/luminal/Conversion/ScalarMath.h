//===- ScalarMath.h - Scalar functions as straight-line code --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code for every llir::Fn, on scalars or on vectors of any length. Scalars and
// vectors use the same ops, so a vector body and its scalar remainder round
// alike. The ops are those of arith, math (fma, sqrt, floor, ...), scf and
// vector. There is no call, except for f64 transcendentals, and no branch
// except one per vector around rare arguments: huge angles, results near the
// ends of the range. Source of the methods: range reduction by Cody and Waite
// with exact products (fma), polynomials by Remez; huge angles are reduced by a
// 2/pi taken from a table by exponent, after Payne and Hanek.
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_CONVERSION_SCALARMATH_H
#define LUMINAL_CONVERSION_SCALARMATH_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace luminal {

/// `fn` of `args` in their compute types: each is an element type of HLIR (i1
/// as i1, f16 and bf16 as themselves, storage types only for cast) or a vector
/// of it, all of one length. `resultElement` is the element type of the result.
/// f16 and bf16 are computed in f32 and rounded once. Integer division and
/// remainder never trap (x / 0 and x mod 0 are 0). Casts follow hlir.cast.
mlir::Value emitFn(mlir::ImplicitLocOpBuilder &b, llir::Fn fn,
                   mlir::ValueRange args, mlir::Type resultElement);

/// A unit attribute of functions whose target has instructions that round f32
/// to bf16 like a cast (denormals included), compute the maximum of f32 like
/// emitMax (of zeros, the positive one), and compute 2^x and 1/x within 2 ulp
/// (`math.exp2`, `arith.divf` with `afn`).
inline constexpr llvm::StringLiteral kHasFloatInstructions =
    "luminal.float_instructions";
/// Whether `b` is inside such a function.
bool hasFloatInstructions(mlir::OpBuilder &b);

/// Casts `x`, an element of `from`, to an element of `to`. Elements of storage
/// types are signless integers with the same bits.
mlir::Value emitCast(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                     mlir::Type from, mlir::Type to);

/// Elementwise maximum that is NaN if either operand is (integers: signed; i1:
/// or).
mlir::Value emitMax(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                    mlir::Value y);

} // namespace luminal

#endif // LUMINAL_CONVERSION_SCALARMATH_H
