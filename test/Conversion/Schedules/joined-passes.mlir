// Reductions that read the same rows share a walk over them, each but the ones whose results it needs.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=sapphirerapids --remarks-filter=llir-schedule-kernels -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: luminal-opt %t.mlir --convert-llir-to-llvm="arch=sapphirerapids keep-loops" | FileCheck %s --check-prefix=CODE
// RUN: luminal-opt %s --luminal-pipeline="target=cuda arch=sm_90a from=saturated until=scheduled" -o %t.cuda.mlir
// RUN: FileCheck %s --check-prefix=CUDA --input-file=%t.cuda.mlir
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_90a %t.cuda.mlir | FileCheck %s --check-prefix=PTX

// The mean, then both sums of the differences from it: two walks, of which the second carries two states.
// CHECK-LABEL: @variance
// CHECK: op1 = pass {lanes = 1, unroll = 2} op5 = pass {lanes = 1, unroll = 2} op6 = pass {with = op5}
// REMARK: Function=variance | {{.*}}joins the walk of op5=reduce
// CODE-LABEL: llvm.func @variance(
// CODE: scf.for {{.*}} iter_args(%{{[^,]*}}, %{{[^,]*}}) -> (vector<64xf32>, vector<64xf32>)
// CODE: scf.for {{.*}} iter_args(%{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}, %{{[^,]*}}) -> (vector<64xf32>, vector<64xf32>, vector<64xf32>, vector<64xf32>)
// CODE-COUNT-2: llvm.load {{.*}} -> vector<64xf32>
// CODE-NOT: llvm.load
// CODE: scf.yield
// CODE-NOT: scf.for {{.*}} iter_args({{.*}}) -> (vector<64xf32>, vector<64xf32>, vector<64xf32>, vector<64xf32>)
// CUDA-LABEL: @variance
// CUDA: = pass {with = op
// PTX-LABEL: .entry variance(
func.func @variance(%a: tensor<1000x1024xf32>) -> tensor<1024xf32> {
  %r = llir.kernel(%a) : (tensor<1000x1024xf32>) -> tensor<1024xf32> {
  ^bb0(%x: tensor<1000x1024xf32>):
    %0 = llir.view %x <(d0, d1) -> (d1, d0)> : tensor<1000x1024xf32> -> tensor<1024x1000xf32>
    %1 = llir.reduce sum %0 : tensor<1024x1000xf32> -> tensor<1024xf32>
    %2 = llir.view %1 <(d0, d1) -> (d0)> : tensor<1024xf32> -> tensor<1024x1000xf32>
    %3 = llir.elementwise sub(%0, %2) : (tensor<1024x1000xf32>, tensor<1024x1000xf32>) -> tensor<1024x1000xf32>
    %4 = llir.elementwise mul(%3, %3) : (tensor<1024x1000xf32>, tensor<1024x1000xf32>) -> tensor<1024x1000xf32>
    %5 = llir.reduce sum %4 : tensor<1024x1000xf32> -> tensor<1024xf32>
    %6 = llir.reduce sum %3 : tensor<1024x1000xf32> -> tensor<1024xf32>
    %7 = llir.elementwise sub(%5, %6) : (tensor<1024xf32>, tensor<1024xf32>) -> tensor<1024xf32>
    llir.yield %7 : tensor<1024xf32>
  }
  return %r : tensor<1024xf32>
}

// Parts of both at once, whose states are written one after the other.
// CHECK-LABEL: @parts
// CHECK: parts(64) op0 = pass {lanes = 16, unroll = 2} op1 = pass {with = op0}
// CODE-LABEL: llvm.func @parts(
// CODE: scf.for {{.*}} -> (vector<16xf32>, vector<16xf32>, vector<16xf32>, vector<16xf32>)
// CODE: llvm.atomicrmw
// CUDA-LABEL: @parts
// CUDA: = pass {with = op0}
// PTX-LABEL: .entry parts(
func.func @parts(%a: tensor<16777216xf32>) -> (tensor<f32>, tensor<f32>) {
  %r:2 = llir.kernel(%a) : (tensor<16777216xf32>) -> (tensor<f32>, tensor<f32>) {
  ^bb0(%x: tensor<16777216xf32>):
    %0 = llir.reduce sum %x : tensor<16777216xf32> -> tensor<f32>
    %1 = llir.reduce max %x : tensor<16777216xf32> -> tensor<f32>
    llir.yield %0, %1 : tensor<f32>, tensor<f32>
  }
  return %r#0, %r#1 : tensor<f32>, tensor<f32>
}

// A near miss: rows of two tensors.
// CHECK-LABEL: @apart
// CHECK-NOT: with =
func.func @apart(%a: tensor<64x4096xf32>, %b: tensor<64x4096xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %r:2 = llir.kernel(%a, %b) : (tensor<64x4096xf32>, tensor<64x4096xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  ^bb0(%x: tensor<64x4096xf32>, %y: tensor<64x4096xf32>):
    %0 = llir.reduce sum %x : tensor<64x4096xf32> -> tensor<64xf32>
    %1 = llir.reduce sum %y : tensor<64x4096xf32> -> tensor<64xf32>
    llir.yield %0, %1 : tensor<64xf32>, tensor<64xf32>
  }
  return %r#0, %r#1 : tensor<64xf32>, tensor<64xf32>
}
