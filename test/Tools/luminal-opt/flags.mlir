// The standard flags of mlir-opt work as they do there.

// DEFINE: %{opt} = luminal-opt %s --luminal-pipeline=until=fused
// RUN: rm -rf %t && mkdir -p %t

// Timing.
// RUN: %{opt} --mlir-timing -o %t/timing.mlir 2>&1 | FileCheck %s --check-prefix=TIMING
// TIMING: Execution time report
// TIMING-DAG: SaturatePass
// TIMING-DAG: FuseKernelsPass

// IR printing: after a pass, into a tree of files, after a failure.
// RUN: %{opt} --mlir-print-ir-after=llir-fuse-kernels -o %t/print.mlir 2>&1 | FileCheck %s --check-prefix=PRINT
// PRINT: IR Dump After FuseKernelsPass (llir-fuse-kernels)
// PRINT: llir.kernel
// RUN: %{opt} --mlir-print-ir-after-all --mlir-print-ir-tree-dir=%t/tree -o %t/tree.mlir
// RUN: FileCheck %s --check-prefix=TREE < %t/tree/builtin_module_no-symbol-name/1_eqsat-saturate.mlir
// TREE: llir.elementwise
// TREE-NOT: llir.kernel
// RUN: not luminal-opt %s --luminal-pipeline=arch=nothing --mlir-print-ir-after-failure 2>&1 \
// RUN:   | FileCheck %s --check-prefix=FAILURE
// FAILURE: unknown processor 'nothing'
// FAILURE: IR Dump After JoinWeightsPass Failed

// A reproducer is a file that runs the same passes: after a failure, and on request.
// RUN: not luminal-opt %s --luminal-pipeline=arch=nothing --mlir-pass-pipeline-crash-reproducer=%t/crash.mlir 2>/dev/null
// RUN: FileCheck %s --check-prefix=CRASH < %t/crash.mlir
// CRASH: hlir.mul
// CRASH: pipeline: "{{.*}}eqsat-saturate{{.*}}llir-fuse-kernels{{.*}}arch=nothing
// RUN: %refuses "unknown processor 'nothing'" luminal-opt %t/crash.mlir --run-reproducer -o %t/no.mlir
// RUN: luminal-opt %s --cse --mlir-generate-reproducer=%t/reproducer.mlir -o %t/result.mlir
// RUN: FileCheck %s --check-prefix=CSE < %t/reproducer.mlir
// CSE: pipeline: "builtin.module(cse)"
// RUN: luminal-opt %t/reproducer.mlir --run-reproducer -o %t/again.mlir
// RUN: diff %t/result.mlir %t/again.mlir

// Remarks, as text and as YAML.
// RUN: %{opt} --remarks-filter=eqsat-saturate -o %t/remarks.mlir 2>&1 | FileCheck %s --check-prefix=REMARKS
// REMARKS: flags.mlir:{{.*}}: remark: {{.*}} stop=saturated
// RUN: %{opt} --remarks-filter=".*" --remark-format=yaml --remarks-output-file=%t/remarks.yaml -o %t/remarks.mlir
// RUN: FileCheck %s --check-prefix=YAML < %t/remarks.yaml
// YAML: !Analysis
// YAML: Pass: {{.*}}eqsat-saturate
// YAML: Function: {{.*}}main

// Actions: every pass is one.
// RUN: %{opt} --log-actions-to=%t/actions.log -o %t/actions.mlir
// RUN: FileCheck %s --check-prefix=ACTIONS < %t/actions.log
// ACTIONS: begins {{.*}}pass-execution{{.*}}SaturatePass
// ACTIONS: completed {{.*}}pass-execution

// Locations, the generic form, round trips, statistics.
// RUN: luminal-opt %s --mlir-print-debuginfo | FileCheck %s --check-prefix=LOC
// LOC: hlir.mul {{.*}} loc(#loc{{[0-9]*}})
// RUN: luminal-opt %s --mlir-print-op-generic | luminal-opt -o %t/back.mlir
// RUN: luminal-opt %s -o %t/plain.mlir
// RUN: cmp %t/plain.mlir %t/back.mlir
// RUN: luminal-opt %s --emit-bytecode | luminal-opt -o %t/bytecode.mlir
// RUN: cmp %t/plain.mlir %t/bytecode.mlir
// RUN: luminal-opt %s --verify-roundtrip -o %t/roundtrip.mlir

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = hlir.mul %x, %x : tensor<8xf32>
  %1 = hlir.mul %x, %x : tensor<8xf32>
  %2 = hlir.add %0, %1 : tensor<8xf32>
  return %2 : tensor<8xf32>
}
