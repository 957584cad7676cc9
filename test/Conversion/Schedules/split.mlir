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

// The place of the greatest: the last step is of the same rows as the last reduction, and its epilogue.
// CHECK-LABEL: @greatest
// CHECK: %[[MAX:[0-9]+]] = llir.kernel(%arg0) loops<{{.*}}parts({{.*}}-> tensor<1xf32> {
// CHECK: llir.kernel(%[[MAX]], %arg0) loops<{{.*}}parts({{.*}}-> tensor<1xi64> {
// CHECK-NOT: llir.kernel
// CHECK: return
func.func @greatest(%x: tensor<1x262208xf32>) -> tensor<1xi64> {
  %none = llir.constant dense<262208> : tensor<i64>
  %ends = llir.view %none <(d0, d1) -> ()> : tensor<i64> -> tensor<1x262208xi64>
  %end = llir.view %none <(d0) -> ()> : tensor<i64> -> tensor<1xi64>
  %max = llir.reduce max %x : tensor<1x262208xf32> -> tensor<1xf32>
  %wide = llir.view %max <(d0, d1) -> (d0)> : tensor<1xf32> -> tensor<1x262208xf32>
  %is = llir.elementwise equal(%x, %wide) : (tensor<1x262208xf32>, tensor<1x262208xf32>) -> tensor<1x262208xi1>
  %at = llir.iota <(d0, d1) -> (d1)> : tensor<1x262208xi64>
  %left = llir.elementwise sub(%ends, %at) : (tensor<1x262208xi64>, tensor<1x262208xi64>) -> tensor<1x262208xi64>
  %zero = llir.constant dense<0> : tensor<i64>
  %zeros = llir.view %zero <(d0, d1) -> ()> : tensor<i64> -> tensor<1x262208xi64>
  %found = llir.elementwise select(%is, %left, %zeros) : (tensor<1x262208xi1>, tensor<1x262208xi64>, tensor<1x262208xi64>) -> tensor<1x262208xi64>
  %first = llir.reduce max %found : tensor<1x262208xi64> -> tensor<1xi64>
  %place = llir.elementwise sub(%end, %first) : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
  return %place : tensor<1xi64>
}
