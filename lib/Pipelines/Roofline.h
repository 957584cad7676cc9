//===- Roofline.h - A lower bound of a kernel's time ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_PIPELINES_ROOFLINE_H
#define LUMINAL_LIB_PIPELINES_ROOFLINE_H

#include "luminal/Support/MachineModel.h"
#include <algorithm>

namespace luminal {

/// A lower bound of a kernel's time in nanoseconds, by the machine model: the
/// larger of the times for moving its bytes and for executing its operations.
class Roofline {
public:
  explicit Roofline(const MachineModel &machine)
      : machine(machine), bytes(machine.getReadRate(machine.workers)),
        operations(machine.workers * 2 * machine.getFmaRate()) {
    // On a GPU, the rate of the tensor cores counts.
    operations = std::max({operations, 2 * machine.products.library.f16,
                           2 * machine.products.library.f32});
  }
  double of(double traffic, double flops) const {
    // On a CPU, the data may come from caches, as in the static price.
    double rate = machine.getTrafficRate(traffic, machine.workers);
    return std::max(traffic / rate, flops / operations);
  }

  MachineModel machine;

  /// Rates of all workers together: bytes of memory and operations per
  /// nanosecond.
  double bytes, operations;
};

} // namespace luminal

#endif // LUMINAL_LIB_PIPELINES_ROOFLINE_H
