//===- Profile.h - Time and memory of each step ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_TOOLS_RUN_PROFILE_H
#define LUMINAL_TOOLS_RUN_PROFILE_H

#include "luminal/Runtime/Context.h"
#include "luminal/Support/OutputFile.h"
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

namespace luminal::tools {

/// Collects the times of the steps of all calls it listens to. Memory does not
/// grow with their number: sums are over all calls, the trace holds the first
/// and the last calls, each part with up to half of `mostEvents` steps (at
/// least one call).
class Profiler : public runtime::StepListener {
public:
  static constexpr size_t kMostEvents = 100'000;
  explicit Profiler(const runtime::Manifest &manifest,
                    size_t mostEvents = kMostEvents);
  void before(const runtime::StepReport &report) override;
  Status after(const runtime::StepReport &report) override;

  /// One row per step, the longest first: calls, time, share, bandwidth, rate.
  std::string table() const;
  /// Writes a trace in the JSON form that Perfetto and Chrome read; its
  /// "otherData" says how many calls there were and how many it holds.
  Status writeTrace(OutputFile file) const;
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
  struct Total {
    uint64_t calls = 0;
    double us = 0, bytes = 0, flops = 0;
    unsigned threads = 1;
  };

  const runtime::Manifest &manifest;
  Clock::time_point origin = Clock::now(), start;
  /// Capacity of each of the two parts of the trace in calls; calls so far.
  uint64_t room, calls = 0;
  std::vector<Event> first;
  /// By call modulo `room`, then by step.
  std::vector<Event> last;
  std::vector<Total> totals;
};

/// Prints each step before it runs (so that a crash can be located) and then
/// its results: sizes, checksums, time.
class DebugPrinter : public runtime::StepListener {
public:
  DebugPrinter(const runtime::Context &context, std::FILE *stream)
      : context(context), stream(stream) {}
  void before(const runtime::StepReport &report) override;
  Status after(const runtime::StepReport &report) override;

private:
  const runtime::Context &context;
  std::FILE *stream;
  std::chrono::steady_clock::time_point start;
};

} // namespace luminal::tools

#endif // LUMINAL_TOOLS_RUN_PROFILE_H
