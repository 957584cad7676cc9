// Every stop reason, and its text in the report. A limit that stops the search is a warning with its name.

// RUN: split-file %s %t
// DEFINE: %{opt} = luminal-opt %t/input.mlir --allow-unregistered-dialect --remarks-filter=eqsat-saturate
// DEFINE: %{rules} = no-rule-sets cost=unit allow-unregistered rules=%t/rules.mlir

// RUN: %{opt} --eqsat-saturate="%{rules}" 2>&1 | FileCheck %s --check-prefix=SATURATED
// SATURATED: remark: {{.*}} saturation {{.*}} classes=63, {{.*}} nodes=608, stop=saturated
// SATURATED: remark: {{.*}} rule {{.*}} promise=exact, {{.*}} rule=Commute
// SATURATED: remark: {{.*}} rule {{.*}} promise=rounding(1.5), {{.*}} rule=Associate
// SATURATED: remark: {{.*}} extraction {{.*}} cost=5.000, {{.*}} ops=5

// SATURATED-NOT: warning
// RUN: %{opt} --eqsat-saturate="%{rules} max-iterations=2" 2>&1 | FileCheck %s --check-prefix=ITERATIONS
// ITERATIONS: input.mlir:[[#]]:1: warning: the search for alternatives to 'sum' was stopped by max-iterations=2 (iteration-limit): cheaper programs may be missed
// ITERATIONS: saturation {{.*}} iterations=2, {{.*}} stop=iteration-limit

// RUN: %{opt} --eqsat-saturate="%{rules} max-nodes=100" 2>&1 | FileCheck %s --check-prefix=NODES
// NODES: warning: {{.*}} stopped by max-nodes=100 (node-limit)
// NODES: saturation {{.*}} stop=node-limit

// RUN: %{opt} --eqsat-saturate="%{rules} max-bytes=2000" 2>&1 | FileCheck %s --check-prefix=BYTES
// BYTES: warning: {{.*}} stopped by max-bytes=2000 (byte-limit)
// BYTES: saturation {{.*}} stop=byte-limit

// RUN: %{opt} --eqsat-saturate="%{rules} max-seconds=1e-9" 2>&1 | FileCheck %s --check-prefix=TIME
// TIME: warning: {{.*}} stopped by max-seconds=1e-09 (time-limit)
// TIME: saturation {{.*}} stop=time-limit

// A rule that is banned for finding too many matches comes back: the same graph.
// RUN: %{opt} --eqsat-saturate="%{rules} match-limit=3" 2>&1 | FileCheck %s --check-prefix=BACKOFF
// BACKOFF: saturation {{.*}} classes=63, {{.*}} nodes=608, stop=saturated
// BACKOFF: rule {{.*}} bans={{[1-9]}}

// The precision policy leaves out rules.
// RUN: %{opt} --eqsat-saturate="%{rules} max-ulps=1" 2>&1 | FileCheck %s --check-prefix=EXACT
// EXACT: saturation {{.*}} nodes=16, stop=saturated
// RUN: %{opt} --eqsat-saturate="%{rules} precision=exact report=%t/exact.json" 2>&1 | FileCheck %s --check-prefix=EXACT
// RUN: %python -m json.tool %t/exact.json | FileCheck %s --check-prefix=POLICY
// POLICY: "precision": "exact",
// POLICY: "name": "Associate"
// POLICY: "dtypes": [
// POLICY-NEXT: "f32"
// POLICY: "admitted": false
// RUN: %{opt} --eqsat-saturate="%{rules} precision=rounding" 2>&1 | FileCheck %s --check-prefix=SATURATED
// RUN: not %{opt} --eqsat-saturate="%{rules} precision=some" 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: no precision is named 'some'; known are exact, rounding, finite
// So does a type that a rule does not claim.
// RUN: sed s/f32/f64/g %t/input.mlir > %t/wide.mlir
// RUN: luminal-opt %t/wide.mlir --allow-unregistered-dialect --remarks-filter=eqsat-saturate --eqsat-saturate="%{rules}" 2>&1 | FileCheck %s --check-prefix=EXACT
// RUN: %{opt} --eqsat-saturate="%{rules} max-ulps=1.5" 2>&1 | FileCheck %s --check-prefix=SATURATED

// RUN: %{opt} --eqsat-saturate="%{rules} report=%t/report.json" -o %t/out.mlir
// RUN: %python -m json.tool %t/report.json | FileCheck %s --check-prefix=JSON
// JSON: "name": "sum"
// JSON: "stop": "saturated"
// JSON: "nodes": 608
// JSON: "classes": 63
// JSON: "name": "Associate"
// JSON: "promise": "rounding(1.5)"
// JSON: "stratum": "alternatives"
// JSON: "cost": 5

// Functions are recovered and lowered whatever stops the search, even before its first round.
// RUN: luminal-opt %t/hlir.mlir --eqsat-saturate="max-iterations=0 rules=%t/explode.mlir" 2>&1 | FileCheck %s --check-prefix=NOROUND
// RUN: luminal-opt %t/hlir.mlir --eqsat-saturate="max-nodes=0 rules=%t/explode.mlir" 2>&1 | FileCheck %s --check-prefix=NOROUND
// RUN: luminal-opt %t/hlir.mlir --eqsat-saturate="max-bytes=0 rules=%t/explode.mlir" 2>&1 | FileCheck %s --check-prefix=NOROUND
// RUN: luminal-opt %t/hlir.mlir --eqsat-saturate="match-limit=1 max-nodes=0 rules=%t/explode.mlir" 2>&1 | FileCheck %s --check-prefix=NOROUND
// NOROUND: warning: the search for alternatives to 'f' was stopped by max-
// NOROUND-NOT: hlir.{{[a-z0-9_]+}} %
// NOROUND: llir.elementwise rsqrt
// Without rules of alternatives no limit stops anything.
// RUN: luminal-opt %t/hlir.mlir --eqsat-saturate="rule-sets=views,arithmetic,math,narrow,matmul,norm,lowering max-iterations=0 max-nodes=0 max-bytes=0" 2>&1 | FileCheck %s --check-prefix=COMPLETE
// COMPLETE-NOT: warning
// COMPLETE: llir.elementwise rsqrt

// Recovery that does not end is an error that names its rules, and so is a clock that ends it.
// RUN: sed 's/"alternatives"/"recovery"/' %t/explode.mlir > %t/endless.mlir
// RUN: not luminal-opt %t/hlir.mlir --eqsat-saturate="max-nodes=0 rules=%t/endless.mlir" 2>&1 | FileCheck %s --check-prefix=ENDLESS
// ENDLESS: hlir.mlir:[[#]]:1: error: recovery and lowering of 'f' do not end within [[#]] nodes; what adds most: {{.*}}Explode{{.*}}; rules that can go on for ever belong in the stratum "alternatives"
// RUN: not luminal-opt %t/hlir.mlir --eqsat-saturate="max-seconds=1e-9" 2>&1 | FileCheck %s --check-prefix=CLOCK
// CLOCK: error: recovery and lowering of 'f' do not end within max-seconds=1e-09

// The same limits are options of the pipeline and of luminal-compile.
// RUN: luminal-opt %t/hlir.mlir --pass-pipeline="builtin.module(luminal-pipeline{until=saturated eqsat-max-nodes=7 rules=%t/explode.mlir})" 2>&1 | FileCheck %s --check-prefix=TOOL
// RUN: luminal-compile %t/hlir.mlir --emit=saturated --eqsat-max-nodes=7 --eqsat-rules=%t/explode.mlir 2>&1 | FileCheck %s --check-prefix=TOOL
// TOOL: warning: {{.*}} stopped by max-nodes=7 (node-limit)
// RUN: luminal-compile %t/hlir.mlir --emit=saturated --eqsat-max-iterations=3 --eqsat-max-bytes=100000000 --eqsat-max-seconds=1000 --eqsat-match-limit=5 --eqsat-rules=%t/explode.mlir 2>&1 | FileCheck %s --check-prefix=ROUNDS
// ROUNDS: stopped by max-iterations=3

// RUN: not luminal-opt %t/hlir.mlir --eqsat-saturate=max-seconds=nan 2>&1 | FileCheck %s --check-prefix=SECONDS
// SECONDS: error: max-seconds and max-ulps must be nonnegative numbers

//--- hlir.mlir
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = hlir.sqrt %x : tensor<4xf32>
  %1 = hlir.recip %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

//--- explode.mlir
// sqrt(x) = sqrt(2^x), repeatedly (not true, but never extracted).
pdl.pattern @Explode : benefit(0) attributes {eqsat.promise = "rounding(2)", eqsat.stratum = "alternatives"} {
  %t = pdl.type
  %x = pdl.operand
  %root = pdl.operation "hlir.sqrt"(%x : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    %power = pdl.operation "hlir.exp2"(%x : !pdl.value) -> (%t : !pdl.type)
    %y = pdl.result 0 of %power
    %new = pdl.operation "hlir.sqrt"(%y : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %root with %new
  }
}

//--- rules.mlir

pdl.pattern @Commute : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %a = pdl.operand
  %b = pdl.operand
  %root = pdl.operation "test.add"(%a, %b : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    %new = pdl.operation "test.add"(%b, %a : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    pdl.replace %root with %new
  }
}
pdl.pattern @Associate : benefit(0) attributes {eqsat.promise = "rounding(1.5)", eqsat.dtypes = [f32, bf16]} {
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

//--- input.mlir

func.func @sum(%a: f32, %b: f32, %c: f32, %d: f32, %e: f32, %f: f32) -> f32 {
  %0 = "test.add"(%e, %f) : (f32, f32) -> f32
  %1 = "test.add"(%d, %0) : (f32, f32) -> f32
  %2 = "test.add"(%c, %1) : (f32, f32) -> f32
  %3 = "test.add"(%b, %2) : (f32, f32) -> f32
  %4 = "test.add"(%a, %3) : (f32, f32) -> f32
  return %4 : f32
}
