//===- CompileSpace.h - The programs that a compile can end with ----------===//
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

/// The programs equal to a module in a phase up to `fused`: by how they are
/// extracted, by which ops a library computes, by how far they are fused; and
/// the schedules of their kernels. The module is saturated once.
class CompileSpace : public search::Space {
public:
  /// `from` is the phase of `module`; symbols that `sizes` has are timed at
  /// those. Passes write `files` for the first program. All live as long as the
  /// space.
  CompileSpace(mlir::ModuleOp module, Phase from, const CompileOptions &options,
               llvm::StringRef machine, const TargetInterface &target,
               const TimingDevice &device, const TimedSizes &sizes,
               const PhaseFiles &files);
  /// Told of programs that were drawn and cannot be lowered.
  void setNote(std::function<void(const std::string &)> fn) {
    note = std::move(fn);
  }

  Result<search::Program> best() override;
  Result<std::optional<search::Program>> draw(uint64_t number) override;
  Result<std::vector<search::Option>> refine(const search::Program &program,
                                             size_t kernelClass,
                                             size_t option) override;
  /// What its kernels take are prices of what is extracted next.
  void learn(const search::Program &program,
             const search::Times &times) override;

  /// The program of one kernel, by key; of every option that was handed out.
  const LoneKernel &getKernel(const std::string &key) const {
    return kernels.at(key);
  }
  /// Terms of the sums in it, one after the other, at the sizes at which it is
  /// timed.
  double getTerms(const std::string &key) const { return terms.at(key); }
  /// The sizes at which it is timed, by its own names of symbols.
  const TimedSizes &getSizes(const std::string &key) const {
    return kernelSizes.at(key);
  }
  /// The whole program in phase `scheduled`, each kernel as the choice says.
  mlir::OwningOpRef<mlir::ModuleOp> build(const search::Choice &choice) const;
  /// The rules that a program was found by, by name.
  std::map<std::string, eqsat::UsedRule>
  getUsedRules(const search::Program &program) const;

private:
  /// Ways to lower what was extracted.
  struct Variant {
    std::string library, fuse;
    bool operator==(const Variant &) const = default;
    std::string str() const { return "library=" + library + " fuse=" + fuse; }
  };
  /// One program of each session.
  using Extracted = std::vector<eqsat::Candidate>;

  /// Kernels that are equal, in the module that holds them.
  struct Members {
    std::vector<mlir::Operation *> ops;
    /// By option; null for what has no schedule.
    std::vector<llir::LoopsAttr> loops;
    /// By op: the nodes that it was made of.
    std::vector<std::vector<unsigned>> marks;
  };
  struct Lowered {
    mlir::OwningOpRef<mlir::ModuleOp> module;
    Variant variant;
    std::vector<Members> classes;
    MarkedNodes nodes;
    /// Of the whole module.
    std::vector<unsigned> marks;
    /// What it was made of.
    Extracted extracted;
  };

  /// The variants to look at first, of the first program.
  std::vector<Variant> getVariants() const;
  Result<search::Program> lowerFirst();
  Result<search::Program> lower(const Extracted &extracted,
                                const Variant &variant, std::string title);
  Result<search::Program> finish(Lowered lowered, std::string title);
  mlir::LogicalResult materialise(const Extracted &extracted, Lowered &lowered);
  /// The program, or the first one again where it cannot be lowered.
  search::Program orSame(Result<search::Program> program);
  /// What the sessions give, where all of them do and it was not seen before.
  std::optional<Extracted>
  extractNew(llvm::function_ref<
             mlir::FailureOr<eqsat::Candidate>(eqsat::SaturationSession &)>
                 extract);
  search::Program makeProgram(Lowered &lowered);
  /// A schedule of a kernel; none of what has none.
  struct Way {
    search::Option option;
    llir::LoopsAttr loops;
  };
  /// That of static prices, then others that are known.
  std::vector<Way> &getWays(mlir::Operation *op);
  const llvm::SmallVector<llir::ProposedLoops> &getMore(llir::KernelOp kernel,
                                                        const std::string &key,
                                                        llir::LoopsAttr loops,
                                                        bool isStatic);
  std::string getName(const std::string &key) const;
  /// With its price where it is timed, if it has a schedule.
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
  /// Of the functions that were saturated, in order.
  std::vector<std::unique_ptr<eqsat::SaturationSession>> sessions;
  /// What was extracted for the first program.
  Extracted first;
  std::string firstDigest;
  /// Digests of what was extracted, with the variant that it was lowered by.
  std::set<std::string> extracted;
  NodePrices prices;
  bool hasNewPrices = false, mayAskPrices = true;
  /// The way of lowering that is the fastest so far.
  Variant variant;
  double leastSeconds = std::numeric_limits<double>::infinity();
  uint64_t seeds = 0;
  std::map<std::string, Lowered> programs;
  /// By `getName` of the static choice: the ways that were handed out.
  std::map<std::string, std::vector<Way>> known;
  /// By `getName`: what to look at besides it.
  std::map<std::string, llvm::SmallVector<llir::ProposedLoops>> more;
  std::map<std::string, LoneKernel> kernels;
  std::map<std::string, double> terms;
  std::map<std::string, TimedSizes> kernelSizes;
};

} // namespace luminal

#endif // LUMINAL_LIB_PIPELINES_COMPILESPACE_H
