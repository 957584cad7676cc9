// RUN: luminal-opt %s --llir-fuse-kernels | FileCheck %s

// A chain of elementwise ops is one kernel.
// CHECK-LABEL: func.func @chain
// CHECK-NEXT: %[[K:.*]] = llir.kernel(%arg0, %arg1)
// CHECK: %[[A:.*]] = llir.elementwise add(%{{.*}}, %{{.*}})
// CHECK-NEXT: %[[E:.*]] = llir.elementwise exp(%[[A]])
// CHECK-NEXT: llir.yield %[[E]]
// CHECK: return %[[K]]
func.func @chain(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  %0 = llir.elementwise add(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %1 = llir.elementwise exp(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// Views end at the loads; a splat is an immediate.
// CHECK-LABEL: func.func @views
// CHECK: llir.kernel(%arg0, %arg1)
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<3x2xf32>, %[[Y:.*]]: tensor<3xf32>):
// CHECK-NEXT: %[[XV:.*]] = llir.view %[[X]] <(d0, d1) -> (d1, d0)>
// CHECK-NEXT: %[[YV:.*]] = llir.view %[[Y]] <(d0, d1) -> (d1)>
// CHECK-NEXT: %[[S:.*]] = llir.elementwise add(%[[XV]], %[[YV]])
// CHECK-NEXT: %[[C:.*]] = llir.constant dense<2.0{{.*}}> : tensor<f32>
// CHECK-NEXT: %[[CV:.*]] = llir.view %[[C]] <(d0, d1) -> ()>
// CHECK-NEXT: llir.elementwise mul(%[[S]], %[[CV]])
func.func @views(%x: tensor<3x2xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %c = llir.constant dense<2.0> : tensor<f32>
  %cv = llir.view %c <(d0, d1) -> ()> : tensor<f32> -> tensor<2x3xf32>
  %yv = llir.view %y <(d0, d1) -> (d0)> : tensor<3xf32> -> tensor<3x2xf32>
  %s = llir.elementwise add(%x, %yv) : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %t = llir.view %s <(d0, d1) -> (d1, d0)> : tensor<3x2xf32> -> tensor<2x3xf32>
  %m = llir.elementwise mul(%t, %cv) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %m : tensor<2x3xf32>
}

// A constant with more than one value is loaded.
// CHECK-LABEL: func.func @table
// CHECK: %[[C:.*]] = llir.constant dense<[1.0{{.*}}, 2.0{{.*}}]>
// CHECK: llir.kernel(%arg0, %[[C]])
func.func @table(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = llir.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %m = llir.elementwise mul(%x, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %m : tensor<2xf32>
}

// softmax with the ops before and after it is one kernel; row values are computed once per row.
// CHECK-LABEL: func.func @softmax
// CHECK-NEXT: %[[K:.*]] = llir.kernel(%arg0)
// CHECK: %[[N:.*]] = llir.elementwise neg(
// CHECK-NEXT: %[[MAX:.*]] = llir.reduce max %[[N]] : tensor<8x16xf32> -> tensor<8xf32>
// CHECK-NEXT: %[[MAXV:.*]] = llir.view %[[MAX]] <(d0, d1) -> (d0)>
// CHECK-NEXT: %[[D:.*]] = llir.elementwise sub(%[[N]], %[[MAXV]])
// CHECK-NEXT: %[[E:.*]] = llir.elementwise exp_fast(%[[D]])
// CHECK-NEXT: %[[SUM:.*]] = llir.reduce sum %[[E]]
// CHECK-NEXT: %[[R:.*]] = llir.elementwise recip(%[[SUM]]) : (tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT: %[[RV:.*]] = llir.view %[[R]]
// CHECK-NEXT: %[[S:.*]] = llir.elementwise mul(%[[E]], %[[RV]])
// CHECK-NEXT: llir.elementwise mul(%[[S]], %[[S]])
// CHECK-NOT: llir.kernel
func.func @softmax(%x: tensor<8x16xf32>) -> tensor<8x16xf32> {
  %0 = llir.elementwise neg(%x) : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %1 = llir.softmax %0 : tensor<8x16xf32>
  %2 = llir.elementwise mul(%1, %1) : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}

// What rows without elements read is not computed once per row: there is no element at index 4.
// CHECK-LABEL: func.func @empty_rows
// CHECK: %[[X:.*]] = llir.view %{{.*}} <(d0) -> (4)> : tensor<4xf32> -> tensor<0xf32>
// CHECK: %[[N:.*]] = llir.elementwise neg(%[[X]]) : (tensor<0xf32>) -> tensor<0xf32>
// CHECK-NEXT: llir.reduce sum %[[N]] : tensor<0xf32> -> tensor<f32>
func.func @empty_rows(%x: tensor<4xf32>) -> tensor<f32> {
  %0 = llir.elementwise neg(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = llir.view %0 <(d0) -> (4)> : tensor<4xf32> -> tensor<0xf32>
  %2 = llir.reduce sum %1 : tensor<0xf32> -> tensor<f32>
  return %2 : tensor<f32>
}

// f16 rows are computed in f32 and rounded once.
// CHECK-LABEL: func.func @rms_norm_f16
// CHECK: llir.kernel(%arg0)
// CHECK: llir.elementwise cast({{.*}}) : (tensor<8x16xf16>) -> tensor<8x16xf32>
// CHECK: llir.reduce sum {{.*}} : tensor<8x16xf32> -> tensor<8xf32>
// CHECK: llir.elementwise cast({{.*}}) : (tensor<8x16xf32>) -> tensor<8x16xf16>
func.func @rms_norm_f16(%x: tensor<8x16xf16>) -> tensor<8x16xf16> {
  %1 = llir.rms_norm %x {eps = 1.0e-6 : f64} : tensor<8x16xf16>
  return %1 : tensor<8x16xf16>
}

// The number of elements of a symbolic row is a value.
// CHECK-LABEL: func.func @layer_norm_dynamic
// CHECK: llir.kernel(%arg0)
// CHECK: llir.reduce sum
// CHECK: llir.iota <(d0) -> (s0)> : tensor<8xi64>
// CHECK-NOT: llir.kernel
func.func @layer_norm_dynamic(%x: tensor<8x?xf32, #hlir.dims<s0>>) -> tensor<8x?xf32, #hlir.dims<s0>>
    attributes {hlir.symbols = #hlir.symbols<s0 in [1, 64]>} {
  %1 = llir.layer_norm %x {eps = 1.0e-5 : f64} : tensor<8x?xf32, #hlir.dims<s0>>
  return %1 : tensor<8x?xf32, #hlir.dims<s0>>
}

// Rows that are read in another order, and a transposed result: the reduction's
// space is the kernel's, a copy reorders the result.
// CHECK-LABEL: func.func @softmax_middle
// CHECK-NEXT: %[[K:.*]] = llir.kernel(%arg0) : (tensor<2x3x5xf32>) -> tensor<2x5x3xf32>
// CHECK: llir.view {{.*}} <(d0, d1, d2) -> (d0, d2, d1)>
// CHECK: llir.kernel(%[[K]]) : (tensor<2x5x3xf32>) -> tensor<2x3x5xf32>
func.func @softmax_middle(%x: tensor<2x3x5xf32>) -> tensor<2x3x5xf32> {
  %0 = llir.view %x <(d0, d1, d2) -> (d0, d2, d1)> : tensor<2x3x5xf32> -> tensor<2x5x3xf32>
  %1 = llir.softmax %0 : tensor<2x5x3xf32>
  %2 = llir.view %1 <(d0, d1, d2) -> (d0, d2, d1)> : tensor<2x5x3xf32> -> tensor<2x3x5xf32>
  return %2 : tensor<2x3x5xf32>
}

// A normalisation over two dims, scaled and shifted over both: one kernel over
// [rows, merged dims], whose result is the same memory.
// CHECK-LABEL: func.func @group_norm
// CHECK-NEXT: %[[K:.*]] = llir.kernel(%arg0, %arg1) : (tensor<2x3x4xf32>, tensor<3xf32>) -> tensor<2x12xf32>
// CHECK: llir.view %{{.*}} <(d0, d1) -> (d0, d1 floordiv 4, d1 mod 4)>
// CHECK: llir.view %{{.*}} <(d0, d1) -> (d1 floordiv 4)>
// CHECK: llir.alias %[[K]] offset(0) : tensor<2x12xf32> -> tensor<2x3x4xf32>
func.func @group_norm(%x: tensor<2x3x4xf32>, %w: tensor<3xf32>) -> tensor<2x3x4xf32> {
  %0 = llir.view %x <(d0, d1) -> (d0, d1 floordiv 4, d1 mod 4)> : tensor<2x3x4xf32> -> tensor<2x12xf32>
  %1 = llir.layer_norm %0 {eps = 1.0e-5 : f64} : tensor<2x12xf32>
  %2 = llir.view %1 <(d0, d1, d2) -> (d0, d1 * 4 + d2)> : tensor<2x12xf32> -> tensor<2x3x4xf32>
  %3 = llir.view %w <(d0, d1, d2) -> (d1)> : tensor<3xf32> -> tensor<2x3x4xf32>
  %4 = llir.elementwise mul(%2, %3) : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %4 : tensor<2x3x4xf32>
}

// Two reductions over different dims stay two kernels.
// CHECK-LABEL: func.func @two_domains
// CHECK: llir.kernel
// CHECK: llir.kernel
func.func @two_domains(%x: tensor<64x1024xf32>) -> tensor<f32> {
  %0 = llir.reduce max %x : tensor<64x1024xf32> -> tensor<64xf32>
  %1 = llir.reduce sum %0 : tensor<64xf32> -> tensor<f32>
  return %1 : tensor<f32>
}

// What a product leaves is written in bf16, and widened again where it is read; a cast to less is written as it is.
// CHECK-LABEL: func.func @widened
// CHECK: llir.kernel({{.*}}) : {{.*}} -> tensor<64x64xbf16>
// CHECK: llir.kernel({{.*}}) : {{.*}} -> tensor<64x8192xf32>
// CHECK: llir.elementwise cast({{.*}}) : (tensor<64x64xbf16>) -> tensor<64x64xf32>
// CHECK-LABEL: func.func @narrowed
// CHECK: llir.kernel({{.*}}) : {{.*}} -> tensor<64x64xbf16>
// CHECK-NEXT: ^bb0
// CHECK-NEXT: llir.gemm
// CHECK-NEXT: llir.elementwise cast
func.func @widened(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %v: tensor<64x8192xf32>) -> tensor<64x8192xf32> {
  %0 = llir.gemm %x, %w k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %1 = llir.elementwise cast(%0) : (tensor<64x64xf32>) -> tensor<64x64xbf16>
  %2 = llir.elementwise cast(%1) : (tensor<64x64xbf16>) -> tensor<64x64xf32>
  %3 = llir.gemm %2, %v k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf32>, tensor<64x8192xf32> -> tensor<64x8192xf32>
  return %3 : tensor<64x8192xf32>
}
func.func @narrowed(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>, %v: tensor<64x8192xbf16>) -> tensor<64x8192xbf16> {
  %0 = llir.gemm %x, %w k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %1 = llir.elementwise cast(%0) : (tensor<64x64xf32>) -> tensor<64x64xbf16>
  %2 = llir.gemm %1, %v k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xbf16>, tensor<64x8192xbf16> -> tensor<64x8192xbf16>
  return %2 : tensor<64x8192xbf16>
}

// Casts before a product and everything after it join; the residual is read.
// CHECK-LABEL: func.func @gemm
// CHECK-NEXT: %[[K:.*]] = llir.kernel(%arg0, %arg1, %arg2, %arg3)
// CHECK: %[[A:.*]] = llir.elementwise cast({{.*}}) : (tensor<64x32xbf16>) -> tensor<64x32xf32>
// CHECK: %[[G:.*]] = llir.gemm %[[A]], %{{.*}} k(32) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)>
// CHECK: llir.elementwise add(%[[G]], %{{.*}})
// CHECK: llir.elementwise silu
// CHECK-NOT: llir.kernel
// CHECK: return %[[K]]
func.func @gemm(%a: tensor<64x32xbf16>, %b: tensor<32x16xf32>, %bias: tensor<16xf32>, %res: tensor<64x16xf32>)
    -> tensor<64x16xf32> {
  %af = llir.elementwise cast(%a) : (tensor<64x32xbf16>) -> tensor<64x32xf32>
  %bt = llir.view %b <(d0, d1) -> (d1, d0)> : tensor<32x16xf32> -> tensor<16x32xf32>
  %g = llir.gemm %af, %bt k(32) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
      : tensor<64x32xf32>, tensor<16x32xf32> -> tensor<64x16xf32>
  %bv = llir.view %bias <(d0, d1) -> (d1)> : tensor<16xf32> -> tensor<64x16xf32>
  %0 = llir.elementwise add(%g, %bv) : (tensor<64x16xf32>, tensor<64x16xf32>) -> tensor<64x16xf32>
  %1 = llir.elementwise silu(%0) : (tensor<64x16xf32>) -> tensor<64x16xf32>
  %2 = llir.elementwise add(%1, %res) : (tensor<64x16xf32>, tensor<64x16xf32>) -> tensor<64x16xf32>
  return %2 : tensor<64x16xf32>
}

// An expensive value is computed once, before the product that reads it often.
// CHECK-LABEL: func.func @dear_prologue
// CHECK: %[[X:.*]] = llir.kernel(%arg0)
// CHECK: llir.elementwise gelu
// CHECK: llir.kernel(%[[X]], %arg1)
func.func @dear_prologue(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %x = llir.elementwise gelu(%a) : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %g = llir.gemm %x, %b k(512) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)>
      : tensor<512x512xf32>, tensor<512x512xf32> -> tensor<512x512xf32>
  return %g : tensor<512x512xf32>
}

// The product of a product whose columns fit on chip: two stages of one kernel.
// CHECK-LABEL: func.func @chain_of_products
// CHECK: llir.kernel(%arg0, %arg1)
// CHECK: llir.gemm
// CHECK: llir.elementwise neg
// CHECK: llir.gemm
// CHECK-NOT: llir.kernel
func.func @chain_of_products(%a: tensor<8x8xf32>, %b: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %g = llir.gemm %a, %b k(8) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)>
      : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %n = llir.elementwise neg(%g) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %h = llir.gemm %n, %b k(8) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)>
      : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  return %h : tensor<8x8xf32>
}

// Where they do not: two kernels, the epilogue with the first.
// CHECK-LABEL: func.func @large_chain
// CHECK: %[[X:.*]] = llir.kernel(%arg0, %arg1)
// CHECK: llir.elementwise neg
// CHECK: llir.kernel(%[[X]], %arg1)
func.func @large_chain(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %g = llir.gemm %a, %b k(512) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)>
      : tensor<512x512xf32>, tensor<512x512xf32> -> tensor<512x512xf32>
  %n = llir.elementwise neg(%g) : (tensor<512x512xf32>) -> tensor<512x512xf32>
  %h = llir.gemm %n, %b k(512) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)>
      : tensor<512x512xf32>, tensor<512x512xf32> -> tensor<512x512xf32>
  return %h : tensor<512x512xf32>
}

// Attention is one kernel: two products, and the softmax between them.
// CHECK-LABEL: func.func @attention
// CHECK: llir.kernel(%arg0, %arg1, %arg2)
// CHECK: llir.gemm
// CHECK: llir.reduce max
// The sum comes before the product, and divides behind it.
// CHECK: llir.reduce sum
// CHECK: llir.elementwise recip
// CHECK: llir.gemm
// CHECK-NEXT: llir.elementwise mul({{.*}}) : (tensor<2x3x96x24xf32>, tensor<2x3x96x24xf32>)
// CHECK-NEXT: llir.yield
// CHECK-NOT: llir.kernel
func.func @attention(%q: tensor<2x3x96x16xf32>, %k: tensor<2x3x45x16xf32>, %v: tensor<2x3x45x24xf32>) -> tensor<2x3x96x24xf32> {
  %s = llir.gemm %q, %k k(16) <(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, <(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)>
      : tensor<2x3x96x16xf32>, tensor<2x3x45x16xf32> -> tensor<2x3x96x45xf32>
  %p = llir.softmax %s : tensor<2x3x96x45xf32>
  %o = llir.gemm %p, %v k(45) <(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, <(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)>
      : tensor<2x3x96x45xf32>, tensor<2x3x45x24xf32> -> tensor<2x3x96x24xf32>
  return %o : tensor<2x3x96x24xf32>
}

// Of bf16, the product reads terms that were rounded to bf16, and rounds once behind the division.
// CHECK-LABEL: func.func @narrow_attention
// CHECK: llir.elementwise cast({{.*}}) : (tensor<96x45xf32>) -> tensor<96x45xbf16>
// CHECK: llir.gemm {{.*}} -> tensor<96x24xf32>
// CHECK: llir.elementwise mul({{.*}}) : (tensor<96x24xf32>, tensor<96x24xf32>)
// CHECK: llir.elementwise cast({{.*}}) : (tensor<96x24xf32>) -> tensor<96x24xbf16>
func.func @narrow_attention(%s: tensor<96x45xbf16>, %v: tensor<45x24xbf16>) -> tensor<96x24xbf16> {
  %p = llir.softmax %s : tensor<96x45xbf16>
  %o = llir.gemm %p, %v k(45) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)>
      : tensor<96x45xbf16>, tensor<45x24xbf16> -> tensor<96x24xbf16>
  return %o : tensor<96x24xbf16>
}

// What else reads the probabilities needs them divided.
// CHECK-LABEL: func.func @read_twice
// CHECK: llir.elementwise mul({{.*}}) : (tensor<96x45xf32>, tensor<96x45xf32>)
func.func @read_twice(%s: tensor<96x45xf32>, %v: tensor<45x24xf32>) -> (tensor<96x24xf32>, tensor<96x45xf32>) {
  %p = llir.softmax %s : tensor<96x45xf32>
  %o = llir.gemm %p, %v k(45) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)>
      : tensor<96x45xf32>, tensor<45x24xf32> -> tensor<96x24xf32>
  return %o, %p : tensor<96x24xf32>, tensor<96x45xf32>
}

// A norm is not repeated for each block of a wide product's columns.
// CHECK-LABEL: func.func @norm_and_wide_product
// CHECK: %[[X:.*]] = llir.kernel(%arg0)
// CHECK: llir.reduce sum
// CHECK: llir.kernel(%[[X]], %arg1)
func.func @norm_and_wide_product(%a: tensor<512x512xf32>, %b: tensor<4096x512xf32>) -> tensor<512x4096xf32> {
  %n = llir.rms_norm %a {eps = 1.0e-6 : f64} : tensor<512x512xf32>
  %g = llir.gemm %n, %b k(512) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
      : tensor<512x512xf32>, tensor<4096x512xf32> -> tensor<512x4096xf32>
  return %g : tensor<512x4096xf32>
}

// A product's epilogue may move it: here heads and rows are swapped.
// CHECK-LABEL: func.func @moved_product
// CHECK: llir.kernel(%arg0, %arg1) : {{.*}} -> tensor<3x8xf32>
// CHECK: %[[G:.*]] = llir.gemm {{.*}} -> tensor<2x3x4xf32>
// CHECK-NEXT: %[[N:.*]] = llir.elementwise neg(%[[G]]) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
// CHECK-NEXT: %[[V:.*]] = llir.view %[[N]] <(d0, d1) -> (d1 floordiv 4, d0, d1 mod 4)>
// CHECK-NEXT: llir.yield %[[V]]
// CHECK-NOT: llir.kernel
func.func @moved_product(%a: tensor<2x3x8xf32>, %b: tensor<2x8x4xf32>) -> tensor<3x8xf32> {
  %g = llir.gemm %a, %b k(8) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)>
      : tensor<2x3x8xf32>, tensor<2x8x4xf32> -> tensor<2x3x4xf32>
  %v = llir.view %g <(d0, d1) -> (d1 floordiv 4, d0, d1 mod 4)> : tensor<2x3x4xf32> -> tensor<3x8xf32>
  %n = llir.elementwise neg(%v) : (tensor<3x8xf32>) -> tensor<3x8xf32>
  return %n : tensor<3x8xf32>
}

// Rows taken by index, with the reader's ops in the same kernel.
// CHECK-LABEL: func.func @embedding
// CHECK: llir.kernel(%arg0, %arg1)
// CHECK: %[[I:.*]] = llir.elementwise add
// CHECK: llir.gather %{{.*}}, %[[I]] {checked}
// CHECK-NEXT: llir.elementwise neg
// CHECK-NOT: llir.kernel
func.func @embedding(%w: tensor<100x8xf32>, %i: tensor<4xi64>) -> tensor<4x8xf32> {
  %0 = llir.elementwise add(%i, %i) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  %1 = llir.gather %w, %0 {checked} : tensor<100x8xf32>, tensor<4xi64> -> tensor<4x8xf32>
  %2 = llir.elementwise neg(%1) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// Which operand of a sum or product comes first in the program is chance: both layers have one kernel.
// CHECK-LABEL: func.func @layers
// CHECK: %[[FIRST:.*]] = llir.kernel(%arg0, %arg1, %arg2)
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<4x8xf32>, %[[A:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<4x8xf32>):
// CHECK-NEXT: %[[E:.*]] = llir.elementwise exp(%[[X]])
// CHECK-NEXT: %[[AV:.*]] = llir.view %[[A]] <(d0, d1) -> (d1)>
// CHECK-NEXT: %[[M:.*]] = llir.elementwise mul(%[[E]], %[[AV]])
// CHECK-NEXT: %[[S:.*]] = llir.elementwise add(%[[M]], %[[B]])
// CHECK-NEXT: %[[C:.*]] = llir.constant
// CHECK-NEXT: %[[CV:.*]] = llir.view %[[C]]
// CHECK-NEXT: llir.elementwise mul(%[[S]], %[[CV]])
// CHECK: llir.kernel(%arg3, %arg1, %arg2)
// CHECK-NEXT: ^bb0(%[[X:.*]]: tensor<4x8xf32>, %[[A:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<4x8xf32>):
// CHECK-NEXT: %[[E:.*]] = llir.elementwise exp(%[[X]])
// CHECK-NEXT: %[[AV:.*]] = llir.view %[[A]] <(d0, d1) -> (d1)>
// CHECK-NEXT: %[[M:.*]] = llir.elementwise mul(%[[E]], %[[AV]])
// CHECK-NEXT: %[[S:.*]] = llir.elementwise add(%[[M]], %[[B]])
// CHECK-NEXT: %[[C:.*]] = llir.constant
// CHECK-NEXT: %[[CV:.*]] = llir.view %[[C]]
// CHECK-NEXT: llir.elementwise mul(%[[S]], %[[CV]])
func.func @layers(%x: tensor<4x8xf32>, %a: tensor<8xf32>, %b: tensor<4x8xf32>, %y: tensor<4x8xf32>)
    -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %c = llir.constant dense<2.0> : tensor<4x8xf32>
  %av = llir.view %a <(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<4x8xf32>
  %e0 = llir.elementwise exp(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %m0 = llir.elementwise mul(%e0, %av) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %s0 = llir.elementwise add(%m0, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %t0 = llir.elementwise mul(%s0, %c) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %e1 = llir.elementwise exp(%y) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %m1 = llir.elementwise mul(%av, %e1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %s1 = llir.elementwise add(%b, %m1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %t1 = llir.elementwise mul(%c, %s1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %t0, %t1 : tensor<4x8xf32>, tensor<4x8xf32>
}

// Not max and min: of zeros either may be the result.
// CHECK-LABEL: func.func @max
// CHECK: llir.view
// CHECK-NEXT: %[[E:.*]] = llir.elementwise exp
// CHECK-NEXT: llir.elementwise max(%{{.*}}, %[[E]])
func.func @max(%x: tensor<4x8xf32>, %a: tensor<8xf32>) -> tensor<4x8xf32> {
  %av = llir.view %a <(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<4x8xf32>
  %e = llir.elementwise exp(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %m = llir.elementwise max(%av, %e) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %m : tensor<4x8xf32>
}

// A step of a binary search computes each place once, for the element that is
// looked up there and for the choice between the halves: so all steps are one kernel.
// CHECK-LABEL: func.func @search
// CHECK: llir.kernel
// CHECK-NOT: llir.kernel
// CHECK: return
func.func @search(%sorted: tensor<100000xf32>, %x: tensor<100000xf32>, %first: tensor<100000xi64>) -> tensor<100000xi64> {
  %step = llir.constant dense<1> : tensor<i64>
  %one = llir.view %step <(d0) -> ()> : tensor<i64> -> tensor<100000xi64>
  %e0 = llir.gather %sorted, %first {checked} : tensor<100000xf32>, tensor<100000xi64> -> tensor<100000xf32>
  %c0 = llir.elementwise less_than(%e0, %x) : (tensor<100000xf32>, tensor<100000xf32>) -> tensor<100000xi1>
  %n0 = llir.elementwise add(%first, %one) : (tensor<100000xi64>, tensor<100000xi64>) -> tensor<100000xi64>
  %i0 = llir.elementwise select(%c0, %n0, %first) : (tensor<100000xi1>, tensor<100000xi64>, tensor<100000xi64>) -> tensor<100000xi64>
  %e1 = llir.gather %sorted, %i0 {checked} : tensor<100000xf32>, tensor<100000xi64> -> tensor<100000xf32>
  %c1 = llir.elementwise less_than(%e1, %x) : (tensor<100000xf32>, tensor<100000xf32>) -> tensor<100000xi1>
  %n1 = llir.elementwise add(%i0, %one) : (tensor<100000xi64>, tensor<100000xi64>) -> tensor<100000xi64>
  %i1 = llir.elementwise select(%c1, %n1, %i0) : (tensor<100000xi1>, tensor<100000xi64>, tensor<100000xi64>) -> tensor<100000xi64>
  %e2 = llir.gather %sorted, %i1 {checked} : tensor<100000xf32>, tensor<100000xi64> -> tensor<100000xf32>
  %c2 = llir.elementwise less_than(%e2, %x) : (tensor<100000xf32>, tensor<100000xf32>) -> tensor<100000xi1>
  %n2 = llir.elementwise add(%i1, %one) : (tensor<100000xi64>, tensor<100000xi64>) -> tensor<100000xi64>
  %i2 = llir.elementwise select(%c2, %n2, %i1) : (tensor<100000xi1>, tensor<100000xi64>, tensor<100000xi64>) -> tensor<100000xi64>
  return %i2 : tensor<100000xi64>
}

// What is read whole as another shape is no copy, neither of an argument nor of a computed value.
// CHECK-LABEL: func.func @orders
// CHECK-NEXT: %[[A:.*]] = llir.alias %arg0 offset(0) : tensor<60xf32> -> tensor<3x20xf32>
// CHECK: llir.argsort %[[A]]
// CHECK: %[[K:.*]] = llir.kernel(%arg0)
// CHECK: %[[B:.*]] = llir.alias %[[K]] offset(0) : tensor<60xf32> -> tensor<3x20xf32>
// CHECK: llir.argsort %[[B]]
func.func @orders(%x: tensor<60xf32>) -> (tensor<3x20xi64>, tensor<3x20xi64>) {
  %0 = llir.view %x <(d0, d1) -> (20 * d0 + d1)> : tensor<60xf32> -> tensor<3x20xf32>
  %1 = llir.argsort %0 : tensor<3x20xf32> -> tensor<3x20xi64>
  %2 = llir.elementwise exp(%x) : (tensor<60xf32>) -> tensor<60xf32>
  %3 = llir.view %2 <(d0, d1) -> (20 * d0 + d1)> : tensor<60xf32> -> tensor<3x20xf32>
  %4 = llir.argsort %3 : tensor<3x20xf32> -> tensor<3x20xi64>
  return %1, %4 : tensor<3x20xi64>, tensor<3x20xi64>
}
