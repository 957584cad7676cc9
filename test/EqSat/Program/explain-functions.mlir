// Two values are looked up in every function; a function with neither is skipped.

// RUN: luminal-opt %s --eqsat-saturate="explain=- explain-values=once,twice" -o /dev/null | FileCheck %s
// RUN: not luminal-opt %s --eqsat-saturate="explain=- explain-values=never,nowhere" -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not luminal-opt %s --eqsat-saturate="explain=- explain-values=other,once" -o /dev/null 2>&1 | FileCheck %s --check-prefix=APART
// CHECK-NOT: @first
// CHECK: explanation of @second
// CHECK: 'once' and 'twice' {{.*}}: %{{[0-9]+}} = %{{[0-9]+}} by 1
// CHECK-NOT: @third
// NONE: explain-functions.mlir:0:0: error: no value has the name location 'never'
// APART: explain-functions.mlir:[[#@LINE+1]]:1: error: no value has the name location 'once'
func.func @first(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = hlir.sin %x : tensor<4xf32> loc("other")
  return %0 : tensor<4xf32>
}
func.func @second(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = hlir.constant dense<1.0> : tensor<4xf32>
  %0 = hlir.sin %x : tensor<4xf32> loc("once")
  %1 = hlir.mul %0, %one : tensor<4xf32> loc("twice")
  return %1 : tensor<4xf32>
}
func.func @third(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
