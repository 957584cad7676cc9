//===- Staging.h - Pinned memory between the caller's and the device's ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_RUNTIME_CUDA_STAGING_H
#define LUMINAL_LIB_RUNTIME_CUDA_STAGING_H

#include "CUDADevice.h"
#include <vector>

namespace luminal::runtime::cuda {

/// Copies of one call across the bus. The device copies pinned memory while the
/// host goes on; the caller's is rarely pinned, so what is small enough goes
/// through memory of ours.
class Staging {
public:
  explicit Staging(CUDADevice &device) : device(device) {}
  /// Starts a copy, by the next call of `flush` at the latest. Memory that is
  /// copied out is valid after `finish`.
  int start(const Copy &copy, StreamHandle stream);
  /// Starts what waited to be joined with a later copy.
  int flush(StreamHandle stream);
  bool isWaiting() const { return waiting.bytes > 0; }
  /// After the device is done: brings results to the caller, unless the call
  /// `failed`.
  void finish(bool failed);
  uint64_t getMemoryBytes() const { return memory.size(); }

private:
  uint8_t *take(uint64_t bytes);
  int join(const Copy &copy, StreamHandle stream);

  CUDADevice &device;
  Memory memory;
  /// Taken in this call; what it would have taken with enough memory.
  uint64_t used = 0, wanted = 0;
  struct Result {
    void *to;
    const void *from;
    uint64_t bytes;
  };
  std::vector<Result> results;
  /// Between pinned memory and the device; 0 bytes: none.
  Copy waiting{nullptr, nullptr, 0, Copy::Kind::In};
};

} // namespace luminal::runtime::cuda

#endif // LUMINAL_LIB_RUNTIME_CUDA_STAGING_H
