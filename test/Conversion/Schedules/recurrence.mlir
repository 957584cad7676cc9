// Dims that all accesses join are one axis, across the lanes of vectors; a thread of a GPU reads what several trips need before the
// first of them is computed. A result that nothing reads is not written.
// RUN: luminal-opt %s --luminal-pipeline="until=scheduled arch=x86-64-v3" | FileCheck %s --check-prefix=CPU
// RUN: luminal-opt %s --luminal-pipeline="until=scheduled target=cuda arch=sm_90a" -o %t.mlir
// RUN: FileCheck %s --check-prefix=GPU --input-file=%t.mlir
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_90a %t.mlir | FileCheck %s --check-prefix=PTX
// RUN: luminal-opt %s --luminal-pipeline="until=scheduled arch=x86-64-v3" --remarks-filter=llir-schedule-kernels 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// CPU: llir.kernel({{.*}}) loops<grid(d0*d1:8 v8) op0 = recurrence> : (tensor<4x20xf32>, tensor<40x4x20xf32>) -> tensor<40x4x20xf32>
// GPU: llir.kernel({{.*}}) loops<grid(d0*d1) threads(64) op0 = recurrence {ahead = 16}> : (tensor<4x20xf32>, tensor<40x4x20xf32>) -> tensor<40x4x20xf32>
// REMARK: all trips of an element
// PTX-COUNT-16: ld.global
// PTX: st.global
func.func @main(%h: tensor<4x20xf32>, %x: tensor<40x4x20xf32>) -> tensor<40x4x20xf32> {
  %r:2 = hlir.repeat 40 carried(%h : tensor<4x20xf32>) rows(%x : tensor<40x4x20xf32>) stacked 1 {
  ^bb0(%s: tensor<4x20xf32>, %row: tensor<4x20xf32>):
    %m = hlir.mul %s, %row : tensor<4x20xf32>
    hlir.yield %m, %s : tensor<4x20xf32>, tensor<4x20xf32>
  } -> (tensor<4x20xf32>, tensor<40x4x20xf32>)
  return %r#1 : tensor<40x4x20xf32>
}
