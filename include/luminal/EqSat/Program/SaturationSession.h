//===- SaturationSession.h - Saturate once, take many programs ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A session owns a copy of a function, its e-graph after saturation, the rules
// and, where asked for, the proofs. Programs are drawn from it as candidates,
// and each is materialised as a function of its own as often as wanted; graph
// and given function stay as they are. Costs that were measured replace those
// of the cost model by `setPrices`, and change what is best.
//
// Threads: all const functions may be called at once by any number of threads,
// if the context allows threads (one made with Threading::DISABLED does not:
// types and attributes are made without a lock). `setPrices` must be alone.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_EQSAT_PROGRAM_SATURATIONSESSION_H
#define LUMINAL_EQSAT_PROGRAM_SATURATIONSESSION_H

#include "luminal/EqSat/Core/Extraction.h"
#include "luminal/EqSat/Core/Runner.h"
#include "luminal/Support/MachineModel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <string>

namespace luminal::eqsat {

class GraphSerializer;
class RuleLoader;

struct RuleSelection {
  /// Names of compiled-in sets; none means all.
  std::vector<std::string> sets;
  bool noSets = false;
  /// .mlir files of pdl.pattern ops. Reading them loads the dialects that they
  /// use, which must not happen inside a pass.
  std::vector<std::string> files;
  /// The same, read already; `owner` keeps them, or they outlive the rules.
  std::vector<mlir::ModuleOp> modules;
  std::shared_ptr<const void> owner;
};

/// Rules that are read once and serve any number of sessions of one context, at
/// the same time too.
class SessionRules {
public:
  /// One error where a set is unknown or a rule cannot be used.
  static llvm::FailureOr<std::shared_ptr<const SessionRules>>
  load(mlir::Location loc, const RuleSelection &selection,
       bool allowUnregistered = false);
  /// Warns of each rule that is not of a set, and that `policy` does not admit.
  void warnOfRefused(const PrecisionPolicy &policy) const;
  ~SessionRules();

private:
  friend class SaturationSession;
  SessionRules();
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> files;
  std::shared_ptr<const void> owner;
  std::unique_ptr<RuleLoader> loader;
};

/// `exact`, `rounding` or `finite`, as eqsat-saturate knows them; an error for
/// another name, or where `maxUlps` is negative or NaN.
llvm::FailureOr<PrecisionPolicy>
findPrecision(mlir::Location loc, llvm::StringRef name, double maxUlps = 1e300);

struct SessionOptions {
  /// Null: every compiled-in set.
  std::shared_ptr<const SessionRules> rules;
  Limits limits;
  PrecisionPolicy precision;
  /// Empty: `static` where it is registered, else `unit`.
  std::string costModel;
  /// The machine that prices are of.
  MachineModel machine;
  /// For `explain`.
  bool keepProofs = false;
  /// Take ops of unregistered dialects to be pure.
  bool allowUnregistered = false;
  /// As the options of eqsat-saturate.
  bool batch = false, naive = false;
};

/// What a saturation did.
struct SaturationRun {
  std::string name; ///< of the function
  std::vector<Rule> rules;
  RunReport run;
};

struct ExtractionReport {
  double cost = 0;
  uint64_t ops = 0;
  double seconds = 0;
  /// How many of the extracted ops each rule made.
  llvm::MapVector<RuleId, unsigned> usedRules;
};

/// Proofs that values are equal, to be read and to be checked.
struct ProofReport {
  std::string text;
  llvm::json::Value json = nullptr;
};

/// One program of a session, by its choices.
struct Candidate {
  /// 32 hex digits of its choices: equal exactly for equal programs of one
  /// session, and the same in every process that saturates the same function
  /// by the same rules and options. It says nothing beyond that.
  std::string digest;
  /// By the prices of the session when it was drawn, each node once.
  double cost = 0;
  std::shared_ptr<const Selection> selection;
};

/// What a rule has to do with a candidate.
struct UsedRule {
  /// Ops of the candidate that it made.
  unsigned ops = 0;
  /// How often the proof that the candidate is the program as given applies it:
  /// also where others replaced what it made.
  unsigned steps = 0;
};

class SaturationSession {
public:
  /// Copies the function, and declarations of what it names, and saturates. All
  /// errors are those of eqsat-saturate; a limit that was reached is a warning.
  /// `run` is set once rules have run, also where an error follows.
  static llvm::FailureOr<std::unique_ptr<SaturationSession>>
  create(mlir::func::FuncOp function, const SessionOptions &options,
         std::shared_ptr<const SaturationRun> *run = nullptr);
  ~SaturationSession();

  const SaturationRun &report() const;
  /// The name of the function.
  llvm::StringRef getName() const;

  /// The cheapest program that is found. Fails, as all that choose do, with an
  /// error that names what nothing lowers.
  llvm::FailureOr<Candidate> best() const;
  /// The best one, with those choices changed that pay where each price is
  /// multiplied or divided by up to 1 + strength. A few milliseconds for
  /// thousands of classes. Strength is at least 0; the same numbers give the
  /// same candidate.
  llvm::FailureOr<Candidate> draw(uint64_t seed, double strength) const;
  /// The cheapest in prices that were changed so, found anew: further away than
  /// what `draw` gives, and as slow as the first extraction.
  llvm::FailureOr<Candidate> extract(uint64_t seed, double strength) const;
  /// The candidate of choices as `luminal-extract` writes them; `name` begins
  /// every error.
  llvm::FailureOr<Candidate> choose(llvm::StringRef choices,
                                    llvm::StringRef name = "choices") const;
  /// The choices of a candidate, which `choose` takes.
  std::string choices(const Candidate &candidate) const;
  /// By the prices as they are now.
  double costOf(const Candidate &candidate) const;

  /// The candidate as a function in a module of its own, which has the
  /// attributes of the function's module and declarations of what is named.
  llvm::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
  materialise(const Candidate &candidate,
              ExtractionReport *report = nullptr) const;

  /// What has one price: a hash, in 32 hex digits, of the name of an op, its
  /// inherent attributes, and the types of its operands and results, as they
  /// are in a materialised function. The same in every process.
  static std::string priceKey(mlir::Operation *op);
  /// Prices in the unit of the cost model (`static`: nanoseconds) of all nodes
  /// with these keys, instead of the model's; a node of a region counts for
  /// each time that it runs. Returns how many of the keys some node has that
  /// may be chosen: others are kept, and change nothing. A negative number or
  /// one that is not finite is an error, and then nothing changes.
  llvm::FailureOr<unsigned>
  setPrices(llvm::ArrayRef<std::pair<std::string, double>> prices);
  llvm::FailureOr<unsigned> setPrice(llvm::StringRef key, double price) {
    return setPrices({{key.str(), price}});
  }
  /// Whether nodes of weights alone whose results are floats are almost free,
  /// where no price was set, as though there were memory to compute all of them
  /// when weights are bound.
  void setWeightsFree(bool areFree);
  /// The price of such an op by the cost model, whatever was set.
  double modelPrice(mlir::Operation *op) const;

  /// Why the candidate is equal to the program as given, or why two values are,
  /// by their name locations. Needs `keepProofs`; nothing to say where the
  /// function has neither of the values.
  llvm::FailureOr<ProofReport> explain(const Candidate &candidate) const;
  llvm::FailureOr<ProofReport> explain(llvm::StringRef a,
                                       llvm::StringRef b) const;
  /// The rules that the candidate was found by, by name. Where it cannot be
  /// explained (no proofs were kept, or they nest too deep), those that made
  /// ops of it; no error is emitted. `made`: what `materialise` told.
  std::map<std::string, UsedRule>
  getUsedRules(const Candidate &candidate, const ExtractionReport &made) const;
  /// The graph with its prices, in the egraph-serialize form.
  std::string serialize() const;
  void serialize(GraphSerializer &to) const;
  /// The graph as an `equivalence.graph`, in a function.
  llvm::FailureOr<mlir::OwningOpRef<mlir::Operation *>> toEquivalence() const;

private:
  struct State;
  explicit SaturationSession(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace luminal::eqsat

#endif // LUMINAL_EQSAT_PROGRAM_SATURATIONSESSION_H
