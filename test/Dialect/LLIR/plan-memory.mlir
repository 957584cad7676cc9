// RUN: luminal-opt %s --llir-fuse-kernels --llir-plan-memory | FileCheck %s

// Equal kernels share a function; the result is written directly and needs no
// slot.
// CHECK: llir.schedule @main symbols <> arena(2048) {
// CHECK: %[[X:.*]] = llir.argument input "x" : tensor<16x16xf32>
// CHECK: %[[T:.*]] = llir.slot offset({{0|1024}}) bytes(1024)
// CHECK: %[[U:.*]] = llir.slot offset({{0|1024}}) bytes(1024)
// CHECK: %[[Y:.*]] = llir.result : tensor<16x16xf32>
// CHECK: llir.step "gemm{{.*}}" @k0(%[[X]]) writes(%[[T]])
// CHECK: llir.step "gemm{{.*}}" @k0(%[[T]]) writes(%[[U]])
// CHECK: llir.step "gemm{{.*}}" @k0(%[[U]]) writes(%[[Y]])
// CHECK: llir.output "output_0" %[[Y]] : tensor<16x16xf32>
// CHECK: func.func private @k0
// CHECK-NOT: func.func private @k1
func.func @main(%x: tensor<16x16xf32> {hlir.name = "x"}) -> tensor<16x16xf32> {
  %0 = llir.gemm %x, %x k(16) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)>
      : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  %1 = llir.gemm %0, %0 k(16) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)>
      : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  %2 = llir.gemm %1, %1 k(16) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)>
      : tensor<16x16xf32>, tensor<16x16xf32> -> tensor<16x16xf32>
  return %2 : tensor<16x16xf32>
}
