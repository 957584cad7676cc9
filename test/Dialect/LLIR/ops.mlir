// RUN: luminal-opt %s --verify-roundtrip | FileCheck %s

// Every op once, as its description shows it.

// CHECK-LABEL: func.func @flat
func.func @flat(%a: tensor<4xf32>, %b: tensor<4xf32>, %x: tensor<2x3xf32>, %data: tensor<10x4xf32>,
                %indices: tensor<2xi64>, %three: tensor<3xi64>, %updates: tensor<3x4xf32>, %l: tensor<4x8xf32>,
                %m: tensor<5x8xf32>) {
  // CHECK: llir.elementwise add(%{{.*}}, %{{.*}}) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %0 = llir.elementwise add(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK: llir.view %{{.*}} <(d0, d1) -> (d1, d0)> : tensor<2x3xf32> -> tensor<3x2xf32>
  %1 = llir.view %x <(d0, d1) -> (d1, d0)> : tensor<2x3xf32> -> tensor<3x2xf32>
  // CHECK: llir.constant dense<1.000000e+00> : tensor<f32>
  %2 = llir.constant dense<1.0> : tensor<f32>
  // CHECK: llir.iota <(d0) -> (d0)> : tensor<4xi64>
  %3 = llir.iota <(d0) -> (d0)> : tensor<4xi64>
  // CHECK: llir.reduce sum %{{.*}} : tensor<2x3xf32> -> tensor<2xf32>
  %4 = llir.reduce sum %x : tensor<2x3xf32> -> tensor<2xf32>
  // CHECK: llir.reduce max %{{.*}} : tensor<2x3xf32> -> tensor<2xf32>
  %5 = llir.reduce max %x : tensor<2x3xf32> -> tensor<2xf32>
  // CHECK: llir.softmax %{{.*}} : tensor<2x3xf32>
  %6 = llir.softmax %x : tensor<2x3xf32>
  // CHECK: llir.layer_norm %{{.*}} {eps = 1.000000e-05 : f64} : tensor<2x3xf32>
  %7 = llir.layer_norm %x {eps = 1.0e-5 : f64} : tensor<2x3xf32>
  // CHECK: llir.rms_norm %{{.*}} {eps = {{.*}} : f64} : tensor<2x3xf32>
  %8 = llir.rms_norm %x {eps = 1.0e-6 : f64} : tensor<2x3xf32>
  // CHECK: llir.gemm %{{.*}}, %{{.*}} k(8) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
  %9 = llir.gemm %l, %m k(8) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
      : tensor<4x8xf32>, tensor<5x8xf32> -> tensor<4x5xf32>
  // CHECK: llir.segment_reduce sum %{{.*}}, %{{.*}} : tensor<10x4xf32>, tensor<2xi64> -> tensor<2x4xf32>
  %seg = llir.segment_reduce sum %data, %indices : tensor<10x4xf32>, tensor<2xi64> -> tensor<2x4xf32>
  // CHECK: llir.gather %{{.*}}, %{{.*}} {checked} : tensor<10x4xf32>, tensor<2xi64> -> tensor<2x4xf32>
  %10 = llir.gather %data, %indices {checked} : tensor<10x4xf32>, tensor<2xi64> -> tensor<2x4xf32>
  // CHECK: llir.scan_parts %{{.*}} {axis = 0 : i64, kind = #llir.scan_kind<max>, part = #hlir.map<() -> (3)>, positions = true} : tensor<4xf32> -> tensor<2xf32>, tensor<2xi64>
  %s:2 = llir.scan_parts %a {axis = 0 : i64, kind = #llir.scan_kind<max>, part = #hlir.map<() -> (3)>, positions = true} : tensor<4xf32> -> tensor<2xf32>, tensor<2xi64>
  // CHECK: llir.scan_rows %{{.*}}, %{{.*}}, %{{.*}} {axis = 0 : i64, kind = #llir.scan_kind<max>, part = #hlir.map<() -> (3)>, positions = true} : (tensor<4xf32>, tensor<2xf32>, tensor<2xi64>) -> tensor<4xi64>
  %t = llir.scan_rows %a, %s#0, %s#1 {axis = 0 : i64, kind = #llir.scan_kind<max>, part = #hlir.map<() -> (3)>, positions = true} : (tensor<4xf32>, tensor<2xf32>, tensor<2xi64>) -> tensor<4xi64>
  // CHECK: llir.scan_rows %{{[^,]*}} {axis = 1 : i64, exclusive = true, kind = #llir.scan_kind<sum>, part = #hlir.map<() -> (3)>, reverse = true} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %u = llir.scan_rows %x {axis = 1 : i64, kind = #llir.scan_kind<sum>, part = #hlir.map<() -> (3)>, reverse = true, exclusive = true} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK: llir.sort_runs %{{.*}} {keep = #hlir.map<() -> (64)>, run = 64 : i64} : tensor<4xf32> -> tensor<4xi64>
  %v = llir.sort_runs %a {keep = #hlir.map<() -> (64)>, run = 64 : i64} : tensor<4xf32> -> tensor<4xi64>
  // CHECK: llir.sort_runs %{{.*}} {descending = true, keep = #hlir.map<() -> (2)>, nan_first = true, run = 64 : i64} : tensor<4xf32> -> tensor<2xi32>, tensor<2xi32>
  %w:2 = llir.sort_runs %a {keep = #hlir.map<() -> (2)>, descending = true, nan_first = true, run = 64 : i64} : tensor<4xf32> -> tensor<2xi32>, tensor<2xi32>
  // CHECK: llir.merge_runs %{{.*}}, %{{.*}} {begin = #hlir.map<() -> (1)>, keep = #hlir.map<() -> (1)>, run = #hlir.map<() -> (2)>, ways = 8 : i64} : tensor<2xi32>, tensor<2xi32> -> tensor<1xi64>
  %y = llir.merge_runs %w#0, %w#1 {begin = #hlir.map<() -> (1)>, keep = #hlir.map<() -> (1)>, run = #hlir.map<() -> (2)>, ways = 8 : i64} : tensor<2xi32>, tensor<2xi32> -> tensor<1xi64>
  // CHECK: llir.scatter set %{{.*}}, %{{.*}}, %{{.*}} {checked} : tensor<10x4xf32>, tensor<3xi64>, tensor<3x4xf32>
  %11 = llir.scatter set %data, %three, %updates {checked} : tensor<10x4xf32>, tensor<3xi64>, tensor<3x4xf32>
  return
}

// CHECK-LABEL: func.func @kernels
func.func @kernels(%a: tensor<4xf32>, %b: tensor<4xf32>, %x: tensor<2x3xf32>, %c: tensor<8xf32>, %i: tensor<1xi64>)
    -> tensor<4xf32> {
  // CHECK: %[[R:.*]] = llir.kernel(%{{.*}}, %{{.*}}) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<4xf32>, %{{.*}}: tensor<4xf32>):
  %r = llir.kernel(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%p: tensor<4xf32>, %q: tensor<4xf32>):
    %0 = llir.elementwise add(%p, %q) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = llir.elementwise exp(%0) : (tensor<4xf32>) -> tensor<4xf32>
    // CHECK: llir.yield %{{.*}} : tensor<4xf32>
    llir.yield %1 : tensor<4xf32>
  }
  // CHECK: llir.kernel(%{{.*}}, %{{.*}}) {in_place}
  %s = llir.kernel(%c, %i) {in_place} : (tensor<8xf32>, tensor<1xi64>) -> tensor<8xf32> {
  ^bb0(%p: tensor<8xf32>, %q: tensor<1xi64>):
    %one = llir.constant dense<1.0> : tensor<1xf32>
    %0 = llir.scatter add %p, %q, %one {checked} : tensor<8xf32>, tensor<1xi64>, tensor<1xf32>
    llir.yield %0 : tensor<8xf32>
  }
  // CHECK: llir.alias %{{.*}} offset(0) : tensor<2x3xf32> -> tensor<6xf32>
  %v = llir.alias %x offset(0) : tensor<2x3xf32> -> tensor<6xf32>
  // CHECK: llir.concat(%{{.*}}, %{{.*}}) : (tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  %j = llir.concat(%r, %r) : (tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
  // CHECK: llir.prepare %{{.*}} : tensor<4xf32>
  %prepared = llir.prepare %r : tensor<4xf32>
  return %r : tensor<4xf32>
}

func.func private @k0()
func.func private @k1()

// CHECK-LABEL: llir.schedule @main symbols <s0 in [1, 64]> arena(64 * s0) prepare @weights {
llir.schedule @main symbols <s0 in [1, 64]> arena(64 * s0) prepare @weights {
  // CHECK: %[[X:.*]] = llir.argument input "x" : tensor<?x16xf32, #hlir.dims<s0>>
  %x = llir.argument input "x" : tensor<?x16xf32, #hlir.dims<s0>>
  // CHECK: llir.argument weight "a.weight" source {bytes = 64 : i64, member = "data/weights/weight_0", offset = 0 : i64}
  %w = llir.argument weight "a.weight" source {member = "data/weights/weight_0", offset = 0 : i64, bytes = 64 : i64}
      : tensor<4x4xf32>
  // CHECK: llir.data dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  %c = llir.data dense<[1.0, 2.0]> : tensor<2xf32>
  // CHECK: %[[T:.*]] = llir.slot offset(0) bytes(64 * s0)
  %t = llir.slot offset(0) bytes(64 * s0)
  // CHECK: %[[C:.*]] = llir.counters bytes(4 * s0)
  %n = llir.counters bytes(4 * s0)
  // CHECK: llir.prepared "p0" : tensor<4xf32>
  %q = llir.prepared "p0" : tensor<4xf32>
  // CHECK: llir.part %[[T]] offset(64) bytes(32)
  %p = llir.part %t offset(64) bytes(32)
  // CHECK: llir.step "map" @k0(%[[X]]) writes(%[[T]]) cost(128 * s0, 16 * s0) launch #llir.cpu_launch<work = s0, grain = 16, scratch = 0, parallel>
  llir.step "map" @k0(%x) writes(%t) cost(128 * s0, 16 * s0)
      launch #llir.cpu_launch<work = s0, grain = 16, scratch = 0, parallel>
  // CHECK: %[[Y:.*]] = llir.result : tensor<?x16xf32, #hlir.dims<s0>>
  %y = llir.result : tensor<?x16xf32, #hlir.dims<s0>>
  // CHECK: llir.step "map" @k1(%[[T]]) writes(%[[Y]]) cost(128 * s0, 16 * s0)
  llir.step "map" @k1(%t) writes(%y) cost(128 * s0, 16 * s0)
  // CHECK: llir.step "map" @k1(%[[T]]) writes(%[[Y]]) cost(0, 0) launch #llir.cuda_launch<work = 16 * s0, grid = s0, block = 256, shared = 4096>
  llir.step "map" @k1(%t) writes(%y) cost(0, 0)
      launch #llir.cuda_launch<work = 16 * s0, grid = s0, block = 256, shared = 4096>
  // CHECK: llir.step "sum" @k1(%[[X]]) writes(%[[Y]]) workspace(%[[T]], %[[C]]) cost(0, 0)
  llir.step "sum" @k1(%x) writes(%y) workspace(%t, %n) cost(0, 0)
  // CHECK: llir.output "y" %[[Y]] : tensor<?x16xf32, #hlir.dims<s0>>
  llir.output "y" %y : tensor<?x16xf32, #hlir.dims<s0>>
}
