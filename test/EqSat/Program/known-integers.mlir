// Integers that are one expression of their index are known to be equal to it before any rule runs. Their spelling
// stays in the e-graph for rules that match it.

// RUN: luminal-opt %s --eqsat-saturate="explain=%t.txt" | FileCheck %s
// RUN: FileCheck %s --input-file=%t.txt --check-prefix=WHY
// RUN: luminal-opt %s --eqsat-saturate --remarks-filter=hlir-fold-integers 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// A condition that holds everywhere.
// CHECK-LABEL: func.func @chosen(
// CHECK-NEXT: %[[TRUE:.*]] = llir.constant dense<true>
// CHECK-NEXT: %[[TRUES:.*]] = llir.view %[[TRUE]]
// CHECK-NEXT: llir.elementwise select(%[[TRUES]], %arg0, %arg1)
// WHY-LABEL: explanation of @chosen
// WHY: because both are known to be the same numbers
// REMARK: [Passed] integer | {{.*}}Function=chosen | is=1, op=hlir.less_than
func.func @chosen(%x: tensor<9xf32>, %y: tensor<9xf32>) -> tensor<9xf32> {
  %0 = hlir.iota <(d0) -> (d0)> : tensor<9xi64>
  %1 = hlir.iota <(d0) -> (d0 + 1)> : tensor<9xi64>
  %2 = hlir.less_than %0, %1 : tensor<9xi64> -> tensor<9xi1>
  %3 = hlir.select %2, %x, %y : tensor<9xi1>, tensor<9xf32>
  return %3 : tensor<9xf32>
}

// One that does not hold at 0.
// CHECK-LABEL: func.func @not_chosen(
// CHECK: %[[LESS:.*]] = llir.elementwise less_than
// CHECK: llir.elementwise select(%[[LESS]],
func.func @not_chosen(%x: tensor<9xf32>, %y: tensor<9xf32>) -> tensor<9xf32> {
  %0 = hlir.iota <(d0) -> (d0)> : tensor<9xi64>
  %1 = hlir.iota <(d0) -> (d0 * 2)> : tensor<9xi64>
  %2 = hlir.less_than %0, %1 : tensor<9xi64> -> tensor<9xi1>
  %3 = hlir.select %2, %x, %y : tensor<9xi1>, tensor<9xf32>
  return %3 : tensor<9xf32>
}

// A quotient by a constant, spelled for any divisor: it is known that this divisor is positive and not 0.
// CHECK-LABEL: func.func @quotient(
// CHECK-NEXT: %[[SEVEN:.*]] = llir.constant dense<7>
// CHECK-NEXT: %[[SEVENS:.*]] = llir.view %[[SEVEN]]
// CHECK-NEXT: %[[Q:.*]] = llir.elementwise floor_div(%arg0, %[[SEVENS]])
// CHECK-NEXT: return %[[Q]]
func.func @quotient(%x: tensor<100xi64>) -> tensor<100xi64> {
  %0 = hlir.constant dense<7> : tensor<i64>
  %1 = hlir.view %0 <(d0) -> ()> : tensor<i64> -> tensor<100xi64>
  %2 = hlir.mod %x, %1 : tensor<100xi64>
  %3 = hlir.constant dense<-1> : tensor<i64>
  %4 = hlir.view %3 <(d0) -> ()> : tensor<i64> -> tensor<100xi64>
  %5 = hlir.mul %2, %4 : tensor<100xi64>
  %6 = hlir.add %x, %5 : tensor<100xi64>
  %7 = hlir.cast %6 : tensor<100xi64> -> tensor<100xf64>
  %8 = hlir.cast %1 : tensor<100xi64> -> tensor<100xf64>
  %9 = hlir.recip %8 : tensor<100xf64>
  %10 = hlir.mul %7, %9 : tensor<100xf64>
  %11 = hlir.constant dense<0.000000e+00> : tensor<f64>
  %12 = hlir.view %11 <(d0) -> ()> : tensor<f64> -> tensor<100xf64>
  %13 = hlir.less_than %10, %12 : tensor<100xf64> -> tensor<100xi1>
  %14 = hlir.constant dense<-5.000000e-01> : tensor<f64>
  %15 = hlir.view %14 <(d0) -> ()> : tensor<f64> -> tensor<100xf64>
  %16 = hlir.constant dense<5.000000e-01> : tensor<f64>
  %17 = hlir.view %16 <(d0) -> ()> : tensor<f64> -> tensor<100xf64>
  %18 = hlir.select %13, %15, %17 : tensor<100xi1>, tensor<100xf64>
  %19 = hlir.add %10, %18 : tensor<100xf64>
  %20 = hlir.cast %19 : tensor<100xf64> -> tensor<100xi64>
  %21 = hlir.mul %20, %1 : tensor<100xi64>
  %22 = hlir.constant dense<-1> : tensor<i64>
  %23 = hlir.view %22 <(d0) -> ()> : tensor<i64> -> tensor<100xi64>
  %24 = hlir.mul %21, %23 : tensor<100xi64>
  %25 = hlir.add %6, %24 : tensor<100xi64>
  %26 = hlir.cast %25 : tensor<100xi64> -> tensor<100xf64>
  %27 = hlir.cast %1 : tensor<100xi64> -> tensor<100xf64>
  %28 = hlir.recip %27 : tensor<100xf64>
  %29 = hlir.mul %26, %28 : tensor<100xf64>
  %30 = hlir.constant dense<0.000000e+00> : tensor<f64>
  %31 = hlir.view %30 <(d0) -> ()> : tensor<f64> -> tensor<100xf64>
  %32 = hlir.less_than %29, %31 : tensor<100xf64> -> tensor<100xi1>
  %33 = hlir.constant dense<-5.000000e-01> : tensor<f64>
  %34 = hlir.view %33 <(d0) -> ()> : tensor<f64> -> tensor<100xf64>
  %35 = hlir.constant dense<5.000000e-01> : tensor<f64>
  %36 = hlir.view %35 <(d0) -> ()> : tensor<f64> -> tensor<100xf64>
  %37 = hlir.select %32, %34, %36 : tensor<100xi1>, tensor<100xf64>
  %38 = hlir.add %29, %37 : tensor<100xf64>
  %39 = hlir.cast %38 : tensor<100xf64> -> tensor<100xi64>
  %40 = hlir.add %20, %39 : tensor<100xi64>
  %41 = hlir.constant dense<0> : tensor<i64>
  %42 = hlir.view %41 <(d0) -> ()> : tensor<i64> -> tensor<100xi64>
  %43 = hlir.less_than %1, %42 : tensor<100xi64> -> tensor<100xi1>
  %44 = hlir.less_than %42, %1 : tensor<100xi64> -> tensor<100xi1>
  %45 = hlir.select %43, %43, %44 : tensor<100xi1>, tensor<100xi1>
  %46 = hlir.select %45, %40, %42 : tensor<100xi1>, tensor<100xi64>
  %47 = hlir.mod %x, %1 : tensor<100xi64>
  %48 = hlir.constant dense<0> : tensor<i64>
  %49 = hlir.view %48 <(d0) -> ()> : tensor<i64> -> tensor<100xi64>
  %50 = hlir.less_than %47, %49 : tensor<100xi64> -> tensor<100xi1>
  %51 = hlir.less_than %49, %47 : tensor<100xi64> -> tensor<100xi1>
  %52 = hlir.select %50, %50, %51 : tensor<100xi1>, tensor<100xi1>
  %53 = hlir.less_than %1, %49 : tensor<100xi64> -> tensor<100xi1>
  %54 = hlir.constant dense<true> : tensor<i1>
  %55 = hlir.view %54 <(d0) -> ()> : tensor<i1> -> tensor<100xi1>
  %56 = hlir.less_than %53, %55 : tensor<100xi1> -> tensor<100xi1>
  %57 = hlir.select %50, %56, %53 : tensor<100xi1>, tensor<100xi1>
  %58 = hlir.mul %52, %57 : tensor<100xi1>
  %59 = hlir.constant dense<-1> : tensor<i64>
  %60 = hlir.view %59 <(d0) -> ()> : tensor<i64> -> tensor<100xi64>
  %61 = hlir.add %46, %60 : tensor<100xi64>
  %62 = hlir.select %58, %61, %46 : tensor<100xi1>, tensor<100xi64>
  return %62 : tensor<100xi64>
}
