// Functions of f64 are code on lanes, not a call of the C library for each of them.
// RUN: luminal-opt %s --convert-llir-to-llvm=arch=sapphirerapids | FileCheck %s

// CHECK-NOT: llvm.func @exp(
// CHECK-NOT: llvm.func @log(
// CHECK-NOT: llvm.func @tanh(
// CHECK-LABEL: llvm.func @functions
// CHECK-NOT: llvm.call
// CHECK: llvm.intr.fma({{.*}}) : (vector<16xf64>
// CHECK-NOT: llvm.call
// CHECK: llvm.return
func.func private @functions(%a: tensor<4096xf64>) -> tensor<4096xf64> {
  %r = llir.kernel(%a) loops<grid(d0:all v16)> : (tensor<4096xf64>) -> tensor<4096xf64> {
  ^bb0(%x: tensor<4096xf64>):
    %0 = llir.elementwise tanh(%x) : (tensor<4096xf64>) -> tensor<4096xf64>
    %1 = llir.elementwise exp(%0) : (tensor<4096xf64>) -> tensor<4096xf64>
    %2 = llir.elementwise log(%1) : (tensor<4096xf64>) -> tensor<4096xf64>
    %3 = llir.elementwise silu(%2) : (tensor<4096xf64>) -> tensor<4096xf64>
    llir.yield %3 : tensor<4096xf64>
  }
  return %r : tensor<4096xf64>
}

// Huge angles are: by a branch around the calls where no lane has one.
// CHECK-LABEL: llvm.func @angles
// CHECK: llvm.intr.vector.reduce.or
// CHECK: llvm.cond_br
// CHECK: llvm.return
func.func private @angles(%a: tensor<4096xf64>) -> tensor<4096xf64> {
  %r = llir.kernel(%a) loops<grid(d0:all v16)> : (tensor<4096xf64>) -> tensor<4096xf64> {
  ^bb0(%x: tensor<4096xf64>):
    %0 = llir.elementwise sin(%x) : (tensor<4096xf64>) -> tensor<4096xf64>
    llir.yield %0 : tensor<4096xf64>
  }
  return %r : tensor<4096xf64>
}

// tanh of f32 is a quotient in f64 of what is limited once: exp(2 a) - 1 is in range wherever a is.
// CHECK-LABEL: llvm.func @limited
// CHECK-COUNT-2: llvm.select
// CHECK-NOT: llvm.select
// CHECK: llvm.return
func.func private @limited(%a: tensor<4096xf32>) -> tensor<4096xf32> {
  %r = llir.kernel(%a) loops<grid(d0:all v16)> : (tensor<4096xf32>) -> tensor<4096xf32> {
  ^bb0(%x: tensor<4096xf32>):
    %0 = llir.elementwise tanh(%x) : (tensor<4096xf32>) -> tensor<4096xf32>
    llir.yield %0 : tensor<4096xf32>
  }
  return %r : tensor<4096xf32>
}
