//===- Values.cpp - What the op that defines a value tells of it ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/Utils/Values.h"
#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace luminal;

bool llir::isNarrowFloat(Type type) { return type.isF16() || type.isBF16(); }

Value llir::skipWidening(Value value) {
  auto op = value.getDefiningOp<ElementwiseOp>();
  if (!op || op.getFn() != Fn::Cast || !getElementTypeOrSelf(value).isF32())
    return value;
  Value from = op.getInputs()[0];
  return isNarrowFloat(getElementTypeOrSelf(from)) ? from : value;
}

std::optional<double> llir::getFloatSplat(Value value) {
  auto constant = value.getDefiningOp<llir::ConstantOp>();
  if (!constant)
    return std::nullopt;
  auto splat = dyn_cast<SplatElementsAttr>(constant.getValue());
  if (!splat || !isa<FloatType>(splat.getElementType()))
    return std::nullopt;
  APFloat number = splat.getSplatValue<APFloat>();
  bool ignored;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &ignored);
  return number.convertToDouble();
}

unsigned llir::getPosition(Operation *op) {
  return std::distance(op->getBlock()->begin(), op->getIterator());
}
