//===- BufferAlignment.h - Where buffers begin ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_UTILS_BUFFERALIGNMENT_H
#define LUMINAL_DIALECT_LLIR_UTILS_BUFFERALIGNMENT_H

#include <cstdint>

namespace luminal::llir {

/// The least alignment in bytes that kernels may count on for any buffer, also
/// one inside another: the runtime's (`runtime::kBufferAlignment`).
constexpr int64_t kBufferAlignment = 16;

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_UTILS_BUFFERALIGNMENT_H
