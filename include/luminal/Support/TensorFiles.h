//===- TensorFiles.h - Reads a program's tensors from files ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_SUPPORT_TENSORFILES_H
#define LUMINAL_SUPPORT_TENSORFILES_H

#include "luminal/Support/Result.h"
#include "luminal/Support/Tensor.h"

namespace luminal {

/// An input or output of a program.
struct TensorPort {
  std::string name;
  DType dtype = DType::F32;
  std::string type; ///< Shown in messages: "f32[s77, 16]".
  /// An integer that a call passes beside its tensors.
  bool isInteger = false;
};

/// Assigns files (.npy or .safetensors, given as FILE or NAME=FILE) to ports:
/// files without a name in order, tensors of a .safetensors file by their
/// names. An integer may be given as NAME=VALUE. `what` names the kind of port
/// in errors. With `asStored`, any element type is accepted; otherwise only the
/// port's own, as readNpy reads it.
Result<std::vector<std::optional<HostTensor>>>
readTensorFiles(const std::vector<std::string> &files,
                const std::vector<TensorPort> &ports, const char *what,
                bool asStored);

} // namespace luminal

#endif // LUMINAL_SUPPORT_TENSORFILES_H
