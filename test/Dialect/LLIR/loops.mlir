// Schedules of kernels, read and written: one spelling for each.
// RUN: luminal-opt %s | FileCheck %s
// RUN: luminal-opt %s | luminal-opt | FileCheck %s
// RUN: luminal-opt %s --mlir-print-op-generic | luminal-opt | FileCheck %s

// CHECK-LABEL: func.func @cases
// CHECK: llir.kernel(%{{.*}}) loops<if (2 * s: [0, 4], s: [3, ]) grid(d0, d1:all v4) else grid(d0*d1:16 v8)> :
func.func @cases(%a: tensor<4x8xf32>) -> tensor<4x8xf32> attributes {hlir.symbols = #hlir.symbols<s in [1, 8]>} {
  %r = llir.kernel(%a) loops<if (s * 2: [0, 4], s: [3, ]) grid(d0:1, d1 : all v4) else grid(d0 * d1 : 16 v8)> : (tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%x: tensor<4x8xf32>):
    %0 = llir.elementwise sin(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    llir.yield %0 : tensor<4x8xf32>
  }
  return %r : tensor<4x8xf32>
}

// Forms in the order of the ops, numbers in that of their names.
// CHECK-LABEL: func.func @forms
// CHECK: loops<grid(d0) stream(d1:all v8) op0 = keep {result = 0} op1 = pass {lanes = 8, unroll = 2}>
func.func @forms(%a: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) {
  %r:2 = llir.kernel(%a) loops<grid(d0) stream(d1:all v8) op1 = pass {unroll = 2, lanes = 8} op0 = keep {result = 0}> : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) {
  ^bb0(%x: tensor<4x8xf32>):
    %0 = llir.elementwise exp(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %1 = llir.reduce sum %0 : tensor<4x8xf32> -> tensor<4xf32>
    llir.yield %0, %1 : tensor<4x8xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4x8xf32>, tensor<4xf32>
}

// Stores past the caches stand before the forms, of each case for itself.
// CHECK-LABEL: func.func @nontemporal
// CHECK: loops<if (s: [0, 4]) grid(d0) stream(d1:all v8) nontemporal op1 = pass {ahead = rows, lanes = 8} else grid(d0) stream(d1:all v8) op1 = pass>
func.func @nontemporal(%a: tensor<4x8xf32>) -> tensor<4xf32> attributes {hlir.symbols = #hlir.symbols<s in [1, 8]>} {
  %r = llir.kernel(%a) loops<if (s: [0, 4]) grid(d0) stream(d1:all v8) nontemporal op1 = pass {lanes = 8, ahead = rows} else grid(d0) stream(d1:all v8) op1 = pass> : (tensor<4x8xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4x8xf32>):
    %0 = llir.elementwise exp(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %1 = llir.reduce sum %0 : tensor<4x8xf32> -> tensor<4xf32>
    llir.yield %1 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// Parts of the reduced dim stand before the threads.
// CHECK-LABEL: func.func @parts
// CHECK: loops<if (s: [9, ]) grid(d0) stream(d1:all) parts(16) threads(64, 32) op0 = pass else grid(d0) stream(d1:all) threads(64, 32) op0 = pass>
func.func @parts(%a: tensor<4x80xf32>) -> tensor<4xf32> attributes {hlir.symbols = #hlir.symbols<s in [1, 80]>} {
  %r = llir.kernel(%a) loops<if (s: [9, ]) grid(d0) stream(d1:all) parts ( 16 ) threads(64, 32) op0 = pass else grid(d0) stream(d1:all) threads(64, 32) op0 = pass> : (tensor<4x80xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4x80xf32>):
    %0 = llir.reduce sum %x : tensor<4x80xf32> -> tensor<4xf32>
    llir.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// The attributes by themselves.
// CHECK-LABEL: func.func @attributes
// CHECK-SAME: a = #llir.loop_axis<d0*d2:7 v4>
// CHECK-SAME: b = #llir.loop_form<op3 = keep>
// CHECK-SAME: c = #llir.loop_case<grid()>
// CHECK-SAME: d = #llir.loops<grid(d1, d0)>
func.func @attributes() attributes {a = #llir.loop_axis<d0 * d2 : 7 v4>, b = #llir.loop_form<op3 = keep {}>,
                                    c = #llir.loop_case<grid()>, d = #llir.loops<grid(d1, d0)>} {
  return
}
