//===- Processors.cpp - Where vectors of 512 bits pay ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's tuning features are not asked: `prefer-256-bit` is set for every Intel
// processor, and halves the speed of a matrix product where two units multiply
// 512 bits. This table is the only place that says what pays. A calibration
// that measures the machine would replace its answer for `native`.
//
//===----------------------------------------------------------------------===//

#include "luminal/Conversion/LLIRToLLVM.h"

using namespace luminal;

namespace {
/// A processor with AVX-512, by LLVM's name of it.
struct Processor {
  llvm::StringLiteral name;
  unsigned vectorBits;
};
} // namespace

static constexpr Processor kProcessors[] = {
    // No name of a processor, but of what many have: code for it runs on the
    // slowest of them.
    {"x86-64-v4", 256},
    // The clock falls for the whole core with the first vector of 512 bits.
    {"skylake-avx512", 256},
    {"skylake_avx512", 256},
    {"skx", 256},
    {"cascadelake", 256},
    {"cooperlake", 256},
    // One unit multiplies 512 bits where two multiply 256.
    {"cannonlake", 256},
    {"icelake-client", 256},
    {"icelake_client", 256},
    {"tigerlake", 256},
    {"rocketlake", 256},
    // Two units, and a clock that hardly falls.
    {"icelake-server", 512},
    {"icelake_server", 512},
    {"sapphirerapids", 512},
    {"emeraldrapids", 512},
    {"graniterapids", 512},
    {"graniterapids-d", 512},
    {"graniterapids_d", 512},
    {"diamondrapids", 512},
    {"novalake", 512},
    // Each operation in two halves: half the instructions for the same work.
    {"znver4", 512},
    // Full width.
    {"znver5", 512},
};

std::optional<unsigned> luminal::getProfitableVectorBits(llvm::StringRef cpu) {
  for (const Processor &processor : kProcessors)
    if (processor.name == cpu)
      return processor.vectorBits;
  return std::nullopt;
}
