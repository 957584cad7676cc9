// RUN: luminal-opt %s --verify-roundtrip | FileCheck %s
// Every op, as its description shows it; types and attributes in every form.

// CHECK-LABEL: func.func @unary
func.func @unary(%x: tensor<4xf32>) {
  // CHECK: hlir.log2 %{{.*}} : tensor<4xf32>
  %0 = hlir.log2 %x : tensor<4xf32>
  // CHECK: hlir.exp2 %{{.*}} : tensor<4xf32>
  %1 = hlir.exp2 %x : tensor<4xf32>
  // CHECK: hlir.sin %{{.*}} : tensor<4xf32>
  %2 = hlir.sin %x : tensor<4xf32>
  // CHECK: hlir.sqrt %{{.*}} : tensor<4xf32>
  %3 = hlir.sqrt %x : tensor<4xf32>
  // CHECK: hlir.recip %{{.*}} : tensor<4xf32>
  %4 = hlir.recip %x : tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @binary
func.func @binary(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>) {
  // CHECK: hlir.add %{{.*}}, %{{.*}} : tensor<2x3xf32>
  %0 = hlir.add %a, %b : tensor<2x3xf32>
  // CHECK: hlir.mul %{{.*}}, %{{.*}} : tensor<2x3xf32>
  %1 = hlir.mul %a, %b : tensor<2x3xf32>
  return
}

// CHECK-LABEL: func.func @mod
func.func @mod(%a: tensor<4xi64>, %b: tensor<4xi64>) {
  // CHECK: hlir.mod %{{.*}}, %{{.*}} : tensor<4xi64>
  %r = hlir.mod %a, %b : tensor<4xi64>
  return
}

// CHECK-LABEL: func.func @less_than
func.func @less_than(%a: tensor<4xf32>, %b: tensor<4xf32>) {
  // CHECK: hlir.less_than %{{.*}}, %{{.*}} : tensor<4xf32> -> tensor<4xi1>
  %r = hlir.less_than %a, %b : tensor<4xf32> -> tensor<4xi1>
  return
}

// CHECK-LABEL: func.func @cast
func.func @cast(%x: tensor<4xf32>) {
  // CHECK: hlir.cast %{{.*}} : tensor<4xf32> -> tensor<4xf64>
  %r = hlir.cast %x : tensor<4xf32> -> tensor<4xf64>
  return
}

// CHECK-LABEL: func.func @storage
func.func @storage(%a: tensor<4xi8>, %b: tensor<4xui8>, %c: tensor<4xf8E4M3FN>, %d: tensor<4xf8E5M2>) {
  // CHECK: hlir.cast %{{.*}} : tensor<4xi8> -> tensor<4xf32>
  %0 = hlir.cast %a : tensor<4xi8> -> tensor<4xf32>
  // CHECK: hlir.cast %{{.*}} : tensor<4xui8> -> tensor<4xi32>
  %1 = hlir.cast %b : tensor<4xui8> -> tensor<4xi32>
  // CHECK: hlir.cast %{{.*}} : tensor<4xf8E4M3FN> -> tensor<4xbf16>
  %2 = hlir.cast %c : tensor<4xf8E4M3FN> -> tensor<4xbf16>
  // CHECK: hlir.cast %{{.*}} : tensor<4xf8E5M2> -> tensor<4xf16>
  %3 = hlir.cast %d : tensor<4xf8E5M2> -> tensor<4xf16>
  return
}

// CHECK-LABEL: func.func @reduce
func.func @reduce(%x: tensor<2x3xf32>, %m: tensor<2x3xi1>) {
  // CHECK: hlir.reduce_sum %{{.*}} : tensor<2x3xf32> -> tensor<2xf32>
  %0 = hlir.reduce_sum %x : tensor<2x3xf32> -> tensor<2xf32>
  // CHECK: hlir.reduce_max %{{.*}} : tensor<2x3xf32> -> tensor<2xf32>
  %1 = hlir.reduce_max %x : tensor<2x3xf32> -> tensor<2xf32>
  // CHECK: hlir.reduce_max %{{.*}} : tensor<2x3xi1> -> tensor<2xi1>
  %2 = hlir.reduce_max %m : tensor<2x3xi1> -> tensor<2xi1>
  return
}

// CHECK-LABEL: func.func @iota
func.func @iota() {
  // CHECK: hlir.iota <(d0, d1) -> (3 * d0 + d1)> : tensor<2x3xi64>
  %r = hlir.iota <(d0, d1) -> (d0 * 3 + d1)> : tensor<2x3xi64>
  return
}

// CHECK-LABEL: func.func @gather
func.func @gather(%data: tensor<10x4xf32>, %indices: tensor<2x3xi64>) {
  // CHECK: hlir.gather %{{.*}}, %{{.*}} : tensor<10x4xf32>, tensor<2x3xi64> -> tensor<2x3x4xf32>
  %r = hlir.gather %data, %indices : tensor<10x4xf32>, tensor<2x3xi64> -> tensor<2x3x4xf32>
  return
}

// CHECK-LABEL: func.func @scatter
func.func @scatter(%dest: tensor<10x4xf32>, %indices: tensor<3xi64>, %updates: tensor<3x4xf32>) {
  // CHECK: hlir.scatter set %{{.*}}, %{{.*}}, %{{.*}} : tensor<10x4xf32>, tensor<3xi64>, tensor<3x4xf32>
  %0 = hlir.scatter set %dest, %indices, %updates : tensor<10x4xf32>, tensor<3xi64>, tensor<3x4xf32>
  // CHECK: hlir.scatter add
  %r = hlir.scatter add %dest, %indices, %updates : tensor<10x4xf32>, tensor<3xi64>, tensor<3x4xf32>
  // CHECK: hlir.scatter max
  %2 = hlir.scatter max %dest, %indices, %updates : tensor<10x4xf32>, tensor<3xi64>, tensor<3x4xf32>
  return
}

// CHECK-LABEL: func.func @constant
func.func @constant() {
  // CHECK: hlir.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>
  %r = hlir.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // CHECK: hlir.constant dense<true> : tensor<i1>
  %1 = hlir.constant dense<true> : tensor<i1>
  return
}

// CHECK-LABEL: func.func @view
func.func @view(%x: tensor<2x3xf32>) {
  // CHECK: hlir.view %{{.*}} <(d0, d1) -> (d1, d0)> : tensor<2x3xf32> -> tensor<3x2xf32>
  %r = hlir.view %x <(d0, d1) -> (d1, d0)> : tensor<2x3xf32> -> tensor<3x2xf32>
  return
}

// CHECK-LABEL: func.func @bitcast
func.func @bitcast(%x: tensor<4xf32>, %y: tensor<4xi16>, %z: tensor<4xui32>) {
  // CHECK: hlir.bitcast %{{.*}} : tensor<4xf32> -> tensor<4xi32>
  %r = hlir.bitcast %x : tensor<4xf32> -> tensor<4xi32>
  // CHECK: hlir.bitcast %{{.*}} : tensor<4xi16> -> tensor<4xbf16>
  %0 = hlir.bitcast %y : tensor<4xi16> -> tensor<4xbf16>
  // CHECK: hlir.cast %{{.*}} : tensor<4xui32> -> tensor<4xui16>
  %1 = hlir.cast %z : tensor<4xui32> -> tensor<4xui16>
  return
}

// CHECK-LABEL: func.func @select
func.func @select(%c: tensor<4xi1>, %a: tensor<4xf32>, %b: tensor<4xf32>) {
  // CHECK: hlir.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4xi1>, tensor<4xf32>
  %r = hlir.select %c, %a, %b : tensor<4xi1>, tensor<4xf32>
  return
}

// CHECK-LABEL: func.func @repeat
func.func @repeat(%x: tensor<4xf32>, %w0: tensor<4xf32>, %w1: tensor<4xf32>) {
  // CHECK: hlir.repeat 2 carried(%{{.*}} : tensor<4xf32>) each(%{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>) {
  // CHECK: ^bb0(%[[C:.*]]: tensor<4xf32>, %[[W:.*]]: tensor<4xf32>):
  // CHECK:   %[[M:.*]] = hlir.mul %[[C]], %[[W]] : tensor<4xf32>
  // CHECK:   hlir.yield %[[M]] : tensor<4xf32>
  // CHECK: } -> tensor<4xf32>
  %r = hlir.repeat 2 carried(%x : tensor<4xf32>) each(%w0, %w1 : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%c: tensor<4xf32>, %w: tensor<4xf32>):
    %m = hlir.mul %c, %w : tensor<4xf32>
    hlir.yield %m : tensor<4xf32>
  } -> tensor<4xf32>
  // CHECK: hlir.repeat 3 {
  // CHECK-NEXT: hlir.yield
  // CHECK-NEXT: }
  hlir.repeat 3 {
    hlir.yield
  }
  // CHECK: hlir.repeat 1 carried(%{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xf32>) attributes {note = 1 : i64} {
  // CHECK: } -> (tensor<4xf32>, tensor<4xf32>)
  %s:2 = hlir.repeat 1 carried(%x, %w0 : tensor<4xf32>, tensor<4xf32>) attributes {note = 1} {
  ^bb0(%c: tensor<4xf32>, %d: tensor<4xf32>):
    hlir.yield %d, %c : tensor<4xf32>, tensor<4xf32>
  } -> (tensor<4xf32>, tensor<4xf32>)
  // CHECK: :3 = hlir.repeat 2 carried(%{{.*}} : tensor<4xf32>) {
  // CHECK:   hlir.yield %{{.*}}, %{{.*}} : tensor<4xf32>, tensor<4xi1>
  // CHECK: } -> (tensor<4xf32>, tensor<4xi1>, tensor<4xi1>)
  %t:3 = hlir.repeat 2 carried(%x : tensor<4xf32>) {
  ^bb0(%c: tensor<4xf32>):
    %n = hlir.sin %c : tensor<4xf32>
    %l = hlir.less_than %c, %n : tensor<4xf32> -> tensor<4xi1>
    hlir.yield %n, %l : tensor<4xf32>, tensor<4xi1>
  } -> (tensor<4xf32>, tensor<4xi1>, tensor<4xi1>)
  return
}

// CHECK-LABEL: func.func @custom
func.func @custom(%x: tensor<4xf32>) {
  // CHECK: hlir.custom "my.kernel"(%{{.*}}) {alpha = 2.000000e+00 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  %r = hlir.custom "my.kernel"(%x) {alpha = 2.0 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// Dynamic dims, symbols and the attributes of a program.
// CHECK-LABEL: func.func @program(
// CHECK-SAME: tensor<?x16x?xf32, #hlir.dims<s0, 2 * s0 + 1>> {hlir.kind = "input", hlir.name = "x"}
// CHECK-SAME: tensor<16xf32> {hlir.kind = "weight", hlir.name = "w", hlir.source = {bytes = 64 : i64, member = "data/weights/weight_0", offset = 0 : i64}}
// CHECK-SAME: tensor<4x16xf32> {hlir.kind = "state", hlir.name = "cache"}
// CHECK-SAME: -> (tensor<?xf32, #hlir.dims<s0>>, tensor<4x16xf32> {hlir.updates = 2 : i64})
// CHECK-SAME: attributes {hlir.symbols = #hlir.symbols<s0 in [1, 4096], s1 in [0, ]>}
func.func @program(
    %x: tensor<?x16x?xf32, #hlir.dims<s0, 2 * s0 + 1>> {hlir.name = "x", hlir.kind = "input"},
    %w: tensor<16xf32> {hlir.name = "w", hlir.kind = "weight",
                        hlir.source = {member = "data/weights/weight_0", offset = 0 : i64, bytes = 64 : i64}},
    %cache: tensor<4x16xf32> {hlir.name = "cache", hlir.kind = "state"})
    -> (tensor<?xf32, #hlir.dims<s0>>, tensor<4x16xf32> {hlir.updates = 2})
    attributes {hlir.symbols = #hlir.symbols<s0 in [1, 4096], s1 in [0, ]>} {
  // CHECK: hlir.view %{{.*}} <(d0) -> (d0, d0 mod 16, d0 + s0)>
  %0 = hlir.view %x <(d0) -> (d0, d0 mod 16, s0 + d0)>
      : tensor<?x16x?xf32, #hlir.dims<s0, 2 * s0 + 1>> -> tensor<?xf32, #hlir.dims<s0>>
  // CHECK: hlir.view %{{.*}} <(d0, d1, d2) -> (d0, d1 floordiv s0, max(d2, 3) - 3)>
  %1 = hlir.view %x <(d0, d1, d2) -> (d0, d1 floordiv s0, max(d2, 3) - 3)>
      : tensor<?x16x?xf32, #hlir.dims<s0, 2 * s0 + 1>> -> tensor<?x16x2xf32, #hlir.dims<s0>>
  return %0, %cache : tensor<?xf32, #hlir.dims<s0>>, tensor<4x16xf32>
}

// CHECK-LABEL: func.func private @attributes
// CHECK-SAME: #hlir.map<(d0, d1) -> (d1, d0 floordiv s0)>
// CHECK-SAME: #hlir.map<() -> (8)>
// CHECK-SAME: #hlir.map<(d0) -> ()>
// CHECK-SAME: #hlir.symbols<>
// CHECK-SAME: hlir.literal_inputs = [{position = 1 : i64, value = 2.500000e-01 : f64}]
// CHECK-SAME: hlir.literal_outputs = [{position = 0 : i64, value}]
func.func private @attributes() attributes {
  a = #hlir.map<(d0, d1) -> (d1, d0 floordiv s0)>, b = #hlir.map<() -> (8)>, c = #hlir.map<(d0) -> ()>,
  d = #hlir.symbols<>, hlir.literal_inputs = [{position = 1, value = 0.25}],
  hlir.literal_outputs = [{position = 0, value}]}
