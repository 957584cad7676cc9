//===- Loops.cpp - Loops over rows (scan) ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// torch's `scan` and `associative_scan` become hlir.repeat over rows, with the
// node's graph as the body. An associative scan starts with the first row as
// its state: a flag tells the body that there is no previous state yet.
//
//===----------------------------------------------------------------------===//

#include "Importer.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;
using namespace luminal::pt2;

namespace {
/// A node's arguments, grouped by their role in the loop.
struct LoopNode {
  const Graph *graph = nullptr;
  /// Names of the carried values (only of `scan`), of the rows, and of values
  /// that every trip reads.
  std::vector<std::string> carried, rows, others;
};
} // namespace

bool Importer::isLoop(const Node &node) {
  return node.target == "torch.ops.higher_order.scan" ||
         node.target == "torch.ops.higher_order.associative_scan";
}

/// Reads the arguments in their order: the graph, the carried values (only of
/// `scan`), the rows, the others.
static Result<LoopNode> readArguments(const Node &node, bool hasState) {
  LoopNode loop;
  SmallVector<std::vector<std::string> *> lists = {&loop.rows, &loop.others};
  if (hasState)
    lists.insert(lists.begin(), &loop.carried);
  size_t next = 0;
  for (const NamedArgument &input : node.inputs) {
    const Argument &value = input.value;
    if (!loop.graph) {
      if (value.kind != Argument::Subgraph)
        return Error("has no graph as its first argument");
      loop.graph = value.graph.get();
      continue;
    }
    if (next == lists.size())
      return Error("has more arguments than its kind takes");
    // An empty list has no kind of its own.
    const bool isEmpty = value.names.empty() && value.exprs.empty();
    if (!value.namesTensors() && !isEmpty)
      return Error("has an argument that is not tensors");
    *lists[next++] = value.names;
  }
  if (!loop.graph || loop.rows.empty())
    return Error("has no graph, or no rows");
  return loop;
}

/// The names of a graph's values; an error if one is not a tensor.
static Result<std::vector<std::string>>
namesOf(const std::vector<Argument> &arguments) {
  std::vector<std::string> names;
  for (const Argument &argument : arguments) {
    if (!argument.namesTensors() || argument.names.empty())
      return Error("has a graph of values that are not tensors");
    llvm::append_range(names, argument.names);
  }
  return names;
}

/// Builds the loop. The node's results are the last carried values (only of
/// `scan`), then the stacked values of all trips.
Status Importer::translateLoop(const Node &node) {
  const bool hasState = node.target == "torch.ops.higher_order.scan";
  LUMINAL_TRY(loop, readArguments(node, hasState));
  LUMINAL_TRY(inputs, namesOf(loop.graph->inputs));
  LUMINAL_TRY(outputs, namesOf(loop.graph->outputs));
  SmallVector<Value> initial, rows, others;
  auto readAll = [&](const std::vector<std::string> &names,
                     SmallVector<Value> &values) {
    for (const std::string &name : names)
      values.push_back(read(name));
  };
  readAll(loop.carried, initial);
  readAll(loop.rows, rows);
  readAll(loop.others, others);
  SmallVector<Type> rowTypes;
  for (Value v : rows) {
    SmallVector<Expr> extents = getExtents(v);
    if (extents.empty() ||
        assumptions.equal(extents[0], getExtents(rows[0])[0]) != true)
      return Error("has operands with different numbers of rows");
    rowTypes.push_back(
        getTensorType(ArrayRef(extents).drop_front(), getElementTypeOrSelf(v)));
  }
  // In an associative scan, a row has the type of a state.
  const size_t numStates = hasState ? initial.size() : rows.size();
  if (inputs.size() != numStates + rows.size() + others.size() ||
      outputs.size() < numStates || (!hasState && outputs.size() != numStates))
    return Error("has a graph of other operands and results");
  if (!hasState) {
    for (Type type : rowTypes) {
      auto row = cast<RankedTensorType>(type);
      initial.push_back(composer->full(
          getExtents(row), composer->scalarInt(row.getElementType(), 0)));
    }
    initial.push_back(
        composer->full(getExtents(cast<RankedTensorType>(rowTypes[0])),
                       composer->scalarInt(builder.getI1Type(), 0)));
  }
  const Expr trips = getExtents(rows[0])[0];
  std::optional<int64_t> numTrips = trips.asConstant();
  if (numTrips == 0)
    return Error("has no rows to iterate over");

  // The body determines the types of the results.
  const OpBuilder::InsertPoint outside = builder.saveInsertionPoint();
  auto leave =
      llvm::make_scope_exit([&] { builder.restoreInsertionPoint(outside); });
  auto body = std::make_unique<Block>();
  builder.setInsertionPointToEnd(body.get());
  SmallVector<Value> states, arguments;
  for (Value v : initial)
    states.push_back(body->addArgument(v.getType(), composer->getLoc()));
  llvm::append_range(arguments, ArrayRef(states).take_front(numStates));
  for (Type type : rowTypes)
    arguments.push_back(body->addArgument(type, composer->getLoc()));
  auto rowsInside =
      SmallVector<Value>(ArrayRef(arguments).drop_front(numStates));
  llvm::append_range(arguments, others);
  for (auto [name, value] : llvm::zip_equal(inputs, arguments))
    define(name, value, -1);
  const size_t before = problems.size();
  Location loc = composer->getLoc();
  for (const Node &inner : loop.graph->nodes)
    translate(inner);
  composer->setLoc(loc);
  if (problems.size() != before)
    return Error("has a graph with an unsupported op");
  SmallVector<Value> yielded, made;
  for (const std::string &name : outputs) {
    if (!tensors.count(name))
      return Error("has a graph that returns a value it does not define");
    made.push_back(read(name));
  }
  for (size_t i = 0; i < numStates; ++i) {
    if (made[i].getType() != states[i].getType())
      return Error("changes the type of a carried value");
    yielded.push_back(made[i]);
  }
  if (!hasState) {
    Value hasBegun = states.back();
    for (size_t i = 0; i < numStates; ++i) {
      Value flag = getExtents(made[i]) == getExtents(hasBegun)
                       ? hasBegun
                       : composer->broadcastTo(hasBegun, getExtents(made[i]));
      yielded[i] = composer->select(flag, made[i], rowsInside[i]);
    }
    yielded.push_back(composer->full(
        getExtents(hasBegun), composer->scalarInt(builder.getI1Type(), 1)));
  }
  SmallVector<Value> stacked =
      hasState ? SmallVector<Value>(ArrayRef(made).drop_front(numStates))
               : SmallVector<Value>(ArrayRef(yielded).take_front(numStates));
  SmallVector<Type> results;
  for (Value v : initial)
    results.push_back(v.getType());
  for (Value v : stacked) {
    SmallVector<Expr> extents = getExtents(v);
    extents.insert(extents.begin(), trips);
    results.push_back(getTensorType(extents, getElementTypeOrSelf(v)));
  }
  llvm::append_range(yielded, stacked);
  YieldOp::create(builder, loc, yielded);
  LUMINAL_CHECK(composer->checkShapes());

  builder.restoreInsertionPoint(outside);
  auto repeat = RepeatOp::create(builder, loc, results,
                                 numTrips.value_or(ShapedType::kDynamic),
                                 initial, ValueRange(), rows, stacked.size());
  repeat.getBody().push_back(body.release());
  ResultRange last = repeat.getResults().take_front(hasState ? numStates : 0);
  SmallVector<Value> all(last.begin(), last.end());
  llvm::append_range(all, repeat.getStackedResults());
  size_t i = 0;
  for (const Argument &output : node.outputs)
    for (const std::string &name : output.names) {
      if (i == all.size())
        return Error("has more results than its graph gives");
      if (std::string wrong = name.empty() ? "" : checkResult(name, all[i]);
          !wrong.empty())
        return Error(wrong);
      if (!name.empty())
        define(name, all[i], -1);
      ++i;
    }
  return {};
}
