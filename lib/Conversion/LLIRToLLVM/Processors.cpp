//===- Processors.cpp - A table of processors -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's tuning features are not used: it sets `prefer-256-bit` for every Intel
// processor, which halves the speed of a matrix product on processors with two
// 512-bit multipliers. This table decides which width is profitable. For
// `native`, a calibration of the machine (luminal/Runtime/Machine.h) overrides
// the table and provides the size of the L1 cache.
//
//===----------------------------------------------------------------------===//

#include "luminal/Conversion/LLIRToLLVM.h"

using namespace luminal;

namespace {
/// A processor with AVX-512, by its LLVM name.
struct Processor {
  llvm::StringLiteral name;
  unsigned vectorBits;
  int64_t l1Bytes = MachineModel().l1Bytes;
};
} // namespace

static constexpr int64_t k48K = 48 << 10;

static constexpr Processor kProcessors[] = {
    // A feature level, not a processor: code for it must suit the slowest of
    // many.
    {"x86-64-v4", 256},
    // Using 512-bit vectors lowers the clock of the whole core.
    {"skylake-avx512", 256},
    {"skylake_avx512", 256},
    {"skx", 256},
    {"cascadelake", 256},
    {"cooperlake", 256},
    // One 512-bit multiplier, but two of 256 bits.
    {"cannonlake", 256},
    {"icelake-client", 256, k48K},
    {"icelake_client", 256, k48K},
    {"tigerlake", 256, k48K},
    {"rocketlake", 256, k48K},
    // Two 512-bit multipliers, and the clock hardly drops.
    {"icelake-server", 512, k48K},
    {"icelake_server", 512, k48K},
    {"sapphirerapids", 512, k48K},
    {"emeraldrapids", 512, k48K},
    {"graniterapids", 512, k48K},
    {"graniterapids-d", 512, k48K},
    {"graniterapids_d", 512, k48K},
    {"diamondrapids", 512},
    {"novalake", 512},
    // 512-bit operations execute in two halves: half as many instructions for
    // the same work.
    {"znver4", 512},
    // Full 512-bit units.
    {"znver5", 512, k48K},
};

static const Processor *find(llvm::StringRef cpu) {
  return llvm::find_if(kProcessors,
                       [&](const Processor &p) { return p.name == cpu; });
}

std::optional<unsigned> luminal::getProfitableVectorBits(llvm::StringRef cpu) {
  const Processor *found = find(cpu);
  if (found == std::end(kProcessors))
    return std::nullopt;
  return found->vectorBits;
}

std::optional<int64_t> luminal::getFirstCacheBytes(llvm::StringRef cpu) {
  const Processor *found = find(cpu);
  if (found == std::end(kProcessors))
    return std::nullopt;
  return found->l1Bytes;
}
