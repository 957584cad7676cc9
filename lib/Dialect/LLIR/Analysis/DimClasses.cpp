//===- DimClasses.cpp - Classes of dims shared by values ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/Analysis/DimClasses.h"

using namespace luminal;
using namespace mlir;

static unsigned getRank(Value v) {
  return cast<RankedTensorType>(v.getType()).getRank();
}

void DimClasses::add(Value v) {
  if (!isa<RankedTensorType>(v.getType()))
    return;
  values.push_back(v);
  firstDim[v] = count;
  count += getRank(v);
}

void DimClasses::join(Value a, unsigned dimOfA, Value b, unsigned dimOfB) {
  classes.join(firstDim.at(a) + dimOfA, firstDim.at(b) + dimOfB);
}

/// Returns the only dim that `e` depends on, if there is exactly one.
static std::optional<unsigned> getOnlyDim(const Expr &e, unsigned numDims) {
  std::optional<unsigned> only;
  for (unsigned i = 0; i < numDims; ++i) {
    if (!e.usesDim(i))
      continue;
    if (only)
      return std::nullopt;
    only = i;
  }
  return only;
}

void DimClasses::visit(Operation &op, function_ref<bool(Value)> isApart) {
  if (isApart(op.getResult(0)))
    return;
  if (auto view = dyn_cast<llir::ViewOp>(op)) {
    if (isApart(view.getOperand()))
      return;
    ArrayRef<Expr> results = view.getMap().getResults();
    for (auto [i, e] : llvm::enumerate(results)) {
      std::optional<unsigned> dim = getOnlyDim(e, view.getMap().getNumDims());
      bool isOnly = dim && llvm::count_if(results, [&](const Expr &other) {
                             return other.usesDim(*dim);
                           }) == 1;
      if (isOnly)
        join(view.getResult(), *dim, view.getOperand(), i);
    }
    return;
  }
  if (auto product = dyn_cast<llir::ProductOpInterface>(op)) {
    if (!joinsChannels)
      return;
    for (bool isLeft : {true, false}) {
      Value v = isLeft ? product.getLhs() : product.getRhs(),
            other = isLeft ? product.getRhs() : product.getLhs();
      hlir::MapAttr map = isLeft ? product.getLhsMap() : product.getRhsMap(),
                    ofOther =
                        isLeft ? product.getRhsMap() : product.getLhsMap();
      if (isApart(v) || !isApart(other))
        continue;
      for (auto [i, e] : llvm::enumerate(map.getResults()))
        if (std::optional<unsigned> dim = e.asDim();
            dim && *dim < getRank(op.getResult(0)) && ofOther.usesDim(*dim))
          join(op.getResult(0), *dim, v, i);
    }
    return;
  }
  auto body = dyn_cast<llir::BodyOpInterface>(op);
  bool isPointwise = op.hasTrait<OpTrait::SameOperandsAndResultType>() ||
                     (body && body.isPointwise());
  // The dims of a row reduction's results are all dims but the last.
  if (!isPointwise && !isa<llir::RowReductionOpInterface>(op))
    return;
  for (Value operand : op.getOperands())
    for (unsigned i = 0, n = getRank(op.getResult(0)); i < n; ++i)
      if (!isApart(operand))
        join(op.getResult(0), i, operand, i);
  for (Value result : llvm::drop_begin(op.getResults()))
    for (unsigned i = 0, n = getRank(result); i < n; ++i)
      join(op.getResult(0), i, result, i);
}

DimClasses::DimClasses(Block &block, function_ref<bool(Value)> isApart,
                       bool joinsChannels)
    : joinsChannels(joinsChannels) {
  for (Value argument : block.getArguments())
    add(argument);
  for (Operation &op : block)
    for (Value result : op.getResults())
      add(result);
  classes.grow(count);
  for (Operation &op : block)
    if (op.getNumResults() > 0)
      visit(op, isApart);
  classes.compress();
  members.resize(classes.getNumClasses());
  for (Value v : values)
    for (unsigned i = 0, n = getRank(v); i < n; ++i) {
      auto &list = members[getClass(v, i)];
      if (list.empty() || list.back() != v)
        list.push_back(v);
    }
}

unsigned DimClasses::getClass(Value v, unsigned dim) const {
  return classes[firstDim.at(v) + dim];
}

std::optional<unsigned> DimClasses::getDim(Value v, unsigned number) const {
  std::optional<unsigned> found;
  auto it = firstDim.find(v);
  if (it == firstDim.end())
    return std::nullopt;
  for (unsigned i = 0, n = getRank(v); i < n; ++i) {
    if (classes[it->second + i] != number)
      continue;
    if (found)
      return std::nullopt;
    found = i;
  }
  return found;
}
