// What is read across memory is read in blocks whose lines stay in the L1 cache until all of each is used.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=znver4 | FileCheck %s

// Lines 4 KiB apart share a set, which holds eight.
// CHECK-LABEL: @one_set
// CHECK: loops<grid(d0:16, d1:8 v8)>
func.func @one_set(%a: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %r = llir.kernel(%a) : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  ^bb0(%x: tensor<1024x1024xf32>):
    %0 = llir.view %x <(d0, d1) -> (d1, d0)> : tensor<1024x1024xf32> -> tensor<1024x1024xf32>
    llir.yield %0 : tensor<1024x1024xf32>
  }
  return %r : tensor<1024x1024xf32>
}

// 3 KiB apart they are in four sets; a line has 32 elements of two bytes.
// CHECK-LABEL: @four_sets
// CHECK: loops<grid(d0, d1:32, d2:32 v16)>
func.func @four_sets(%a: tensor<8x512x1536xbf16>) -> tensor<8x1536x512xbf16> {
  %r = llir.kernel(%a) : (tensor<8x512x1536xbf16>) -> tensor<8x1536x512xbf16> {
  ^bb0(%x: tensor<8x512x1536xbf16>):
    %0 = llir.view %x <(d0, d1, d2) -> (d0, d2, d1)> : tensor<8x512x1536xbf16> -> tensor<8x1536x512xbf16>
    llir.yield %0 : tensor<8x1536x512xbf16>
  }
  return %r : tensor<8x1536x512xbf16>
}

// All lines of a row of results are in the cache: nothing is cut.
// CHECK-LABEL: @channels_last
// CHECK: loops<grid(d0, d1*d2, d3:all v16)>
func.func @channels_last(%a: tensor<8x96x56x56xf32>) -> tensor<8x56x56x96xf32> {
  %r = llir.kernel(%a) : (tensor<8x96x56x56xf32>) -> tensor<8x56x56x96xf32> {
  ^bb0(%x: tensor<8x96x56x56xf32>):
    %0 = llir.view %x <(d0, d1, d2, d3) -> (d0, d3, d1, d2)> : tensor<8x96x56x56xf32> -> tensor<8x56x56x96xf32>
    llir.yield %0 : tensor<8x56x56x96xf32>
  }
  return %r : tensor<8x56x56x96xf32>
}

// What is read along memory is read line by line as it is.
// CHECK-LABEL: @along
// CHECK: loops<grid(d0*d1:4096 v16)>
func.func @along(%a: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %r = llir.kernel(%a) : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  ^bb0(%x: tensor<1024x1024xf32>):
    %0 = llir.elementwise neg(%x) : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
    llir.yield %0 : tensor<1024x1024xf32>
  }
  return %r : tensor<1024x1024xf32>
}

// So is what a concatenation reads, at a clamped index.
// CHECK-LABEL: @concatenation
// CHECK: loops<grid(d0:16, d1:128 v16)>
func.func @concatenation(%a: tensor<64x3136xf32>, %b: tensor<3136x32xf32>) -> tensor<96x3136xf32> {
  %r = llir.kernel(%a, %b) : (tensor<64x3136xf32>, tensor<3136x32xf32>) -> tensor<96x3136xf32> {
  ^bb0(%x: tensor<64x3136xf32>, %y: tensor<3136x32xf32>):
    %0 = llir.iota <(d0, d1) -> (d0)> : tensor<96x3136xi64>
    %1 = llir.constant dense<64> : tensor<i64>
    %2 = llir.view %1 <(d0, d1) -> ()> : tensor<i64> -> tensor<96x3136xi64>
    %3 = llir.elementwise less_than(%0, %2) : (tensor<96x3136xi64>, tensor<96x3136xi64>) -> tensor<96x3136xi1>
    %4 = llir.view %x <(d0, d1) -> (min(d0, 63), d1)> : tensor<64x3136xf32> -> tensor<96x3136xf32>
    %5 = llir.view %y <(d0, d1) -> (d1, max(d0 - 64, 0))> : tensor<3136x32xf32> -> tensor<96x3136xf32>
    %6 = llir.elementwise select(%3, %4, %5) : (tensor<96x3136xi1>, tensor<96x3136xf32>, tensor<96x3136xf32>) -> tensor<96x3136xf32>
    llir.yield %6 : tensor<96x3136xf32>
  }
  return %r : tensor<96x3136xf32>
}
