// Lines of shared memory are whole for 16 bytes, which swizzles move: a vector of 32 is stored as two.
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_90a %s | FileCheck %s

// CHECK: st.shared.v4.b32
// CHECK-NOT: st.shared.v4.b32 {{.*}}+16],
func.func @main(%arg1: tensor<3x64x96xbf16>, %arg2: tensor<3x160x96xbf16>, %arg3: tensor<3x160x96xbf16>) -> tensor<3x64x96xbf16> {
  %r = llir.kernel(%arg1, %arg2, %arg3) loops<grid(d0, d1:64) stream(d2:64) threads(128, 128) op0 = block {columnalong = k, columnlanes = 8, rowalong = k, rowlanes = 16, stages = 2, use = wgmma} op9 = joint {blocks = 3} op13 = joint {blocks = 3} op19 = block {columnalong = own, columnlanes = 8, stages = 2, use = wgmma}> : (tensor<3x64x96xbf16>, tensor<3x160x96xbf16>, tensor<3x160x96xbf16>) -> tensor<3x64x96xbf16> {
^bb0(%arg6: tensor<3x64x96xbf16>, %arg7: tensor<3x160x96xbf16>, %arg8: tensor<3x160x96xbf16>):
  %2 = llir.gemm %arg6, %arg7 k(96) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<3x64x96xbf16>, tensor<3x160x96xbf16> -> tensor<3x64x160xbf16>
  %3 = llir.constant dense<1.250000e-01> : tensor<bf16>
  %4 = llir.view %3 <(d0, d1, d2) -> ()> : tensor<bf16> -> tensor<3x64x160xbf16>
  %5 = llir.elementwise mul(%2, %4) : (tensor<3x64x160xbf16>, tensor<3x64x160xbf16>) -> tensor<3x64x160xbf16>
  %6 = llir.elementwise tanh(%5) : (tensor<3x64x160xbf16>) -> tensor<3x64x160xbf16>
  %7 = llir.constant dense<1.600000e+01> : tensor<bf16>
  %8 = llir.view %7 <(d0, d1, d2) -> ()> : tensor<bf16> -> tensor<3x64x160xbf16>
  %9 = llir.elementwise mul(%6, %8) : (tensor<3x64x160xbf16>, tensor<3x64x160xbf16>) -> tensor<3x64x160xbf16>
  %10 = llir.elementwise cast(%9) : (tensor<3x64x160xbf16>) -> tensor<3x64x160xf32>
  %11 = llir.reduce max %10 : tensor<3x64x160xf32> -> tensor<3x64xf32>
  %12 = llir.view %11 <(d0, d1, d2) -> (d0, d1)> : tensor<3x64xf32> -> tensor<3x64x160xf32>
  %13 = llir.elementwise sub(%10, %12) : (tensor<3x64x160xf32>, tensor<3x64x160xf32>) -> tensor<3x64x160xf32>
  %14 = llir.elementwise exp_fast(%13) : (tensor<3x64x160xf32>) -> tensor<3x64x160xf32>
  %15 = llir.reduce sum %14 : tensor<3x64x160xf32> -> tensor<3x64xf32>
  %16 = llir.elementwise recip(%15) : (tensor<3x64xf32>) -> tensor<3x64xf32>
  %17 = llir.view %16 <(d0, d1, d2) -> (d0, d1)> : tensor<3x64xf32> -> tensor<3x64x96xf32>
  %18 = llir.elementwise cast(%14) : (tensor<3x64x160xf32>) -> tensor<3x64x160xbf16>
  %19 = llir.elementwise cast(%18) : (tensor<3x64x160xbf16>) -> tensor<3x64x160xf32>
  %20 = llir.elementwise cast(%arg8) : (tensor<3x160x96xbf16>) -> tensor<3x160x96xf32>
  %21 = llir.gemm %19, %20 k(160) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<3x64x160xf32>, tensor<3x160x96xf32> -> tensor<3x64x96xf32>
  %22 = llir.elementwise mul(%17, %21) : (tensor<3x64x96xf32>, tensor<3x64x96xf32>) -> tensor<3x64x96xf32>
  %23 = llir.elementwise cast(%22) : (tensor<3x64x96xf32>) -> tensor<3x64x96xbf16>
  llir.yield %23 : tensor<3x64x96xbf16>
  }
  return %r : tensor<3x64x96xbf16>
}
