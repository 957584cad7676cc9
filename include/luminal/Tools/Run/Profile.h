//===- Profile.h - Time and memory of each step ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_TOOLS_RUN_PROFILE_H
#define LUMINAL_TOOLS_RUN_PROFILE_H

#include "luminal/Runtime/Context.h"
#include "luminal/Support/OutputFile.h"
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

namespace luminal::tools {

/// Collects the times of all steps of all calls it listens to.
class Profiler : public runtime::StepListener {
public:
  explicit Profiler(const runtime::Manifest &manifest);
  void before(const runtime::StepReport &report) override;
  Status after(const runtime::StepReport &report) override;

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

  const runtime::Manifest &manifest;
  Clock::time_point origin = Clock::now(), start;
  std::vector<Event> events;
  std::vector<Total> totals;
};

/// Prints each step before it runs (so that a crash tells where) and what it
/// made after it: sizes, checksums of the results, time.
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
