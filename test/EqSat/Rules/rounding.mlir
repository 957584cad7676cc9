// What the rules recover, written out, and beside each case a near miss that must
// not be recovered.

// RUN: luminal-opt %s --eqsat-saturate | FileCheck %s

// Trunc.
// CHECK-LABEL: func.func @trunc(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise trunc(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @trunc(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.constant dense<0.0> : tensor<f32>
  %1 = hlir.less_than %x, %0 : tensor<f32> -> tensor<i1>
  %2 = hlir.constant dense<-1.0> : tensor<f32>
  %3 = hlir.mul %x, %2 : tensor<f32>
  %4 = hlir.select %1, %3, %x : tensor<i1>, tensor<f32>
  %5 = hlir.add %4, %0 : tensor<f32>
  %6 = hlir.constant dense<1.0> : tensor<f32>
  %7 = hlir.mod %x, %6 : tensor<f32>
  %8 = hlir.mul %7, %2 : tensor<f32>
  %9 = hlir.add %x, %8 : tensor<f32>
  %10 = hlir.less_than %5, %6 : tensor<f32> -> tensor<i1>
  %11 = hlir.mul %x, %0 : tensor<f32>
  %12 = hlir.constant dense<0x7F800000> : tensor<f32>
  %13 = hlir.less_than %5, %12 : tensor<f32> -> tensor<i1>
  %14 = hlir.select %13, %9, %x : tensor<i1>, tensor<f32>
  %15 = hlir.select %10, %11, %14 : tensor<i1>, tensor<f32>
  return %15 : tensor<f32>
}

// 0 where the result is -0, and NaN at infinity.
// CHECK-LABEL: func.func @not_trunc(
// CHECK-NOT: elementwise trunc(
// CHECK: return
func.func @not_trunc(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.constant dense<1.0> : tensor<f32>
  %1 = hlir.mod %x, %0 : tensor<f32>
  %2 = hlir.constant dense<-1.0> : tensor<f32>
  %3 = hlir.mul %1, %2 : tensor<f32>
  %4 = hlir.add %x, %3 : tensor<f32>
  return %4 : tensor<f32>
}

// Floor.
// CHECK-LABEL: func.func @floor(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise floor(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @floor(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.constant dense<0.0> : tensor<f32>
  %1 = hlir.less_than %x, %0 : tensor<f32> -> tensor<i1>
  %2 = hlir.constant dense<-1.0> : tensor<f32>
  %3 = hlir.mul %x, %2 : tensor<f32>
  %4 = hlir.select %1, %3, %x : tensor<i1>, tensor<f32>
  %5 = hlir.add %4, %0 : tensor<f32>
  %6 = hlir.constant dense<1.0> : tensor<f32>
  %7 = hlir.mod %x, %6 : tensor<f32>
  %8 = hlir.mul %7, %2 : tensor<f32>
  %9 = hlir.add %x, %8 : tensor<f32>
  %10 = hlir.less_than %5, %6 : tensor<f32> -> tensor<i1>
  %11 = hlir.mul %x, %0 : tensor<f32>
  %12 = hlir.constant dense<0x7F800000> : tensor<f32>
  %13 = hlir.less_than %5, %12 : tensor<f32> -> tensor<i1>
  %14 = hlir.select %13, %9, %x : tensor<i1>, tensor<f32>
  %15 = hlir.select %10, %11, %14 : tensor<i1>, tensor<f32>
  %16 = hlir.less_than %x, %15 : tensor<f32> -> tensor<i1>
  %17 = hlir.add %15, %2 : tensor<f32>
  %18 = hlir.select %16, %17, %15 : tensor<i1>, tensor<f32>
  return %18 : tensor<f32>
}

// CHECK-LABEL: func.func @not_floor(
// CHECK-NOT: elementwise floor(
// CHECK: return
func.func @not_floor(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.constant dense<0.0> : tensor<f32>
  %1 = hlir.less_than %x, %0 : tensor<f32> -> tensor<i1>
  %2 = hlir.constant dense<-1.0> : tensor<f32>
  %3 = hlir.mul %x, %2 : tensor<f32>
  %4 = hlir.select %1, %3, %x : tensor<i1>, tensor<f32>
  %5 = hlir.add %4, %0 : tensor<f32>
  %6 = hlir.constant dense<1.0> : tensor<f32>
  %7 = hlir.mod %x, %6 : tensor<f32>
  %8 = hlir.mul %7, %2 : tensor<f32>
  %9 = hlir.add %x, %8 : tensor<f32>
  %10 = hlir.less_than %5, %6 : tensor<f32> -> tensor<i1>
  %11 = hlir.mul %x, %0 : tensor<f32>
  %12 = hlir.constant dense<0x7F800000> : tensor<f32>
  %13 = hlir.less_than %5, %12 : tensor<f32> -> tensor<i1>
  %14 = hlir.select %13, %9, %x : tensor<i1>, tensor<f32>
  %15 = hlir.select %10, %11, %14 : tensor<i1>, tensor<f32>
  %16 = hlir.less_than %x, %15 : tensor<f32> -> tensor<i1>
  %17 = hlir.constant dense<-2.0> : tensor<f32>
  %18 = hlir.add %15, %17 : tensor<f32>
  %19 = hlir.select %16, %18, %15 : tensor<i1>, tensor<f32>
  return %19 : tensor<f32>
}

// Ceil.
// CHECK-LABEL: func.func @ceil(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise ceil(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @ceil(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.constant dense<0.0> : tensor<f32>
  %1 = hlir.less_than %x, %0 : tensor<f32> -> tensor<i1>
  %2 = hlir.constant dense<-1.0> : tensor<f32>
  %3 = hlir.mul %x, %2 : tensor<f32>
  %4 = hlir.select %1, %3, %x : tensor<i1>, tensor<f32>
  %5 = hlir.add %4, %0 : tensor<f32>
  %6 = hlir.constant dense<1.0> : tensor<f32>
  %7 = hlir.mod %x, %6 : tensor<f32>
  %8 = hlir.mul %7, %2 : tensor<f32>
  %9 = hlir.add %x, %8 : tensor<f32>
  %10 = hlir.less_than %5, %6 : tensor<f32> -> tensor<i1>
  %11 = hlir.mul %x, %0 : tensor<f32>
  %12 = hlir.constant dense<0x7F800000> : tensor<f32>
  %13 = hlir.less_than %5, %12 : tensor<f32> -> tensor<i1>
  %14 = hlir.select %13, %9, %x : tensor<i1>, tensor<f32>
  %15 = hlir.select %10, %11, %14 : tensor<i1>, tensor<f32>
  %16 = hlir.less_than %15, %x : tensor<f32> -> tensor<i1>
  %17 = hlir.add %15, %6 : tensor<f32>
  %18 = hlir.select %16, %17, %15 : tensor<i1>, tensor<f32>
  return %18 : tensor<f32>
}

// CHECK-LABEL: func.func @not_ceil(
// CHECK-NOT: elementwise ceil(
// CHECK: return
func.func @not_ceil(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.constant dense<0.0> : tensor<f32>
  %1 = hlir.less_than %x, %0 : tensor<f32> -> tensor<i1>
  %2 = hlir.constant dense<-1.0> : tensor<f32>
  %3 = hlir.mul %x, %2 : tensor<f32>
  %4 = hlir.select %1, %3, %x : tensor<i1>, tensor<f32>
  %5 = hlir.add %4, %0 : tensor<f32>
  %6 = hlir.constant dense<1.0> : tensor<f32>
  %7 = hlir.mod %x, %6 : tensor<f32>
  %8 = hlir.mul %7, %2 : tensor<f32>
  %9 = hlir.add %x, %8 : tensor<f32>
  %10 = hlir.less_than %5, %6 : tensor<f32> -> tensor<i1>
  %11 = hlir.mul %x, %0 : tensor<f32>
  %12 = hlir.constant dense<0x7F800000> : tensor<f32>
  %13 = hlir.less_than %5, %12 : tensor<f32> -> tensor<i1>
  %14 = hlir.select %13, %9, %x : tensor<i1>, tensor<f32>
  %15 = hlir.select %10, %11, %14 : tensor<i1>, tensor<f32>
  %16 = hlir.less_than %15, %x : tensor<f32> -> tensor<i1>
  %17 = hlir.constant dense<2.0> : tensor<f32>
  %18 = hlir.add %15, %17 : tensor<f32>
  %19 = hlir.select %16, %18, %15 : tensor<i1>, tensor<f32>
  return %19 : tensor<f32>
}

// Round.
// CHECK-LABEL: func.func @round(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise round(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @round(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.constant dense<0.0> : tensor<f32>
  %1 = hlir.less_than %x, %0 : tensor<f32> -> tensor<i1>
  %2 = hlir.constant dense<-1.0> : tensor<f32>
  %3 = hlir.mul %x, %2 : tensor<f32>
  %4 = hlir.select %1, %3, %x : tensor<i1>, tensor<f32>
  %5 = hlir.add %4, %0 : tensor<f32>
  %6 = hlir.constant dense<1.0> : tensor<f32>
  %7 = hlir.mod %x, %6 : tensor<f32>
  %8 = hlir.mul %7, %2 : tensor<f32>
  %9 = hlir.add %x, %8 : tensor<f32>
  %10 = hlir.less_than %5, %6 : tensor<f32> -> tensor<i1>
  %11 = hlir.mul %x, %0 : tensor<f32>
  %12 = hlir.constant dense<0x7F800000> : tensor<f32>
  %13 = hlir.less_than %5, %12 : tensor<f32> -> tensor<i1>
  %14 = hlir.select %13, %9, %x : tensor<i1>, tensor<f32>
  %15 = hlir.select %10, %11, %14 : tensor<i1>, tensor<f32>
  %16 = hlir.constant dense<2.0> : tensor<f32>
  %17 = hlir.mod %15, %16 : tensor<f32>
  %18 = hlir.less_than %17, %0 : tensor<f32> -> tensor<i1>
  %19 = hlir.mul %17, %2 : tensor<f32>
  %20 = hlir.select %18, %19, %17 : tensor<i1>, tensor<f32>
  %21 = hlir.add %20, %0 : tensor<f32>
  %22 = hlir.constant dense<0.5> : tensor<f32>
  %23 = hlir.less_than %22, %21 : tensor<f32> -> tensor<i1>
  %24 = hlir.constant dense<0.4999999701976776> : tensor<f32>
  %25 = hlir.select %23, %24, %22 : tensor<i1>, tensor<f32>
  %26 = hlir.less_than %7, %0 : tensor<f32> -> tensor<i1>
  %27 = hlir.select %26, %8, %7 : tensor<i1>, tensor<f32>
  %28 = hlir.add %27, %0 : tensor<f32>
  %29 = hlir.less_than %25, %28 : tensor<f32> -> tensor<i1>
  %30 = hlir.select %1, %2, %6 : tensor<i1>, tensor<f32>
  %31 = hlir.add %15, %30 : tensor<f32>
  %32 = hlir.select %29, %31, %15 : tensor<i1>, tensor<f32>
  return %32 : tensor<f32>
}

// Ties go toward zero.
// CHECK-LABEL: func.func @not_round(
// CHECK-NOT: elementwise round(
// CHECK: return
func.func @not_round(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.constant dense<0.0> : tensor<f32>
  %1 = hlir.less_than %x, %0 : tensor<f32> -> tensor<i1>
  %2 = hlir.constant dense<-1.0> : tensor<f32>
  %3 = hlir.mul %x, %2 : tensor<f32>
  %4 = hlir.select %1, %3, %x : tensor<i1>, tensor<f32>
  %5 = hlir.add %4, %0 : tensor<f32>
  %6 = hlir.constant dense<1.0> : tensor<f32>
  %7 = hlir.mod %x, %6 : tensor<f32>
  %8 = hlir.mul %7, %2 : tensor<f32>
  %9 = hlir.add %x, %8 : tensor<f32>
  %10 = hlir.less_than %5, %6 : tensor<f32> -> tensor<i1>
  %11 = hlir.mul %x, %0 : tensor<f32>
  %12 = hlir.constant dense<0x7F800000> : tensor<f32>
  %13 = hlir.less_than %5, %12 : tensor<f32> -> tensor<i1>
  %14 = hlir.select %13, %9, %x : tensor<i1>, tensor<f32>
  %15 = hlir.select %10, %11, %14 : tensor<i1>, tensor<f32>
  %16 = hlir.constant dense<2.0> : tensor<f32>
  %17 = hlir.mod %15, %16 : tensor<f32>
  %18 = hlir.less_than %17, %0 : tensor<f32> -> tensor<i1>
  %19 = hlir.mul %17, %2 : tensor<f32>
  %20 = hlir.select %18, %19, %17 : tensor<i1>, tensor<f32>
  %21 = hlir.add %20, %0 : tensor<f32>
  %22 = hlir.constant dense<0.5> : tensor<f32>
  %23 = hlir.less_than %22, %21 : tensor<f32> -> tensor<i1>
  %24 = hlir.select %23, %22, %22 : tensor<i1>, tensor<f32>
  %25 = hlir.less_than %7, %0 : tensor<f32> -> tensor<i1>
  %26 = hlir.select %25, %8, %7 : tensor<i1>, tensor<f32>
  %27 = hlir.add %26, %0 : tensor<f32>
  %28 = hlir.less_than %24, %27 : tensor<f32> -> tensor<i1>
  %29 = hlir.select %1, %2, %6 : tensor<i1>, tensor<f32>
  %30 = hlir.add %15, %29 : tensor<f32>
  %31 = hlir.select %28, %30, %15 : tensor<i1>, tensor<f32>
  return %31 : tensor<f32>
}
