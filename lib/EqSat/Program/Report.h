//===- Report.h - The report of a saturation ------------------------------===//
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
  /// nullopt if no program was found.
  std::optional<ExtractionReport> extraction;
  /// Set only on request.
  std::optional<ProofReport> proofs;
  /// The rules by which the program was found; empty if there is no report.
  std::map<std::string, UsedRule> used;
};

struct SaturationReport {
  /// The admitted promises.
  std::string precision;
  double maxUlps = 0;
  /// The seed of the extraction.
  uint64_t seed = 0;
  std::vector<FunctionReport> functions;
  GraphSerializer graphs;
};

/// Warns if a limit stopped the run. Fails with an error if the run could not
/// be finished.
llvm::LogicalResult checkStop(mlir::func::FuncOp function,
                              llvm::ArrayRef<Rule> rules, const RunReport &run,
                              const Limits &limits);
void emitRemarks(mlir::func::FuncOp function, llvm::ArrayRef<Rule> rules,
                 const RunReport &run, const ExtractionReport &extraction);
/// Each fails with one error if the file cannot be written.
llvm::LogicalResult writeGraphs(const SaturationReport &report,
                                llvm::StringRef path, mlir::Operation *module);
llvm::LogicalResult writeProofs(const SaturationReport &report,
                                llvm::StringRef path, mlir::Operation *module);
llvm::LogicalResult writeReport(const SaturationReport &report,
                                llvm::StringRef path, mlir::Operation *module);

} // namespace luminal::eqsat

#endif // LUMINAL_LIB_EQSAT_PROGRAM_REPORT_H
