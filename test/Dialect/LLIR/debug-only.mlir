// -debug-only prints the decisions of the passes that it names.
// REQUIRES: asserts
// RUN: luminal-opt %s --llir-fuse-kernels -debug-only=llir-plan-memory,llir-fuse-kernels -o %t 2>&1 | FileCheck %s
// CHECK: llir-fuse-kernels: passed fusion at {{.*}}debug-only.mlir:10:8, op: elementwise neg, reader: elementwise exp at {{.*}}:11:8, as: a value of the kernel
// RUN: luminal-opt %s --llir-fuse-kernels -debug-only=llir-plan-memory -o %t 2>&1 | FileCheck %s --allow-empty --check-prefix=NONE
// NONE-NOT: llir-fuse-kernels

func.func @chain(%a: tensor<4xf32>) -> tensor<4xf32> {

  %0 = llir.elementwise neg(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = llir.elementwise exp(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
