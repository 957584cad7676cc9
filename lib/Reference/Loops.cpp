//===- Loops.cpp - Ops that run their region trip by trip -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Evaluator.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::reference;

static size_t countRowBytes(const Tensor &all) {
  int64_t rows = std::max<int64_t>(all.getShape().front(), 1);
  return static_cast<size_t>(all.getNumElements() / rows) *
         dtypeSize(all.getDType());
}

LogicalResult Evaluator::loop(Operation *op, int64_t trips,
                              SmallVector<NodePtr> carried,
                              ArrayRef<NodePtr> each, ArrayRef<Tensor> rows,
                              unsigned numStacked) {
  SmallVector<Tensor> stacked;
  ResultRange stackedResults = op->getResults().take_back(numStacked);
  for (Value result : stackedResults) {
    FailureOr<Tensor> tensor = allocate(op, result);
    if (failed(tensor))
      return failure();
    stacked.push_back(*tensor);
  }
  for (const Tensor &all : rows)
    if (all.getShape().front() != trips)
      return op->emitError() << "has " << trips << " trips, and "
                             << all.getShape().front() << " rows for them";
  const size_t stride = static_cast<size_t>(trips);
  SmallVector<NodePtr> results(op->getNumResults() - numStacked);
  for (size_t trip = 0; trip < stride; ++trip) {
    SmallVector<NodePtr> arguments = carried;
    for (size_t at = trip; at < each.size(); at += stride)
      arguments.push_back(each[at]);
    for (const Tensor &all : rows) {
      std::optional<Tensor> row =
          allocate(all.getDType(), all.getShape().drop_front());
      if (!row)
        return op->emitError() << "not enough memory for a row";
      const size_t bytes = countRowBytes(all);
      std::memcpy(row->mutableData(), all.data() + trip * bytes, bytes);
      arguments.push_back(makeNode(std::move(*row)));
    }
    FailureOr<SmallVector<NodePtr>> next =
        run(op->getRegion(0).front(), arguments);
    if (failed(next))
      return failure();
    const size_t numOthers = next->size() - numStacked;
    for (size_t i = carried.size(), at = i + trip; i < numOthers;
         ++i, at += stride)
      results[at] = (*next)[i];
    for (auto [i, all] : llvm::enumerate(stacked)) {
      FailureOr<Tensor> row = force(op, (*next)[numOthers + i]);
      if (failed(row))
        return failure();
      const size_t bytes = countRowBytes(all);
      std::memcpy(all.mutableData() + trip * bytes, row->data(), bytes);
    }
    carried.assign(next->begin(), next->begin() + carried.size());
  }
  llvm::copy(carried, results.begin());
  for (auto [result, node] :
       llvm::zip_equal(op->getResults().drop_back(numStacked), results))
    nodes[result] = node;
  for (auto [result, tensor] : llvm::zip_equal(stackedResults, stacked))
    define(result, tensor);
  return success();
}

LogicalResult Evaluator::repeat(hlir::RepeatOp op) {
  SmallVector<NodePtr> carried, each;
  SmallVector<Tensor> rows;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    if (failed(getTensor(op, i)))
      return failure();
  for (Value value : op.getCarried())
    carried.push_back(get(value));
  for (Value value : op.getEach())
    each.push_back(get(value));
  for (Value value : op.getRows())
    rows.push_back(*get(value)->getTensor());
  FailureOr<SmallVector<int64_t>> trips = evaluate(op, {op.getTripsExpr()});
  if (failed(trips))
    return failure();
  return loop(op, trips->front(), carried, each, rows, op.getStacked());
}

LogicalResult Evaluator::recurrence(llir::RecurrenceOp op) {
  FailureOr<SmallVector<int64_t>> trips = evaluate(op, {op.getTripsExpr()});
  if (failed(trips))
    return failure();
  SmallVector<NodePtr> carried;
  SmallVector<Tensor> rows;
  for (auto [i, value] : llvm::enumerate(op.getCarried())) {
    if (failed(getTensor(op, i)))
      return failure();
    carried.push_back(get(value));
  }
  for (auto [i, argument] : llvm::enumerate(op.getInputArguments())) {
    FailureOr<Tensor> source = getTensor(op, carried.size() + i);
    FailureOr<SmallVector<int64_t>> shape = getShape(op, argument);
    if (failed(source) || failed(shape))
      return failure();
    shape->insert(shape->begin(), trips->front());
    FailureOr<NodePtr> node =
        readThrough(op, op.getInputMap(i), *shape, std::move(*source));
    if (failed(node))
      return failure();
    FailureOr<Tensor> all = force(op, *node);
    if (failed(all))
      return failure();
    rows.push_back(std::move(*all));
  }
  return loop(op, trips->front(), carried, {}, rows,
              op.getNumResults() - carried.size());
}
