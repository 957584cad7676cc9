//===- Profile.cpp - Time and memory of each step -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Tools/Run/Profile.h"
#include "luminal/Tools/Run/RunDriver.h"
#include <algorithm>
#include <numeric>

using namespace luminal;
using namespace luminal::runtime;
using namespace luminal::tools;

namespace {
double microseconds(std::chrono::steady_clock::duration d) {
  return std::chrono::duration<double, std::micro>(d).count();
}
} // namespace

Profiler::Profiler(const Manifest &manifest, size_t mostEvents)
    : manifest(manifest),
      room(std::max<size_t>(
          mostEvents / 2 / std::max<size_t>(manifest.steps.size(), 1), 1)),
      totals(manifest.steps.size()) {}

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
  Event event{call,
              report.step,
              report.threads,
              microseconds(start - origin),
              report.microseconds.value_or(microseconds(end - start)),
              report.work};
  if (call < room) {
    first.push_back(event);
  } else {
    // A failed call leaves the times of a previous call.
    size_t place = (call % room) * totals.size() + report.step;
    if (last.size() <= place)
      last.resize(place + 1, Event{0, 0, 0, 0, 0, 0});
    last[place] = event;
  }
  Total &total = totals[report.step];
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
    text += line + manifest.steps[i].name + " (" +
            std::string(manifest.steps[i].getCodeName()) + ")\n";
  }
  return text;
}

Status Profiler::writeTrace(OutputFile file) const {
  std::vector<Event> events = first;
  for (const Event &event : last)
    if (event.call >= room && event.call + room >= calls)
      events.push_back(event);
  std::stable_sort(
      events.begin(), events.end(),
      [](const Event &a, const Event &b) { return a.call < b.call; });
  std::string traced =
      std::to_string(getTraced() ? 2 * *getTraced() : getCalls());
  std::string text = "{\"displayTimeUnit\":\"ns\",\"otherData\":{\"calls\":" +
                     std::to_string(calls) + ",\"calls_in_trace\":" + traced +
                     "},\"traceEvents\":[\n"
                     "{\"ph\":\"M\",\"pid\":1,\"tid\":1,\"name\":"
                     "\"thread_name\",\"args\":{\"name\":\"steps\"}}";
  char numbers[192];
  for (const Event &event : events) {
    const StepSpec &step = manifest.steps[event.step];
    std::snprintf(numbers, sizeof numbers,
                  ",\"ts\":%.3f,\"dur\":%.3f,\"args\":{\"step\":%u,\"work\":"
                  "%lld,\"threads\":%u}}",
                  event.startUs, event.lengthUs, event.step,
                  static_cast<long long>(event.work), event.threads);
    text += ",\n{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"name\":" +
            jsonQuote(step.name) +
            ",\"cat\":" + jsonQuote(std::string(step.getCodeName())) + numbers;
  }
  text += "\n]}\n";
  return file.keep(text);
}

void DebugPrinter::before(const StepReport &report) {
  const Manifest &m = context.getArtifact().getManifest();
  const StepSpec &step = m.steps[report.step];
  std::fprintf(stream, "step %u: %s (kernel %s) work %lld, threads %u\n",
               report.step, step.name.c_str(),
               std::string(step.getCodeName()).c_str(),
               static_cast<long long>(report.work), report.threads);
  for (size_t k = 0; k < step.buffers.size(); ++k) {
    uint32_t b = step.buffers[k];
    const char *use = k < step.getFirstResult()      ? "reads "
                      : k < step.getFirstWorkspace() ? "writes"
                                                     : "uses  ";
    std::fprintf(stream, "  %s buffer %u (%s) %p, %lld bytes\n", use, b,
                 std::string(bufferKindName(m.buffers[b].kind)).c_str(),
                 report.buffers[k],
                 static_cast<long long>(context.getBufferBytes(b)));
  }
  // A kernel may crash.
  std::fflush(stream);
  start = std::chrono::steady_clock::now();
}

Status DebugPrinter::after(const StepReport &report) {
  double us = microseconds(std::chrono::steady_clock::now() - start);
  const StepSpec &step = context.getArtifact().getManifest().steps[report.step];
  std::fprintf(stream, "  done in %.3f us, checksums", us);
  for (size_t k = step.getFirstResult(); k < step.getFirstWorkspace(); ++k) {
    std::vector<uint8_t> bytes(
        static_cast<size_t>(context.getBufferBytes(step.buffers[k])));
    LUMINAL_CHECK(
        context.readMemory(report.buffers[k], bytes.data(), bytes.size()));
    std::fprintf(stream, " %08x", crc32(bytes.data(), bytes.size()));
  }
  std::fprintf(stream, "\n");
  return {};
}
