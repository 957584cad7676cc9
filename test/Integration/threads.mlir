// Results are the same bits with any number of threads: products, rows, updates that meet, few long sums in parts, and products of
// bf16 as the machine multiplies them.
// RUN: luminal-opt %s --luminal-pipeline="target=cpu arch=x86-64-v3 from=saturated until=scheduled" | FileCheck %s --check-prefix=PARTS
// PARTS: parts({{.*}} = pass
// PARTS: parts({{.*}} = pass
// PARTS: parts({{.*}} = element
// RUN: rm -rf %t && mkdir %t
// RUN: %python %S/Inputs/threads.py %utils/testing %t %s %S/../../docs/examples/gemm.mlir %S/../../docs/examples/softmax.mlir | FileCheck %s
// CHECK: threads.mlir same with 1 2 3 8 16{{$}}
// CHECK: gemm.mlir same with 1 2 3 8 16{{$}}
// CHECK: softmax.mlir same with 1 2 3 8 16{{$}}

func.func @main(%a: tensor<3x40000xf32>, %b: tensor<3x5000xf32>, %i: tensor<70xi64>, %u: tensor<70x5000xf32>,
                %v: tensor<1x600xf32>, %w: tensor<600x900xf32>, %l: tensor<2x700001xf32>, %t: tensor<300000x3xf32>,
                %p: tensor<3x90000xf32>, %q: tensor<3x90000xf32>, %x: tensor<600x1100xf32>, %y: tensor<500x1100xf32>)
    -> (tensor<3xf32>, tensor<3x5000xf32>, tensor<1x900xf32>, tensor<3x40000xf32>, tensor<2xf32>, tensor<3xf32>, tensor<3x3xf32>,
        tensor<600x500xf32>) {
  %sum = llir.reduce sum %a : tensor<3x40000xf32> -> tensor<3xf32>
  %updated = llir.scatter add %b, %i, %u {checked} : tensor<3x5000xf32>, tensor<70xi64>, tensor<70x5000xf32>
  %row = llir.gemm %v, %w k(600) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<1x600xf32>, tensor<600x900xf32> -> tensor<1x900xf32>
  %sine = llir.elementwise sin(%a) : (tensor<3x40000xf32>) -> tensor<3x40000xf32>
  %long = llir.reduce sum %l : tensor<2x700001xf32> -> tensor<2xf32>
  %turned = llir.view %t <(d0, d1) -> (d1, d0)> : tensor<300000x3xf32> -> tensor<3x300000xf32>
  %columns = llir.reduce sum %turned : tensor<3x300000xf32> -> tensor<3xf32>
  %few = llir.gemm %p, %q k(90000) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<3x90000xf32>, tensor<3x90000xf32> -> tensor<3x3xf32>
  %xs = llir.elementwise cast(%x) : (tensor<600x1100xf32>) -> tensor<600x1100xbf16>
  %ys = llir.elementwise cast(%y) : (tensor<500x1100xf32>) -> tensor<500x1100xbf16>
  %xw = llir.elementwise cast(%xs) : (tensor<600x1100xbf16>) -> tensor<600x1100xf32>
  %yw = llir.elementwise cast(%ys) : (tensor<500x1100xbf16>) -> tensor<500x1100xf32>
  %narrow = llir.gemm %xw, %yw k(1100) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<600x1100xf32>, tensor<500x1100xf32> -> tensor<600x500xf32>
  return %sum, %updated, %row, %sine, %long, %columns, %few, %narrow
      : tensor<3xf32>, tensor<3x5000xf32>, tensor<1x900xf32>, tensor<3x40000xf32>, tensor<2xf32>, tensor<3xf32>, tensor<3x3xf32>, tensor<600x500xf32>
}
