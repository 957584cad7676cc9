// RUN: luminal-opt %s --canonicalize | FileCheck %s

// Constants fold to what the op's definition gives in its own type.

// CHECK-LABEL: func.func @fold_unary
func.func @fold_unary() -> (tensor<2xf32>, tensor<3xf64>, tensor<f16>, tensor<2xf32>, tensor<bf16>) {
  // CHECK-DAG: hlir.constant dense<[1.58496249, 0xFF800000]> : tensor<2xf32>
  %a = hlir.constant dense<[3.0, 0.0]> : tensor<2xf32>
  %0 = hlir.log2 %a : tensor<2xf32>
  // CHECK-DAG: hlir.constant dense<[5.000000e-01, 1.4142135623730951, 0x7FF0000000000000]> : tensor<3xf64>
  %b = hlir.constant dense<[-1.0, 0.5, 1024.0]> : tensor<3xf64>
  %1 = hlir.exp2 %b : tensor<3xf64>
  // CHECK-DAG: hlir.constant dense<8.413080e-01> : tensor<f16>
  %c = hlir.constant dense<1.0> : tensor<f16>
  %2 = hlir.sin %c : tensor<f16>
  // CHECK-DAG: hlir.constant dense<[1.41421354, 0x7FC00000]> : tensor<2xf32>
  %d = hlir.constant dense<[2.0, -1.0]> : tensor<2xf32>
  %3 = hlir.sqrt %d : tensor<2xf32>
  // CHECK-DAG: hlir.constant dense<3.339840e-01> : tensor<bf16>
  %e = hlir.constant dense<3.0> : tensor<bf16>
  %4 = hlir.recip %e : tensor<bf16>
  return %0, %1, %2, %3, %4 : tensor<2xf32>, tensor<3xf64>, tensor<f16>, tensor<2xf32>, tensor<bf16>
}

// CHECK-LABEL: func.func @fold_binary
func.func @fold_binary() -> (tensor<2xi32>, tensor<i64>, tensor<4xi64>, tensor<2xf32>, tensor<2xi1>, tensor<2xi1>) {
  // Integers wrap.
  // CHECK-DAG: hlir.constant dense<[-2147483648, 3]> : tensor<2xi32>
  %a = hlir.constant dense<[2147483647, 1]> : tensor<2xi32>
  %b = hlir.constant dense<[1, 2]> : tensor<2xi32>
  %0 = hlir.add %a, %b : tensor<2xi32>
  // CHECK-DAG: hlir.constant dense<-9223372036854775808> : tensor<i64>
  %c = hlir.constant dense<4611686018427387904> : tensor<i64>
  %d = hlir.constant dense<2> : tensor<i64>
  %1 = hlir.mul %c, %d : tensor<i64>
  // The sign of the dividend; 0 for a zero divisor; no trap.
  // CHECK-DAG: hlir.constant dense<[-1, 1, 0, 0]> : tensor<4xi64>
  %e = hlir.constant dense<[-7, 7, 7, -9223372036854775808]> : tensor<4xi64>
  %f = hlir.constant dense<[3, -3, 0, -1]> : tensor<4xi64>
  %2 = hlir.mod %e, %f : tensor<4xi64>
  // CHECK-DAG: hlir.constant dense<[-1.500000e+00, 0x7FC00000]> : tensor<2xf32>
  %g = hlir.constant dense<[-5.5, 0x7F800000]> : tensor<2xf32>
  %h = hlir.constant dense<2.0> : tensor<2xf32>
  %3 = hlir.mod %g, %h : tensor<2xf32>
  // CHECK-DAG: hlir.constant dense<[true, false]> : tensor<2xi1>
  %4 = hlir.less_than %g, %h : tensor<2xf32> -> tensor<2xi1>
  // On i1 the product is "and".
  // CHECK-DAG: hlir.constant dense<[false, true]> : tensor<2xi1>
  %i = hlir.constant dense<[false, true]> : tensor<2xi1>
  %j = hlir.constant dense<true> : tensor<2xi1>
  %5 = hlir.mul %i, %j : tensor<2xi1>
  return %0, %1, %2, %3, %4, %5 : tensor<2xi32>, tensor<i64>, tensor<4xi64>, tensor<2xf32>, tensor<2xi1>, tensor<2xi1>
}

// One rounding: 1 + 2^-11 + 2^-26 in f16 is above the tie, 0.1 is not exact.
// CHECK-LABEL: func.func @fold_cast
func.func @fold_cast() -> (tensor<5xi32>, tensor<f16>, tensor<3xi1>, tensor<f32>, tensor<2xui8>, tensor<4xf8E4M3FN>, tensor<2xf8E5M2>) {
  // CHECK-DAG: hlir.constant dense<[-1, 2147483647, -2147483648, 0, 2]> : tensor<5xi32>
  %a = hlir.constant dense<[-1.9, 1.0e10, -1.0e10, 0x7FF8000000000000, 2.5]> : tensor<5xf64>
  %0 = hlir.cast %a : tensor<5xf64> -> tensor<5xi32>
  // CHECK-DAG: hlir.constant dense<1.000980e+00> : tensor<f16>
  %b = hlir.constant dense<1.0004882961511612> : tensor<f64>
  %1 = hlir.cast %b : tensor<f64> -> tensor<f16>
  // CHECK-DAG: hlir.constant dense<[true, false, true]> : tensor<3xi1>
  %c = hlir.constant dense<[0x7FC00000, -0.0, 0.5]> : tensor<3xf32>
  %2 = hlir.cast %c : tensor<3xf32> -> tensor<3xi1>
  // CHECK-DAG: hlir.constant dense<9.22337203E+18> : tensor<f32>
  %d = hlir.constant dense<9223372036854775807> : tensor<i64>
  %3 = hlir.cast %d : tensor<i64> -> tensor<f32>
  // CHECK-DAG: hlir.constant dense<[44, 255]> : tensor<2xui8>
  %e = hlir.constant dense<[300, -1]> : tensor<2xi64>
  %4 = hlir.cast %e : tensor<2xi64> -> tensor<2xui8>
  // CHECK-DAG: hlir.constant dense<[4.480000e+02, 4.480000e+02, -4.480000e+02, 0x7F]> : tensor<4xf8E4M3FN>
  %f = hlir.constant dense<[460.0, 500.0, 0xFF800000, 0x7FC00000]> : tensor<4xf32>
  %5 = hlir.cast %f : tensor<4xf32> -> tensor<4xf8E4M3FN>
  // CHECK-DAG: hlir.constant dense<[0x7C, 1.000000e+00]> : tensor<2xf8E5M2>
  %g = hlir.constant dense<[1.0e6, 1.0]> : tensor<2xf32>
  %6 = hlir.cast %g : tensor<2xf32> -> tensor<2xf8E5M2>
  return %0, %1, %2, %3, %4, %5, %6 : tensor<5xi32>, tensor<f16>, tensor<3xi1>, tensor<f32>, tensor<2xui8>, tensor<4xf8E4M3FN>, tensor<2xf8E5M2>
}

// CHECK-LABEL: func.func @fold_bitcast
// CHECK-SAME: (%[[X:.*]]: tensor<4xf32>)
func.func @fold_bitcast(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<2xi32>, tensor<3xi16>) {
  %0 = hlir.bitcast %x : tensor<4xf32> -> tensor<4xi32>
  %1 = hlir.bitcast %0 : tensor<4xi32> -> tensor<4xf32>
  // CHECK-DAG: %[[B:.*]] = hlir.constant dense<[-1082130432, 2143289345]> : tensor<2xi32>
  %a = hlir.constant dense<[-1.0, 0x7FC00001]> : tensor<2xf32>
  %2 = hlir.bitcast %a : tensor<2xf32> -> tensor<2xi32>
  // CHECK-DAG: %[[C:.*]] = hlir.constant dense<[-25536, -1, 0]> : tensor<3xi16>
  %c = hlir.constant dense<[4.0e4, -1.9, 1.0e20]> : tensor<3xf64>
  %3 = hlir.cast %c : tensor<3xf64> -> tensor<3xi16>
  // CHECK: return %[[X]], %[[B]], %[[C]]
  return %1, %2, %3 : tensor<4xf32>, tensor<2xi32>, tensor<3xi16>
}

// A round trip through a wider type is the identity; through a narrower one it rounds.
// CHECK-LABEL: func.func @cast_of_cast(
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xi32>
func.func @cast_of_cast(%x: tensor<4xf32>, %y: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xf32>) {
  %0 = hlir.cast %x : tensor<4xf32> -> tensor<4xf64>
  %1 = hlir.cast %0 : tensor<4xf64> -> tensor<4xf32>
  // CHECK: %[[N:.*]] = hlir.cast %[[X]] : tensor<4xf32> -> tensor<4xf16>
  // CHECK: %[[W:.*]] = hlir.cast %[[N]] : tensor<4xf16> -> tensor<4xf32>
  %2 = hlir.cast %x : tensor<4xf32> -> tensor<4xf16>
  %3 = hlir.cast %2 : tensor<4xf16> -> tensor<4xf32>
  %4 = hlir.cast %y : tensor<4xi32> -> tensor<4xf64>
  %5 = hlir.cast %4 : tensor<4xf64> -> tensor<4xi32>
  // CHECK: %[[F:.*]] = hlir.cast %[[Y]] : tensor<4xi32> -> tensor<4xf32>
  // CHECK: %[[I:.*]] = hlir.cast %[[F]] : tensor<4xf32> -> tensor<4xi32>
  %6 = hlir.cast %y : tensor<4xi32> -> tensor<4xf32>
  %7 = hlir.cast %6 : tensor<4xf32> -> tensor<4xi32>
  %8 = hlir.cast %x : tensor<4xf32> -> tensor<4xf32>
  // CHECK: return %[[X]], %[[W]], %[[Y]], %[[I]], %[[X]]
  return %1, %3, %5, %7, %8 : tensor<4xf32>, tensor<4xf32>, tensor<4xi32>, tensor<4xi32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @select(
// CHECK-SAME: %[[C:.*]]: tensor<4xi1>, %[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>
func.func @select(%c: tensor<4xi1>, %a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = hlir.select %c, %a, %a : tensor<4xi1>, tensor<4xf32>
  %true = hlir.constant dense<true> : tensor<4xi1>
  %1 = hlir.select %true, %a, %b : tensor<4xi1>, tensor<4xf32>
  %false = hlir.constant dense<false> : tensor<i1>
  %all = hlir.view %false <(d0) -> ()> : tensor<i1> -> tensor<4xi1>
  %2 = hlir.select %all, %a, %b : tensor<4xi1>, tensor<4xf32>
  // CHECK: return %[[A]], %[[A]], %[[B]]
  return %0, %1, %2 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// The identity, written or proved; a slice from the start is not one.
// CHECK-LABEL: func.func @identity_view(
// CHECK-SAME: %[[X:.*]]: tensor<?x1x4xf32
func.func @identity_view(%x: tensor<?x1x4xf32, #hlir.dims<s>>) -> (tensor<?x1x4xf32, #hlir.dims<s>>, tensor<?x1x2xf32, #hlir.dims<s>>) {
  %0 = hlir.view %x <(d0, d1, d2) -> (d0 + 3 * d1, 0, (4 * d0 + d2) mod 4)>
      : tensor<?x1x4xf32, #hlir.dims<s>> -> tensor<?x1x4xf32, #hlir.dims<s>>
  // CHECK: %[[V:.*]] = hlir.view %[[X]] <(d0, d1, d2) -> (d0, d1, d2)>
  %1 = hlir.view %x <(d0, d1, d2) -> (d0, d1, d2)>
      : tensor<?x1x4xf32, #hlir.dims<s>> -> tensor<?x1x2xf32, #hlir.dims<s>>
  // CHECK: return %[[X]], %[[V]]
  return %0, %1 : tensor<?x1x4xf32, #hlir.dims<s>>, tensor<?x1x2xf32, #hlir.dims<s>>
}

// Heads are split, moved, and merged again: split and merge of symbolic dims.
// CHECK-LABEL: func.func @reshapes(
// CHECK-SAME: %[[X:.*]]: tensor<?x?x128xf32
func.func @reshapes(%x: tensor<?x?x128xf32, #hlir.dims<b, s>>)
    -> (tensor<?x2x?x64xf32, #hlir.dims<b, s>>, tensor<?x?x128xf32, #hlir.dims<b, s>>, tensor<?x?x128xf32, #hlir.dims<b, s>>) {
  %split = hlir.view %x <(d0, d1, d2, d3) -> (d0, d1, 64 * d2 + d3)>
      : tensor<?x?x128xf32, #hlir.dims<b, s>> -> tensor<?x?x2x64xf32, #hlir.dims<b, s>>
  // CHECK: %[[H:.*]] = hlir.view %[[X]] <(d0, d1, d2, d3) -> (d0, d2, 64 * d1 + d3)>
  %heads = hlir.view %split <(d0, d1, d2, d3) -> (d0, d2, d1, d3)>
      : tensor<?x?x2x64xf32, #hlir.dims<b, s>> -> tensor<?x2x?x64xf32, #hlir.dims<b, s>>
  %merged = hlir.view %heads <(d0, d1, d2) -> (d0, d2 floordiv 64, d1, d2 mod 64)>
      : tensor<?x2x?x64xf32, #hlir.dims<b, s>> -> tensor<?x?x128xf32, #hlir.dims<b, s>>
  %flat = hlir.view %x <(d0, d1) -> (d0 floordiv s, d0 mod s, d1)>
      : tensor<?x?x128xf32, #hlir.dims<b, s>> -> tensor<?x128xf32, #hlir.dims<b * s>>
  %again = hlir.view %flat <(d0, d1, d2) -> (s * d0 + d1, d2)>
      : tensor<?x128xf32, #hlir.dims<b * s>> -> tensor<?x?x128xf32, #hlir.dims<b, s>>
  // CHECK: return %[[H]], %[[X]], %[[X]]
  return %heads, %merged, %again
      : tensor<?x2x?x64xf32, #hlir.dims<b, s>>, tensor<?x?x128xf32, #hlir.dims<b, s>>, tensor<?x?x128xf32, #hlir.dims<b, s>>
}

// CHECK-LABEL: func.func @view_of_iota
func.func @view_of_iota() -> (tensor<3x2xi64>, tensor<i32>, tensor<4xi64>) {
  // CHECK-DAG: hlir.iota <(d0, d1) -> (d0 + 3 * d1)> : tensor<3x2xi64>
  %0 = hlir.iota <(d0, d1) -> (3 * d0 + d1)> : tensor<2x3xi64>
  %1 = hlir.view %0 <(d0, d1) -> (d1, d0)> : tensor<2x3xi64> -> tensor<3x2xi64>
  // An iota of rank 0 without symbols is a constant; i32 wraps.
  // CHECK-DAG: hlir.constant dense<-2147483648> : tensor<i32>
  %2 = hlir.iota <() -> (2147483648)> : tensor<i32>
  // CHECK-DAG: hlir.iota <(d0) -> (d0)> : tensor<4xi64>
  %3 = hlir.iota <(d0) -> (d0 mod 4)> : tensor<4xi64>
  return %1, %2, %3 : tensor<3x2xi64>, tensor<i32>, tensor<4xi64>
}

// A composition that would cost more than both views stays two.
// CHECK-LABEL: func.func @costly_composition
func.func @costly_composition(%x: tensor<4096xf32>) -> tensor<13x7xf32> {
  // CHECK: hlir.view
  %0 = hlir.view %x <(d0) -> ((d0 * (d0 floordiv 5)) mod 4096)> : tensor<4096xf32> -> tensor<256xf32>
  // CHECK: hlir.view
  %1 = hlir.view %0 <(d0, d1) -> (((d0 * d1) mod 11) + ((d0 * d0) mod 7) + ((d1 * d1) mod 3))> : tensor<256xf32> -> tensor<13x7xf32>
  return %1 : tensor<13x7xf32>
}
