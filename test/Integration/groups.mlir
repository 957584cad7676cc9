// Products of rows that look up their matrices, by groups of rows: sorted, in any order, and all in one group; matrices along k
// and across it, as either operand; rows that are looked up as well, and results that follow from the group; and rows that
// have several matrices each.

// RUN: luminal-compile %s --target=%device --emit=scheduled -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// CHECK-COUNT-5: groups = rows

// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/groups.py %t
// RUN: luminal-compile %s --target=%device -o %t/m.lum
// RUN: luminal-run --reference %s --steps=%t --output-dir=%t/expected
// RUN: luminal-run %t/m.lum --steps=%t --expect=%t/expected --rtol=1e-4 --atol=1e-4 | FileCheck %s --check-prefix=SAME
// SAME-COUNT-15: {{ ok }}
// SAME-NOT: MISS

func.func @main(%x: tensor<420x64xf32> {hlir.name = "x"}, %w: tensor<5x128x64xf32> {hlir.name = "w"}, %v: tensor<5x64x128xf32> {hlir.name = "v"},
                %b: tensor<5x128xf32> {hlir.name = "b"}, %i: tensor<420xi64> {hlir.name = "i"}, %j: tensor<420xi32> {hlir.name = "j"},
                %k: tensor<420xi64> {hlir.name = "k"})
    -> (tensor<420x128xf32>, tensor<420x128xf32>, tensor<420x128xf32>, tensor<420x128xf32>, tensor<210x2x128xf32>) {
  %along = llir.gather %w, %i {checked} : tensor<5x128x64xf32>, tensor<420xi64> -> tensor<420x128x64xf32>
  %across = llir.gather %v, %i {checked} : tensor<5x64x128xf32>, tensor<420xi64> -> tensor<420x64x128xf32>
  %0 = llir.gemm %x, %along k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)>
      : tensor<420x64xf32>, tensor<420x128x64xf32> -> tensor<420x128xf32>
  %1 = llir.gemm %x, %across k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d2, d1)>
      : tensor<420x64xf32>, tensor<420x64x128xf32> -> tensor<420x128xf32>
  %left = llir.gather %w, %k {checked} : tensor<5x128x64xf32>, tensor<420xi64> -> tensor<420x128x64xf32>
  %2 = llir.gemm %left, %x k(64) <(d0, d1, d2) -> (d0, d1, d2)>, <(d0, d1, d2) -> (d0, d2)>
      : tensor<420x128x64xf32>, tensor<420x64xf32> -> tensor<420x128xf32>

  // In bf16, of rows in another order, with what each group adds.
  %wide = llir.elementwise cast(%w) : (tensor<5x128x64xf32>) -> tensor<5x128x64xbf16>
  %rows = llir.gather %x, %j {checked} : tensor<420x64xf32>, tensor<420xi32> -> tensor<420x64xf32>
  %narrow = llir.elementwise cast(%rows) : (tensor<420x64xf32>) -> tensor<420x64xbf16>
  %matrix = llir.gather %wide, %i {checked} : tensor<5x128x64xbf16>, tensor<420xi64> -> tensor<420x128x64xbf16>
  %3 = llir.gemm %narrow, %matrix k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)>
      : tensor<420x64xbf16>, tensor<420x128x64xbf16> -> tensor<420x128xbf16>
  %4 = llir.elementwise cast(%3) : (tensor<420x128xbf16>) -> tensor<420x128xf32>
  %5 = llir.gather %b, %i {checked} : tensor<5x128xf32>, tensor<420xi64> -> tensor<420x128xf32>
  %6 = llir.elementwise add(%4, %5) : (tensor<420x128xf32>, tensor<420x128xf32>) -> tensor<420x128xf32>

  %pairs = llir.view %i <(d0, d1) -> (2 * d0 + d1)> : tensor<420xi64> -> tensor<210x2xi64>
  %both = llir.gather %w, %pairs {checked} : tensor<5x128x64xf32>, tensor<210x2xi64> -> tensor<210x2x128x64xf32>
  %7 = llir.gemm %x, %both k(64) <(d0, d1, d2, d3) -> (d0, d3)>, <(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
      : tensor<420x64xf32>, tensor<210x2x128x64xf32> -> tensor<210x2x128xf32>
  return %0, %1, %2, %6, %7 : tensor<420x128xf32>, tensor<420x128xf32>, tensor<420x128xf32>, tensor<420x128xf32>, tensor<210x2x128xf32>
}
