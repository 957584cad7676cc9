// What the rules recover, written out, and beside each case a near miss that must
// not be recovered.

// RUN: luminal-opt %s --eqsat-saturate | FileCheck %s

// Not.
// CHECK-LABEL: func.func @not(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise not(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @not(%x: tensor<i1>) -> tensor<i1> {
  %0 = hlir.constant dense<true> : tensor<i1>
  %1 = hlir.less_than %x, %0 : tensor<i1> -> tensor<i1>
  return %1 : tensor<i1>
}

// CHECK-LABEL: func.func @not_not(
// CHECK-NOT: elementwise not(
// CHECK: return
func.func @not_not(%x: tensor<i1>) -> tensor<i1> {
  %0 = hlir.constant dense<false> : tensor<i1>
  %1 = hlir.less_than %x, %0 : tensor<i1> -> tensor<i1>
  return %1 : tensor<i1>
}

// Or.
// CHECK-LABEL: func.func @or(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise or(%arg0, %arg1)
// CHECK-NEXT: return %[[R]]
func.func @or(%x: tensor<i1>, %y: tensor<i1>) -> tensor<i1> {
  %0 = hlir.select %x, %x, %y : tensor<i1>, tensor<i1>
  return %0 : tensor<i1>
}

// CHECK-LABEL: func.func @not_or(
// CHECK-NOT: elementwise or(
// CHECK: return
func.func @not_or(%x: tensor<i1>, %y: tensor<i1>) -> tensor<i1> {
  %0 = hlir.select %y, %x, %y : tensor<i1>, tensor<i1>
  return %0 : tensor<i1>
}

// IsNan.
// CHECK-LABEL: func.func @is_nan(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise is_nan(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @is_nan(%x: tensor<f32>) -> tensor<i1> {
  %0 = hlir.constant dense<0.0> : tensor<f32>
  %1 = hlir.less_than %x, %0 : tensor<f32> -> tensor<i1>
  %2 = hlir.constant dense<-1.0> : tensor<f32>
  %3 = hlir.less_than %2, %x : tensor<f32> -> tensor<i1>
  %4 = hlir.select %1, %1, %3 : tensor<i1>, tensor<i1>
  %5 = hlir.constant dense<true> : tensor<i1>
  %6 = hlir.less_than %4, %5 : tensor<i1> -> tensor<i1>
  return %6 : tensor<i1>
}

// A number from 0 to 1 is not below 0 or above 1 either.
// CHECK-LABEL: func.func @not_is_nan(
// CHECK-NOT: elementwise is_nan(
// CHECK: return
func.func @not_is_nan(%x: tensor<f32>) -> tensor<i1> {
  %0 = hlir.constant dense<0.0> : tensor<f32>
  %1 = hlir.less_than %x, %0 : tensor<f32> -> tensor<i1>
  %2 = hlir.constant dense<1.0> : tensor<f32>
  %3 = hlir.less_than %2, %x : tensor<f32> -> tensor<i1>
  %4 = hlir.select %1, %1, %3 : tensor<i1>, tensor<i1>
  %5 = hlir.constant dense<true> : tensor<i1>
  %6 = hlir.less_than %4, %5 : tensor<i1> -> tensor<i1>
  return %6 : tensor<i1>
}

// LessEqual.
// CHECK-LABEL: func.func @less_equal(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise less_equal(%arg0, %arg1)
// CHECK-NEXT: return %[[R]]
func.func @less_equal(%x: tensor<f32>, %y: tensor<f32>) -> tensor<i1> {
  %0 = hlir.less_than %y, %x : tensor<f32> -> tensor<i1>
  %1 = hlir.constant dense<true> : tensor<i1>
  %2 = hlir.less_than %0, %1 : tensor<i1> -> tensor<i1>
  %3 = hlir.constant dense<0.0> : tensor<f32>
  %4 = hlir.less_than %x, %3 : tensor<f32> -> tensor<i1>
  %5 = hlir.constant dense<-1.0> : tensor<f32>
  %6 = hlir.less_than %5, %x : tensor<f32> -> tensor<i1>
  %7 = hlir.select %4, %4, %6 : tensor<i1>, tensor<i1>
  %8 = hlir.less_than %y, %3 : tensor<f32> -> tensor<i1>
  %9 = hlir.less_than %5, %y : tensor<f32> -> tensor<i1>
  %10 = hlir.select %8, %8, %9 : tensor<i1>, tensor<i1>
  %11 = hlir.mul %7, %10 : tensor<i1>
  %12 = hlir.mul %2, %11 : tensor<i1>
  return %12 : tensor<i1>
}

// True for NaN too.
// CHECK-LABEL: func.func @not_less_equal(
// CHECK-NOT: elementwise less_equal(
// CHECK: return
func.func @not_less_equal(%x: tensor<f32>, %y: tensor<f32>) -> tensor<i1> {
  %0 = hlir.less_than %y, %x : tensor<f32> -> tensor<i1>
  %1 = hlir.constant dense<true> : tensor<i1>
  %2 = hlir.less_than %0, %1 : tensor<i1> -> tensor<i1>
  return %2 : tensor<i1>
}

// LessEqualInteger.
// CHECK-LABEL: func.func @less_equal_integer(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise less_equal(%arg0, %arg1)
// CHECK-NEXT: return %[[R]]
func.func @less_equal_integer(%x: tensor<i64>, %y: tensor<i64>) -> tensor<i1> {
  %0 = hlir.less_than %y, %x : tensor<i64> -> tensor<i1>
  %1 = hlir.constant dense<true> : tensor<i1>
  %2 = hlir.less_than %0, %1 : tensor<i1> -> tensor<i1>
  return %2 : tensor<i1>
}

// Equal.
// CHECK-LABEL: func.func @equal(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise equal(%arg0, %arg1)
// CHECK-NEXT: return %[[R]]
func.func @equal(%x: tensor<f32>, %y: tensor<f32>) -> tensor<i1> {
  %0 = hlir.less_than %x, %y : tensor<f32> -> tensor<i1>
  %1 = hlir.constant dense<true> : tensor<i1>
  %2 = hlir.less_than %0, %1 : tensor<i1> -> tensor<i1>
  %3 = hlir.less_than %y, %x : tensor<f32> -> tensor<i1>
  %4 = hlir.less_than %3, %1 : tensor<i1> -> tensor<i1>
  %5 = hlir.mul %2, %4 : tensor<i1>
  %6 = hlir.constant dense<0.0> : tensor<f32>
  %7 = hlir.less_than %x, %6 : tensor<f32> -> tensor<i1>
  %8 = hlir.constant dense<-1.0> : tensor<f32>
  %9 = hlir.less_than %8, %x : tensor<f32> -> tensor<i1>
  %10 = hlir.select %7, %7, %9 : tensor<i1>, tensor<i1>
  %11 = hlir.less_than %y, %6 : tensor<f32> -> tensor<i1>
  %12 = hlir.less_than %8, %y : tensor<f32> -> tensor<i1>
  %13 = hlir.select %11, %11, %12 : tensor<i1>, tensor<i1>
  %14 = hlir.mul %10, %13 : tensor<i1>
  %15 = hlir.mul %5, %14 : tensor<i1>
  return %15 : tensor<i1>
}

// True for NaN too.
// CHECK-LABEL: func.func @not_equal(
// CHECK-NOT: elementwise equal(
// CHECK: return
func.func @not_equal(%x: tensor<f32>, %y: tensor<f32>) -> tensor<i1> {
  %0 = hlir.less_than %x, %y : tensor<f32> -> tensor<i1>
  %1 = hlir.constant dense<true> : tensor<i1>
  %2 = hlir.less_than %0, %1 : tensor<i1> -> tensor<i1>
  %3 = hlir.less_than %y, %x : tensor<f32> -> tensor<i1>
  %4 = hlir.less_than %3, %1 : tensor<i1> -> tensor<i1>
  %5 = hlir.mul %2, %4 : tensor<i1>
  return %5 : tensor<i1>
}

// EqualInteger.
// CHECK-LABEL: func.func @equal_integer(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise equal(%arg0, %arg1)
// CHECK-NEXT: return %[[R]]
func.func @equal_integer(%x: tensor<i32>, %y: tensor<i32>) -> tensor<i1> {
  %0 = hlir.less_than %x, %y : tensor<i32> -> tensor<i1>
  %1 = hlir.constant dense<true> : tensor<i1>
  %2 = hlir.less_than %0, %1 : tensor<i1> -> tensor<i1>
  %3 = hlir.less_than %y, %x : tensor<i32> -> tensor<i1>
  %4 = hlir.less_than %3, %1 : tensor<i1> -> tensor<i1>
  %5 = hlir.mul %2, %4 : tensor<i1>
  return %5 : tensor<i1>
}

// CHECK-LABEL: func.func @not_equal_integer(
// CHECK-NOT: elementwise equal(
// CHECK: return
func.func @not_equal_integer(%x: tensor<i32>, %y: tensor<i32>) -> tensor<i1> {
  %0 = hlir.less_than %x, %y : tensor<i32> -> tensor<i1>
  %1 = hlir.constant dense<true> : tensor<i1>
  %2 = hlir.less_than %0, %1 : tensor<i1> -> tensor<i1>
  %3 = hlir.mul %2, %2 : tensor<i1>
  return %3 : tensor<i1>
}
