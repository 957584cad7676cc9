//===- CublasLtTypes.h - The part of cuBLASLt's interface in use ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The library is opened at run time, and the build needs no CUDA toolkit: the
// types and constants of its ABI that are used are declared here. They are the
// same in versions 12 and 13.
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

/// Status codes.
enum : int { kSuccess = 0, kInvalidValue = 7, kNotSupported = 15 };
/// Element types (cudaDataType) and compute types (cublasComputeType_t).
enum : int { kR32F = 0, kR64F = 1, kR16F = 2, kR16BF = 14 };
enum : int { kCompute32F = 68, kCompute64F = 70 };
enum : int32_t { kNoTranspose = 0, kTranspose = 1 };
/// Attributes of a Matmul; values are int32_t, uint32_t or pointers.
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
/// Attributes of a Layout; values are int32_t and int64_t.
enum : int { kLayoutBatchCount = 5, kLayoutBatchStride = 6 };
/// Attributes of a Preference; values are uint64_t, uint32_t, and uint32_t for
/// the minimum alignments in bytes of A, B, C and D.
enum : int {
  kPreferenceWorkspace = 1,
  kPreferenceReductions = 3,
  kPreferenceAlignment = 5
};
/// Split-k reduction scheme: partial sums in the compute type, in the
/// workspace.
enum : uint32_t { kReductionCompute = 2 };

struct Algorithm {
  uint64_t data[8];
};
/// An algorithm that the library's heuristic proposes.
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
