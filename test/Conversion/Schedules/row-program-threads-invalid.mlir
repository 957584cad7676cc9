// Schedules of row programs that a kernel cannot have on a GPU.
// RUN: luminal-opt %s --llir-schedule-kernels="target=cuda arch=sm_90a" --split-input-file --verify-diagnostics

func.func @lanes(%x: tensor<64x8xf32>, %w: tensor<4x8xf32>, %v: tensor<5x4xf32>) -> tensor<64x5xf32> {
  // expected-error@+1 {{its schedule takes blocks of rows other than whole vectors}}
  %0 = llir.kernel(%x, %w, %v) loops<grid(d0:8 v8) threads(64, 8) op0 = members op1 = members> : (tensor<64x8xf32>, tensor<4x8xf32>, tensor<5x4xf32>) -> tensor<64x5xf32> {
  ^bb0(%a: tensor<64x8xf32>, %b: tensor<4x8xf32>, %c: tensor<5x4xf32>):
    %1 = llir.gemm %a, %b k(8) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x8xf32>, tensor<4x8xf32> -> tensor<64x4xf32>
    %2 = llir.gemm %1, %c k(4) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x4xf32>, tensor<5x4xf32> -> tensor<64x5xf32>
    llir.yield %2 : tensor<64x5xf32>
  }
  return %0 : tensor<64x5xf32>
}

// -----

func.func @mixed(%x: tensor<64x8xf32>, %w: tensor<4x8xf32>, %v: tensor<5x4xf32>) -> tensor<64x5xf32> {
  // expected-error@+1 {{its schedule gives op1, gemm, the form across, expected members or along}}
  %0 = llir.kernel(%x, %w, %v) loops<grid(d0) threads(64, 8) op0 = members op1 = across> : (tensor<64x8xf32>, tensor<4x8xf32>, tensor<5x4xf32>) -> tensor<64x5xf32> {
  ^bb0(%a: tensor<64x8xf32>, %b: tensor<4x8xf32>, %c: tensor<5x4xf32>):
    %1 = llir.gemm %a, %b k(8) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x8xf32>, tensor<4x8xf32> -> tensor<64x4xf32>
    %2 = llir.gemm %1, %c k(4) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x4xf32>, tensor<5x4xf32> -> tensor<64x5xf32>
    llir.yield %2 : tensor<64x5xf32>
  }
  return %0 : tensor<64x5xf32>
}

// -----

func.func @team(%x: tensor<64x8xf32>, %w: tensor<4x8xf32>, %v: tensor<5x4xf32>) -> tensor<64x5xf32> {
  // expected-error@+1 {{its schedule takes rows by thread groups of 64 threads, which are more than a warp}}
  %0 = llir.kernel(%x, %w, %v) loops<grid(d0) threads(64, 64) op0 = members op1 = members> : (tensor<64x8xf32>, tensor<4x8xf32>, tensor<5x4xf32>) -> tensor<64x5xf32> {
  ^bb0(%a: tensor<64x8xf32>, %b: tensor<4x8xf32>, %c: tensor<5x4xf32>):
    %1 = llir.gemm %a, %b k(8) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x8xf32>, tensor<4x8xf32> -> tensor<64x4xf32>
    %2 = llir.gemm %1, %c k(4) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x4xf32>, tensor<5x4xf32> -> tensor<64x5xf32>
    llir.yield %2 : tensor<64x5xf32>
  }
  return %0 : tensor<64x5xf32>
}

// -----

func.func @columns(%x: tensor<64x8xf32>, %w: tensor<4x8xf32>, %v: tensor<5x4xf32>) -> tensor<64x5xf32> {
  // expected-error@+1 {{its schedule gives op0 columns = 17 : i64, which is out of range}}
  %0 = llir.kernel(%x, %w, %v) loops<grid(d0) threads(64, 8) op0 = members {columns = 17} op1 = members> : (tensor<64x8xf32>, tensor<4x8xf32>, tensor<5x4xf32>) -> tensor<64x5xf32> {
  ^bb0(%a: tensor<64x8xf32>, %b: tensor<4x8xf32>, %c: tensor<5x4xf32>):
    %1 = llir.gemm %a, %b k(8) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x8xf32>, tensor<4x8xf32> -> tensor<64x4xf32>
    %2 = llir.gemm %1, %c k(4) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x4xf32>, tensor<5x4xf32> -> tensor<64x5xf32>
    llir.yield %2 : tensor<64x5xf32>
  }
  return %0 : tensor<64x5xf32>
}

// -----

func.func @unroll(%x: tensor<64x8xf32>, %w: tensor<4x8xf32>, %v: tensor<5x4xf32>) -> tensor<64x5xf32> {
  // expected-error@+1 {{its schedule gives op1 columns, which the form along does not have}}
  %0 = llir.kernel(%x, %w, %v) loops<grid(d0) threads(64, 8) op0 = members op1 = along {columns = 2}> : (tensor<64x8xf32>, tensor<4x8xf32>, tensor<5x4xf32>) -> tensor<64x5xf32> {
  ^bb0(%a: tensor<64x8xf32>, %b: tensor<4x8xf32>, %c: tensor<5x4xf32>):
    %1 = llir.gemm %a, %b k(8) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x8xf32>, tensor<4x8xf32> -> tensor<64x4xf32>
    %2 = llir.gemm %1, %c k(4) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x4xf32>, tensor<5x4xf32> -> tensor<64x5xf32>
    llir.yield %2 : tensor<64x5xf32>
  }
  return %0 : tensor<64x5xf32>
}

// -----

func.func @shared(%x: tensor<64x2048xf32>, %w: tensor<2048x2048xf32>) -> tensor<64x2048xf32> {
  // expected-error@+1 {{its schedule keeps values that are not known to fit in 49152 bytes of shared memory}}
  %0 = llir.kernel(%x, %w) loops<grid(d0) threads(64, 8) op0 = members op1 = members> : (tensor<64x2048xf32>, tensor<2048x2048xf32>) -> tensor<64x2048xf32> {
  ^bb0(%a: tensor<64x2048xf32>, %b: tensor<2048x2048xf32>):
    %1 = llir.gemm %a, %b k(2048) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x2048xf32>, tensor<2048x2048xf32> -> tensor<64x2048xf32>
    %2 = llir.gemm %1, %b k(2048) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x2048xf32>, tensor<2048x2048xf32> -> tensor<64x2048xf32>
    llir.yield %2 : tensor<64x2048xf32>
  }
  return %0 : tensor<64x2048xf32>
}
