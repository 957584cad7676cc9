// A state that its new value overwrites: one buffer for both, which the kernel reads as memory that changes, before it is
// written. What the kernel only reads stays the same.
// RUN: luminal-opt %s --llir-fuse-kernels --llir-schedule-kernels=arch=x86-64-v3 --llir-write-states --llir-plan-memory --convert-llir-to-llvm="arch=x86-64-v3 keep-loops" | FileCheck %s

// CHECK: %[[S:.*]] = llir.argument state "arg0"
// CHECK: %[[X:.*]] = llir.argument input "arg1"
// CHECK: %[[Y:.*]] = llir.result
// CHECK-NOT: llir.result
// CHECK: llir.step "map{{.*}}" @k0(%[[S]], %[[X]]) writes(%[[Y]], %[[S]])
// CHECK: llir.output "output_0" %[[S]] updates 0
// CHECK: llir.output "output_1" %[[Y]]

// CHECK: llvm.func @{{.*}}k0
// CHECK: llvm.load %{{.*}} {alignment = {{.*}}} : !llvm.ptr -> vector<8xf32>
// CHECK: llvm.load %{{.*}} invariant {alignment = {{.*}}} : !llvm.ptr -> vector<8xf32>
// CHECK-NOT: llvm.load
// CHECK: llvm.store
// CHECK-NOT: llvm.load
// CHECK: llvm.store
func.func @main(%s: tensor<1024xf32> {hlir.kind = "state"}, %x: tensor<1024xf32>)
    -> (tensor<1024xf32> {hlir.updates = 0 : i64}, tensor<1024xf32>) {
  %0 = llir.elementwise add(%s, %x) : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  %1 = llir.elementwise sub(%s, %0) : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
  return %0, %1 : tensor<1024xf32>, tensor<1024xf32>
}
