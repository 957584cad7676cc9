//===- PatternNatives.cpp - Native functions that patterns need -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Native functions that patterns need implicitly: types of attributes and of
// lists, ranges, results, inferred types, and verification of operations.
//
//===----------------------------------------------------------------------===//

#include "NativeBridge.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

using namespace mlir;
using namespace luminal::eqsat;

uint32_t NativeBridge::typeOfAttr() {
  return addNative(
      [this](std::span<const uint32_t> words, uint32_t *out) {
        auto typed = dyn_cast<TypedAttr>(ops.attr(words[0]));
        if (!typed)
          return false;
        out[0] = ops.getType(typed.getType());
        return true;
      },
      1, 1, Native::Always);
}

uint32_t NativeBridge::hasElementOf(ArrayRef<Type> types) {
  SmallVector<Type> known(types);
  return addNative(
      [this, known](std::span<const uint32_t> words, uint32_t *) {
        Type type = ops.type(words[0]);
        SmallVector<Type> parts{type};
        if (auto tuple = dyn_cast<TupleType>(type))
          parts.assign(tuple.begin(), tuple.end());
        return llvm::all_of(parts, [&](Type part) {
          return llvm::is_contained(known, getElementTypeOrSelf(part));
        });
      },
      1, 0, Native::Always);
}

uint32_t NativeBridge::untuple(unsigned count) {
  return addNative(
      [this, count](std::span<const uint32_t> words, uint32_t *out) {
        auto tuple = dyn_cast<TupleType>(ops.type(words[0]));
        if (!tuple && count == 1) {
          out[0] = words[0];
          return true;
        }
        if (!tuple || tuple.size() != count)
          return false;
        for (unsigned i = 0; i != count; ++i)
          out[i] = ops.getType(tuple.getType(i));
        return true;
      },
      1, count, Native::Always);
}

uint32_t NativeBridge::splitTypes(unsigned numSingle) {
  return addNative(
      [this, numSingle](std::span<const uint32_t> words, uint32_t *out) {
        SmallVector<Type> types = ops.typeList(words[0]);
        if (types.size() < numSingle)
          return false;
        for (unsigned i = 0; i != numSingle; ++i)
          out[i] = ops.getType(types[i]);
        out[numSingle] = ops.getTypes(ArrayRef(types).drop_front(numSingle));
        return true;
      },
      1, numSingle + 1, Native::Always);
}

uint32_t NativeBridge::concatTypes(ArrayRef<bool> isList, bool mayBeEmpty) {
  return addNative(
      [this, mayBeEmpty, isList = SmallVector<bool>(isList)](
          std::span<const uint32_t> words, uint32_t *out) {
        SmallVector<Type> types;
        for (auto [word, list] : llvm::zip_equal(words, isList)) {
          // A tuple type would be mistaken for a list of types.
          if (!list && isa<TupleType>(ops.type(word)))
            return false;
          llvm::append_range(types, ops.typeList(word));
        }
        out[0] = ops.getTypes(types);
        return mayBeEmpty || !types.empty();
      },
      isList.size(), 1, Native::Always);
}

uint32_t NativeBridge::getList(ArrayRef<ClassId> classes) {
  std::vector<ClassId> list;
  for (ClassId c : classes)
    list.push_back(graph.find(c));
  auto [it, inserted] = listIds.try_emplace(std::move(list), lists.size());
  if (inserted)
    lists.push_back(it->first);
  return it->second;
}

SmallVector<ClassId> NativeBridge::spread(std::span<const uint32_t> words,
                                          ArrayRef<bool> isList) const {
  SmallVector<ClassId> classes;
  for (auto [word, list] : llvm::zip_equal(words, isList)) {
    if (!list)
      classes.push_back(word);
    else
      for (ClassId c : lists[word])
        classes.push_back(graph.find(c));
  }
  return classes;
}

// The classes in lists get other ids when they are merged, so answers about
// lists are not cached.
uint32_t NativeBridge::concatValues(ArrayRef<bool> isList) {
  return addNative(
      [this, isList = SmallVector<bool>(isList)](
          std::span<const uint32_t> words, uint32_t *out) {
        out[0] = getList(spread(words, isList));
        return true;
      },
      isList.size(), 1, Native::None);
}

uint32_t NativeBridge::unlist(unsigned count) {
  return addNative(
      [this, count](std::span<const uint32_t> words, uint32_t *out) {
        SmallVector<ClassId> classes = spread(words, true);
        if (classes.size() != count)
          return false;
        llvm::copy(classes, out);
        return true;
      },
      1, count, Native::None);
}

uint32_t NativeBridge::resultOf(unsigned index) {
  return addNative(
      [this, index](std::span<const uint32_t> words, uint32_t *out) {
        auto types = ops.typeList(graph.classType(words[0]));
        if (index >= types.size())
          return false;
        out[0] = ops.addResult(words[0], index, types[index], types.size(),
                               graph.currentRule);
        return out[0] != kNone;
      },
      1, 1, Native::None);
}

uint32_t NativeBridge::resultsOf() {
  return addNative(
      [this](std::span<const uint32_t> words, uint32_t *out) {
        SmallVector<ClassId> results;
        auto types = ops.typeList(graph.classType(words[0]));
        for (auto [i, type] : llvm::enumerate(types)) {
          results.push_back(ops.addResult(words[0], i, type, types.size(),
                                          graph.currentRule));
          if (results.back() == kNone)
            return false;
        }
        out[0] = getList(results);
        return true;
      },
      1, 1, Native::None);
}

/// Creates an op without operands, not inserted in a block, that stores its
/// attributes like a regular op of its kind.
static Operation *createDetached(Location loc, OperationName name,
                                 DictionaryAttr attributes,
                                 ArrayRef<Type> types) {
  OperationState state(loc, name);
  state.addTypes(types);
  state.addAttributes(attributes.getValue());
  return Operation::create(state);
}

uint32_t NativeBridge::withDefaults(OperationName name) {
  return addNative(
      [this, name](std::span<const uint32_t> words, uint32_t *out) {
        Operation *op =
            createDetached(shell->getLoc(), name, ops.attributes(words[0]), {});
        out[0] = ops.getPayload(OpTable::inherentAttrs(op),
                                graph.payloadType(words[0]));
        op->destroy();
        return true;
      },
      1, 1, Native::Always);
}

bool NativeBridge::canBe(OpId op, PayloadId payload, ArrayRef<ClassId> operands,
                         StringRef rule, Location loc) {
  SmallVector<Value> values;
  for (ClassId c : operands)
    values.push_back(standIn(c));
  std::string why = whyInvalid(standInOp(op, payload, values));
  block->clear();
  if (!why.empty())
    emitErrorAt(loc, "rule '" + rule + "' makes an invalid operation: " + why);
  return why.empty();
}

uint32_t NativeBridge::verified(OpId op, StringRef rule, Location loc) {
  return addNative(
      [this, op, rule = rule.str(), loc](std::span<const uint32_t> words,
                                         uint32_t *out) {
        auto operands = words.subspan(1);
        out[0] = words[0];
        return canBe(op, words[0], {operands.data(), operands.size()}, rule,
                     loc);
      },
      1 + graph.arity(op), 1, Native::Always);
}

uint32_t NativeBridge::makeNode(OperationName name, ArrayRef<bool> isList,
                                bool verifies, StringRef rule, Location loc) {
  return addNative(
      [this, name, isList = SmallVector<bool>(isList), verifies,
       rule = rule.str(), loc](std::span<const uint32_t> words, uint32_t *out) {
        SmallVector<ClassId> operands = spread(words.subspan(1), isList);
        OpId op = ops.getOp(name, operands.size());
        if (verifies && !canBe(op, words[0], operands, rule, loc))
          return false;
        out[0] = graph.add(op, words[0], {operands.data(), operands.size()},
                           graph.currentRule);
        return out[0] != kNone;
      },
      1 + isList.size(), 1, Native::None);
}

uint32_t NativeBridge::inferTypes(OperationName name, ArrayRef<bool> isList) {
  return addNative(
      [this, name, isList = SmallVector<bool>(isList)](
          std::span<const uint32_t> words, uint32_t *out) {
        auto *iface = name.getInterface<InferTypeOpInterface>();
        if (!iface)
          return false;
        SmallVector<Value> operands;
        for (ClassId c : spread(words.subspan(1), isList))
          operands.push_back(standIn(c));
        DictionaryAttr attributes = ops.attributes(words[0]);
        Operation *op = createDetached(shell->getLoc(), name, attributes, {});
        // Without a location, a failure emits no message; then there is no
        // right side.
        SmallVector<Type> types;
        LogicalResult ok = iface->inferReturnTypes(
            ops.getContext(), std::nullopt, operands, attributes,
            op->getPropertiesStorage(), op->getRegions(), types);
        op->destroy();
        if (failed(ok))
          return false;
        out[0] = ops.getTypes(types);
        return true;
      },
      1 + isList.size(), 1,
      llvm::is_contained(isList, true) ? Native::None : Native::Always);
}
