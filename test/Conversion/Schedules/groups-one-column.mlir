// A looked-up vector has no columns that a group's rows would share.
// RUN: luminal-opt %s --llir-schedule-kernels="arch=x86-64-v3" | FileCheck %s

// CHECK: loops<
// CHECK-NOT: groups = rows
func.func @one_column(%a: tensor<400x64xf32>, %b: tensor<3x64xf32>, %i: tensor<400xi64>) -> tensor<400xf32> {
  %0 = llir.kernel(%a, %b, %i) : (tensor<400x64xf32>, tensor<3x64xf32>, tensor<400xi64>) -> tensor<400xf32> {
  ^bb0(%x: tensor<400x64xf32>, %y: tensor<3x64xf32>, %j: tensor<400xi64>):
    %1 = llir.gather %y, %j {checked} : tensor<3x64xf32>, tensor<400xi64> -> tensor<400x64xf32>
    %2 = llir.gemm %x, %1 k(64) <(d0, d1) -> (d0, d1)>, <(d0, d1) -> (d0, d1)>
        : tensor<400x64xf32>, tensor<400x64xf32> -> tensor<400xf32>
    llir.yield %2 : tensor<400xf32>
  }
  return %0 : tensor<400xf32>
}
