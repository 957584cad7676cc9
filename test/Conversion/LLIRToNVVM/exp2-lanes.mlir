// A power of 2 by the instruction is one an element: LLVM does not split vectors for it.
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_90a %s | FileCheck %s

// CHECK-LABEL: .entry
// CHECK-COUNT-8: ex2.approx.ftz.f32
// CHECK-NOT: ex2
func.func @main(%x: tensor<4096xbf16>) -> tensor<4096xbf16> {
  %0 = llir.kernel(%x) loops<grid(d0:8 v8) threads(256)> : (tensor<4096xbf16>) -> tensor<4096xbf16> {
  ^bb0(%a: tensor<4096xbf16>):
    %1 = llir.elementwise exp2_fast(%a) : (tensor<4096xbf16>) -> tensor<4096xbf16>
    llir.yield %1 : tensor<4096xbf16>
  }
  return %0 : tensor<4096xbf16>
}
