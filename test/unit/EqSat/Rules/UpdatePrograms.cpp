//===- UpdatePrograms.cpp - Updates of rows, spelled by elements ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RulePrograms.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::test;

using C = hlir::Composer;
using Vs = ArrayRef<Value>;

/// Updates rows of v[0] at the indices v[1], which may count from the end, by
/// the rows v[2], element by element.
static Value updateElements(C &c, Vs v, hlir::Combine combine) {
  SmallVector<Expr> extents = hlir::getExtents(v[0]),
                    shape = hlir::getExtents(v[2]);
  auto all = [&](const Expr &e) { return c.iota(shape, e); };
  Value row = c.view(v[1], shape, Expr::dim(0));
  row = c.select(c.less(row, all(0)), c.add(row, all(extents[0])), row);
  Value place = c.add(c.mul(row, all(extents[1])), all(Expr::dim(1)));
  Expr count = shape[0] * shape[1], elements = extents[0] * extents[1];
  Value result = c.scatter(combine, c.reshape(v[0], elements),
                           c.reshape(place, count), c.reshape(v[2], count));
  return c.reshape(result, extents);
}

std::vector<RuleProgram> luminal::test::updatePrograms() {
  std::vector<RuleProgram> list;
  for (const char *type : {"f16", "bf16", "f32", "f64", "i32", "i64", "i1"})
    for (hlir::Combine combine :
         {hlir::Combine::Set, hlir::Combine::Add, hlir::Combine::Max}) {
      if (combine == hlir::Combine::Add && StringRef(type) == "i1")
        continue;
      Operand dest{{"5", "4"}, type}, index{{"s0 + 1"}, "i64", {{-5, 4}}};
      const std::string of = std::string(" of ") + type;
      list.push_back(
          {"rows updated by elements" + of,
           {dest, index, {{"s0 + 1", "4"}, type}},
           [=](C &c, Vs v) { return updateElements(c, v, combine); }});
      list.push_back({"columns that are alike" + of,
                      {{{"5"}, type}, index, {{"s0 + 1"}, type}},
                      [=](C &c, Vs v) {
                        Expr updates = hlir::getExtents(v[1])[0];
                        Value start = c.view(v[0], {5, 4}, Expr::dim(0)),
                              added = c.view(v[2], {updates, 4}, Expr::dim(0));
                        return updateElements(c, {start, v[1], added}, combine);
                      }});
    }
  return list;
}
