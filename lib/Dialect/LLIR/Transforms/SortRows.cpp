//===- SortRows.cpp - Sorts rows by their matrix --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Consecutive rows that look up the same matrix share its columns
// (ProductAnalysis::takeGroups). But tokens name their experts in any order:
//
//   %m = gather %w, %i            %p = argsort %i
//   %y = gemm %x, %m       -->    %s = gemm (gather %x, %p),
//                                           (gather %w, (gather %i, %p))
//                                 %y = gather %s, (inverse of %p)
//
// Elementwise ops after such a product, up to the next product with the same
// indices, are computed in the sorted order. No value changes.
//
// Tested by test/Dialect/LLIR/sort-rows.mlir and
// test/Integration/sort-rows.mlir.
//
//===----------------------------------------------------------------------===//

#include "RowOrder.h"
#include "luminal/Dialect/HLIR/Utils/DeadOps.h"
#include "luminal/Dialect/LLIR/Analysis/Ascending.h"
#include "luminal/Dialect/LLIR/Transforms/Passes.h"
#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"
#include "luminal/Dialect/LLIR/Utils/Remarks.h"
#include "luminal/Dialect/LLIR/Utils/Values.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/MapVector.h"

#include <cmath>
#include <limits>

namespace luminal::llir {
#define GEN_PASS_DEF_SORTROWSPASS
#include "luminal/Dialect/LLIR/Transforms/Passes.h.inc"
} // namespace luminal::llir

#define DEBUG_TYPE "llir-sort-rows"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;
using luminal::hlir::MapAttr;
using Decision = DecisionAbout<Operation *>;

namespace {
struct SortRows : llir::impl::SortRowsPassBase<SortRows> {
  using SortRowsPassBase::SortRowsPassBase;
  void runOnOperation() override;
};

/// A product whose rows each look up a matrix.
struct LookedUpProduct {
  GemmOp op;
  GatherOp lookup;
  /// The dims of the result, in order, that are the rows.
  SmallVector<unsigned> rows;

  bool isRow(unsigned dim) const { return llvm::is_contained(rows, dim); }
  bool usesRows(const Expr &e) const {
    return llvm::any_of(rows, [&](unsigned d) { return e.usesDim(d); });
  }
};

/// Products with the same indices, whose rows are brought into one order.
class SortedRows {
public:
  SortedRows(Value indices, const Assumptions &symbols)
      : symbols(symbols), indices(indices),
        count(countElements(indices.getType())) {}

  void add(LookedUpProduct &product);

private:
  /// A value whose first dims are the rows, and the number of these dims.
  using Rows = std::pair<Value, unsigned>;

  void makeOrder(ImplicitLocOpBuilder &b);
  std::optional<unsigned> getRowsOfSource(ViewOp view, unsigned dims) const;
  bool follows(Value v, unsigned dims);
  Value sort(ImplicitLocOpBuilder &b, Value v, unsigned dims);
  Value sortNew(ImplicitLocOpBuilder &b, Value v, unsigned dims);
  Value gatherRows(ImplicitLocOpBuilder &b, Value v, unsigned dims, Value by);
  Value sortSide(ImplicitLocOpBuilder &b, const LookedUpProduct &product,
                 Value operand, MapAttr &map);
  Type getSortedType(Value v, unsigned dims) const;

  const Assumptions &symbols;
  Value indices;
  Expr count;
  /// The rows in sorted order, and the inverse: the place of each row in it.
  Value order, inverse;
  DenseMap<Rows, Value> sorted;
  DenseMap<Rows, bool> known;
};
} // namespace

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

/// Accepts a product if one side is gathered by rows, which are dims of the
/// result, and has columns that rows share; the other side must have no other
/// dims.
static Decision match(GemmOp op, LookedUpProduct &found) {
  SmallVector<Expr> extents = hlir::getExtents(op.getResult());
  for (bool isLeft : {false, true}) {
    Value side = isLeft ? op.getLhs() : op.getRhs();
    MapAttr map = isLeft ? op.getLhsMap() : op.getRhsMap(),
            other = isLeft ? op.getRhsMap() : op.getLhsMap();
    auto lookup = skipWidening(side).getDefiningOp<GatherOp>();
    if (!lookup)
      continue;
    found = {op, lookup, {}};
    auto results = map.getResults();
    size_t rank = hlir::getExtents(lookup.getIndices()).size();
    bool fits = rank > 0;
    for (const Expr &e : results.take_front(rank)) {
      std::optional<unsigned> dim = e.asDim();
      fits &= dim && *dim < extents.size() && !found.isRow(*dim);
      if (fits)
        found.rows.push_back(*dim);
    }
    llvm::sort(found.rows);
    bool hasColumns = false;
    for (unsigned d = 0; fits && d < extents.size(); ++d) {
      if (found.isRow(d) || extents[d].isConstant(1))
        continue;
      hasColumns |= map.usesDim(d);
      fits &= !other.usesDim(d);
    }
    for (const Expr &e : results.drop_front(rank))
      fits &= !found.usesRows(e);
    for (const Expr &e : other.getResults())
      for (unsigned d = 0; d <= extents.size(); ++d)
        fits &= !found.usesRows(e) || found.isRow(d) || !e.usesDim(d);
    if (fits && hasColumns)
      return Decision::accept();
    return Decision::refuse("its sides have other dims than rows and columns");
  }
  return Decision::refuse("no matrix is looked up");
}

//===----------------------------------------------------------------------===//
// Values in the order of the matrices
//===----------------------------------------------------------------------===//

void SortedRows::makeOrder(ImplicitLocOpBuilder &b) {
  MLIRContext *context = b.getContext();
  Type i64 = b.getI64Type();
  Value flat = gatherRows(b, indices, hlir::getExtents(indices).size(), {});
  order = ArgsortOp::create(b, hlir::getTensorType(count, i64), flat,
                            /*descending=*/false, /*nan_first=*/false,
                            /*begin=*/nullptr);
  auto scalar = RankedTensorType::get({}, i64);
  Value zero = llir::ConstantOp::create(
      b, scalar,
      DenseElementsAttr::get(scalar, Attribute(b.getI64IntegerAttr(0))));
  Value none = ViewOp::create(b, hlir::getTensorType(count, i64), zero,
                              MapAttr::get(context, 1, {}));
  Value place = IotaOp::create(b, hlir::getTensorType(count, i64),
                               MapAttr::get(context, 1, Expr::dim(0)));
  inverse = ScatterOp::create(b, none.getType(), hlir::Combine::Set, none,
                              order, place, /*checked=*/false);
}

/// Gathers rows of `v` by `by` (all rows if it is null); rows become the first
/// dim.
Value SortedRows::gatherRows(ImplicitLocOpBuilder &b, Value v, unsigned dims,
                             Value by) {
  SmallVector<Expr> extents = hlir::getExtents(v), flat = {count};
  llvm::append_range(flat, ArrayRef(extents).drop_front(dims));
  auto type = hlir::getTensorType(flat, getElementTypeOrSelf(v));
  if (dims != 1)
    v = b.createOrFold<ViewOp>(
        type, v, MapAttr(getReshape(b.getContext(), flat, extents, symbols)));
  return by ? GatherOp::create(b, type, v, by, /*checked=*/false).getResult()
            : v;
}

Type SortedRows::getSortedType(Value v, unsigned dims) const {
  SmallVector<Expr> extents = hlir::getExtents(v), flat = {count};
  llvm::append_range(flat, ArrayRef(extents).drop_front(dims));
  return hlir::getTensorType(flat, getElementTypeOrSelf(v));
}

std::optional<unsigned> SortedRows::getRowsOfSource(ViewOp view,
                                                    unsigned dims) const {
  return countDimsOfRows(view.getMap(), hlir::getExtents(view.getResult()),
                         hlir::getExtents(view.getOperand()), dims, symbols);
}

/// Returns whether a value is available in sorted order, or depends on such
/// values element by element.
bool SortedRows::follows(Value v, unsigned dims) {
  Rows key(v, dims);
  if (sorted.contains(key) || v == indices)
    return true;
  if (auto it = known.find(key); it != known.end())
    return it->second;
  bool found = false;
  if (auto op = v.getDefiningOp<ElementwiseOp>()) {
    for (Value operand : op.getInputs())
      found |= follows(operand, dims);
  } else if (auto view = v.getDefiningOp<ViewOp>()) {
    std::optional<unsigned> rows = getRowsOfSource(view, dims);
    found = rows && *rows && follows(view.getOperand(), *rows);
  } else if (auto gather = v.getDefiningOp<GatherOp>()) {
    found = hlir::getExtents(gather.getIndices()).size() == dims &&
            follows(gather.getIndices(), dims);
  }
  known[key] = found;
  return found;
}

Value SortedRows::sort(ImplicitLocOpBuilder &b, Value v, unsigned dims) {
  if (auto it = sorted.find({v, dims}); it != sorted.end())
    return it->second;
  Value result = sortNew(b, v, dims);
  return sorted[{v, dims}] = result;
}

Value SortedRows::sortNew(ImplicitLocOpBuilder &b, Value v, unsigned dims) {
  Type type = getSortedType(v, dims);
  if (auto view = v.getDefiningOp<ViewOp>()) {
    std::optional<unsigned> rows = getRowsOfSource(view, dims);
    if (rows && (*rows == 0 || follows(view.getOperand(), *rows))) {
      SmallVector<Expr> results;
      if (*rows)
        results.push_back(Expr::dim(0));
      for (const Expr &e : view.getMap().getResults().drop_front(*rows))
        results.push_back(joinDimsOfRows(e, dims));
      Value source =
          *rows ? sort(b, view.getOperand(), *rows) : view.getOperand();
      unsigned rank = hlir::getExtents(v).size() - dims + 1;
      return b.createOrFold<ViewOp>(
          type, source, MapAttr::get(b.getContext(), rank, results));
    }
  }
  if (!follows(v, dims) || v == indices)
    return gatherRows(b, v, dims, order);
  if (auto op = v.getDefiningOp<ElementwiseOp>()) {
    SmallVector<Value> inputs;
    for (Value operand : op.getInputs())
      inputs.push_back(sort(b, operand, dims));
    return ElementwiseOp::create(b, type, op.getFn(), inputs);
  }
  auto gather = v.getDefiningOp<GatherOp>();
  return GatherOp::create(b, type, gather.getData(),
                          sort(b, gather.getIndices(), dims),
                          gather.getChecked());
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

/// Returns the operand in sorted order, with the rows as its first dim, and the
/// map through which the sorted product reads it.
Value SortedRows::sortSide(ImplicitLocOpBuilder &b,
                           const LookedUpProduct &product, Value operand,
                           MapAttr &map) {
  MLIRContext *context = b.getContext();
  GemmOp op = product.op;
  SmallVector<Expr> extents = hlir::getExtents(op.getResult()),
                    source = hlir::getExtents(operand), shape;
  // Dims of the sorted product: the rows, then the other dims and k.
  std::vector<Expr> renumbered(extents.size() + 1);
  std::vector<Expr> rows(extents.size() + 1);
  unsigned next = 1;
  for (unsigned d = 0; d <= extents.size(); ++d) {
    if (product.isRow(d)) {
      rows[d] = Expr::dim(shape.size());
      shape.push_back(extents[d]);
    } else {
      renumbered[d] = Expr::dim(next++);
    }
  }
  SmallVector<Expr> read, results = {Expr::dim(0)};
  for (auto [e, extent] : llvm::zip(map.getResults(), source)) {
    if (product.usesRows(e)) {
      read.push_back(e.substituteDims(rows));
      continue;
    }
    read.push_back(Expr::dim(shape.size()));
    shape.push_back(extent);
    results.push_back(e.substituteDims(renumbered));
  }
  Value v = b.createOrFold<ViewOp>(
      hlir::getTensorType(shape, getElementTypeOrSelf(operand)), operand,
      MapAttr::get(context, shape.size(), read));
  map = MapAttr::get(context, next, results);
  return sort(b, v, product.rows.size());
}

void SortedRows::add(LookedUpProduct &product) {
  GemmOp op = product.op;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  if (!order)
    makeOrder(b);
  MapAttr left = op.getLhsMap(), right = op.getRhsMap();
  Value lhs = sortSide(b, product, op.getLhs(), left),
        rhs = sortSide(b, product, op.getRhs(), right);
  SmallVector<Expr> extents = hlir::getExtents(op.getResult()), flat = {count};
  std::vector<Expr> rows, sizes;
  SmallVector<Expr> results = {Expr()};
  for (auto [d, extent] : llvm::enumerate(extents)) {
    if (product.isRow(d)) {
      rows.push_back(Expr::dim(d));
      sizes.push_back(extent);
    } else {
      flat.push_back(extent);
      results.push_back(Expr::dim(d));
    }
  }
  results[0] = linearize(rows, sizes);
  auto type = hlir::getTensorType(flat, getElementTypeOrSelf(op.getResult()));
  Value inOrder = GemmOp::create(b, type, lhs, rhs, op.getK(), left, right);
  Value back = GatherOp::create(b, type, inOrder, inverse, /*checked=*/false);
  back = b.createOrFold<ViewOp>(
      op.getResult().getType(), back,
      MapAttr::get(b.getContext(), extents.size(), results));
  // If the rows come first, ops after the product may stay in sorted order.
  if (product.rows.back() + 1 == product.rows.size())
    sorted[{back, unsigned(product.rows.size())}] = inOrder;
  known.clear();
  op.getResult().replaceAllUsesWith(back);
  op.erase();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

double llir::countBytesShared(Value matrices, double rows,
                              function_ref<double(const Expr &)> nominal) {
  double all = std::max(1.0, nominal(hlir::getExtents(matrices)[0])),
         used = all * (1 - std::pow(1 - 1 / all, rows));
  return (rows - used) / all * nominal(countBytes(matrices.getType()));
}

double llir::priceSort(double rows, double kernelTime, double operationRate) {
  constexpr double kKernels = 4, kOperationsOfSort = 8;
  return kKernels * kernelTime + kOperationsOfSort * rows *
                                     std::log2(std::max(2.0, rows)) /
                                     operationRate;
}

void SortRows::runOnOperation() {
  if (getOperation().isDeclaration())
    return;
  Block &block = getOperation().getBody().front();
  Assumptions symbols = hlir::getAssumptions(block.getTerminator());
  Reporter reporter(&getContext(), DEBUG_TYPE, getOperation().getSymName());
  llvm::MapVector<Value, SmallVector<LookedUpProduct>> found;
  for (auto op : block.getOps<GemmOp>())
    if (LookedUpProduct product; Decision fits = match(op, product))
      found[product.lookup.getIndices()].push_back(product);
    else if (product.lookup)
      reporter.missed(op.getLoc(), "rows", {{"reason", fits.str()}});
  auto nominal = [&](const Expr &e) { return nominalValue(e, symbols); };
  bool changed = false;
  for (auto &[indices, products] : found) {
    Location loc = products.front().op.getLoc();
    auto refuse = [&](StringRef why) {
      reporter.missed(loc, "rows", {{"reason", why}});
    };
    SmallVector<Expr> extents = hlir::getExtents(indices);
    if (extents.size() == 1 && isAscending(indices, symbols)) {
      refuse("they are in the order of their matrices");
      continue;
    }
    // Compare the matrix reads that are saved with the kernels that compute the
    // order and the sort itself.
    double rows = nominal(countElements(indices.getType())), bytes = 0;
    for (LookedUpProduct &product : products)
      bytes += countBytesShared(product.lookup.getData(), rows, nominal);
    double gain = bytes / readRate,
           cost = priceSort(rows, kernelTime, operationRate);
    if (gain <= cost) {
      reporter.missed(loc, "rows",
                      {{"reason", "few rows share a matrix"},
                       {"gain ns", int64_t(gain)},
                       {"cost ns", int64_t(cost)}});
      continue;
    }
    SortedRows order(indices, symbols);
    for (LookedUpProduct &product : products)
      order.add(product);
    reporter.passed(loc, "rows",
                    {{"products", int64_t(products.size())},
                     {"gain ns", int64_t(gain)},
                     {"cost ns", int64_t(cost)}});
    changed = true;
  }
  if (changed)
    eraseDeadOps(block);
}
