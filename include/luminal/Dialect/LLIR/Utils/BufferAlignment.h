//===- BufferAlignment.h - Alignment of buffers ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_UTILS_BUFFERALIGNMENT_H
#define LUMINAL_DIALECT_LLIR_UTILS_BUFFERALIGNMENT_H

#include "luminal/Support/Expr.h"
#include <cstdint>

namespace luminal::llir {

/// The alignment in bytes that kernels may assume for any buffer, including a
/// buffer inside another one. Equals the runtime's `runtime::kBufferAlignment`.
constexpr int64_t kBufferAlignment = 16;

/// Returns whether the offset `bytes` into a buffer is proved to be a multiple
/// of `kBufferAlignment`.
inline bool isBufferAligned(const Expr &bytes, const Assumptions &symbols) {
  return symbols.simplify(Expr::mod(bytes, kBufferAlignment)).isConstant(0);
}

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_UTILS_BUFFERALIGNMENT_H
