//===- ScalarMath.h - Scalar functions as straight-line code --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code for every llir::Fn, on scalars or on vectors of any length: the same ops
// with another type, so that a vector body and its scalar tail round the same
// way. Only arith, math (fma, sqrt, floor, ...), scf and vector ops come out;
// there is no call (f64 transcendentals apart) and no branch but one for a
// vector around what rare arguments need: huge angles, results near the ends of
// the range. Source of the methods: range reduction by Cody and Waite with
// exact products (fma), polynomials by Remez; the range reduction of huge
// angles multiplies by a 2/pi taken from a table by exponent, after Payne and
// Hanek.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_CONVERSION_SCALARMATH_H
#define LUMINAL_CONVERSION_SCALARMATH_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace luminal {

/// `fn` of `args`, which are values as kernels compute with them: each is an
/// element type of HLIR (i1 as i1, f16 and bf16 as themselves, storage types
/// only for cast) or a vector of it, all of one length. `resultElement` is the
/// element type of the result. f16 and bf16 are computed in f32 and rounded
/// once. Integer division and remainder never trap (x / 0 and x mod 0 are 0).
/// Casts are as hlir.cast says.
mlir::Value emitFn(mlir::ImplicitLocOpBuilder &b, llir::Fn fn,
                   mlir::ValueRange args, mlir::Type resultElement);

/// An attribute (unit) of functions whose target has instructions that round
/// f32 to bf16 as casts do, denormals too, that give the maximum of f32 as
/// emitMax does (of zeros, the positive one), and 2^x and 1/x within 2 ulp
/// (`math.exp2`, `arith.divf` with `afn`).
inline constexpr llvm::StringLiteral kHasFloatInstructions =
    "luminal.float_instructions";
/// Whether `b` stands in such a function.
bool hasFloatInstructions(mlir::OpBuilder &b);

/// The cast of `x` (an element of `from`; storage types are the signless
/// integer of their bits) to an element of `to` (likewise).
mlir::Value emitCast(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                     mlir::Type from, mlir::Type to);

/// Elementwise maximum that gives NaN where either operand is NaN (integers:
/// signed; i1: or).
mlir::Value emitMax(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                    mlir::Value y);

} // namespace luminal

#endif // LUMINAL_CONVERSION_SCALARMATH_H
