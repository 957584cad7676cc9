//===- Npy.h - Reads and writes .npy files --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_SUPPORT_NPY_H
#define LUMINAL_SUPPORT_NPY_H

#include "luminal/Support/Tensor.h"
#include <optional>
#include <string>

namespace luminal {

/// Reads a .npy file. Row-major data is mapped, column-major data is
/// transposed. bfloat16 is stored as two-byte void (`V2`), or as uint16 if
/// `expected` is BF16. A float32 file is rounded if `expected` is BF16; there
/// is no other conversion, so the caller must check the type of the result.
Result<HostTensor> readNpy(const std::string &path,
                           std::optional<DType> expected = std::nullopt);
Result<HostTensor> readNpyBytes(Bytes bytes, const std::string &name,
                                std::optional<DType> expected = std::nullopt);

/// Writes version 1.0, row-major; bfloat16 and f8 as void of their width. On
/// failure nothing is left at `path`.
Status writeNpy(const std::string &path, const HostTensor &tensor);

} // namespace luminal

#endif // LUMINAL_SUPPORT_NPY_H
