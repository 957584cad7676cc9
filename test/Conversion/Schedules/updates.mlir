// A scatter in place whose updates need no order has a unit for each vector of them on a GPU; atomics take one element each.
// RUN: luminal-opt %s --llir-schedule-kernels="target=cuda arch=sm_90a" | FileCheck %s
// RUN: luminal-opt %s --llir-schedule-kernels="target=cpu arch=x86-64-v3" | FileCheck %s --check-prefix=CPU

// CPU-COUNT-4: = ordered

// CHECK-LABEL: @one
// CHECK: loops<grid(d1:8 v8) threads(64) op0 = unordered>
func.func @one(%a: tensor<512x1024xbf16>, %i: tensor<1xi64>, %u: tensor<1x1024xbf16>) -> tensor<512x1024xbf16> {
  %0 = llir.kernel(%a, %i, %u) {in_place} : (tensor<512x1024xbf16>, tensor<1xi64>, tensor<1x1024xbf16>) -> tensor<512x1024xbf16> {
  ^bb0(%x: tensor<512x1024xbf16>, %j: tensor<1xi64>, %v: tensor<1x1024xbf16>):
    %1 = llir.scatter set %x, %j, %v {checked} : tensor<512x1024xbf16>, tensor<1xi64>, tensor<1x1024xbf16>
    llir.yield %1 : tensor<512x1024xbf16>
  }
  return %0 : tensor<512x1024xbf16>
}

// CHECK-LABEL: @atomic
// CHECK: loops<grid(d0, d1) threads({{.*}}) op0 = unordered>
func.func @atomic(%a: tensor<512x4xi32>, %i: tensor<3000xi64>, %u: tensor<3000x4xi32>) -> tensor<512x4xi32> {
  %0 = llir.kernel(%a, %i, %u) {in_place} : (tensor<512x4xi32>, tensor<3000xi64>, tensor<3000x4xi32>) -> tensor<512x4xi32> {
  ^bb0(%x: tensor<512x4xi32>, %j: tensor<3000xi64>, %v: tensor<3000x4xi32>):
    %1 = llir.scatter add %x, %j, %v {checked} : tensor<512x4xi32>, tensor<3000xi64>, tensor<3000x4xi32>
    llir.yield %1 : tensor<512x4xi32>
  }
  return %0 : tensor<512x4xi32>
}

// Several updates may be of one row.
// CHECK-LABEL: @ordered
// CHECK: op0 = ordered
func.func @ordered(%a: tensor<512x4xf32>, %i: tensor<3xi64>, %u: tensor<3x4xf32>) -> tensor<512x4xf32> {
  %0 = llir.kernel(%a, %i, %u) {in_place} : (tensor<512x4xf32>, tensor<3xi64>, tensor<3x4xf32>) -> tensor<512x4xf32> {
  ^bb0(%x: tensor<512x4xf32>, %j: tensor<3xi64>, %v: tensor<3x4xf32>):
    %1 = llir.scatter set %x, %j, %v {checked} : tensor<512x4xf32>, tensor<3xi64>, tensor<3x4xf32>
    llir.yield %1 : tensor<512x4xf32>
  }
  return %0 : tensor<512x4xf32>
}

// Of many long rows, which follow from their index, a team takes one each.
// CHECK-LABEL: @rows
// CHECK: loops<grid(d0, d1:all v4) threads(256, 32) op2 = unordered {unroll = 8}>
func.func @rows(%a: tensor<9999x1024xf32>, %i: tensor<4096xi64>, %t: tensor<9999xi32>, %u: tensor<4096x1024xf32>) -> tensor<9999x1024xf32> {
  %0 = llir.kernel(%a, %i, %t, %u) {in_place} : (tensor<9999x1024xf32>, tensor<4096xi64>, tensor<9999xi32>, tensor<4096x1024xf32>) -> tensor<9999x1024xf32> {
  ^bb0(%x: tensor<9999x1024xf32>, %j: tensor<4096xi64>, %table: tensor<9999xi32>, %v: tensor<4096x1024xf32>):
    %last = llir.gather %table, %j {checked} : tensor<9999xi32>, tensor<4096xi64> -> tensor<4096xi32>
    %rows = llir.gather %v, %last {checked} : tensor<4096x1024xf32>, tensor<4096xi32> -> tensor<4096x1024xf32>
    %1 = llir.scatter set %x, %j, %rows {checked} : tensor<9999x1024xf32>, tensor<4096xi64>, tensor<4096x1024xf32>
    llir.yield %1 : tensor<9999x1024xf32>
  }
  return %0 : tensor<9999x1024xf32>
}
