// The last columns fill one vector of a tile's two: they are summed as a tile of one.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=sapphirerapids --convert-llir-to-llvm="arch=sapphirerapids keep-loops" | FileCheck %s

// 196 columns are 12 vectors and four columns. Both tiles load from the same panel.
// CHECK-LABEL: llvm.func @last
// CHECK: arith.cmpi sle
// CHECK: arith.cmpi sle, %{{.*}}, %{{.*}} : i64
// CHECK: scf.if
// CHECK-COUNT-8: math.fma
// CHECK: } else {
// CHECK-COUNT-16: math.fma
// CHECK-NOT: math.fma
func.func private @last(%a: tensor<256x196xf32>, %b: tensor<8x256xf32>) -> tensor<8x196xf32> {
  %r = llir.kernel(%a, %b) : (tensor<256x196xf32>, tensor<8x256xf32>) -> tensor<8x196xf32> {
  ^bb0(%x: tensor<256x196xf32>, %w: tensor<8x256xf32>):
    %0 = llir.gemm %x, %w k(256) <(d0, d1, d2) -> (d2, d0)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<256x196xf32>, tensor<8x256xf32> -> tensor<196x8xf32>
    %1 = llir.view %0 <(d0, d1) -> (d1, d0)> : tensor<196x8xf32> -> tensor<8x196xf32>
    llir.yield %1 : tensor<8x196xf32>
  }
  return %r : tensor<8x196xf32>
}

// 220 columns are 13 vectors and a part of one, of which the last tile's are two: one code is enough.
// CHECK-LABEL: llvm.func @full
// CHECK-COUNT-16: math.fma
// CHECK-NOT: math.fma
func.func private @full(%a: tensor<256x220xf32>, %b: tensor<8x256xf32>) -> tensor<8x220xf32> {
  %r = llir.kernel(%a, %b) : (tensor<256x220xf32>, tensor<8x256xf32>) -> tensor<8x220xf32> {
  ^bb0(%x: tensor<256x220xf32>, %w: tensor<8x256xf32>):
    %0 = llir.gemm %x, %w k(256) <(d0, d1, d2) -> (d2, d0)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<256x220xf32>, tensor<8x256xf32> -> tensor<220x8xf32>
    %1 = llir.view %0 <(d0, d1) -> (d1, d0)> : tensor<220x8xf32> -> tensor<8x220xf32>
    llir.yield %1 : tensor<8x220xf32>
  }
  return %r : tensor<8x220xf32>
}
