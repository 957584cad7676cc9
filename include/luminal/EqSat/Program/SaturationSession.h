//===- SaturationSession.h - Saturate once, take many programs ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A session owns a copy of a function, its e-graph after saturation, the rules
// and, on request, the proofs. Candidate programs are drawn from it, and each
// can be materialised as a function any number of times; the graph and the
// given function do not change. `setPrices` replaces prices of the cost model
// by measured ones, which changes the best program.
//
// Threads: all const functions may be called concurrently, if the context is
// multithreaded. (A context made with Threading::DISABLED creates types and
// attributes without a lock.) `setPrices` must not run beside any other call.
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
  /// Names of compiled-in sets; empty means all.
  std::vector<std::string> sets;
  bool noSets = false;
  /// .mlir files of pdl.pattern ops. Reading them loads the dialects that they
  /// use, which must not happen inside a pass.
  std::vector<std::string> files;
  /// Such files that were read already. `owner` keeps them alive; without it
  /// the caller must keep them alive as long as the rules.
  std::vector<mlir::ModuleOp> modules;
  std::shared_ptr<const void> owner;
};

/// Rules that are read once and shared by any number of sessions of one
/// context, concurrently too.
class SessionRules {
public:
  /// Emits one error if a set is unknown or a rule cannot be used.
  static llvm::FailureOr<std::shared_ptr<const SessionRules>>
  load(mlir::Location loc, const RuleSelection &selection,
       bool allowUnregistered = false);
  /// Warns of each rule from a file or module that `policy` does not admit.
  void warnOfRefused(const PrecisionPolicy &policy) const;
  ~SessionRules();

private:
  friend class SaturationSession;
  SessionRules();
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> files;
  std::shared_ptr<const void> owner;
  std::unique_ptr<RuleLoader> loader;
};

/// Parses `exact`, `rounding` or `finite`, as eqsat-saturate does. Emits an
/// error for another name, or if `maxUlps` is negative or NaN.
llvm::FailureOr<PrecisionPolicy>
findPrecision(mlir::Location loc, llvm::StringRef name, double maxUlps = 1e300);

struct SessionOptions {
  /// Null: every compiled-in set.
  std::shared_ptr<const SessionRules> rules;
  Limits limits;
  PrecisionPolicy precision;
  /// Empty: `static` if it is registered, otherwise `unit`.
  std::string costModel;
  /// The machine that prices are estimated for.
  MachineModel machine;
  /// Record proofs, which `explain` needs.
  bool keepProofs = false;
  /// Treat ops of unregistered dialects as pure.
  bool allowUnregistered = false;
  /// See the options of eqsat-saturate.
  bool batch = false, naive = false;
};

/// Report of a saturation.
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

/// Proofs that values are equal, as text for readers and as JSON for checkers.
struct ProofReport {
  std::string text;
  llvm::json::Value json = nullptr;
};

/// One program of a session: a choice of nodes.
struct Candidate {
  /// 32 hex digits that identify the choices. Two programs of one session have
  /// the same digest exactly if they are equal; so do programs of different
  /// processes that saturate the same function with the same rules and options.
  /// Digests of other sessions are not comparable.
  std::string digest;
  /// Sum of the prices at the time when it was drawn, each node counted once.
  double cost = 0;
  std::shared_ptr<const Selection> selection;
};

/// How a rule contributed to a candidate.
struct UsedRule {
  /// Number of ops of the candidate that the rule made.
  unsigned ops = 0;
  /// How often the rule is applied in the proof that the candidate equals the
  /// given program. Includes applications whose terms other rules replaced
  /// later.
  unsigned steps = 0;
};

class SaturationSession {
public:
  /// Copies the function and the declarations of symbols that it names, and
  /// saturates. Errors are those of eqsat-saturate; reaching a limit is a
  /// warning. `run` is set as soon as the rules have run, even if an error
  /// follows.
  static llvm::FailureOr<std::unique_ptr<SaturationSession>>
  create(mlir::func::FuncOp function, const SessionOptions &options,
         std::shared_ptr<const SaturationRun> *run = nullptr);
  ~SaturationSession();

  const SaturationRun &report() const;
  /// The name of the function.
  llvm::StringRef getName() const;

  /// The cheapest program found. Like all functions that choose, it fails with
  /// an error that names the op that nothing lowers.
  llvm::FailureOr<Candidate> best() const;
  /// Starts from the best program and changes the choices that become cheaper
  /// when each price is randomly multiplied or divided by up to 1 + strength.
  /// Takes a few milliseconds for thousands of classes. `strength` is at least
  /// 0; equal arguments give equal candidates.
  llvm::FailureOr<Candidate> draw(uint64_t seed, double strength) const;
  /// Extracts again with prices perturbed in the same way: differs more from
  /// the best program than `draw` does, and is as slow as the first extraction.
  llvm::FailureOr<Candidate> extract(uint64_t seed, double strength) const;
  /// The candidate with the choices that `luminal-extract` wrote; `name` is put
  /// before every error.
  llvm::FailureOr<Candidate> choose(llvm::StringRef choices,
                                    llvm::StringRef name = "choices") const;
  /// The choices of a candidate in the form that `choose` reads.
  std::string choices(const Candidate &candidate) const;
  /// The candidate's cost at the current prices.
  double costOf(const Candidate &candidate) const;

  /// The candidate as a function in a new module, which has the attributes of
  /// the original module and declarations of the symbols that the function
  /// names.
  llvm::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
  materialise(const Candidate &candidate,
              ExtractionReport *report = nullptr) const;

  /// The key of a price: a hash, in 32 hex digits, of an op's name, its
  /// inherent attributes, and the types of its operands and results, all as in
  /// a materialised function. Nodes with equal keys have one price. The same in
  /// every process.
  static std::string priceKey(mlir::Operation *op);
  /// Sets prices, in the unit of the cost model (`static`: nanoseconds), of all
  /// nodes with these keys. A node of a region counts once for each run of the
  /// region. Returns how many of the keys belong to a node that may be chosen;
  /// the other keys are remembered but change nothing. A negative or non-finite
  /// price is an error, and then no price changes.
  llvm::FailureOr<unsigned>
  setPrices(llvm::ArrayRef<std::pair<std::string, double>> prices);
  llvm::FailureOr<unsigned> setPrice(llvm::StringRef key, double price) {
    return setPrices({{key.str(), price}});
  }
  /// If set, nodes that are computed from weights alone and have float results
  /// are almost free unless a price was set for them, as if there were always
  /// enough memory to compute them once when weights are bound.
  void setWeightsFree(bool areFree);
  /// The price of an op by the cost model, without the prices that were set.
  double modelPrice(mlir::Operation *op) const;

  /// Explains why the candidate is equal to the given program, or why two
  /// values, given by their name locations, are equal. Needs `keepProofs`. The
  /// report is empty if the function has neither value.
  llvm::FailureOr<ProofReport> explain(const Candidate &candidate) const;
  llvm::FailureOr<ProofReport> explain(llvm::StringRef a,
                                       llvm::StringRef b) const;
  /// The rules that led to the candidate, by name. If it cannot be explained
  /// (no proofs were kept, or they nest too deep), the rules that made its ops;
  /// no error is emitted. `made` is the report of `materialise`.
  std::map<std::string, UsedRule>
  getUsedRules(const Candidate &candidate, const ExtractionReport &made) const;
  /// The graph with its prices, in the egraph-serialize format.
  std::string serialize() const;
  void serialize(GraphSerializer &to) const;
  /// The graph as an `equivalence.graph`, inside a function.
  llvm::FailureOr<mlir::OwningOpRef<mlir::Operation *>> toEquivalence() const;

private:
  struct State;
  explicit SaturationSession(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace luminal::eqsat

#endif // LUMINAL_EQSAT_PROGRAM_SATURATIONSESSION_H
