//===- RandomExperts.cpp - Random mixtures of experts ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two products of rows that look up their matrices, something between them, and
// the weighted sum of a token's rows: as front ends write it, by all indices of
// a token at once, by a list of rows, and by rows that were sorted. Experts
// without rows, one with all of them, and as many as there are rows.
//
//===----------------------------------------------------------------------===//

#include "RandomGenerator.h"

#include <cmath>

using namespace luminal;
using namespace luminal::test;
using llir::Fn;

static Expr d(unsigned i) { return Expr::dim(i); }

/// The expert of each of a token's rows, of `count`.
unsigned Generator::routing(const Shape &shape, int64_t count) {
  int64_t used = chance(25) ? 1 : chance(50) ? count : pick(1, count);
  unsigned ids = indices(shape, used);
  if (int64_t first = pick(0, count - used)) {
    ids = apply(Fn::Add, {ids, splat(double(first), shape, at(ids).dtype)});
    program.nodes[ids].limit = used + first;
  }
  return ids;
}

/// x, of rows or of tokens, by the matrices that `ids` names, and maybe what
/// these add.
unsigned Generator::byExperts(unsigned x, unsigned ids, int64_t count,
                              const Expr &inner, const Expr &columns,
                              const Shape &leftMap) {
  const Shape rows = at(ids).shape;
  const unsigned rank = unsigned(rows.size());
  const bool isAlong = chance(60);
  Shape all = {count}, chosen = rows, result = rows, map;
  for (unsigned i = 0; i < rank; ++i)
    map.push_back(d(i));
  for (bool isColumn : {isAlong, !isAlong}) {
    all.push_back(isColumn ? columns : inner);
    chosen.push_back(all.back());
    map.push_back(d(isColumn ? rank : rank + 1));
  }
  result.push_back(columns);
  unsigned w = gather(argument(all, main), ids, chosen);
  unsigned y = chance(70) ? gemm(x, w, inner, result, leftMap, map)
                          : gemm(w, x, inner, result, map, leftMap);
  if (chance(40))
    y = apply(Fn::Add,
              {y, gather(argument({count, columns}, main), ids, result)});
  return y;
}

RandomProgram Generator::makeExperts() {
  static const std::vector<DType> types = {DType::F32, DType::F32, DType::BF16,
                                           DType::F16, DType::F64};
  static const std::vector<int64_t> sizes = {8, 16, 24, 32, 33, 48};
  main = choose(types);
  chooseExtents();
  const int64_t count = pick(1, 12), each = pick(1, 3);
  Expr tokens = chance(30) ? extent() : Expr(pick(1, 90)),
       inner = choose(sizes), between = choose(sizes), rows = tokens * each;
  unsigned x = argument({tokens, inner}, main),
           ids = routing({tokens, each}, count);
  enum {
    Pairs,
    List,
    Sorted
  } form = chance(35)   ? Pairs
           : chance(50) ? List
                        : Sorted;
  Shape left = {d(0), d(3)}, again = {d(0), d(1), d(3)};
  unsigned inverse = 0;
  if (form != Pairs) {
    ids =
        view(ids, {rows}, {Expr::floorDiv(d(0), each), Expr::mod(d(0), each)});
    left = {Expr::floorDiv(d(0), each), d(2)}, again = {d(0), d(2)};
  }
  if (form == Sorted) {
    unsigned order = exactly({rows}, DType::I64, {ids}, "llir.argsort @");
    ids = gather(ids, order, {rows});
    x = gather(view(x, {rows, inner}, {Expr::floorDiv(d(0), each), d(1)}),
               order, {rows, inner});
    left = again;
    Node place({rows}, DType::I64);
    place.text = "llir.iota <(d0) -> (d0)> : " + getType(place);
    place.most = INFINITY;
    inverse = updated("set", splat(0, {rows}, DType::I64), order,
                      add(std::move(place)));
  }
  x = byExperts(tame(x, 8), ids, count, inner, between, left);
  x = tame(cast(chain(x, 1, 3), main), 4);
  x = byExperts(x, ids, count, between, inner, again);
  if (form == Sorted)
    x = gather(x, inverse, {rows, inner});
  if (form != Pairs)
    x = view(x, {tokens, each, inner}, {d(0) * each + d(1), d(2)});
  // A weight for each row, and the sum of a token's.
  Shape terms = {tokens, inner, each};
  unsigned weights = view(argument({tokens, each}, main), terms, {d(0), d(2)});
  reduce(/*isMax=*/false,
         apply(Fn::Mul, {view(x, terms, {d(0), d(2), d(1)}), weights}));
  chooseResults();
  return std::move(program);
}

RandomProgram test::makeRandomExperts(uint64_t seed) {
  return Generator(seed, ProgramScale::small()).makeExperts();
}
