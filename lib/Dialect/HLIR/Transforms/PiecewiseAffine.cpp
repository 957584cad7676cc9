//===- PiecewiseAffine.cpp - Integers as functions of their index ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PiecewiseAffine.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::presburger;
using namespace luminal;
using namespace luminal::hlir;

/// More pieces take long to test and do not occur in masks.
static constexpr size_t kMostPieces = 16;
static constexpr unsigned kMostVariables = 24;
/// Tests per function, enough for a few hundred masks. A test takes a few
/// microseconds.
static constexpr unsigned kMostTests = 1 << 14;
/// No dim in memory is longer, nor are views that repeat elements.
static constexpr int64_t kMostExtent = int64_t(1) << 40;
static constexpr int64_t kMostQuotient = int64_t(1) << 52;

//===----------------------------------------------------------------------===//
// Linear functions
//===----------------------------------------------------------------------===//

std::optional<int64_t> Linear::asConstant() const {
  if (llvm::any_of(coefficients, [](int64_t c) { return c != 0; }))
    return std::nullopt;
  return constant;
}

static Linear makeConstant(int64_t value) { return {{}, value}; }

static Linear makeVariable(unsigned index) {
  Linear result;
  result.coefficients.assign(index + 1, 0);
  result.coefficients[index] = 1;
  return result;
}

/// a + factor * b; std::nullopt on overflow.
static std::optional<Linear> addScaled(const Linear &a, const Linear &b,
                                       int64_t factor) {
  Linear result = a;
  result.coefficients.resize(
      std::max(a.coefficients.size(), b.coefficients.size()), 0);
  auto add = [&](int64_t &to, int64_t value) {
    int64_t product;
    return !llvm::MulOverflow(value, factor, product) &&
           !llvm::AddOverflow(to, product, to);
  };
  for (auto [i, c] : llvm::enumerate(b.coefficients))
    if (!add(result.coefficients[i], c))
      return std::nullopt;
  if (!add(result.constant, b.constant))
    return std::nullopt;
  while (!result.coefficients.empty() && result.coefficients.back() == 0)
    result.coefficients.pop_back();
  return result;
}

/// The function as a row of a set's constraints: variables, then the constant.
static SmallVector<int64_t> makeRow(const Linear &function,
                                    const IntegerPolyhedron &domain) {
  SmallVector<int64_t> row(domain.getNumCols(), 0);
  llvm::copy(function.coefficients, row.begin());
  row.back() = function.constant;
  return row;
}

/// Restricts the set to indices at which `function` is at least 0; false on
/// overflow.
static bool restrict(IntegerPolyhedron &domain,
                     const std::optional<Linear> &function) {
  if (function)
    domain.addInequality(makeRow(*function, domain));
  return function.has_value();
}

/// Substitutes functions for variables; std::nullopt on overflow.
static std::optional<Linear> substitute(ArrayRef<int64_t> row,
                                        ArrayRef<Linear> variables) {
  Linear result = makeConstant(row.back());
  for (auto [c, variable] : llvm::zip(row.drop_back(), variables)) {
    std::optional<Linear> next =
        c ? addScaled(result, variable, c) : std::move(result);
    if (!next)
      return std::nullopt;
    result = std::move(*next);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Sets
//===----------------------------------------------------------------------===//

PiecewiseAffine::PiecewiseAffine(func::FuncOp func)
    : func(func), symbols(getAssumptions(func)), tests(kMostTests) {
  for (const auto &[name, range] : symbols.getSymbols())
    names.push_back(name);
}

bool PiecewiseAffine::isEmpty(const IntegerPolyhedron &domain) {
  if (tests == 0)
    return false;
  --tests;
  return domain.isIntegerEmpty();
}

bool PiecewiseAffine::addPiece(Pieces &pieces, IntegerPolyhedron domain,
                               Linear function) {
  if (isEmpty(domain))
    return true;
  pieces.push_back({std::move(domain), std::move(function)});
  return pieces.size() <= kMostPieces && tests != 0;
}

std::optional<IntegerPolyhedron>
PiecewiseAffine::getIndexSpace(ArrayRef<Expr> extents) {
  const unsigned rank = extents.size();
  if (rank + names.size() > kMostVariables)
    return std::nullopt;
  IntegerPolyhedron space(PresburgerSpace::getSetSpace(rank, names.size()));
  for (auto [i, entry] : llvm::enumerate(symbols.getSymbols())) {
    const SymbolRange &range = entry.second;
    space.addBound(BoundType::LB, rank + i, range.lo);
    if (range.hi)
      space.addBound(BoundType::UB, rank + i, *range.hi);
  }
  for (auto [i, extent] : llvm::enumerate(extents)) {
    space.addBound(BoundType::LB, i, 0);
    std::optional<Pieces> end = evaluate(extent, space);
    if (!end || end->size() != 1)
      return std::nullopt;
    Piece &piece = end->front();
    std::optional<Linear> last = addScaled(piece.function, makeConstant(-1), 1);
    if (!last || !(last = addScaled(*last, makeVariable(i), -1)))
      return std::nullopt;
    space = std::move(piece.domain);
    space.addInequality(makeRow(*last, space));
  }
  return space;
}

/// Whether every value of the function fits the element type, so that no sum
/// wrapped.
bool PiecewiseAffine::fits(const Linear &function,
                           RankedTensorType type) const {
  SmallVector<Expr> extents = getExtents(type);
  APInt lo(128, function.constant, /*isSigned=*/true), hi = lo;
  for (auto [i, c] : llvm::enumerate(function.coefficients)) {
    if (c == 0)
      continue;
    int64_t least = 0, most = kMostExtent;
    if (i < extents.size()) {
      if (std::optional<int64_t> bound = symbols.upperBound(extents[i]))
        most = std::max<int64_t>(*bound - 1, 0);
    } else if (i < extents.size() + names.size()) {
      const SymbolRange &range =
          symbols.getSymbols().at(names[i - extents.size()]);
      least = range.lo;
      most = range.hi.value_or(kMostExtent);
    } else {
      // The bounds of a quotient of products of such extents.
      least = -kMostQuotient;
      most = kMostQuotient;
    }
    APInt first(128, least, true), last(128, most, true), factor(128, c, true);
    lo += factor * (c > 0 ? first : last);
    hi += factor * (c > 0 ? last : first);
  }
  const unsigned width = type.getElementType().getIntOrFloatBitWidth();
  if (width == 1)
    return lo.isNonNegative() && hi.sle(1);
  return lo.isSignedIntN(width) && hi.isSignedIntN(width);
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

static bool hasInequality(const IntegerPolyhedron &domain,
                          ArrayRef<int64_t> row) {
  return llvm::any_of(llvm::seq(domain.getNumInequalities()), [&](unsigned i) {
    return ArrayRef<int64_t>(domain.getInequality64(i)) == row;
  });
}

/// The local variable for floor(function / c), which is added if the set has
/// none. std::nullopt on overflow or with too many variables.
static std::optional<unsigned> getQuotient(IntegerPolyhedron &domain,
                                           const Linear &function, int64_t c) {
  // 0 <= function - c q <= c - 1.
  auto addBounds = [&](unsigned q, auto &&add) {
    std::optional<Linear> rest = addScaled(function, makeVariable(q), -c);
    std::optional<Linear> room =
        rest ? addScaled(makeConstant(c - 1), *rest, -1) : std::nullopt;
    return room && add(makeRow(*rest, domain)) && add(makeRow(*room, domain));
  };
  const unsigned shared = domain.getNumVars() - domain.getNumLocalVars();
  for (unsigned q = shared; q != domain.getNumVars(); ++q)
    if (addBounds(q, [&](ArrayRef<int64_t> row) {
          return hasInequality(domain, row);
        }))
      return q;
  if (domain.getNumVars() == kMostVariables)
    return std::nullopt;
  const unsigned q = domain.getNumVars();
  domain.appendVar(VarKind::Local);
  if (!addBounds(q, [&](ArrayRef<int64_t> row) {
        domain.addInequality(row);
        return true;
      }))
    return std::nullopt;
  return q;
}

/// floordiv or mod by a positive constant.
std::optional<Pieces> PiecewiseAffine::divide(const Expr &e,
                                              const IntegerPolyhedron &domain) {
  std::optional<int64_t> c = e.operands()[1].asConstant();
  std::optional<Pieces> pieces = evaluate(e.operands()[0], domain);
  if (!pieces || !c || *c <= 0)
    return std::nullopt;
  for (Piece &piece : *pieces) {
    std::optional<unsigned> q = getQuotient(piece.domain, piece.function, *c);
    if (!q)
      return std::nullopt;
    if (e.kind() == Expr::Kind::FloorDiv)
      piece.function = makeVariable(*q);
    else if (auto rest = addScaled(piece.function, makeVariable(*q), -*c))
      piece.function = std::move(*rest);
    else
      return std::nullopt;
  }
  return pieces;
}

/// max or min: each operand on the set where it is selected.
std::optional<Pieces> PiecewiseAffine::choose(const Expr &e,
                                              const IntegerPolyhedron &domain) {
  std::optional<Tuples> tuples = evaluate(e.operands(), domain);
  if (!tuples)
    return std::nullopt;
  Pieces result;
  for (Tuple &tuple : *tuples) {
    const Linear &a = tuple.functions[0], &b = tuple.functions[1];
    std::optional<Linear> difference = addScaled(a, b, -1);
    if (!difference)
      return std::nullopt;
    IntegerPolyhedron first = tuple.domain, second = tuple.domain;
    if (!restrict(first, difference) ||
        !restrict(second, addScaled(makeConstant(-1), *difference, -1)))
      return std::nullopt;
    bool isMax = e.kind() == Expr::Kind::Max;
    if (!addPiece(result, std::move(first), isMax ? a : b) ||
        !addPiece(result, std::move(second), isMax ? b : a))
      return std::nullopt;
  }
  return result;
}

std::optional<PiecewiseAffine::Tuples>
PiecewiseAffine::evaluate(ArrayRef<Expr> exprs,
                          const IntegerPolyhedron &domain) {
  Tuples tuples = {{domain, {}}};
  for (const Expr &e : exprs) {
    Tuples next;
    for (const Tuple &tuple : tuples) {
      std::optional<Pieces> pieces = evaluate(e, tuple.domain);
      if (!pieces || next.size() + pieces->size() > kMostPieces)
        return std::nullopt;
      for (Piece &piece : *pieces) {
        next.push_back({std::move(piece.domain), tuple.functions});
        next.back().functions.push_back(std::move(piece.function));
      }
    }
    tuples = std::move(next);
  }
  return tuples;
}

/// The pieces of an expression over the variables of a set. The pieces divide
/// the set.
std::optional<Pieces>
PiecewiseAffine::evaluate(const Expr &e, const IntegerPolyhedron &domain) {
  switch (e.kind()) {
  case Expr::Kind::Constant:
    return Pieces{{domain, makeConstant(*e.asConstant())}};
  case Expr::Kind::Dim:
    if (*e.asDim() >= domain.getNumDimVars())
      return std::nullopt;
    return Pieces{{domain, makeVariable(*e.asDim())}};
  case Expr::Kind::Symbol: {
    auto it = llvm::find(names, *e.asSymbol());
    if (it == names.end())
      return std::nullopt;
    return Pieces{
        {domain, makeVariable(domain.getNumDimVars() + (it - names.begin()))}};
  }
  case Expr::Kind::FloorDiv:
  case Expr::Kind::Mod:
    return divide(e, domain);
  case Expr::Kind::Max:
  case Expr::Kind::Min:
    return choose(e, domain);
  case Expr::Kind::Add:
  case Expr::Kind::Mul:
    break;
  }
  std::optional<Tuples> tuples = evaluate(e.operands(), domain);
  if (!tuples)
    return std::nullopt;
  Pieces pieces;
  for (Tuple &tuple : *tuples) {
    std::optional<Linear> result =
        makeConstant(e.kind() == Expr::Kind::Mul ? 1 : 0);
    for (const Linear &next : tuple.functions) {
      if (e.kind() == Expr::Kind::Add)
        result = addScaled(*result, next, 1);
      else if (std::optional<int64_t> c = next.asConstant())
        result = addScaled(makeConstant(0), *result, *c);
      else if (std::optional<int64_t> c = result->asConstant())
        result = addScaled(makeConstant(0), next, *c);
      else
        return std::nullopt;
      if (!result)
        return std::nullopt;
    }
    pieces.push_back({std::move(tuple.domain), std::move(*result)});
  }
  return pieces;
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

const Pieces *PiecewiseAffine::get(Value value) const {
  auto it = known.find(value);
  return it == known.end() ? nullptr : &it->second;
}

/// Restricts `domain` to where the positions `index`, one for each dim of the
/// piece's set, lie in that set. Returns the piece's function there. Local
/// variables of the piece come last. std::nullopt on overflow or with too many
/// variables.
static std::optional<Linear> restrictTo(IntegerPolyhedron &domain,
                                        const Piece &piece,
                                        ArrayRef<Linear> index) {
  const IntegerPolyhedron &from = piece.domain;
  const unsigned added = from.getNumLocalVars();
  if (domain.getNumVars() + added > kMostVariables)
    return std::nullopt;
  SmallVector<Linear> variables(index);
  for (unsigned i = 0; i != domain.getNumSymbolVars(); ++i)
    variables.push_back(makeVariable(domain.getNumDimVars() + i));
  for (unsigned i = 0; i != added; ++i)
    variables.push_back(makeVariable(domain.getNumVars() + i));
  if (added)
    domain.appendVar(VarKind::Local, added);
  for (unsigned i = 0; i != from.getNumInequalities(); ++i)
    if (!restrict(domain, substitute(from.getInequality64(i), variables)))
      return std::nullopt;
  return substitute(makeRow(piece.function, from), variables);
}

/// The pieces of a value read at the positions `index`.
std::optional<Pieces> PiecewiseAffine::readThrough(const Pieces &pieces,
                                                   const Tuples &index) {
  Pieces result;
  for (const Tuple &tuple : index)
    for (const Piece &piece : pieces) {
      IntegerPolyhedron domain = tuple.domain;
      std::optional<Linear> function =
          restrictTo(domain, piece, tuple.functions);
      if (!function || !addPiece(result, std::move(domain), *function))
        return std::nullopt;
    }
  return result;
}

std::optional<Pieces> PiecewiseAffine::readView(ViewOp op) {
  const Pieces *pieces = get(op.getOperand());
  if (!pieces)
    return std::nullopt;
  auto space = getIndexSpace(getExtents(op.getResult()));
  if (!space)
    return std::nullopt;
  auto index = evaluate(op.getMap().getResults(), *space);
  return index ? readThrough(*pieces, *index) : std::nullopt;
}

/// Considers only indices inside the data: an index outside is an error of the
/// call.
std::optional<Pieces> PiecewiseAffine::readGather(GatherOp op) {
  const Pieces *data = get(op.getData()), *indices = get(op.getIndices());
  if (!data || !indices)
    return std::nullopt;
  SmallVector<Expr> extents = getExtents(op.getData());
  auto space = getIndexSpace(getExtents(op.getResult()));
  if (!space)
    return std::nullopt;
  const unsigned rank = getExtents(op.getIndices()).size();
  Tuple here{*space, {}};
  for (unsigned i = 0; i != rank; ++i)
    here.functions.push_back(makeVariable(i));
  std::optional<Pieces> rows = readThrough(*indices, {here});
  if (!rows)
    return std::nullopt;
  Tuples index;
  for (Piece &row : *rows) {
    std::optional<Pieces> end = evaluate(extents[0], row.domain);
    if (!end || end->size() != 1)
      return std::nullopt;
    IntegerPolyhedron below = row.domain, above = end->front().domain;
    if (!restrict(below, addScaled(makeConstant(-1), row.function, -1)) ||
        !restrict(above, addScaled(row.function, end->front().function, -1)) ||
        !isEmpty(below) || !isEmpty(above))
      return std::nullopt;
    Tuple tuple{std::move(row.domain), {std::move(row.function)}};
    for (unsigned i = 1; i != extents.size(); ++i)
      tuple.functions.push_back(makeVariable(rank + i - 1));
    index.push_back(std::move(tuple));
  }
  return readThrough(*data, index);
}

/// The intersection of both sets, and the function of `b` on it.
static std::optional<IntegerPolyhedron>
intersect(const Piece &a, const Piece &b, Linear &function) {
  SmallVector<Linear> index;
  for (unsigned i = 0; i != a.domain.getNumDimVars(); ++i)
    index.push_back(makeVariable(i));
  IntegerPolyhedron domain = a.domain;
  std::optional<Linear> moved = restrictTo(domain, b, index);
  if (!moved)
    return std::nullopt;
  function = std::move(*moved);
  return domain;
}

std::optional<Pieces> PiecewiseAffine::combine(
    Value a, Value b,
    llvm::function_ref<std::optional<Linear>(const Linear &, const Linear &)>
        function) {
  const Pieces *left = get(a), *right = get(b);
  if (!left || !right)
    return std::nullopt;
  Pieces result;
  for (const Piece &x : *left)
    for (const Piece &y : *right) {
      Linear moved;
      auto domain = intersect(x, y, moved);
      if (!domain)
        return std::nullopt;
      // An empty set is skipped before its function is computed, which may not
      // exist.
      if (isEmpty(*domain))
        continue;
      std::optional<Linear> combined = function(x.function, moved);
      if (!combined || result.size() == kMostPieces)
        return std::nullopt;
      result.push_back({std::move(*domain), std::move(*combined)});
    }
  return result;
}

std::optional<Pieces> PiecewiseAffine::comparePieces(LessThanOp op) {
  // The difference of the left and the right operand where both are defined.
  std::optional<Pieces> differences =
      combine(op.getLhs(), op.getRhs(), [](const Linear &a, const Linear &b) {
        return addScaled(b, a, -1);
      });
  if (!differences)
    return std::nullopt;
  Pieces result;
  for (Piece &piece : *differences) {
    IntegerPolyhedron less = piece.domain, other = std::move(piece.domain);
    if (!restrict(less, addScaled(piece.function, makeConstant(-1), 1)) ||
        !restrict(other, addScaled(makeConstant(0), piece.function, -1)) ||
        !addPiece(result, std::move(less), makeConstant(1)) ||
        !addPiece(result, std::move(other), makeConstant(0)))
      return std::nullopt;
  }
  return result;
}

std::optional<Pieces> PiecewiseAffine::selectPieces(SelectOp op) {
  const Pieces *condition = get(op.getCondition());
  if (!condition)
    return std::nullopt;
  Pieces result;
  for (const Piece &which : *condition) {
    std::optional<int64_t> isTrue = which.function.asConstant();
    if (!isTrue)
      return std::nullopt;
    // The operand that is not selected need not be known.
    const Pieces *pieces = get(*isTrue ? op.getOnTrue() : op.getOnFalse());
    if (!pieces)
      return std::nullopt;
    for (const Piece &piece : *pieces) {
      Linear moved;
      auto domain = intersect(which, piece, moved);
      if (!domain || !addPiece(result, std::move(*domain), std::move(moved)))
        return std::nullopt;
    }
  }
  return result;
}

/// A reduction of equal elements.
std::optional<Pieces> PiecewiseAffine::reduce(Operation *op, bool isSum) {
  const Pieces *pieces = get(op->getOperand(0));
  if (!pieces || pieces->empty())
    return std::nullopt;
  std::optional<int64_t> value = pieces->front().function.asConstant();
  for (const Piece &piece : *pieces)
    if (!value || piece.function.asConstant() != value)
      return std::nullopt;
  auto space = getIndexSpace(getExtents(op->getResult(0)));
  if (!space)
    return std::nullopt;
  const Expr extent = getExtents(op->getOperand(0)).back();
  if (!isSum)
    return symbols.provablyLess(Expr(0), extent)
               ? std::optional(Pieces{{*space, makeConstant(*value)}})
               : std::nullopt;
  return evaluate(Expr(*value) * extent, *space);
}

std::optional<Pieces> PiecewiseAffine::compute(Operation *op) {
  using Result = std::optional<Pieces>;
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](hlir::ConstantOp constant) -> Result {
        auto elements = dyn_cast<SplatElementsAttr>(constant.getValue());
        auto space = getIndexSpace(getExtents(constant.getResult()));
        if (!elements || !space)
          return std::nullopt;
        auto value = elements.getSplatValue<APInt>();
        return Pieces{{*space, makeConstant(value.getBitWidth() == 1
                                                ? int64_t(value.getZExtValue())
                                                : value.getSExtValue())}};
      })
      .Case([&](IotaOp iota) -> Result {
        auto space = getIndexSpace(getExtents(iota.getResult()));
        return space ? evaluate(iota.getMap().getResults().front(), *space)
                     : std::nullopt;
      })
      .Case([&](ViewOp view) { return readView(view); })
      .Case([&](GatherOp gather) { return readGather(gather); })
      .Case([&](SelectOp select) { return selectPieces(select); })
      .Case([&](LessThanOp less) { return comparePieces(less); })
      .Case([&](AddOp add) {
        return combine(add.getLhs(), add.getRhs(),
                       [](const Linear &a, const Linear &b) {
                         return addScaled(a, b, 1);
                       });
      })
      .Case([&](MulOp mul) {
        return combine(
            mul.getLhs(), mul.getRhs(),
            [](const Linear &a, const Linear &b) -> std::optional<Linear> {
              if (std::optional<int64_t> c = b.asConstant())
                return addScaled(makeConstant(0), a, *c);
              if (std::optional<int64_t> c = a.asConstant())
                return addScaled(makeConstant(0), b, *c);
              return std::nullopt;
            });
      })
      .Case([&](CastOp cast) -> Result {
        const Pieces *pieces = get(cast.getOperand());
        return pieces ? Result(*pieces) : std::nullopt;
      })
      .Case([&](ReduceSumOp sum) { return reduce(sum, /*isSum=*/true); })
      .Case([&](ReduceMaxOp max) { return reduce(max, /*isSum=*/false); })
      .Default(std::nullopt);
}

static bool isTracked(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && (type.getElementType().isSignlessInteger(1) ||
                  type.getElementType().isSignlessInteger(32) ||
                  type.getElementType().isSignlessInteger(64));
}

void PiecewiseAffine::add(Operation *op) {
  if (op->getNumResults() != 1 || !isTracked(op->getResult(0)))
    return;
  // For other ops, all operands are tracked if the result is.
  if (auto cast = dyn_cast<CastOp>(op); cast && !isTracked(cast.getOperand()))
    return;
  std::optional<Pieces> pieces = compute(op);
  if (!pieces || pieces->empty() || tests == 0)
    return;
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  for (const Piece &piece : *pieces)
    if (!fits(piece.function, type))
      return;
  // A value that is a single function is that function on the whole index
  // space.
  const Linear &first = pieces->front().function;
  const unsigned shared = type.getRank() + names.size();
  if (first.coefficients.size() <= shared &&
      llvm::all_of(*pieces,
                   [&](const Piece &piece) { return piece.function == first; }))
    if (auto space = getIndexSpace(getExtents(type)))
      pieces = Pieces{{std::move(*space), first}};
  known.insert({op->getResult(0), std::move(*pieces)});
}

std::optional<Expr> PiecewiseAffine::getExpr(Value value) const {
  const Pieces *pieces = get(value);
  if (!pieces || pieces->size() != 1)
    return std::nullopt;
  const unsigned rank = cast<RankedTensorType>(value.getType()).getRank();
  if (pieces->front().function.coefficients.size() > rank + names.size())
    return std::nullopt;
  const Linear &function = pieces->front().function;
  Expr result = function.constant;
  for (auto [i, c] : llvm::enumerate(function.coefficients))
    result = result + Expr(c) * (i < rank ? Expr::dim(i)
                                          : Expr::symbol(names[i - rank]));
  return result;
}
