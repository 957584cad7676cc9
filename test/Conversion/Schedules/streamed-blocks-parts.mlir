// Few rows over a long stream: several thread blocks walk a part of it each.
// RUN: luminal-opt %s --split-input-file --llir-schedule-kernels="target=cuda arch=sm_90a" | FileCheck %s
// RUN: luminal-opt %s --split-input-file --llir-schedule-kernels="target=cuda arch=sm_90a" --remarks-filter=llir-schedule-kernels -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: luminal-opt %s --split-input-file --llir-schedule-kernels="target=cuda arch=sm_90a" --llir-plan-memory | FileCheck %s --check-prefix=PLAN

// The workspace has the states of all parts, and a counter for each head.
// CHECK-LABEL: func.func @known
// CHECK: loops<grid(d0) stream(d2:32) parts([[N:[0-9]+]]) threads(32, 32) op0 = block {{.*}} stages = 3, use = mma}
// REMARK: Function=known {{.*}} parts={{[0-9]+}}
// PLAN-LABEL: llir.schedule @known
// PLAN: %[[C:.*]] = llir.counters bytes(32)
// PLAN: workspace(%{{.*}}, %[[C]])
func.func @known(%a: tensor<8x1x64xf16>, %b: tensor<8x8192x64xf16>, %c: tensor<8x8192x64xf16>) -> tensor<8x1x64xf16> {
  %r = llir.kernel(%a, %b, %c) : (tensor<8x1x64xf16>, tensor<8x8192x64xf16>, tensor<8x8192x64xf16>) -> tensor<8x1x64xf16> {
  ^bb0(%q: tensor<8x1x64xf16>, %k: tensor<8x8192x64xf16>, %v: tensor<8x8192x64xf16>):
    %s = llir.gemm %q, %k k(64) <(d0, d1, d2, d3) -> (d0, 0, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<8x1x64xf16>, tensor<8x8192x64xf16> -> tensor<8x1x8192xf16>
    %m = llir.reduce max %s : tensor<8x1x8192xf16> -> tensor<8x1xf16>
    %w = llir.view %m <(d0, d1, d2) -> (d0, d1)> : tensor<8x1xf16> -> tensor<8x1x8192xf16>
    %d = llir.elementwise sub(%s, %w) : (tensor<8x1x8192xf16>, tensor<8x1x8192xf16>) -> tensor<8x1x8192xf16>
    %e = llir.elementwise exp(%d) : (tensor<8x1x8192xf16>) -> tensor<8x1x8192xf16>
    %o = llir.gemm %e, %v k(8192) <(d0, d1, d2, d3) -> (d0, 0, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<8x1x8192xf16>, tensor<8x8192x64xf16> -> tensor<8x1x64xf16>
    llir.yield %o : tensor<8x1x64xf16>
  }
  return %r : tensor<8x1x64xf16>
}

// -----
// For a length that is known at a call, parts are a case of their own.
// CHECK-LABEL: func.func @length
// CHECK: loops<if (n: [{{[0-9]+}}, ]) grid(d0) stream(d2:32) parts({{[0-9]+}}) threads(32, 32) {{.*}} else grid(d0) stream(d2:32) threads(32, 32)
func.func @length(%a: tensor<8x1x64xf16>, %b: tensor<8x?x64xf16, #hlir.dims<n>>, %c: tensor<8x?x64xf16, #hlir.dims<n>>) -> tensor<8x1x64xf16> attributes {hlir.symbols = #hlir.symbols<n in [0, 100000]>} {
  %r = llir.kernel(%a, %b, %c) : (tensor<8x1x64xf16>, tensor<8x?x64xf16, #hlir.dims<n>>, tensor<8x?x64xf16, #hlir.dims<n>>) -> tensor<8x1x64xf16> {
  ^bb0(%q: tensor<8x1x64xf16>, %k: tensor<8x?x64xf16, #hlir.dims<n>>, %v: tensor<8x?x64xf16, #hlir.dims<n>>):
    %s = llir.gemm %q, %k k(64) <(d0, d1, d2, d3) -> (d0, 0, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<8x1x64xf16>, tensor<8x?x64xf16, #hlir.dims<n>> -> tensor<8x1x?xf16, #hlir.dims<n>>
    %m = llir.reduce max %s : tensor<8x1x?xf16, #hlir.dims<n>> -> tensor<8x1xf16>
    %w = llir.view %m <(d0, d1, d2) -> (d0, d1)> : tensor<8x1xf16> -> tensor<8x1x?xf16, #hlir.dims<n>>
    %d = llir.elementwise sub(%s, %w) : (tensor<8x1x?xf16, #hlir.dims<n>>, tensor<8x1x?xf16, #hlir.dims<n>>) -> tensor<8x1x?xf16, #hlir.dims<n>>
    %e = llir.elementwise exp(%d) : (tensor<8x1x?xf16, #hlir.dims<n>>) -> tensor<8x1x?xf16, #hlir.dims<n>>
    %o = llir.gemm %e, %v k(n) <(d0, d1, d2, d3) -> (d0, 0, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<8x1x?xf16, #hlir.dims<n>>, tensor<8x?x64xf16, #hlir.dims<n>> -> tensor<8x1x64xf16>
    llir.yield %o : tensor<8x1x64xf16>
  }
  return %r : tensor<8x1x64xf16>
}

// -----
// And for a number of rows.
// CHECK-LABEL: func.func @rows
// CHECK: loops<if (m: [{{.*}}, 64]) grid(d0, d1:64) stream(d2:64) parts({{[0-9]+}}) threads(128, 128) {{.*}} else grid(d0, d1:64) stream(d2:64) threads(128, 128)
func.func @rows(%a: tensor<8x?x64xf16, #hlir.dims<m>>, %b: tensor<8x8192x64xf16>, %c: tensor<8x8192x64xf16>) -> tensor<8x?x64xf16, #hlir.dims<m>> attributes {hlir.symbols = #hlir.symbols<m in [0, 100000]>} {
  %r = llir.kernel(%a, %b, %c) : (tensor<8x?x64xf16, #hlir.dims<m>>, tensor<8x8192x64xf16>, tensor<8x8192x64xf16>) -> tensor<8x?x64xf16, #hlir.dims<m>> {
  ^bb0(%q: tensor<8x?x64xf16, #hlir.dims<m>>, %k: tensor<8x8192x64xf16>, %v: tensor<8x8192x64xf16>):
    %s = llir.gemm %q, %k k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<8x?x64xf16, #hlir.dims<m>>, tensor<8x8192x64xf16> -> tensor<8x?x8192xf16, #hlir.dims<m>>
    %m = llir.reduce max %s : tensor<8x?x8192xf16, #hlir.dims<m>> -> tensor<8x?xf16, #hlir.dims<m>>
    %w = llir.view %m <(d0, d1, d2) -> (d0, d1)> : tensor<8x?xf16, #hlir.dims<m>> -> tensor<8x?x8192xf16, #hlir.dims<m>>
    %d = llir.elementwise sub(%s, %w) : (tensor<8x?x8192xf16, #hlir.dims<m>>, tensor<8x?x8192xf16, #hlir.dims<m>>) -> tensor<8x?x8192xf16, #hlir.dims<m>>
    %e = llir.elementwise exp(%d) : (tensor<8x?x8192xf16, #hlir.dims<m>>) -> tensor<8x?x8192xf16, #hlir.dims<m>>
    %o = llir.gemm %e, %v k(8192) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<8x?x8192xf16, #hlir.dims<m>>, tensor<8x8192x64xf16> -> tensor<8x?x64xf16, #hlir.dims<m>>
    llir.yield %o : tensor<8x?x64xf16, #hlir.dims<m>>
  }
  return %r : tensor<8x?x64xf16, #hlir.dims<m>>
}

// -----
// CHECK-LABEL: func.func @short
// CHECK-NOT: parts
// REMARK: Function=short {{.*}} no parts because="a part would get too little of the stream"
func.func @short(%a: tensor<8x1x64xf16>, %b: tensor<8x96x64xf16>, %c: tensor<8x96x64xf16>) -> tensor<8x1x64xf16> {
  %r = llir.kernel(%a, %b, %c) : (tensor<8x1x64xf16>, tensor<8x96x64xf16>, tensor<8x96x64xf16>) -> tensor<8x1x64xf16> {
  ^bb0(%q: tensor<8x1x64xf16>, %k: tensor<8x96x64xf16>, %v: tensor<8x96x64xf16>):
    %s = llir.gemm %q, %k k(64) <(d0, d1, d2, d3) -> (d0, 0, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<8x1x64xf16>, tensor<8x96x64xf16> -> tensor<8x1x96xf16>
    %m = llir.reduce max %s : tensor<8x1x96xf16> -> tensor<8x1xf16>
    %w = llir.view %m <(d0, d1, d2) -> (d0, d1)> : tensor<8x1xf16> -> tensor<8x1x96xf16>
    %d = llir.elementwise sub(%s, %w) : (tensor<8x1x96xf16>, tensor<8x1x96xf16>) -> tensor<8x1x96xf16>
    %e = llir.elementwise exp(%d) : (tensor<8x1x96xf16>) -> tensor<8x1x96xf16>
    %o = llir.gemm %e, %v k(96) <(d0, d1, d2, d3) -> (d0, 0, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<8x1x96xf16>, tensor<8x96x64xf16> -> tensor<8x1x64xf16>
    llir.yield %o : tensor<8x1x64xf16>
  }
  return %r : tensor<8x1x64xf16>
}

// -----
// CHECK-LABEL: func.func @many
// CHECK-NOT: parts
// REMARK: Function=many {{.*}} no parts because="there are work items for all workers"
func.func @many(%a: tensor<8x4096x64xf16>, %b: tensor<8x1024x64xf16>, %c: tensor<8x1024x64xf16>) -> tensor<8x4096x64xf16> {
  %r = llir.kernel(%a, %b, %c) : (tensor<8x4096x64xf16>, tensor<8x1024x64xf16>, tensor<8x1024x64xf16>) -> tensor<8x4096x64xf16> {
  ^bb0(%q: tensor<8x4096x64xf16>, %k: tensor<8x1024x64xf16>, %v: tensor<8x1024x64xf16>):
    %s = llir.gemm %q, %k k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<8x4096x64xf16>, tensor<8x1024x64xf16> -> tensor<8x4096x1024xf16>
    %m = llir.reduce max %s : tensor<8x4096x1024xf16> -> tensor<8x4096xf16>
    %w = llir.view %m <(d0, d1, d2) -> (d0, d1)> : tensor<8x4096xf16> -> tensor<8x4096x1024xf16>
    %d = llir.elementwise sub(%s, %w) : (tensor<8x4096x1024xf16>, tensor<8x4096x1024xf16>) -> tensor<8x4096x1024xf16>
    %e = llir.elementwise exp(%d) : (tensor<8x4096x1024xf16>) -> tensor<8x4096x1024xf16>
    %o = llir.gemm %e, %v k(1024) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<8x4096x1024xf16>, tensor<8x1024x64xf16> -> tensor<8x4096x64xf16>
    llir.yield %o : tensor<8x4096x64xf16>
  }
  return %r : tensor<8x4096x64xf16>
}
