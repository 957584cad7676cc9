//===- ScoredBound.cpp - Bounds on the operands of scores -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ScoredBound.h"
#include "luminal/Dialect/LLIR/Analysis/MaskAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace luminal;
using namespace mlir;

/// An integer constant of the type of `like`.
static Value makeConstant(ImplicitLocOpBuilder &b, Type like,
                          const llvm::APInt &number) {
  if (auto vector = dyn_cast<VectorType>(like))
    return arith::ConstantOp::create(b, DenseElementsAttr::get(vector, number));
  return arith::ConstantOp::create(b, b.getIntegerAttr(like, number));
}

Value luminal::emitMagnitude(ImplicitLocOpBuilder &b, Value v) {
  unsigned bits = getElementTypeOrSelf(v).getIntOrFloatBitWidth();
  Type type = b.getIntegerType(bits);
  if (auto vector = dyn_cast<VectorType>(v.getType()))
    type = vector.clone(type);
  Value integers = arith::BitcastOp::create(b, type, v);
  Value numbers = makeConstant(b, type, llvm::APInt::getSignedMaxValue(bits));
  return arith::AndIOp::create(b, integers, numbers);
}

Value luminal::emitExceedsBound(ImplicitLocOpBuilder &b, Value magnitude,
                                FloatType element) {
  const llvm::fltSemantics &kind = element.getFloatSemantics();
  llvm::APFloat bound =
      kLogOfLargestScored < llvm::APFloat::semanticsMaxExponent(kind)
          ? llvm::scalbn(llvm::APFloat::getOne(kind), kLogOfLargestScored,
                         llvm::APFloat::rmNearestTiesToEven)
          : llvm::APFloat::getLargest(kind);
  return arith::CmpIOp::create(
      b, arith::CmpIPredicate::ugt, magnitude,
      makeConstant(b, magnitude.getType(), bound.bitcastToAPInt()));
}
