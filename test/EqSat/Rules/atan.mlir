// atan, written out, and a near miss that must not be recovered.

// RUN: luminal-opt %s --eqsat-saturate | FileCheck %s

// Atan.
// CHECK-LABEL: func.func @atan(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise atan(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @atan(%x: tensor<f64>) -> tensor<f64> {
  %0 = hlir.constant dense<0.0> : tensor<f64>
  %1 = hlir.constant dense<1.0> : tensor<f64>
  %2 = hlir.less_than %x, %0 : tensor<f64> -> tensor<i1>
  %3 = hlir.constant dense<-1.0> : tensor<f64>
  %4 = hlir.mul %x, %3 : tensor<f64>
  %5 = hlir.select %2, %4, %x : tensor<i1>, tensor<f64>
  %6 = hlir.add %5, %0 : tensor<f64>
  %7 = hlir.less_than %1, %6 : tensor<f64> -> tensor<i1>
  %8 = hlir.recip %6 : tensor<f64>
  %9 = hlir.select %7, %8, %6 : tensor<i1>, tensor<f64>
  %10 = hlir.mul %9, %9 : tensor<f64>
  %11 = hlir.add %10, %1 : tensor<f64>
  %12 = hlir.sqrt %11 : tensor<f64>
  %13 = hlir.add %12, %1 : tensor<f64>
  %14 = hlir.recip %13 : tensor<f64>
  %15 = hlir.mul %9, %14 : tensor<f64>
  %16 = hlir.mul %15, %15 : tensor<f64>
  %17 = hlir.add %16, %1 : tensor<f64>
  %18 = hlir.sqrt %17 : tensor<f64>
  %19 = hlir.add %18, %1 : tensor<f64>
  %20 = hlir.recip %19 : tensor<f64>
  %21 = hlir.mul %15, %20 : tensor<f64>
  %22 = hlir.mul %21, %21 : tensor<f64>
  %23 = hlir.constant dense<0.04> : tensor<f64>
  %24 = hlir.mul %23, %22 : tensor<f64>
  %25 = hlir.constant dense<-0.043478260869565216> : tensor<f64>
  %26 = hlir.add %24, %25 : tensor<f64>
  %27 = hlir.mul %26, %22 : tensor<f64>
  %28 = hlir.constant dense<0.047619047619047616> : tensor<f64>
  %29 = hlir.add %27, %28 : tensor<f64>
  %30 = hlir.mul %29, %22 : tensor<f64>
  %31 = hlir.constant dense<-0.05263157894736842> : tensor<f64>
  %32 = hlir.add %30, %31 : tensor<f64>
  %33 = hlir.mul %32, %22 : tensor<f64>
  %34 = hlir.constant dense<0.058823529411764705> : tensor<f64>
  %35 = hlir.add %33, %34 : tensor<f64>
  %36 = hlir.mul %35, %22 : tensor<f64>
  %37 = hlir.constant dense<-0.06666666666666667> : tensor<f64>
  %38 = hlir.add %36, %37 : tensor<f64>
  %39 = hlir.mul %38, %22 : tensor<f64>
  %40 = hlir.constant dense<0.07692307692307693> : tensor<f64>
  %41 = hlir.add %39, %40 : tensor<f64>
  %42 = hlir.mul %41, %22 : tensor<f64>
  %43 = hlir.constant dense<-0.09090909090909091> : tensor<f64>
  %44 = hlir.add %42, %43 : tensor<f64>
  %45 = hlir.mul %44, %22 : tensor<f64>
  %46 = hlir.constant dense<0.1111111111111111> : tensor<f64>
  %47 = hlir.add %45, %46 : tensor<f64>
  %48 = hlir.mul %47, %22 : tensor<f64>
  %49 = hlir.constant dense<-0.14285714285714285> : tensor<f64>
  %50 = hlir.add %48, %49 : tensor<f64>
  %51 = hlir.mul %50, %22 : tensor<f64>
  %52 = hlir.constant dense<0.2> : tensor<f64>
  %53 = hlir.add %51, %52 : tensor<f64>
  %54 = hlir.mul %53, %22 : tensor<f64>
  %55 = hlir.constant dense<-0.3333333333333333> : tensor<f64>
  %56 = hlir.add %54, %55 : tensor<f64>
  %57 = hlir.mul %56, %22 : tensor<f64>
  %58 = hlir.constant dense<1.0> : tensor<f64>
  %59 = hlir.add %57, %58 : tensor<f64>
  %60 = hlir.mul %21, %59 : tensor<f64>
  %61 = hlir.constant dense<4.0> : tensor<f64>
  %62 = hlir.mul %60, %61 : tensor<f64>
  %63 = hlir.constant dense<-1.0> : tensor<f64>
  %64 = hlir.mul %62, %63 : tensor<f64>
  %65 = hlir.constant dense<1.5707963267948966> : tensor<f64>
  %66 = hlir.add %64, %65 : tensor<f64>
  %67 = hlir.select %7, %66, %62 : tensor<i1>, tensor<f64>
  %68 = hlir.less_than %x, %0 : tensor<f64> -> tensor<i1>
  %69 = hlir.constant dense<-1.0> : tensor<f64>
  %70 = hlir.mul %67, %69 : tensor<f64>
  %71 = hlir.select %68, %70, %67 : tensor<i1>, tensor<f64>
  return %71 : tensor<f64>
}

// The angle is halved once.
// CHECK-LABEL: func.func @not_atan(
// CHECK-NOT: elementwise atan(
// CHECK: return
func.func @not_atan(%x: tensor<f64>) -> tensor<f64> {
  %0 = hlir.constant dense<0.0> : tensor<f64>
  %1 = hlir.constant dense<1.0> : tensor<f64>
  %2 = hlir.less_than %x, %0 : tensor<f64> -> tensor<i1>
  %3 = hlir.constant dense<-1.0> : tensor<f64>
  %4 = hlir.mul %x, %3 : tensor<f64>
  %5 = hlir.select %2, %4, %x : tensor<i1>, tensor<f64>
  %6 = hlir.add %5, %0 : tensor<f64>
  %7 = hlir.less_than %1, %6 : tensor<f64> -> tensor<i1>
  %8 = hlir.recip %6 : tensor<f64>
  %9 = hlir.select %7, %8, %6 : tensor<i1>, tensor<f64>
  %10 = hlir.mul %9, %9 : tensor<f64>
  %11 = hlir.add %10, %1 : tensor<f64>
  %12 = hlir.sqrt %11 : tensor<f64>
  %13 = hlir.add %12, %1 : tensor<f64>
  %14 = hlir.recip %13 : tensor<f64>
  %15 = hlir.mul %9, %14 : tensor<f64>
  %16 = hlir.mul %15, %15 : tensor<f64>
  %17 = hlir.constant dense<0.04> : tensor<f64>
  %18 = hlir.mul %17, %16 : tensor<f64>
  %19 = hlir.constant dense<-0.043478260869565216> : tensor<f64>
  %20 = hlir.add %18, %19 : tensor<f64>
  %21 = hlir.mul %20, %16 : tensor<f64>
  %22 = hlir.constant dense<0.047619047619047616> : tensor<f64>
  %23 = hlir.add %21, %22 : tensor<f64>
  %24 = hlir.mul %23, %16 : tensor<f64>
  %25 = hlir.constant dense<-0.05263157894736842> : tensor<f64>
  %26 = hlir.add %24, %25 : tensor<f64>
  %27 = hlir.mul %26, %16 : tensor<f64>
  %28 = hlir.constant dense<0.058823529411764705> : tensor<f64>
  %29 = hlir.add %27, %28 : tensor<f64>
  %30 = hlir.mul %29, %16 : tensor<f64>
  %31 = hlir.constant dense<-0.06666666666666667> : tensor<f64>
  %32 = hlir.add %30, %31 : tensor<f64>
  %33 = hlir.mul %32, %16 : tensor<f64>
  %34 = hlir.constant dense<0.07692307692307693> : tensor<f64>
  %35 = hlir.add %33, %34 : tensor<f64>
  %36 = hlir.mul %35, %16 : tensor<f64>
  %37 = hlir.constant dense<-0.09090909090909091> : tensor<f64>
  %38 = hlir.add %36, %37 : tensor<f64>
  %39 = hlir.mul %38, %16 : tensor<f64>
  %40 = hlir.constant dense<0.1111111111111111> : tensor<f64>
  %41 = hlir.add %39, %40 : tensor<f64>
  %42 = hlir.mul %41, %16 : tensor<f64>
  %43 = hlir.constant dense<-0.14285714285714285> : tensor<f64>
  %44 = hlir.add %42, %43 : tensor<f64>
  %45 = hlir.mul %44, %16 : tensor<f64>
  %46 = hlir.constant dense<0.2> : tensor<f64>
  %47 = hlir.add %45, %46 : tensor<f64>
  %48 = hlir.mul %47, %16 : tensor<f64>
  %49 = hlir.constant dense<-0.3333333333333333> : tensor<f64>
  %50 = hlir.add %48, %49 : tensor<f64>
  %51 = hlir.mul %50, %16 : tensor<f64>
  %52 = hlir.constant dense<1.0> : tensor<f64>
  %53 = hlir.add %51, %52 : tensor<f64>
  %54 = hlir.mul %15, %53 : tensor<f64>
  %55 = hlir.constant dense<4.0> : tensor<f64>
  %56 = hlir.mul %54, %55 : tensor<f64>
  %57 = hlir.constant dense<-1.0> : tensor<f64>
  %58 = hlir.mul %56, %57 : tensor<f64>
  %59 = hlir.constant dense<1.5707963267948966> : tensor<f64>
  %60 = hlir.add %58, %59 : tensor<f64>
  %61 = hlir.select %7, %60, %56 : tensor<i1>, tensor<f64>
  %62 = hlir.less_than %x, %0 : tensor<f64> -> tensor<i1>
  %63 = hlir.constant dense<-1.0> : tensor<f64>
  %64 = hlir.mul %61, %63 : tensor<f64>
  %65 = hlir.select %62, %64, %61 : tensor<i1>, tensor<f64>
  return %65 : tensor<f64>
}
