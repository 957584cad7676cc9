// Weights that a product packs in each call are prepared as the panels that its tiles read.
// RUN: luminal-opt %s --llir-pack-weights=arch=znver4 --split-input-file --remarks-filter=llir-pack-weights 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks
// There is no memory for them; and a GPU's products have other operands.
// RUN: luminal-opt %s --llir-pack-weights="arch=znver4 prepare-bytes=0" --split-input-file | FileCheck %s --check-prefix=NONE
// RUN: luminal-opt %s --llir-pack-weights="target=cuda arch=sm_90a" --split-input-file | FileCheck %s --check-prefix=NONE
// NONE-COUNT-1: llir.prepare
// NONE-NOT: llir.prepare
// The panels of narrower vectors are narrower.
// RUN: luminal-opt %s --llir-pack-weights=arch=znver3 --split-input-file | FileCheck %s --check-prefix=AVX2
// AVX2: llir.prepare %{{[0-9]+}} : tensor<64x512x16xf32>

// CHECK-LABEL: func.func @linear(
// CHECK: %[[V:.+]] = llir.view %arg1 <(d0, d1, d2) -> (32 * d0 + d2, d1)> : tensor<1024x512xf32> -> tensor<32x512x32xf32>
// CHECK: %[[P:.+]] = llir.prepare %[[V]] : tensor<32x512x32xf32>
// CHECK: llir.gemm %arg0, %[[P]] k(512) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1 floordiv 32, d2, d1 mod 32)>
// REMARK: [Passed] packed {{.*}} Function=linear | columns in a panel=32, predicted ns={{[0-9]+}}, predicted ns by one worker={{[0-9]+}}, unchanged ns={{[0-9]+}}, unchanged ns by one worker={{[0-9]+}}
func.func @linear(%x: tensor<64x512xf32>, %w: tensor<1024x512xf32> {hlir.kind = "weight"}) -> tensor<64x1024xf32> {
  %r = llir.gemm %x, %w k(512) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
      : tensor<64x512xf32>, tensor<1024x512xf32> -> tensor<64x1024xf32>
  return %r : tensor<64x1024xf32>
}

// -----

// The last panel is as large as the others. What was prepared is not prepared twice.
// CHECK-LABEL: func.func @rest(
// CHECK: %[[E:.+]] = llir.elementwise exp(%arg1)
// CHECK-NEXT: %[[V:.+]] = llir.view %[[E]] <(d0, d1, d2) -> (d1, min(32 * d0 + d2, 99))> : tensor<512x100xf32> -> tensor<4x512x32xf32>
// CHECK-NEXT: %[[P:.+]] = llir.prepare %[[V]]
// CHECK-NEXT: llir.gemm %arg0, %[[P]]
func.func @rest(%x: tensor<64x512xf32>, %w: tensor<512x100xf32> {hlir.kind = "weight"}) -> tensor<64x100xf32> {
  %e = llir.elementwise exp(%w) : (tensor<512x100xf32>) -> tensor<512x100xf32>
  %p = llir.prepare %e : tensor<512x100xf32>
  %r = llir.gemm %x, %p k(512) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)>
      : tensor<64x512xf32>, tensor<512x100xf32> -> tensor<64x100xf32>
  return %r : tensor<64x100xf32>
}

// -----

// A 1 x 1 convolution of a small image has few columns, and many rows that fill vectors: the matrices of groups follow
// each other.
// CHECK-LABEL: func.func @pointwise(
// CHECK: llir.prepare %{{[0-9]+}} : tensor<2x8x512x32xf32>
// CHECK: llir.gemm {{.*}} <(d0, d1, d2, d3) -> (d0, d3, d1)>, <(d0, d1, d2, d3) -> (d0, d2 floordiv 32, d3, d2 mod 32)>
func.func @pointwise(%x: tensor<2x512x49xf32>, %w: tensor<2x256x512xf32> {hlir.kind = "weight"}) -> tensor<2x256x49xf32> {
  %r = llir.gemm %x, %w k(512) <(d0, d1, d2, d3) -> (d0, d3, d1)>, <(d0, d1, d2, d3) -> (d0, d2, d3)>
      : tensor<2x512x49xf32>, tensor<2x256x512xf32> -> tensor<2x49x256xf32>
  %v = llir.view %r <(d0, d1, d2) -> (d0, d2, d1)> : tensor<2x49x256xf32> -> tensor<2x256x49xf32>
  return %v : tensor<2x256x49xf32>
}

// -----

// Windows of an image are read from a copy of it, as rows.
// CHECK-LABEL: func.func @windows(
// CHECK: llir.view %arg1 <(d0, d1, d2) -> (32 * d0 + d2, d1 floordiv 9, (d1 floordiv 3) mod 3, d1 mod 3)> : tensor<512x512x3x3xf32> -> tensor<16x4608x32xf32>
// CHECK: llir.prepare
// CHECK: llir.gemm {{.*}} <(d0, d1, d2, d3) -> (d2 floordiv 32, d3, d2 mod 32)>
func.func @windows(%x: tensor<512x9x9xf32>, %w: tensor<512x512x3x3xf32> {hlir.kind = "weight"}) -> tensor<512x7x7xf32> {
  %r = llir.gemm %x, %w k(4608) <(d0, d1, d2, d3) -> (d3 floordiv 9, d0 + (d3 floordiv 3) mod 3, d1 + d3 mod 3)>,
      <(d0, d1, d2, d3) -> (d2, d3 floordiv 9, (d3 floordiv 3) mod 3, d3 mod 3)>
      : tensor<512x9x9xf32>, tensor<512x512x3x3xf32> -> tensor<7x7x512xf32>
  %v = llir.view %r <(d0, d1, d2) -> (d1, d2, d0)> : tensor<7x7x512xf32> -> tensor<512x7x7xf32>
  return %v : tensor<512x7x7xf32>
}

// -----

// Two rows read weights once, as they are; weights on both sides are multiplied once.
// CHECK-LABEL: func.func @others(
// CHECK-NOT: llir.prepare
// CHECK: return
// REMARK: [Missed] packed {{.*}} Function=others {{.*}}reason="the predicted gain is too small"
func.func @others(%x: tensor<2x512xf32>, %w: tensor<1024x512xf32> {hlir.kind = "weight"}) -> (tensor<2x1024xf32>, tensor<1024x1024xf32>) {
  %r = llir.gemm %x, %w k(512) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
      : tensor<2x512xf32>, tensor<1024x512xf32> -> tensor<2x1024xf32>
  %s = llir.gemm %w, %w k(512) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
      : tensor<1024x512xf32>, tensor<1024x512xf32> -> tensor<1024x1024xf32>
  return %r, %s : tensor<2x1024xf32>, tensor<1024x1024xf32>
}
