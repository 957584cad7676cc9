// Windows of images that the product or the machine does not allow.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=sapphirerapids --split-input-file --verify-diagnostics

// A legal one.
func.func @lines(%a: tensor<4x18x34xf32>, %b: tensor<16x4x3x3xf32>) -> tensor<16x16x32xf32> {
  %r = llir.kernel(%a, %b) loops<grid(d0*d1:64, d2:all) op0 = tile {columns = lhs, lanes = 16, pack = windows, rows = 8, vectors = 2}> : (tensor<4x18x34xf32>, tensor<16x4x3x3xf32>) -> tensor<16x16x32xf32> {
  ^bb0(%x: tensor<4x18x34xf32>, %w: tensor<16x4x3x3xf32>):
    %0 = llir.gemm %x, %w k(36)
        <(d0, d1, d2, d3) -> (d3 floordiv 9, d0 + (d3 floordiv 3) mod 3, d1 + d3 mod 3)>,
        <(d0, d1, d2, d3) -> (d2, d3 floordiv 9, (d3 floordiv 3) mod 3, d3 mod 3)>
        : tensor<4x18x34xf32>, tensor<16x4x3x3xf32> -> tensor<16x32x16xf32>
    %1 = llir.view %0 <(d0, d1, d2) -> (d1, d2, d0)> : tensor<16x32x16xf32> -> tensor<16x16x32xf32>
    llir.yield %1 : tensor<16x16x32xf32>
  }
  return %r : tensor<16x16x32xf32>
}

// -----
// Lines are whole.
func.func @cut(%a: tensor<4x18x34xf32>, %b: tensor<16x4x3x3xf32>) -> tensor<16x16x32xf32> {
  // expected-error @+1 {{its schedule takes 48 columns of an image, which is not a multiple of 32}}
  %r = llir.kernel(%a, %b) loops<grid(d0*d1:48, d2:all) op0 = tile {columns = lhs, lanes = 16, pack = windows, rows = 8, vectors = 2}> : (tensor<4x18x34xf32>, tensor<16x4x3x3xf32>) -> tensor<16x16x32xf32> {
  ^bb0(%x: tensor<4x18x34xf32>, %w: tensor<16x4x3x3xf32>):
    %0 = llir.gemm %x, %w k(36)
        <(d0, d1, d2, d3) -> (d3 floordiv 9, d0 + (d3 floordiv 3) mod 3, d1 + d3 mod 3)>,
        <(d0, d1, d2, d3) -> (d2, d3 floordiv 9, (d3 floordiv 3) mod 3, d3 mod 3)>
        : tensor<4x18x34xf32>, tensor<16x4x3x3xf32> -> tensor<16x32x16xf32>
    %1 = llir.view %0 <(d0, d1, d2) -> (d1, d2, d0)> : tensor<16x32x16xf32> -> tensor<16x16x32xf32>
    llir.yield %1 : tensor<16x16x32xf32>
  }
  return %r : tensor<16x16x32xf32>
}

// -----
// No pairs.
func.func @halves(%a: tensor<4x18x34xbf16>, %b: tensor<16x4x3x3xbf16>) -> tensor<16x16x32xbf16> {
  // expected-error @+1 {{its schedule reads windows, which are not pairs}}
  %r = llir.kernel(%a, %b) loops<grid(d0*d1:64, d2:all) op0 = tile {columns = lhs, copy = rows, lanes = 16, multiply = pairs, pack = windows, rows = 8, vectors = 2}> : (tensor<4x18x34xbf16>, tensor<16x4x3x3xbf16>) -> tensor<16x16x32xbf16> {
  ^bb0(%x: tensor<4x18x34xbf16>, %w: tensor<16x4x3x3xbf16>):
    %0 = llir.gemm %x, %w k(36)
        <(d0, d1, d2, d3) -> (d3 floordiv 9, d0 + (d3 floordiv 3) mod 3, d1 + d3 mod 3)>,
        <(d0, d1, d2, d3) -> (d2, d3 floordiv 9, (d3 floordiv 3) mod 3, d3 mod 3)>
        : tensor<4x18x34xbf16>, tensor<16x4x3x3xbf16> -> tensor<16x32x16xbf16>
    %1 = llir.view %0 <(d0, d1, d2) -> (d1, d2, d0)> : tensor<16x32x16xbf16> -> tensor<16x16x32xbf16>
    llir.yield %1 : tensor<16x16x32xbf16>
  }
  return %r : tensor<16x16x32xbf16>
}

// -----
func.func @registers(%a: tensor<4x18x34xf32>, %b: tensor<16x4x3x3xf32>) -> tensor<16x16x32xf32> {
  // expected-error @+1 {{its schedule has a tile of 15 x 2 vectors, which takes 33 registers of 32}}
  %r = llir.kernel(%a, %b) loops<grid(d0*d1:64, d2:all) op0 = tile {columns = lhs, lanes = 16, pack = windows, rows = 15, vectors = 2}> : (tensor<4x18x34xf32>, tensor<16x4x3x3xf32>) -> tensor<16x16x32xf32> {
  ^bb0(%x: tensor<4x18x34xf32>, %w: tensor<16x4x3x3xf32>):
    %0 = llir.gemm %x, %w k(36)
        <(d0, d1, d2, d3) -> (d3 floordiv 9, d0 + (d3 floordiv 3) mod 3, d1 + d3 mod 3)>,
        <(d0, d1, d2, d3) -> (d2, d3 floordiv 9, (d3 floordiv 3) mod 3, d3 mod 3)>
        : tensor<4x18x34xf32>, tensor<16x4x3x3xf32> -> tensor<16x32x16xf32>
    %1 = llir.view %0 <(d0, d1, d2) -> (d1, d2, d0)> : tensor<16x32x16xf32> -> tensor<16x16x32xf32>
    llir.yield %1 : tensor<16x16x32xf32>
  }
  return %r : tensor<16x16x32xf32>
}

// -----
// The right operand has no windows.
func.func @none(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @+1 {{its schedule reads windows of an image, but no element is read twice or at a distance}}
  %r = llir.kernel(%a, %b) loops<grid(d1:64, d0:all) op0 = tile {lanes = 16, pack = windows, rows = 8, vectors = 2}> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>):
    %g = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    llir.yield %g : tensor<64x64xf32>
  }
  return %r : tensor<64x64xf32>
}

// -----
// A sum of columns and k is divided, and columns occur beside it.
func.func @divided(%a: tensor<99xf32>, %b: tensor<16x9xf32>) -> tensor<16x64xf32> {
  // expected-error @+1 {{its schedule reads windows of an image, but an index divides columns and k together}}
  %r = llir.kernel(%a, %b) loops<grid(d0:64, d1:all) op0 = tile {columns = lhs, lanes = 16, pack = windows, rows = 8, vectors = 2}> : (tensor<99xf32>, tensor<16x9xf32>) -> tensor<16x64xf32> {
  ^bb0(%x: tensor<99xf32>, %w: tensor<16x9xf32>):
    %0 = llir.gemm %x, %w k(9) <(d0, d1, d2) -> (d0 + (d0 + d2) floordiv 2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<99xf32>, tensor<16x9xf32> -> tensor<64x16xf32>
    %1 = llir.view %0 <(d0, d1) -> (d1, d0)> : tensor<64x16xf32> -> tensor<16x64xf32>
    llir.yield %1 : tensor<16x64xf32>
  }
  return %r : tensor<16x64xf32>
}
