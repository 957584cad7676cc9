// The weights of a softmax are rounded to the type of the values, where tensor cores multiply that faster and the result
// is rounded to it anyway; not where the machine does not, or no rule may round.

// RUN: luminal-opt %s --luminal-pipeline="target=cuda arch=sm_90a until=saturated" --split-input-file | FileCheck %s
// RUN: luminal-opt %s --luminal-pipeline="target=cuda arch=sm_90a until=saturated precision=exact" --split-input-file | FileCheck %s --check-prefix=EXACT
// RUN: luminal-opt %s --luminal-pipeline="target=cpu arch=haswell until=saturated" --split-input-file | FileCheck %s --check-prefix=EXACT
// EXACT-NOT: tensor<64x256xbf16>
// EXACT-NOT: tensor<64x256xf16>

// NarrowWeights.
// CHECK-LABEL: func.func @weights(
// CHECK: %[[P:.*]] = llir.softmax %arg0 : tensor<64x256xf32>
// CHECK-NEXT: %[[N:.*]] = llir.elementwise cast(%[[P]]) : (tensor<64x256xf32>) -> tensor<64x256xbf16>
// CHECK-NEXT: %[[R:.*]] = llir.gemm %[[N]], %arg1 k(256) {{.*}} -> tensor<64x32xbf16>
// CHECK-NEXT: return %[[R]]
func.func @weights(%x: tensor<64x256xf32>, %v: tensor<256x32xbf16>) -> tensor<64x32xbf16> {
  %log2e = hlir.constant dense<1.4426950408889634> : tensor<f32>
  %m1 = hlir.constant dense<-1.0> : tensor<f32>
  %k = hlir.view %log2e <(d0, d1) -> ()> : tensor<f32> -> tensor<64x256xf32>
  %minus = hlir.view %m1 <(d0, d1) -> ()> : tensor<f32> -> tensor<64x256xf32>
  %0 = hlir.reduce_max %x : tensor<64x256xf32> -> tensor<64xf32>
  %1 = hlir.view %0 <(d0, d1) -> (d0)> : tensor<64xf32> -> tensor<64x256xf32>
  %2 = hlir.mul %1, %minus : tensor<64x256xf32>
  %3 = hlir.add %x, %2 : tensor<64x256xf32>
  %4 = hlir.mul %3, %k : tensor<64x256xf32>
  %5 = hlir.exp2 %4 : tensor<64x256xf32>
  %6 = hlir.reduce_sum %5 : tensor<64x256xf32> -> tensor<64xf32>
  %7 = hlir.view %6 <(d0, d1) -> (d0)> : tensor<64xf32> -> tensor<64x256xf32>
  %8 = hlir.recip %7 : tensor<64x256xf32>
  %p = hlir.mul %5, %8 : tensor<64x256xf32>
  %v32 = hlir.cast %v : tensor<256x32xbf16> -> tensor<256x32xf32>
  %10 = hlir.view %p <(d0, d1, d2) -> (d0, d2)> : tensor<64x256xf32> -> tensor<64x32x256xf32>
  %11 = hlir.view %v32 <(d0, d1, d2) -> (d2, d1)> : tensor<256x32xf32> -> tensor<64x32x256xf32>
  %12 = hlir.mul %10, %11 : tensor<64x32x256xf32>
  %13 = hlir.reduce_sum %12 : tensor<64x32x256xf32> -> tensor<64x32xf32>
  %14 = hlir.cast %13 : tensor<64x32xf32> -> tensor<64x32xbf16>
  return %14 : tensor<64x32xbf16>
}

// -----

// NarrowSafeWeights: zeros where a row has no weights.
// CHECK-LABEL: func.func @safe_weights(
// CHECK: %[[P:.*]] = llir.softmax %arg0 : tensor<64x256xf32>
// CHECK: %[[S:.*]] = llir.elementwise select({{.*}}, {{.*}}, %[[P]]) : {{.*}} -> tensor<64x256xf32>
// CHECK: %[[N:.*]] = llir.elementwise cast(%[[S]]) : (tensor<64x256xf32>) -> tensor<64x256xf16>
// CHECK: llir.gemm %[[N]], %arg1 k(256) {{.*}} -> tensor<64x32xf16>
func.func @safe_weights(%x: tensor<64x256xf32>, %v: tensor<256x32xf16>, %none: tensor<64x256xi1>) -> tensor<64x32xf16> {
  %log2e = hlir.constant dense<1.4426950408889634> : tensor<f32>
  %m1 = hlir.constant dense<-1.0> : tensor<f32>
  %k = hlir.view %log2e <(d0, d1) -> ()> : tensor<f32> -> tensor<64x256xf32>
  %minus = hlir.view %m1 <(d0, d1) -> ()> : tensor<f32> -> tensor<64x256xf32>
  %0 = hlir.reduce_max %x : tensor<64x256xf32> -> tensor<64xf32>
  %1 = hlir.view %0 <(d0, d1) -> (d0)> : tensor<64xf32> -> tensor<64x256xf32>
  %2 = hlir.mul %1, %minus : tensor<64x256xf32>
  %3 = hlir.add %x, %2 : tensor<64x256xf32>
  %4 = hlir.mul %3, %k : tensor<64x256xf32>
  %5 = hlir.exp2 %4 : tensor<64x256xf32>
  %6 = hlir.reduce_sum %5 : tensor<64x256xf32> -> tensor<64xf32>
  %7 = hlir.view %6 <(d0, d1) -> (d0)> : tensor<64xf32> -> tensor<64x256xf32>
  %8 = hlir.recip %7 : tensor<64x256xf32>
  %p = hlir.mul %5, %8 : tensor<64x256xf32>
  %zero = hlir.constant dense<0.0> : tensor<f32>
  %zeros = hlir.view %zero <(d0, d1) -> ()> : tensor<f32> -> tensor<64x256xf32>
  %safe = hlir.select %none, %zeros, %p : tensor<64x256xi1>, tensor<64x256xf32>
  %v32 = hlir.cast %v : tensor<256x32xf16> -> tensor<256x32xf32>
  %10 = hlir.view %safe <(d0, d1, d2) -> (d0, d2)> : tensor<64x256xf32> -> tensor<64x32x256xf32>
  %11 = hlir.view %v32 <(d0, d1, d2) -> (d2, d1)> : tensor<256x32xf32> -> tensor<64x32x256xf32>
  %12 = hlir.mul %10, %11 : tensor<64x32x256xf32>
  %13 = hlir.reduce_sum %12 : tensor<64x32x256xf32> -> tensor<64x32xf32>
  %14 = hlir.cast %13 : tensor<64x32xf32> -> tensor<64x32xf16>
  return %14 : tensor<64x32xf16>
}

// -----

// The result is not rounded.
// CHECK-LABEL: func.func @not_rounded(
// CHECK: llir.gemm {{.*}} : tensor<64x256xf32>, tensor<256x32xf32> -> tensor<64x32xf32>
func.func @not_rounded(%x: tensor<64x256xf32>, %v: tensor<256x32xbf16>) -> tensor<64x32xf32> {
  %log2e = hlir.constant dense<1.4426950408889634> : tensor<f32>
  %m1 = hlir.constant dense<-1.0> : tensor<f32>
  %k = hlir.view %log2e <(d0, d1) -> ()> : tensor<f32> -> tensor<64x256xf32>
  %minus = hlir.view %m1 <(d0, d1) -> ()> : tensor<f32> -> tensor<64x256xf32>
  %0 = hlir.reduce_max %x : tensor<64x256xf32> -> tensor<64xf32>
  %1 = hlir.view %0 <(d0, d1) -> (d0)> : tensor<64xf32> -> tensor<64x256xf32>
  %2 = hlir.mul %1, %minus : tensor<64x256xf32>
  %3 = hlir.add %x, %2 : tensor<64x256xf32>
  %4 = hlir.mul %3, %k : tensor<64x256xf32>
  %5 = hlir.exp2 %4 : tensor<64x256xf32>
  %6 = hlir.reduce_sum %5 : tensor<64x256xf32> -> tensor<64xf32>
  %7 = hlir.view %6 <(d0, d1) -> (d0)> : tensor<64xf32> -> tensor<64x256xf32>
  %8 = hlir.recip %7 : tensor<64x256xf32>
  %p = hlir.mul %5, %8 : tensor<64x256xf32>
  %v32 = hlir.cast %v : tensor<256x32xbf16> -> tensor<256x32xf32>
  %10 = hlir.view %p <(d0, d1, d2) -> (d0, d2)> : tensor<64x256xf32> -> tensor<64x32x256xf32>
  %11 = hlir.view %v32 <(d0, d1, d2) -> (d2, d1)> : tensor<256x32xf32> -> tensor<64x32x256xf32>
  %12 = hlir.mul %10, %11 : tensor<64x32x256xf32>
  %13 = hlir.reduce_sum %12 : tensor<64x32x256xf32> -> tensor<64x32xf32>
  return %13 : tensor<64x32xf32>
}

// -----

// No weights: exponentials that nothing bounds.
// CHECK-LABEL: func.func @not_weights(
// CHECK: llir.gemm {{.*}} : tensor<64x256xf32>, tensor<256x32xf32> -> tensor<64x32xf32>
func.func @not_weights(%x: tensor<64x256xf32>, %v: tensor<256x32xbf16>) -> tensor<64x32xbf16> {
  %p = hlir.exp2 %x : tensor<64x256xf32>
  %v32 = hlir.cast %v : tensor<256x32xbf16> -> tensor<256x32xf32>
  %10 = hlir.view %p <(d0, d1, d2) -> (d0, d2)> : tensor<64x256xf32> -> tensor<64x32x256xf32>
  %11 = hlir.view %v32 <(d0, d1, d2) -> (d2, d1)> : tensor<256x32xf32> -> tensor<64x32x256xf32>
  %12 = hlir.mul %10, %11 : tensor<64x32x256xf32>
  %13 = hlir.reduce_sum %12 : tensor<64x32x256xf32> -> tensor<64x32xf32>
  %14 = hlir.cast %13 : tensor<64x32xf32> -> tensor<64x32xbf16>
  return %14 : tensor<64x32xbf16>
}
