//===- Profile.h - Time and memory of each step ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_RUNTIME_PROFILE_H
#define LUMINAL_RUNTIME_PROFILE_H

#include "luminal/Runtime/Context.h"
#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace luminal::runtime {

/// Collects the times of the steps of all calls. Memory does not grow with the
/// number of calls: totals sum over all calls, and the trace holds the first
/// and the last calls, each half with up to `mostEvents` / 2 steps (at least
/// one call). `manifest` must outlive the profiler.
class Profiler : public StepListener {
public:
  static constexpr size_t kMostEvents = 100'000;
  /// Steps are numbered through the manifest's program, then its variants.
  explicit Profiler(const Manifest &manifest, size_t mostEvents = kMostEvents);
  void before(const StepReport &report) override;
  Status after(const StepReport &report) override;

  /// Totals of one step over all calls.
  struct Total {
    /// Number of calls that executed the step.
    uint64_t calls = 0;
    /// Sums over these calls: microseconds, bytes moved, operations.
    double us = 0, bytes = 0, flops = 0;
    /// Threads used by the last of these calls.
    unsigned threads = 1;
  };
  /// By step number: the manifest's steps, then those of its variants.
  const std::vector<Total> &getTotals() const { return totals; }
  const std::vector<const StepSpec *> &getSteps() const { return steps; }
  /// The step number of a report, unique across programs.
  uint32_t getNumber(const StepReport &report) const {
    return firstStep[report.program] + report.step;
  }
  /// A text table with one row per step, longest first: calls, time, share of
  /// the total, bandwidth, operations per second.
  std::string table() const;
  /// A trace in the JSON format of Perfetto and Chrome. Its "otherData" states
  /// how many calls there were and how many the trace holds.
  std::string trace() const;
  uint64_t getCalls() const { return calls; }
  /// Number of calls at each end that the trace holds; absent if it holds all.
  std::optional<uint64_t> getTraced() const;

private:
  using Clock = std::chrono::steady_clock;
  struct Event {
    uint64_t call;
    uint32_t step;
    unsigned threads;
    double startUs, lengthUs;
    int64_t work;
  };

  std::vector<const StepSpec *> steps;
  /// Number of the first step of each program.
  std::vector<uint32_t> firstStep;
  Clock::time_point origin = Clock::now(), start;
  /// Capacity in calls of each half of the trace; number of calls so far.
  uint64_t room, calls = 0;
  std::vector<Event> first;
  /// Indexed by call modulo `room`, then by step.
  std::vector<Event> last;
  std::vector<Total> totals;
};

} // namespace luminal::runtime

#endif // LUMINAL_RUNTIME_PROFILE_H
