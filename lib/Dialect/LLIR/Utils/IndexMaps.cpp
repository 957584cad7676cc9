//===- IndexMaps.cpp - Composition and inversion of index maps ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;
using luminal::hlir::MapAttr;

static std::vector<Expr> getDims(unsigned rank) {
  std::vector<Expr> dims;
  for (unsigned i = 0; i < rank; ++i)
    dims.push_back(Expr::dim(i));
  return dims;
}

static Expr productOf(ArrayRef<Expr> extents) {
  return product({extents.begin(), extents.end()});
}

static Expr linearizeOver(ArrayRef<Expr> index, ArrayRef<Expr> extents) {
  return linearize({index.begin(), index.end()},
                   {extents.begin(), extents.end()});
}

Assumptions llir::withExtents(const Assumptions &symbols,
                              ArrayRef<Expr> extents) {
  return Assumptions(symbols.getSymbols(),
                     std::vector<Expr>(extents.begin(), extents.end()));
}

MapAttr llir::compose(MapAttr map, MapAttr next, ArrayRef<Expr> domain,
                      const Assumptions &symbols) {
  if (map.isIdentity())
    return next;
  if (next.isIdentity())
    return map;
  return MapAttr::getSimplified(map.getContext(), map.composeResults(next),
                                withExtents(symbols, domain));
}

bool llir::areEqual(ArrayRef<Expr> a, ArrayRef<Expr> b,
                    const Assumptions &symbols) {
  if (a.size() != b.size())
    return false;
  for (auto [x, y] : llvm::zip_equal(a, b))
    if (x != y && symbols.equal(x, y) != true)
      return false;
  return true;
}

bool llir::haveSameSize(ArrayRef<Expr> a, ArrayRef<Expr> b,
                        const Assumptions &symbols) {
  Expr x = productOf(a), y = productOf(b);
  return x == y || symbols.equal(x, y) == true;
}

bool llir::isAllInOrder(MapAttr map, ArrayRef<Expr> domain,
                        ArrayRef<Expr> range, const Assumptions &symbols) {
  std::optional<Expr> offset = getContiguousOffset(map, domain, range, symbols);
  return offset && offset->isConstant(0) &&
         haveSameSize(domain, range, symbols);
}

std::optional<unsigned> llir::getRowDim(ArrayRef<Expr> extents) {
  for (unsigned i = 0; i < extents.size(); ++i)
    if (!extents[i].isConstant(1))
      return i;
  return std::nullopt;
}

Expr llir::getRowPosition(const Expr &row, ArrayRef<Expr> extents) {
  return row * productOf(extents.drop_front(*getRowDim(extents) + 1));
}

MapAttr llir::getReshape(MLIRContext *context, ArrayRef<Expr> domain,
                         ArrayRef<Expr> range, const Assumptions &symbols) {
  Expr linear = linearizeOver(getDims(domain.size()), domain);
  return MapAttr::getSimplified(
      context, delinearize(linear, {range.begin(), range.end()}),
      withExtents(symbols, domain));
}

std::optional<Expr> llir::getContiguousOffset(MapAttr map,
                                              ArrayRef<Expr> domain,
                                              ArrayRef<Expr> range,
                                              const Assumptions &symbols) {
  Expr to = linearizeOver(map.getResults(), range);
  Expr from = linearizeOver(getDims(domain.size()), domain);
  Expr offset = withExtents(symbols, domain).simplify(to - from);
  if (offset.hasDims())
    return std::nullopt;
  return offset;
}

//===----------------------------------------------------------------------===//
// Inversion
//===----------------------------------------------------------------------===//
//
// A bijection made of splits and merges reads each dim of its domain as digits
// in a mixed radix (`d floordiv c mod e`), each digit once; each result is a
// sum of digits times their weights. The inverse extracts the digits from the
// results and reassembles the dims. The code then proves the inverse by
// composing both ways, so the candidate may be a guess.

namespace {
/// `(d_dim floordiv divisor) mod modulus`; the leading digit has no modulus.
struct Digit {
  unsigned dim;
  Expr divisor = 1;
  std::optional<Expr> modulus;
};

/// `place * digit`, a term of a result.
struct Term {
  Digit digit;
  Expr place = 1;
  unsigned result = 0;
};
} // namespace

/// Matches `e` as a digit of one dim; std::nullopt for other expressions.
static std::optional<Digit> asDigit(const Expr &e) {
  if (std::optional<unsigned> dim = e.asDim())
    return Digit{*dim, 1, std::nullopt};
  if (e.kind() != Expr::Kind::Mod && e.kind() != Expr::Kind::FloorDiv)
    return std::nullopt;
  const Expr &by = e.operands()[1];
  std::optional<Digit> inner = asDigit(e.operands()[0]);
  if (!inner || by.hasDims())
    return std::nullopt;
  if (e.kind() == Expr::Kind::Mod) {
    inner->modulus = by;
    return inner;
  }
  inner->divisor = inner->divisor * by;
  if (inner->modulus)
    inner->modulus = Expr::floorDiv(*inner->modulus, by);
  return inner;
}

/// Collects the terms of one result; false if it is not a sum of digits.
static bool collectTerms(const Expr &e, unsigned result,
                         SmallVectorImpl<Term> &terms) {
  if (e.kind() == Expr::Kind::Add)
    return llvm::all_of(e.operands(), [&](const Expr &operand) {
      return collectTerms(operand, result, terms);
    });
  if (std::optional<Digit> digit = asDigit(e)) {
    terms.push_back({*digit, 1, result});
    return true;
  }
  if (e.kind() == Expr::Kind::Mul) {
    Expr place = 1;
    std::optional<Digit> digit;
    for (const Expr &factor : e.operands()) {
      if (!factor.hasDims()) {
        place = place * factor;
        continue;
      }
      if (digit)
        return false;
      digit = asDigit(factor);
      if (!digit)
        return false;
    }
    terms.push_back({*digit, place, result});
    return true;
  }
  // A nonzero constant term shifts: no bijection of spaces that begin at zero.
  return e.isConstant(0);
}

static bool isIdentityUnder(MapAttr map) {
  for (auto [i, e] : llvm::enumerate(map.getResults()))
    if (e.asDim() != i)
      return false;
  return map.getNumDims() == map.getResults().size();
}

/// Checks both compositions, over dims that may have extent 1 (index 0).
static bool areInverse(MapAttr map, MapAttr inverse, ArrayRef<Expr> domain,
                       ArrayRef<Expr> range, const Assumptions &symbols) {
  auto isIdentity = [&](ArrayRef<Expr> results, ArrayRef<Expr> extents) {
    Assumptions assumptions = withExtents(symbols, extents);
    MapAttr composed =
        MapAttr::getSimplified(map.getContext(), results, assumptions);
    if (isIdentityUnder(composed))
      return true;
    for (auto [i, e] : llvm::enumerate(composed.getResults()))
      if (e.asDim() != i && assumptions.simplify(e - Expr::dim(i)) != Expr(0))
        return false;
    return true;
  };
  return isIdentity(map.composeResults(inverse), domain) &&
         isIdentity(inverse.composeResults(map), range);
}

/// Returns the extent of a digit of a dim with extent `extent`.
static Expr getDigitExtent(const Digit &digit, const Expr &extent,
                           const Assumptions &symbols) {
  if (digit.modulus)
    return *digit.modulus;
  return symbols.simplify(Expr::floorDiv(extent, digit.divisor));
}

/// Returns a candidate for the inverse of a map whose results are sums of
/// digits; it still has to be proved.
static std::optional<MapAttr> invertDigits(MapAttr map, ArrayRef<Expr> domain,
                                           ArrayRef<Expr> range,
                                           const Assumptions &symbols) {
  SmallVector<Term> terms;
  for (auto [i, e] : llvm::enumerate(map.getResults()))
    if (!collectTerms(e, i, terms))
      return std::nullopt;
  SmallVector<Expr> index(domain.size(), Expr(0));
  for (const Term &term : terms) {
    Expr extent = getDigitExtent(term.digit, domain[term.digit.dim], symbols);
    Expr value =
        Expr::mod(Expr::floorDiv(Expr::dim(term.result), term.place), extent);
    index[term.digit.dim] = index[term.digit.dim] + value * term.digit.divisor;
  }
  return MapAttr::getSimplified(map.getContext(), index,
                                withExtents(symbols, range));
}

std::optional<MapAttr> llir::invert(MapAttr map, ArrayRef<Expr> domain,
                                    ArrayRef<Expr> range,
                                    const Assumptions &symbols) {
  if (map.isIdentity() && areEqual(domain, range, symbols))
    return map;
  if (!haveSameSize(domain, range, symbols))
    return std::nullopt;
  auto proved = [&](std::optional<MapAttr> guess) {
    return guess && areInverse(map, *guess, domain, range, symbols);
  };
  std::optional<MapAttr> inverse = invertDigits(map, domain, range, symbols);
  if (proved(inverse))
    return inverse;
  std::optional<Expr> offset = getContiguousOffset(map, domain, range, symbols);
  if (!offset || !offset->isConstant(0))
    return std::nullopt;
  // The map preserves row-major positions, and both spaces have the same number
  // of elements: a bijection.
  return getReshape(map.getContext(), range, domain, symbols);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

std::optional<unsigned>
llir::countDimsOfRows(MapAttr map, ArrayRef<Expr> domain, ArrayRef<Expr> source,
                      unsigned rows, const Assumptions &symbols) {
  auto results = map.getResults();
  auto usesRows = [&](const Expr &e) {
    return llvm::any_of(llvm::seq(rows),
                        [&](unsigned d) { return e.usesDim(d); });
  };
  if (llvm::none_of(results, usesRows))
    return 0;
  Assumptions inside = withExtents(symbols, domain);
  ArrayRef<Expr> all = domain.take_front(rows);
  std::vector<Expr> place;
  for (unsigned d = 0; d < rows; ++d)
    place.push_back(Expr::dim(d));
  Expr row = inside.simplify(linearize(place, all.vec()));
  for (unsigned n = 1; n <= source.size(); ++n) {
    if (llvm::any_of(results.drop_front(n), usesRows))
      continue;
    ArrayRef<Expr> leading = source.take_front(n);
    Expr read =
        inside.simplify(linearize(results.take_front(n).vec(), leading.vec()));
    if (read == row && haveSameSize(leading, all, symbols))
      return n;
  }
  return std::nullopt;
}

Expr llir::joinDimsOfRows(const Expr &e, unsigned rows) {
  return e.substitute([&](const Expr &leaf) -> std::optional<Expr> {
    std::optional<unsigned> dim = leaf.asDim();
    return dim ? std::optional(Expr::dim(*dim - rows + 1)) : std::nullopt;
  });
}
