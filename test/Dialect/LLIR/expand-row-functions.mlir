// Functions of rows as reductions and elementwise ops. A product that would be walked jointly with a softmax takes its
// exponentials, and is divided by their sum: where rows may stream, as the options say.
// RUN: luminal-opt %s --llir-expand-row-functions | FileCheck %s --check-prefixes=CHECK,STREAM,CPU
// RUN: luminal-opt %s --llir-expand-row-functions="chip-bytes=0 shared-bytes=101376" | FileCheck %s --check-prefixes=CHECK,STREAM
// RUN: luminal-opt %s --llir-expand-row-functions=chip-bytes=0 | FileCheck %s --check-prefixes=CHECK,WHOLE

// CHECK-LABEL: @softmax
// CHECK: %[[MAX:.*]] = llir.reduce max %arg0
// CHECK: %[[E:.*]] = llir.elementwise exp
// CHECK: %[[SUM:.*]] = llir.reduce sum %[[E]]
// STREAM: llir.gemm %[[E]], %arg1
// WHOLE: %[[P:.*]] = llir.elementwise mul(%[[E]], %
// WHOLE: llir.gemm %[[P]], %arg1
// CHECK-NOT: llir.softmax
// CHECK: return
func.func @softmax(%s: tensor<64x512xf32>, %v: tensor<512x64xf32>) -> tensor<64x64xf32> {
  %p = llir.softmax %s : tensor<64x512xf32>
  %o = llir.gemm %p, %v k(512) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x512xf32>, tensor<512x64xf32> -> tensor<64x64xf32>
  return %o : tensor<64x64xf32>
}

// Weights that are zero in rows of nothing but -inf: terms relative to 0 there are zero, and they are what is multiplied; the
// maximum says which rows those are, or that no element is another. On either side of the product.
// CHECK-LABEL: @safe
// STREAM: llir.reduce max %arg0
// STREAM: %[[MAX:.*]] = llir.reduce max %arg0
// STREAM: %[[EMPTY:.*]] = llir.elementwise equal(%[[MAX]],
// STREAM: %[[REF:.*]] = llir.elementwise select(%[[EMPTY]], %{{.*}}, %[[MAX]])
// STREAM: %[[SPREAD:.*]] = llir.view %[[REF]]
// STREAM: llir.elementwise sub(%arg0, %[[SPREAD]])
// STREAM: %[[E:.*]] = llir.elementwise exp
// STREAM: %[[SUM:.*]] = llir.elementwise recip
// STREAM: llir.elementwise select(%[[EMPTY]], %{{.*}}, %[[SUM]])
// STREAM: llir.gemm %[[E]], %arg1 k(512) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)>
// WHOLE: %[[P:.*]] = llir.elementwise select
// WHOLE: llir.gemm %[[P]], %arg1 k(512) <(d0, d1, d2) -> (d0, d2)>
// CHECK: return
func.func @safe(%s: tensor<64x512xf32>, %v: tensor<512x64xf32>) -> tensor<64x64xf32> {
  %lowest = llir.constant dense<0xFF800000> : tensor<f32>
  %zero = llir.constant dense<0.0> : tensor<f32>
  %max = llir.reduce max %s : tensor<64x512xf32> -> tensor<64xf32>
  %lowests = llir.view %lowest <(d0) -> ()> : tensor<f32> -> tensor<64xf32>
  %isEmpty = llir.elementwise equal(%max, %lowests) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
  %isEmptyRow = llir.view %isEmpty <(d0, d1) -> (d0)> : tensor<64xi1> -> tensor<64x512xi1>
  %zeros = llir.view %zero <(d0, d1) -> ()> : tensor<f32> -> tensor<64x512xf32>
  %p = llir.softmax %s : tensor<64x512xf32>
  %q = llir.elementwise select(%isEmptyRow, %zeros, %p) : (tensor<64x512xi1>, tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<64x512xf32>
  %o = llir.gemm %v, %q k(512) <(d0, d1, d2) -> (d2, d1)>, <(d0, d1, d2) -> (d0, d2)> : tensor<512x64xf32>, tensor<64x512xf32> -> tensor<64x64xf32>
  return %o : tensor<64x64xf32>
}
// CHECK-LABEL: @safe_by_any
// STREAM: llir.elementwise select
// STREAM: %[[E:.*]] = llir.elementwise exp
// STREAM: llir.gemm %[[E]], %arg1
// CHECK: return
func.func @safe_by_any(%s: tensor<64x512xf32>, %v: tensor<512x64xf32>) -> tensor<64x64xf32> {
  %lowest = llir.constant dense<0xFF800000> : tensor<f32>
  %zero = llir.constant dense<0.0> : tensor<f32>
  %lowests = llir.view %lowest <(d0, d1) -> ()> : tensor<f32> -> tensor<64x512xf32>
  %isLowest = llir.elementwise equal(%s, %lowests) : (tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<64x512xi1>
  %isOther = llir.elementwise not(%isLowest) : (tensor<64x512xi1>) -> tensor<64x512xi1>
  %any = llir.reduce max %isOther : tensor<64x512xi1> -> tensor<64xi1>
  %isEmpty = llir.elementwise not(%any) : (tensor<64xi1>) -> tensor<64xi1>
  %isEmptyRow = llir.view %isEmpty <(d0, d1) -> (d0)> : tensor<64xi1> -> tensor<64x512xi1>
  %zeros = llir.view %zero <(d0, d1) -> ()> : tensor<f32> -> tensor<64x512xf32>
  %p = llir.softmax %s : tensor<64x512xf32>
  %q = llir.elementwise select(%isEmptyRow, %zeros, %p) : (tensor<64x512xi1>, tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<64x512xf32>
  %o = llir.gemm %q, %v k(512) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x512xf32>, tensor<512x64xf32> -> tensor<64x64xf32>
  return %o : tensor<64x64xf32>
}
// Zeros in rows where the maximum is another number, or of another value, stay.
// CHECK-LABEL: @zero_elsewhere
// CHECK: %[[P:.*]] = llir.elementwise select
// CHECK: llir.gemm %[[P]], %arg1
// CHECK: return
func.func @zero_elsewhere(%s: tensor<64x512xf32>, %v: tensor<512x64xf32>) -> tensor<64x64xf32> {
  %zero = llir.constant dense<0.0> : tensor<f32>
  %max = llir.reduce max %s : tensor<64x512xf32> -> tensor<64xf32>
  %numbers = llir.view %zero <(d0) -> ()> : tensor<f32> -> tensor<64xf32>
  %isEmpty = llir.elementwise equal(%max, %numbers) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xi1>
  %isEmptyRow = llir.view %isEmpty <(d0, d1) -> (d0)> : tensor<64xi1> -> tensor<64x512xi1>
  %zeros = llir.view %zero <(d0, d1) -> ()> : tensor<f32> -> tensor<64x512xf32>
  %p = llir.softmax %s : tensor<64x512xf32>
  %q = llir.elementwise select(%isEmptyRow, %zeros, %p) : (tensor<64x512xi1>, tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<64x512xf32>
  %o = llir.gemm %q, %v k(512) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x512xf32>, tensor<512x64xf32> -> tensor<64x64xf32>
  return %o : tensor<64x64xf32>
}
// Products that have the rows of the softmax in another shape get its rows.
// CHECK-LABEL: @renamed
// CPU: %[[S:.*]] = llir.gemm %arg0, %arg2 k(16) <(d0, d1, d2, d3) -> (8 * d0 + d1, d3)>, <(d0, d1, d2, d3) -> (d2, d3)> : {{.*}} -> tensor<8x8x512xf32>
// CPU: llir.reduce max
// CPU: %[[E:.*]] = llir.elementwise exp
// CPU: llir.gemm %[[E]], %arg1 k(512) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d3, d2)> : {{.*}} -> tensor<8x8x64xf32>
// CPU: llir.view %{{.*}} <(d0, d1) -> (d0 floordiv 8, d0 mod 8, d1)> : tensor<8x8x64xf32> -> tensor<64x64xf32>
// CHECK: return
func.func @renamed(%q: tensor<64x16xf32>, %v: tensor<512x64xf32>, %k: tensor<512x16xf32>) -> tensor<64x64xf32> {
  %two = llir.constant dense<2.0> : tensor<f32>
  %twos = llir.view %two <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<8x8x512xf32>
  %s = llir.gemm %q, %k k(16) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x16xf32>, tensor<512x16xf32> -> tensor<64x512xf32>
  %r = llir.view %s <(d0, d1, d2) -> (d0 * 8 + d1, d2)> : tensor<64x512xf32> -> tensor<8x8x512xf32>
  %t = llir.elementwise mul(%r, %twos) : (tensor<8x8x512xf32>, tensor<8x8x512xf32>) -> tensor<8x8x512xf32>
  %p = llir.softmax %t : tensor<8x8x512xf32>
  %o = llir.gemm %p, %v k(512) <(d0, d1, d2) -> (d0 floordiv 8, d0 mod 8, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<8x8x512xf32>, tensor<512x64xf32> -> tensor<64x64xf32>
  return %o : tensor<64x64xf32>
}
