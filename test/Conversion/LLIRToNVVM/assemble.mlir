// The assembler accepts every kernel of kernels.mlir, parts.mlir and row-programs.mlir, those of share.mlir, and every scalar function in every dtype, for two generations.
// REQUIRES: ptxas
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_80 %S/kernels.mlir -o %t.80.ptx
// RUN: ptxas -arch=sm_80 %t.80.ptx -o %t.80.cubin
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_90a %S/kernels.mlir -o %t.90.ptx
// RUN: ptxas -arch=sm_90a %t.90.ptx -o %t.90.cubin
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_80 %S/parts.mlir -o %t.parts.80.ptx
// RUN: ptxas -arch=sm_80 %t.parts.80.ptx -o %t.parts.80.cubin
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_90a %S/parts.mlir -o %t.parts.90.ptx
// RUN: ptxas -arch=sm_90a %t.parts.90.ptx -o %t.parts.90.cubin
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_80 %S/row-programs.mlir -o %t.rows.80.ptx
// RUN: ptxas -arch=sm_80 %t.rows.80.ptx -o %t.rows.80.cubin
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_90a %S/row-programs.mlir -o %t.rows.90.ptx
// RUN: ptxas -arch=sm_90a %t.rows.90.ptx -o %t.rows.90.cubin
// RUN: luminal-opt %S/../Schedules/share.mlir --llir-fuse-kernels=chip-bytes=0 --llir-join-elements="target=cuda arch=sm_80" --llir-schedule-kernels="target=cuda arch=sm_80" -o %t.share.mlir
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_80 %t.share.mlir -o %t.share.80.ptx
// RUN: ptxas -arch=sm_80 %t.share.80.ptx -o %t.share.80.cubin
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_90a %t.share.mlir -o %t.share.90.ptx
// RUN: ptxas -arch=sm_90a %t.share.90.ptx -o %t.share.90.cubin
// RUN: luminal-opt %S/scans.mlir --luminal-pipeline="target=cuda arch=sm_80 from=saturated until=scheduled" -o %t.scans.mlir
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_80 %t.scans.mlir -o %t.scans.ptx
// RUN: ptxas -arch=sm_80 %t.scans.ptx -o %t.scans.cubin
// RUN: luminal-opt %S/sorts.mlir --luminal-pipeline="target=cuda arch=sm_80 from=saturated until=scheduled" -o %t.sorts.mlir
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_80 %t.sorts.mlir -o %t.sorts.ptx
// RUN: ptxas -arch=sm_80 %t.sorts.ptx -o %t.sorts.cubin
// RUN: %python %S/functions.py > %t.mlir
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_90a %t.mlir -o %t.fn.ptx
// RUN: ptxas -arch=sm_90a %t.fn.ptx -o %t.fn.cubin

// RUN: not luminal-translate --llir-to-ptx --gpu-arch=sm_1 %S/kernels.mlir 2>&1 | FileCheck %s
// CHECK: error: unknown GPU architecture 'sm_1'
