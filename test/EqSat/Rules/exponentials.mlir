// What the rules recover, written out, and beside each case a near miss that must
// not be recovered.

// RUN: luminal-opt %s --eqsat-saturate | FileCheck %s

// Exp.
// CHECK-LABEL: func.func @exp(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise exp(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @exp(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.constant dense<1.4426950408889634> : tensor<f32>
  %1 = hlir.mul %x, %0 : tensor<f32>
  %2 = hlir.exp2 %1 : tensor<f32>
  return %2 : tensor<f32>
}

// CHECK-LABEL: func.func @not_exp(
// CHECK-NOT: elementwise exp(
// CHECK: return
func.func @not_exp(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.constant dense<1.44> : tensor<f32>
  %1 = hlir.mul %x, %0 : tensor<f32>
  %2 = hlir.exp2 %1 : tensor<f32>
  return %2 : tensor<f32>
}

// Log.
// CHECK-LABEL: func.func @log(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise log(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @log(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.log2 %x : tensor<f32>
  %1 = hlir.constant dense<0.6931471805599453> : tensor<f32>
  %2 = hlir.mul %0, %1 : tensor<f32>
  return %2 : tensor<f32>
}

// CHECK-LABEL: func.func @not_log(
// CHECK-NOT: elementwise log(
// CHECK: return
func.func @not_log(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.log2 %x : tensor<f32>
  %1 = hlir.constant dense<0.69> : tensor<f32>
  %2 = hlir.mul %0, %1 : tensor<f32>
  return %2 : tensor<f32>
}

// Sigmoid.
// CHECK-LABEL: func.func @sigmoid(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise sigmoid(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @sigmoid(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.constant dense<-1.0> : tensor<f32>
  %1 = hlir.mul %x, %0 : tensor<f32>
  %2 = hlir.constant dense<1.4426950408889634> : tensor<f32>
  %3 = hlir.mul %1, %2 : tensor<f32>
  %4 = hlir.exp2 %3 : tensor<f32>
  %5 = hlir.constant dense<1.0> : tensor<f32>
  %6 = hlir.add %4, %5 : tensor<f32>
  %7 = hlir.recip %6 : tensor<f32>
  return %7 : tensor<f32>
}

// CHECK-LABEL: func.func @not_sigmoid(
// CHECK-NOT: elementwise sigmoid(
// CHECK: return
func.func @not_sigmoid(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.constant dense<-1.0> : tensor<f32>
  %1 = hlir.mul %x, %0 : tensor<f32>
  %2 = hlir.constant dense<1.4426950408889634> : tensor<f32>
  %3 = hlir.mul %1, %2 : tensor<f32>
  %4 = hlir.exp2 %3 : tensor<f32>
  %5 = hlir.constant dense<2.0> : tensor<f32>
  %6 = hlir.add %4, %5 : tensor<f32>
  %7 = hlir.recip %6 : tensor<f32>
  return %7 : tensor<f32>
}

// Silu.
// CHECK-LABEL: func.func @silu(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise silu(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @silu(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.constant dense<-1.0> : tensor<f32>
  %1 = hlir.mul %x, %0 : tensor<f32>
  %2 = hlir.constant dense<1.4426950408889634> : tensor<f32>
  %3 = hlir.mul %1, %2 : tensor<f32>
  %4 = hlir.exp2 %3 : tensor<f32>
  %5 = hlir.constant dense<1.0> : tensor<f32>
  %6 = hlir.add %4, %5 : tensor<f32>
  %7 = hlir.recip %6 : tensor<f32>
  %8 = hlir.mul %7, %x : tensor<f32>
  return %8 : tensor<f32>
}

// CHECK-LABEL: func.func @not_silu(
// CHECK-NOT: elementwise silu(
// CHECK: return
func.func @not_silu(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = hlir.constant dense<-1.0> : tensor<f32>
  %1 = hlir.mul %x, %0 : tensor<f32>
  %2 = hlir.constant dense<1.4426950408889634> : tensor<f32>
  %3 = hlir.mul %1, %2 : tensor<f32>
  %4 = hlir.exp2 %3 : tensor<f32>
  %5 = hlir.constant dense<1.0> : tensor<f32>
  %6 = hlir.add %4, %5 : tensor<f32>
  %7 = hlir.recip %6 : tensor<f32>
  %8 = hlir.mul %7, %y : tensor<f32>
  return %8 : tensor<f32>
}

// Tanh.
// CHECK-LABEL: func.func @tanh(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise tanh(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @tanh(%x: tensor<f64>) -> tensor<f64> {
  %0 = hlir.mul %x, %x : tensor<f64>
  %1 = hlir.constant dense<0.003592128036572481> : tensor<f64>
  %2 = hlir.mul %1, %0 : tensor<f64>
  %3 = hlir.constant dense<-0.008863235529902197> : tensor<f64>
  %4 = hlir.add %2, %3 : tensor<f64>
  %5 = hlir.mul %4, %0 : tensor<f64>
  %6 = hlir.constant dense<0.021869488536155203> : tensor<f64>
  %7 = hlir.add %5, %6 : tensor<f64>
  %8 = hlir.mul %7, %0 : tensor<f64>
  %9 = hlir.constant dense<-0.05396825396825397> : tensor<f64>
  %10 = hlir.add %8, %9 : tensor<f64>
  %11 = hlir.mul %10, %0 : tensor<f64>
  %12 = hlir.constant dense<0.13333333333333333> : tensor<f64>
  %13 = hlir.add %11, %12 : tensor<f64>
  %14 = hlir.mul %13, %0 : tensor<f64>
  %15 = hlir.constant dense<-0.3333333333333333> : tensor<f64>
  %16 = hlir.add %14, %15 : tensor<f64>
  %17 = hlir.mul %16, %0 : tensor<f64>
  %18 = hlir.constant dense<1.0> : tensor<f64>
  %19 = hlir.add %17, %18 : tensor<f64>
  %20 = hlir.mul %x, %19 : tensor<f64>
  %21 = hlir.constant dense<2.0> : tensor<f64>
  %22 = hlir.mul %x, %21 : tensor<f64>
  %23 = hlir.constant dense<1.4426950408889634> : tensor<f64>
  %24 = hlir.mul %22, %23 : tensor<f64>
  %25 = hlir.exp2 %24 : tensor<f64>
  %26 = hlir.add %25, %18 : tensor<f64>
  %27 = hlir.recip %26 : tensor<f64>
  %28 = hlir.constant dense<-2.0> : tensor<f64>
  %29 = hlir.mul %27, %28 : tensor<f64>
  %30 = hlir.add %29, %18 : tensor<f64>
  %31 = hlir.constant dense<0.1> : tensor<f64>
  %32 = hlir.less_than %x, %31 : tensor<f64> -> tensor<i1>
  %33 = hlir.constant dense<-0.1> : tensor<f64>
  %34 = hlir.less_than %33, %x : tensor<f64> -> tensor<i1>
  %35 = hlir.mul %32, %34 : tensor<i1>
  %36 = hlir.select %35, %20, %30 : tensor<i1>, tensor<f64>
  return %36 : tensor<f64>
}

// The last coefficient differs.
// CHECK-LABEL: func.func @not_tanh(
// CHECK-NOT: elementwise tanh(
// CHECK: return
func.func @not_tanh(%x: tensor<f64>) -> tensor<f64> {
  %0 = hlir.mul %x, %x : tensor<f64>
  %1 = hlir.constant dense<0.0036> : tensor<f64>
  %2 = hlir.mul %1, %0 : tensor<f64>
  %3 = hlir.constant dense<-0.008863235529902197> : tensor<f64>
  %4 = hlir.add %2, %3 : tensor<f64>
  %5 = hlir.mul %4, %0 : tensor<f64>
  %6 = hlir.constant dense<0.021869488536155203> : tensor<f64>
  %7 = hlir.add %5, %6 : tensor<f64>
  %8 = hlir.mul %7, %0 : tensor<f64>
  %9 = hlir.constant dense<-0.05396825396825397> : tensor<f64>
  %10 = hlir.add %8, %9 : tensor<f64>
  %11 = hlir.mul %10, %0 : tensor<f64>
  %12 = hlir.constant dense<0.13333333333333333> : tensor<f64>
  %13 = hlir.add %11, %12 : tensor<f64>
  %14 = hlir.mul %13, %0 : tensor<f64>
  %15 = hlir.constant dense<-0.3333333333333333> : tensor<f64>
  %16 = hlir.add %14, %15 : tensor<f64>
  %17 = hlir.mul %16, %0 : tensor<f64>
  %18 = hlir.constant dense<1.0> : tensor<f64>
  %19 = hlir.add %17, %18 : tensor<f64>
  %20 = hlir.mul %x, %19 : tensor<f64>
  %21 = hlir.constant dense<2.0> : tensor<f64>
  %22 = hlir.mul %x, %21 : tensor<f64>
  %23 = hlir.constant dense<1.4426950408889634> : tensor<f64>
  %24 = hlir.mul %22, %23 : tensor<f64>
  %25 = hlir.exp2 %24 : tensor<f64>
  %26 = hlir.add %25, %18 : tensor<f64>
  %27 = hlir.recip %26 : tensor<f64>
  %28 = hlir.constant dense<-2.0> : tensor<f64>
  %29 = hlir.mul %27, %28 : tensor<f64>
  %30 = hlir.add %29, %18 : tensor<f64>
  %31 = hlir.constant dense<0.1> : tensor<f64>
  %32 = hlir.less_than %x, %31 : tensor<f64> -> tensor<i1>
  %33 = hlir.constant dense<-0.1> : tensor<f64>
  %34 = hlir.less_than %33, %x : tensor<f64> -> tensor<i1>
  %35 = hlir.mul %32, %34 : tensor<i1>
  %36 = hlir.select %35, %20, %30 : tensor<i1>, tensor<f64>
  return %36 : tensor<f64>
}

// Expm1.
// CHECK-LABEL: func.func @expm1(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise expm1(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @expm1(%x: tensor<f64>) -> tensor<f64> {
  %0 = hlir.constant dense<0.5> : tensor<f64>
  %1 = hlir.mul %x, %0 : tensor<f64>
  %2 = hlir.mul %1, %1 : tensor<f64>
  %3 = hlir.constant dense<1.6059043836821613e-10> : tensor<f64>
  %4 = hlir.mul %3, %2 : tensor<f64>
  %5 = hlir.constant dense<2.505210838544172e-08> : tensor<f64>
  %6 = hlir.add %4, %5 : tensor<f64>
  %7 = hlir.mul %6, %2 : tensor<f64>
  %8 = hlir.constant dense<2.7557319223985893e-06> : tensor<f64>
  %9 = hlir.add %7, %8 : tensor<f64>
  %10 = hlir.mul %9, %2 : tensor<f64>
  %11 = hlir.constant dense<0.0001984126984126984> : tensor<f64>
  %12 = hlir.add %10, %11 : tensor<f64>
  %13 = hlir.mul %12, %2 : tensor<f64>
  %14 = hlir.constant dense<0.008333333333333333> : tensor<f64>
  %15 = hlir.add %13, %14 : tensor<f64>
  %16 = hlir.mul %15, %2 : tensor<f64>
  %17 = hlir.constant dense<0.16666666666666666> : tensor<f64>
  %18 = hlir.add %16, %17 : tensor<f64>
  %19 = hlir.mul %18, %2 : tensor<f64>
  %20 = hlir.constant dense<1.0> : tensor<f64>
  %21 = hlir.add %19, %20 : tensor<f64>
  %22 = hlir.mul %x, %21 : tensor<f64>
  %23 = hlir.constant dense<1.4426950408889634> : tensor<f64>
  %24 = hlir.mul %1, %23 : tensor<f64>
  %25 = hlir.exp2 %24 : tensor<f64>
  %26 = hlir.mul %22, %25 : tensor<f64>
  %27 = hlir.less_than %x, %20 : tensor<f64> -> tensor<i1>
  %28 = hlir.constant dense<-1.0> : tensor<f64>
  %29 = hlir.less_than %28, %x : tensor<f64> -> tensor<i1>
  %30 = hlir.mul %27, %29 : tensor<i1>
  %31 = hlir.mul %x, %23 : tensor<f64>
  %32 = hlir.exp2 %31 : tensor<f64>
  %33 = hlir.add %32, %28 : tensor<f64>
  %34 = hlir.select %30, %26, %33 : tensor<i1>, tensor<f64>
  return %34 : tensor<f64>
}

// The series is used where it does not hold.
// CHECK-LABEL: func.func @not_expm1(
// CHECK-NOT: elementwise expm1(
// CHECK: return
func.func @not_expm1(%x: tensor<f64>) -> tensor<f64> {
  %0 = hlir.constant dense<0.5> : tensor<f64>
  %1 = hlir.mul %x, %0 : tensor<f64>
  %2 = hlir.mul %1, %1 : tensor<f64>
  %3 = hlir.constant dense<1.6059043836821613e-10> : tensor<f64>
  %4 = hlir.mul %3, %2 : tensor<f64>
  %5 = hlir.constant dense<2.505210838544172e-08> : tensor<f64>
  %6 = hlir.add %4, %5 : tensor<f64>
  %7 = hlir.mul %6, %2 : tensor<f64>
  %8 = hlir.constant dense<2.7557319223985893e-06> : tensor<f64>
  %9 = hlir.add %7, %8 : tensor<f64>
  %10 = hlir.mul %9, %2 : tensor<f64>
  %11 = hlir.constant dense<0.0001984126984126984> : tensor<f64>
  %12 = hlir.add %10, %11 : tensor<f64>
  %13 = hlir.mul %12, %2 : tensor<f64>
  %14 = hlir.constant dense<0.008333333333333333> : tensor<f64>
  %15 = hlir.add %13, %14 : tensor<f64>
  %16 = hlir.mul %15, %2 : tensor<f64>
  %17 = hlir.constant dense<0.16666666666666666> : tensor<f64>
  %18 = hlir.add %16, %17 : tensor<f64>
  %19 = hlir.mul %18, %2 : tensor<f64>
  %20 = hlir.constant dense<1.0> : tensor<f64>
  %21 = hlir.add %19, %20 : tensor<f64>
  %22 = hlir.mul %x, %21 : tensor<f64>
  %23 = hlir.constant dense<1.4426950408889634> : tensor<f64>
  %24 = hlir.mul %1, %23 : tensor<f64>
  %25 = hlir.exp2 %24 : tensor<f64>
  %26 = hlir.mul %22, %25 : tensor<f64>
  %27 = hlir.constant dense<3.0> : tensor<f64>
  %28 = hlir.less_than %x, %27 : tensor<f64> -> tensor<i1>
  %29 = hlir.constant dense<-3.0> : tensor<f64>
  %30 = hlir.less_than %29, %x : tensor<f64> -> tensor<i1>
  %31 = hlir.mul %28, %30 : tensor<i1>
  %32 = hlir.mul %x, %23 : tensor<f64>
  %33 = hlir.exp2 %32 : tensor<f64>
  %34 = hlir.constant dense<-1.0> : tensor<f64>
  %35 = hlir.add %33, %34 : tensor<f64>
  %36 = hlir.select %31, %26, %35 : tensor<i1>, tensor<f64>
  return %36 : tensor<f64>
}

// Log1p.
// CHECK-LABEL: func.func @log1p(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise log1p(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @log1p(%x: tensor<f64>) -> tensor<f64> {
  %0 = hlir.constant dense<2.0> : tensor<f64>
  %1 = hlir.add %x, %0 : tensor<f64>
  %2 = hlir.recip %1 : tensor<f64>
  %3 = hlir.mul %x, %2 : tensor<f64>
  %4 = hlir.mul %3, %3 : tensor<f64>
  %5 = hlir.constant dense<0.15384615384615385> : tensor<f64>
  %6 = hlir.mul %5, %4 : tensor<f64>
  %7 = hlir.constant dense<0.18181818181818182> : tensor<f64>
  %8 = hlir.add %6, %7 : tensor<f64>
  %9 = hlir.mul %8, %4 : tensor<f64>
  %10 = hlir.constant dense<0.2222222222222222> : tensor<f64>
  %11 = hlir.add %9, %10 : tensor<f64>
  %12 = hlir.mul %11, %4 : tensor<f64>
  %13 = hlir.constant dense<0.2857142857142857> : tensor<f64>
  %14 = hlir.add %12, %13 : tensor<f64>
  %15 = hlir.mul %14, %4 : tensor<f64>
  %16 = hlir.constant dense<0.4> : tensor<f64>
  %17 = hlir.add %15, %16 : tensor<f64>
  %18 = hlir.mul %17, %4 : tensor<f64>
  %19 = hlir.constant dense<0.6666666666666666> : tensor<f64>
  %20 = hlir.add %18, %19 : tensor<f64>
  %21 = hlir.mul %20, %4 : tensor<f64>
  %22 = hlir.add %21, %0 : tensor<f64>
  %23 = hlir.mul %3, %22 : tensor<f64>
  %24 = hlir.constant dense<0.1> : tensor<f64>
  %25 = hlir.less_than %x, %24 : tensor<f64> -> tensor<i1>
  %26 = hlir.constant dense<-0.1> : tensor<f64>
  %27 = hlir.less_than %26, %x : tensor<f64> -> tensor<i1>
  %28 = hlir.mul %25, %27 : tensor<i1>
  %29 = hlir.constant dense<1.0> : tensor<f64>
  %30 = hlir.add %x, %29 : tensor<f64>
  %31 = hlir.log2 %30 : tensor<f64>
  %32 = hlir.constant dense<0.6931471805599453> : tensor<f64>
  %33 = hlir.mul %31, %32 : tensor<f64>
  %34 = hlir.select %28, %23, %33 : tensor<i1>, tensor<f64>
  return %34 : tensor<f64>
}

// CHECK-LABEL: func.func @not_log1p(
// CHECK-NOT: elementwise log1p(
// CHECK: return
func.func @not_log1p(%x: tensor<f64>) -> tensor<f64> {
  %0 = hlir.constant dense<3.0> : tensor<f64>
  %1 = hlir.add %x, %0 : tensor<f64>
  %2 = hlir.recip %1 : tensor<f64>
  %3 = hlir.mul %x, %2 : tensor<f64>
  %4 = hlir.mul %3, %3 : tensor<f64>
  %5 = hlir.constant dense<0.15384615384615385> : tensor<f64>
  %6 = hlir.mul %5, %4 : tensor<f64>
  %7 = hlir.constant dense<0.18181818181818182> : tensor<f64>
  %8 = hlir.add %6, %7 : tensor<f64>
  %9 = hlir.mul %8, %4 : tensor<f64>
  %10 = hlir.constant dense<0.2222222222222222> : tensor<f64>
  %11 = hlir.add %9, %10 : tensor<f64>
  %12 = hlir.mul %11, %4 : tensor<f64>
  %13 = hlir.constant dense<0.2857142857142857> : tensor<f64>
  %14 = hlir.add %12, %13 : tensor<f64>
  %15 = hlir.mul %14, %4 : tensor<f64>
  %16 = hlir.constant dense<0.4> : tensor<f64>
  %17 = hlir.add %15, %16 : tensor<f64>
  %18 = hlir.mul %17, %4 : tensor<f64>
  %19 = hlir.constant dense<0.6666666666666666> : tensor<f64>
  %20 = hlir.add %18, %19 : tensor<f64>
  %21 = hlir.mul %20, %4 : tensor<f64>
  %22 = hlir.constant dense<2.0> : tensor<f64>
  %23 = hlir.add %21, %22 : tensor<f64>
  %24 = hlir.mul %3, %23 : tensor<f64>
  %25 = hlir.constant dense<0.1> : tensor<f64>
  %26 = hlir.less_than %x, %25 : tensor<f64> -> tensor<i1>
  %27 = hlir.constant dense<-0.1> : tensor<f64>
  %28 = hlir.less_than %27, %x : tensor<f64> -> tensor<i1>
  %29 = hlir.mul %26, %28 : tensor<i1>
  %30 = hlir.constant dense<1.0> : tensor<f64>
  %31 = hlir.add %x, %30 : tensor<f64>
  %32 = hlir.log2 %31 : tensor<f64>
  %33 = hlir.constant dense<0.6931471805599453> : tensor<f64>
  %34 = hlir.mul %32, %33 : tensor<f64>
  %35 = hlir.select %29, %24, %34 : tensor<i1>, tensor<f64>
  return %35 : tensor<f64>
}
