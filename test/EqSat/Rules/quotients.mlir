// What the rules recover, written out, and beside each case a near miss that must
// not be recovered.

// RUN: luminal-opt %s --eqsat-saturate | FileCheck %s

// DivScaled.
// CHECK-LABEL: func.func @div_scaled(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise div(%arg0, %arg1)
// CHECK-NEXT: return %[[R]]
func.func @div_scaled(%x: tensor<f64>, %y: tensor<f64>) -> tensor<f64> {
  %0 = hlir.constant dense<1.0715086071862673e+301> : tensor<f64>
  %1 = hlir.less_than %0, %y : tensor<f64> -> tensor<i1>
  %2 = hlir.constant dense<-1.0715086071862673e+301> : tensor<f64>
  %3 = hlir.less_than %y, %2 : tensor<f64> -> tensor<i1>
  %4 = hlir.select %1, %1, %3 : tensor<i1>, tensor<i1>
  %5 = hlir.constant dense<9.332636185032189e-302> : tensor<f64>
  %6 = hlir.less_than %y, %5 : tensor<f64> -> tensor<i1>
  %7 = hlir.constant dense<-9.332636185032189e-302> : tensor<f64>
  %8 = hlir.less_than %7, %y : tensor<f64> -> tensor<i1>
  %9 = hlir.mul %6, %8 : tensor<i1>
  %10 = hlir.constant dense<1.0> : tensor<f64>
  %11 = hlir.constant dense<7.888609052210118e-31> : tensor<f64>
  %12 = hlir.select %4, %11, %10 : tensor<i1>, tensor<f64>
  %13 = hlir.constant dense<1.2676506002282294e+30> : tensor<f64>
  %14 = hlir.select %9, %13, %12 : tensor<i1>, tensor<f64>
  %15 = hlir.mul %x, %14 : tensor<f64>
  %16 = hlir.mul %y, %14 : tensor<f64>
  %17 = hlir.recip %16 : tensor<f64>
  %18 = hlir.mul %15, %17 : tensor<f64>
  return %18 : tensor<f64>
}

// The division by another scale is one of the scaled operands.
// CHECK-LABEL: func.func @not_div_scaled(
// CHECK-NOT: elementwise div(%arg0, %arg1)
// CHECK: return
func.func @not_div_scaled(%x: tensor<f64>, %y: tensor<f64>) -> tensor<f64> {
  %0 = hlir.constant dense<1.0715086071862673e+301> : tensor<f64>
  %1 = hlir.less_than %0, %y : tensor<f64> -> tensor<i1>
  %2 = hlir.constant dense<-1.0715086071862673e+301> : tensor<f64>
  %3 = hlir.less_than %y, %2 : tensor<f64> -> tensor<i1>
  %4 = hlir.select %1, %1, %3 : tensor<i1>, tensor<i1>
  %5 = hlir.constant dense<9.332636185032189e-302> : tensor<f64>
  %6 = hlir.less_than %y, %5 : tensor<f64> -> tensor<i1>
  %7 = hlir.constant dense<-9.332636185032189e-302> : tensor<f64>
  %8 = hlir.less_than %7, %y : tensor<f64> -> tensor<i1>
  %9 = hlir.mul %6, %8 : tensor<i1>
  %10 = hlir.constant dense<1.0> : tensor<f64>
  %11 = hlir.constant dense<7.888609052210118e-31> : tensor<f64>
  %12 = hlir.select %4, %11, %10 : tensor<i1>, tensor<f64>
  %13 = hlir.constant dense<6.338253001141147e+29> : tensor<f64>
  %14 = hlir.select %9, %13, %12 : tensor<i1>, tensor<f64>
  %15 = hlir.mul %x, %14 : tensor<f64>
  %16 = hlir.mul %y, %14 : tensor<f64>
  %17 = hlir.recip %16 : tensor<f64>
  %18 = hlir.mul %15, %17 : tensor<f64>
  return %18 : tensor<f64>
}

// DivInteger.
// CHECK-LABEL: func.func @div_i32(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise div(%arg0, %arg1)
// CHECK-NEXT: return %[[R]]
func.func @div_i32(%x: tensor<i32>, %y: tensor<i32>) -> tensor<i32> {
  %0 = hlir.mod %x, %y : tensor<i32>
  %1 = hlir.constant dense<-1> : tensor<i32>
  %2 = hlir.mul %0, %1 : tensor<i32>
  %3 = hlir.add %x, %2 : tensor<i32>
  %4 = hlir.cast %3 : tensor<i32> -> tensor<f64>
  %5 = hlir.cast %y : tensor<i32> -> tensor<f64>
  %6 = hlir.recip %5 : tensor<f64>
  %7 = hlir.mul %4, %6 : tensor<f64>
  %8 = hlir.constant dense<0.0> : tensor<f64>
  %9 = hlir.less_than %7, %8 : tensor<f64> -> tensor<i1>
  %10 = hlir.constant dense<0.5> : tensor<f64>
  %11 = hlir.constant dense<-0.5> : tensor<f64>
  %12 = hlir.select %9, %11, %10 : tensor<i1>, tensor<f64>
  %13 = hlir.add %7, %12 : tensor<f64>
  %14 = hlir.cast %13 : tensor<f64> -> tensor<i32>
  %15 = hlir.mul %14, %y : tensor<i32>
  %16 = hlir.mul %15, %1 : tensor<i32>
  %17 = hlir.add %3, %16 : tensor<i32>
  %18 = hlir.constant dense<0> : tensor<i32>
  %19 = hlir.less_than %y, %18 : tensor<i32> -> tensor<i1>
  %20 = hlir.less_than %18, %y : tensor<i32> -> tensor<i1>
  %21 = hlir.select %19, %19, %20 : tensor<i1>, tensor<i1>
  %22 = hlir.cast %17 : tensor<i32> -> tensor<f64>
  %23 = hlir.mul %22, %6 : tensor<f64>
  %24 = hlir.less_than %23, %8 : tensor<f64> -> tensor<i1>
  %25 = hlir.select %24, %11, %10 : tensor<i1>, tensor<f64>
  %26 = hlir.add %23, %25 : tensor<f64>
  %27 = hlir.cast %26 : tensor<f64> -> tensor<i32>
  %28 = hlir.add %14, %27 : tensor<i32>
  %29 = hlir.select %21, %28, %18 : tensor<i1>, tensor<i32>
  return %29 : tensor<i32>
}

// CHECK-LABEL: func.func @not_div_i32(
// CHECK-NOT: elementwise div({{.*}}<i
// CHECK: return
func.func @not_div_i32(%x: tensor<i32>, %y: tensor<i32>) -> tensor<i32> {
  %0 = hlir.cast %x : tensor<i32> -> tensor<f64>
  %1 = hlir.cast %y : tensor<i32> -> tensor<f64>
  %2 = hlir.recip %1 : tensor<f64>
  %3 = hlir.mul %0, %2 : tensor<f64>
  %4 = hlir.constant dense<0.0> : tensor<f64>
  %5 = hlir.less_than %3, %4 : tensor<f64> -> tensor<i1>
  %6 = hlir.constant dense<0.5> : tensor<f64>
  %7 = hlir.constant dense<-0.5> : tensor<f64>
  %8 = hlir.select %5, %7, %6 : tensor<i1>, tensor<f64>
  %9 = hlir.add %3, %8 : tensor<f64>
  %10 = hlir.cast %9 : tensor<f64> -> tensor<i32>
  return %10 : tensor<i32>
}

// DivInteger.
// CHECK-LABEL: func.func @div_i64(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise div(%arg0, %arg1)
// CHECK-NEXT: return %[[R]]
func.func @div_i64(%x: tensor<i64>, %y: tensor<i64>) -> tensor<i64> {
  %0 = hlir.mod %x, %y : tensor<i64>
  %1 = hlir.constant dense<-1> : tensor<i64>
  %2 = hlir.mul %0, %1 : tensor<i64>
  %3 = hlir.add %x, %2 : tensor<i64>
  %4 = hlir.cast %3 : tensor<i64> -> tensor<f64>
  %5 = hlir.cast %y : tensor<i64> -> tensor<f64>
  %6 = hlir.recip %5 : tensor<f64>
  %7 = hlir.mul %4, %6 : tensor<f64>
  %8 = hlir.constant dense<0.0> : tensor<f64>
  %9 = hlir.less_than %7, %8 : tensor<f64> -> tensor<i1>
  %10 = hlir.constant dense<0.5> : tensor<f64>
  %11 = hlir.constant dense<-0.5> : tensor<f64>
  %12 = hlir.select %9, %11, %10 : tensor<i1>, tensor<f64>
  %13 = hlir.add %7, %12 : tensor<f64>
  %14 = hlir.cast %13 : tensor<f64> -> tensor<i64>
  %15 = hlir.mul %14, %y : tensor<i64>
  %16 = hlir.mul %15, %1 : tensor<i64>
  %17 = hlir.add %3, %16 : tensor<i64>
  %18 = hlir.constant dense<0> : tensor<i64>
  %19 = hlir.less_than %y, %18 : tensor<i64> -> tensor<i1>
  %20 = hlir.less_than %18, %y : tensor<i64> -> tensor<i1>
  %21 = hlir.select %19, %19, %20 : tensor<i1>, tensor<i1>
  %22 = hlir.cast %17 : tensor<i64> -> tensor<f64>
  %23 = hlir.mul %22, %6 : tensor<f64>
  %24 = hlir.less_than %23, %8 : tensor<f64> -> tensor<i1>
  %25 = hlir.select %24, %11, %10 : tensor<i1>, tensor<f64>
  %26 = hlir.add %23, %25 : tensor<f64>
  %27 = hlir.cast %26 : tensor<f64> -> tensor<i64>
  %28 = hlir.add %14, %27 : tensor<i64>
  %29 = hlir.select %21, %28, %18 : tensor<i1>, tensor<i64>
  return %29 : tensor<i64>
}

// CHECK-LABEL: func.func @not_div_i64(
// CHECK-NOT: elementwise div({{.*}}<i
// CHECK: return
func.func @not_div_i64(%x: tensor<i64>, %y: tensor<i64>) -> tensor<i64> {
  %0 = hlir.mod %x, %y : tensor<i64>
  %1 = hlir.constant dense<-1> : tensor<i64>
  %2 = hlir.mul %0, %1 : tensor<i64>
  %3 = hlir.add %x, %2 : tensor<i64>
  %4 = hlir.cast %3 : tensor<i64> -> tensor<f64>
  %5 = hlir.cast %y : tensor<i64> -> tensor<f64>
  %6 = hlir.recip %5 : tensor<f64>
  %7 = hlir.mul %4, %6 : tensor<f64>
  %8 = hlir.constant dense<0.0> : tensor<f64>
  %9 = hlir.less_than %7, %8 : tensor<f64> -> tensor<i1>
  %10 = hlir.constant dense<0.25> : tensor<f64>
  %11 = hlir.constant dense<-0.25> : tensor<f64>
  %12 = hlir.select %9, %11, %10 : tensor<i1>, tensor<f64>
  %13 = hlir.add %7, %12 : tensor<f64>
  %14 = hlir.cast %13 : tensor<f64> -> tensor<i64>
  %15 = hlir.mul %14, %y : tensor<i64>
  %16 = hlir.mul %15, %1 : tensor<i64>
  %17 = hlir.add %3, %16 : tensor<i64>
  %18 = hlir.constant dense<0> : tensor<i64>
  %19 = hlir.less_than %y, %18 : tensor<i64> -> tensor<i1>
  %20 = hlir.less_than %18, %y : tensor<i64> -> tensor<i1>
  %21 = hlir.select %19, %19, %20 : tensor<i1>, tensor<i1>
  %22 = hlir.cast %17 : tensor<i64> -> tensor<f64>
  %23 = hlir.mul %22, %6 : tensor<f64>
  %24 = hlir.less_than %23, %8 : tensor<f64> -> tensor<i1>
  %25 = hlir.select %24, %11, %10 : tensor<i1>, tensor<f64>
  %26 = hlir.add %23, %25 : tensor<f64>
  %27 = hlir.cast %26 : tensor<f64> -> tensor<i64>
  %28 = hlir.add %14, %27 : tensor<i64>
  %29 = hlir.select %21, %28, %18 : tensor<i1>, tensor<i64>
  return %29 : tensor<i64>
}

// FloorMod.
// CHECK-LABEL: func.func @floor_mod(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise floor_mod(%arg0, %arg1)
// CHECK-NEXT: return %[[R]]
func.func @floor_mod(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = hlir.mod %x, %y : tensor<f32>
  %1 = hlir.constant dense<0.0> : tensor<f32>
  %2 = hlir.less_than %0, %1 : tensor<f32> -> tensor<i1>
  %3 = hlir.less_than %1, %0 : tensor<f32> -> tensor<i1>
  %4 = hlir.select %2, %2, %3 : tensor<i1>, tensor<i1>
  %5 = hlir.less_than %y, %1 : tensor<f32> -> tensor<i1>
  %6 = hlir.constant dense<true> : tensor<i1>
  %7 = hlir.less_than %5, %6 : tensor<i1> -> tensor<i1>
  %8 = hlir.select %2, %7, %5 : tensor<i1>, tensor<i1>
  %9 = hlir.mul %4, %8 : tensor<i1>
  %10 = hlir.add %0, %y : tensor<f32>
  %11 = hlir.select %9, %10, %0 : tensor<i1>, tensor<f32>
  return %11 : tensor<f32>
}

// CHECK-LABEL: func.func @not_floor_mod(
// CHECK-NOT: elementwise floor_mod(
// CHECK: return
func.func @not_floor_mod(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = hlir.mod %x, %y : tensor<f32>
  %1 = hlir.constant dense<0.0> : tensor<f32>
  %2 = hlir.less_than %0, %1 : tensor<f32> -> tensor<i1>
  %3 = hlir.less_than %1, %0 : tensor<f32> -> tensor<i1>
  %4 = hlir.select %2, %2, %3 : tensor<i1>, tensor<i1>
  %5 = hlir.less_than %x, %1 : tensor<f32> -> tensor<i1>
  %6 = hlir.constant dense<true> : tensor<i1>
  %7 = hlir.less_than %5, %6 : tensor<i1> -> tensor<i1>
  %8 = hlir.select %2, %7, %5 : tensor<i1>, tensor<i1>
  %9 = hlir.mul %4, %8 : tensor<i1>
  %10 = hlir.add %0, %y : tensor<f32>
  %11 = hlir.select %9, %10, %0 : tensor<i1>, tensor<f32>
  return %11 : tensor<f32>
}

// FloorDivInteger.
// CHECK-LABEL: func.func @floor_div_integer(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise floor_div(%arg0, %arg1)
// CHECK-NEXT: return %[[R]]
func.func @floor_div_integer(%x: tensor<i64>, %y: tensor<i64>) -> tensor<i64> {
  %0 = hlir.mod %x, %y : tensor<i64>
  %1 = hlir.constant dense<0> : tensor<i64>
  %2 = hlir.less_than %0, %1 : tensor<i64> -> tensor<i1>
  %3 = hlir.less_than %1, %0 : tensor<i64> -> tensor<i1>
  %4 = hlir.select %2, %2, %3 : tensor<i1>, tensor<i1>
  %5 = hlir.less_than %y, %1 : tensor<i64> -> tensor<i1>
  %6 = hlir.constant dense<true> : tensor<i1>
  %7 = hlir.less_than %5, %6 : tensor<i1> -> tensor<i1>
  %8 = hlir.select %2, %7, %5 : tensor<i1>, tensor<i1>
  %9 = hlir.mul %4, %8 : tensor<i1>
  %10 = hlir.constant dense<-1> : tensor<i64>
  %11 = hlir.mul %0, %10 : tensor<i64>
  %12 = hlir.add %x, %11 : tensor<i64>
  %13 = hlir.cast %12 : tensor<i64> -> tensor<f64>
  %14 = hlir.cast %y : tensor<i64> -> tensor<f64>
  %15 = hlir.recip %14 : tensor<f64>
  %16 = hlir.mul %13, %15 : tensor<f64>
  %17 = hlir.constant dense<0.0> : tensor<f64>
  %18 = hlir.less_than %16, %17 : tensor<f64> -> tensor<i1>
  %19 = hlir.constant dense<0.5> : tensor<f64>
  %20 = hlir.constant dense<-0.5> : tensor<f64>
  %21 = hlir.select %18, %20, %19 : tensor<i1>, tensor<f64>
  %22 = hlir.add %16, %21 : tensor<f64>
  %23 = hlir.cast %22 : tensor<f64> -> tensor<i64>
  %24 = hlir.mul %23, %y : tensor<i64>
  %25 = hlir.mul %24, %10 : tensor<i64>
  %26 = hlir.add %12, %25 : tensor<i64>
  %27 = hlir.less_than %1, %y : tensor<i64> -> tensor<i1>
  %28 = hlir.select %5, %5, %27 : tensor<i1>, tensor<i1>
  %29 = hlir.cast %26 : tensor<i64> -> tensor<f64>
  %30 = hlir.mul %29, %15 : tensor<f64>
  %31 = hlir.less_than %30, %17 : tensor<f64> -> tensor<i1>
  %32 = hlir.select %31, %20, %19 : tensor<i1>, tensor<f64>
  %33 = hlir.add %30, %32 : tensor<f64>
  %34 = hlir.cast %33 : tensor<f64> -> tensor<i64>
  %35 = hlir.add %23, %34 : tensor<i64>
  %36 = hlir.select %28, %35, %1 : tensor<i1>, tensor<i64>
  %37 = hlir.add %36, %10 : tensor<i64>
  %38 = hlir.select %9, %37, %36 : tensor<i1>, tensor<i64>
  return %38 : tensor<i64>
}

// CHECK-LABEL: func.func @not_floor_div_integer(
// CHECK-NOT: elementwise floor_div(
// CHECK: return
func.func @not_floor_div_integer(%x: tensor<i64>, %y: tensor<i64>) -> tensor<i64> {
  %0 = hlir.mod %x, %y : tensor<i64>
  %1 = hlir.constant dense<0> : tensor<i64>
  %2 = hlir.less_than %0, %1 : tensor<i64> -> tensor<i1>
  %3 = hlir.less_than %1, %0 : tensor<i64> -> tensor<i1>
  %4 = hlir.select %2, %2, %3 : tensor<i1>, tensor<i1>
  %5 = hlir.less_than %y, %1 : tensor<i64> -> tensor<i1>
  %6 = hlir.constant dense<true> : tensor<i1>
  %7 = hlir.less_than %5, %6 : tensor<i1> -> tensor<i1>
  %8 = hlir.select %2, %7, %5 : tensor<i1>, tensor<i1>
  %9 = hlir.mul %4, %8 : tensor<i1>
  %10 = hlir.constant dense<-1> : tensor<i64>
  %11 = hlir.mul %0, %10 : tensor<i64>
  %12 = hlir.add %x, %11 : tensor<i64>
  %13 = hlir.cast %12 : tensor<i64> -> tensor<f64>
  %14 = hlir.cast %y : tensor<i64> -> tensor<f64>
  %15 = hlir.recip %14 : tensor<f64>
  %16 = hlir.mul %13, %15 : tensor<f64>
  %17 = hlir.constant dense<0.0> : tensor<f64>
  %18 = hlir.less_than %16, %17 : tensor<f64> -> tensor<i1>
  %19 = hlir.constant dense<0.5> : tensor<f64>
  %20 = hlir.constant dense<-0.5> : tensor<f64>
  %21 = hlir.select %18, %20, %19 : tensor<i1>, tensor<f64>
  %22 = hlir.add %16, %21 : tensor<f64>
  %23 = hlir.cast %22 : tensor<f64> -> tensor<i64>
  %24 = hlir.mul %23, %y : tensor<i64>
  %25 = hlir.mul %24, %10 : tensor<i64>
  %26 = hlir.add %12, %25 : tensor<i64>
  %27 = hlir.less_than %1, %y : tensor<i64> -> tensor<i1>
  %28 = hlir.select %5, %5, %27 : tensor<i1>, tensor<i1>
  %29 = hlir.cast %26 : tensor<i64> -> tensor<f64>
  %30 = hlir.mul %29, %15 : tensor<f64>
  %31 = hlir.less_than %30, %17 : tensor<f64> -> tensor<i1>
  %32 = hlir.select %31, %20, %19 : tensor<i1>, tensor<f64>
  %33 = hlir.add %30, %32 : tensor<f64>
  %34 = hlir.cast %33 : tensor<f64> -> tensor<i64>
  %35 = hlir.add %23, %34 : tensor<i64>
  %36 = hlir.select %28, %35, %1 : tensor<i1>, tensor<i64>
  %37 = hlir.constant dense<1> : tensor<i64>
  %38 = hlir.add %36, %37 : tensor<i64>
  %39 = hlir.select %9, %38, %36 : tensor<i1>, tensor<i64>
  return %39 : tensor<i64>
}
