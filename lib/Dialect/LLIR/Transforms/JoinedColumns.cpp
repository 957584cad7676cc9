//===- JoinedColumns.cpp - Joined columns of products ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/Transforms/JoinedColumns.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace luminal;
using luminal::hlir::MapAttr;

Value llir::joinColumns(ImplicitLocOpBuilder &b, ArrayRef<ColumnsPart> parts,
                        ArrayRef<Expr> rest) {
  MLIRContext *context = b.getContext();
  int64_t columns = 0;
  for (const ColumnsPart &part : parts)
    columns += part.columns;
  SmallVector<Expr> extents = {Expr(columns)};
  llvm::append_range(extents, rest);
  const unsigned rank = extents.size();
  Type type = hlir::getTensorType(
      extents, getElementTypeOrSelf(parts[0].source.getType()));
  Type number = hlir::getTensorType(extents, b.getI64Type());
  Type boolean = hlir::getTensorType(extents, b.getI1Type());
  Value column =
      IotaOp::create(b, number, MapAttr::get(context, rank, Expr::dim(0)));
  int64_t end = columns;
  Value joined;
  for (const ColumnsPart &part : llvm::reverse(parts)) {
    int64_t begin = end - part.columns;
    // The index stays in the source's bounds even where another part is
    // selected.
    Expr at = Expr::dim(0);
    if (begin)
      at = Expr::max(at - Expr(begin), 0);
    if (end < columns)
      at = Expr::min(at, part.columns - 1);
    std::vector<Expr> index = {at};
    for (unsigned d = 1; d < rank; ++d)
      index.push_back(Expr::dim(d));
    SmallVector<Expr> results;
    for (const Expr &e : part.map.getResults())
      results.push_back(e.substituteDims(index));
    Value read = ViewOp::create(b, type, part.source,
                                MapAttr::get(context, rank, results));
    if (!joined) {
      joined = read;
    } else {
      auto scalar = RankedTensorType::get({}, b.getI64Type());
      Value bound = llir::ConstantOp::create(
          b, scalar, DenseElementsAttr::get(scalar, b.getI64IntegerAttr(end)));
      bound = ViewOp::create(b, number, bound, MapAttr::get(context, rank, {}));
      Value isBefore = ElementwiseOp::create(b, boolean, Fn::LessThan,
                                             ValueRange{column, bound});
      joined = ElementwiseOp::create(b, type, Fn::Select,
                                     ValueRange{isBefore, read, joined});
    }
    end = begin;
  }
  return joined;
}

std::optional<int64_t> llir::getKnownExtent(Value v, unsigned dim) {
  return hlir::getExtents(v)[dim].asConstant();
}

std::optional<int64_t> llir::getKnownInner(GemmOp op) {
  return op.getKExtent().asConstant();
}

Value llir::readColumns(OpBuilder &b, Value joined, unsigned column,
                        int64_t begin, int64_t columns) {
  SmallVector<Expr> extents = hlir::getExtents(joined);
  SmallVector<Expr> results;
  for (auto [d, extent] : llvm::enumerate(extents))
    results.push_back(d == column            ? Expr::dim(d) + Expr(begin)
                      : extent.isConstant(1) ? Expr(0)
                                             : Expr::dim(d));
  extents[column] = Expr(columns);
  return ViewOp::create(
      b, joined.getLoc(),
      hlir::getTensorType(extents, getElementTypeOrSelf(joined.getType())),
      joined, MapAttr::get(b.getContext(), extents.size(), results));
}

/// Returns the elementwise ops and views that depend on `v` through such ops
/// only.
static DenseSet<Operation *> findReaders(Value v) {
  DenseSet<Operation *> seen;
  SmallVector<Value> work{v};
  while (!work.empty())
    for (Operation *user : work.pop_back_val().getUsers())
      if (isa<llir::ElementwiseOp, llir::ViewOp>(user) &&
          seen.insert(user).second)
        llvm::append_range(work, user->getResults());
  return seen;
}

SmallVector<bool> llir::findMeetings(ArrayRef<Value> values) {
  SmallVector<DenseSet<Operation *>> readers;
  for (Value v : values)
    readers.push_back(findReaders(v));
  SmallVector<bool> meets(values.size());
  for (size_t i = 0; i < values.size(); ++i)
    for (size_t j = 0; j < values.size() && !meets[i]; ++j)
      meets[i] = i != j && llvm::any_of(readers[i], [&](Operation *op) {
                   return readers[j].contains(op);
                 });
  return meets;
}

bool llir::isReturned(Value v) {
  return llvm::any_of(v.getUsers(), [](Operation *user) {
    return user->hasTrait<OpTrait::IsTerminator>() ||
           (isa<llir::ViewOp>(user) && isReturned(user->getResult(0)));
  });
}
