//===- Report.h - What a saturation did, as remarks and JSON --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_EQSAT_PROGRAM_REPORT_H
#define LUMINAL_LIB_EQSAT_PROGRAM_REPORT_H

#include "Program.h"
#include "luminal/EqSat/Core/Runner.h"
#include <map>
#include <string>

namespace luminal::eqsat {

struct FunctionReport {
  std::shared_ptr<const SaturationRun> saturation;
  /// Nothing where no program was found.
  std::optional<ExtractionReport> extraction;
  /// Where it was asked for.
  std::optional<ProofReport> proofs;
  /// Rules that the program was found by; empty where nothing is reported.
  std::map<std::string, UsedRule> used;
};

struct SaturationReport {
  /// The promises that were admitted.
  std::string precision;
  double maxUlps = 0;
  /// Of the extraction.
  uint64_t seed = 0;
  std::vector<FunctionReport> functions;
  GraphSerializer graphs;
};

/// Warns where a limit stopped the run; fails with an error where the run could
/// not be finished.
llvm::LogicalResult checkStop(mlir::func::FuncOp function,
                              llvm::ArrayRef<Rule> rules, const RunReport &run,
                              const Limits &limits);
void emitRemarks(mlir::func::FuncOp function, llvm::ArrayRef<Rule> rules,
                 const RunReport &run, const ExtractionReport &extraction);
/// These fail with one error where the file cannot be written.
llvm::LogicalResult writeGraphs(const SaturationReport &report,
                                llvm::StringRef path, mlir::Operation *module);
llvm::LogicalResult writeProofs(const SaturationReport &report,
                                llvm::StringRef path, mlir::Operation *module);
llvm::LogicalResult writeReport(const SaturationReport &report,
                                llvm::StringRef path, mlir::Operation *module);

} // namespace luminal::eqsat

#endif // LUMINAL_LIB_EQSAT_PROGRAM_REPORT_H
