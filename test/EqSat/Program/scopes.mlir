// RUN: split-file %s %t
// RUN: luminal-opt %t/lift.mlir --eqsat-saturate="cost=unit" | FileCheck %s --check-prefix=LIFT
// RUN: luminal-opt %t/body.mlir --eqsat-saturate | FileCheck %s --check-prefix=BODY
// RUN: luminal-opt %t/leak.mlir --allow-unregistered-dialect \
// RUN:   --eqsat-saturate="no-rule-sets rules=%t/rules.mlir cost=attribute allow-unregistered" | FileCheck %s --check-prefix=LEAK
// RUN: luminal-opt %t/twice.mlir --allow-unregistered-dialect \
// RUN:   --eqsat-saturate="no-rule-sets rules=%t/rules.mlir cost=attribute allow-unregistered report=%t/twice.json" | FileCheck %s --check-prefix=TWICE
// RUN: FileCheck %s --check-prefix=COST --input-file=%t/twice.json
// RUN: luminal-opt %t/body.mlir --eqsat-saturate="explain=-" | FileCheck %s --check-prefix=WHY
// RUN: not luminal-opt %t/blocked.mlir --allow-unregistered-dialect \
// RUN:   --eqsat-saturate="no-rule-sets cost=attribute allow-unregistered" 2>&1 | FileCheck %s --check-prefix=BLOCKED
//
// Saturation and hoisting change no value.
// RUN: luminal-test-reference %t/value.mlir > %t/before
// RUN: luminal-opt %t/value.mlir --eqsat-saturate="cost=unit" | FileCheck %s --check-prefix=VALUE
// RUN: luminal-opt %t/value.mlir --eqsat-saturate="cost=unit" > %t/after.mlir
// RUN: luminal-test-reference %t/after.mlir > %t/after
// RUN: diff %t/before %t/after

//--- lift.mlir

// Values of a body that depend only on outer values are computed once, outside;
// in a nest, as far out as its operands are.
// LIFT-LABEL: func.func @lift
// LIFT:         %[[KK:.*]] = hlir.mul %[[K:.*]], %[[K]]
// LIFT-NEXT:    hlir.repeat 2 carried
// LIFT-NEXT:    ^bb0(%[[C:.*]]: tensor<4xf32>, %[[W:.*]]: tensor<4xf32>):
// LIFT-NEXT:      %[[SW:.*]] = hlir.sin %[[W]]
// LIFT-NEXT:      hlir.repeat 3 carried(%[[C]]
// LIFT-NEXT:      ^bb0(%[[D:.*]]: tensor<4xf32>):
// LIFT-NEXT:        %[[A:.*]] = hlir.add %[[D]], %[[SW]]
// LIFT-NEXT:        %[[B:.*]] = hlir.mul %[[KK]], %[[A]]
// LIFT-NEXT:        hlir.yield %[[B]]
func.func @lift(%x: tensor<4xf32>, %w0: tensor<4xf32>, %w1: tensor<4xf32>, %k: tensor<4xf32>) -> tensor<4xf32> {
  %r = hlir.repeat 2 carried(%x : tensor<4xf32>) each(%w0, %w1 : tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%c: tensor<4xf32>, %w: tensor<4xf32>):
    %s = hlir.repeat 3 carried(%c : tensor<4xf32>) {
    ^bb0(%d: tensor<4xf32>):
      %kk = hlir.mul %k, %k : tensor<4xf32>
      %sw = hlir.sin %w : tensor<4xf32>
      %a = hlir.add %d, %sw : tensor<4xf32>
      %b = hlir.mul %a, %kk : tensor<4xf32>
      hlir.yield %b : tensor<4xf32>
    } -> tensor<4xf32>
    hlir.yield %s : tensor<4xf32>
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

//--- body.mlir

// Rules match across the boundary: a body is matched together with its context.
// BODY-LABEL: func.func @body
// BODY-NEXT:    hlir.repeat 2
// BODY-NEXT:    ^bb0(%[[C:.*]]: tensor<4xf32>):
// BODY-NEXT:      llir.elementwise sub(%[[C]], %{{.*}})
// BODY-NEXT:      hlir.yield
// WHY: by Sub
// WHY: operand 0 of hlir.yield
func.func @body(%x: tensor<4xf32>, %k: tensor<4xf32>) -> tensor<4xf32> {
  %minus = hlir.constant dense<-1.0> : tensor<f32>
  %all = hlir.view %minus <(d0) -> ()> : tensor<f32> -> tensor<4xf32>
  %negated = hlir.mul %k, %all : tensor<4xf32>
  %r = hlir.repeat 2 carried(%x : tensor<4xf32>) {
  ^bb0(%c: tensor<4xf32>):
    %difference = hlir.add %c, %negated : tensor<4xf32>
    hlir.yield %difference : tensor<4xf32>
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
}

//--- rules.mlir

// The result of clearing a value does not depend on it.
pdl.pattern @Clear : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation "test.clear"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    %cost = pdl.attribute = 9.0 : f64
    %new = pdl.operation "test.cleared" {"cost" = %cost} -> (%t : !pdl.type)
    pdl.replace %root with %new
  }
}

pdl.pattern @Canonical : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation "test.shape_of"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    %never = pdl.attribute = unit
    %new = pdl.operation "test.known" {"forbidden" = %never} -> (%t : !pdl.type)
    pdl.replace %root with %new
  }
}

//--- leak.mlir

// A value of the body is equal to one outside and cheaper, but does not exist
// outside. Within the body the value from outside is already computed.
// LEAK-LABEL: func.func @leak
// LEAK:         %[[Z:.*]] = "test.cleared"()
// LEAK-NEXT:    %[[R:.*]] = hlir.repeat 2
// LEAK-NEXT:    ^bb0(%[[C:.*]]: tensor<f32>):
// LEAK-NEXT:      %[[A:.*]] = "test.use"(%[[C]], %[[Z]])
// LEAK-NEXT:      hlir.yield %[[A]]
// LEAK:         return %[[R]], %[[Z]]
func.func @leak(%x: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %r = hlir.repeat 2 carried(%x : tensor<f32>) {
  ^bb0(%c: tensor<f32>):
    %z = "test.clear"(%c) {cost = 0.0} : (tensor<f32>) -> tensor<f32>
    %a = "test.use"(%c, %z) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    hlir.yield %a : tensor<f32>
  } -> tensor<f32>
  %y = "test.cleared"() {cost = 9.0} : () -> tensor<f32>
  return %r, %y : tensor<f32>, tensor<f32>
}

//--- twice.mlir

// One class, computed in two scopes of which neither is in the other: each has
// its own choice, with its cost per trip: 2 * (1 + 4) + 3 * (1 + 4).
// TWICE-LABEL: func.func @twice
// TWICE:         hlir.repeat 2
// TWICE-NEXT:    ^bb0(%[[C:.*]]: tensor<f32>):
// TWICE-NEXT:      %[[S:.*]] = "test.shape_of"(%[[C]])
// TWICE-NEXT:      "test.use"(%[[C]], %[[S]])
// TWICE:         hlir.repeat 3
// TWICE-NEXT:    ^bb0(%[[D:.*]]: tensor<f32>):
// TWICE-NEXT:      %[[U:.*]] = "test.shape_of"(%[[D]])
// TWICE-NEXT:      "test.use"(%[[D]], %[[U]])
// COST: "cost": 25
func.func @twice(%x: tensor<f32>) -> tensor<f32> {
  %r = hlir.repeat 2 carried(%x : tensor<f32>) {
  ^bb0(%c: tensor<f32>):
    %s = "test.shape_of"(%c) {cost = 4.0} : (tensor<f32>) -> tensor<f32>
    %a = "test.use"(%c, %s) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    hlir.yield %a : tensor<f32>
  } -> tensor<f32>
  %q = hlir.repeat 3 carried(%r : tensor<f32>) {
  ^bb0(%c: tensor<f32>):
    %s = "test.shape_of"(%c) {cost = 4.0} : (tensor<f32>) -> tensor<f32>
    %a = "test.use"(%c, %s) : (tensor<f32>, tensor<f32>) -> tensor<f32>
    hlir.yield %a : tensor<f32>
  } -> tensor<f32>
  return %q : tensor<f32>
}

//--- blocked.mlir

// BLOCKED: blocked.mlir:[[#]]:{{[0-9]+}}: error: nothing lowers 'test.never' of type 'tensor<f32>'
func.func @blocked(%x: tensor<f32>) -> tensor<f32> {
  %r = hlir.repeat 2 carried(%x : tensor<f32>) {
  ^bb0(%c: tensor<f32>):
    %s = "test.never"(%c) {forbidden} : (tensor<f32>) -> tensor<f32>
    hlir.yield %s : tensor<f32>
  } -> tensor<f32>
  return %r : tensor<f32>
}

//--- value.mlir

// VALUE: hlir.mul
// VALUE: hlir.repeat 3
func.func @value() -> (tensor<2xf32>, tensor<2xf32>) {
  %x = hlir.constant dense<[0.5, -2.0]> : tensor<2xf32>
  %k = hlir.constant dense<[3.0, 0.25]> : tensor<2xf32>
  %w0 = hlir.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %w1 = hlir.constant dense<[-1.5, 0.125]> : tensor<2xf32>
  %w2 = hlir.constant dense<[7.0, -3.0]> : tensor<2xf32>
  %r:2 = hlir.repeat 3 carried(%x, %k : tensor<2xf32>, tensor<2xf32>) each(%w0, %w1, %w2 : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  ^bb0(%c: tensor<2xf32>, %d: tensor<2xf32>, %w: tensor<2xf32>):
    %kk = hlir.mul %k, %k : tensor<2xf32>
    %m = hlir.mul %c, %w : tensor<2xf32>
    %p = hlir.add %kk, %m : tensor<2xf32>
    %q = hlir.sin %p : tensor<2xf32>
    hlir.yield %q, %c : tensor<2xf32>, tensor<2xf32>
  } -> (tensor<2xf32>, tensor<2xf32>)
  return %r#0, %r#1 : tensor<2xf32>, tensor<2xf32>
}
