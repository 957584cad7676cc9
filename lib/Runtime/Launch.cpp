//===- Launch.cpp - How the code of a step is started ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Runtime/Launch.h"

using namespace luminal;
using namespace luminal::runtime;

template <size_t i = 0>
static std::optional<LaunchSpec> makeFrom(std::string_view target) {
  if constexpr (i < std::variant_size_v<LaunchSpec>) {
    using Launch = std::variant_alternative_t<i, LaunchSpec>;
    return Launch::kTarget == target ? LaunchSpec(Launch())
                                     : makeFrom<i + 1>(target);
  }
  return std::nullopt;
}

std::optional<LaunchSpec> runtime::makeLaunch(std::string_view target) {
  return makeFrom(target);
}

std::string_view runtime::getTargetName(const LaunchSpec &launch) {
  return std::visit([](const auto &self) { return self.kTarget; }, launch);
}
