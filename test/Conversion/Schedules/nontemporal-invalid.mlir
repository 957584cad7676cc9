// Stores past the caches, and rows brought ahead, where the kernel does not allow them.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=x86-64-v3 --split-input-file --verify-diagnostics

func.func @past_unaligned(%a: tensor<40x81xf32>) -> tensor<40x81xf32> {
  // expected-error @+1 {{its schedule is nontemporal, but no result is written in aligned vectors}}
  %r = llir.kernel(%a) loops<grid(d0, d1:all v8) nontemporal> : (tensor<40x81xf32>) -> tensor<40x81xf32> {
  ^bb0(%x: tensor<40x81xf32>):
    llir.yield %x : tensor<40x81xf32>
  }
  return %r : tensor<40x81xf32>
}

// -----
func.func @past_short_vectors(%a: tensor<40x80xf16>) -> tensor<40x80xf16> {
  // expected-error @+1 {{its schedule is nontemporal, but no result is written in aligned vectors}}
  %r = llir.kernel(%a) loops<grid(d0, d1:all v4) nontemporal> : (tensor<40x80xf16>) -> tensor<40x80xf16> {
  ^bb0(%x: tensor<40x80xf16>):
    llir.yield %x : tensor<40x80xf16>
  }
  return %r : tensor<40x80xf16>
}

// -----
func.func @past_of_a_product(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @+1 {{its schedule is nontemporal, but its forms have no such stores}}
  %r = llir.kernel(%a, %b) loops<grid(d0:2, d1:16) nontemporal op0 = dot {lanes = 8, rows = 2, width = 4}> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>):
    %0 = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    llir.yield %0 : tensor<64x64xf32>
  }
  return %r : tensor<64x64xf32>
}

// -----
func.func @past_kept(%a: tensor<4x80xf32>) -> (tensor<4x80xf32>, tensor<4xf32>) {
  // expected-error @+1 {{its schedule is nontemporal, but it keeps a value in a result}}
  %r:2 = llir.kernel(%a) loops<grid(d0) stream(d1:all v8) nontemporal op0 = keep {result = 0} op1 = pass> : (tensor<4x80xf32>) -> (tensor<4x80xf32>, tensor<4xf32>) {
  ^bb0(%x: tensor<4x80xf32>):
    %0 = llir.elementwise exp(%x) : (tensor<4x80xf32>) -> tensor<4x80xf32>
    %1 = llir.reduce sum %0 : tensor<4x80xf32> -> tensor<4xf32>
    llir.yield %0, %1 : tensor<4x80xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4x80xf32>, tensor<4xf32>
}

// -----
func.func @ahead_first(%a: tensor<4x80xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{its schedule lets op0, reduce, bring rows ahead, but it is the first pass, which waits for its own row}}
  %r = llir.kernel(%a) loops<grid(d0) stream(d1:all v8) op0 = pass {ahead = rows}> : (tensor<4x80xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4x80xf32>):
    %0 = llir.reduce sum %x : tensor<4x80xf32> -> tensor<4xf32>
    llir.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----
func.func @ahead_across(%a: tensor<80x80xf32>) -> (tensor<80xf32>, tensor<80xf32>) {
  // expected-error @+1 {{its schedule lets op1, reduce, bring rows ahead, but its vectors run across rows}}
  %r:2 = llir.kernel(%a) loops<grid(d0:16 v8) stream(d1:all) op0 = pass op1 = pass {ahead = rows}> : (tensor<80x80xf32>) -> (tensor<80xf32>, tensor<80xf32>) {
  ^bb0(%x: tensor<80x80xf32>):
    %0 = llir.reduce sum %x : tensor<80x80xf32> -> tensor<80xf32>
    %1 = llir.reduce max %x : tensor<80x80xf32> -> tensor<80xf32>
    llir.yield %0, %1 : tensor<80xf32>, tensor<80xf32>
  }
  return %r#0, %r#1 : tensor<80xf32>, tensor<80xf32>
}

// -----
func.func @ahead_word(%a: tensor<80x80xf32>) -> (tensor<80xf32>, tensor<80xf32>) {
  // expected-error @+1 {{its schedule gives op1 ahead = "results", which is out of range}}
  %r:2 = llir.kernel(%a) loops<grid(d0) stream(d1:all v8) op0 = pass op1 = pass {ahead = results}> : (tensor<80x80xf32>) -> (tensor<80xf32>, tensor<80xf32>) {
  ^bb0(%x: tensor<80x80xf32>):
    %0 = llir.reduce sum %x : tensor<80x80xf32> -> tensor<80xf32>
    %1 = llir.reduce max %x : tensor<80x80xf32> -> tensor<80xf32>
    llir.yield %0, %1 : tensor<80xf32>, tensor<80xf32>
  }
  return %r#0, %r#1 : tensor<80xf32>, tensor<80xf32>
}
