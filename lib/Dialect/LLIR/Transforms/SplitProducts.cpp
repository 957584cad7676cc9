//===- SplitProducts.cpp - Splits products by columns ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A gate and the values that it multiplies are often columns of one product. If
// rows share no matrix, the product takes as long as reading its columns, and
// so does a product of each range of columns. The ranges can then be elements
// of one kernel, together with the ops after them:
//
//   %c = gemm %x, %w : 1x32
//   %a, %b = views of %c       -->   %a = gemm %x, %w : 1x16
//   mul(silu(%a), %b)                %b = gemm %x, %w : 1x16, from column 16 on
//
// Tested by test/Dialect/LLIR/split-products.mlir.
//
//===----------------------------------------------------------------------===//

#include "luminal/Dialect/LLIR/Analysis/Ascending.h"
#include "luminal/Dialect/LLIR/Transforms/Passes.h"
#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"
#include "luminal/Dialect/LLIR/Utils/Remarks.h"
#include "luminal/Dialect/LLIR/Utils/Values.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace luminal::llir {
#define GEN_PASS_DEF_SPLITPRODUCTSPASS
#include "luminal/Dialect/LLIR/Transforms/Passes.h.inc"
} // namespace luminal::llir

#define DEBUG_TYPE "llir-split-products"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;
using luminal::hlir::MapAttr;
using Decision = DecisionAbout<Operation *>;

namespace {
struct SplitProducts : llir::impl::SplitProductsPassBase<SplitProducts> {
  using SplitProductsPassBase::SplitProductsPassBase;
  void runOnOperation() override;
};

/// Columns from `begin` up to `end`, the views that read them, and the maps of
/// these views to the product.
struct Part {
  int64_t begin, end;
  SmallVector<std::pair<ViewOp, MapAttr>, 2> views;
};

struct PartedProduct {
  GemmOp op;
  /// Casts of the result and views of all of it, in order. The last one, which
  /// reads the product through `map`, is read by the views of parts.
  SmallVector<Operation *, 2> before;
  MapAttr map;
  unsigned column = 0;
  SmallVector<Part, 2> parts;
};
} // namespace

/// Returns whether each result element reads a pair of row and column that no
/// other element reads: `matrix` has all dims that the other side has.
static Decision readsRowsAlone(GemmOp op, Value matrix, MapAttr matrixMap,
                               MapAttr rowMap, const Assumptions &symbols) {
  for (auto [d, extent] : llvm::enumerate(hlir::getExtents(op.getResult())))
    if (!extent.isConstant(1) && rowMap.usesDim(d) && !matrixMap.usesDim(d))
      return Decision::refuse("it has more than one row");
  auto lookup = skipWidening(matrix).getDefiningOp<GatherOp>();
  if (lookup && hlir::getExtents(lookup.getIndices()).size() == 1 &&
      isAscending(lookup.getIndices(), symbols))
    return Decision::refuse("its rows share matrices");
  return Decision::accept();
}

/// Finds the columns that each view reads, along one dim; two views read
/// disjoint ranges or the same range.
static Decision findParts(Value v, PartedProduct &product,
                          const Assumptions &symbols) {
  for (unsigned d = 0; d < product.map.getResults().size(); ++d) {
    product.column = d;
    product.parts.clear();
    bool fits = true;
    for (Operation *user : v.getUsers()) {
      auto view = dyn_cast<ViewOp>(user);
      if (!view)
        return Decision::refuse("an op reads all of its columns");
      SmallVector<Expr> own = hlir::getExtents(view.getResult());
      Assumptions inside = withExtents(symbols, own);
      MapAttr map = compose(view.getMap(), product.map, own, symbols);
      Expr place = inside.simplify(map.getResults()[d]);
      std::optional<int64_t> lo = inside.lowerBound(place),
                             hi = inside.upperBound(place);
      if (!lo || !hi) {
        fits = false;
        break;
      }
      auto *same = llvm::find_if(product.parts, [&](const Part &part) {
        return part.begin == *lo && part.end == *hi + 1;
      });
      fits &= llvm::all_of(product.parts, [&](const Part &part) {
        return &part == same || part.end <= *lo || part.begin > *hi;
      });
      if (same == product.parts.end())
        product.parts.push_back({*lo, *hi + 1, {{view, map}}});
      else
        same->views.push_back({view, map});
    }
    llvm::sort(product.parts,
               [](const Part &a, const Part &b) { return a.begin < b.begin; });
    if (fits && product.parts.size() > 1)
      return Decision::accept();
  }
  return Decision::refuse("no parts of its columns are read");
}

/// Returns the elementwise ops that depend on `part` through elementwise ops
/// and views only.
static DenseSet<Operation *> findReaders(const Part &part) {
  DenseSet<Operation *> seen;
  SmallVector<Value> work;
  for (auto [view, map] : part.views)
    work.push_back(ViewOp(view).getResult());
  while (!work.empty())
    for (Operation *user : work.pop_back_val().getUsers())
      if (isa<ElementwiseOp, ViewOp>(user) && seen.insert(user).second)
        llvm::append_range(work, user->getResults());
  return seen;
}

/// Accepts a product whose column ranges meet in an elementwise op, and finds
/// these ranges.
static Decision match(GemmOp op, PartedProduct &product,
                      const Assumptions &symbols) {
  product.op = op;
  Value v = op.getResult();
  product.map =
      MapAttr::getIdentity(op.getContext(), hlir::getExtents(v).size());
  while (llvm::hasSingleElement(v.getUsers())) {
    Operation *user = *v.getUsers().begin();
    auto cast = dyn_cast<ElementwiseOp>(user);
    if (auto view = dyn_cast<ViewOp>(user))
      product.map = compose(view.getMap(), product.map,
                            hlir::getExtents(view.getResult()), symbols);
    else if (!cast || cast.getFn() != Fn::Cast)
      break;
    product.before.push_back(user);
    v = user->getResult(0);
  }
  if (Decision found = findParts(v, product, symbols); !found)
    return found;
  const bool isLeft = op.getLhsMap().usesDim(product.column);
  if (isLeft == op.getRhsMap().usesDim(product.column))
    return Decision::refuse("they are not columns");
  if (Decision alone = isLeft ? readsRowsAlone(op, op.getLhs(), op.getLhsMap(),
                                               op.getRhsMap(), symbols)
                              : readsRowsAlone(op, op.getRhs(), op.getRhsMap(),
                                               op.getLhsMap(), symbols);
      !alone)
    return alone;
  DenseSet<Operation *> first = findReaders(product.parts[0]);
  for (const Part &part : ArrayRef(product.parts).drop_front())
    if (llvm::none_of(findReaders(part), [&](Operation *reader) {
          return first.contains(reader);
        }))
      return Decision::refuse("no elementwise op reads all of its parts");
  return Decision::accept();
}

/// Replaces the product by one for each range of columns.
static void split(const PartedProduct &product, const Assumptions &symbols) {
  GemmOp op = product.op;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  MLIRContext *context = b.getContext();
  SmallVector<Expr> extents = hlir::getExtents(op.getResult());
  for (const Part &part : product.parts) {
    b.setInsertionPoint(op);
    auto shift = [&](MapAttr map, int64_t by) {
      std::vector<Expr> index;
      for (unsigned d = 0; d < map.getNumDims(); ++d)
        index.push_back(Expr::dim(d) + (d == product.column ? by : 0));
      SmallVector<Expr> results;
      for (const Expr &e : map.getResults())
        results.push_back(e.substituteDims(index));
      return MapAttr::get(context, map.getNumDims(), results);
    };
    extents[product.column] = Expr(part.end - part.begin);
    auto typeLike = [&](Value v) {
      return hlir::getTensorType(extents, getElementTypeOrSelf(v));
    };
    Value v = GemmOp::create(
        b, typeLike(op.getResult()), op.getLhs(), op.getRhs(), op.getK(),
        shift(op.getLhsMap(), part.begin), shift(op.getRhsMap(), part.begin));
    for (Operation *cast : product.before)
      if (isa<ElementwiseOp>(cast))
        v = ElementwiseOp::create(b, typeLike(cast->getResult(0)), Fn::Cast, v);
    for (auto [read, map] : part.views) {
      ViewOp view = read;
      b.setInsertionPoint(view);
      SmallVector<Expr> results(map.getResults());
      results[product.column] = results[product.column] - part.begin;
      Value own = b.createOrFold<ViewOp>(
          view.getResult().getType(), v,
          MapAttr::getSimplified(
              context, results,
              withExtents(symbols, hlir::getExtents(view.getResult()))));
      view.getResult().replaceAllUsesWith(own);
    }
  }
  for (const Part &part : product.parts)
    for (auto [view, map] : part.views)
      ViewOp(view)->erase();
  for (Operation *op : llvm::reverse(product.before))
    op->erase();
  op->erase();
}

void SplitProducts::runOnOperation() {
  if (getOperation().isDeclaration() || !blockThreads)
    return;
  Block &block = getOperation().getBody().front();
  Assumptions symbols = hlir::getAssumptions(block.getTerminator());
  Reporter reporter(&getContext(), DEBUG_TYPE, getOperation().getSymName());
  SmallVector<GemmOp> products(block.getOps<GemmOp>());
  for (GemmOp op : products) {
    Location loc = op.getLoc();
    PartedProduct product;
    if (Decision found = match(op, product, symbols); !found) {
      reporter.missed(loc, "products", {{"reason", found.str()}});
      continue;
    }
    split(product, symbols);
    reporter.passed(loc, "products",
                    {{"parts", int64_t(product.parts.size())}});
  }
}
