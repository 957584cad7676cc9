//===- CPUDevice.h - The host CPU as a device -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_RUNTIME_CPU_CPUDEVICE_H
#define LUMINAL_LIB_RUNTIME_CPU_CPUDEVICE_H

#include "luminal/Runtime/Device.h"

namespace luminal::runtime {

/// A kernel of host.so, or a function of a user's shared object.
/// docs/Architecture.md states the contract.
using KernelFn = int32_t (*)(void *const *buffers, const int64_t *symbols,
                             int64_t begin, int64_t end, void *scratch);

class CPUDevice : public Device {
public:
  DeviceInfo describe() const override;
  Status check(const TargetSpec &target) const override;
  Result<std::unique_ptr<Module>> load(const TargetSpec &target,
                                       const ReadMember &read) override;
  Result<std::unique_ptr<Module>> loadCustom(const std::string &member,
                                             const ReadMember &read) override;
  Status checkLibrary(std::string_view library) override;
  bool sharesMemory() const override { return true; }
  bool reaches(const void *) const override { return true; }
  void *allocate(uint64_t &bytes, Place place) override;
  void release(void *memory, Place place) override;
  Status copy(const Copy &copy) override;
  Result<std::unique_ptr<LaunchPlan>>
  createPlan(const Manifest &manifest, std::span<const KernelHandle> kernels,
             unsigned threads) override;
};

} // namespace luminal::runtime

#endif // LUMINAL_LIB_RUNTIME_CPU_CPUDEVICE_H
