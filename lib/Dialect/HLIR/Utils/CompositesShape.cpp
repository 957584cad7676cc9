//===- CompositesShape.cpp - Movement ops as views ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/HLIR/Utils/Composites.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::hlir;

SmallVector<Expr> hlir::identityMap(unsigned rank) {
  SmallVector<Expr> dims;
  for (unsigned i = 0; i < rank; ++i)
    dims.push_back(Expr::dim(i));
  return dims;
}

Status Composer::checkShapes() {
  if (misshapen.empty())
    return {};
  return Error(std::exchange(misshapen, {}));
}

/// Replaces extents that cannot exist, so that the type is valid and has the
/// same rank.
RankedTensorType Composer::tensorTypeOf(ArrayRef<Expr> extents,
                                        Type elementType) {
  SmallVector<Expr> possible(extents);
  for (Expr &e : possible)
    if (e.isUndefined() || e.hasDims() || e.asConstant().value_or(0) < 0) {
      misshapen = e.isUndefined() ? "an extent is beyond 64 bits"
                                  : "extent " + e.str() + " cannot be";
      e = Expr(1);
    }
  return getTensorType(possible, elementType);
}

MapAttr Composer::mapOf(ArrayRef<Expr> map, ArrayRef<Expr> extents) {
  Assumptions inside(assumptions.getSymbols(),
                     std::vector<Expr>(extents.begin(), extents.end()));
  SmallVector<Expr> possible(map);
  for (Expr &e : possible)
    if (e.isUndefined()) {
      misshapen = "an index is beyond 64 bits";
      e = Expr(0);
    }
  return MapAttr::getSimplified(builder.getContext(), possible, inside);
}

Value Composer::view(Value x, ArrayRef<Expr> extents, ArrayRef<Expr> map) {
  auto type = cast<RankedTensorType>(x.getType());
  auto resultType = tensorTypeOf(extents, type.getElementType());
  MapAttr simple = mapOf(map, getExtents(resultType));
  if (resultType == type && simple.isIdentity())
    return x;
  return ViewOp::create(builder, loc, resultType, x, simple);
}

Value Composer::broadcastTo(Value x, ArrayRef<Expr> extents) {
  SmallVector<Expr> from = getExtents(x);
  assert(from.size() <= extents.size() && "a broadcast never drops dims");
  unsigned lead = extents.size() - from.size();
  SmallVector<Expr> map;
  for (auto [i, extent] : llvm::enumerate(from))
    map.push_back(extent.isConstant(1) ? Expr(0) : Expr::dim(lead + i));
  return view(x, extents, map);
}

Value Composer::permute(Value x, ArrayRef<unsigned> order) {
  SmallVector<Expr> from = getExtents(x), extents, map(from.size());
  for (auto [i, axis] : llvm::enumerate(order)) {
    extents.push_back(from[axis]);
    map[axis] = Expr::dim(i);
  }
  return view(x, extents, map);
}

/// The shapes are split where their running products agree. Each part is
/// linearised and delinearised on its own, so that an unchanged dim appears
/// unchanged in the map. Dims of extent 1 belong to no part.
Value Composer::reshape(Value x, ArrayRef<Expr> extents) {
  SmallVector<Expr> from = getExtents(x), map(from.size(), Expr(0));
  SmallVector<unsigned> source, result;
  for (unsigned i = 0; i < from.size(); ++i)
    if (!from[i].isConstant(1))
      source.push_back(i);
  for (unsigned i = 0; i < extents.size(); ++i)
    if (!extents[i].isConstant(1))
      result.push_back(i);

  auto join = [&](ArrayRef<unsigned> sourceDims,
                  ArrayRef<unsigned> resultDims) {
    std::vector<Expr> sourceExtents, resultExtents, index;
    for (unsigned d : resultDims) {
      resultExtents.push_back(extents[d]);
      index.push_back(Expr::dim(d));
    }
    for (unsigned d : sourceDims)
      sourceExtents.push_back(from[d]);
    std::vector<Expr> split =
        delinearize(linearize(index, resultExtents), sourceExtents);
    for (auto [d, e] : llvm::zip_equal(sourceDims, split))
      map[d] = e;
  };

  unsigned s = 0, r = 0;
  while (s < source.size() && r < result.size()) {
    // Find the shortest leading dims of both shapes with equal products.
    std::optional<std::pair<unsigned, unsigned>> cut;
    Expr sourceProduct(1);
    for (unsigned i = s; i < source.size() && !cut; ++i) {
      sourceProduct = sourceProduct * from[source[i]];
      Expr resultProduct(1);
      for (unsigned j = r; j < result.size() && !cut; ++j) {
        resultProduct = resultProduct * extents[result[j]];
        if (assumptions.equal(sourceProduct, resultProduct) == true)
          cut = {i + 1, j + 1};
      }
    }
    if (!cut)
      break;
    join(ArrayRef(source).slice(s, cut->first - s),
         ArrayRef(result).slice(r, cut->second - r));
    std::tie(s, r) = *cut;
  }
  if (s < source.size())
    join(ArrayRef(source).drop_front(s), ArrayRef(result).drop_front(r));
  return view(x, extents, map);
}

Value Composer::slice(Value x, unsigned axis, Expr start, Expr extent,
                      Expr step) {
  SmallVector<Expr> extents = getExtents(x), map = identityMap(extents.size());
  extents[axis] = extent;
  map[axis] = start + Expr::dim(axis) * step;
  return view(x, extents, map);
}

Value Composer::unsqueeze(Value x, unsigned axis) {
  SmallVector<Expr> extents = getExtents(x), map;
  for (unsigned i = 0; i < extents.size(); ++i)
    map.push_back(Expr::dim(i < axis ? i : i + 1));
  extents.insert(extents.begin() + axis, Expr(1));
  return view(x, extents, map);
}

Value Composer::squeeze(Value x, unsigned axis) {
  SmallVector<Expr> extents = getExtents(x), map;
  for (unsigned i = 0; i < extents.size(); ++i)
    map.push_back(i == axis ? Expr(0) : Expr::dim(i < axis ? i : i - 1));
  extents.erase(extents.begin() + axis);
  return view(x, extents, map);
}

/// Each operand is read at an index clamped to its extent, and a chain of
/// selects picks the right one.
Value Composer::concat(ArrayRef<Value> parts, unsigned axis) {
  if (parts.size() == 1)
    return parts.front();
  SmallVector<Expr> extents = getExtents(parts.front()), starts;
  Expr total(0);
  for (Value v : parts) {
    starts.push_back(total);
    total = total + getExtents(v)[axis];
  }
  extents[axis] = total;
  Type i64 = builder.getI64Type();
  auto read = [&](size_t k) {
    SmallVector<Expr> map = identityMap(extents.size());
    Expr last = getExtents(parts[k])[axis] - Expr(1);
    map[axis] = Expr::max(Expr::min(Expr::dim(axis) - starts[k], last), 0);
    return view(parts[k], extents, map);
  };
  Value index = iota(extents, Expr::dim(axis));
  Value result = read(parts.size() - 1);
  for (size_t k = parts.size() - 1; k-- > 0;) {
    std::optional<int64_t> end = starts[k + 1].asConstant();
    Value bound =
        full(extents, end ? scalarInt(i64, *end) : iota({}, starts[k + 1]));
    result = select(less(index, bound), read(k), result);
  }
  return result;
}
