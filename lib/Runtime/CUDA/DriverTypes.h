//===- DriverTypes.h - What of the CUDA driver's interface is used --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver is opened at run time, and the build needs no toolkit: the few
// types and numbers that cross its binary interface are declared here.
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

/// Codes that functions return.
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

/// What a capture forbids: to other threads nothing; nothing at all.
enum : int { kCaptureThreadLocal = 1, kCaptureRelaxed = 2 };
/// Whether a stream is captured; the capture may have failed.
enum : int { kCaptureNone = 0, kCaptureActive = 1, kCaptureInvalidated = 2 };
/// streamUpdateCaptureDependencies replaces what the stream's next work waits
/// for.
enum : unsigned { kSetCaptureDependencies = 1 };
/// Of userObjectCreate: who destroys it waits for nothing. Of
/// graphRetainUserObject: the graph takes over the caller's reference.
enum : unsigned { kNoDestructorSync = 1, kMoveUserObject = 1 };
/// A type of nodes.
enum : int { kKernelNode = 0 };
/// The legacy default stream by its other name; streams cannot be captured that
/// are null or this.
inline const StreamHandle kLegacyStream = reinterpret_cast<StreamHandle>(1);

/// Parameters of a kernel node, the first version of the structure.
struct KernelNode {
  FunctionHandle function;
  unsigned gridX, gridY, gridZ;
  unsigned blockX, blockY, blockZ;
  unsigned shared;
  void **parameters;
  void **extra;
};

/// What an edge of a graph waits for. All zero: that the node before ends.
struct GraphEdge {
  unsigned char fromPort, toPort, type;
  unsigned char reserved[5];
};
/// The kernel before lets this one start, which then waits itself.
constexpr GraphEdge kProgrammaticEdge = {1, 0, 1, {}};

} // namespace luminal::runtime::cuda

#endif // LUMINAL_LIB_RUNTIME_CUDA_DRIVERTYPES_H
