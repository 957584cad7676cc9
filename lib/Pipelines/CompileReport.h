//===- CompileReport.h - The report of a compile --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_PIPELINES_COMPILEREPORT_H
#define LUMINAL_LIB_PIPELINES_COMPILEREPORT_H

#include "luminal/EqSat/Program/SaturationSession.h"
#include "luminal/Pipelines/Compile.h"
#include "llvm/Support/JSON.h"

namespace luminal {

/// Writes "used_rules": the rules by which a program was found, most used
/// first.
void writeUsedRules(llvm::json::OStream &j,
                    const std::map<std::string, eqsat::UsedRule> &used);

struct CompileReport {
  struct PhaseTime {
    std::string name;
    double seconds;
  };
  /// Times of the phases, and of the sections of the last phase.
  std::vector<PhaseTime> phases;
  /// The report of eqsat-saturate, as JSON text; empty if it did not run.
  std::string saturation;
  /// Reports of searches, as JSON text: for the program (`of` is empty) or for
  /// the variant that `of` names.
  struct SearchReport {
    std::string of, text;
  };
  std::vector<SearchReport> searches;
  /// Peak rates of the machine, per second.
  double bytesPerSecond = 0, flopsPerSecond = 0;

  /// The report as JSON text. `module` must be in its last phase.
  std::string str(const CompileOptions &options, mlir::ModuleOp module) const;
};

} // namespace luminal

#endif // LUMINAL_LIB_PIPELINES_COMPILEREPORT_H
