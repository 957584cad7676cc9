// One query over many keys: where heads are fewer than workers, units walk parts of the keys, whose states the last one merges.
// RUN: luminal-opt %s --split-input-file --llir-schedule-kernels="arch=x86-64-v3 workers=16" | FileCheck %s
// RUN: luminal-opt %s --split-input-file --llir-schedule-kernels="arch=x86-64-v3 workers=16" --remarks-filter=llir-schedule-kernels -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: luminal-opt %s --split-input-file --llir-schedule-kernels="arch=x86-64-v3 workers=16" --llir-plan-memory --convert-llir-to-llvm="arch=x86-64-v3 keep-loops" | FileCheck %s --check-prefix=CODE

// CHECK-LABEL: func.func @few
// CHECK: llir.kernel{{.*}} loops<grid(d0) stream(d2:{{[0-9]+}}) parts(16) op0 = dot
// REMARK: Function=few {{.*}} form="anchors in one loop over a streamed dim"{{.*}} parts=16
// The states of a unit go to the workspace; the last unit reads those of all.
// CODE-LABEL: llvm.func @k0
// CODE: llvm.store {{.*}} : vector<8xi64>, !llvm.ptr
// CODE: llvm.fence acq_rel
// CODE: llvm.atomicrmw add
// CODE: llvm.fence acq_rel
// CODE: scf.if
// CODE: scf.for
func.func @few(%a: tensor<2x1x64xf32>, %b: tensor<2x16384x64xf32>, %c: tensor<2x16384x32xf32>) -> tensor<2x1x32xf32> {
  %r = llir.kernel(%a, %b, %c) : (tensor<2x1x64xf32>, tensor<2x16384x64xf32>, tensor<2x16384x32xf32>) -> tensor<2x1x32xf32> {
  ^bb0(%q: tensor<2x1x64xf32>, %k: tensor<2x16384x64xf32>, %v: tensor<2x16384x32xf32>):
    %s = llir.gemm %q, %k k(64) <(d0, d1, d2, d3) -> (d0, 0, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<2x1x64xf32>, tensor<2x16384x64xf32> -> tensor<2x1x16384xf32>
    %m = llir.reduce max %s : tensor<2x1x16384xf32> -> tensor<2x1xf32>
    %w = llir.view %m <(d0, d1, d2) -> (d0, 0)> : tensor<2x1xf32> -> tensor<2x1x16384xf32>
    %d = llir.elementwise sub(%s, %w) : (tensor<2x1x16384xf32>, tensor<2x1x16384xf32>) -> tensor<2x1x16384xf32>
    %e = llir.elementwise exp_fast(%d) : (tensor<2x1x16384xf32>) -> tensor<2x1x16384xf32>
    %t = llir.reduce sum %e : tensor<2x1x16384xf32> -> tensor<2x1xf32>
    %o = llir.gemm %e, %v k(16384) <(d0, d1, d2, d3) -> (d0, 0, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<2x1x16384xf32>, tensor<2x16384x32xf32> -> tensor<2x1x32xf32>
    %u = llir.view %t <(d0, d1, d2) -> (d0, 0)> : tensor<2x1xf32> -> tensor<2x1x32xf32>
    %x = llir.elementwise div(%o, %u) : (tensor<2x1x32xf32>, tensor<2x1x32xf32>) -> tensor<2x1x32xf32>
    llir.yield %x : tensor<2x1x32xf32>
  }
  return %r : tensor<2x1x32xf32>
}

// -----
// For a length that is known at a call, parts are a case of their own.
// CHECK-LABEL: func.func @unknown
// CHECK: llir.kernel{{.*}} loops<if (n: [{{[0-9]+}}, ]) grid(d0) stream(d2:{{[0-9]+}}) parts(16) {{.*}} else grid(d0) stream(d2:{{[0-9]+}}) op0
// REMARK: Function=unknown {{.*}} parts=16
func.func @unknown(%a: tensor<2x1x64xf32>, %b: tensor<2x?x64xf32, #hlir.dims<n>>, %c: tensor<2x?x32xf32, #hlir.dims<n>>) -> tensor<2x1x32xf32> attributes {hlir.symbols = #hlir.symbols<n in [1, 100000]>} {
  %r = llir.kernel(%a, %b, %c) : (tensor<2x1x64xf32>, tensor<2x?x64xf32, #hlir.dims<n>>, tensor<2x?x32xf32, #hlir.dims<n>>) -> tensor<2x1x32xf32> {
  ^bb0(%q: tensor<2x1x64xf32>, %k: tensor<2x?x64xf32, #hlir.dims<n>>, %v: tensor<2x?x32xf32, #hlir.dims<n>>):
    %s = llir.gemm %q, %k k(64) <(d0, d1, d2, d3) -> (d0, 0, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<2x1x64xf32>, tensor<2x?x64xf32, #hlir.dims<n>> -> tensor<2x1x?xf32, #hlir.dims<n>>
    %m = llir.reduce max %s : tensor<2x1x?xf32, #hlir.dims<n>> -> tensor<2x1xf32>
    %w = llir.view %m <(d0, d1, d2) -> (d0, 0)> : tensor<2x1xf32> -> tensor<2x1x?xf32, #hlir.dims<n>>
    %d = llir.elementwise sub(%s, %w) : (tensor<2x1x?xf32, #hlir.dims<n>>, tensor<2x1x?xf32, #hlir.dims<n>>) -> tensor<2x1x?xf32, #hlir.dims<n>>
    %e = llir.elementwise exp_fast(%d) : (tensor<2x1x?xf32, #hlir.dims<n>>) -> tensor<2x1x?xf32, #hlir.dims<n>>
    %t = llir.reduce sum %e : tensor<2x1x?xf32, #hlir.dims<n>> -> tensor<2x1xf32>
    %o = llir.gemm %e, %v k(n) <(d0, d1, d2, d3) -> (d0, 0, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<2x1x?xf32, #hlir.dims<n>>, tensor<2x?x32xf32, #hlir.dims<n>> -> tensor<2x1x32xf32>
    %u = llir.view %t <(d0, d1, d2) -> (d0, 0)> : tensor<2x1xf32> -> tensor<2x1x32xf32>
    %x = llir.elementwise div(%o, %u) : (tensor<2x1x32xf32>, tensor<2x1x32xf32>) -> tensor<2x1x32xf32>
    llir.yield %x : tensor<2x1x32xf32>
  }
  return %r : tensor<2x1x32xf32>
}

// -----
// CHECK-LABEL: func.func @many
// CHECK-NOT: parts
// REMARK: Function=many {{.*}} no parts because="there are work items for all workers"
func.func @many(%a: tensor<16x1x64xf32>, %b: tensor<16x16384x64xf32>, %c: tensor<16x16384x32xf32>) -> tensor<16x1x32xf32> {
  %r = llir.kernel(%a, %b, %c) : (tensor<16x1x64xf32>, tensor<16x16384x64xf32>, tensor<16x16384x32xf32>) -> tensor<16x1x32xf32> {
  ^bb0(%q: tensor<16x1x64xf32>, %k: tensor<16x16384x64xf32>, %v: tensor<16x16384x32xf32>):
    %s = llir.gemm %q, %k k(64) <(d0, d1, d2, d3) -> (d0, 0, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<16x1x64xf32>, tensor<16x16384x64xf32> -> tensor<16x1x16384xf32>
    %m = llir.reduce max %s : tensor<16x1x16384xf32> -> tensor<16x1xf32>
    %w = llir.view %m <(d0, d1, d2) -> (d0, 0)> : tensor<16x1xf32> -> tensor<16x1x16384xf32>
    %d = llir.elementwise sub(%s, %w) : (tensor<16x1x16384xf32>, tensor<16x1x16384xf32>) -> tensor<16x1x16384xf32>
    %e = llir.elementwise exp_fast(%d) : (tensor<16x1x16384xf32>) -> tensor<16x1x16384xf32>
    %t = llir.reduce sum %e : tensor<16x1x16384xf32> -> tensor<16x1xf32>
    %o = llir.gemm %e, %v k(16384) <(d0, d1, d2, d3) -> (d0, 0, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<16x1x16384xf32>, tensor<16x16384x32xf32> -> tensor<16x1x32xf32>
    %u = llir.view %t <(d0, d1, d2) -> (d0, 0)> : tensor<16x1xf32> -> tensor<16x1x32xf32>
    %x = llir.elementwise div(%o, %u) : (tensor<16x1x32xf32>, tensor<16x1x32xf32>) -> tensor<16x1x32xf32>
    llir.yield %x : tensor<16x1x32xf32>
  }
  return %r : tensor<16x1x32xf32>
}

// -----
// CHECK-LABEL: func.func @short
// CHECK-NOT: parts
// REMARK: Function=short {{.*}} no parts because="a part would have less than a chunk"
func.func @short(%a: tensor<2x1x64xf32>, %b: tensor<2x600x64xf32>, %c: tensor<2x600x32xf32>) -> tensor<2x1x32xf32> {
  %r = llir.kernel(%a, %b, %c) : (tensor<2x1x64xf32>, tensor<2x600x64xf32>, tensor<2x600x32xf32>) -> tensor<2x1x32xf32> {
  ^bb0(%q: tensor<2x1x64xf32>, %k: tensor<2x600x64xf32>, %v: tensor<2x600x32xf32>):
    %s = llir.gemm %q, %k k(64) <(d0, d1, d2, d3) -> (d0, 0, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<2x1x64xf32>, tensor<2x600x64xf32> -> tensor<2x1x600xf32>
    %m = llir.reduce max %s : tensor<2x1x600xf32> -> tensor<2x1xf32>
    %w = llir.view %m <(d0, d1, d2) -> (d0, 0)> : tensor<2x1xf32> -> tensor<2x1x600xf32>
    %d = llir.elementwise sub(%s, %w) : (tensor<2x1x600xf32>, tensor<2x1x600xf32>) -> tensor<2x1x600xf32>
    %e = llir.elementwise exp_fast(%d) : (tensor<2x1x600xf32>) -> tensor<2x1x600xf32>
    %t = llir.reduce sum %e : tensor<2x1x600xf32> -> tensor<2x1xf32>
    %o = llir.gemm %e, %v k(600) <(d0, d1, d2, d3) -> (d0, 0, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<2x1x600xf32>, tensor<2x600x32xf32> -> tensor<2x1x32xf32>
    %u = llir.view %t <(d0, d1, d2) -> (d0, 0)> : tensor<2x1xf32> -> tensor<2x1x32xf32>
    %x = llir.elementwise div(%o, %u) : (tensor<2x1x32xf32>, tensor<2x1x32xf32>) -> tensor<2x1x32xf32>
    llir.yield %x : tensor<2x1x32xf32>
  }
  return %r : tensor<2x1x32xf32>
}

// -----
// Never long enough.
// CHECK-LABEL: func.func @always_short
// CHECK-NOT: parts
// REMARK: Function=always_short {{.*}} no parts because="a part would have less than a chunk"
func.func @always_short(%a: tensor<2x1x64xf32>, %b: tensor<2x?x64xf32, #hlir.dims<n>>, %c: tensor<2x?x32xf32, #hlir.dims<n>>) -> tensor<2x1x32xf32> attributes {hlir.symbols = #hlir.symbols<n in [0, 600]>} {
  %r = llir.kernel(%a, %b, %c) : (tensor<2x1x64xf32>, tensor<2x?x64xf32, #hlir.dims<n>>, tensor<2x?x32xf32, #hlir.dims<n>>) -> tensor<2x1x32xf32> {
  ^bb0(%q: tensor<2x1x64xf32>, %k: tensor<2x?x64xf32, #hlir.dims<n>>, %v: tensor<2x?x32xf32, #hlir.dims<n>>):
    %s = llir.gemm %q, %k k(64) <(d0, d1, d2, d3) -> (d0, 0, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<2x1x64xf32>, tensor<2x?x64xf32, #hlir.dims<n>> -> tensor<2x1x?xf32, #hlir.dims<n>>
    %m = llir.reduce max %s : tensor<2x1x?xf32, #hlir.dims<n>> -> tensor<2x1xf32>
    %w = llir.view %m <(d0, d1, d2) -> (d0, 0)> : tensor<2x1xf32> -> tensor<2x1x?xf32, #hlir.dims<n>>
    %d = llir.elementwise sub(%s, %w) : (tensor<2x1x?xf32, #hlir.dims<n>>, tensor<2x1x?xf32, #hlir.dims<n>>) -> tensor<2x1x?xf32, #hlir.dims<n>>
    %e = llir.elementwise exp_fast(%d) : (tensor<2x1x?xf32, #hlir.dims<n>>) -> tensor<2x1x?xf32, #hlir.dims<n>>
    %t = llir.reduce sum %e : tensor<2x1x?xf32, #hlir.dims<n>> -> tensor<2x1xf32>
    %o = llir.gemm %e, %v k(n) <(d0, d1, d2, d3) -> (d0, 0, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<2x1x?xf32, #hlir.dims<n>>, tensor<2x?x32xf32, #hlir.dims<n>> -> tensor<2x1x32xf32>
    %u = llir.view %t <(d0, d1, d2) -> (d0, 0)> : tensor<2x1xf32> -> tensor<2x1x32xf32>
    %x = llir.elementwise div(%o, %u) : (tensor<2x1x32xf32>, tensor<2x1x32xf32>) -> tensor<2x1x32xf32>
    llir.yield %x : tensor<2x1x32xf32>
  }
  return %r : tensor<2x1x32xf32>
}

// -----
// Long enough at times: then the workspace is there.
// CHECK-LABEL: func.func @at_times
// CHECK: loops<if (n: [{{[0-9]+}}, ]) grid(d0) {{.*}} parts(
// CODE-LABEL: llir.schedule @at_times
// CODE: llir.slot {{.*}} bytes({{[0-9]+}} * min(max(n - {{[0-9]+}}, 0), 1))
func.func @at_times(%a: tensor<2x1x64xf32>, %b: tensor<2x?x64xf32, #hlir.dims<n>>, %c: tensor<2x?x32xf32, #hlir.dims<n>>) -> tensor<2x1x32xf32> attributes {hlir.symbols = #hlir.symbols<n in [0, 100000]>} {
  %r = llir.kernel(%a, %b, %c) : (tensor<2x1x64xf32>, tensor<2x?x64xf32, #hlir.dims<n>>, tensor<2x?x32xf32, #hlir.dims<n>>) -> tensor<2x1x32xf32> {
  ^bb0(%q: tensor<2x1x64xf32>, %k: tensor<2x?x64xf32, #hlir.dims<n>>, %v: tensor<2x?x32xf32, #hlir.dims<n>>):
    %s = llir.gemm %q, %k k(64) <(d0, d1, d2, d3) -> (d0, 0, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<2x1x64xf32>, tensor<2x?x64xf32, #hlir.dims<n>> -> tensor<2x1x?xf32, #hlir.dims<n>>
    %m = llir.reduce max %s : tensor<2x1x?xf32, #hlir.dims<n>> -> tensor<2x1xf32>
    %w = llir.view %m <(d0, d1, d2) -> (d0, 0)> : tensor<2x1xf32> -> tensor<2x1x?xf32, #hlir.dims<n>>
    %d = llir.elementwise sub(%s, %w) : (tensor<2x1x?xf32, #hlir.dims<n>>, tensor<2x1x?xf32, #hlir.dims<n>>) -> tensor<2x1x?xf32, #hlir.dims<n>>
    %e = llir.elementwise exp_fast(%d) : (tensor<2x1x?xf32, #hlir.dims<n>>) -> tensor<2x1x?xf32, #hlir.dims<n>>
    %t = llir.reduce sum %e : tensor<2x1x?xf32, #hlir.dims<n>> -> tensor<2x1xf32>
    %o = llir.gemm %e, %v k(n) <(d0, d1, d2, d3) -> (d0, 0, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<2x1x?xf32, #hlir.dims<n>>, tensor<2x?x32xf32, #hlir.dims<n>> -> tensor<2x1x32xf32>
    %u = llir.view %t <(d0, d1, d2) -> (d0, 0)> : tensor<2x1xf32> -> tensor<2x1x32xf32>
    %x = llir.elementwise div(%o, %u) : (tensor<2x1x32xf32>, tensor<2x1x32xf32>) -> tensor<2x1x32xf32>
    llir.yield %x : tensor<2x1x32xf32>
  }
  return %r : tensor<2x1x32xf32>
}
