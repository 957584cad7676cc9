// Few long rows leave workers idle where one kernel passes over them several times; reductions alone are cut into parts.
// RUN: luminal-opt %s --llir-fuse-kernels --llir-schedule-kernels="target=cuda arch=sm_90a" --remarks-filter=llir-schedule-kernels -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: luminal-opt %s --llir-fuse-kernels --llir-schedule-kernels="arch=sapphirerapids workers=1" | FileCheck %s --check-prefix=ONE

// The maximum, then the sum of the terms, then the quotients; the terms are computed twice.
// REMARK: split | {{.*}}because="few rows leave workers idle", into=3
// CHECK-LABEL: @long
// CHECK: %[[MAX:.*]] = llir.kernel(%arg0) loops<{{.*}}parts({{.*}} op0 = pass {{.*}}-> tensor<4xf32> {
// CHECK: llir.reduce max
// CHECK: %[[SUM:.*]] = llir.kernel(%[[MAX]], %arg0) loops<{{.*}}parts({{.*}}-> tensor<4xf32> {
// CHECK: elementwise exp_fast
// CHECK: llir.reduce sum
// CHECK: llir.kernel(%[[SUM]], %[[MAX]], %arg0) loops<grid(
// CHECK-NOT: llir.reduce
// CHECK: return
// One worker is never idle.
// ONE-LABEL: @long
// ONE-COUNT-1: llir.kernel
// ONE-NOT: llir.kernel
func.func @long(%x: tensor<4x1048576xf32>) -> tensor<4x1048576xf32> {
  %0 = llir.softmax %x : tensor<4x1048576xf32>
  return %0 : tensor<4x1048576xf32>
}

// Near misses: rows for all workers, short rows, one level with nothing after it.
// CHECK-LABEL: @many
// CHECK-COUNT-1: llir.kernel
// CHECK-NOT: llir.kernel
// ONE-LABEL: @many
func.func @many(%x: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %0 = llir.softmax %x : tensor<4096x4096xf32>
  return %0 : tensor<4096x4096xf32>
}

// CHECK-LABEL: @short
// CHECK-COUNT-1: llir.kernel
// CHECK-NOT: llir.kernel
func.func @short(%x: tensor<4x512xf32>) -> tensor<4x512xf32> {
  %0 = llir.softmax %x : tensor<4x512xf32>
  return %0 : tensor<4x512xf32>
}

// CHECK-LABEL: @sum
// CHECK-COUNT-1: llir.kernel
// CHECK-NOT: llir.kernel
func.func @sum(%x: tensor<4x1048576xf32>) -> tensor<4xf32> {
  %0 = llir.reduce sum %x : tensor<4x1048576xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
