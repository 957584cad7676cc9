// Each rule of Lowering.pdll. Every op needs one, so a missing one is an error;
// the near miss is an index that would go unchecked.

// RUN: luminal-opt %s --eqsat-saturate="rule-sets=lowering" --split-input-file | FileCheck %s

// LowerLog2, LowerExp2, LowerSin, LowerSqrt, LowerRecip, LowerCast, LowerBitcast.
// CHECK-LABEL: func.func @unary(
// CHECK-NEXT: %[[A:.*]] = llir.elementwise log2(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[B:.*]] = llir.elementwise exp2(%[[A]])
// CHECK-NEXT: %[[C:.*]] = llir.elementwise sin(%[[B]])
// CHECK-NEXT: %[[D:.*]] = llir.elementwise sqrt(%[[C]])
// CHECK-NEXT: %[[E:.*]] = llir.elementwise recip(%[[D]])
// CHECK-NEXT: %[[F:.*]] = llir.elementwise cast(%[[E]]) : (tensor<4xf32>) -> tensor<4xf16>
// CHECK-NEXT: %[[G:.*]] = llir.elementwise bitcast(%[[F]]) : (tensor<4xf16>) -> tensor<4xi16>
// CHECK-NEXT: return %[[G]]
func.func @unary(%x: tensor<4xf32>) -> tensor<4xi16> {
  %0 = hlir.log2 %x : tensor<4xf32>
  %1 = hlir.exp2 %0 : tensor<4xf32>
  %2 = hlir.sin %1 : tensor<4xf32>
  %3 = hlir.sqrt %2 : tensor<4xf32>
  %4 = hlir.recip %3 : tensor<4xf32>
  %5 = hlir.cast %4 : tensor<4xf32> -> tensor<4xf16>
  %6 = hlir.bitcast %5 : tensor<4xf16> -> tensor<4xi16>
  return %6 : tensor<4xi16>
}

// -----

// LowerAdd, LowerMul, LowerMod, LowerLessThan, LowerSelect.
// CHECK-LABEL: func.func @binary(
// CHECK-NEXT: %[[A:.*]] = llir.elementwise add(%arg0, %arg1) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
// CHECK-NEXT: %[[B:.*]] = llir.elementwise mul({{%arg1, %0|%0, %arg1}})
// CHECK-NEXT: %[[C:.*]] = llir.elementwise mod(%[[B]], %arg0)
// CHECK-NEXT: %[[D:.*]] = llir.elementwise less_than(%[[C]], %arg0) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi1>
// CHECK-NEXT: llir.elementwise select(%[[D]], %arg0, %[[A]])
func.func @binary(%x: tensor<4xi64>, %y: tensor<4xi64>) -> tensor<4xi64> {
  %0 = hlir.add %x, %y : tensor<4xi64>
  %1 = hlir.mul %0, %y : tensor<4xi64>
  %2 = hlir.mod %1, %x : tensor<4xi64>
  %3 = hlir.less_than %2, %x : tensor<4xi64> -> tensor<4xi1>
  %4 = hlir.select %3, %x, %0 : tensor<4xi1>, tensor<4xi64>
  return %4 : tensor<4xi64>
}

// -----

// LowerConstant, LowerView, LowerReduceSum, LowerReduceMax, LowerIota.
// CHECK-LABEL: func.func @structure(
// CHECK-DAG: llir.constant dense<1.000000e+00> : tensor<f32>
// CHECK-DAG: llir.view %{{.*}} <(d0, d1) -> ()> : tensor<f32> -> tensor<4x8xf32>
// CHECK-DAG: llir.reduce sum %{{.*}} : tensor<4x8xf32> -> tensor<4xf32>
// CHECK-DAG: llir.reduce max %arg0 : tensor<4x8xf32> -> tensor<4xf32>
// CHECK-DAG: llir.iota <(d0) -> (d0 + s0)> : tensor<4xi64>
func.func @structure(%x: tensor<4x8xf32>, %y: tensor<?xf32, #hlir.dims<s0>>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xi64>)
    attributes {hlir.symbols = #hlir.symbols<s0 in [1, 64]>} {
  %c = hlir.constant dense<1.0> : tensor<f32>
  %0 = hlir.view %c <(d0, d1) -> ()> : tensor<f32> -> tensor<4x8xf32>
  %1 = hlir.add %x, %0 : tensor<4x8xf32>
  %2 = hlir.reduce_sum %1 : tensor<4x8xf32> -> tensor<4xf32>
  %3 = hlir.reduce_max %x : tensor<4x8xf32> -> tensor<4xf32>
  %4 = hlir.iota <(d0) -> (d0 + s0)> : tensor<4xi64>
  return %2, %3, %4 : tensor<4xf32>, tensor<4xf32>, tensor<4xi64>
}

// -----

// LowerGather, LowerScatter: an index from outside is checked.
// CHECK-LABEL: func.func @checked(
// CHECK-NEXT: %[[G:.*]] = llir.gather %arg0, %arg1 {checked}
// CHECK-NEXT: llir.scatter add %arg0, %arg1, %[[G]] {checked}
func.func @checked(%data: tensor<10x4xf32>, %i: tensor<3xi64>) -> tensor<10x4xf32> {
  %0 = hlir.gather %data, %i : tensor<10x4xf32>, tensor<3xi64> -> tensor<3x4xf32>
  %1 = hlir.scatter add %data, %i, %0 : tensor<10x4xf32>, tensor<3xi64>, tensor<3x4xf32>
  return %1 : tensor<10x4xf32>
}

// -----

// LowerGatherInside, LowerScatterInside: one that is proved is not.
// CHECK-LABEL: func.func @inside(
// CHECK-DAG: %[[G:.*]] = llir.gather %arg0, %{{[0-9]+}} : tensor<10x4xf32>, tensor<?xi64, #hlir.dims<s0>>
// CHECK-DAG: llir.scatter set %arg0, %{{[0-9]+}}, %[[G]] : tensor<10x4xf32>
func.func @inside(%data: tensor<10x4xf32>, %x: tensor<?xf32, #hlir.dims<s0>>) -> tensor<10x4xf32>
    attributes {hlir.symbols = #hlir.symbols<s0 in [1, 8]>} {
  %i = hlir.iota <(d0) -> (d0 + 2)> : tensor<?xi64, #hlir.dims<s0>>
  %0 = hlir.gather %data, %i : tensor<10x4xf32>, tensor<?xi64, #hlir.dims<s0>> -> tensor<?x4xf32, #hlir.dims<s0>>
  %1 = hlir.scatter set %data, %i, %0 : tensor<10x4xf32>, tensor<?xi64, #hlir.dims<s0>>, tensor<?x4xf32, #hlir.dims<s0>>
  return %1 : tensor<10x4xf32>
}

// -----

// Row 10 is out of range.
// CHECK-LABEL: func.func @not_inside(
// CHECK: llir.gather %arg0, %{{[0-9]+}} {checked}
func.func @not_inside(%data: tensor<10x4xf32>, %x: tensor<?xf32, #hlir.dims<s0>>) -> tensor<?x4xf32, #hlir.dims<s0>>
    attributes {hlir.symbols = #hlir.symbols<s0 in [1, 9]>} {
  %i = hlir.iota <(d0) -> (d0 + 2)> : tensor<?xi64, #hlir.dims<s0>>
  %0 = hlir.gather %data, %i : tensor<10x4xf32>, tensor<?xi64, #hlir.dims<s0>> -> tensor<?x4xf32, #hlir.dims<s0>>
  return %0 : tensor<?x4xf32, #hlir.dims<s0>>
}
