//===- Compile.h - The whole compile as one function ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_PIPELINES_COMPILE_H
#define LUMINAL_PIPELINES_COMPILE_H

#include "luminal/EqSat/Core/Limits.h"
#include "luminal/Pipelines/Pipelines.h"
#include "luminal/Support/ZipArchive.h"
#include "mlir/Pass/PassManager.h"

#include <functional>

namespace luminal {

struct CompileOptions {
  /// A torch.export archive or a `.mlir` file in any phase; its content tells
  /// which.
  std::string input;
  /// The bytes of the input. If set, `input` is only a name for messages.
  std::optional<Bytes> inputBytes;
  /// The artifact to write or, with `emit`, the text of the module ("-" or an
  /// empty name is the standard output).
  std::string output;
  std::string target = "cpu";
  std::string arch = "native";
  /// Number of workers that schedules are optimized for; 0: those of the
  /// machine. The code runs with any number of threads.
  unsigned workers = 0;
  /// Libraries of the target that the artifact may call: "all", "none", or the
  /// name of one library.
  std::string library = "all";
  /// Whether repeated subgraphs become loops before saturation: "on" or "off".
  std::string roll = "on";
  /// How far ops are fused: "stages" (several anchors over the same rows, one
  /// after the other), "kernels" (one anchor, or several over one domain), or
  /// "ops" (no fusion).
  std::string fuse = "stages";
  /// Folder of the measurements of this machine; empty: the user's folder
  /// (luminal/Runtime/Machine.h). Code for `native` uses the machine model in
  /// that folder, if there is one. If the model is broken or describes another
  /// processor, the machine is measured again.
  std::string planCache;
  /// Whether measurements are stored there, and whether the compiler measures
  /// at all: "update", "read-only" or "frozen" (luminal/Search/PlanCache.h).
  std::string planCacheMode = "update";
  /// Budget of the search: seconds for measuring, and number of programs to
  /// try. If both are 0, nothing is measured (docs/Search.md). If only one is
  /// set, the other has no limit.
  double searchSeconds = 0;
  uint64_t searchCandidates = 0;
  /// Number of schedules to measure for each kernel: the static choice and the
  /// cheapest others by their prices. Neighbours of better schedules are
  /// measured in addition. 0: all legal schedules of the kernel's forms and all
  /// neighbours of the static choice, and nothing beyond.
  uint64_t searchSchedules = 8;
  /// Asked now and then during the search; when true, the search ends with the
  /// best result so far.
  std::function<bool()> isStopped;
  /// Files with inputs with which programs are timed and checked, in the form
  /// of luminal-run: `FILE` or `NAME=FILE`. Static prices and timings use their
  /// sizes. If empty, a search uses the inputs in the archive or, if it has
  /// none, random ones.
  std::vector<std::string> sampleInputs;
  /// Variants of the program for narrower ranges of its symbols, in order. Each
  /// is a comma-separated list of `NAME=VALUE`, `NAME=LEAST..MOST` or
  /// `NAME=LEAST..`. A call runs the first variant whose ranges hold, otherwise
  /// the program for all sizes.
  std::vector<std::string> variants;
  /// A symbol for whose ranges the compiler looks for profitable variants by
  /// measuring; they come after `variants`. Empty: none.
  std::string findVariants;
  /// Run the artifact, and reject it if the result of a kernel differs from the
  /// interpreter's, or the result of all kernels from that of the input
  /// program.
  bool checkKernels = false;
  /// Called with progress messages of the search, one line at a time.
  std::function<void(llvm::StringRef line)> searchProgress;
  /// Stop after this phase and write the module instead of an artifact.
  std::optional<Phase> emit;
  uint64_t seed = 0;
  /// Number of threads; 0: as many as the machine has.
  unsigned threads = 0;
  /// A torch.export archive or a `.safetensors` file with the weights, if they
  /// are not read from `input`.
  std::string weights;
  bool embedWeights = false;
  /// Memory in bytes for values that are computed once, when weights are bound.
  /// Negative: a share of the size of the weights, which depends on the target.
  int64_t prepareBytes = -1;
  /// Allow weights that no file holds; the caller must bind them.
  bool allowMissingWeights = false;
  /// Treat ops of an archive whose cost grows faster than their operands, and
  /// that have many elements, as errors instead of warnings.
  bool refuseCostly = false;
  /// Compiled-in rule sets to saturate with: all if empty, none if the only
  /// name is "none".
  std::vector<std::string> ruleSets;
  /// Files of `pdl.pattern` ops to saturate with.
  std::vector<std::string> rules;
  /// Time limit in seconds, for each file, for testing on samples what its
  /// rules promise.
  double ruleSeconds = 1;
  /// Files of user kernels (docs/UserKernels.md).
  std::vector<std::string> kernels;
  /// File for the rule applications that make the compiled program equal to the
  /// given one, if not empty. With `explainValues`, explains instead why two
  /// values are equal.
  std::string explain;
  std::vector<std::string> explainValues;
  /// The promises of rules that are allowed: "exact", "rounding" or "finite".
  std::string precision = "finite";
  /// The maximum rounding error of a rule, in units of the last place.
  double maxUlps = 1e300;
  /// Limits of saturation; reaching one is a warning.
  eqsat::Limits limits;
  /// File for the report as JSON, if not empty.
  std::string report;
  /// Called with the name of each phase as it begins.
  std::function<void(llvm::StringRef phase)> progress;
  /// Called with the pass manager of each phase before it runs, to configure IR
  /// printing, timing or reproducers.
  std::function<mlir::LogicalResult(mlir::PassManager &)> configure;
};

/// Compiles. On failure, emits exactly one error to the context's diagnostic
/// handlers and leaves no output file behind. Every dialect must be registered
/// in `context` (registerAllDialects).
mlir::LogicalResult compile(mlir::MLIRContext &context,
                            const CompileOptions &options);

/// Reads the module from an archive or `.mlir` file. Returns null after one
/// error.
mlir::OwningOpRef<mlir::ModuleOp> readInput(mlir::MLIRContext &context,
                                            const CompileOptions &options);

} // namespace luminal

#endif // LUMINAL_PIPELINES_COMPILE_H
