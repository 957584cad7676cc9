//===- Scalars.cpp - Numbers read from elements ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `torch._check(x.sum().item() > 3)` leaves a chain in the graph: `item`,
// Python arithmetic and comparisons on the number, and an assertion. Each
// number becomes a tensor of rank 0 (ints i64, floats f64, bools i1), and the
// asserted condition becomes an additional result of the function.
//
//===----------------------------------------------------------------------===//

#include "Importer.h"
#include "luminal/Dialect/HLIR/IR/Signature.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

bool Importer::readsElement(const Node &node) {
  StringRef op = node.target;
  return op.consume_front("torch.ops.aten.") &&
         (op.starts_with("item.") || op.starts_with("_local_scalar_dense."));
}

bool Importer::isOfSizes(const Expr &expr) const {
  std::vector<std::string> symbols;
  expr.collectSymbols(symbols);
  return !expr.isUndefined() &&
         llvm::all_of(symbols, [&](const std::string &name) {
           return assumptions.getSymbols().count(name) != 0;
         });
}

/// The only element of a tensor, as a tensor of rank 0; null if the tensor has
/// several.
Value Importer::readElement(const std::string &name) {
  Value value = read(name);
  SmallVector<Expr> extents = getExtents(value);
  if (!product({extents.begin(), extents.end()}).isConstant(1))
    return {};
  return composer->reshape(value, {});
}

/// The number that an argument stands for; null if it cannot be computed.
Value Importer::getScalar(const Argument &arg) {
  Composer &c = *composer;
  OpBuilder &b = builder;
  if (!arg.symbolics.empty())
    if (auto it = scalars.find(arg.symbolics[0]); it != scalars.end())
      return it->second;
  switch (arg.kind) {
  case Argument::Int:
    return computeScalar(arg.exprs[0]);
  case Argument::Bool:
    return c.scalarInt(b.getI1Type(), arg.exprs[0].isConstant(1));
  case Argument::Float:
    return c.scalar(b.getF64Type(), arg.doubles[0]);
  case Argument::Condition:
    if (!isOfSizes(arg.exprs[0]))
      return {};
    return c.lessEqual(c.scalarInt(b.getI64Type(), 0),
                       c.iota({}, arg.exprs[0]));
  default:
    return {};
  }
}

namespace {
/// Python's operators on numbers.
class Arithmetic {
public:
  explicit Arithmetic(Composer &c) : c(c) {}

  /// The value of `op`; null if the operator is unknown, or not defined for
  /// these types.
  Value apply(StringRef op, ArrayRef<Value> args);

private:
  using Binary = Value (Composer::*)(Value, Value);
  using Unary = Value (Composer::*)(Value);
  Type i1() { return c.getBuilder().getI1Type(); }
  Type i64() { return c.getBuilder().getI64Type(); }
  Type f64() { return c.getBuilder().getF64Type(); }
  static bool isFloat(Value v) { return getElementTypeOrSelf(v).isF64(); }
  /// In arithmetic, a bool is an int.
  Type arithmeticType(ArrayRef<Value> args) {
    return llvm::any_of(args, isFloat) ? f64() : i64();
  }
  SmallVector<Value> promote(ArrayRef<Value> args) {
    Type type = arithmeticType(args);
    return llvm::map_to_vector(args,
                               [&](Value arg) { return c.cast(arg, type); });
  }
  Value applyBinary(StringRef op, Value a, Value b);
  Value applyUnary(StringRef op, Value a);

  Composer &c;
};
} // namespace

Value Arithmetic::applyBinary(StringRef op, Value a, Value b) {
  const bool areBools = getElementTypeOrSelf(a).isInteger(1) &&
                        getElementTypeOrSelf(b).isInteger(1);
  if (Binary bitwise = llvm::StringSwitch<Binary>(op)
                           .Case("and_", &Composer::logicalAnd)
                           .Case("or_", &Composer::logicalOr)
                           .Case("xor", &Composer::logicalXor)
                           .Default(nullptr))
    return areBools ? (c.*bitwise)(a, b) : Value();
  SmallVector<Value> both = promote({a, b});
  a = both[0], b = both[1];
  if (op == "ge" || op == "gt")
    std::swap(a, b);
  if (op == "ne")
    return c.logicalNot(c.equal(a, b));
  if (op == "truediv")
    return c.div(c.cast(a, f64()), c.cast(b, f64()));
  if (op == "pow" && !isFloat(a))
    return {};
  Binary function = llvm::StringSwitch<Binary>(op)
                        .Cases({"lt", "gt"}, &Composer::less)
                        .Cases({"le", "ge"}, &Composer::lessEqual)
                        .Case("eq", &Composer::equal)
                        .Case("add", &Composer::add)
                        .Case("sub", &Composer::sub)
                        .Case("mul", &Composer::mul)
                        .Case("floordiv", &Composer::floorDiv)
                        .Case("mod", &Composer::floorMod)
                        .Case("pow", &Composer::pow)
                        .Case("sym_max", &Composer::maximum)
                        .Case("sym_min", &Composer::minimum)
                        .Default(nullptr);
  return function ? (c.*function)(a, b) : Value();
}

Value Arithmetic::applyUnary(StringRef op, Value a) {
  if (op == "sym_not" || op == "not_")
    return c.logicalNot(c.cast(a, i1()));
  if (op == "sym_float")
    return c.cast(a, f64());
  a = promote(a)[0];
  if (op == "pos")
    return a;
  if (Unary function = llvm::StringSwitch<Unary>(op)
                           .Case("neg", &Composer::neg)
                           .Case("abs", &Composer::abs)
                           .Default(nullptr))
    return (c.*function)(a);
  Unary toInt = llvm::StringSwitch<Unary>(op)
                    .Cases({"trunc", "sym_int"}, &Composer::trunc)
                    .Case("floor", &Composer::floor)
                    .Case("ceil", &Composer::ceil)
                    .Default(nullptr);
  if (!toInt)
    return {};
  return isFloat(a) ? c.cast((c.*toInt)(a), i64()) : a;
}

Value Arithmetic::apply(StringRef op, ArrayRef<Value> args) {
  if (args.size() == 1)
    return applyUnary(op, args[0]);
  if (args.size() == 2)
    return applyBinary(op, args[0], args[1]);
  if (args.size() != 3 || op != "sym_ite")
    return {};
  SmallVector<Value> both{args[1], args[2]};
  if (getElementTypeOrSelf(both[0]) != getElementTypeOrSelf(both[1]))
    both = promote(both);
  return c.select(c.cast(args[0], i1()), both[0], both[1]);
}

/// Computes an expression over sizes and numbers read from elements; null if it
/// contains other symbols.
Value Importer::computeScalar(const Expr &expr) {
  if (std::optional<int64_t> value = expr.asConstant())
    return composer->scalarInt(builder.getI64Type(), *value);
  if (std::optional<std::string_view> symbol = expr.asSymbol())
    if (auto it = symbolScalars.find(std::string(*symbol));
        it != symbolScalars.end())
      return it->second;
  std::vector<std::string> symbols;
  expr.collectSymbols(symbols);
  if (llvm::none_of(symbols, [&](const std::string &name) {
        return symbolScalars.count(name) != 0;
      }))
    return isOfSizes(expr) ? composer->iota({}, expr) : Value();
  using Kind = Expr::Kind;
  static constexpr std::pair<Kind, StringLiteral> ops[] = {
      {Kind::Add, "add"}, {Kind::Mul, "mul"},     {Kind::FloorDiv, "floordiv"},
      {Kind::Mod, "mod"}, {Kind::Max, "sym_max"}, {Kind::Min, "sym_min"}};
  const auto *op = llvm::find_if(
      ops, [&](const auto &entry) { return entry.first == expr.kind(); });
  if (op == std::end(ops))
    return {};
  Value result;
  for (const Expr &operand : expr.operands()) {
    Value value = computeScalar(operand);
    if (!value)
      return {};
    result = result ? Arithmetic(*composer).apply(op->second, {result, value})
                    : value;
  }
  return result;
}

void Importer::refuse(const Node &node, StringRef reason) {
  problems.push_back({node.getOp(), reason.str(), getLoc(node)});
  poisonScalars(node);
}

void Importer::poisonScalars(const Node &node) {
  for (const Argument &output : node.outputs)
    poisoned.insert(output.symbolics.begin(), output.symbolics.end());
}

/// Whether an operand comes from an unsupported op.
bool Importer::readsPoisoned(const Node &node) const {
  return isPoisoned(node) ||
         llvm::any_of(node.inputs, [&](const NamedArgument &input) {
           return llvm::any_of(input.value.symbolics,
                               [&](const std::string &name) {
                                 return poisoned.count(name) != 0;
                               });
         });
}

void Importer::translateScalar(const Node &node) {
  if (node.outputs.size() != 1 || node.outputs[0].symbolics.size() != 1)
    return;
  const Argument &output = node.outputs[0];
  // A value that depends only on sizes is represented by its expression.
  if (output.kind == Argument::Int && isOfSizes(output.exprs[0]) &&
      !readFromElements.count(output.symbolics[0]))
    return;
  if (readsPoisoned(node))
    return poisonScalars(node);
  composer->setLoc(getLoc(node));
  Value value;
  if (readsElement(node)) {
    if (!node.inputs.empty() && node.inputs[0].value.kind == Argument::Tensor)
      value = readElement(node.inputs[0].value.names[0]);
    if (!value)
      return refuse(node, "reads a number from a tensor that does not have "
                          "exactly one element");
    Type element = getElementTypeOrSelf(value);
    Type type = element.isInteger(1)      ? builder.getI1Type()
                : isa<FloatType>(element) ? Type(builder.getF64Type())
                                          : Type(builder.getI64Type());
    value = composer->cast(value, type);
  } else {
    SmallVector<Value> args;
    for (const NamedArgument &input : node.inputs)
      args.push_back(getScalar(input.value));
    // A size that stands for a number read from an element: use its expression.
    if (output.kind == Argument::Int && llvm::is_contained(args, Value()))
      value = computeScalar(output.exprs[0]);
    else if (!llvm::is_contained(args, Value()))
      value = Arithmetic(*composer).apply(
          StringRef(node.target).rsplit('.').second, args);
    // The op that reads the number was reported already.
    if (!value && output.kind == Argument::Int && !problems.empty())
      return poisonScalars(node);
    if (!value)
      return refuse(
          node, "computes an assertion about elements in an unsupported way");
  }
  scalars[output.symbolics[0]] = value;
  if (output.kind == Argument::Int)
    if (std::optional<std::string_view> symbol = output.exprs[0].asSymbol())
      symbolScalars[std::string(*symbol)] = value;
}

void Importer::translateAssertion(const Node &node, StringRef text) {
  if (readsPoisoned(node))
    return;
  composer->setLoc(getLoc(node));
  const Argument &self = node.inputs[0].value;
  StringRef op = StringRef(node.target).rsplit('.').first;
  Value holds = self.kind == Argument::Tensor ? readElement(self.names[0])
                                              : getScalar(self);
  if (!holds)
    return refuse(node,
                  "asserts a value that cannot be computed: " + text.str());
  if (op.contains("sym_constrain_range")) {
    Value size = composer->cast(holds, builder.getI64Type());
    Argument zero;
    zero.kind = Argument::Int;
    zero.exprs.push_back(Expr(0));
    const Argument *min = find(node, "min", 1), *max = find(node, "max", 2);
    if (op.ends_with("for_size") && (!min || min->kind != Argument::Int))
      min = &zero;
    holds = composer->scalarInt(builder.getI1Type(), 1);
    for (auto [bound, compare] : {std::pair(min, "ge"), std::pair(max, "le")})
      if (bound && bound->kind == Argument::Int)
        if (Value limit = getScalar(*bound))
          holds = composer->logicalAnd(
              holds, Arithmetic(*composer).apply(compare, {size, limit}));
  }
  assertions.emplace_back(composer->cast(holds, builder.getI1Type()),
                          text.empty() ? "Expected Tensor with single nonzero "
                                         "value, but got zero"
                                       : text.str());
}
