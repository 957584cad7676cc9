//===- Tensor.h - A tensor in host memory ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_SUPPORT_TENSOR_H
#define LUMINAL_SUPPORT_TENSOR_H

#include "luminal/Support/DType.h"
#include "luminal/Support/ZipArchive.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace luminal {

/// A tensor in host memory, row-major. `bytes.size` is the number of elements
/// times dtypeSize.
struct HostTensor {
  std::string name;
  DType dtype = DType::F32;
  std::vector<int64_t> shape;
  Bytes bytes;

  int64_t numElements() const;
};

/// Size of a tensor in bytes; std::nullopt if an extent is negative or the size
/// overflows int64_t.
std::optional<int64_t> tensorBytes(DType dtype, const int64_t *shape,
                                   size_t rank);
inline std::optional<int64_t> tensorBytes(DType dtype,
                                          const std::vector<int64_t> &shape) {
  return tensorBytes(dtype, shape.data(), shape.size());
}

/// "f32[3, 4]".
std::string typeText(DType dtype, const int64_t *shape, size_t rank);
inline std::string typeText(const HostTensor &tensor) {
  return typeText(tensor.dtype, tensor.shape.data(), tensor.shape.size());
}

/// Allocates zeroed, 64-byte aligned memory for a tensor and returns a writable
/// pointer to it; null if allocation fails.
uint8_t *allocateTensor(HostTensor &tensor);

/// Element values as doubles, for comparisons; integers beyond 2^53 are
/// rounded.
std::vector<double> toDoubles(const HostTensor &tensor);

/// Rounds a float32 tensor to bfloat16, to nearest even; std::nullopt if
/// allocation fails.
std::optional<HostTensor> toBF16(const HostTensor &tensor);

} // namespace luminal

#endif // LUMINAL_SUPPORT_TENSOR_H
