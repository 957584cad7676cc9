// A product of a stream reads terms that were rounded to bf16 and widened again: kept for the chunk as they were rounded,
// whichever reference a later chunk has.
// RUN: rm -rf %t && mkdir %t && %python %S/Inputs/stream-narrow-terms.py %utils/testing %t
// RUN: luminal-compile %s --quiet --arch=haswell -o %t/model.lum
// RUN: luminal-run --reference %s --input=%t/q.npy --input=%t/k.npy --input=%t/v.npy --output-dir=%t
// RUN: luminal-run %t/model.lum --input=%t/q.npy --input=%t/k.npy --input=%t/v.npy --expect=%t/output_0.npy --atol=2e-3 --rtol=0 | FileCheck %s
// CHECK: ok
func.func @main(%q: tensor<70x32xf32>, %k: tensor<150x32xf32>, %v: tensor<150x24xf32>) -> tensor<70x24xf32> {
  %0 = llir.kernel(%q, %k, %v) loops<grid(d0:32) stream(d1:64) op0 = tile {lanes = 8, pack = k, panel = 64, rows = 4, square = 8, vectors = 2} op1 = joint {lanes = 8, unroll = 2} op5 = joint {lanes = 8, unroll = 2} op8 = tile {lanes = 8, pack = columns, panel = 32, rows = 4, vectors = 2}> : (tensor<70x32xf32>, tensor<150x32xf32>, tensor<150x24xf32>) -> tensor<70x24xf32> {
  ^bb0(%a: tensor<70x32xf32>, %b: tensor<150x32xf32>, %c: tensor<150x24xf32>):
    %1 = llir.gemm %a, %b k(32) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<70x32xf32>, tensor<150x32xf32> -> tensor<70x150xf32>
    %2 = llir.reduce max %1 : tensor<70x150xf32> -> tensor<70xf32>
    %3 = llir.view %2 <(d0, d1) -> (d0)> : tensor<70xf32> -> tensor<70x150xf32>
    %4 = llir.elementwise sub(%1, %3) : (tensor<70x150xf32>, tensor<70x150xf32>) -> tensor<70x150xf32>
    %5 = llir.elementwise exp(%4) : (tensor<70x150xf32>) -> tensor<70x150xf32>
    %6 = llir.reduce sum %5 : tensor<70x150xf32> -> tensor<70xf32>
    %7 = llir.elementwise cast(%5) : (tensor<70x150xf32>) -> tensor<70x150xbf16>
    %8 = llir.elementwise cast(%7) : (tensor<70x150xbf16>) -> tensor<70x150xf32>
    %9 = llir.gemm %8, %c k(150) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<70x150xf32>, tensor<150x24xf32> -> tensor<70x24xf32>
    %10 = llir.view %6 <(d0, d1) -> (d0)> : tensor<70xf32> -> tensor<70x24xf32>
    %11 = llir.elementwise div(%9, %10) : (tensor<70x24xf32>, tensor<70x24xf32>) -> tensor<70x24xf32>
    llir.yield %11 : tensor<70x24xf32>
  }
  return %0 : tensor<70x24xf32>
}
