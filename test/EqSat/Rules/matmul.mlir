// Each rule of Matmul.pdll, with near misses that are not a gemm.

// RUN: luminal-opt %s --eqsat-saturate --split-input-file | FileCheck %s

// Gemm: x [m, k] times w [n, k], transposed; either order of the factors.
// CHECK-LABEL: func.func @linear(
// CHECK-NEXT: %[[R:.*]] = llir.gemm %arg0, %arg1 k(16) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
// CHECK-NEXT: return %[[R]]
func.func @linear(%x: tensor<8x16xf32>, %w: tensor<4x16xf32>) -> tensor<8x4xf32> {
  %0 = hlir.view %x <(d0, d1, d2) -> (d0, d2)> : tensor<8x16xf32> -> tensor<8x4x16xf32>
  %1 = hlir.view %w <(d0, d1, d2) -> (d1, d2)> : tensor<4x16xf32> -> tensor<8x4x16xf32>
  %2 = hlir.mul %0, %1 : tensor<8x4x16xf32>
  %3 = hlir.reduce_sum %2 : tensor<8x4x16xf32> -> tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}

// -----

// The fastest dim of both is not the contracted one.
// CHECK-LABEL: func.func @transposed(
// CHECK-NEXT: llir.gemm %arg0, %arg1 k(16) <(d0, d1, d2) -> (d2, d0)>, <(d0, d1, d2) -> (d2, d1)>
func.func @transposed(%a: tensor<16x8xf32>, %b: tensor<16x4xf32>) -> tensor<8x4xf32> {
  %0 = hlir.view %a <(d0, d1) -> (d1, d0)> : tensor<16x8xf32> -> tensor<8x16xf32>
  %1 = hlir.view %0 <(d0, d1, d2) -> (d0, d2)> : tensor<8x16xf32> -> tensor<8x4x16xf32>
  %2 = hlir.view %b <(d0, d1, d2) -> (d2, d1)> : tensor<16x4xf32> -> tensor<8x4x16xf32>
  %3 = hlir.mul %1, %2 : tensor<8x4x16xf32>
  %4 = hlir.reduce_sum %3 : tensor<8x4x16xf32> -> tensor<8x4xf32>
  return %4 : tensor<8x4xf32>
}

// -----

// One key head for two query heads, and symbolic lengths.
// CHECK-LABEL: func.func @grouped(
// CHECK-NEXT: llir.gemm %arg0, %arg1 k(16) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0 floordiv 2, d2, d3)>
func.func @grouped(%q: tensor<4x?x16xf32, #hlir.dims<s0>>, %k: tensor<2x?x16xf32, #hlir.dims<s1>>) -> tensor<4x?x?xf32, #hlir.dims<s0, s1>>
    attributes {hlir.symbols = #hlir.symbols<s0 in [1, 64], s1 in [1, 64]>} {
  %0 = hlir.view %q <(d0, d1, d2, d3) -> (d0, d1, d3)> : tensor<4x?x16xf32, #hlir.dims<s0>> -> tensor<4x?x?x16xf32, #hlir.dims<s0, s1>>
  %1 = hlir.view %k <(d0, d1, d2, d3) -> (d0 floordiv 2, d2, d3)> : tensor<2x?x16xf32, #hlir.dims<s1>> -> tensor<4x?x?x16xf32, #hlir.dims<s0, s1>>
  %2 = hlir.mul %0, %1 : tensor<4x?x?x16xf32, #hlir.dims<s0, s1>>
  %3 = hlir.reduce_sum %2 : tensor<4x?x?x16xf32, #hlir.dims<s0, s1>> -> tensor<4x?x?xf32, #hlir.dims<s0, s1>>
  return %3 : tensor<4x?x?xf32, #hlir.dims<s0, s1>>
}

// -----

// Windows of an image: a convolution without its im2col.
// CHECK-LABEL: func.func @convolution(
// CHECK-NEXT: llir.gemm %arg0, %arg1 k(9) <(d0, d1, d2, d3) -> (d0 + d3 floordiv 3, d1 + d3 mod 3)>, <(d0, d1, d2, d3) -> (d2, d3)>
func.func @convolution(%x: tensor<8x8xf32>, %w: tensor<4x9xf32>) -> tensor<6x6x4xf32> {
  %0 = hlir.view %x <(d0, d1, d2, d3) -> (d0 + d3 floordiv 3, d1 + d3 mod 3)> : tensor<8x8xf32> -> tensor<6x6x4x9xf32>
  %1 = hlir.view %w <(d0, d1, d2, d3) -> (d2, d3)> : tensor<4x9xf32> -> tensor<6x6x4x9xf32>
  %2 = hlir.mul %0, %1 : tensor<6x6x4x9xf32>
  %3 = hlir.reduce_sum %2 : tensor<6x6x4x9xf32> -> tensor<6x6x4xf32>
  return %3 : tensor<6x6x4xf32>
}

// -----

// Nothing is read twice: a reduction.
// CHECK-LABEL: func.func @not_gemm(
// CHECK-NOT: llir.gemm
// CHECK: llir.reduce sum
func.func @not_gemm(%a: tensor<8x16xf32>, %b: tensor<16x8xf32>) -> tensor<8xf32> {
  %0 = hlir.view %b <(d0, d1) -> (d1, d0)> : tensor<16x8xf32> -> tensor<8x16xf32>
  %1 = hlir.mul %a, %0 : tensor<8x16xf32>
  %2 = hlir.reduce_sum %1 : tensor<8x16xf32> -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// -----

// A sum that is not of products.
// CHECK-LABEL: func.func @not_product(
// CHECK-NOT: llir.gemm
// CHECK: llir.reduce sum
func.func @not_product(%x: tensor<8x16xf32>, %w: tensor<4x16xf32>) -> tensor<8x4xf32> {
  %0 = hlir.view %x <(d0, d1, d2) -> (d0, d2)> : tensor<8x16xf32> -> tensor<8x4x16xf32>
  %1 = hlir.view %w <(d0, d1, d2) -> (d1, d2)> : tensor<4x16xf32> -> tensor<8x4x16xf32>
  %2 = hlir.add %0, %1 : tensor<8x4x16xf32>
  %3 = hlir.reduce_sum %2 : tensor<8x4x16xf32> -> tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}

// -----

// GemmWholeOperand: a vector times a matrix.
// CHECK-LABEL: func.func @vector(
// CHECK: llir.gemm {{.*}} k(256)
func.func @vector(%x: tensor<256xf32>, %w: tensor<512x256xf32>) -> tensor<512xf32> {
  %0 = hlir.view %x <(d0, d1) -> (d1)> : tensor<256xf32> -> tensor<512x256xf32>
  %1 = hlir.mul %0, %w : tensor<512x256xf32>
  %2 = hlir.reduce_sum %1 : tensor<512x256xf32> -> tensor<512xf32>
  return %2 : tensor<512xf32>
}

// -----

// A factor that does not depend on the contracted index.
// CHECK-LABEL: func.func @not_contracted(
// CHECK-NOT: llir.gemm
// CHECK: llir.reduce sum
func.func @not_contracted(%x: tensor<512xf32>, %w: tensor<512x256xf32>) -> tensor<512xf32> {
  %0 = hlir.view %x <(d0, d1) -> (d0)> : tensor<512xf32> -> tensor<512x256xf32>
  %1 = hlir.mul %0, %w : tensor<512x256xf32>
  %2 = hlir.reduce_sum %1 : tensor<512x256xf32> -> tensor<512xf32>
  return %2 : tensor<512xf32>
}

// -----

// GemmNarrow: the casts are above the views, and are moved below them.
// CHECK-LABEL: func.func @narrow(
// CHECK-NEXT: %[[R:.*]] = llir.gemm %arg0, %arg1 k(16) {{.*}} : tensor<8x16xbf16>, tensor<4x16xbf16> -> tensor<8x4xbf16>
// CHECK-NEXT: return %[[R]]
func.func @narrow(%x: tensor<8x16xbf16>, %w: tensor<4x16xbf16>) -> tensor<8x4xbf16> {
  %0 = hlir.view %x <(d0, d1, d2) -> (d0, d2)> : tensor<8x16xbf16> -> tensor<8x4x16xbf16>
  %1 = hlir.view %w <(d0, d1, d2) -> (d1, d2)> : tensor<4x16xbf16> -> tensor<8x4x16xbf16>
  %2 = hlir.cast %0 : tensor<8x4x16xbf16> -> tensor<8x4x16xf32>
  %3 = hlir.cast %1 : tensor<8x4x16xbf16> -> tensor<8x4x16xf32>
  %4 = hlir.mul %2, %3 : tensor<8x4x16xf32>
  %5 = hlir.reduce_sum %4 : tensor<8x4x16xf32> -> tensor<8x4xf32>
  %6 = hlir.cast %5 : tensor<8x4xf32> -> tensor<8x4xbf16>
  return %6 : tensor<8x4xbf16>
}

// -----

// The result is not rounded to the operands' type.
// CHECK-LABEL: func.func @not_narrow(
// CHECK: llir.gemm {{.*}} : tensor<8x16xf32>, tensor<4x16xf32> -> tensor<8x4xf32>
func.func @not_narrow(%x: tensor<8x16xbf16>, %w: tensor<4x16xbf16>) -> tensor<8x4xf32> {
  %0 = hlir.cast %x : tensor<8x16xbf16> -> tensor<8x16xf32>
  %1 = hlir.cast %w : tensor<4x16xbf16> -> tensor<4x16xf32>
  %2 = hlir.view %0 <(d0, d1, d2) -> (d0, d2)> : tensor<8x16xf32> -> tensor<8x4x16xf32>
  %3 = hlir.view %1 <(d0, d1, d2) -> (d1, d2)> : tensor<4x16xf32> -> tensor<8x4x16xf32>
  %4 = hlir.mul %2, %3 : tensor<8x4x16xf32>
  %5 = hlir.reduce_sum %4 : tensor<8x4x16xf32> -> tensor<8x4xf32>
  return %5 : tensor<8x4xf32>
}
