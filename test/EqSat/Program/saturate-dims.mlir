// Two values become one where their types are equal: dims that are written
// differently are equal, unequal or unknown.

// RUN: split-file %s %t
// DEFINE: %{rules} = no-rule-sets cost=unit allow-unregistered rules=%t/rules.mlir
// RUN: luminal-opt %t/equal.mlir --allow-unregistered-dialect --eqsat-saturate="%{rules} report=%t/equal.json" | FileCheck %t/equal.mlir
// RUN: FileCheck %s --check-prefix=EQUAL < %t/equal.json
// RUN: luminal-opt %t/unknown.mlir --allow-unregistered-dialect --eqsat-saturate="%{rules} report=%t/unknown.json" | FileCheck %t/unknown.mlir
// RUN: FileCheck %s --check-prefix=UNKNOWN < %t/unknown.json
// In every mode of the engine.
// RUN: luminal-opt %t/unknown.mlir --allow-unregistered-dialect --eqsat-saturate="%{rules} naive" | FileCheck %t/unknown.mlir
// RUN: luminal-opt %t/unknown.mlir --allow-unregistered-dialect --eqsat-saturate="%{rules} batch" | FileCheck %t/unknown.mlir
// RUN: luminal-opt %t/unequal.mlir --allow-unregistered-dialect --split-input-file --verify-diagnostics --eqsat-saturate="%{rules}"

// EQUAL: "name": "Same"
// EQUAL: "useful": 1,
// EQUAL: "unions": 1,
// EQUAL-NEXT: "refused": 0,

// The two refused unions are counted, nothing else.
// UNKNOWN: "stop": "saturated"
// UNKNOWN: "name": "Same"
// UNKNOWN: "matches": 2,
// UNKNOWN-NEXT: "useful": 0,
// UNKNOWN-NEXT: "new_nodes": 0,
// UNKNOWN-NEXT: "unions": 0,
// UNKNOWN-NEXT: "refused": 2,
// A node that would have joined a class is not added either.
// UNKNOWN: "name": "Join"
// UNKNOWN: "matches": 1,
// UNKNOWN-NEXT: "useful": 0,
// UNKNOWN-NEXT: "new_nodes": 0,
// UNKNOWN-NEXT: "unions": 0,
// UNKNOWN-NEXT: "refused": 1,

//--- rules.mlir

pdl.pattern @Same : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation "test.same"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
}
// Replaces the root by a node with the operand's type.
pdl.pattern @Join : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %u = pdl.type
  %x = pdl.operand : %t
  %root = pdl.operation "test.like"(%x : !pdl.value) -> (%u : !pdl.type)
  pdl.rewrite %root {
    %new = pdl.operation "test.joined"(%x : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %root with %new
  }
}
pdl.pattern @MakeOuter : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation "test.outer"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    %new = pdl.operation "test.same"(%x : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %root with %new
  }
}
pdl.pattern @MakeInner : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation "test.inner"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    %new = pdl.operation "test.core"(%x : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %root with %new
  }
}

//--- equal.mlir

// A value below 64 is its own remainder.
// CHECK: func.func @equal(%[[X:.*]]: tensor
// CHECK-NEXT: %[[R:.*]] = "test.use"(%[[X]])
// CHECK-NEXT: return %[[R]]
func.func @equal(%x: tensor<?xf32, #hlir.dims<s0>>) -> f32
    attributes {hlir.symbols = #hlir.symbols<s0 in [1, 63]>} {
  %0 = "test.same"(%x) : (tensor<?xf32, #hlir.dims<s0>>) -> tensor<?xf32, #hlir.dims<s0 mod 64>>
  %1 = "test.use"(%0) : (tensor<?xf32, #hlir.dims<s0 mod 64>>) -> f32
  return %1 : f32
}

//--- unknown.mlir

// Unknown: a range that ends one above 63, and two symbols whose ranges meet.
// CHECK: func.func @unknown(%[[X:.*]]: tensor{{.*}}, %[[Y:.*]]: tensor
// CHECK-DAG: "test.same"(%[[X]])
// CHECK-DAG: "test.same"(%[[Y]])
// CHECK-DAG: "test.like"(%[[Y]])
func.func @unknown(%x: tensor<?xf32, #hlir.dims<s0>>, %y: tensor<?xf32, #hlir.dims<s1>>)
    -> (tensor<?xf32, #hlir.dims<s0 mod 64>>, tensor<?xf32, #hlir.dims<s0>>, tensor<?xf32, #hlir.dims<s0>>)
    attributes {hlir.symbols = #hlir.symbols<s0 in [1, 64], s1 in [64, 65]>} {
  %0 = "test.same"(%x) : (tensor<?xf32, #hlir.dims<s0>>) -> tensor<?xf32, #hlir.dims<s0 mod 64>>
  %1 = "test.same"(%y) : (tensor<?xf32, #hlir.dims<s1>>) -> tensor<?xf32, #hlir.dims<s0>>
  %2 = "test.like"(%y) : (tensor<?xf32, #hlir.dims<s1>>) -> tensor<?xf32, #hlir.dims<s0>>
  return %0, %1, %2 : tensor<?xf32, #hlir.dims<s0 mod 64>>, tensor<?xf32, #hlir.dims<s0>>, tensor<?xf32, #hlir.dims<s0>>
}

//--- unequal.mlir

func.func @by_one(%x: tensor<?xf32, #hlir.dims<s0>>) -> tensor<?xf32, #hlir.dims<s0 + 1>>
    attributes {hlir.symbols = #hlir.symbols<s0 in [1, 64]>} {
  // expected-error @below {{rule 'Same' makes two values equal whose types differ: 'tensor<?xf32, #hlir.dims<s0>>' and 'tensor<?xf32, #hlir.dims<s0 + 1>>'; they come from the program and the program}}
  %0 = "test.same"(%x) : (tensor<?xf32, #hlir.dims<s0>>) -> tensor<?xf32, #hlir.dims<s0 + 1>>
  return %0 : tensor<?xf32, #hlir.dims<s0 + 1>>
}

// -----

// The ranges do not meet.
func.func @by_range(%x: tensor<?xf32, #hlir.dims<s0>>) -> tensor<?xf32, #hlir.dims<s1>>
    attributes {hlir.symbols = #hlir.symbols<s0 in [1, 63], s1 in [64, 65]>} {
  // expected-error @below {{rule 'Same' makes two values equal whose types differ: 'tensor<?xf32, #hlir.dims<s0>>' and 'tensor<?xf32, #hlir.dims<s1>>'}}
  %0 = "test.same"(%x) : (tensor<?xf32, #hlir.dims<s0>>) -> tensor<?xf32, #hlir.dims<s1>>
  return %0 : tensor<?xf32, #hlir.dims<s1>>
}

// -----

// Different element types and ranks are unequal, whatever the dims.
func.func @by_element(%x: tensor<?xf32, #hlir.dims<s0>>) -> tensor<?xi32, #hlir.dims<s1>>
    attributes {hlir.symbols = #hlir.symbols<s0 in [1, 64], s1 in [1, 64]>} {
  // expected-error @below {{rule 'Same' makes two values equal whose types differ}}
  %0 = "test.same"(%x) : (tensor<?xf32, #hlir.dims<s0>>) -> tensor<?xi32, #hlir.dims<s1>>
  return %0 : tensor<?xi32, #hlir.dims<s1>>
}

// -----

func.func @joined(%x: tensor<?xf32, #hlir.dims<s0>>) -> tensor<?xf32, #hlir.dims<s0 + 1>>
    attributes {hlir.symbols = #hlir.symbols<s0 in [1, 64]>} {
  // expected-error @below {{rule 'Join' makes two values equal whose types differ: 'tensor<?xf32, #hlir.dims<s0 + 1>>' and 'tensor<?xf32, #hlir.dims<s0>>'; they come from the program and rule 'Join'}}
  %0 = "test.like"(%x) : (tensor<?xf32, #hlir.dims<s0>>) -> tensor<?xf32, #hlir.dims<s0 + 1>>
  return %0 : tensor<?xf32, #hlir.dims<s0 + 1>>
}

// -----

// The error names the rule that fails, and the rules that made the two values.
func.func @both(%x: tensor<?xf32, #hlir.dims<s0>>) -> tensor<?xf32, #hlir.dims<s0 + 1>>
    attributes {hlir.symbols = #hlir.symbols<s0 in [1, 64]>} {
  // expected-error @below {{rule 'Same' makes two values equal whose types differ: 'tensor<?xf32, #hlir.dims<s0>>' and 'tensor<?xf32, #hlir.dims<s0 + 1>>'; they come from rule 'MakeInner' and rule 'MakeOuter'}}
  %0 = "test.inner"(%x) : (tensor<?xf32, #hlir.dims<s0>>) -> tensor<?xf32, #hlir.dims<s0>>
  %1 = "test.outer"(%0) : (tensor<?xf32, #hlir.dims<s0>>) -> tensor<?xf32, #hlir.dims<s0 + 1>>
  return %1 : tensor<?xf32, #hlir.dims<s0 + 1>>
}
