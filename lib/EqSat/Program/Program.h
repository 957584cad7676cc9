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
#include "luminal/EqSat/Program/SaturationSession.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace luminal::eqsat {

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
  /// Once the graph is as it stays: after it, `materialise` may be called by
  /// several threads.
  void freeze();
  /// A function with the signature and the other ops of the given one, and what
  /// is selected in place of its pure ops. Neither the given one nor the graph
  /// changes; fails with one error where a value would be needed before it is
  /// there.
  llvm::FailureOr<mlir::OwningOpRef<mlir::func::FuncOp>>
  materialise(const Extractor &extractor, const Selection &selection,
              CostModel &model, ExtractionReport &report) const;
  /// Tells it which nodes are of rules with a bound of their own.
  void markAlternatives(Extractor &extractor, llvm::ArrayRef<Rule> rules) const;
  /// The roots as the extractor calls them; kNone for one that nothing can
  /// compute.
  std::vector<ClassId> rootNames(const Extractor &extractor) const;
  const Scopes &getScopes() const { return scopes; }
  /// The prices of the model, asked for once for nodes that look alike. Lives
  /// as long as the program and the model; not for several threads.
  NodeCostFn priceOnce(CostModel &model);
  llvm::LogicalResult emitBlocked(const Extractor &extractor,
                                  const Selection &s);
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
  class Materialiser;

  /// Makes each region of the op a scope within `around`, and calls `enter`
  /// with its block.
  llvm::LogicalResult enterScopes(
      mlir::Operation &op, ScopeId around,
      llvm::function_ref<llvm::LogicalResult(mlir::Block &, ScopeId)> enter);
  llvm::LogicalResult importBlock(mlir::Block &block, ScopeId scope);
  /// Ops that are not nodes and their scopes, in the order of the program.
  std::vector<std::pair<mlir::Operation *, ScopeId>> users() const;
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
               std::span<const ClassId> children) const;
  bool isOfWeights(std::span<const ClassId> children) const;
  void indexLocations();

  ProofLog proofs;
  mlir::func::FuncOp function;
  /// Has the body of the function as given, once `extract` replaced it.
  mlir::OwningOpRef<mlir::func::FuncOp> replaced;
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
};

} // namespace luminal::eqsat

#endif // LUMINAL_LIB_EQSAT_PROGRAM_PROGRAM_H
