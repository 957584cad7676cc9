// The e-graph as MLIR: printed, parsed, and read back as the same graph.

// RUN: luminal-opt %s --allow-unregistered-dialect --eqsat-saturate="equivalence report=%t.out.json" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: luminal-opt %t.mlir --allow-unregistered-dialect | diff - %t.mlir
// RUN: luminal-opt %t.mlir --allow-unregistered-dialect --eqsat-saturate="no-rule-sets report=%t.in.json" | FileCheck %s --check-prefix=BACK
// RUN: grep -m2 -E '"(nodes|classes)"' %t.out.json > %t.out.counts
// RUN: grep -m2 -E '"(nodes|classes)"' %t.in.json | diff - %t.out.counts

// RUN: not luminal-opt %s --eqsat-saturate=equivalence -o %t.none 2>&1 | FileCheck %s --check-prefix=FLAG
// FLAG: error: the ops of an equivalence.graph are not of a registered dialect: use --allow-unregistered-dialect

// RUN: split-file %S/Inputs/equivalence-invalid.mlir %t.d
// RUN: not luminal-opt %t.d/cycle.mlir --allow-unregistered-dialect --eqsat-saturate="no-rule-sets" 2>&1 | FileCheck %s --check-prefix=CYCLE
// CYCLE: cycle.mlir:4:10: error: no member of an operand's class can be computed: all are in cycles
// RUN: not luminal-opt %t.d/bare.mlir --allow-unregistered-dialect --eqsat-saturate="no-rule-sets" 2>&1 | FileCheck %s --check-prefix=BARE
// BARE: bare.mlir:4:10: error: an operand of a node is not the result of a 'equivalence.class'
// RUN: not luminal-opt %t.d/types.mlir --allow-unregistered-dialect --eqsat-saturate="no-rule-sets" 2>&1 | FileCheck %s --check-prefix=TYPES
// TYPES: types.mlir:3:10: error: members of a class are not provably of equal types

// x is a member of the class of x * -1 * -1: the graph has a cycle.
// CHECK-LABEL: func.func @main(
// CHECK-SAME:    %[[X:.*]]: tensor<4xf32>
// CHECK: %[[G:.*]] = "equivalence.graph"() ({
// CHECK:   %[[C:.*]] = "equivalence.class"(%[[X]], {{.*}}) : ({{.*}}) -> tensor<4xf32>
// CHECK:   hlir.mul
// CHECK:   llir.elementwise neg
// CHECK:   "equivalence.yield"(%[[C]]) : (tensor<4xf32>) -> ()
// CHECK: return %[[G]]

// BACK-LABEL: func.func @main(
// BACK-SAME:    %[[X:.*]]: tensor<4xf32>
// BACK-NEXT: return %[[X]]
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = hlir.constant dense<-1.0> : tensor<f32>
  %all = hlir.view %one <(d0) -> ()> : tensor<f32> -> tensor<4xf32>
  %0 = hlir.mul %x, %all : tensor<4xf32>
  %1 = hlir.mul %0, %all : tensor<4xf32>
  return %1 : tensor<4xf32>
}
