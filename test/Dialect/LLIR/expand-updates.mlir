// Updates that set one row agree, by a table of the last of each row; what needs no order stays as it is.
// RUN: luminal-opt %s --llir-expand-updates=block-threads=1024 | FileCheck %s
// RUN: luminal-opt %s --llir-expand-updates | FileCheck %s --check-prefix=CPU
// RUN: luminal-opt %s --llir-expand-updates=block-threads=1024 --llir-expand-updates=block-threads=1024 --remarks-filter=llir-expand-updates -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// CPU-NOT: llir.scatter max %{{.*}} tensor<9xi32>

// CHECK-LABEL: @rows
// CHECK: %[[NONE:.*]] = llir.view %{{.*}} <(d0) -> ()> : tensor<i32> -> tensor<9xi32>
// CHECK: %[[POS:.*]] = llir.iota <(d0) -> (d0)> : tensor<3xi32>
// CHECK: %[[TABLE:.*]] = llir.scatter max %[[NONE]], %arg1, %[[POS]] {checked}
// CHECK: %[[LAST:.*]] = llir.gather %[[TABLE]], %arg1 {checked}
// CHECK: %[[ROWS:.*]] = llir.gather %arg2, %[[LAST]] {checked}
// CHECK: llir.scatter set %arg0, %arg1, %[[ROWS]] {checked}
// REMARK: remark: [Passed] updates {{.*}} Function=rows | by="a table of the last update of each row"
func.func @rows(%x: tensor<9x4xf32>, %i: tensor<3xi64>, %u: tensor<3x4xf32>) -> tensor<9x4xf32> {
  %0 = llir.scatter set %x, %i, %u {checked} : tensor<9x4xf32>, tensor<3xi64>, tensor<3x4xf32>
  return %0 : tensor<9x4xf32>
}

// Indices of two dims are positions in row-major order; so many that an i32 may not hold them take i64.
// CHECK-LABEL: @two_dims
// CHECK: llir.iota <(d0, d1) -> (d0 * s + d1)> : tensor<5x?xi64, #hlir.dims<s>>
// CHECK: llir.scatter max {{.*}} : tensor<9xi64>
// CHECK: llir.view %arg2 {{.*}} -> tensor<?x4xf16, #hlir.dims<5 * s>>
// CHECK: llir.scatter set
func.func @two_dims(%x: tensor<9x4xf16>, %i: tensor<5x?xi32, #hlir.dims<s>>, %u: tensor<5x?x4xf16, #hlir.dims<s>>) -> tensor<9x4xf16>
    attributes {hlir.symbols = #hlir.symbols<s in [0, ]>} {
  %0 = llir.scatter set %x, %i, %u {checked} : tensor<9x4xf16>, tensor<5x?xi32, #hlir.dims<s>>, tensor<5x?x4xf16, #hlir.dims<s>>
  return %0 : tensor<9x4xf16>
}

// One update; consecutive rows from wherever; sums and maxima of integers; rows that follow from their index.
// CHECK-LABEL: @as_they_are
// CHECK-NOT: llir.scatter max %{{.*}} tensor<9xi32>
// CHECK: return
// REMARK: Function=as_they_are | by=nothing
func.func @as_they_are(%x: tensor<9x4xf32>, %k: tensor<1xi64>, %v: tensor<1x4xf32>, %u: tensor<3x4xf32>, %n: tensor<9xi64>, %j: tensor<3xi64>)
    -> (tensor<9x4xf32>, tensor<9x4xf32>, tensor<9xi64>, tensor<9xi64>, tensor<9x4xf32>) {
  %0 = llir.scatter set %x, %k, %v {checked} : tensor<9x4xf32>, tensor<1xi64>, tensor<1x4xf32>
  %from = llir.view %k <(d0) -> (0)> : tensor<1xi64> -> tensor<3xi64>
  %iota = llir.iota <(d0) -> (d0)> : tensor<3xi64>
  %at = llir.elementwise add(%iota, %from) : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
  %1 = llir.scatter set %x, %at, %u {checked} : tensor<9x4xf32>, tensor<3xi64>, tensor<3x4xf32>
  %2 = llir.scatter add %n, %j, %at {checked} : tensor<9xi64>, tensor<3xi64>, tensor<3xi64>
  %3 = llir.scatter max %n, %j, %at {checked} : tensor<9xi64>, tensor<3xi64>, tensor<3xi64>
  %row = llir.gather %x, %j {checked} : tensor<9x4xf32>, tensor<3xi64> -> tensor<3x4xf32>
  %neg = llir.elementwise neg(%row) : (tensor<3x4xf32>) -> tensor<3x4xf32>
  %4 = llir.scatter set %x, %j, %neg {checked} : tensor<9x4xf32>, tensor<3xi64>, tensor<3x4xf32>
  return %0, %1, %2, %3, %4 : tensor<9x4xf32>, tensor<9x4xf32>, tensor<9xi64>, tensor<9xi64>, tensor<9x4xf32>
}

// Near misses: positions times an unknown number; updates that are their indices' by another dim.
// CHECK-LABEL: @not_distinct
// CHECK: llir.scatter max
// CHECK: llir.scatter set
// CHECK: llir.scatter max
// CHECK: llir.scatter set
func.func @not_distinct(%x: tensor<9x3xi64>, %k: tensor<1xi64>, %u: tensor<3x3xi64>, %j: tensor<3xi64>) -> (tensor<9x3xi64>, tensor<9x3xi64>) {
  %times = llir.view %k <(d0) -> (0)> : tensor<1xi64> -> tensor<3xi64>
  %iota = llir.iota <(d0) -> (d0)> : tensor<3xi64>
  %at = llir.elementwise mul(%iota, %times) : (tensor<3xi64>, tensor<3xi64>) -> tensor<3xi64>
  %0 = llir.scatter set %x, %at, %u {checked} : tensor<9x3xi64>, tensor<3xi64>, tensor<3x3xi64>
  %square = llir.gather %u, %j {checked} : tensor<3x3xi64>, tensor<3xi64> -> tensor<3x3xi64>
  %turned = llir.view %square <(d0, d1) -> (d1, d0)> : tensor<3x3xi64> -> tensor<3x3xi64>
  %1 = llir.scatter set %x, %j, %turned {checked} : tensor<9x3xi64>, tensor<3xi64>, tensor<3x3xi64>
  return %0, %1 : tensor<9x3xi64>, tensor<9x3xi64>
}

// Few floats are added in order.
// CHECK-LABEL: @floats
// CHECK-NEXT: llir.scatter add
// CHECK-NEXT: return
// REMARK: [Missed] updates {{.*}} Function=floats | reason="few floats are combined in order"
func.func @floats(%x: tensor<9x4xf32>, %i: tensor<3xi64>, %u: tensor<3x4xf32>) -> tensor<9x4xf32> {
  %0 = llir.scatter add %x, %i, %u {checked} : tensor<9x4xf32>, tensor<3xi64>, tensor<3x4xf32>
  return %0 : tensor<9x4xf32>
}

// Many of them by sorted indices: sizes, begins, the order of the updates, and segments. Rows without updates stay.
// CHECK-LABEL: @many_floats
// CHECK: %[[SIZES:.*]] = llir.scatter add %[[NONE:.*]], %arg1, %{{.*}} {checked} : tensor<9xi32>, tensor<300xi64>, tensor<300xi32>
// CHECK: %[[KEYS:.*]] = llir.elementwise cast(%arg1) : (tensor<300xi64>) -> tensor<300xi32>
// CHECK: %[[ORDER:.*]] = llir.argsort %[[KEYS]] : tensor<300xi32> -> tensor<300xi64>
// CHECK: %[[BEGINS:.*]] = llir.scan %[[SIZES]] {axis = 0 : i64, exclusive = true, kind = #llir.scan_kind<sum>}
// CHECK: %[[SORTED:.*]] = llir.gather %arg2, %[[ORDER]] : tensor<300x4xf32>, tensor<300xi64> -> tensor<300x4xf32>
// CHECK: %[[SUMS:.*]] = llir.segment_reduce sum %[[SORTED]], %[[BEGINS]]
// CHECK: %[[ALL:.*]] = llir.elementwise add(%arg0, %[[SUMS]])
// CHECK: llir.elementwise less_than(%[[NONE]], %[[SIZES]])
// CHECK: llir.elementwise select(%{{.*}}, %[[ALL]], %arg0)
// REMARK: Function=many_floats | by="sorted indices"
func.func @many_floats(%x: tensor<9x4xf32>, %i: tensor<300xi64>, %u: tensor<300x4xf32>) -> tensor<9x4xf32> {
  %0 = llir.scatter add %x, %i, %u {checked} : tensor<9x4xf32>, tensor<300xi64>, tensor<300x4xf32>
  return %0 : tensor<9x4xf32>
}

// A maximum rounds nothing, and of f32 needs no order. With exact, sums stay in order.
// RUN: luminal-opt %s --llir-expand-updates="block-threads=1024 exact=true" | FileCheck %s --check-prefix=EXACT
// CHECK-LABEL: @largest(
// CHECK-NEXT: llir.scatter max
// CHECK-NEXT: return
// REMARK: Function=largest | by=nothing
// EXACT-LABEL: @many_floats
// EXACT-NEXT: llir.scatter add
// EXACT-LABEL: @largest(
// EXACT-NEXT: llir.scatter max
func.func @largest(%x: tensor<9xf32>, %i: tensor<300xi64>, %u: tensor<300xf32>) -> tensor<9xf32> {
  %0 = llir.scatter max %x, %i, %u {checked} : tensor<9xf32>, tensor<300xi64>, tensor<300xf32>
  return %0 : tensor<9xf32>
}

// There are no atomics of 16 bits.
// CHECK-LABEL: @largest_narrow
// CHECK: llir.segment_reduce max
// CHECK: llir.elementwise max
// EXACT-LABEL: @largest_narrow
// EXACT: llir.segment_reduce max
func.func @largest_narrow(%x: tensor<9xf16>, %i: tensor<300xi64>, %u: tensor<300xf16>) -> tensor<9xf16> {
  %0 = llir.scatter max %x, %i, %u {checked} : tensor<9xf16>, tensor<300xi64>, tensor<300xf16>
  return %0 : tensor<9xf16>
}

// All of an order of one row has each place once: the scatter is a gather by its inverse, which is counted in any order.
// CHECK-LABEL: @permutation
// CHECK: %[[P:.*]] = llir.view %{{.*}} <(d0) -> (0, d0)> : tensor<1x9xi64> -> tensor<9xi64>
// CHECK: %[[I:.*]] = llir.scatter add %{{.*}}, %[[P]], %{{.*}} : tensor<9xi32>
// CHECK: %[[R:.*]] = llir.gather %arg1, %[[I]] : tensor<9x4xf32>, tensor<9xi32>
// CHECK: %[[J:.*]] = llir.scatter add %{{.*}}, %[[P]], %{{.*}} : tensor<9xi64>
// CHECK: return %[[R]], %[[J]]
// REMARK: Function=permutation | by="the inverse of a permutation"
func.func @permutation(%keys: tensor<1x9xf32>, %u: tensor<9x4xf32>, %x: tensor<9x4xf32>, %n: tensor<9xi64>) -> (tensor<9x4xf32>, tensor<9xi64>) {
  %order = llir.argsort %keys : tensor<1x9xf32> -> tensor<1x9xi64>
  %places = llir.view %order <(d0) -> (0, d0)> : tensor<1x9xi64> -> tensor<9xi64>
  %0 = llir.scatter set %x, %places, %u : tensor<9x4xf32>, tensor<9xi64>, tensor<9x4xf32>
  %iota = llir.iota <(d0) -> (d0)> : tensor<9xi64>
  %1 = llir.scatter set %n, %places, %iota : tensor<9xi64>, tensor<9xi64>, tensor<9xi64>
  return %0, %1 : tensor<9x4xf32>, tensor<9xi64>
}

// Near misses: the first few of an order, an order of several rows, and one whose first places are read again.
// CHECK-LABEL: @no_permutation
// CHECK-COUNT-3: llir.scatter max
// CHECK-NOT: llir.scatter add
func.func @no_permutation(%keys: tensor<1x9xf32>, %rows: tensor<3x3xf32>, %u: tensor<9x4xf32>, %v: tensor<5x4xf32>, %x: tensor<9x4xf32>)
    -> (tensor<9x4xf32>, tensor<9x4xf32>, tensor<9x4xf32>) {
  %first = llir.argsort %keys : tensor<1x9xf32> -> tensor<1x5xi64>
  %few = llir.view %first <(d0) -> (0, d0)> : tensor<1x5xi64> -> tensor<5xi64>
  %0 = llir.scatter set %x, %few, %v : tensor<9x4xf32>, tensor<5xi64>, tensor<5x4xf32>
  %each = llir.argsort %rows : tensor<3x3xf32> -> tensor<3x3xi64>
  %flat = llir.view %each <(d0) -> (d0 floordiv 3, d0 mod 3)> : tensor<3x3xi64> -> tensor<9xi64>
  %1 = llir.scatter set %x, %flat, %u : tensor<9x4xf32>, tensor<9xi64>, tensor<9x4xf32>
  %order = llir.argsort %keys : tensor<1x9xf32> -> tensor<1x9xi64>
  %same = llir.view %order <(d0) -> (0, d0 mod 3)> : tensor<1x9xi64> -> tensor<9xi64>
  %2 = llir.scatter set %x, %same, %u : tensor<9x4xf32>, tensor<9xi64>, tensor<9x4xf32>
  return %0, %1, %2 : tensor<9x4xf32>, tensor<9x4xf32>, tensor<9x4xf32>
}
