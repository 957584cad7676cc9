//===- ScheduleNotes.h - What is predicted of a kernel, and why -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps know no schedule any more: for the report it is noted in locations,
// which change no text of a program.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_PIPELINES_SCHEDULENOTES_H
#define LUMINAL_LIB_PIPELINES_SCHEDULENOTES_H

#include "luminal/Conversion/Target.h"
#include <optional>

namespace luminal {

/// Of a kernel, or of a call of a library, where symbols have their nominal
/// values. Times are nanoseconds on all workers of the machine.
struct ScheduleNote {
  std::string schedule;
  /// The reasons of the form that was chosen: "form: tiles; rows: 64".
  std::string why;
  double bytes = 0, flops = 0;
  /// Absent for a call of a library.
  std::optional<double> predicted;
  /// What the machine needs at least.
  double roofline = 0;
};

/// Notes at each kernel of a module in phase `scheduled` what is known of its
/// schedule. `searched`: whether the clock chose schedules.
void noteSchedules(mlir::ModuleOp module, const TargetInterface &target,
                   bool searched);

/// The note of the kernel that a step runs.
std::optional<ScheduleNote> findScheduleNote(mlir::Location step);

} // namespace luminal

#endif // LUMINAL_LIB_PIPELINES_SCHEDULENOTES_H
