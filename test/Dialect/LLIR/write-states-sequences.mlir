// States that a kernel of a sequence computes are written where they are: the block meets after each kernel.
// RUN: luminal-opt %s --luminal-pipeline="target=cuda arch=h200 from=fused until=scheduled" --llir-write-states -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_90a %t.mlir -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx
// RUN: luminal-opt %s --luminal-pipeline="target=cuda arch=h200 from=fused until=scheduled" --llir-write-states --remarks-filter=llir-write-states -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// Each element is read by the thread that writes it; what sums the new values reads them there.
// CHECK-LABEL: @added
// CHECK-SAME: -> (tensor<64xf32> {hlir.updates = 0 : i64, llir.in_state}, tensor<f32>)
// CHECK: llir.kernel(%arg0, %arg1) {{.*}} {overwrites = array<i64: 0>}
// CHECK: llir.sequence(
// CHECK: llir.kernel({{.*}} {overwrites = array<i64: {{[01]}}>}
// CHECK: llir.reduce sum
// REMARK: Passed{{.*}}Function=added | state=0
// No load of what the kernel writes is one of memory that stays as it is.
// PTX-LABEL: .entry added(
// PTX: ld.global.b32
// PTX-NOT: ld.global.nc
// PTX-LABEL: .entry turned(
func.func @added(%s: tensor<64xf32> {hlir.kind = "state"}, %x: tensor<64xf32>)
    -> (tensor<64xf32> {hlir.updates = 0 : i64}, tensor<f32>) {
  %0 = llir.kernel(%s, %x) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%a: tensor<64xf32>, %b: tensor<64xf32>):
    %1 = llir.elementwise add(%a, %b) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    llir.yield %1 : tensor<64xf32>
  }
  %2 = llir.kernel(%0) : (tensor<64xf32>) -> tensor<f32> {
  ^bb0(%a: tensor<64xf32>):
    %1 = llir.reduce sum %a : tensor<64xf32> -> tensor<f32>
    llir.yield %1 : tensor<f32>
  }
  return %0, %2 : tensor<64xf32>, tensor<f32>
}

// Another thread writes the element that one reads.
// CHECK-LABEL: @turned
// CHECK-NOT: llir.in_state
// CHECK: llir.sequence(
// CHECK-NOT: overwrites
// CHECK: return
// REMARK: Missed{{.*}}Function=turned |{{.*}}reason="its kernel reads the old value elsewhere than it writes the new one"
func.func @turned(%s: tensor<64xf32> {hlir.kind = "state"}, %x: tensor<64xf32>)
    -> (tensor<64xf32> {hlir.updates = 0 : i64}, tensor<f32>) {
  %0 = llir.kernel(%s, %x) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%a: tensor<64xf32>, %b: tensor<64xf32>):
    %v = llir.view %a <(d0) -> (63 - d0)> : tensor<64xf32> -> tensor<64xf32>
    %1 = llir.elementwise add(%v, %b) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    llir.yield %1 : tensor<64xf32>
  }
  %2 = llir.kernel(%0) : (tensor<64xf32>) -> tensor<f32> {
  ^bb0(%a: tensor<64xf32>):
    %1 = llir.reduce sum %a : tensor<64xf32> -> tensor<f32>
    llir.yield %1 : tensor<f32>
  }
  return %0, %2 : tensor<64xf32>, tensor<f32>
}

// A kernel of the sequence that reads the old value comes before the one that writes the new one.
// CHECK-LABEL: @read_first
// CHECK-SAME: llir.in_state
// CHECK: llir.sequence(
// CHECK: llir.reduce sum
// CHECK: llir.kernel({{.*}} {overwrites = array<i64: {{[01]}}>}
// CHECK: return
func.func @read_first(%s: tensor<64xf32> {hlir.kind = "state"}, %x: tensor<64xf32>)
    -> (tensor<64xf32> {hlir.updates = 0 : i64}, tensor<f32>) {
  %0 = llir.kernel(%s, %x) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%a: tensor<64xf32>, %b: tensor<64xf32>):
    %1 = llir.elementwise add(%a, %b) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    llir.yield %1 : tensor<64xf32>
  }
  %2 = llir.kernel(%s) : (tensor<64xf32>) -> tensor<f32> {
  ^bb0(%a: tensor<64xf32>):
    %1 = llir.reduce sum %a : tensor<64xf32> -> tensor<f32>
    llir.yield %1 : tensor<f32>
  }
  return %0, %2 : tensor<64xf32>, tensor<f32>
}

// One that needs what is computed from the new value cannot.
// CHECK-LABEL: @needed
// CHECK-NOT: llir.in_state
// CHECK: llir.sequence(
// CHECK: return
// REMARK: Missed{{.*}}Function=needed |{{.*}}reason="a reader of the old value has to come after the new one"
func.func @needed(%s: tensor<64xf32> {hlir.kind = "state"}, %x: tensor<64xf32>)
    -> (tensor<64xf32> {hlir.updates = 0 : i64}, tensor<f32>) {
  %0 = llir.kernel(%s, %x) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%a: tensor<64xf32>, %b: tensor<64xf32>):
    %1 = llir.elementwise add(%a, %b) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    llir.yield %1 : tensor<64xf32>
  }
  %2 = llir.kernel(%0, %s) : (tensor<64xf32>, tensor<64xf32>) -> tensor<f32> {
  ^bb0(%a: tensor<64xf32>, %b: tensor<64xf32>):
    %1 = llir.elementwise mul(%a, %b) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    %3 = llir.reduce sum %1 : tensor<64xf32> -> tensor<f32>
    llir.yield %3 : tensor<f32>
  }
  return %0, %2 : tensor<64xf32>, tensor<f32>
}
