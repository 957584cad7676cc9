//===- Weights.h - Finds weights in an archive ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_RUNTIME_WEIGHTS_H
#define LUMINAL_RUNTIME_WEIGHTS_H

#include "luminal/Runtime/Manifest.h"
#include "luminal/Support/ZipArchive.h"
#include <span>

namespace luminal::runtime {

/// Returns the bytes of each weight, found by its `member` and `offset`. A
/// compressed member is decompressed once, and its size must not exceed the end
/// of the last weight read from it.
Result<std::vector<Bytes>> findWeights(const ZipArchive &archive,
                                       std::span<const WeightSpec> weights);

} // namespace luminal::runtime

#endif // LUMINAL_RUNTIME_WEIGHTS_H
