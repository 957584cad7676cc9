// Values are merged although their types are written differently. Each use was written with one of the two spellings; the
// result uses one spelling throughout, except for what is not a node (results, the bodies of repeats).

// RUN: split-file %s %t
// DEFINE: %{opt} = luminal-opt --eqsat-saturate="no-rule-sets cost=unit rules=%t/rules.mlir"
// RUN: %{opt} %t/longer.mlir | FileCheck %t/longer.mlir
// RUN: %{opt} %t/shorter.mlir | FileCheck %t/shorter.mlir
// RUN: %{opt} %t/repeat.mlir | FileCheck %t/repeat.mlir
// RUN: %{opt} %t/made.mlir | FileCheck %t/made.mlir
// RUN: %{opt} %t/static.mlir | FileCheck %t/static.mlir
// RUN: %{opt} %t/several.mlir | FileCheck %t/several.mlir
// RUN: %{opt} %t/apart.mlir | FileCheck %t/apart.mlir
//
// In the dialect of the extracted program.
// RUN: luminal-opt %t/shorter.mlir --eqsat-saturate="rules=%t/rules.mlir" | FileCheck %t/shorter.mlir --check-prefix=LOWERED
//
// As MLIR, and read back.
// DEFINE: %{graph} = luminal-opt --allow-unregistered-dialect --eqsat-saturate
// RUN: %{graph}="no-rule-sets equivalence rules=%t/rules.mlir" %t/longer.mlir > %t/longer-graph.mlir
// RUN: FileCheck %t/longer.mlir --check-prefix=GRAPH < %t/longer-graph.mlir
// RUN: %{graph}="no-rule-sets cost=unit" %t/longer-graph.mlir | FileCheck %t/longer.mlir
// RUN: %{graph}="no-rule-sets equivalence rules=%t/rules.mlir" %t/static.mlir > %t/static-graph.mlir
// RUN: %{graph}="no-rule-sets cost=unit" %t/static-graph.mlir | FileCheck %t/static.mlir
// RUN: %{graph}="no-rule-sets equivalence rules=%t/rules.mlir" %t/repeat.mlir > %t/repeat-graph.mlir
// RUN: %{graph}="no-rule-sets cost=unit" %t/repeat-graph.mlir | FileCheck %t/repeat.mlir
// RUN: not luminal-opt %t/not-class.mlir --allow-unregistered-dialect --eqsat-saturate="no-rule-sets cost=unit" 2>&1 \
// RUN:   | FileCheck %t/not-class.mlir
//
// The numbers stay: as given, with one spelling, and compiled.
// RUN: %python %S/../../Tools/luminal-run/Inputs/make.py npy %t/x.npy f4 5 1 -2.5 0.25 7 -0.125
// RUN: %python %S/../../Tools/luminal-run/Inputs/make.py npy %t/w.npy f4 5 0.5 3 -1 2 9
// RUN: luminal-run --reference %t/numbers.mlir --input=%t/x.npy --input=%t/w.npy --output-dir=%t/expected
// RUN: %{opt} %t/numbers.mlir > %t/numbers-one.mlir
// RUN: FileCheck %t/numbers.mlir < %t/numbers-one.mlir
// RUN: luminal-run --reference %t/numbers-one.mlir --input=%t/x.npy --input=%t/w.npy --output-dir=%t/one
// RUN: cmp %t/expected/output_0.npy %t/one/output_0.npy
// RUN: cmp %t/expected/output_1.npy %t/one/output_1.npy
// RUN: luminal-compile %t/numbers.mlir --eqsat-rules=%t/rules.mlir -o %t/numbers.lum
// RUN: luminal-run %t/numbers.lum --input=%t/x.npy --input=%t/w.npy --expect=output_0=%t/expected/output_0.npy \
// RUN:   --expect=output_1=%t/expected/output_1.npy | FileCheck %s --check-prefix=NUMBERS
// NUMBERS-COUNT-2: {{ ok }}
// NUMBERS-NOT: MISS

//--- rules.mlir

pdl.pattern @Same : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %name = pdl.attribute = "same"
  %root = pdl.operation "hlir.custom"(%x : !pdl.value) {"name" = %name} -> (%t : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
}
// What it makes has the type of the root, on a value that may have the other spelling.
pdl.pattern @Twice : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %name = pdl.attribute = "twice"
  %root = pdl.operation "hlir.custom"(%x : !pdl.value) {"name" = %name} -> (%t : !pdl.type)
  pdl.rewrite %root {
    %new = pdl.operation "hlir.add"(%x, %x : !pdl.value, !pdl.value) -> (%t : !pdl.type)
    pdl.replace %root with %new
  }
}
pdl.pattern @Pair : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %u = pdl.type
  %x = pdl.operand : %t
  %y = pdl.operand : %u
  %old = pdl.attribute = "pair"
  %root = pdl.operation "hlir.custom"(%x, %y : !pdl.value, !pdl.value) {"name" = %old} -> (%u, %t : !pdl.type, !pdl.type)
  pdl.rewrite %root {
    %name = pdl.attribute = "swapped"
    %new = pdl.operation "hlir.custom"(%y, %x : !pdl.value, !pdl.value) {"name" = %name} -> (%t, %u : !pdl.type, !pdl.type)
    pdl.replace %root with %new
  }
}
// A view that changes only the type of its operand.
pdl.pattern @Identity : benefit(0) attributes {eqsat.promise = "exact"} {
  %t = pdl.type
  %x = pdl.operand
  %map = pdl.attribute = #hlir.map<(d0) -> (d0)>
  %root = pdl.operation "hlir.view"(%x : !pdl.value) {"map" = %map} -> (%t : !pdl.type)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
}

//--- longer.mlir

// The uses are written with the longer one.
// CHECK-LABEL: func.func @longer
// CHECK-SAME:    (%[[X:[^:]*]]: tensor<?xf32, #hlir.dims<s0>>) -> (tensor<?xf32, #hlir.dims<s0 mod 64>>, tensor<?xf32, #hlir.dims<s0 mod 64>>)
// CHECK-NEXT:    %[[A:.*]] = hlir.sin %[[X]] : tensor<?xf32, #hlir.dims<s0>>
// CHECK-NEXT:    %[[C:.*]] = hlir.less_than %[[A]], %[[X]] : tensor<?xf32, #hlir.dims<s0>> -> tensor<?xi1, #hlir.dims<s0>>
// CHECK-NEXT:    %[[B:.*]] = hlir.select %[[C]], %[[A]], %[[X]] : tensor<?xi1, #hlir.dims<s0>>, tensor<?xf32, #hlir.dims<s0>>
// CHECK-NEXT:    %[[P:.*]] = hlir.view %[[B]] <(d0) -> (d0)> : tensor<?xf32, #hlir.dims<s0>> -> tensor<?xf32, #hlir.dims<s0 mod 64>>
// CHECK-NEXT:    %[[Q:.*]] = hlir.view %[[X]] <(d0) -> (d0)> : tensor<?xf32, #hlir.dims<s0>> -> tensor<?xf32, #hlir.dims<s0 mod 64>>
// CHECK-NEXT:    return %[[P]], %[[Q]]
// GRAPH:         %[[P:.*]] = "equivalence.class"(%{{.*}}) : (tensor<?xf32, #hlir.dims<s0>>) -> tensor<?xf32, #hlir.dims<s0 mod 64>>
// GRAPH-NEXT:    %[[Q:.*]] = "equivalence.class"(%{{.*}}) : (tensor<?xf32, #hlir.dims<s0>>) -> tensor<?xf32, #hlir.dims<s0 mod 64>>
// GRAPH-NEXT:    "equivalence.yield"(%[[P]], %[[Q]])
func.func @longer(%x: tensor<?xf32, #hlir.dims<s0>>) -> (tensor<?xf32, #hlir.dims<s0 mod 64>>, tensor<?xf32, #hlir.dims<s0 mod 64>>)
    attributes {hlir.symbols = #hlir.symbols<s0 in [1, 63]>} {
  %0 = hlir.custom "same"(%x) : (tensor<?xf32, #hlir.dims<s0>>) -> tensor<?xf32, #hlir.dims<s0 mod 64>>
  %1 = hlir.sin %0 : tensor<?xf32, #hlir.dims<s0 mod 64>>
  %2 = hlir.less_than %1, %0 : tensor<?xf32, #hlir.dims<s0 mod 64>> -> tensor<?xi1, #hlir.dims<s0 mod 64>>
  %3 = hlir.select %2, %1, %0 : tensor<?xi1, #hlir.dims<s0 mod 64>>, tensor<?xf32, #hlir.dims<s0 mod 64>>
  return %3, %0 : tensor<?xf32, #hlir.dims<s0 mod 64>>, tensor<?xf32, #hlir.dims<s0 mod 64>>
}

//--- shorter.mlir

// The argument is: it is converted once.
// CHECK-LABEL: func.func @shorter
// CHECK-SAME:    (%[[X:[^:]*]]: tensor<?xf32, #hlir.dims<s0 mod 64>>)
// CHECK-NEXT:    %[[Y:.*]] = hlir.view %[[X]] <(d0) -> (d0)> : tensor<?xf32, #hlir.dims<s0 mod 64>> -> tensor<?xf32, #hlir.dims<s0>>
// CHECK-NEXT:    %[[A:.*]] = hlir.sin %[[Y]] : tensor<?xf32, #hlir.dims<s0>>
// CHECK-NEXT:    %[[B:.*]] = hlir.mul %[[Y]], %[[A]] : tensor<?xf32, #hlir.dims<s0>>
// CHECK-NEXT:    return %[[B]], %[[Y]], %[[X]]
// LOWERED:       llir.view %{{.*}} <(d0) -> (d0)> : tensor<?xf32, #hlir.dims<s0 mod 64>> -> tensor<?xf32, #hlir.dims<s0>>
// LOWERED-NEXT:  llir.elementwise sin
func.func @shorter(%x: tensor<?xf32, #hlir.dims<s0 mod 64>>)
    -> (tensor<?xf32, #hlir.dims<s0>>, tensor<?xf32, #hlir.dims<s0>>, tensor<?xf32, #hlir.dims<s0 mod 64>>)
    attributes {hlir.symbols = #hlir.symbols<s0 in [1, 63]>} {
  %0 = hlir.custom "same"(%x) : (tensor<?xf32, #hlir.dims<s0 mod 64>>) -> tensor<?xf32, #hlir.dims<s0>>
  %1 = hlir.sin %0 : tensor<?xf32, #hlir.dims<s0>>
  %2 = hlir.mul %1, %0 : tensor<?xf32, #hlir.dims<s0>>
  return %2, %0, %x : tensor<?xf32, #hlir.dims<s0>>, tensor<?xf32, #hlir.dims<s0>>, tensor<?xf32, #hlir.dims<s0 mod 64>>
}

//--- repeat.mlir

// A value from outside the loop is converted outside, a value of a trip inside.
// CHECK-LABEL: func.func @repeat
// CHECK-SAME:    (%[[X:[^:]*]]: tensor<{{.*}}>, %[[W:[^:]*]]: tensor
// CHECK-DAG:     %[[I:.*]] = hlir.view %[[X]] <(d0) -> (d0)> : tensor<?xf32, #hlir.dims<s0>> -> tensor<?xf32, #hlir.dims<s0 mod 64>>
// CHECK-DAG:     %[[V:.*]] = hlir.view %[[W]] <(d0) -> (d0)> : tensor<?xf32, #hlir.dims<s0 mod 64>> -> tensor<?xf32, #hlir.dims<s0>>
// CHECK:         %[[R:.*]] = hlir.repeat 2 carried(%[[I]] : tensor<?xf32, #hlir.dims<s0 mod 64>>)
// CHECK-NEXT:    ^bb0(%[[C:.*]]: tensor<?xf32, #hlir.dims<s0 mod 64>>):
// CHECK-NEXT:      %[[D:.*]] = hlir.view %[[C]] <(d0) -> (d0)> : tensor<?xf32, #hlir.dims<s0 mod 64>> -> tensor<?xf32, #hlir.dims<s0>>
// CHECK-NEXT:      %[[A:.*]] = hlir.add {{%.*}}, {{%.*}} : tensor<?xf32, #hlir.dims<s0>>
// CHECK-NEXT:      %[[S:.*]] = hlir.sin %[[A]] : tensor<?xf32, #hlir.dims<s0>>
// CHECK-NEXT:      %[[Y:.*]] = hlir.view %[[S]] <(d0) -> (d0)> : tensor<?xf32, #hlir.dims<s0>> -> tensor<?xf32, #hlir.dims<s0 mod 64>>
// CHECK-NEXT:      hlir.yield %[[Y]]
// CHECK:         %[[E:.*]] = hlir.view %[[R]]
// CHECK-NEXT:    return %[[E]] : tensor<?xf32, #hlir.dims<s0>>
func.func @repeat(%x: tensor<?xf32, #hlir.dims<s0>>, %w: tensor<?xf32, #hlir.dims<s0 mod 64>>) -> tensor<?xf32, #hlir.dims<s0>>
    attributes {hlir.symbols = #hlir.symbols<s0 in [1, 63]>} {
  %0 = hlir.custom "same"(%x) : (tensor<?xf32, #hlir.dims<s0>>) -> tensor<?xf32, #hlir.dims<s0 mod 64>>
  %r = hlir.repeat 2 carried(%0 : tensor<?xf32, #hlir.dims<s0 mod 64>>) {
  ^bb0(%c: tensor<?xf32, #hlir.dims<s0 mod 64>>):
    %a = hlir.add %c, %w : tensor<?xf32, #hlir.dims<s0 mod 64>>
    %b = hlir.custom "same"(%a) : (tensor<?xf32, #hlir.dims<s0 mod 64>>) -> tensor<?xf32, #hlir.dims<s0>>
    %d = hlir.sin %b : tensor<?xf32, #hlir.dims<s0>>
    %e = hlir.custom "same"(%d) : (tensor<?xf32, #hlir.dims<s0>>) -> tensor<?xf32, #hlir.dims<s0 mod 64>>
    hlir.yield %e : tensor<?xf32, #hlir.dims<s0 mod 64>>
  } -> tensor<?xf32, #hlir.dims<s0 mod 64>>
  %y = hlir.custom "same"(%r) : (tensor<?xf32, #hlir.dims<s0 mod 64>>) -> tensor<?xf32, #hlir.dims<s0>>
  return %y : tensor<?xf32, #hlir.dims<s0>>
}

//--- made.mlir

// A rule creates an op on a value whose class is spelled differently from its root: that is not an error of the rule.
// CHECK-LABEL: func.func @made
// CHECK-NOT:     same
// CHECK:         return %{{.*}} : tensor<?xf32, #hlir.dims<s0 mod 64>>
func.func @made(%x: tensor<?xf32, #hlir.dims<s0>>) -> tensor<?xf32, #hlir.dims<s0 mod 64>>
    attributes {hlir.symbols = #hlir.symbols<s0 in [1, 63]>} {
  %0 = hlir.custom "same"(%x) : (tensor<?xf32, #hlir.dims<s0>>) -> tensor<?xf32, #hlir.dims<s0 mod 64>>
  %1 = hlir.custom "twice"(%0) : (tensor<?xf32, #hlir.dims<s0 mod 64>>) -> tensor<?xf32, #hlir.dims<s0 mod 64>>
  return %1 : tensor<?xf32, #hlir.dims<s0 mod 64>>
}

//--- static.mlir

// If one of the two is a number, the dim is static, because constants only have static types.
// CHECK-LABEL: func.func @static
// CHECK-SAME:    (%[[X:[^:]*]]: tensor<?xf32, #hlir.dims<min(s0, 4)>>)
// CHECK-DAG:     %[[K:.*]] = hlir.constant
// CHECK-DAG:     %[[Y:.*]] = hlir.view %[[X]] <(d0) -> (d0)> : tensor<?xf32, #hlir.dims<min(s0, 4)>> -> tensor<4xf32>
// CHECK:         %[[A:.*]] = hlir.add %[[Y]], %[[K]] : tensor<4xf32>
// CHECK-NEXT:    %[[R:.*]] = hlir.view %[[A]] <(d0) -> (d0)> : tensor<4xf32> -> tensor<?xf32, #hlir.dims<min(s0, 4)>>
// CHECK-NEXT:    return %[[R]]
func.func @static(%x: tensor<?xf32, #hlir.dims<min(s0, 4)>>) -> tensor<?xf32, #hlir.dims<min(s0, 4)>>
    attributes {hlir.symbols = #hlir.symbols<s0 in [4, 63]>} {
  %k = hlir.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = hlir.custom "same"(%k) : (tensor<4xf32>) -> tensor<?xf32, #hlir.dims<min(s0, 4)>>
  %1 = hlir.add %0, %x : tensor<?xf32, #hlir.dims<min(s0, 4)>>
  return %1 : tensor<?xf32, #hlir.dims<min(s0, 4)>>
}

//--- several.mlir

// An op with several results, each spelled differently from its equal value.
// CHECK-LABEL: func.func @several
// CHECK:         hlir.custom "{{pair|swapped}}"({{.*}}) : (tensor<?xf32, #hlir.dims<s0>>, tensor<?xf32, #hlir.dims<s0>>) -> (tensor<?xf32, #hlir.dims<s0>>, tensor<?xf32, #hlir.dims<s0>>)
// CHECK:         return %{{.*}}, %{{.*}} : tensor<?xf32, #hlir.dims<s0 mod 64>>, tensor<?xf32, #hlir.dims<s0>>
func.func @several(%x: tensor<?xf32, #hlir.dims<s0>>, %y: tensor<?xf32, #hlir.dims<s0 mod 64>>)
    -> (tensor<?xf32, #hlir.dims<s0 mod 64>>, tensor<?xf32, #hlir.dims<s0>>)
    attributes {hlir.symbols = #hlir.symbols<s0 in [1, 63]>} {
  %0:2 = hlir.custom "pair"(%x, %y) : (tensor<?xf32, #hlir.dims<s0>>, tensor<?xf32, #hlir.dims<s0 mod 64>>)
      -> (tensor<?xf32, #hlir.dims<s0 mod 64>>, tensor<?xf32, #hlir.dims<s0>>)
  return %0#0, %0#1 : tensor<?xf32, #hlir.dims<s0 mod 64>>, tensor<?xf32, #hlir.dims<s0>>
}

//--- apart.mlir

// Where no rule makes two values equal, both spellings stay.
// CHECK-LABEL: func.func @apart
// CHECK-NEXT:    hlir.sin %{{.*}} : tensor<?xf32, #hlir.dims<s0>>
// CHECK-NEXT:    hlir.sin %{{.*}} : tensor<?xf32, #hlir.dims<s0 mod 64>>
// CHECK-NEXT:    return
func.func @apart(%x: tensor<?xf32, #hlir.dims<s0>>, %y: tensor<?xf32, #hlir.dims<s0 mod 64>>)
    -> (tensor<?xf32, #hlir.dims<s0>>, tensor<?xf32, #hlir.dims<s0 mod 64>>)
    attributes {hlir.symbols = #hlir.symbols<s0 in [1, 63]>} {
  %0 = hlir.sin %x : tensor<?xf32, #hlir.dims<s0>>
  %1 = hlir.sin %y : tensor<?xf32, #hlir.dims<s0 mod 64>>
  return %0, %1 : tensor<?xf32, #hlir.dims<s0>>, tensor<?xf32, #hlir.dims<s0 mod 64>>
}

//--- not-class.mlir

// CHECK: not-class.mlir:[[@LINE+5]]:{{.*}}: error: members of a class are not provably of equal types
func.func @not_class(%x: tensor<?xf32, #hlir.dims<s0>>) -> tensor<?xf32, #hlir.dims<s0 mod 64>>
    attributes {hlir.symbols = #hlir.symbols<s0 in [1, 64]>} {
  %0 = "equivalence.graph"() ({
    // One more than 63.
    %1 = "equivalence.class"(%x) : (tensor<?xf32, #hlir.dims<s0>>) -> tensor<?xf32, #hlir.dims<s0 mod 64>>
    "equivalence.yield"(%1) : (tensor<?xf32, #hlir.dims<s0 mod 64>>) -> ()
  }) : () -> tensor<?xf32, #hlir.dims<s0 mod 64>>
  return %0 : tensor<?xf32, #hlir.dims<s0 mod 64>>
}

//--- numbers.mlir

// CHECK:      %[[A:.*]] = hlir.sin %{{.*}} : tensor<?xf32, #hlir.dims<s0>>
// CHECK:      hlir.mul {{.*}}%[[A]]{{.*}} : tensor<?xf32, #hlir.dims<s0>>
// CHECK:      hlir.select {{.*}} : tensor<?xi1, #hlir.dims<s0>>, tensor<?xf32, #hlir.dims<s0>>
func.func @main(%x: tensor<?xf32, #hlir.dims<s0>> {hlir.name = "x"}, %w: tensor<?xf32, #hlir.dims<s0 mod 64>> {hlir.name = "w"})
    -> (tensor<?xf32, #hlir.dims<s0 mod 64>> {hlir.name = "output_0"}, tensor<?xf32, #hlir.dims<max(s0, 1)>> {hlir.name = "output_1"})
    attributes {hlir.symbols = #hlir.symbols<s0 in [1, 63]>} {
  %0 = hlir.sin %x : tensor<?xf32, #hlir.dims<s0>>
  %1 = hlir.view %0 <(d0) -> (d0)> : tensor<?xf32, #hlir.dims<s0>> -> tensor<?xf32, #hlir.dims<s0 mod 64>>
  %2 = hlir.mul %1, %w : tensor<?xf32, #hlir.dims<s0 mod 64>>
  %3 = hlir.view %2 <(d0) -> (d0)> : tensor<?xf32, #hlir.dims<s0 mod 64>> -> tensor<?xf32, #hlir.dims<max(s0, 1)>>
  %4 = hlir.less_than %3, %3 : tensor<?xf32, #hlir.dims<max(s0, 1)>> -> tensor<?xi1, #hlir.dims<max(s0, 1)>>
  %5 = hlir.add %3, %3 : tensor<?xf32, #hlir.dims<max(s0, 1)>>
  %6 = hlir.select %4, %3, %5 : tensor<?xi1, #hlir.dims<max(s0, 1)>>, tensor<?xf32, #hlir.dims<max(s0, 1)>>
  return %2, %6 : tensor<?xf32, #hlir.dims<s0 mod 64>>, tensor<?xf32, #hlir.dims<max(s0, 1)>>
}
