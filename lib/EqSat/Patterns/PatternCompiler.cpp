//===- PatternCompiler.cpp - From pdl.pattern to a rule -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compiles the left side from the root down, one operation at a time. All tests
// of an operation come before the first test of an operand, so that rules with
// a common prefix get the same atoms and the same registers.
//
//===----------------------------------------------------------------------===//

#include "PatternSides.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/StringSet.h"

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
  auto range = cast<pdl::RangeType>(t);
  if (isa<pdl::TypeType>(range.getElementType()))
    return Kind::Types;
  if (isa<pdl::ValueType>(range.getElementType()))
    return Kind::Classes;
  return std::nullopt;
}

/// Refuses names of operations that the e-graph never holds: such a rule would
/// never match.
LogicalResult PatternCompiler::checkName(pdl::OperationOp op) {
  if (!op.getOpName())
    return refuse(op, "an operation without a name");
  OperationName name(*op.getOpName(), op.getContext());
  std::string isNamed = ("'" + name.getStringRef() + "' ").str();
  if (!name.isRegistered()) {
    Dialect *dialect =
        op.getContext()->getLoadedDialect(name.getDialectNamespace());
    if (dialect && !dialect->allowsUnknownOperations())
      return refuse(op, isNamed + "is not an operation of its dialect");
    if (!ops.allowsUnregistered())
      return refuse(
          op, isNamed + "is not of a registered dialect; allow-unregistered "
                        "treats such operations as pure");
    return success();
  }
  if (!name.hasTrait<OpTrait::ZeroRegions>())
    return refuse(op,
                  isNamed + "has regions, which the e-graph does not support");
  if (name.hasTrait<OpTrait::ZeroResults>())
    return refuse(op, isNamed + "has no results");
  if (name.hasTrait<OpTrait::IsTerminator>() ||
      !name.hasInterface<MemoryEffectOpInterface>() ||
      !name.hasInterface<ConditionallySpeculatable>())
    return refuse(op, isNamed + "may have effects; the e-graph holds pure "
                                "operations only");
  StringRef twice;
  llvm::StringSet<> given;
  for (Attribute attr : op.getAttributeValueNames()) {
    auto text = cast<StringAttr>(attr);
    if (!given.insert(text).second)
      twice = text;
    if (!llvm::is_contained(name.getAttributeNames(), text))
      return refuse(op,
                    Twine(isNamed) + "has no attribute '" + text.getValue() +
                        "'; the e-graph does not store discardable attributes");
  }
  if (!twice.empty())
    return refuse(op, "attribute '" + twice + "' is given twice");
  return success();
}

template <template <typename> class... Traits>
static std::optional<unsigned> countOf(OperationName name) {
  unsigned i = 0;
  std::optional<unsigned> count;
  ((name.hasTrait<Traits>() ? void(count = i++) : void(i++)), ...);
  return count;
}

std::optional<unsigned> luminal::eqsat::fixedOperands(OperationName name) {
  return countOf<OpTrait::ZeroOperands, OpTrait::OneOperand,
                 OpTrait::NOperands<2>::Impl, OpTrait::NOperands<3>::Impl,
                 OpTrait::NOperands<4>::Impl, OpTrait::NOperands<5>::Impl,
                 OpTrait::NOperands<6>::Impl>(name);
}
static std::optional<unsigned> fixedResults(OperationName name) {
  return countOf<OpTrait::ZeroResults, OpTrait::OneResult,
                 OpTrait::NResults<2>::Impl, OpTrait::NResults<3>::Impl,
                 OpTrait::NResults<4>::Impl>(name);
}

/// Refuses operations that are always invalid: they would never match, or the
/// rule would make them.
LogicalResult
PatternCompiler::checkSignature(pdl::OperationOp op,
                                std::optional<unsigned> numOperands) {
  OperationName name(*op.getOpName(), op.getContext());
  if (!name.isRegistered())
    return success();
  auto differs = [&](std::optional<unsigned> has, unsigned n, StringRef what) {
    if (!has || *has == n)
      return success();
    return refuse(op, "'" + name.getStringRef() + "' has " + Twine(*has) + " " +
                          what + ", not " + Twine(n));
  };
  if (numOperands &&
      failed(differs(fixedOperands(name), *numOperands, "operands")))
    return failure();
  std::optional<unsigned> n = knownResults(op);
  return n ? differs(fixedResults(name), *n, "results") : success();
}

/// Refuses tuple types in patterns: OpTable uses a tuple for a list of result
/// types.
LogicalResult PatternCompiler::checkTypes() {
  auto visit = [&](Operation *op) -> WalkResult {
    bool isTuple = false;
    if (auto type = dyn_cast<pdl::TypeOp>(op))
      isTuple =
          type.getConstantType() && isa<TupleType>(*type.getConstantType());
    else if (auto list = dyn_cast<pdl::TypesOp>(op))
      if (ArrayAttr constant = list.getConstantTypesAttr())
        isTuple = llvm::any_of(constant.getAsValueRange<TypeAttr>(),
                               llvm::IsaPred<TupleType>);
    return isTuple ? refuse(op, "a value of tuple type") : success();
  };
  return failure(pattern.walk(visit).wasInterrupted());
}

std::optional<unsigned> luminal::eqsat::declaredResults(pdl::OperationOp op) {
  unsigned count = 0;
  bool isOpen = op.getTypeValues().empty();
  for (Value type : op.getTypeValues()) {
    auto list = type.getDefiningOp<pdl::TypesOp>();
    if (list && list.getConstantTypesAttr())
      count += list.getConstantTypesAttr().size();
    else if (isa<pdl::RangeType>(type.getType()))
      isOpen = true;
    else
      ++count;
  }
  if (!isOpen)
    return count;
  if (!op.getOpName())
    return std::nullopt;
  OperationName name(*op.getOpName(), op.getContext());
  return name.isRegistered() ? fixedResults(name) : std::nullopt;
}

std::optional<unsigned> PatternCompiler::knownResults(pdl::OperationOp op) {
  if (auto it = form.extents.find(op.getOp()); it != form.extents.end())
    return it->second;
  if (op.getTypeValues().empty() && op == replacement && op != root)
    return knownResults(root);
  return declaredResults(op);
}

LogicalResult PatternCompiler::expand(Operation *user, ValueRange values,
                                      SmallVectorImpl<Part> &parts) {
  for (Value v : values) {
    if (auto result = v.getDefiningOp<pdl::ResultOp>()) {
      auto op = result.getParent().getDefiningOp<pdl::OperationOp>();
      std::optional<unsigned> n = op ? knownResults(op) : std::nullopt;
      if (!n) {
        parts.push_back({result.getParent(), nullptr, result.getIndex()});
        continue;
      }
      if (result.getIndex() >= *n) {
        if (!form.isOpen)
          return refuse(user, "result " + Twine(result.getIndex()) +
                                  " of an operation with " + Twine(*n));
        form.never = true;
      }
      parts.push_back({v, op, result.getIndex()});
      continue;
    }
    if (auto results = v.getDefiningOp<pdl::ResultsOp>()) {
      auto op = results.getParent().getDefiningOp<pdl::OperationOp>();
      std::optional<unsigned> n = op ? knownResults(op) : std::nullopt;
      // If the number of results is fixed, each result is a group by itself.
      if (std::optional<uint32_t> group = results.getIndex()) {
        if (!op)
          return refuse(user, "a group of results");
        OperationName name(*op.getOpName(), op.getContext());
        if (!name.isRegistered() || !n || fixedResults(name) != *n ||
            *group >= *n)
          return refuse(user, "a group of results");
        parts.push_back({v, op, *group});
        continue;
      }
      if (!n)
        parts.push_back({results.getParent(), nullptr, 0, /*isList=*/true});
      else
        for (unsigned i = 0; i != *n; ++i)
          parts.push_back({v, op, i});
      continue;
    }
    if (auto range = v.getDefiningOp<pdl::RangeOp>()) {
      if (failed(expand(user, range.getArguments(), parts)))
        return failure();
      continue;
    }
    if (auto it = form.extents.find(v); it != form.extents.end()) {
      for (unsigned i = 0; i != it->second; ++i)
        parts.push_back({v, nullptr, i});
      continue;
    }
    parts.push_back({v, nullptr, 0, isa<pdl::RangeType>(v.getType())});
  }
  return success();
}

FailureOr<bool> PatternCompiler::gatherArguments(Operation *user,
                                                 ValueRange values, bool isLeft,
                                                 Arguments &args) {
  auto add = [&](Reg reg, bool isClass = false) {
    args.regs.push_back(reg);
    if (isClass)
      args.classes.push_back(reg);
  };
  for (Value v : values) {
    std::optional<Kind> kind = kindOf(v);
    if (!kind)
      return refuse(user, "a native function takes a range of attributes or "
                          "operations");
    ArgInfo arg{*kind};
    switch (*kind) {
    case Kind::Op: {
      auto op = v.getDefiningOp<pdl::OperationOp>();
      auto it = op ? entered.find(op) : entered.end();
      if (it == entered.end()) {
        if (isLeft)
          return false;
        return refuse(user, "a native function takes an operation that the "
                            "right side makes: give it the value");
      }
      // The parts of a matched operation are in match registers, which `use`
      // makes available on the right side.
      auto reg = [&](Reg r) { return isLeft ? r : b.use(r); };
      const RuleBuilder::Op at = it->second;
      arg.op =
          ops.getOp(OperationName(*op.getOpName(), op.getContext()), at.arity);
      add(reg(at.cls), true);
      add(reg(at.payload));
      for (uint32_t k = 0; k != at.arity; ++k)
        add(reg(at.child(k)), true);
      break;
    }
    case Kind::Class:
    case Kind::Classes: {
      SmallVector<Part> parts;
      if (failed(expand(user, v, parts)))
        return failure();
      Regs values;
      if (!isLeft) {
        if (failed(partRegs(user, parts, values)))
          return failure();
      } else {
        for (Part part : parts) {
          std::optional<Reg> r = matchedReg(part);
          if (!r)
            return false;
          values.push(*r, part.isList);
        }
      }
      arg.count = parts.size();
      arg.isList = values.hasList();
      if (arg.isList) {
        // The left side never mixes lists and single values.
        arg.count = 1;
        add(isLeft ? values.regs[0] : listReg(values));
        break;
      }
      for (Reg r : values.regs)
        add(r, true);
      break;
    }
    case Kind::Attr:
    case Kind::Type:
    case Kind::Types: {
      auto attr = v.getDefiningOp<pdl::AttributeOp>();
      auto type = v.getDefiningOp<pdl::TypeOp>();
      auto list = v.getDefiningOp<pdl::TypesOp>();
      if (attr && attr.getValueAttr()) {
        arg.constant = ops.getAttr(attr.getValueAttr());
      } else if (type && type.getConstantType()) {
        arg.constant = ops.getType(*type.getConstantType());
      } else if (list && list.getConstantTypesAttr()) {
        SmallVector<Type> types(
            list.getConstantTypesAttr().getAsValueRange<TypeAttr>());
        arg.constant = ops.getTypes(types);
      } else if (isLeft) {
        auto it = bound.find({v, 0});
        if (it == bound.end())
          return false;
        add(it->second);
      } else if (v.getDefiningOp<pdl::RangeOp>()) {
        Regs types;
        if (failed(typeRegs(user, v, types)))
          return failure();
        add(b.rewrite(natives.concatTypes(types.isList, /*mayBeEmpty=*/true),
                      types.regs, 1));
      } else {
        FailureOr<Reg> r = valueReg(user, v);
        if (failed(r))
          return failure();
        add(*r);
      }
      break;
    }
    }
    args.infos.push_back(arg);
  }
  return true;
}

//===----------------------------------------------------------------------===//
// Left side
//===----------------------------------------------------------------------===//

void PatternCompiler::bindOrEqual(Value v, Reg reg, unsigned index) {
  auto [it, inserted] = bound.try_emplace({v, index}, reg);
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
  bool first = !isBound(v);
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
  ValueRange types = op.getTypeValues();
  std::optional<unsigned> n = knownResults(op);
  if (types.empty() || n == 0u)
    return refuse(op, "an operation without results");
  auto isRange = [](Value v) { return isa<pdl::RangeType>(v.getType()); };
  if (llvm::any_of(types.drop_back(), isRange))
    return refuse(op, "a list of types that is not the last of the result "
                      "types, which PDL takes for all");
  bool list = isRange(types.back());
  // A type variable that is used only once adds no test.
  auto matters = [](Value v) {
    if (!v.hasOneUse())
      return true;
    if (auto type = v.getDefiningOp<pdl::TypeOp>())
      return type.getConstantType().has_value();
    if (auto types = v.getDefiningOp<pdl::TypesOp>())
      return types.getConstantTypesAttr() != nullptr;
    return true;
  };
  if (form.extents.count(op.getOp()) && *n != 1)
    b.native(natives.untuple(*n), {nodeTypeOf(op)}, {}, *n);
  // The type of a single value is tested directly; a root may have any number
  // of results.
  OperationName name(*op.getOpName(), op.getContext());
  if (types.size() == 1 &&
      (list || op != root || name.hasTrait<OpTrait::OneResult>()))
    return matters(types[0]) ? bindType(types[0], nodeTypeOf(op)) : success();
  unsigned numSingle = types.size() - list;
  Reg first = b.native(list ? natives.splitTypes(numSingle)
                            : natives.untuple(numSingle),
                       {nodeTypeOf(op)}, {}, types.size());
  for (unsigned i = 0; i != types.size(); ++i)
    if (failed(bindType(types[i], first + i)))
      return failure();
  return success();
}

/// Binds the types of a range if the pattern uses them.
LogicalResult PatternCompiler::bindOperandTypes(pdl::OperationOp op) {
  for (Value v : op.getOperandValues()) {
    auto range = v.getDefiningOp<pdl::OperandsOp>();
    if (!range || !range.getValueType() || !typedRanges.insert(v).second)
      continue;
    std::vector<Reg> types;
    for (unsigned i = 0; i != form.extents.lookup(v); ++i)
      types.push_back(b.classType(bound.lookup({v, i})));
    SmallVector<bool> isList(types.size(), false);
    Reg list = b.native(natives.concatTypes(isList, /*mayBeEmpty=*/true),
                        std::move(types), {}, 1);
    if (failed(bindType(range.getValueType(), list)))
      return failure();
  }
  return success();
}

LogicalResult PatternCompiler::bindOperand(Part part, Reg reg) {
  if (!part.op) {
    bool first = !bound.count({part.value, part.index});
    bindOrEqual(part.value, reg, part.index);
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

/// Adds all tests of one operation in a fixed order: attributes by name, types,
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
  if (failed(bindOperandTypes(op)))
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
  if (failed(checkSignature(op, parts.size())))
    return failure();
  OpId id = ops.getOp(name, parts.size());
  RuleBuilder::Op at =
      cls ? b.enter(*cls, id, parts.size()) : b.root(id, parts.size());
  entered[op] = at;
  if (failed(testOp(op, at)))
    return failure();
  // Then enter the operations that define the operands, in order.
  for (Part part : parts) {
    if (!part.op)
      continue;
    Reg value = awaited.find({part.op.getOperation(), part.index})->second;
    bool known = entered.count(part.op);
    if (knownResults(part.op) == 1u) {
      if (!known && failed(enter(part.op, value)))
        return failure();
      continue;
    }
    // Enter the operation through the projection.
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

/// The class register of a value that the left side binds.
std::optional<Reg> PatternCompiler::matchedReg(Part part) {
  if (!part.op) {
    auto it = bound.find({part.value, part.index});
    return it == bound.end() ? std::nullopt : std::optional(it->second);
  }
  if (auto it = awaited.find({part.op.getOperation(), part.index});
      it != awaited.end())
    return it->second;
  // The node of an operation with one result is that result.
  auto it = entered.find(part.op);
  if (it != entered.end() && knownResults(part.op) == 1u)
    return it->second.cls;
  return std::nullopt;
}

/// Adds every constraint whose arguments are all bound.
LogicalResult PatternCompiler::testConstraints() {
  for (size_t i = 0; i != constraintsLeft.size();) {
    auto c = cast<pdl::ApplyNativeConstraintOp>(constraintsLeft[i]);
    Arguments args;
    FailureOr<bool> ready =
        gatherArguments(c, c.getArgs(), /*isLeft=*/true, args);
    if (failed(ready))
      return failure();
    if (!*ready) {
      ++i;
      continue;
    }
    if (c.getIsNegated() && !c.getResults().empty())
      return refuse(c, "a negated constraint returns results");
    SmallVector<Kind> results;
    for (Value r : c.getResults()) {
      std::optional<Kind> kind = kindOf(r);
      if (!kind || *kind == Kind::Op)
        return refuse(c, "a constraint returns operations, or a range of "
                         "attributes");
      results.push_back(*kind);
    }
    std::optional<uint32_t> fn = natives.constraint(
        scopes, c.getName(), args.infos, results, c.getIsNegated());
    if (!fn)
      return refuse(c, "no native constraint is named '" + c.getName() + "'");
    Reg first = b.native(*fn, args.regs, args.classes, results.size());
    for (auto [k, r] : llvm::enumerate(c.getResults())) {
      auto extent = form.extents.find(r);
      if (extent == form.extents.end()) {
        bindOrEqual(r, first + k);
        continue;
      }
      // The values of a list can be operands too.
      unsigned n = extent->second;
      Reg value = b.native(natives.unlist(n), {first + Reg(k)}, {}, n);
      for (unsigned i = 0; i != n; ++i)
        bindOrEqual(r, value + i, i);
    }
    constraintsLeft.erase(constraintsLeft.begin() + i);
    i = 0; // the results may bind arguments of an earlier constraint
  }
  return success();
}

/// Tests that the root and the values that the right side reads have one of the
/// element types of the rule. Other values may have any type.
void PatternCompiler::testClaim() {
  if (info.dtypes.empty())
    return;
  SmallVector<Type> admitted;
  for (auto [i, type] : llvm::enumerate(info.dtypes))
    if (info.ulps.empty() || info.asksPolicy ||
        info.ulps[i] <= natives.policy().maxUlps)
      admitted.push_back(type);
  uint32_t claimed = natives.hasElementOf(admitted);
  auto test = [&](Reg cls) { b.native(claimed, {b.classType(cls)}, {}, 0); };
  test(entered.lookup(root).cls);
  for (Operation &op : pattern.getBodyRegion().front()) {
    if (!isa<pdl::OperandOp, pdl::OperandsOp>(op) ||
        llvm::none_of(op.getUsers(), [](Operation *user) {
          return user->getParentOfType<pdl::RewriteOp>();
        }))
      continue;
    for (unsigned i = 0;; ++i) {
      auto it = bound.find({op.getResult(0), i});
      if (it == bound.end())
        break;
      test(it->second);
    }
  }
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
    // The root is the only operation whose results are not used by another one.
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
  if (failed(checkTypes()) || failed(compileMatch()))
    return failure();
  testClaim();
  if (failed(compileRewrite()))
    return failure();
  if (form.never)
    b.is(entered.lookup(root).payload, kNone);
  Rule &rule = b.rule();
  rule.promise = info.promise;
  rule.ulps.assign(info.ulps.begin(), info.ulps.end());
  rule.admitted = natives.policy().admits(info.promise);
  rule.stratum = info.stratum;
  rule.matchLimit = info.matchLimit;
  rule.growth = info.growth;
  for (Type type : info.dtypes)
    llvm::raw_string_ostream(rule.dtypes.emplace_back()) << type;
  if (auto file = pattern.getLoc()->findInstanceOf<FileLineColLoc>()) {
    // Paths of compiled-in rules are made relative to the source tree, so that
    // they are the same in every build.
    StringRef path = file.getFilename().getValue();
    path.consume_front(LUMINAL_SOURCE_ROOT "/");
    llvm::raw_string_ostream(rule.location) << path << ":" << file.getLine();
  }
  return b.finish(explained);
}

FailureOr<Rule> luminal::eqsat::compilePattern(
    pdl::PatternOp pattern, const RuleInfo &info, OpTable &ops,
    NativeBridge &natives, NativeScopes scopes, bool explained, Form &form) {
  return PatternCompiler(pattern, info, ops, natives, scopes, form)
      .compile(explained);
}
