//===- NodeFunction.h - Every node of an e-graph, as one function ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets the interpreter evaluate both sides of what rules made equal. Each class
// has the value of its node in the given program (if there is none, of the
// first node that a rule made). Each node is computed once more from the values
// of its operand classes.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_TEST_UNIT_EQSAT_NODEFUNCTION_H
#define LUMINAL_TEST_UNIT_EQSAT_NODEFUNCTION_H

#include "Program/Program.h"
#include "luminal/EqSat/Core/Proof.h"
#include "luminal/Reference/Interpreter.h"
#include "mlir/IR/Builders.h"

#include <map>
#include <set>

namespace luminal::test {

class NodeFunction {
public:
  /// `literals` are the numbers that rules name; constants of the graph are
  /// roundings of them.
  NodeFunction(eqsat::Program &program, mlir::func::FuncOp given,
               llvm::ArrayRef<double> literals);

  /// Calls `f` for every node that is not a leaf.
  void
  forEachNode(llvm::function_ref<void(eqsat::OpId op, uint32_t row)> f) const;
  bool isDefinition(eqsat::OpId op, uint32_t row) const;

  /// Each returns the position among the results of `evaluate`.
  unsigned valueOfClass(eqsat::ClassId c);
  unsigned valueOfNode(eqsat::OpId op, uint32_t row);
  /// A term of an explanation, from the leaves up.
  unsigned valueOfTerm(const eqsat::Explanation &e, uint32_t term);
  /// The value of a node's class in terms of that node's operands, by the
  /// class's definition: every float is computed in `type`, and every constant
  /// is the number that a rule names. std::nullopt if the class is one of its
  /// own operands.
  std::optional<unsigned> definitionOver(eqsat::OpId op, uint32_t row,
                                         mlir::FloatType type);
  /// A term with every float in `type` and every constant the number that a
  /// rule names, except that parts that also occur in `other` have the value
  /// they have there. This is one side of a rule in exact arithmetic, over the
  /// values that the other side reads.
  unsigned termOver(const eqsat::Explanation &e, uint32_t term, uint32_t other,
                    mlir::FloatType type);

  /// The sum of the absolute terms of a product in f64; std::nullopt for
  /// another op.
  std::optional<unsigned> termsOf(eqsat::OpId op, uint32_t row);
  std::optional<unsigned> termsOf(const eqsat::Explanation &e, uint32_t term);

  mlir::FailureOr<llvm::SmallVector<reference::Tensor>>
  evaluate(llvm::ArrayRef<reference::Tensor> arguments);

private:
  using Values = std::map<eqsat::ClassId, mlir::Value>;
  unsigned addResult(mlir::Value value);
  std::optional<unsigned> addTerms(eqsat::OpId op, eqsat::PayloadId payload,
                                   llvm::ArrayRef<mlir::Value> operands);
  mlir::Value build(eqsat::OpId op, eqsat::PayloadId payload,
                    llvm::ArrayRef<mlir::Value> operands);
  mlir::Value spell(const eqsat::Explanation &e, uint32_t term);
  mlir::Value spellIn(const eqsat::Explanation &e, uint32_t term,
                      mlir::FloatType type,
                      std::map<uint32_t, mlir::Value> &known);
  mlir::Value buildIn(eqsat::OpId op, eqsat::PayloadId payload,
                      llvm::ArrayRef<mlir::Value> operands,
                      mlir::FloatType type);
  mlir::Value inType(mlir::Value value, mlir::FloatType type);
  mlir::Value define(eqsat::ClassId c, mlir::FloatType type, Values &known);
  mlir::Value constant(mlir::DenseElementsAttr elements, mlir::FloatType type);
  eqsat::ClassId classOf(eqsat::OpId op, uint32_t row) const;

  eqsat::EGraph &graph;
  eqsat::OpTable &ops;
  llvm::ArrayRef<double> literals;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  mlir::OpBuilder builder;
  Values values;
  std::map<eqsat::ClassId, eqsat::NodeRef> definitions;
  std::map<uint32_t, mlir::Value> terms;
  llvm::SmallVector<mlir::Value> results;
};

} // namespace luminal::test

#endif // LUMINAL_TEST_UNIT_EQSAT_NODEFUNCTION_H
