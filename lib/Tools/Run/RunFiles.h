//===- RunFiles.h - Array files of luminal-run ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_TOOLS_RUN_RUNFILES_H
#define LUMINAL_LIB_TOOLS_RUN_RUNFILES_H

#include "luminal/Tools/Run/RunDriver.h"

namespace luminal::tools {

/// Whether a file or folder exists at `path`.
bool exists(const std::string &path);

/// Reads one array for each input of the program; a missing one is an error.
Result<std::vector<HostTensor>>
readInputs(const std::vector<std::string> &files, const Runnable &program);

/// DIR/prefix_0.npy, DIR/prefix_1.npy, ... up to the first that does not exist.
std::vector<std::string> numberedFiles(const std::string &dir,
                                       const char *prefix);

/// Files and folders created so far; removed on destruction unless `keep` was
/// called.
class Written {
public:
  Written() = default;
  Written(const Written &) = delete;
  Written &operator=(const Written &) = delete;
  ~Written();
  /// Writes DIR/output_0.npy, DIR/output_1.npy, ...
  Status writeOutputs(const std::string &dir,
                      const std::vector<HostTensor> &outputs);
  /// Writes one file: .npy for the only output, else .safetensors.
  Status writeFile(const std::string &file,
                   const std::vector<HostTensor> &outputs);
  void keep() { kept = true; }

private:
  Status makeDirectory(const std::string &path);

  std::vector<std::string> files, folders;
  bool kept = false;
};

} // namespace luminal::tools

#endif // LUMINAL_LIB_TOOLS_RUN_RUNFILES_H
