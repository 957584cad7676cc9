//===- Prepared.h - Values computed when weights are bound ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_RUNTIME_PREPARED_H
#define LUMINAL_LIB_RUNTIME_PREPARED_H

#include "luminal/Runtime/Artifact.h"
#include "luminal/Runtime/Device.h"
#include <atomic>
#include <memory>
#include <span>
#include <vector>

namespace luminal::runtime {

/// The outputs of Manifest::prepare for one set of weights.
struct PreparedValues {
  PreparedValues() = default;
  PreparedValues(const PreparedValues &) = delete;
  PreparedValues &operator=(const PreparedValues &) = delete;
  ~PreparedValues() {
    if (counter)
      *counter -= memory.size();
  }

  Memory memory;
  /// By output, where kernels reach it.
  std::vector<const void *> places;
  /// Where the memory is counted for as long as it is there; may be null.
  std::shared_ptr<std::atomic<uint64_t>> counter;
};

/// Runs `prepare` (Artifact::getPrepare) on `weights`, by index, in memory of
/// the host or the device; those that it does not read may be null. A call uses
/// at most `threads` threads of the host. `counter`: where the memory is
/// counted.
Result<std::shared_ptr<const PreparedValues>>
prepareValues(std::shared_ptr<const Artifact> prepare,
              std::span<const void *const> weights, unsigned threads,
              std::shared_ptr<std::atomic<uint64_t>> counter = nullptr);

/// Computes them again from what the weights hold now, in the same memory.
/// Calls that read it should be done.
Status prepareAgain(std::shared_ptr<const Artifact> prepare,
                    std::span<const void *const> weights, unsigned threads,
                    const PreparedValues &values);

/// The error of a call that needs a weight which is nowhere.
Error weightMissing(const Manifest &manifest, const WeightSpec &weight);

} // namespace luminal::runtime

#endif // LUMINAL_LIB_RUNTIME_PREPARED_H
