//===- Inputs.cpp - Symbols, weights, states, constants, user inputs ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Importer.h"
#include "luminal/Dialect/HLIR/IR/Signature.h"
#include "luminal/Support/IndexCheck.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

//===----------------------------------------------------------------------===//
// Symbols and mutations
//===----------------------------------------------------------------------===//

/// The part of a range that an extent can have.
static SymbolRange clampToExtents(SymbolRange range) {
  range.lo = std::max<int64_t>(range.lo, 0);
  if (range.hi && *range.hi > kLargestExtent)
    range.hi.reset();
  return range;
}

/// Finds the integer inputs that may be negative. torch.export states the range
/// [0, inf) even for an integer of which it knows nothing; its actual knowledge
/// is in the guards. An integer that sizes depend on is at least 0.
void Importer::widenIntegers(std::set<std::string> &names) const {
  auto isRead = [&](StringRef guard) { return bool(evaluateGuard(guard)); };
  if (!llvm::all_of(program.guards, isRead))
    return names.clear();
  std::vector<std::string> ofSizes;
  for (const auto &[name, meta] : program.tensors)
    for (const Expr &size : meta.sizes)
      size.collectSymbols(ofSizes);
  for (const std::string &name : ofSizes)
    names.erase(name);
}

/// Declares the symbols of the program: those in the shapes of its inputs, and
/// those of its integer inputs, which may have any value.
LogicalResult Importer::makeSymbols() {
  std::vector<std::string> names, ofIntegers;
  SmallVector<IntegerInput> integers;
  for (const InputSpec &spec : program.inputs) {
    if (spec.kind == InputSpec::Integer) {
      integers.push_back({spec.name, spec.literal.exprs[0]});
      spec.literal.exprs[0].collectSymbols(ofIntegers);
    }
    if (spec.kind != InputSpec::User)
      continue;
    const TensorMeta *meta = getMeta(spec.name);
    if (!meta)
      return fail(fileLoc, "signature: input '" + spec.name +
                               "' has no entry in tensor_values");
    for (const Expr &e : meta->sizes)
      e.collectSymbols(names);
  }
  const std::set<std::string> ofExtents(names.begin(), names.end());
  std::set<std::string> unknown(ofIntegers.begin(), ofIntegers.end());
  widenIntegers(unknown);
  llvm::append_range(names, ofIntegers);
  llvm::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  SmallVector<SymbolEntry> entries;
  std::map<std::string, SymbolRange> ranges;
  for (const std::string &name : names) {
    SymbolRange range{INT64_MIN, std::nullopt};
    if (auto it = program.ranges.find(name); it != program.ranges.end())
      range = it->second;
    if (range.lo == 0 && !range.hi && unknown.count(name))
      range.lo = INT64_MIN;
    if (ofExtents.count(name))
      range = clampToExtents(range);
    else if (!range.hi)
      range.hi = INT64_MAX;
    if (range.hi && *range.hi < range.lo)
      return fail(fileLoc, "range_constraints: the range of '" + name +
                               "', which is an extent, is empty");
    entries.push_back({name, range});
    ranges.emplace(name, range);
  }
  setIntegers(function, integers);
  assumptions = Assumptions(ranges);
  function->setAttr(kSymbolsAttr, SymbolsAttr::get(context, entries));
  return success();
}

/// Ops whose result may share memory with their first operand.
static bool mayAlias(StringRef target) {
  static const llvm::StringSet<> views = {"alias",     "as_strided",
                                          "chunk",     "contiguous",
                                          "detach",    "diagonal",
                                          "expand",    "expand_as",
                                          "flatten",   "lift_fresh",
                                          "movedim",   "moveaxis",
                                          "narrow",    "numpy_T",
                                          "permute",   "ravel",
                                          "reshape",   "reshape_as",
                                          "select",    "slice",
                                          "split",     "split_with_sizes",
                                          "squeeze",   "swapaxes",
                                          "swapdims",  "t",
                                          "to",        "transpose",
                                          "type_as",   "unbind",
                                          "unflatten", "unfold",
                                          "unsqueeze", "view",
                                          "view_as",   "_unsafe_view"};
  return target.consume_front("torch.ops.aten.") &&
         views.contains(target.split('.').first);
}

/// Finds the names that are written to, or share memory with one that is.
void Importer::findMutations() {
  for (const Node &node : llvm::reverse(program.nodes)) {
    if (node.inputs.empty() || node.inputs[0].value.kind != Argument::Tensor)
      continue;
    bool written = isInPlace(node);
    if (!written && mayAlias(node.target))
      for (const Argument &output : node.outputs)
        for (const std::string &name : output.names)
          written |= mutated.count(name) != 0;
    if (written)
      mutated.insert(node.inputs[0].value.names[0]);
  }
  std::map<std::string, std::string> byFqn = program.getInputsByFqn();
  for (const OutputSpec &spec : program.outputs) {
    if (spec.kind == OutputSpec::InputMutation)
      mutated.insert(spec.target);
    if (spec.kind == OutputSpec::BufferMutation && byFqn.count(spec.target))
      mutated.insert(byFqn[spec.target]);
  }
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

Value Importer::addArgument(RankedTensorType type, StringRef name,
                            StringRef kind, Attribute source) {
  NamedAttrList attrs;
  attrs.set(kNameAttr, builder.getStringAttr(name));
  attrs.set(kKindAttr, builder.getStringAttr(kind));
  if (source)
    attrs.set(kSourceAttr, source);
  argumentAttrs.push_back(std::move(attrs));
  return function.getBody().front().addArgument(
      type, NameLoc::get(builder.getStringAttr(name), fileLoc));
}

LogicalResult Importer::makeConstant(const InputSpec &spec,
                                     const StoredTensor &stored, Type element) {
  auto type = RankedTensorType::get(stored.sizes, element);
  std::vector<char> bytes = stored.copyElements();
  DenseElementsAttr value;
  if (element.isInteger(1)) {
    SmallVector<bool> bits(bytes.begin(), bytes.end());
    value = DenseElementsAttr::get(type, bits);
  } else {
    value = DenseElementsAttr::getFromRawBuffer(type, bytes);
  }
  define(spec.name,
         ConstantOp::create(
             builder, NameLoc::get(builder.getStringAttr(spec.fqn), fileLoc),
             type, value),
         -1);
  return success();
}

LogicalResult Importer::makeStored(const InputSpec &spec, bool isMutated) {
  std::string where = "'" + spec.fqn + "'";
  const TensorMeta *meta = getMeta(spec.name);
  if (!meta)
    return fail(fileLoc, where + " has no entry in tensor_values");
  auto dtype = meta->dtype.dtype();
  if (!dtype)
    return fail(fileLoc, where + " has dtype " + meta->dtype.name() +
                             ", which is not supported");
  Type element = getElementType(context, *dtype);
  SmallVector<int64_t> sizes;
  for (const Expr &e : meta->sizes) {
    if (!e.asConstant())
      return fail(fileLoc, where + " has the symbolic extent " + e.str());
    sizes.push_back(*e.asConstant());
  }
  StringRef kind = isMutated ? "state" : "weight";
  const StoredTensor *stored = archive.find(spec.fqn);
  // A tensor without elements has no data, and need not be bound.
  bool isEmpty = !isMutated && llvm::is_contained(sizes, 0);
  auto defineEmpty = [&] {
    SmallVector<Expr> extents(meta->sizes.begin(), meta->sizes.end());
    define(spec.name, composer->full(extents, composer->scalarInt(element, 0)),
           -1);
    return success();
  };
  if (!stored) {
    if (isEmpty)
      return defineEmpty();
    if (!options.allowMissingWeights)
      return fail(fileLoc, where + " is not in the archive");
    Value arg =
        addArgument(RankedTensorType::get(sizes, element), spec.fqn, kind);
    define(spec.name, arg, argumentAttrs.size() - 1);
    return success();
  }
  if (stored->dtype != meta->dtype ||
      ArrayRef(stored->sizes) != ArrayRef(sizes))
    return fail(fileLoc, where + " is stored with another dtype or shape than "
                                 "the program states");

  if (isEmpty)
    return defineEmpty();

  bool integer = !isa<FloatType>(element);
  if (!isMutated && spec.kind != InputSpec::Parameter &&
      (spec.kind == InputSpec::Constant || !spec.persistent || integer) &&
      stored->getNumElements() * stored->dtype.size() <= kMaxConstantBytes)
    return makeConstant(spec, *stored, element);

  // Tied weights become one argument, named after the first.
  std::string key = stored->member + "|" + stored->dtype.name() + "|" +
                    std::to_string(stored->offset);
  for (size_t i = 0; i < sizes.size(); ++i)
    key += "|" + std::to_string(stored->sizes[i]) + ":" +
           std::to_string(stored->strides[i]);
  auto shared = stateStorages.find(stored->member);
  auto known = weightArguments.find(key);
  if (known == weightArguments.end() && shared != stateStorages.end() &&
      (isMutated || shared->second))
    return fail(fileLoc, where + " shares its storage with another tensor, "
                                 "and one of them is written to");
  stateStorages[stored->member] |= isMutated;
  if (known != weightArguments.end()) {
    // `known` is the memory of the first name.
    for (auto &[name, tensor] : tensors)
      if (tensor.memory == known->second) {
        GraphTensor copy = tensor;
        if (isMutated)
          argumentAttrs[memories[tensor.memory].argument].set(
              kKindAttr, builder.getStringAttr("state"));
        tensors[spec.name] = std::move(copy);
        return success();
      }
  }

  auto [begin, end] = stored->getSpan();
  int64_t bytes = stored->dtype.size();
  Attribute source = builder.getDictionaryAttr(
      {builder.getNamedAttr("member", builder.getStringAttr(stored->member)),
       builder.getNamedAttr("offset", builder.getI64IntegerAttr(begin * bytes)),
       builder.getNamedAttr("bytes",
                            builder.getI64IntegerAttr((end - begin) * bytes))});
  if (stored->isContiguous()) {
    Value arg = addArgument(RankedTensorType::get(sizes, element), spec.fqn,
                            kind, source);
    define(spec.name, arg, argumentAttrs.size() - 1);
  } else {
    // The argument is the range of the storage that is read; the tensor is a
    // view of it.
    Value arg = addArgument(RankedTensorType::get({end - begin}, element),
                            spec.fqn, kind, source);
    define(spec.name, arg, argumentAttrs.size() - 1);
    GraphTensor &tensor = tensors[spec.name];
    tensor.extents.clear();
    Expr position(0);
    for (auto [i, size] : llvm::enumerate(sizes)) {
      tensor.extents.push_back(Expr(size));
      position = position + Expr::dim(i) * Expr(stored->strides[i]);
    }
    tensor.map = {position};
    tensor.whole = false;
    tensor.value = composer->view(arg, tensor.extents, tensor.map);
  }
  weightArguments[key] = tensors[spec.name].memory;
  return success();
}

LogicalResult Importer::makeInputs() {
  unsigned position = 0;
  for (const InputSpec &spec : program.inputs) {
    if (spec.kind != InputSpec::Literal && spec.kind != InputSpec::Integer &&
        tensors.count(spec.name))
      return fail(fileLoc,
                  "signature: input '" + spec.name + "' appears twice");
    switch (spec.kind) {
    case InputSpec::Parameter:
    case InputSpec::Buffer:
    case InputSpec::Constant:
      if (failed(makeStored(spec, mutated.count(spec.name) != 0)))
        return failure();
      break;
    case InputSpec::User: {
      const TensorMeta *meta = getMeta(spec.name);
      auto dtype = meta->dtype.dtype();
      if (!dtype)
        return fail(fileLoc, "input '" + spec.name + "' has dtype " +
                                 meta->dtype.name() +
                                 ", which is not supported");
      SmallVector<Expr> extents(meta->sizes.begin(), meta->sizes.end());
      Value arg =
          addArgument(getTensorType(extents, getElementType(context, *dtype)),
                      spec.name, mutated.count(spec.name) ? "state" : "input");
      define(spec.name, arg, argumentAttrs.size() - 1);
      memories.back().isInput = true;
      ++position;
      break;
    }
    case InputSpec::Integer:
      ++position;
      break;
    case InputSpec::Literal: {
      const Argument &a = spec.literal;
      Attribute value;
      if (a.kind == Argument::Int)
        value = builder.getI64IntegerAttr(a.exprs[0].asConstant().value_or(0));
      else if (a.kind == Argument::Bool)
        value = builder.getBoolAttr(a.exprs[0].isConstant(1));
      else if (a.kind == Argument::Float)
        value = builder.getF64FloatAttr(a.doubles[0]);
      else if (a.kind == Argument::String)
        value = builder.getStringAttr(a.names[0]);
      else
        value = builder.getUnitAttr();
      literalInputs.push_back(builder.getDictionaryAttr(
          {builder.getNamedAttr("position",
                                builder.getI64IntegerAttr(position)),
           builder.getNamedAttr("value", value)}));
      ++position;
      break;
    }
    }
  }
  return success();
}
