//===- PatternCompiler.cpp - From pdl.pattern to a rule -------------------===//
//
// The left side is walked from the root down, one operation at a time: all
// tests on an operation stand before the first test on an operand, so that
// rules which begin alike get the same atoms and the same registers.
//
//===----------------------------------------------------------------------===//

#include "PatternSides.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace luminal::eqsat;
using Kind = NativeValue::Kind;

//===----------------------------------------------------------------------===//
// Both sides
//===----------------------------------------------------------------------===//

std::optional<Kind> PatternCompiler::kindOf(Value v) {
  Type t = v.getType();
  if (isa<pdl::AttributeType>(t))
    return Kind::Attr;
  if (isa<pdl::TypeType>(t))
    return Kind::Type;
  if (isa<pdl::ValueType>(t))
    return Kind::Class;
  if (isa<pdl::OperationType>(t))
    return Kind::Op;
  return std::nullopt;
}

/// A rule about an operation that the e-graph never holds would be silent.
LogicalResult PatternCompiler::checkName(pdl::OperationOp op) {
  if (!op.getOpName())
    return refuse(op, "an operation without a name");
  OperationName name(*op.getOpName(), op.getContext());
  if (!name.isRegistered())
    return success();
  if (!name.hasTrait<OpTrait::ZeroRegions>())
    return refuse(op,
                  "'" + name.getStringRef() +
                      "' has regions, which the e-graph does not look into");
  if (!name.hasInterface<MemoryEffectOpInterface>() ||
      !name.hasInterface<ConditionallySpeculatable>())
    return refuse(op, "'" + name.getStringRef() +
                          "' may have effects; the e-graph holds pure "
                          "operations only");
  return success();
}

FailureOr<unsigned> PatternCompiler::numResults(pdl::OperationOp op) {
  ValueRange types = op.getTypeValues();
  bool range = llvm::any_of(
      types, [](Value v) { return isa<pdl::RangeType>(v.getType()); });
  if (!range && !types.empty())
    return types.size();
  if (types.size() == 1)
    if (auto list = types[0].getDefiningOp<pdl::TypesOp>())
      if (ArrayAttr constant = list.getConstantTypesAttr())
        return constant.size();
  if (range && types.size() != 1)
    return refuse(op, "a range among result types");
  if (types.empty() && op->getParentOp() == pattern)
    return refuse(op, "an operation without results");
  // Nothing is said: one, unless the op itself says otherwise.
  OperationName name(*op.getOpName(), op.getContext());
  if (name.isRegistered() && !name.hasTrait<OpTrait::OneResult>())
    return refuse(op, "result types of '" + name.getStringRef() +
                          "' are not spelled out");
  return 1u;
}

LogicalResult PatternCompiler::expand(Operation *user, ValueRange values,
                                      SmallVectorImpl<Part> &parts) {
  for (Value v : values) {
    if (auto result = v.getDefiningOp<pdl::ResultOp>()) {
      auto op = result.getParent().getDefiningOp<pdl::OperationOp>();
      if (!op) {
        parts.push_back({v, nullptr, result.getIndex()});
        continue;
      }
      FailureOr<unsigned> n = numResults(op);
      if (failed(n))
        return failure();
      if (result.getIndex() >= *n)
        return refuse(user, "result " + Twine(result.getIndex()) +
                                " of an operation with " + Twine(*n));
      parts.push_back({v, op, result.getIndex()});
      continue;
    }
    if (auto results = v.getDefiningOp<pdl::ResultsOp>()) {
      auto op = results.getParent().getDefiningOp<pdl::OperationOp>();
      if (results.getIndex())
        return refuse(user, "a group of results");
      if (!op) {
        // What a native made: it has one result.
        parts.push_back({results.getParent(), nullptr, 0});
        continue;
      }
      FailureOr<unsigned> n = numResults(op);
      if (failed(n))
        return failure();
      for (unsigned i = 0; i != *n; ++i)
        parts.push_back({v, op, i});
      continue;
    }
    if (isa<pdl::RangeType>(v.getType()))
      return refuse(user, "a range of operands: spell them out");
    parts.push_back({v, nullptr, 0});
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Left side
//===----------------------------------------------------------------------===//

void PatternCompiler::bindOrEqual(Value v, Reg reg) {
  auto [it, inserted] = bound.try_emplace(v, reg);
  if (!inserted)
    b.equal(it->second, reg);
}

LogicalResult PatternCompiler::bindType(Value v, Reg reg) {
  if (auto list = v.getDefiningOp<pdl::TypesOp>()) {
    if (ArrayAttr constant = list.getConstantTypesAttr()) {
      SmallVector<Type> types(constant.getAsValueRange<TypeAttr>());
      b.is(reg, ops.getTypes(types));
      return success();
    }
  }
  if (auto type = v.getDefiningOp<pdl::TypeOp>())
    if (std::optional<Type> constant = type.getConstantType()) {
      b.is(reg, ops.getType(*constant));
      return success();
    }
  bindOrEqual(v, reg);
  return success();
}

LogicalResult PatternCompiler::bindAttr(Value v, Reg reg) {
  auto attr = v.getDefiningOp<pdl::AttributeOp>();
  if (attr && attr.getValueAttr()) {
    b.is(reg, ops.getAttr(attr.getValueAttr()));
    return success();
  }
  bool first = !bound.count(v);
  bindOrEqual(v, reg);
  if (attr && first && attr.getValueType()) {
    Reg type = b.native(natives.typeOfAttr(), {reg}, {}, 1);
    return bindType(attr.getValueType(), type);
  }
  return success();
}

Reg PatternCompiler::nodeTypeOf(pdl::OperationOp op) {
  auto [it, inserted] = nodeTypes.try_emplace(op, 0);
  if (inserted)
    it->second = b.nodeType(entered.lookup(op).payload);
  return it->second;
}

LogicalResult PatternCompiler::testTypes(pdl::OperationOp op,
                                         const RuleBuilder::Op &at) {
  FailureOr<unsigned> n = numResults(op);
  if (failed(n))
    return failure();
  ValueRange types = op.getTypeValues();
  bool list = types.size() == 1 && isa<pdl::RangeType>(types[0].getType());
  // A type that nobody else looks at says nothing but that there is one.
  auto matters = [](Value v) {
    if (!v.hasOneUse())
      return true;
    if (auto type = v.getDefiningOp<pdl::TypeOp>())
      return type.getConstantType().has_value();
    if (auto types = v.getDefiningOp<pdl::TypesOp>())
      return types.getConstantTypesAttr() != nullptr;
    return true;
  };
  // A value has one type; a root may have any number of results.
  OperationName name(*op.getOpName(), op.getContext());
  if (list || (*n == 1 && (op != root || name.hasTrait<OpTrait::OneResult>())))
    return matters(types[0]) ? bindType(types[0], nodeTypeOf(op)) : success();
  Reg first = b.native(natives.untuple(*n), {nodeTypeOf(op)}, {}, *n);
  for (unsigned i = 0; i != *n; ++i)
    if (failed(bindType(types[i], first + i)))
      return failure();
  return success();
}

LogicalResult PatternCompiler::bindOperand(Part part, Reg reg) {
  if (!part.op) {
    bool first = !bound.count(part.value);
    bindOrEqual(part.value, reg);
    auto operand = part.value.getDefiningOp<pdl::OperandOp>();
    if (operand && first && operand.getValueType())
      return bindType(operand.getValueType(), b.classType(reg));
    return success();
  }
  auto key = std::make_pair(part.op.getOperation(), part.index);
  if (auto it = awaited.find(key); it != awaited.end()) {
    b.equal(it->second, reg);
    return success();
  }
  awaited.insert({key, reg});
  return success();
}

/// All tests on one operation, in a fixed order: attributes by name, types,
/// operands.
LogicalResult PatternCompiler::testOp(pdl::OperationOp op,
                                      const RuleBuilder::Op &at) {
  SmallVector<std::pair<StringRef, Value>> attrs;
  for (auto [name, value] :
       llvm::zip_equal(op.getAttributeValueNames(), op.getAttributeValues()))
    attrs.push_back({cast<StringAttr>(name).getValue(), value});
  llvm::sort(attrs, [](auto &a, auto &b) { return a.first < b.first; });
  for (auto [name, value] : attrs)
    if (failed(bindAttr(value, b.field(at.payload, ops.getName(name)))))
      return failure();
  if (failed(testTypes(op, at)))
    return failure();
  SmallVector<Part> parts;
  if (failed(expand(op, op.getOperandValues(), parts)))
    return failure();
  for (auto [i, part] : llvm::enumerate(parts))
    if (failed(bindOperand(part, at.child(i))))
      return failure();
  return testConstraints();
}

LogicalResult PatternCompiler::enter(pdl::OperationOp op,
                                     std::optional<Reg> cls) {
  if (failed(checkName(op)))
    return failure();
  SmallVector<Part> parts;
  if (failed(expand(op, op.getOperandValues(), parts)))
    return failure();
  OperationName name(*op.getOpName(), op.getContext());
  OpId id = ops.getOp(name, parts.size());
  RuleBuilder::Op at =
      cls ? b.enter(*cls, id, parts.size()) : b.root(id, parts.size());
  entered[op] = at;
  if (failed(testOp(op, at)))
    return failure();
  // Then the operations behind the operands, in their order.
  for (Part part : parts) {
    if (!part.op)
      continue;
    Reg value = awaited.find({part.op.getOperation(), part.index})->second;
    FailureOr<unsigned> n = numResults(part.op);
    if (failed(n))
      return failure();
    bool known = entered.count(part.op);
    if (*n == 1) {
      if (!known && failed(enter(part.op, value)))
        return failure();
      continue;
    }
    // Through the projection to the operation.
    auto done = projected.insert({part.op.getOperation(), part.index});
    if (!done.second)
      continue;
    RuleBuilder::Op p = b.enter(value, ops.projectionOp(), 1);
    Builder builder(op.getContext());
    b.is(b.field(p.payload, ops.projectionIndexName()),
         ops.getAttr(builder.getI64IntegerAttr(part.index)));
    if (known)
      b.equal(entered.lookup(part.op).cls, p.child(0));
    else if (failed(enter(part.op, p.child(0))))
      return failure();
  }
  return success();
}

/// Every constraint whose arguments are bound by now.
LogicalResult PatternCompiler::testConstraints() {
  for (size_t i = 0; i != constraintsLeft.size();) {
    auto c = cast<pdl::ApplyNativeConstraintOp>(constraintsLeft[i]);
    SmallVector<ArgInfo> args;
    std::vector<Reg> regs, classes;
    bool ready = true;
    for (Value v : c.getArgs()) {
      std::optional<Kind> kind = kindOf(v);
      if (!kind)
        return refuse(c, "a native function takes a range");
      ArgInfo arg{*kind};
      auto attr = v.getDefiningOp<pdl::AttributeOp>();
      auto type = v.getDefiningOp<pdl::TypeOp>();
      if (attr && attr.getValueAttr()) {
        arg.constant = ops.getAttr(attr.getValueAttr());
      } else if (type && type.getConstantType()) {
        arg.constant = ops.getType(*type.getConstantType());
      } else if (auto op = v.getDefiningOp<pdl::OperationOp>()) {
        auto it = entered.find(op);
        if (it == entered.end()) {
          ready = false;
          break;
        }
        arg.op = ops.getOp(OperationName(*op.getOpName(), op.getContext()),
                           it->second.arity);
        regs.push_back(it->second.cls);
        classes.push_back(it->second.cls);
        regs.push_back(it->second.payload);
        for (uint32_t k = 0; k != it->second.arity; ++k) {
          regs.push_back(it->second.child(k));
          classes.push_back(it->second.child(k));
        }
      } else if (auto result = v.getDefiningOp<pdl::ResultOp>()) {
        auto it = awaited.find(
            {result.getParent().getDefiningOp(), result.getIndex()});
        if (it == awaited.end()) {
          ready = false;
          break;
        }
        regs.push_back(it->second);
        classes.push_back(it->second);
      } else {
        auto it = bound.find(v);
        if (it == bound.end()) {
          ready = false;
          break;
        }
        regs.push_back(it->second);
        if (*kind == Kind::Class)
          classes.push_back(it->second);
      }
      args.push_back(arg);
    }
    if (!ready) {
      ++i;
      continue;
    }
    SmallVector<Kind> results;
    for (Value r : c.getResults()) {
      std::optional<Kind> kind = kindOf(r);
      if (!kind || *kind == Kind::Op)
        return refuse(c, "a constraint returns a range or an operation");
      results.push_back(*kind);
    }
    std::optional<uint32_t> fn = natives.constraint(scopes, c.getName(), args,
                                                    results, c.getIsNegated());
    if (!fn)
      return refuse(c, "no native constraint is named '" + c.getName() + "'");
    Reg first = b.native(*fn, regs, classes, results.size());
    for (auto [k, r] : llvm::enumerate(c.getResults()))
      bindOrEqual(r, first + k);
    constraintsLeft.erase(constraintsLeft.begin() + i);
    i = 0; // its results may be what an earlier one waits for
  }
  return success();
}

/// Nothing is said of values that the right side does not read.
void PatternCompiler::testClaim() {
  if (info.dtypes.empty())
    return;
  uint32_t claimed = natives.hasElementOf(info.dtypes);
  auto test = [&](Reg cls) { b.native(claimed, {b.classType(cls)}, {}, 0); };
  test(entered.lookup(root).cls);
  for (auto operand : pattern.getBodyRegion().front().getOps<pdl::OperandOp>())
    if (auto it = bound.find(operand.getValue());
        it != bound.end() &&
        llvm::any_of(operand->getUsers(), [](Operation *user) {
          return user->getParentOfType<pdl::RewriteOp>();
        }))
      test(it->second);
}

LogicalResult PatternCompiler::compileMatch() {
  auto rewrite =
      cast<pdl::RewriteOp>(pattern.getBodyRegion().front().getTerminator());
  SmallVector<pdl::OperationOp> all;
  for (Operation &op : pattern.getBodyRegion().front()) {
    if (auto operation = dyn_cast<pdl::OperationOp>(op))
      all.push_back(operation);
    if (isa<pdl::ApplyNativeConstraintOp>(op))
      constraintsLeft.push_back(&op);
  }
  if (Value v = rewrite.getRoot()) {
    root = v.getDefiningOp<pdl::OperationOp>();
  } else {
    // The one operation whose results no other operation uses.
    for (pdl::OperationOp op : all) {
      bool used = llvm::any_of(op->getUsers(), [](Operation *u) {
        return isa<pdl::ResultOp, pdl::ResultsOp>(u) &&
               u->getParentOfType<pdl::RewriteOp>() == nullptr;
      });
      if (used)
        continue;
      if (root)
        return refuse(op, "several roots");
      root = op;
    }
  }
  if (!root)
    return refuse(pattern, "it has no root operation");
  if (failed(enter(root, std::nullopt)))
    return failure();
  for (pdl::OperationOp op : all)
    if (!entered.count(op))
      return refuse(op, "several roots: this operation is not below the one "
                        "that is replaced");
  if (!constraintsLeft.empty())
    return refuse(constraintsLeft.front(),
                  "an argument of this constraint is never bound");
  return success();
}

//===----------------------------------------------------------------------===//
// The rule
//===----------------------------------------------------------------------===//

FailureOr<Rule> PatternCompiler::compile(bool explained) {
  if (failed(compileMatch()))
    return failure();
  testClaim();
  if (failed(compileRewrite()))
    return failure();
  Rule &rule = b.rule();
  rule.promise = info.promise;
  rule.stratum = info.stratum;
  rule.matchLimit = info.matchLimit;
  for (Type type : info.dtypes)
    llvm::raw_string_ostream(rule.dtypes.emplace_back()) << type;
  llvm::raw_string_ostream os(rule.location);
  if (auto file = pattern.getLoc()->findInstanceOf<FileLineColLoc>())
    os << file.getFilename().getValue() << ":" << file.getLine();
  return b.finish(explained);
}

FailureOr<Rule>
luminal::eqsat::compilePattern(pdl::PatternOp pattern, const RuleInfo &info,
                               OpTable &ops, NativeBridge &natives,
                               NativeScopes scopes, bool explained) {
  return PatternCompiler(pattern, info, ops, natives, scopes)
      .compile(explained);
}
