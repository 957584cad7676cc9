//===- Composites.h - Composite functions in HLIR ops ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every function that is not a primitive is spelled in HLIR here, and only
// here; the rules of lib/EqSat/Rules recognise these spellings. The importer
// and the C++ front end call these functions. A scalar function is computed in
// the next wider type (f16, bf16 -> f32; f32 -> f64; f64 stays) and rounded
// once. Comparisons, selects and integer forms are exact. All operands of a
// call have one shape; `broadcastTo` makes it so.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_HLIR_UTILS_COMPOSITES_H
#define LUMINAL_DIALECT_HLIR_UTILS_COMPOSITES_H

#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "luminal/Support/Result.h"
#include "mlir/IR/Builders.h"

namespace luminal::hlir {

/// Returns the type in which elements of `type` are computed. For storage
/// types: f32 for floats, and i32 for integers (i64 for ui32), whose low bits
/// are the bits of the result. Other types are computed as they are.
mlir::Type computedType(mlir::Type type);

/// Returns (d0, d1, ...) with `rank` dims: the identity map.
llvm::SmallVector<Expr> identityMap(unsigned rank);

/// Builds HLIR at the insertion point of an ImplicitLocOpBuilder-like pair
/// (builder, location), under the symbol ranges of the function being built.
class Composer {
public:
  Composer(mlir::OpBuilder &builder, mlir::Location loc,
           const Assumptions &assumptions)
      : builder(builder), loc(loc), assumptions(assumptions) {}
  void setLoc(mlir::Location newLoc) { loc = newLoc; }
  mlir::Location getLoc() const { return loc; }
  mlir::OpBuilder &getBuilder() { return builder; }
  const Assumptions &getAssumptions() const { return assumptions; }

  /// Returns whether all ops built since the last call are well-formed. If an
  /// extent is negative, or an extent or index exceeds 64 bits, the error says
  /// which one. The values then have another shape and must be discarded.
  Status checkShapes();

  // Constants. `like` gives the shape, and the element type unless one is
  // given. For an integer type, the double is truncated.
  mlir::Value scalar(mlir::Type elementType, double value);
  mlir::Value scalarInt(mlir::Type elementType, int64_t value);
  mlir::Value splat(mlir::Value like, double value,
                    mlir::Type elementType = {});
  mlir::Value splatInt(mlir::Value like, int64_t value,
                       mlir::Type elementType = {});
  mlir::Value full(llvm::ArrayRef<Expr> extents, mlir::Value scalarValue);

  // Movement. Each is one hlir.view with a simplified map, or the operand
  // itself if the view is the identity.
  mlir::Value view(mlir::Value x, llvm::ArrayRef<Expr> extents,
                   llvm::ArrayRef<Expr> map);
  /// Right-aligned broadcast of size-1 dims and missing leading dims.
  mlir::Value broadcastTo(mlir::Value x, llvm::ArrayRef<Expr> extents);
  mlir::Value permute(mlir::Value x, llvm::ArrayRef<unsigned> order);
  /// Row-major reshape: exact for symbolic dims, splits and merges included.
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<Expr> extents);
  mlir::Value slice(mlir::Value x, unsigned axis, Expr start, Expr extent,
                    Expr step = Expr(1));
  mlir::Value unsqueeze(mlir::Value x, unsigned axis);
  /// Concatenates the parts along a dim.
  mlir::Value concat(llvm::ArrayRef<mlir::Value> parts, unsigned axis);
  mlir::Value squeeze(mlir::Value x, unsigned axis);

  // Elementwise.
  mlir::Value cast(mlir::Value x, mlir::Type elementType);
  /// Reinterprets the bits as elements of another type of the same width.
  mlir::Value bitcast(mlir::Value x, mlir::Type elementType);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value neg(mlir::Value a);
  /// True division of floats.
  mlir::Value div(mlir::Value a, mlir::Value b);
  /// Quotient rounded down, or toward zero; and the remainder with the
  /// divisor's sign (Python's %). For integers and floats.
  mlir::Value floorDiv(mlir::Value a, mlir::Value b);
  mlir::Value truncDiv(mlir::Value a, mlir::Value b);
  mlir::Value floorMod(mlir::Value a, mlir::Value b);
  mlir::Value fmod(mlir::Value a, mlir::Value b);
  mlir::Value maximum(mlir::Value a, mlir::Value b);
  mlir::Value minimum(mlir::Value a, mlir::Value b);
  mlir::Value abs(mlir::Value x);
  mlir::Value relu(mlir::Value x);
  mlir::Value exp(mlir::Value x);
  mlir::Value exp2(mlir::Value x);
  mlir::Value expm1(mlir::Value x);
  mlir::Value log(mlir::Value x);
  mlir::Value log2(mlir::Value x);
  mlir::Value log1p(mlir::Value x);
  mlir::Value sin(mlir::Value x);
  mlir::Value cos(mlir::Value x);
  mlir::Value tanh(mlir::Value x);
  mlir::Value erf(mlir::Value x);
  mlir::Value atan(mlir::Value x);
  mlir::Value asin(mlir::Value x);
  mlir::Value acos(mlir::Value x);
  mlir::Value asinh(mlir::Value x);
  mlir::Value acosh(mlir::Value x);
  mlir::Value atanh(mlir::Value x);
  mlir::Value sqrt(mlir::Value x);
  mlir::Value rsqrt(mlir::Value x);
  mlir::Value recip(mlir::Value x);
  mlir::Value sigmoid(mlir::Value x);
  mlir::Value silu(mlir::Value x);
  mlir::Value gelu(mlir::Value x);
  mlir::Value geluTanh(mlir::Value x);
  /// For floats only.
  mlir::Value pow(mlir::Value x, mlir::Value y);
  /// x ^ n for a constant n, as PyTorch's scalar pow (2, 3, 0.5, -1, ... by
  /// multiplication, sqrt and recip).
  mlir::Value powScalar(mlir::Value x, double n);
  mlir::Value floor(mlir::Value x);
  mlir::Value ceil(mlir::Value x);
  mlir::Value trunc(mlir::Value x);
  /// To nearest, ties to even.
  mlir::Value round(mlir::Value x);

  // The bits of integers.
  mlir::Value bitAnd(mlir::Value a, mlir::Value b);
  mlir::Value bitOr(mlir::Value a, mlir::Value b);
  mlir::Value bitXor(mlir::Value a, mlir::Value b);
  /// Where `amount` is negative, or the width or more, no bit of x is left: 0
  /// to the left, the sign in each bit to the right.
  mlir::Value shiftLeft(mlir::Value x, mlir::Value amount);
  mlir::Value shiftRight(mlir::Value x, mlir::Value amount);

  // Logic: i1 in, i1 out; comparisons as in IEEE 754 and PyTorch (NaN is
  // unequal to everything).
  mlir::Value logicalNot(mlir::Value x);
  mlir::Value logicalAnd(mlir::Value a, mlir::Value b);
  mlir::Value logicalOr(mlir::Value a, mlir::Value b);
  mlir::Value logicalXor(mlir::Value a, mlir::Value b);
  mlir::Value isNan(mlir::Value x);
  mlir::Value less(mlir::Value a, mlir::Value b);
  mlir::Value lessEqual(mlir::Value a, mlir::Value b);
  mlir::Value equal(mlir::Value a, mlir::Value b);
  mlir::Value select(mlir::Value condition, mlir::Value onTrue,
                     mlir::Value onFalse);

  // Over dims. Axes are non-negative and ascending; keepDim keeps them as dims
  // of extent 1.
  mlir::Value reduceSum(mlir::Value x, llvm::ArrayRef<unsigned> axes,
                        bool keepDim);
  mlir::Value reduceMax(mlir::Value x, llvm::ArrayRef<unsigned> axes,
                        bool keepDim);
  mlir::Value reduceMin(mlir::Value x, llvm::ArrayRef<unsigned> axes,
                        bool keepDim);
  mlir::Value mean(mlir::Value x, llvm::ArrayRef<unsigned> axes, bool keepDim);
  mlir::Value softmax(mlir::Value x, unsigned axis);
  /// The value normalised by mean and standard deviation over the last dim,
  /// without scale and shift.
  mlir::Value layerNorm(mlir::Value x, double eps);
  mlir::Value rmsNorm(mlir::Value x, double eps);

  /// a [batch..., m, k] times b [batch..., k, n], batch extents equal; f16 and
  /// bf16 multiply and accumulate in f32 and round once.
  mlir::Value matmul(mlir::Value a, mlir::Value b);
  /// x [groups..., ..., k] times the transpose of w [groups..., n, k]; usually
  /// there are no groups.
  mlir::Value linear(mlir::Value x, mlir::Value w);

  // Index ops.
  /// `value`, an expression over the index space of `extents`, as i64.
  mlir::Value iota(llvm::ArrayRef<Expr> extents, Expr value);
  mlir::Value gather(mlir::Value data, mlir::Value indices);
  mlir::Value scatter(Combine combine, mlir::Value dest, mlir::Value indices,
                      mlir::Value updates);

private:
  mlir::RankedTensorType tensorTypeOf(llvm::ArrayRef<Expr> extents,
                                      mlir::Type elementType);
  MapAttr mapOf(llvm::ArrayRef<Expr> map, llvm::ArrayRef<Expr> extents);

  mlir::OpBuilder &builder;
  mlir::Location loc;
  const Assumptions &assumptions;
  std::string misshapen;
};

} // namespace luminal::hlir

#endif // LUMINAL_DIALECT_HLIR_UTILS_COMPOSITES_H
