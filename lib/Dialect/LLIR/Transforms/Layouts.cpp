//===- Layouts.cpp - The memory order of dims -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/Transforms/Layouts.h"
#include "luminal/Dialect/HLIR/Utils/DeadOps.h"
#include "luminal/Dialect/LLIR/Analysis/ProductAnalysis.h"
#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;
using luminal::hlir::MapAttr;

SmallVector<Expr> llir::applyOrder(ArrayRef<Expr> extents,
                                   const DimOrder &order) {
  SmallVector<Expr> result;
  for (unsigned dim : order)
    result.push_back(extents[dim]);
  return result;
}

MapAttr llir::getToOrder(MLIRContext *context, const DimOrder &order) {
  SmallVector<Expr> results;
  for (unsigned dim : order)
    results.push_back(Expr::dim(dim));
  return MapAttr::get(context, order.size(), results);
}

MapAttr llir::getFromOrder(MLIRContext *context, const DimOrder &order) {
  SmallVector<Expr> results(order.size());
  for (auto [place, dim] : llvm::enumerate(order))
    results[dim] = Expr::dim(place);
  return MapAttr::get(context, order.size(), results);
}

std::optional<PackedOperand> llir::packOperand(ProductOpInterface op,
                                               const ProductRead &read,
                                               const Reordering &reordering,
                                               const Assumptions &symbols) {
  MLIRContext *context = op->getContext();
  SmallVector<Expr> domain = hlir::getExtents(op->getResult(0)), extents;
  domain.push_back(op.getReducedExtent());
  MapAttr map = reorderContracted(op, read.map, reordering.digit, symbols);
  const unsigned contracted = domain.size() - 1;
  SmallVector<unsigned> order =
      llvm::to_vector(llvm::seq<unsigned>(0, domain.size()));
  if (reordering.isOutermost)
    std::rotate(order.begin(), order.end() - 1, order.end());
  std::vector<Expr> index(domain.size(), Expr(0));
  SmallVector<Expr> used;
  for (unsigned i : order) {
    if (!map.usesDim(i) && i != contracted)
      continue;
    index[i] = Expr::dim(extents.size());
    extents.push_back(domain[i]);
    used.push_back(Expr::dim(i));
  }
  if (!haveSameSize(extents, hlir::getExtents(read.base), symbols))
    return std::nullopt;
  SmallVector<Expr> results;
  for (const Expr &e : map.getResults())
    results.push_back(e.substituteDims(index));
  Type element = cast<RankedTensorType>(read.base.getType()).getElementType();
  return PackedOperand{
      hlir::getTensorType(extents, element),
      MapAttr::getSimplified(context, results, withExtents(symbols, extents)),
      MapAttr::get(context, domain.size(), used)};
}

std::optional<PackedOperand>
llir::packPanels(ProductOpInterface op, const ProductRead &read,
                 const ProductRead &other,
                 function_ref<int64_t(unsigned, int64_t)> getWidth,
                 const Assumptions &symbols) {
  SmallVector<Expr> extents = hlir::getExtents(op->getResult(0));
  Type element = getElementType(read.base);
  std::optional<int64_t> steps = op.getReducedExtent().asConstant();
  if (!steps || *steps < 1 || read.isWidened || element != getSumType(op))
    return std::nullopt;
  SmallVector<Expr> sizes, place;
  std::vector<Expr> own;
  SmallVector<unsigned> columns;
  int64_t n = 1, m = 1;
  for (unsigned i = 0; i < extents.size(); ++i) {
    std::optional<int64_t> extent = extents[i].asConstant();
    if (!extent || *extent < 1)
      return std::nullopt;
    if (!read.map.usesDim(i)) {
      m *= *extent;
    } else if (other.map.usesDim(i) && *extent > 1) {
      place.push_back(Expr::dim(i));
      sizes.push_back(extents[i]);
    } else {
      columns.push_back(i);
      own.push_back(extents[i]);
      n *= *extent;
    }
  }
  int64_t width = m > 1 ? getWidth(element.getIntOrFloatBitWidth(), n) : 0;
  if (!width)
    return std::nullopt;
  // The index of the panels: batch..., panel, k, column in the panel.
  unsigned batch = sizes.size();
  Expr column = Expr(width) * Expr::dim(batch) + Expr::dim(batch + 2);
  if (n % width)
    column = Expr::min(column, Expr(n - 1));
  std::vector<Expr> index(extents.size() + 1, Expr(0)), from;
  for (unsigned i = 0; i < batch; ++i)
    index[*place[i].asDim()] = Expr::dim(i);
  for (auto [i, x] : llvm::zip(columns, delinearize(column, own))) {
    index[i] = x;
    from.push_back(Expr::dim(i));
  }
  index.back() = Expr::dim(batch + 1);
  Expr at = linearize(from, own);
  place.append({Expr::floorDiv(at, width), Expr::dim(extents.size()),
                Expr::mod(at, width)});
  sizes.append(
      {Expr(int64_t(llvm::divideCeil(n, width))), Expr(*steps), Expr(width)});
  MLIRContext *context = op->getContext();
  SmallVector<Expr> domain(extents), toBase;
  domain.push_back(op.getReducedExtent());
  for (const Expr &e : read.map.getResults())
    toBase.push_back(e.substituteDims(index));
  return PackedOperand{
      hlir::getTensorType(sizes, element),
      MapAttr::getSimplified(context, toBase, withExtents(symbols, sizes)),
      MapAttr::getSimplified(context, place, withExtents(symbols, domain))};
}

bool llir::canReorder(Operation *op) {
  auto body = dyn_cast_or_null<BodyOpInterface>(op);
  return body && ((body.isPointwise() && op->getNumOperands() > 0) ||
                  isa<RowReductionOpInterface, ProductOpInterface>(op));
}

DimOrder Layouts::getOrder(Value v) const {
  DimOrder order = llvm::to_vector(llvm::seq<unsigned>(0, getRank(v)));
  auto it = innermost.find(v);
  if (it == innermost.end())
    return order;
  order.erase(order.begin() + it->second);
  order.push_back(it->second);
  return order;
}

/// A prepared value is computed from the original of another prepared value.
static Value getUnprepared(Value v) {
  auto prepared = v.getDefiningOp<PrepareOp>();
  return prepared ? prepared.getOperand() : v;
}

void Layouts::reorderProduct(ProductOpInterface op,
                             const Reordering &reordering,
                             const Assumptions &symbols) const {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  ProductRead read = findProductRead(op, reordering.weights, symbols);
  PackedOperand packed = *packOperand(op, read, reordering, symbols);
  MapAttr maps[] = {op.getLhsMap(), op.getRhsMap()};
  for (MapAttr &map : maps)
    map = reorderContracted(op, map, reordering.digit, symbols);
  maps[reordering.weights] = packed.map;
  Value source = getUnprepared(read.base);
  Value weights = PrepareOp::create(
      b, ViewOp::create(b, packed.type, source, packed.toBase));
  if (read.isWidened)
    weights = ElementwiseOp::create(
        b, hlir::withElementType(packed.type, b.getF32Type()), Fn::Cast,
        weights);
  op->setOperand(reordering.weights, weights);
  op.setMaps(maps[0], maps[1]);
}

/// Returns a view of `v` with its dims in another order.
static Value viewIn(OpBuilder &builder, Value v, const DimOrder &order) {
  auto type = cast<RankedTensorType>(v.getType());
  return ViewOp::create(
      builder, v.getLoc(),
      hlir::getTensorType(applyOrder(hlir::getExtents(v), order),
                          type.getElementType()),
      v, getFromOrder(v.getContext(), order));
}

void Layouts::moveResults(Operation *op, const Assumptions &symbols) const {
  DimOrder order = getOrder(op->getResult(0));
  OpBuilder builder(op);
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    if (isa<ProductOpInterface>(op)) {
      operands.push_back(operand);
      continue;
    }
    // A reduced dim stays last.
    DimOrder inOperand = order;
    for (unsigned i = order.size(); i < getRank(operand); ++i)
      inOperand.push_back(i);
    operands.push_back(viewIn(builder, operand, inOperand));
  }
  SmallVector<Type> types;
  for (Value result : op->getResults())
    types.push_back(hlir::getTensorType(
        applyOrder(hlir::getExtents(result), order),
        cast<RankedTensorType>(result.getType()).getElementType()));
  OperationState state(op->getLoc(), op->getName(), operands, types,
                       op->getDiscardableAttrDictionary().getValue());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  Operation *moved = builder.create(state);
  if (auto product = dyn_cast<ProductOpInterface>(moved)) {
    SmallVector<Expr> domain =
        applyOrder(hlir::getExtents(op->getResult(0)), order);
    DimOrder all = order;
    all.push_back(order.size());
    domain.push_back(product.getReducedExtent());
    MapAttr from = getFromOrder(op->getContext(), all);
    product.setMaps(compose(from, product.getLhsMap(), domain, symbols),
                    compose(from, product.getRhsMap(), domain, symbols));
  }
  MapAttr back = getToOrder(op->getContext(), order);
  for (auto [from, to] : llvm::zip_equal(op->getResults(), moved->getResults()))
    from.replaceAllUsesWith(
        ViewOp::create(builder, op->getLoc(), from.getType(), to, back));
  op->erase();
}

void Layouts::apply(Block &block, const Assumptions &symbols) const {
  for (auto [op, reordering] : reordered)
    reorderProduct(cast<ProductOpInterface>(op), reordering, symbols);
  for (Operation &op : llvm::make_early_inc_range(block))
    if (op.getNumResults() > 0 && isMoved(op.getResult(0)))
      moveResults(&op, symbols);
  eraseDeadOps(block);
}
