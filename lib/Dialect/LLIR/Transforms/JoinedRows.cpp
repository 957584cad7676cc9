//===- JoinedRows.cpp - Rows of chains of selects -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "JoinedRows.h"
#include "luminal/Dialect/LLIR/Utils/BufferAlignment.h"
#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;
using luminal::hlir::MapAttr;

/// What each element is, as an expression of its index.
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
  DenseIntElementsAttr constant;
  if (matchPattern(value, m_Constant(&constant)) && constant.isSplat())
    return Expr(constant.getSplatValue<APInt>().getSExtValue());
  if (auto iota = value.getDefiningOp<IotaOp>())
    return iota.getMap().getResults()[0].substituteDims(map);
  return std::nullopt;
}

/// The dim of rows: the first one with more than one.
static std::optional<unsigned> getRowDim(ArrayRef<Expr> extents) {
  for (unsigned i = 0; i < extents.size(); ++i)
    if (!extents[i].isConstant(1))
      return i;
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
  SmallVector<Expr> extents = hlir::getExtents(type);
  Expr begin =
      rows.begin * Expr(dtypeSize(*hlir::getDType(type.getElementType())));
  for (const Expr &extent :
       ArrayRef(extents).drop_front(*getRowDim(extents) + 1))
    begin = begin * extent;
  return symbols.simplify(Expr::mod(begin, kBufferAlignment)).isConstant(0);
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
