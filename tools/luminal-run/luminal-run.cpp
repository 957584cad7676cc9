//===- luminal-run.cpp - Runs artifacts -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Runtime/Profile.h"
#include "luminal/Support/MemoryFile.h"
#include "luminal/Support/OutputFile.h"
#include "luminal/Support/Version.h"
#include "luminal/Tools/Run/ArtifactProgram.h"
#include "luminal/Tools/Run/DebugPrinter.h"
#include "luminal/Tools/Run/Devices.h"
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace luminal;
using namespace luminal::runtime;
using namespace luminal::tools;

extern char **environ;

namespace {
struct Options {
  std::string model, weights, profile, planCache;
  DeviceChoice device;
  unsigned threads = 0;
  bool info = false, debug = false, listDevices = false, help = false,
       version = false, reference = false;
  std::vector<std::string> compileOptions;
  RunOptions run;
};

void printUsage() {
  std::printf(R"(usage: luminal-run MODEL [options]

MODEL is an artifact (.lum), or a file that luminal-compile takes (.pt2, .mlir), which is compiled first.

%.*s  --weights=FILE         the .pt2 or .safetensors file that holds the weights
  --device=cpu|cuda[:N]  device to run on (default: the artifact's kind, else the CPU); N: its index
  --threads=N            threads of a call (default: all that the process may use)
  --info                 print inputs, outputs, symbols and sizes
  --profile=FILE         print a table of all steps, write a trace of them for Perfetto (of the first and the last calls,
                         where there are more than 100000 steps)
  --debug                print every step, its buffers and checksums of what it writes
  --kernels=FILE         kernels that MODEL calls (.pt2, .mlir), as luminal-compile takes them; repeated
  --compile-option=OPT   pass an option to luminal-compile; repeated
  --reference            evaluate MODEL (.pt2, .mlir) op by op, without compiling
  --list-devices         list the devices of this machine, and the results of luminal-compile --calibrate
  --plan-cache=DIR       the folder of these results (default: ~/.cache/luminal)
  --version, --help

exit codes: 0 done, 1 a comparison failed, 2 bad usage or bad input
)",
              static_cast<int>(RunOptions::usage().size()),
              RunOptions::usage().data());
}

Result<Options> parseArguments(int argc, char **argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    std::string_view argument = argv[i];
    size_t equal = argument.find('=');
    std::string_view name = argument.substr(0, equal);
    std::string value(
        equal == std::string_view::npos ? "" : argument.substr(equal + 1));
    if (argument.empty() || argument[0] != '-') {
      if (!o.model.empty())
        return Error("two models: '" + o.model + "' and '" +
                     std::string(argument) + "'");
      o.model = argument;
      continue;
    }
    bool *flag = argument == "--info"           ? &o.info
                 : argument == "--debug"        ? &o.debug
                 : argument == "--list-devices" ? &o.listDevices
                 : argument == "--help"         ? &o.help
                 : argument == "--version"      ? &o.version
                 : argument == "--reference"    ? &o.reference
                                                : nullptr;
    if (flag) {
      *flag = true;
      continue;
    }
    std::string *text = name == "--weights"      ? &o.weights
                        : name == "--profile"    ? &o.profile
                        : name == "--plan-cache" ? &o.planCache
                                                 : nullptr;
    if ((text || name == "--threads" || name == "--device" ||
         name == "--compile-option" || name == "--kernels") &&
        value.empty())
      return Error(std::string(name) + ": needs a value, as " +
                   std::string(name) + "=...");
    if (text) {
      *text = value;
    } else if (name == "--device") {
      LUMINAL_TRY(device, DeviceChoice::parse(value));
      o.device = std::move(device);
    } else if (name == "--compile-option") {
      o.compileOptions.push_back(value);
    } else if (name == "--kernels") {
      o.compileOptions.emplace_back(argument);
    } else if (name == "--threads") {
      auto [end, code] =
          std::from_chars(value.data(), value.data() + value.size(), o.threads);
      if (code != std::errc() || end != value.data() + value.size() ||
          o.threads == 0)
        return Error("--threads: '" + value + "' is not a number of threads");
    } else {
      LUMINAL_TRY(taken, o.run.parse(argument));
      if (!taken)
        return Error("unknown option '" + std::string(argument) +
                     "'; see --help");
    }
  }
  return o;
}

bool endsWith(std::string_view text, std::string_view end) {
  return text.size() >= end.size() &&
         text.substr(text.size() - end.size()) == end;
}

/// The path of luminal-compile: in this program's folder, else in PATH.
std::string compilerPath() {
  char self[4096];
  ssize_t length = ::readlink("/proc/self/exe", self, sizeof self - 1);
  if (length > 0) {
    std::string path(self, static_cast<size_t>(length));
    path = path.substr(0, path.rfind('/') + 1) + "luminal-compile";
    if (::access(path.c_str(), X_OK) == 0)
      return path;
  }
  return "luminal-compile";
}

std::vector<char *> pointersTo(std::vector<std::string> &arguments) {
  std::vector<char *> pointers;
  for (std::string &argument : arguments)
    pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Replaces this process by `luminal-compile --reference`, with the remaining
/// arguments.
Error evaluateReference(int argc, char **argv) {
  std::vector<std::string> arguments{compilerPath(), "--reference"};
  for (int i = 1; i < argc; ++i)
    if (std::strcmp(argv[i], "--reference") != 0)
      arguments.emplace_back(argv[i]);
  ::execvp(arguments.front().c_str(), pointersTo(arguments).data());
  return Error("--reference needs luminal-compile beside luminal-run or in "
               "PATH: " +
               std::string(std::strerror(errno)));
}

/// Compiles `model` to an artifact in memory and loads it.
Result<std::shared_ptr<const Artifact>> compile(const Options &o,
                                                const LoadOptions &load) {
  LUMINAL_TRY(artifact, MemoryFile::create(/*inherited=*/true));
  std::vector<std::string> arguments{compilerPath(), o.model, "-o",
                                     artifact.getPath(),
                                     "--target=" + load.deviceKind};
  if (!o.weights.empty())
    arguments.push_back("--weights=" + o.weights);
  if (!o.planCache.empty())
    arguments.push_back("--plan-cache=" + o.planCache);
  arguments.insert(arguments.end(), o.compileOptions.begin(),
                   o.compileOptions.end());
  pid_t child = 0;
  int status = ::posix_spawnp(&child, arguments.front().c_str(), nullptr,
                              nullptr, pointersTo(arguments).data(), environ);
  if (status == 0) {
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR)
      ;
    // The compiler has reported the error already.
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
      return Error(WIFEXITED(status) ? "" : "luminal-compile crashed");
    LUMINAL_TRY(bytes, artifact.read());
    return Artifact::fromBytes(std::move(bytes), o.model, load);
  }
  return Error(o.model +
               ": needs luminal-compile beside luminal-run or in PATH: " +
               std::strerror(status));
}

Result<int> run(int argc, char **argv) {
  removeTemporaryFilesOnSignals();
  LUMINAL_TRY(o, parseArguments(argc, argv));
  if (o.help) {
    printUsage();
    return 0;
  }
  if (o.version) {
    std::printf("Luminal %s\n", LUMINAL_VERSION);
    return 0;
  }
  if (o.listDevices) {
    std::fputs(describeDevices(o.planCache, o.run.json).c_str(), stdout);
    return 0;
  }
  if (o.model.empty())
    return Error("no model; see --help");
  if (o.reference)
    return evaluateReference(argc, argv);

  auto start = std::chrono::steady_clock::now();
  const bool isArtifact =
      !endsWith(o.model, ".pt2") && !endsWith(o.model, ".mlir");
  LoadOptions load{o.weights};
  load.deviceKind = o.device.kind;
  load.device = o.device.index;
  load.loadCode = !o.info;
  if (!isArtifact && load.deviceKind.empty())
    load.deviceKind = "cpu";
  if (endsWith(o.model, ".pt2") && o.weights.empty())
    load.weightsPath = o.model;
  auto loaded = isArtifact ? Artifact::load(o.model, load) : compile(o, load);
  LUMINAL_TRY(artifact, std::move(loaded));
  if (o.info) {
    std::fputs(describeArtifact(*artifact, o.run.json).c_str(), stdout);
    return 0;
  }
  LUMINAL_TRY(program, ArtifactProgram::create(artifact, {o.threads}));
  double milliseconds = std::chrono::duration<double, std::milli>(
                            std::chrono::steady_clock::now() - start)
                            .count();
  char loadTime[64];
  std::snprintf(loadTime, sizeof loadTime, ",\"load_ms\":%.6g", milliseconds);

  if (o.debug && !o.profile.empty())
    return Error("--debug and --profile do not go together");
  // If the trace cannot be written, nothing is run.
  std::optional<OutputFile> trace;
  if (!o.profile.empty()) {
    LUMINAL_TRY(file, OutputFile::create(o.profile));
    trace.emplace(std::move(file));
  }
  Profiler profiler(artifact->getManifest());
  DebugPrinter printer(program->getContext(), stderr);
  if (o.debug)
    program->setListener(&printer);
  if (trace)
    program->setListener(&profiler);
  LUMINAL_TRY(code, runProgram(*program, o.run,
                               "\"model\":" + jsonQuote(o.model) + loadTime));
  if (trace) {
    LUMINAL_CHECK(trace->keep(profiler.trace()));
    std::fputs(profiler.table().c_str(), o.run.json ? stderr : stdout);
    if (std::optional<uint64_t> traced = profiler.getTraced())
      std::fprintf(
          stderr,
          "luminal-run: warning: %s: holds the first %llu and the last "
          "%llu of %llu calls (at most %zu steps)\n",
          o.profile.c_str(), static_cast<unsigned long long>(*traced),
          static_cast<unsigned long long>(*traced),
          static_cast<unsigned long long>(profiler.getCalls()),
          Profiler::kMostEvents);
  }
  return code;
}
} // namespace

int main(int argc, char **argv) {
  Result<int> code = run(argc, argv);
  if (code && std::fflush(stdout) == 0)
    return *code;
  std::string message =
      code ? "standard output cannot be written" : code.error().message;
  if (!message.empty())
    std::fprintf(stderr, "luminal-run: error: %s\n", message.c_str());
  return 2;
}
