// What the rules recover, written out, and beside each case a near miss that must
// not be recovered.

// RUN: luminal-opt %s --eqsat-saturate | FileCheck %s

// FloorDiv.
// CHECK-LABEL: func.func @floor_div(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise floor_div(%arg0, %arg1)
// CHECK-NEXT: return %[[R]]
func.func @floor_div(%x: tensor<f64>, %y: tensor<f64>) -> tensor<f64> {
  %0 = hlir.mod %x, %y : tensor<f64>
  %1 = hlir.recip %y : tensor<f64>
  %2 = hlir.constant dense<-1.0> : tensor<f64>
  %3 = hlir.mul %0, %2 : tensor<f64>
  %4 = hlir.add %x, %3 : tensor<f64>
  %5 = hlir.mul %4, %1 : tensor<f64>
  %6 = hlir.constant dense<0.0> : tensor<f64>
  %7 = hlir.less_than %0, %6 : tensor<f64> -> tensor<i1>
  %8 = hlir.less_than %6, %0 : tensor<f64> -> tensor<i1>
  %9 = hlir.select %7, %7, %8 : tensor<i1>, tensor<i1>
  %10 = hlir.less_than %y, %6 : tensor<f64> -> tensor<i1>
  %11 = hlir.constant dense<true> : tensor<i1>
  %12 = hlir.less_than %10, %11 : tensor<i1> -> tensor<i1>
  %13 = hlir.select %7, %12, %10 : tensor<i1>, tensor<i1>
  %14 = hlir.mul %9, %13 : tensor<i1>
  %15 = hlir.add %5, %2 : tensor<f64>
  %16 = hlir.select %14, %15, %5 : tensor<i1>, tensor<f64>
  %17 = hlir.less_than %16, %6 : tensor<f64> -> tensor<i1>
  %18 = hlir.mul %16, %2 : tensor<f64>
  %19 = hlir.select %17, %18, %16 : tensor<i1>, tensor<f64>
  %20 = hlir.add %19, %6 : tensor<f64>
  %21 = hlir.constant dense<1.0> : tensor<f64>
  %22 = hlir.mod %16, %21 : tensor<f64>
  %23 = hlir.mul %22, %2 : tensor<f64>
  %24 = hlir.add %16, %23 : tensor<f64>
  %25 = hlir.less_than %20, %21 : tensor<f64> -> tensor<i1>
  %26 = hlir.mul %16, %6 : tensor<f64>
  %27 = hlir.constant dense<0x7FF0000000000000> : tensor<f64>
  %28 = hlir.less_than %20, %27 : tensor<f64> -> tensor<i1>
  %29 = hlir.select %28, %24, %16 : tensor<i1>, tensor<f64>
  %30 = hlir.select %25, %26, %29 : tensor<i1>, tensor<f64>
  %31 = hlir.constant dense<2.0> : tensor<f64>
  %32 = hlir.mod %30, %31 : tensor<f64>
  %33 = hlir.less_than %32, %6 : tensor<f64> -> tensor<i1>
  %34 = hlir.mul %32, %2 : tensor<f64>
  %35 = hlir.select %33, %34, %32 : tensor<i1>, tensor<f64>
  %36 = hlir.add %35, %6 : tensor<f64>
  %37 = hlir.constant dense<0.5> : tensor<f64>
  %38 = hlir.less_than %37, %36 : tensor<f64> -> tensor<i1>
  %39 = hlir.constant dense<0.49999999999999994> : tensor<f64>
  %40 = hlir.select %38, %39, %37 : tensor<i1>, tensor<f64>
  %41 = hlir.less_than %22, %6 : tensor<f64> -> tensor<i1>
  %42 = hlir.select %41, %23, %22 : tensor<i1>, tensor<f64>
  %43 = hlir.add %42, %6 : tensor<f64>
  %44 = hlir.less_than %40, %43 : tensor<f64> -> tensor<i1>
  %45 = hlir.select %17, %2, %21 : tensor<i1>, tensor<f64>
  %46 = hlir.add %30, %45 : tensor<f64>
  %47 = hlir.select %44, %46, %30 : tensor<i1>, tensor<f64>
  %48 = hlir.less_than %6, %y : tensor<f64> -> tensor<i1>
  %49 = hlir.select %10, %10, %48 : tensor<i1>, tensor<i1>
  %50 = hlir.mul %x, %1 : tensor<f64>
  %51 = hlir.select %49, %47, %50 : tensor<i1>, tensor<f64>
  return %51 : tensor<f64>
}

// CHECK-LABEL: func.func @not_floor_div(
// CHECK-NOT: elementwise floor_div(
// CHECK: return
func.func @not_floor_div(%x: tensor<f64>, %y: tensor<f64>) -> tensor<f64> {
  %0 = hlir.mod %x, %y : tensor<f64>
  %1 = hlir.recip %y : tensor<f64>
  %2 = hlir.constant dense<-1.0> : tensor<f64>
  %3 = hlir.mul %0, %2 : tensor<f64>
  %4 = hlir.add %x, %3 : tensor<f64>
  %5 = hlir.mul %4, %1 : tensor<f64>
  %6 = hlir.constant dense<0.0> : tensor<f64>
  %7 = hlir.less_than %0, %6 : tensor<f64> -> tensor<i1>
  %8 = hlir.less_than %6, %0 : tensor<f64> -> tensor<i1>
  %9 = hlir.select %7, %7, %8 : tensor<i1>, tensor<i1>
  %10 = hlir.less_than %y, %6 : tensor<f64> -> tensor<i1>
  %11 = hlir.constant dense<true> : tensor<i1>
  %12 = hlir.less_than %10, %11 : tensor<i1> -> tensor<i1>
  %13 = hlir.select %7, %12, %10 : tensor<i1>, tensor<i1>
  %14 = hlir.mul %9, %13 : tensor<i1>
  %15 = hlir.constant dense<1.0> : tensor<f64>
  %16 = hlir.add %5, %15 : tensor<f64>
  %17 = hlir.select %14, %16, %5 : tensor<i1>, tensor<f64>
  %18 = hlir.less_than %17, %6 : tensor<f64> -> tensor<i1>
  %19 = hlir.mul %17, %2 : tensor<f64>
  %20 = hlir.select %18, %19, %17 : tensor<i1>, tensor<f64>
  %21 = hlir.add %20, %6 : tensor<f64>
  %22 = hlir.mod %17, %15 : tensor<f64>
  %23 = hlir.mul %22, %2 : tensor<f64>
  %24 = hlir.add %17, %23 : tensor<f64>
  %25 = hlir.less_than %21, %15 : tensor<f64> -> tensor<i1>
  %26 = hlir.mul %17, %6 : tensor<f64>
  %27 = hlir.constant dense<0x7FF0000000000000> : tensor<f64>
  %28 = hlir.less_than %21, %27 : tensor<f64> -> tensor<i1>
  %29 = hlir.select %28, %24, %17 : tensor<i1>, tensor<f64>
  %30 = hlir.select %25, %26, %29 : tensor<i1>, tensor<f64>
  %31 = hlir.constant dense<2.0> : tensor<f64>
  %32 = hlir.mod %30, %31 : tensor<f64>
  %33 = hlir.less_than %32, %6 : tensor<f64> -> tensor<i1>
  %34 = hlir.mul %32, %2 : tensor<f64>
  %35 = hlir.select %33, %34, %32 : tensor<i1>, tensor<f64>
  %36 = hlir.add %35, %6 : tensor<f64>
  %37 = hlir.constant dense<0.5> : tensor<f64>
  %38 = hlir.less_than %37, %36 : tensor<f64> -> tensor<i1>
  %39 = hlir.constant dense<0.49999999999999994> : tensor<f64>
  %40 = hlir.select %38, %39, %37 : tensor<i1>, tensor<f64>
  %41 = hlir.less_than %22, %6 : tensor<f64> -> tensor<i1>
  %42 = hlir.select %41, %23, %22 : tensor<i1>, tensor<f64>
  %43 = hlir.add %42, %6 : tensor<f64>
  %44 = hlir.less_than %40, %43 : tensor<f64> -> tensor<i1>
  %45 = hlir.select %18, %2, %15 : tensor<i1>, tensor<f64>
  %46 = hlir.add %30, %45 : tensor<f64>
  %47 = hlir.select %44, %46, %30 : tensor<i1>, tensor<f64>
  %48 = hlir.less_than %6, %y : tensor<f64> -> tensor<i1>
  %49 = hlir.select %10, %10, %48 : tensor<i1>, tensor<i1>
  %50 = hlir.mul %x, %1 : tensor<f64>
  %51 = hlir.select %49, %47, %50 : tensor<i1>, tensor<f64>
  return %51 : tensor<f64>
}
