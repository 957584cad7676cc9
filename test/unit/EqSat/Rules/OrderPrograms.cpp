//===- OrderPrograms.cpp - Orders, spelled by ranks -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RulePrograms.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::test;

using C = hlir::Composer;
using Vs = ArrayRef<Value>;

namespace {
/// The updates v[1], in the order of the rows of v[0].
Value inOrder(C &c, Vs v, bool descending, bool nanFirst) {
  SmallVector<Expr> shape = hlir::getExtents(v[0]);
  Expr rows = shape[0], n = shape[1];
  SmallVector<Expr> pairs = {rows, n, n};
  Value a = c.view(v[0], pairs, {Expr::dim(0), Expr::dim(1)}),
        b = c.view(v[0], pairs, {Expr::dim(0), Expr::dim(2)});
  Value first = descending ? a : b, second = descending ? b : a;
  Value before = c.less(first, second), after = c.less(second, first);
  Value i = c.iota(pairs, Expr::dim(1)), j = c.iota(pairs, Expr::dim(2));
  Value isFirst = c.less(j, i);
  if (isa<FloatType>(cast<RankedTensorType>(a.getType()).getElementType())) {
    Value x = c.isNan(nanFirst ? b : a), y = c.isNan(nanFirst ? a : b);
    before = c.logicalOr(before, c.logicalAnd(x, c.logicalNot(y)));
    after = c.logicalOr(after, c.logicalAnd(y, c.logicalNot(x)));
  }
  Value same = c.logicalNot(c.logicalOr(before, after));
  Value comes = c.logicalOr(before, c.logicalAnd(same, isFirst));
  Type i64 = c.getBuilder().getI64Type();
  Value rank = c.reduceSum(c.cast(comes, i64), {2}, false);
  Value place = c.add(rank, c.iota({rows, n}, Expr::dim(0) * n));
  Value updates = c.reshape(v[1], {rows * n});
  Value empty = c.full(
      {rows * n},
      c.scalarInt(cast<RankedTensorType>(updates.getType()).getElementType(),
                  0));
  return c.reshape(c.scatter(hlir::Combine::Set, empty,
                             c.reshape(place, {rows * n}), updates),
                   shape);
}

} // namespace

std::vector<RuleProgram> luminal::test::orderPrograms() {
  std::vector<RuleProgram> list;
  const std::vector<std::string> shape = {"3", "s0 + 2"};
  for (const char *type : {"f16", "bf16", "f32", "f64", "i32", "i64", "i1"})
    for (bool descending : {false, true}) {
      auto sort = [=](C &c, Vs v) { return inOrder(c, v, descending, true); };
      const char *keys = StringRef(type) == "i1" ? "f32" : type;
      list.push_back({std::string("an order of ") + type,
                      {{shape, keys, {{-2, 2}}}, {shape, type}},
                      sort});
      list.push_back(
          {std::string("keys of every kind, ") + type,
           {{shape, keys}, {shape, type}},
           [=](C &c, Vs v) { return inOrder(c, v, descending, !descending); }});
      list.push_back({std::string("the first of an order of ") + type,
                      {{shape, keys, {{-2, 2}}}, {shape, type}},
                      [=](C &c, Vs v) {
                        return c.slice(sort(c, v), 1, Expr(0), Expr(1));
                      }});
    }
  return list;
}
