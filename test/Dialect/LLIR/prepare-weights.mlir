// What depends on weights alone and takes longer to compute than to read is
// computed once. Each value that is, or is not for want of memory, is a remark.
// DEFINE: %{opt} = luminal-opt %s --split-input-file --llir-prepare-weights
// RUN: %{opt} | FileCheck %s
// RUN: %{opt} --remarks-filter=llir-prepare-weights -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: luminal-opt %s --split-input-file --llir-prepare-weights=prepare-bytes=0 | FileCheck %s --check-prefix=NONE
// RUN: luminal-opt %s --split-input-file --llir-prepare-weights=prepare-bytes=16 --remarks-filter=llir-prepare-weights -o %t 2>&1 \
// RUN:   | FileCheck %s --check-prefix=LITTLE
// NONE-NOT: llir.prepare %1

// The last value of the chain, before the view that spreads it.
// CHECK-LABEL: func.func @scale
// CHECK: %[[R:.*]] = llir.elementwise recip
// CHECK: %[[P:.*]] = llir.prepare %[[R]] : tensor<4xf32>
// CHECK: llir.view %[[P]]
// REMARK: [Passed] prepared {{.*}} bytes=16, {{.*}}op="elementwise recip"
// LITTLE: [Passed] prepared {{.*}} bytes=16, {{.*}}op="elementwise recip"
func.func @scale(%x: tensor<8x4xf32>, %w: tensor<4xf32> {hlir.kind = "weight"}) -> tensor<8x4xf32> {
  %0 = llir.elementwise sqrt(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = llir.elementwise recip(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = llir.view %1 <(d0, d1) -> (d1)> : tensor<4xf32> -> tensor<8x4xf32>
  %3 = llir.elementwise mul(%x, %2) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  return %3 : tensor<8x4xf32>
}

// -----

// A product of weights, and a table that depends on nothing, for which there is
// room beside it where the weights are small, unless the caller says how much.
// CHECK-LABEL: func.func @product
// CHECK: %[[G:.*]] = llir.gemm
// CHECK: llir.prepare %[[G]] : tensor<8x8xf32>
// CHECK: %[[S:.*]] = llir.elementwise sin
// CHECK: llir.prepare %[[S]] : tensor<8x8xf32>
// CHECK: return
// REMARK: [Passed] prepared {{.*}} bytes=256, {{.*}}op=gemm
// REMARK: [Passed] prepared {{.*}} bytes=256, {{.*}}op="elementwise sin"
// LITTLE: [Missed] prepared {{.*}} bytes=256, {{.*}}op=gemm{{.*}}reason="the memory for prepared values is exhausted"
// LITTLE: [Missed] prepared {{.*}} bytes=256, {{.*}}op="elementwise sin"{{.*}}reason="the memory for prepared values is exhausted"
func.func @product(%x: tensor<8x8xf32>, %w: tensor<8x8xf32> {hlir.kind = "weight"}) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %0 = llir.gemm %w, %w k(8) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %1 = llir.elementwise add(%x, %0) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  %i = llir.iota <(d0, d1) -> (d0 * 8 + d1)> : tensor<8x8xi64>
  %f = llir.elementwise cast(%i) : (tensor<8x8xi64>) -> tensor<8x8xf32>
  %s = llir.elementwise sin(%f) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = llir.elementwise add(%x, %s) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// No table of more than 32 MiB.
// CHECK-LABEL: func.func @large_table
// CHECK-NOT: llir.prepare
// CHECK: return
// REMARK: [Missed] prepared {{.*}} bytes=36000000, {{.*}}op="elementwise sin"{{.*}}reason="the memory for prepared values is exhausted"
func.func @large_table(%x: tensor<3000x3000xf32>) -> tensor<3000x3000xf32> {
  %i = llir.iota <(d0, d1) -> (d0 * 3000 + d1)> : tensor<3000x3000xi64>
  %f = llir.elementwise cast(%i) : (tensor<3000x3000xi64>) -> tensor<3000x3000xf32>
  %s = llir.elementwise sin(%f) : (tensor<3000x3000xf32>) -> tensor<3000x3000xf32>
  %1 = llir.elementwise add(%x, %s) : (tensor<3000x3000xf32>, tensor<3000x3000xf32>) -> tensor<3000x3000xf32>
  return %1 : tensor<3000x3000xf32>
}

// -----

// Not what is larger than what it is computed from, nor hardly more work than a
// load, nor index arithmetic alone; but what such values are computed from.
// CHECK-LABEL: func.func @not_worth_it
// CHECK-NOT: llir.prepare
// CHECK: return
func.func @not_worth_it(%x: tensor<4x4xf32>, %w: tensor<4x4xf16> {hlir.kind = "weight"}, %v: tensor<4x4xf32> {hlir.kind = "weight"}) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = llir.elementwise cast(%w) : (tensor<4x4xf16>) -> tensor<4x4xf32>
  %1 = llir.elementwise mul(%x, %0) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %one = llir.constant dense<1.0> : tensor<4x4xf32>
  %2 = llir.elementwise add(%v, %one) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = llir.elementwise mul(%x, %2) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = llir.view %v <(d0, d1) -> (d1, d0)> : tensor<4x4xf32> -> tensor<4x4xf32>
  %5 = llir.elementwise mul(%x, %4) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1, %3, %5 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Indices are proved where they are made; what they take from a weight is worth
// it.
// CHECK-LABEL: func.func @indices
// CHECK: %[[I:.*]] = llir.elementwise floor_div
// CHECK-NOT: llir.prepare
// CHECK: %[[G:.*]] = llir.gather %{{.*}}, %[[I]]
// CHECK: llir.prepare %[[G]]
// CHECK: llir.gather %arg0, %[[I]]
func.func @indices(%x: tensor<32xf32>, %w: tensor<64xf32> {hlir.kind = "weight"}) -> (tensor<64xf32>, tensor<64xf32>) {
  %0 = llir.iota <(d0) -> (d0)> : tensor<64xi64>
  %two = llir.constant dense<2> : tensor<64xi64>
  %i = llir.elementwise floor_div(%0, %two) : (tensor<64xi64>, tensor<64xi64>) -> tensor<64xi64>
  %g = llir.gather %w, %i : tensor<64xf32>, tensor<64xi64> -> tensor<64xf32>
  %h = llir.gather %x, %i : tensor<32xf32>, tensor<64xi64> -> tensor<64xf32>
  %1 = llir.elementwise mul(%g, %h) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
  return %1, %h : tensor<64xf32>, tensor<64xf32>
}

// -----

// What depends on an input, a state or a symbol differs from call to call.
// CHECK-LABEL: func.func @not_the_same
// CHECK-NOT: llir.prepare
// CHECK: return
func.func @not_the_same(%x: tensor<?xf32, #hlir.dims<n>>, %s: tensor<1xf32> {hlir.kind = "state"}, %w: tensor<1xf32> {hlir.kind = "weight"}) -> (tensor<?xf32, #hlir.dims<n>>, tensor<1xf32>)
    attributes {hlir.symbols = #hlir.symbols<n in [1, 64]>} {
  %0 = llir.view %w <(d0) -> (0)> : tensor<1xf32> -> tensor<?xf32, #hlir.dims<n>>
  %1 = llir.elementwise exp(%0) : (tensor<?xf32, #hlir.dims<n>>) -> tensor<?xf32, #hlir.dims<n>>
  %2 = llir.elementwise mul(%x, %1) : (tensor<?xf32, #hlir.dims<n>>, tensor<?xf32, #hlir.dims<n>>) -> tensor<?xf32, #hlir.dims<n>>
  %3 = llir.elementwise tanh(%s) : (tensor<1xf32>) -> tensor<1xf32>
  %4 = llir.elementwise mul(%3, %w) : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  return %2, %4 : tensor<?xf32, #hlir.dims<n>>, tensor<1xf32>
}

// -----

// A person's choice stays.
// CHECK-LABEL: func.func @by_hand
// CHECK-COUNT-1: llir.prepare
// CHECK-NOT: llir.prepare
// CHECK: return
func.func @by_hand(%x: tensor<4xf32>, %w: tensor<4xf32> {hlir.kind = "weight"}) -> tensor<4xf32> {
  %0 = llir.elementwise neg(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %p = llir.prepare %0 : tensor<4xf32>
  %1 = llir.elementwise exp(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = llir.elementwise mul(%p, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = llir.elementwise mul(%x, %2) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %3 : tensor<4xf32>
}
