//===- PatternRewrite.cpp - Compiles right sides of patterns --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

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
  if (auto it = bound.find({v, 0}); it != bound.end())
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

/// The type of one result of an operation with several.
FailureOr<Reg> PatternCompiler::resultType(Operation *user, pdl::OperationOp op,
                                           unsigned index) {
  ValueRange types = op.getTypeValues();
  if (types.size() > 1 && llvm::none_of(types, [](Value v) {
        return isa<pdl::RangeType>(v.getType());
      }))
    return valueReg(user, types[index]);
  // The types are a list, either given in the pattern or taken from a matched
  // node.
  auto it = entered.find(op);
  Reg list = it != entered.end() ? b.use(nodeTypeOf(op)) : madeTypes.lookup(op);
  unsigned n = *knownResults(op);
  return b.rewrite(natives.untuple(n), {list}, n) + index;
}

/// The class of an operation that was matched or made.
FailureOr<Reg> PatternCompiler::operationReg(Operation *user, Value v) {
  auto op = v.getDefiningOp<pdl::OperationOp>();
  if (!op)
    return valueReg(user, v);
  if (auto it = madeOps.find(op); it != madeOps.end())
    return it->second;
  if (auto it = entered.find(op); it != entered.end())
    return b.use(it->second.cls);
  return refuse(user, "an operation is used before it is made");
}

FailureOr<Reg> PatternCompiler::partReg(Operation *user, Part part) {
  if (!part.op) {
    if (isa<pdl::OperationType>(part.value.getType())) {
      FailureOr<Reg> r = operationReg(user, part.value);
      if (failed(r))
        return r;
      return b.rewrite(part.isList ? natives.resultsOf()
                                   : natives.resultOf(part.index),
                       {*r}, 1, /*creates=*/true);
    }
    if (form.extents.count(part.value))
      if (auto it = bound.find({part.value, part.index}); it != bound.end())
        return b.use(it->second);
    return valueReg(user, part.value);
  }
  FailureOr<Reg> cls = operationReg(user, part.op.getOp());
  if (failed(cls) || knownResults(part.op) == 1u)
    return cls;
  if (auto known = awaited.find({part.op.getOperation(), part.index});
      known != awaited.end())
    return b.use(known->second);
  FailureOr<Reg> type = resultType(user, part.op, part.index);
  if (failed(type))
    return failure();
  return projection(*cls, part.index, *type);
}

LogicalResult PatternCompiler::partRegs(Operation *user, ArrayRef<Part> parts,
                                        Regs &regs) {
  for (Part part : parts) {
    FailureOr<Reg> r = partReg(user, part);
    if (failed(r))
      return failure();
    regs.push(*r, part.isList);
  }
  return success();
}

Reg PatternCompiler::listReg(const Regs &regs) {
  if (regs.regs.size() == 1 && regs.hasList())
    return regs.regs[0];
  return b.rewrite(natives.concatValues(regs.isList), regs.regs, 1);
}

LogicalResult PatternCompiler::typeRegs(Operation *user, ValueRange types,
                                        Regs &regs) {
  for (Value v : types) {
    if (auto range = v.getDefiningOp<pdl::RangeOp>()) {
      if (failed(typeRegs(user, range.getArguments(), regs)))
        return failure();
      continue;
    }
    FailureOr<Reg> r = valueReg(user, v);
    if (failed(r))
      return failure();
    regs.push(*r, isa<pdl::RangeType>(v.getType()));
  }
  return success();
}

/// Whether a list holds all result types of an operation of the left side, so
/// that it is not empty.
static bool isOfOperation(Value list) {
  return list.getDefiningOp<pdl::TypesOp>() &&
         llvm::any_of(list.getUsers(), [](Operation *user) {
           auto op = dyn_cast<pdl::OperationOp>(user);
           return op && op.getTypeValues().size() == 1 &&
                  !op->getParentOfType<pdl::RewriteOp>();
         });
}

FailureOr<Reg>
PatternCompiler::typeOfNode(pdl::OperationOp op, const Regs &operands,
                            ArrayRef<std::pair<NameId, Reg>> fields) {
  ValueRange types = op.getTypeValues();
  // An unbound list gives no types.
  auto unbound = [&](Value v) {
    auto list = v.getDefiningOp<pdl::TypesOp>();
    return list && !list.getConstantTypesAttr() && !isBound(v);
  };
  if (!types.empty() && !(types.size() == 1 && unbound(types[0]))) {
    Regs regs;
    if (failed(typeRegs(op, types, regs)))
      return failure();
    if (regs.regs.empty() || knownResults(op) == 0u)
      return refuse(op, "an operation without results");
    if (types.size() == 1 && (!regs.hasList() || isOfOperation(types[0])))
      return regs.regs[0];
    return b.rewrite(natives.concatTypes(regs.isList, /*mayBeEmpty=*/false),
                     regs.regs, 1);
  }
  // No type is given: use the type of the replaced operation, or let the op
  // infer it.
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
  llvm::append_range(args, operands.regs);
  return b.rewrite(natives.inferTypes(name, operands.isList), args, 1);
}

LogicalResult PatternCompiler::compileNode(pdl::OperationOp op) {
  if (failed(checkName(op)))
    return failure();
  OperationName name(*op.getOpName(), op.getContext());
  SmallVector<Part> parts;
  if (failed(expand(op, op.getOperandValues(), parts)))
    return failure();
  Regs operands;
  if (failed(partRegs(op, parts, operands)))
    return failure();
  std::optional<unsigned> fixed =
      name.isRegistered() ? fixedOperands(name) : std::nullopt;
  // Compile a form with a wrong number of operands, but let it match nothing.
  bool isWrong = form.isOpen && fixed && *fixed != parts.size();
  if (failed(checkSignature(op, operands.hasList() || isWrong
                                    ? std::nullopt
                                    : std::optional(parts.size()))))
    return failure();
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
  // The graph holds ops with all defaults filled in, as the parser does.
  if (name.isRegistered() &&
      llvm::any_of(name.getAttributeNames(),
                   [&](StringAttr a) { return !given.contains(a); }))
    payload = b.rewrite(natives.withDefaults(name), {payload}, 1);
  bool verifies = name.isRegistered() &&
                  (!info.isTrusted || isWrong || (fixed && operands.hasList()));
  std::vector<Reg> args{payload};
  llvm::append_range(args, operands.regs);
  if (operands.hasList()) {
    madeOps[op] = b.rewrite(natives.makeNode(name, operands.isList, verifies,
                                             info.name, op.getLoc()),
                            args, 1, /*creates=*/true);
    return success();
  }
  OpId id = ops.getOp(name, parts.size());
  if (verifies)
    payload = b.rewrite(natives.verified(id, info.name, op.getLoc()), args, 1);
  madeOps[op] = b.node(id, payload, operands.regs);
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
    if (!kind)
      return refuse(op, "a native rewrite returns a range of attributes or "
                        "operations");
    results.push_back(*kind);
    creates |=
        *kind == Kind::Class || *kind == Kind::Op || *kind == Kind::Classes;
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

LogicalResult PatternCompiler::checkReplaced(pdl::ReplaceOp op, unsigned n,
                                             unsigned by) {
  if (n == by)
    return success();
  // If the replacement is a range, the form matches only if it has as many
  // values as there are results.
  form.never = form.isOpen;
  if (form.never)
    return success();
  return refuse(op, "it replaces " + Twine(n) + " results by " + Twine(by));
}

/// Replaces all results by those of another operation: the two nodes become
/// equal, whatever the number of results.
LogicalResult PatternCompiler::replaceWhole(pdl::ReplaceOp op, Value by) {
  Reg rootReg = b.use(entered.lookup(root).cls);
  if (auto other = by.getDefiningOp<pdl::OperationOp>()) {
    std::optional<unsigned> n = knownResults(root), m = knownResults(other);
    if (n && m && failed(checkReplaced(op, *n, *m)))
      return failure();
  }
  FailureOr<Reg> r = operationReg(op, by);
  if (failed(r))
    return failure();
  b.unite(rootReg, *r);
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
  Regs values;
  if (failed(partRegs(op, parts, values)))
    return failure();
  std::optional<unsigned> n = knownResults(root);
  if (values.hasList()) {
    // PatternForms ensures that the number of results is known.
    Reg first = b.rewrite(natives.unlist(*n), {listReg(values)}, *n);
    values = {};
    for (unsigned i = 0; i != *n; ++i)
      values.push(first + i, false);
  }
  unsigned m = values.regs.size();
  if (failed(checkReplaced(op, n.value_or(std::max(m, 1u)), m)) || form.never)
    return success(form.never);
  // The number of replacement values determines the number of results.
  std::optional<Reg> types;
  if (!n)
    types = b.native(natives.untuple(m), {nodeTypeOf(root)}, {}, m);
  Reg rootReg = b.use(entered.lookup(root).cls);
  for (auto [i, value] : llvm::enumerate(values.regs)) {
    if (m == 1) {
      b.unite(rootReg, value);
      continue;
    }
    FailureOr<Reg> type =
        types ? FailureOr<Reg>(b.use(*types + i)) : resultType(op, root, i);
    if (failed(type))
      return failure();
    b.unite(projection(rootReg, i, *type), value);
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
