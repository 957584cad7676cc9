//===- NativeBridge.cpp - Native functions over registers -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NativeBridge.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

#include <deque>

using namespace mlir;
using namespace luminal::eqsat;

//===----------------------------------------------------------------------===//
// What fast functions see
//===----------------------------------------------------------------------===//

MLIRContext *MatchContext::getContext() const { return ops.getContext(); }

Type MatchContext::typeOf(ClassId c) const {
  return ops.type(graph.classType(c));
}

Type MatchContext::typeOf(const MatchedOp &op) const {
  return ops.type(graph.payloadType(op.payload));
}

Attribute MatchContext::attrOf(const MatchedOp &op, StringRef name) const {
  AttrId id = graph.payloadField(op.payload, ops.getName(name));
  return id == kNone ? Attribute() : ops.attr(id);
}

Attribute MatchContext::fact(StringRef analysis, ClassId c) const {
  std::optional<uint32_t> id = ops.analysis(analysis);
  if (!id)
    return {};
  ++looks;
  uint32_t fact = graph.fact(*id, graph.find(c));
  return fact ? ops.attr(fact - 1) : Attribute();
}

void MatchContext::forEachNode(
    ClassId c, StringRef name,
    llvm::function_ref<bool(const MatchedOp &)> f) const {
  ++looks;
  ArrayRef<OpId> wanted = ops.opsNamed(name);
  for (const Run &run : graph.runs(c)) {
    if (!llvm::is_contained(wanted, run.op))
      continue;
    const Table &t = graph.table(run.op);
    for (uint32_t row = run.begin; row != run.end; ++row)
      if (!f({c, run.op, t.payload(row), {t.key(row), t.arity()}}))
        return;
  }
}

ClassId MatchContext::create(StringRef name, DictionaryAttr attributes,
                             Type type, ArrayRef<ClassId> operands) {
  OpId op = ops.getOp(OperationName(name, getContext()), operands.size());
  PayloadId payload = ops.getPayload(attributes, ops.getType(type));
  return graph.add(op, payload, {operands.data(), operands.size()},
                   graph.currentRule);
}

ClassId MatchContext::create(Operation *op, ArrayRef<ClassId> operands) {
  const ClassId cls = ops.addOperation(op, operands, graph.currentRule);
  return cls == kNone ? kNone : graph.find(cls);
}

//===----------------------------------------------------------------------===//
// Stand-ins
//===----------------------------------------------------------------------===//

NativeBridge::NativeBridge(OpTable &ops, Operation *function,
                           const PrecisionPolicy &policy)
    : ops(ops), graph(ops.getGraph()), shell(function->cloneWithoutRegions()),
      context(ops.getGraph(), ops, shell.get(), policy),
      complaintLoc(function->getLoc()) {
  block = &shell->getRegion(0).emplaceBlock();
  constantBlock = &shell->getRegion(0).emplaceBlock();
}

NativeBridge::~NativeBridge() = default;

Value NativeBridge::standIn(ClassId c) {
  c = graph.find(c);
  Value &v = standIns[c];
  Type type = ops.spelled(ops.type(graph.classType(c)));
  // After an undone round, an id may be reused for a class of another type.
  // Also, types change their spelling when they are found equal.
  if (!v || v.getType() != type) {
    v = block->addArgument(type, shell->getLoc());
    standInClasses[v] = c;
  }
  return v;
}

Operation *NativeBridge::standInOp(OpId op, PayloadId payload,
                                   ArrayRef<Value> operands) {
  OperationState state(shell->getLoc(), *ops.opName(op));
  state.addOperands(operands);
  state.addTypes(ops.spelledList(graph.payloadType(payload)));
  state.addAttributes(ops.attributes(payload).getValue());
  return OpBuilder::atBlockEnd(block).create(state);
}

Value NativeBridge::shown(ClassId c) {
  c = graph.find(c);
  // A constant may be added in a later round, so this read limits how long the
  // answer is cached.
  ++context.looks;
  for (const Run &run : graph.runs(c)) {
    std::optional<OperationName> name = ops.opName(run.op);
    if (!name || !name->hasTrait<OpTrait::ConstantLike>() ||
        graph.arity(run.op) != 0)
      continue;
    PayloadId payload = graph.table(run.op).payload(run.begin);
    Value &v = constants[{run.op, payload}];
    if (!v) {
      Operation *op = standInOp(run.op, payload, {});
      op->moveBefore(constantBlock, constantBlock->end());
      v = op->getResult(0);
    }
    standInClasses[v] = c;
    return v;
  }
  return standIn(c);
}

void NativeBridge::dropConstants() {
  for (auto &constant : constants)
    standInClasses.erase(constant.second);
  constants.clear();
  constantBlock->clear();
}

void NativeBridge::complain(StringRef name, const Twine &what) {
  if (complaint.empty())
    complaint = ("native function '" + name + "' " + what).str();
}

void NativeBridge::emitErrorAt(Location loc, const Twine &what) {
  if (!complaint.empty())
    return;
  complaint = what.str();
  complaintLoc = loc;
}

LogicalResult NativeBridge::checkMisuse() const {
  if (complaint.empty())
    return success();
  return emitError(complaintLoc) << complaint;
}

std::string NativeBridge::whyInvalid(Operation *op) {
  std::string why;
  ScopedDiagnosticHandler handler(ops.getContext(), [&](Diagnostic &d) {
    if (why.empty())
      why = d.str();
    return success();
  });
  if (succeeded(op->getName().verifyInvariants(op)))
    return "";
  return why.empty() ? "it does not verify" : why;
}

/// Adds the value that a rewrite made and all ops behind it; returns its class.
ClassId NativeBridge::import(Value value, StringRef name) {
  if (!value)
    return kNone;
  auto known = standInClasses.find(value);
  if (known != standInClasses.end())
    return graph.find(known->second);
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != block) {
    complain(name, "returns a value from outside the match");
    return kNone;
  }
  return ops.addResult(import(op, name),
                       cast<OpResult>(value).getResultNumber(), value.getType(),
                       op->getNumResults(), graph.currentRule);
}

ClassId NativeBridge::import(Operation *op, StringRef name) {
  if (!op)
    return kNone;
  // The result of the stand-in represents the class that was matched.
  if (op->getNumResults() == 1)
    if (auto known = standInClasses.find(op->getResult(0));
        known != standInClasses.end())
      return graph.find(known->second);
  if (op->getBlock() != block || !ops.isNode(op) ||
      (op->getNumResults() == 1 &&
       isa<TupleType>(op->getResult(0).getType()))) {
    complain(name, "makes '" + op->getName().getStringRef() +
                       "', which the e-graph cannot hold");
    return kNone;
  }
  if (std::string why = whyInvalid(op); !why.empty()) {
    complain(name, "makes an invalid operation: " + why);
    return kNone;
  }
  SmallVector<ClassId> operands;
  for (Value v : op->getOperands()) {
    ClassId c = import(v, name);
    if (c == kNone)
      return kNone;
    operands.push_back(c);
  }
  return ops.addOperation(op, operands, graph.currentRule);
}

//===----------------------------------------------------------------------===//
// Wrappers
//===----------------------------------------------------------------------===//

uint32_t NativeBridge::addNative(NativeFn fn, uint32_t numArgs,
                                 uint32_t numResults, Native::Memory memory) {
  natives.emplace_back(std::move(fn), numArgs, numResults, memory,
                       &context.looks);
  return natives.size() - 1;
}

uint32_t NativeBridge::addNative(NativeFn fn, ArrayRef<ArgInfo> args,
                                 ArrayRef<NativeValue::Kind> results) {
  using Kind = NativeValue::Kind;
  uint32_t numArgs = 0;
  Native::Memory memory = Native::Round;
  for (const ArgInfo &a : args)
    if (a.constant == kNone)
      numArgs += a.kind == Kind::Op ? 2 + graph.arity(a.op)
                 : a.isList         ? 1
                                    : a.count;
  for (Kind k : results)
    if (k == Kind::Class || k == Kind::Op || k == Kind::Classes)
      memory = Native::None;
  return addNative(std::move(fn), numArgs, results.size(), memory);
}

std::optional<uint32_t> NativeBridge::toWord(const NativeValue &value,
                                             NativeValue::Kind expected) {
  using Kind = NativeValue::Kind;
  switch (expected) {
  case Kind::Attr:
    if (value.getKind() != Kind::Attr || !value.asAttr())
      return std::nullopt;
    return ops.getAttr(value.asAttr());
  case Kind::Type:
    // A tuple type would be mistaken for a list of types.
    if (value.getKind() != Kind::Type || !value.asType() ||
        isa<TupleType>(value.asType()))
      return std::nullopt;
    return ops.getType(value.asType());
  case Kind::Types:
    if (value.getKind() != Kind::Types ||
        llvm::any_of(value.asTypes(), llvm::IsaPred<TupleType>))
      return std::nullopt;
    return ops.getTypes(value.asTypes());
  case Kind::Classes:
    if (value.getKind() != Kind::Classes ||
        llvm::is_contained(value.asClasses(), kNone))
      return std::nullopt;
    return getList(value.asClasses());
  case Kind::Class:
  case Kind::Op:
    if (value.asClass() == kNone)
      return std::nullopt;
    return value.asClass();
  }
  return std::nullopt;
}

void NativeBridge::decode(ArrayRef<ArgInfo> args,
                          std::span<const uint32_t> words,
                          std::list<SmallVector<ClassId>> &lists,
                          SmallVectorImpl<NativeValue> &values) const {
  using Kind = NativeValue::Kind;
  const uint32_t *next = words.data();
  for (const ArgInfo &a : args) {
    auto word = [&] { return a.constant != kNone ? a.constant : *next++; };
    switch (a.kind) {
    case Kind::Attr:
      values.push_back(ops.attr(word()));
      break;
    case Kind::Type:
      values.push_back(ops.type(word()));
      break;
    case Kind::Types:
      values.push_back(
          NativeValue::ofTypes(ops.getContext(), ops.typeList(word())));
      break;
    case Kind::Class:
      values.push_back(NativeValue::ofClass(word()));
      break;
    case Kind::Classes:
      if (a.isList) {
        values.push_back(NativeValue::ofClasses(
            lists.emplace_back(spread({next, 1}, true))));
        ++next;
        break;
      }
      values.push_back(NativeValue::ofClasses({next, a.count}));
      next += a.count;
      break;
    case Kind::Op: {
      uint32_t arity = graph.arity(a.op);
      values.push_back(
          NativeValue::ofOp({next[0], a.op, next[1], {next + 2, arity}}));
      next += 2 + arity;
      break;
    }
    }
  }
}

uint32_t NativeBridge::addFast(Fast fn, ArrayRef<ArgInfo> args,
                               ArrayRef<NativeValue::Kind> results,
                               bool negated) {
  using Kind = NativeValue::Kind;
  auto call = [this, fn = std::move(fn), negated,
               args = SmallVector<ArgInfo>(args),
               kinds = SmallVector<Kind>(results)](
                  std::span<const uint32_t> words, uint32_t *out) {
    SmallVector<NativeValue> values;
    std::list<SmallVector<ClassId>>
        valueLists; // an empty list does not allocate
    decode(args, words, valueLists, values);
    SmallVector<NativeValue> made;
    context.ranges.clear();
    if (fn(context, values, made) == negated)
      return false;
    assert((negated || made.size() == kinds.size()) &&
           "a native function pushes as many results as the pattern declares");
    for (size_t i = 0; i != std::min(kinds.size(), made.size()); ++i) {
      std::optional<uint32_t> word = toWord(made[i], kinds[i]);
      if (!word)
        return false;
      out[i] = *word;
    }
    return made.size() == kinds.size();
  };
  return addNative(std::move(call), args, results);
}

namespace {
struct ResultList : PDLResultList {
  explicit ResultList(unsigned n) : PDLResultList(n) {}
  ArrayRef<PDLValue> get() const { return results; }
};

/// Detects whether a function changes a matched operation or a constant.
struct MatchGuard : RewriterBase::Listener {
  void notifyOperationModified(Operation *op) override { check(op); }
  void notifyOperationReplaced(Operation *op, ValueRange) override {
    check(op);
  }
  void notifyOperationErased(Operation *op) override { check(op); }
  void check(Operation *op) {
    touched |= op->getBlock() == constants || llvm::is_contained(matched, op);
  }

  Block *constants;
  SmallVector<Operation *> matched;
  bool touched = false;
};
} // namespace

std::optional<uint32_t> NativeBridge::toWord(const PDLValue &v,
                                             NativeValue::Kind expected,
                                             StringRef name) {
  if (!v)
    return std::nullopt;
  switch (v.getKind()) {
  case PDLValue::Kind::Attribute:
    return toWord(v.cast<Attribute>(), expected);
  case PDLValue::Kind::Type:
    return toWord(v.cast<Type>(), expected);
  case PDLValue::Kind::TypeRange:
    return toWord(NativeValue::ofTypes(ops.getContext(), v.cast<TypeRange>()),
                  expected);
  case PDLValue::Kind::Value:
    return toWord(NativeValue::ofClass(import(v.cast<Value>(), name)),
                  expected);
  case PDLValue::Kind::Operation:
    return toWord(NativeValue::ofClass(import(v.cast<Operation *>(), name)),
                  expected);
  case PDLValue::Kind::ValueRange: {
    SmallVector<ClassId> classes;
    for (Value value : v.cast<ValueRange>())
      classes.push_back(import(value, name));
    return toWord(NativeValue::ofClasses(classes), expected);
  }
  }
  return std::nullopt;
}

uint32_t NativeBridge::addPdl(StringRef name, Pdl fn, ArrayRef<ArgInfo> args,
                              ArrayRef<NativeValue::Kind> results,
                              bool negated) {
  using Kind = NativeValue::Kind;
  auto call = [this, name = name.str(), fn = std::move(fn), negated,
               args = SmallVector<ArgInfo>(args),
               kinds = SmallVector<Kind>(results)](
                  std::span<const uint32_t> words, uint32_t *out) {
    SmallVector<NativeValue> decoded;
    std::list<SmallVector<ClassId>> classLists;
    decode(args, words, classLists, decoded);
    SmallVector<PDLValue> values;
    // A PDL range is a pointer, so these containers must have stable addresses.
    std::deque<SmallVector<Value>> valueLists;
    std::deque<ValueRange> valueRanges;
    std::deque<TypeRange> typeRanges;
    SmallVector<Value> matchedResults;
    MatchGuard guard;
    guard.constants = constantBlock;
    auto showAll = [&](ArrayRef<ClassId> classes) -> ArrayRef<Value> {
      SmallVector<Value> &list = valueLists.emplace_back();
      for (ClassId c : classes)
        list.push_back(shown(c));
      return list;
    };
    for (const NativeValue &v : decoded)
      switch (v.getKind()) {
      case Kind::Attr:
        values.push_back(v.asAttr());
        break;
      case Kind::Type:
        values.push_back(v.asType());
        break;
      case Kind::Types:
        values.push_back(&typeRanges.emplace_back(v.asTypes()));
        break;
      case Kind::Class:
        values.push_back(shown(v.asClass()));
        break;
      case Kind::Classes:
        values.push_back(&valueRanges.emplace_back(showAll(v.asClasses())));
        break;
      case Kind::Op: {
        const MatchedOp &matched = v.asOp();
        Operation *op =
            standInOp(matched.op, matched.payload, showAll(matched.operands));
        // The result of the stand-in represents the matched class.
        if (op->getNumResults() == 1) {
          standInClasses[op->getResult(0)] = matched.cls;
          matchedResults.push_back(op->getResult(0));
        }
        guard.matched.push_back(op);
        values.push_back(op);
        break;
      }
      }
    PatternRewriter rewriter(ops.getContext());
    rewriter.setListener(&guard);
    rewriter.setInsertionPointToEnd(block);
    ResultList made(kinds.size());
    bool ok = succeeded(fn(rewriter, made, values)) != negated;
    if (guard.touched)
      complain(name, "changes an operation in place");
    else if (ok && !negated && made.get().size() != kinds.size())
      complain(name, "returns " + Twine(made.get().size()) + " values, not " +
                         Twine(kinds.size()));
    ok &= complaint.empty();
    for (size_t i = 0; ok && i != kinds.size(); ++i) {
      std::optional<uint32_t> word = toWord(made.get()[i], kinds[i], name);
      ok = word.has_value();
      if (ok)
        out[i] = *word;
    }
    // The arguments and constants that stand for values are kept; everything
    // else belongs to this call only.
    for (Value v : matchedResults)
      standInClasses.erase(v);
    block->clear();
    if (guard.touched)
      dropConstants();
    return ok;
  };
  return addNative(std::move(call), args, results);
}

template <typename Make>
uint32_t NativeBridge::share(Call call, Make &&make) {
  for (auto &[known, native] : calls)
    if (known == call)
      return native;
  uint32_t native = make();
  calls.push_back({std::move(call), native});
  return native;
}

std::optional<uint32_t>
NativeBridge::constraint(NativeScopes scopes, StringRef name,
                         ArrayRef<ArgInfo> args,
                         ArrayRef<NativeValue::Kind> results, bool negated) {
  Call call{nullptr, negated, SmallVector<ArgInfo>(args),
            SmallVector<NativeValue::Kind>(results)};
  for (const NativeFunctions *f : scopes) {
    if (auto it = f->fastConstraints.find(name);
        it != f->fastConstraints.end()) {
      call.function = &it->second;
      return share(call,
                   [&] { return addFast(it->second, args, results, negated); });
    }
    if (auto it = f->constraints.find(name); it != f->constraints.end()) {
      call.function = &it->second;
      return share(call, [&] {
        return addPdl(name, it->second, args, results, negated);
      });
    }
  }
  return std::nullopt;
}

std::optional<uint32_t>
NativeBridge::rewrite(NativeScopes scopes, StringRef name,
                      ArrayRef<ArgInfo> args,
                      ArrayRef<NativeValue::Kind> results) {
  Call call{nullptr, false, SmallVector<ArgInfo>(args),
            SmallVector<NativeValue::Kind>(results)};
  for (const NativeFunctions *f : scopes) {
    if (auto it = f->fastRewrites.find(name); it != f->fastRewrites.end()) {
      call.function = &it->second;
      return share(call, [&] {
        return addFast(it->second, args, results, /*negated=*/false);
      });
    }
    if (auto it = f->rewrites.find(name); it != f->rewrites.end()) {
      call.function = &it->second;
      return share(call, [&] {
        return addPdl(name, it->second, args, results, /*negated=*/false);
      });
    }
  }
  return std::nullopt;
}
