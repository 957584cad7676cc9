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
  Value type = op.getTypeValues()[0];
  if (auto list = type.getDefiningOp<pdl::TypesOp>())
    return b.constant(ops.getType(
        cast<TypeAttr>(list.getConstantTypesAttr()[index]).getValue()));
  return valueReg(user, op.getTypeValues()[index]);
}

FailureOr<Reg> PatternCompiler::partReg(Operation *user, Part part) {
  if (!part.op)
    return valueReg(user, part.value);
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

FailureOr<Reg>
PatternCompiler::typeOfNode(pdl::OperationOp op, ArrayRef<Reg> operands,
                            ArrayRef<std::pair<NameId, Reg>> fields) {
  ValueRange types = op.getTypeValues();
  SmallVector<Reg> regs;
  for (Value v : types) {
    if (auto type = v.getDefiningOp<pdl::TypeOp>())
      if (isa_and_nonnull<TupleType>(type.getConstantType().value_or(Type())))
        return refuse(op, "a result of tuple type");
    FailureOr<Reg> r = valueReg(op, v);
    if (failed(r))
      return failure();
    regs.push_back(*r);
  }
  bool list = types.size() == 1 && isa<pdl::RangeType>(types[0].getType());
  if (list && types[0].getDefiningOp<pdl::TypesOp>() &&
      !types[0].getDefiningOp<pdl::TypesOp>().getConstantTypesAttr() &&
      !bound.count(types[0]))
    regs.clear();
  if (regs.size() > 1) {
    return b.rewrite(natives.tuple(regs.size()), {regs.begin(), regs.end()}, 1);
  }
  if (regs.size() == 1)
    return regs[0];
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
  Reg payload = b.payload(*type, fields);
  // The graph holds ops with their defaults filled in, as the parser does.
  if (name.isRegistered() &&
      llvm::any_of(name.getAttributeNames(),
                   [&](StringAttr a) { return !given.contains(a); }))
    payload = b.rewrite(natives.withDefaults(name), {payload}, 1);
  madeOps[op] = b.node(ops.getOp(name, operands.size()), payload, operands);
  return success();
}

LogicalResult PatternCompiler::compileNative(pdl::ApplyNativeRewriteOp op) {
  SmallVector<ArgInfo> args;
  std::vector<Reg> regs;
  for (Value v : op.getArgs()) {
    std::optional<Kind> kind = kindOf(v);
    if (!kind) {
      // All results of an operation with one: that value.
      SmallVector<Part> parts;
      if (!v.getDefiningOp<pdl::ResultsOp>() || failed(expand(op, v, parts)) ||
          parts.size() != 1)
        return refuse(op, "a native function takes a range");
      FailureOr<Reg> r = partReg(op, parts[0]);
      if (failed(r))
        return failure();
      args.push_back({Kind::Class});
      regs.push_back(*r);
      continue;
    }
    ArgInfo arg{*kind};
    if (auto matched = v.getDefiningOp<pdl::OperationOp>()) {
      auto it = entered.find(matched);
      if (it == entered.end())
        return refuse(op, "a native function takes an operation that the right "
                          "side makes: give it the value");
      const RuleBuilder::Op &at = it->second;
      arg.op = ops.getOp(OperationName(*matched.getOpName(), op.getContext()),
                         at.arity);
      regs.push_back(b.use(at.cls));
      regs.push_back(b.use(at.payload));
      for (uint32_t k = 0; k != at.arity; ++k)
        regs.push_back(b.use(at.child(k)));
    } else if (auto result = v.getDefiningOp<pdl::ResultOp>()) {
      SmallVector<Part> parts;
      if (failed(expand(op, v, parts)))
        return failure();
      FailureOr<Reg> r = partReg(op, parts[0]);
      if (failed(r))
        return failure();
      regs.push_back(*r);
    } else {
      FailureOr<Reg> r = valueReg(op, v);
      if (failed(r))
        return failure();
      regs.push_back(*r);
    }
    args.push_back(arg);
  }
  SmallVector<Kind> results;
  bool creates = false;
  for (Value r : op.getResults()) {
    std::optional<Kind> kind = kindOf(r);
    if (!kind)
      return refuse(op, "a native function returns a range");
    results.push_back(*kind);
    creates |= *kind == Kind::Class || *kind == Kind::Op;
  }
  std::optional<uint32_t> fn =
      natives.rewrite(scopes, op.getName(), args, results);
  if (!fn)
    return refuse(op, "no native rewrite is named '" + op.getName() + "'");
  Reg first = b.rewrite(*fn, regs, results.size(), creates);
  for (auto [k, r] : llvm::enumerate(op.getResults()))
    made[r] = first + k;
  return success();
}

LogicalResult PatternCompiler::compileReplace(pdl::ReplaceOp op) {
  if (op.getOpValue().getDefiningOp() != root)
    return refuse(op, "it replaces an operation that is not the root");
  Reg rootReg = b.use(entered.lookup(root).cls);
  if (Value v = op.getReplOperation()) {
    auto other = v.getDefiningOp<pdl::OperationOp>();
    FailureOr<Reg> r = failure();
    if (!other)
      r = valueReg(op, v);
    else if (auto it = madeOps.find(other); it != madeOps.end())
      r = it->second;
    else if (auto it = entered.find(other); it != entered.end())
      r = b.use(it->second.cls);
    if (failed(r))
      return failure();
    b.unite(rootReg, *r);
    return success();
  }
  SmallVector<Part> parts;
  if (failed(expand(op, op.getReplValues(), parts)))
    return failure();
  FailureOr<unsigned> n = numResults(root);
  if (failed(n))
    return failure();
  if (parts.size() != *n)
    return refuse(op, "it replaces " + Twine(*n) + " results by " +
                          Twine(parts.size()));
  for (auto [i, part] : llvm::enumerate(parts)) {
    FailureOr<Reg> r = partReg(op, part);
    if (failed(r))
      return failure();
    if (*n == 1) {
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
    else if (isa<pdl::RangeOp>(op))
      ok = refuse(&op, "a range of values");
    if (failed(ok))
      return failure();
  }
  return success();
}
