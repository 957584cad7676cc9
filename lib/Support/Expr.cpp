//===- Expr.cpp - Normal forms of integer expressions ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ExprDetail.h"
#include <algorithm>
#include <cassert>
#include <unordered_map>
#include <unordered_set>

using namespace luminal;

/// A product of sums is multiplied out if the result has at most this many
/// terms; otherwise it stays a product.
static constexpr size_t kMaxTerms = 512;
/// A larger expression is undefined. Bounds the recursion depth over nodes, and
/// the memory of trees.
static constexpr uint32_t kMaxDepth = 1024;
static constexpr uint32_t kMaxWeight = 1u << 20;

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

static Expr makeExpr(Expr::Kind kind, std::vector<Expr> operands) {
  Expr e = ExprBuilder::intern(kind, 0, {}, std::move(operands));
  return ExprBuilder::depth(e) > kMaxDepth ||
                 ExprBuilder::weight(e) > kMaxWeight
             ? ExprBuilder::undefined()
             : e;
}

const Expr &ExprBuilder::undefined() {
  static const Expr e =
      keepForever(makeExpr(Expr::Kind::FloorDiv, {Expr(1), Expr(0)}));
  return e;
}

Expr::Expr() : Expr(int64_t(0)) {}

Expr::Expr(int64_t value) : node(nullptr) {
  // Small constants are frequent: they are cached without a lookup and are not
  // reference-counted.
  static constexpr int64_t kSmall = 64;
  auto make = [](int64_t v) {
    return ExprBuilder::intern(Kind::Constant, v, {}, {});
  };
  static const auto *small = [&] {
    auto *exprs = new std::vector<Expr>;
    exprs->reserve(2 * kSmall + 1);
    for (int64_t v = -kSmall; v <= kSmall; ++v)
      exprs->push_back(ExprBuilder::keepForever(make(v)));
    return exprs;
  }();
  if (value >= -kSmall && value <= kSmall)
    node = (*small)[static_cast<size_t>(value + kSmall)].node;
  else
    *this = make(value);
}

Expr Expr::symbol(std::string_view name) {
  return ExprBuilder::intern(Kind::Symbol, 0, name, {});
}

Expr Expr::dim(unsigned index) {
  return ExprBuilder::intern(Kind::Dim, index, {}, {});
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

// Dims come before symbols, then compound factors; sums are last.
static unsigned rank(Expr::Kind kind) {
  switch (kind) {
  case Expr::Kind::Constant:
    return 0;
  case Expr::Kind::Dim:
    return 1;
  case Expr::Kind::Symbol:
    return 2;
  case Expr::Kind::FloorDiv:
    return 3;
  case Expr::Kind::Mod:
    return 4;
  case Expr::Kind::Max:
    return 5;
  case Expr::Kind::Min:
    return 6;
  case Expr::Kind::Mul:
    return 7;
  case Expr::Kind::Add:
    return 8;
  }
  return 9;
}

int Expr::compare(const Expr &a, const Expr &b) {
  if (a.node == b.node)
    return 0;
  const Node &x = ExprBuilder::get(a), &y = ExprBuilder::get(b);
  if (x.kind != y.kind)
    return rank(x.kind) < rank(y.kind) ? -1 : 1;
  if (x.kind == Kind::Add) {
    // Of unexpanded sums, the largest comes first, so that parsing the text
    // form from left to right multiplies the same pairs.
    if (x.opaque != y.opaque)
      return x.opaque ? -1 : 1;
    if (x.operands.size() != y.operands.size())
      return x.operands.size() > y.operands.size() ? -1 : 1;
  }
  if (x.value != y.value)
    return x.value < y.value ? -1 : 1;
  if (int c = x.name.compare(y.name))
    return c < 0 ? -1 : 1;
  for (size_t i = 0; i < x.operands.size() && i < y.operands.size(); ++i)
    if (int c = compare(x.operands[i], y.operands[i]))
      return c;
  return x.operands.size() < y.operands.size() ? -1 : 1;
}

int ExprBuilder::compareFactors(const std::vector<Expr> &a,
                                const std::vector<Expr> &b) {
  for (size_t i = 0; i < a.size() && i < b.size(); ++i)
    if (int c = Expr::compare(a[i], b[i]))
      return c;
  return a.size() == b.size() ? 0 : a.size() > b.size() ? -1 : 1;
}

std::vector<Expr> ExprBuilder::mergeFactors(const std::vector<Expr> &a,
                                            const std::vector<Expr> &b) {
  std::vector<Expr> result;
  result.reserve(a.size() + b.size());
  std::merge(a.begin(), a.end(), b.begin(), b.end(),
             std::back_inserter(result));
  return result;
}

//===----------------------------------------------------------------------===//
// Sums and products
//===----------------------------------------------------------------------===//

static Term termOf(const Expr &e) {
  if (std::optional<int64_t> value = e.asConstant())
    return {{}, *value};
  if (e.kind() != Expr::Kind::Mul)
    return {{e}, 1};
  const std::vector<Expr> &factors = e.operands();
  if (std::optional<int64_t> value = factors.front().asConstant())
    return {{factors.begin() + 1, factors.end()}, *value};
  return {factors, 1};
}

std::vector<Term> ExprBuilder::terms(const Expr &e) {
  std::vector<Term> result;
  if (e.kind() == Expr::Kind::Add) {
    result.reserve(e.operands().size());
    for (const Expr &operand : e.operands())
      result.push_back(termOf(operand));
  } else if (!e.isConstant(0)) {
    result.push_back(termOf(e));
  }
  return result;
}

size_t ExprBuilder::numTerms(const Expr &e) {
  return e.kind() == Expr::Kind::Add ? e.operands().size()
         : e.isConstant(0)           ? 0
                                     : 1;
}

Expr ExprBuilder::fromTerm(Term term) {
  if (term.factors.empty() || term.coefficient == 0)
    return Expr(term.coefficient);
  if (term.coefficient != 1)
    term.factors.insert(term.factors.begin(), Expr(term.coefficient));
  if (term.factors.size() == 1)
    return term.factors.front();
  return makeExpr(Expr::Kind::Mul, std::move(term.factors));
}

Expr ExprBuilder::sum(std::vector<Term> terms) {
  std::sort(terms.begin(), terms.end(), [](const Term &a, const Term &b) {
    return compareFactors(a.factors, b.factors) < 0;
  });
  std::vector<Expr> operands;
  for (size_t i = 0; i < terms.size();) {
    // Add the coefficients of equal products in 128 bits: partial sums may
    // overflow int64_t although the total does not.
    __int128 coefficient = 0;
    size_t j = i;
    for (; j < terms.size() &&
           compareFactors(terms[i].factors, terms[j].factors) == 0;
         ++j)
      coefficient += terms[j].coefficient;
    if (coefficient < INT64_MIN || coefficient > INT64_MAX)
      return undefined();
    if (coefficient != 0)
      operands.push_back(fromTerm(
          {std::move(terms[i].factors), static_cast<int64_t>(coefficient)}));
    i = j;
  }
  if (operands.empty())
    return Expr();
  if (operands.size() == 1)
    return operands.front();
  return makeExpr(Expr::Kind::Add, std::move(operands));
}

namespace luminal {

Expr operator+(const Expr &a, const Expr &b) {
  if (a.isUndefined() || b.isUndefined())
    return ExprBuilder::undefined();
  std::vector<Term> terms = ExprBuilder::terms(a);
  std::vector<Term> more = ExprBuilder::terms(b);
  terms.insert(terms.end(), std::make_move_iterator(more.begin()),
               std::make_move_iterator(more.end()));
  return ExprBuilder::sum(std::move(terms));
}

Expr operator*(const Expr &a, const Expr &b) {
  if (a.isUndefined() || b.isUndefined())
    return ExprBuilder::undefined();
  if (a.isConstant(1))
    return b;
  if (b.isConstant(1))
    return a;
  std::vector<Term> x = ExprBuilder::terms(a), y = ExprBuilder::terms(b);
  bool sums = x.size() > 1 && y.size() > 1;
  bool opaque = ExprBuilder::get(a).opaque || ExprBuilder::get(b).opaque;
  // A product of sums that is too large to expand stays a product, and so does
  // its product with anything else; otherwise the normal form would depend on
  // the order of multiplication. A single term without sums is always
  // multiplied in.
  if ((sums && (opaque || x.size() * y.size() > kMaxTerms)) ||
      (opaque &&
       ((x.size() == 1 && y.size() > 1 && ExprBuilder::get(a).opaque) ||
        (y.size() == 1 && x.size() > 1 && ExprBuilder::get(b).opaque)))) {
    auto asTerm = [](const Expr &e, std::vector<Term> &terms) {
      return terms.size() == 1 ? std::move(terms.front()) : Term{{e}, 1};
    };
    x = {asTerm(a, x)};
    y = {asTerm(b, y)};
  }
  std::vector<Term> terms;
  terms.reserve(x.size() * y.size());
  for (const Term &s : x) {
    for (const Term &t : y) {
      std::optional<int64_t> coefficient =
          checkedMul(s.coefficient, t.coefficient);
      if (!coefficient)
        return ExprBuilder::undefined();
      terms.push_back(
          {ExprBuilder::mergeFactors(s.factors, t.factors), *coefficient});
    }
  }
  return ExprBuilder::sum(std::move(terms));
}

Expr operator-(const Expr &a, const Expr &b) {
  if (a.isUndefined() || b.isUndefined())
    return ExprBuilder::undefined();
  std::vector<Term> terms = ExprBuilder::terms(a);
  for (Term &term : ExprBuilder::terms(b)) {
    std::optional<int64_t> negated = checkedMul(term.coefficient, -1);
    if (!negated)
      return ExprBuilder::undefined();
    terms.push_back({std::move(term.factors), *negated});
  }
  return ExprBuilder::sum(std::move(terms));
}

} // namespace luminal

Expr Expr::operator-() const { return *this * Expr(-1); }

//===----------------------------------------------------------------------===//
// floordiv, mod, max, min
//===----------------------------------------------------------------------===//

/// e / divisor, if every coefficient is a multiple of the divisor.
static std::optional<Expr> divideExactly(const Expr &e, int64_t divisor) {
  std::vector<Term> terms = ExprBuilder::terms(e);
  for (Term &term : terms) {
    if (checkedFloorMod(term.coefficient, divisor) != 0)
      return std::nullopt;
    std::optional<int64_t> quotient =
        checkedFloorDiv(term.coefficient, divisor);
    if (!quotient)
      return std::nullopt;
    term.coefficient = *quotient;
  }
  return ExprBuilder::sum(std::move(terms));
}

Expr Expr::floorDiv(const Expr &a, const Expr &b) {
  if (a.isUndefined() || b.isUndefined())
    return ExprBuilder::undefined();
  std::optional<int64_t> x = a.asConstant(), y = b.asConstant();
  if (y == 0)
    return ExprBuilder::undefined();
  if (y) {
    if (x) {
      std::optional<int64_t> q = checkedFloorDiv(*x, *y);
      return q ? Expr(*q) : ExprBuilder::undefined();
    }
    if (std::optional<Expr> q = divideExactly(a, *y))
      return *q;
  }
  return makeExpr(Kind::FloorDiv, {a, b});
}

Expr Expr::ceilDiv(const Expr &a, const Expr &b) { return -floorDiv(-a, b); }

Expr Expr::mod(const Expr &a, const Expr &b) {
  if (a.isUndefined() || b.isUndefined())
    return ExprBuilder::undefined();
  std::optional<int64_t> x = a.asConstant(), y = b.asConstant();
  if (y == 0)
    return ExprBuilder::undefined();
  if (y) {
    if (x)
      return Expr(*checkedFloorMod(*x, *y));
    if (divideExactly(a, *y))
      return Expr();
  }
  return makeExpr(Kind::Mod, {a, b});
}

static void collectOperands(Expr::Kind kind, const Expr &e,
                            std::vector<Expr> &operands) {
  if (e.kind() != kind) {
    operands.push_back(e);
    return;
  }
  for (const Expr &operand : e.operands())
    collectOperands(kind, operand, operands);
}

/// Builds a max or min, which are associative and commutative: operands are
/// flattened, sorted, deduplicated, and nested to the left.
static Expr makeExtremum(Expr::Kind kind, const Expr &a, const Expr &b) {
  if (a.isUndefined() || b.isUndefined())
    return ExprBuilder::undefined();
  std::vector<Expr> operands;
  collectOperands(kind, a, operands);
  collectOperands(kind, b, operands);
  std::sort(operands.begin(), operands.end());
  operands.erase(std::unique(operands.begin(), operands.end()), operands.end());
  // Constants sort first: fold them into one and put it last.
  std::optional<int64_t> constant;
  auto it = operands.begin();
  for (; it != operands.end() && it->asConstant(); ++it) {
    int64_t value = *it->asConstant();
    if (!constant)
      constant = value;
    else
      constant = kind == Expr::Kind::Max ? std::max(*constant, value)
                                         : std::min(*constant, value);
  }
  operands.erase(operands.begin(), it);
  if (constant)
    operands.push_back(Expr(*constant));
  Expr result = operands.front();
  for (size_t i = 1; i < operands.size(); ++i)
    result = makeExpr(kind, {result, operands[i]});
  return result;
}

Expr Expr::max(const Expr &a, const Expr &b) {
  return makeExtremum(Kind::Max, a, b);
}
Expr Expr::min(const Expr &a, const Expr &b) {
  return makeExtremum(Kind::Min, a, b);
}

Expr ExprBuilder::rebuild(Expr::Kind kind, const Expr &a, const Expr &b) {
  switch (kind) {
  case Expr::Kind::FloorDiv:
    return Expr::floorDiv(a, b);
  case Expr::Kind::Mod:
    return Expr::mod(a, b);
  case Expr::Kind::Max:
    return Expr::max(a, b);
  case Expr::Kind::Min:
    return Expr::min(a, b);
  default:
    assert(false && "not a binary node");
    return undefined();
  }
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

size_t Expr::hash() const { return ExprBuilder::get(*this).hash; }
Expr::Kind Expr::kind() const { return ExprBuilder::get(*this).kind; }
const std::vector<Expr> &Expr::operands() const & {
  return ExprBuilder::get(*this).operands;
}
std::vector<Expr> Expr::operands() const && {
  return ExprBuilder::get(*this).operands;
}
bool Expr::hasDims() const { return ExprBuilder::get(*this).hasDims; }
bool Expr::isUndefined() const { return *this == ExprBuilder::undefined(); }

std::optional<int64_t> Expr::asConstant() const {
  const Node &n = ExprBuilder::get(*this);
  return n.kind == Kind::Constant ? std::optional<int64_t>(n.value)
                                  : std::nullopt;
}
std::optional<std::string_view> Expr::asSymbol() const & {
  const Node &n = ExprBuilder::get(*this);
  return n.kind == Kind::Symbol ? std::optional<std::string_view>(n.name)
                                : std::nullopt;
}
std::optional<unsigned> Expr::asDim() const {
  const Node &n = ExprBuilder::get(*this);
  return n.kind == Kind::Dim
             ? std::optional<unsigned>(static_cast<unsigned>(n.value))
             : std::nullopt;
}

/// Calls fn once for each distinct leaf, in order of first occurrence, until it
/// returns true. Returns whether it did.
static bool anyLeaf(const Expr &e, std::unordered_set<const Expr::Node *> &seen,
                    const std::function<bool(const Expr &)> &fn) {
  if (!seen.insert(&ExprBuilder::get(e)).second)
    return false;
  if (e.operands().empty())
    return fn(e);
  return std::any_of(
      e.operands().begin(), e.operands().end(),
      [&](const Expr &operand) { return anyLeaf(operand, seen, fn); });
}

bool Expr::usesDim(unsigned index) const {
  std::unordered_set<const Node *> seen;
  return hasDims() && anyLeaf(*this, seen, [&](const Expr &leaf) {
           return leaf.asDim() == index;
         });
}

bool Expr::usesSymbol(std::string_view name) const {
  std::unordered_set<const Node *> seen;
  return anyLeaf(*this, seen,
                 [&](const Expr &leaf) { return leaf.asSymbol() == name; });
}

void Expr::collectSymbols(std::vector<std::string> &symbols) const {
  std::unordered_set<const Node *> seen;
  anyLeaf(*this, seen, [&](const Expr &leaf) {
    if (leaf.asSymbol())
      symbols.emplace_back(*leaf.asSymbol());
    return false;
  });
  std::sort(symbols.begin(), symbols.end());
  symbols.erase(std::unique(symbols.begin(), symbols.end()), symbols.end());
}

//===----------------------------------------------------------------------===//
// Substitution and evaluation
//===----------------------------------------------------------------------===//

namespace {
struct Substitution {
  const std::function<std::optional<Expr>(const Expr &)> &fn;
  std::unordered_map<const Expr::Node *, Expr> memo;

  Expr apply(const Expr &e) {
    auto it = memo.find(&ExprBuilder::get(e));
    if (it != memo.end())
      return it->second;
    Expr result = compute(e);
    memo.emplace(&ExprBuilder::get(e), result);
    return result;
  }

  Expr compute(const Expr &e) {
    switch (e.kind()) {
    case Expr::Kind::Constant:
      return e;
    case Expr::Kind::Symbol:
    case Expr::Kind::Dim:
      return fn(e).value_or(e);
    case Expr::Kind::Add: {
      std::vector<Term> terms;
      for (const Expr &operand : e.operands()) {
        Expr value = apply(operand);
        if (value.isUndefined())
          return value;
        std::vector<Term> more = ExprBuilder::terms(value);
        terms.insert(terms.end(), more.begin(), more.end());
      }
      return ExprBuilder::sum(std::move(terms));
    }
    case Expr::Kind::Mul: {
      Expr result(1);
      for (const Expr &operand : e.operands())
        result = result * apply(operand);
      return result;
    }
    default:
      return ExprBuilder::rebuild(e.kind(), apply(e.operands()[0]),
                                  apply(e.operands()[1]));
    }
  }
};
} // namespace

Expr Expr::substitute(
    const std::function<std::optional<Expr>(const Expr &leaf)> &fn) const {
  return Substitution{fn, {}}.apply(*this);
}

Expr Expr::substituteDims(const std::vector<Expr> &dims) const {
  if (!hasDims())
    return *this;
  return substitute([&](const Expr &leaf) -> std::optional<Expr> {
    std::optional<unsigned> index = leaf.asDim();
    if (!index)
      return std::nullopt;
    assert(*index < dims.size() && "a dim has no replacement");
    return *index < dims.size() ? dims[*index] : ExprBuilder::undefined();
  });
}

std::optional<Expr::Linear> Expr::linearIn(unsigned index) const {
  std::vector<Term> stride, rest;
  for (Term &term : ExprBuilder::terms(*this)) {
    auto it = std::find(term.factors.begin(), term.factors.end(), dim(index));
    bool found = it != term.factors.end();
    if (found)
      term.factors.erase(it);
    for (const Expr &factor : term.factors)
      if (factor.usesDim(index))
        return std::nullopt;
    (found ? stride : rest).push_back(std::move(term));
  }
  return Linear{ExprBuilder::sum(std::move(stride)),
                ExprBuilder::sum(std::move(rest))};
}

/// Evaluates in 128 bits: only symbols and the final value must fit into
/// int64_t.
static std::optional<__int128> evaluateWide(const Expr &e,
                                            const Expr::SymbolValues &symbols,
                                            const std::vector<int64_t> &dims) {
  auto operand = [&](size_t i) {
    return evaluateWide(e.operands()[i], symbols, dims);
  };
  switch (e.kind()) {
  case Expr::Kind::Constant:
    return *e.asConstant();
  case Expr::Kind::Symbol: {
    std::optional<int64_t> value =
        symbols ? symbols(*e.asSymbol()) : std::nullopt;
    return value ? std::optional<__int128>(*value) : std::nullopt;
  }
  case Expr::Kind::Dim:
    return *e.asDim() < dims.size() ? std::optional<__int128>(dims[*e.asDim()])
                                    : std::nullopt;
  case Expr::Kind::Add:
  case Expr::Kind::Mul: {
    bool add = e.kind() == Expr::Kind::Add;
    __int128 result = add ? 0 : 1;
    for (size_t i = 0; i < e.operands().size(); ++i) {
      std::optional<__int128> value = operand(i);
      if (!value || (add ? __builtin_add_overflow(result, *value, &result)
                         : __builtin_mul_overflow(result, *value, &result)))
        return std::nullopt;
    }
    return result;
  }
  default: {
    std::optional<__int128> a = operand(0), b = operand(1);
    if (!a || !b)
      return std::nullopt;
    switch (e.kind()) {
    case Expr::Kind::FloorDiv:
      return checkedFloorDiv(*a, *b);
    case Expr::Kind::Mod:
      return checkedFloorMod(*a, *b);
    case Expr::Kind::Max:
      return *a > *b ? *a : *b;
    default:
      return *a < *b ? *a : *b;
    }
  }
  }
}

std::optional<int64_t> Expr::evaluate(const SymbolValues &symbols,
                                      const std::vector<int64_t> &dims) const {
  std::optional<__int128> value = evaluateWide(*this, symbols, dims);
  if (!value || *value < INT64_MIN || *value > INT64_MAX)
    return std::nullopt;
  return static_cast<int64_t>(*value);
}

//===----------------------------------------------------------------------===//
// Index arithmetic
//===----------------------------------------------------------------------===//

Expr luminal::product(const std::vector<Expr> &extents) {
  Expr result(1);
  for (const Expr &extent : extents)
    result = result * extent;
  return result;
}

Expr luminal::linearize(const std::vector<Expr> &index,
                        const std::vector<Expr> &extents) {
  assert(index.size() == extents.size() && "one index an extent");
  Expr result;
  for (size_t i = 0; i < index.size(); ++i)
    result = result * extents[i] + index[i];
  return result;
}

std::vector<Expr> luminal::delinearize(const Expr &linear,
                                       const std::vector<Expr> &extents) {
  std::vector<Expr> result(extents.size());
  // An empty space has no positions.
  if (std::any_of(extents.begin(), extents.end(),
                  [](const Expr &e) { return e.isConstant(0); }))
    return result;
  Expr stride(1);
  for (size_t i = extents.size(); i-- > 0;) {
    Expr index = Expr::floorDiv(linear, stride);
    result[i] = i == 0 ? index : Expr::mod(index, extents[i]);
    stride = stride * extents[i];
  }
  return result;
}
