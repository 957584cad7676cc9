//===- DriverTypes.h - The part of the driver's interface in use ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver is opened at run time, and the build needs no CUDA toolkit: the
// types and constants of its ABI that are used are declared here.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_RUNTIME_CUDA_DRIVERTYPES_H
#define LUMINAL_LIB_RUNTIME_CUDA_DRIVERTYPES_H

#include <cstddef>
#include <cstdint>

namespace luminal::runtime::cuda {

using DeviceId = int;
using DevicePointer = unsigned long long;
using ContextHandle = struct ContextStruct *;
using ModuleHandle = struct ModuleStruct *;
using FunctionHandle = struct FunctionStruct *;
using StreamHandle = struct StreamStruct *;
using EventHandle = struct EventStruct *;
using GraphHandle = struct GraphStruct *;
using NodeHandle = struct NodeStruct *;
using ExecHandle = struct ExecStruct *;
using UserObjectHandle = struct UserObjectStruct *;

/// Status codes.
enum : int {
  kSuccess = 0,
  kInvalidValue = 1,
  kOutOfMemory = 2,
  kNoDevice = 100,
  kInvalidDevice = 101,
  kNoBinaryForGpu = 209,
  kInvalidPtx = 218,
  kUnsupportedPtx = 222,
  kNotFound = 500,
  kNotReady = 600,
  kIllegalAddress = 700
};

/// Attributes of devices, pointers and functions.
enum : int {
  kClockKilohertz = 13,
  kMultiprocessorCount = 16,
  kMemoryKilohertz = 36,
  kMemoryBits = 37,
  kCacheBytes = 38,
  kComputeCapabilityMajor = 75,
  kComputeCapabilityMinor = 76,
  kMaxSharedPerBlockOptin = 97,
  kPointerMemoryType = 2,
  kPointerDeviceOrdinal = 9,
  kFunctionMaxDynamicShared = 8
};
enum : unsigned { kMemoryTypeHost = 1, kMemoryTypeDevice = 2 };
/// Options of moduleLoadDataEx.
enum : int { kJitErrorLog = 5, kJitErrorLogBytes = 6 };
/// Flags of memHostAlloc, streamCreate and eventCreate.
enum : unsigned {
  kHostPortable = 1,
  kStreamNonBlocking = 1,
  kEventWithoutTime = 2
};

/// Capture modes: which unsafe calls a capture forbids. ThreadLocal forbids
/// them to the capturing thread, Relaxed forbids none.
enum : int { kCaptureThreadLocal = 1, kCaptureRelaxed = 2 };
/// Capture status of a stream; Invalidated: the capture has failed.
enum : int { kCaptureNone = 0, kCaptureActive = 1, kCaptureInvalidated = 2 };
/// Flag of streamUpdateCaptureDependencies: replaces the nodes that the
/// stream's next work depends on.
enum : unsigned { kSetCaptureDependencies = 1 };
/// kNoDestructorSync, of userObjectCreate: the destructor does not synchronize
/// with anything. kMoveUserObject, of graphRetainUserObject: the graph takes
/// over the caller's reference.
enum : unsigned { kNoDestructorSync = 1, kMoveUserObject = 1 };
/// Type of a kernel node.
enum : int { kKernelNode = 0 };
/// The explicit handle of the legacy default stream. Neither it nor the null
/// stream can be captured.
inline const StreamHandle kLegacyStream = reinterpret_cast<StreamHandle>(1);

/// Parameters of a kernel node (version 1 of the struct).
struct KernelNode {
  FunctionHandle function;
  unsigned gridX, gridY, gridZ;
  unsigned blockX, blockY, blockZ;
  unsigned shared;
  void **parameters;
  void **extra;
};

/// Type of a dependency. All zero: the successor waits for the end of the
/// predecessor.
struct GraphEdge {
  unsigned char fromPort, toPort, type;
  unsigned char reserved[5];
};
/// Programmatic dependent launch: the predecessor triggers the launch, and the
/// successor waits for the predecessor's memory itself.
constexpr GraphEdge kProgrammaticEdge = {1, 0, 1, {}};

} // namespace luminal::runtime::cuda

#endif // LUMINAL_LIB_RUNTIME_CUDA_DRIVERTYPES_H
