//===- OrderNatives.cpp - Recognises sorts --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The body of a sum over j is a formula over an element a (at position i), an
// element b (at position j) and both positions. There are finitely many
// relations of a and b to each other and to the constants in the formula. The
// formula is evaluated for each of these cases and compared with the four
// stable total orders. A body that cannot be read as such a formula is not an
// order.
//
// Nodes below the arguments are read too. A rule is not matched again when only
// these change, which is acceptable: recovery needs only what the given program
// contains.
//
//===----------------------------------------------------------------------===//

#include "Reads.h"
#include "Rules.h"
#include "luminal/Dialect/HLIR/IR/HLIR.h"

#include <cmath>
#include <map>
#include <set>

using namespace mlir;
using namespace luminal;
using namespace luminal::eqsat;
using hlir::MapAttr;

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

namespace {
enum class Truth : uint8_t {
  Constant,   ///< `number` is 0 or 1
  ALessB,     ///< a < b
  BLessA,     ///< b < a
  ALess,      ///< a < number
  BLess,      ///< b < number
  AGreater,   ///< number < a
  BGreater,   ///< number < b
  PlaceLess,  ///< i < j
  PlaceAfter, ///< j < i
  AndNot,     ///< second and not first: first < second on i1
  And,        ///< first and second
  Select      ///< first ? second : third
};

struct Formula {
  Truth kind;
  double number = 0;
  unsigned first = 0, second = 0, third = 0;
};

/// One way in which two elements can relate. A region is either a constant of
/// the formula or an interval between neighbouring constants, numbered in
/// ascending order; -1 is NaN.
struct Case {
  int a, b;
  /// -1 if a < b, 0 if a = b, 1 if b < a; any other value if one is NaN.
  int order;
  /// -1 if i < j, 0 if i = j, 1 if j < i.
  int place;

  bool isNanA() const { return a < 0; }
  bool isNanB() const { return b < 0; }
};

/// All cases; for floats including NaN.
std::vector<Case> makeCases(int regions, bool isFloat) {
  std::vector<Case> cases;
  auto add = [&](int a, int b, int order, bool mayBeSame) {
    for (int place : {-1, 1})
      cases.push_back({a, b, order, place});
    if (mayBeSame)
      cases.push_back({a, b, order, 0});
  };
  for (int a = isFloat ? -1 : 0; a < regions; ++a)
    for (int b = isFloat ? -1 : 0; b < regions; ++b) {
      const bool isInterval = a % 2 == 0;
      if (a < 0 || b < 0)
        add(a, b, 2, a == b);
      else if (a != b)
        add(a, b, a < b ? -1 : 1, false);
      else
        for (int order = isInterval ? -1 : 0; order <= (isInterval ? 1 : 0);
             ++order)
          add(a, b, order, order == 0);
    }
  return cases;
}

bool evaluate(ArrayRef<Formula> all, unsigned id,
              const std::map<double, int> &regions, const Case &c) {
  const Formula &f = all[id];
  auto sub = [&](unsigned part) { return evaluate(all, part, regions, c); };
  auto region = [&] { return regions.at(f.number); };
  switch (f.kind) {
  case Truth::Constant:
    return f.number != 0;
  case Truth::ALessB:
    return c.order == -1;
  case Truth::BLessA:
    return c.order == 1;
  case Truth::ALess:
    return !c.isNanA() && c.a < region();
  case Truth::BLess:
    return !c.isNanB() && c.b < region();
  case Truth::AGreater:
    return c.a > region();
  case Truth::BGreater:
    return c.b > region();
  case Truth::PlaceLess:
    return c.place == -1;
  case Truth::PlaceAfter:
    return c.place == 1;
  case Truth::AndNot:
    return !sub(f.first) && sub(f.second);
  case Truth::And:
    return sub(f.first) && sub(f.second);
  case Truth::Select:
    return sub(f.first) ? sub(f.second) : sub(f.third);
  }
  return false;
}

/// Whether b, at position j, comes before a, at position i.
bool comesBefore(const Case &c, bool descending, bool nanFirst) {
  if (c.isNanA() != c.isNanB())
    return c.isNanB() == nanFirst;
  const bool isSame = c.isNanA() || c.order == 0;
  return isSame ? c.place == 1 : c.order == (descending ? -1 : 1);
}

//===----------------------------------------------------------------------===//
// Reading them from the graph
//===----------------------------------------------------------------------===//

/// The rows that a sum ranks, and their order.
struct Ranks {
  /// Maps [rows..., position] to the elements.
  Read keys;
  SmallVector<Expr> extents;
  bool descending = false, nanFirst = false;
};

class Reader : public ViewReader {
public:
  using ViewReader::ViewReader;

  std::optional<Ranks> readRanks(ClassId sum);

private:
  using Id = std::optional<unsigned>;
  Id add(Formula f) {
    formulas.push_back(f);
    return formulas.size() - 1;
  }
  /// Reads a value that is 1 where a formula holds and 0 elsewhere.
  Id readIndicator(ClassId cls);
  Id readTruth(const Read &read, unsigned depth);
  Id readLess(const Read &left, const Read &right, unsigned depth);
  /// Whether `read` is an element at position i ('a') or j ('b'), otherwise 0.
  /// Restricts `keys` to the candidates that are consistent with it.
  char readKey(const Read &read);

  std::vector<Formula> formulas;
  std::set<double> numbers;
  /// Assumptions for the index space of the sum's operand: [rows..., i, j].
  std::optional<Assumptions> pairs, places;
  unsigned last = 0;
  /// The candidates for the tensor to which all elements belong; nullopt before
  /// the first element is read.
  std::optional<SmallVector<Read>> keys;
};
} // namespace

char Reader::readKey(const Read &read) {
  char side = 0;
  SmallVector<Read> found;
  for (const Read &source : getSources(read, *pairs)) {
    const bool usesI = source.map.usesDim(last - 1),
               usesJ = source.map.usesDim(last);
    if (usesI == usesJ)
      continue;
    const char of = usesI ? 'a' : 'b';
    if (side && side != of)
      return 0;
    side = of;
    // Express both as functions of the row and one position.
    std::vector<Expr> dims;
    for (unsigned d = 0; d < last; ++d)
      dims.push_back(Expr::dim(d));
    dims.push_back(Expr::dim(last - 1));
    SmallVector<Expr> results;
    for (const Expr &e : source.map.getResults())
      results.push_back(e.substituteDims(dims));
    Read key{source.cls, MapAttr::getSimplified(context, results, *places)};
    if (!keys || llvm::is_contained(*keys, key))
      found.push_back(key);
  }
  if (found.empty())
    return 0;
  keys = found;
  return side;
}

Reader::Id Reader::readLess(const Read &left, const Read &right,
                            unsigned depth) {
  if (isOfType(left.cls, [](Type t) { return t.isInteger(1); })) {
    Id first = readTruth(left, depth), second = readTruth(right, depth);
    return first && second ? add({Truth::AndNot, 0, *first, *second}) : Id();
  }
  std::optional<double> low = getNumber(left.cls), high = getNumber(right.cls);
  if (low && high)
    return add({Truth::Constant, double(*low < *high)});
  std::optional<Expr> i = low ? std::nullopt : getIndex(left, *pairs),
                      j = high ? std::nullopt : getIndex(right, *pairs);
  if (i && j) {
    Expr a = Expr::dim(last - 1), b = Expr::dim(last);
    if (*i == a && *j == b)
      return add({Truth::PlaceLess});
    return *i == b && *j == a ? add({Truth::PlaceAfter}) : Id();
  }
  if (low || high) {
    numbers.insert(low ? *low : *high);
    const char side = readKey(low ? right : left);
    if (side == 0)
      return std::nullopt;
    if (low)
      return add({side == 'a' ? Truth::AGreater : Truth::BGreater, *low});
    return add({side == 'a' ? Truth::ALess : Truth::BLess, *high});
  }
  const char first = readKey(left), second = readKey(right);
  if (first == 0 || second == 0 || first == second)
    return std::nullopt;
  return add({first == 'a' ? Truth::ALessB : Truth::BLessA});
}

Reader::Id Reader::readTruth(const Read &read, unsigned depth) {
  constexpr unsigned kDeepest = 32;
  if (depth > kDeepest)
    return std::nullopt;
  if (std::optional<double> number = getNumber(read.cls))
    return add({Truth::Constant, *number});
  Id result;
  auto look = [&](StringRef name, auto fn) {
    if (!result)
      c.forEachNode(read.cls, name, [&](const MatchedOp &op) {
        auto before = keys;
        result = fn(op);
        if (!result)
          keys = before;
        return !result;
      });
  };
  auto sub = [&](const MatchedOp &op, unsigned i) {
    return readTruth({op.operands[i], read.map}, depth + 1);
  };
  look("hlir.less_than", [&](const MatchedOp &op) {
    return readLess({op.operands[0], read.map}, {op.operands[1], read.map},
                    depth + 1);
  });
  look("hlir.mul", [&](const MatchedOp &op) -> Id {
    Id first = sub(op, 0), second = first ? sub(op, 1) : Id();
    return second ? add({Truth::And, 0, *first, *second}) : Id();
  });
  look("hlir.select", [&](const MatchedOp &op) -> Id {
    Id first = sub(op, 0), second = first ? sub(op, 1) : Id(),
       third = second ? sub(op, 2) : Id();
    return third ? add({Truth::Select, 0, *first, *second, *third}) : Id();
  });
  look("hlir.view", [&](const MatchedOp &op) {
    return readTruth(compose(read, op), depth + 1);
  });
  return result;
}

Reader::Id Reader::readIndicator(ClassId cls) {
  Read whole{cls, MapAttr::getIdentity(context, last + 1)};
  Id result;
  c.forEachNode(cls, "hlir.cast", [&](const MatchedOp &op) {
    if (isOfType(op.operands[0], [](Type t) { return t.isInteger(1); }))
      result = readTruth({op.operands[0], whole.map}, 0);
    return !result;
  });
  if (!result)
    c.forEachNode(cls, "hlir.select", [&](const MatchedOp &op) {
      if (getNumber(op.operands[1]) == 1.0 && getNumber(op.operands[2]) == 0.0)
        result = readTruth({op.operands[0], whole.map}, 0);
      return !result;
    });
  return result;
}

std::optional<Ranks> Reader::readRanks(ClassId sum) {
  // Ranks that are added as i32 without wrapping would have to stay below 2^31,
  // so only i64 is accepted.
  if (!isOfType(sum, [](Type t) { return t.isInteger(64); }))
    return std::nullopt;
  std::optional<Ranks> ranks;
  c.forEachNode(sum, "hlir.reduce_sum", [&](const MatchedOp &op) {
    ClassId body = op.operands[0];
    SmallVector<Expr> extents =
        hlir::getExtents(cast<RankedTensorType>(c.typeOf(body)));
    last = extents.size() - 1;
    if (last == 0 || hlir::getAssumptions(c.scope()).equal(
                         extents[last - 1], extents[last]) != true)
      return true;
    SmallVector<Expr> rows(ArrayRef(extents).drop_back());
    pairs = hlir::getAssumptions(c.scope(), extents);
    places = hlir::getAssumptions(c.scope(), rows);
    formulas.clear();
    numbers.clear();
    keys.reset();
    Id root = readIndicator(body);
    constexpr size_t kMostNumbers = 8;
    if (!root || !keys || numbers.size() > kMostNumbers)
      return true;
    std::map<double, int> regions;
    for (double number : numbers)
      regions[number] = 2 * static_cast<int>(regions.size()) + 1;
    const bool isFloat =
        isOfType(keys->front().cls, [](Type t) { return isa<FloatType>(t); });
    std::vector<Case> cases =
        makeCases(2 * static_cast<int>(numbers.size()) + 1, isFloat);
    for (bool descending : {false, true})
      for (bool nanFirst : {false, true}) {
        const bool isThis = llvm::all_of(cases, [&](const Case &one) {
          return evaluate(formulas, *root, regions, one) ==
                 comesBefore(one, descending, nanFirst);
        });
        // For integers both NaN orders are equal; take the first.
        if (isThis && !ranks)
          ranks = Ranks{keys->front(), rows, descending, nanFirst};
      }
    return !ranks;
  });
  return ranks;
}

//===----------------------------------------------------------------------===//
// Orders
//===----------------------------------------------------------------------===//

/// The row-major number of an element.
static Expr linearize(ArrayRef<Expr> index, ArrayRef<Expr> extents) {
  Expr sum = 0;
  for (auto [i, extent] : llvm::zip_equal(index, extents))
    sum = sum * extent + i;
  return sum;
}

/// The index of the element with a row-major number.
static SmallVector<Expr> delinearize(Expr number, ArrayRef<Expr> extents) {
  SmallVector<Expr> index(extents.size(), Expr(0));
  for (size_t d = extents.size(); d-- > 0;) {
    index[d] = d ? Expr::mod(number, extents[d]) : number;
    number = Expr::floorDiv(number, extents[d]);
  }
  return index;
}

static SmallVector<Expr> getDims(size_t count) {
  SmallVector<Expr> dims;
  for (size_t d = 0; d < count; ++d)
    dims.push_back(Expr::dim(static_cast<unsigned>(d)));
  return dims;
}

/// The ranks by which `indices`, of `total` elements, address each element
/// exactly once.
static std::optional<Ranks> readOrder(const MatchContext &c, ClassId indices,
                                      const Expr &total) {
  Reader reader(c);
  Assumptions flat = hlir::getAssumptions(c.scope(), ArrayRef(total));
  auto check = [&](const Read &read, ClassId sum,
                   std::optional<ClassId> base) -> std::optional<Ranks> {
    std::optional<Ranks> ranks = reader.readRanks(sum);
    if (!ranks)
      return std::nullopt;
    ArrayRef<Expr> extents = ranks->extents;
    Assumptions rows = hlir::getAssumptions(c.scope(), extents);
    SmallVector<Expr> dims = getDims(extents.size());
    // The rank plus the number of elements in the preceding rows.
    Expr before = linearize(ArrayRef(dims).drop_back(), extents.drop_back()) *
                  extents.back();
    std::optional<Expr> added = Expr(0);
    if (base)
      added = reader.getIndex(
          {*base, MapAttr::getIdentity(c.getContext(), extents.size())}, rows);
    if (!added || !rows.simplify(*added - before).isConstant(0))
      return std::nullopt;
    // The updates must be in row-major order.
    Expr number = linearize(read.map.getResults(), extents);
    if (!flat.simplify(number - Expr::dim(0)).isConstant(0) ||
        flat.equal(product({extents.begin(), extents.end()}), total) != true)
      return std::nullopt;
    return ranks;
  };
  Read all{indices, MapAttr::getIdentity(c.getContext(), 1)};
  for (const Read &read : reader.getSources(all, flat)) {
    std::optional<Ranks> ranks = check(read, read.cls, std::nullopt);
    if (!ranks)
      c.forEachNode(read.cls, "hlir.add", [&](const MatchedOp &op) {
        for (unsigned i = 0; i < 2 && !ranks; ++i)
          ranks = check(read, op.operands[i], op.operands[1 - i]);
        return !ranks;
      });
    if (ranks)
      return ranks;
  }
  return std::nullopt;
}

/// The range of each row that is read at `place`, an expression over an index:
/// its begin and its length.
static std::optional<std::pair<Expr, Expr>>
getRange(const Expr &place, ArrayRef<Expr> extents, const Assumptions &space) {
  if (!place.hasDims())
    return std::pair(place, Expr(1));
  for (auto [d, extent] : llvm::enumerate(extents)) {
    Expr rest = space.simplify(place - Expr::dim(static_cast<unsigned>(d)));
    if (!rest.hasDims())
      return std::pair(rest, extent);
  }
  return std::nullopt;
}

namespace {
/// Elements of a scatter by ranks, expressed as a gather.
struct Ordered {
  Ranks ranks;
  /// Whether the scattered values are the elements' positions.
  bool isOfPlaces = false;
  /// The range of each row that is needed (begin and count), and the map from
  /// the index of the result to [rows..., position in the range].
  Expr begin = 0, count = 0;
  SmallVector<Expr> places;
};
} // namespace

/// (indices, dest, updates, map, type)
static std::optional<Ordered> readOrdered(const MatchContext &c,
                                          NativeArgs args) {
  RankedTensorType indices = tensorOf(c, args[0]), dest = tensorOf(c, args[1]),
                   updates = tensorOf(c, args[2]);
  if (indices.getRank() != 1 || updates.getRank() != 1 || dest.getRank() != 1 ||
      !indices.getElementType().isInteger(64))
    return std::nullopt;
  Expr total = hlir::getExtents(updates)[0];
  Assumptions symbols = hlir::getAssumptions(c.scope());
  if (symbols.equal(hlir::getExtents(dest)[0], total) != true)
    return std::nullopt;
  std::optional<Ranks> ranks = readOrder(c, args[0].asClass(), total);
  if (!ranks)
    return std::nullopt;
  ArrayRef<Expr> extents = ranks->extents;
  SmallVector<Expr> shape =
      hlir::getExtents(cast<RankedTensorType>(args[4].asType()));
  Assumptions space = hlir::getAssumptions(c.scope(), shape);
  Expr number = mapOf(args[3]).getResults()[0], n = extents.back(), begin = 0,
       count = n;
  Expr place = space.simplify(Expr::mod(number, n)),
       row = space.simplify(Expr::floorDiv(number, n));
  const bool isWhole =
      mapOf(args[3]).isIdentity() && symbols.equal(shape[0], total) == true;
  if (!isWhole) {
    auto range = getRange(place, shape, space);
    if (!range || !symbols.provablyLess(range->second, n))
      return std::nullopt;
    std::tie(begin, count) = *range;
    place = space.simplify(place - begin);
  }
  SmallVector<Expr> places = delinearize(row, extents.drop_back());
  places.push_back(place);
  Assumptions flat = hlir::getAssumptions(c.scope(), ArrayRef(total));
  std::optional<Expr> index = Reader(c).getIndex(
      {args[2].asClass(), MapAttr::getIdentity(c.getContext(), 1)}, flat);
  const bool isOfPlaces =
      index && *index == flat.simplify(Expr::mod(Expr::dim(0), n));
  return Ordered{*ranks, isOfPlaces, begin, count, places};
}

static bool isOrder(MatchContext &c, NativeArgs args, NativeResults &) {
  return readOrdered(c, args).has_value();
}

static bool inOrder(MatchContext &c, NativeArgs args, NativeResults &results) {
  std::optional<Ordered> found = readOrdered(c, args);
  if (!found)
    return false;
  const Ranks &ranks = found->ranks;
  Builder b(c.getContext());
  NodeMaker maker(c);
  auto map = [&](ArrayRef<Expr> results, ArrayRef<Expr> shape) {
    return b.getNamedAttr(
        "map", MapAttr::getSimplified(b.getContext(), results,
                                      hlir::getAssumptions(c.scope(), shape)));
  };
  ArrayRef<Expr> extents = ranks.extents;
  SmallVector<Expr> ordered(extents.drop_back()),
      dims = getDims(extents.size()),
      shape = hlir::getExtents(cast<RankedTensorType>(args[4].asType()));
  ordered.push_back(found->count);
  Type i64 = b.getI64Type();
  ClassId rows =
      maker.make("hlir.view", b.getNamedAttr("map", ranks.keys.map), extents,
                 elementOf(c, ranks.keys.cls), ranks.keys.cls);
  SmallVector<NamedAttribute> how = {
      b.getNamedAttr("descending", b.getBoolAttr(ranks.descending)),
      b.getNamedAttr("nan_first", b.getBoolAttr(ranks.nanFirst))};
  if (!found->begin.isConstant(0))
    how.push_back(b.getNamedAttr(
        "begin", MapAttr::get(b.getContext(), 0, ArrayRef(found->begin))));
  ClassId order = maker.make("llir.argsort", how, ordered, i64, rows);
  auto read = [&](ClassId positions) {
    return maker.make("hlir.view", map(found->places, shape), shape, i64,
                      positions);
  };
  ClassId result;
  if (found->isOfPlaces) {
    result = read(order);
  } else {
    Expr before = hlir::getAssumptions(c.scope(), ordered)
                      .simplify(linearize(ArrayRef(dims).drop_back(),
                                          extents.drop_back()) *
                                extents.back());
    ClassId positions = order;
    if (!before.isConstant(0)) {
      ClassId base =
          maker.make("hlir.iota", map(before, ordered), ordered, i64, {});
      positions = maker.make("hlir.add", {}, ordered, i64, {order, base});
    }
    ClassId updates = args[2].asClass();
    result = maker.make("hlir.gather", {}, shape, elementOf(c, updates),
                        {updates, read(positions)});
  }
  if (result == kNone)
    return false;
  results.push_back(NativeValue::ofClass(result));
  return true;
}

void luminal::eqsat::addOrderNatives(RuleSetBuilder &set) {
  set.constraint("IsOrder", isOrder);
  set.rewrite("InOrder", inOrder);
}
