//===- Weights.cpp - Finds weights in an archive --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Runtime/Weights.h"
#include <algorithm>
#include <map>

using namespace luminal;
using namespace luminal::runtime;

Result<std::vector<Bytes>>
runtime::findWeights(const ZipArchive &archive,
                     std::span<const WeightSpec> weights) {
  struct Found {
    uint64_t end = 0; ///< End of the last weight in the member.
    std::optional<Bytes> bytes;
  };
  std::map<std::string_view, Found> members;
  // Manifest::verify has checked that the sum does not overflow.
  for (const WeightSpec &weight : weights)
    members[weight.member].end =
        std::max(members[weight.member].end, weight.offset + weight.bytes);
  std::vector<Bytes> found;
  for (const WeightSpec &weight : weights) {
    auto &[end, bytes] = members[weight.member];
    if (!bytes) {
      LUMINAL_TRY(read, archive.resolve(weight.member, end));
      bytes = std::move(read);
    }
    if (weight.offset > bytes->size ||
        weight.bytes > bytes->size - weight.offset)
      return Error(archive.getName() + ": member '" + weight.member + "' has " +
                   std::to_string(bytes->size) + " bytes, but weight '" +
                   weight.name + "' needs " + std::to_string(weight.bytes) +
                   " at " + std::to_string(weight.offset));
    Bytes part = *bytes;
    part.data += weight.offset;
    part.size = weight.bytes;
    found.push_back(std::move(part));
  }
  return found;
}
