//===- CustomStep.cpp - A user's function as a step -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LibraryStep.h"

using namespace luminal;
using namespace luminal::runtime;
using namespace luminal::runtime::cuda;

namespace {
class CustomStep : public LibraryStep {
public:
  CustomStep(CUDADevice &device, const CUDACustomLaunch &launch,
             std::vector<Parameter> parameters, FunctionHandle function)
      : device(device), driver(device.getDriver()), launch(launch),
        parameters(std::move(parameters)), function(function),
        storage(this->parameters.size()) {
    for (uint64_t &word : storage)
      addresses.push_back(&word);
  }

  Status prepare(std::span<const int64_t> sizes, std::span<void *const> buffers,
                 StreamHandle stream) override;
  Status start(StreamHandle stream) override;

private:
  CUDADevice &device;
  const Driver &driver;
  const CUDACustomLaunch &launch;
  const std::vector<Parameter> parameters;
  const FunctionHandle function;
  /// Number of launch expressions before `values`: work, the three grid dims,
  /// shared memory.
  static constexpr size_t kOwnSizes = 5;
  int64_t grid[3] = {};
  unsigned shared = 0;
  /// The value of each parameter; an i32 is the low half of its word.
  std::vector<uint64_t> storage;
  std::vector<void *> addresses;
};
} // namespace

Status CustomStep::prepare(std::span<const int64_t> sizes,
                           std::span<void *const> buffers, StreamHandle) {
  for (int i = 0; i < 3; ++i)
    grid[i] = sizes[1 + i];
  if (sizes[4] > device.getMostShared())
    return Error("needs " + std::to_string(sizes[4]) +
                 " bytes of shared memory, the device has " +
                 std::to_string(device.getMostShared()));
  shared = static_cast<unsigned>(sizes[4]);
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Parameter &parameter = parameters[i];
    if (parameter.kind == Parameter::Kind::Buffer) {
      storage[i] = toDevice(buffers[parameter.index]);
      continue;
    }
    const int64_t value = sizes[kOwnSizes + parameter.index];
    if (parameter.kind == Parameter::Kind::I32 && value > INT32_MAX)
      return Error("is passed " + std::to_string(value) +
                   ", which does not fit into 32 bits");
    storage[i] = static_cast<uint64_t>(value);
  }
  return shared == 0 ? Status() : device.allowShared(function, shared);
}

Status CustomStep::start(StreamHandle stream) {
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0)
    return {};
  const int code = driver.launchKernel(
      function, static_cast<unsigned>(grid[0]), static_cast<unsigned>(grid[1]),
      static_cast<unsigned>(grid[2]), static_cast<unsigned>(launch.blockX),
      static_cast<unsigned>(launch.blockY),
      static_cast<unsigned>(launch.blockZ), shared, stream, addresses.data(),
      nullptr);
  return driver.check(code, "it cannot be launched");
}

Result<std::unique_ptr<LibraryStep>>
cuda::createCustomStep(CUDADevice &device, const CUDACustomLaunch &launch,
                       size_t buffers, FunctionHandle function) {
  LUMINAL_TRY(parameters, parseParameters(launch.parameters, buffers,
                                          launch.values.size()));
  return std::unique_ptr<LibraryStep>(std::make_unique<CustomStep>(
      device, launch, std::move(parameters), function));
}
