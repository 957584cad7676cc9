// States that are updated through views on both sides, in place or by a copy: the results equal the interpreter's, and
// readers of the old values still read them.

// RUN: luminal-compile %s --emit=fused | FileCheck %s
// CHECK: llir.kernel(%arg0, {{.*}}) {in_place}
// CHECK: llir.kernel(%arg1, {{.*}})

// RUN: rm -rf %t && mkdir -p %t
// RUN: luminal-compile %s --target=%device -o %t/m.lum
// RUN: %python %S/Inputs/update-in-place.py %t
// RUN: luminal-run --reference %s --steps=%t --output-dir=%t/expected
// RUN: luminal-run %t/m.lum --steps=%t --expect=%t/expected | FileCheck %s --check-prefix=SAME
// RUN: luminal-run %t/m.lum --steps=%t --expect=%t/expected --threads=2 | FileCheck %s --check-prefix=SAME
// SAME-COUNT-16: {{ ok }}
// SAME-NOT: MISS

// `cache` is written by columns, which are the rows of its transpose; `table` by planes of a reshape.
func.func @main(%cache: tensor<3x8xf32> {hlir.kind = "state", hlir.name = "cache"},
                %table: tensor<12x2xi64> {hlir.kind = "state", hlir.name = "table"},
                %i: tensor<2xi64> {hlir.name = "i"}, %u: tensor<2x3xf32> {hlir.name = "u"},
                %k: tensor<1xi64> {hlir.name = "k"}, %v: tensor<1x4x2xi64> {hlir.name = "v"})
    -> (tensor<3x8xf32> {hlir.updates = 0 : i64}, tensor<12x2xi64> {hlir.updates = 1 : i64},
        tensor<3xf32> {hlir.name = "before"}, tensor<3xf32> {hlir.name = "after"},
        tensor<12xi64> {hlir.name = "row"}, tensor<3x8xf32> {hlir.name = "all"}) {
  %0 = hlir.view %cache <(d0, d1) -> (d1, d0)> : tensor<3x8xf32> -> tensor<8x3xf32>
  %1 = hlir.scatter set %0, %i, %u : tensor<8x3xf32>, tensor<2xi64>, tensor<2x3xf32>
  %2 = hlir.view %1 <(d0, d1) -> (d1, d0)> : tensor<8x3xf32> -> tensor<3x8xf32>
  %3 = hlir.view %table <(d0, d1, d2) -> (4 * d0 + d1, d2)> : tensor<12x2xi64> -> tensor<3x4x2xi64>
  %4 = hlir.scatter add %3, %k, %v : tensor<3x4x2xi64>, tensor<1xi64>, tensor<1x4x2xi64>
  %5 = hlir.view %4 <(d0, d1) -> (d0 floordiv 4, d0 mod 4, d1)> : tensor<3x4x2xi64> -> tensor<12x2xi64>
  %before = hlir.reduce_sum %cache : tensor<3x8xf32> -> tensor<3xf32>
  %after = hlir.reduce_max %2 : tensor<3x8xf32> -> tensor<3xf32>
  %row = hlir.reduce_sum %5 : tensor<12x2xi64> -> tensor<12xi64>
  %all = hlir.add %2, %2 : tensor<3x8xf32>
  return %2, %5, %before, %after, %row, %all
      : tensor<3x8xf32>, tensor<12x2xi64>, tensor<3xf32>, tensor<3xf32>, tensor<12xi64>, tensor<3x8xf32>
}
