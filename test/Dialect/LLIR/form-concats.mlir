// RUN: luminal-opt %s -llir-form-concats=fewest-parts=3 -split-input-file | FileCheck %s
// RUN: luminal-opt %s -llir-form-concats -split-input-file | FileCheck %s --check-prefix=SHORT
// RUN: luminal-opt %s -llir-form-concats=fewest-parts=3 -split-input-file -o /dev/null --remarks-filter='llir-form-concats' 2>&1 | FileCheck %s --check-prefix=REMARK

// Computed parts, of which one has another shape, and an argument; a chain of two.
// SHORT-LABEL: @rows
// SHORT-NOT: llir.concat
// CHECK-LABEL: @rows
// CHECK: %[[A:.*]] = llir.elementwise exp(%arg0)
// CHECK: %[[B:.*]] = llir.elementwise exp(%arg1)
// CHECK: %[[R:.*]] = llir.concat(%[[A]], %[[B]], %arg0) : (tensor<4xf32>, tensor<4x1xf32>, tensor<4xf32>) -> tensor<3x4xf32>
// CHECK-NOT: llir.concat
// CHECK: return %[[R]]
// REMARK: remark{{.*}}[Passed] concat{{.*}}rows{{.*}}parts=3
func.func @rows(%x: tensor<4xf32>, %y: tensor<4x1xf32>) -> (tensor<3x4xf32>, tensor<2x4xf32>) {
  %a = llir.elementwise exp(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %b = llir.elementwise exp(%y) : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %i = llir.iota <(d0, d1) -> (d0)> : tensor<3x4xi64>
  %k1 = llir.constant dense<1> : tensor<3x4xi64>
  %k2 = llir.constant dense<2> : tensor<3x4xi64>
  %l1 = llir.elementwise less_than(%i, %k1) : (tensor<3x4xi64>, tensor<3x4xi64>) -> tensor<3x4xi1>
  %l2 = llir.elementwise less_than(%i, %k2) : (tensor<3x4xi64>, tensor<3x4xi64>) -> tensor<3x4xi1>
  %va = llir.view %a <(d0, d1) -> (d1)> : tensor<4xf32> -> tensor<3x4xf32>
  %vb = llir.view %b <(d0, d1) -> (d1, 0)> : tensor<4x1xf32> -> tensor<3x4xf32>
  %vc = llir.view %x <(d0, d1) -> (d1)> : tensor<4xf32> -> tensor<3x4xf32>
  %s2 = llir.elementwise select(%l2, %vb, %vc) : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %s1 = llir.elementwise select(%l1, %va, %s2) : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %j = llir.iota <(d0, d1) -> (d0)> : tensor<2x4xi64>
  %m1 = llir.constant dense<1> : tensor<2x4xi64>
  %n1 = llir.elementwise less_than(%j, %m1) : (tensor<2x4xi64>, tensor<2x4xi64>) -> tensor<2x4xi1>
  %wa = llir.view %a <(d0, d1) -> (d1)> : tensor<4xf32> -> tensor<2x4xf32>
  %wb = llir.view %b <(d0, d1) -> (d1, 0)> : tensor<4x1xf32> -> tensor<2x4xf32>
  %t1 = llir.elementwise select(%n1, %wa, %wb) : (tensor<2x4xi1>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  return %s1, %t1 : tensor<3x4xf32>, tensor<2x4xf32>
}

// -----

// Arguments would be copied one by one.
// CHECK-LABEL: @arguments
// CHECK-NOT: llir.concat
// REMARK: remark{{.*}}[Missed] concat{{.*}}arguments{{.*}}parts=3, reason="most parts have to be copied"
func.func @arguments(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>) -> tensor<3x4xf32> {
  %i = llir.iota <(d0, d1) -> (d0)> : tensor<3x4xi64>
  %k1 = llir.constant dense<1> : tensor<3x4xi64>
  %k2 = llir.constant dense<2> : tensor<3x4xi64>
  %l1 = llir.elementwise less_than(%i, %k1) : (tensor<3x4xi64>, tensor<3x4xi64>) -> tensor<3x4xi1>
  %l2 = llir.elementwise less_than(%i, %k2) : (tensor<3x4xi64>, tensor<3x4xi64>) -> tensor<3x4xi1>
  %va = llir.view %a <(d0, d1) -> (d1)> : tensor<4xf32> -> tensor<3x4xf32>
  %vb = llir.view %b <(d0, d1) -> (d1)> : tensor<4xf32> -> tensor<3x4xf32>
  %vc = llir.view %c <(d0, d1) -> (d1)> : tensor<4xf32> -> tensor<3x4xf32>
  %s2 = llir.elementwise select(%l2, %vb, %vc) : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  %s1 = llir.elementwise select(%l1, %va, %s2) : (tensor<3x4xi1>, tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %s1 : tensor<3x4xf32>
}
