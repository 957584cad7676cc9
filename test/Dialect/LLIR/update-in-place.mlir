// RUN: luminal-opt %s --llir-fuse-kernels --llir-update-in-place | FileCheck %s
// RUN: luminal-opt %s --llir-fuse-kernels --llir-update-in-place=block-threads=1024 | FileCheck %s --check-prefixes=CHECK,SPLIT

// The state's only later reader moves before the update.
// CHECK-LABEL: func.func @state
// CHECK: llir.kernel(%arg0)
// CHECK: llir.kernel(%arg0, %arg1, %arg2) {in_place}
func.func @state(%s: tensor<8xf32> {hlir.kind = "state"}, %i: tensor<2xi64>, %u: tensor<2xf32>)
    -> (tensor<8xf32> {hlir.updates = 0 : i64}, tensor<8xf32>) {
  %0 = llir.scatter set %s, %i, %u {checked} : tensor<8xf32>, tensor<2xi64>, tensor<2xf32>
  %1 = llir.elementwise neg(%s) : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// An update along another dim, by views on both sides, is one kernel in place.
// CHECK-LABEL: func.func @moved
// CHECK: llir.kernel(%arg0, %arg1, %arg2) {in_place}
// CHECK-NOT: llir.kernel
func.func @moved(%s: tensor<3x8xf32> {hlir.kind = "state"}, %i: tensor<2xi64>, %u: tensor<2x3xf32>)
    -> (tensor<3x8xf32> {hlir.updates = 0 : i64}) {
  %v = llir.view %s <(d0, d1) -> (d1, d0)> : tensor<3x8xf32> -> tensor<8x3xf32>
  %0 = llir.scatter set %v, %i, %u {checked} : tensor<8x3xf32>, tensor<2xi64>, tensor<2x3xf32>
  %1 = llir.view %0 <(d0, d1) -> (d1, d0)> : tensor<8x3xf32> -> tensor<3x8xf32>
  return %1 : tensor<3x8xf32>
}

// An input belongs to the caller: it is copied.
// CHECK-LABEL: func.func @input
// CHECK: llir.kernel
// CHECK-NOT: in_place
func.func @input(%s: tensor<8xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) -> tensor<8xf32> {
  %0 = llir.scatter set %s, %i, %u {checked} : tensor<8xf32>, tensor<2xi64>, tensor<2xf32>
  return %0 : tensor<8xf32>
}

// On a GPU an update that needs no order, and has to copy, is of a copy that another kernel made.
// CHECK-LABEL: func.func @copied
// SPLIT: %[[COPY:.*]] = llir.kernel(%arg0) :
// SPLIT: llir.kernel(%[[COPY]], %arg1, %arg2) {in_place}
// CHECK-NOT: in_place
func.func @copied(%s: tensor<8xi32>, %i: tensor<2xi64>, %u: tensor<2xi32>) -> tensor<8xi32> {
  %0 = llir.scatter add %s, %i, %u {checked} : tensor<8xi32>, tensor<2xi64>, tensor<2xi32>
  return %0 : tensor<8xi32>
}

// The same of a destination that is computed, with the result moved by a third kernel.
// CHECK-LABEL: func.func @computed
// SPLIT: %[[DEST:.*]] = llir.kernel(%arg0)
// SPLIT: llir.elementwise neg
// SPLIT: %[[UPDATED:.*]] = llir.kernel(%[[DEST]], %{{.*}}) {in_place}
// SPLIT: llir.kernel(%[[UPDATED]])
// CHECK-NOT: in_place
func.func @computed(%s: tensor<8x3xi32>, %i: tensor<2xi64>, %u: tensor<2x3xi32>) -> tensor<3x8xi32> {
  %d = llir.elementwise neg(%s) : (tensor<8x3xi32>) -> tensor<8x3xi32>
  %0 = llir.scatter max %d, %i, %u {checked} : tensor<8x3xi32>, tensor<2xi64>, tensor<2x3xi32>
  %1 = llir.view %0 <(d0, d1) -> (d1, d0)> : tensor<8x3xi32> -> tensor<3x8xi32>
  return %1 : tensor<3x8xi32>
}

// What else reads the destination reads it as it was, and not the memory that is written.
// CHECK-LABEL: func.func @read
// SPLIT: %[[COPY:.*]] = llir.kernel(%arg0) :
// SPLIT: llir.kernel(%[[COPY]], %arg0) {in_place}
// SPLIT-NEXT: ^bb0(%[[OLD:.*]]: tensor<8x3xf32>, %[[READ:.*]]: tensor<8x3xf32>):
// SPLIT: llir.view %[[READ]]
// SPLIT: llir.scatter set %[[OLD]]
// CHECK-NOT: in_place
func.func @read(%s: tensor<8x3xf32>) -> tensor<8x3xf32> {
  %i = llir.iota <(d0) -> (2 * d0)> : tensor<4xi64>
  %u = llir.view %s <(d0, d1) -> (2 * d0 + 1, d1)> : tensor<8x3xf32> -> tensor<4x3xf32>
  %n = llir.elementwise neg(%u) : (tensor<4x3xf32>) -> tensor<4x3xf32>
  %0 = llir.scatter set %s, %i, %n : tensor<8x3xf32>, tensor<4xi64>, tensor<4x3xf32>
  return %0 : tensor<8x3xf32>
}

// The same of a destination that is computed.
// CHECK-LABEL: func.func @computed_and_read
// SPLIT: %[[DEST:.*]] = llir.kernel(%arg0) :
// SPLIT: llir.elementwise neg
// SPLIT: llir.kernel(%[[DEST]], %arg0) {in_place}
// SPLIT: llir.elementwise neg
// SPLIT: llir.scatter set
// CHECK-NOT: in_place
func.func @computed_and_read(%s: tensor<8x3xf32>) -> tensor<8x3xf32> {
  %i = llir.iota <(d0) -> (3 * d0)> : tensor<2xi64>
  %d = llir.elementwise neg(%s) : (tensor<8x3xf32>) -> tensor<8x3xf32>
  %u = llir.view %d <(d0, d1) -> (d0 + 1, d1)> : tensor<8x3xf32> -> tensor<2x3xf32>
  %0 = llir.scatter set %d, %i, %u : tensor<8x3xf32>, tensor<2xi64>, tensor<2x3xf32>
  return %0 : tensor<8x3xf32>
}

// Rows of two states are exchanged: one of them is copied, for the other overwrites what it is read from.
// CHECK-LABEL: func.func @exchanged
// CHECK-NOT: llir.kernel(%arg1, %arg2, %arg0) {in_place}
// CHECK: llir.kernel(%arg0, %arg2, %arg1) {in_place}
// CHECK-NOT: llir.kernel(%arg1, %arg2, %arg0) {in_place}
func.func @exchanged(%a: tensor<8xf32> {hlir.kind = "state"}, %b: tensor<8xf32> {hlir.kind = "state"}, %i: tensor<2xi64>)
    -> (tensor<8xf32> {hlir.updates = 0 : i64}, tensor<8xf32> {hlir.updates = 1 : i64}) {
  %u = llir.gather %b, %i {checked} : tensor<8xf32>, tensor<2xi64> -> tensor<2xf32>
  %v = llir.gather %a, %i {checked} : tensor<8xf32>, tensor<2xi64> -> tensor<2xf32>
  %0 = llir.scatter set %a, %i, %u {checked} : tensor<8xf32>, tensor<2xi64>, tensor<2xf32>
  %1 = llir.scatter set %b, %i, %v {checked} : tensor<8xf32>, tensor<2xi64>, tensor<2xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
