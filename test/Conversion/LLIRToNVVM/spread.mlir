// Each team of a block computes the product of one matrix, by exchange within it; one of its members tells all others.
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_90a %s | FileCheck %s

// CHECK-LABEL: .entry experts(
// CHECK: .maxntid 128
// CHECK-NOT: bar.sync
// CHECK-COUNT-12: ld.global.nc.v4.b32
// CHECK-NOT: bar.sync
// CHECK-COUNT-4: shfl.sync.bfly
// CHECK: bar.sync 0
// CHECK: st.shared.b32
// CHECK: bar.sync 0
// CHECK: ld.shared
// CHECK-COUNT-7: add.rn.f32
// CHECK: st.global.b16
func.func @experts(%x: tensor<8x768xbf16>, %w: tensor<128x2048x768xbf16>, %i: tensor<8xi64>, %s: tensor<8xbf16>) -> tensor<2048xbf16> {
  %r = llir.kernel(%x, %w, %i, %s) loops<grid(d0) threads(128, 128) op1 = element {lanes = 8, unroll = 6} op5 = spread> : (tensor<8x768xbf16>, tensor<128x2048x768xbf16>, tensor<8xi64>, tensor<8xbf16>) -> tensor<2048xbf16> {
  ^bb0(%xa: tensor<8x768xbf16>, %wa: tensor<128x2048x768xbf16>, %ia: tensor<8xi64>, %sa: tensor<8xbf16>):
  %m = llir.gather %wa, %ia {checked} : tensor<128x2048x768xbf16>, tensor<8xi64> -> tensor<8x2048x768xbf16>
  %0 = llir.gemm %xa, %m k(768) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)> : tensor<8x768xbf16>, tensor<8x2048x768xbf16> -> tensor<8x2048xbf16>
  %1 = llir.view %sa <(d0, d1) -> (d0)> : tensor<8xbf16> -> tensor<8x2048xbf16>
  %2 = llir.elementwise mul(%0, %1) : (tensor<8x2048xbf16>, tensor<8x2048xbf16>) -> tensor<8x2048xbf16>
  %3 = llir.view %2 <(d0, d1) -> (d1, d0)> : tensor<8x2048xbf16> -> tensor<2048x8xbf16>
  %4 = llir.reduce sum %3 : tensor<2048x8xbf16> -> tensor<2048xbf16>
  llir.yield %4 : tensor<2048xbf16>
  }
  return %r : tensor<2048xbf16>
}
