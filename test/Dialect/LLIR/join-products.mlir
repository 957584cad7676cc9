// Products of one row with operands of the function are one product where no elementwise op reads several of them.
// RUN: luminal-opt %s --llir-join-products=block-threads=1024 | FileCheck %s
// RUN: luminal-opt %s --llir-join-products | FileCheck %s --check-prefix=CALLS
// RUN: luminal-opt %s --llir-join-products=block-threads=1024 --remarks-filter=llir-join-products -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// CALLS-COUNT-3: llir.gemm
// CALLS: return

// Each operand is read within its bounds also for the columns of another.
// CHECK-LABEL: @three
// CHECK-DAG: %[[V:.*]] = llir.view %arg3 <(d0, d1) -> (max(d0 - 20, 0), d1)> : tensor<4x8xf32> -> tensor<24x8xf32>
// CHECK-DAG: %[[K:.*]] = llir.view %arg2 <(d0, d1) -> (d1, min(max(d0 - 16, 0), 3))> : tensor<8x4xf32> -> tensor<24x8xf32>
// CHECK: %[[KV:.*]] = llir.elementwise select(%{{.*}}, %[[K]], %[[V]])
// CHECK: %[[Q:.*]] = llir.view %arg1 <(d0, d1) -> (min(d0, 15), d1)> : tensor<16x8xf32> -> tensor<24x8xf32>
// CHECK: %[[W:.*]] = llir.elementwise select(%{{.*}}, %[[Q]], %[[KV]])
// CHECK: %[[ALL:.*]] = llir.gemm %arg0, %[[W]] k(8) <(d0, d1, d2) -> (0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1x8xf32>, tensor<24x8xf32> -> tensor<1x24xf32>
// CHECK-DAG: llir.view %[[ALL]] <(d0, d1) -> (0, d1)> : tensor<1x24xf32> -> tensor<1x16xf32>
// CHECK-DAG: llir.view %[[ALL]] <(d0, d1) -> (0, d1 + 16)> : tensor<1x24xf32> -> tensor<1x4xf32>
// CHECK-DAG: llir.view %[[ALL]] <(d0, d1) -> (0, d1 + 20)> : tensor<1x24xf32> -> tensor<1x4xf32>
// CHECK-NOT: llir.gemm
// CHECK: return
// REMARK: remark: [Passed] products {{.*}} Function=three | joined=3
func.func @three(%x: tensor<1x8xf32>, %q: tensor<16x8xf32>, %k: tensor<8x4xf32>, %v: tensor<4x8xf32>)
    -> (tensor<1x16xf32>, tensor<1x4xf32>, tensor<1x4xf32>) {
  %0 = llir.gemm %x, %q k(8) <(d0, d1, d2) -> (0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1x8xf32>, tensor<16x8xf32> -> tensor<1x16xf32>
  %1 = llir.gemm %x, %k k(8) <(d0, d1, d2) -> (0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<1x8xf32>, tensor<8x4xf32> -> tensor<1x4xf32>
  %2 = llir.gemm %x, %v k(8) <(d0, d1, d2) -> (0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1x8xf32>, tensor<4x8xf32> -> tensor<1x4xf32>
  %3 = llir.elementwise neg(%0) : (tensor<1x16xf32>) -> tensor<1x16xf32>
  %4 = llir.elementwise neg(%1) : (tensor<1x4xf32>) -> tensor<1x4xf32>
  %5 = llir.elementwise neg(%2) : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %3, %4, %5 : tensor<1x16xf32>, tensor<1x4xf32>, tensor<1x4xf32>
}

// A gate and what it is multiplied with.
// CHECK-LABEL: @gate
// CHECK-COUNT-2: llir.gemm
// REMARK-COUNT-2: remark: [Missed] products {{.*}} Function=gate | reason="one elementwise op reads it and another product"
func.func @gate(%x: tensor<1x8xf32>, %u: tensor<16x8xf32>, %g: tensor<16x8xf32>) -> tensor<1x16xf32> {
  %0 = llir.gemm %x, %u k(8) <(d0, d1, d2) -> (0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1x8xf32>, tensor<16x8xf32> -> tensor<1x16xf32>
  %1 = llir.gemm %x, %g k(8) <(d0, d1, d2) -> (0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1x8xf32>, tensor<16x8xf32> -> tensor<1x16xf32>
  %2 = llir.elementwise silu(%1) : (tensor<1x16xf32>) -> tensor<1x16xf32>
  %3 = llir.elementwise mul(%0, %2) : (tensor<1x16xf32>, tensor<1x16xf32>) -> tensor<1x16xf32>
  return %3 : tensor<1x16xf32>
}

// CHECK-LABEL: @others
// CHECK-COUNT-4: llir.gemm
// REMARK: remark: [Missed] products {{.*}} Function=others | reason="it has more than one row"
// REMARK: remark: [Missed] products {{.*}} Function=others | reason="it has more than one row"
// REMARK: remark: [Missed] products {{.*}} Function=others | reason="its right operand is computed"
// REMARK: remark: [Missed] products {{.*}} Function=others | reason="the function returns it"
func.func @others(%x: tensor<2x8xf32>, %y: tensor<1x8xf32>, %w: tensor<4x8xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>) {
  %n = llir.elementwise neg(%w) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = llir.gemm %x, %w k(8) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<2x8xf32>, tensor<4x8xf32> -> tensor<2x4xf32>
  %1 = llir.gemm %x, %w k(8) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<2x8xf32>, tensor<4x8xf32> -> tensor<2x4xf32>
  %2 = llir.gemm %y, %n k(8) <(d0, d1, d2) -> (0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1x8xf32>, tensor<4x8xf32> -> tensor<1x4xf32>
  %3 = llir.gemm %y, %w k(8) <(d0, d1, d2) -> (0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1x8xf32>, tensor<4x8xf32> -> tensor<1x4xf32>
  return %0, %1, %2, %3 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>
}
