//===- Staging.h - Copies through pinned memory ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_RUNTIME_CUDA_STAGING_H
#define LUMINAL_LIB_RUNTIME_CUDA_STAGING_H

#include "CUDADevice.h"
#include <vector>

namespace luminal::runtime::cuda {

/// Copies of one call between host and device. Copies of pinned memory are
/// asynchronous. Memory of the caller is rarely pinned, so small enough copies
/// go through the runtime's own pinned memory.
class Staging {
public:
  explicit Staging(CUDADevice &device) : device(device) {}
  /// Starts a copy, at the latest with the next `flush`. Memory that is copied
  /// out is valid after `finish`.
  int start(const Copy &copy, StreamHandle stream);
  /// Starts the copy that waits to be merged with later ones.
  int flush(StreamHandle stream);
  bool isWaiting() const { return waiting.bytes > 0; }
  /// Copies results to memory of the caller, unless the call `failed`. To be
  /// called when the device is done.
  void finish(bool failed);
  uint64_t getMemoryBytes() const { return memory.size(); }

private:
  uint8_t *take(uint64_t bytes);
  int join(const Copy &copy, StreamHandle stream);

  CUDADevice &device;
  Memory memory;
  /// Bytes used by this call, and bytes that it would use with enough memory.
  uint64_t used = 0, wanted = 0;
  struct Result {
    void *to;
    const void *from;
    uint64_t bytes;
  };
  std::vector<Result> results;
  /// A copy between pinned memory and the device; 0 bytes: none.
  Copy waiting{nullptr, nullptr, 0, Copy::Kind::In};
};

} // namespace luminal::runtime::cuda

#endif // LUMINAL_LIB_RUNTIME_CUDA_STAGING_H
