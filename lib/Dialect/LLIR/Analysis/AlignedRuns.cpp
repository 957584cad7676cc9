//===- AlignedRuns.cpp - Contiguous runs behind divided indices -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/Analysis/AlignedRuns.h"
#include "llvm/ADT/STLExtras.h"

using namespace luminal;

/// Returns whether `e` is a multiple of `n` for all values of its dims.
static bool isMultiple(const Expr &e, int64_t n,
                       const Assumptions &assumptions) {
  auto is = [&](const Expr &x) { return isMultiple(x, n, assumptions); };
  switch (e.kind()) {
  case Expr::Kind::Constant:
    return *e.asConstant() % n == 0;
  case Expr::Kind::Mul:
    if (llvm::any_of(e.operands(), is))
      return true;
    break;
  case Expr::Kind::Add:
  case Expr::Kind::Mod:
  case Expr::Kind::Max:
  case Expr::Kind::Min:
    if (llvm::all_of(e.operands(), is))
      return true;
    break;
  default:
    break;
  }
  return assumptions.simplify(Expr::mod(e, n)).isConstant(0);
}

bool luminal::beginsAtMultiple(const Expr &address, unsigned dim, int64_t lanes,
                               const Assumptions &assumptions) {
  // Replace the dim by `lanes` times itself. The range of the dim then covers
  // `lanes` times more values than exist, which is safe.
  Expr first = address.substitute([&](const Expr &leaf) -> std::optional<Expr> {
    if (leaf.asDim() != dim)
      return std::nullopt;
    return leaf * Expr(lanes);
  });
  return isMultiple(first, lanes, assumptions);
}

std::optional<int64_t>
luminal::findAlignedStep(const Expr &e, unsigned dim, int64_t lanes,
                         const Assumptions &assumptions) {
  if (!e.usesDim(dim))
    return 0;
  switch (e.kind()) {
  case Expr::Kind::Dim:
    return 1;
  case Expr::Kind::Add: {
    int64_t sum = 0;
    for (const Expr &term : e.operands()) {
      std::optional<int64_t> step =
          findAlignedStep(term, dim, lanes, assumptions);
      if (!step || std::abs(*step) > lanes)
        return std::nullopt;
      sum += *step;
    }
    return sum;
  }
  case Expr::Kind::Mul: {
    const std::vector<Expr> &factors = e.operands();
    bool isFixed = true;
    for (const Expr &factor : factors)
      isFixed &= findAlignedStep(factor, dim, lanes, assumptions) == 0;
    if (isFixed)
      return 0;
    std::optional<int64_t> by = factors[0].asConstant();
    if (factors.size() != 2 || !by || std::abs(*by) > lanes)
      return std::nullopt;
    std::optional<int64_t> step =
        findAlignedStep(factors[1], dim, lanes, assumptions);
    if (!step || std::abs(*step) > lanes)
      return std::nullopt;
    return *step * *by;
  }
  case Expr::Kind::FloorDiv:
  case Expr::Kind::Mod: {
    std::optional<int64_t> step =
        findAlignedStep(e.operands()[0], dim, lanes, assumptions);
    if (!step || *step == 0)
      return e.operands()[1].usesDim(dim) ? std::nullopt : step;
    std::optional<int64_t> by = e.operands()[1].asConstant();
    if (*step != 1 || !by || *by <= 0 || *by % lanes ||
        !beginsAtMultiple(e.operands()[0], dim, lanes, assumptions))
      return std::nullopt;
    return e.kind() == Expr::Kind::Mod ? 1 : 0;
  }
  default:
    return std::nullopt;
  }
}

bool luminal::isAlignedRun(const Expr &address, unsigned dim, int64_t lanes,
                           const Assumptions &assumptions) {
  return findAlignedStep(address, dim, lanes, assumptions) == 1;
}
