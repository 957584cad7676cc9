// RUN: luminal-opt %s --llir-schedule-kernels="target=cuda arch=sm_90a" --split-input-file --verify-diagnostics

func.func @many(%x: tensor<4x64xf32>, %w: tensor<32x64xf32>) -> tensor<4x32xf32> {
  // expected-error @+1 {{its schedule takes elements of a work item together, at most 64, in blocks without lanes}}
  %0 = llir.kernel(%x, %w) loops<grid(d0:4, d1:32) threads(64, 32) op0 = together {lanes = 4}> : (tensor<4x64xf32>, tensor<32x64xf32>) -> tensor<4x32xf32> {
  ^bb0(%a: tensor<4x64xf32>, %b: tensor<32x64xf32>):
    %1 = llir.gemm %a, %b k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<4x64xf32>, tensor<32x64xf32> -> tensor<4x32xf32>
    llir.yield %1 : tensor<4x32xf32>
  }
  return %0 : tensor<4x32xf32>
}

// -----
func.func @lanes(%x: tensor<4x64xf32>, %w: tensor<32x64xf32>) -> tensor<4x32xf32> {
  // expected-error @+1 {{its schedule takes elements of a work item together, at most 64, in blocks without lanes}}
  %0 = llir.kernel(%x, %w) loops<grid(d0:4, d1:4 v4) threads(64, 32) op0 = together {lanes = 4}> : (tensor<4x64xf32>, tensor<32x64xf32>) -> tensor<4x32xf32> {
  ^bb0(%a: tensor<4x64xf32>, %b: tensor<32x64xf32>):
    %1 = llir.gemm %a, %b k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<4x64xf32>, tensor<32x64xf32> -> tensor<4x32xf32>
    llir.yield %1 : tensor<4x32xf32>
  }
  return %0 : tensor<4x32xf32>
}

// -----
func.func @sums(%x: tensor<4x64xf32>, %w: tensor<32x64xf32>) -> tensor<4x32xf32> {
  // expected-error @+1 {{its schedule gives op0 sums of which lanes are no multiple}}
  %0 = llir.kernel(%x, %w) loops<grid(d0:4, d1:4) threads(64, 32) op0 = together {lanes = 4, sums = 3}> : (tensor<4x64xf32>, tensor<32x64xf32>) -> tensor<4x32xf32> {
  ^bb0(%a: tensor<4x64xf32>, %b: tensor<32x64xf32>):
    %1 = llir.gemm %a, %b k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<4x64xf32>, tensor<32x64xf32> -> tensor<4x32xf32>
    llir.yield %1 : tensor<4x32xf32>
  }
  return %0 : tensor<4x32xf32>
}

// -----
func.func @parts(%x: tensor<4x64xf32>, %w: tensor<32x64xf32>) -> tensor<4x32xf32> {
  // expected-error @+1 {{its schedule has parts of elements that are taken together}}
  %0 = llir.kernel(%x, %w) loops<grid(d0:4, d1:4) parts(4) threads(64, 32) op0 = together {lanes = 4}> : (tensor<4x64xf32>, tensor<32x64xf32>) -> tensor<4x32xf32> {
  ^bb0(%a: tensor<4x64xf32>, %b: tensor<32x64xf32>):
    %1 = llir.gemm %a, %b k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<4x64xf32>, tensor<32x64xf32> -> tensor<4x32xf32>
    llir.yield %1 : tensor<4x32xf32>
  }
  return %0 : tensor<4x32xf32>
}

// -----
func.func @needed(%x: tensor<4x64xf32>, %w: tensor<32x64xf32>) -> tensor<4x32xf32> {
  // expected-error @+1 {{its schedule takes elements of op1, reduce, together, which needs op0, gemm}}
  %0 = llir.kernel(%x, %w) loops<grid(d0:4, d1:4) threads(64, 32) op0 = together {lanes = 4} op1 = together {lanes = 4}> : (tensor<4x64xf32>, tensor<32x64xf32>) -> tensor<4x32xf32> {
  ^bb0(%a: tensor<4x64xf32>, %b: tensor<32x64xf32>):
    %1 = llir.gemm %a, %b k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<4x64xf32>, tensor<32x64xf32> -> tensor<4x32xf32>
    %2 = llir.reduce sum %1 : tensor<4x32xf32> -> tensor<4xf32>
    %3 = llir.view %2 <(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x32xf32>
    llir.yield %3 : tensor<4x32xf32>
  }
  return %0 : tensor<4x32xf32>
}

// -----
func.func @other(%x: tensor<4x64xf32>, %w: tensor<32x64xf32>) -> tensor<4x32xf32> {
  // expected-error @+1 {{its schedule gives op1, gemm, a loop of its own beside others that run together}}
  %0 = llir.kernel(%x, %w) loops<grid(d0:4, d1:4) threads(64, 32) op0 = together {lanes = 4} op1 = element {lanes = 4}> : (tensor<4x64xf32>, tensor<32x64xf32>) -> tensor<4x32xf32> {
  ^bb0(%a: tensor<4x64xf32>, %b: tensor<32x64xf32>):
    %1 = llir.gemm %a, %b k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<4x64xf32>, tensor<32x64xf32> -> tensor<4x32xf32>
    %2 = llir.gemm %a, %b k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<4x64xf32>, tensor<32x64xf32> -> tensor<4x32xf32>
    %3 = llir.elementwise add(%1, %2) : (tensor<4x32xf32>, tensor<4x32xf32>) -> tensor<4x32xf32>
    llir.yield %3 : tensor<4x32xf32>
  }
  return %0 : tensor<4x32xf32>
}

// -----
func.func @all(%x: tensor<4x64xf32>, %w: tensor<32x64xf32>) -> tensor<4x32xf32> {
  // expected-error @+1 {{its schedule takes elements of a work item together, at most 64, in blocks without lanes}}
  %0 = llir.kernel(%x, %w) loops<grid(d0:all, d1:4) threads(64, 32) op0 = together {lanes = 4}> : (tensor<4x64xf32>, tensor<32x64xf32>) -> tensor<4x32xf32> {
  ^bb0(%a: tensor<4x64xf32>, %b: tensor<32x64xf32>):
    %1 = llir.gemm %a, %b k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<4x64xf32>, tensor<32x64xf32> -> tensor<4x32xf32>
    llir.yield %1 : tensor<4x32xf32>
  }
  return %0 : tensor<4x32xf32>
}

// -----
func.func @lookedUp(%x: tensor<4x64xf32>, %w: tensor<32x64xf32>, %i: tensor<4xi64>) -> tensor<4x32xf32> {
  // expected-error @+1 {{its schedule takes elements of op0, gemm, together, of which some are looked up}}
  %0 = llir.kernel(%x, %w, %i) loops<grid(d0:4, d1:4) threads(64, 32) op0 = together {lanes = 4}> : (tensor<4x64xf32>, tensor<32x64xf32>, tensor<4xi64>) -> tensor<4x32xf32> {
  ^bb0(%a: tensor<4x64xf32>, %b: tensor<32x64xf32>, %c: tensor<4xi64>):
    %1 = llir.gemm %a, %b k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<4x64xf32>, tensor<32x64xf32> -> tensor<4x32xf32>
    %2 = llir.gather %1, %c {checked} : tensor<4x32xf32>, tensor<4xi64> -> tensor<4x32xf32>
    llir.yield %2 : tensor<4x32xf32>
  }
  return %0 : tensor<4x32xf32>
}
