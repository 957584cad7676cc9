// RUN: split-file %s %t
// RUN: luminal-opt %t/input.mlir --eqsat-saturate="no-rule-sets rules=%t/rules.mlir cost=attribute allow-unregistered" --allow-unregistered-dialect | FileCheck %s

//--- rules.mlir

// a + (b + c) -> (a + b) + c: constants meet.
pdl.pattern @Assoc : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %a = pdl.operand
  %b = pdl.operand
  %c = pdl.operand
  %inner = pdl.operation "test.add"(%b, %c : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  %bc = pdl.result 0 of %inner
  %root = pdl.operation "test.add"(%a, %bc : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    %ab = pdl.operation "test.add"(%a, %b : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    %abv = pdl.result 0 of %ab
    %abc = pdl.operation "test.add"(%abv, %c : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    pdl.replace %root with %abc
  }
}

// Two equal values add up to a double one, which is cheap.
pdl.pattern @Double : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %a = pdl.operand : %t
  %root = pdl.operation "test.add"(%a, %a : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    %cost = pdl.attribute = 0.5 : f64
    %new = pdl.operation "test.double"(%a : !pdl.value) {"cost" = %cost} -> (%t : !pdl.type)
    pdl.replace %root with %new
  }
}

//--- input.mlir

// CHECK-LABEL: func @reassociate
// CHECK-SAME: %[[X:.*]]: f32, %[[Y:.*]]: f32
// CHECK: %[[D:.*]] = "test.double"(%[[X]]) {cost = 5.000000e-01 : f64} : (f32) -> f32
// CHECK: %[[R:.*]] = "test.add"(%[[D]], %[[Y]])
// CHECK: return %[[R]]
func.func @reassociate(%x: f32, %y: f32) -> f32 {
  %0 = "test.add"(%x, %y) : (f32, f32) -> f32
  %1 = "test.add"(%x, %0) : (f32, f32) -> f32
  return %1 : f32
}
