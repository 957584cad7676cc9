// Products of pairs of bf16 that the program or the processor does not allow.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=sapphirerapids --split-input-file --verify-diagnostics
// RUN: not luminal-opt %s --llir-schedule-kernels=arch=icelake-server --split-input-file 2>&1 | FileCheck %s
// CHECK: its schedule multiplies pairs of bf16 in vectors of 512 bits, for which the machine has no instruction

// A legal one.
func.func @pairs(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  %r = llir.kernel(%a, %b) loops<grid(d1:32, d0:all) op0 = tile {lanes = 16, multiply = pairs, pack = k, rows = 8, square = 4, vectors = 2}> : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  ^bb0(%x: tensor<64x64xbf16>, %y: tensor<64x64xbf16>):
    %g = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xbf16>
    llir.yield %g : tensor<64x64xbf16>
  }
  return %r : tensor<64x64xbf16>
}

// -----
func.func @type(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @+1 {{its schedule multiplies pairs of bf16, but a side is not of bf16}}
  %r = llir.kernel(%a, %b) loops<grid(d1:32, d0:all) op0 = tile {copy = rows, lanes = 16, multiply = pairs, pack = k, rows = 8, square = 4, vectors = 2}> : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16> {
  ^bb0(%x: tensor<64x64xf16>, %y: tensor<64x64xf16>):
    %g = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
    llir.yield %g : tensor<64x64xf16>
  }
  return %r : tensor<64x64xf16>
}

// -----
func.func @lanes(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  // expected-error @+1 {{its schedule multiplies pairs of bf16 in vectors of 64 bits, for which the machine has no instruction}}
  %r = llir.kernel(%a, %b) loops<grid(d1:32, d0:all) op0 = tile {lanes = 2, multiply = pairs, pack = k, rows = 8, square = 2, vectors = 2}> : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  ^bb0(%x: tensor<64x64xbf16>, %y: tensor<64x64xbf16>):
    %g = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xbf16>
    llir.yield %g : tensor<64x64xbf16>
  }
  return %r : tensor<64x64xbf16>
}

// -----
func.func @odd(%a: tensor<64x63xbf16>, %b: tensor<64x63xbf16>) -> tensor<64x64xbf16> {
  // expected-error @+1 {{its schedule multiplies pairs of rows that are not copied, but the last pair of them may be incomplete}}
  %r = llir.kernel(%a, %b) loops<grid(d1:32, d0:all) op0 = tile {lanes = 16, multiply = pairs, pack = k, rows = 8, square = 4, vectors = 2}> : (tensor<64x63xbf16>, tensor<64x63xbf16>) -> tensor<64x64xbf16> {
  ^bb0(%x: tensor<64x63xbf16>, %y: tensor<64x63xbf16>):
    %g = llir.gemm %x, %y k(63) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x63xbf16>, tensor<64x63xbf16> -> tensor<64x64xbf16>
    llir.yield %g : tensor<64x64xbf16>
  }
  return %r : tensor<64x64xbf16>
}

// -----
func.func @apart(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  // expected-error @+1 {{its schedule multiplies pairs of rows that are not copied, but pairs of them are not adjacent}}
  %r = llir.kernel(%a, %b) loops<grid(d1:32, d0:all) op0 = tile {lanes = 16, multiply = pairs, pack = k, rows = 8, square = 4, vectors = 2}> : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  ^bb0(%x: tensor<64x64xbf16>, %y: tensor<64x64xbf16>):
    %g = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d2, d0)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xbf16>
    llir.yield %g : tensor<64x64xbf16>
  }
  return %r : tensor<64x64xbf16>
}

// -----
func.func @runs(%a: tensor<64x64xbf16>, %b: tensor<4x64x16xbf16>) -> tensor<64x64xbf16> {
  // expected-error @+1 {{its schedule packs runs of memory, which are not pairs}}
  %r = llir.kernel(%a, %b) loops<grid(d1:32, d0:all) op0 = tile {lanes = 16, multiply = pairs, pack = runs, rows = 8, vectors = 2}> : (tensor<64x64xbf16>, tensor<4x64x16xbf16>) -> tensor<64x64xbf16> {
  ^bb0(%x: tensor<64x64xbf16>, %y: tensor<4x64x16xbf16>):
    %g = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1 floordiv 16, d2, d1 mod 16)> : tensor<64x64xbf16>, tensor<4x64x16xbf16> -> tensor<64x64xbf16>
    llir.yield %g : tensor<64x64xbf16>
  }
  return %r : tensor<64x64xbf16>
}
