//===- ProductReads.cpp - The operands of a flat product ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/Analysis/ProductReads.h"
#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"
#include "luminal/Dialect/LLIR/Utils/Values.h"

using namespace luminal;
using namespace mlir;

ProductRead luminal::findProductRead(llir::ProductOpInterface op,
                                     unsigned number,
                                     const Assumptions &symbols) {
  SmallVector<Expr> domain = hlir::getExtents(op->getResult(0));
  domain.push_back(op.getReducedExtent());
  ProductRead read{number ? op.getRhs() : op.getLhs(),
                   number ? op.getRhsMap() : op.getLhsMap()};
  while (true) {
    if (auto view = read.base.getDefiningOp<llir::ViewOp>()) {
      read.map = llir::compose(read.map, view.getMap(), domain, symbols);
      read.base = view.getOperand();
      continue;
    }
    Value narrow = llir::skipWidening(read.base);
    if (narrow == read.base)
      return read;
    read.isWidened = true;
    read.base = narrow;
  }
}

int64_t luminal::countStraightSteps(llir::ProductOpInterface op) {
  int64_t steps = op.getReducedExtent().asConstant().value_or(0);
  return steps <= kMostStraightSteps ? steps : 0;
}

/// Matches `e` as a digit of dim `k`, of which `extent` indices are left.
static std::optional<ContractedDigit> asDigit(const Expr &e, unsigned k,
                                              int64_t extent) {
  if (e.asDim() == k)
    return ContractedDigit{1, extent};
  if (e.kind() != Expr::Kind::FloorDiv && e.kind() != Expr::Kind::Mod)
    return std::nullopt;
  std::optional<int64_t> by = e.operands()[1].asConstant();
  std::optional<ContractedDigit> digit = asDigit(e.operands()[0], k, extent);
  if (!digit || !by || *by <= 0 || digit->extent % *by)
    return std::nullopt;
  if (e.kind() == Expr::Kind::Mod)
    return ContractedDigit{digit->divisor, *by};
  return ContractedDigit{digit->divisor * *by, digit->extent / *by};
}

std::optional<ContractedDigit> luminal::findDigit(llir::ProductOpInterface op,
                                                  const ProductRead &read,
                                                  unsigned dim) {
  unsigned k = read.map.getNumDims() - 1;
  std::optional<int64_t> extent = op.getReducedExtent().asConstant();
  if (!extent || *extent < 1)
    return std::nullopt;
  const Expr &e = read.map.getResults()[dim];
  std::vector<Expr> terms{e};
  if (e.kind() == Expr::Kind::Add)
    terms = e.operands();
  std::optional<ContractedDigit> found;
  for (const Expr &term : terms) {
    if (!term.usesDim(k))
      continue;
    if (found)
      return std::nullopt;
    found = asDigit(term, k, *extent);
    if (!found)
      return std::nullopt;
  }
  return found;
}

/// Expresses digit `d` of an index through the new index `k`, which has digit
/// `inner` innermost.
static Expr moveDigit(const ContractedDigit &d, const ContractedDigit &inner,
                      const Expr &k) {
  auto take = [&](int64_t divisor) {
    return Expr::mod(Expr::floorDiv(k, divisor), d.extent);
  };
  int64_t above = inner.divisor * inner.extent;
  if (d.divisor % above == 0)
    return take(d.divisor);
  if (d.divisor % inner.divisor == 0 && above % (d.divisor * d.extent) == 0)
    return take(d.divisor / inner.divisor);
  if (inner.divisor % (d.divisor * d.extent) == 0)
    return take(d.divisor * inner.extent);
  // A digit that spans several others: recompute the whole index.
  Expr index = Expr::floorDiv(k, above) * Expr(above) +
               Expr::mod(k, inner.extent) * Expr(inner.divisor) +
               Expr::mod(Expr::floorDiv(k, inner.extent), inner.divisor);
  return Expr::mod(Expr::floorDiv(index, d.divisor), d.extent);
}

/// Rewrites the digits of dim `k` in `e` this way. Each digit is replaced as a
/// whole, because simplification would not recover digits from parts of an
/// index.
static Expr moveDigits(const Expr &e, unsigned k, int64_t extent,
                       const ContractedDigit &inner) {
  if (!e.usesDim(k))
    return e;
  if (std::optional<ContractedDigit> digit = asDigit(e, k, extent))
    return moveDigit(*digit, inner, Expr::dim(k));
  std::vector<Expr> x;
  for (const Expr &operand : e.operands())
    x.push_back(moveDigits(operand, k, extent, inner));
  Expr result = x[0];
  for (const Expr &next : ArrayRef(x).drop_front())
    switch (e.kind()) {
    case Expr::Kind::Add:
      result = result + next;
      break;
    case Expr::Kind::Mul:
      result = result * next;
      break;
    case Expr::Kind::FloorDiv:
      result = Expr::floorDiv(result, next);
      break;
    case Expr::Kind::Mod:
      result = Expr::mod(result, next);
      break;
    case Expr::Kind::Max:
      result = Expr::max(result, next);
      break;
    case Expr::Kind::Min:
      result = Expr::min(result, next);
      break;
    default:
      llvm_unreachable("a leaf has no operands");
    }
  return result;
}

hlir::MapAttr luminal::reorderContracted(llir::ProductOpInterface op,
                                         hlir::MapAttr map,
                                         const ContractedDigit &digit,
                                         const Assumptions &symbols) {
  SmallVector<Expr> domain = hlir::getExtents(op->getResult(0));
  domain.push_back(op.getReducedExtent());
  SmallVector<Expr> results;
  for (const Expr &e : map.getResults())
    results.push_back(
        moveDigits(e, domain.size() - 1, *domain.back().asConstant(), digit));
  return hlir::MapAttr::getSimplified(map.getContext(), results,
                                      llir::withExtents(symbols, domain));
}
