// Updates that agree, by a table of the last of each row, give what updates in order give; and so does a destination that a
// kernel of its own copied.

// RUN: luminal-opt %s --llir-expand-updates=block-threads=1024 --llir-fuse-kernels --llir-update-in-place=block-threads=1024 -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// CHECK-COUNT-9: {in_place}

// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/updates.py %t
// RUN: luminal-compile %t.mlir --target=%device -o %t/m.lum
// RUN: luminal-run --reference %s --steps=%t --output-dir=%t/expected
// RUN: luminal-run %t/m.lum --steps=%t --expect=%t/expected --rtol=0 --atol=0 | FileCheck %s --check-prefix=SAME
// SAME-COUNT-18: {{ ok }}
// SAME-NOT: MISS

func.func @main(%x: tensor<12x7xf32> {hlir.name = "x"}, %i: tensor<9xi64> {hlir.name = "i"}, %u: tensor<9x7xf32> {hlir.name = "u"},
                %n: tensor<12x5xi64> {hlir.name = "n"}, %j: tensor<2x4xi32> {hlir.name = "j"}, %v: tensor<2x4x5xi64> {hlir.name = "v"},
                %k: tensor<1xi64> {hlir.name = "k"})
    -> (tensor<12x7xf32>, tensor<12x5xi64>, tensor<12x5xi64>, tensor<12x5xi64>, tensor<7x12xf32>, tensor<12x5xi64>) {
  %last = llir.scatter set %x, %i, %u {checked} : tensor<12x7xf32>, tensor<9xi64>, tensor<9x7xf32>
  %two = llir.scatter set %n, %j, %v {checked} : tensor<12x5xi64>, tensor<2x4xi32>, tensor<2x4x5xi64>
  %sum = llir.scatter add %n, %j, %v {checked} : tensor<12x5xi64>, tensor<2x4xi32>, tensor<2x4x5xi64>
  %most = llir.scatter max %n, %j, %v {checked} : tensor<12x5xi64>, tensor<2x4xi32>, tensor<2x4x5xi64>
  // The destination is computed, and the result moved.
  %neg = llir.elementwise neg(%x) : (tensor<12x7xf32>) -> tensor<12x7xf32>
  %set = llir.scatter set %neg, %i, %u {checked} : tensor<12x7xf32>, tensor<9xi64>, tensor<9x7xf32>
  %turned = llir.view %set <(d0, d1) -> (d1, d0)> : tensor<12x7xf32> -> tensor<7x12xf32>
  // Consecutive rows.
  %from = llir.view %k <(d0) -> (0)> : tensor<1xi64> -> tensor<6xi64>
  %iota = llir.iota <(d0) -> (5 - d0)> : tensor<6xi64>
  %at = llir.elementwise add(%iota, %from) : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %part = llir.view %v <(d0, d1) -> (d0 floordiv 3, d0 mod 3, d1)> : tensor<2x4x5xi64> -> tensor<6x5xi64>
  %run = llir.scatter set %n, %at, %part {checked} : tensor<12x5xi64>, tensor<6xi64>, tensor<6x5xi64>
  return %last, %two, %sum, %most, %turned, %run : tensor<12x7xf32>, tensor<12x5xi64>, tensor<12x5xi64>, tensor<12x5xi64>, tensor<7x12xf32>, tensor<12x5xi64>
}
