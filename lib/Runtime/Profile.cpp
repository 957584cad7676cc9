//===- Profile.cpp - Time and memory of each step -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Runtime/Profile.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <numeric>
#include <tuple>

using namespace luminal;
using namespace luminal::runtime;

namespace {
double microseconds(std::chrono::steady_clock::duration d) {
  return std::chrono::duration<double, std::micro>(d).count();
}
} // namespace

Profiler::Profiler(const Manifest &manifest, size_t mostEvents) {
  auto add = [&](const Manifest &program) {
    firstStep.push_back(static_cast<uint32_t>(steps.size()));
    for (const StepSpec &step : program.steps)
      steps.push_back(&step);
  };
  add(manifest);
  for (const std::shared_ptr<const Manifest> &variant : manifest.variants)
    add(*variant);
  room =
      std::max<size_t>(mostEvents / 2 / std::max<size_t>(steps.size(), 1), 1);
  totals.resize(steps.size());
}

void Profiler::before(const StepReport &report) {
  calls += report.step == 0;
  start = Clock::now();
}

std::optional<uint64_t> Profiler::getTraced() const {
  return calls > 2 * room ? std::optional(room) : std::nullopt;
}

Status Profiler::after(const StepReport &report) {
  Clock::time_point end = Clock::now();
  const uint64_t call = calls - 1;
  const uint32_t number = getNumber(report);
  Event event{call,
              number,
              report.threads,
              microseconds(start - origin),
              report.microseconds.value_or(microseconds(end - start)),
              report.work};
  if (call < room) {
    first.push_back(event);
  } else {
    // If a call fails, its later steps keep the times of an earlier call.
    size_t place = (call % room) * totals.size() + number;
    if (last.size() <= place)
      last.resize(place + 1, Event{0, 0, 0, 0, 0, 0});
    last[place] = event;
  }
  Total &total = totals[number];
  ++total.calls;
  total.us += event.lengthUs;
  total.bytes += static_cast<double>(report.traffic);
  total.flops += static_cast<double>(report.flops);
  total.threads = report.threads;
  return {};
}

std::string Profiler::table() const {
  std::vector<uint32_t> order(totals.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return totals[a].us != totals[b].us ? totals[a].us > totals[b].us : a < b;
  });
  double all = 0;
  for (const Total &total : totals)
    all += total.us;
  char line[256];
  std::snprintf(line, sizeof line, "%5s %8s %12s %7s %9s %9s %7s  %s\n", "step",
                "calls", "us a call", "share", "GB/s", "GFLOP/s", "threads",
                "name (kernel)");
  std::string text = line;
  for (uint32_t i : order) {
    const Total &total = totals[i];
    if (total.calls == 0)
      continue;
    // Bytes per microsecond are megabytes per second.
    std::snprintf(
        line, sizeof line, "%5u %8llu %12.3f %6.1f%% %9.2f %9.2f %7u  ", i,
        static_cast<unsigned long long>(total.calls),
        total.us / static_cast<double>(total.calls),
        all > 0 ? 100 * total.us / all : 0,
        total.us > 0 ? total.bytes / total.us * 1e-3 : 0,
        total.us > 0 ? total.flops / total.us * 1e-3 : 0, total.threads);
    text += line + steps[i]->name + " (" +
            std::string(steps[i]->getCodeName()) + ")\n";
  }
  return text;
}

std::string Profiler::trace() const {
  std::vector<Event> events = first;
  for (const Event &event : last)
    if (event.call >= room && event.call + room >= calls)
      events.push_back(event);
  std::sort(events.begin(), events.end(), [](const Event &a, const Event &b) {
    return std::tie(a.call, a.startUs, a.step) <
           std::tie(b.call, b.startUs, b.step);
  });
  using Json = nlohmann::ordered_json;
  auto print = [](const Json &json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
  };
  // The clock's resolution is a nanosecond.
  auto rounded = [](double us) { return std::round(us * 1e3) / 1e3; };
  const Json other{{"calls", calls},
                   {"calls_in_trace", getTraced() ? 2 * *getTraced() : calls}};
  std::string text =
      "{\"displayTimeUnit\":\"ns\",\"otherData\":" + print(other) +
      ",\"traceEvents\":[\n" +
      print({{"ph", "M"},
             {"pid", 1},
             {"tid", 1},
             {"name", "thread_name"},
             {"args", {{"name", "steps"}}}});
  for (const Event &event : events) {
    const StepSpec &step = *steps[event.step];
    text += ",\n" + print({{"ph", "X"},
                           {"pid", 1},
                           {"tid", 1},
                           {"name", step.name},
                           {"cat", std::string(step.getCodeName())},
                           {"ts", rounded(event.startUs)},
                           {"dur", rounded(event.lengthUs)},
                           {"args",
                            {{"step", event.step},
                             {"work", event.work},
                             {"threads", event.threads}}}});
  }
  return text + "\n]}\n";
}
