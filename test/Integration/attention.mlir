// Attention gives the same bits with any number of threads: one query over many keys, of which units take parts, and many
// queries, whose units walk what their mask leaves.
// RUN: luminal-opt %s --luminal-pipeline="target=cpu arch=x86-64-v3 from=saturated until=scheduled" | FileCheck %s --check-prefix=LOOPS
// LOOPS: llir.kernel{{.*}} stream(d2:{{[0-9]+}}) parts({{[0-9]+}})
// LOOPS: llir.kernel{{.*}} stream(d2:{{[0-9]+}}) op
// LOOPS-NOT: llir.kernel
// RUN: rm -rf %t && mkdir %t
// RUN: %python %S/Inputs/threads.py %utils/testing %t %s | FileCheck %s
// CHECK: attention.mlir same with 1 2 3 8 16{{$}}

func.func @main(%a: tensor<2x1x32xf32>, %b: tensor<2x9000x32xf32>, %c: tensor<2x9000x24xf32>, %d: tensor<3x150x32xf32>, %e: tensor<3x9000x32xf32>, %f: tensor<3x9000x24xf32>)
    -> (tensor<2x1x24xf32>, tensor<3x150x24xf32>) {
  %us = llir.gemm %a, %b k(32) <(d0, d1, d2, d3) -> (d0, 0, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<2x1x32xf32>, tensor<2x9000x32xf32> -> tensor<2x1x9000xf32>
  %up = llir.softmax %us : tensor<2x1x9000xf32>
  %uo = llir.gemm %up, %c k(9000) <(d0, d1, d2, d3) -> (d0, 0, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<2x1x9000xf32>, tensor<2x9000x24xf32> -> tensor<2x1x24xf32>
  %vs = llir.gemm %d, %e k(32) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<3x150x32xf32>, tensor<3x9000x32xf32> -> tensor<3x150x9000xf32>
  %vi = llir.iota <(d0, d1, d2) -> (d2)> : tensor<3x150x9000xi64>
  %vj = llir.iota <(d0, d1, d2) -> (d1 * 60)> : tensor<3x150x9000xi64>
  %vb = llir.elementwise less_equal(%vi, %vj) : (tensor<3x150x9000xi64>, tensor<3x150x9000xi64>) -> tensor<3x150x9000xi1>
  %vc = llir.constant dense<0xFF800000> : tensor<f32>
  %vl = llir.view %vc <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<3x150x9000xf32>
  %vx = llir.elementwise select(%vb, %vs, %vl) : (tensor<3x150x9000xi1>, tensor<3x150x9000xf32>, tensor<3x150x9000xf32>) -> tensor<3x150x9000xf32>
  %vp = llir.softmax %vx : tensor<3x150x9000xf32>
  %vo = llir.gemm %vp, %f k(9000) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<3x150x9000xf32>, tensor<3x9000x24xf32> -> tensor<3x150x24xf32>
  return %uo, %vo : tensor<2x1x24xf32>, tensor<3x150x24xf32>
}
