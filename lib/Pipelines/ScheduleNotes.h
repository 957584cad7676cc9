//===- ScheduleNotes.h - Notes of schedules -------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps no longer carry a schedule. For the report, schedules are noted in
// locations, which do not change the text of a program.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_PIPELINES_SCHEDULENOTES_H
#define LUMINAL_LIB_PIPELINES_SCHEDULENOTES_H

#include "luminal/Conversion/Target.h"
#include <optional>

namespace luminal {

/// Predictions for a kernel or a library call, with symbols at their nominal
/// values. Times are in nanoseconds on all workers of the machine.
struct ScheduleNote {
  std::string schedule;
  /// The reasons for the chosen form: "form: tiles; rows: 64".
  std::string why;
  double bytes = 0, flops = 0;
  /// The static price; absent for a library call.
  std::optional<double> predicted;
  /// Lower bound of the time on this machine.
  double roofline = 0;
};

/// Attaches a note about its schedule to each kernel of a module in phase
/// `scheduled`. `searched`: whether schedules were chosen by measuring.
void noteSchedules(mlir::ModuleOp module, const TargetInterface &target,
                   bool searched);

/// The note of the kernel that a step runs, found in its location.
std::optional<ScheduleNote> findScheduleNote(mlir::Location step);

} // namespace luminal

#endif // LUMINAL_LIB_PIPELINES_SCHEDULENOTES_H
