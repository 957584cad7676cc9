//===- PlannedKernels.h - Kernels in the plan cache -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_PIPELINES_PLANNEDKERNELS_H
#define LUMINAL_LIB_PIPELINES_PLANNEDKERNELS_H

#include "luminal/Conversion/KernelObjects.h"
#include "luminal/Search/PlanCache.h"

namespace luminal {

/// Keeps the code of kernels in the plan cache, beside the measured times.
class PlannedKernels : public KernelStore {
public:
  explicit PlannedKernels(search::PlanCache cache) : cache(std::move(cache)) {}
  /// Evicts old entries if new ones were added.
  ~PlannedKernels() override {
    if (hasNew)
      cache.trim();
  }

  std::optional<std::string> find(const std::string &key) override {
    return cache.find(kKind, key);
  }
  void keep(const std::string &key, llvm::StringRef entry) override {
    if (cache.getMode() == search::CacheMode::Update) {
      hasNew = true;
      cache.store(kKind, key, entry);
    }
  }

private:
  static constexpr std::string_view kKind = "object";
  search::PlanCache cache;
  bool hasNew = false;
};

} // namespace luminal

#endif // LUMINAL_LIB_PIPELINES_PLANNEDKERNELS_H
