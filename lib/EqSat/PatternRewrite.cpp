//===- PatternRewrite.cpp - The right side of a pattern, compiled ---------===//

#include "PatternSides.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace luminal::eqsat;
using Kind = NativeValue::Kind;

FailureOr<Reg> PatternCompiler::valueReg(Operation *user, Value v) {
  if (auto it = made.find(v); it != made.end())
    return it->second;
  if (auto attr = v.getDefiningOp<pdl::AttributeOp>())
    if (attr.getValueAttr())
      return b.constant(ops.getAttr(attr.getValueAttr()));
  if (auto type = v.getDefiningOp<pdl::TypeOp>())
    if (type.getConstantType())
      return b.constant(ops.getType(*type.getConstantType()));
  if (auto types = v.getDefiningOp<pdl::TypesOp>())
    if (ArrayAttr constant = types.getConstantTypesAttr()) {
      SmallVector<Type> list(constant.getAsValueRange<TypeAttr>());
      return b.constant(ops.getTypes(list));
    }
  if (auto it = bound.find(v); it != bound.end())
    return b.use(it->second);
  return refuse(user, "the right side uses a value that is never bound");
}

Reg PatternCompiler::projection(Reg cls, unsigned index, Reg type) {
  Builder builder(pattern.getContext());
  Reg payload = b.payload(
      type, {{ops.projectionIndexName(),
              b.constant(ops.getAttr(builder.getI64IntegerAttr(index)))}});
  return b.node(ops.projectionOp(), payload, {cls});
}

/// Type of one result of an operation with several.
FailureOr<Reg> PatternCompiler::resultType(Operation *user, pdl::OperationOp op,
                                           unsigned index) {
  ValueRange types = op.getTypeValues();
  if (types.size() > 1)
    return valueReg(user, types[index]);
  // A list, whether it is written or what a node has.
  auto it = entered.find(op);
  Reg list = it != entered.end() ? b.use(nodeTypeOf(op)) : madeTypes.lookup(op);
  unsigned n = *knownResults(op);
  return b.rewrite(natives.untuple(n), {list}, n) + index;
}

FailureOr<Reg> PatternCompiler::partReg(Operation *user, Part part) {
  if (!part.op) {
    FailureOr<Reg> r = valueReg(user, part.value);
    if (failed(r) || !isa<pdl::OperationType>(part.value.getType()))
      return r;
    return b.rewrite(natives.resultOf(part.index), {*r}, 1, /*creates=*/true);
  }
  FailureOr<unsigned> n = numResults(part.op);
  if (failed(n))
    return failure();
  if (auto it = madeOps.find(part.op); it != madeOps.end()) {
    if (*n == 1)
      return it->second;
    FailureOr<Reg> type = resultType(user, part.op, part.index);
    if (failed(type))
      return failure();
    return projection(it->second, part.index, *type);
  }
  auto it = entered.find(part.op);
  if (it == entered.end())
    return refuse(user, "an operation is used before it is made");
  if (*n == 1)
    return b.use(it->second.cls);
  if (auto known = awaited.find({part.op.getOperation(), part.index});
      known != awaited.end())
    return b.use(known->second);
  FailureOr<Reg> type = resultType(user, part.op, part.index);
  if (failed(type))
    return failure();
  return projection(b.use(it->second.cls), part.index, *type);
}

/// The registers of result types, and whether each holds a list.
LogicalResult
PatternCompiler::typeRegs(Operation *user, ValueRange types,
                          SmallVectorImpl<std::pair<Reg, bool>> &regs) {
  for (Value v : types) {
    if (auto range = v.getDefiningOp<pdl::RangeOp>()) {
      if (failed(typeRegs(user, range.getArguments(), regs)))
        return failure();
      continue;
    }
    FailureOr<Reg> r = valueReg(user, v);
    if (failed(r))
      return failure();
    regs.push_back({*r, isa<pdl::RangeType>(v.getType())});
  }
  return success();
}

FailureOr<Reg>
PatternCompiler::typeOfNode(pdl::OperationOp op, ArrayRef<Reg> operands,
                            ArrayRef<std::pair<NameId, Reg>> fields) {
  ValueRange types = op.getTypeValues();
  // A list that nobody binds is none.
  auto unbound = [&](Value v) {
    auto list = v.getDefiningOp<pdl::TypesOp>();
    return list && !list.getConstantTypesAttr() && !bound.count(v);
  };
  if (!types.empty() && !(types.size() == 1 && unbound(types[0]))) {
    SmallVector<std::pair<Reg, bool>> regs;
    if (failed(typeRegs(op, types, regs)))
      return failure();
    if (regs.empty() || knownResults(op) == 0u)
      return refuse(op, "an operation without results");
    if (regs.size() == 1)
      return regs[0].first;
    std::vector<Reg> args;
    SmallVector<bool> isList;
    for (auto [reg, list] : regs) {
      args.push_back(reg);
      isList.push_back(list);
    }
    return b.rewrite(natives.concatTypes(isList), args, 1);
  }
  // No type is given: that of what is replaced, or what the op infers.
  if (op == replacement)
    return b.use(nodeTypeOf(root));
  OperationName name(*op.getOpName(), op.getContext());
  if (!name.hasInterface<InferTypeOpInterface>())
    return refuse(op, "the result type of '" + name.getStringRef() +
                          "' is neither given nor inferred");
  Reg payload =
      b.payload(b.constant(ops.getType(NoneType::get(op.getContext()))),
                {fields.begin(), fields.end()});
  std::vector<Reg> args{payload};
  args.insert(args.end(), operands.begin(), operands.end());
  return b.rewrite(natives.inferTypes(name, operands.size()), args, 1);
}

LogicalResult PatternCompiler::compileNode(pdl::OperationOp op) {
  if (failed(checkName(op)))
    return failure();
  OperationName name(*op.getOpName(), op.getContext());
  SmallVector<Part> parts;
  if (failed(expand(op, op.getOperandValues(), parts)))
    return failure();
  if (failed(checkSignature(op, parts.size())))
    return failure();
  std::vector<Reg> operands;
  for (Part part : parts) {
    FailureOr<Reg> r = partReg(op, part);
    if (failed(r))
      return failure();
    operands.push_back(*r);
  }
  std::vector<std::pair<NameId, Reg>> fields;
  llvm::StringSet<> given;
  for (auto [attrName, value] :
       llvm::zip_equal(op.getAttributeValueNames(), op.getAttributeValues())) {
    FailureOr<Reg> r = valueReg(op, value);
    if (failed(r))
      return failure();
    StringRef text = cast<StringAttr>(attrName).getValue();
    if (!given.insert(text).second)
      return refuse(op, "attribute '" + text + "' is given twice");
    fields.push_back({ops.getName(text), *r});
  }
  FailureOr<Reg> type = typeOfNode(op, operands, fields);
  if (failed(type))
    return failure();
  madeTypes[op] = *type;
  Reg payload = b.payload(*type, fields);
  // The graph holds ops with their defaults filled in, as the parser does.
  if (name.isRegistered() &&
      llvm::any_of(name.getAttributeNames(),
                   [&](StringAttr a) { return !given.contains(a); }))
    payload = b.rewrite(natives.withDefaults(name), {payload}, 1);
  if (name.isRegistered() && !info.isTrusted) {
    std::vector<Reg> args{payload};
    args.insert(args.end(), operands.begin(), operands.end());
    payload = b.rewrite(natives.verified(ops.getOp(name, operands.size()),
                                         info.name, op.getLoc()),
                        args, 1);
  }
  madeOps[op] = b.node(ops.getOp(name, operands.size()), payload, operands);
  return success();
}

LogicalResult PatternCompiler::compileNative(pdl::ApplyNativeRewriteOp op) {
  if (op.getResults().empty())
    return refuse(op, "a native rewrite that returns nothing can only change "
                      "the program in place");
  Arguments args;
  if (failed(gatherArguments(op, op.getArgs(), /*isLeft=*/false, args)))
    return failure();
  SmallVector<Kind> results;
  bool creates = false;
  for (Value r : op.getResults()) {
    std::optional<Kind> kind = kindOf(r);
    if (!kind || *kind == Kind::Classes)
      return refuse(op, "a native rewrite returns a range of values, "
                        "attributes or operations");
    results.push_back(*kind);
    creates |= *kind == Kind::Class || *kind == Kind::Op;
  }
  std::optional<uint32_t> fn =
      natives.rewrite(scopes, op.getName(), args.infos, results);
  if (!fn)
    return refuse(op, "no native rewrite is named '" + op.getName() + "'");
  Reg first = b.rewrite(*fn, args.regs, results.size(), creates);
  for (auto [k, r] : llvm::enumerate(op.getResults()))
    made[r] = first + k;
  return success();
}

/// By all results of an operation: node for node, however many there are.
LogicalResult PatternCompiler::replaceWhole(pdl::ReplaceOp op, Value by) {
  Reg rootReg = b.use(entered.lookup(root).cls);
  auto other = by.getDefiningOp<pdl::OperationOp>();
  if (!other) {
    FailureOr<Reg> r = valueReg(op, by);
    if (failed(r))
      return failure();
    b.unite(rootReg, *r);
    return success();
  }
  std::optional<unsigned> n = knownResults(root), m = knownResults(other);
  if (n && m && *n != *m)
    return refuse(op, "it replaces " + Twine(*n) + " results by " + Twine(*m));
  if (auto it = madeOps.find(other); it != madeOps.end())
    b.unite(rootReg, it->second);
  else if (auto it = entered.find(other); it != entered.end())
    b.unite(rootReg, b.use(it->second.cls));
  else
    return refuse(op, "an operation is used before it is made");
  return success();
}

LogicalResult PatternCompiler::compileReplace(pdl::ReplaceOp op) {
  if (op.getOpValue().getDefiningOp() != root)
    return refuse(op, "it replaces an operation that is not the root");
  if (Value v = op.getReplOperation())
    return replaceWhole(op, v);
  if (op.getReplValues().size() == 1)
    if (auto all = op.getReplValues()[0].getDefiningOp<pdl::ResultsOp>())
      if (!all.getIndex())
        return replaceWhole(op, all.getParent());
  SmallVector<Part> parts;
  if (failed(expand(op, op.getReplValues(), parts)))
    return failure();
  std::optional<unsigned> n = knownResults(root);
  if (parts.size() != n.value_or(1))
    return refuse(op, "it replaces " + Twine(n.value_or(1)) + " results by " +
                          Twine(parts.size()));
  // Whoever gives one value for all results means one result.
  if (!n)
    b.native(natives.untuple(1), {nodeTypeOf(root)}, {}, 1);
  Reg rootReg = b.use(entered.lookup(root).cls);
  for (auto [i, part] : llvm::enumerate(parts)) {
    FailureOr<Reg> r = partReg(op, part);
    if (failed(r))
      return failure();
    if (parts.size() == 1) {
      b.unite(rootReg, *r);
      continue;
    }
    FailureOr<Reg> type = resultType(op, root, i);
    if (failed(type))
      return failure();
    b.unite(projection(rootReg, i, *type), *r);
  }
  return success();
}

LogicalResult PatternCompiler::compileRewrite() {
  auto rewrite =
      cast<pdl::RewriteOp>(pattern.getBodyRegion().front().getTerminator());
  if (rewrite.getName())
    return refuse(rewrite, "an external rewrite changes the program in place");
  pdl::ReplaceOp replace;
  for (Operation &op : rewrite.getBodyRegion().front()) {
    auto r = dyn_cast<pdl::ReplaceOp>(op);
    if (!r)
      continue;
    if (replace)
      return refuse(r, "it replaces twice");
    replace = r;
  }
  if (!replace)
    return refuse(rewrite, "it replaces nothing");
  if (Value v = replace.getReplOperation())
    replacement = v.getDefiningOp<pdl::OperationOp>();
  else if (replace.getReplValues().size() == 1) {
    Operation *def = replace.getReplValues()[0].getDefiningOp();
    if (auto r = dyn_cast_or_null<pdl::ResultOp>(def))
      replacement = r.getParent().getDefiningOp<pdl::OperationOp>();
    if (auto r = dyn_cast_or_null<pdl::ResultsOp>(def))
      replacement = r.getParent().getDefiningOp<pdl::OperationOp>();
  }
  for (Operation &op : rewrite.getBodyRegion().front()) {
    LogicalResult ok = success();
    if (auto operation = dyn_cast<pdl::OperationOp>(op))
      ok = compileNode(operation);
    else if (auto native = dyn_cast<pdl::ApplyNativeRewriteOp>(op))
      ok = compileNative(native);
    else if (isa<pdl::ReplaceOp>(op))
      ok = compileReplace(replace);
    else if (isa<pdl::EraseOp>(op))
      ok = refuse(&op, "it erases an operation; the e-graph only adds");
    if (failed(ok))
      return failure();
  }
  return success();
}
