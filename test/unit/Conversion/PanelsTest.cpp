//===- PanelsTest.cpp - Products that read panels from memory -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelOracle.h"
#include "gtest/gtest.h"

using namespace luminal::test;

namespace {
struct Shape {
  int64_t batch, rows, columns, steps;
  const char *type = "f32";
};
} // namespace

/// A product of `rows` that are side by side in memory or not, with panels of
/// `width` columns; results are written along the rows or the columns.
static std::string makeProduct(const Shape &s, int64_t width,
                               bool isAlongRows) {
  auto n = [](int64_t x) { return std::to_string(x); };
  auto tensor = [&](std::initializer_list<int64_t> extents) {
    std::string text = "tensor<";
    for (int64_t extent : extents)
      text += n(extent) + "x";
    return text + s.type + ">";
  };
  std::string x = isAlongRows ? tensor({s.batch, s.steps, s.rows})
                              : tensor({s.batch, s.rows, s.steps}),
              w = tensor(
                  {s.batch, (s.columns + width - 1) / width, s.steps, width}),
              product = tensor({s.batch, s.rows, s.columns}),
              result =
                  isAlongRows ? tensor({s.batch, s.columns, s.rows}) : product,
              body;
  auto add = [&](const std::string &line) { body += "      " + line + "\n"; };
  add("%0 = llir.gemm %x, %w k(" + n(s.steps) + ") <(d0, d1, d2, d3) -> " +
      (isAlongRows ? "(d0, d3, d1)" : "(d0, d1, d3)") +
      ">, <(d0, d1, d2, d3) -> (d0, d2 floordiv " + n(width) + ", d3, d2 mod " +
      n(width) + ")> : " + x + ", " + w + " -> " + product);
  add("%1 = llir.view %c <(d0, d1, d2) -> " +
      std::string(isAlongRows ? "(d0, d2, d1)" : "(d0, d1, d2)") +
      "> : " + result + " -> " + product);
  add("%2 = llir.elementwise max(%0, %1) : (" + product + ", " + product +
      ") -> " + product);
  add("%3 = llir.view %2 <(d0, d1, d2) -> " +
      std::string(isAlongRows ? "(d0, d2, d1)" : "(d0, d1, d2)") +
      "> : " + product + " -> " + result);
  add("llir.yield %3 : " + result);
  return "    %a, %b, %e = \"test.source\"() : () -> (" + x + ", " + w + ", " +
         result + ")\n    %r = llir.kernel(%a, %b, %e) : (" + x + ", " + w +
         ", " + result + ") -> " + result + " {\n    ^bb0(%x: " + x +
         ", %w: " + w + ", %c: " + result + "):\n" + body + "    }";
}

// Whatever the width of the machine's vectors, one of these is that of its
// tiles. Rows that are no multiple of a tile's, and a last panel that is not
// full.
TEST(Panels, FromMemory) {
  for (Shape s : {Shape{1, 49, 64, 37}, Shape{2, 28, 100, 16},
                  Shape{3, 5, 33, 70}, Shape{1, 197, 32, 5},
                  Shape{2, 63, 40, 9, "f64"}, Shape{1, 20, 48, 12, "i32"}})
    for (int64_t width : {4, 8, 16, 32})
      for (bool isAlongRows : {false, true})
        checkKernel(makeProduct(s, width, isAlongRows), {{}}, 1e-5);
}
