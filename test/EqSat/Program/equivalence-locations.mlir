// The graph as MLIR keeps where its ops come from: read back, the same program
// is extracted (except for the order of factors, which costs nothing) with the
// same locations, and values are found by their names.

// RUN: luminal-opt %s --allow-unregistered-dialect --mlir-print-debuginfo --eqsat-saturate=equivalence -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: luminal-opt %t.mlir --allow-unregistered-dialect --mlir-print-debuginfo | diff - %t.mlir
// RUN: luminal-opt %s --mlir-print-debuginfo --eqsat-saturate | sed 's/mul([^)]*)/mul/' > %t.direct.mlir
// RUN: luminal-opt %t.mlir --allow-unregistered-dialect --mlir-print-debuginfo --eqsat-saturate=no-rule-sets | sed 's/mul([^)]*)/mul/' | diff - %t.direct.mlir
// RUN: luminal-opt %t.mlir --allow-unregistered-dialect --mlir-print-debuginfo --eqsat-saturate="equivalence no-rule-sets" -o %t.again.mlir
// RUN: luminal-opt %t.again.mlir --allow-unregistered-dialect --mlir-print-debuginfo --eqsat-saturate=no-rule-sets | sed 's/mul([^)]*)/mul/' | diff - %t.direct.mlir
// RUN: luminal-opt %t.mlir --allow-unregistered-dialect --eqsat-saturate="no-rule-sets explain=- explain-values=twice,product" -o /dev/null | FileCheck %s --check-prefix=NAMES

// CHECK: func.func @main(%{{.*}}: tensor<4xf32> loc("first"({{.*}}))
// CHECK-DAG: #[[P:loc[0-9]*]] = loc("product")
// CHECK-DAG: #[[T:loc[0-9]*]] = loc("twice")
// CHECK-DAG: loc(fused<"equivalence.given">[#[[P]], #[[T]]])
// CHECK-DAG: #[[U:loc[0-9]*]] = loc(unknown)
// CHECK-DAG: loc(fused<"equivalence.given">[#[[U]]])

// NAMES: 'twice' and 'product' loc({{.*}}): %{{[0-9]+}} = %{{[0-9]+}} by
func.func @main(%x: tensor<4xf32> loc("first"("model.py":1:2)), %y: tensor<4xf32>) -> tensor<4xf32> {
  %one = hlir.constant dense<-1.0> : tensor<f32> loc(fused["minus one", "model.py":3:4])
  %all = hlir.view %one <(d0) -> ()> : tensor<f32> -> tensor<4xf32> loc(unknown)
  %0 = hlir.mul %x, %y : tensor<4xf32> loc("product")
  %1 = hlir.mul %0, %all : tensor<4xf32> loc(callsite("once" at "model.py":5:6))
  %2 = hlir.mul %1, %all : tensor<4xf32> loc("twice")
  %3 = hlir.add %2, %1 : tensor<4xf32> loc("sum"(fused<"x">["a", "b"]))
  return %3 : tensor<4xf32>
}
