//===- ProfileTest.cpp - What a profile holds -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Runtime/Profile.h"
#include "luminal/Support/Json.h"
#include <gtest/gtest.h>

using namespace luminal;
using namespace luminal::runtime;

namespace {
struct Trace {
  std::vector<int64_t> works; ///< One an event; each call has its own.
  int64_t calls = 0, traced = 0;
};

/// Calls of two steps, each with the number of the call as its work.
Trace traceOf(int calls, size_t mostEvents, int failAt = -1) {
  Manifest manifest;
  manifest.steps.resize(2);
  Profiler profiler(manifest, mostEvents);
  for (int call = 0; call < calls; ++call)
    for (uint32_t step = 0; step < (call == failAt ? 1u : 2u); ++step) {
      StepReport report;
      report.step = step;
      report.work = call;
      profiler.before(report);
      EXPECT_TRUE(profiler.after(report));
    }
  const std::string text = profiler.trace();
  auto json = JsonDocument::parse(text, "trace");
  EXPECT_TRUE(json) << text;
  Trace trace;
  JsonRef other = *json->root().at("otherData");
  trace.calls = *other.at("calls")->asInt();
  trace.traced = *other.at("calls_in_trace")->asInt();
  auto events = json->root().at("traceEvents")->asArray();
  for (const JsonRef &event : *events)
    if (*event.at("ph")->asString() == "X")
      trace.works.push_back(*event.at("args")->at("work")->asInt());
  // The table covers all calls.
  EXPECT_NE(profiler.table().find(" " + std::to_string(calls) + " "),
            std::string::npos);
  return trace;
}

TEST(Profile, HoldsAllCallsWhereTheyAreFew) {
  Trace trace = traceOf(5, 100);
  EXPECT_EQ(trace.works, (std::vector<int64_t>{0, 0, 1, 1, 2, 2, 3, 3, 4, 4}));
  EXPECT_EQ(trace.calls, 5);
  EXPECT_EQ(trace.traced, 5);
  EXPECT_EQ(traceOf(4, 8).works.size(), 8u);
}

TEST(Profile, HoldsTheFirstAndTheLastOfManyCalls) {
  Trace trace = traceOf(1000, 8);
  EXPECT_EQ(trace.works,
            (std::vector<int64_t>{0, 0, 1, 1, 998, 998, 999, 999}));
  EXPECT_EQ(trace.calls, 1000);
  EXPECT_EQ(trace.traced, 4);
  // One whole call at each end, however long it is.
  EXPECT_EQ(traceOf(9, 1).works, (std::vector<int64_t>{0, 0, 8, 8}));
}

TEST(Profile, LeavesOutStepsThatACallDidNotReach) {
  EXPECT_EQ(traceOf(7, 8, 6).works,
            (std::vector<int64_t>{0, 0, 1, 1, 5, 5, 6}));
}
} // namespace
