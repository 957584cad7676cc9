//===- Arguments.h - The command line of luminal-compile ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_TOOLS_LUMINAL_COMPILE_ARGUMENTS_H
#define LUMINAL_TOOLS_LUMINAL_COMPILE_ARGUMENTS_H

#include "luminal/Pipelines/Compile.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"

namespace luminal {

namespace cl = llvm::cl;

/// The command line. Other programs depend on these names.
struct Arguments {
  cl::OptionCategory category{"luminal-compile options"};
  cl::opt<std::string> input{
      cl::Positional, cl::desc("<model.pt2 | model.mlir>"), cl::cat(category)};
  cl::opt<std::string> output{"o", cl::desc("Artifact to write"),
                              cl::value_desc("file"), cl::cat(category)};
  cl::opt<std::string> target{"target", cl::init("cpu"),
                              cl::desc("Kind of device: cpu or cuda"),
                              cl::cat(category)};
  cl::opt<std::string> arch{"arch", cl::init("native"),
                            cl::desc("Which device of that kind: native, a "
                                     "processor by LLVM's name, sm_90a, ..."),
                            cl::cat(category)};
  cl::opt<bool> calibrate{
      "calibrate", cl::cat(category),
      cl::desc("Measure this machine for all later compilations for native")};
  cl::opt<std::string> planCache{
      "plan-cache",
      cl::desc("Folder for measured times and the machine model (default: "
               "~/.cache/luminal)"),
      cl::value_desc("folder"), cl::cat(category)};
  cl::opt<std::string> emit{
      "emit", cl::cat(category),
      cl::desc("Stop after a phase and write the module: imported, rolled, "
               "saturated, fused, scheduled or lowered")};
  cl::opt<std::string> planCacheMode{
      "plan-cache-mode", cl::init("update"), cl::cat(category),
      cl::desc("update, read-only (measurements are not stored) or frozen "
               "(nothing is measured)")};
  cl::opt<double> searchBudget{
      "search-budget", cl::init(0), cl::value_desc("seconds"),
      cl::desc(
          "Time limit for measuring kernels and programs; 0: measure nothing"),
      cl::cat(category)};
  cl::opt<uint64_t> searchCandidates{
      "search-candidates", cl::init(0),
      cl::desc("Number of programs to measure, without a time limit unless "
               "--search-budget is given; the first is the one that static "
               "prices choose"),
      cl::cat(category)};
  cl::opt<uint64_t> searchSchedules{
      "search-schedules", cl::init(8),
      cl::desc("Schedules to measure for each kernel, before others near the "
               "best of them; 0: all legal schedules, and no others"),
      cl::cat(category)};
  cl::opt<uint64_t> seed{"seed", cl::init(0),
                         cl::desc("Seed of random choices; 0: make none"),
                         cl::cat(category)};
  cl::list<std::string> sampleInputs{
      "sample-input", cl::value_desc("file|name=file"), cl::cat(category),
      cl::desc("Input for measurements and checks, whose sizes prices use too: "
               ".npy or .safetensors; may be repeated")};
  cl::list<std::string> variants{
      "variant", cl::value_desc("name=range,..."), cl::cat(category),
      cl::desc("Compile a variant of the program for a narrower range of "
               "symbols, which calls in that range run: s=1, s=2..16, s=512..; "
               "may be repeated")};
  cl::opt<std::string> findVariants{
      "find-variants", cl::value_desc("name"), cl::cat(category),
      cl::desc("Find by measurement the ranges of this symbol that are worth a "
               "variant")};
  cl::opt<bool> checkKernels{
      "check-kernels", cl::cat(category),
      cl::desc("Run every kernel, and fail if its results differ from those of "
               "the interpreter")};
  cl::opt<bool> refuseCostly{
      "refuse-costly", cl::cat(category),
      cl::desc("Reject ops with many elements whose cost grows faster than the "
               "size of their operands, instead of warning about them")};
  cl::opt<unsigned> threads{"threads", cl::init(0),
                            cl::desc("Threads of the compiler; 0: all"),
                            cl::cat(category)};
  cl::opt<unsigned> workers{"workers", cl::init(0),
                            cl::desc("Workers of schedules; 0: the machine's"),
                            cl::cat(category)};
  cl::opt<std::string> weights{
      "weights", cl::value_desc("file"), cl::cat(category),
      cl::desc("Archive or .safetensors file that holds the weights")};
  cl::opt<bool> embedWeights{"embed-weights",
                             cl::desc("Put the weights into the artifact"),
                             cl::cat(category)};
  cl::opt<int64_t> prepareBytes{
      "prepare-bytes", cl::init(-1), cl::value_desc("bytes"), cl::cat(category),
      cl::desc("Memory limit for values that are computed once, from weights; "
               "0: compute none")};
  cl::list<std::string> rules{"eqsat-rules",
                              cl::desc(".mlir file of pdl.pattern ops to add"),
                              cl::value_desc("file"), cl::cat(category)};
  cl::opt<double> ruleSeconds{
      "eqsat-rule-seconds", cl::init(1), cl::value_desc("seconds"),
      cl::desc("Time for checking on samples what the rules of a file promise; "
               "0: do not check"),
      cl::cat(category)};
  cl::list<std::string> kernels{
      "kernels", cl::desc(".mlir file of kernels that you supply"),
      cl::value_desc("file"), cl::cat(category)};
  cl::list<std::string> ruleSets{
      "eqsat-rule-sets", cl::CommaSeparated, cl::value_desc("name,..."),
      cl::desc("Compiled-in rule sets to use, or none (default: all)"),
      cl::cat(category)};
  cl::opt<std::string> explain{
      "eqsat-explain", cl::value_desc("file"), cl::cat(category),
      cl::desc("File for the proof of the program (also in the report)")};
  cl::list<std::string> explainValues{
      "eqsat-explain-values", cl::CommaSeparated, cl::value_desc("name,name"),
      cl::desc("Explain instead why two values are equal"), cl::cat(category)};
  cl::opt<std::string> roll{
      "roll", cl::init("on"), cl::cat(category),
      cl::desc("Whether repeated layers are saturated once: on or off")};
  cl::opt<std::string> fuse{
      "fuse", cl::init("stages"), cl::cat(category),
      cl::desc(
          "Fusion of ops: stages, kernels (without stages), or ops (none)")};
  cl::opt<std::string> library{
      "library", cl::init("all"), cl::cat(category),
      cl::desc("Libraries that may be called: all, none, or one by name")};
  cl::opt<std::string> precision{
      "precision", cl::init("finite"), cl::cat(category),
      cl::desc("Rules that may be used: exact, rounding or finite")};
  cl::opt<double> maxUlps{
      "max-ulps", cl::init(1e300),
      cl::desc("Leave out rules that promise less precision, in ulp"),
      cl::cat(category)};
#define LUMINAL_EQSAT_LIMIT(TYPE, FIELD, NAME, DEFAULT, TEXT)                  \
  cl::opt<TYPE> FIELD{"eqsat-" NAME, cl::init(DEFAULT), cl::desc(TEXT),        \
                      cl::cat(category)};
#include "luminal/EqSat/Core/Limits.def"
  cl::opt<double> time{
      "time", cl::init(0), cl::value_desc("seconds"),
      cl::desc("Write nothing: run the program (.mlir) on random operands for "
               "this long, and print the seconds of one run"),
      cl::cat(category)};
  cl::opt<std::string> report{"report", cl::desc("File for a report as JSON"),
                              cl::value_desc("file"), cl::cat(category)};
  cl::opt<std::string> remarks{
      "remarks-filter",
      cl::desc("Print the decisions, with reasons, of the import (import-pt2) "
               "and of the passes with these names"),
      cl::value_desc("regex"), cl::cat(category)};
  cl::opt<bool> quiet{"quiet", cl::desc("No progress on stderr"),
                      cl::cat(category)};

  llvm::Expected<CompileOptions> get() const;
  llvm::Error enableRemarks(mlir::MLIRContext &context) const;
};

} // namespace luminal

#endif // LUMINAL_TOOLS_LUMINAL_COMPILE_ARGUMENTS_H
