// Rows of several batches are read at divided indices, and copied; those of one batch are read as they are.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=znver4 | FileCheck %s

// Units of one batch: each reads its rows in place.
// CHECK-LABEL: @long_batches
// CHECK: loops<grid(d0, d2:{{[0-9]+}}, d1:{{[a-z0-9]+}}) op0 = tile {ahead = results, lanes = 16, pack = k, rows = 14, square = 4, vectors = 2}>
func.func private @long_batches(%a: tensor<4x128x1024xf32>, %b: tensor<1024x128xf32>) -> tensor<4x1024x1024xf32> {
  %r = llir.kernel(%a, %b) : (tensor<4x128x1024xf32>, tensor<1024x128xf32>) -> tensor<4x1024x1024xf32> {
  ^bb0(%x: tensor<4x128x1024xf32>, %w: tensor<1024x128xf32>):
    %0 = llir.gemm %x, %w k(128) <(d0, d1, d2, d3) -> (d0, d3, d1)>, <(d0, d1, d2, d3) -> (d2, d3)>
        : tensor<4x128x1024xf32>, tensor<1024x128xf32> -> tensor<4x1024x1024xf32>
    llir.yield %0 : tensor<4x1024x1024xf32>
  }
  return %r : tensor<4x1024x1024xf32>
}

// Tiles to 49 rows would waste more than copying takes.
// CHECK-LABEL: @short_batches
// CHECK: loops<grid(d2:{{[0-9]+}}, d0*d1:{{[0-9]+}}) op0 = tile {ahead = results, copy = rows, lanes = 16, pack = k, rows = 14, square = 4, vectors = 2}>
func.func private @short_batches(%a: tensor<83x128x49xf32>, %b: tensor<256x128xf32>) -> tensor<83x49x256xf32> {
  %r = llir.kernel(%a, %b) : (tensor<83x128x49xf32>, tensor<256x128xf32>) -> tensor<83x49x256xf32> {
  ^bb0(%x: tensor<83x128x49xf32>, %w: tensor<256x128xf32>):
    %0 = llir.gemm %x, %w k(128) <(d0, d1, d2, d3) -> (d0, d3, d1)>, <(d0, d1, d2, d3) -> (d2, d3)>
        : tensor<83x128x49xf32>, tensor<256x128xf32> -> tensor<83x49x256xf32>
    llir.yield %0 : tensor<83x49x256xf32>
  }
  return %r : tensor<83x49x256xf32>
}
