// The size of the arena beside its lower bound, and the buffers of its fullest
// step.
// RUN: luminal-opt %s --llir-plan-memory --remarks-filter=llir-plan-memory --split-input-file -o %t 2>&1 | FileCheck %s --implicit-check-not=remark:

// Of a chain of three buffers two are live at once, and the arena holds two.
// CHECK: remark: [Passed] arena | Category:llir-plan-memory | Function=chain | arena=2048, at least=2048, buffers=3, bytes=2048, peak step=1
// CHECK: remark: [Analysis] buffer {{.*}} bytes=1024, last read by step=1, made by step=0
// CHECK: remark: [Analysis] buffer {{.*}} bytes=1024, last read by step=2, made by step=1
// CHECK: remark: [Analysis] functions {{.*}} functions=1, kernels=4
func.func @chain(%x: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %0 = llir.kernel(%x) : (tensor<16x16xf32>) -> tensor<16x16xf32> {
  ^bb0(%a: tensor<16x16xf32>):
    %r = llir.elementwise exp(%a) : (tensor<16x16xf32>) -> tensor<16x16xf32>
    llir.yield %r : tensor<16x16xf32>
  }
  %1 = llir.kernel(%0) : (tensor<16x16xf32>) -> tensor<16x16xf32> {
  ^bb0(%a: tensor<16x16xf32>):
    %r = llir.elementwise exp(%a) : (tensor<16x16xf32>) -> tensor<16x16xf32>
    llir.yield %r : tensor<16x16xf32>
  }
  %2 = llir.kernel(%1) : (tensor<16x16xf32>) -> tensor<16x16xf32> {
  ^bb0(%a: tensor<16x16xf32>):
    %r = llir.elementwise exp(%a) : (tensor<16x16xf32>) -> tensor<16x16xf32>
    llir.yield %r : tensor<16x16xf32>
  }
  %3 = llir.kernel(%2) : (tensor<16x16xf32>) -> tensor<16x16xf32> {
  ^bb0(%a: tensor<16x16xf32>):
    %r = llir.elementwise exp(%a) : (tensor<16x16xf32>) -> tensor<16x16xf32>
    llir.yield %r : tensor<16x16xf32>
  }
  return %3 : tensor<16x16xf32>
}

// -----

// Two buffers of half the size cannot share a dead buffer's slot: the arena is
// larger than the peak of live bytes.
// CHECK: remark: [Missed] arena | Category:llir-plan-memory | Function=halves | arena="{{.*}}n{{.*}}", at least=16640, buffers=4, bytes=24832, peak step=1, reason="sizes known only at run time share whole slots"
// CHECK: remark: [Analysis] buffer {{.*}} bytes="256 * n", last read by step=1, made by step=0
// CHECK: remark: [Analysis] functions {{.*}} functions=4, kernels=5
func.func @halves(%x: tensor<?x64xf32, #hlir.dims<n>>) -> tensor<?x32xf32, #hlir.dims<n>>
    attributes {hlir.symbols = #hlir.symbols<n in [1, ]>} {
  %0 = llir.kernel(%x) : (tensor<?x64xf32, #hlir.dims<n>>) -> tensor<?x64xf32, #hlir.dims<n>> {
  ^bb0(%a: tensor<?x64xf32, #hlir.dims<n>>):
    %r = llir.elementwise exp(%a) : (tensor<?x64xf32, #hlir.dims<n>>) -> tensor<?x64xf32, #hlir.dims<n>>
    llir.yield %r : tensor<?x64xf32, #hlir.dims<n>>
  }
  %1 = llir.kernel(%0) : (tensor<?x64xf32, #hlir.dims<n>>) -> tensor<?xf32, #hlir.dims<n>> {
  ^bb0(%a: tensor<?x64xf32, #hlir.dims<n>>):
    %r = llir.reduce sum %a : tensor<?x64xf32, #hlir.dims<n>> -> tensor<?xf32, #hlir.dims<n>>
    llir.yield %r : tensor<?xf32, #hlir.dims<n>>
  }
  %2 = llir.kernel(%1) : (tensor<?xf32, #hlir.dims<n>>) -> tensor<?x32xf32, #hlir.dims<n>> {
  ^bb0(%a: tensor<?xf32, #hlir.dims<n>>):
    %r = llir.view %a <(d0, d1) -> (d0)> : tensor<?xf32, #hlir.dims<n>> -> tensor<?x32xf32, #hlir.dims<n>>
    llir.yield %r : tensor<?x32xf32, #hlir.dims<n>>
  }
  %3 = llir.kernel(%1) : (tensor<?xf32, #hlir.dims<n>>) -> tensor<?x32xf32, #hlir.dims<n>> {
  ^bb0(%a: tensor<?xf32, #hlir.dims<n>>):
    %r = llir.view %a <(d0, d1) -> (d0)> : tensor<?xf32, #hlir.dims<n>> -> tensor<?x32xf32, #hlir.dims<n>>
    llir.yield %r : tensor<?x32xf32, #hlir.dims<n>>
  }
  %4 = llir.kernel(%2, %3) : (tensor<?x32xf32, #hlir.dims<n>>, tensor<?x32xf32, #hlir.dims<n>>) -> tensor<?x32xf32, #hlir.dims<n>> {
  ^bb0(%a: tensor<?x32xf32, #hlir.dims<n>>, %b: tensor<?x32xf32, #hlir.dims<n>>):
    %r = llir.elementwise add(%a, %b) : (tensor<?x32xf32, #hlir.dims<n>>, tensor<?x32xf32, #hlir.dims<n>>) -> tensor<?x32xf32, #hlir.dims<n>>
    llir.yield %r : tensor<?x32xf32, #hlir.dims<n>>
  }
  return %4 : tensor<?x32xf32, #hlir.dims<n>>
}
