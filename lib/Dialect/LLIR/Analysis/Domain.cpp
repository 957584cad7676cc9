//===- Domain.cpp - Joins adjacent dims of an iteration space -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/Analysis/KernelAnalysis.h"

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

/// Makes one axis for each of `extents` other than 1.
static Domain makeAxes(KernelAnalysis &a, ArrayRef<Expr> extents) {
  Domain d;
  for (auto [i, extent] : llvm::enumerate(extents)) {
    if (extent.isConstant(1)) {
      d.index.push_back(0);
      continue;
    }
    unsigned dim = a.addDim(extent);
    d.groups.push_back({unsigned(i)});
    d.dims.push_back(dim);
    d.extents.push_back(extent);
    d.index.push_back(Expr::dim(dim));
  }
  return d;
}

namespace {
/// Joins axis i with axis i - 1 into a new dim.
struct Join {
  Join(KernelAnalysis &a, const Domain &d, size_t i)
      : a(a), outer(d.dims[i - 1]), inner(d.dims[i]),
        extent(d.extents[i - 1] * d.extents[i]), dim(a.addDim(extent)),
        outerExpr(Expr::floorDiv(Expr::dim(dim), d.extents[i])),
        innerExpr(Expr::mod(Expr::dim(dim), d.extents[i])) {}

  Expr apply(const Expr &e) const {
    return a.simplify(replaceDims(e, outer, outerExpr, inner, innerExpr));
  }
  void apply(Domain &d, size_t i) const {
    for (Expr &index : d.index)
      index = apply(index);
    d.groups[i - 1].append(d.groups[i]);
    d.dims[i - 1] = dim;
    d.extents[i - 1] = extent;
    d.groups.erase(d.groups.begin() + i);
    d.dims.erase(d.dims.begin() + i);
    d.extents.erase(d.extents.begin() + i);
  }

  KernelAnalysis &a;
  unsigned outer, inner;
  Expr extent;
  unsigned dim;
  Expr outerExpr, innerExpr;
};
} // namespace

Domain luminal::findDomain(KernelAnalysis &a, ArrayRef<Expr> extents,
                           WalkAt walk) {
  Domain d = makeAxes(a, extents);
  SmallVector<Expr> addresses;
  walk(d.index, [&](const Leaf &leaf) { addresses.push_back(leaf.address); });
  for (size_t i = d.dims.size(); i-- > 1;) {
    Join join(a, d, i);
    SmallVector<Expr> next;
    bool linear = true;
    for (const Expr &address : addresses) {
      next.push_back(join.apply(address));
      linear &= next.back().linearIn(join.dim).has_value();
    }
    if (!linear)
      continue;
    addresses = std::move(next);
    join.apply(d, i);
  }
  return d;
}

Domain luminal::makeDomain(KernelAnalysis &a, ArrayRef<Expr> extents,
                           ArrayRef<SmallVector<unsigned>> groups) {
  Domain d = makeAxes(a, extents);
  // The group of each dim that is on an axis.
  SmallVector<unsigned> groupOf(extents.size(), groups.size());
  for (auto [number, group] : llvm::enumerate(groups))
    for (unsigned dim : group)
      groupOf[dim] = number;
  for (size_t i = d.dims.size(); i-- > 1;)
    if (groupOf[d.groups[i - 1].front()] == groupOf[d.groups[i].front()])
      Join(a, d, i).apply(d, i);
  return d;
}
