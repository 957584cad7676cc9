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
  /// A torch.export archive or a `.mlir` file in any phase, told apart by
  /// content.
  std::string input;
  /// What `input` holds, where it is a name only.
  std::optional<Bytes> inputBytes;
  /// The artifact, or with `emit` the text of the module ("-" is the standard
  /// output, as is an empty name).
  std::string output;
  std::string target = "cpu";
  std::string arch = "native";
  /// Workers that schedules are for; 0: those of the machine. Code runs with
  /// any number of threads.
  unsigned workers = 0;
  /// Libraries of the target that the artifact may call: "all", "none", or one
  /// by name.
  std::string library = "all";
  /// Whether repeated subgraphs become loops while equal programs are looked
  /// for: "on" or "off".
  std::string roll = "on";
  /// How far ops are fused: "stages" (anchors that follow each other over the
  /// same rows too), "kernels" (one anchor, or several over one domain), or
  /// "ops" (none).
  std::string fuse = "stages";
  /// Folder of what was measured on this machine; empty: that of the user
  /// (luminal/Runtime/Machine.h). Code for `native` follows the model in it, if
  /// there is one; a broken one, or another processor's, is measured again.
  std::string planCache;
  /// Whether what is measured is kept there, and whether anything is: "update",
  /// "read-only" or "frozen" (luminal/Search/PlanCache.h).
  std::string planCacheMode = "update";
  /// Seconds for measuring, and programs to look at; where both are 0, nothing
  /// is measured (docs/Search.md). With seconds alone the number of programs
  /// has no limit, and the other way round.
  double searchSeconds = 0;
  uint64_t searchCandidates = 0;
  /// Schedules of a kernel that are measured besides what better ones lead to:
  /// the static choice, and the cheapest others by their prices. 0: all legal
  /// ones of its forms and beside the static choice, and no more.
  uint64_t searchSchedules = 8;
  /// Asked now and then during the search, which ends with what it has if so.
  std::function<bool()> isStopped;
  /// Files with inputs that programs are timed and checked with, as luminal-run
  /// takes them: `FILE` or `NAME=FILE`. Static prices and timings are for their
  /// sizes. Where there are none, a search takes those of the archive, if it
  /// has some, else random ones.
  std::vector<std::string> sampleInputs;
  /// Variants of the program for narrower ranges of its symbols, in order: each
  /// a list of `NAME=VALUE`, `NAME=LEAST..MOST` or `NAME=LEAST..`, separated by
  /// commas. A call runs the first one whose ranges hold, else the program for
  /// all sizes.
  std::vector<std::string> variants;
  /// A symbol for ranges of which variants are looked for by measuring, and
  /// come after those; empty: none.
  std::string findVariants;
  /// Run the artifact, and refuse it where a kernel computes something else
  /// than the interpreter, or all of them together than the program that was
  /// read.
  bool checkKernels = false;
  /// Told of the search, one line at a time.
  std::function<void(llvm::StringRef line)> searchProgress;
  /// Stop after this phase and write the module instead of an artifact.
  std::optional<Phase> emit;
  uint64_t seed = 0;
  /// 0: as many as the machine has.
  unsigned threads = 0;
  /// Where weights are read from, if not from `input`: a torch.export archive
  /// or a `.safetensors` file.
  std::string weights;
  bool embedWeights = false;
  /// Memory for what is computed once, when weights are bound; below 0: a share
  /// of theirs that the target says.
  int64_t prepareBytes = -1;
  /// Weights that no file holds are bound by the caller.
  bool allowMissingWeights = false;
  /// Refuse ops of an archive whose cost grows faster than their operands, and
  /// that have many elements; else they are a warning.
  bool refuseCostly = false;
  /// Compiled-in rule sets to saturate with: all if empty, none if the only
  /// name is "none".
  std::vector<std::string> ruleSets;
  /// Files of `pdl.pattern` ops to saturate with.
  std::vector<std::string> rules;
  /// Seconds for sampling what the rules of a file promise, for each file.
  double ruleSeconds = 1;
  /// Files of kernels that the user supplies (docs/UserKernels.md).
  std::vector<std::string> kernels;
  /// File for the rule applications that make the compiled program equal to
  /// the given one, if not empty; or why two values are equal.
  std::string explain;
  std::vector<std::string> explainValues;
  /// Which promises of rules are allowed: "exact", "rounding" or "finite".
  std::string precision = "finite";
  /// The maximum rounding error of a rule, in units of the last place.
  double maxUlps = 1e300;
  /// Limits of the search for equal programs; one that stops it is a warning.
  eqsat::Limits limits;
  /// File for the report as JSON, if not empty.
  std::string report;
  /// Called with the name of each phase as it begins.
  std::function<void(llvm::StringRef phase)> progress;
  /// Applied to every pass manager before it runs (IR printing, timing,
  /// reproducers). There is one for each phase.
  std::function<mlir::LogicalResult(mlir::PassManager &)> configure;
};

/// Compiles. On failure exactly one error was emitted, to the context's
/// diagnostic handlers, and no output file is left behind. `context` must have
/// every dialect registered (registerAllDialects).
mlir::LogicalResult compile(mlir::MLIRContext &context,
                            const CompileOptions &options);

/// The module of an archive or `.mlir` file. On failure null, after one error.
mlir::OwningOpRef<mlir::ModuleOp> readInput(mlir::MLIRContext &context,
                                            const CompileOptions &options);

} // namespace luminal

#endif // LUMINAL_PIPELINES_COMPILE_H
