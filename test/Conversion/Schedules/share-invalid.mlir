// RUN: luminal-opt %s --llir-schedule-kernels="target=cuda arch=sm_90a" --split-input-file --verify-diagnostics

func.func @threads(%x: tensor<1x64xf32>, %w: tensor<32x64xf32>) -> tensor<1x32xf32> {
  // expected-error @+1 {{its schedule shares op0, elementwise neg, without teams of a warp, or between parts}}
  %0 = llir.kernel(%x, %w) loops<grid(d1) threads(64, 8) op0 = share {blocks = 4, each = 1, lanes = 1} op1 = element {lanes = 1, unroll = 1}> : (tensor<1x64xf32>, tensor<32x64xf32>) -> tensor<1x32xf32> {
  ^bb0(%a: tensor<1x64xf32>, %b: tensor<32x64xf32>):
    %1 = llir.elementwise neg(%a) : (tensor<1x64xf32>) -> tensor<1x64xf32>
    %2 = llir.gemm %1, %b k(64) <(d0, d1, d2) -> (0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1x64xf32>, tensor<32x64xf32> -> tensor<1x32xf32>
    llir.yield %2 : tensor<1x32xf32>
  }
  return %0 : tensor<1x32xf32>
}

// -----
func.func @row(%x: tensor<1x64xf32>, %w: tensor<32x64xf32>) -> tensor<1x32xf32> {
  // expected-error @+1 {{its schedule shares op0, elementwise neg, which is no row of known length}}
  %0 = llir.kernel(%x, %w) loops<grid(d1) threads(64, 32) op0 = share {blocks = 4, each = 1, lanes = 1} op1 = element {lanes = 1, unroll = 1}> : (tensor<1x64xf32>, tensor<32x64xf32>) -> tensor<1x32xf32> {
  ^bb0(%a: tensor<1x64xf32>, %b: tensor<32x64xf32>):
    %1 = llir.elementwise neg(%b) : (tensor<32x64xf32>) -> tensor<32x64xf32>
    %2 = llir.gemm %a, %1 k(64) <(d0, d1, d2) -> (0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1x64xf32>, tensor<32x64xf32> -> tensor<1x32xf32>
    llir.yield %2 : tensor<1x32xf32>
  }
  return %0 : tensor<1x32xf32>
}

// -----
func.func @room(%x: tensor<1x8192xf32>, %w: tensor<32x8192xf32>) -> tensor<1x32xf32> {
  // expected-error @+1 {{its schedule shares 32768 bytes, a block has 24576 for that}}
  %0 = llir.kernel(%x, %w) loops<grid(d1) threads(64, 32) op0 = share {blocks = 4, each = 1, lanes = 1} op1 = element {lanes = 1, unroll = 1}> : (tensor<1x8192xf32>, tensor<32x8192xf32>) -> tensor<1x32xf32> {
  ^bb0(%a: tensor<1x8192xf32>, %b: tensor<32x8192xf32>):
    %1 = llir.elementwise neg(%a) : (tensor<1x8192xf32>) -> tensor<1x8192xf32>
    %2 = llir.gemm %1, %b k(8192) <(d0, d1, d2) -> (0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1x8192xf32>, tensor<32x8192xf32> -> tensor<1x32xf32>
    llir.yield %2 : tensor<1x32xf32>
  }
  return %0 : tensor<1x32xf32>
}
