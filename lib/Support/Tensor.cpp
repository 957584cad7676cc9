//===- Tensor.cpp - A tensor in host memory -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Support/Tensor.h"
#include "luminal/Support/Scalar.h"
#include <cstdlib>
#include <cstring>

using namespace luminal;

int64_t HostTensor::numElements() const {
  return static_cast<int64_t>(bytes.size / dtypeSize(dtype));
}

std::optional<int64_t> luminal::tensorBytes(DType dtype, const int64_t *shape,
                                            size_t rank) {
  int64_t bytes = dtypeSize(dtype);
  bool empty = false;
  for (size_t i = 0; i < rank; ++i) {
    if (shape[i] < 0)
      return std::nullopt;
    if (shape[i] == 0)
      empty = true;
    else if (__builtin_mul_overflow(bytes, shape[i], &bytes))
      return std::nullopt;
  }
  return empty ? 0 : bytes;
}

std::string luminal::typeText(DType dtype, const int64_t *shape, size_t rank) {
  std::string text(dtypeName(dtype));
  text += '[';
  for (size_t i = 0; i < rank; ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + ']';
}

uint8_t *luminal::allocateTensor(HostTensor &tensor) {
  std::optional<int64_t> bytes = tensorBytes(tensor.dtype, tensor.shape);
  if (!bytes)
    return nullptr;
  size_t size = static_cast<size_t>(*bytes);
  size_t rounded = (size + 63) / 64 * 64;
  void *memory = std::aligned_alloc(64, rounded ? rounded : 64);
  if (!memory)
    return nullptr;
  std::memset(memory, 0, size);
  tensor.bytes.data = static_cast<const uint8_t *>(memory);
  tensor.bytes.size = size;
  tensor.bytes.owner =
      std::shared_ptr<const void>(memory, [](void *p) { std::free(p); });
  tensor.bytes.fileOffset = std::nullopt;
  return static_cast<uint8_t *>(memory);
}

std::vector<double> luminal::toDoubles(const HostTensor &tensor) {
  std::vector<double> values(static_cast<size_t>(tensor.numElements()));
  const unsigned size = dtypeSize(tensor.dtype);
  for (size_t i = 0; i < values.size(); ++i) {
    const uint8_t *element = tensor.bytes.data + i * size;
    values[i] = isFloatDType(tensor.dtype)
                    ? loadFloat(tensor.dtype, element)
                    : static_cast<double>(loadInt(tensor.dtype, element));
  }
  return values;
}

std::optional<HostTensor> luminal::toBF16(const HostTensor &tensor) {
  HostTensor result{tensor.name, DType::BF16, tensor.shape, {}};
  uint8_t *out = allocateTensor(result);
  if (!out)
    return std::nullopt;
  for (int64_t i = 0, n = tensor.numElements(); i < n; ++i)
    castElement(DType::F32, tensor.bytes.data + 4 * i, DType::BF16,
                out + 2 * i);
  return result;
}
