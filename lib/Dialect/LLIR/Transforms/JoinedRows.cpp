//===- JoinedRows.cpp - Rows joined by chains of selects ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "JoinedRows.h"
#include "luminal/Dialect/LLIR/Utils/BufferAlignment.h"
#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"
#include "luminal/Dialect/LLIR/Utils/Values.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;
using luminal::hlir::MapAttr;

/// Returns each element of `value` as an expression of its index.
static std::optional<Expr> getElement(Value value) {
  std::vector<Expr> map;
  for (int64_t i = 0; i < cast<RankedTensorType>(value.getType()).getRank();
       ++i)
    map.push_back(Expr::dim(i));
  while (auto view = value.getDefiningOp<ViewOp>()) {
    std::vector<Expr> next;
    for (const Expr &e : view.getMap().getResults())
      next.push_back(e.substituteDims(map));
    map = std::move(next);
    value = view.getOperand();
  }
  if (std::optional<int64_t> constant = getIntegerSplat(value))
    return Expr(*constant);
  if (auto iota = value.getDefiningOp<IotaOp>())
    return iota.getMap().getResults()[0].substituteDims(map);
  return std::nullopt;
}

SmallVector<Rows> llir::cutRows(Value joined, const Assumptions &symbols,
                                SmallVectorImpl<Value> *chain) {
  SmallVector<Expr> extents = hlir::getExtents(joined);
  std::optional<unsigned> dim = getRowDim(extents);
  if (!dim)
    return {};
  SmallVector<Rows> rows, work = {{joined, Expr(0), extents[*dim]}};
  while (!work.empty()) {
    Rows next = work.pop_back_val();
    auto select = next.value.getDefiningOp<ElementwiseOp>();
    ElementwiseOp less;
    if (select && select.getFn() == Fn::Select)
      less = select.getInputs()[0].getDefiningOp<ElementwiseOp>();
    if (less && less.getFn() == Fn::LessThan) {
      std::optional<Expr> index = getElement(less.getInputs()[0]),
                          bound = getElement(less.getInputs()[1]);
      if (index && bound && *index == Expr::dim(*dim) && !bound->hasDims() &&
          symbols.provablyLess(next.begin, *bound) &&
          symbols.provablyLess(*bound, next.end)) {
        if (chain)
          chain->push_back(next.value);
        work.push_back({select.getInputs()[2], *bound, next.end});
        work.push_back({select.getInputs()[1], next.begin, *bound});
        continue;
      }
    }
    rows.push_back(next);
  }
  return rows;
}

RowsSource llir::getSource(const Rows &rows, Value joined,
                           const Assumptions &symbols) {
  SmallVector<Expr> extents = hlir::getExtents(joined), shifted;
  const unsigned dim = *getRowDim(extents);
  extents[dim] = rows.end - rows.begin;
  for (unsigned i = 0; i < extents.size(); ++i)
    shifted.push_back(Expr::dim(i));
  shifted[dim] = shifted[dim] + rows.begin;
  MapAttr map = MapAttr::get(joined.getContext(), extents.size(), shifted);
  Value value = rows.value;
  while (auto view = value.getDefiningOp<ViewOp>()) {
    map = compose(map, view.getMap(), extents, symbols);
    value = view.getOperand();
  }
  return {value, map, extents};
}

bool llir::isAligned(const Rows &rows, Value joined,
                     const Assumptions &symbols) {
  auto type = cast<RankedTensorType>(joined.getType());
  Expr position = getRowPosition(rows.begin, hlir::getExtents(type));
  return isBufferAligned(
      position * Expr(dtypeSize(*hlir::getDType(type.getElementType()))),
      symbols);
}

DenseSet<Operation *> llir::findPrepared(func::FuncOp func) {
  DenseSet<Operation *> prepared;
  for (Operation &op : llvm::reverse(func.getBody().front()))
    if (isa<PrepareOp>(op) || prepared.contains(&op))
      for (Value operand : op.getOperands())
        if (Operation *producer = operand.getDefiningOp())
          prepared.insert(producer);
  return prepared;
}
