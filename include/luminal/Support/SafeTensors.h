//===- SafeTensors.h - Reads and writes .safetensors files ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_SUPPORT_SAFETENSORS_H
#define LUMINAL_SUPPORT_SAFETENSORS_H

#include "luminal/Support/Tensor.h"
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace luminal {

/// The tensors of a .safetensors file, memory-mapped and sorted by name. The
/// header is validated: every range lies in the file, matches its type and
/// shape, and overlaps no other.
class SafeTensors {
public:
  static Result<SafeTensors> open(const std::string &path);
  static Result<SafeTensors> fromBytes(Bytes bytes, std::string name);

  const std::vector<HostTensor> &getTensors() const { return tensors; }
  const HostTensor *find(std::string_view name) const;

private:
  std::vector<HostTensor> tensors;
};

/// Writes tensors, in the given order, under their names. On failure nothing is
/// left at `path`.
Status writeSafeTensors(const std::string &path,
                        const std::vector<HostTensor> &tensors);

} // namespace luminal

#endif // LUMINAL_SUPPORT_SAFETENSORS_H
