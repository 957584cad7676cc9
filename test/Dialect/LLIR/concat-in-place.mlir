// RUN: luminal-opt %s -llir-concat-in-place -split-input-file | FileCheck %s
// RUN: luminal-opt %s -llir-concat-in-place -split-input-file -o /dev/null --remarks-filter='llir-concat-in-place' 2>&1 | FileCheck %s --check-prefix=REMARK

// What trips compute is written where it is stacked; each trip reads it there.
// CHECK-LABEL: @stack
// CHECK: %[[A:.*]] = llir.kernel(%arg0)
// CHECK: %[[B:.*]] = llir.kernel(%[[A]])
// CHECK: %[[C:.*]] = llir.kernel(%[[B]])
// CHECK: %[[R:.*]] = llir.concat(%[[A]], %[[B]], %[[C]]) : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<3x8xf32>
// CHECK: return %[[R]]
// REMARK: remark{{.*}}stack{{.*}}copied=0, parts=3
func.func @stack(%x: tensor<8xf32>) -> tensor<3x8xf32> {
  %0 = llir.kernel(%x) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %e = llir.elementwise exp(%a) : (tensor<8xf32>) -> tensor<8xf32>
    llir.yield %e : tensor<8xf32>
  }
  %1 = llir.kernel(%0) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %e = llir.elementwise exp(%a) : (tensor<8xf32>) -> tensor<8xf32>
    llir.yield %e : tensor<8xf32>
  }
  %2 = llir.kernel(%1) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %e = llir.elementwise exp(%a) : (tensor<8xf32>) -> tensor<8xf32>
    llir.yield %e : tensor<8xf32>
  }
  %3 = llir.kernel(%0, %1, %2) : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<3x8xf32> {
  ^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>):
    %i = llir.iota <(d0, d1) -> (d0)> : tensor<3x8xi64>
    %k1 = llir.constant dense<1> : tensor<i64>
    %k1s = llir.view %k1 <(d0, d1) -> ()> : tensor<i64> -> tensor<3x8xi64>
    %k2 = llir.constant dense<2> : tensor<i64>
    %k2s = llir.view %k2 <(d0, d1) -> ()> : tensor<i64> -> tensor<3x8xi64>
    %l1 = llir.elementwise less_than(%i, %k1s) : (tensor<3x8xi64>, tensor<3x8xi64>) -> tensor<3x8xi1>
    %l2 = llir.elementwise less_than(%i, %k2s) : (tensor<3x8xi64>, tensor<3x8xi64>) -> tensor<3x8xi1>
    %va = llir.view %a <(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<3x8xf32>
    %vb = llir.view %b <(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<3x8xf32>
    %vc = llir.view %c <(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<3x8xf32>
    %s2 = llir.elementwise select(%l2, %vb, %vc) : (tensor<3x8xi1>, tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
    %s1 = llir.elementwise select(%l1, %va, %s2) : (tensor<3x8xi1>, tensor<3x8xf32>, tensor<3x8xf32>) -> tensor<3x8xf32>
    llir.yield %s1 : tensor<3x8xf32>
  }
  return %3 : tensor<3x8xf32>
}

// -----

// A result of the function and an argument are copied; clamped indices are those of the part.
// CHECK-LABEL: @copied
// CHECK: %[[A:.*]] = llir.kernel(%arg0)
// CHECK: %[[B:.*]] = llir.kernel(%arg1)
// CHECK: %[[C:.*]] = llir.kernel(%arg0) : (tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK: llir.concat(%[[A]], %[[C]], %[[B]]) : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<7x4xf32>
// REMARK: remark{{.*}}Function=copied | copied=1, parts=3
func.func @copied(%x: tensor<2x4xf32>, %y: tensor<3x4xf32>) -> tensor<7x4xf32> {
  %0 = llir.kernel(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32> {
  ^bb0(%a: tensor<2x4xf32>):
    %e = llir.elementwise exp(%a) : (tensor<2x4xf32>) -> tensor<2x4xf32>
    llir.yield %e : tensor<2x4xf32>
  }
  %1 = llir.kernel(%y) : (tensor<3x4xf32>) -> tensor<3x4xf32> {
  ^bb0(%a: tensor<3x4xf32>):
    %e = llir.elementwise exp(%a) : (tensor<3x4xf32>) -> tensor<3x4xf32>
    llir.yield %e : tensor<3x4xf32>
  }
  %2 = llir.kernel(%0, %x, %1) : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<7x4xf32> {
  ^bb0(%a: tensor<2x4xf32>, %b: tensor<2x4xf32>, %c: tensor<3x4xf32>):
    %i = llir.iota <(d0, d1) -> (d0)> : tensor<7x4xi64>
    %k1 = llir.constant dense<2> : tensor<i64>
    %k1s = llir.view %k1 <(d0, d1) -> ()> : tensor<i64> -> tensor<7x4xi64>
    %k2 = llir.constant dense<4> : tensor<i64>
    %k2s = llir.view %k2 <(d0, d1) -> ()> : tensor<i64> -> tensor<7x4xi64>
    %l1 = llir.elementwise less_than(%i, %k1s) : (tensor<7x4xi64>, tensor<7x4xi64>) -> tensor<7x4xi1>
    %l2 = llir.elementwise less_than(%i, %k2s) : (tensor<7x4xi64>, tensor<7x4xi64>) -> tensor<7x4xi1>
    %va = llir.view %a <(d0, d1) -> (min(d0, 1), d1)> : tensor<2x4xf32> -> tensor<7x4xf32>
    %vb = llir.view %b <(d0, d1) -> (max(min(d0 - 2, 1), 0), d1)> : tensor<2x4xf32> -> tensor<7x4xf32>
    %vc = llir.view %c <(d0, d1) -> (max(d0 - 4, 0), d1)> : tensor<3x4xf32> -> tensor<7x4xf32>
    %s2 = llir.elementwise select(%l2, %vb, %vc) : (tensor<7x4xi1>, tensor<7x4xf32>, tensor<7x4xf32>) -> tensor<7x4xf32>
    %s1 = llir.elementwise select(%l1, %va, %s2) : (tensor<7x4xi1>, tensor<7x4xf32>, tensor<7x4xf32>) -> tensor<7x4xf32>
    llir.yield %s1 : tensor<7x4xf32>
  }
  return %2 : tensor<7x4xf32>
}

// -----

// Rows of 12 bytes begin where a kernel may not write.
// CHECK-LABEL: @unaligned
// CHECK-NOT: llir.concat
// REMARK: remark{{.*}}unaligned{{.*}}reason="a part is not known to begin at a multiple of the alignment of buffers"
func.func @unaligned(%x: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = llir.kernel(%x) : (tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%a: tensor<3xf32>):
    %e = llir.elementwise exp(%a) : (tensor<3xf32>) -> tensor<3xf32>
    llir.yield %e : tensor<3xf32>
  }
  %1 = llir.kernel(%0) : (tensor<3xf32>) -> tensor<3xf32> {
  ^bb0(%a: tensor<3xf32>):
    %e = llir.elementwise exp(%a) : (tensor<3xf32>) -> tensor<3xf32>
    llir.yield %e : tensor<3xf32>
  }
  %2 = llir.kernel(%0, %1) : (tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32> {
  ^bb0(%a: tensor<3xf32>, %b: tensor<3xf32>):
    %i = llir.iota <(d0, d1) -> (d0)> : tensor<2x3xi64>
    %k = llir.constant dense<1> : tensor<i64>
    %ks = llir.view %k <(d0, d1) -> ()> : tensor<i64> -> tensor<2x3xi64>
    %l = llir.elementwise less_than(%i, %ks) : (tensor<2x3xi64>, tensor<2x3xi64>) -> tensor<2x3xi1>
    %va = llir.view %a <(d0, d1) -> (d1)> : tensor<3xf32> -> tensor<2x3xf32>
    %vb = llir.view %b <(d0, d1) -> (d1)> : tensor<3xf32> -> tensor<2x3xf32>
    %s = llir.elementwise select(%l, %va, %vb) : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    llir.yield %s : tensor<2x3xf32>
  }
  return %2 : tensor<2x3xf32>
}

// -----

// Selected along the second dim, whose parts are not one behind the other.
// CHECK-LABEL: @columns
// CHECK-NOT: llir.concat
func.func @columns(%x: tensor<8xf32>) -> tensor<8x2xf32> {
  %0 = llir.kernel(%x) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %e = llir.elementwise exp(%a) : (tensor<8xf32>) -> tensor<8xf32>
    llir.yield %e : tensor<8xf32>
  }
  %1 = llir.kernel(%0) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %e = llir.elementwise exp(%a) : (tensor<8xf32>) -> tensor<8xf32>
    llir.yield %e : tensor<8xf32>
  }
  %2 = llir.kernel(%0, %1) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8x2xf32> {
  ^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>):
    %i = llir.iota <(d0, d1) -> (d1)> : tensor<8x2xi64>
    %k = llir.constant dense<1> : tensor<i64>
    %ks = llir.view %k <(d0, d1) -> ()> : tensor<i64> -> tensor<8x2xi64>
    %l = llir.elementwise less_than(%i, %ks) : (tensor<8x2xi64>, tensor<8x2xi64>) -> tensor<8x2xi1>
    %va = llir.view %a <(d0, d1) -> (d0)> : tensor<8xf32> -> tensor<8x2xf32>
    %vb = llir.view %b <(d0, d1) -> (d0)> : tensor<8xf32> -> tensor<8x2xf32>
    %s = llir.elementwise select(%l, %va, %vb) : (tensor<8x2xi1>, tensor<8x2xf32>, tensor<8x2xf32>) -> tensor<8x2xf32>
    llir.yield %s : tensor<8x2xf32>
  }
  return %2 : tensor<8x2xf32>
}

// -----

// What is joined is updated in place: its parts keep their memory.
// CHECK-LABEL: @updated
// CHECK-NOT: llir.concat
// REMARK: remark{{.*}}Function=updated | parts=2, reason="an update writes its memory"
func.func @updated(%x: tensor<4xf32>, %at: tensor<1xi64>) -> (tensor<2x4xf32>, tensor<4xf32>) {
  %0 = llir.kernel(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %e = llir.elementwise exp(%a) : (tensor<4xf32>) -> tensor<4xf32>
    llir.yield %e : tensor<4xf32>
  }
  %1 = llir.kernel(%0) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %e = llir.elementwise exp(%a) : (tensor<4xf32>) -> tensor<4xf32>
    llir.yield %e : tensor<4xf32>
  }
  %2 = llir.kernel(%0, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %i = llir.iota <(d0, d1) -> (d0)> : tensor<2x4xi64>
    %k = llir.constant dense<1> : tensor<i64>
    %ks = llir.view %k <(d0, d1) -> ()> : tensor<i64> -> tensor<2x4xi64>
    %l = llir.elementwise less_than(%i, %ks) : (tensor<2x4xi64>, tensor<2x4xi64>) -> tensor<2x4xi1>
    %va = llir.view %a <(d0, d1) -> (d1)> : tensor<4xf32> -> tensor<2x4xf32>
    %vb = llir.view %b <(d0, d1) -> (d1)> : tensor<4xf32> -> tensor<2x4xf32>
    %s = llir.elementwise select(%l, %va, %vb) : (tensor<2x4xi1>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
    llir.yield %s : tensor<2x4xf32>
  }
  %3 = llir.kernel(%2, %at) {in_place} : (tensor<2x4xf32>, tensor<1xi64>) -> tensor<2x4xf32> {
  ^bb0(%p: tensor<2x4xf32>, %q: tensor<1xi64>):
    %one = llir.constant dense<1.0> : tensor<1x4xf32>
    %r = llir.scatter add %p, %q, %one {checked} : tensor<2x4xf32>, tensor<1xi64>, tensor<1x4xf32>
    llir.yield %r : tensor<2x4xf32>
  }
  %4 = llir.kernel(%0) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %e = llir.elementwise neg(%a) : (tensor<4xf32>) -> tensor<4xf32>
    llir.yield %e : tensor<4xf32>
  }
  return %3, %4 : tensor<2x4xf32>, tensor<4xf32>
}
