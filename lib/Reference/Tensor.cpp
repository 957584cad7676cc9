//===- Tensor.cpp - Tensors and their attribute form ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "luminal/Reference/Interpreter.h"
#include "luminal/Support/Scalar.h"
#include <cstdlib>

using namespace mlir;
using namespace luminal;
using namespace luminal::reference;

std::optional<Tensor> Tensor::allocate(DType dtype, ArrayRef<int64_t> shape) {
  Tensor tensor;
  tensor.dtype = dtype;
  tensor.shape.assign(shape.begin(), shape.end());
  int64_t bytes = dtypeSize(dtype);
  if (llvm::is_contained(shape, 0))
    bytes = 0;
  for (int64_t size : shape)
    if (size < 0 || (bytes && __builtin_mul_overflow(bytes, size, &bytes)))
      return std::nullopt;
  tensor.numElements = bytes / dtypeSize(dtype);
  // Allocate one extra byte, so that an empty tensor has an address too.
  void *memory = std::calloc(1, static_cast<size_t>(bytes) + 1);
  if (!memory)
    return std::nullopt;
  tensor.bytes = std::shared_ptr<const char>(
      static_cast<const char *>(memory),
      [](const char *p) { std::free(const_cast<char *>(p)); });
  return tensor;
}

Tensor Tensor::borrow(DType dtype, ArrayRef<int64_t> shape, const void *bytes) {
  Tensor tensor;
  tensor.dtype = dtype;
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.numElements = 1;
  for (int64_t size : shape)
    tensor.numElements *= size;
  tensor.bytes = std::shared_ptr<const char>(static_cast<const char *>(bytes),
                                             [](const char *) {});
  return tensor;
}

std::optional<Tensor> reference::fromAttribute(DenseElementsAttr attribute) {
  std::optional<DType> dtype = hlir::getDType(attribute.getElementType());
  if (!dtype)
    return std::nullopt;
  std::optional<Tensor> tensor =
      Tensor::allocate(*dtype, attribute.getType().getShape());
  if (!tensor)
    return std::nullopt;
  char *out = tensor->mutableData();
  auto store = [&](const APInt &bits) {
    uint64_t value = bits.getZExtValue();
    std::memcpy(out, &value, dtypeSize(*dtype));
    out += dtypeSize(*dtype);
  };
  if (isa<FloatType>(attribute.getElementType()))
    for (const APFloat &value : attribute.getValues<APFloat>())
      store(value.bitcastToAPInt());
  else
    for (const APInt &value : attribute.getValues<APInt>())
      store(value);
  return tensor;
}

DenseElementsAttr reference::toAttribute(MLIRContext *context,
                                         const Tensor &tensor) {
  Type element = hlir::getElementType(context, tensor.getDType());
  auto type = RankedTensorType::get(tensor.getShape(), element);
  unsigned width = element.getIntOrFloatBitWidth();
  SmallVector<APInt> bits;
  for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
    uint64_t value = 0;
    size_t size = dtypeSize(tensor.getDType());
    std::memcpy(&value, tensor.data() + static_cast<size_t>(i) * size, size);
    bits.emplace_back(width, value, /*isSigned=*/false, /*implicitTrunc=*/true);
  }
  auto floatType = dyn_cast<FloatType>(element);
  if (!floatType)
    return DenseElementsAttr::get(type, bits);
  SmallVector<APFloat> values;
  for (const APInt &value : bits)
    values.emplace_back(floatType.getFloatSemantics(), value);
  return DenseElementsAttr::get(type, values);
}
