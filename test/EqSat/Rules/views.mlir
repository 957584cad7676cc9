// Each rule of Views.pdll, and beside it what it must leave alone.

// RUN: luminal-opt %s --eqsat-saturate --split-input-file | FileCheck %s

// ViewIdentity, ViewOfView: a permutation and its inverse are nothing.
// CHECK-LABEL: func.func @inverse(
// CHECK-NEXT: return %arg0
func.func @inverse(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = hlir.view %x <(d0, d1) -> (d1, d0)> : tensor<2x3xf32> -> tensor<3x2xf32>
  %1 = hlir.view %0 <(d0, d1) -> (d1, d0)> : tensor<3x2xf32> -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// -----

// CHECK-LABEL: func.func @not_inverse(
// CHECK: llir.view
func.func @not_inverse(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = hlir.view %x <(d0, d1) -> (d1, d0)> : tensor<2x2xf32> -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

// A map that drops the last row is not an identity.
// CHECK-LABEL: func.func @not_identity(
// CHECK: llir.view %arg0 <(d0) -> (d0)>
func.func @not_identity(%x: tensor<3xf32>) -> tensor<2xf32> {
  %0 = hlir.view %x <(d0) -> (d0)> : tensor<3xf32> -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// A split, then a merge of symbolic dims.
// CHECK-LABEL: func.func @symbolic(
// CHECK-NEXT: return %arg0
func.func @symbolic(%x: tensor<?x6xf32, #hlir.dims<s0>>) -> tensor<?x6xf32, #hlir.dims<s0>>
    attributes {hlir.symbols = #hlir.symbols<s0 in [1, 64]>} {
  %0 = hlir.view %x <(d0) -> (d0 floordiv 6, d0 mod 6)> : tensor<?x6xf32, #hlir.dims<s0>> -> tensor<?xf32, #hlir.dims<6 * s0>>
  %1 = hlir.view %0 <(d0, d1) -> (d0 * 6 + d1)> : tensor<?xf32, #hlir.dims<6 * s0>> -> tensor<?x6xf32, #hlir.dims<s0>>
  return %1 : tensor<?x6xf32, #hlir.dims<s0>>
}

// -----

// ViewOfIota.
// CHECK-LABEL: func.func @iota(
// CHECK-NEXT: %[[R:.*]] = llir.iota <(d0) -> (2 * d0 + 1)>
// CHECK-NEXT: return %[[R]]
func.func @iota() -> tensor<3xi64> {
  %0 = hlir.iota <(d0) -> (d0)> : tensor<8xi64>
  %1 = hlir.view %0 <(d0) -> (d0 * 2 + 1)> : tensor<8xi64> -> tensor<3xi64>
  return %1 : tensor<3xi64>
}

// -----

// UnaryOfView: a function of a row is computed once for each row.
// CHECK-LABEL: func.func @unary(
// CHECK-NEXT: %[[Y:.*]] = llir.elementwise sin(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[R:.*]] = llir.view %[[Y]] <(d0, d1) -> (d0)>
// CHECK-NEXT: return %[[R]]
func.func @unary(%x: tensor<4xf32>) -> tensor<4x8xf32> {
  %0 = hlir.view %x <(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
  %1 = hlir.sin %0 : tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

// Of fewer elements the function stays where it is.
// CHECK-LABEL: func.func @unary_of_slice(
// CHECK-NEXT: %[[V:.*]] = llir.view %arg0
// CHECK-NEXT: llir.elementwise sin(%[[V]])
func.func @unary_of_slice(%x: tensor<4xf32>) -> tensor<2xf32> {
  %0 = hlir.view %x <(d0) -> (d0 + 1)> : tensor<4xf32> -> tensor<2xf32>
  %1 = hlir.sin %0 : tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

// BinaryOfViews.
// CHECK-LABEL: func.func @binary(
// CHECK-NEXT: %[[Y:.*]] = llir.elementwise mod(%arg0, %arg1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: llir.view %[[Y]] <(d0, d1) -> (d0)>
func.func @binary(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4x8xf32> {
  %0 = hlir.view %x <(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
  %1 = hlir.view %y <(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
  %2 = hlir.mod %0, %1 : tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// Two maps are not one.
// CHECK-LABEL: func.func @binary_of_other_views(
// CHECK: llir.elementwise mod({{.*}}) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
func.func @binary_of_other_views(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4x4xf32> {
  %0 = hlir.view %x <(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x4xf32>
  %1 = hlir.view %y <(d0, d1) -> (d1)> : tensor<4xf32> -> tensor<4x4xf32>
  %2 = hlir.mod %0, %1 : tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// BinaryOfViewAndScalar, BinaryOfScalarAndView.
// CHECK-LABEL: func.func @scalar(
// CHECK: llir.elementwise mod(%arg0, %{{.*}}) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK: llir.elementwise mod(%{{.*}}, %{{.*}}) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: llir.view %{{.*}} <(d0, d1) -> (d0)>
func.func @scalar(%x: tensor<4xf32>, %s: tensor<f32>) -> tensor<4x8xf32> {
  %0 = hlir.view %x <(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
  %1 = hlir.view %s <(d0, d1) -> ()> : tensor<f32> -> tensor<4x8xf32>
  %2 = hlir.mod %0, %1 : tensor<4x8xf32>
  %3 = hlir.mod %1, %2 : tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// -----

// A vector is not a scalar.
// CHECK-LABEL: func.func @not_scalar(
// CHECK: llir.elementwise mod({{.*}}) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
func.func @not_scalar(%x: tensor<4xf32>, %s: tensor<8xf32>) -> tensor<4x8xf32> {
  %0 = hlir.view %x <(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
  %1 = hlir.view %s <(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<4x8xf32>
  %2 = hlir.mod %0, %1 : tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// -----

// MulOne, NegNeg, AddNegativeZero.
// CHECK-LABEL: func.func @identities(
// CHECK-NEXT: return %arg0
func.func @identities(%x: tensor<f32>) -> tensor<f32> {
  %one = hlir.constant dense<1.0> : tensor<f32>
  %minus = hlir.constant dense<-1.0> : tensor<f32>
  %zero = hlir.constant dense<-0.0> : tensor<f32>
  %0 = hlir.mul %x, %one : tensor<f32>
  %1 = hlir.mul %0, %minus : tensor<f32>
  %2 = hlir.mul %minus, %1 : tensor<f32>
  %3 = hlir.add %zero, %2 : tensor<f32>
  return %3 : tensor<f32>
}

// -----

// x + 0 is 0 where x is -0.
// CHECK-LABEL: func.func @not_add_zero(
// CHECK: llir.elementwise add
func.func @not_add_zero(%x: tensor<f32>) -> tensor<f32> {
  %zero = hlir.constant dense<0.0> : tensor<f32>
  %0 = hlir.add %x, %zero : tensor<f32>
  return %0 : tensor<f32>
}

// -----

// AddZeroInteger.
// CHECK-LABEL: func.func @add_zero_integer(
// CHECK-NEXT: return %arg0
func.func @add_zero_integer(%x: tensor<i64>) -> tensor<i64> {
  %zero = hlir.constant dense<0> : tensor<i64>
  %0 = hlir.add %x, %zero : tensor<i64>
  return %0 : tensor<i64>
}

// -----

// CHECK-LABEL: func.func @not_add_one_integer(
// CHECK: llir.elementwise add
func.func @not_add_one_integer(%x: tensor<i64>) -> tensor<i64> {
  %one = hlir.constant dense<1> : tensor<i64>
  %0 = hlir.add %x, %one : tensor<i64>
  return %0 : tensor<i64>
}

// -----

// SelectSame.
// CHECK-LABEL: func.func @select_same(
// CHECK-NEXT: return %arg1
func.func @select_same(%c: tensor<i1>, %x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.select %c, %x, %x : tensor<i1>, tensor<f32>
  return %0 : tensor<f32>
}

// -----

// CHECK-LABEL: func.func @not_select_same(
// CHECK: llir.elementwise select
func.func @not_select_same(%c: tensor<i1>, %x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = hlir.select %c, %x, %y : tensor<i1>, tensor<f32>
  return %0 : tensor<f32>
}

// -----

// FoldCast, FoldRecip, FoldAdd, FoldMul: (1/4 * 3 + 1/4) as f16.
// CHECK-LABEL: func.func @fold(
// CHECK-NEXT: %[[R:.*]] = llir.constant dense<1.000000e+00> : tensor<f16>
// CHECK-NEXT: return %[[R]]
func.func @fold() -> tensor<f16> {
  %four = hlir.constant dense<4.0> : tensor<f32>
  %three = hlir.constant dense<3> : tensor<i64>
  %quarter = hlir.recip %four : tensor<f32>
  %wide = hlir.cast %three : tensor<i64> -> tensor<f32>
  %0 = hlir.mul %quarter, %wide : tensor<f32>
  %1 = hlir.add %0, %quarter : tensor<f32>
  %2 = hlir.cast %1 : tensor<f32> -> tensor<f16>
  return %2 : tensor<f16>
}

// -----

// A tensor of several numbers is not one number.
// CHECK-LABEL: func.func @not_fold(
// CHECK: llir.elementwise recip
func.func @not_fold() -> tensor<2xf32> {
  %0 = hlir.constant dense<[2.0, 4.0]> : tensor<2xf32>
  %1 = hlir.recip %0 : tensor<2xf32>
  return %1 : tensor<2xf32>
}
