// Panels that memory does not hold, and tiles that are not finished along rows.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=znver4 --split-input-file --verify-diagnostics

func.func @columns(%a: tensor<64x512xf32>, %b: tensor<512x1024xf32>) -> tensor<64x1024xf32> {
  // expected-error @+1 {{its schedule reads panels from memory, but memory does not hold them as a tile reads them}}
  %r = llir.kernel(%a, %b) loops<grid(d1:64, d0:all) op0 = tile {lanes = 16, pack = panels, rows = 14, vectors = 2}> : (tensor<64x512xf32>, tensor<512x1024xf32>) -> tensor<64x1024xf32> {
  ^bb0(%x: tensor<64x512xf32>, %w: tensor<512x1024xf32>):
    %0 = llir.gemm %x, %w k(512) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)>
        : tensor<64x512xf32>, tensor<512x1024xf32> -> tensor<64x1024xf32>
    llir.yield %0 : tensor<64x1024xf32>
  }
  return %r : tensor<64x1024xf32>
}

// -----

// The last panel has room for all of a tile's columns.
func.func @room(%a: tensor<64x512xf32>, %b: tensor<100x512xf32>) -> tensor<64x20xf32> {
  // expected-error @+1 {{its schedule reads panels from memory, but memory does not hold them as a tile reads them}}
  %r = llir.kernel(%a, %b) loops<grid(d1:32, d0:all) op0 = tile {lanes = 16, pack = panels, rows = 14, vectors = 2}> : (tensor<64x512xf32>, tensor<100x512xf32>) -> tensor<64x20xf32> {
  ^bb0(%x: tensor<64x512xf32>, %w: tensor<100x512xf32>):
    %0 = llir.gemm %x, %w k(512) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> ((d2 * 32 + d1 + 34828) floordiv 512, (d2 * 32 + d1 + 34828) mod 512)>
        : tensor<64x512xf32>, tensor<100x512xf32> -> tensor<64x20xf32>
    llir.yield %0 : tensor<64x20xf32>
  }
  return %r : tensor<64x20xf32>
}

// -----

func.func @computed(%a: tensor<64x512xf32>, %b: tensor<32x512x32xf32>) -> tensor<64x1024xf32> {
  // expected-error @+1 {{its schedule reads panels from memory, but they are computed}}
  %r = llir.kernel(%a, %b) loops<grid(d1:64, d0:all) op1 = tile {lanes = 16, pack = panels, rows = 14, vectors = 2}> : (tensor<64x512xf32>, tensor<32x512x32xf32>) -> tensor<64x1024xf32> {
  ^bb0(%x: tensor<64x512xf32>, %w: tensor<32x512x32xf32>):
    %e = llir.elementwise exp(%w) : (tensor<32x512x32xf32>) -> tensor<32x512x32xf32>
    %0 = llir.gemm %x, %e k(512) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1 floordiv 32, d2, d1 mod 32)>
        : tensor<64x512xf32>, tensor<32x512x32xf32> -> tensor<64x1024xf32>
    llir.yield %0 : tensor<64x1024xf32>
  }
  return %r : tensor<64x1024xf32>
}

// -----

func.func @ahead(%a: tensor<64x512xf32>, %b: tensor<32x512x32xf32>) -> tensor<64x1024xf32> {
  // expected-error @+1 {{its schedule finishes tiles along their rows, which is not possible with tile registers, windows or prefetched results}}
  %r = llir.kernel(%a, %b) loops<grid(d1:64, d0:all) op0 = tile {ahead = results, finish = rows, lanes = 16, pack = panels, rows = 14, vectors = 2}> : (tensor<64x512xf32>, tensor<32x512x32xf32>) -> tensor<64x1024xf32> {
  ^bb0(%x: tensor<64x512xf32>, %w: tensor<32x512x32xf32>):
    %0 = llir.gemm %x, %w k(512) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1 floordiv 32, d2, d1 mod 32)>
        : tensor<64x512xf32>, tensor<32x512x32xf32> -> tensor<64x1024xf32>
    llir.yield %0 : tensor<64x1024xf32>
  }
  return %r : tensor<64x1024xf32>
}

// -----

// Rows that overlap nowhere are no windows.
func.func @windows(%a: tensor<64x512xf32>, %b: tensor<32x512x32xf32>) -> tensor<64x1024xf32> {
  // expected-error @+1 {{its schedule copies windows of an image as rows, but no element is read twice or at a distance}}
  %r = llir.kernel(%a, %b) loops<grid(d1:64, d0:all) op0 = tile {copy = windows, lanes = 16, pack = panels, rows = 14, vectors = 2}> : (tensor<64x512xf32>, tensor<32x512x32xf32>) -> tensor<64x1024xf32> {
  ^bb0(%x: tensor<64x512xf32>, %w: tensor<32x512x32xf32>):
    %0 = llir.gemm %x, %w k(512) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1 floordiv 32, d2, d1 mod 32)>
        : tensor<64x512xf32>, tensor<32x512x32xf32> -> tensor<64x1024xf32>
    llir.yield %0 : tensor<64x1024xf32>
  }
  return %r : tensor<64x1024xf32>
}

// -----

// Few rows are not copied so.
func.func @dots(%a: tensor<66xf32>, %b: tensor<8x3xf32>) -> tensor<64x8xf32> {
  // expected-error @+1 {{its schedule copies windows of an image as rows, which only tiles read}}
  %r = llir.kernel(%a, %b) loops<grid(d1:8, d0:all) op0 = dot {copy = windows, lanes = 16, rows = 2, width = 4}> : (tensor<66xf32>, tensor<8x3xf32>) -> tensor<64x8xf32> {
  ^bb0(%x: tensor<66xf32>, %w: tensor<8x3xf32>):
    %0 = llir.gemm %x, %w k(3) <(d0, d1, d2) -> (d0 + d2)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<66xf32>, tensor<8x3xf32> -> tensor<64x8xf32>
    llir.yield %0 : tensor<64x8xf32>
  }
  return %r : tensor<64x8xf32>
}
