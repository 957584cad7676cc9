//===- RunDriver.h - Reads inputs, calls, writes outputs ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a program for luminal-run: reads input files, makes calls, writes and
// compares outputs. The program is an artifact, executed by the runtime, or a
// module, executed by the interpreter (`--reference`).
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_TOOLS_RUN_RUNDRIVER_H
#define LUMINAL_TOOLS_RUN_RUNDRIVER_H

#include "luminal/Support/TensorFiles.h"
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::tools {

/// The value of an integer input, which is passed as a tensor.
Result<int64_t> getInteger(const HostTensor &tensor);

/// Something with named inputs and outputs that can be called.
class Runnable {
public:
  using Port = TensorPort;
  virtual ~Runnable() = default;
  /// The inputs that the caller must supply (excluding states with an initial
  /// value), and the outputs, in order.
  virtual const std::vector<Port> &getInputs() const = 0;
  virtual const std::vector<Port> &getOutputs() const = 0;
  /// Sets the inputs of the following calls, one for each of getInputs(). The
  /// program keeps them alive.
  virtual Status bind(std::vector<HostTensor> inputs) = 0;
  /// Makes a call. States persist from one call to the next.
  virtual Status call() = 0;
  /// Device time of one call in milliseconds, without copies: the mean of
  /// `repeats` runs on the memory as it is. Absent if the program has no such
  /// clock and the wall time of a call is used instead.
  virtual Result<std::optional<double>> timeSteps(unsigned) {
    return std::optional<double>();
  }
  /// The outputs of the last call, one for each of getOutputs(); valid until
  /// the next call.
  virtual Result<std::vector<HostTensor>> outputs() = 0;
};

struct RunOptions {
  std::vector<std::string> inputs; ///< FILE or NAME=FILE
  std::vector<std::string> expect; ///< FILE or NAME=FILE
  std::optional<double> rtol, atol;
  std::string outputDir, output, steps;
  int64_t repeat = 1;
  std::optional<double> benchmark; ///< seconds
  bool json = false;

  /// Parses one argument; returns false if it is not one of these options.
  Result<bool> parse(std::string_view argument);
  /// The usage text of these options.
  static std::string_view usage();
};

/// Does what the options say and prints to standard output. Returns 0, or 1 if
/// a comparison failed. On an error, removes all files written so far.
/// `jsonMembers`, if given, precede the other members of the JSON output.
Result<int> runProgram(Runnable &program, const RunOptions &options,
                       const std::string &jsonMembers = "");

/// `text` as a JSON string, with its quotes.
std::string jsonQuote(std::string_view text);

} // namespace luminal::tools

#endif // LUMINAL_TOOLS_RUN_RUNDRIVER_H
