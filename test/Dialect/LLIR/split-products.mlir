// Parts of a product's columns that an elementwise op reads are products of their own, where no matrix has several rows.
// RUN: luminal-opt %s --llir-split-products=block-threads=1024 | FileCheck %s
// RUN: luminal-opt %s --llir-split-products | FileCheck %s --check-prefix=CALLS
// RUN: luminal-opt %s --llir-split-products=block-threads=1024 --remarks-filter=llir-split-products -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// CALLS-LABEL: @gate
// CALLS-COUNT-1: llir.gemm
// CALLS-NOT: llir.gemm
// CALLS: return

// CHECK-LABEL: @gate
// CHECK-DAG: %[[A:.*]] = llir.gemm %arg0, %arg1 k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : {{.*}} -> tensor<1x16xf32>
// CHECK-DAG: %[[G:.*]] = llir.elementwise cast(%[[A]]) : (tensor<1x16xf32>) -> tensor<1x16xbf16>
// CHECK-DAG: %[[B:.*]] = llir.gemm %arg0, %arg1 k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1 + 16, d2)> : {{.*}} -> tensor<1x16xf32>
// CHECK-DAG: %[[U:.*]] = llir.elementwise cast(%[[B]]) : (tensor<1x16xf32>) -> tensor<1x16xbf16>
// CHECK: llir.elementwise silu
// CHECK: llir.elementwise mul
// REMARK: remark: [Passed] products {{.*}} Function=gate | parts=2
func.func @gate(%x: tensor<1x64xf32>, %w: tensor<32x64xf32>) -> tensor<1x16xbf16> {
  %f = llir.gemm %x, %w k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1x64xf32>, tensor<32x64xf32> -> tensor<1x32xf32>
  %c = llir.view %f <(d0) -> (0, d0)> : tensor<1x32xf32> -> tensor<32xf32>
  %n = llir.elementwise cast(%c) : (tensor<32xf32>) -> tensor<32xbf16>
  %a = llir.view %n <(d0, d1) -> (d1)> : tensor<32xbf16> -> tensor<1x16xbf16>
  %b = llir.view %n <(d0, d1) -> (d1 + 16)> : tensor<32xbf16> -> tensor<1x16xbf16>
  %s = llir.elementwise silu(%a) : (tensor<1x16xbf16>) -> tensor<1x16xbf16>
  %m = llir.elementwise mul(%s, %b) : (tensor<1x16xbf16>, tensor<1x16xbf16>) -> tensor<1x16xbf16>
  return %m : tensor<1x16xbf16>
}

// Interleaved columns; several rows; parts that never meet; and all of them.
// CHECK-LABEL: @stay
// CHECK-COUNT-4: llir.gemm
// CHECK-NOT: llir.gemm
// REMARK: remark: [Missed] products {{.*}} Function=stay | reason="no parts of its columns are read"
// REMARK: remark: [Missed] products {{.*}} Function=stay | reason="it has more than one row"
// REMARK: remark: [Missed] products {{.*}} Function=stay | reason="no elementwise op reads all of its parts"
// REMARK: remark: [Missed] products {{.*}} Function=stay | reason="an op reads all of its columns"
func.func @stay(%x: tensor<1x64xf32>, %y: tensor<4x64xf32>, %w: tensor<32x64xf32>)
    -> (tensor<1x16xf32>, tensor<4x16xf32>, tensor<1x16xf32>, tensor<1x16xf32>, tensor<1x32xf32>) {
  %0 = llir.gemm %x, %w k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1x64xf32>, tensor<32x64xf32> -> tensor<1x32xf32>
  %1 = llir.gemm %y, %w k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<4x64xf32>, tensor<32x64xf32> -> tensor<4x32xf32>
  %2 = llir.gemm %w, %x k(64) <(d0, d1, d2) -> (d1, d2)>, <(d0, d1, d2) -> (d0, d2)> : tensor<32x64xf32>, tensor<1x64xf32> -> tensor<1x32xf32>
  %3 = llir.gemm %x, %w k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (31 - d1, d2)> : tensor<1x64xf32>, tensor<32x64xf32> -> tensor<1x32xf32>
  %even = llir.view %0 <(d0, d1) -> (d0, 2 * d1)> : tensor<1x32xf32> -> tensor<1x16xf32>
  %odd = llir.view %0 <(d0, d1) -> (d0, 2 * d1 + 1)> : tensor<1x32xf32> -> tensor<1x16xf32>
  %a = llir.elementwise mul(%even, %odd) : (tensor<1x16xf32>, tensor<1x16xf32>) -> tensor<1x16xf32>
  %low = llir.view %1 <(d0, d1) -> (d0, d1)> : tensor<4x32xf32> -> tensor<4x16xf32>
  %high = llir.view %1 <(d0, d1) -> (d0, d1 + 16)> : tensor<4x32xf32> -> tensor<4x16xf32>
  %b = llir.elementwise mul(%low, %high) : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %first = llir.view %2 <(d0, d1) -> (d0, d1)> : tensor<1x32xf32> -> tensor<1x16xf32>
  %second = llir.view %2 <(d0, d1) -> (d0, d1 + 16)> : tensor<1x32xf32> -> tensor<1x16xf32>
  %c = llir.elementwise neg(%first) : (tensor<1x16xf32>) -> tensor<1x16xf32>
  %d = llir.elementwise exp(%second) : (tensor<1x16xf32>) -> tensor<1x16xf32>
  %e = llir.elementwise exp(%3) : (tensor<1x32xf32>) -> tensor<1x32xf32>
  return %a, %b, %c, %d, %e : tensor<1x16xf32>, tensor<4x16xf32>, tensor<1x16xf32>, tensor<1x16xf32>, tensor<1x32xf32>
}

// Rows with a matrix each; where rows were sorted by it, they share it.
// CHECK-LABEL: @matrices
// CHECK: llir.gemm {{.*}} -> tensor<6x16xf32>
// CHECK: llir.gemm {{.*}} (d0, d1 + 16, d2)> {{.*}} -> tensor<6x16xf32>
// CHECK: llir.gemm {{.*}} -> tensor<6x32xf32>
// REMARK: remark: [Passed] products {{.*}} Function=matrices | parts=2
// REMARK: remark: [Missed] products {{.*}} Function=matrices | reason="its rows share matrices"
func.func @matrices(%x: tensor<6x64xf32>, %w: tensor<8x32x64xf32>, %i: tensor<6xi64>) -> (tensor<6x16xf32>, tensor<6x16xf32>) {
  %m = llir.gather %w, %i {checked} : tensor<8x32x64xf32>, tensor<6xi64> -> tensor<6x32x64xf32>
  %0 = llir.gemm %x, %m k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)> : tensor<6x64xf32>, tensor<6x32x64xf32> -> tensor<6x32xf32>
  %a = llir.view %0 <(d0, d1) -> (d0, d1)> : tensor<6x32xf32> -> tensor<6x16xf32>
  %b = llir.view %0 <(d0, d1) -> (d0, d1 + 16)> : tensor<6x32xf32> -> tensor<6x16xf32>
  %c = llir.elementwise mul(%a, %b) : (tensor<6x16xf32>, tensor<6x16xf32>) -> tensor<6x16xf32>
  %p = llir.argsort %i : tensor<6xi64> -> tensor<6xi64>
  %j = llir.gather %i, %p : tensor<6xi64>, tensor<6xi64> -> tensor<6xi64>
  %n = llir.gather %w, %j {checked} : tensor<8x32x64xf32>, tensor<6xi64> -> tensor<6x32x64xf32>
  %1 = llir.gemm %x, %n k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)> : tensor<6x64xf32>, tensor<6x32x64xf32> -> tensor<6x32xf32>
  %d = llir.view %1 <(d0, d1) -> (d0, d1)> : tensor<6x32xf32> -> tensor<6x16xf32>
  %e = llir.view %1 <(d0, d1) -> (d0, d1 + 16)> : tensor<6x32xf32> -> tensor<6x16xf32>
  %f = llir.elementwise mul(%d, %e) : (tensor<6x16xf32>, tensor<6x16xf32>) -> tensor<6x16xf32>
  return %c, %f : tensor<6x16xf32>, tensor<6x16xf32>
}
