//===- GemmKernelTest.cpp - Compiled products against their definition ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelOracle.h"
#include "gtest/gtest.h"

using namespace luminal::test;

TEST(GemmKernel, LinearWithEpilogue) {
  checkKernel(R"(
    func.func @f() attributes {hlir.symbols = #hlir.symbols<m in [0, ]>} {
    %a, %b, %c = "test.source"() : () -> (tensor<?x19xf32, #hlir.dims<m>>, tensor<45x19xf32>, tensor<45xf32>)
    %r = llir.kernel(%a, %b, %c) : (tensor<?x19xf32, #hlir.dims<m>>, tensor<45x19xf32>, tensor<45xf32>) -> tensor<?x45xf32, #hlir.dims<m>> {
    ^bb0(%x: tensor<?x19xf32, #hlir.dims<m>>, %w: tensor<45x19xf32>, %bias: tensor<45xf32>):
      %0 = llir.gemm %x, %w k(19) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
          : tensor<?x19xf32, #hlir.dims<m>>, tensor<45x19xf32> -> tensor<?x45xf32, #hlir.dims<m>>
      %1 = llir.view %bias <(d0, d1) -> (d1)> : tensor<45xf32> -> tensor<?x45xf32, #hlir.dims<m>>
      %2 = llir.elementwise add(%0, %1) : (tensor<?x45xf32, #hlir.dims<m>>, tensor<?x45xf32, #hlir.dims<m>>) -> tensor<?x45xf32, #hlir.dims<m>>
      %3 = llir.elementwise silu(%2) : (tensor<?x45xf32, #hlir.dims<m>>) -> tensor<?x45xf32, #hlir.dims<m>>
      llir.yield %3 : tensor<?x45xf32, #hlir.dims<m>>
    }
    return
    })",
              {{{"m", 0}},
               {{"m", 1}},
               {{"m", 3}},
               {{"m", 4}},
               {{"m", 5}},
               {{"m", 133}}});
}

// One row, columns side by side in memory; K as a symbol, 0 included.
TEST(GemmKernel, ScaledColumns) {
  checkKernel(R"(
    func.func @f() attributes {hlir.symbols = #hlir.symbols<k in [0, ]>} {
    %a, %b = "test.source"() : () -> (tensor<2x1x?xf32, #hlir.dims<k>>, tensor<2x?x83xf32, #hlir.dims<k>>)
    %r = llir.kernel(%a, %b) : (tensor<2x1x?xf32, #hlir.dims<k>>, tensor<2x?x83xf32, #hlir.dims<k>>) -> tensor<2x1x83xf32> {
    ^bb0(%x: tensor<2x1x?xf32, #hlir.dims<k>>, %w: tensor<2x?x83xf32, #hlir.dims<k>>):
      %0 = llir.gemm %x, %w k(k) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)>
          : tensor<2x1x?xf32, #hlir.dims<k>>, tensor<2x?x83xf32, #hlir.dims<k>> -> tensor<2x1x83xf32>
      llir.yield %0 : tensor<2x1x83xf32>
    }
    return
    })",
              {{{"k", 0}}, {{"k", 1}}, {{"k", 40}}});
}

// bf16, a computed prologue, several dims in M, heads split off the result.
TEST(GemmKernel, PrologueTypesAndView) {
  checkKernel(R"(
    func.func @f() attributes {hlir.symbols = #hlir.symbols<s in [0, ]>} {
    %a, %b = "test.source"() : () -> (tensor<2x?x32xbf16, #hlir.dims<s>>, tensor<32x48xbf16>)
    %r = llir.kernel(%a, %b) : (tensor<2x?x32xbf16, #hlir.dims<s>>, tensor<32x48xbf16>) -> tensor<2x4x?x12xbf16, #hlir.dims<s>> {
    ^bb0(%x: tensor<2x?x32xbf16, #hlir.dims<s>>, %w: tensor<32x48xbf16>):
      %n = llir.elementwise silu(%x) : (tensor<2x?x32xbf16, #hlir.dims<s>>) -> tensor<2x?x32xbf16, #hlir.dims<s>>
      %0 = llir.gemm %n, %w k(32) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d3, d2)>
          : tensor<2x?x32xbf16, #hlir.dims<s>>, tensor<32x48xbf16> -> tensor<2x?x48xbf16, #hlir.dims<s>>
      %1 = llir.view %0 <(d0, d1, d2, d3) -> (d0, d2, d1 * 12 + d3)> : tensor<2x?x48xbf16, #hlir.dims<s>> -> tensor<2x4x?x12xbf16, #hlir.dims<s>>
      llir.yield %1 : tensor<2x4x?x12xbf16, #hlir.dims<s>>
    }
    return
    })",
              {{{"s", 0}}, {{"s", 1}}, {{"s", 2}}, {{"s", 11}}}, 1e-2);
}

// bf16 in pairs along k, where the processor multiplies them: columns side by
// side, along k and neither; k even, odd and empty; widened to f32 before.
TEST(GemmKernel, Pairs) {
  for (const char *columns :
       {"(d2, d1)", "(d1, d2)", "(2 * d1, d2)", "(2 * d2, 2 * d1)"})
    for (const char *rows : {"(d0, d2)", "(d2, d0)"}) {
      std::string text = R"(
    func.func @f() attributes {hlir.symbols = #hlir.symbols<k in [0, 90]>} {
    %a, %b = "test.source"() : () -> (tensor<90x90xbf16>, tensor<180x180xbf16>)
    %r = llir.kernel(%a, %b) : (tensor<90x90xbf16>, tensor<180x180xbf16>) -> tensor<37x45xf32> {
    ^bb0(%x: tensor<90x90xbf16>, %w: tensor<180x180xbf16>):
      %f = llir.elementwise cast(%x) : (tensor<90x90xbf16>) -> tensor<90x90xf32>
      %g = llir.elementwise cast(%w) : (tensor<180x180xbf16>) -> tensor<180x180xf32>
      %0 = llir.gemm %f, %g k(k) <(d0, d1, d2) -> ROWS>, <(d0, d1, d2) -> COLUMNS>
          : tensor<90x90xf32>, tensor<180x180xf32> -> tensor<37x45xf32>
      llir.yield %0 : tensor<37x45xf32>
    }
    return
    })";
      text.replace(text.find("ROWS"), 4, rows);
      text.replace(text.find("COLUMNS"), 7, columns);
      checkKernel(text, {{{"k", 0}}, {{"k", 1}}, {{"k", 32}}, {{"k", 45}}},
                  1e-5);
    }
}

// Tiles of bf16, where the processor has them: rows, columns and k that fill
// none, with a prologue and an epilogue, rows read in place and copied.
TEST(GemmKernel, Tiles) {
  for (const char *rows : {"(d0, d2)", "(d2, d0)"})
    for (const char *k : {"k(k)", "k(64)"}) {
      std::string text = R"(
    func.func @f() attributes {hlir.symbols = #hlir.symbols<k in [0, 90], m in [0, 90]>} {
    %a, %b, %c = "test.source"() : () -> (tensor<90x90xbf16>, tensor<90x90xbf16>, tensor<53xbf16>)
    %r = llir.kernel(%a, %b, %c) : (tensor<90x90xbf16>, tensor<90x90xbf16>, tensor<53xbf16>) -> tensor<?x53xbf16, #hlir.dims<m>> {
    ^bb0(%x: tensor<90x90xbf16>, %w: tensor<90x90xbf16>, %bias: tensor<53xbf16>):
      %n = llir.elementwise silu(%w) : (tensor<90x90xbf16>) -> tensor<90x90xbf16>
      %0 = llir.gemm %x, %n KEXT <(d0, d1, d2) -> ROWS>, <(d0, d1, d2) -> (d1, d2)>
          : tensor<90x90xbf16>, tensor<90x90xbf16> -> tensor<?x53xbf16, #hlir.dims<m>>
      %1 = llir.view %bias <(d0, d1) -> (d1)> : tensor<53xbf16> -> tensor<?x53xbf16, #hlir.dims<m>>
      %2 = llir.elementwise add(%0, %1) : (tensor<?x53xbf16, #hlir.dims<m>>, tensor<?x53xbf16, #hlir.dims<m>>) -> tensor<?x53xbf16, #hlir.dims<m>>
      llir.yield %2 : tensor<?x53xbf16, #hlir.dims<m>>
    }
    return
    })";
      text.replace(text.find("ROWS"), 4, rows);
      text.replace(text.find("KEXT"), 4, k);
      checkKernel(text,
                  {{{"k", 0}, {"m", 33}},
                   {{"k", 1}, {"m", 5}},
                   {{"k", 2}, {"m", 0}},
                   {{"k", 33}, {"m", 1}},
                   {{"k", 64}, {"m", 64}},
                   {{"k", 90}, {"m", 80}},
                   {{"k", 31}, {"m", 90}}},
                  1e-2);
    }
}

// So many along k that a tile's rows would not stay in the L1 cache.
TEST(GemmKernel, LongTiles) {
  for (const char *k : {"2100", "0"}) {
    std::string text = R"(
    %a, %b = "test.source"() : () -> (tensor<40xKxbf16>, tensor<70xKxbf16>)
    %r = llir.kernel(%a, %b) : (tensor<40xKxbf16>, tensor<70xKxbf16>) -> tensor<40x70xbf16> {
    ^bb0(%x: tensor<40xKxbf16>, %w: tensor<70xKxbf16>):
      %0 = llir.gemm %x, %w k(K) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
          : tensor<40xKxbf16>, tensor<70xKxbf16> -> tensor<40x70xbf16>
      llir.yield %0 : tensor<40x70xbf16>
    })";
    for (size_t at; (at = text.find('K')) != std::string::npos;)
      text.replace(at, 1, k);
    checkKernel(text, {{}}, 1e-2);
  }
}

/// A convolution of `images` without the dims of extent 1.
static std::string convolution(const std::string &type, int64_t groups,
                               int64_t ins, int64_t outs, int64_t height,
                               int64_t width, int64_t window, int64_t stride,
                               int64_t dilation, bool isPadded) {
  auto n = [](int64_t v) { return std::to_string(v); };
  int64_t reach = dilation * (window - 1), pad = isPadded ? reach / 2 : 0;
  int64_t h = (height + 2 * pad - reach - 1) / stride + 1,
          w = (width + 2 * pad - reach - 1) / stride + 1;
  auto tensor = [&](std::initializer_list<int64_t> shape,
                    const std::string &element) {
    std::string text = "tensor<";
    for (int64_t size : shape)
      text += n(size) + "x";
    return text + element + ">";
  };
  int64_t tall = height + 2 * pad, wide = width + 2 * pad;
  std::string image = tensor({groups * ins, height, width}, type),
              weight = tensor({groups * outs, ins, window, window}, type),
              padded = tensor({groups * ins, tall, wide}, type),
              flags = tensor({groups * ins, tall, wide}, "i1"),
              indices = tensor({groups * ins, tall, wide}, "i64"),
              product = tensor({groups, h, w, outs}, type),
              result = tensor({groups * outs, h, w}, type);
  std::string k = "d4 floordiv " + n(window * window),
              y = n(stride) + " * d1 + " + n(dilation) + " * ((d4 floordiv " +
                  n(window) + ") mod " + n(window) + ")",
              x = n(stride) + " * d2 + " + n(dilation) + " * (d4 mod " +
                  n(window) + ")";
  std::string body;
  auto add = [&](const std::string &line) { body += "      " + line + "\n"; };
  std::string read = "%x";
  if (isPadded) {
    std::string identity = "<(d0, d1, d2) -> (";
    add("%zero = llir.constant dense<0> : tensor<i64>");
    add("%none = llir.view %zero " + identity + ")> : tensor<i64> -> " +
        indices);
    read = "%padded";
    auto isInside = [&](const std::string &name, const std::string &dim,
                        int64_t size) {
      add(name + "i = llir.iota " + identity + dim + " - " + n(pad) +
          ")> : " + indices);
      add(name + "m = llir.constant dense<" + n(size) + "> : tensor<i64>");
      add(name + "n = llir.view " + name + "m " + identity +
          ")> : tensor<i64> -> " + indices);
      add(name + "a = llir.elementwise less_than(" + name + "i, " + name +
          "n) : (" + indices + ", " + indices + ") -> " + flags);
      add(name + "b = llir.elementwise less_equal(%none, " + name + "i) : (" +
          indices + ", " + indices + ") -> " + flags);
      add(name + " = llir.elementwise mul(" + name + "a, " + name + "b) : (" +
          flags + ", " + flags + ") -> " + flags);
    };
    isInside("%h", "d1", height);
    isInside("%w", "d2", width);
    add("%both = llir.elementwise mul(%h, %w) : (" + flags + ", " + flags +
        ") -> " + flags);
    auto clamp = [&](const std::string &dim, int64_t size) {
      return "max(min(" + dim + " - " + n(pad) + ", " + n(size - 1) + "), 0)";
    };
    add("%moved = llir.view %x <(d0, d1, d2) -> (d0, " + clamp("d1", height) +
        ", " + clamp("d2", width) + ")> : " + image + " -> " + padded);
    add("%fill = llir.constant dense<" +
        std::string(type[0] == 'i' ? "0" : "0.0") + "> : tensor<" + type + ">");
    add("%fills = llir.view %fill " + identity + ")> : tensor<" + type +
        "> -> " + padded);
    add("%padded = llir.elementwise select(%both, %moved, %fills) : (" + flags +
        ", " + padded + ", " + padded + ") -> " + padded);
  }
  add("%0 = llir.gemm " + read + ", %w0 k(" + n(ins * window * window) +
      ") <(d0, d1, d2, d3, d4) -> (" + n(ins) + " * d0 + " + k + ", " + y +
      ", " + x + ")>, <(d0, d1, d2, d3, d4) -> (" + n(outs) + " * d0 + d3, " +
      k + ", (d4 floordiv " + n(window) + ") mod " + n(window) + ", d4 mod " +
      n(window) + ")> : " + padded + ", " + weight + " -> " + product);
  add("%1 = llir.elementwise max(%0, %0) : (" + product + ", " + product +
      ") -> " + product);
  add("%2 = llir.view %1 <(d0, d1, d2) -> (d0 floordiv " + n(outs) +
      ", d1, d2, d0 mod " + n(outs) + ")> : " + product + " -> " + result);
  add("llir.yield %2 : " + result);
  return "    %a, %b = \"test.source\"() : () -> (" + image + ", " + weight +
         ")\n    %r = llir.kernel(%a, %b) : (" + image + ", " + weight +
         ") -> " + result + " {\n    ^bb0(%x: " + image + ", %w0: " + weight +
         "):\n" + body + "    }";
}

// Convolutions: windows with strides, dilations and padding, channels that fill
// no tile, groups, one channel a group, sizes that are no multiple of anything.
TEST(GemmKernel, ImageWindows) {
  struct Shape {
    int64_t groups, ins, outs, height, width, window, stride, dilation;
  };
  for (Shape s :
       {Shape{1, 5, 19, 13, 11, 3, 1, 1}, Shape{1, 3, 16, 17, 23, 3, 2, 1},
        Shape{2, 4, 6, 12, 15, 3, 1, 2}, Shape{7, 1, 1, 19, 37, 3, 1, 1},
        Shape{3, 1, 2, 20, 18, 5, 2, 2}, Shape{1, 3, 9, 29, 31, 7, 3, 1},
        Shape{1, 33, 34, 14, 14, 1, 2, 1}})
    for (bool isPadded : {false, true})
      checkKernel(convolution("f32", s.groups, s.ins, s.outs, s.height, s.width,
                              s.window, s.stride, s.dilation, isPadded),
                  {{}}, 1e-5);
  for (const char *type : {"f64", "f16", "bf16", "i32"})
    checkKernel(convolution(type, 1, 6, 18, 15, 13, 3, 1, 1, true), {{}}, 1e-2);
}

// Images that are reflected, continued or repeated beyond their borders, by the
// index of the product itself.
TEST(GemmKernel, TurnedWindows) {
  auto reflect = [](const std::string &at, const std::string &back) {
    std::string there = "max(" + at + ", " + back + ")";
    return "min(" + there + ", 36 - " + there + ")";
  };
  struct {
    std::string result, rows, columns;
  } const images[] = {
      {"19x19",
       reflect("d0 + d3 floordiv 3 mod 3 - 1", "1 - d0 - d3 floordiv 3 mod 3"),
       reflect("d1 + d3 mod 3 - 1", "1 - d1 - d3 mod 3")},
      {"21x21", "max(min(d0 + d3 floordiv 3 mod 3 - 2, 18), 0)",
       "max(min(d1 + d3 mod 3 - 2, 18), 0)"},
      {"10x10", "max(min(2 * d0 + d3 floordiv 3 mod 3 - 1, 18), 0)",
       "(2 * d1 + 2 * (d3 mod 3) + 17) mod 19"},
      {"19x19", "(d0 + 2 * (d3 floordiv 3 mod 3) + 17) mod 19",
       reflect("d1 + d3 mod 3 - 1", "1 - d1 - d3 mod 3")},
      {"19x19", "(d0 + d3 floordiv 3 mod 3) floordiv 2",
       "(d1 + d3 mod 3) floordiv 2"}};
  for (const auto &image : images)
    for (const char *channels : {"21", "2"}) {
      std::string text = R"(
    %a, %b = "test.source"() : () -> (tensor<5x19x19xf32>, tensor<OUTx5x3x3xf32>)
    %r = llir.kernel(%a, %b) : (tensor<5x19x19xf32>, tensor<OUTx5x3x3xf32>) -> tensor<OUTxSIZExf32> {
    ^bb0(%x: tensor<5x19x19xf32>, %w: tensor<OUTx5x3x3xf32>):
      %0 = llir.gemm %x, %w k(45)
          <(d0, d1, d2, d3) -> (d3 floordiv 9, ROW, COLUMN)>,
          <(d0, d1, d2, d3) -> (d2, d3 floordiv 9, d3 floordiv 3 mod 3, d3 mod 3)>
          : tensor<5x19x19xf32>, tensor<OUTx5x3x3xf32> -> tensor<SIZExOUTxf32>
      %1 = llir.view %0 <(d0, d1, d2) -> (d1, d2, d0)> : tensor<SIZExOUTxf32> -> tensor<OUTxSIZExf32>
      llir.yield %1 : tensor<OUTxSIZExf32>
    })";
      for (const auto &[name, by] :
           {std::pair<std::string, std::string>{"OUT", channels},
            {"SIZE", image.result},
            {"ROW", image.rows},
            {"COLUMN", image.columns}})
        for (size_t at; (at = text.find(name)) != std::string::npos;)
          text.replace(at, name.size(), by);
      checkKernel(text);
    }
}

// Few columns: the sides are swapped. Other types.
TEST(GemmKernel, FewColumnsAndOtherTypes) {
  for (const char *type : {"f64", "i64", "i32", "f16"}) {
    std::string text = R"(
    %a, %b = "test.source"() : () -> (tensor<70x13xTY>, tensor<13x3xTY>)
    %r = llir.kernel(%a, %b) : (tensor<70x13xTY>, tensor<13x3xTY>) -> tensor<70x3xTY> {
    ^bb0(%x: tensor<70x13xTY>, %w: tensor<13x3xTY>):
      %0 = llir.gemm %x, %w k(13) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)>
          : tensor<70x13xTY>, tensor<13x3xTY> -> tensor<70x3xTY>
      llir.yield %0 : tensor<70x3xTY>
    })";
    for (size_t at; (at = text.find("TY")) != std::string::npos;)
      text.replace(at, 2, type);
    checkKernel(text, {{}}, std::string(type) == "f16" ? 1e-3 : 1e-12, 1000);
  }
}

// A convolution: one operand is read through overlapping windows.
TEST(GemmKernel, Windows) {
  checkKernel(R"(
    %a, %b = "test.source"() : () -> (tensor<3x20x20xf32>, tensor<33x3x3x3xf32>)
    %r = llir.kernel(%a, %b) : (tensor<3x20x20xf32>, tensor<33x3x3x3xf32>) -> tensor<33x18x18xf32> {
    ^bb0(%x: tensor<3x20x20xf32>, %w: tensor<33x3x3x3xf32>):
      %0 = llir.gemm %w, %x k(27)
          <(d0, d1, d2, d3) -> (d0, d3 floordiv 9, d3 floordiv 3 mod 3, d3 mod 3)>,
          <(d0, d1, d2, d3) -> (d3 floordiv 9, d1 + d3 floordiv 3 mod 3, d2 + d3 mod 3)>
          : tensor<33x3x3x3xf32>, tensor<3x20x20xf32> -> tensor<33x18x18xf32>
      llir.yield %0 : tensor<33x18x18xf32>
    })");
}

// Convolutions as they are imported: images on the left, the result written
// with channels first. Images join the batch where that keeps elements
// contiguous, columns are runs of pixels, with the steps of a stride.
TEST(GemmKernel, ImagesWithChannelsFirst) {
  for (const char *stride : {"1", "2"}) {
    std::string text = R"(
    func.func @f() attributes {hlir.symbols = #hlir.symbols<n in [0, ]>} {
    %a, %b = "test.source"() : () -> (tensor<?x3x19x23xf32, #hlir.dims<n>>, tensor<21x3x3x3xf32>)
    %r = llir.kernel(%a, %b) : (tensor<?x3x19x23xf32, #hlir.dims<n>>, tensor<21x3x3x3xf32>) -> tensor<?x21x8x9xf32, #hlir.dims<n>> {
    ^bb0(%x: tensor<?x3x19x23xf32, #hlir.dims<n>>, %w: tensor<21x3x3x3xf32>):
      %0 = llir.gemm %x, %w k(27)
          <(d0, d1, d2, d3, d4) -> (d0, d4 floordiv 9, STRIDE * d1 + d4 floordiv 3 mod 3, STRIDE * d2 + d4 mod 3)>,
          <(d0, d1, d2, d3, d4) -> (d3, d4 floordiv 9, d4 floordiv 3 mod 3, d4 mod 3)>
          : tensor<?x3x19x23xf32, #hlir.dims<n>>, tensor<21x3x3x3xf32> -> tensor<?x8x9x21xf32, #hlir.dims<n>>
      %1 = llir.view %0 <(d0, d1, d2, d3) -> (d0, d2, d3, d1)> : tensor<?x8x9x21xf32, #hlir.dims<n>> -> tensor<?x21x8x9xf32, #hlir.dims<n>>
      llir.yield %1 : tensor<?x21x8x9xf32, #hlir.dims<n>>
    }
    return
    })";
    for (size_t at; (at = text.find("STRIDE")) != std::string::npos;)
      text.replace(at, 6, stride);
    checkKernel(text, {{{"n", 0}}, {{"n", 1}}, {{"n", 3}}});
  }
}
