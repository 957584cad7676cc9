// RUN: luminal-opt %s --llir-fuse-kernels --llir-update-in-place --llir-schedule-kernels=arch=x86-64-v3 --llir-write-states | FileCheck %s
// RUN: luminal-opt %s --llir-fuse-kernels --llir-update-in-place --llir-schedule-kernels="target=cuda arch=sm_90a" --llir-write-states | FileCheck %s

// Each element is read by the thread that writes it.
// CHECK-LABEL: func.func @elementwise
// CHECK-SAME: -> (tensor<8x4xf32> {hlir.updates = 0 : i64, llir.in_state})
// CHECK: llir.kernel(%arg0, %arg1) {{.*}} {overwrites = array<i64: 0>}
func.func @elementwise(%s: tensor<8x4xf32> {hlir.kind = "state"}, %x: tensor<8x4xf32>)
    -> (tensor<8x4xf32> {hlir.updates = 0 : i64}) {
  %0 = llir.elementwise add(%s, %x) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %0 : tensor<8x4xf32>
}

// Of two states in one kernel, with a result that is not a state's, and the old values of both in all results.
// CHECK-LABEL: func.func @two
// CHECK-SAME: -> (tensor<8xf32> {hlir.updates = 1 : i64, llir.in_state}, tensor<8xf32> {hlir.updates = 0 : i64, llir.in_state}, tensor<8xf32>)
// CHECK: llir.kernel({{.*}} {overwrites = array<i64: 0, 1>}
// CHECK-NOT: llir.kernel
func.func @two(%s: tensor<8xf32> {hlir.kind = "state"}, %t: tensor<8xf32> {hlir.kind = "state"})
    -> (tensor<8xf32> {hlir.updates = 1 : i64}, tensor<8xf32> {hlir.updates = 0 : i64}, tensor<8xf32>) {
  %0 = llir.elementwise add(%s, %t) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %1 = llir.elementwise mul(%s, %t) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = llir.elementwise sub(%0, %1) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}

// An element that another thread writes.
// CHECK-LABEL: func.func @turned
// CHECK-NOT: llir.in_state
// CHECK-NOT: overwrites
func.func @turned(%s: tensor<8x8xf32> {hlir.kind = "state"}, %x: tensor<8x8xf32>)
    -> (tensor<8x8xf32> {hlir.updates = 0 : i64}) {
  %v = llir.view %s <(d0, d1) -> (7 - d0, d1)> : tensor<8x8xf32> -> tensor<8x8xf32>
  %0 = llir.elementwise add(%v, %x) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Another result reads it elsewhere.
// CHECK-LABEL: func.func @read_elsewhere
// CHECK-NOT: llir.in_state
// CHECK-NOT: overwrites
func.func @read_elsewhere(%s: tensor<8xf32> {hlir.kind = "state"}, %x: tensor<8xf32>)
    -> (tensor<8xf32> {hlir.updates = 0 : i64}, tensor<8xf32>) {
  %0 = llir.elementwise add(%s, %x) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %v = llir.view %s <(d0) -> (7 - d0)> : tensor<8xf32> -> tensor<8xf32>
  %1 = llir.elementwise mul(%v, %0) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// A kernel that does not read the state writes it whatever its loops are; what reads the state moves before it.
// CHECK-LABEL: func.func @replaced
// CHECK-SAME: -> (tensor<8xf32> {hlir.updates = 0 : i64, llir.in_state}, tensor<f32>)
// CHECK: llir.kernel(%arg0)
// CHECK: llir.kernel(%arg1)
// CHECK-NOT: overwrites
func.func @replaced(%s: tensor<8xf32> {hlir.kind = "state"}, %x: tensor<8x16xf32>)
    -> (tensor<8xf32> {hlir.updates = 0 : i64}, tensor<f32>) {
  %0 = llir.reduce sum %x : tensor<8x16xf32> -> tensor<8xf32>
  %1 = llir.reduce sum %s : tensor<8xf32> -> tensor<f32>
  return %0, %1 : tensor<8xf32>, tensor<f32>
}

// A reader that needs the new value.
// CHECK-LABEL: func.func @needed
// CHECK-NOT: llir.in_state
func.func @needed(%s: tensor<8xf32> {hlir.kind = "state"}, %x: tensor<8x16xf32>)
    -> (tensor<8xf32> {hlir.updates = 0 : i64}, tensor<8x8xf32>) {
  %0 = llir.reduce sum %x : tensor<8x16xf32> -> tensor<8xf32>
  %a = llir.view %0 <(d0, d1) -> (d0)> : tensor<8xf32> -> tensor<8x8xf32>
  %b = llir.view %s <(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<8x8xf32>
  %1 = llir.elementwise mul(%a, %b) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8x8xf32>
}

// Two states of which each is computed from the other: the first is written when the other has been computed.
// CHECK-LABEL: func.func @exchanged
// CHECK-SAME: -> (tensor<8xf32> {hlir.updates = 0 : i64, llir.in_state}, tensor<16xf32> {hlir.updates = 1 : i64})
// CHECK: llir.kernel(%arg0)
// CHECK: llir.kernel(%arg1)
func.func @exchanged(%s: tensor<8xf32> {hlir.kind = "state"}, %t: tensor<16xf32> {hlir.kind = "state"})
    -> (tensor<8xf32> {hlir.updates = 0 : i64}, tensor<16xf32> {hlir.updates = 1 : i64}) {
  %0 = llir.view %t <(d0) -> (d0)> : tensor<16xf32> -> tensor<8xf32>
  %1 = llir.elementwise neg(%0) : (tensor<8xf32>) -> tensor<8xf32>
  %2 = llir.view %s <(d0) -> (d0 floordiv 2)> : tensor<8xf32> -> tensor<16xf32>
  %3 = llir.elementwise neg(%2) : (tensor<16xf32>) -> tensor<16xf32>
  return %1, %3 : tensor<8xf32>, tensor<16xf32>
}

// What a scatter updates in place is written there first, when the other state has been computed.
// CHECK-LABEL: func.func @chain
// CHECK-SAME: -> (tensor<8xf32> {hlir.updates = 0 : i64, llir.in_state}, tensor<f32> {hlir.updates = 1 : i64, llir.in_state})
// CHECK: llir.kernel(%arg0)
// CHECK: %[[SUMS:.*]] = llir.kernel(%arg4)
// CHECK: llir.kernel(%[[SUMS]], %arg2, %arg3) {{.*}} {in_place}
func.func @chain(%s: tensor<8xf32> {hlir.kind = "state"}, %t: tensor<f32> {hlir.kind = "state"}, %i: tensor<2xi64>,
                 %u: tensor<2xf32>, %x: tensor<8x16xf32>)
    -> (tensor<8xf32> {hlir.updates = 0 : i64}, tensor<f32> {hlir.updates = 1 : i64}) {
  %0 = llir.reduce sum %x : tensor<8x16xf32> -> tensor<8xf32>
  %1 = llir.scatter set %0, %i, %u {checked} : tensor<8xf32>, tensor<2xi64>, tensor<2xf32>
  %2 = llir.reduce sum %s : tensor<8xf32> -> tensor<f32>
  return %1, %2 : tensor<8xf32>, tensor<f32>
}
