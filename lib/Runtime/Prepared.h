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
  /// Memory of each output that kernels can access.
  std::vector<const void *> places;
  /// Counts the bytes while the memory is allocated; may be null.
  std::shared_ptr<std::atomic<uint64_t>> counter;
};

/// Runs `prepare` (Artifact::getPrepare) on `weights`, by index, in host or
/// device memory; weights that it does not read may be null. Uses at most
/// `threads` host threads. `counter` counts the memory of the result.
Result<std::shared_ptr<const PreparedValues>>
prepareValues(std::shared_ptr<const Artifact> prepare,
              std::span<const void *const> weights, unsigned threads,
              std::shared_ptr<std::atomic<uint64_t>> counter = nullptr);

/// Recomputes the values in place from the weights' current contents. No call
/// that reads them may be in flight.
Status prepareAgain(std::shared_ptr<const Artifact> prepare,
                    std::span<const void *const> weights, unsigned threads,
                    const PreparedValues &values);

/// The error of a call that needs a weight which is neither bound nor loaded.
Error weightMissing(const Manifest &manifest, const WeightSpec &weight);

} // namespace luminal::runtime

#endif // LUMINAL_LIB_RUNTIME_PREPARED_H
