//===- KernelCodeTest.cpp - Checks kernels against the interpreter --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelOracle.h"
#include "gtest/gtest.h"

using namespace luminal::test;

TEST(MapKernel, Elementwise) {
  checkKernel(R"(
    %a, %b = "test.source"() : () -> (tensor<3x37xf32>, tensor<3x37xf32>)
    %r = llir.kernel(%a, %b) : (tensor<3x37xf32>, tensor<3x37xf32>) -> tensor<3x37xf32> {
    ^bb0(%x: tensor<3x37xf32>, %y: tensor<3x37xf32>):
      %0 = llir.elementwise add(%x, %y) : (tensor<3x37xf32>, tensor<3x37xf32>) -> tensor<3x37xf32>
      %1 = llir.elementwise exp(%0) : (tensor<3x37xf32>) -> tensor<3x37xf32>
      llir.yield %1 : tensor<3x37xf32>
    })");
}

TEST(MapKernel, BroadcastTransposeAndTypes) {
  checkKernel(R"(
    func.func @f() attributes {hlir.symbols = #hlir.symbols<s0 in [0, 4096]>} {
    %a, %b, %c = "test.source"() : () -> (tensor<5x?xbf16, #hlir.dims<s0>>, tensor<5xi32>, tensor<?xi1, #hlir.dims<s0>>)
    %r:2 = llir.kernel(%a, %b, %c)
        : (tensor<5x?xbf16, #hlir.dims<s0>>, tensor<5xi32>, tensor<?xi1, #hlir.dims<s0>>)
        -> (tensor<?x5xf32, #hlir.dims<s0>>, tensor<?x5xi1, #hlir.dims<s0>>) {
    ^bb0(%x: tensor<5x?xbf16, #hlir.dims<s0>>, %y: tensor<5xi32>, %z: tensor<?xi1, #hlir.dims<s0>>):
      %0 = llir.view %x <(d0, d1) -> (d1, d0)> : tensor<5x?xbf16, #hlir.dims<s0>> -> tensor<?x5xbf16, #hlir.dims<s0>>
      %1 = llir.elementwise cast(%0) : (tensor<?x5xbf16, #hlir.dims<s0>>) -> tensor<?x5xf32, #hlir.dims<s0>>
      %2 = llir.elementwise cast(%y) : (tensor<5xi32>) -> tensor<5xf32>
      %3 = llir.view %2 <(d0, d1) -> (d1)> : tensor<5xf32> -> tensor<?x5xf32, #hlir.dims<s0>>
      %4 = llir.view %z <(d0, d1) -> (d0)> : tensor<?xi1, #hlir.dims<s0>> -> tensor<?x5xi1, #hlir.dims<s0>>
      %5 = llir.elementwise mul(%1, %3) : (tensor<?x5xf32, #hlir.dims<s0>>, tensor<?x5xf32, #hlir.dims<s0>>) -> tensor<?x5xf32, #hlir.dims<s0>>
      %6 = llir.elementwise select(%4, %5, %1) : (tensor<?x5xi1, #hlir.dims<s0>>, tensor<?x5xf32, #hlir.dims<s0>>, tensor<?x5xf32, #hlir.dims<s0>>) -> tensor<?x5xf32, #hlir.dims<s0>>
      %7 = llir.elementwise less_than(%5, %1) : (tensor<?x5xf32, #hlir.dims<s0>>, tensor<?x5xf32, #hlir.dims<s0>>) -> tensor<?x5xi1, #hlir.dims<s0>>
      llir.yield %6, %7 : tensor<?x5xf32, #hlir.dims<s0>>, tensor<?x5xi1, #hlir.dims<s0>>
    }
    return
    })",
              {{{"s0", 0}}, {{"s0", 1}}, {{"s0", 17}}, {{"s0", 64}}});
}

TEST(MapKernel, Iota) {
  checkKernel(R"(
    %r:2 = llir.kernel() : () -> (tensor<7x11xi64>, tensor<7x11xi32>) {
      %0 = llir.iota <(d0, d1) -> ((d0 * 11 + d1) mod 5)> : tensor<7x11xi64>
      %1 = llir.iota <(d0, d1) -> (d1 floordiv 3 - d0)> : tensor<7x11xi32>
      llir.yield %0, %1 : tensor<7x11xi64>, tensor<7x11xi32>
    })");
}

TEST(GatherKernel, RowsAndOutside) {
  const char *text = R"(
    func.func @f() attributes {hlir.symbols = #hlir.symbols<n in [0, ]>} {
    %a, %b = "test.source"() : () -> (tensor<?x20xf32, #hlir.dims<n>>, tensor<2x3xi64>)
    %r = llir.kernel(%a, %b) : (tensor<?x20xf32, #hlir.dims<n>>, tensor<2x3xi64>) -> tensor<2x3x20xf32> {
    ^bb0(%x: tensor<?x20xf32, #hlir.dims<n>>, %i: tensor<2x3xi64>):
      %0 = llir.gather %x, %i {checked} : tensor<?x20xf32, #hlir.dims<n>>, tensor<2x3xi64> -> tensor<2x3x20xf32>
      %1 = llir.elementwise neg(%0) : (tensor<2x3x20xf32>) -> tensor<2x3x20xf32>
      llir.yield %1 : tensor<2x3x20xf32>
    }
    return
    })";
  checkKernel(text, {{{"n", 5}}, {{"n", 3}}}, 0, 3);
  checkKernel(text, {{{"n", 0}}, {{"n", 2}}, {{"n", 50}}}, 0, 40);
}

// Nothing can be read from an empty tensor; that is an error only if something
// is read.
TEST(GatherKernel, NothingOutOfNothing) {
  const char *text = R"(
    func.func @f() attributes {hlir.symbols = #hlir.symbols<m in [0, ], n in [0, ]>} {
    %a, %b = "test.source"() : () -> (tensor<?xf32, #hlir.dims<n>>, tensor<?xi64, #hlir.dims<m>>)
    %r = llir.kernel(%a, %b) : (tensor<?xf32, #hlir.dims<n>>, tensor<?xi64, #hlir.dims<m>>) -> tensor<?x8xf32, #hlir.dims<m>> {
    ^bb0(%x: tensor<?xf32, #hlir.dims<n>>, %i: tensor<?xi64, #hlir.dims<m>>):
      %0 = llir.gather %x, %i {checked} : tensor<?xf32, #hlir.dims<n>>, tensor<?xi64, #hlir.dims<m>> -> tensor<?xf32, #hlir.dims<m>>
      %1 = llir.view %0 <(d0, d1) -> (d0)> : tensor<?xf32, #hlir.dims<m>> -> tensor<?x8xf32, #hlir.dims<m>>
      llir.yield %1 : tensor<?x8xf32, #hlir.dims<m>>
    }
    return
    })";
  checkKernel(text, {{{"m", 0}, {"n", 0}}, {{"m", 2}, {"n", 0}}}, 0, 3);
  // The same in static shapes.
  checkKernel(R"(
    %a, %b = "test.source"() : () -> (tensor<0xf32>, tensor<0x1xi64>)
    %r = llir.kernel(%a, %b) : (tensor<0xf32>, tensor<0x1xi64>) -> tensor<0x8xf32> {
    ^bb0(%x: tensor<0xf32>, %i: tensor<0x1xi64>):
      %0 = llir.gather %x, %i {checked} : tensor<0xf32>, tensor<0x1xi64> -> tensor<0x1xf32>
      %1 = llir.view %0 <(d0, d1) -> (d0, 0)> : tensor<0x1xf32> -> tensor<0x8xf32>
      llir.yield %1 : tensor<0x8xf32>
    })",
              {{}}, 0, 3);
}

// An empty sum still has an epilogue, which may read from an empty tensor.
TEST(GemmKernel, EmptySumAndNothingToAdd) {
  checkKernel(R"(
    func.func @f() attributes {hlir.symbols = #hlir.symbols<k in [0, ], n in [0, ]>} {
    %a, %b, %c, %d = "test.source"() : () -> (tensor<5x?xf32, #hlir.dims<k>>, tensor<19x?xf32, #hlir.dims<k>>, tensor<?xf32, #hlir.dims<n>>, tensor<19xi64>)
    %r = llir.kernel(%a, %b, %c, %d) : (tensor<5x?xf32, #hlir.dims<k>>, tensor<19x?xf32, #hlir.dims<k>>, tensor<?xf32, #hlir.dims<n>>, tensor<19xi64>) -> tensor<5x19xf32> {
    ^bb0(%x: tensor<5x?xf32, #hlir.dims<k>>, %w: tensor<19x?xf32, #hlir.dims<k>>, %t: tensor<?xf32, #hlir.dims<n>>, %i: tensor<19xi64>):
      %0 = llir.gemm %x, %w k(k) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
          : tensor<5x?xf32, #hlir.dims<k>>, tensor<19x?xf32, #hlir.dims<k>> -> tensor<5x19xf32>
      %1 = llir.gather %t, %i {checked} : tensor<?xf32, #hlir.dims<n>>, tensor<19xi64> -> tensor<19xf32>
      %2 = llir.view %1 <(d0, d1) -> (d1)> : tensor<19xf32> -> tensor<5x19xf32>
      %3 = llir.elementwise add(%0, %2) : (tensor<5x19xf32>, tensor<5x19xf32>) -> tensor<5x19xf32>
      llir.yield %3 : tensor<5x19xf32>
    }
    return
    })",
              {{{"k", 0}, {"n", 0}},
               {{"k", 3}, {"n", 0}},
               {{"k", 0}, {"n", 4}},
               {{"k", 3}, {"n", 4}}},
              1e-6, 3);
}

TEST(GatherKernel, AlongTheVector) {
  checkKernel(R"(
    %a, %b = "test.source"() : () -> (tensor<9xf32>, tensor<35xi32>)
    %r = llir.kernel(%a, %b) : (tensor<9xf32>, tensor<35xi32>) -> tensor<35xf32> {
    ^bb0(%x: tensor<9xf32>, %i: tensor<35xi32>):
      %0 = llir.gather %x, %i {checked} : tensor<9xf32>, tensor<35xi32> -> tensor<35xf32>
      llir.yield %0 : tensor<35xf32>
    })",
              {{}}, 0, 9);
}

TEST(ReduceKernel, Softmax) {
  const char *text = R"(
    func.func @f() attributes {hlir.symbols = #hlir.symbols<n in [0, ]>} {
    %a = "test.source"() : () -> tensor<3x?xf32, #hlir.dims<n>>
    %r = llir.kernel(%a) : (tensor<3x?xf32, #hlir.dims<n>>) -> tensor<3x?xf32, #hlir.dims<n>> {
    ^bb0(%x: tensor<3x?xf32, #hlir.dims<n>>):
      %0 = llir.reduce max %x : tensor<3x?xf32, #hlir.dims<n>> -> tensor<3xf32>
      %1 = llir.view %0 <(d0, d1) -> (d0)> : tensor<3xf32> -> tensor<3x?xf32, #hlir.dims<n>>
      %2 = llir.elementwise sub(%x, %1) : (tensor<3x?xf32, #hlir.dims<n>>, tensor<3x?xf32, #hlir.dims<n>>) -> tensor<3x?xf32, #hlir.dims<n>>
      %3 = llir.elementwise exp(%2) : (tensor<3x?xf32, #hlir.dims<n>>) -> tensor<3x?xf32, #hlir.dims<n>>
      %4 = llir.reduce sum %3 : tensor<3x?xf32, #hlir.dims<n>> -> tensor<3xf32>
      %5 = llir.elementwise recip(%4) : (tensor<3xf32>) -> tensor<3xf32>
      %6 = llir.view %5 <(d0, d1) -> (d0)> : tensor<3xf32> -> tensor<3x?xf32, #hlir.dims<n>>
      %7 = llir.elementwise mul(%3, %6) : (tensor<3x?xf32, #hlir.dims<n>>, tensor<3x?xf32, #hlir.dims<n>>) -> tensor<3x?xf32, #hlir.dims<n>>
      llir.yield %7 : tensor<3x?xf32, #hlir.dims<n>>
    }
    return
    })";
  checkKernel(text,
              {{{"n", 0}}, {{"n", 1}}, {{"n", 7}}, {{"n", 100}}, {{"n", 513}}});
}

// The result cannot hold the row of exponentials, which differ in type.
TEST(ReduceKernel, SoftmaxToHalf) {
  checkKernel(R"(
    %a = "test.source"() : () -> tensor<3x75xf32>
    %r:2 = llir.kernel(%a) : (tensor<3x75xf32>) -> (tensor<3xf32>, tensor<3x75xf16>) {
    ^bb0(%x: tensor<3x75xf32>):
      %0 = llir.elementwise exp(%x) : (tensor<3x75xf32>) -> tensor<3x75xf32>
      %1 = llir.reduce sum %0 : tensor<3x75xf32> -> tensor<3xf32>
      %9 = llir.elementwise recip(%1) : (tensor<3xf32>) -> tensor<3xf32>
      %2 = llir.view %9 <(d0, d1) -> (d0)> : tensor<3xf32> -> tensor<3x75xf32>
      %3 = llir.elementwise mul(%0, %2) : (tensor<3x75xf32>, tensor<3x75xf32>) -> tensor<3x75xf32>
      %4 = llir.elementwise cast(%3) : (tensor<3x75xf32>) -> tensor<3x75xf16>
      llir.yield %1, %4 : tensor<3xf32>, tensor<3x75xf16>
    })",
              {{}}, 1e-3);
}

// The first result holds the row; the second is computed from it in the last
// pass.
TEST(ReduceKernel, SoftmaxAndItsPart) {
  checkKernel(R"(
    %a = "test.source"() : () -> tensor<3x75xf32>
    %r:2 = llir.kernel(%a) : (tensor<3x75xf32>) -> (tensor<3x75xf32>, tensor<3x75xf32>) {
    ^bb0(%x: tensor<3x75xf32>):
      %0 = llir.elementwise exp(%x) : (tensor<3x75xf32>) -> tensor<3x75xf32>
      %1 = llir.reduce sum %0 : tensor<3x75xf32> -> tensor<3xf32>
      %2 = llir.reduce max %x : tensor<3x75xf32> -> tensor<3xf32>
      %9 = llir.elementwise recip(%1) : (tensor<3xf32>) -> tensor<3xf32>
      %3 = llir.view %9 <(d0, d1) -> (d0)> : tensor<3xf32> -> tensor<3x75xf32>
      %4 = llir.view %2 <(d0, d1) -> (d0)> : tensor<3xf32> -> tensor<3x75xf32>
      %5 = llir.elementwise mul(%0, %3) : (tensor<3x75xf32>, tensor<3x75xf32>) -> tensor<3x75xf32>
      %6 = llir.elementwise sub(%0, %4) : (tensor<3x75xf32>, tensor<3x75xf32>) -> tensor<3x75xf32>
      llir.yield %5, %6 : tensor<3x75xf32>, tensor<3x75xf32>
    })",
              {{}}, 1e-5);
}

TEST(ReduceKernel, AcrossRows) {
  checkKernel(R"(
    %a = "test.source"() : () -> tensor<2x50x37xf16>
    %r:2 = llir.kernel(%a) : (tensor<2x50x37xf16>) -> (tensor<2x37xf16>, tensor<2x37xf16>) {
    ^bb0(%x: tensor<2x50x37xf16>):
      %0 = llir.view %x <(d0, d1, d2) -> (d0, d2, d1)> : tensor<2x50x37xf16> -> tensor<2x37x50xf16>
      %1 = llir.reduce max %0 : tensor<2x37x50xf16> -> tensor<2x37xf16>
      %2 = llir.reduce sum %0 : tensor<2x37x50xf16> -> tensor<2x37xf16>
      llir.yield %1, %2 : tensor<2x37xf16>, tensor<2x37xf16>
    })",
              {{}}, 1e-3);
}

TEST(ReduceKernel, IntegersAndShortRows) {
  checkKernel(R"(
    %a = "test.source"() : () -> tensor<200x3xi64>
    %r:2 = llir.kernel(%a) : (tensor<200x3xi64>) -> (tensor<200xi64>, tensor<200x3xi64>) {
    ^bb0(%x: tensor<200x3xi64>):
      %1 = llir.reduce sum %x : tensor<200x3xi64> -> tensor<200xi64>
      %2 = llir.view %1 <(d0, d1) -> (d0)> : tensor<200xi64> -> tensor<200x3xi64>
      %3 = llir.elementwise mul(%x, %2) : (tensor<200x3xi64>, tensor<200x3xi64>) -> tensor<200x3xi64>
      llir.yield %1, %3 : tensor<200xi64>, tensor<200x3xi64>
    })",
              {{}}, 0, 1000000);
}

TEST(ScatterKernel, CombinesInOrder) {
  for (const char *combine : {"set", "add", "max"})
    for (const char *inPlace : {"", "{in_place}"}) {
      std::string text = R"(
    func.func @f() attributes {hlir.symbols = #hlir.symbols<n in [0, ]>} {
    %a, %b, %c = "test.source"() : () -> (tensor<?x40xf32, #hlir.dims<n>>, tensor<6xi32>, tensor<6x40xf32>)
    %r = llir.kernel(%a, %b, %c) IN_PLACE : (tensor<?x40xf32, #hlir.dims<n>>, tensor<6xi32>, tensor<6x40xf32>) -> tensor<?x40xf32, #hlir.dims<n>> {
    ^bb0(%d: tensor<?x40xf32, #hlir.dims<n>>, %i: tensor<6xi32>, %u: tensor<6x40xf32>):
      %1 = llir.elementwise neg(%u) : (tensor<6x40xf32>) -> tensor<6x40xf32>
      %0 = llir.scatter COMBINE %d, %i, %1 {checked} : tensor<?x40xf32, #hlir.dims<n>>, tensor<6xi32>, tensor<6x40xf32>
      llir.yield %0 : tensor<?x40xf32, #hlir.dims<n>>
    }
    return
    })";
      text.replace(text.find("COMBINE"), 7, combine);
      text.replace(text.find("IN_PLACE"), 8, inPlace);
      checkKernel(text, {{{"n", 3}}, {{"n", 9}}, {{"n", 2}}, {{"n", 0}}}, 0, 3);
    }
}
