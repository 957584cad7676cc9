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
/// `width` columns; results are written along the rows or the columns. Rows of
/// several heads have a part of their elements in each.
static std::string makeProduct(const Shape &s, int64_t width, bool isAlongRows,
                               int64_t heads = 1) {
  auto n = [](int64_t x) { return std::to_string(x); };
  auto tensor = [&](std::initializer_list<int64_t> extents) {
    std::string text = "tensor<";
    for (int64_t extent : extents)
      text += n(extent) + "x";
    return text + s.type + ">";
  };
  int64_t part = s.steps / heads;
  std::string x = heads > 1     ? tensor({s.batch, heads, s.rows, part})
                  : isAlongRows ? tensor({s.batch, s.steps, s.rows})
                                : tensor({s.batch, s.rows, s.steps}),
              w = tensor(
                  {s.batch, (s.columns + width - 1) / width, s.steps, width}),
              product = tensor({s.batch, s.rows, s.columns}),
              result =
                  isAlongRows ? tensor({s.batch, s.columns, s.rows}) : product,
              body;
  auto add = [&](const std::string &line) { body += "      " + line + "\n"; };
  add("%0 = llir.gemm %x, %w k(" + n(s.steps) + ") <(d0, d1, d2, d3) -> " +
      (heads > 1
           ? "(d0, d3 floordiv " + n(part) + ", d1, d3 mod " + n(part) + ")"
       : isAlongRows ? "(d0, d3, d1)"
                     : "(d0, d1, d3)") +
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

// What is copied of rows serves all units of their columns that follow each
// other, wherever a worker begins.
TEST(Panels, OfRowsThatAreCopied) {
  for (Shape s : {Shape{1, 49, 640, 36}, Shape{2, 70, 330, 24}})
    for (int64_t width : {4, 8, 16, 32})
      checkKernel(makeProduct(s, width, /*isAlongRows=*/false, /*heads=*/6),
                  {{}}, 1e-5);
}

/// Windows of `images` of `channels` x `height` x `width`, `window` x `window`
/// elements each, times panels of `panel` columns; the results are images.
static std::string makeConvolution(int64_t images, int64_t channels,
                                   int64_t height, int64_t width,
                                   int64_t window, int64_t stride,
                                   int64_t columns, int64_t panel,
                                   bool isPadded) {
  auto n = [](int64_t x) { return std::to_string(x); };
  auto tensor = [&](std::initializer_list<int64_t> extents,
                    std::string type = "f32") {
    std::string text = "tensor<";
    for (int64_t extent : extents)
      text += n(extent) + "x";
    return text + type + ">";
  };
  int64_t high = (height - window) / stride + 1,
          wide = (width - window) / stride + 1,
          steps = channels * window * window;
  std::string x = tensor({images, channels, height, width}),
              w = tensor({(columns + panel - 1) / panel, steps, panel}),
              product = tensor({images, high, wide, columns}),
              result = tensor({images, columns, high, wide}),
              flags = tensor({images, channels, height, width}, "i1"),
              places = tensor({images, channels, height, width}, "i64"), body;
  auto add = [&](const std::string &line) { body += "      " + line + "\n"; };
  // A border of zeros.
  std::string image = "%x";
  if (isPadded) {
    add("%at = llir.iota <(d0, d1, d2, d3) -> (d3)> : " + places);
    add("%one = llir.constant dense<1> : tensor<i64>");
    add("%ones = llir.view %one <(d0, d1, d2, d3) -> ()> : tensor<i64> -> " +
        places);
    add("%in = llir.elementwise less_than(%at, %ones) : (" + places + ", " +
        places + ") -> " + flags);
    add("%zero = llir.constant dense<0.0> : tensor<f32>");
    add("%zeros = llir.view %zero <(d0, d1, d2, d3) -> ()> : tensor<f32> -> " +
        x);
    add("%p = llir.elementwise select(%in, %zeros, %x) : (" + flags + ", " + x +
        ", " + x + ") -> " + x);
    image = "%p";
  }
  std::string area = n(window * window), side = n(window), by = n(stride);
  add("%0 = llir.gemm " + image + ", %w k(" + n(steps) +
      ") <(d0, d1, d2, d3, d4) -> (d0, d4 floordiv " + area + ", " + by +
      " * d1 + d4 floordiv " + side + " mod " + side + ", " + by +
      " * d2 + d4 mod " + side + ")>, <(d0, d1, d2, d3, d4) -> (d3 floordiv " +
      n(panel) + ", d4, d3 mod " + n(panel) + ")> : " + x + ", " + w + " -> " +
      product);
  add("%1 = llir.view %0 <(d0, d1, d2, d3) -> (d0, d2, d3, d1)> : " + product +
      " -> " + result);
  add("llir.yield %1 : " + result);
  return "    %a, %b = \"test.source\"() : () -> (" + x + ", " + w +
         ")\n    %r = llir.kernel(%a, %b) : (" + x + ", " + w + ") -> " +
         result + " {\n    ^bb0(%x: " + x + ", %w: " + w + "):\n" + body +
         "    }";
}

// Lines that are parts of tiles, have tiles as parts, or neither; rows beyond
// whole tiles; several images; phases of a stride.
TEST(Panels, OfWindows) {
  for (int64_t panel : {4, 8, 16, 32})
    for (bool isPadded : {false, true}) {
      auto check = [&](int64_t images, int64_t channels, int64_t height,
                       int64_t width, int64_t window, int64_t stride,
                       int64_t columns) {
        checkKernel(makeConvolution(images, channels, height, width, window,
                                    stride, columns, panel, isPadded),
                    {{}}, 1e-5);
      };
      check(1, 5, 9, 9, 3, 1, 64);
      check(2, 3, 16, 16, 3, 1, 40);
      check(1, 4, 15, 15, 3, 2, 32);
      check(3, 2, 12, 13, 3, 1, 33);
      check(1, 7, 13, 30, 1, 2, 48);
      check(1, 3, 23, 61, 5, 2, 64);
    }
}
