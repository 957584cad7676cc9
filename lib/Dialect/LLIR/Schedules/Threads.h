//===- Threads.h - Thread groups of a schedule ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_THREADS_H
#define LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_THREADS_H

#include "Forms.h"

namespace luminal::llir {

/// The memory that a kernel reads or writes, seen by vectors along a dim.
class Accesses {
public:
  explicit Accesses(KernelAnalysis &a) : a(a) {}

  /// Adds the reads of the element of `v` at `index`.
  void addReads(mlir::Value v, const Index &index);
  /// Adds the write of result `number` at `index`.
  void addResult(unsigned number, const Index &index);

  /// Returns whether consecutive elements along `dim` are adjacent in memory,
  /// or the same element.
  bool areAlong(unsigned dim) const;
  /// Returns how many elements along `dim`, of `extent`, one access takes: the
  /// most for which all contiguous writes are aligned, or, without writes, all
  /// contiguous reads. 1 if few accesses are contiguous.
  unsigned chooseLanes(unsigned dim, const Expr &extent,
                       const MachineModel &machine) const;
  /// Returns the bits of the narrowest element that is read or written.
  unsigned getLeastBits() const;

private:
  struct Access {
    Expr address;
    unsigned bits;
    bool isWritten = false;
  };
  KernelAnalysis &a;
  llvm::SmallVector<Access> accesses;
};

/// Returns how many threads with `bytes` in flight each keep the GPU's memory
/// busy; under that load its latency is four times as long.
int64_t countThreadsInFlight(double bytes, const MachineModel &machine);
/// Returns the size of the thread groups that each take one of `units` work
/// items of `vectors` vectors (both nullopt: unknown), about `each` vectors a
/// thread. `areWide` says that each vector is an access of 16 bytes, of which
/// few keep memory busy (4096 rows of 5000 f32 took 48.5 us on an H200 with
/// groups of 256, 66.6 with 512; 12007 rows of 1537 bf16, which are not
/// vectors, 58.1 and 56.5).
unsigned chooseTeam(std::optional<int64_t> vectors,
                    std::optional<int64_t> units, int64_t each,
                    const MachineModel &machine, bool areWide = false);
/// Returns whether there are many work items for each thread group of the
/// machine.
bool hasWorkForTeams(int64_t units, unsigned team, const MachineModel &machine);
/// Returns the threads of a block, at most `most` unless a group has more, if
/// `total` threads (nullopt: unknown) have work.
unsigned chooseThreads(std::optional<int64_t> total, unsigned team,
                       const MachineModel &machine, unsigned most = 256);
/// Returns how many rounds of a thread group over `vectors` vectors are
/// unrolled.
int64_t chooseRounds(std::optional<int64_t> vectors, unsigned team,
                     int64_t most);

/// Whether the reduction's operands are read along the reduced dim, and how.
struct AlongReduced {
  bool isAlong = false;
  unsigned lanes = 1;
};
AlongReduced findAlongReduced(KernelAnalysis &a, ReductionOpInterface op,
                              const Index &index, const MachineModel &machine);

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_THREADS_H
