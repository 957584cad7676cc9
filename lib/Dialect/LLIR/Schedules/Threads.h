//===- Threads.h - Thread groups of a schedule ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_THREADS_H
#define LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_THREADS_H

#include "Forms.h"

namespace luminal::llir {

/// Memory that a kernel reads or writes, as vectors along a dim see it.
class Accesses {
public:
  explicit Accesses(KernelAnalysis &a) : a(a) {}

  /// What is read for the element of `v` at `index`.
  void addReads(mlir::Value v, const Index &index);
  /// What is written: result `number` at `index`.
  void addResult(unsigned number, const Index &index);

  /// Whether every element is next to the one before along `dim`, or the same.
  bool areAlong(unsigned dim) const;
  /// Elements along `dim`, of `extent`, that one access takes: so many that all
  /// that are written next to each other are aligned, or all that are read
  /// where nothing is written; 1 where few are next to each other.
  unsigned chooseLanes(unsigned dim, const Expr &extent,
                       const MachineModel &machine) const;
  /// Of the elements that are read and written, the bits of the narrowest.
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

/// Threads with `bytes` each on their way that keep a GPU's memory busy, which
/// takes four times as long to answer then.
int64_t countThreadsInFlight(double bytes, const MachineModel &machine);
/// Threads that take `vectors` vectors (nothing: unknown) of one of `units`
/// units (likewise) together, about `each` of them a thread. `areWide`: each is
/// an access of 16 bytes, of which few keep memory busy (4096 rows of 5000 f32
/// took 48.5 us on an H200 by teams of 256, 66.6 of 512; 12007 of 1537 bf16,
/// which are no vectors, 58.1 and 56.5).
unsigned chooseTeam(std::optional<int64_t> vectors,
                    std::optional<int64_t> units, int64_t each,
                    const MachineModel &machine, bool areWide = false);
/// Whether so many units give all threads work many times over, each by a team.
bool hasWorkForTeams(int64_t units, unsigned team, const MachineModel &machine);
/// Threads of a block, at most `most` unless a team has more, where `total`
/// (nothing: unknown) of them have work.
unsigned chooseThreads(std::optional<int64_t> total, unsigned team,
                       const MachineModel &machine, unsigned most = 256);
/// Rounds of a team over `vectors` vectors that are taken in a row.
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
