// Attention by weights that are zero where a mask leaves nothing of a row is one kernel, and computes what the ops say: zeros
// in such a row, but NaN where a value is not finite, for that is multiplied by zero.
// RUN: luminal-opt %s --luminal-pipeline="target=cpu arch=x86-64-v3 from=saturated until=fused" | FileCheck %s --check-prefix=KERNELS
// KERNELS-COUNT-1: llir.kernel
// KERNELS-NOT: llir.kernel
// RUN: rm -rf %t && mkdir %t
// RUN: %python %S/Inputs/safe-softmax.py %utils/testing %t %s %device | FileCheck %s
// CHECK: f64 finite wrong: [] zeros of an empty row: 24
// CHECK: f64 scores wrong: [] zeros of an empty row: 24
// CHECK: f64 values wrong: [] zeros of an empty row: 21
// CHECK: f32 finite wrong: [] zeros of an empty row: 24
// CHECK: f32 scores wrong: [] zeros of an empty row: 24
// CHECK: f32 values wrong: [] zeros of an empty row: 21
// CHECK: f16 finite wrong: [] zeros of an empty row: 24
// CHECK: f16 scores wrong: [] zeros of an empty row: 24
// CHECK: f16 values wrong: [] zeros of an empty row: 21
// CHECK: bf16 finite wrong: [] zeros of an empty row: 24
// CHECK: bf16 scores wrong: [] zeros of an empty row: 24
// CHECK: bf16 values wrong: [] zeros of an empty row: 21

func.func @main(%q: tensor<150x16xf32>, %k: tensor<300x16xf32>, %s: tensor<150x300xf32>, %v: tensor<300x24xf32>, %m: tensor<150x300xi1>) -> tensor<150x24xf32> {
  %lowest = llir.constant dense<0xFF800000> : tensor<f32>
  %zero = llir.constant dense<0.0> : tensor<f32>
  %lowests = llir.view %lowest <(d0, d1) -> ()> : tensor<f32> -> tensor<150x300xf32>
  %product = llir.gemm %q, %k k(16) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<150x16xf32>, tensor<300x16xf32> -> tensor<150x300xf32>
  %sum = llir.elementwise add(%product, %s) : (tensor<150x300xf32>, tensor<150x300xf32>) -> tensor<150x300xf32>
  %scores = llir.elementwise select(%m, %sum, %lowests) : (tensor<150x300xi1>, tensor<150x300xf32>, tensor<150x300xf32>) -> tensor<150x300xf32>
  %max = llir.reduce max %scores : tensor<150x300xf32> -> tensor<150xf32>
  %lowestOfRows = llir.view %lowest <(d0) -> ()> : tensor<f32> -> tensor<150xf32>
  %isEmpty = llir.elementwise equal(%max, %lowestOfRows) : (tensor<150xf32>, tensor<150xf32>) -> tensor<150xi1>
  %isEmptyRow = llir.view %isEmpty <(d0, d1) -> (d0)> : tensor<150xi1> -> tensor<150x300xi1>
  %zeros = llir.view %zero <(d0, d1) -> ()> : tensor<f32> -> tensor<150x300xf32>
  %p = llir.softmax %scores : tensor<150x300xf32>
  %weights = llir.elementwise select(%isEmptyRow, %zeros, %p) : (tensor<150x300xi1>, tensor<150x300xf32>, tensor<150x300xf32>) -> tensor<150x300xf32>
  %o = llir.gemm %weights, %v k(300) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<150x300xf32>, tensor<300x24xf32> -> tensor<150x24xf32>
  return %o : tensor<150x24xf32>
}
