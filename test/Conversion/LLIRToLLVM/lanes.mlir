// Functions are code on lanes, no longer than their bounds ask for.
// Those of f64 are code on lanes, not a call of the C library for each of them.
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

// tanh of f32 is one quotient in f64 of what is limited once: exp(2 a) is a quotient itself, whose divisor is the quotient's too.
// CHECK-LABEL: llvm.func @limited
// CHECK: llvm.select
// CHECK-COUNT-7: llvm.intr.fma
// CHECK: llvm.fdiv
// CHECK-NOT: llvm.intr.fma
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

// gelu of f32 has one form for all numbers but those below -12.9, where it is rounded from f64 behind a branch.
// CHECK-LABEL: llvm.func @one_form
// CHECK-COUNT-19: llvm.intr.fma
// CHECK-NOT: llvm.intr.fma
// CHECK: llvm.cond_br
// CHECK: vector<16xf64>
// CHECK: llvm.return
func.func private @one_form(%a: tensor<4096xf32>) -> tensor<4096xf32> {
  %r = llir.kernel(%a) loops<grid(d0:all v16)> : (tensor<4096xf32>) -> tensor<4096xf32> {
  ^bb0(%x: tensor<4096xf32>):
    %0 = llir.elementwise gelu(%x) : (tensor<4096xf32>) -> tensor<4096xf32>
    llir.yield %0 : tensor<4096xf32>
  }
  return %r : tensor<4096xf32>
}

// erf of f32 below 1 is a polynomial in f64 as long as its bound asks for.
// CHECK-LABEL: llvm.func @as_exact_as_stated
// CHECK-COUNT-6: llvm.intr.fma({{.*}}) : (vector<16xf64>
// CHECK-NOT: llvm.intr.fma({{.*}}) : (vector<16xf64>
// CHECK: llvm.return
func.func private @as_exact_as_stated(%a: tensor<4096xf32>) -> tensor<4096xf32> {
  %r = llir.kernel(%a) loops<grid(d0:all v16)> : (tensor<4096xf32>) -> tensor<4096xf32> {
  ^bb0(%x: tensor<4096xf32>):
    %0 = llir.elementwise erf(%x) : (tensor<4096xf32>) -> tensor<4096xf32>
    llir.yield %0 : tensor<4096xf32>
  }
  return %r : tensor<4096xf32>
}
