//===- AlternativeNatives.cpp - Natives of Alternatives.pdll --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Rules.h"
#include "luminal/Dialect/HLIR/IR/HLIR.h"
#include "llvm/ADT/SmallSet.h"

#include <cmath>

using namespace mlir;
using namespace luminal;
using namespace luminal::eqsat;
using hlir::MapAttr;

static SmallVector<Expr> with(ArrayRef<Expr> list, const Expr &last) {
  SmallVector<Expr> all(list);
  all.push_back(last);
  return all;
}

//===----------------------------------------------------------------------===//
// Grouping of products
//===----------------------------------------------------------------------===//

namespace {
/// Two nested products as one sum over a joint index: the dims of the result
/// (d0 ... dn-1), then the contracted dim q of the outer product and p of the
/// inner product.
struct TwoProducts {
  TwoProducts(MatchContext &c, NativeArgs args)
      : context(c.getContext()), scope(c.scope()),
        result(cast<RankedTensorType>(args[6].asType())),
        extents(hlir::getExtents(result)), n(extents.size()),
        q(mapOf(args[3]).getResults()[0]), p(mapOf(args[0]).getResults()[0]) {
    // Maps the joint index to the index of the inner product.
    SmallVector<Expr> middle(mapOf(args[4]).getResults());
    middle.push_back(Expr::dim(n + 1));
    MapAttr toInner = MapAttr::get(context, n + 2, middle);
    Assumptions joint = hlir::getAssumptions(scope, with(with(extents, q), p));
    auto simplify = [&](ArrayRef<Expr> results) {
      return MapAttr::getSimplified(context, results, joint);
    };
    SmallVector<Expr> ofX = toInner.composeResults(mapOf(args[1])),
                      ofY = toInner.composeResults(mapOf(args[2]));
    auto uses = [](ArrayRef<Expr> results, unsigned dim) {
      return llvm::any_of(results,
                          [&](const Expr &e) { return e.usesDim(dim); });
    };
    // Most matches fail here. Simplifying a map never adds dims, so the
    // unsimplified maps are tested first.
    if (!uses(ofX, n + 1) || !uses(ofY, n + 1) || !uses(ofY, n) ||
        !mapOf(args[5]).usesDim(n))
      return;
    x = simplify(ofX);
    if (x.usesDim(n) || !x.usesDim(n + 1))
      return;
    y = simplify(ofY);
    other = simplify(mapOf(args[5]).getResults());
    isPossible = y.usesDim(n + 1) && y.usesDim(n) && other.usesDim(n);
  }

  /// The map that reads what `map` reads, but in terms of another index.
  /// `places` gives the expression for each dim of the joint index.
  MapAttr moved(MapAttr map, ArrayRef<Expr> places,
                ArrayRef<Expr> space) const {
    MapAttr toOther = MapAttr::get(context, space.size(), places);
    return MapAttr::getSimplified(context, toOther.composeResults(map),
                                  hlir::getAssumptions(scope, space));
  }

  MLIRContext *context;
  Operation *scope;
  RankedTensorType result;
  SmallVector<Expr> extents;
  unsigned n;
  Expr q, p;
  MapAttr x, y, other;
  /// Whether x depends on p but not on q, and the other factors depend on what
  /// they must.
  bool isPossible = false;
};
} // namespace

static bool regroup(MatchContext &c, NativeArgs args, bool isYFirst,
                    NativeResults &results, Type &type) {
  TwoProducts two(c, args);
  const unsigned n = two.n, q = n, p = n + 1;
  if (!two.isPossible)
    return false;
  MapAttr first = isYFirst ? two.y : two.other;
  MapAttr second = isYFirst ? two.other : two.y;
  // Order the dims of the inner product: those of both factors, then those of
  // the first, then those of the second.
  SmallVector<unsigned> dims, own[2];
  for (unsigned d = 0; d != n + 2; ++d) {
    if (d == q || !(first.usesDim(d) || second.usesDim(d)))
      continue;
    if (first.usesDim(d) && second.usesDim(d))
      dims.push_back(d);
    else
      own[first.usesDim(d) ? 0 : 1].push_back(d);
  }
  // Otherwise no factor is reused and the inner product is only a reduction.
  if (own[0].empty() && own[1].empty())
    return false;
  dims.append(own[0]);
  dims.append(own[1]);

  SmallVector<Expr> inner, places(n + 2, Expr(0)), fromOuter;
  for (auto [place, d] : llvm::enumerate(dims)) {
    inner.push_back(d == p ? two.p : two.extents[d]);
    places[d] = Expr::dim(place);
    fromOuter.push_back(Expr::dim(d == p ? n : d));
  }
  places[q] = Expr::dim(dims.size());
  SmallVector<Expr> innerSpace = with(inner, two.q);
  SmallVector<Expr> outerSpace = with(two.extents, two.p);
  SmallVector<Expr> outerPlaces;
  for (unsigned d = 0; d != n; ++d)
    outerPlaces.push_back(Expr::dim(d));
  outerPlaces.push_back(Expr(0));
  outerPlaces.push_back(Expr::dim(n));
  results.push_back(Attribute(two.moved(two.y, places, innerSpace)));
  results.push_back(Attribute(two.moved(two.other, places, innerSpace)));
  results.push_back(Attribute(two.moved(two.x, outerPlaces, outerSpace)));
  results.push_back(Attribute(MapAttr::getSimplified(
      two.context, fromOuter, hlir::getAssumptions(two.scope, outerSpace))));
  type = hlir::getTensorType(inner, two.result.getElementType());
  return true;
}

/// (pk, xMap, yMap, qk, tMap, cMap, r) -> (y, c, x, u)
template <bool isYFirst>
static bool regroup(MatchContext &c, NativeArgs args, NativeResults &results) {
  Type type;
  return regroup(c, args, isYFirst, results, type);
}

/// (pk, xMap, yMap, qk, tMap, cMap, r) -> (type)
template <bool isYFirst>
static bool regroupedType(MatchContext &c, NativeArgs args,
                          NativeResults &results) {
  Type type;
  SmallVector<NativeValue> maps;
  if (!regroup(c, args, isYFirst, maps, type))
    return false;
  results.push_back(type);
  return true;
}

//===----------------------------------------------------------------------===//
// Products that share a factor
//===----------------------------------------------------------------------===//

/// (toMap, fromMap, to, from) -> (map): if both maps cover their whole tensors
/// dim by dim, the map between the two index spaces
static bool samePlaces(MatchContext &c, NativeArgs args,
                       NativeResults &results) {
  MapAttr to = mapOf(args[0]), from = mapOf(args[1]);
  SmallVector<Expr> toExtents = hlir::getExtents(tensorOf(c, args[2]));
  SmallVector<Expr> fromExtents = hlir::getExtents(tensorOf(c, args[3]));
  if (toExtents.size() != fromExtents.size())
    return false;
  Assumptions assumptions = hlir::getAssumptions(c.scope());
  SmallVector<Expr> map;
  llvm::SmallSet<unsigned, 4> seen;
  for (auto [e, extent] : llvm::zip_equal(from.getResults(), fromExtents)) {
    std::optional<unsigned> dim = e.asDim();
    const auto *place = llvm::find(to.getResults(), e);
    if (!dim || place == to.getResults().end() || !seen.insert(*dim).second)
      return false;
    unsigned i = place - to.getResults().begin();
    if (assumptions.equal(toExtents[i], extent) != true)
      return false;
    map.push_back(Expr::dim(i));
  }
  results.push_back(Attribute(MapAttr::getSimplified(
      c.getContext(), map, hlir::getAssumptions(c.scope(), toExtents))));
  return true;
}

//===----------------------------------------------------------------------===//
// Scales
//===----------------------------------------------------------------------===//

static bool isModerateScale(MatchContext &c, NativeArgs args, NativeResults &) {
  auto number =
      dyn_cast_or_null<FloatAttr>(c.fact("number", args[0].asClass()));
  if (!number || !c.fact("weight", args[1].asClass()))
    return false;
  constexpr double kMost = 1 << 16;
  double size = std::fabs(number.getValueAsDouble());
  if (!(size <= kMost && size >= 1 / kMost))
    return false;
  auto elements = [&](const NativeValue &v) {
    return llir::countElements(tensorOf(c, v));
  };
  return hlir::getAssumptions(c.scope()).provablyLess(elements(args[1]),
                                                      elements(args[2]));
}

static bool scaleLike(MatchContext &c, NativeArgs args,
                      NativeResults &results) {
  auto number = cast<TypedAttr>(c.fact("number", args[0].asClass()));
  results.push_back(NativeValue::ofClass(
      makeSplat(c, number, cast<RankedTensorType>(args[1].asType()))));
  return true;
}

void luminal::eqsat::addAlternativeNatives(RuleSetBuilder &set) {
  set.constraint("RegroupYC", regroup<true>);
  set.constraint("RegroupCY", regroup<false>);
  set.rewrite("TypeYC", regroupedType<true>);
  set.rewrite("TypeCY", regroupedType<false>);
  set.constraint("SamePlaces", samePlaces);
  set.constraint("IsModerateScale", isModerateScale);
  set.rewrite("ScaleLike", scaleLike);
}
