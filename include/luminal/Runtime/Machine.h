//===- Machine.h - The machine at hand, measured --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A calibration measures the machine once; its model lies in a file and serves
// every later compile for `native`, so that equal files give equal artifacts. A
// file names the processor that it was measured on, and is of no use on
// another.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_RUNTIME_MACHINE_H
#define LUMINAL_RUNTIME_MACHINE_H

#include "luminal/Support/MachineModel.h"

namespace luminal::runtime {

/// What tells processors apart, as far as the system says.
struct Processor {
  std::string vendor, name;
  std::string family, model, stepping, microcode;
  /// Instruction sets, of those that artifacts may use.
  std::vector<std::string> features;
  /// Cores that are online, whether this process may use them or not.
  int64_t cores = 1;

  static Processor getHost();
  bool operator==(const Processor &other) const = default;
};

struct MachineFile {
  Processor processor;
  MachineModel model;

  std::string str() const;
  /// `name` begins every error.
  static Result<MachineFile> parse(std::string_view text, std::string name);
};

/// `machine.json` in `folder`; where that is empty, in $XDG_CACHE_HOME/luminal
/// or ~/.cache/luminal. Empty where there is no such folder.
std::string getMachineFile(const std::string &folder = {});

/// The model in the file at `path`; std::nullopt where there is no file. An
/// error says what is wrong with it, or that it is another processor's.
Result<std::optional<MachineModel>> readMachineModel(const std::string &path);

/// Sets what the system tells of this machine without measuring: sizes of
/// caches, and workers that this process may use. What it does not tell stays.
void askSystem(MachineModel &model);

/// Measures this machine, which takes less than three seconds. Values that
/// cannot be measured are those of an unknown machine.
MachineModel measureMachine();

/// Measures and writes the file at `path`, with the folders above it.
Result<MachineModel> calibrate(const std::string &path);

} // namespace luminal::runtime

#endif // LUMINAL_RUNTIME_MACHINE_H
