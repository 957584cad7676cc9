//===- Values.cpp - Properties of values ----------------------------------===//
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

/// Returns the constant that defines `value`, if all its elements are one
/// number of type `T`; otherwise null.
template <typename T>
static SplatElementsAttr getSplatOf(Value value) {
  auto constant = value.getDefiningOp<llir::ConstantOp>();
  auto splat = constant ? dyn_cast<SplatElementsAttr>(constant.getValue())
                        : SplatElementsAttr();
  return splat && isa<T>(splat.getElementType()) ? splat : SplatElementsAttr();
}

std::optional<double> llir::getFloatSplat(Value value) {
  SplatElementsAttr splat = getSplatOf<FloatType>(value);
  if (!splat)
    return std::nullopt;
  APFloat number = splat.getSplatValue<APFloat>();
  bool ignored;
  number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &ignored);
  return number.convertToDouble();
}

std::optional<int64_t> llir::getIntegerSplat(Value value) {
  SplatElementsAttr splat = getSplatOf<IntegerType>(value);
  if (!splat)
    return std::nullopt;
  APInt number = splat.getSplatValue<APInt>();
  return number.getBitWidth() == 1 ? number.getZExtValue()
                                   : number.getSExtValue();
}

void llir::findBefore(Value v, llvm::SetVector<Operation *> &before) {
  SmallVector<Value> work{v};
  while (!work.empty())
    if (Operation *op = work.pop_back_val().getDefiningOp();
        op && before.insert(op))
      llvm::append_range(work, op->getOperands());
}

unsigned llir::getPosition(Operation *op) {
  return std::distance(op->getBlock()->begin(), op->getIterator());
}
