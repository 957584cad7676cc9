//===- Domain.cpp - Joins adjacent dims of an iteration space -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Domain.h"

using namespace luminal;
using namespace mlir;

static Expr replaceDims(const Expr &e, unsigned outer, const Expr &outerExpr,
                        unsigned inner, const Expr &innerExpr) {
  return e.substitute([&](const Expr &leaf) -> std::optional<Expr> {
    std::optional<unsigned> dim = leaf.asDim();
    if (dim == outer)
      return outerExpr;
    if (dim == inner)
      return innerExpr;
    return std::nullopt;
  });
}

SmallVector<Leaf> luminal::getLeaves(const Domain &domain, WalkAt walk) {
  SmallVector<Leaf> leaves;
  walk(domain.index, [&](const Leaf &leaf) { leaves.push_back(leaf); });
  return leaves;
}

Domain luminal::makeDomain(Emitter &e, ArrayRef<Expr> extents, WalkAt walk) {
  Domain d;
  for (const Expr &extent : extents) {
    if (extent.isConstant(1)) {
      d.index.push_back(0);
      continue;
    }
    unsigned dim = e.addDim(extent);
    d.dims.push_back(dim);
    d.extents.push_back(extent);
    d.index.push_back(Expr::dim(dim));
  }
  SmallVector<Expr> addresses;
  for (const Leaf &leaf : getLeaves(d, walk))
    addresses.push_back(leaf.address);
  for (size_t i = d.dims.size(); i-- > 1;) {
    // Try to join dim i with dim i - 1 into a new one, x.
    unsigned outer = d.dims[i - 1], inner = d.dims[i];
    Expr extent = d.extents[i - 1] * d.extents[i];
    unsigned joined = e.addDim(extent);
    Expr x = Expr::dim(joined);
    Expr xOuter = Expr::floorDiv(x, d.extents[i]);
    Expr xInner = Expr::mod(x, d.extents[i]);
    SmallVector<Expr> next;
    bool linear = true;
    for (const Expr &address : addresses) {
      next.push_back(
          e.simplify(replaceDims(address, outer, xOuter, inner, xInner)));
      linear &= next.back().linearIn(joined).has_value();
    }
    if (!linear)
      continue;
    addresses = std::move(next);
    for (Expr &index : d.index)
      index = e.simplify(replaceDims(index, outer, xOuter, inner, xInner));
    d.dims[i - 1] = joined;
    d.extents[i - 1] = extent;
    d.dims.erase(d.dims.begin() + i);
    d.extents.erase(d.extents.begin() + i);
  }
  return d;
}
