//===- CodeBudget.h - How much code one kernel may have -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compilers take more than linear time for one large function, so a kernel has
// a budget of code, and compile time stays linear in the program. The unit is
// one scalar operation in a loop over elements; a scalar function counts as its
// weight (`getFlops`), twice that where elements have 64 bits. Every copy
// counts: in the unrolled and the masked form of a loop, in each pass of a
// reduction that computes it again, and for each index at which it is read. Ops
// state what they add (`CodeOpInterface`).
//
// The budget limits what is fused, not what compiles: a single op may be over
// it.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_UTILS_CODEBUDGET_H
#define LUMINAL_DIALECT_LLIR_UTILS_CODEBUDGET_H

#include <cstdint>

namespace luminal::llir {

/// 64 sines, or a thousand additions, of vectors. Beside this much work,
/// writing and reading an element between two kernels costs nothing, and up to
/// this size the time to compile an op does not grow with its kernel.
inline constexpr int64_t kKernelCodeBudget = 2048;

/// Copies of its body that a loop over elements has: whole vectors, and the
/// masked remainder.
inline constexpr int64_t kElementLoopCopies = 2;

/// The most elements of a last axis that a loop of a CPU over elements has
/// beside each other, each with its own code.
inline constexpr int64_t kMostInterleaved = 4;

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_UTILS_CODEBUDGET_H
