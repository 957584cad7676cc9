// What a softmax's products are walked with, and not the projection before them: both are over a dim that would do.
// RUN: luminal-opt %s --llir-fuse-kernels=chip-bytes=4096 | FileCheck %s

// CHECK-LABEL: func.func @projected
// CHECK: llir.kernel(%arg0, %arg1)
// CHECK: %[[O:.*]] = llir.kernel(%{{.*}}, %arg2, %arg3)
// CHECK-NOT: llir.kernel
// CHECK: return %[[O]]
func.func @projected(%x: tensor<1024x32xf32>, %w: tensor<32x32xf32>, %k: tensor<96x32xf32>, %v: tensor<96x32xf32>) -> tensor<1024x32xf32> {
  %q = llir.gemm %x, %w k(32) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<1024x32xf32>, tensor<32x32xf32> -> tensor<1024x32xf32>
  %s = llir.gemm %q, %k k(32) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1024x32xf32>, tensor<96x32xf32> -> tensor<1024x96xf32>
  %p = llir.softmax %s : tensor<1024x96xf32>
  %o = llir.gemm %p, %v k(96) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<1024x96xf32>, tensor<96x32xf32> -> tensor<1024x32xf32>
  return %o : tensor<1024x32xf32>
}
