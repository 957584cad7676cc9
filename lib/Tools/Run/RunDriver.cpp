//===- RunDriver.cpp - Reads inputs, calls, writes outputs ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Tools/Run/RunDriver.h"
#include "RunFiles.h"
#include "luminal/Tools/Run/Compare.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <nlohmann/json.hpp>

using namespace luminal;
using namespace luminal::tools;
using Port = Runnable::Port;

namespace {
std::string format(const char *text, ...) __attribute__((format(printf, 1, 2)));
std::string format(const char *text, ...) {
  va_list arguments;
  va_start(arguments, text);
  char line[512];
  std::vsnprintf(line, sizeof line, text, arguments);
  va_end(arguments);
  return line;
}

/// A JSON value for a number; JSON has no infinities or NaN.
nlohmann::ordered_json jsonNumber(double value) {
  if (std::isfinite(value))
    return value;
  return std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity";
}

class Run {
public:
  Run(Runnable &program, const RunOptions &options)
      : program(program), options(options) {}

  Result<int> go(const std::string &jsonMembers) {
    if (!options.steps.empty() &&
        (options.benchmark || options.repeat != 1 || !options.inputs.empty() ||
         !options.output.empty()))
      return Error(
          "--steps cannot be combined with --input, --output, --repeat or "
          "--benchmark");
    if (Status status = options.steps.empty() ? single() : steps(); !status)
      return status.takeError();
    written.keep();
    if (options.json)
      printJson(jsonMembers);
    else
      std::fputs(text.c_str(), stdout);
    return good ? 0 : 1;
  }

private:
  Status single() {
    LUMINAL_TRY(inputs, readInputs(options.inputs, program));
    const std::vector<Port> &ports = program.getOutputs();
    if (options.output.ends_with(".npy") && ports.size() != 1)
      return Error("--output=" + options.output + ": a .npy file holds one " +
                   "output, the program has " + std::to_string(ports.size()) +
                   ": write a .safetensors file, or use --output-dir");
    LUMINAL_TRY(expected, readTensorFiles(options.expect, ports, "output",
                                          /*asStored=*/true));
    LUMINAL_CHECK(program.bind(std::move(inputs)));
    LUMINAL_CHECK(timedCalls());
    LUMINAL_TRY(outputs, program.outputs());
    describe(outputs);
    compare(outputs, expected, "");
    if (!options.outputDir.empty())
      LUMINAL_CHECK(written.writeOutputs(options.outputDir, outputs));
    if (!options.output.empty())
      LUMINAL_CHECK(written.writeFile(options.output, outputs));
    return {};
  }

  Status steps() {
    if (options.expect.size() > 1)
      return Error("--steps takes one --expect, the folder of the references");
    int64_t count = 0;
    for (;; ++count) {
      std::string run = "run_" + std::to_string(count);
      std::string dir = options.steps + "/" + run;
      if (!exists(dir))
        break;
      auto inputs = readInputs(numberedFiles(dir, "input"), program);
      if (!inputs)
        return inputs.takeError().within(run);
      if (Status status = program.bind(std::move(*inputs)); !status)
        return status.takeError().within(run);
      if (Status status = program.call(); !status)
        return status.takeError().within(run);
      LUMINAL_TRY(outputs, program.outputs());
      if (!options.expect.empty()) {
        std::string references = options.expect.front() + "/" + run;
        std::vector<std::string> files = numberedFiles(references, "output");
        if (files.empty())
          return Error(references + ": holds no output_0.npy");
        LUMINAL_TRY(expected,
                    readTensorFiles(files, program.getOutputs(), "output",
                                    /*asStored=*/true));
        compare(outputs, expected, run + " ");
      }
      if (!options.outputDir.empty())
        LUMINAL_CHECK(
            written.writeOutputs(options.outputDir + "/" + run, outputs));
    }
    if (count == 0)
      return Error(options.steps + ": holds no folder run_0");
    json["calls"] = count;
    text += format("%lld calls\n", static_cast<long long>(count));
    return {};
  }

  Status timedCalls() {
    using Clock = std::chrono::steady_clock;
    std::vector<double> times;
    auto timed = [&]() -> Status {
      auto start = Clock::now();
      LUMINAL_CHECK(program.call());
      times.push_back(
          std::chrono::duration<double, std::milli>(Clock::now() - start)
              .count());
      return {};
    };
    LUMINAL_CHECK(timed());
    double first = times.front();
    json["first_ms"] = first;
    for (int64_t i = 1; i < options.repeat; ++i)
      LUMINAL_CHECK(timed());
    if (options.benchmark) {
      // Warm up caches and clocks for a tenth of the time.
      auto warm = Clock::now() +
                  std::chrono::duration<double>(*options.benchmark * 0.1);
      do
        LUMINAL_CHECK(program.call());
      while (Clock::now() < warm);
      times.clear();
      auto end =
          Clock::now() + std::chrono::duration<double>(*options.benchmark);
      // Run until the time is over, at least three and at most so many calls
      // that their times fit into memory.
      do
        LUMINAL_CHECK(timed());
      while ((Clock::now() < end || times.size() < 3) &&
             times.size() < 10'000'000);
      // Time the steps alone for about a tenth of the time more.
      const double each = std::max(times.back(), 1e-3);
      LUMINAL_TRY(steps, program.timeSteps(static_cast<unsigned>(std::clamp(
                             *options.benchmark * 100 / each, 1.0, 10'000.0))));
      if (steps) {
        json["steps_ms"] = *steps;
        text += format("steps alone, by the device's clock: %.6g ms\n", *steps);
      }
    } else if (options.repeat == 1) {
      return {};
    }
    std::sort(times.begin(), times.end());
    double sum = 0;
    for (double time : times)
      sum += time;
    double median = times[times.size() / 2],
           mean = sum / static_cast<double>(times.size()),
           p95 = times[std::min(times.size() - 1, times.size() * 95 / 100)];
    json["runs"] = times.size();
    json["min_ms"] = times.front();
    json["median_ms"] = median;
    json["mean_ms"] = mean;
    json["p95_ms"] = p95;
    json["max_ms"] = times.back();
    text += format("%zu calls: min %.6g ms, median %.6g ms, mean %.6g ms, p95 "
                   "%.6g ms, max %.6g ms (first call %.6g ms)\n",
                   times.size(), times.front(), median, mean, p95, times.back(),
                   first);
    return {};
  }

  void describe(const std::vector<HostTensor> &outputs) {
    json["outputs"] = nlohmann::ordered_json::array();
    for (size_t i = 0; i < outputs.size(); ++i) {
      const HostTensor &output = outputs[i];
      json["outputs"].push_back(
          {{"name", output.name},
           {"dtype", std::string(dtypeName(output.dtype))},
           {"shape", output.shape}});
      if (options.expect.empty())
        text += format("output %zu '%s': ", i, output.name.c_str()) +
                typeText(output) + "\n";
    }
  }

  void compare(const std::vector<HostTensor> &outputs,
               const std::vector<std::optional<HostTensor>> &expected,
               const std::string &prefix) {
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!expected[i])
        continue;
      Tolerance tolerance = defaultTolerance(outputs[i].dtype);
      Comparison c = compareTensors(outputs[i], *expected[i],
                                    options.rtol.value_or(tolerance.rtol),
                                    options.atol.value_or(tolerance.atol));
      if (!hasHeader) {
        text +=
            format("%-24s %-8s %12s %12s %12s %10s  %s\n", "output", "answer",
                   "max abs", "max rel", "bad", "elements", "worst");
        hasHeader = true;
        json["compare"] = nlohmann::ordered_json::array();
      }
      good &= c.isGood();
      std::string name = prefix + outputs[i].name;
      if (!c.mismatch.empty()) {
        text += format("%-24s %-8s ", name.c_str(), "MISS") + c.mismatch + "\n";
        json["compare"].push_back(
            {{"output", name}, {"ok", false}, {"mismatch", c.mismatch}});
        continue;
      }
      text += format("%-24s %-8s %12.4g %12.4g %12lld %10lld  ", name.c_str(),
                     c.isGood() ? "ok" : "MISS", c.maxAbsolute, c.maxRelative,
                     static_cast<long long>(c.bad),
                     static_cast<long long>(c.elements));
      text += c.elements == 0
                  ? "-\n"
                  : format("[%s] got %.9g, expected %.9g\n",
                           position(outputs[i].shape, c.worst).c_str(), c.got,
                           c.expected);
      json["compare"].push_back({{"output", name},
                                 {"ok", c.isGood()},
                                 {"max_abs", jsonNumber(c.maxAbsolute)},
                                 {"max_rel", jsonNumber(c.maxRelative)},
                                 {"bad", c.bad},
                                 {"elements", c.elements},
                                 {"worst", c.worst},
                                 {"got", jsonNumber(c.got)},
                                 {"expected", jsonNumber(c.expected)},
                                 {"rtol", c.rtol},
                                 {"atol", c.atol}});
    }
  }

  static std::string position(const std::vector<int64_t> &shape,
                              int64_t linear) {
    std::string result;
    for (size_t i = shape.size(); i-- > 0;) {
      result = std::to_string(linear % shape[i]) +
               (result.empty() ? "" : ", " + result);
      linear /= shape[i];
    }
    return result;
  }

  void printJson(const std::string &members) {
    json["ok"] = good;
    std::string body = json.dump(
        -1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    if (!members.empty())
      body = "{" + members + "," + body.substr(1);
    std::printf("%s\n", body.c_str());
  }

  Runnable &program;
  const RunOptions &options;
  Written written;
  std::string text;
  nlohmann::ordered_json json;
  bool good = true, hasHeader = false;
};
} // namespace

Result<int> tools::runProgram(Runnable &program, const RunOptions &options,
                              const std::string &jsonMembers) {
  return Run(program, options).go(jsonMembers);
}

std::string tools::jsonQuote(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false,
                                   nlohmann::json::error_handler_t::replace);
}
