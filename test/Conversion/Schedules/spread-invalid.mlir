// Terms that teams of a block compute are as many as the teams.
// RUN: luminal-opt %s --llir-schedule-kernels="target=cuda arch=sm_90a" --split-input-file --verify-diagnostics

func.func @long(%x: tensor<20x64xf32>, %w: tensor<20x32x64xf32>) -> tensor<32xf32> {
  // expected-error @+1 {{its schedule spreads the terms of op2, reduce, which is no reduction of 2 to 16 elements of a row}}
  %0 = llir.kernel(%x, %w) loops<grid(d0) threads(320, 320) op0 = element {lanes = 4} op2 = spread> : (tensor<20x64xf32>, tensor<20x32x64xf32>) -> tensor<32xf32> {
  ^bb0(%a: tensor<20x64xf32>, %b: tensor<20x32x64xf32>):
    %1 = llir.gemm %a, %b k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)> : tensor<20x64xf32>, tensor<20x32x64xf32> -> tensor<20x32xf32>
    %2 = llir.view %1 <(d0, d1) -> (d1, d0)> : tensor<20x32xf32> -> tensor<32x20xf32>
    %3 = llir.reduce sum %2 : tensor<32x20xf32> -> tensor<32xf32>
    llir.yield %3 : tensor<32xf32>
  }
  return %0 : tensor<32xf32>
}

// -----
func.func @product(%x: tensor<4x64xf32>, %w: tensor<4x32x64xf32>) -> tensor<32xf32> {
  // expected-error @+1 {{its schedule spreads the terms of op0, gemm, which is no reduction of 2 to 16 elements of a row}}
  %0 = llir.kernel(%x, %w) loops<grid(d0) threads(64, 64) op0 = spread op2 = element> : (tensor<4x64xf32>, tensor<4x32x64xf32>) -> tensor<32xf32> {
  ^bb0(%a: tensor<4x64xf32>, %b: tensor<4x32x64xf32>):
    %1 = llir.gemm %a, %b k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)> : tensor<4x64xf32>, tensor<4x32x64xf32> -> tensor<4x32xf32>
    %2 = llir.view %1 <(d0, d1) -> (d1, d0)> : tensor<4x32xf32> -> tensor<32x4xf32>
    %3 = llir.reduce sum %2 : tensor<32x4xf32> -> tensor<32xf32>
    llir.yield %3 : tensor<32xf32>
  }
  return %0 : tensor<32xf32>
}

// -----
func.func @teams(%x: tensor<4x64xf32>, %w: tensor<4x32x64xf32>) -> tensor<32xf32> {
  // expected-error @+1 {{its schedule spreads the terms of op2, reduce, to a block that is not a thread group of up to 32 threads for each of them}}
  %0 = llir.kernel(%x, %w) loops<grid(d0) threads(128, 32) op0 = element {lanes = 4} op2 = spread> : (tensor<4x64xf32>, tensor<4x32x64xf32>) -> tensor<32xf32> {
  ^bb0(%a: tensor<4x64xf32>, %b: tensor<4x32x64xf32>):
    %1 = llir.gemm %a, %b k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)> : tensor<4x64xf32>, tensor<4x32x64xf32> -> tensor<4x32xf32>
    %2 = llir.view %1 <(d0, d1) -> (d1, d0)> : tensor<4x32xf32> -> tensor<32x4xf32>
    %3 = llir.reduce sum %2 : tensor<32x4xf32> -> tensor<32xf32>
    llir.yield %3 : tensor<32xf32>
  }
  return %0 : tensor<32xf32>
}

// -----
func.func @large(%x: tensor<4x64xf32>, %w: tensor<4x32x64xf32>) -> tensor<32xf32> {
  // expected-error @+1 {{its schedule spreads the terms of op2, reduce, to a block that is not a thread group of up to 32 threads for each of them}}
  %0 = llir.kernel(%x, %w) loops<grid(d0) threads(256, 256) op0 = element {lanes = 4} op2 = spread> : (tensor<4x64xf32>, tensor<4x32x64xf32>) -> tensor<32xf32> {
  ^bb0(%a: tensor<4x64xf32>, %b: tensor<4x32x64xf32>):
    %1 = llir.gemm %a, %b k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)> : tensor<4x64xf32>, tensor<4x32x64xf32> -> tensor<4x32xf32>
    %2 = llir.view %1 <(d0, d1) -> (d1, d0)> : tensor<4x32xf32> -> tensor<32x4xf32>
    %3 = llir.reduce sum %2 : tensor<32x4xf32> -> tensor<32xf32>
    llir.yield %3 : tensor<32xf32>
  }
  return %0 : tensor<32xf32>
}

// -----
func.func @uneven(%x: tensor<3x64xf32>, %w: tensor<3x32x64xf32>) -> tensor<32xf32> {
  // expected-error @+1 {{its schedule spreads the terms of op2, reduce, to a block that is not a thread group of up to 32 threads for each of them}}
  %0 = llir.kernel(%x, %w) loops<grid(d0) threads(64, 64) op0 = element {lanes = 4} op2 = spread> : (tensor<3x64xf32>, tensor<3x32x64xf32>) -> tensor<32xf32> {
  ^bb0(%a: tensor<3x64xf32>, %b: tensor<3x32x64xf32>):
    %1 = llir.gemm %a, %b k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)> : tensor<3x64xf32>, tensor<3x32x64xf32> -> tensor<3x32xf32>
    %2 = llir.view %1 <(d0, d1) -> (d1, d0)> : tensor<3x32xf32> -> tensor<32x3xf32>
    %3 = llir.reduce sum %2 : tensor<32x3xf32> -> tensor<32xf32>
    llir.yield %3 : tensor<32xf32>
  }
  return %0 : tensor<32xf32>
}

// -----
func.func @numbers(%x: tensor<4x64xf32>, %w: tensor<4x32x64xf32>) -> tensor<32xf32> {
  // expected-error @+1 {{its schedule gives op2 lanes}}
  %0 = llir.kernel(%x, %w) loops<grid(d0) threads(64, 64) op0 = element {lanes = 4} op2 = spread {lanes = 4}> : (tensor<4x64xf32>, tensor<4x32x64xf32>) -> tensor<32xf32> {
  ^bb0(%a: tensor<4x64xf32>, %b: tensor<4x32x64xf32>):
    %1 = llir.gemm %a, %b k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)> : tensor<4x64xf32>, tensor<4x32x64xf32> -> tensor<4x32xf32>
    %2 = llir.view %1 <(d0, d1) -> (d1, d0)> : tensor<4x32xf32> -> tensor<32x4xf32>
    %3 = llir.reduce sum %2 : tensor<32x4xf32> -> tensor<32xf32>
    llir.yield %3 : tensor<32xf32>
  }
  return %0 : tensor<32xf32>
}

// -----
func.func @twice(%x: tensor<4x64xf32>, %w: tensor<4x32x64xf32>) -> tensor<32xf32> {
  // expected-error @+1 {{its schedule spreads the terms of op4, reduce, as well as those of op2, which it reads}}
  %0 = llir.kernel(%x, %w) loops<grid(d0) threads(64, 64) op0 = element {lanes = 4} op2 = spread op4 = spread> : (tensor<4x64xf32>, tensor<4x32x64xf32>) -> tensor<32xf32> {
  ^bb0(%a: tensor<4x64xf32>, %b: tensor<4x32x64xf32>):
    %1 = llir.gemm %a, %b k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)> : tensor<4x64xf32>, tensor<4x32x64xf32> -> tensor<4x32xf32>
    %2 = llir.view %1 <(d0, d1) -> (d1, d0)> : tensor<4x32xf32> -> tensor<32x4xf32>
    %4 = llir.reduce sum %2 : tensor<32x4xf32> -> tensor<32xf32>
    %5 = llir.view %4 <(d0, d1) -> (d0)> : tensor<32xf32> -> tensor<32x4xf32>
    %3 = llir.reduce sum %5 : tensor<32x4xf32> -> tensor<32xf32>
    llir.yield %3 : tensor<32xf32>
  }
  return %0 : tensor<32xf32>
}
