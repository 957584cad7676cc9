// Functions of rows as reductions and elementwise ops. A product that would be walked jointly with a softmax takes its
// exponentials, and is divided by their sum: where rows may stream, as the options say.
// RUN: luminal-opt %s --llir-expand-row-functions | FileCheck %s --check-prefixes=CHECK,STREAM
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
