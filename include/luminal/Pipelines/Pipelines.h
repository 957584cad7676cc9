//===- Pipelines.h - The phases of a compile, by name ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_PIPELINES_PIPELINES_H
#define LUMINAL_PIPELINES_PIPELINES_H

#include "luminal/EqSat/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassOptions.h"

namespace luminal {

struct KernelObjects;

/// The states that a module passes through, in order. A phase is named after
/// the state reached; its contract is in docs/Architecture.md.
enum class Phase {
  Imported,
  Rolled,
  Saturated,
  Fused,
  Scheduled,
  Lowered,
  Binary
};

llvm::StringRef getPhaseName(Phase phase);
std::optional<Phase> getPhase(llvm::StringRef name);

/// The phase of a module, determined from its ops.
Phase getPhase(mlir::ModuleOp module);

struct PipelineOptions : mlir::PassPipelineOptions<PipelineOptions> {
  Option<std::string> target{*this, "target", llvm::cl::init("cpu"),
                             llvm::cl::desc("Kind of device")};
  Option<std::string> from{*this, "from", llvm::cl::init("imported"),
                           llvm::cl::desc("Phase that the module is in")};
  Option<std::string> until{
      *this, "until", llvm::cl::init("lowered"),
      llvm::cl::desc("Phase to stop after: imported, rolled, saturated, fused, "
                     "scheduled or lowered")};
  Option<std::string> arch{
      *this, "arch", llvm::cl::init("native"),
      llvm::cl::desc("Device of that kind: native, or a name")};
  Option<std::string> machine{
      *this, "machine", llvm::cl::init(""),
      llvm::cl::desc("File with the model of the machine")};
  Option<unsigned> workers{
      *this, "workers", llvm::cl::init(0),
      llvm::cl::desc(
          "Workers that kernels are optimized for; 0: those of the machine")};
  Option<std::string> roll{
      *this, "roll", llvm::cl::init("on"),
      llvm::cl::desc("Whether repeated subgraphs become loops before "
                     "saturation: on or off")};
  Option<std::string> fuse{
      *this, "fuse", llvm::cl::init("stages"),
      llvm::cl::desc("How far ops are fused: stages, kernels or ops")};
  Option<int64_t> prepareBytes{
      *this, "prepare-bytes", llvm::cl::init(-1),
      llvm::cl::desc(
          "Bytes for values that are computed once, when weights are bound "
          "(default: a share of the weights that depends on the target)")};
  Option<std::string> library{
      *this, "library", llvm::cl::init("all"),
      llvm::cl::desc("Libraries of the target that may be called: all, none, "
                     "or the name of one")};
  Option<uint64_t> seed{*this, "seed", llvm::cl::init(0),
                        llvm::cl::desc("Seed of the extraction; 0: none")};
  ListOption<std::string> ruleSets{
      *this, "rule-sets",
      llvm::cl::desc("Names of compiled-in rule sets to saturate with, or "
                     "'none' (default: all)")};
  ListOption<std::string> rules{
      *this, "rules",
      llvm::cl::desc(".mlir files of pdl.pattern ops to saturate with")};
  ListOption<std::string> kernels{
      *this, "kernels", llvm::cl::desc(".mlir files of user kernels")};
  Option<std::string> precision{
      *this, "precision", llvm::cl::init("finite"),
      llvm::cl::desc("Admitted promises of rules: exact, rounding or finite")};
  Option<double> maxUlps{
      *this, "max-ulps", llvm::cl::init(1e300),
      llvm::cl::desc(
          "Do not apply rules that promise a larger rounding error, in ulps")};
#define LUMINAL_EQSAT_LIMIT(TYPE, FIELD, NAME, DEFAULT, TEXT)                  \
  Option<TYPE> FIELD{*this, "eqsat-" NAME, llvm::cl::init(DEFAULT),            \
                     llvm::cl::desc(TEXT)};
#include "luminal/EqSat/Core/Limits.def"
  Option<std::string> eqsatReport{
      *this, "eqsat-report", llvm::cl::init(""),
      llvm::cl::desc("File for the report of saturation, as JSON")};
  Option<std::string> eqsatExplain{
      *this, "eqsat-explain", llvm::cl::init(""),
      llvm::cl::desc("File for the rule applications that prove the saturated "
                     "program equal to the given one")};
  ListOption<std::string> eqsatExplainValues{
      *this, "eqsat-explain-values",
      llvm::cl::desc("Explain instead why two values, given by their name "
                     "locations, are equal")};
  /// Receives the saturated functions, for drawing more programs. Cannot be set
  /// as text.
  eqsat::KeepSession keepSession;
  /// Receives the code of kernels that phase `Lowered` finishes; if null, the
  /// code goes into the module. Cannot be set as text.
  KernelObjects *objects = nullptr;
};

/// Adds the passes after extraction that remove the remaining loops between
/// ops.
void addWithoutLoops(mlir::OpPassManager &pm);

/// Adds the passes that bring a module from phase `from` to phase `to` (at most
/// `Lowered`). If an option names something unknown, fails with the reason in
/// *error.
mlir::LogicalResult addPhases(mlir::OpPassManager &pm, Phase from, Phase to,
                              const PipelineOptions &options,
                              std::string *error);

/// Registers `luminal-pipeline`.
void registerPipelines();

} // namespace luminal

#endif // LUMINAL_PIPELINES_PIPELINES_H
