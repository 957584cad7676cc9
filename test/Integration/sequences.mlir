// Small kernels of a GPU as one launch: an order, what is taken in it, counts, their running sum, sums of rows through an alias. The
// sequence computes what the flat program does, for the interpreter and on the device.

// RUN: luminal-compile %s --target=cuda --arch=sm_90a --emit=scheduled -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// CHECK-COUNT-1: llir.sequence
// CHECK-COUNT-5: llir.kernel(

// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/sequences.py %t
// RUN: luminal-run --reference %s --steps=%t --output-dir=%t/expected
// RUN: luminal-run --reference %t.mlir --steps=%t --output-dir=%t/sequences
// RUN: %python %S/Inputs/sequences.py %t --compare
// RUN: luminal-compile %s --target=%device -o %t/m.lum
// RUN: luminal-run %t/m.lum --steps=%t --expect=%t/expected --rtol=1e-5 --atol=1e-5 | FileCheck %s --check-prefix=SAME
// SAME-COUNT-9: {{ ok }}
// SAME-NOT: MISS
func.func @main(%x: tensor<100xf32>, %w: tensor<100xf32>, %k: tensor<100xi64>)
    -> (tensor<100xf32> {hlir.name = "taken"}, tensor<16xi64> {hlir.name = "ends"}, tensor<10xf32> {hlir.name = "rows"}) {
  %order = llir.argsort %x {descending = true} : tensor<100xf32> -> tensor<100xi64>
  %taken = llir.gather %w, %order : tensor<100xf32>, tensor<100xi64> -> tensor<100xf32>
  %c0 = llir.constant dense<0> : tensor<i64>
  %zeros = llir.view %c0 <(d0) -> ()> : tensor<i64> -> tensor<16xi64>
  %c1 = llir.constant dense<1> : tensor<i64>
  %ones = llir.view %c1 <(d0) -> ()> : tensor<i64> -> tensor<100xi64>
  %counts = llir.scatter add %zeros, %k, %ones : tensor<16xi64>, tensor<100xi64>, tensor<100xi64>
  %ends = llir.scan %counts {axis = 0 : i64, kind = #llir.scan_kind<sum>} : tensor<16xi64> -> tensor<16xi64>
  %rows = llir.view %taken <(d0, d1) -> (10 * d0 + d1)> : tensor<100xf32> -> tensor<10x10xf32>
  %sums = llir.reduce sum %rows : tensor<10x10xf32> -> tensor<10xf32>
  return %taken, %ends, %sums : tensor<100xf32>, tensor<16xi64>, tensor<10xf32>
}
