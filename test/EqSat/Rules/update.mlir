// Updates of whole rows (Update.pdll): programs in which the rules find them, and
// beside them near misses.

// RUN: luminal-opt %s --luminal-pipeline="target=cpu until=saturated" | FileCheck %s

// The same on a GPU.
// RUN: luminal-opt %s --luminal-pipeline="target=cuda arch=sm_80 until=saturated" | FileCheck %s

// UpdateRows: the place of each element is 64 times its index and its column.
// CHECK-LABEL: func.func @rows(
// CHECK: %[[X:.*]] = llir.view %arg0 <(d0, d1) -> (64 * d0 + d1)> : tensor<12800xf32> -> tensor<200x64xf32>
// CHECK: llir.scatter add %[[X]], %arg1, %arg2 {checked} : tensor<200x64xf32>, tensor<3000xi64>, tensor<3000x64xf32>
func.func @rows(%x: tensor<12800xf32>, %i: tensor<3000xi64>, %v: tensor<3000x64xf32>) -> tensor<12800xf32> {
  %w = hlir.view %i <(d0, d1) -> (d0)> : tensor<3000xi64> -> tensor<3000x64xi64>
  %f = hlir.iota <(d0, d1) -> (64)> : tensor<3000x64xi64>
  %m = hlir.mul %w, %f : tensor<3000x64xi64>
  %c = hlir.iota <(d0, d1) -> (d1)> : tensor<3000x64xi64>
  %p = hlir.add %m, %c : tensor<3000x64xi64>
  %pf = hlir.view %p <(d0) -> (d0 floordiv 64, d0 mod 64)> : tensor<3000x64xi64> -> tensor<192000xi64>
  %vf = hlir.view %v <(d0) -> (d0 floordiv 64, d0 mod 64)> : tensor<3000x64xf32> -> tensor<192000xf32>
  %r = hlir.scatter add %x, %pf, %vf : tensor<12800xf32>, tensor<192000xi64>, tensor<192000xf32>
  return %r : tensor<12800xf32>
}

// What is computed of an index is computed once for each row: here an index that may
// count from the end.
// CHECK-LABEL: func.func @wrapped(
// CHECK: %[[W:.*]] = llir.elementwise select({{.*}}) : (tensor<3000xi1>, tensor<3000xi64>, tensor<3000xi64>) -> tensor<3000xi64>
// CHECK: llir.scatter max %{{.*}}, %[[W]], %arg2 {checked} : tensor<200x64xf32>, tensor<3000xi64>, tensor<3000x64xf32>
func.func @wrapped(%x: tensor<12800xf32>, %i: tensor<3000xi64>, %v: tensor<3000x64xf32>) -> tensor<12800xf32> {
  %zero = hlir.constant dense<0> : tensor<i64>
  %z = hlir.view %zero <(d0, d1) -> ()> : tensor<i64> -> tensor<3000x64xi64>
  %all = hlir.iota <(d0, d1) -> (200)> : tensor<3000x64xi64>
  %u = hlir.view %i <(d0, d1) -> (d0)> : tensor<3000xi64> -> tensor<3000x64xi64>
  %isEnd = hlir.less_than %u, %z : tensor<3000x64xi64> -> tensor<3000x64xi1>
  %end = hlir.add %u, %all : tensor<3000x64xi64>
  %w = hlir.select %isEnd, %end, %u : tensor<3000x64xi1>, tensor<3000x64xi64>
  %f = hlir.iota <(d0, d1) -> (64)> : tensor<3000x64xi64>
  %m = hlir.mul %w, %f : tensor<3000x64xi64>
  %c = hlir.iota <(d0, d1) -> (d1)> : tensor<3000x64xi64>
  %p = hlir.add %m, %c : tensor<3000x64xi64>
  %pf = hlir.view %p <(d0) -> (d0 floordiv 64, d0 mod 64)> : tensor<3000x64xi64> -> tensor<192000xi64>
  %vf = hlir.view %v <(d0) -> (d0 floordiv 64, d0 mod 64)> : tensor<3000x64xf32> -> tensor<192000xf32>
  %r = hlir.scatter max %x, %pf, %vf : tensor<12800xf32>, tensor<192000xi64>, tensor<192000xf32>
  return %r : tensor<12800xf32>
}

// Two indices, of which a place has the column in front, and rows of rows.
// CHECK-LABEL: func.func @places(
// CHECK: %[[S:.*]] = llir.elementwise add({{.*}}) : (tensor<3000xi64>, tensor<3000xi64>) -> tensor<3000xi64>
// CHECK: llir.scatter set %{{.*}}, %[[S]], %arg3 {checked} : tensor<200x64xf32>, tensor<3000xi64>, tensor<3000x64xf32>
func.func @places(%x: tensor<12800xf32>, %i: tensor<3000xi64>, %j: tensor<3000xi64>, %v: tensor<3000x64xf32>) -> tensor<12800xf32> {
  %w = hlir.view %i <(d0, d1) -> (d0)> : tensor<3000xi64> -> tensor<3000x64xi64>
  %f = hlir.iota <(d0, d1) -> (64)> : tensor<3000x64xi64>
  %m = hlir.mul %w, %f : tensor<3000x64xi64>
  %c = hlir.iota <(d0, d1) -> (d1)> : tensor<3000x64xi64>
  %k = hlir.view %j <(d0, d1) -> (d0)> : tensor<3000xi64> -> tensor<3000x64xi64>
  %g = hlir.iota <(d0, d1) -> (1280)> : tensor<3000x64xi64>
  %n = hlir.mul %g, %k : tensor<3000x64xi64>
  %q = hlir.add %c, %n : tensor<3000x64xi64>
  %p = hlir.add %q, %m : tensor<3000x64xi64>
  %pf = hlir.view %p <(d0) -> (d0 floordiv 64, d0 mod 64)> : tensor<3000x64xi64> -> tensor<192000xi64>
  %vf = hlir.view %v <(d0) -> (d0 floordiv 64, d0 mod 64)> : tensor<3000x64xf32> -> tensor<192000xf32>
  %r = hlir.scatter set %x, %pf, %vf : tensor<12800xf32>, tensor<192000xi64>, tensor<192000xf32>
  return %r : tensor<12800xf32>
}

// Extents known at a call.
// CHECK-LABEL: func.func @symbolic(
// CHECK: llir.scatter add %{{.*}}, %arg1, %arg2 {checked} : tensor<200x?xf32, #hlir.dims<n>>, tensor<?xi64, #hlir.dims<m>>, tensor<?x?xf32, #hlir.dims<m, n>>
func.func @symbolic(%x: tensor<?xf32, #hlir.dims<200 * n>>, %i: tensor<?xi64, #hlir.dims<m>>, %v: tensor<?x?xf32, #hlir.dims<m, n>>) -> tensor<?xf32, #hlir.dims<200 * n>> attributes {hlir.symbols = #hlir.symbols<m in [0, ], n in [2, 100]>} {
  %w = hlir.view %i <(d0, d1) -> (d0)> : tensor<?xi64, #hlir.dims<m>> -> tensor<?x?xi64, #hlir.dims<m, n>>
  %f = hlir.iota <(d0, d1) -> (n)> : tensor<?x?xi64, #hlir.dims<m, n>>
  %m = hlir.mul %w, %f : tensor<?x?xi64, #hlir.dims<m, n>>
  %c = hlir.iota <(d0, d1) -> (d1)> : tensor<?x?xi64, #hlir.dims<m, n>>
  %p = hlir.add %m, %c : tensor<?x?xi64, #hlir.dims<m, n>>
  %pf = hlir.view %p <(d0) -> (d0 floordiv n, d0 mod n)> : tensor<?x?xi64, #hlir.dims<m, n>> -> tensor<?xi64, #hlir.dims<m * n>>
  %vf = hlir.view %v <(d0) -> (d0 floordiv n, d0 mod n)> : tensor<?x?xf32, #hlir.dims<m, n>> -> tensor<?xf32, #hlir.dims<m * n>>
  %r = hlir.scatter add %x, %pf, %vf : tensor<?xf32, #hlir.dims<200 * n>>, tensor<?xi64, #hlir.dims<m * n>>, tensor<?xf32, #hlir.dims<m * n>>
  return %r : tensor<?xf32, #hlir.dims<200 * n>>
}

// Rows that overlap by half of them are rows of half the width.
// CHECK-LABEL: func.func @halves(
// CHECK: llir.scatter add %{{.*}}, %{{.*}}, %{{.*}} {checked} : tensor<400x32xf32>, tensor<6000xi64>, tensor<6000x32xf32>
func.func @halves(%x: tensor<12800xf32>, %i: tensor<3000xi64>, %v: tensor<3000x64xf32>) -> tensor<12800xf32> {
  %w = hlir.view %i <(d0, d1) -> (d0)> : tensor<3000xi64> -> tensor<3000x64xi64>
  %f = hlir.iota <(d0, d1) -> (32)> : tensor<3000x64xi64>
  %m = hlir.mul %w, %f : tensor<3000x64xi64>
  %c = hlir.iota <(d0, d1) -> (d1)> : tensor<3000x64xi64>
  %p = hlir.add %m, %c : tensor<3000x64xi64>
  %pf = hlir.view %p <(d0) -> (d0 floordiv 64, d0 mod 64)> : tensor<3000x64xi64> -> tensor<192000xi64>
  %vf = hlir.view %v <(d0) -> (d0 floordiv 64, d0 mod 64)> : tensor<3000x64xf32> -> tensor<192000xf32>
  %r = hlir.scatter add %x, %pf, %vf : tensor<12800xf32>, tensor<192000xi64>, tensor<192000xf32>
  return %r : tensor<12800xf32>
}

// UpdateColumn: the numbers of updates of a row are one for all of its columns.
// CHECK-LABEL: func.func @counts(
// CHECK: llir.scatter add %{{.*}}, %arg0, %{{.*}} {checked} : tensor<200xi64>, tensor<3000xi64>, tensor<3000xi64>
func.func @counts(%i: tensor<3000xi64>) -> tensor<12800xi64> {
  %zero = hlir.constant dense<0> : tensor<i64>
  %one = hlir.constant dense<1> : tensor<i64>
  %x = hlir.view %zero <(d0) -> ()> : tensor<i64> -> tensor<12800xi64>
  %v = hlir.view %one <(d0, d1) -> ()> : tensor<i64> -> tensor<3000x64xi64>
  %w = hlir.view %i <(d0, d1) -> (d0)> : tensor<3000xi64> -> tensor<3000x64xi64>
  %f = hlir.iota <(d0, d1) -> (64)> : tensor<3000x64xi64>
  %m = hlir.mul %w, %f : tensor<3000x64xi64>
  %c = hlir.iota <(d0, d1) -> (d1)> : tensor<3000x64xi64>
  %p = hlir.add %m, %c : tensor<3000x64xi64>
  %pf = hlir.view %p <(d0) -> (d0 floordiv 64, d0 mod 64)> : tensor<3000x64xi64> -> tensor<192000xi64>
  %vf = hlir.view %v <(d0) -> (d0 floordiv 64, d0 mod 64)> : tensor<3000x64xi64> -> tensor<192000xi64>
  %r = hlir.scatter add %x, %pf, %vf : tensor<12800xi64>, tensor<192000xi64>, tensor<192000xi64>
  return %r : tensor<12800xi64>
}

// Columns of the destination differ.
// CHECK-LABEL: func.func @from_before(
// CHECK: llir.scatter add %arg0, %arg1, %{{.*}} {checked} : tensor<200x64xi64>, tensor<3000xi64>, tensor<3000x64xi64>
func.func @from_before(%x: tensor<200x64xi64>, %i: tensor<3000xi64>) -> tensor<200x64xi64> {
  %one = hlir.constant dense<1> : tensor<i64>
  %v = hlir.view %one <(d0, d1) -> ()> : tensor<i64> -> tensor<3000x64xi64>
  %r = hlir.scatter add %x, %i, %v : tensor<200x64xi64>, tensor<3000xi64>, tensor<3000x64xi64>
  return %r : tensor<200x64xi64>
}

// Near misses: rows that begin at an odd place,
// CHECK-LABEL: func.func @shifted(
// CHECK: llir.scatter add %arg0, %{{.*}}, %{{.*}} {checked} : tensor<12800xf32>, tensor<192000xi64>, tensor<192000xf32>
func.func @shifted(%x: tensor<12800xf32>, %i: tensor<3000xi64>, %v: tensor<3000x64xf32>) -> tensor<12800xf32> {
  %w = hlir.view %i <(d0, d1) -> (d0)> : tensor<3000xi64> -> tensor<3000x64xi64>
  %f = hlir.iota <(d0, d1) -> (64)> : tensor<3000x64xi64>
  %m = hlir.mul %w, %f : tensor<3000x64xi64>
  %c = hlir.iota <(d0, d1) -> (d1 + 1)> : tensor<3000x64xi64>
  %p = hlir.add %m, %c : tensor<3000x64xi64>
  %pf = hlir.view %p <(d0) -> (d0 floordiv 64, d0 mod 64)> : tensor<3000x64xi64> -> tensor<192000xi64>
  %vf = hlir.view %v <(d0) -> (d0 floordiv 64, d0 mod 64)> : tensor<3000x64xf32> -> tensor<192000xf32>
  %r = hlir.scatter add %x, %pf, %vf : tensor<12800xf32>, tensor<192000xi64>, tensor<192000xf32>
  return %r : tensor<12800xf32>
}

// that are written from their end,
// CHECK-LABEL: func.func @backwards(
// CHECK: llir.scatter add %arg0, %{{.*}}, %{{.*}} {checked} : tensor<12800xf32>, tensor<192000xi64>, tensor<192000xf32>
func.func @backwards(%x: tensor<12800xf32>, %i: tensor<3000xi64>, %v: tensor<3000x64xf32>) -> tensor<12800xf32> {
  %w = hlir.view %i <(d0, d1) -> (d0)> : tensor<3000xi64> -> tensor<3000x64xi64>
  %f = hlir.iota <(d0, d1) -> (64)> : tensor<3000x64xi64>
  %m = hlir.mul %w, %f : tensor<3000x64xi64>
  %c = hlir.iota <(d0, d1) -> (63 - d1)> : tensor<3000x64xi64>
  %p = hlir.add %m, %c : tensor<3000x64xi64>
  %pf = hlir.view %p <(d0) -> (d0 floordiv 64, d0 mod 64)> : tensor<3000x64xi64> -> tensor<192000xi64>
  %vf = hlir.view %v <(d0) -> (d0 floordiv 64, d0 mod 64)> : tensor<3000x64xf32> -> tensor<192000xf32>
  %r = hlir.scatter add %x, %pf, %vf : tensor<12800xf32>, tensor<192000xi64>, tensor<192000xf32>
  return %r : tensor<12800xf32>
}

// that overlap,
// CHECK-LABEL: func.func @overlapping(
// CHECK: llir.scatter add %arg0, %{{.*}}, %{{.*}} {checked} : tensor<12800xf32>, tensor<192000xi64>, tensor<192000xf32>
func.func @overlapping(%x: tensor<12800xf32>, %i: tensor<3000xi64>, %v: tensor<3000x64xf32>) -> tensor<12800xf32> {
  %w = hlir.view %i <(d0, d1) -> (d0)> : tensor<3000xi64> -> tensor<3000x64xi64>
  %f = hlir.iota <(d0, d1) -> (33)> : tensor<3000x64xi64>
  %m = hlir.mul %w, %f : tensor<3000x64xi64>
  %c = hlir.iota <(d0, d1) -> (d1)> : tensor<3000x64xi64>
  %p = hlir.add %m, %c : tensor<3000x64xi64>
  %pf = hlir.view %p <(d0) -> (d0 floordiv 64, d0 mod 64)> : tensor<3000x64xi64> -> tensor<192000xi64>
  %vf = hlir.view %v <(d0) -> (d0 floordiv 64, d0 mod 64)> : tensor<3000x64xf32> -> tensor<192000xf32>
  %r = hlir.scatter add %x, %pf, %vf : tensor<12800xf32>, tensor<192000xi64>, tensor<192000xf32>
  return %r : tensor<12800xf32>
}

// elements that each have an index,
// CHECK-LABEL: func.func @own(
// CHECK: llir.scatter add %arg0, %{{.*}}, %{{.*}} {checked} : tensor<12800xf32>, tensor<192000xi64>, tensor<192000xf32>
func.func @own(%x: tensor<12800xf32>, %i: tensor<3000x64xi64>, %v: tensor<3000x64xf32>) -> tensor<12800xf32> {
  %w = hlir.view %i <(d0, d1) -> (d0, d1)> : tensor<3000x64xi64> -> tensor<3000x64xi64>
  %f = hlir.iota <(d0, d1) -> (64)> : tensor<3000x64xi64>
  %m = hlir.mul %w, %f : tensor<3000x64xi64>
  %c = hlir.iota <(d0, d1) -> (d1)> : tensor<3000x64xi64>
  %p = hlir.add %m, %c : tensor<3000x64xi64>
  %pf = hlir.view %p <(d0) -> (d0 floordiv 64, d0 mod 64)> : tensor<3000x64xi64> -> tensor<192000xi64>
  %vf = hlir.view %v <(d0) -> (d0 floordiv 64, d0 mod 64)> : tensor<3000x64xf32> -> tensor<192000xf32>
  %r = hlir.scatter add %x, %pf, %vf : tensor<12800xf32>, tensor<192000xi64>, tensor<192000xf32>
  return %r : tensor<12800xf32>
}

// and a destination that is not whole rows.
// CHECK-LABEL: func.func @left_over(
// CHECK: llir.scatter add %arg0, %{{.*}}, %{{.*}} {checked} : tensor<12801xf32>, tensor<192000xi64>, tensor<192000xf32>
func.func @left_over(%x: tensor<12801xf32>, %i: tensor<3000xi64>, %v: tensor<3000x64xf32>) -> tensor<12801xf32> {
  %w = hlir.view %i <(d0, d1) -> (d0)> : tensor<3000xi64> -> tensor<3000x64xi64>
  %f = hlir.iota <(d0, d1) -> (64)> : tensor<3000x64xi64>
  %m = hlir.mul %w, %f : tensor<3000x64xi64>
  %c = hlir.iota <(d0, d1) -> (d1)> : tensor<3000x64xi64>
  %p = hlir.add %m, %c : tensor<3000x64xi64>
  %pf = hlir.view %p <(d0) -> (d0 floordiv 64, d0 mod 64)> : tensor<3000x64xi64> -> tensor<192000xi64>
  %vf = hlir.view %v <(d0) -> (d0 floordiv 64, d0 mod 64)> : tensor<3000x64xf32> -> tensor<192000xf32>
  %r = hlir.scatter add %x, %pf, %vf : tensor<12801xf32>, tensor<192000xi64>, tensor<192000xf32>
  return %r : tensor<12801xf32>
}
