// RUN: luminal-opt %s -llir-alias-slices -split-input-file | FileCheck %s
// RUN: luminal-opt %s -llir-alias-slices -split-input-file -o /dev/null --remarks-filter='llir-alias-slices' 2>&1 | FileCheck %s --check-prefix=REMARK

// Rows 1 and 2, read by a view and by a product: the kernels are equal then, and share what they read.
// CHECK-LABEL: @rows
// CHECK: %[[A:.*]] = llir.alias %arg0 offset(16) : tensor<4x4x4xf32> -> tensor<1x4x4xf32>
// CHECK: llir.kernel(%[[A]], %arg1)
// CHECK: llir.gemm %{{.*}}, %{{.*}} k(4) <(d0, d1, d2) -> (0, d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<1x4x4xf32>, tensor<4x4xf32>
// CHECK: %[[B:.*]] = llir.alias %arg0 offset(32) : tensor<4x4x4xf32> -> tensor<1x4x4xf32>
// CHECK: llir.kernel(%[[B]], %arg1)
// CHECK: llir.gemm %{{.*}}, %{{.*}} k(4) <(d0, d1, d2) -> (0, d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<1x4x4xf32>, tensor<4x4xf32>
// CHECK: llir.kernel(%[[A]])
// CHECK: llir.view %{{.*}} <(d0, d1) -> (0, d1, d0)> : tensor<1x4x4xf32> -> tensor<4x4xf32>
// REMARK: remark{{.*}}rows{{.*}}first row=1, of=4
func.func @rows(%x: tensor<4x4x4xf32>, %w: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = llir.kernel(%x, %w) : (tensor<4x4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%a: tensor<4x4x4xf32>, %b: tensor<4x4xf32>):
    %g = llir.gemm %a, %b k(4) <(d0, d1, d2) -> (1, d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<4x4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    llir.yield %g : tensor<4x4xf32>
  }
  %1 = llir.kernel(%x, %w) : (tensor<4x4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%a: tensor<4x4x4xf32>, %b: tensor<4x4xf32>):
    %g = llir.gemm %a, %b k(4) <(d0, d1, d2) -> (2, d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<4x4x4xf32>, tensor<4x4xf32> -> tensor<4x4xf32>
    llir.yield %g : tensor<4x4xf32>
  }
  %2 = llir.kernel(%x) : (tensor<4x4x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%a: tensor<4x4x4xf32>):
    %v = llir.view %a <(d0, d1) -> (1, d1, d0)> : tensor<4x4x4xf32> -> tensor<4x4xf32>
    %e = llir.elementwise exp(%v) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    llir.yield %e : tensor<4x4xf32>
  }
  return %0, %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A range, behind dims of one: all that any read needs.
// CHECK-LABEL: @range
// CHECK: %[[A:.*]] = llir.alias %arg0 offset(8) : tensor<1x8x4xf32> -> tensor<1x4x4xf32>
// CHECK: llir.kernel(%[[A]])
// CHECK: llir.view %{{.*}} <(d0, d1) -> (0, d0, d1)> : tensor<1x4x4xf32> -> tensor<3x4xf32>
// CHECK: llir.view %{{.*}} <(d0, d1) -> (0, d0 + 1, d1)> : tensor<1x4x4xf32> -> tensor<3x4xf32>
func.func @range(%x: tensor<1x8x4xf32>) -> tensor<3x4xf32> {
  %0 = llir.kernel(%x) : (tensor<1x8x4xf32>) -> tensor<3x4xf32> {
  ^bb0(%a: tensor<1x8x4xf32>):
    %v = llir.view %a <(d0, d1) -> (0, d0 + 2, d1)> : tensor<1x8x4xf32> -> tensor<3x4xf32>
    %w = llir.view %a <(d0, d1) -> (0, d0 + 3, d1)> : tensor<1x8x4xf32> -> tensor<3x4xf32>
    %s = llir.elementwise add(%v, %w) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
    llir.yield %s : tensor<3x4xf32>
  }
  return %0 : tensor<3x4xf32>
}

// -----

// All of it, columns, and rows that begin at 12 bytes.
// CHECK-LABEL: @no
// CHECK-NOT: llir.alias
// REMARK: remark{{.*}}no{{.*}}reason="it is not known to begin at a multiple of the alignment of buffers"
func.func @no(%x: tensor<4x8xf32>, %y: tensor<2x3xf32>) -> (tensor<4x8xf32>, tensor<4x4xf32>, tensor<3xf32>) {
  %0 = llir.kernel(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%a: tensor<4x8xf32>):
    %v = llir.view %a <(d0, d1) -> (3 - d0, d1)> : tensor<4x8xf32> -> tensor<4x8xf32>
    llir.yield %v : tensor<4x8xf32>
  }
  %1 = llir.kernel(%x) : (tensor<4x8xf32>) -> tensor<4x4xf32> {
  ^bb0(%a: tensor<4x8xf32>):
    %v = llir.view %a <(d0, d1) -> (d0, d1 + 4)> : tensor<4x8xf32> -> tensor<4x4xf32>
    llir.yield %v : tensor<4x4xf32>
  }
  %2 = llir.kernel(%y) : (tensor<2x3xf32>) -> tensor<3xf32> {
  ^bb0(%a: tensor<2x3xf32>):
    %v = llir.view %a <(d0) -> (1, d0)> : tensor<2x3xf32> -> tensor<3xf32>
    llir.yield %v : tensor<3xf32>
  }
  return %0, %1, %2 : tensor<4x8xf32>, tensor<4x4xf32>, tensor<3xf32>
}
