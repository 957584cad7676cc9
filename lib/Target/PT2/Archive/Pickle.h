//===- Pickle.h - Tensors of a torch.save file, read as data --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pickle is a program. This reader interprets only the few opcodes that
// torch.save needs for tensors in dictionaries, as data: it never looks up or
// calls anything. Any other opcode, global or call is an error that names it.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_TARGET_PT2_ARCHIVE_PICKLE_H
#define LUMINAL_LIB_TARGET_PT2_ARCHIVE_PICKLE_H

#include "luminal/Support/Result.h"
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace luminal::pt2 {

/// A tensor as the pickle states it: a strided view of a storage.
struct PickledTensor {
  /// torch.export's serialized dtype code (see TensorMeta); 0 if unknown.
  int dtype = 0;
  std::string storageKey; ///< member `data/<key>`
  int64_t offset = 0;     ///< in elements
  std::vector<int64_t> sizes, strides;
};

/// The tensors of a pickled dictionary by key, or a single pickled tensor under
/// the empty key. Entries of a dictionary that are not tensors are an error.
Result<std::map<std::string, PickledTensor>>
unpickleTensors(std::string_view pickle);

/// The tensors in nested tuples, lists and dictionaries, in order; other values
/// are ignored.
Result<std::vector<PickledTensor>> unpickleLeaves(std::string_view pickle);

} // namespace luminal::pt2

#endif // LUMINAL_LIB_TARGET_PT2_ARCHIVE_PICKLE_H
