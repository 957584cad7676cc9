//===- OpTable.h - MLIR entities as numbers of the e-graph ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Interns operation names, attributes and types in the order of their first
// appearance, so that the same program gives the same numbers.
//
// The node of an operation with one result represents that result. An operation
// with several results is a node whose type is the tuple of their types; each
// result is a projection node on top of it.
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
  /// `allowUnregistered` treats ops of unregistered dialects as pure.
  OpTable(EGraph &graph, mlir::MLIRContext *context,
          bool allowUnregistered = false);

  EGraph &getGraph() const { return graph; }
  mlir::MLIRContext *getContext() const { return context; }

  AttrId getAttr(mlir::Attribute attr);
  mlir::Attribute attr(AttrId id) const { return attrs[id]; }
  TypeId getType(mlir::Type type);
  mlir::Type type(TypeId id) const { return types[id]; }
  /// The type itself if there is exactly one, otherwise the tuple of the types.
  TypeId getTypes(mlir::TypeRange range);
  llvm::SmallVector<mlir::Type> typeList(TypeId id) const;
  /// The numbers of results that operations may have, judging from the interned
  /// types, in ascending order.
  const std::set<unsigned> &resultCounts() const { return listSizes; }

  void addSpellings(std::unique_ptr<TypeSpellings> s) {
    spellings.push_back(std::move(s));
  }
  /// Whether two different types are equal.
  Equality compareTypes(TypeId a, TypeId b);
  /// The spelling of a type for ops that are made. The graph keeps types as
  /// they were given, and only one for each class. A made op must fit the
  /// values that are its operands, whichever members of their classes are
  /// extracted.
  mlir::Type spelled(mlir::Type type) const;
  llvm::SmallVector<mlir::Type> spelledList(TypeId id) const;
  /// Ops that convert a value from one spelling of its type to another.
  llvm::SmallVector<TypeSpellings::Conversion> conversions(mlir::Type from,
                                                           mlir::Type to) const;

  NameId getName(llvm::StringRef name);
  llvm::StringRef name(NameId id) const { return names[id]; }

  /// Whether the graph may hold the operation, that is, it is pure and has
  /// results.
  bool isNode(mlir::Operation *op) const;
  bool allowsUnregistered() const { return allowUnregistered; }

  OpId getOp(mlir::OperationName name, unsigned arity);
  /// The name of the operation; nullopt for leaves and projections.
  std::optional<mlir::OperationName> opName(OpId op) const {
    return opNames[op];
  }
  /// The operators with this name, of any arity.
  llvm::ArrayRef<OpId> opsNamed(llvm::StringRef name) const;

  /// The attributes that identify an operation together with its operands: its
  /// properties or, for an op of an unregistered dialect, all attributes.
  static mlir::DictionaryAttr inherentAttrs(mlir::Operation *op);
  PayloadId getPayload(mlir::DictionaryAttr attributes, TypeId type);
  /// Created on first use. After `makeAttributes`, any number of threads may
  /// call it.
  mlir::DictionaryAttr attributes(PayloadId payload) const;
  void makeAttributes() const;

  /// Adds the node of an operation with these operand classes.
  ClassId addOperation(mlir::Operation *op, llvm::ArrayRef<ClassId> operands,
                       RuleId rule = kGiven);
  /// Adds result `index` of the operation with class `operation` and
  /// `numResults` results.
  ClassId addResult(ClassId operation, unsigned index, mlir::Type type,
                    unsigned numResults, RuleId rule = kGiven);
  ClassId addLeaf(mlir::Value value);

  /// Gives an analysis of the graph a name.
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
