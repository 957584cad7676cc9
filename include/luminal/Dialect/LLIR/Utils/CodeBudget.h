//===- CodeBudget.h - The code budget of a kernel -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A compiler's time grows faster than linearly with the size of a function. So
// each kernel has a code budget, which keeps compile time linear in the size of
// the program. The unit is one scalar operation in a loop over elements. A
// scalar function counts as its weight (`getFlops`), twice that for elements of
// 64 bits. Every copy of an operation counts: in the unrolled and in the masked
// version of a loop, in each pass of a reduction that recomputes it, and for
// each index at which it is read. Ops state what they add (`CodeOpInterface`).
//
// The budget limits fusion, not compilation: a single op may exceed it.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_UTILS_CODEBUDGET_H
#define LUMINAL_DIALECT_LLIR_UTILS_CODEBUDGET_H

#include <cstdint>

namespace luminal::llir {

/// 64 sines, or a thousand additions, of vectors. Compared with this much work,
/// writing and reading an element between two kernels costs nothing. Up to this
/// size, the time to compile an op does not grow with its kernel.
inline constexpr int64_t kKernelCodeBudget = 2048;

/// Copies of its body that a loop over elements contains: one for whole
/// vectors, and one for the masked remainder.
inline constexpr int64_t kElementLoopCopies = 2;

/// The most elements of a last axis that a CPU's loop over elements computes
/// side by side, each with its own code.
inline constexpr int64_t kMostInterleaved = 4;

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_UTILS_CODEBUDGET_H
