// Rows that no worker's cache holds are read again for each block of columns: blocks are as large as have room.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=sapphirerapids | FileCheck %s
// RUN: luminal-opt %s --llir-schedule-kernels=arch=znver4 | FileCheck %s --check-prefix=EIGHT

// 4 MB of weights, and two tiles of columns.
// CHECK-LABEL: @far
// CHECK: loops<grid(d0:64, d1:{{[0-9]+}}) op0 = tile
func.func private @far(%a: tensor<512x49xf32>, %b: tensor<2048x512xf32>) -> tensor<2048x49xf32> {
  %r = llir.kernel(%a, %b) : (tensor<512x49xf32>, tensor<2048x512xf32>) -> tensor<2048x49xf32> {
  ^bb0(%x: tensor<512x49xf32>, %w: tensor<2048x512xf32>):
    %0 = llir.gemm %x, %w k(512) <(d0, d1, d2) -> (d2, d0)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<512x49xf32>, tensor<2048x512xf32> -> tensor<49x2048xf32>
    %1 = llir.view %0 <(d0, d1) -> (d1, d0)> : tensor<49x2048xf32> -> tensor<2048x49xf32>
    llir.yield %1 : tensor<2048x49xf32>
  }
  return %r : tensor<2048x49xf32>
}

// 64 KB of them stay in a worker's cache: more units are better.
// CHECK-LABEL: @near
// CHECK: loops<grid(d0:32, d1:{{[0-9]+}}) op0 = tile
func.func private @near(%a: tensor<64x784xf32>, %b: tensor<256x64xf32>) -> tensor<256x784xf32> {
  %r = llir.kernel(%a, %b) : (tensor<64x784xf32>, tensor<256x64xf32>) -> tensor<256x784xf32> {
  ^bb0(%x: tensor<64x784xf32>, %w: tensor<256x64xf32>):
    %0 = llir.gemm %x, %w k(64) <(d0, d1, d2) -> (d2, d0)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<64x784xf32>, tensor<256x64xf32> -> tensor<784x256xf32>
    %1 = llir.view %0 <(d0, d1) -> (d1, d0)> : tensor<784x256xf32> -> tensor<256x784xf32>
    llir.yield %1 : tensor<256x784xf32>
  }
  return %r : tensor<256x784xf32>
}

// A tile's rows are in one set of the L1 cache, of twelve ways and of eight.
// CHECK-LABEL: @ways
// CHECK: pack = columns, rows = 12,
// EIGHT-LABEL: @ways
// EIGHT: pack = columns, rows = 8,
func.func private @ways(%a: tensor<1024x196xf32>, %b: tensor<256x1024xf32>) -> tensor<256x196xf32> {
  %r = llir.kernel(%a, %b) : (tensor<1024x196xf32>, tensor<256x1024xf32>) -> tensor<256x196xf32> {
  ^bb0(%x: tensor<1024x196xf32>, %w: tensor<256x1024xf32>):
    %0 = llir.gemm %x, %w k(1024) <(d0, d1, d2) -> (d2, d0)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<1024x196xf32>, tensor<256x1024xf32> -> tensor<196x256xf32>
    %1 = llir.view %0 <(d0, d1) -> (d1, d0)> : tensor<196x256xf32> -> tensor<256x196xf32>
    llir.yield %1 : tensor<256x196xf32>
  }
  return %r : tensor<256x196xf32>
}
