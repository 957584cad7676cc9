//===- CublasLtTypes.h - What of cuBLASLt's interface is used -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The library is opened at run time, and the build needs no toolkit: the few
// types and numbers that cross its binary interface are declared here. They are
// those of its versions 12 and 13.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_RUNTIME_CUDA_CUBLASLTTYPES_H
#define LUMINAL_LIB_RUNTIME_CUDA_CUBLASLTTYPES_H

#include "DriverTypes.h"

namespace luminal::runtime::cuda::lt {

using Handle = struct LibraryStruct *;
using Matmul = struct MatmulStruct *;
using Layout = struct LayoutStruct *;
using Preference = struct PreferenceStruct *;

/// Codes that functions return.
enum : int { kSuccess = 0, kInvalidValue = 7, kNotSupported = 15 };
/// Element types of memory, and types of a computation.
enum : int { kR32F = 0, kR64F = 1, kR16F = 2, kR16BF = 14 };
enum : int { kCompute32F = 68, kCompute64F = 70 };
enum : int32_t { kNoTranspose = 0, kTranspose = 1 };
/// What of a Matmul is set: int32_t, uint32_t, a pointer.
enum : int {
  kMatmulTransposeA = 3,
  kMatmulTransposeB = 4,
  kMatmulEpilogue = 7,
  kMatmulBiasPointer = 8
};
enum : uint32_t {
  kEpilogueNone = 1,
  kEpilogueRelu = 2,
  kEpilogueBias = 4,
  kEpilogueGelu = 32
};
/// What of a Layout is set: int32_t, int64_t.
enum : int { kLayoutBatchCount = 5, kLayoutBatchStride = 6 };
/// What of a Preference is set: uint64_t, uint32_t, and uint32_t for the
/// alignments in bytes of A, B, C and D.
enum : int {
  kPreferenceWorkspace = 1,
  kPreferenceReductions = 3,
  kPreferenceAlignment = 5
};
/// Sums of parts of k: in the type of the computation, in the workspace.
enum : uint32_t { kReductionCompute = 2 };

struct Algorithm {
  uint64_t data[8];
};
/// An algorithm that the library proposes.
struct Heuristic {
  Algorithm algorithm;
  size_t workspace;
  int state;
  float waves;
  int reserved[4];
};
static_assert(sizeof(Heuristic) == 96);

} // namespace luminal::runtime::cuda::lt

#endif // LUMINAL_LIB_RUNTIME_CUDA_CUBLASLTTYPES_H
