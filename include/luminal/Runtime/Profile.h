//===- Profile.h - Time and memory of each step ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_RUNTIME_PROFILE_H
#define LUMINAL_RUNTIME_PROFILE_H

#include "luminal/Runtime/Context.h"
#include "luminal/Support/OutputFile.h"
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

namespace luminal::runtime {

/// Collects the times of all steps of all calls it listens to.
class Profiler : public StepListener {
public:
  explicit Profiler(const Manifest &manifest);
  void before(const StepReport &report) override;
  Status after(const StepReport &report) override;

  /// One row a step, the longest first: calls, time, share, bandwidth, rate.
  std::string table() const;
  /// Writes a trace in the JSON form that Perfetto and Chrome read.
  Status writeTrace(OutputFile file) const;

private:
  using Clock = std::chrono::steady_clock;
  struct Event {
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

  const Manifest &manifest;
  Clock::time_point origin = Clock::now(), start;
  std::vector<Event> events;
  std::vector<Total> totals;
};

/// Prints each step before it runs (so that a crash tells where) and what it
/// made after it: sizes, checksums of the results, time.
class DebugPrinter : public StepListener {
public:
  DebugPrinter(const Context &context, std::FILE *stream)
      : context(context), stream(stream) {}
  void before(const StepReport &report) override;
  Status after(const StepReport &report) override;

private:
  const Context &context;
  std::FILE *stream;
  std::chrono::steady_clock::time_point start;
};

} // namespace luminal::runtime

#endif // LUMINAL_RUNTIME_PROFILE_H
