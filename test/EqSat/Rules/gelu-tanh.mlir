// What the rules recover, written out, and beside each case a near miss that must
// not be recovered.

// RUN: luminal-opt %s --eqsat-saturate | FileCheck %s

// GeluSigmoid.
// CHECK-LABEL: func.func @gelu_sigmoid(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise gelu_tanh(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @gelu_sigmoid(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.mul %x, %x : tensor<f32>
  %1 = hlir.mul %0, %x : tensor<f32>
  %2 = hlir.constant dense<0.044715> : tensor<f32>
  %3 = hlir.mul %1, %2 : tensor<f32>
  %4 = hlir.add %3, %x : tensor<f32>
  %5 = hlir.constant dense<0.7978845608028654> : tensor<f32>
  %6 = hlir.mul %4, %5 : tensor<f32>
  %7 = hlir.constant dense<2.0> : tensor<f32>
  %8 = hlir.mul %6, %7 : tensor<f32>
  %9 = hlir.constant dense<-1.0> : tensor<f32>
  %10 = hlir.mul %8, %9 : tensor<f32>
  %11 = hlir.constant dense<1.4426950408889634> : tensor<f32>
  %12 = hlir.mul %10, %11 : tensor<f32>
  %13 = hlir.exp2 %12 : tensor<f32>
  %14 = hlir.constant dense<1.0> : tensor<f32>
  %15 = hlir.add %13, %14 : tensor<f32>
  %16 = hlir.recip %15 : tensor<f32>
  %17 = hlir.mul %x, %16 : tensor<f32>
  return %17 : tensor<f32>
}

// CHECK-LABEL: func.func @not_gelu_sigmoid(
// CHECK-NOT: elementwise gelu_tanh(
// CHECK: return
func.func @not_gelu_sigmoid(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.mul %x, %x : tensor<f32>
  %1 = hlir.mul %0, %x : tensor<f32>
  %2 = hlir.constant dense<0.044715> : tensor<f32>
  %3 = hlir.mul %1, %2 : tensor<f32>
  %4 = hlir.add %3, %x : tensor<f32>
  %5 = hlir.constant dense<0.7978845608028654> : tensor<f32>
  %6 = hlir.mul %4, %5 : tensor<f32>
  %7 = hlir.constant dense<-1.0> : tensor<f32>
  %8 = hlir.mul %6, %7 : tensor<f32>
  %9 = hlir.constant dense<1.4426950408889634> : tensor<f32>
  %10 = hlir.mul %8, %9 : tensor<f32>
  %11 = hlir.exp2 %10 : tensor<f32>
  %12 = hlir.constant dense<1.0> : tensor<f32>
  %13 = hlir.add %11, %12 : tensor<f32>
  %14 = hlir.recip %13 : tensor<f32>
  %15 = hlir.mul %x, %14 : tensor<f32>
  return %15 : tensor<f32>
}

// GeluTanh.
// CHECK-LABEL: func.func @gelu_tanh(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise gelu_tanh(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @gelu_tanh(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.constant dense<0.5> : tensor<f32>
  %1 = hlir.mul %x, %0 : tensor<f32>
  %2 = hlir.mul %x, %x : tensor<f32>
  %3 = hlir.mul %2, %x : tensor<f32>
  %4 = hlir.constant dense<0.044715> : tensor<f32>
  %5 = hlir.mul %3, %4 : tensor<f32>
  %6 = hlir.add %5, %x : tensor<f32>
  %7 = hlir.constant dense<0.7978845608028654> : tensor<f32>
  %8 = hlir.mul %6, %7 : tensor<f32>
  %9 = hlir.mul %8, %8 : tensor<f32>
  %10 = hlir.constant dense<0.003592128036572481> : tensor<f32>
  %11 = hlir.mul %10, %9 : tensor<f32>
  %12 = hlir.constant dense<-0.008863235529902197> : tensor<f32>
  %13 = hlir.add %11, %12 : tensor<f32>
  %14 = hlir.mul %13, %9 : tensor<f32>
  %15 = hlir.constant dense<0.021869488536155203> : tensor<f32>
  %16 = hlir.add %14, %15 : tensor<f32>
  %17 = hlir.mul %16, %9 : tensor<f32>
  %18 = hlir.constant dense<-0.05396825396825397> : tensor<f32>
  %19 = hlir.add %17, %18 : tensor<f32>
  %20 = hlir.mul %19, %9 : tensor<f32>
  %21 = hlir.constant dense<0.13333333333333333> : tensor<f32>
  %22 = hlir.add %20, %21 : tensor<f32>
  %23 = hlir.mul %22, %9 : tensor<f32>
  %24 = hlir.constant dense<-0.3333333333333333> : tensor<f32>
  %25 = hlir.add %23, %24 : tensor<f32>
  %26 = hlir.mul %25, %9 : tensor<f32>
  %27 = hlir.constant dense<1.0> : tensor<f32>
  %28 = hlir.add %26, %27 : tensor<f32>
  %29 = hlir.mul %8, %28 : tensor<f32>
  %30 = hlir.constant dense<2.0> : tensor<f32>
  %31 = hlir.mul %8, %30 : tensor<f32>
  %32 = hlir.constant dense<1.4426950408889634> : tensor<f32>
  %33 = hlir.mul %31, %32 : tensor<f32>
  %34 = hlir.exp2 %33 : tensor<f32>
  %35 = hlir.add %34, %27 : tensor<f32>
  %36 = hlir.recip %35 : tensor<f32>
  %37 = hlir.constant dense<-2.0> : tensor<f32>
  %38 = hlir.mul %36, %37 : tensor<f32>
  %39 = hlir.add %38, %27 : tensor<f32>
  %40 = hlir.constant dense<0.1> : tensor<f32>
  %41 = hlir.less_than %8, %40 : tensor<f32> -> tensor<i1>
  %42 = hlir.constant dense<-0.1> : tensor<f32>
  %43 = hlir.less_than %42, %8 : tensor<f32> -> tensor<i1>
  %44 = hlir.mul %41, %43 : tensor<i1>
  %45 = hlir.select %44, %29, %39 : tensor<i1>, tensor<f32>
  %46 = hlir.add %45, %27 : tensor<f32>
  %47 = hlir.mul %1, %46 : tensor<f32>
  return %47 : tensor<f32>
}

// CHECK-LABEL: func.func @not_gelu_tanh(
// CHECK-NOT: elementwise gelu_tanh(
// CHECK: return
func.func @not_gelu_tanh(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.constant dense<0.5> : tensor<f32>
  %1 = hlir.mul %x, %0 : tensor<f32>
  %2 = hlir.mul %x, %x : tensor<f32>
  %3 = hlir.mul %2, %x : tensor<f32>
  %4 = hlir.constant dense<0.0447> : tensor<f32>
  %5 = hlir.mul %3, %4 : tensor<f32>
  %6 = hlir.add %5, %x : tensor<f32>
  %7 = hlir.constant dense<0.7978845608028654> : tensor<f32>
  %8 = hlir.mul %6, %7 : tensor<f32>
  %9 = hlir.mul %8, %8 : tensor<f32>
  %10 = hlir.constant dense<0.003592128036572481> : tensor<f32>
  %11 = hlir.mul %10, %9 : tensor<f32>
  %12 = hlir.constant dense<-0.008863235529902197> : tensor<f32>
  %13 = hlir.add %11, %12 : tensor<f32>
  %14 = hlir.mul %13, %9 : tensor<f32>
  %15 = hlir.constant dense<0.021869488536155203> : tensor<f32>
  %16 = hlir.add %14, %15 : tensor<f32>
  %17 = hlir.mul %16, %9 : tensor<f32>
  %18 = hlir.constant dense<-0.05396825396825397> : tensor<f32>
  %19 = hlir.add %17, %18 : tensor<f32>
  %20 = hlir.mul %19, %9 : tensor<f32>
  %21 = hlir.constant dense<0.13333333333333333> : tensor<f32>
  %22 = hlir.add %20, %21 : tensor<f32>
  %23 = hlir.mul %22, %9 : tensor<f32>
  %24 = hlir.constant dense<-0.3333333333333333> : tensor<f32>
  %25 = hlir.add %23, %24 : tensor<f32>
  %26 = hlir.mul %25, %9 : tensor<f32>
  %27 = hlir.constant dense<1.0> : tensor<f32>
  %28 = hlir.add %26, %27 : tensor<f32>
  %29 = hlir.mul %8, %28 : tensor<f32>
  %30 = hlir.constant dense<2.0> : tensor<f32>
  %31 = hlir.mul %8, %30 : tensor<f32>
  %32 = hlir.constant dense<1.4426950408889634> : tensor<f32>
  %33 = hlir.mul %31, %32 : tensor<f32>
  %34 = hlir.exp2 %33 : tensor<f32>
  %35 = hlir.add %34, %27 : tensor<f32>
  %36 = hlir.recip %35 : tensor<f32>
  %37 = hlir.constant dense<-2.0> : tensor<f32>
  %38 = hlir.mul %36, %37 : tensor<f32>
  %39 = hlir.add %38, %27 : tensor<f32>
  %40 = hlir.constant dense<0.1> : tensor<f32>
  %41 = hlir.less_than %8, %40 : tensor<f32> -> tensor<i1>
  %42 = hlir.constant dense<-0.1> : tensor<f32>
  %43 = hlir.less_than %42, %8 : tensor<f32> -> tensor<i1>
  %44 = hlir.mul %41, %43 : tensor<i1>
  %45 = hlir.select %44, %29, %39 : tensor<i1>, tensor<f32>
  %46 = hlir.add %45, %27 : tensor<f32>
  %47 = hlir.mul %1, %46 : tensor<f32>
  return %47 : tensor<f32>
}

// GeluTanhHalfLast.
// CHECK-LABEL: func.func @gelu_tanh_half_last(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise gelu_tanh(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @gelu_tanh_half_last(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.mul %x, %x : tensor<f32>
  %1 = hlir.mul %0, %x : tensor<f32>
  %2 = hlir.constant dense<0.044715> : tensor<f32>
  %3 = hlir.mul %1, %2 : tensor<f32>
  %4 = hlir.add %3, %x : tensor<f32>
  %5 = hlir.constant dense<0.7978845608028654> : tensor<f32>
  %6 = hlir.mul %4, %5 : tensor<f32>
  %7 = hlir.mul %6, %6 : tensor<f32>
  %8 = hlir.constant dense<0.003592128036572481> : tensor<f32>
  %9 = hlir.mul %8, %7 : tensor<f32>
  %10 = hlir.constant dense<-0.008863235529902197> : tensor<f32>
  %11 = hlir.add %9, %10 : tensor<f32>
  %12 = hlir.mul %11, %7 : tensor<f32>
  %13 = hlir.constant dense<0.021869488536155203> : tensor<f32>
  %14 = hlir.add %12, %13 : tensor<f32>
  %15 = hlir.mul %14, %7 : tensor<f32>
  %16 = hlir.constant dense<-0.05396825396825397> : tensor<f32>
  %17 = hlir.add %15, %16 : tensor<f32>
  %18 = hlir.mul %17, %7 : tensor<f32>
  %19 = hlir.constant dense<0.13333333333333333> : tensor<f32>
  %20 = hlir.add %18, %19 : tensor<f32>
  %21 = hlir.mul %20, %7 : tensor<f32>
  %22 = hlir.constant dense<-0.3333333333333333> : tensor<f32>
  %23 = hlir.add %21, %22 : tensor<f32>
  %24 = hlir.mul %23, %7 : tensor<f32>
  %25 = hlir.constant dense<1.0> : tensor<f32>
  %26 = hlir.add %24, %25 : tensor<f32>
  %27 = hlir.mul %6, %26 : tensor<f32>
  %28 = hlir.constant dense<2.0> : tensor<f32>
  %29 = hlir.mul %6, %28 : tensor<f32>
  %30 = hlir.constant dense<1.4426950408889634> : tensor<f32>
  %31 = hlir.mul %29, %30 : tensor<f32>
  %32 = hlir.exp2 %31 : tensor<f32>
  %33 = hlir.add %32, %25 : tensor<f32>
  %34 = hlir.recip %33 : tensor<f32>
  %35 = hlir.constant dense<-2.0> : tensor<f32>
  %36 = hlir.mul %34, %35 : tensor<f32>
  %37 = hlir.add %36, %25 : tensor<f32>
  %38 = hlir.constant dense<0.1> : tensor<f32>
  %39 = hlir.less_than %6, %38 : tensor<f32> -> tensor<i1>
  %40 = hlir.constant dense<-0.1> : tensor<f32>
  %41 = hlir.less_than %40, %6 : tensor<f32> -> tensor<i1>
  %42 = hlir.mul %39, %41 : tensor<i1>
  %43 = hlir.select %42, %27, %37 : tensor<i1>, tensor<f32>
  %44 = hlir.add %43, %25 : tensor<f32>
  %45 = hlir.mul %x, %44 : tensor<f32>
  %46 = hlir.constant dense<0.5> : tensor<f32>
  %47 = hlir.mul %45, %46 : tensor<f32>
  return %47 : tensor<f32>
}

// CHECK-LABEL: func.func @not_gelu_tanh_half_last(
// CHECK-NOT: elementwise gelu_tanh(
// CHECK: return
func.func @not_gelu_tanh_half_last(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.mul %x, %x : tensor<f32>
  %1 = hlir.mul %0, %x : tensor<f32>
  %2 = hlir.constant dense<0.044715> : tensor<f32>
  %3 = hlir.mul %1, %2 : tensor<f32>
  %4 = hlir.add %3, %x : tensor<f32>
  %5 = hlir.constant dense<0.7978845608028654> : tensor<f32>
  %6 = hlir.mul %4, %5 : tensor<f32>
  %7 = hlir.mul %6, %6 : tensor<f32>
  %8 = hlir.constant dense<0.003592128036572481> : tensor<f32>
  %9 = hlir.mul %8, %7 : tensor<f32>
  %10 = hlir.constant dense<-0.008863235529902197> : tensor<f32>
  %11 = hlir.add %9, %10 : tensor<f32>
  %12 = hlir.mul %11, %7 : tensor<f32>
  %13 = hlir.constant dense<0.021869488536155203> : tensor<f32>
  %14 = hlir.add %12, %13 : tensor<f32>
  %15 = hlir.mul %14, %7 : tensor<f32>
  %16 = hlir.constant dense<-0.05396825396825397> : tensor<f32>
  %17 = hlir.add %15, %16 : tensor<f32>
  %18 = hlir.mul %17, %7 : tensor<f32>
  %19 = hlir.constant dense<0.13333333333333333> : tensor<f32>
  %20 = hlir.add %18, %19 : tensor<f32>
  %21 = hlir.mul %20, %7 : tensor<f32>
  %22 = hlir.constant dense<-0.3333333333333333> : tensor<f32>
  %23 = hlir.add %21, %22 : tensor<f32>
  %24 = hlir.mul %23, %7 : tensor<f32>
  %25 = hlir.constant dense<1.0> : tensor<f32>
  %26 = hlir.add %24, %25 : tensor<f32>
  %27 = hlir.mul %6, %26 : tensor<f32>
  %28 = hlir.constant dense<2.0> : tensor<f32>
  %29 = hlir.mul %6, %28 : tensor<f32>
  %30 = hlir.constant dense<1.4426950408889634> : tensor<f32>
  %31 = hlir.mul %29, %30 : tensor<f32>
  %32 = hlir.exp2 %31 : tensor<f32>
  %33 = hlir.add %32, %25 : tensor<f32>
  %34 = hlir.recip %33 : tensor<f32>
  %35 = hlir.constant dense<-2.0> : tensor<f32>
  %36 = hlir.mul %34, %35 : tensor<f32>
  %37 = hlir.add %36, %25 : tensor<f32>
  %38 = hlir.constant dense<0.1> : tensor<f32>
  %39 = hlir.less_than %6, %38 : tensor<f32> -> tensor<i1>
  %40 = hlir.constant dense<-0.1> : tensor<f32>
  %41 = hlir.less_than %40, %6 : tensor<f32> -> tensor<i1>
  %42 = hlir.mul %39, %41 : tensor<i1>
  %43 = hlir.select %42, %27, %37 : tensor<i1>, tensor<f32>
  %44 = hlir.constant dense<-1.0> : tensor<f32>
  %45 = hlir.add %43, %44 : tensor<f32>
  %46 = hlir.mul %x, %45 : tensor<f32>
  %47 = hlir.constant dense<0.5> : tensor<f32>
  %48 = hlir.mul %46, %47 : tensor<f32>
  return %48 : tensor<f32>
}
