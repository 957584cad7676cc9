// Windows of an image to few channels have a tile: a thread for each result would read 1152 elements one after the other. Few
// rows beside a matrix that is read once have none.
// RUN: luminal-opt %s --llir-schedule-kernels="target=cuda arch=h200" --split-input-file | FileCheck %s

// CHECK-LABEL: @channels
// CHECK: loops<grid({{.*}}:32, {{.*}}:64){{.*}} op2 = block {
func.func @channels(%x: tensor<66x66x128xf16>, %w: tensor<4x1152xf16>) -> tensor<64x64x4xf32> {
  %r = llir.kernel(%x, %w) : (tensor<66x66x128xf16>, tensor<4x1152xf16>) -> tensor<64x64x4xf32> {
  ^bb0(%a: tensor<66x66x128xf16>, %b: tensor<4x1152xf16>):
    %0 = llir.elementwise cast(%a) : (tensor<66x66x128xf16>) -> tensor<66x66x128xf32>
    %1 = llir.elementwise cast(%b) : (tensor<4x1152xf16>) -> tensor<4x1152xf32>
    %2 = llir.gemm %0, %1 k(1152) <(d0, d1, d2, d3) -> (d0 + d3 floordiv 384, d1 + (d3 floordiv 128) mod 3, d3 mod 128)>, <(d0, d1, d2, d3) -> (d2, d3)> : tensor<66x66x128xf32>, tensor<4x1152xf32> -> tensor<64x64x4xf32>
    llir.yield %2 : tensor<64x64x4xf32>
  }
  return %r : tensor<64x64x4xf32>
}

// -----

// CHECK-LABEL: @rows
// CHECK-NOT: block {
// CHECK: return
func.func @rows(%x: tensor<4x4096xf16>, %w: tensor<4096x4096xf16>) -> tensor<4x4096xf32> {
  %r = llir.kernel(%x, %w) : (tensor<4x4096xf16>, tensor<4096x4096xf16>) -> tensor<4x4096xf32> {
  ^bb0(%a: tensor<4x4096xf16>, %b: tensor<4096x4096xf16>):
    %0 = llir.elementwise cast(%a) : (tensor<4x4096xf16>) -> tensor<4x4096xf32>
    %1 = llir.elementwise cast(%b) : (tensor<4096x4096xf16>) -> tensor<4096x4096xf32>
    %2 = llir.gemm %0, %1 k(4096) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<4x4096xf32>, tensor<4096x4096xf32> -> tensor<4x4096xf32>
    llir.yield %2 : tensor<4x4096xf32>
  }
  return %r : tensor<4x4096xf32>
}
