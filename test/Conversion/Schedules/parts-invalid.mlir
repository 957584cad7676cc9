// Parts that a kernel or a machine does not allow.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=x86-64-v3 --split-input-file --verify-diagnostics

func.func @map(%a: tensor<64xf32>) -> tensor<64xf32> {
  // expected-error @+1 {{its schedule has parts, but no reduction that they could cut}}
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

// -----
func.func @moved(%a: tensor<4x80xf32>) -> tensor<2x2xf32> {
  // expected-error @+1 {{its schedule has parts of a reduction without one element for each result element}}
  %r = llir.kernel(%a) loops<grid(d0, d1) parts(4) op0 = element> : (tensor<4x80xf32>) -> tensor<2x2xf32> {
  ^bb0(%x: tensor<4x80xf32>):
    %0 = llir.reduce sum %x : tensor<4x80xf32> -> tensor<4xf32>
    %1 = llir.view %0 <(d0, d1) -> (2 * d0 + d1)> : tensor<4xf32> -> tensor<2x2xf32>
    llir.yield %1 : tensor<2x2xf32>
  }
  return %r : tensor<2x2xf32>
}

// -----
func.func @tile(%a: tensor<64x80xf32>, %b: tensor<64x80xf32>) -> tensor<64x64xf32> {
  // expected-error @+1 {{its schedule has parts, which loops over product do not}}
  %r = llir.kernel(%a, %b) loops<grid(d1:16, d0:all) parts(4) op0 = tile {lanes = 8, pack = elements, rows = 4, vectors = 2}> : (tensor<64x80xf32>, tensor<64x80xf32>) -> tensor<64x64xf32> {
  ^bb0(%x: tensor<64x80xf32>, %y: tensor<64x80xf32>):
    %0 = llir.gemm %x, %y k(80) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x80xf32>, tensor<64x80xf32> -> tensor<64x64xf32>
    llir.yield %0 : tensor<64x64xf32>
  }
  return %r : tensor<64x64xf32>
}

// -----
func.func @stream_parts(%a: tensor<2x1x64xf32>, %b: tensor<2x1024x64xf32>, %c: tensor<2x1024x32xf32>) -> tensor<2x1x32xf32> {
  // expected-error @+1 {{its schedule cuts the 2 chunks of its stream into 3 parts}}
  %r = llir.kernel(%a, %b, %c) loops<grid(d0) stream(d2:512) parts(3) op0 = dot {lanes = 8, rows = 1, width = 4} op1 = joint op5 = joint op6 = axpy {copy = rows, depth = 8, lanes = 8}> : (tensor<2x1x64xf32>, tensor<2x1024x64xf32>, tensor<2x1024x32xf32>) -> tensor<2x1x32xf32> {
  ^bb0(%q: tensor<2x1x64xf32>, %k: tensor<2x1024x64xf32>, %v: tensor<2x1024x32xf32>):
    %s = llir.gemm %q, %k k(64) <(d0, d1, d2, d3) -> (d0, 0, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<2x1x64xf32>, tensor<2x1024x64xf32> -> tensor<2x1x1024xf32>
    %m = llir.reduce max %s : tensor<2x1x1024xf32> -> tensor<2x1xf32>
    %w = llir.view %m <(d0, d1, d2) -> (d0, 0)> : tensor<2x1xf32> -> tensor<2x1x1024xf32>
    %d = llir.elementwise sub(%s, %w) : (tensor<2x1x1024xf32>, tensor<2x1x1024xf32>) -> tensor<2x1x1024xf32>
    %e = llir.elementwise exp_fast(%d) : (tensor<2x1x1024xf32>) -> tensor<2x1x1024xf32>
    %t = llir.reduce sum %e : tensor<2x1x1024xf32> -> tensor<2x1xf32>
    %o = llir.gemm %e, %v k(1024) <(d0, d1, d2, d3) -> (d0, 0, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<2x1x1024xf32>, tensor<2x1024x32xf32> -> tensor<2x1x32xf32>
    %u = llir.view %t <(d0, d1, d2) -> (d0, 0)> : tensor<2x1xf32> -> tensor<2x1x32xf32>
    %x = llir.elementwise div(%o, %u) : (tensor<2x1x32xf32>, tensor<2x1x32xf32>) -> tensor<2x1x32xf32>
    llir.yield %x : tensor<2x1x32xf32>
  }
  return %r : tensor<2x1x32xf32>
}
