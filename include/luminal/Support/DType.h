//===- DType.h - Element types of tensors ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_SUPPORT_DTYPE_H
#define LUMINAL_SUPPORT_DTYPE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace luminal {

/// Element types of tensors. The values are part of the C interface and of the
/// artifact format: never renumber. I1 is stored as one byte, 0 or 1. F8*, I8,
/// U8, I16, U16 and U32 are storage types: only casts and data movement read or
/// write them.
enum class DType : uint8_t {
  F32 = 0,
  F16 = 1,
  BF16 = 2,
  F64 = 3,
  I32 = 4,
  I64 = 5,
  I1 = 6,
  I8 = 7,
  U8 = 8,
  F8E4M3 = 9,
  F8E5M2 = 10,
  I16 = 11,
  U16 = 12,
  U32 = 13
};

inline constexpr unsigned kNumDTypes = 14;

constexpr unsigned dtypeSize(DType t) {
  switch (t) {
  case DType::F64:
  case DType::I64:
    return 8;
  case DType::F32:
  case DType::I32:
  case DType::U32:
    return 4;
  case DType::F16:
  case DType::BF16:
  case DType::I16:
  case DType::U16:
    return 2;
  default:
    return 1;
  }
}

/// Conversion to and from MLIR's spelling: "f32", "bf16", "i1", "ui8",
/// "f8E4M3FN", ...
std::string_view dtypeName(DType t);
std::optional<DType> dtypeFromName(std::string_view name);

} // namespace luminal

#endif // LUMINAL_SUPPORT_DTYPE_H
