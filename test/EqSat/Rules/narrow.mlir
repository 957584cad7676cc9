// Each rule of Narrow.pdll, and beside it forms that it must not change.

// RUN: luminal-opt %s --eqsat-saturate --split-input-file | FileCheck %s

// NarrowUnary.
// CHECK-LABEL: func.func @unary(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise sin(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[R]]
func.func @unary(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = hlir.cast %x : tensor<4xf32> -> tensor<4xf64>
  %1 = hlir.sin %0 : tensor<4xf64>
  %2 = hlir.cast %1 : tensor<4xf64> -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// Rounded to another type than the operand's.
// CHECK-LABEL: func.func @not_unary(
// CHECK: llir.elementwise sin(%{{.*}}) : (tensor<4xf64>)
func.func @not_unary(%x: tensor<4xf32>) -> tensor<4xf16> {
  %0 = hlir.cast %x : tensor<4xf32> -> tensor<4xf64>
  %1 = hlir.sin %0 : tensor<4xf64>
  %2 = hlir.cast %1 : tensor<4xf64> -> tensor<4xf16>
  return %2 : tensor<4xf16>
}

// -----

// f16 does not have the range of bf16.
// CHECK-LABEL: func.func @not_wider(
// CHECK: llir.elementwise sin(%{{.*}}) : (tensor<4xf16>)
func.func @not_wider(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = hlir.cast %x : tensor<4xbf16> -> tensor<4xf16>
  %1 = hlir.sin %0 : tensor<4xf16>
  %2 = hlir.cast %1 : tensor<4xf16> -> tensor<4xbf16>
  return %2 : tensor<4xbf16>
}

// -----

// NarrowUnaryArithmetic, NarrowBinaryArithmetic.
// CHECK-LABEL: func.func @arithmetic(
// CHECK-NEXT: %[[Q:.*]] = llir.elementwise sqrt(%arg0) : (tensor<4xf16>) -> tensor<4xf16>
// CHECK-NEXT: llir.elementwise mul({{.*}}) : (tensor<4xf16>, tensor<4xf16>) -> tensor<4xf16>
func.func @arithmetic(%x: tensor<4xf16>, %y: tensor<4xf16>) -> tensor<4xf16> {
  %0 = hlir.cast %x : tensor<4xf16> -> tensor<4xf32>
  %1 = hlir.sqrt %0 : tensor<4xf32>
  %2 = hlir.cast %1 : tensor<4xf32> -> tensor<4xf16>
  %3 = hlir.cast %2 : tensor<4xf16> -> tensor<4xf32>
  %4 = hlir.cast %y : tensor<4xf16> -> tensor<4xf32>
  %5 = hlir.mul %3, %4 : tensor<4xf32>
  %6 = hlir.cast %5 : tensor<4xf32> -> tensor<4xf16>
  return %6 : tensor<4xf16>
}

// -----

// A sum of three is rounded once, not twice.
// CHECK-LABEL: func.func @not_arithmetic(
// CHECK: llir.elementwise add({{.*}}) : (tensor<4xf32>, tensor<4xf32>)
// CHECK: llir.elementwise add({{.*}}) : (tensor<4xf32>, tensor<4xf32>)
func.func @not_arithmetic(%x: tensor<4xf16>, %y: tensor<4xf16>, %z: tensor<4xf16>) -> tensor<4xf16> {
  %0 = hlir.cast %x : tensor<4xf16> -> tensor<4xf32>
  %1 = hlir.cast %y : tensor<4xf16> -> tensor<4xf32>
  %2 = hlir.cast %z : tensor<4xf16> -> tensor<4xf32>
  %3 = hlir.add %0, %1 : tensor<4xf32>
  %4 = hlir.add %3, %2 : tensor<4xf32>
  %5 = hlir.cast %4 : tensor<4xf32> -> tensor<4xf16>
  return %5 : tensor<4xf16>
}

// -----

// NarrowBinaryArithmetic of f32; with the constants spelled as casts, as the composer has them.
// CHECK-LABEL: func.func @binary(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise div(%arg0, %arg1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[R]]
func.func @binary(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = hlir.cast %x : tensor<4xf32> -> tensor<4xf64>
  %1 = hlir.cast %y : tensor<4xf32> -> tensor<4xf64>
  %2 = hlir.recip %1 : tensor<4xf64>
  %3 = hlir.mul %0, %2 : tensor<4xf64>
  %4 = hlir.cast %3 : tensor<4xf64> -> tensor<4xf32>
  return %4 : tensor<4xf32>
}

// -----

// One operand has bits that the narrow type cannot hold.
// CHECK-LABEL: func.func @not_binary(
// CHECK: llir.elementwise div({{.*}}) : (tensor<4xf64>, tensor<4xf64>)
func.func @not_binary(%x: tensor<4xf32>, %y: tensor<4xf64>) -> tensor<4xf32> {
  %0 = hlir.cast %x : tensor<4xf32> -> tensor<4xf64>
  %2 = hlir.recip %y : tensor<4xf64>
  %3 = hlir.mul %0, %2 : tensor<4xf64>
  %4 = hlir.cast %3 : tensor<4xf64> -> tensor<4xf32>
  return %4 : tensor<4xf32>
}

// -----

// NarrowUnarySelective, NarrowBinarySelective.
// CHECK-LABEL: func.func @selective(
// CHECK: %[[N:.*]] = llir.elementwise neg(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: llir.elementwise mod(%[[N]], %arg1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
func.func @selective(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %m = hlir.constant dense<-1.0> : tensor<f64>
  %mv = hlir.view %m <(d0) -> ()> : tensor<f64> -> tensor<4xf64>
  %0 = hlir.cast %x : tensor<4xf32> -> tensor<4xf64>
  %1 = hlir.mul %0, %mv : tensor<4xf64>
  %2 = hlir.cast %1 : tensor<4xf64> -> tensor<4xf32>
  %3 = hlir.cast %2 : tensor<4xf32> -> tensor<4xf64>
  %4 = hlir.cast %y : tensor<4xf32> -> tensor<4xf64>
  %5 = hlir.mod %3, %4 : tensor<4xf64>
  %6 = hlir.cast %5 : tensor<4xf64> -> tensor<4xf32>
  return %6 : tensor<4xf32>
}

// -----

// An integer divided as f64 keeps its fraction.
// CHECK-LABEL: func.func @not_selective(
// CHECK: llir.elementwise div({{.*}}) : (tensor<4xf64>, tensor<4xf64>)
func.func @not_selective(%x: tensor<4xi32>, %y: tensor<4xi32>) -> tensor<4xi32> {
  %0 = hlir.cast %x : tensor<4xi32> -> tensor<4xf64>
  %1 = hlir.cast %y : tensor<4xi32> -> tensor<4xf64>
  %2 = hlir.recip %1 : tensor<4xf64>
  %3 = hlir.mul %0, %2 : tensor<4xf64>
  %4 = hlir.cast %3 : tensor<4xf64> -> tensor<4xi32>
  return %4 : tensor<4xi32>
}

// -----

// NarrowSelect, NarrowLessThan.
// CHECK-LABEL: func.func @select(
// CHECK-NEXT: %[[C:.*]] = llir.elementwise less_than(%arg0, %arg1) : (tensor<4xi32>, tensor<4xi32>)
// CHECK-NEXT: llir.elementwise select(%[[C]], %arg0, %arg2)
func.func @select(%x: tensor<4xi32>, %y: tensor<4xi32>, %z: tensor<4xi32>) -> tensor<4xi32> {
  %0 = hlir.cast %x : tensor<4xi32> -> tensor<4xf64>
  %1 = hlir.cast %y : tensor<4xi32> -> tensor<4xf64>
  %2 = hlir.cast %z : tensor<4xi32> -> tensor<4xf64>
  %c = hlir.less_than %0, %1 : tensor<4xf64> -> tensor<4xi1>
  %3 = hlir.select %c, %0, %2 : tensor<4xi1>, tensor<4xf64>
  %4 = hlir.cast %3 : tensor<4xf64> -> tensor<4xi32>
  return %4 : tensor<4xi32>
}

// -----

// f32 cannot hold every i32, nor f64 every i64.
// CHECK-LABEL: func.func @not_select(
// CHECK: llir.elementwise less_than({{.*}}) : (tensor<4xf64>, tensor<4xf64>)
// CHECK: llir.elementwise select({{.*}}) : (tensor<4xi1>, tensor<4xf64>, tensor<4xf64>)
func.func @not_select(%x: tensor<4xi64>, %y: tensor<4xi64>) -> tensor<4xi64> {
  %0 = hlir.cast %x : tensor<4xi64> -> tensor<4xf64>
  %1 = hlir.cast %y : tensor<4xi64> -> tensor<4xf64>
  %c = hlir.less_than %0, %1 : tensor<4xf64> -> tensor<4xi1>
  %2 = hlir.select %c, %0, %1 : tensor<4xi1>, tensor<4xf64>
  %3 = hlir.cast %2 : tensor<4xf64> -> tensor<4xi64>
  return %3 : tensor<4xi64>
}

// -----

// CastRoundTrip.
// CHECK-LABEL: func.func @round_trip(
// CHECK-NEXT: return %arg0
func.func @round_trip(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = hlir.cast %x : tensor<4xbf16> -> tensor<4xf32>
  %1 = hlir.cast %0 : tensor<4xf32> -> tensor<4xbf16>
  return %1 : tensor<4xbf16>
}

// -----

// CHECK-LABEL: func.func @not_round_trip(
// CHECK: llir.elementwise cast
// CHECK: llir.elementwise cast
func.func @not_round_trip(%x: tensor<4xi32>) -> tensor<4xi32> {
  %0 = hlir.cast %x : tensor<4xi32> -> tensor<4xf32>
  %1 = hlir.cast %0 : tensor<4xf32> -> tensor<4xi32>
  return %1 : tensor<4xi32>
}

// -----

// CastTwice.
// CHECK-LABEL: func.func @twice(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise cast(%arg0) : (tensor<4xf16>) -> tensor<4xf64>
// CHECK-NEXT: return %[[R]]
func.func @twice(%x: tensor<4xf16>) -> tensor<4xf64> {
  %0 = hlir.cast %x : tensor<4xf16> -> tensor<4xf32>
  %1 = hlir.cast %0 : tensor<4xf32> -> tensor<4xf64>
  return %1 : tensor<4xf64>
}

// -----

// CHECK-LABEL: func.func @not_twice(
// CHECK: llir.elementwise cast
// CHECK: llir.elementwise cast
func.func @not_twice(%x: tensor<4xf32>) -> tensor<4xf64> {
  %0 = hlir.cast %x : tensor<4xf32> -> tensor<4xf16>
  %1 = hlir.cast %0 : tensor<4xf16> -> tensor<4xf64>
  return %1 : tensor<4xf64>
}

// -----

// A float wraps as an integer does: 1000 is -24 in i8.
// CHECK-LABEL: func.func @twice_wrapped(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise cast(%arg0) : (tensor<4xi32>) -> tensor<4xi8>
// CHECK-NEXT: return %[[R]]
func.func @twice_wrapped(%x: tensor<4xi32>) -> tensor<4xi8> {
  %0 = hlir.cast %x : tensor<4xi32> -> tensor<4xf64>
  %1 = hlir.cast %0 : tensor<4xf64> -> tensor<4xi8>
  return %1 : tensor<4xi8>
}
