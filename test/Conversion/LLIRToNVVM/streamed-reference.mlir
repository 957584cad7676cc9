// A reference that is no maximum itself follows the maximum of each chunk: it is computed in the walk, before the terms are
// multiplied, for both rows of a thread.
// RUN: luminal-opt %s --luminal-pipeline="target=cuda arch=sm_90 from=saturated until=lowered" | FileCheck %s

// CHECK-LABEL: llvm.func @k0
// CHECK: %[[LOW:.*]] = llvm.mlir.constant(-1.000000e+04 : f32)
// CHECK: "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
// CHECK-COUNT-2: llvm.fcmp "olt" %{{.*}}, %[[LOW]] :
// CHECK: "llvm.nvvm.mma.m16n8k16.row.col.f32.f32"
func.func @main(%q: tensor<64x256x64xf16>, %k: tensor<64x256x64xf16>, %v: tensor<64x256x64xf16>) -> tensor<64x256x64xf16> {
  %s = llir.gemm %q, %k k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<64x256x64xf16>, tensor<64x256x64xf16> -> tensor<64x256x256xf16>
  %x = llir.elementwise cast(%s) : (tensor<64x256x256xf16>) -> tensor<64x256x256xf32>
  %m = llir.reduce max %x : tensor<64x256x256xf32> -> tensor<64x256xf32>
  %low = llir.constant dense<-1.000000e+04> : tensor<f32>
  %lows = llir.view %low <(d0, d1) -> ()> : tensor<f32> -> tensor<64x256xf32>
  %zero = llir.constant dense<0.000000e+00> : tensor<f32>
  %zeros = llir.view %zero <(d0, d1) -> ()> : tensor<f32> -> tensor<64x256xf32>
  %is = llir.elementwise less_than(%m, %lows) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xi1>
  %r = llir.elementwise select(%is, %zeros, %m) : (tensor<64x256xi1>, tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
  %w = llir.view %r <(d0, d1, d2) -> (d0, d1)> : tensor<64x256xf32> -> tensor<64x256x256xf32>
  %d = llir.elementwise sub(%x, %w) : (tensor<64x256x256xf32>, tensor<64x256x256xf32>) -> tensor<64x256x256xf32>
  %e = llir.elementwise exp(%d) : (tensor<64x256x256xf32>) -> tensor<64x256x256xf32>
  %p = llir.elementwise cast(%e) : (tensor<64x256x256xf32>) -> tensor<64x256x256xf16>
  %o = llir.gemm %p, %v k(256) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<64x256x256xf16>, tensor<64x256x64xf16> -> tensor<64x256x64xf16>
  return %o : tensor<64x256x64xf16>
}
