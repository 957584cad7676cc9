// Weights that are rounded to bf16 are powers of 2, of scores whose factor has the logarithm, also behind a mask: they are the
// weights of the softmax, as exact as bf16 tells.
// RUN: luminal-opt %s --luminal-pipeline="target=cpu arch=haswell from=saturated until=fused" | FileCheck %s --check-prefix=KERNEL
// KERNEL: dense<0.255
// KERNEL: exp2_fast
// RUN: rm -rf %t && mkdir %t && %python %S/Inputs/stream-narrow-terms.py %utils/testing %t
// RUN: luminal-compile %s --quiet --arch=haswell -o %t/model.lum
// RUN: luminal-run --reference %s --input=%t/q.npy --input=%t/k.npy --input=%t/v.npy --output-dir=%t
// RUN: luminal-run %t/model.lum --input=%t/q.npy --input=%t/k.npy --input=%t/v.npy --expect=%t/output_0.npy --atol=4e-3 --rtol=8e-3 | FileCheck %s
// CHECK: ok
func.func @main(%q: tensor<70x32xf32>, %k: tensor<150x32xf32>, %v: tensor<150x24xbf16>) -> tensor<70x24xbf16> {
  %s = llir.gemm %q, %k k(32) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<70x32xf32>, tensor<150x32xf32> -> tensor<70x150xf32>
  %c = llir.constant dense<1.767766952e-01> : tensor<f32>
  %cs = llir.view %c <(d0, d1) -> ()> : tensor<f32> -> tensor<70x150xf32>
  %x = llir.elementwise mul(%s, %cs) : (tensor<70x150xf32>, tensor<70x150xf32>) -> tensor<70x150xf32>
  %i = llir.iota <(d0, d1) -> (2 * d0)> : tensor<70x150xi64>
  %j = llir.iota <(d0, d1) -> (d1)> : tensor<70x150xi64>
  %m = llir.elementwise less_equal(%j, %i) : (tensor<70x150xi64>, tensor<70x150xi64>) -> tensor<70x150xi1>
  %l = llir.constant dense<0xFF800000> : tensor<f32>
  %ls = llir.view %l <(d0, d1) -> ()> : tensor<f32> -> tensor<70x150xf32>
  %y = llir.elementwise select(%m, %x, %ls) : (tensor<70x150xi1>, tensor<70x150xf32>, tensor<70x150xf32>) -> tensor<70x150xf32>
  %p = llir.softmax %y : tensor<70x150xf32>
  %n = llir.elementwise cast(%p) : (tensor<70x150xf32>) -> tensor<70x150xbf16>
  %o = llir.gemm %n, %v k(150) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<70x150xbf16>, tensor<150x24xbf16> -> tensor<70x24xbf16>
  return %o : tensor<70x24xbf16>
}
