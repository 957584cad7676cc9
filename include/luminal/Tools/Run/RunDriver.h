//===- RunDriver.h - Files in, calls, files out ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What luminal-run does with a program, evaluated by the runtime (an artifact)
// or by the interpreter (`--reference`).
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

/// The value of an integer among the inputs of a program.
Result<int64_t> getInteger(const HostTensor &tensor);

/// Something with named inputs and outputs that can be called.
class Runnable {
public:
  using Port = TensorPort;
  virtual ~Runnable() = default;
  /// Inputs that the caller must give (no states with an initial value), and
  /// outputs, in order.
  virtual const std::vector<Port> &getInputs() const = 0;
  virtual const std::vector<Port> &getOutputs() const = 0;
  /// Sets the inputs of the next calls, one for each of getInputs(); kept alive
  /// by the program.
  virtual Status bind(std::vector<HostTensor> inputs) = 0;
  /// States are carried from one call to the next.
  virtual Status call() = 0;
  /// Milliseconds of the device's own work in one call, without copies, by its
  /// clock: the mean of `repeats` on the memory as it is. Absent where that is
  /// what a call takes.
  virtual Result<std::optional<double>> timeSteps(unsigned) {
    return std::optional<double>();
  }
  /// Outputs of the last call, one for each of getOutputs(); valid until the
  /// next.
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

  /// Parses one argument; false if it is not one of these.
  Result<bool> parse(std::string_view argument);
  /// Their part of a usage text.
  static std::string_view usage();
};

/// Does what the options say and prints to standard output. 0: done; 1: a
/// comparison failed. On an error all written files are removed. Members in
/// `report`, if given, come first in the JSON output.
Result<int> runProgram(Runnable &program, const RunOptions &options,
                       const std::string &jsonMembers = "");

/// `text` as a JSON string, with its quotes.
std::string jsonQuote(std::string_view text);

} // namespace luminal::tools

#endif // LUMINAL_TOOLS_RUN_RUNDRIVER_H
