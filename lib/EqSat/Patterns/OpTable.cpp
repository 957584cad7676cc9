//===- OpTable.cpp - MLIR entities as numbers of the e-graph --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "OpTable.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <algorithm>

using namespace mlir;
using namespace luminal::eqsat;

OpTable::OpTable(EGraph &graph, MLIRContext *context, bool allowUnregistered)
    : graph(graph), context(context), allowUnregistered(allowUnregistered) {
  projection = graph.addOp("result", 1);
  leaf = graph.addOp("leaf", 0);
  opNames.resize(2);
  indexName = getName("index");
}

AttrId OpTable::getAttr(Attribute a) {
  auto [it, inserted] = attrIds.try_emplace(a, attrs.size());
  if (inserted)
    attrs.push_back(a);
  return it->second;
}

TypeId OpTable::getType(Type t) {
  auto [it, inserted] = typeIds.try_emplace(t, types.size());
  if (inserted) {
    types.push_back(t);
    if (auto tuple = dyn_cast<TupleType>(t); tuple && tuple.size() != 0)
      listSizes.insert(tuple.size());
  }
  return it->second;
}

TypeId OpTable::getTypes(TypeRange range) {
  if (range.size() == 1)
    return getType(range[0]);
  return getType(TupleType::get(context, range));
}

SmallVector<Type> OpTable::typeList(TypeId id) const {
  if (auto tuple = dyn_cast<TupleType>(types[id]))
    return SmallVector<Type>(tuple.getTypes());
  return {types[id]};
}

Equality OpTable::compareTypes(TypeId a, TypeId b) {
  SmallVector<Type> as = typeList(a), bs = typeList(b);
  if (as.size() != bs.size())
    return Equality::No;
  Equality result = Equality::Yes;
  for (auto [x, y] : llvm::zip_equal(as, bs)) {
    if (x == y)
      continue;
    std::optional<Equality> answer;
    for (const std::unique_ptr<TypeSpellings> &s : spellings)
      if ((answer = s->compare(x, y)))
        break;
    result = std::min(result, answer.value_or(Equality::No));
  }
  return result;
}

Type OpTable::spelled(Type type) const {
  for (const std::unique_ptr<TypeSpellings> &s : spellings)
    type = s->chosen(type);
  return type;
}

SmallVector<Type> OpTable::spelledList(TypeId id) const {
  SmallVector<Type> list = typeList(id);
  for (Type &type : list)
    type = spelled(type);
  return list;
}

SmallVector<TypeSpellings::Conversion> OpTable::conversions(Type from,
                                                            Type to) const {
  SmallVector<TypeSpellings::Conversion> list;
  for (const std::unique_ptr<TypeSpellings> &s : spellings)
    llvm::append_range(list, s->conversions(from, to));
  return list;
}

NameId OpTable::getName(StringRef name) {
  auto [it, inserted] = nameIds.try_emplace(name, names.size());
  if (inserted)
    names.push_back(name.str());
  return it->second;
}

bool OpTable::isNode(Operation *op) const {
  if (op->hasTrait<OpTrait::IsTerminator>() || op->getNumResults() == 0 ||
      op->getNumRegions() != 0)
    return false;
  return op->isRegistered() ? isPure(op) : allowUnregistered;
}

OpId OpTable::getOp(OperationName name, unsigned arity) {
  auto [it, inserted] = opIds.try_emplace({name, arity}, graph.numOps());
  if (inserted) {
    graph.addOp(name.getStringRef().str(), arity,
                name.hasTrait<OpTrait::IsCommutative>());
    opNames.push_back(name);
    opsByName[name.getStringRef()].push_back(it->second);
  }
  return it->second;
}

ArrayRef<OpId> OpTable::opsNamed(StringRef name) const {
  auto it = opsByName.find(name);
  if (it == opsByName.end())
    return {};
  return it->second;
}

DictionaryAttr OpTable::inherentAttrs(Operation *op) {
  MLIRContext *ctx = op->getContext();
  Attribute properties = op->getPropertiesAsAttribute();
  auto dict = dyn_cast_or_null<DictionaryAttr>(properties);
  if (op->isRegistered())
    return dict ? dict : DictionaryAttr::get(ctx);
  // An unregistered op is identified by all its attributes.
  NamedAttrList all(op->getDiscardableAttrDictionary());
  if (dict)
    for (NamedAttribute a : dict)
      all.set(a.getName(), a.getValue());
  return all.getDictionary(ctx);
}

PayloadId OpTable::getPayload(DictionaryAttr attributes, TypeId type) {
  SmallVector<Field> fields;
  for (NamedAttribute a : attributes)
    fields.push_back({getName(a.getName()), getAttr(a.getValue())});
  std::sort(fields.begin(), fields.end(),
            [](const Field &a, const Field &b) { return a.name < b.name; });
  return graph.getPayload(type, {fields.data(), fields.size()});
}

DictionaryAttr OpTable::attributes(PayloadId payload) const {
  if (payload >= payloadAttrs.size())
    payloadAttrs.resize(graph.numPayloads());
  DictionaryAttr &dict = payloadAttrs[payload];
  if (!dict) {
    NamedAttrList list;
    for (const Field &f : graph.payloadFields(payload))
      list.set(names[f.name], attrs[f.attr]);
    dict = list.getDictionary(context);
  }
  return dict;
}

void OpTable::makeAttributes() const {
  for (PayloadId payload = 0; payload != graph.numPayloads(); ++payload)
    attributes(payload);
}

ClassId OpTable::addOperation(Operation *op, ArrayRef<ClassId> operands,
                              RuleId rule) {
  OpId id = getOp(op->getName(), operands.size());
  PayloadId payload =
      getPayload(inherentAttrs(op), getTypes(op->getResultTypes()));
  return graph.add(id, payload, {operands.data(), operands.size()}, rule);
}

ClassId OpTable::addResult(ClassId operation, unsigned index, Type type,
                           unsigned numResults, RuleId rule) {
  if (numResults == 1 || operation == kNone)
    return operation;
  Builder b(context);
  Field field{indexName, getAttr(b.getI64IntegerAttr(index))};
  PayloadId payload = graph.getPayload(getType(type), {&field, 1});
  return graph.add(projection, payload, {&operation, 1}, rule);
}

ClassId OpTable::addLeaf(Value value) {
  Builder b(context);
  Field field{indexName, getAttr(b.getI64IntegerAttr(leaves.size()))};
  leaves.push_back(value);
  PayloadId payload = graph.getPayload(getType(value.getType()), {&field, 1});
  return graph.add(leaf, payload, {});
}

Value OpTable::leafValue(PayloadId payload) const {
  AttrId index = graph.payloadField(payload, indexName);
  return leaves[cast<IntegerAttr>(attrs[index]).getInt()];
}
