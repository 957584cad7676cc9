//===- PatternCompiler.cpp - From pdl.pattern to a rule -------------------===//
//
// The left side is walked from the root down, one operation at a time: all
// tests on an operation stand before the first test on an operand, so that
// rules which begin alike get the same atoms and the same registers.
//
//===----------------------------------------------------------------------===//

#include "PatternCompiler.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace luminal::eqsat;
using Kind = NativeValue::Kind;

namespace {

/// Result `index` of the operation `op`, or a value from elsewhere.
struct Part {
  Value value;
  pdl::OperationOp op;
  unsigned index = 0;
};

class Compiler {
public:
  Compiler(pdl::PatternOp pattern, const RuleInfo &info, OpTable &ops,
           NativeBridge &natives, NativeScopes scopes)
      : pattern(pattern), info(info), ops(ops), natives(natives),
        scopes(scopes), b(info.name.str()) {}

  FailureOr<Rule> compile(bool explained);

private:
  LogicalResult refuse(Location loc, const Twine &reason) {
    return emitError(loc) << "rule '" << info.name
                          << "' cannot be used: " << reason;
  }
  LogicalResult refuse(Operation *op, const Twine &reason) {
    return refuse(op->getLoc(), reason);
  }

  // Both sides.
  FailureOr<unsigned> numResults(pdl::OperationOp op);
  LogicalResult expand(Operation *user, ValueRange values,
                       SmallVectorImpl<Part> &parts);
  std::optional<Kind> kindOf(Value v);
  LogicalResult checkName(pdl::OperationOp op);

  // Left side.
  LogicalResult compileMatch();
  LogicalResult enter(pdl::OperationOp op, std::optional<Reg> cls);
  LogicalResult testOp(pdl::OperationOp op, const RuleBuilder::Op &at);
  LogicalResult testTypes(pdl::OperationOp op, const RuleBuilder::Op &at);
  void bindOrEqual(Value v, Reg reg);
  LogicalResult bindAttr(Value v, Reg reg);
  LogicalResult bindType(Value v, Reg reg);
  LogicalResult bindOperand(Part part, Reg reg);
  LogicalResult testConstraints();
  void testClaim();
  Reg nodeTypeOf(pdl::OperationOp op);

  // Right side.
  LogicalResult compileRewrite();
  LogicalResult compileNode(pdl::OperationOp op);
  FailureOr<Reg> typeOfNode(pdl::OperationOp op, ArrayRef<Reg> operands,
                            ArrayRef<std::pair<NameId, Reg>> fields);
  LogicalResult compileNative(pdl::ApplyNativeRewriteOp op);
  LogicalResult compileReplace(pdl::ReplaceOp op);
  FailureOr<Reg> valueReg(Operation *user, Value v);
  FailureOr<Reg> partReg(Operation *user, Part part);
  FailureOr<Reg> resultType(Operation *user, pdl::OperationOp op,
                            unsigned index);
  Reg projection(Reg cls, unsigned index, Reg type);

  pdl::PatternOp pattern;
  const RuleInfo &info;
  OpTable &ops;
  NativeBridge &natives;
  NativeScopes scopes;
  RuleBuilder b;

  pdl::OperationOp root;
  /// Match registers of attributes, types and operands.
  DenseMap<Value, Reg> bound;
  DenseMap<Operation *, RuleBuilder::Op> entered;
  DenseMap<Operation *, Reg> nodeTypes;
  /// Class registers of results that will be entered, by operation and index.
  llvm::MapVector<std::pair<Operation *, unsigned>, Reg> awaited;
  llvm::DenseSet<std::pair<Operation *, unsigned>> projected;
  SmallVector<Operation *> constraintsLeft;

  /// Right-side registers of values made there.
  DenseMap<Value, Reg> made;
  /// Class of operations made there.
  DenseMap<Operation *, Reg> madeOps;
  pdl::OperationOp replacement;
};

} // namespace

//===----------------------------------------------------------------------===//
// Both sides
//===----------------------------------------------------------------------===//

std::optional<Kind> Compiler::kindOf(Value v) {
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
LogicalResult Compiler::checkName(pdl::OperationOp op) {
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

FailureOr<unsigned> Compiler::numResults(pdl::OperationOp op) {
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

LogicalResult Compiler::expand(Operation *user, ValueRange values,
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

void Compiler::bindOrEqual(Value v, Reg reg) {
  auto [it, inserted] = bound.try_emplace(v, reg);
  if (!inserted)
    b.equal(it->second, reg);
}

LogicalResult Compiler::bindType(Value v, Reg reg) {
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

LogicalResult Compiler::bindAttr(Value v, Reg reg) {
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

Reg Compiler::nodeTypeOf(pdl::OperationOp op) {
  auto [it, inserted] = nodeTypes.try_emplace(op, 0);
  if (inserted)
    it->second = b.nodeType(entered.lookup(op).payload);
  return it->second;
}

LogicalResult Compiler::testTypes(pdl::OperationOp op,
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
  if (list || *n == 1)
    return matters(types[0]) ? bindType(types[0], nodeTypeOf(op)) : success();
  Reg first = b.native(natives.untuple(*n), {nodeTypeOf(op)}, {}, *n);
  for (unsigned i = 0; i != *n; ++i)
    if (failed(bindType(types[i], first + i)))
      return failure();
  return success();
}

LogicalResult Compiler::bindOperand(Part part, Reg reg) {
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
LogicalResult Compiler::testOp(pdl::OperationOp op, const RuleBuilder::Op &at) {
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

LogicalResult Compiler::enter(pdl::OperationOp op, std::optional<Reg> cls) {
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
LogicalResult Compiler::testConstraints() {
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
void Compiler::testClaim() {
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

LogicalResult Compiler::compileMatch() {
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
// Right side
//===----------------------------------------------------------------------===//

FailureOr<Reg> Compiler::valueReg(Operation *user, Value v) {
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

Reg Compiler::projection(Reg cls, unsigned index, Reg type) {
  Builder builder(pattern.getContext());
  Reg payload = b.payload(
      type, {{ops.projectionIndexName(),
              b.constant(ops.getAttr(builder.getI64IntegerAttr(index)))}});
  return b.node(ops.projectionOp(), payload, {cls});
}

/// Type of one result of an operation with several.
FailureOr<Reg> Compiler::resultType(Operation *user, pdl::OperationOp op,
                                    unsigned index) {
  Value type = op.getTypeValues()[0];
  if (auto list = type.getDefiningOp<pdl::TypesOp>())
    return b.constant(ops.getType(
        cast<TypeAttr>(list.getConstantTypesAttr()[index]).getValue()));
  return valueReg(user, op.getTypeValues()[index]);
}

FailureOr<Reg> Compiler::partReg(Operation *user, Part part) {
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

FailureOr<Reg> Compiler::typeOfNode(pdl::OperationOp op, ArrayRef<Reg> operands,
                                    ArrayRef<std::pair<NameId, Reg>> fields) {
  ValueRange types = op.getTypeValues();
  SmallVector<Reg> regs;
  for (Value v : types) {
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

LogicalResult Compiler::compileNode(pdl::OperationOp op) {
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

LogicalResult Compiler::compileNative(pdl::ApplyNativeRewriteOp op) {
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

LogicalResult Compiler::compileReplace(pdl::ReplaceOp op) {
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

LogicalResult Compiler::compileRewrite() {
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

FailureOr<Rule> Compiler::compile(bool explained) {
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
  return Compiler(pattern, info, ops, natives, scopes).compile(explained);
}
