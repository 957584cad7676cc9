//===- RunDriver.cpp - Files in, calls, files out -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Runtime/RunDriver.h"
#include "luminal/Runtime/Compare.h"
#include "luminal/Support/Npy.h"
#include "luminal/Support/SafeTensors.h"
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

using namespace luminal;
using namespace luminal::runtime;
using Port = Runnable::Port;

//===----------------------------------------------------------------------===//
// Options
//===----------------------------------------------------------------------===//

std::string_view RunOptions::usage() {
  return R"(  --input=[NAME=]FILE    an input (.npy, .safetensors), by position or by name; repeated
  --output-dir=DIR       write output_0.npy, output_1.npy, ... there
  --output=FILE          write all outputs to a .safetensors file, by name
  --expect=[NAME=]FILE   compare with the outputs, by position or by name; repeated
  --rtol=R --atol=A      what a comparison allows (by default what PyTorch's tests do)
  --steps=DIR            one call for each DIR/run_K/input_*.npy, states carried over; with --output-dir writes
                         run_K/output_*.npy; with --expect=DIR2 compares with DIR2/run_K/output_*.npy
  --repeat=N             call N times with the same inputs
  --benchmark[=SECONDS]  call for so long (1 s) and tell the times
  --json                 answer in JSON
)";
}

static Result<double> parseNumber(std::string_view name,
                                  std::string_view text) {
  std::string copy(text);
  char *end = nullptr;
  double value = std::strtod(copy.c_str(), &end);
  if (copy.empty() || *end != '\0' || !(value >= 0) || !std::isfinite(value))
    return Error(std::string(name) + ": '" + copy +
                 "' is no number that is 0 or more");
  return value;
}

Result<bool> RunOptions::parse(std::string_view argument) {
  size_t equal = argument.find('=');
  std::string_view name = argument.substr(0, equal);
  bool hasValue = equal != std::string_view::npos;
  std::string value(hasValue ? argument.substr(equal + 1) : "");
  auto needsValue = [&]() -> Status {
    if (value.empty())
      return Error(std::string(name) + ": needs a value, as " +
                   std::string(name) + "=...");
    return {};
  };
  std::vector<std::string> *list = name == "--input"    ? &inputs
                                   : name == "--expect" ? &expect
                                                        : nullptr;
  std::string *text = name == "--output-dir" ? &outputDir
                      : name == "--output"   ? &output
                      : name == "--steps"    ? &steps
                                             : nullptr;
  if (list || text) {
    LUMINAL_CHECK(needsValue());
    if (list)
      list->push_back(value);
    else
      *text = value;
    return true;
  }
  if (name == "--rtol" || name == "--atol") {
    LUMINAL_CHECK(needsValue());
    LUMINAL_TRY(number, parseNumber(name, value));
    (name == "--rtol" ? rtol : atol) = number;
    return true;
  }
  if (name == "--repeat") {
    LUMINAL_CHECK(needsValue());
    LUMINAL_TRY(number, parseNumber(name, value));
    if (number < 1 || number > 1e15 || number != std::floor(number))
      return Error("--repeat: '" + value + "' is no number of calls");
    repeat = static_cast<int64_t>(number);
    return true;
  }
  if (name == "--benchmark") {
    benchmark = 1.0;
    if (hasValue) {
      LUMINAL_TRY(number, parseNumber(name, value));
      benchmark = number;
    }
    return true;
  }
  if (argument == "--json") {
    json = true;
    return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

namespace {
bool endsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         text.substr(text.size() - end.size()) == end;
}

bool exists(const std::string &path) {
  struct stat info;
  return ::stat(path.c_str(), &info) == 0;
}

std::string portList(const std::vector<Port> &ports) {
  std::string text;
  for (const Port &port : ports)
    text += (text.empty() ? "" : ", ") + port.name + ": " + port.type;
  return text.empty() ? "none" : text;
}

/// Matches files to ports. `asStored` reads any element type; otherwise the
/// port's own (with the reading that .npy gives it).
Result<std::vector<std::optional<HostTensor>>>
readFiles(const std::vector<std::string> &files, const std::vector<Port> &ports,
          const char *what, bool asStored) {
  std::vector<std::optional<HostTensor>> tensors(ports.size());
  auto find = [&](std::string_view name) {
    auto it = std::find_if(ports.begin(), ports.end(),
                           [&](const Port &p) { return p.name == name; });
    return it == ports.end() ? std::optional<size_t>()
                             : static_cast<size_t>(it - ports.begin());
  };
  auto set = [&](size_t i, HostTensor tensor,
                 const std::string &file) -> Status {
    if (tensors[i])
      return Error(file + ": " + what + " '" + ports[i].name +
                   "' is given twice");
    tensors[i] = std::move(tensor);
    return {};
  };
  size_t next = 0;
  for (const std::string &argument : files) {
    std::string file = argument;
    std::optional<size_t> index;
    if (size_t equal = argument.find('='); equal != std::string::npos) {
      index = find(std::string_view(argument).substr(0, equal));
      if (index)
        file = argument.substr(equal + 1);
      else if (!exists(argument))
        return Error(argument.substr(equal + 1) + ": there is no " + what +
                     " '" + argument.substr(0, equal) +
                     "' (there are: " + portList(ports) + ")");
    }
    if (endsWith(file, ".safetensors")) {
      LUMINAL_TRY(tensorFile, SafeTensors::open(file));
      if (index) {
        const HostTensor *tensor = tensorFile.find(ports[*index].name);
        if (!tensor && tensorFile.getTensors().size() == 1)
          tensor = &tensorFile.getTensors().front();
        if (!tensor)
          return Error(file + ": has no tensor '" + ports[*index].name + "'");
        LUMINAL_CHECK(set(*index, *tensor, file));
        continue;
      }
      for (const HostTensor &tensor : tensorFile.getTensors()) {
        std::optional<size_t> port = find(tensor.name);
        if (!port)
          return Error(file + ": there is no " + what + " '" + tensor.name +
                       "' (there are: " + portList(ports) + ")");
        LUMINAL_CHECK(set(*port, tensor, file));
      }
      continue;
    }
    if (!index) {
      while (next < ports.size() && tensors[next])
        ++next;
      if (next == ports.size())
        return Error(file + ": there are only " + std::to_string(ports.size()) +
                     " " + what + "s (" + portList(ports) + ")");
      index = next;
    }
    std::optional<DType> expected = ports[*index].dtype;
    // A float32 reference of a bfloat16 output stays as it is.
    auto stored = asStored ? readNpy(file) : readNpy(file, expected);
    LUMINAL_TRY(tensor, stored ? std::move(stored) : readNpy(file, expected));
    // A comparison takes a float reference of any width.
    if (tensor.dtype != *expected && !asStored)
      return Error(file + ": " + what + " '" + ports[*index].name +
                   "': has element type " +
                   std::string(dtypeName(tensor.dtype)) + ", expected " +
                   std::string(dtypeName(*expected)));
    LUMINAL_CHECK(set(*index, std::move(tensor), file));
  }
  return tensors;
}

Result<std::vector<HostTensor>>
readInputs(const std::vector<std::string> &files, const Runnable &program) {
  const std::vector<Port> &ports = program.getInputs();
  LUMINAL_TRY(tensors, readFiles(files, ports, "input", /*asStored=*/false));
  std::vector<HostTensor> inputs;
  for (size_t i = 0; i < ports.size(); ++i) {
    if (!tensors[i])
      return Error("input '" + ports[i].name + "' (" + ports[i].type +
                   ") is missing: give it with --input=FILE");
    inputs.push_back(std::move(*tensors[i]));
  }
  return inputs;
}

/// DIR/prefix_0.npy, DIR/prefix_1.npy, ... as far as they go.
std::vector<std::string> numberedFiles(const std::string &dir,
                                       const char *prefix) {
  std::vector<std::string> files;
  for (;;) {
    std::string file =
        dir + "/" + prefix + "_" + std::to_string(files.size()) + ".npy";
    if (!exists(file))
      return files;
    files.push_back(std::move(file));
  }
}

/// Files and folders made so far; removed unless all went well.
class Written {
public:
  ~Written() {
    if (kept)
      return;
    for (const std::string &file : files)
      ::unlink(file.c_str());
    for (size_t i = folders.size(); i-- > 0;)
      ::rmdir(folders[i].c_str());
  }
  Status writeOutputs(const std::string &dir,
                      const std::vector<HostTensor> &outputs) {
    LUMINAL_CHECK(makeDirectory(dir));
    for (size_t i = 0; i < outputs.size(); ++i) {
      std::string file = dir + "/output_" + std::to_string(i) + ".npy";
      LUMINAL_CHECK(writeNpy(file, outputs[i]));
      files.push_back(file);
    }
    return {};
  }
  Status writeTensors(const std::string &file,
                      const std::vector<HostTensor> &outputs) {
    LUMINAL_CHECK(writeSafeTensors(file, outputs));
    files.push_back(file);
    return {};
  }
  void keep() { kept = true; }

private:
  Status makeDirectory(const std::string &path) {
    for (size_t at = path.find('/', 1);; at = path.find('/', at + 1)) {
      std::string part = path.substr(0, at);
      if (::mkdir(part.c_str(), 0777) == 0)
        folders.push_back(part);
      else if (errno != EEXIST)
        return Error(part + ": cannot be made: " + std::strerror(errno));
      if (at == std::string::npos)
        return {};
    }
  }

  std::vector<std::string> files, folders;
  bool kept = false;
};

//===----------------------------------------------------------------------===//
// The run
//===----------------------------------------------------------------------===//

std::string format(const char *text, ...) __attribute__((format(printf, 1, 2)));
std::string format(const char *text, ...) {
  va_list arguments;
  va_start(arguments, text);
  char line[512];
  std::vsnprintf(line, sizeof line, text, arguments);
  va_end(arguments);
  return line;
}

/// A number that JSON can hold.
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
      return Error("--steps does not go with --input, --output, --repeat or "
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
    LUMINAL_TRY(expected,
                readFiles(options.expect, ports, "output", /*asStored=*/true));
    LUMINAL_CHECK(program.bind(std::move(inputs)));
    LUMINAL_CHECK(timedCalls());
    LUMINAL_TRY(outputs, program.outputs());
    describe(outputs);
    compare(outputs, expected, "");
    if (!options.outputDir.empty())
      LUMINAL_CHECK(written.writeOutputs(options.outputDir, outputs));
    if (!options.output.empty())
      LUMINAL_CHECK(written.writeTensors(options.output, outputs));
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
        LUMINAL_TRY(expected, readFiles(files, program.getOutputs(), "output",
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
      // Caches and clocks settle first.
      auto warm = Clock::now() +
                  std::chrono::duration<double>(*options.benchmark * 0.1);
      do
        LUMINAL_CHECK(program.call());
      while (Clock::now() < warm);
      times.clear();
      auto end =
          Clock::now() + std::chrono::duration<double>(*options.benchmark);
      // Enough for a median; few enough to keep in memory.
      do
        LUMINAL_CHECK(timed());
      while ((Clock::now() < end || times.size() < 3) &&
             times.size() < 10'000'000);
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

Result<int> runtime::runProgram(Runnable &program, const RunOptions &options,
                                const std::string &jsonMembers) {
  return Run(program, options).go(jsonMembers);
}

std::string runtime::jsonQuote(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false,
                                   nlohmann::json::error_handler_t::replace);
}
