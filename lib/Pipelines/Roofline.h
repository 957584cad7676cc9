//===- Roofline.h - The least time of a kernel ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_PIPELINES_ROOFLINE_H
#define LUMINAL_LIB_PIPELINES_ROOFLINE_H

#include "luminal/Support/MachineModel.h"
#include <algorithm>

namespace luminal {

/// The nanoseconds that a kernel needs at least, by the model of the machine:
/// to move its bytes, or to do its operations.
class Roofline {
public:
  explicit Roofline(const MachineModel &machine)
      : machine(machine), bytes(machine.getReadRate(machine.workers)),
        operations(machine.workers * 2 * machine.getFmaRate()) {
    // Of a GPU tensor cores multiply.
    operations = std::max({operations, 2 * machine.products.library.f16,
                           2 * machine.products.library.f32});
  }
  double of(double traffic, double flops) const {
    // Of a CPU caches may hold what a kernel moves, as in its price.
    double rate = machine.getTrafficRate(traffic, machine.workers);
    return std::max(traffic / rate, flops / operations);
  }

  MachineModel machine;

  /// A nanosecond, by all workers: bytes of memory, and operations.
  double bytes, operations;
};

} // namespace luminal

#endif // LUMINAL_LIB_PIPELINES_ROOFLINE_H
