// A product and the softmax of its rows: two stages, as proposed and by hand.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=x86-64-v3 | FileCheck %s --check-prefix=PROPOSED
// RUN: luminal-opt %s --llir-schedule-kernels=arch=x86-64-v3 --convert-llir-to-llvm="arch=x86-64-v3 keep-loops" | FileCheck %s

// PROPOSED-LABEL: @proposed
// PROPOSED: loops<grid(d0:all) op0 = tile {{.*}} op1 = pass {{.*}} op4 = keep op5 = pass
// The product's tiles end before the first maximum begins.
// CHECK-LABEL: llvm.func @proposed(
// CHECK: math.fma
// CHECK: arith.cmpf uno
// CHECK: arith.divf
func.func private @proposed(%q: tensor<37x16xf32>, %k: tensor<45x16xf32>) -> tensor<37x45xf32> {
  %r = llir.kernel(%q, %k) : (tensor<37x16xf32>, tensor<45x16xf32>) -> tensor<37x45xf32> {
  ^bb0(%a: tensor<37x16xf32>, %b: tensor<45x16xf32>):
    %s = llir.gemm %a, %b k(16) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<37x16xf32>, tensor<45x16xf32> -> tensor<37x45xf32>
    %m = llir.reduce max %s : tensor<37x45xf32> -> tensor<37xf32>
    %mb = llir.view %m <(d0, d1) -> (d0)> : tensor<37xf32> -> tensor<37x45xf32>
    %d = llir.elementwise sub(%s, %mb) : (tensor<37x45xf32>, tensor<37x45xf32>) -> tensor<37x45xf32>
    %e = llir.elementwise exp(%d) : (tensor<37x45xf32>) -> tensor<37x45xf32>
    %t = llir.reduce sum %e : tensor<37x45xf32> -> tensor<37xf32>
    %tb = llir.view %t <(d0, d1) -> (d0)> : tensor<37xf32> -> tensor<37x45xf32>
    %p = llir.elementwise div(%e, %tb) : (tensor<37x45xf32>, tensor<37x45xf32>) -> tensor<37x45xf32>
    llir.yield %p : tensor<37x45xf32>
  }
  return %r : tensor<37x45xf32>
}

// Scalar dot products of one row at a time, and nothing kept: no fma of vectors.
// CHECK-LABEL: llvm.func @by_hand(
// CHECK-NOT: math.fma
// CHECK: vector<2xf32>
// CHECK: arith.cmpf uno, %{{.*}} : f32
func.func private @by_hand(%q: tensor<37x16xf32>, %k: tensor<45x16xf32>) -> tensor<37xf32> {
  %r = llir.kernel(%q, %k) loops<grid(d0) op0 = dot {lanes = 2, rows = 1, width = 1} op1 = pass {lanes = 1, unroll = 1}> : (tensor<37x16xf32>, tensor<45x16xf32>) -> tensor<37xf32> {
  ^bb0(%a: tensor<37x16xf32>, %b: tensor<45x16xf32>):
    %s = llir.gemm %a, %b k(16) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<37x16xf32>, tensor<45x16xf32> -> tensor<37x45xf32>
    %m = llir.reduce max %s : tensor<37x45xf32> -> tensor<37xf32>
    llir.yield %m : tensor<37xf32>
  }
  return %r : tensor<37xf32>
}
