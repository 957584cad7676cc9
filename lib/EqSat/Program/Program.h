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

/// One function, its e-graph, and the conversions between them. Pure ops
/// without regions are nodes. Function arguments and results of other ops are
/// leaves; operands of other ops are roots. Regions that run a known number of
/// times are scopes, whose arguments are leaves that exist only inside them.
class Program {
public:
  Program(mlir::func::FuncOp function, bool allowUnregistered);

  EGraph graph;
  OpTable ops;

  /// Builds the e-graph. Analyses may read `scope`.
  llvm::LogicalResult import(mlir::Operation *scope);
  /// Emits an error that names the rules that made different values equal.
  llvm::LogicalResult emitConflict(llvm::ArrayRef<Rule> rules);
  /// Called with the selected program before it replaces the given one.
  using OnSelected = llvm::function_ref<llvm::LogicalResult(const Extractor &,
                                                            const Selection &)>;
  using Choose = llvm::function_ref<llvm::FailureOr<Selection>(
      const Extractor &, std::span<const ClassId> roots)>;
  /// Call it when the graph is complete. Afterwards several threads may call
  /// `materialise`.
  void freeze();
  /// Builds a function with the signature and the non-node ops of the given
  /// one, and with the selected nodes in place of its pure ops. Neither the
  /// given function nor the graph changes. Fails with one error if a value
  /// would be used before it can be computed.
  llvm::FailureOr<mlir::OwningOpRef<mlir::func::FuncOp>>
  materialise(const Extractor &extractor, const Selection &selection,
              CostModel &model, ExtractionReport &report) const;
  /// Tells the extractor which nodes were made by rules with a growth bound.
  void markAlternatives(Extractor &extractor, llvm::ArrayRef<Rule> rules) const;
  /// The names of the roots in the extractor; kNone for a root that cannot be
  /// computed.
  std::vector<ClassId> rootNames(const Extractor &extractor) const;
  const Scopes &getScopes() const { return scopes; }
  /// A price function that asks the model only once for nodes with equal names,
  /// attributes and types. The program and the model must outlive it. Not
  /// thread-safe.
  NodeCostFn priceOnce(CostModel &model);
  llvm::LogicalResult emitBlocked(const Extractor &extractor,
                                  const Selection &s);
  /// Replaces the function's pure ops by the cheapest equal ones, or by those
  /// that `choose` selects. The reported cost uses the model's prices.
  llvm::FailureOr<ExtractionReport> extract(CostModel &model,
                                            OnSelected onSelected = nullptr,
                                            Choose choose = nullptr);

  /// Records proofs; call it before `import`.
  void keepProofs() { graph.proofs = &proofs; }
  /// Proves that the selected program equals the given one or, if `values`
  /// names two values by their name locations, that these are equal.
  llvm::FailureOr<ProofReport> explain(llvm::ArrayRef<Rule> rules,
                                       llvm::ArrayRef<std::string> values,
                                       const Extractor &extractor,
                                       const Selection &selection);

  /// Writes the graph with the prices of the model; names begin with `prefix`.
  void serialize(CostModel &model, llvm::StringRef prefix, GraphSerializer &to,
                 const GraphSerializer::OnNode &onNode = nullptr);
  /// Reads a selection from choices made on the graph that `serialize` wrote
  /// with this prefix. `name` is put before every error.
  llvm::FailureOr<Selection>
  readChoices(CostModel &model, llvm::StringRef prefix, llvm::StringRef choices,
              llvm::StringRef name, const Extractor &extractor,
              std::span<const ClassId> roots);
  /// Whether the result of `toEquivalence` would verify.
  llvm::LogicalResult checkEquivalence();
  /// A copy of the function whose body is the graph, in the form that `import`
  /// reads. Nodes that no scope can compute are left out.
  mlir::OwningOpRef<mlir::Operation *> toEquivalence();

  /// The operands of ops that are not nodes, and the scopes of these ops.
  llvm::ArrayRef<ScopedClass> roots() const { return rootUses; }

private:
  class EquivalenceWriter;
  class EquivalenceReader;
  class Materialiser;

  /// Makes each region of the op a scope inside `around`, and calls `enter`
  /// with its block.
  llvm::LogicalResult enterScopes(
      mlir::Operation &op, ScopeId around,
      llvm::function_ref<llvm::LogicalResult(mlir::Block &, ScopeId)> enter);
  llvm::LogicalResult importBlock(mlir::Block &block, ScopeId scope);
  /// The ops that are not nodes with their scopes, in program order.
  std::vector<std::pair<mlir::Operation *, ScopeId>> users() const;
  /// Whether the body of the function has the form that `toEquivalence` writes.
  bool isEquivalence();
  llvm::LogicalResult importEquivalence();
  llvm::FailureOr<ProofReport> explainHere(llvm::ArrayRef<Rule> rules,
                                           llvm::ArrayRef<std::string> values,
                                           const Extractor &extractor,
                                           const Selection &selection,
                                           uint64_t stackBytes);
  /// The class of the value with this name location; nullopt if there is none.
  llvm::FailureOr<std::optional<ClassId>> classNamed(llvm::StringRef name);
  void addAnalyses(mlir::Operation *scope);
  double price(CostModel &model, OpId op, PayloadId payload,
               std::span<const ClassId> children) const;
  bool isOfWeights(std::span<const ClassId> children) const;
  void indexLocations();

  ProofLog proofs;
  mlir::func::FuncOp function;
  /// Holds the original body of the function once `extract` has replaced it.
  mlir::OwningOpRef<mlir::func::FuncOp> replaced;
  llvm::DenseMap<mlir::Value, ClassId> classes;
  /// Ops that are nodes or contain them, in program order.
  std::vector<mlir::Operation *> nodes;
  std::vector<ScopedClass> rootUses;
  Scopes scopes;
  /// The block of each scope, and the inverse map.
  std::vector<mlir::Block *> blocks;
  llvm::DenseMap<mlir::Block *, ScopeId> scopeOfBlock;
  /// The locations of the given ops of each class, by its representative.
  llvm::DenseMap<ClassId, llvm::SmallVector<mlir::Location, 1>> locations;
  std::vector<std::pair<ClassId, mlir::Location>> givenLocations;
};

} // namespace luminal::eqsat

#endif // LUMINAL_LIB_EQSAT_PROGRAM_PROGRAM_H
