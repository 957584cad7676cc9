// What the rules recover, written out, and beside each case a near miss that must
// not be recovered.

// RUN: luminal-opt %s --eqsat-saturate | FileCheck %s

// Neg.
// CHECK-LABEL: func.func @neg(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise neg(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @neg(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.constant dense<-1.0> : tensor<f32>
  %1 = hlir.mul %x, %0 : tensor<f32>
  return %1 : tensor<f32>
}

// CHECK-LABEL: func.func @not_neg(
// CHECK-NOT: elementwise neg(
// CHECK: return
func.func @not_neg(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.constant dense<-2.0> : tensor<f32>
  %1 = hlir.mul %x, %0 : tensor<f32>
  return %1 : tensor<f32>
}

// Sub.
// CHECK-LABEL: func.func @sub(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise sub(%arg0, %arg1)
// CHECK-NEXT: return %[[R]]
func.func @sub(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = hlir.constant dense<-1.0> : tensor<f32>
  %1 = hlir.mul %y, %0 : tensor<f32>
  %2 = hlir.add %x, %1 : tensor<f32>
  return %2 : tensor<f32>
}

// CHECK-LABEL: func.func @not_sub(
// CHECK-NOT: elementwise sub(
// CHECK: return
func.func @not_sub(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = hlir.constant dense<-2.0> : tensor<f32>
  %1 = hlir.mul %y, %0 : tensor<f32>
  %2 = hlir.add %x, %1 : tensor<f32>
  return %2 : tensor<f32>
}

// Commute; Div.
// CHECK-LABEL: func.func @div(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise div(%arg0, %arg1)
// CHECK-NEXT: return %[[R]]
func.func @div(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = hlir.recip %y : tensor<f32>
  %1 = hlir.mul %0, %x : tensor<f32>
  return %1 : tensor<f32>
}

// CHECK-LABEL: func.func @not_div(
// CHECK-NOT: elementwise div(
// CHECK: return
func.func @not_div(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = hlir.sqrt %y : tensor<f32>
  %1 = hlir.mul %0, %x : tensor<f32>
  return %1 : tensor<f32>
}

// Rsqrt.
// CHECK-LABEL: func.func @rsqrt(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise rsqrt(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @rsqrt(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.sqrt %x : tensor<f32>
  %1 = hlir.recip %0 : tensor<f32>
  return %1 : tensor<f32>
}

// CHECK-LABEL: func.func @not_rsqrt(
// CHECK-NOT: elementwise rsqrt(
// CHECK: return
func.func @not_rsqrt(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.recip %x : tensor<f32>
  %1 = hlir.sqrt %0 : tensor<f32>
  return %1 : tensor<f32>
}

// Abs.
// CHECK-LABEL: func.func @abs(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise abs(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @abs(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.constant dense<0.0> : tensor<f32>
  %1 = hlir.less_than %x, %0 : tensor<f32> -> tensor<i1>
  %2 = hlir.constant dense<-1.0> : tensor<f32>
  %3 = hlir.mul %x, %2 : tensor<f32>
  %4 = hlir.select %1, %3, %x : tensor<i1>, tensor<f32>
  %5 = hlir.add %4, %0 : tensor<f32>
  return %5 : tensor<f32>
}

// -0 stays -0.
// CHECK-LABEL: func.func @not_abs(
// CHECK-NOT: elementwise abs(
// CHECK: return
func.func @not_abs(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.constant dense<0.0> : tensor<f32>
  %1 = hlir.less_than %x, %0 : tensor<f32> -> tensor<i1>
  %2 = hlir.constant dense<-1.0> : tensor<f32>
  %3 = hlir.mul %x, %2 : tensor<f32>
  %4 = hlir.select %1, %3, %x : tensor<i1>, tensor<f32>
  return %4 : tensor<f32>
}

// AbsInteger.
// CHECK-LABEL: func.func @abs_integer(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise abs(%arg0)
// CHECK-NEXT: return %[[R]]
func.func @abs_integer(%x: tensor<i64>) -> tensor<i64> {
  %0 = hlir.constant dense<0> : tensor<i64>
  %1 = hlir.less_than %x, %0 : tensor<i64> -> tensor<i1>
  %2 = hlir.constant dense<-1> : tensor<i64>
  %3 = hlir.mul %x, %2 : tensor<i64>
  %4 = hlir.select %1, %3, %x : tensor<i1>, tensor<i64>
  return %4 : tensor<i64>
}

// CHECK-LABEL: func.func @not_abs_integer(
// CHECK-NOT: elementwise abs(
// CHECK: return
func.func @not_abs_integer(%x: tensor<i64>) -> tensor<i64> {
  %0 = hlir.constant dense<1> : tensor<i64>
  %1 = hlir.less_than %x, %0 : tensor<i64> -> tensor<i1>
  %2 = hlir.constant dense<-1> : tensor<i64>
  %3 = hlir.mul %x, %2 : tensor<i64>
  %4 = hlir.select %1, %x, %3 : tensor<i1>, tensor<i64>
  return %4 : tensor<i64>
}

// Max.
// CHECK-LABEL: func.func @max(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise max(%arg0, %arg1)
// CHECK-NEXT: return %[[R]]
func.func @max(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = hlir.less_than %x, %y : tensor<f32> -> tensor<i1>
  %1 = hlir.constant dense<0.0> : tensor<f32>
  %2 = hlir.less_than %y, %1 : tensor<f32> -> tensor<i1>
  %3 = hlir.constant dense<-1.0> : tensor<f32>
  %4 = hlir.less_than %3, %y : tensor<f32> -> tensor<i1>
  %5 = hlir.select %2, %2, %4 : tensor<i1>, tensor<i1>
  %6 = hlir.constant dense<true> : tensor<i1>
  %7 = hlir.less_than %5, %6 : tensor<i1> -> tensor<i1>
  %8 = hlir.select %0, %0, %7 : tensor<i1>, tensor<i1>
  %9 = hlir.select %8, %y, %x : tensor<i1>, tensor<f32>
  return %9 : tensor<f32>
}

// Takes x where y is NaN.
// CHECK-LABEL: func.func @not_max(
// CHECK-NOT: elementwise max(
// CHECK: return
func.func @not_max(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = hlir.less_than %x, %y : tensor<f32> -> tensor<i1>
  %1 = hlir.select %0, %y, %x : tensor<i1>, tensor<f32>
  return %1 : tensor<f32>
}

// Min.
// CHECK-LABEL: func.func @min(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise min(%arg0, %arg1)
// CHECK-NEXT: return %[[R]]
func.func @min(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = hlir.less_than %y, %x : tensor<f32> -> tensor<i1>
  %1 = hlir.constant dense<0.0> : tensor<f32>
  %2 = hlir.less_than %y, %1 : tensor<f32> -> tensor<i1>
  %3 = hlir.constant dense<-1.0> : tensor<f32>
  %4 = hlir.less_than %3, %y : tensor<f32> -> tensor<i1>
  %5 = hlir.select %2, %2, %4 : tensor<i1>, tensor<i1>
  %6 = hlir.constant dense<true> : tensor<i1>
  %7 = hlir.less_than %5, %6 : tensor<i1> -> tensor<i1>
  %8 = hlir.select %0, %0, %7 : tensor<i1>, tensor<i1>
  %9 = hlir.select %8, %y, %x : tensor<i1>, tensor<f32>
  return %9 : tensor<f32>
}

// Takes x where y is NaN.
// CHECK-LABEL: func.func @not_min(
// CHECK-NOT: elementwise min(
// CHECK: return
func.func @not_min(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = hlir.less_than %y, %x : tensor<f32> -> tensor<i1>
  %1 = hlir.select %0, %y, %x : tensor<i1>, tensor<f32>
  return %1 : tensor<f32>
}

// MaxInteger.
// CHECK-LABEL: func.func @max_integer(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise max(%arg0, %arg1)
// CHECK-NEXT: return %[[R]]
func.func @max_integer(%x: tensor<i64>, %y: tensor<i64>) -> tensor<i64> {
  %0 = hlir.less_than %x, %y : tensor<i64> -> tensor<i1>
  %1 = hlir.select %0, %y, %x : tensor<i1>, tensor<i64>
  return %1 : tensor<i64>
}

// MinInteger.
// CHECK-LABEL: func.func @min_integer(
// CHECK-NEXT: %[[R:.*]] = llir.elementwise min(%arg0, %arg1)
// CHECK-NEXT: return %[[R]]
func.func @min_integer(%x: tensor<i64>, %y: tensor<i64>) -> tensor<i64> {
  %0 = hlir.less_than %y, %x : tensor<i64> -> tensor<i1>
  %1 = hlir.select %0, %y, %x : tensor<i1>, tensor<i64>
  return %1 : tensor<i64>
}

// Not the compared values are selected.
// CHECK-LABEL: func.func @not_max_integer(
// CHECK-NOT: llir.elementwise max
// CHECK: llir.elementwise select
// CHECK: return
func.func @not_max_integer(%x: tensor<i64>, %y: tensor<i64>, %z: tensor<i64>) -> tensor<i64> {
  %0 = hlir.less_than %x, %y : tensor<i64> -> tensor<i1>
  %1 = hlir.select %0, %y, %z : tensor<i1>, tensor<i64>
  return %1 : tensor<i64>
}

// CHECK-LABEL: func.func @not_min_integer(
// CHECK-NOT: llir.elementwise min
// CHECK: llir.elementwise select
// CHECK: return
func.func @not_min_integer(%x: tensor<i64>, %y: tensor<i64>, %z: tensor<i64>) -> tensor<i64> {
  %0 = hlir.less_than %y, %x : tensor<i64> -> tensor<i1>
  %1 = hlir.select %0, %y, %z : tensor<i1>, tensor<i64>
  return %1 : tensor<i64>
}

// MaxNumber.
// CHECK-LABEL: func.func @max_number(
// CHECK: %[[R:.*]] = llir.elementwise max(%arg0, %{{.*}})
// CHECK-NEXT: return %[[R]]
func.func @max_number(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.constant dense<0.0> : tensor<f32>
  %1 = hlir.less_than %x, %0 : tensor<f32> -> tensor<i1>
  %2 = hlir.select %1, %0, %x : tensor<i1>, tensor<f32>
  return %2 : tensor<f32>
}

// Nothing is below NaN.
// CHECK-LABEL: func.func @not_max_number(
// CHECK-NOT: elementwise max(
// CHECK: return
func.func @not_max_number(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.constant dense<0x7FC00000> : tensor<f32>
  %1 = hlir.less_than %x, %0 : tensor<f32> -> tensor<i1>
  %2 = hlir.select %1, %0, %x : tensor<i1>, tensor<f32>
  return %2 : tensor<f32>
}

// MinNumber.
// CHECK-LABEL: func.func @min_number(
// CHECK: %[[R:.*]] = llir.elementwise min(%arg0, %{{.*}})
// CHECK-NEXT: return %[[R]]
func.func @min_number(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.constant dense<3.0> : tensor<f32>
  %1 = hlir.less_than %0, %x : tensor<f32> -> tensor<i1>
  %2 = hlir.select %1, %0, %x : tensor<i1>, tensor<f32>
  return %2 : tensor<f32>
}

// CHECK-LABEL: func.func @not_min_number(
// CHECK-NOT: elementwise min(
// CHECK: return
func.func @not_min_number(%x: tensor<f32>) -> tensor<f32> {
  %0 = hlir.constant dense<3.0> : tensor<f32>
  %1 = hlir.less_than %0, %x : tensor<f32> -> tensor<i1>
  %2 = hlir.constant dense<2.0> : tensor<f32>
  %3 = hlir.select %1, %2, %x : tensor<i1>, tensor<f32>
  return %3 : tensor<f32>
}

// The order of the operands of a remainder matters: not Commute.
// CHECK-LABEL: func.func @not_commute(
// CHECK-DAG: llir.elementwise mod(%arg0, %arg1)
// CHECK-DAG: llir.elementwise mod(%arg1, %arg0)
// CHECK: return
func.func @not_commute(%x: tensor<f32>, %y: tensor<f32>) -> tensor<f32> {
  %0 = hlir.mod %x, %y : tensor<f32>
  %1 = hlir.mod %y, %x : tensor<f32>
  %2 = hlir.mul %0, %1 : tensor<f32>
  return %2 : tensor<f32>
}
