//===- CompileReport.h - What a compile did, as JSON ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_PIPELINES_COMPILEREPORT_H
#define LUMINAL_LIB_PIPELINES_COMPILEREPORT_H

#include "luminal/EqSat/Program/SaturationSession.h"
#include "luminal/Pipelines/Compile.h"
#include "llvm/Support/JSON.h"

namespace luminal {

/// "used_rules": those that a program was found by, most used first.
void writeUsedRules(llvm::json::OStream &j,
                    const std::map<std::string, eqsat::UsedRule> &used);

struct CompileReport {
  struct PhaseTime {
    std::string name;
    double seconds;
  };
  /// Times of the phases, and of the parts of the last one.
  std::vector<PhaseTime> phases;
  /// The report of eqsat-saturate, as JSON text; empty where it did not run.
  std::string saturation;
  /// What a search did, as JSON text; of the program (`of` is empty) or of a
  /// variant.
  struct SearchReport {
    std::string of, text;
  };
  std::vector<SearchReport> searches;
  /// What the machine does at most, a second.
  double bytesPerSecond = 0, flopsPerSecond = 0;

  /// The report as JSON text. `module` is in its last phase.
  std::string str(const CompileOptions &options, mlir::ModuleOp module) const;
};

} // namespace luminal

#endif // LUMINAL_LIB_PIPELINES_COMPILEREPORT_H
