// Products in tiles of bf16 that the machine does not allow.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=sapphirerapids --split-input-file --verify-diagnostics
// RUN: not luminal-opt %s --llir-schedule-kernels=arch=znver4 --split-input-file 2>&1 | FileCheck %s
// RUN: not luminal-opt %s --llir-schedule-kernels="arch=sapphirerapids precision=exact" --split-input-file 2>&1 | FileCheck %s
// CHECK: its schedule multiplies tiles of bf16, for which the machine has no instruction

// A legal one.
func.func @tiles(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  %r = llir.kernel(%a, %b) loops<grid(d1:32, d0:all) op0 = tile {lanes = 16, multiply = tiles, pack = k, rows = 32, square = 4, vectors = 2}> : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  ^bb0(%x: tensor<64x64xbf16>, %y: tensor<64x64xbf16>):
    %g = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xbf16>
    llir.yield %g : tensor<64x64xbf16>
  }
  return %r : tensor<64x64xbf16>
}

// -----
func.func @type(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @+1 {{its schedule multiplies pairs of bf16, but a side is not of bf16}}
  %r = llir.kernel(%a, %b) loops<grid(d1:32, d0:all) op0 = tile {copy = rows, lanes = 16, multiply = tiles, pack = k, rows = 32, square = 4, vectors = 2}> : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16> {
  ^bb0(%x: tensor<64x64xf16>, %y: tensor<64x64xf16>):
    %g = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
    llir.yield %g : tensor<64x64xf16>
  }
  return %r : tensor<64x64xf16>
}

// -----
func.func @registers(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  // expected-error @+1 {{its schedule has a tile of 48 x 2 vectors of 16 lanes, expected multiples of 16 rows, 16 lanes, and at most 8 registers of sums, rows and columns}}
  %r = llir.kernel(%a, %b) loops<grid(d1:32, d0:all) op0 = tile {lanes = 16, multiply = tiles, pack = k, rows = 48, square = 4, vectors = 2}> : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  ^bb0(%x: tensor<64x64xbf16>, %y: tensor<64x64xbf16>):
    %g = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xbf16>
    llir.yield %g : tensor<64x64xbf16>
  }
  return %r : tensor<64x64xbf16>
}

// -----
func.func @rest(%a: tensor<64x48xbf16>, %b: tensor<64x48xbf16>) -> tensor<64x64xbf16> {
  // expected-error @+1 {{its schedule multiplies pairs of rows that are not copied, but the last tile of them may be incomplete}}
  %r = llir.kernel(%a, %b) loops<grid(d1:32, d0:all) op0 = tile {lanes = 16, multiply = tiles, pack = k, rows = 32, square = 4, vectors = 2}> : (tensor<64x48xbf16>, tensor<64x48xbf16>) -> tensor<64x64xbf16> {
  ^bb0(%x: tensor<64x48xbf16>, %y: tensor<64x48xbf16>):
    %g = llir.gemm %x, %y k(48) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x48xbf16>, tensor<64x48xbf16> -> tensor<64x64xbf16>
    llir.yield %g : tensor<64x64xbf16>
  }
  return %r : tensor<64x64xbf16>
}

// -----
func.func @depth(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  // expected-error @+1 {{its schedule takes 48 elements along k at a time, expected a multiple of 32 in tiles}}
  %r = llir.kernel(%a, %b) loops<grid(d1:32, d0:all) op0 = tile {depth = 48, lanes = 16, multiply = tiles, pack = k, rows = 32, square = 4, vectors = 2}> : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  ^bb0(%x: tensor<64x64xbf16>, %y: tensor<64x64xbf16>):
    %g = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xbf16>
    llir.yield %g : tensor<64x64xbf16>
  }
  return %r : tensor<64x64xbf16>
}

// -----
func.func @spread(%a: tensor<64xbf16>, %b: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  // expected-error @+1 {{its schedule multiplies pairs of rows that are not copied, but pairs of them are not adjacent}}
  %r = llir.kernel(%a, %b) loops<grid(d1:32, d0:all) op0 = tile {lanes = 16, multiply = tiles, pack = k, rows = 32, square = 4, vectors = 2}> : (tensor<64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  ^bb0(%x: tensor<64xbf16>, %y: tensor<64x64xbf16>):
    %g = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64xbf16>, tensor<64x64xbf16> -> tensor<64x64xbf16>
    llir.yield %g : tensor<64x64xbf16>
  }
  return %r : tensor<64x64xbf16>
}
