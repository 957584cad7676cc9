//===- ScanNatives.cpp - Recognises scans ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reduction over j of a body that depends on i is a scan if the condition
// under which an element is taken selects all j up to i, or all from i on. The
// condition is read as a formula over the distance j - i. It changes only at
// the constants in it, so testing the distances around each constant is enough.
//
//===----------------------------------------------------------------------===//

#include "Reads.h"
#include "Rules.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::eqsat;
using hlir::MapAttr;

//===----------------------------------------------------------------------===//
// Conditions on places
//===----------------------------------------------------------------------===//

namespace {
enum class Truth : uint8_t {
  Constant, ///< `number` is 0 or 1
  Less,     ///< 0 < sign * distance + number
  AndNot,   ///< second and not first: first < second on i1
  And,      ///< first and second
  Select    ///< first ? second : third
};
struct Formula {
  Truth kind;
  int64_t number = 0, sign = 0;
  unsigned first = 0, second = 0, third = 0;
};

/// The range of j that is taken for each i.
struct Window {
  bool reverse, exclusive;
  bool takes(int64_t distance) const {
    const int64_t ahead = reverse ? -distance : distance;
    return exclusive ? ahead < 0 : ahead <= 0;
  }
};

class WindowReader : public ViewReader {
public:
  /// `distance` is an expression over the dims of `space`.
  WindowReader(const MatchContext &c, const Assumptions &space, Expr distance)
      : ViewReader(c), space(space), distance(std::move(distance)) {}

  /// The window of distances for which `condition` equals `isTaken`.
  std::optional<Window> readWindow(ClassId condition, bool isTaken);
  /// Whether the condition holds exactly for the distances from `least` on,
  /// among nonnegative distances.
  bool holdsFrom(ClassId condition, int64_t least);

private:
  using Id = std::optional<unsigned>;
  Id add(Formula f) {
    formulas.push_back(f);
    return formulas.size() - 1;
  }
  Id readTruth(ClassId condition);
  Id readTruth(const Read &read, unsigned depth);
  Id readLess(const Read &left, const Read &right, unsigned depth);
  bool evaluate(unsigned id, int64_t at) const;
  /// Test distances: the one before, at and after each distance at which a
  /// formula changes.
  SmallVector<int64_t> getTried() const;

  const Assumptions &space;
  Expr distance;
  std::vector<Formula> formulas;
};

/// Larger constants are not read, so that twice a constant does not overflow.
constexpr int64_t kFarthest = int64_t(1) << 48;
} // namespace

bool WindowReader::evaluate(unsigned id, int64_t at) const {
  const Formula &f = formulas[id];
  auto sub = [&](unsigned part) { return evaluate(part, at); };
  switch (f.kind) {
  case Truth::Constant:
    return f.number != 0;
  case Truth::Less:
    return 0 < f.sign * at + f.number;
  case Truth::AndNot:
    return !sub(f.first) && sub(f.second);
  case Truth::And:
    return sub(f.first) && sub(f.second);
  case Truth::Select:
    return sub(f.first) ? sub(f.second) : sub(f.third);
  }
  return false;
}

WindowReader::Id WindowReader::readLess(const Read &left, const Read &right,
                                        unsigned depth) {
  if (isOfType(left.cls, [](Type t) { return t.isInteger(1); })) {
    Id first = readTruth(left, depth), second = readTruth(right, depth);
    return first && second ? add({.kind = Truth::AndNot,
                                  .first = *first,
                                  .second = *second})
                           : Id();
  }
  std::optional<Expr> low = getIndex(left, space),
                      high = getIndex(right, space);
  if (!low || !high)
    return std::nullopt;
  if (space.provablyLess(*low, *high))
    return add({.kind = Truth::Constant, .number = 1});
  for (int64_t sign : {1, -1, 0}) {
    Expr rest = *high - *low - Expr(sign) * distance;
    if (std::optional<int64_t> number = space.simplify(rest).asConstant();
        number && std::abs(*number) <= kFarthest)
      return add({.kind = Truth::Less, .number = *number, .sign = sign});
  }
  return std::nullopt;
}

WindowReader::Id WindowReader::readTruth(const Read &read, unsigned depth) {
  constexpr unsigned kDeepest = 16;
  if (depth > kDeepest)
    return std::nullopt;
  if (std::optional<double> number = getNumber(read.cls))
    return add({.kind = Truth::Constant, .number = *number != 0});
  Id result;
  auto look = [&](StringRef name, auto fn) {
    if (!result)
      c.forEachNode(read.cls, name, [&](const MatchedOp &op) {
        result = fn(op);
        return !result;
      });
  };
  auto sub = [&](const MatchedOp &op, unsigned operand) {
    return readTruth({op.operands[operand], read.map}, depth + 1);
  };
  look("hlir.less_than", [&](const MatchedOp &op) {
    return readLess({op.operands[0], read.map}, {op.operands[1], read.map},
                    depth + 1);
  });
  look("hlir.mul", [&](const MatchedOp &op) -> Id {
    Id first = sub(op, 0), second = first ? sub(op, 1) : Id();
    return second
               ? add({.kind = Truth::And, .first = *first, .second = *second})
               : Id();
  });
  look("hlir.select", [&](const MatchedOp &op) -> Id {
    Id first = sub(op, 0), second = first ? sub(op, 1) : Id(),
       third = second ? sub(op, 2) : Id();
    return third ? add({.kind = Truth::Select,
                        .first = *first,
                        .second = *second,
                        .third = *third})
                 : Id();
  });
  look("hlir.view", [&](const MatchedOp &op) {
    return readTruth(compose(read, op), depth + 1);
  });
  return result;
}

WindowReader::Id WindowReader::readTruth(ClassId condition) {
  auto type = cast<RankedTensorType>(c.typeOf(condition));
  return readTruth({condition, MapAttr::getIdentity(context, type.getRank())},
                   0);
}

SmallVector<int64_t> WindowReader::getTried() const {
  SmallVector<int64_t> tried = {-1, 0, 1};
  for (const Formula &f : formulas)
    for (int64_t beside : {-1, 0, 1})
      if (f.kind == Truth::Less)
        tried.push_back(-f.sign * f.number + beside);
  return tried;
}

std::optional<Window> WindowReader::readWindow(ClassId condition,
                                               bool isTaken) {
  Id root = readTruth(condition);
  if (!root)
    return std::nullopt;
  for (bool reverse : {false, true})
    for (bool exclusive : {false, true}) {
      Window window{reverse, exclusive};
      if (llvm::all_of(getTried(), [&](int64_t d) {
            return (evaluate(*root, d) == isTaken) == window.takes(d);
          }))
        return window;
    }
  return std::nullopt;
}

bool WindowReader::holdsFrom(ClassId condition, int64_t least) {
  Id root = readTruth(condition);
  if (!root)
    return false;
  SmallVector<int64_t> tried = getTried();
  tried.append({least - 1, least});
  return llvm::all_of(tried, [&](int64_t d) {
    return d < 0 || evaluate(*root, d) == (d >= least);
  });
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

namespace {
/// The operand of a scan: one element for each element of the result.
struct Prefix {
  Read from;
  unsigned axis;
  Window window;
};
} // namespace

/// Whether every element is the neutral element of the reduction.
static bool isIdentity(const MatchContext &c, ClassId cls, bool isSum) {
  Attribute fact = c.fact("number", cls);
  if (auto number = dyn_cast_or_null<FloatAttr>(fact)) {
    const APFloat value = number.getValue();
    return isSum ? value.isZero() : value.isInfinity() && value.isNegative();
  }
  if (auto number = dyn_cast_or_null<IntegerAttr>(fact))
    return isSum ? number.getValue().isZero()
                 : number.getValue().isMinSignedValue();
  return false;
}

/// Rewrites a map over [dims of the result..., j], which does not depend on dim
/// `axis`, as a map over the dims of the result, with j renamed to that dim.
static MapAttr withoutPlace(const MatchContext &c, MapAttr map, unsigned axis,
                            const Assumptions &space) {
  const unsigned last = map.getNumDims() - 1;
  std::vector<Expr> dims;
  for (unsigned d = 0; d < last; ++d)
    dims.push_back(Expr::dim(d));
  dims.push_back(Expr::dim(axis));
  SmallVector<Expr> results;
  for (const Expr &e : map.getResults())
    results.push_back(e.substituteDims(dims));
  return MapAttr::getSimplified(c.getContext(), results, space);
}

/// Reads a body that, outside the prefix, repeats one of its elements: the
/// element at min(i, j), or at max(i, j) for a reversed scan.
static std::optional<Prefix> readClamped(const MatchContext &c,
                                         const Read &source, unsigned axis,
                                         const Assumptions &pairs,
                                         const Assumptions &space) {
  const unsigned last = source.map.getNumDims() - 1;
  // At j = i the body is the element itself.
  MapAttr map = withoutPlace(c, source.map, axis, space);
  for (bool reverse : {false, true}) {
    std::vector<Expr> dims;
    for (unsigned d = 0; d < last; ++d)
      dims.push_back(Expr::dim(d));
    Expr i = Expr::dim(axis), j = Expr::dim(last);
    dims[axis] = reverse ? Expr::max(i, j) : Expr::min(i, j);
    if (llvm::all_of(llvm::zip_equal(source.map.getResults(), map.getResults()),
                     [&](auto pair) {
                       auto [found, at] = pair;
                       return pairs.simplify(found - at.substituteDims(dims))
                           .isConstant(0);
                     }))
      return Prefix{{source.cls, map}, axis, {reverse, false}};
  }
  return std::nullopt;
}

static std::optional<Prefix> readPrefix(const MatchContext &c, ClassId body,
                                        bool isSum) {
  SmallVector<Expr> extents =
      hlir::getExtents(cast<RankedTensorType>(c.typeOf(body)));
  const unsigned last = extents.size() - 1;
  Assumptions symbols = hlir::getAssumptions(c.scope()),
              pairs = hlir::getAssumptions(c.scope(), extents),
              space = hlir::getAssumptions(c.scope(),
                                           ArrayRef(extents).drop_back());
  std::optional<Prefix> found;
  for (unsigned axis = 0; axis < last && !found; ++axis) {
    if (symbols.equal(extents[axis], extents[last]) != true)
      continue;
    ViewReader reader(c);
    Expr distance = Expr::dim(last) - Expr::dim(axis);
    Read whole{body, MapAttr::getIdentity(c.getContext(), last + 1)};
    c.forEachNode(body, "hlir.select", [&](const MatchedOp &op) {
      for (bool isTaken : {true, false}) {
        ClassId value = op.operands[isTaken ? 1 : 2],
                other = op.operands[isTaken ? 2 : 1];
        if (!isIdentity(c, other, isSum))
          continue;
        std::optional<Window> window = WindowReader(c, pairs, distance)
                                           .readWindow(op.operands[0], isTaken);
        if (!window)
          continue;
        for (const Read &source : reader.getSources({value, whole.map}, pairs))
          if (!found && !source.map.usesDim(axis))
            found =
                Prefix{{source.cls, withoutPlace(c, source.map, axis, space)},
                       axis,
                       *window};
      }
      return !found;
    });
    if (!isSum && !found)
      for (const Read &source : reader.getSources(whole, pairs))
        if (!found && source.cls != body)
          found = readClamped(c, source, axis, pairs, space);
  }
  return found;
}

/// (body, kind, type)
static std::optional<Prefix> readPrefix(const MatchContext &c,
                                        NativeArgs args) {
  auto kind = cast<llir::ScanKindAttr>(args[1].asAttr());
  return readPrefix(c, args[0].asClass(),
                    kind.getValue() == llir::ScanKind::Sum);
}

static bool isPrefix(MatchContext &c, NativeArgs args, NativeResults &) {
  return readPrefix(c, args).has_value();
}

static bool scanPrefix(MatchContext &c, NativeArgs args,
                       NativeResults &results) {
  std::optional<Prefix> prefix = readPrefix(c, args);
  if (!prefix)
    return false;
  Builder b(c.getContext());
  auto type = cast<RankedTensorType>(args[2].asType());
  auto element =
      cast<RankedTensorType>(c.typeOf(prefix->from.cls)).getElementType();
  ClassId elements = c.create(
      "hlir.view", b.getDictionaryAttr(b.getNamedAttr("map", prefix->from.map)),
      hlir::getTensorType(hlir::getExtents(type), element), prefix->from.cls);
  if (elements == kNone)
    return false;
  NamedAttribute how[] = {
      b.getNamedAttr("kind", args[1].asAttr()),
      b.getNamedAttr("axis", b.getI64IntegerAttr(prefix->axis)),
      b.getNamedAttr("reverse", b.getBoolAttr(prefix->window.reverse)),
      b.getNamedAttr("exclusive", b.getBoolAttr(prefix->window.exclusive)),
      b.getNamedAttr("positions", b.getBoolAttr(false))};
  ClassId scan =
      c.create("llir.scan", b.getDictionaryAttr(how), type, elements);
  if (scan == kNone)
    return false;
  results.push_back(NativeValue::ofClass(scan));
  return true;
}

/// (body, x, axis, reverse, exclusive)
static bool isPrefixOf(MatchContext &c, NativeArgs args, NativeResults &) {
  std::optional<Prefix> prefix =
      readPrefix(c, args[0].asClass(), /*isSum=*/false);
  if (!prefix || prefix->axis != cast<IntegerAttr>(args[2].asAttr()).getInt() ||
      prefix->window.reverse != cast<BoolAttr>(args[3].asAttr()).getValue() ||
      prefix->window.exclusive != cast<BoolAttr>(args[4].asAttr()).getValue())
    return false;
  SmallVector<Expr> extents = hlir::getExtents(tensorOf(c, args[1]));
  Read whole{args[1].asClass(),
             MapAttr::getIdentity(c.getContext(), extents.size())};
  return llvm::is_contained(
      ViewReader(c).getSources(whole, hlir::getAssumptions(c.scope(), extents)),
      prefix->from);
}

static bool isPlaceAlong(MatchContext &c, NativeArgs args, NativeResults &) {
  SmallVector<Expr> extents = hlir::getExtents(tensorOf(c, args[0]));
  Assumptions space = hlir::getAssumptions(c.scope(), extents);
  std::optional<Expr> index = ViewReader(c).getIndex(
      {args[0].asClass(), MapAttr::getIdentity(c.getContext(), extents.size())},
      space);
  auto axis = cast<IntegerAttr>(args[1].asAttr());
  return index && *index == Expr::dim(static_cast<unsigned>(axis.getInt()));
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {
/// A partial running product: each element is the product of the `width`
/// elements of `of` along `axis` that end at its position, or of fewer if there
/// are not so many.
struct Doubled {
  ClassId of;
  unsigned axis;
  int64_t width;
};
} // namespace

/// Whether `map` reads the element `width` positions earlier along `axis`, and
/// `inside` holds exactly where there is one.
static bool isBefore(const MatchContext &c, ClassId inside, MapAttr map,
                     ArrayRef<Expr> extents, unsigned axis, int64_t width) {
  // For the positions from `width` on, with the origin moved there.
  SmallVector<Expr> rest(extents);
  rest[axis] = rest[axis] - Expr(width);
  std::vector<Expr> dims;
  for (unsigned d = 0; d < extents.size(); ++d)
    dims.push_back(Expr::dim(d));
  dims[axis] = dims[axis] + Expr(width);
  Assumptions behind = hlir::getAssumptions(c.scope(), rest),
              space = hlir::getAssumptions(c.scope(), extents);
  for (auto [d, e] : llvm::enumerate(map.getResults()))
    if (!behind
             .simplify(e.substituteDims(dims) -
                       Expr::dim(static_cast<unsigned>(d)))
             .isConstant(0))
      return false;
  return WindowReader(c, space, Expr::dim(axis)).holdsFrom(inside, width);
}

/// Reads the product of `a` and `before`.
static std::optional<Doubled> readDoubled(const MatchContext &c, ClassId a,
                                          ClassId before, unsigned depth) {
  constexpr unsigned kMostDoublings = 40;
  if (depth > kMostDoublings)
    return std::nullopt;
  SmallVector<Expr> extents =
      hlir::getExtents(cast<RankedTensorType>(c.typeOf(a)));
  // What `before` reads of `a`, and where; 1 elsewhere.
  SmallVector<std::pair<ClassId, MapAttr>> reads;
  c.forEachNode(before, "hlir.select", [&](const MatchedOp &select) {
    auto one =
        dyn_cast_or_null<IntegerAttr>(c.fact("number", select.operands[2]));
    if (one && one.getValue().isOne())
      c.forEachNode(select.operands[1], "hlir.view",
                    [&](const MatchedOp &view) {
                      auto map = cast<MapAttr>(c.attrOf(view, "map"));
                      if (view.operands[0] == a &&
                          map.getResults().size() == extents.size())
                        reads.push_back({select.operands[0], map});
                      return true;
                    });
    return true;
  });
  // Most products are refused here, before those of their operands are read.
  if (reads.empty())
    return std::nullopt;
  // `a` is itself such a product, or a plain value along any dim.
  SmallVector<Doubled> parts;
  c.forEachNode(a, "hlir.mul", [&](const MatchedOp &product) {
    if (auto part =
            readDoubled(c, product.operands[0], product.operands[1], depth + 1))
      parts.push_back(*part);
    return parts.empty();
  });
  for (unsigned axis = 0; axis < extents.size(); ++axis)
    parts.push_back({a, axis, 1});
  for (const auto &[inside, map] : reads)
    for (const Doubled &part : parts)
      if (isBefore(c, inside, map, extents, part.axis, part.width))
        return Doubled{part.of, part.axis, 2 * part.width};
  return std::nullopt;
}

/// (a, before): the product of all elements up to each position
static std::optional<Doubled> readProduct(const MatchContext &c,
                                          NativeArgs args) {
  std::optional<Doubled> doubled =
      readDoubled(c, args[0].asClass(), args[1].asClass(), 0);
  if (!doubled)
    return std::nullopt;
  Expr extent = hlir::getExtents(tensorOf(c, args[0]))[doubled->axis];
  return hlir::getAssumptions(c.scope()).provablyLessEqual(extent,
                                                           Expr(doubled->width))
             ? doubled
             : std::nullopt;
}

static bool isRunningProduct(MatchContext &c, NativeArgs args,
                             NativeResults &) {
  return readProduct(c, args).has_value();
}

static bool scanProduct(MatchContext &c, NativeArgs args,
                        NativeResults &results) {
  std::optional<Doubled> product = readProduct(c, args);
  if (!product)
    return false;
  Builder b(c.getContext());
  NamedAttribute how[] = {
      b.getNamedAttr("kind", llir::ScanKindAttr::get(c.getContext(),
                                                     llir::ScanKind::Product)),
      b.getNamedAttr("axis", b.getI64IntegerAttr(product->axis)),
      b.getNamedAttr("reverse", b.getBoolAttr(false)),
      b.getNamedAttr("exclusive", b.getBoolAttr(false)),
      b.getNamedAttr("positions", b.getBoolAttr(false))};
  ClassId scan = c.create("llir.scan", b.getDictionaryAttr(how),
                          c.typeOf(product->of), product->of);
  if (scan == kNone)
    return false;
  results.push_back(NativeValue::ofClass(scan));
  return true;
}

static bool isRounded(MatchContext &, NativeArgs args, NativeResults &) {
  const llir::ScanKind kind =
      cast<llir::ScanKindAttr>(args[0].asAttr()).getValue();
  return kind != llir::ScanKind::Max && kind != llir::ScanKind::Min;
}

void luminal::eqsat::addScanNatives(RuleSetBuilder &set) {
  set.constraint("IsPrefix", isPrefix);
  set.constraint("IsPrefixOf", isPrefixOf);
  set.constraint("IsPlaceAlong", isPlaceAlong);
  set.constraint("IsRounded", isRounded);
  set.constraint("IsRunningProduct", isRunningProduct);
  set.rewrite("ScanPrefix", scanPrefix);
  set.rewrite("ScanRunningProduct", scanProduct);
}
