// Parts that a kernel or a machine does not allow.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=x86-64-v3 --split-input-file --verify-diagnostics

func.func @map(%a: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @+1 {{its schedule has parts, which loops over elements do not}}
  %r = llir.kernel(%a) loops<grid(d0:all) parts(2)> : (tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%x: tensor<64xf32>):
    %0 = llir.elementwise abs(%x) : (tensor<64xf32>) -> tensor<64xf32>
    llir.yield %0 : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}

// -----
func.func @few(%a: tensor<4x8xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{its schedule cuts the 8 elements that op0, reduce, reduces into 16 parts}}
  %r = llir.kernel(%a) loops<grid(d0) stream(d1:all) parts(16) op0 = pass> : (tensor<4x8xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4x8xf32>):
    %0 = llir.reduce sum %x : tensor<4x8xf32> -> tensor<4xf32>
    llir.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----
func.func @kept(%a: tensor<4x80xf32>) -> (tensor<4x80xf32>, tensor<4xf32>) {
  // expected-error @+1 {{its schedule keeps op0, but no unit has all of its row}}
  %r:2 = llir.kernel(%a) loops<grid(d0) stream(d1:all) parts(4) op0 = keep {result = 0} op1 = pass> : (tensor<4x80xf32>) -> (tensor<4x80xf32>, tensor<4xf32>) {
  ^bb0(%x: tensor<4x80xf32>):
    %0 = llir.elementwise exp(%x) : (tensor<4x80xf32>) -> tensor<4x80xf32>
    %1 = llir.reduce sum %0 : tensor<4x80xf32> -> tensor<4xf32>
    llir.yield %0, %1 : tensor<4x80xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4x80xf32>, tensor<4xf32>
}

// -----
func.func @ordered(%a: tensor<9x100xf32>, %i: tensor<4xi64>, %u: tensor<4x100xf32>) -> tensor<9x100xf32> {
  // expected-error @+1 {{its schedule has parts, which loops over ordered do not}}
  %r = llir.kernel(%a, %i, %u) loops<grid(d1) parts(2) op0 = ordered> : (tensor<9x100xf32>, tensor<4xi64>, tensor<4x100xf32>) -> tensor<9x100xf32> {
  ^bb0(%x: tensor<9x100xf32>, %j: tensor<4xi64>, %v: tensor<4x100xf32>):
    %0 = llir.scatter set %x, %j, %v {checked} : tensor<9x100xf32>, tensor<4xi64>, tensor<4x100xf32>
    llir.yield %0 : tensor<9x100xf32>
  }
  return %r : tensor<9x100xf32>
}
