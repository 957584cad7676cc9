//===- SharedMemory.h - Layout of shared memory ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layout constants of shared memory. Schedules count bytes by them, and
// emitters lay out memory by them.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_UTILS_SHAREDMEMORY_H
#define LUMINAL_DIALECT_LLIR_UTILS_SHAREDMEMORY_H

#include <cstdint>

namespace luminal::llir {

/// Alignment in bytes of a launch's dynamic shared memory and of each operand
/// in it: the pattern of swizzled tensor core operands repeats at this
/// distance.
constexpr int64_t kLaunchSharedAlignment = 1024;
/// Padding, in elements, between the lines of a tile's results, so that
/// neighbouring rows of sums are in different banks.
constexpr int64_t kResultPadding = 8;

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_UTILS_SHAREDMEMORY_H
