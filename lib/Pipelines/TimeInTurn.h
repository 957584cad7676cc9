//===- TimeInTurn.h - Several programs timed side by side -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_PIPELINES_TIMEINTURN_H
#define LUMINAL_LIB_PIPELINES_TIMEINTURN_H

#include "BoundProgram.h"
#include "mlir/IR/BuiltinOps.h"

namespace luminal {

/// A program to time, and the result.
struct TimedProgram {
  BoundProgram *program = nullptr;
  /// Programs of one group compute the same function. A program that is much
  /// slower than the best of its group is not timed further.
  size_t group = 0;
  /// The smallest time of a round, in seconds.
  double seconds = 0;
  /// Interquartile range of the rounds, relative to `seconds`.
  double spread = 0;
};

struct TurnOptions {
  /// Duration of each program's run in a round; at least one call.
  double seconds = 5e-4;
  unsigned rounds = 7;
};

/// Times all programs in interleaved rounds, each program once in a round.
/// `probe` runs before and after each round. A round in which the probe is
/// slower than usual does not count, because the whole device was slower.
Status timeInTurn(std::vector<TimedProgram> &programs, BoundProgram &probe,
                  const TurnOptions &options = {});

/// The text of the probe program: a short kernel that needs little memory.
llvm::StringRef getProbeText();

} // namespace luminal

#endif // LUMINAL_LIB_PIPELINES_TIMEINTURN_H
