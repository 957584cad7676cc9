//===- NodeFunction.cpp - Every node of an e-graph, as one function -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "NodeFunction.h"
#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::eqsat;
using namespace luminal::test;

NodeFunction::NodeFunction(Program &program, func::FuncOp given,
                           ArrayRef<double> literals)
    : graph(program.graph), ops(program.ops), literals(literals),
      module(ModuleOp::create(given.getLoc())), builder(given.getContext()) {
  builder.setInsertionPointToEnd(module->getBody());
  function = func::FuncOp::create(
      builder, given.getLoc(), "nodes",
      builder.getFunctionType(given.getFunctionType().getInputs(), {}));
  if (Attribute symbols = given->getAttr(hlir::kSymbolsAttr))
    function->setAttr(hlir::kSymbolsAttr, symbols);
  Block *body = function.addEntryBlock();
  builder.setInsertionPointToEnd(body);

  const Table &leaves = graph.table(ops.leafOp());
  for (uint32_t row = 0; row != leaves.numRows(); ++row) {
    auto argument = cast<BlockArgument>(ops.leafValue(leaves.payload(row)));
    values[graph.find(leaves.classOf(row))] =
        body->getArgument(argument.getArgNumber());
  }
  // First the program as given, then nodes created by rules.
  for (bool isGiven : {true, false})
    for (bool changed = true; changed;) {
      changed = false;
      forEachNode([&](OpId op, uint32_t row) {
        const Table &table = graph.table(op);
        ClassId c = classOf(op, row);
        if (values.count(c) || (isGiven && table.rule(row) != kGiven))
          return;
        SmallVector<Value> operands;
        for (uint32_t i = 0; i != table.arity(); ++i) {
          auto it = values.find(graph.find(table.key(row)[i]));
          if (it == values.end())
            return;
          operands.push_back(it->second);
        }
        values[c] = build(op, table.payload(row), operands);
        definitions[c] = {op, row};
        changed = true;
      });
    }
}

void NodeFunction::forEachNode(
    llvm::function_ref<void(OpId op, uint32_t row)> f) const {
  for (OpId op = 0; op != graph.numOps(); ++op)
    if (op != ops.leafOp() && op != ops.projectionOp())
      for (uint32_t row = 0; row != graph.table(op).numRows(); ++row)
        f(op, row);
}

ClassId NodeFunction::classOf(OpId op, uint32_t row) const {
  return graph.find(graph.table(op).classOf(row));
}

bool NodeFunction::isDefinition(OpId op, uint32_t row) const {
  auto it = definitions.find(classOf(op, row));
  return it != definitions.end() && it->second == NodeRef{op, row};
}

Value NodeFunction::build(OpId op, PayloadId payload,
                          ArrayRef<Value> operands) {
  OperationState state(function.getLoc(), *ops.opName(op));
  state.addOperands(operands);
  state.addTypes(ops.type(graph.payloadType(payload)));
  state.addAttributes(ops.attributes(payload).getValue());
  return builder.create(state)->getResult(0);
}

unsigned NodeFunction::addResult(Value value) {
  results.push_back(value);
  return results.size() - 1;
}

unsigned NodeFunction::valueOfClass(ClassId c) {
  return addResult(values.at(graph.find(c)));
}

unsigned NodeFunction::valueOfNode(OpId op, uint32_t row) {
  const Table &table = graph.table(op);
  SmallVector<Value> operands;
  for (uint32_t i = 0; i != table.arity(); ++i)
    operands.push_back(values.at(graph.find(table.key(row)[i])));
  return addResult(build(op, table.payload(row), operands));
}

Value NodeFunction::spell(const Explanation &e, uint32_t term) {
  if (auto it = terms.find(term); it != terms.end())
    return it->second;
  const Explanation::Term &t = e.terms[term];
  if (t.op == ops.leafOp()) {
    auto argument = cast<BlockArgument>(ops.leafValue(t.payload));
    return terms[term] = function.getArgument(argument.getArgNumber());
  }
  SmallVector<Value> operands;
  for (uint32_t operand : t.operands)
    operands.push_back(spell(e, operand));
  return terms[term] = build(t.op, t.payload, operands);
}

unsigned NodeFunction::valueOfTerm(const Explanation &e, uint32_t term) {
  return addResult(spell(e, term));
}

//===----------------------------------------------------------------------===//
// In other types
//===----------------------------------------------------------------------===//

/// `value` in place of a float, in `type`.
Value NodeFunction::inType(Value value, FloatType type) {
  auto tensor = cast<RankedTensorType>(value.getType());
  if (!isa<FloatType>(tensor.getElementType()) ||
      tensor.getElementType() == type)
    return value;
  return hlir::CastOp::create(builder, value.getLoc(),
                              hlir::withElementType(tensor, type), value);
}

/// The literal that rounds to `value`; itself where there is none.
static double literalOf(const APFloat &value, ArrayRef<double> literals) {
  APFloat wide = value;
  bool loses;
  wide.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
  double number = wide.convertToDouble();
  std::optional<double> found;
  // Every literal above the largest number rounds to infinity.
  if (value.isInfinity())
    return number;
  for (double literal : literals) {
    APFloat rounded(literal);
    rounded.convert(value.getSemantics(), APFloat::rmNearestTiesToEven, &loses);
    if (!rounded.bitwiseIsEqual(value))
      continue;
    if (literal == number)
      return number;
    found = literal;
  }
  return found.value_or(number);
}

Value NodeFunction::constant(DenseElementsAttr elements, FloatType type) {
  SmallVector<APFloat> numbers;
  for (const APFloat &value : elements.getValues<APFloat>()) {
    APFloat x(literalOf(value, literals));
    bool loses;
    x.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven, &loses);
    numbers.push_back(x);
  }
  auto tensor = RankedTensorType::get(elements.getType().getShape(), type);
  return hlir::ConstantOp::create(builder, function.getLoc(), tensor,
                                  DenseElementsAttr::get(tensor, numbers));
}

Value NodeFunction::define(ClassId c, FloatType type, Values &known) {
  c = graph.find(c);
  if (auto it = known.find(c); it != known.end())
    return it->second;
  auto definition = definitions.find(c);
  if (definition == definitions.end())
    return known[c] = inType(values.at(c), type);
  auto [op, row] = definition->second;
  const Table &table = graph.table(op);
  SmallVector<Value> operands;
  for (uint32_t i = 0; i != table.arity(); ++i)
    operands.push_back(define(table.key(row)[i], type, known));
  return known[c] = buildIn(op, table.payload(row), operands, type);
}

Value NodeFunction::buildIn(OpId op, PayloadId payload,
                            ArrayRef<Value> operands, FloatType type) {
  DictionaryAttr attributes = ops.attributes(payload);
  if (auto elements = attributes.getAs<DenseFPElementsAttr>("value"))
    return constant(elements, type);
  auto tensor = cast<RankedTensorType>(ops.type(graph.payloadType(payload)));
  if (isa<FloatType>(tensor.getElementType()))
    tensor = hlir::withElementType(tensor, type);
  OperationName name = *ops.opName(op);
  auto fn = attributes.getAs<llir::FnAttr>("fn");
  bool isCast = name.getStringRef() == hlir::CastOp::getOperationName() ||
                (fn && fn.getValue() == llir::Fn::Cast);
  if (isCast && operands[0].getType() == Type(tensor))
    return operands[0];
  OperationState state(function.getLoc(), name);
  state.addOperands(operands);
  state.addTypes(tensor);
  state.addAttributes(attributes.getValue());
  return builder.create(state)->getResult(0);
}

Value NodeFunction::spellIn(const Explanation &e, uint32_t term, FloatType type,
                            std::map<uint32_t, Value> &known) {
  if (auto it = known.find(term); it != known.end())
    return it->second;
  const Explanation::Term &t = e.terms[term];
  if (t.op == ops.leafOp())
    return known[term] = inType(spell(e, term), type);
  SmallVector<Value> operands;
  for (uint32_t operand : t.operands)
    operands.push_back(spellIn(e, operand, type, known));
  return known[term] = buildIn(t.op, t.payload, operands, type);
}

unsigned NodeFunction::termOver(const Explanation &e, uint32_t term,
                                uint32_t other, FloatType type) {
  std::set<uint32_t> parts;
  SmallVector<uint32_t> stack{term};
  while (!stack.empty()) {
    uint32_t t = stack.pop_back_val();
    if (parts.insert(t).second)
      llvm::append_range(stack, e.terms[t].operands);
  }
  std::map<uint32_t, Value> known;
  std::set<uint32_t> seen;
  stack.push_back(other);
  while (!stack.empty()) {
    uint32_t t = stack.pop_back_val();
    if (!seen.insert(t).second)
      continue;
    if (t != term && parts.count(t))
      known[t] = inType(spell(e, t), type);
    else
      llvm::append_range(stack, e.terms[t].operands);
  }
  return addResult(spellIn(e, term, type, known));
}

std::optional<unsigned> NodeFunction::definitionOver(OpId op, uint32_t row,
                                                     FloatType type) {
  const Table &table = graph.table(op);
  ClassId root = classOf(op, row);
  Values known;
  for (uint32_t i = 0; i != table.arity(); ++i) {
    ClassId c = graph.find(table.key(row)[i]);
    if (c == root)
      return std::nullopt;
    known[c] = inType(values.at(c), type);
  }
  return addResult(define(root, type, known));
}

std::optional<unsigned> NodeFunction::addTerms(OpId op, PayloadId payload,
                                               ArrayRef<Value> operands) {
  Type type = ops.type(graph.payloadType(payload));
  if (!ops.opName(op)->hasInterface<llir::ProductOpInterface>() ||
      !isa<FloatType>(getElementTypeOrSelf(type)))
    return std::nullopt;
  FloatType f64 = builder.getF64Type();
  SmallVector<Value> sizes;
  for (Value operand : operands) {
    Value wide = inType(operand, f64);
    sizes.push_back(llir::ElementwiseOp::create(
        builder, wide.getLoc(), wide.getType(), llir::Fn::Abs, wide));
  }
  return addResult(buildIn(op, payload, sizes, f64));
}

std::optional<unsigned> NodeFunction::termsOf(OpId op, uint32_t row) {
  const Table &table = graph.table(op);
  SmallVector<Value> operands;
  for (uint32_t i = 0; i != table.arity(); ++i)
    operands.push_back(values.at(graph.find(table.key(row)[i])));
  return addTerms(op, table.payload(row), operands);
}

std::optional<unsigned> NodeFunction::termsOf(const Explanation &e,
                                              uint32_t term) {
  const Explanation::Term &t = e.terms[term];
  SmallVector<Value> operands;
  for (uint32_t operand : t.operands)
    operands.push_back(spell(e, operand));
  return addTerms(t.op, t.payload, operands);
}

FailureOr<SmallVector<reference::Tensor>>
NodeFunction::evaluate(ArrayRef<reference::Tensor> arguments) {
  Block &body = function.getBody().front();
  if (body.empty() || !body.back().hasTrait<OpTrait::IsTerminator>()) {
    // Unused values are not computed.
    llvm::DenseSet<Value> wanted(results.begin(), results.end());
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
      if (op.use_empty() && llvm::none_of(op.getResults(), [&](Value v) {
            return wanted.contains(v);
          }))
        op.erase();
    func::ReturnOp::create(builder, function.getLoc(), results);
    function.setFunctionType(
        builder.getFunctionType(function.getFunctionType().getInputs(),
                                TypeRange(ValueRange(results))));
  }
  return reference::evaluate(function, arguments);
}
