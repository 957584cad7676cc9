//===- CompileSpace.h - The search space of a compile ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_PIPELINES_COMPILESPACE_H
#define LUMINAL_LIB_PIPELINES_COMPILESPACE_H

#include "Phases.h"
#include "SampleInputs.h"
#include "luminal/Pipelines/Compile.h"
#include "luminal/Pipelines/KernelKey.h"
#include "luminal/Pipelines/NodePrices.h"
#include "luminal/Search/Search.h"

namespace luminal {

/// The programs that are equal to a module in a phase up to `fused`, together
/// with the schedules of their kernels. They differ in what is extracted from
/// the e-graph, in which ops a library computes, and in how far ops are fused.
/// The module is saturated only once.
class CompileSpace : public search::Space {
public:
  /// `from` is the phase of `module`. Symbols in `sizes` have those values when
  /// kernels are timed. Passes write `files` for the first program only. All
  /// references must outlive the space.
  CompileSpace(mlir::ModuleOp module, Phase from, const CompileOptions &options,
               llvm::StringRef machine, const TargetInterface &target,
               const TimingDevice &device, const TimedSizes &sizes,
               const PhaseFiles &files);
  /// Called with the reasons why drawn programs could not be lowered.
  void setNote(std::function<void(const std::string &)> fn) {
    note = std::move(fn);
  }

  Result<search::Program> best() override;
  Result<std::optional<search::Program>> draw(uint64_t number) override;
  Result<std::vector<search::Option>> refine(const search::Program &program,
                                             size_t kernelClass,
                                             size_t option) override;
  /// Uses the times of the program's kernels as prices of later extractions.
  void learn(const search::Program &program,
             const search::Times &times) override;

  /// The stand-alone program of an option that was returned, by key.
  const LoneKernel &getKernel(const std::string &key) const {
    return kernels.at(key);
  }
  /// Total number of terms of the kernel's sums, at the sizes at which it is
  /// timed.
  double getTerms(const std::string &key) const { return terms.at(key); }
  /// The sizes at which the kernel is timed, by the kernel's own symbol names.
  const TimedSizes &getSizes(const std::string &key) const {
    return kernelSizes.at(key);
  }
  /// The whole program in phase `scheduled`, with the schedules of the choice.
  mlir::OwningOpRef<mlir::ModuleOp> build(const search::Choice &choice) const;
  /// The rules by which a program was found, by name.
  std::map<std::string, eqsat::UsedRule>
  getUsedRules(const search::Program &program) const;

private:
  /// One way to lower an extracted program.
  struct Variant {
    std::string library, fuse;
    bool operator==(const Variant &) const = default;
    std::string str() const { return "library=" + library + " fuse=" + fuse; }
  };
  /// One candidate for each session, that is, for each saturated function.
  using Extracted = std::vector<eqsat::Candidate>;

  /// The ops of one kernel class, in the module that holds them.
  struct Members {
    std::vector<mlir::Operation *> ops;
    /// The schedule of each option; null for an op without a schedule.
    std::vector<llir::LoopsAttr> loops;
    /// For each op, the marks of the nodes from which it was made.
    std::vector<std::vector<unsigned>> marks;
  };
  struct Lowered {
    mlir::OwningOpRef<mlir::ModuleOp> module;
    Variant variant;
    std::vector<Members> classes;
    MarkedNodes nodes;
    /// Marks in the whole module.
    std::vector<unsigned> marks;
    /// The candidates from which the module was made.
    Extracted extracted;
  };

  /// The variants of the first program that are drawn first.
  std::vector<Variant> getVariants() const;
  Result<search::Program> lowerFirst();
  Result<search::Program> lower(const Extracted &extracted,
                                const Variant &variant, std::string title);
  Result<search::Program> finish(Lowered lowered, std::string title);
  mlir::LogicalResult materialise(const Extracted &extracted, Lowered &lowered);
  /// The program or, if lowering failed, the first program again.
  search::Program orSame(Result<search::Program> program);
  /// Extracts from all sessions; nullopt if one fails or the result was seen
  /// before.
  std::optional<Extracted>
  extractNew(llvm::function_ref<
             mlir::FailureOr<eqsat::Candidate>(eqsat::SaturationSession &)>
                 extract);
  search::Program makeProgram(Lowered &lowered);
  /// A schedule of a kernel; `loops` is null for an op without a schedule.
  struct Way {
    search::Option option;
    llir::LoopsAttr loops;
  };
  /// The static choice, followed by the other schedules known so far.
  std::vector<Way> &getWays(mlir::Operation *op);
  const llvm::SmallVector<llir::ProposedLoops> &getMore(llir::KernelOp kernel,
                                                        const std::string &key,
                                                        llir::LoopsAttr loops,
                                                        bool isStatic);
  std::string getName(const std::string &key) const;
  /// Makes an option, with its price at the timed sizes if it has a schedule.
  search::Option makeOption(mlir::Operation *op, llir::LoopsAttr loops);

  mlir::ModuleOp given;
  Phase from;
  const CompileOptions &options;
  std::string machine;
  const TargetInterface &target;
  const TimingDevice &device;
  const TimedSizes &sizes;
  const PhaseFiles &files;
  std::function<void(const std::string &)> note;
  /// One session for each saturated function, in order.
  std::vector<std::unique_ptr<eqsat::SaturationSession>> sessions;
  /// The candidates of the first program.
  Extracted first;
  std::string firstDigest;
  /// Digests of candidates seen, each with the variant that lowered it.
  std::set<std::string> extracted;
  NodePrices prices;
  bool hasNewPrices = false, mayAskPrices = true;
  /// The fastest variant so far.
  Variant variant;
  double leastSeconds = std::numeric_limits<double>::infinity();
  uint64_t seeds = 0;
  std::map<std::string, Lowered> programs;
  /// Schedules that were returned, by `getName` of the static choice.
  std::map<std::string, std::vector<Way>> known;
  /// Proposed further schedules, by `getName` of the schedule they start from.
  std::map<std::string, llvm::SmallVector<llir::ProposedLoops>> more;
  std::map<std::string, LoneKernel> kernels;
  std::map<std::string, double> terms;
  std::map<std::string, TimedSizes> kernelSizes;
};

} // namespace luminal

#endif // LUMINAL_LIB_PIPELINES_COMPILESPACE_H
