//===- Threads.cpp - Thread groups of a schedule --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Threads.h"
#include "luminal/Dialect/LLIR/Analysis/AlignedRuns.h"
#include "luminal/Dialect/LLIR/Analysis/ClampedAccess.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// A larger thread group loses more to barriers than it gains.
static constexpr unsigned kLargestTeam = 512;
/// The smallest thread group, whose accesses fill a memory sector; the most
/// vectors of each thread then; and how many times a GPU's threads work items
/// must fill to hide the latency of these.
static constexpr unsigned kSmallestTeam = 8;
static constexpr int64_t kMostVectorsEach = 5, kManyUnitsEach = 16;
/// The vectors that a thread keeps if a block takes a row; and by which factor
/// a group of half the size must have fewer idle lanes to be preferred.
static constexpr int64_t kMostVectorsOfBlock = 8;
static constexpr double kWorthHalving = 1.05;

/// In memory, i1 takes a byte.
static unsigned getBits(Type element) {
  return std::max(8u, element.getIntOrFloatBitWidth());
}

void Accesses::addReads(Value v, const Index &index) {
  a.walk(v, index, [&](const Leaf &leaf) {
    if (leaf.argument)
      accesses.push_back(
          {leaf.address, getBits(getElementType(leaf.argument))});
  });
}

void Accesses::addResult(unsigned number, const Index &index) {
  accesses.push_back({a.getResultAddress(number, index),
                      getBits(getElementType(a.kernel.getResults()[number])),
                      /*isWritten=*/true});
}

bool Accesses::areAlong(unsigned dim) const {
  bool any = false;
  for (const Access &access : accesses) {
    std::optional<Expr::Linear> linear = access.address.linearIn(dim);
    if (!linear ||
        !(linear->stride.isConstant(0) || linear->stride.isConstant(1)))
      return false;
    any |= linear->stride.isConstant(1);
  }
  return any;
}

unsigned Accesses::chooseLanes(unsigned dim, const Expr &extent,
                               const MachineModel &machine) const {
  unsigned widest = 8, along = 0, apart = 0;
  auto isFixed = [&](const Access &access) {
    std::optional<Expr::Linear> linear = access.address.linearIn(dim);
    return linear && linear->stride.isConstant(0);
  };
  // A value that is the same in all lanes, such as an index, is no vector.
  for (const Access &access : accesses)
    if (!isFixed(access))
      widest = std::max(widest, access.bits);
  unsigned lanes = llir::chooseLanes(extent, machine.getLanes(widest));
  // Unaligned reads are split, but their parts are in one line of L1; writes
  // are still whole vectors.
  bool mayFallApart = llvm::any_of(
      accesses, [](const Access &access) { return access.isWritten; });
  for (const Access &access : accesses) {
    if (isFixed(access))
      continue;
    std::optional<Expr::Linear> linear = access.address.linearIn(dim);
    std::optional<ClampedAccess> clamped;
    if (!linear)
      clamped = findClampedAccess(access.address, dim, a.getAssumptions());
    if (!linear && !clamped && !access.isWritten) {
      // The widest vector that no divisor of the index splits.
      unsigned whole = lanes;
      while (
          whole > 1 &&
          !(isAlignedRun(access.address, dim, whole, a.getAssumptions()) &&
            beginsAtMultiple(access.address, dim, whole, a.getAssumptions())))
        whole /= 2;
      if (whole > 1) {
        ++along;
        lanes = whole;
        continue;
      }
    }
    if (!clamped && !(linear && linear->stride.isConstant(1))) {
      ++apart;
      continue;
    }
    ++along;
    if (mayFallApart && !access.isWritten && !clamped)
      continue;
    Expr first = clamped ? clamped->rest + clamped->offset : linear->rest;
    while (lanes > 1 && (!a.simplify(Expr::mod(first, lanes)).isConstant(0) ||
                         (clamped && !clamped->isWholeFor(lanes, extent,
                                                          a.getAssumptions()))))
      lanes /= 2;
  }
  return along > apart ? lanes : 1;
}

unsigned Accesses::getLeastBits() const {
  unsigned least = 64;
  for (const Access &access : accesses)
    least = std::min(least, access.bits);
  return least;
}

int64_t llir::countThreadsInFlight(double bytes, const MachineModel &machine) {
  // 65536 x 1000 f32, 64 bytes at a time, took 130 us on an H200 with 62 parts,
  // 101 with 88, 80 with 128, 86 with 256.
  constexpr double kLoaded = 4, kLeast = 256;
  double workers = machine.workers;
  double needed = kLoaded * machine.memoryLatency *
                  machine.getReadRate(workers) / std::max(1.0, bytes);
  return int64_t(
      std::clamp(needed, kLeast * workers, workers * machine.residentThreads));
}

bool llir::hasWorkForTeams(int64_t units, unsigned team,
                           const MachineModel &machine) {
  return units * team >= kManyUnitsEach * machine.getBusyThreads();
}

unsigned llir::chooseTeam(std::optional<int64_t> vectors,
                          std::optional<int64_t> units, int64_t each,
                          const MachineModel &machine, bool areWide) {
  if (!vectors)
    return machine.warpThreads;
  // Up to a warp, threads exchange values through registers.
  if (*vectors <= int64_t(machine.warpThreads) * each * 2) {
    unsigned team = machine.warpThreads;
    while (team > 1 && int64_t(team) / 2 >= *vectors)
      team /= 2;
    // Smaller groups need fewer exchanges for each work item, if there are
    // enough work items to keep all threads busy.
    while (team > kSmallestTeam && units &&
           *vectors <= int64_t(team) / 2 * kMostVectorsEach &&
           hasWorkForTeams(*units, team / 2, machine))
      team /= 2;
    return team;
  }
  unsigned team = 4 * machine.warpThreads;
  while (team < kLargestTeam && team * each < *vectors)
    team *= 2;
  // Use a smaller group if threads of this one idle in the last round, as long
  // as each keeps its vectors in registers and all threads have work.
  auto getLoss = [&](unsigned members) {
    return double(llvm::divideCeil(*vectors, members) * members) / *vectors;
  };
  for (unsigned half = team / 2;
       areWide && half >= 4 * machine.warpThreads && units &&
       llvm::divideCeil(*vectors, half) <= kMostVectorsOfBlock &&
       hasWorkForTeams(*units, half, machine) &&
       kWorthHalving * getLoss(half) < getLoss(team);
       half /= 2)
    team = half;
  return team;
}

unsigned llir::chooseThreads(std::optional<int64_t> total, unsigned team,
                             const MachineModel &machine, unsigned most) {
  if (team > machine.warpThreads)
    return team;
  unsigned threads = most;
  while (total && threads > 64 && *total < machine.getBusyBlocks() * threads)
    threads /= 2;
  return threads;
}

int64_t llir::chooseRounds(std::optional<int64_t> vectors, unsigned team,
                           int64_t most) {
  if (!vectors)
    return 2;
  int64_t rounds = std::max<int64_t>(1, llvm::divideCeil(*vectors, team));
  if (rounds <= most)
    return rounds;
  // The most rounds that leave no remainder.
  for (int64_t r = most; r > most / 2; --r)
    if (rounds % r == 0)
      return r;
  return most;
}

AlongReduced llir::findAlongReduced(KernelAnalysis &a, ReductionOpInterface op,
                                    const Index &index,
                                    const MachineModel &machine) {
  Accesses accesses(a);
  std::optional<unsigned> reduced;
  auto body = cast<BodyOpInterface>(op.getOperation());
  body.getReads(
      index,
      [&](const Expr &extent) {
        reduced = a.addDim(extent);
        return Expr::dim(*reduced);
      },
      [&](OpOperand &operand, const Index &at) {
        accesses.addReads(operand.get(), at);
      });
  if (!reduced)
    return {};
  return {accesses.areAlong(*reduced),
          accesses.chooseLanes(*reduced, op.getReducedExtent(), machine)};
}
