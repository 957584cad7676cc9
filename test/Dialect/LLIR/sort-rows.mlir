// Rows are put in the order of the matrices that they look up, where enough share one.
// RUN: luminal-opt %s --llir-sort-rows="read-rate=10 operation-rate=10 kernel-time=1000" | FileCheck %s
// RUN: luminal-opt %s --llir-sort-rows="read-rate=10 operation-rate=10 kernel-time=1000" --remarks-filter=llir-sort-rows -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Two products by one list, with what is between them in the same order: one sort, and one gather back.
// CHECK-LABEL: @two_products
// CHECK: %[[P:.*]] = llir.argsort %arg3
// CHECK: %[[Q:.*]] = llir.scatter set %{{.*}}, %[[P]], %
// CHECK: %[[X:.*]] = llir.gather %{{.*}}, %[[P]] : tensor<80x64xf32>
// CHECK: %[[I:.*]] = llir.gather %arg3, %[[P]] : tensor<80xi64>
// CHECK: %[[W:.*]] = llir.gather %arg1, %[[I]] {checked}
// CHECK: %[[U:.*]] = llir.gemm %[[X]], %[[W]]
// CHECK: %[[V:.*]] = llir.gather %arg2, %[[I]] {checked}
// CHECK: %[[A:.*]] = llir.elementwise silu(%[[U]])
// CHECK: %[[D:.*]] = llir.gemm %[[V]], %[[A]]
// CHECK: %[[Y:.*]] = llir.gather %[[D]], %[[Q]] : tensor<80x64xf32>
// CHECK-NEXT: return %[[Y]]
// REMARK: remark: [Passed] rows {{.*}} Function=two_products | cost ns={{[0-9]+}}, gain ns={{[0-9]+}}, products=2
func.func @two_products(%x: tensor<40x64xf32>, %w: tensor<8x48x64xf32>, %v: tensor<8x64x48xf32>, %i: tensor<80xi64>) -> tensor<80x64xf32> {
  %0 = llir.gather %w, %i {checked} : tensor<8x48x64xf32>, tensor<80xi64> -> tensor<80x48x64xf32>
  %1 = llir.gather %v, %i {checked} : tensor<8x64x48xf32>, tensor<80xi64> -> tensor<80x64x48xf32>
  %2 = llir.gemm %x, %0 k(64) <(d0, d1, d2) -> (d0 floordiv 2, d2)>, <(d0, d1, d2) -> (d0, d1, d2)>
      : tensor<40x64xf32>, tensor<80x48x64xf32> -> tensor<80x48xf32>
  %3 = llir.elementwise silu(%2) : (tensor<80x48xf32>) -> tensor<80x48xf32>
  %4 = llir.gemm %1, %3 k(48) <(d0, d1, d2) -> (d0, d1, d2)>, <(d0, d1, d2) -> (d0, d2)>
      : tensor<80x64x48xf32>, tensor<80x48xf32> -> tensor<80x64xf32>
  return %4 : tensor<80x64xf32>
}

// A token's experts at once; what the experts add, and another value of the same rows.
// CHECK-LABEL: @pairs
// CHECK: llir.argsort %{{.*}} : tensor<80xi64>
// CHECK: %[[W:.*]] = llir.gather %arg1, %{{.*}} : tensor<8x48x64xbf16>, tensor<80xi64>
// CHECK: %[[U:.*]] = llir.gemm %{{.*}}, %[[W]] k(64) {{.*}} -> tensor<80x48xbf16>
// CHECK: %[[B:.*]] = llir.gather %arg3, %{{.*}} : tensor<8x48xbf16>, tensor<80xi64> -> tensor<80x48xbf16>
// CHECK: %[[S:.*]] = llir.elementwise add(%[[U]], %[[B]])
// CHECK: %[[G:.*]] = llir.gather %{{.*}}, %{{.*}} : tensor<80x48xbf16>, tensor<80xi64>
// CHECK: llir.elementwise mul(%[[S]], %[[G]])
// CHECK: llir.gemm {{.*}} -> tensor<80x64xbf16>
// CHECK: llir.view {{.*}} -> tensor<40x2x64xbf16>
// REMARK: remark: [Passed] rows {{.*}} Function=pairs
func.func @pairs(%x: tensor<40x64xbf16>, %w: tensor<8x48x64xbf16>, %v: tensor<8x64x48xbf16>, %b: tensor<8x48xbf16>,
                 %g: tensor<40x2x48xbf16>, %i: tensor<40x2xi64>) -> tensor<40x2x64xbf16> {
  %0 = llir.gather %w, %i : tensor<8x48x64xbf16>, tensor<40x2xi64> -> tensor<40x2x48x64xbf16>
  %1 = llir.gather %v, %i : tensor<8x64x48xbf16>, tensor<40x2xi64> -> tensor<40x2x64x48xbf16>
  %2 = llir.gemm %x, %0 k(64) <(d0, d1, d2, d3) -> (d0, d3)>, <(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
      : tensor<40x64xbf16>, tensor<40x2x48x64xbf16> -> tensor<40x2x48xbf16>
  %3 = llir.gather %b, %i : tensor<8x48xbf16>, tensor<40x2xi64> -> tensor<40x2x48xbf16>
  %4 = llir.elementwise add(%2, %3) : (tensor<40x2x48xbf16>, tensor<40x2x48xbf16>) -> tensor<40x2x48xbf16>
  %5 = llir.elementwise mul(%4, %g) : (tensor<40x2x48xbf16>, tensor<40x2x48xbf16>) -> tensor<40x2x48xbf16>
  %6 = llir.gemm %5, %1 k(48) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d1, d2, d3)>
      : tensor<40x2x48xbf16>, tensor<40x2x64x48xbf16> -> tensor<40x2x64xbf16>
  return %6 : tensor<40x2x64xbf16>
}

// What is sorted already stays: by argsort, or by where groups end.
// CHECK-LABEL: @sorted
// CHECK-COUNT-1: llir.argsort
// CHECK-NOT: llir.argsort
// REMARK: remark: [Missed] rows {{.*}} Function=sorted | reason="they are in the order of their matrices"
// REMARK: remark: [Missed] rows {{.*}} Function=sorted | reason="they are in the order of their matrices"
func.func @sorted(%x: tensor<80x64xf32>, %w: tensor<8x48x64xf32>, %i: tensor<80xi64>, %ends: tensor<8xi64>)
    -> (tensor<80x48xf32>, tensor<80x48xf32>) {
  %order = llir.argsort %i : tensor<80xi64> -> tensor<80xi64>
  %keys = llir.gather %i, %order : tensor<80xi64>, tensor<80xi64> -> tensor<80xi64>
  %0 = llir.gather %w, %keys {checked} : tensor<8x48x64xf32>, tensor<80xi64> -> tensor<80x48x64xf32>
  %1 = llir.gemm %x, %0 k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)>
      : tensor<80x64xf32>, tensor<80x48x64xf32> -> tensor<80x48xf32>
  %2 = llir.iota <(d0, d1) -> (d0)> : tensor<80x8xi64>
  %3 = llir.view %ends <(d0, d1) -> (d1)> : tensor<8xi64> -> tensor<80x8xi64>
  %4 = llir.elementwise less_equal(%3, %2) : (tensor<80x8xi64>, tensor<80x8xi64>) -> tensor<80x8xi1>
  %5 = llir.elementwise cast(%4) : (tensor<80x8xi1>) -> tensor<80x8xi64>
  %6 = llir.reduce sum %5 : tensor<80x8xi64> -> tensor<80xi64>
  %7 = llir.constant dense<7> : tensor<80xi64>
  %8 = llir.elementwise min(%6, %7) : (tensor<80xi64>, tensor<80xi64>) -> tensor<80xi64>
  %9 = llir.gather %w, %8 {checked} : tensor<8x48x64xf32>, tensor<80xi64> -> tensor<80x48x64xf32>
  %10 = llir.gemm %x, %9 k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)>
      : tensor<80x64xf32>, tensor<80x48x64xf32> -> tensor<80x48xf32>
  return %1, %10 : tensor<80x48xf32>, tensor<80x48xf32>
}

// So do a few rows, ends that a place does not count from the begin, and products that are no rows by matrices.
// CHECK-LABEL: @others
// CHECK-COUNT-1: llir.argsort
// CHECK-NOT: llir.argsort
// REMARK: remark: [Missed] rows {{.*}} Function=others | reason="its sides have other dims than rows and columns"
// REMARK: remark: [Missed] rows {{.*}} Function=others | cost ns={{[0-9]+}}, gain ns={{[0-9]+}}, reason="few rows share a matrix"
// REMARK: remark: [Passed] rows {{.*}} Function=others
func.func @others(%x: tensor<80x64xf32>, %w: tensor<8x48x64xf32>, %i: tensor<80xi64>, %few: tensor<2xi64>, %z: tensor<80x4x64xf32>,
                  %ends: tensor<8xi64>) -> (tensor<2x48xf32>, tensor<80x48xf32>, tensor<80x4x48xf32>) {
  %0 = llir.gather %w, %few {checked} : tensor<8x48x64xf32>, tensor<2xi64> -> tensor<2x48x64xf32>
  %1 = llir.gemm %x, %0 k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)>
      : tensor<80x64xf32>, tensor<2x48x64xf32> -> tensor<2x48xf32>
  %2 = llir.iota <(d0, d1) -> (79 - d0)> : tensor<80x8xi64>
  %3 = llir.view %ends <(d0, d1) -> (d1)> : tensor<8xi64> -> tensor<80x8xi64>
  %4 = llir.elementwise less_equal(%3, %2) : (tensor<80x8xi64>, tensor<80x8xi64>) -> tensor<80x8xi1>
  %5 = llir.elementwise cast(%4) : (tensor<80x8xi1>) -> tensor<80x8xi64>
  %6 = llir.reduce sum %5 : tensor<80x8xi64> -> tensor<80xi64>
  %7 = llir.gather %w, %6 {checked} : tensor<8x48x64xf32>, tensor<80xi64> -> tensor<80x48x64xf32>
  %8 = llir.gemm %x, %7 k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)>
      : tensor<80x64xf32>, tensor<80x48x64xf32> -> tensor<80x48xf32>
  %9 = llir.gather %w, %i {checked} : tensor<8x48x64xf32>, tensor<80xi64> -> tensor<80x48x64xf32>
  %10 = llir.gemm %z, %9 k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)>
      : tensor<80x4x64xf32>, tensor<80x48x64xf32> -> tensor<80x4x48xf32>
  return %1, %8, %10 : tensor<2x48xf32>, tensor<80x48xf32>, tensor<80x4x48xf32>
}
