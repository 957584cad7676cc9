// Columns that memory holds as a tile reads them.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=znver4 --split-input-file | FileCheck %s
// RUN: luminal-opt %s --llir-schedule-kernels=arch=znver4 --convert-llir-to-llvm="arch=znver4 keep-loops" --split-input-file | FileCheck %s --check-prefix=CODE

// Nothing is packed; rows of results are written as vectors of columns.
// CHECK-LABEL: @linear
// CHECK: tile {lanes = 16, pack = panels, rows = 14, vectors = 2}
// CODE-LABEL: llvm.func @linear
// CODE-NOT: vector.shuffle
// CODE-COUNT-28: math.fma
// CODE: llvm.return
func.func private @linear(%a: tensor<64x512xf32>, %b: tensor<32x512x32xf32>) -> tensor<64x1024xf32> {
  %r = llir.kernel(%a, %b) : (tensor<64x512xf32>, tensor<32x512x32xf32>) -> tensor<64x1024xf32> {
  ^bb0(%x: tensor<64x512xf32>, %w: tensor<32x512x32xf32>):
    %0 = llir.gemm %x, %w k(512) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1 floordiv 32, d2, d1 mod 32)>
        : tensor<64x512xf32>, tensor<32x512x32xf32> -> tensor<64x1024xf32>
    llir.yield %0 : tensor<64x1024xf32>
  }
  return %r : tensor<64x1024xf32>
}

// -----

// Places of an image are rows; a tile of them is transposed, each vector of columns by itself, and written along them.
// CHECK-LABEL: @pointwise
// CHECK: tile {finish = rows, lanes = 16, pack = panels, rows = 14, vectors = 2}
// CODE-LABEL: llvm.func @pointwise
// CODE-COUNT-28: math.fma
// CODE-COUNT-128: vector.shuffle
func.func private @pointwise(%a: tensor<1024x196xf32>, %b: tensor<8x1024x32xf32>) -> tensor<256x196xf32> {
  %r = llir.kernel(%a, %b) : (tensor<1024x196xf32>, tensor<8x1024x32xf32>) -> tensor<256x196xf32> {
  ^bb0(%x: tensor<1024x196xf32>, %w: tensor<8x1024x32xf32>):
    %0 = llir.gemm %x, %w k(1024) <(d0, d1, d2) -> (d2, d0)>, <(d0, d1, d2) -> (d1 floordiv 32, d2, d1 mod 32)>
        : tensor<1024x196xf32>, tensor<8x1024x32xf32> -> tensor<196x256xf32>
    %1 = llir.view %0 <(d0, d1) -> (d1, d0)> : tensor<196x256xf32> -> tensor<256x196xf32>
    llir.yield %1 : tensor<256x196xf32>
  }
  return %r : tensor<256x196xf32>
}

// -----

// Windows of an image as rows: a unit copies the image, and units that share it follow each other. Two lines of seven places
// are a tile, whose rows are at constant distances.
// CHECK-LABEL: @windows
// CHECK: loops<grid(d0*d1:{{[a-z0-9]+}}, d2:{{[0-9]+}}) op{{[0-9]+}} = tile {copy = windows, finish = rows, lanes = 16, pack = panels, rows = 14, vectors = 2}>
// CODE-LABEL: llvm.func @windows
// CODE: scf.if
// CODE: llvm.store %{{.*}} {alignment = 8 : i64} : i64
// CODE: scf.for
// CODE-COUNT-28: math.fma
func.func private @windows(%a: tensor<512x9x9xf32>, %b: tensor<16x4608x32xf32>) -> tensor<512x7x7xf32> {
  %r = llir.kernel(%a, %b) : (tensor<512x9x9xf32>, tensor<16x4608x32xf32>) -> tensor<512x7x7xf32> {
  ^bb0(%x: tensor<512x9x9xf32>, %w: tensor<16x4608x32xf32>):
    %0 = llir.gemm %x, %w k(4608) <(d0, d1, d2, d3) -> (d3 floordiv 9, d0 + (d3 floordiv 3) mod 3, d1 + d3 mod 3)>,
        <(d0, d1, d2, d3) -> (d2 floordiv 32, d3, d2 mod 32)>
        : tensor<512x9x9xf32>, tensor<16x4608x32xf32> -> tensor<7x7x512xf32>
    %1 = llir.view %0 <(d0, d1, d2) -> (d1, d2, d0)> : tensor<7x7x512xf32> -> tensor<512x7x7xf32>
    llir.yield %1 : tensor<512x7x7xf32>
  }
  return %r : tensor<512x7x7xf32>
}

// -----

// A tile's rows are at constant distances where it is a part of a line: 12 places of 96, and one address.
// CHECK-LABEL: @parts_of_lines
// CHECK: tile {copy = windows, lanes = 16, pack = panels, rows = 12, vectors = 2}
// CODE-LABEL: llvm.func @parts_of_lines
// CODE-COUNT-24: math.fma
func.func private @parts_of_lines(%a: tensor<48x98x98xf32>, %b: tensor<1x432x32xf32>) -> tensor<96x96x32xf32> {
  %r = llir.kernel(%a, %b) : (tensor<48x98x98xf32>, tensor<1x432x32xf32>) -> tensor<96x96x32xf32> {
  ^bb0(%x: tensor<48x98x98xf32>, %w: tensor<1x432x32xf32>):
    %0 = llir.gemm %x, %w k(432) <(d0, d1, d2, d3) -> (d3 floordiv 9, d0 + (d3 floordiv 3) mod 3, d1 + d3 mod 3)>,
        <(d0, d1, d2, d3) -> (d2 floordiv 32, d3, d2 mod 32)>
        : tensor<48x98x98xf32>, tensor<1x432x32xf32> -> tensor<96x96x32xf32>
    llir.yield %0 : tensor<96x96x32xf32>
  }
  return %r : tensor<96x96x32xf32>
}

// -----

// 38 has no such part: each row has an address.
// CHECK-LABEL: @no_parts_of_lines
// CHECK: tile {copy = windows, lanes = 16, pack = panels, rows = 14, vectors = 2}
func.func private @no_parts_of_lines(%a: tensor<48x40x40xf32>, %b: tensor<1x432x32xf32>) -> tensor<38x38x32xf32> {
  %r = llir.kernel(%a, %b) : (tensor<48x40x40xf32>, tensor<1x432x32xf32>) -> tensor<38x38x32xf32> {
  ^bb0(%x: tensor<48x40x40xf32>, %w: tensor<1x432x32xf32>):
    %0 = llir.gemm %x, %w k(432) <(d0, d1, d2, d3) -> (d3 floordiv 9, d0 + (d3 floordiv 3) mod 3, d1 + d3 mod 3)>,
        <(d0, d1, d2, d3) -> (d2 floordiv 32, d3, d2 mod 32)>
        : tensor<48x40x40xf32>, tensor<1x432x32xf32> -> tensor<38x38x32xf32>
    llir.yield %0 : tensor<38x38x32xf32>
  }
  return %r : tensor<38x38x32xf32>
}

// -----

// Panels of another width are no panels.
// CHECK-LABEL: @narrow
// CHECK-NOT: pack = panels
// CHECK: return
func.func private @narrow(%a: tensor<64x512xf32>, %b: tensor<64x512x16xf32>) -> tensor<64x1024xf32> {
  %r = llir.kernel(%a, %b) : (tensor<64x512xf32>, tensor<64x512x16xf32>) -> tensor<64x1024xf32> {
  ^bb0(%x: tensor<64x512xf32>, %w: tensor<64x512x16xf32>):
    %0 = llir.gemm %x, %w k(512) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1 floordiv 16, d2, d1 mod 16)>
        : tensor<64x512xf32>, tensor<64x512x16xf32> -> tensor<64x1024xf32>
    llir.yield %0 : tensor<64x1024xf32>
  }
  return %r : tensor<64x1024xf32>
}

// -----

// Rows that are a multiple of a cache's ways apart share its sets: no more of them at once than there are ways.
// CHECK-LABEL: @far_apart
// CHECK: tile {lanes = 16, pack = panels, rows = 8, vectors = 2}
func.func private @far_apart(%a: tensor<128x3072xf32>, %b: tensor<24x3072x32xf32>) -> tensor<128x768xf32> {
  %r = llir.kernel(%a, %b) : (tensor<128x3072xf32>, tensor<24x3072x32xf32>) -> tensor<128x768xf32> {
  ^bb0(%x: tensor<128x3072xf32>, %w: tensor<24x3072x32xf32>):
    %0 = llir.gemm %x, %w k(3072) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1 floordiv 32, d2, d1 mod 32)>
        : tensor<128x3072xf32>, tensor<24x3072x32xf32> -> tensor<128x768xf32>
    llir.yield %0 : tensor<128x768xf32>
  }
  return %r : tensor<128x768xf32>
}

// -----

// A near miss: four rows share a set.
// CHECK-LABEL: @apart
// CHECK: tile {lanes = 16, pack = panels, rows = 14, vectors = 2}
func.func private @apart(%a: tensor<128x768xf32>, %b: tensor<24x768x32xf32>) -> tensor<128x768xf32> {
  %r = llir.kernel(%a, %b) : (tensor<128x768xf32>, tensor<24x768x32xf32>) -> tensor<128x768xf32> {
  ^bb0(%x: tensor<128x768xf32>, %w: tensor<24x768x32xf32>):
    %0 = llir.gemm %x, %w k(768) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1 floordiv 32, d2, d1 mod 32)>
        : tensor<128x768xf32>, tensor<24x768x32xf32> -> tensor<128x768xf32>
    llir.yield %0 : tensor<128x768xf32>
  }
  return %r : tensor<128x768xf32>
}

// -----

// The same where columns are packed.
// CHECK-LABEL: @packed
// CHECK: tile {lanes = 16, pack = k, rows = 8, square = 4, vectors = 2}
func.func private @packed(%a: tensor<1500x3072xf32>, %b: tensor<768x3072xf32>) -> tensor<1500x768xf32> {
  %r = llir.kernel(%a, %b) : (tensor<1500x3072xf32>, tensor<768x3072xf32>) -> tensor<1500x768xf32> {
  ^bb0(%x: tensor<1500x3072xf32>, %w: tensor<768x3072xf32>):
    %0 = llir.gemm %x, %w k(3072) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<1500x3072xf32>, tensor<768x3072xf32> -> tensor<1500x768xf32>
    llir.yield %0 : tensor<1500x768xf32>
  }
  return %r : tensor<1500x768xf32>
}

// -----

// Rows that are copied are copied once for units of all columns.
// CHECK-LABEL: @heads
// CHECK: grid(d0:{{[0-9]+}}, d1:{{[0-9]+}}) op0 = tile {copy = rows, lanes = 16, pack = panels,
func.func private @heads(%a: tensor<12x128x64xf32>, %b: tensor<24x768x32xf32>) -> tensor<128x768xf32> {
  %r = llir.kernel(%a, %b) : (tensor<12x128x64xf32>, tensor<24x768x32xf32>) -> tensor<128x768xf32> {
  ^bb0(%x: tensor<12x128x64xf32>, %w: tensor<24x768x32xf32>):
    %0 = llir.gemm %x, %w k(768) <(d0, d1, d2) -> (d2 floordiv 64, d0, d2 mod 64)>, <(d0, d1, d2) -> (d1 floordiv 32, d2, d1 mod 32)>
        : tensor<12x128x64xf32>, tensor<24x768x32xf32> -> tensor<128x768xf32>
    llir.yield %0 : tensor<128x768xf32>
  }
  return %r : tensor<128x768xf32>
}

// -----

// Units of 160 columns are nearly as few, and the last of them would be done by one worker: none is as large.
// CHECK-LABEL: @even
// CHECK: grid(d1:96, d0:126)
func.func private @even(%a: tensor<1500x768xf32>, %b: tensor<24x768x32xf32>) -> tensor<1500x768xf32> {
  %r = llir.kernel(%a, %b) : (tensor<1500x768xf32>, tensor<24x768x32xf32>) -> tensor<1500x768xf32> {
  ^bb0(%x: tensor<1500x768xf32>, %w: tensor<24x768x32xf32>):
    %0 = llir.gemm %x, %w k(768) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1 floordiv 32, d2, d1 mod 32)>
        : tensor<1500x768xf32>, tensor<24x768x32xf32> -> tensor<1500x768xf32>
    llir.yield %0 : tensor<1500x768xf32>
  }
  return %r : tensor<1500x768xf32>
}
