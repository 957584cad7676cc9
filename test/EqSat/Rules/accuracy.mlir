// max-ulps admits a rule by the accuracy of its function in the given element type (Functions.def): f32 sigmoid is
// within 1.97 ulp, f64 within 3.5, f16, which is computed in f32, within 0.502.

// RUN: luminal-opt %s --eqsat-saturate="max-ulps=1" | FileCheck %s --check-prefixes=CHECK,ONE
// RUN: luminal-opt %s --eqsat-saturate="max-ulps=2" | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: luminal-opt %s --eqsat-saturate="max-ulps=4" | FileCheck %s --check-prefixes=CHECK,THREE
// RUN: luminal-opt %s --eqsat-saturate | FileCheck %s --check-prefixes=CHECK,THREE
// RUN: luminal-compile %s --emit=saturated --max-ulps=2 | FileCheck %s --check-prefixes=CHECK,TWO
// RUN: luminal-opt %s --pass-pipeline="builtin.module(luminal-pipeline{until=saturated max-ulps=2})" | FileCheck %s --check-prefixes=CHECK,TWO

// The report says what each rule promises, from the best to the worst of its types and functions.
// RUN: luminal-opt %s --eqsat-saturate="max-ulps=1 report=%t.json" -o /dev/null
// RUN: %python -m json.tool %t.json | FileCheck %s --check-prefix=REPORT
// REPORT: "name": "Sigmoid"
// REPORT: "promise": "rounding(0.502..3.5)"
// REPORT: "admitted": true
// REPORT: "name": "NarrowUnary"
// REPORT: "promise": "rounding(0.501..70)"

// Explanations state it for the given type.
// RUN: luminal-opt %s --eqsat-saturate="explain=-" -o /dev/null | FileCheck %s --check-prefix=WHY
// WHY: by Sigmoid ({{.*}}), rounding(0.502)
// WHY: by Sigmoid ({{.*}}), rounding(1.97)
// WHY: by Sigmoid ({{.*}}), rounding(3.5)

// CHECK-LABEL: @sigmoid_f16
// CHECK: llir.elementwise sigmoid(%arg0)
func.func @sigmoid_f16(%x: tensor<4xf16>) -> tensor<4xf16> {
  %one = hlir.constant dense<1.0> : tensor<4xf16>
  %minus = hlir.constant dense<-1.0> : tensor<4xf16>
  %log2e = hlir.constant dense<1.4426950408889634> : tensor<4xf16>
  %0 = hlir.mul %x, %minus : tensor<4xf16>
  %1 = hlir.mul %0, %log2e : tensor<4xf16>
  %2 = hlir.exp2 %1 : tensor<4xf16>
  %3 = hlir.add %2, %one : tensor<4xf16>
  %4 = hlir.recip %3 : tensor<4xf16>
  return %4 : tensor<4xf16>
}

// CHECK-LABEL: @sigmoid_f32
// ONE-NOT: sigmoid
// ONE: llir.elementwise recip
// TWO: llir.elementwise sigmoid(%arg0)
// THREE: llir.elementwise sigmoid(%arg0)
func.func @sigmoid_f32(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = hlir.constant dense<1.0> : tensor<4xf32>
  %minus = hlir.constant dense<-1.0> : tensor<4xf32>
  %log2e = hlir.constant dense<1.4426950408889634> : tensor<4xf32>
  %0 = hlir.mul %x, %minus : tensor<4xf32>
  %1 = hlir.mul %0, %log2e : tensor<4xf32>
  %2 = hlir.exp2 %1 : tensor<4xf32>
  %3 = hlir.add %2, %one : tensor<4xf32>
  %4 = hlir.recip %3 : tensor<4xf32>
  return %4 : tensor<4xf32>
}

// CHECK-LABEL: @sigmoid_f64
// ONE-NOT: sigmoid
// ONE: llir.elementwise recip
// TWO-NOT: sigmoid
// TWO: llir.elementwise recip
// THREE: llir.elementwise sigmoid(%arg0)
func.func @sigmoid_f64(%x: tensor<4xf64>) -> tensor<4xf64> {
  %one = hlir.constant dense<1.0> : tensor<4xf64>
  %minus = hlir.constant dense<-1.0> : tensor<4xf64>
  %log2e = hlir.constant dense<1.4426950408889634> : tensor<4xf64>
  %0 = hlir.mul %x, %minus : tensor<4xf64>
  %1 = hlir.mul %0, %log2e : tensor<4xf64>
  %2 = hlir.exp2 %1 : tensor<4xf64>
  %3 = hlir.add %2, %one : tensor<4xf64>
  %4 = hlir.recip %3 : tensor<4xf64>
  return %4 : tensor<4xf64>
}

// One rule narrows every function; which ones is decided for each.

// CHECK-LABEL: @narrow
// ONE-DAG: llir.elementwise exp(%arg0)
// ONE-DAG: llir.elementwise sqrt(%{{.*}}) : (tensor<4xf64>) -> tensor<4xf64>
// TWO-DAG: llir.elementwise exp(%arg0)
// TWO-DAG: llir.elementwise rsqrt(%arg0)
// THREE-DAG: llir.elementwise rsqrt(%arg0)
func.func @narrow(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %log2e = hlir.constant dense<1.4426950408889634> : tensor<4xf64>
  %w = hlir.cast %x : tensor<4xf32> -> tensor<4xf64>
  %0 = hlir.mul %w, %log2e : tensor<4xf64>
  %1 = hlir.exp2 %0 : tensor<4xf64>
  %2 = hlir.cast %1 : tensor<4xf64> -> tensor<4xf32>
  %3 = hlir.sqrt %w : tensor<4xf64>
  %4 = hlir.recip %3 : tensor<4xf64>
  %5 = hlir.cast %4 : tensor<4xf64> -> tensor<4xf32>
  return %2, %5 : tensor<4xf32>, tensor<4xf32>
}
