// RUN: split-file %s %t
// RUN: luminal-opt %t/regions.mlir --allow-unregistered-dialect --verify-diagnostics \
// RUN:   --eqsat-saturate="no-rule-sets cost=unit allow-unregistered"
// RUN: luminal-opt %t/tuple.mlir --allow-unregistered-dialect --verify-diagnostics \
// RUN:   --eqsat-saturate="no-rule-sets cost=unit allow-unregistered"
// RUN: luminal-opt %t/forbidden.mlir --allow-unregistered-dialect --verify-diagnostics \
// RUN:   --eqsat-saturate="no-rule-sets cost=attribute allow-unregistered"
// RUN: luminal-opt %t/blocks.mlir --allow-unregistered-dialect --verify-diagnostics --eqsat-saturate="no-rule-sets cost=unit"
// RUN: luminal-opt %t/types.mlir --allow-unregistered-dialect --verify-diagnostics \
// RUN:   --eqsat-saturate="no-rule-sets cost=unit allow-unregistered rules=%t/types-rules.mlir"
// RUN: luminal-opt %t/names.mlir --verify-diagnostics --eqsat-saturate="rule-sets=nobody cost=unit"
// RUN: luminal-opt %t/cost.mlir --verify-diagnostics --eqsat-saturate="no-rule-sets cost=nobody"
// RUN: not luminal-opt %t/empty.mlir --eqsat-saturate="no-rule-sets cost=unit rules=%t/missing.mlir" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=MISSING
// MISSING: missing.mlir:0:0: error: cannot open input file {{.*}}missing.mlir
// RUN: not luminal-opt %t/empty.mlir --eqsat-saturate="max-ulps=-1" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: error: max-seconds and max-ulps must be nonnegative numbers
// RUN: luminal-opt %t/call.mlir --allow-unregistered-dialect --verify-diagnostics --eqsat-saturate="equivalence"

// An error is one line, without the text of the module.
// RUN: not luminal-opt %t/cost.mlir --eqsat-saturate="no-rule-sets cost=nobody" 2>&1 \
// RUN:   | FileCheck %s --check-prefix=ALONE --implicit-check-not=note: --implicit-check-not=func.func
// ALONE: error: no cost model is named 'nobody'

// The report is written after a failure too: it shows what the rules did.
// RUN: not luminal-opt %t/forbidden.mlir --allow-unregistered-dialect \
// RUN:   --eqsat-saturate="no-rule-sets cost=attribute allow-unregistered report=%t/forbidden.json" 2>/dev/null
// RUN: FileCheck %s --check-prefix=REPORT < %t/forbidden.json
// REPORT: "name": "f"
// REPORT-NEXT: "stop": "saturated"
// REPORT: "extraction": null
// RUN: not luminal-opt %t/types.mlir --allow-unregistered-dialect \
// RUN:   --eqsat-saturate="no-rule-sets cost=unit allow-unregistered rules=%t/types-rules.mlir report=%t/types.json" 2>/dev/null
// RUN: FileCheck %s --check-prefix=CONFLICT < %t/types.json
// CONFLICT: "stop": "conflict"
// CONFLICT: "name": "Wrong"
// CONFLICT: "extraction": null

//--- call.mlir

func.func private @other(tensor<4xf32>) -> tensor<4xf32>
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'func.call' refers to a symbol, which cannot be looked up inside 'equivalence.graph'}}
  %0 = func.call @other(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

//--- regions.mlir

func.func @f(%x: f32) -> f32 {
  // expected-error @below {{'test.region' has regions, which the e-graph does not support}}
  %0 = "test.region"(%x) ({
    "test.yield"() : () -> ()
  }) : (f32) -> f32
  return %0 : f32
}

//--- tuple.mlir

func.func @f(%x: tuple<f32, f32>) -> f32 {
  // As an argument it is never taken apart.
  %0 = "test.get"(%x) : (tuple<f32, f32>) -> f32
  // expected-error @below {{a value of type 'tuple<f32, f32>': the e-graph uses tuples for the results of an op with several}}
  %1 = "test.make"(%0) : (f32) -> tuple<f32, f32>
  %2 = "test.get"(%1) : (tuple<f32, f32>) -> f32
  return %2 : f32
}

//--- forbidden.mlir

func.func @f(%x: f32) -> f32 {
  %0 = "test.ok"(%x) : (f32) -> f32
  // expected-error @below {{nothing lowers 'test.bad' of type 'f32'}}
  %1 = "test.bad"(%0) {forbidden} : (f32) -> f32
  %2 = "test.worse"(%1) {forbidden} : (f32) -> f32
  return %2 : f32
}

//--- blocks.mlir

// expected-error @below {{a function with several blocks cannot be saturated}}
func.func @f(%x: f32) -> f32 {
  "test.br"()[^bb1] : () -> ()
^bb1:
  return %x : f32
}

//--- types-rules.mlir

pdl.pattern @Wrong : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation "test.widen"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
}

//--- types.mlir

func.func @f(%x: f32) -> f64 {
  // expected-error @below {{rule 'Wrong' makes two values equal whose types differ: 'f32' and 'f64'; they come from the program and the program}}
  %0 = "test.widen"(%x) : (f32) -> f64
  return %0 : f64
}

//--- names.mlir

// expected-error @below {{no rule set is named 'nobody'}}
module {}

//--- cost.mlir

// expected-error @below {{no cost model is named 'nobody'; known are unit, attribute}}
module {}

//--- empty.mlir
