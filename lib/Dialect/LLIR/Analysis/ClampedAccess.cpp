//===- ClampedAccess.cpp - Contiguous accesses behind clamps --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/Analysis/ClampedAccess.h"

using namespace luminal;

static bool isClamp(const Expr &e) {
  return e.kind() == Expr::Kind::Min || e.kind() == Expr::Kind::Max;
}

/// Sets the offset and the clamps that `e` applies to `dim`.
static bool takeApart(const Expr &e, unsigned dim, ClampedAccess &access) {
  if (std::optional<Expr::Linear> linear = e.linearIn(dim)) {
    access.offset = linear->rest;
    return linear->stride.isConstant(1);
  }
  if (!isClamp(e))
    return false;
  const std::vector<Expr> &x = e.operands();
  bool isFirst = x[0].usesDim(dim);
  if (isFirst == x[1].usesDim(dim))
    return false;
  if (!takeApart(x[isFirst ? 0 : 1], dim, access))
    return false;
  access.clamps.push_back({e.kind() == Expr::Kind::Min, x[isFirst ? 1 : 0]});
  return true;
}

std::optional<ClampedAccess>
luminal::findClampedAccess(const Expr &address, unsigned dim,
                           const Assumptions &assumptions) {
  std::vector<Expr> terms{address};
  if (address.kind() == Expr::Kind::Add)
    terms = address.operands();
  ClampedAccess access;
  for (const Expr &term : terms) {
    if (!term.usesDim(dim))
      continue;
    access.rest = address - term;
    if (!isClamp(term) || access.rest.usesDim(dim) ||
        !takeApart(term, dim, access))
      return std::nullopt;
    break;
  }
  if (access.clamps.empty() || access.clamps.size() > 2)
    return std::nullopt;
  if (access.clamps.size() == 2) {
    const auto &[first, second] = std::pair(access.clamps[0], access.clamps[1]);
    if (first.isMin == second.isMin)
      return std::nullopt;
    const Expr &least = first.isMin ? second.bound : first.bound;
    const Expr &most = first.isMin ? first.bound : second.bound;
    if (!assumptions.provablyLessEqual(least, most))
      return std::nullopt;
  }
  return access;
}

bool ClampedAccess::isWholeFor(unsigned lanes, const Expr &extent,
                               const Assumptions &assumptions) const {
  for (const Clamp &clamp : clamps) {
    // For a min the first index that it changes, for a max the first that it
    // keeps.
    Expr edge = clamp.bound - offset + Expr(clamp.isMin ? 1 : 0);
    // The end of the vector that is read in place of the clamped ones.
    Expr end = clamp.isMin ? edge : edge + Expr(lanes);
    if (!assumptions.simplify(Expr::mod(edge, lanes)).isConstant(0) ||
        !assumptions.provablyLessEqual(lanes, end) ||
        !assumptions.provablyLessEqual(end, extent))
      return false;
  }
  return true;
}
