//===- Processors.cpp - Where vectors of 512 bits pay ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's tuning features are not used: `prefer-256-bit` is set for every Intel
// processor, and halves the speed of a matrix product where two units multiply
// 512 bits. This table decides which width pays; for `native`, a calibration
// that measured the machine (luminal/Runtime/Machine.h) decides instead.
//
//===----------------------------------------------------------------------===//

#include "luminal/Conversion/LLIRToLLVM.h"

using namespace luminal;

namespace {
/// A processor with AVX-512, by its LLVM name.
struct Processor {
  llvm::StringLiteral name;
  unsigned vectorBits;
};
} // namespace

static constexpr Processor kProcessors[] = {
    // Not a processor but a feature level: code for it must suit the slowest of
    // many.
    {"x86-64-v4", 256},
    // The first 512-bit vector lowers the clock of the whole core.
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
    // Two units, and the clock hardly drops.
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
