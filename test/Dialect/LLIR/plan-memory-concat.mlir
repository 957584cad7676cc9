// RUN: luminal-opt %s -llir-plan-memory -split-input-file -verify-diagnostics | FileCheck %s

// Parts are written in the result, also those of a part that is one; one is read there before the last is written.
// CHECK: llir.schedule @main
// CHECK-DAG: %[[X:.*]] = llir.argument input
// CHECK-DAG: %[[Y:.*]] = llir.result : tensor<3x8xf32>
// CHECK-NOT: llir.slot
// CHECK: %[[P0:.*]] = llir.part %[[Y]] offset(32) bytes(32)
// CHECK: llir.step {{.*}} @k0(%[[X]]) writes(%[[P0]])
// CHECK: %[[P1:.*]] = llir.part %[[Y]] offset(64) bytes(32)
// CHECK: llir.step {{.*}} @k0(%[[P0]]) writes(%[[P1]])
// CHECK: llir.step {{.*}} @k0(%[[P1]]) writes(%[[Y]])
// CHECK: llir.output {{.*}} %[[Y]]
func.func @main(%x: tensor<8xf32>) -> tensor<3x8xf32> {
  %0 = llir.kernel(%x) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %e = llir.elementwise exp(%a) : (tensor<8xf32>) -> tensor<8xf32>
    llir.yield %e : tensor<8xf32>
  }
  %1 = llir.kernel(%0) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %e = llir.elementwise exp(%a) : (tensor<8xf32>) -> tensor<8xf32>
    llir.yield %e : tensor<8xf32>
  }
  %2 = llir.kernel(%1) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %e = llir.elementwise exp(%a) : (tensor<8xf32>) -> tensor<8xf32>
    llir.yield %e : tensor<8xf32>
  }
  %3 = llir.concat(%0, %1) : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  %4 = llir.concat(%2, %3) : (tensor<8xf32>, tensor<16xf32>) -> tensor<3x8xf32>
  return %4 : tensor<3x8xf32>
}

// -----

func.func @argument(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{cannot have part 0 written in its memory}}
  %0 = llir.concat(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @twice(%x: tensor<8xf32>) -> tensor<16xf32> {
  %0 = llir.kernel(%x) : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %e = llir.elementwise exp(%a) : (tensor<8xf32>) -> tensor<8xf32>
    llir.yield %e : tensor<8xf32>
  }
  // expected-error @+1 {{cannot have part 1 written in its memory}}
  %1 = llir.concat(%0, %0) : (tensor<8xf32>, tensor<8xf32>) -> tensor<16xf32>
  return %1 : tensor<16xf32>
}
