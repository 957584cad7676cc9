//===- JoinProducts.cpp - Joins products of the same row ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product of one row takes as long as reading its right operand, and the
// launch of its kernel is a large part of that. Products of the same row become
// one product with the columns of all:
//
//   %a = gemm %x, %v : 1x4096         %w = select(column < 4096, %v, %w)
//   %b = gemm %x, %w : 1x1024   -->   %c = gemm %x, %w : 1x5120
//                                     %a, %b = views of %c
//
// Tested by test/Dialect/LLIR/join-products.mlir.
//
//===----------------------------------------------------------------------===//

#include "luminal/Dialect/LLIR/Transforms/JoinedColumns.h"
#include "luminal/Dialect/LLIR/Transforms/Passes.h"
#include "luminal/Dialect/LLIR/Utils/Remarks.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/MapVector.h"

namespace luminal::llir {
#define GEN_PASS_DEF_JOINPRODUCTSPASS
#include "luminal/Dialect/LLIR/Transforms/Passes.h.inc"
} // namespace luminal::llir

#define DEBUG_TYPE "llir-join-products"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;
using luminal::hlir::MapAttr;
using Decision = DecisionAbout<Operation *>;

namespace {
struct JoinProducts : llir::impl::JoinProductsPassBase<JoinProducts> {
  using JoinProductsPassBase::JoinProductsPassBase;
  void runOnOperation() override;
};

/// A product of one row.
struct RowProduct {
  GemmOp op;
  /// The dim of the result that is its columns, and their number.
  unsigned column = 0;
  int64_t columns = 0;
  /// Ops that the product depends on and that may move before all products.
  SmallVector<Operation *, 2> views;
};
} // namespace

/// Accepts a product of one row whose right operand is an operand of the
/// function.
static Decision match(GemmOp op, RowProduct &product) {
  product.op = op;
  SmallVector<Expr> extents = hlir::getExtents(op.getResult());
  unsigned count = 0;
  for (auto [d, extent] : llvm::enumerate(extents)) {
    if (extent.isConstant(1))
      continue;
    std::optional<int64_t> n = extent.asConstant();
    if (!n || op.getLhsMap().usesDim(d) || ++count > 1)
      return Decision::refuse("it has more than one row");
    product.column = d;
    product.columns = *n;
  }
  if (count == 0 || product.columns == 0)
    return Decision::refuse("it has no columns");
  if (!op.getKExtent().asConstant())
    return Decision::refuse("the extent of the contracted dim is unknown");
  Value rhs = op.getRhs();
  while (auto view = rhs.getDefiningOp<ViewOp>()) {
    product.views.push_back(view);
    rhs = view.getOperand();
  }
  if (!isa<BlockArgument>(rhs))
    return Decision::refuse("its right operand is computed");
  if (isReturned(op.getResult()))
    return Decision::refuse("the function returns it");
  return Decision::accept();
}

/// Removes products that meet another one in an elementwise op: those are
/// computed together, element by element, instead.
static void dropThatMeet(SmallVectorImpl<RowProduct> &products,
                         const Reporter &reporter) {
  SmallVector<Value> results;
  for (RowProduct &p : products)
    results.push_back(p.op.getResult());
  SmallVector<bool> meets = findMeetings(results);
  SmallVector<RowProduct> kept;
  for (size_t i = 0; i < products.size(); ++i) {
    if (meets[i])
      reporter.missed(
          products[i].op.getLoc(), "products",
          {{"reason", "one elementwise op reads it and another product"}});
    else
      kept.push_back(products[i]);
  }
  products = std::move(kept);
}

/// Concatenates the right operands to [columns, k].
static Value joinOperands(ImplicitLocOpBuilder &b,
                          ArrayRef<RowProduct> products) {
  SmallVector<ColumnsPart> parts;
  for (const RowProduct &p : products) {
    GemmOp op = p.op;
    std::vector<Expr> index(hlir::getExtents(op.getResult()).size(), Expr(0));
    index[p.column] = Expr::dim(0);
    index.push_back(Expr::dim(1));
    SmallVector<Expr> results;
    for (const Expr &e : op.getRhsMap().getResults())
      results.push_back(e.substituteDims(index));
    parts.push_back(
        {op.getRhs(), MapAttr::get(b.getContext(), 2, results), p.columns});
  }
  GemmOp first = products[0].op;
  return joinColumns(b, parts, first.getKExtent());
}

/// Replaces the products by one with the columns of all, and views of it.
static void join(ArrayRef<RowProduct> products) {
  GemmOp first = products[0].op;
  for (const RowProduct &p : products)
    for (Operation *view : llvm::reverse(p.views))
      if (first->isBeforeInBlock(view))
        view->moveBefore(first);
  SmallVector<Location> locations;
  int64_t columns = 0;
  for (const RowProduct &p : products) {
    GemmOp op = p.op;
    locations.push_back(op.getLoc());
    columns += p.columns;
  }
  ImplicitLocOpBuilder b(FusedLoc::get(first.getContext(), locations), first);
  MLIRContext *context = b.getContext();
  Value rhs = joinOperands(b, products);
  SmallVector<Expr> extents = hlir::getExtents(first.getResult());
  unsigned rank = extents.size(), column = products[0].column;
  extents[column] = Expr(columns);
  Type element = getElementTypeOrSelf(first.getResult().getType());
  Value joined = GemmOp::create(
      b, hlir::getTensorType(extents, element), first.getLhs(), rhs,
      first.getK(), first.getLhsMap(),
      MapAttr::get(context, rank + 1, {Expr::dim(column), Expr::dim(rank)}));
  int64_t begin = 0;
  for (const RowProduct &p : products) {
    GemmOp op = p.op;
    op.getResult().replaceAllUsesWith(
        readColumns(b, joined, column, begin, p.columns));
    begin += p.columns;
  }
  for (const RowProduct &p : products)
    p.op->erase();
}

void JoinProducts::runOnOperation() {
  // Without thread blocks a kernel is a function call, so launches are cheap.
  if (getOperation().isDeclaration() || !blockThreads)
    return;
  Reporter reporter(&getContext(), DEBUG_TYPE, getOperation().getSymName());
  using Key = std::tuple<Value, Attribute, Attribute, unsigned, Type, Type>;
  SmallVector<std::pair<Key, SmallVector<RowProduct>>> groups;
  for (auto op : getOperation().getBody().front().getOps<GemmOp>()) {
    RowProduct product;
    if (Decision found = match(op, product); !found) {
      reporter.missed(op.getLoc(), "products", {{"reason", found.str()}});
      continue;
    }
    Key key(op.getLhs(), op.getLhsMap(), op.getK(), product.column,
            getElementTypeOrSelf(op.getRhs().getType()),
            getElementTypeOrSelf(op.getResult().getType()));
    auto it = llvm::find_if(groups, [&](auto &g) { return g.first == key; });
    if (it == groups.end())
      groups.push_back({key, {product}});
    else
      it->second.push_back(product);
  }
  for (auto &[key, products] : groups) {
    if (products.size() > 1)
      dropThatMeet(products, reporter);
    if (products.size() < 2)
      continue;
    Location loc = products[0].op.getLoc();
    int64_t count = products.size();
    join(products);
    reporter.passed(loc, "products", {{"joined", count}});
  }
}
