// Terms past the last key are 0, and so are sums at first: no register holds both, as sums are written before all terms are read.
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_90a %s -o %t.ptx
// RUN: grep -c "wgmma.mma_async.sync.aligned.m64n16k16" %t.ptx | FileCheck %s
// RUN: not grep -E "wgmma.mma_async[^{]*\{[^}]*(%r[0-9]+)[,}][^{]*\{[^}]*\1[,}]" %t.ptx
// CHECK: 4
func.func @main(%arg1: tensor<2x80x16xbf16>, %arg2: tensor<2x3x16xbf16>, %arg3: tensor<2x3x16xbf16>) -> tensor<2x80x16xbf16> {
  %r = llir.kernel(%arg1, %arg2, %arg3) loops<grid(d0, d1:64) stream(d2:64) threads(128, 128) op0 = block {columnalong = k, columnlanes = 8, rowalong = k, rowlanes = 8, stages = 2, use = wgmma} op5 = joint {blocks = 5} op9 = joint {blocks = 5} op15 = block {columnalong = own, columnlanes = 8, stages = 2, use = wgmma}> : (tensor<2x80x16xbf16>, tensor<2x3x16xbf16>, tensor<2x3x16xbf16>) -> tensor<2x80x16xbf16> {
^bb0(%arg11: tensor<2x80x16xbf16>, %arg12: tensor<2x3x16xbf16>, %arg13: tensor<2x3x16xbf16>):
  %6 = llir.gemm %arg11, %arg12 k(16) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<2x80x16xbf16>, tensor<2x3x16xbf16> -> tensor<2x80x3xbf16>
  %7 = llir.elementwise cast(%6) : (tensor<2x80x3xbf16>) -> tensor<2x80x3xf32>
  %8 = llir.constant dense<0.180336878> : tensor<f32>
  %9 = llir.view %8 <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<2x80x3xf32>
  %10 = llir.elementwise mul(%7, %9) : (tensor<2x80x3xf32>, tensor<2x80x3xf32>) -> tensor<2x80x3xf32>
  %11 = llir.reduce max %10 : tensor<2x80x3xf32> -> tensor<2x80xf32>
  %12 = llir.view %11 <(d0, d1, d2) -> (d0, d1)> : tensor<2x80xf32> -> tensor<2x80x3xf32>
  %13 = llir.elementwise sub(%10, %12) : (tensor<2x80x3xf32>, tensor<2x80x3xf32>) -> tensor<2x80x3xf32>
  %14 = llir.elementwise exp2_fast(%13) : (tensor<2x80x3xf32>) -> tensor<2x80x3xf32>
  %15 = llir.reduce sum %14 : tensor<2x80x3xf32> -> tensor<2x80xf32>
  %16 = llir.elementwise recip(%15) : (tensor<2x80xf32>) -> tensor<2x80xf32>
  %17 = llir.view %16 <(d0, d1, d2) -> (d0, d1)> : tensor<2x80xf32> -> tensor<2x80x16xf32>
  %18 = llir.elementwise cast(%14) : (tensor<2x80x3xf32>) -> tensor<2x80x3xbf16>
  %19 = llir.elementwise cast(%18) : (tensor<2x80x3xbf16>) -> tensor<2x80x3xf32>
  %20 = llir.elementwise cast(%arg13) : (tensor<2x3x16xbf16>) -> tensor<2x3x16xf32>
  %21 = llir.gemm %19, %20 k(3) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<2x80x3xf32>, tensor<2x3x16xf32> -> tensor<2x80x16xf32>
  %22 = llir.elementwise mul(%17, %21) : (tensor<2x80x16xf32>, tensor<2x80x16xf32>) -> tensor<2x80x16xf32>
  %23 = llir.elementwise cast(%22) : (tensor<2x80x16xf32>) -> tensor<2x80x16xbf16>
  llir.yield %23 : tensor<2x80x16xbf16>
  }
  return %r : tensor<2x80x16xbf16>
}
