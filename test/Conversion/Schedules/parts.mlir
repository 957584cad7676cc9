// Which reductions are cut into parts, why, what memory they get, and their code.
// RUN: luminal-opt %s --split-input-file --llir-schedule-kernels=arch=sapphirerapids --remarks-filter=llir-schedule-kernels -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: luminal-opt %t.mlir --split-input-file --llir-plan-memory | FileCheck %s --check-prefix=PLAN
// RUN: luminal-opt %t.mlir --split-input-file --llir-plan-memory --convert-llir-to-llvm="arch=sapphirerapids keep-loops" | FileCheck %s --check-prefix=CODE
// RUN: luminal-opt %s --split-input-file --luminal-pipeline="target=cuda arch=sm_90a from=saturated until=scheduled" | FileCheck %s --check-prefix=CUDA
// RUN: luminal-opt %s --split-input-file --luminal-pipeline="target=cuda arch=l4 from=saturated until=scheduled" | FileCheck %s --check-prefix=L4

// All elements of a tensor: one block of the grid, its states and its counter.
// CHECK-LABEL: @whole
// CHECK: loops<grid() stream(d0:all v16) parts(64) op0 = pass {lanes = 16, unroll = 2}>
// REMARK: parts=64
// PLAN-LABEL: llir.schedule @whole symbols <> arena(256)
// PLAN: %[[S:.*]] = llir.slot offset(0) bytes(256)
// PLAN: %[[C:.*]] = llir.counters bytes(4)
// PLAN: llir.step "reduce{{.*}}" @k0(%{{.*}}) writes(%{{.*}}) workspace(%[[S]], %[[C]]) cost
// CODE-LABEL: llvm.func @k0(
// CODE: %[[PARTS:.*]] = arith.constant 64 : i64
// CODE: %[[PART:.*]] = arith.remui %{{.*}}, %[[PARTS]]
// CODE: %[[LO:.*]] = arith.muli %[[PART]], %
// CODE: scf.for %{{.*}} = %[[LO]] to
// CODE: llvm.fence acq_rel
// CODE: %[[BEFORE:.*]] = llvm.atomicrmw add %[[COUNTER:.*]], %{{.*}} monotonic
// CODE: %[[LAST:.*]] = arith.cmpi eq, %[[BEFORE]], %
// CODE: scf.if %[[LAST]] {
// CODE-NEXT: llvm.store %{{.*}}, %[[COUNTER]]
// CODE: llvm.fence acq_rel
// CODE: scf.if %[[LAST]] {
// CODE: scf.for
// CODE: arith.addf
// CUDA-LABEL: @whole
// CUDA: loops<grid() stream(d0:all v4) parts(528) threads(512, 512) op0 = pass {blocks = 2, lanes = 4, unroll = 8}>
func.func @whole(%a: tensor<16777216xf32>) -> tensor<f32> {
  %r = llir.kernel(%a) : (tensor<16777216xf32>) -> tensor<f32> {
  ^bb0(%x: tensor<16777216xf32>):
    %0 = llir.reduce sum %x : tensor<16777216xf32> -> tensor<f32>
    llir.yield %0 : tensor<f32>
  }
  return %r : tensor<f32>
}

// -----
// Columns of a tall tensor, in vectors across them.
// CHECK-LABEL: @tall
// CHECK: loops<grid(d0:all v8) stream(d1:all) parts(64) op1 = pass {lanes = 1, unroll = 2}>
// REMARK: parts=64
// CUDA-LABEL: @tall
// CUDA: loops<grid(d0:2 v2) stream(d1:all) parts(1024) threads(256) op1 = pass {lanes = 1, unroll = 16}>
func.func @tall(%a: tensor<1048576x8xf32>) -> tensor<8xf32> {
  %r = llir.kernel(%a) : (tensor<1048576x8xf32>) -> tensor<8xf32> {
  ^bb0(%x: tensor<1048576x8xf32>):
    %0 = llir.view %x <(d0, d1) -> (d1, d0)> : tensor<1048576x8xf32> -> tensor<8x1048576xf32>
    %1 = llir.reduce max %0 : tensor<8x1048576xf32> -> tensor<8xf32>
    llir.yield %1 : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----
// Threads of a GPU that sum some columns each, as many as they read at once: no more of them than keep its memory busy, for one merges the parts.
// CUDA-LABEL: @columns
// CUDA: loops<grid(d0:4 v4) stream(d1:all) parts(256) threads(256) op1 = pass {lanes = 1, unroll = 16}>
// L4-LABEL: @columns
// L4: loops<grid(d0:4 v4) stream(d1:all) parts(60) threads(256) op1 = pass {lanes = 1, unroll = 16}>
func.func @columns(%a: tensor<65536x1000xf32>) -> tensor<1000xf32> {
  %r = llir.kernel(%a) : (tensor<65536x1000xf32>) -> tensor<1000xf32> {
  ^bb0(%x: tensor<65536x1000xf32>):
    %0 = llir.view %x <(d0, d1) -> (d1, d0)> : tensor<65536x1000xf32> -> tensor<1000x65536xf32>
    %1 = llir.reduce sum %0 : tensor<1000x65536xf32> -> tensor<1000xf32>
    llir.yield %1 : tensor<1000xf32>
  }
  return %r : tensor<1000xf32>
}

// -----
// Sizes that only a call knows: another case where rows are many or short.
// CHECK-LABEL: @dynamic
// CHECK: loops<if (r: [0, 15], n: [524288, ]) grid(d0) stream(d1:all v16) parts(64) op0 = pass {lanes = 16, unroll = 2} else grid(d0) stream(d1:all v16) op0 = pass {lanes = 16, unroll = 2}>
// REMARK: parts=64
// PLAN-LABEL: llir.schedule @dynamic symbols
// PLAN: llir.counters bytes({{.*}}r{{.*}})
// CUDA-LABEL: @dynamic
// CUDA: loops<if (r: [0, 1055], n: [65536, ]) grid(d0) stream(d1:all{{.*}}) parts(64) threads(256, 32)
func.func @dynamic(%a: tensor<?x?xf32, #hlir.dims<r, n>>) -> tensor<?xf32, #hlir.dims<r>> attributes {hlir.symbols = #hlir.symbols<n in [0, ], r in [0, ]>} {
  %r = llir.kernel(%a) : (tensor<?x?xf32, #hlir.dims<r, n>>) -> tensor<?xf32, #hlir.dims<r>> {
  ^bb0(%x: tensor<?x?xf32, #hlir.dims<r, n>>):
    %0 = llir.reduce sum %x : tensor<?x?xf32, #hlir.dims<r, n>> -> tensor<?xf32, #hlir.dims<r>>
    llir.yield %0 : tensor<?xf32, #hlir.dims<r>>
  }
  return %r : tensor<?xf32, #hlir.dims<r>>
}

// -----
// Near misses: enough rows, rows that are short, a pass that needs the first one's result, elements that do.
// CHECK-LABEL: @many
// CHECK-NOT: parts(
// REMARK: no parts because="there are work items for all workers"
func.func @many(%a: tensor<16x1048576xf32>) -> tensor<16xf32> {
  %r = llir.kernel(%a) : (tensor<16x1048576xf32>) -> tensor<16xf32> {
  ^bb0(%x: tensor<16x1048576xf32>):
    %0 = llir.reduce sum %x : tensor<16x1048576xf32> -> tensor<16xf32>
    llir.yield %0 : tensor<16xf32>
  }
  return %r : tensor<16xf32>
}

// -----
// REMARK: no parts because="a work item has too little work"
func.func @short(%a: tensor<8x100000xf32>) -> tensor<8xf32> {
  %r = llir.kernel(%a) : (tensor<8x100000xf32>) -> tensor<8xf32> {
  ^bb0(%x: tensor<8x100000xf32>):
    %0 = llir.reduce sum %x : tensor<8x100000xf32> -> tensor<8xf32>
    llir.yield %0 : tensor<8xf32>
  }
  return %r : tensor<8xf32>
}

// -----
// REMARK: no parts because="a later pass needs their results"
// More than caches hold: a second kernel would read it from memory once more.
func.func @later(%a: tensor<2x16777216xf32>) -> tensor<2xf32> {
  %r = llir.kernel(%a) : (tensor<2x16777216xf32>) -> tensor<2xf32> {
  ^bb0(%x: tensor<2x16777216xf32>):
    %0 = llir.reduce max %x : tensor<2x16777216xf32> -> tensor<2xf32>
    %1 = llir.view %0 <(d0, d1) -> (d0)> : tensor<2xf32> -> tensor<2x16777216xf32>
    %2 = llir.elementwise sub(%x, %1) : (tensor<2x16777216xf32>, tensor<2x16777216xf32>) -> tensor<2x16777216xf32>
    %3 = llir.reduce sum %2 : tensor<2x16777216xf32> -> tensor<2xf32>
    llir.yield %3 : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

// -----
// What caches hold is read again at little cost.
// CHECK-LABEL: @held
// CHECK: parts(32)
// CHECK: parts(32)
// REMARK: split | {{.*}}Function=held | {{.*}}into=2
func.func @held(%a: tensor<2x1048576xf32>) -> tensor<2xf32> {
  %r = llir.kernel(%a) : (tensor<2x1048576xf32>) -> tensor<2xf32> {
  ^bb0(%x: tensor<2x1048576xf32>):
    %0 = llir.reduce max %x : tensor<2x1048576xf32> -> tensor<2xf32>
    %1 = llir.view %0 <(d0, d1) -> (d0)> : tensor<2xf32> -> tensor<2x1048576xf32>
    %2 = llir.elementwise sub(%x, %1) : (tensor<2x1048576xf32>, tensor<2x1048576xf32>) -> tensor<2x1048576xf32>
    %3 = llir.reduce sum %2 : tensor<2x1048576xf32> -> tensor<2xf32>
    llir.yield %3 : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

// -----
// Elements that need the results are another kernel where that is predicted to take less (split.mlir).
// CHECK-LABEL: @elements
// CHECK: loops<grid(d0) stream(d1:all v16) parts(32)
// CHECK: loops<grid(d0, d1:4096 v16)>
// REMARK: split | {{.*}}into=2
// REMARK: parts=32
func.func @elements(%a: tensor<2x1048576xf32>) -> tensor<2x1048576xf32> {
  %r = llir.kernel(%a) : (tensor<2x1048576xf32>) -> tensor<2x1048576xf32> {
  ^bb0(%x: tensor<2x1048576xf32>):
    %0 = llir.reduce max %x : tensor<2x1048576xf32> -> tensor<2xf32>
    %1 = llir.view %0 <(d0, d1) -> (d0)> : tensor<2xf32> -> tensor<2x1048576xf32>
    %2 = llir.elementwise sub(%x, %1) : (tensor<2x1048576xf32>, tensor<2x1048576xf32>) -> tensor<2x1048576xf32>
    llir.yield %2 : tensor<2x1048576xf32>
  }
  return %r : tensor<2x1048576xf32>
}

// -----
// Few results of a product, each a long sum: vectors along k, with an epilogue.
// CHECK-LABEL: @few_results
// CHECK: loops<grid(d0, d1:all) parts(16) op0 = element {lanes = 16, unroll = 4}>
// REMARK: no tile because="few results are sums of many parts"
// CUDA-LABEL: @few_results
// CUDA: loops<grid(d0, d1) parts(32) threads(64, 32) op0 = element {lanes = 4, unroll = 4}>
func.func @few_results(%a: tensor<4x65536xf32>, %b: tensor<4x65536xf32>, %c: tensor<4xf32>) -> tensor<4x4xf32> {
  %r = llir.kernel(%a, %b, %c) : (tensor<4x65536xf32>, tensor<4x65536xf32>, tensor<4xf32>) -> tensor<4x4xf32> {
  ^bb0(%x: tensor<4x65536xf32>, %y: tensor<4x65536xf32>, %z: tensor<4xf32>):
    %0 = llir.gemm %x, %y k(65536) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<4x65536xf32>, tensor<4x65536xf32> -> tensor<4x4xf32>
    %1 = llir.view %z <(d0, d1) -> (d1)> : tensor<4xf32> -> tensor<4x4xf32>
    %2 = llir.elementwise add(%0, %1) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    llir.yield %2 : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}

// -----
// A near miss: so many results that columns are shared.
// CHECK-LABEL: @many_results
// CHECK-NOT: parts(
func.func @many_results(%a: tensor<4x65536xf32>, %b: tensor<400x65536xf32>) -> tensor<4x400xf32> {
  %r = llir.kernel(%a, %b) : (tensor<4x65536xf32>, tensor<400x65536xf32>) -> tensor<4x400xf32> {
  ^bb0(%x: tensor<4x65536xf32>, %y: tensor<400x65536xf32>):
    %0 = llir.gemm %x, %y k(65536) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<4x65536xf32>, tensor<400x65536xf32> -> tensor<4x400xf32>
    llir.yield %0 : tensor<4x400xf32>
  }
  return %r : tensor<4x400xf32>
}
