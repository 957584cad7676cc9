// What a row program chooses by the index of its last dim is kept in ranges of it, here 5 elements and one, behind a dim that
// is chosen by too.
// RUN: rm -rf %t && mkdir %t && %python %S/Inputs/row-program-pieces.py %utils/testing %t
// RUN: luminal-compile %s --quiet --arch=haswell -o %t/model.lum
// RUN: luminal-run --reference %s --input=%t/x.npy --input=%t/w.npy --output-dir=%t
// RUN: luminal-run %t/model.lum --input=%t/x.npy --input=%t/w.npy --expect=%t/output_0.npy --expect=%t/output_1.npy --atol=1e-5 --rtol=0 | FileCheck %s
// CHECK-COUNT-2: ok
func.func @main(%x: tensor<20x3x5xf32>, %w: tensor<6x7xf32>) -> (tensor<20x4x7xf32>, tensor<20x3x5xf32>) {
  %0:2 = llir.kernel(%x, %w) loops<grid(d0:8 v8) op0 = keep op13 = keep op14 = across {columns = 7}> : (tensor<20x3x5xf32>, tensor<6x7xf32>) -> (tensor<20x4x7xf32>, tensor<20x3x5xf32>) {
  ^bb0(%a: tensor<20x3x5xf32>, %b: tensor<6x7xf32>):
    %1 = llir.elementwise neg(%a) : (tensor<20x3x5xf32>) -> tensor<20x3x5xf32>
    %2 = llir.iota <(d0, d1, d2) -> (d2)> : tensor<20x4x6xi64>
    %3 = llir.constant dense<5> : tensor<i64>
    %4 = llir.view %3 <(d0, d1, d2) -> ()> : tensor<i64> -> tensor<20x4x6xi64>
    %5 = llir.elementwise less_than(%2, %4) : (tensor<20x4x6xi64>, tensor<20x4x6xi64>) -> tensor<20x4x6xi1>
    %6 = llir.iota <(d0, d1, d2) -> (d1)> : tensor<20x4x6xi64>
    %7 = llir.constant dense<3> : tensor<i64>
    %8 = llir.view %7 <(d0, d1, d2) -> ()> : tensor<i64> -> tensor<20x4x6xi64>
    %9 = llir.elementwise less_than(%6, %8) : (tensor<20x4x6xi64>, tensor<20x4x6xi64>) -> tensor<20x4x6xi1>
    %10 = llir.elementwise mul(%5, %9) : (tensor<20x4x6xi1>, tensor<20x4x6xi1>) -> tensor<20x4x6xi1>
    %11 = llir.view %1 <(d0, d1, d2) -> (d0, min(d1, 2), min(d2, 4))> : tensor<20x3x5xf32> -> tensor<20x4x6xf32>
    %12 = llir.constant dense<1.000000e+00> : tensor<f32>
    %13 = llir.view %12 <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<20x4x6xf32>
    %14 = llir.elementwise select(%10, %11, %13) : (tensor<20x4x6xi1>, tensor<20x4x6xf32>, tensor<20x4x6xf32>) -> tensor<20x4x6xf32>
    %15 = llir.gemm %14, %b k(6) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d3, d2)> : tensor<20x4x6xf32>, tensor<6x7xf32> -> tensor<20x4x7xf32>
    %16 = llir.elementwise abs(%1) : (tensor<20x3x5xf32>) -> tensor<20x3x5xf32>
    llir.yield %15, %16 : tensor<20x4x7xf32>, tensor<20x3x5xf32>
  }
  return %0#0, %0#1 : tensor<20x4x7xf32>, tensor<20x3x5xf32>
}
