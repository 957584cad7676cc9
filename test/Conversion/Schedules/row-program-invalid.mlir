// Schedules of row programs that a kernel cannot have.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=znver4 --split-input-file --verify-diagnostics

func.func @lanes(%x: tensor<64x8xf32>, %w: tensor<4x8xf32>, %v: tensor<5x4xf32>) -> tensor<64x5xf32> {
  // expected-error@+1 {{its schedule takes blocks of rows other than whole vectors}}
  %0 = llir.kernel(%x, %w, %v) loops<grid(d0:32 v16) op0 = across {columns = 4} op1 = across {columns = 4}> : (tensor<64x8xf32>, tensor<4x8xf32>, tensor<5x4xf32>) -> tensor<64x5xf32> {
  ^bb0(%a: tensor<64x8xf32>, %b: tensor<4x8xf32>, %c: tensor<5x4xf32>):
    %1 = llir.gemm %a, %b k(8) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x8xf32>, tensor<4x8xf32> -> tensor<64x4xf32>
    %2 = llir.gemm %1, %c k(4) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x4xf32>, tensor<5x4xf32> -> tensor<64x5xf32>
    llir.yield %2 : tensor<64x5xf32>
  }
  return %0 : tensor<64x5xf32>
}

// -----

func.func @other_rows(%x: tensor<64x64xf32>, %w: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error@+1 {{its schedule takes rows step by step, but another row of it is read: gemm}}
  %0 = llir.kernel(%x, %w) loops<grid(d0:16 v16) op0 = across {columns = 4} op2 = across {columns = 4}> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>):
    %1 = llir.gemm %a, %b k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %2 = llir.view %1 <(d0, d1) -> (63 - d0, d1)> : tensor<64x64xf32> -> tensor<64x64xf32>
    %3 = llir.gemm %2, %b k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    llir.yield %3 : tensor<64x64xf32>
  }
  return %0 : tensor<64x64xf32>
}

// -----

func.func @mixed(%x: tensor<64x8xf32>, %w: tensor<4x8xf32>, %v: tensor<5x4xf32>) -> tensor<64x5xf32> {
  // expected-error@+1 {{its schedule gives op1, gemm, the form along, expected across}}
  %0 = llir.kernel(%x, %w, %v) loops<grid(d0:16 v16) op0 = across {columns = 4} op1 = along {lanes = 4}> : (tensor<64x8xf32>, tensor<4x8xf32>, tensor<5x4xf32>) -> tensor<64x5xf32> {
  ^bb0(%a: tensor<64x8xf32>, %b: tensor<4x8xf32>, %c: tensor<5x4xf32>):
    %1 = llir.gemm %a, %b k(8) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x8xf32>, tensor<4x8xf32> -> tensor<64x4xf32>
    %2 = llir.gemm %1, %c k(4) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x4xf32>, tensor<5x4xf32> -> tensor<64x5xf32>
    llir.yield %2 : tensor<64x5xf32>
  }
  return %0 : tensor<64x5xf32>
}
