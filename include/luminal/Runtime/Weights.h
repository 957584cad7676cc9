//===- Weights.h - Weights found in an archive ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_RUNTIME_WEIGHTS_H
#define LUMINAL_RUNTIME_WEIGHTS_H

#include "luminal/Runtime/Manifest.h"
#include "luminal/Support/ZipArchive.h"
#include <span>

namespace luminal::runtime {

/// The bytes of each weight by its `member` and `offset`. A member that is
/// compressed may have as many bytes as weights are read from, and is
/// decompressed once.
Result<std::vector<Bytes>> findWeights(const ZipArchive &archive,
                                       std::span<const WeightSpec> weights);

} // namespace luminal::runtime

#endif // LUMINAL_RUNTIME_WEIGHTS_H
