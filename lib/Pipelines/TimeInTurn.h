//===- TimeInTurn.h - Several programs timed side by side -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_PIPELINES_TIMEINTURN_H
#define LUMINAL_LIB_PIPELINES_TIMEINTURN_H

#include "BoundProgram.h"
#include "mlir/IR/BuiltinOps.h"

namespace luminal {

/// A program that is timed, and what comes of it.
struct TimedProgram {
  BoundProgram *program = nullptr;
  /// Those of one group compute the same: what is far slower than the best of
  /// them is timed no further.
  size_t group = 0;
  /// The least.
  double seconds = 0;
  /// How far the middle half of the rounds is apart, as a share of that.
  double spread = 0;
};

struct TurnOptions {
  /// Each is run for so long in a round, once at least.
  double seconds = 5e-4;
  unsigned rounds = 7;
};

/// Times all of them in rounds, each once a round. `probe` runs before and
/// after a round: one in which it takes longer than usual does not count, for
/// then everything did.
Status timeInTurn(std::vector<TimedProgram> &programs, BoundProgram &probe,
                  const TurnOptions &options = {});

/// The text of the program that is the probe: it needs no memory, and is short.
llvm::StringRef getProbeText();

} // namespace luminal

#endif // LUMINAL_LIB_PIPELINES_TIMEINTURN_H
