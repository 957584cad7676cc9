//===- RunOptions.cpp - Options of luminal-run ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Tools/Run/RunDriver.h"
#include <cmath>
#include <cstdlib>

using namespace luminal;
using namespace luminal::tools;

std::string_view RunOptions::usage() {
  return R"(  --input=[NAME=]FILE    an input (.npy, .safetensors), by position or by name; repeated
  --input=NAME=VALUE     an input that is an integer
  --output-dir=DIR       write output_0.npy, output_1.npy, ... there
  --output=FILE          write all outputs to a .safetensors file, by name, or a single output to a .npy file
  --expect=[NAME=]FILE   compare with the outputs, by position or by name; repeated
  --rtol=R --atol=A      tolerances of comparisons (default: those of PyTorch's tests)
  --steps=DIR            one call for each DIR/run_K/input_*.npy, states carried over; with --output-dir writes
                         run_K/output_*.npy; with --expect=DIR2 compares with DIR2/run_K/output_*.npy
  --repeat=N             call N times with the same inputs
  --benchmark[=SECONDS]  call for this long (default: 1 s) and print the times
  --json                 print JSON
)";
}

static Result<double> parseNumber(std::string_view name,
                                  std::string_view text) {
  std::string copy(text);
  char *end = nullptr;
  double value = std::strtod(copy.c_str(), &end);
  if (copy.empty() || *end != '\0' || !(value >= 0) || !std::isfinite(value))
    return Error(std::string(name) + ": '" + copy +
                 "' is not a number of at least 0");
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
    if (name == "--output" && !value.ends_with(".safetensors") &&
        !value.ends_with(".npy"))
      return Error("--output=" + value + ": the name of a .npy or " +
                   ".safetensors file was expected");
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
      return Error("--repeat: '" + value + "' is not a number of calls");
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
