//===- Program.h - A function as an e-graph, and back ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_EQSAT_PROGRAM_PROGRAM_H
#define LUMINAL_LIB_EQSAT_PROGRAM_PROGRAM_H

#include "../Patterns/OpTable.h"
#include "luminal/EqSat/Core/Extraction.h"
#include "luminal/EqSat/Core/Proof.h"
#include "luminal/EqSat/Core/Rule.h"
#include "luminal/EqSat/Core/Serialize.h"
#include "luminal/EqSat/Program/CostModel.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/JSON.h"

namespace luminal::eqsat {

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

/// One function, its e-graph, and the way between them. Pure ops without
/// regions are nodes; function arguments and results of other ops are leaves;
/// what other ops use are the roots. Regions that run a known number of times
/// are scopes: their arguments are leaves that exist in them only.
class Program {
public:
  Program(mlir::func::FuncOp function, bool allowUnregistered);

  EGraph graph;
  OpTable ops;

  /// Builds the e-graph. `scope` is what analyses may read.
  llvm::LogicalResult import(mlir::Operation *scope);
  /// Reports which rules made different values equal.
  llvm::LogicalResult emitConflict(llvm::ArrayRef<Rule> rules);
  /// Called with the chosen program before it replaces the given one.
  using OnSelected = llvm::function_ref<llvm::LogicalResult(const Extractor &,
                                                            const Selection &)>;
  using Choose = llvm::function_ref<llvm::FailureOr<Selection>(
      const Extractor &, std::span<const ClassId> roots)>;
  /// Replaces the function's pure ops by the cheapest equal ones, or by those
  /// chosen otherwise; the reported cost is in the model's prices.
  llvm::FailureOr<ExtractionReport> extract(CostModel &model,
                                            OnSelected onSelected = nullptr,
                                            Choose choose = nullptr);

  /// Call before `import`: logs why classes become one.
  void keepProofs() { graph.proofs = &proofs; }
  /// Proves what is selected equal to the program as given or, where two
  /// values are named (by their name locations), those.
  llvm::FailureOr<ProofReport> explain(llvm::ArrayRef<Rule> rules,
                                       llvm::ArrayRef<std::string> values,
                                       const Extractor &extractor,
                                       const Selection &selection);

  /// The graph with the prices of the model; its names begin with `prefix`.
  void serialize(CostModel &model, llvm::StringRef prefix, GraphSerializer &to,
                 const GraphSerializer::OnNode &onNode = nullptr);
  /// The selection of choices that were made on the graph as `serialize` writes
  /// it with this prefix; `name` begins every error.
  llvm::FailureOr<Selection>
  readChoices(CostModel &model, llvm::StringRef prefix, llvm::StringRef choices,
              llvm::StringRef name, const Extractor &extractor,
              std::span<const ClassId> roots);
  /// Whether `toEquivalence` can be verified.
  llvm::LogicalResult checkEquivalence();
  /// A copy of the function whose body is the graph, as `import` reads it. A
  /// node that no scope can compute is left out.
  mlir::OwningOpRef<mlir::Operation *> toEquivalence();

  /// The operands of ops that are not nodes, and their scopes.
  llvm::ArrayRef<ScopedClass> roots() const { return rootUses; }

private:
  class EquivalenceWriter;
  class EquivalenceReader;

  /// Makes each region of the op a scope within `around`, and calls `enter`
  /// with its block.
  llvm::LogicalResult enterScopes(
      mlir::Operation &op, ScopeId around,
      llvm::function_ref<llvm::LogicalResult(mlir::Block &, ScopeId)> enter);
  llvm::LogicalResult importBlock(mlir::Block &block, ScopeId scope);
  /// Ops that are not nodes and their scopes, in the order of the program.
  std::vector<std::pair<mlir::Operation *, ScopeId>> users();
  /// Whether the function is a graph as `toEquivalence` writes it.
  bool isEquivalence();
  llvm::LogicalResult importEquivalence();
  llvm::FailureOr<ProofReport> explainHere(llvm::ArrayRef<Rule> rules,
                                           llvm::ArrayRef<std::string> values,
                                           const Extractor &extractor,
                                           const Selection &selection,
                                           uint64_t stackBytes);
  /// Nothing where no value has this name location.
  llvm::FailureOr<std::optional<ClassId>> classNamed(llvm::StringRef name);
  void addAnalyses(mlir::Operation *scope);
  double price(CostModel &model, OpId op, PayloadId payload,
               std::span<const ClassId> children);
  llvm::LogicalResult emitBlocked(const Extractor &extractor,
                                  const Selection &s);
  mlir::FailureOr<mlir::Value> materialise(ClassId root,
                                           const Extractor &extractor,
                                           const Selection &s, CostModel &model,
                                           mlir::Operation *user,
                                           ExtractionReport &report);
  /// The value with an equal type that is written differently.
  mlir::FailureOr<mlir::Value> inSpelling(mlir::Value value, mlir::Type type,
                                          CostModel &model,
                                          mlir::Operation *before,
                                          mlir::Location loc,
                                          ExtractionReport &report);
  mlir::Location locationOf(ClassId c, mlir::Location user) const;

  ProofLog proofs;
  mlir::func::FuncOp function;
  llvm::DenseMap<mlir::Value, ClassId> classes;
  /// Ops that are nodes, or hold them, in the order of the program.
  std::vector<mlir::Operation *> nodes;
  std::vector<ScopedClass> rootUses;
  Scopes scopes;
  /// The block of each scope, and back.
  std::vector<mlir::Block *> blocks;
  llvm::DenseMap<mlir::Block *, ScopeId> scopeOfBlock;
  /// Where the ops of a class as given come from, by its representative.
  llvm::DenseMap<ClassId, llvm::SmallVector<mlir::Location, 1>> locations;
  std::vector<std::pair<ClassId, mlir::Location>> givenLocations;
  /// By the names that the extractor gives.
  llvm::DenseMap<ClassId, llvm::SmallVector<mlir::Value, 1>> built;
  llvm::DenseMap<std::pair<mlir::Value, mlir::Type>, mlir::Value> respelled;
};

} // namespace luminal::eqsat

#endif // LUMINAL_LIB_EQSAT_PROGRAM_PROGRAM_H
