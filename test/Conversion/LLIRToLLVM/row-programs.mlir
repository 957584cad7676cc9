// What a row program concatenates is kept a part after the other: where each begins is known, and nothing is chosen.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=x86-64-v3 --convert-llir-to-llvm="arch=x86-64-v3 keep-loops" | FileCheck %s

// CHECK-LABEL: llvm.func @concatenation
// The products, the first 4 elements and the other 6, and the last products.
// CHECK-COUNT-4: math.fma
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c4
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c4
// CHECK-NOT: select
// CHECK: scf.for %{{.*}} = %c0{{.*}} to %c6
// CHECK-NOT: select
// CHECK-COUNT-5: math.fma
func.func private @concatenation(%x: tensor<64x8xf32>, %w: tensor<4x8xf32>, %v: tensor<5x10xf32>) -> tensor<64x5xf32> {
  %0 = llir.kernel(%x, %w, %v) loops<grid(d0:8 v8) op0 = across {columns = 4} op1 = keep op8 = keep op9 = across {columns = 5}> : (tensor<64x8xf32>, tensor<4x8xf32>, tensor<5x10xf32>) -> tensor<64x5xf32> {
  ^bb0(%a: tensor<64x8xf32>, %b: tensor<4x8xf32>, %c: tensor<5x10xf32>):
    %1 = llir.gemm %a, %b k(8) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x8xf32>, tensor<4x8xf32> -> tensor<64x4xf32>
    %2 = llir.elementwise neg(%1) : (tensor<64x4xf32>) -> tensor<64x4xf32>
    %3 = llir.iota <(d0, d1) -> (d1)> : tensor<64x10xi64>
    %4 = llir.constant dense<4> : tensor<i64>
    %5 = llir.view %4 <(d0, d1) -> ()> : tensor<i64> -> tensor<64x10xi64>
    %6 = llir.elementwise less_than(%3, %5) : (tensor<64x10xi64>, tensor<64x10xi64>) -> tensor<64x10xi1>
    %7 = llir.view %2 <(d0, d1) -> (d0, min(d1, 3))> : tensor<64x4xf32> -> tensor<64x10xf32>
    %8 = llir.view %a <(d0, d1) -> (d0, max(d1 - 4, 0))> : tensor<64x8xf32> -> tensor<64x10xf32>
    %9 = llir.elementwise select(%6, %7, %8) : (tensor<64x10xi1>, tensor<64x10xf32>, tensor<64x10xf32>) -> tensor<64x10xf32>
    %10 = llir.gemm %9, %c k(10) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x10xf32>, tensor<5x10xf32> -> tensor<64x5xf32>
    llir.yield %10 : tensor<64x5xf32>
  }
  return %0 : tensor<64x5xf32>
}
