// A rule that explodes is suspended and its round undone: the rule beside it,
// which needs more rounds than the limit allows for both, runs to its end.

// RUN: split-file %s %t
// DEFINE: %{opt} = luminal-opt %t/input.mlir --allow-unregistered-dialect --remarks-filter=eqsat-saturate
// DEFINE: %{rules} = no-rule-sets cost=unit allow-unregistered rules=%t/rules.mlir

// RUN: %{opt} --eqsat-saturate="%{rules} max-nodes=1000 report=%t/report.json" -o %t/out.mlir 2>&1 | FileCheck %s --check-prefix=REMARKS
// REMARKS: saturation {{.*}} stop=node-limit, undone=[[N:[1-9]]]
// REMARKS: rule {{.*}} idle=no, {{.*}} rule=Associate, undone={{[1-9]}}
// REMARKS: rule {{.*}} rule=Peel, undone=0, unions=20, useful=20
// RUN: FileCheck %s --input-file=%t/out.mlir
// RUN: %{opt} --eqsat-saturate="%{rules} max-nodes=1000 batch" 2>/dev/null | FileCheck %s
// RUN: %{opt} --eqsat-saturate="%{rules} max-bytes=60000" 2>/dev/null | FileCheck %s
// CHECK-NOT: test.more
// CHECK: "test.peel"(%{{[a-z0-9]+}}) : (f32) -> f32
// CHECK-NOT: test.more

// RUN: %python -m json.tool %t/report.json | FileCheck %s --check-prefix=JSON
// JSON: "stop": "node-limit"
// JSON: "undone_rounds": {{[1-9]}}
// JSON: "name": "Associate"
// JSON: "undone": {{[1-9]}}
// JSON: "name": "Peel"
// JSON: "undone": 0

// If the limit allows both, nothing is undone.
// RUN: %{opt} --eqsat-saturate="%{rules}" -o /dev/null 2>&1 | FileCheck %s --check-prefix=ROOM
// ROOM: saturation {{.*}} stop=saturated, undone=0

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
pdl.pattern @Associate : benefit(0) attributes {eqsat.promise = "exact"} {
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
pdl.pattern @Peel : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %a = pdl.operand
  %more = pdl.operation "test.more"(%a : !pdl.value) -> (%t : !pdl.type)
  %b = pdl.result 0 of %more
  %root = pdl.operation "test.peel"(%b : !pdl.value) -> (%t : !pdl.type)
  pdl.rewrite %root {
    %new = pdl.operation "test.peel"(%a : !pdl.value) -> (%t : !pdl.type)
    pdl.replace %root with %new
  }
}

//--- input.mlir

func.func @f(%a: f32, %b: f32, %c: f32, %d: f32, %e: f32, %f: f32, %g: f32, %h: f32, %x: f32) -> (f32, f32) {
  %0 = "test.add"(%g, %h) : (f32, f32) -> f32
  %1 = "test.add"(%f, %0) : (f32, f32) -> f32
  %2 = "test.add"(%e, %1) : (f32, f32) -> f32
  %3 = "test.add"(%d, %2) : (f32, f32) -> f32
  %4 = "test.add"(%c, %3) : (f32, f32) -> f32
  %5 = "test.add"(%b, %4) : (f32, f32) -> f32
  %6 = "test.add"(%a, %5) : (f32, f32) -> f32
  %m1 = "test.more"(%x) : (f32) -> f32
  %m2 = "test.more"(%m1) : (f32) -> f32
  %m3 = "test.more"(%m2) : (f32) -> f32
  %m4 = "test.more"(%m3) : (f32) -> f32
  %m5 = "test.more"(%m4) : (f32) -> f32
  %m6 = "test.more"(%m5) : (f32) -> f32
  %m7 = "test.more"(%m6) : (f32) -> f32
  %m8 = "test.more"(%m7) : (f32) -> f32
  %m9 = "test.more"(%m8) : (f32) -> f32
  %m10 = "test.more"(%m9) : (f32) -> f32
  %m11 = "test.more"(%m10) : (f32) -> f32
  %m12 = "test.more"(%m11) : (f32) -> f32
  %m13 = "test.more"(%m12) : (f32) -> f32
  %m14 = "test.more"(%m13) : (f32) -> f32
  %m15 = "test.more"(%m14) : (f32) -> f32
  %m16 = "test.more"(%m15) : (f32) -> f32
  %m17 = "test.more"(%m16) : (f32) -> f32
  %m18 = "test.more"(%m17) : (f32) -> f32
  %m19 = "test.more"(%m18) : (f32) -> f32
  %m20 = "test.more"(%m19) : (f32) -> f32
  %m = "test.peel"(%m20) : (f32) -> f32
  return %6, %m : f32, f32
}
