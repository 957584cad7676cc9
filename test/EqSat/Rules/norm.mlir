// Each rule of Norm.pdll on decompositions from models, and beside it a
// near miss.

// RUN: luminal-opt %s --eqsat-saturate --split-input-file | FileCheck %s

// Softmax, with the dims kept and exp in the given type.
// CHECK-LABEL: func.func @softmax(
// CHECK-NEXT: %[[R:.*]] = llir.softmax %arg0 : tensor<4x8xf32>
// CHECK-NEXT: return %[[R]]
func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %log2e = hlir.constant dense<1.4426950408889634> : tensor<f32>
  %m1 = hlir.constant dense<-1.0> : tensor<f32>
  %k = hlir.view %log2e <(d0, d1) -> ()> : tensor<f32> -> tensor<4x8xf32>
  %minus = hlir.view %m1 <(d0, d1) -> ()> : tensor<f32> -> tensor<4x8xf32>
  %0 = hlir.reduce_max %x : tensor<4x8xf32> -> tensor<4xf32>
  %1 = hlir.view %0 <(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x1xf32>
  %2 = hlir.view %1 <(d0, d1) -> (d0, 0)> : tensor<4x1xf32> -> tensor<4x8xf32>
  %3 = hlir.mul %2, %minus : tensor<4x8xf32>
  %4 = hlir.add %x, %3 : tensor<4x8xf32>
  %5 = hlir.mul %4, %k : tensor<4x8xf32>
  %6 = hlir.exp2 %5 : tensor<4x8xf32>
  %7 = hlir.reduce_sum %6 : tensor<4x8xf32> -> tensor<4xf32>
  %8 = hlir.view %7 <(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
  %9 = hlir.recip %8 : tensor<4x8xf32>
  %10 = hlir.mul %6, %9 : tensor<4x8xf32>
  return %10 : tensor<4x8xf32>
}

// -----

// The sums are of columns: as many, of a square tensor.
// CHECK-LABEL: func.func @not_softmax(
// CHECK-NOT: llir.softmax
// CHECK: return
func.func @not_softmax(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %log2e = hlir.constant dense<1.4426950408889634> : tensor<f32>
  %m1 = hlir.constant dense<-1.0> : tensor<f32>
  %k = hlir.view %log2e <(d0, d1) -> ()> : tensor<f32> -> tensor<8x8xf32>
  %minus = hlir.view %m1 <(d0, d1) -> ()> : tensor<f32> -> tensor<8x8xf32>
  %0 = hlir.reduce_max %x : tensor<8x8xf32> -> tensor<8xf32>
  %2 = hlir.view %0 <(d0, d1) -> (d0)> : tensor<8xf32> -> tensor<8x8xf32>
  %3 = hlir.mul %2, %minus : tensor<8x8xf32>
  %4 = hlir.add %x, %3 : tensor<8x8xf32>
  %5 = hlir.mul %4, %k : tensor<8x8xf32>
  %6 = hlir.exp2 %5 : tensor<8x8xf32>
  %7 = hlir.reduce_sum %6 : tensor<8x8xf32> -> tensor<8xf32>
  %8 = hlir.view %7 <(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<8x8xf32>
  %9 = hlir.recip %8 : tensor<8x8xf32>
  %10 = hlir.mul %6, %9 : tensor<8x8xf32>
  return %10 : tensor<8x8xf32>
}

// -----

// SoftmaxAlong: of columns.
// CHECK-LABEL: func.func @softmax_along(
// CHECK-NEXT: %[[T:.*]] = llir.view %arg0 <(d0, d1) -> (d1, d0)>
// CHECK-NEXT: %[[S:.*]] = llir.softmax %[[T]] : tensor<8x?xf32, #hlir.dims<s0>>
// CHECK-NEXT: %[[R:.*]] = llir.view %[[S]] <(d0, d1) -> (d1, d0)>
// CHECK-NEXT: return %[[R]]
func.func @softmax_along(%x: tensor<?x8xf32, #hlir.dims<s0>>) -> tensor<?x8xf32, #hlir.dims<s0>>
    attributes {hlir.symbols = #hlir.symbols<s0 in [1, 64]>} {
  %log2e = hlir.constant dense<1.4426950408889634> : tensor<f32>
  %m1 = hlir.constant dense<-1.0> : tensor<f32>
  %k = hlir.view %log2e <(d0, d1) -> ()> : tensor<f32> -> tensor<?x8xf32, #hlir.dims<s0>>
  %minus = hlir.view %m1 <(d0, d1) -> ()> : tensor<f32> -> tensor<?x8xf32, #hlir.dims<s0>>
  %t = hlir.view %x <(d0, d1) -> (d1, d0)> : tensor<?x8xf32, #hlir.dims<s0>> -> tensor<8x?xf32, #hlir.dims<s0>>
  %0 = hlir.reduce_max %t : tensor<8x?xf32, #hlir.dims<s0>> -> tensor<8xf32>
  %2 = hlir.view %0 <(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<?x8xf32, #hlir.dims<s0>>
  %3 = hlir.mul %2, %minus : tensor<?x8xf32, #hlir.dims<s0>>
  %4 = hlir.add %x, %3 : tensor<?x8xf32, #hlir.dims<s0>>
  %5 = hlir.mul %4, %k : tensor<?x8xf32, #hlir.dims<s0>>
  %6 = hlir.exp2 %5 : tensor<?x8xf32, #hlir.dims<s0>>
  %u = hlir.view %6 <(d0, d1) -> (d1, d0)> : tensor<?x8xf32, #hlir.dims<s0>> -> tensor<8x?xf32, #hlir.dims<s0>>
  %7 = hlir.reduce_sum %u : tensor<8x?xf32, #hlir.dims<s0>> -> tensor<8xf32>
  %8 = hlir.view %7 <(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<?x8xf32, #hlir.dims<s0>>
  %9 = hlir.recip %8 : tensor<?x8xf32, #hlir.dims<s0>>
  %10 = hlir.mul %6, %9 : tensor<?x8xf32, #hlir.dims<s0>>
  return %10 : tensor<?x8xf32, #hlir.dims<s0>>
}

// -----

// The sums are of the first 4 of 8 elements of each column.
// CHECK-LABEL: func.func @not_softmax_along(
// CHECK-NOT: llir.softmax
// CHECK: return
func.func @not_softmax_along(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %log2e = hlir.constant dense<1.4426950408889634> : tensor<f32>
  %m1 = hlir.constant dense<-1.0> : tensor<f32>
  %k = hlir.view %log2e <(d0, d1) -> ()> : tensor<f32> -> tensor<8x8xf32>
  %minus = hlir.view %m1 <(d0, d1) -> ()> : tensor<f32> -> tensor<8x8xf32>
  %t = hlir.view %x <(d0, d1) -> (d1, d0)> : tensor<8x8xf32> -> tensor<8x8xf32>
  %0 = hlir.reduce_max %t : tensor<8x8xf32> -> tensor<8xf32>
  %2 = hlir.view %0 <(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<8x8xf32>
  %3 = hlir.mul %2, %minus : tensor<8x8xf32>
  %4 = hlir.add %x, %3 : tensor<8x8xf32>
  %5 = hlir.mul %4, %k : tensor<8x8xf32>
  %6 = hlir.exp2 %5 : tensor<8x8xf32>
  %u = hlir.view %6 <(d0, d1) -> (d1, d0)> : tensor<8x8xf32> -> tensor<8x4xf32>
  %7 = hlir.reduce_sum %u : tensor<8x4xf32> -> tensor<8xf32>
  %8 = hlir.view %7 <(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<8x8xf32>
  %9 = hlir.recip %8 : tensor<8x8xf32>
  %10 = hlir.mul %6, %9 : tensor<8x8xf32>
  return %10 : tensor<8x8xf32>
}

// -----

// RMSNorm, with a mean over kept dims.
// CHECK-LABEL: func.func @rms_norm(
// CHECK-NEXT: %[[R:.*]] = llir.rms_norm %arg0 {eps = {{.*}} : f64} : tensor<4x8xf32>
// CHECK-NEXT: return %[[R]]
func.func @rms_norm(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %eps = hlir.constant dense<1.0e-6> : tensor<f32>
  %e = hlir.view %eps <(d0, d1) -> ()> : tensor<f32> -> tensor<4x1xf32>
  %length = hlir.constant dense<8.0> : tensor<f32>
  %n = hlir.view %length <(d0, d1) -> ()> : tensor<f32> -> tensor<4x1xf32>
  %0 = hlir.mul %x, %x : tensor<4x8xf32>
  %1 = hlir.reduce_sum %0 : tensor<4x8xf32> -> tensor<4xf32>
  %2 = hlir.view %1 <(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x1xf32>
  %3 = hlir.recip %n : tensor<4x1xf32>
  %4 = hlir.mul %2, %3 : tensor<4x1xf32>
  %5 = hlir.add %4, %e : tensor<4x1xf32>
  %6 = hlir.sqrt %5 : tensor<4x1xf32>
  %7 = hlir.recip %6 : tensor<4x1xf32>
  %8 = hlir.view %7 <(d0, d1) -> (d0, 0)> : tensor<4x1xf32> -> tensor<4x8xf32>
  %9 = hlir.mul %8, %x : tensor<4x8xf32>
  return %9 : tensor<4x8xf32>
}

// -----

// The sum is divided by 7, of 8.
// CHECK-LABEL: func.func @not_rms_norm(
// CHECK-NOT: llir.rms_norm
// CHECK: return
func.func @not_rms_norm(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %eps = hlir.constant dense<1.0e-6> : tensor<f32>
  %e = hlir.view %eps <(d0) -> ()> : tensor<f32> -> tensor<4xf32>
  %length = hlir.constant dense<7.0> : tensor<f32>
  %n = hlir.view %length <(d0) -> ()> : tensor<f32> -> tensor<4xf32>
  %0 = hlir.mul %x, %x : tensor<4x8xf32>
  %1 = hlir.reduce_sum %0 : tensor<4x8xf32> -> tensor<4xf32>
  %3 = hlir.recip %n : tensor<4xf32>
  %4 = hlir.mul %1, %3 : tensor<4xf32>
  %5 = hlir.add %4, %e : tensor<4xf32>
  %6 = hlir.sqrt %5 : tensor<4xf32>
  %7 = hlir.recip %6 : tensor<4xf32>
  %8 = hlir.view %7 <(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
  %9 = hlir.mul %8, %x : tensor<4x8xf32>
  return %9 : tensor<4x8xf32>
}

// -----

// LayerNorm of rows of symbolic length.
// CHECK-LABEL: func.func @layer_norm(
// CHECK-NEXT: %[[R:.*]] = llir.layer_norm %arg0 {eps = 1.000000e-05 : f64} : tensor<4x?xf64, #hlir.dims<s0>>
// CHECK-NEXT: return %[[R]]
func.func @layer_norm(%x: tensor<4x?xf64, #hlir.dims<s0>>) -> tensor<4x?xf64, #hlir.dims<s0>>
    attributes {hlir.symbols = #hlir.symbols<s0 in [1, 64]>} {
  %eps = hlir.constant dense<1.0e-5> : tensor<f64>
  %e = hlir.view %eps <(d0) -> ()> : tensor<f64> -> tensor<4xf64>
  %m1 = hlir.constant dense<-1.0> : tensor<f64>
  %minus = hlir.view %m1 <(d0, d1) -> ()> : tensor<f64> -> tensor<4x?xf64, #hlir.dims<s0>>
  %i = hlir.iota <() -> (s0)> : tensor<i64>
  %length = hlir.cast %i : tensor<i64> -> tensor<f64>
  %n = hlir.view %length <(d0) -> ()> : tensor<f64> -> tensor<4xf64>
  %r = hlir.recip %n : tensor<4xf64>
  %0 = hlir.reduce_sum %x : tensor<4x?xf64, #hlir.dims<s0>> -> tensor<4xf64>
  %1 = hlir.mul %0, %r : tensor<4xf64>
  %2 = hlir.view %1 <(d0, d1) -> (d0)> : tensor<4xf64> -> tensor<4x?xf64, #hlir.dims<s0>>
  %3 = hlir.mul %2, %minus : tensor<4x?xf64, #hlir.dims<s0>>
  %4 = hlir.add %x, %3 : tensor<4x?xf64, #hlir.dims<s0>>
  %5 = hlir.mul %4, %4 : tensor<4x?xf64, #hlir.dims<s0>>
  %6 = hlir.reduce_sum %5 : tensor<4x?xf64, #hlir.dims<s0>> -> tensor<4xf64>
  %7 = hlir.mul %6, %r : tensor<4xf64>
  %8 = hlir.add %7, %e : tensor<4xf64>
  %9 = hlir.sqrt %8 : tensor<4xf64>
  %10 = hlir.recip %9 : tensor<4xf64>
  %11 = hlir.view %10 <(d0, d1) -> (d0)> : tensor<4xf64> -> tensor<4x?xf64, #hlir.dims<s0>>
  %12 = hlir.mul %4, %11 : tensor<4x?xf64, #hlir.dims<s0>>
  return %12 : tensor<4x?xf64, #hlir.dims<s0>>
}

// -----

// The sum is subtracted, not the mean: a root-mean-square norm of the result.
// CHECK-LABEL: func.func @not_layer_norm(
// CHECK-NOT: llir.layer_norm
// CHECK: llir.rms_norm
// CHECK-NOT: llir.layer_norm
// CHECK: return
func.func @not_layer_norm(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %eps = hlir.constant dense<1.0e-5> : tensor<f32>
  %e = hlir.view %eps <(d0) -> ()> : tensor<f32> -> tensor<4xf32>
  %m1 = hlir.constant dense<-1.0> : tensor<f32>
  %minus = hlir.view %m1 <(d0, d1) -> ()> : tensor<f32> -> tensor<4x8xf32>
  %length = hlir.constant dense<8.0> : tensor<f32>
  %n = hlir.view %length <(d0) -> ()> : tensor<f32> -> tensor<4xf32>
  %r = hlir.recip %n : tensor<4xf32>
  %0 = hlir.reduce_sum %x : tensor<4x8xf32> -> tensor<4xf32>
  %2 = hlir.view %0 <(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
  %3 = hlir.mul %2, %minus : tensor<4x8xf32>
  %4 = hlir.add %x, %3 : tensor<4x8xf32>
  %5 = hlir.mul %4, %4 : tensor<4x8xf32>
  %6 = hlir.reduce_sum %5 : tensor<4x8xf32> -> tensor<4xf32>
  %7 = hlir.mul %6, %r : tensor<4xf32>
  %8 = hlir.add %7, %e : tensor<4xf32>
  %9 = hlir.sqrt %8 : tensor<4xf32>
  %10 = hlir.recip %9 : tensor<4xf32>
  %11 = hlir.view %10 <(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
  %12 = hlir.mul %4, %11 : tensor<4x8xf32>
  return %12 : tensor<4x8xf32>
}

// -----

// NarrowRMSNorm.
// CHECK-LABEL: func.func @narrow(
// CHECK-NEXT: %[[R:.*]] = llir.rms_norm %arg0 {{.*}} : tensor<4x8xbf16>
// CHECK-NEXT: return %[[R]]
func.func @narrow(%x: tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  %eps = hlir.constant dense<1.0e-6> : tensor<f32>
  %e = hlir.view %eps <(d0) -> ()> : tensor<f32> -> tensor<4xf32>
  %length = hlir.constant dense<8.0> : tensor<f32>
  %n = hlir.view %length <(d0) -> ()> : tensor<f32> -> tensor<4xf32>
  %w = hlir.cast %x : tensor<4x8xbf16> -> tensor<4x8xf32>
  %0 = hlir.mul %w, %w : tensor<4x8xf32>
  %1 = hlir.reduce_sum %0 : tensor<4x8xf32> -> tensor<4xf32>
  %3 = hlir.recip %n : tensor<4xf32>
  %4 = hlir.mul %1, %3 : tensor<4xf32>
  %5 = hlir.add %4, %e : tensor<4xf32>
  %6 = hlir.sqrt %5 : tensor<4xf32>
  %7 = hlir.recip %6 : tensor<4xf32>
  %8 = hlir.view %7 <(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
  %9 = hlir.mul %8, %w : tensor<4x8xf32>
  %10 = hlir.cast %9 : tensor<4x8xf32> -> tensor<4x8xbf16>
  return %10 : tensor<4x8xbf16>
}

// -----

// Computed in f64, which is not what a norm of f32 does.
// CHECK-LABEL: func.func @not_narrow(
// CHECK: llir.rms_norm %{{.*}} : tensor<4x8xf64>
func.func @not_narrow(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %eps = hlir.constant dense<1.0e-6> : tensor<f64>
  %e = hlir.view %eps <(d0) -> ()> : tensor<f64> -> tensor<4xf64>
  %length = hlir.constant dense<8.0> : tensor<f64>
  %n = hlir.view %length <(d0) -> ()> : tensor<f64> -> tensor<4xf64>
  %w = hlir.cast %x : tensor<4x8xf32> -> tensor<4x8xf64>
  %0 = hlir.mul %w, %w : tensor<4x8xf64>
  %1 = hlir.reduce_sum %0 : tensor<4x8xf64> -> tensor<4xf64>
  %3 = hlir.recip %n : tensor<4xf64>
  %4 = hlir.mul %1, %3 : tensor<4xf64>
  %5 = hlir.add %4, %e : tensor<4xf64>
  %6 = hlir.sqrt %5 : tensor<4xf64>
  %7 = hlir.recip %6 : tensor<4xf64>
  %8 = hlir.view %7 <(d0, d1) -> (d0)> : tensor<4xf64> -> tensor<4x8xf64>
  %9 = hlir.mul %8, %w : tensor<4x8xf64>
  %10 = hlir.cast %9 : tensor<4x8xf64> -> tensor<4x8xf32>
  return %10 : tensor<4x8xf32>
}

// -----

// NarrowSoftmax.
// CHECK-LABEL: func.func @narrow_softmax(
// CHECK-NEXT: %[[R:.*]] = llir.softmax %arg0 : tensor<4x8xf16>
// CHECK-NEXT: return %[[R]]
func.func @narrow_softmax(%a: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %x = hlir.cast %a : tensor<4x8xf16> -> tensor<4x8xf32>
  %log2e = hlir.constant dense<1.4426950408889634> : tensor<f32>
  %m1 = hlir.constant dense<-1.0> : tensor<f32>
  %k = hlir.view %log2e <(d0, d1) -> ()> : tensor<f32> -> tensor<4x8xf32>
  %minus = hlir.view %m1 <(d0, d1) -> ()> : tensor<f32> -> tensor<4x8xf32>
  %0 = hlir.reduce_max %x : tensor<4x8xf32> -> tensor<4xf32>
  %1 = hlir.view %0 <(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x1xf32>
  %2 = hlir.view %1 <(d0, d1) -> (d0, 0)> : tensor<4x1xf32> -> tensor<4x8xf32>
  %3 = hlir.mul %2, %minus : tensor<4x8xf32>
  %4 = hlir.add %x, %3 : tensor<4x8xf32>
  %5 = hlir.mul %4, %k : tensor<4x8xf32>
  %6 = hlir.exp2 %5 : tensor<4x8xf32>
  %7 = hlir.reduce_sum %6 : tensor<4x8xf32> -> tensor<4xf32>
  %8 = hlir.view %7 <(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
  %9 = hlir.recip %8 : tensor<4x8xf32>
  %10 = hlir.mul %6, %9 : tensor<4x8xf32>
  %11 = hlir.cast %10 : tensor<4x8xf32> -> tensor<4x8xf16>
  return %11 : tensor<4x8xf16>
}

// -----

// Computed in f64, which is not what a row function of a half does.
// CHECK-LABEL: func.func @not_narrow_softmax(
// CHECK: llir.softmax %{{.*}} : tensor<4x8xf64
func.func @not_narrow_softmax(%a: tensor<4x8xf16>) -> tensor<4x8xf16> {
  %x = hlir.cast %a : tensor<4x8xf16> -> tensor<4x8xf64>
  %log2e = hlir.constant dense<1.4426950408889634> : tensor<f64>
  %m1 = hlir.constant dense<-1.0> : tensor<f64>
  %k = hlir.view %log2e <(d0, d1) -> ()> : tensor<f64> -> tensor<4x8xf64>
  %minus = hlir.view %m1 <(d0, d1) -> ()> : tensor<f64> -> tensor<4x8xf64>
  %0 = hlir.reduce_max %x : tensor<4x8xf64> -> tensor<4xf64>
  %1 = hlir.view %0 <(d0, d1) -> (d0)> : tensor<4xf64> -> tensor<4x1xf64>
  %2 = hlir.view %1 <(d0, d1) -> (d0, 0)> : tensor<4x1xf64> -> tensor<4x8xf64>
  %3 = hlir.mul %2, %minus : tensor<4x8xf64>
  %4 = hlir.add %x, %3 : tensor<4x8xf64>
  %5 = hlir.mul %4, %k : tensor<4x8xf64>
  %6 = hlir.exp2 %5 : tensor<4x8xf64>
  %7 = hlir.reduce_sum %6 : tensor<4x8xf64> -> tensor<4xf64>
  %8 = hlir.view %7 <(d0, d1) -> (d0)> : tensor<4xf64> -> tensor<4x8xf64>
  %9 = hlir.recip %8 : tensor<4x8xf64>
  %10 = hlir.mul %6, %9 : tensor<4x8xf64>
  %11 = hlir.cast %10 : tensor<4x8xf64> -> tensor<4x8xf16>
  return %11 : tensor<4x8xf16>
}

// -----

// NarrowLayerNorm.
// CHECK-LABEL: func.func @narrow_layer_norm(
// CHECK-NEXT: %[[R:.*]] = llir.layer_norm %arg0 {{.*}} : tensor<4x?xbf16, #hlir.dims<s0>>
// CHECK-NEXT: return %[[R]]
func.func @narrow_layer_norm(%a: tensor<4x?xbf16, #hlir.dims<s0>>) -> tensor<4x?xbf16, #hlir.dims<s0>>
    attributes {hlir.symbols = #hlir.symbols<s0 in [1, 64]>} {
  %x = hlir.cast %a : tensor<4x?xbf16, #hlir.dims<s0>> -> tensor<4x?xf32, #hlir.dims<s0>>
  %eps = hlir.constant dense<1.0e-5> : tensor<f32>
  %e = hlir.view %eps <(d0) -> ()> : tensor<f32> -> tensor<4xf32>
  %m1 = hlir.constant dense<-1.0> : tensor<f32>
  %minus = hlir.view %m1 <(d0, d1) -> ()> : tensor<f32> -> tensor<4x?xf32, #hlir.dims<s0>>
  %i = hlir.iota <() -> (s0)> : tensor<i64>
  %length = hlir.cast %i : tensor<i64> -> tensor<f32>
  %n = hlir.view %length <(d0) -> ()> : tensor<f32> -> tensor<4xf32>
  %r = hlir.recip %n : tensor<4xf32>
  %0 = hlir.reduce_sum %x : tensor<4x?xf32, #hlir.dims<s0>> -> tensor<4xf32>
  %1 = hlir.mul %0, %r : tensor<4xf32>
  %2 = hlir.view %1 <(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x?xf32, #hlir.dims<s0>>
  %3 = hlir.mul %2, %minus : tensor<4x?xf32, #hlir.dims<s0>>
  %4 = hlir.add %x, %3 : tensor<4x?xf32, #hlir.dims<s0>>
  %5 = hlir.mul %4, %4 : tensor<4x?xf32, #hlir.dims<s0>>
  %6 = hlir.reduce_sum %5 : tensor<4x?xf32, #hlir.dims<s0>> -> tensor<4xf32>
  %7 = hlir.mul %6, %r : tensor<4xf32>
  %8 = hlir.add %7, %e : tensor<4xf32>
  %9 = hlir.sqrt %8 : tensor<4xf32>
  %10 = hlir.recip %9 : tensor<4xf32>
  %11 = hlir.view %10 <(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x?xf32, #hlir.dims<s0>>
  %12 = hlir.mul %4, %11 : tensor<4x?xf32, #hlir.dims<s0>>
  %13 = hlir.cast %12 : tensor<4x?xf32, #hlir.dims<s0>> -> tensor<4x?xbf16, #hlir.dims<s0>>
  return %13 : tensor<4x?xbf16, #hlir.dims<s0>>
}

// -----

// Computed in f64, which is not what a row function of a half does.
// CHECK-LABEL: func.func @not_narrow_layer_norm(
// CHECK: llir.layer_norm %{{.*}} : tensor<4x?xf64
func.func @not_narrow_layer_norm(%a: tensor<4x?xbf16, #hlir.dims<s0>>) -> tensor<4x?xbf16, #hlir.dims<s0>>
    attributes {hlir.symbols = #hlir.symbols<s0 in [1, 64]>} {
  %x = hlir.cast %a : tensor<4x?xbf16, #hlir.dims<s0>> -> tensor<4x?xf64, #hlir.dims<s0>>
  %eps = hlir.constant dense<1.0e-5> : tensor<f64>
  %e = hlir.view %eps <(d0) -> ()> : tensor<f64> -> tensor<4xf64>
  %m1 = hlir.constant dense<-1.0> : tensor<f64>
  %minus = hlir.view %m1 <(d0, d1) -> ()> : tensor<f64> -> tensor<4x?xf64, #hlir.dims<s0>>
  %i = hlir.iota <() -> (s0)> : tensor<i64>
  %length = hlir.cast %i : tensor<i64> -> tensor<f64>
  %n = hlir.view %length <(d0) -> ()> : tensor<f64> -> tensor<4xf64>
  %r = hlir.recip %n : tensor<4xf64>
  %0 = hlir.reduce_sum %x : tensor<4x?xf64, #hlir.dims<s0>> -> tensor<4xf64>
  %1 = hlir.mul %0, %r : tensor<4xf64>
  %2 = hlir.view %1 <(d0, d1) -> (d0)> : tensor<4xf64> -> tensor<4x?xf64, #hlir.dims<s0>>
  %3 = hlir.mul %2, %minus : tensor<4x?xf64, #hlir.dims<s0>>
  %4 = hlir.add %x, %3 : tensor<4x?xf64, #hlir.dims<s0>>
  %5 = hlir.mul %4, %4 : tensor<4x?xf64, #hlir.dims<s0>>
  %6 = hlir.reduce_sum %5 : tensor<4x?xf64, #hlir.dims<s0>> -> tensor<4xf64>
  %7 = hlir.mul %6, %r : tensor<4xf64>
  %8 = hlir.add %7, %e : tensor<4xf64>
  %9 = hlir.sqrt %8 : tensor<4xf64>
  %10 = hlir.recip %9 : tensor<4xf64>
  %11 = hlir.view %10 <(d0, d1) -> (d0)> : tensor<4xf64> -> tensor<4x?xf64, #hlir.dims<s0>>
  %12 = hlir.mul %4, %11 : tensor<4x?xf64, #hlir.dims<s0>>
  %13 = hlir.cast %12 : tensor<4x?xf64, #hlir.dims<s0>> -> tensor<4x?xbf16, #hlir.dims<s0>>
  return %13 : tensor<4x?xbf16, #hlir.dims<s0>>
}
