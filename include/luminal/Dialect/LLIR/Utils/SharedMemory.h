//===- SharedMemory.h - How kernels of a GPU lay out shared memory --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What schedules count and emitters lay out.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_UTILS_SHAREDMEMORY_H
#define LUMINAL_DIALECT_LLIR_UTILS_SHAREDMEMORY_H

#include <cstdint>

namespace luminal::llir {

/// Bytes at a multiple of which the shared memory begins that a launch states,
/// and each operand in it: what tensor cores read swizzled repeats so.
constexpr int64_t kLaunchSharedAlignment = 1024;
/// Elements between lines of a tile's results, so that neighbouring rows of
/// sums are in other banks.
constexpr int64_t kResultPadding = 8;

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_UTILS_SHAREDMEMORY_H
