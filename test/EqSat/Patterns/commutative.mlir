// RUN: split-file %s %t
// RUN: luminal-opt %t/input.mlir --eqsat-saturate="no-rule-sets cost=unit rules=%t/rules.mlir" | FileCheck %s

// An op that is commutative is one node in either order, and a rule matches it
// in both.

//--- rules.mlir

// sqrt(a) * b = a + b is wrong; here it only shows what was matched.
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

// a * b + a * c = a mod (b mod c), wrong as well: four orders of operands.
pdl.pattern @Factor : benefit(0) attributes {eqsat.promise = "rounding(9)"} {
  %t = pdl.type
  %a = pdl.operand
  %b = pdl.operand
  %c = pdl.operand
  %l = pdl.operation "hlir.mul"(%a, %b : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %r = pdl.operation "hlir.mul"(%a, %c : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %lv = pdl.result 0 of %l
  %rv = pdl.result 0 of %r
  %root = pdl.operation "hlir.add"(%lv, %rv : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    %inner = pdl.operation "hlir.mod"(%b, %c : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    %v = pdl.result 0 of %inner
    %new = pdl.operation "hlir.mod"(%a, %v : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    pdl.replace %root with %new
  }
}

// x + x, the same operand twice.
pdl.pattern @Twice : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation "hlir.add"(%x, %x : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
}

//--- input.mlir

// CHECK-LABEL: func @any_order
// CHECK-COUNT-6: hlir.mod
// CHECK-NOT: hlir
// CHECK: return
func.func @any_order(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<4xf32>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %0 = hlir.mul %a, %b : tensor<4xf32>
  %1 = hlir.mul %a, %c : tensor<4xf32>
  %2 = hlir.add %0, %1 : tensor<4xf32>
  %3 = hlir.mul %b, %d : tensor<4xf32>
  %4 = hlir.add %0, %3 : tensor<4xf32>
  %5 = hlir.mul %d, %c : tensor<4xf32>
  %6 = hlir.add %5, %1 : tensor<4xf32>
  %7 = hlir.add %5, %3 : tensor<4xf32>
  return %2, %4, %6, %7 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func @no_common_factor
// CHECK-COUNT-2: hlir.mul
// CHECK: hlir.add
func.func @no_common_factor(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d: tensor<4xf32>) -> tensor<4xf32> {
  %0 = hlir.mul %a, %b : tensor<4xf32>
  %1 = hlir.mul %c, %d : tensor<4xf32>
  %2 = hlir.add %0, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// CHECK-LABEL: func @twice
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>, %[[Y:.*]]: tensor<4xf32>
// CHECK-NEXT: %[[A:.*]] = hlir.add %[[X]], %[[Y]]
// CHECK-NEXT: return %[[X]], %[[A]]
func.func @twice(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = hlir.add %x, %x : tensor<4xf32>
  %1 = hlir.add %x, %y : tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

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
