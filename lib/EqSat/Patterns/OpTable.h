//===- OpTable.h - MLIR as the e-graph's numbers --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Interns operation names, attributes and types, in the order of their first
// appearance, so that the same program gives the same numbers.
//
// A node of an operation with one result is its value. An operation with
// several results is a node whose type is the tuple of them; each result is a
// projection node of it.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_EQSAT_PATTERNS_OPTABLE_H
#define LUMINAL_LIB_EQSAT_PATTERNS_OPTABLE_H

#include "luminal/EqSat/Core/EGraph.h"
#include "luminal/EqSat/Patterns/RuleSets.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/OperationSupport.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <set>

namespace luminal::eqsat {

class OpTable {
public:
  /// `allowUnregistered` takes ops of no registered dialect to be pure.
  OpTable(EGraph &graph, mlir::MLIRContext *context,
          bool allowUnregistered = false);

  EGraph &getGraph() const { return graph; }
  mlir::MLIRContext *getContext() const { return context; }

  AttrId getAttr(mlir::Attribute attr);
  mlir::Attribute attr(AttrId id) const { return attrs[id]; }
  TypeId getType(mlir::Type type);
  mlir::Type type(TypeId id) const { return types[id]; }
  /// The type itself where there is one, else the tuple of them.
  TypeId getTypes(mlir::TypeRange range);
  llvm::SmallVector<mlir::Type> typeList(TypeId id) const;
  /// How many results operations may have, as far as types say, in order.
  const std::set<unsigned> &resultCounts() const { return listSizes; }

  void addSpellings(std::unique_ptr<TypeSpellings> s) {
    spellings.push_back(std::move(s));
  }
  /// Whether two different types are equal.
  Equality compareTypes(TypeId a, TypeId b);
  /// How a type is written where an op is made: the graph keeps types as they
  /// were given, and of a class only one, while a made op must fit the values
  /// that its operands are, whichever members were chosen.
  mlir::Type spelled(mlir::Type type) const;
  llvm::SmallVector<mlir::Type> spelledList(TypeId id) const;
  /// Ops that are a value of one spelling in another.
  llvm::SmallVector<TypeSpellings::Conversion> conversions(mlir::Type from,
                                                           mlir::Type to) const;

  NameId getName(llvm::StringRef name);
  llvm::StringRef name(NameId id) const { return names[id]; }

  /// Whether the graph may hold the operation: a pure one with results.
  bool isNode(mlir::Operation *op) const;
  bool allowsUnregistered() const { return allowUnregistered; }

  OpId getOp(mlir::OperationName name, unsigned arity);
  /// Nothing for leaves and projections.
  std::optional<mlir::OperationName> opName(OpId op) const {
    return opNames[op];
  }
  /// Every operator with this name, whatever its arity.
  llvm::ArrayRef<OpId> opsNamed(llvm::StringRef name) const;

  /// What identifies an operation beside its operands: properties, and for
  /// ops of no registered dialect all attributes.
  static mlir::DictionaryAttr inherentAttrs(mlir::Operation *op);
  PayloadId getPayload(mlir::DictionaryAttr attributes, TypeId type);
  /// Made when it is first asked for; after `makeAttributes`, any number of
  /// threads may ask.
  mlir::DictionaryAttr attributes(PayloadId payload) const;
  void makeAttributes() const;

  /// The node of an operation whose operands are these classes.
  ClassId addOperation(mlir::Operation *op, llvm::ArrayRef<ClassId> operands,
                       RuleId rule = kGiven);
  /// Result `index` of the operation with this class and this many results.
  ClassId addResult(ClassId operation, unsigned index, mlir::Type type,
                    unsigned numResults, RuleId rule = kGiven);
  ClassId addLeaf(mlir::Value value);

  /// Analyses of the graph by name.
  void nameAnalysis(llvm::StringRef name, uint32_t id) { analyses[name] = id; }
  std::optional<uint32_t> analysis(llvm::StringRef name) const {
    auto it = analyses.find(name);
    if (it == analyses.end())
      return std::nullopt;
    return it->second;
  }

  OpId projectionOp() const { return projection; }
  NameId projectionIndexName() const { return indexName; }
  OpId leafOp() const { return leaf; }
  mlir::Value leafValue(PayloadId payload) const;

private:
  EGraph &graph;
  mlir::MLIRContext *context;
  bool allowUnregistered;
  std::vector<mlir::Attribute> attrs;
  llvm::DenseMap<mlir::Attribute, AttrId> attrIds;
  std::vector<mlir::Type> types;
  llvm::DenseMap<mlir::Type, TypeId> typeIds;
  std::set<unsigned> listSizes{1};
  std::vector<std::unique_ptr<TypeSpellings>> spellings;
  std::vector<std::string> names;
  llvm::StringMap<NameId> nameIds;
  std::vector<std::optional<mlir::OperationName>> opNames;
  llvm::DenseMap<std::pair<mlir::OperationName, unsigned>, OpId> opIds;
  llvm::StringMap<llvm::SmallVector<OpId, 1>> opsByName;
  mutable std::vector<mlir::DictionaryAttr> payloadAttrs;
  std::vector<mlir::Value> leaves;
  llvm::StringMap<uint32_t> analyses;
  OpId projection, leaf;
  NameId indexName;
};

} // namespace luminal::eqsat

#endif // LUMINAL_LIB_EQSAT_PATTERNS_OPTABLE_H
