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

/// Collects the times of the steps of all calls it listens to. Memory does not
/// grow with their number: sums are over all calls, the trace holds the first
/// and the last calls, each part with up to half of `mostEvents` steps (at
/// least one call). `manifest` outlives it.
class Profiler : public StepListener {
public:
  static constexpr size_t kMostEvents = 100'000;
  /// Steps of the manifest's program, then those of its variants.
  explicit Profiler(const Manifest &manifest, size_t mostEvents = kMostEvents);
  void before(const StepReport &report) override;
  Status after(const StepReport &report) override;

  /// What all calls did in one step.
  struct Total {
    /// Calls that reached it.
    uint64_t calls = 0;
    /// Sums over these.
    double us = 0, bytes = 0, flops = 0;
    /// Of the last one.
    unsigned threads = 1;
  };
  /// By step of the manifest, then of its variants.
  const std::vector<Total> &getTotals() const { return totals; }
  const std::vector<const StepSpec *> &getSteps() const { return steps; }
  /// Numbers a step among those of all programs.
  uint32_t getNumber(const StepReport &report) const {
    return firstStep[report.program] + report.step;
  }
  /// One row per step, the longest first: calls, time, share, bandwidth, rate.
  std::string table() const;
  /// A trace in the JSON form that Perfetto and Chrome read; its "otherData"
  /// says how many calls there were and how many it holds.
  std::string trace() const;
  uint64_t getCalls() const { return calls; }
  /// How many calls at each end the trace holds, if not all.
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
  /// By program.
  std::vector<uint32_t> firstStep;
  Clock::time_point origin = Clock::now(), start;
  /// Capacity of each of the two parts of the trace in calls; calls so far.
  uint64_t room, calls = 0;
  std::vector<Event> first;
  /// By call modulo `room`, then by step.
  std::vector<Event> last;
  std::vector<Total> totals;
};

} // namespace luminal::runtime

#endif // LUMINAL_RUNTIME_PROFILE_H
