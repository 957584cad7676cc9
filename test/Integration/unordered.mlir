// Updates in any order, written by hand for the CPU: the bits of updates in order, with any number of threads.

// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/updates.py %t
// RUN: luminal-compile %s --target=%device -o %t/m.lum
// RUN: luminal-run --reference %s --steps=%t --output-dir=%t/expected
// RUN: luminal-run %t/m.lum --steps=%t --expect=%t/expected --rtol=0 --atol=0 | FileCheck %s
// RUN: luminal-run %t/m.lum --steps=%t --expect=%t/expected --rtol=0 --atol=0 --threads=3 | FileCheck %s
// CHECK-COUNT-9: {{ ok }}
// CHECK-NOT: MISS

func.func @main(%x: tensor<12x7xf32> {hlir.name = "x"}, %i: tensor<9xi64> {hlir.name = "i"}, %u: tensor<9x7xf32> {hlir.name = "u"},
                %n: tensor<12x5xi64> {hlir.name = "n"}, %j: tensor<2x4xi32> {hlir.name = "j"}, %v: tensor<2x4x5xi64> {hlir.name = "v"},
                %k: tensor<1xi64> {hlir.name = "k"})
    -> (tensor<12x7xf32>, tensor<12x5xi64>, tensor<12x5xi64>) {
  %c0 = llir.kernel(%x) loops<grid(d0, d1:all v4)> : (tensor<12x7xf32>) -> tensor<12x7xf32> {
  ^bb0(%a: tensor<12x7xf32>):
    llir.yield %a : tensor<12x7xf32>
  }
  // Rows that follow from their index: equal indices set equal rows.
  %0 = llir.kernel(%c0, %i, %u) loops<grid(d0:2, d1:all v4) op4 = unordered> {in_place} : (tensor<12x7xf32>, tensor<9xi64>, tensor<9x7xf32>) -> tensor<12x7xf32> {
  ^bb0(%a: tensor<12x7xf32>, %b: tensor<9xi64>, %c: tensor<9x7xf32>):
    %nine = llir.constant dense<9> : tensor<i64>
    %most = llir.view %nine <(d0) -> ()> : tensor<i64> -> tensor<9xi64>
    %r = llir.elementwise floor_mod(%b, %most) : (tensor<9xi64>, tensor<9xi64>) -> tensor<9xi64>
    %g = llir.gather %c, %r {checked} : tensor<9x7xf32>, tensor<9xi64> -> tensor<9x7xf32>
    %s = llir.scatter set %a, %b, %g {checked} : tensor<12x7xf32>, tensor<9xi64>, tensor<9x7xf32>
    llir.yield %s : tensor<12x7xf32>
  }
  %c1 = llir.kernel(%n) loops<grid(d0, d1:all v4)> : (tensor<12x5xi64>) -> tensor<12x5xi64> {
  ^bb0(%a: tensor<12x5xi64>):
    llir.yield %a : tensor<12x5xi64>
  }
  %1 = llir.kernel(%c1, %j, %v) loops<grid(d0*d1, d2) op0 = unordered> {in_place} : (tensor<12x5xi64>, tensor<2x4xi32>, tensor<2x4x5xi64>) -> tensor<12x5xi64> {
  ^bb0(%a: tensor<12x5xi64>, %b: tensor<2x4xi32>, %c: tensor<2x4x5xi64>):
    %s = llir.scatter add %a, %b, %c {checked} : tensor<12x5xi64>, tensor<2x4xi32>, tensor<2x4x5xi64>
    llir.yield %s : tensor<12x5xi64>
  }
  %c2 = llir.kernel(%n) loops<grid(d0, d1:all v4)> : (tensor<12x5xi64>) -> tensor<12x5xi64> {
  ^bb0(%a: tensor<12x5xi64>):
    llir.yield %a : tensor<12x5xi64>
  }
  %2 = llir.kernel(%c2, %j, %v) loops<grid(d0, d1, d2:3) op0 = unordered> {in_place} : (tensor<12x5xi64>, tensor<2x4xi32>, tensor<2x4x5xi64>) -> tensor<12x5xi64> {
  ^bb0(%a: tensor<12x5xi64>, %b: tensor<2x4xi32>, %c: tensor<2x4x5xi64>):
    %s = llir.scatter max %a, %b, %c {checked} : tensor<12x5xi64>, tensor<2x4xi32>, tensor<2x4x5xi64>
    llir.yield %s : tensor<12x5xi64>
  }
  return %0, %1, %2 : tensor<12x7xf32>, tensor<12x5xi64>, tensor<12x5xi64>
}
