// Blocks and thread groups, on a machine that has them.
// RUN: luminal-opt %s --llir-schedule-kernels="target=cuda arch=sm_90a" --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: @kept
// CHECK: loops<grid(d0) threads(128, 32)>
func.func @kept(%a: tensor<400xf32>) -> tensor<400xf32> {
  %r = llir.kernel(%a) loops<grid(d0) threads(128, 32)> : (tensor<400xf32>) -> tensor<400xf32> {
  ^bb0(%x: tensor<400xf32>):
    llir.yield %x : tensor<400xf32>
  }
  return %r : tensor<400xf32>
}

// -----
func.func @none(%a: tensor<400xf32>) -> tensor<400xf32> {
  // expected-error @+1 {{its schedule states no number of threads; a block has 1 to 1024}}
  %r = llir.kernel(%a) loops<grid(d0)> : (tensor<400xf32>) -> tensor<400xf32> {
  ^bb0(%x: tensor<400xf32>):
    llir.yield %x : tensor<400xf32>
  }
  return %r : tensor<400xf32>
}

// -----
func.func @odd(%a: tensor<400xf32>) -> tensor<400xf32> {
  // expected-error @+1 {{its schedule has blocks of 100 threads, which is not a multiple of 32 up to 1024}}
  %r = llir.kernel(%a) loops<grid(d0) threads(100)> : (tensor<400xf32>) -> tensor<400xf32> {
  ^bb0(%x: tensor<400xf32>):
    llir.yield %x : tensor<400xf32>
  }
  return %r : tensor<400xf32>
}

// -----
func.func @team(%a: tensor<400xf32>) -> tensor<400xf32> {
  // expected-error @+1 {{its schedule has thread groups of 64 threads, expected a power of two up to 32, or all of a block}}
  %r = llir.kernel(%a) loops<grid(d0) threads(128, 64)> : (tensor<400xf32>) -> tensor<400xf32> {
  ^bb0(%x: tensor<400xf32>):
    llir.yield %x : tensor<400xf32>
  }
  return %r : tensor<400xf32>
}

// -----
func.func @uneven(%a: tensor<400xf32>) -> tensor<400xf32> {
  // expected-error @+1 {{a block of 128 threads is no number of teams of 48}}
  %r = llir.kernel(%a) loops<grid(d0) threads(128, 48)> : (tensor<400xf32>) -> tensor<400xf32> {
  ^bb0(%x: tensor<400xf32>):
    llir.yield %x : tensor<400xf32>
  }
  return %r : tensor<400xf32>
}

// -----
func.func @cases(%a: tensor<?xf32, #hlir.dims<s>>) -> tensor<?xf32, #hlir.dims<s>>
    attributes {hlir.symbols = #hlir.symbols<s in [1, 64]>} {
  // expected-error @+1 {{its schedule (case 1) has blocks of 128 threads, another case has 64}}
  %r = llir.kernel(%a) loops<if (s: [0, 4]) grid(d0) threads(64) else grid(d0) threads(128)>
      : (tensor<?xf32, #hlir.dims<s>>) -> tensor<?xf32, #hlir.dims<s>> {
  ^bb0(%x: tensor<?xf32, #hlir.dims<s>>):
    llir.yield %x : tensor<?xf32, #hlir.dims<s>>
  }
  return %r : tensor<?xf32, #hlir.dims<s>>
}

// -----
func.func @ordered(%a: tensor<10x4xf32>, %i: tensor<3xi64>, %u: tensor<3x4xf32>) -> tensor<10x4xf32> {
  // expected-error @+1 {{its schedule updates in order, which a thread group of 32 threads cannot share}}
  %0 = llir.kernel(%a, %i, %u) loops<grid(d1) threads(128, 32) op0 = ordered> : (tensor<10x4xf32>, tensor<3xi64>, tensor<3x4xf32>) -> tensor<10x4xf32> {
  ^bb0(%x: tensor<10x4xf32>, %j: tensor<3xi64>, %v: tensor<3x4xf32>):
    %1 = llir.scatter add %x, %j, %v {checked} : tensor<10x4xf32>, tensor<3xi64>, tensor<3x4xf32>
    llir.yield %1 : tensor<10x4xf32>
  }
  return %0 : tensor<10x4xf32>
}

// -----
func.func @tile(%a: tensor<4x8xf32>, %b: tensor<5x8xf32>) -> tensor<4x5xf32> {
  // expected-error @+1 {{its schedule has the form dot, for which the machine has no scratch}}
  %0 = llir.kernel(%a, %b) loops<grid(d0, d1) threads(128) op0 = dot {lanes = 4, rows = 1, width = 4}> : (tensor<4x8xf32>, tensor<5x8xf32>) -> tensor<4x5xf32> {
  ^bb0(%x: tensor<4x8xf32>, %y: tensor<5x8xf32>):
    %1 = llir.gemm %x, %y k(8) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<4x8xf32>, tensor<5x8xf32> -> tensor<4x5xf32>
    llir.yield %1 : tensor<4x5xf32>
  }
  return %0 : tensor<4x5xf32>
}

// -----
func.func @keep(%a: tensor<64x1000xf32>) -> tensor<64x1000xf32> {
  // expected-error @+1 {{its schedule keeps op0, but a thread group takes a row}}
  %r = llir.kernel(%a) loops<grid(d0) stream(d1:all) threads(128, 32) op0 = keep {result = 0} op1 = pass> : (tensor<64x1000xf32>) -> tensor<64x1000xf32> {
  ^bb0(%x: tensor<64x1000xf32>):
    %e = llir.elementwise exp(%x) : (tensor<64x1000xf32>) -> tensor<64x1000xf32>
    %s = llir.reduce sum %e : tensor<64x1000xf32> -> tensor<64xf32>
    %b = llir.view %s <(d0, d1) -> (d0)> : tensor<64xf32> -> tensor<64x1000xf32>
    %d = llir.elementwise div(%e, %b) : (tensor<64x1000xf32>, tensor<64x1000xf32>) -> tensor<64x1000xf32>
    llir.yield %d : tensor<64x1000xf32>
  }
  return %r : tensor<64x1000xf32>
}

// -----
func.func @nontemporal(%a: tensor<40x80xf32>) -> tensor<40x80xf32> {
  // expected-error @+1 {{its schedule is nontemporal, but thread blocks have no such stores}}
  %r = llir.kernel(%a) loops<grid(d0*d1:4 v4) threads(256) nontemporal> : (tensor<40x80xf32>) -> tensor<40x80xf32> {
  ^bb0(%x: tensor<40x80xf32>):
    llir.yield %x : tensor<40x80xf32>
  }
  return %r : tensor<40x80xf32>
}

// -----
func.func @ahead(%a: tensor<80x80xf32>) -> (tensor<80xf32>, tensor<80xf32>) {
  // expected-error @+1 {{its schedule lets op1, reduce, bring rows ahead, but thread blocks take rows in any order}}
  %r:2 = llir.kernel(%a) loops<grid(d0) stream(d1:all v4) threads(256, 32) op0 = pass {lanes = 4} op1 = pass {ahead = rows, lanes = 4}> : (tensor<80x80xf32>) -> (tensor<80xf32>, tensor<80xf32>) {
  ^bb0(%x: tensor<80x80xf32>):
    %0 = llir.reduce sum %x : tensor<80x80xf32> -> tensor<80xf32>
    %1 = llir.reduce max %x : tensor<80x80xf32> -> tensor<80xf32>
    llir.yield %0, %1 : tensor<80xf32>, tensor<80xf32>
  }
  return %r#0, %r#1 : tensor<80xf32>, tensor<80xf32>
}
