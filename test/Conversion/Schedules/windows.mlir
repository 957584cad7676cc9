// Convolutions: windows of an image that a unit copies once, whole lines of it at a time.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=znver4 --remarks-filter=llir-schedule-kernels 2>&1 | FileCheck %s
// RUN: luminal-opt %s --llir-schedule-kernels=arch=znver4 --convert-llir-to-llvm="arch=znver4 keep-loops" | FileCheck %s --check-prefix=CODE

// CHECK: remark: [Passed] schedule {{.*}} Function=image | form="windows of an image on chip and a register tile"
// CHECK: Function=strided | form="windows of an image on chip and a register tile"
// CHECK: Function=depthwise | form="windows of an image on chip and a register tile"
// CHECK: Function=far | form="packed columns and a register tile", {{.*}} with windows ns=
// CHECK: Function=apart | form="packed columns and a register tile", {{.*}} n=3136, predicted ns
// CHECK: Function=unknown | {{.*}} no windows because="a size is not known"
// CHECK: Function=pairs | {{.*}} multiplies="pairs of bf16"

// CHECK-LABEL: @image
// CHECK: op0 = tile {columns = lhs, lanes = 16, pack = windows, rows =
// The offsets of nine steps, then one copy of the image for all rows of a unit, a line at a time.
// CODE-LABEL: llvm.func @image
// CODE: scf.if
// CODE: scf.for %{{.*}} = %{{.*}} to %c9_i64
// CODE: llvm.store %{{.*}} {alignment = 8 : i64} : i64
// CODE: scf.for
// CODE: scf.for
// CODE: llvm.load %{{.*}} vector<16xf32>
// CODE: math.fma
func.func private @image(%a: tensor<64x58x58xf32>, %b: tensor<64x64x3x3xf32>) -> tensor<64x56x56xf32> {
  %r = llir.kernel(%a, %b) : (tensor<64x58x58xf32>, tensor<64x64x3x3xf32>) -> tensor<64x56x56xf32> {
  ^bb0(%x: tensor<64x58x58xf32>, %w: tensor<64x64x3x3xf32>):
    %0 = llir.gemm %x, %w k(576)
        <(d0, d1, d2, d3) -> (d3 floordiv 9, d0 + (d3 floordiv 3) mod 3, d1 + d3 mod 3)>,
        <(d0, d1, d2, d3) -> (d2, d3 floordiv 9, (d3 floordiv 3) mod 3, d3 mod 3)>
        : tensor<64x58x58xf32>, tensor<64x64x3x3xf32> -> tensor<56x56x64xf32>
    %1 = llir.view %0 <(d0, d1, d2) -> (d1, d2, d0)> : tensor<56x56x64xf32> -> tensor<64x56x56xf32>
    llir.yield %1 : tensor<64x56x56xf32>
  }
  return %r : tensor<64x56x56xf32>
}

// One of four phases of the image is read by a window of one element; a period of one needs no offsets.
// CHECK-LABEL: @strided
// CHECK: pack = windows
// CODE-LABEL: llvm.func @strided
// CODE-NOT: llvm.store %{{.*}} {alignment = 8 : i64} : i64
// CODE: vector.shuffle {{.*}} [0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31]
func.func private @strided(%a: tensor<256x56x56xf32>, %b: tensor<512x256xf32>) -> tensor<512x28x28xf32> {
  %r = llir.kernel(%a, %b) : (tensor<256x56x56xf32>, tensor<512x256xf32>) -> tensor<512x28x28xf32> {
  ^bb0(%x: tensor<256x56x56xf32>, %w: tensor<512x256xf32>):
    %0 = llir.gemm %x, %w k(256) <(d0, d1, d2, d3) -> (d3, 2 * d0, 2 * d1)>, <(d0, d1, d2, d3) -> (d2, d3)>
        : tensor<256x56x56xf32>, tensor<512x256xf32> -> tensor<28x28x512xf32>
    %1 = llir.view %0 <(d0, d1, d2) -> (d1, d2, d0)> : tensor<28x28x512xf32> -> tensor<512x28x28xf32>
    llir.yield %1 : tensor<512x28x28xf32>
  }
  return %r : tensor<512x28x28xf32>
}

// A channel each: a row, and many vectors of its columns. The image's borders are parts of the loops that copy it, in which
// nothing is compared.
// CHECK-LABEL: @depthwise
// CHECK: loops<grid(d0, d1:all) op{{[0-9]+}} = tile {columns = lhs, lanes = 16, pack = windows, rows = 1, vectors = {{[4-8]}}}>
// CODE-LABEL: llvm.func @depthwise
// CODE-NOT: arith.select
// CODE: math.fma
func.func private @depthwise(%a: tensor<128x56x56xf32>, %b: tensor<128x3x3xf32>) -> tensor<128x3136x1xf32> {
  %r = llir.kernel(%a, %b) : (tensor<128x56x56xf32>, tensor<128x3x3xf32>) -> tensor<128x3136x1xf32> {
  ^bb0(%x: tensor<128x56x56xf32>, %w: tensor<128x3x3xf32>):
    %size = llir.constant dense<56> : tensor<i64>
    %sizes = llir.view %size <(d0, d1, d2) -> ()> : tensor<i64> -> tensor<128x58x58xi64>
    %none = llir.constant dense<-1> : tensor<i64>
    %nones = llir.view %none <(d0, d1, d2) -> ()> : tensor<i64> -> tensor<128x58x58xi64>
    %y = llir.iota <(d0, d1, d2) -> (d1 - 1)> : tensor<128x58x58xi64>
    %z = llir.iota <(d0, d1, d2) -> (d2 - 1)> : tensor<128x58x58xi64>
    %c0 = llir.elementwise less_than(%y, %sizes) : (tensor<128x58x58xi64>, tensor<128x58x58xi64>) -> tensor<128x58x58xi1>
    %c1 = llir.elementwise less_than(%nones, %y) : (tensor<128x58x58xi64>, tensor<128x58x58xi64>) -> tensor<128x58x58xi1>
    %c2 = llir.elementwise less_than(%z, %sizes) : (tensor<128x58x58xi64>, tensor<128x58x58xi64>) -> tensor<128x58x58xi1>
    %c3 = llir.elementwise less_than(%nones, %z) : (tensor<128x58x58xi64>, tensor<128x58x58xi64>) -> tensor<128x58x58xi1>
    %c4 = llir.elementwise mul(%c0, %c1) : (tensor<128x58x58xi1>, tensor<128x58x58xi1>) -> tensor<128x58x58xi1>
    %c5 = llir.elementwise mul(%c2, %c3) : (tensor<128x58x58xi1>, tensor<128x58x58xi1>) -> tensor<128x58x58xi1>
    %c = llir.elementwise mul(%c4, %c5) : (tensor<128x58x58xi1>, tensor<128x58x58xi1>) -> tensor<128x58x58xi1>
    %v = llir.view %x <(d0, d1, d2) -> (d0, max(min(d1 - 1, 55), 0), max(min(d2 - 1, 55), 0))> : tensor<128x56x56xf32> -> tensor<128x58x58xf32>
    %f = llir.constant dense<0.0> : tensor<f32>
    %fs = llir.view %f <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<128x58x58xf32>
    %p = llir.elementwise select(%c, %v, %fs) : (tensor<128x58x58xi1>, tensor<128x58x58xf32>, tensor<128x58x58xf32>) -> tensor<128x58x58xf32>
    %0 = llir.gemm %p, %w k(9)
        <(d0, d1, d2, d3) -> (d0, d1 floordiv 56 + d3 floordiv 3, d1 mod 56 + d3 mod 3)>,
        <(d0, d1, d2, d3) -> (d0, d3 floordiv 3, d3 mod 3)>
        : tensor<128x58x58xf32>, tensor<128x3x3xf32> -> tensor<128x3136x1xf32>
    llir.yield %0 : tensor<128x3136x1xf32>
  }
  return %r : tensor<128x3136x1xf32>
}

// A dilation so great that most places would be no columns.
// CHECK-LABEL: @far
// CHECK-NOT: pack = windows
func.func private @far(%a: tensor<64x264x264xf32>, %b: tensor<64x64x3x3xf32>) -> tensor<64x8x8xf32> {
  %r = llir.kernel(%a, %b) : (tensor<64x264x264xf32>, tensor<64x64x3x3xf32>) -> tensor<64x8x8xf32> {
  ^bb0(%x: tensor<64x264x264xf32>, %w: tensor<64x64x3x3xf32>):
    %0 = llir.gemm %x, %w k(576)
        <(d0, d1, d2, d3) -> (d3 floordiv 9, d0 + 128 * ((d3 floordiv 3) mod 3), d1 + 128 * (d3 mod 3))>,
        <(d0, d1, d2, d3) -> (d2, d3 floordiv 9, (d3 floordiv 3) mod 3, d3 mod 3)>
        : tensor<64x264x264xf32>, tensor<64x64x3x3xf32> -> tensor<8x8x64xf32>
    %1 = llir.view %0 <(d0, d1, d2) -> (d1, d2, d0)> : tensor<8x8x64xf32> -> tensor<64x8x8xf32>
    llir.yield %1 : tensor<64x8x8xf32>
  }
  return %r : tensor<64x8x8xf32>
}

// Each element is in one window.
// CHECK-LABEL: @apart
func.func private @apart(%a: tensor<64x3136xf32>, %b: tensor<64x64xf32>) -> tensor<64x3136xf32> {
  %r = llir.kernel(%a, %b) : (tensor<64x3136xf32>, tensor<64x64xf32>) -> tensor<64x3136xf32> {
  ^bb0(%x: tensor<64x3136xf32>, %w: tensor<64x64xf32>):
    %0 = llir.gemm %x, %w k(64) <(d0, d1, d2) -> (d2, d0)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<64x3136xf32>, tensor<64x64xf32> -> tensor<3136x64xf32>
    %1 = llir.view %0 <(d0, d1) -> (d1, d0)> : tensor<3136x64xf32> -> tensor<64x3136xf32>
    llir.yield %1 : tensor<64x3136xf32>
  }
  return %r : tensor<64x3136xf32>
}

// CHECK-LABEL: @unknown
// CHECK-NOT: pack = windows
func.func @unknown(%a: tensor<64x58x?xf32, #hlir.dims<s>>, %b: tensor<64x64x3x3xf32>) -> tensor<64x56x?xf32, #hlir.dims<s - 2>> attributes {hlir.symbols = #hlir.symbols<s in [34, 256]>} {
  %r = llir.kernel(%a, %b) : (tensor<64x58x?xf32, #hlir.dims<s>>, tensor<64x64x3x3xf32>) -> tensor<64x56x?xf32, #hlir.dims<s - 2>> {
  ^bb0(%x: tensor<64x58x?xf32, #hlir.dims<s>>, %w: tensor<64x64x3x3xf32>):
    %0 = llir.gemm %x, %w k(576)
        <(d0, d1, d2, d3) -> (d3 floordiv 9, d0 + (d3 floordiv 3) mod 3, d1 + d3 mod 3)>,
        <(d0, d1, d2, d3) -> (d2, d3 floordiv 9, (d3 floordiv 3) mod 3, d3 mod 3)>
        : tensor<64x58x?xf32, #hlir.dims<s>>, tensor<64x64x3x3xf32> -> tensor<56x?x64xf32, #hlir.dims<s - 2>>
    %1 = llir.view %0 <(d0, d1, d2) -> (d1, d2, d0)> : tensor<56x?x64xf32, #hlir.dims<s - 2>> -> tensor<64x56x?xf32, #hlir.dims<s - 2>>
    llir.yield %1 : tensor<64x56x?xf32, #hlir.dims<s - 2>>
  }
  return %r : tensor<64x56x?xf32, #hlir.dims<s - 2>>
}

// bf16 that the machine multiplies two at a time, beside windows in f32: by their prices.
// CHECK-LABEL: @pairs
// CHECK: multiply = pairs
func.func private @pairs(%a: tensor<64x58x58xbf16>, %b: tensor<2048x64x3x3xbf16>) -> tensor<2048x56x56xbf16> {
  %r = llir.kernel(%a, %b) : (tensor<64x58x58xbf16>, tensor<2048x64x3x3xbf16>) -> tensor<2048x56x56xbf16> {
  ^bb0(%x: tensor<64x58x58xbf16>, %w: tensor<2048x64x3x3xbf16>):
    %0 = llir.gemm %x, %w k(576)
        <(d0, d1, d2, d3) -> (d3 floordiv 9, d0 + (d3 floordiv 3) mod 3, d1 + d3 mod 3)>,
        <(d0, d1, d2, d3) -> (d2, d3 floordiv 9, (d3 floordiv 3) mod 3, d3 mod 3)>
        : tensor<64x58x58xbf16>, tensor<2048x64x3x3xbf16> -> tensor<56x56x2048xbf16>
    %1 = llir.view %0 <(d0, d1, d2) -> (d1, d2, d0)> : tensor<56x56x2048xbf16> -> tensor<2048x56x56xbf16>
    llir.yield %1 : tensor<2048x56x56xbf16>
  }
  return %r : tensor<2048x56x56xbf16>
}

// Rows of 4096 bytes are all in one set of the L1 cache. Units of the same columns share what is packed: it depends on
// whether a unit is the first of its thread, or the first of its columns.
// CHECK-LABEL: @collide
// CHECK: loops<grid(d0:{{[0-9]+}}, d1:{{[0-9]+}}) op0 = tile {columns = lhs, lanes = 16, pack = columns, rows = 8,
// CODE-LABEL: llvm.func @collide
// CODE: %[[FIRST:.*]] = arith.cmpi eq, %{{.*}}, %arg2 : i64
// CODE: %[[NEXT:.*]] = arith.cmpi eq,
// CODE: %[[FRESH:.*]] = arith.ori %[[FIRST]], %[[NEXT]] : i1
// CODE: scf.if %[[FRESH]] {
func.func private @collide(%a: tensor<1024x196xf32>, %b: tensor<256x1024xf32>) -> tensor<256x196xf32> {
  %r = llir.kernel(%a, %b) : (tensor<1024x196xf32>, tensor<256x1024xf32>) -> tensor<256x196xf32> {
  ^bb0(%x: tensor<1024x196xf32>, %w: tensor<256x1024xf32>):
    %0 = llir.gemm %x, %w k(1024) <(d0, d1, d2) -> (d2, d0)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<1024x196xf32>, tensor<256x1024xf32> -> tensor<196x256xf32>
    %1 = llir.view %0 <(d0, d1) -> (d1, d0)> : tensor<196x256xf32> -> tensor<256x196xf32>
    llir.yield %1 : tensor<256x196xf32>
  }
  return %r : tensor<256x196xf32>
}
