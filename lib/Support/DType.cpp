//===- DType.cpp - Names of the element types -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Support/DType.h"

using namespace luminal;

// Indexed by DType.
static constexpr std::string_view kNames[kNumDTypes] = {
    "f32", "f16", "bf16",     "f64",    "i32", "i64",  "i1",
    "i8",  "ui8", "f8E4M3FN", "f8E5M2", "i16", "ui16", "ui32"};

std::string_view luminal::dtypeName(DType t) {
  return kNames[static_cast<unsigned>(t)];
}

std::optional<DType> luminal::dtypeFromName(std::string_view name) {
  for (unsigned i = 0; i < kNumDTypes; ++i)
    if (kNames[i] == name)
      return static_cast<DType>(i);
  return std::nullopt;
}
