// RUN: split-file %s %t
// RUN: luminal-opt %t/input.mlir --eqsat-saturate="no-rule-sets cost=unit rules=%t/rules.mlir" | FileCheck %s

// An op that is commutative is one node in either order, and a rule matches it
// in both.

//--- rules.mlir

// sqrt(a) * b = a + b would be odd; here it only shows what was matched.
pdl.pattern @SqrtTimes : benefit(0) attributes {eqsat.promise = "rounding(9)"} {
  %t = pdl.type
  %a = pdl.operand
  %b = pdl.operand
  %inner = pdl.operation "hlir.sqrt"(%a : !pdl.value) -> (%t : !pdl.type)
  %s = pdl.result 0 of %inner
  %root = pdl.operation "hlir.mul"(%s, %b : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    %new = pdl.operation "hlir.mod"(%a, %b : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    pdl.replace %root with %new
  }
}

//--- input.mlir

// CHECK-LABEL: func @either_order
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>
// CHECK-NEXT: %[[R:.*]] = hlir.mod %[[X]], %[[Y]]
// CHECK-NEXT: return %[[R]], %[[R]]
func.func @either_order(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = hlir.sqrt %x : tensor<4xf32>
  %1 = hlir.mul %0, %y : tensor<4xf32>
  %2 = hlir.mul %y, %0 : tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// mod is not commutative.
// CHECK-LABEL: func @order_matters
// CHECK-COUNT-2: hlir.mod
func.func @order_matters(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = hlir.mod %x, %y : tensor<4xf32>
  %1 = hlir.mod %y, %x : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}
