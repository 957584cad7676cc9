//===- Machine.h - The model of this machine, as measured -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calibration measures the machine once and stores the model in a file. Every
// later compilation for `native` reads it, so equal files give equal artifacts.
// The file names the processor that it was measured on and is rejected on any
// other.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_RUNTIME_MACHINE_H
#define LUMINAL_RUNTIME_MACHINE_H

#include "luminal/Support/MachineModel.h"

namespace luminal::runtime {

/// Identifies a processor, as far as the system describes it.
struct Processor {
  std::string vendor, name;
  std::string family, model, stepping, microcode;
  /// Instruction set extensions, out of those that artifacts may use.
  std::vector<std::string> features;
  /// Online cores, including those that this process may not use.
  int64_t cores = 1;

  /// The processor of this machine.
  static Processor getHost();
  bool operator==(const Processor &other) const = default;
};

/// The contents of a machine model's file.
struct MachineFile {
  Processor processor;
  MachineModel model;

  /// The file's JSON text.
  std::string str() const;
  /// `name` prefixes every error.
  static Result<MachineFile> parse(std::string_view text, std::string name);
};

/// Path of `machine.json` in `folder`; if `folder` is empty, in
/// $XDG_CACHE_HOME/luminal or ~/.cache/luminal. Empty if neither is defined.
std::string getMachineFile(const std::string &folder = {});

/// Reads the model at `path`; std::nullopt if there is no file. The error says
/// what is wrong with the file, or that it belongs to another processor.
Result<std::optional<MachineModel>> readMachineModel(const std::string &path);

/// Sets what the system reports without measurement: cache sizes, and the
/// number of workers that this process may use. Fields that it does not report
/// stay unchanged.
void askSystem(MachineModel &model);

/// Measures this machine in less than three seconds. A value that cannot be
/// measured keeps the default of an unknown machine.
MachineModel measureMachine();

/// Measures the machine and writes the file at `path`, creating its parent
/// folders.
Result<MachineModel> calibrate(const std::string &path);

} // namespace luminal::runtime

#endif // LUMINAL_RUNTIME_MACHINE_H
