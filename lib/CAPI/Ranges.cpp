//===- Ranges.cpp - Reports steps as ranges to a profiler -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Ranges.h"
#include "Error.h"
#include <atomic>
#include <cstring>
#include <mutex>

using namespace luminal;
using namespace luminal::runtime;
using namespace luminal::capi;

/// Without ranges, calls only read the flag.
static std::atomic<bool> hasRanges = false;
static std::mutex rangesMutex;
static luminal_step_ranges rangesOfProcess;

luminal_status luminal_set_step_ranges(const luminal_step_ranges *ranges) {
  if (ranges && ranges->struct_size < sizeof(luminal_step_ranges))
    return fail("luminal_set_step_ranges: struct_size is not set");
  if (ranges && (!ranges->begin || !ranges->end))
    return fail("luminal_set_step_ranges: null function");
  std::lock_guard<std::mutex> lock(rangesMutex);
  if (ranges)
    rangesOfProcess = *ranges;
  hasRanges.store(ranges != nullptr, std::memory_order_release);
  return LUMINAL_OK;
}

namespace {
class RangeListener : public StepListener {
public:
  RangeListener(luminal_step_ranges ranges, const Artifact &artifact,
                StepListener *next)
      : ranges(ranges), artifact(artifact), next(next) {}
  ~RangeListener() override {
    if (isOpen)
      ranges.end(ranges.user);
  }

  void before(const StepReport &report) override {
    const Manifest &program = *artifact.getPrograms()[report.program].manifest;
    ranges.begin(ranges.user, program.steps[report.step].name.c_str());
    isOpen = true;
    if (next)
      next->before(report);
  }
  Status after(const StepReport &report) override {
    Status status = next ? next->after(report) : Status();
    isOpen = false;
    ranges.end(ranges.user);
    return status;
  }

private:
  luminal_step_ranges ranges;
  const Artifact &artifact;
  StepListener *next;
  /// Closes the range of a failed step, for which `after` is not called.
  bool isOpen = false;
};
} // namespace

Status capi::runContext(Context &context, StepListener *listener) {
  if (!hasRanges.load(std::memory_order_acquire))
    return context.run(listener);
  luminal_step_ranges ranges;
  {
    std::lock_guard<std::mutex> lock(rangesMutex);
    ranges = rangesOfProcess;
  }
  RangeListener told(ranges, context.getArtifact(), listener);
  return context.run(&told);
}
