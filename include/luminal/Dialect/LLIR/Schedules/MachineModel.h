//===- MachineModel.h - What schedules need to know of a machine ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_SCHEDULES_MACHINEMODEL_H
#define LUMINAL_DIALECT_LLIR_SCHEDULES_MACHINEMODEL_H

#include <algorithm>
#include <cstdint>

namespace luminal {

/// One worker of a machine: a core of a CPU, or a thread of a GPU and what its
/// block has. Schedules are proposed for it and verified against it; no other
/// place knows a size of a machine.
struct MachineModel {
  /// Bits of the widest vectors that pay; 32: scalar code.
  unsigned vectorBits = 128;
  /// Registers that hold them; 0: no tiles of sums in registers.
  unsigned vectorRegisters = 16;
  /// Bytes of the caches that a worker has for itself.
  int64_t l1Bytes = 32 << 10;
  int64_t l2Bytes = 1 << 20;
  /// Whether a worker has memory for what it keeps while it does a unit.
  bool hasScratch = true;
  /// Elements of a map that one unit of work takes, at most.
  int64_t unitElements = 4096;
  /// Simple operations that are worth handing to another worker: about ten
  /// microseconds of vector code.
  int64_t grain = 1 << 17;
  /// Of a GPU: threads that a block has at most, and those that run in step and
  /// exchange values at no cost; 0 where there are no blocks.
  unsigned blockThreads = 0;
  unsigned warpThreads = 0;

  /// Elements of `bits` bits in one vector.
  unsigned getLanes(unsigned bits) const {
    return std::max(1u, vectorBits / bits);
  }

  /// A thread of any NVIDIA GPU from sm_80 on.
  static MachineModel getGPUThread() {
    MachineModel machine;
    machine.blockThreads = 1024;
    machine.warpThreads = 32;
    machine.vectorBits = 32;
    machine.vectorRegisters = 0;
    machine.hasScratch = false;
    machine.unitElements = 1;
    return machine;
  }
};

} // namespace luminal

#endif // LUMINAL_DIALECT_LLIR_SCHEDULES_MACHINEMODEL_H
