// Code of a product stands once: a remainder of rows takes four at once, what
// follows the product is emitted for whole tiles and remainders together, and
// extents that are multiples of the tile have no remainder.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=sapphirerapids --convert-llir-to-llvm="arch=sapphirerapids keep-loops" -o - | FileCheck %s
// RUN: luminal-opt %s --llir-schedule-kernels=arch=sapphirerapids --convert-llir-to-llvm=arch=sapphirerapids -o - | FileCheck %s --check-prefix=LOWERED

// 14 rows of 2 vectors, else 4 of 2; `sqrt` for whole vectors and for the rest.
// CHECK-LABEL: llvm.func @remainder(
// CHECK-COUNT-28: math.fma
// CHECK-NOT: math
// CHECK: } else {
// CHECK-COUNT-8: math.fma
// CHECK-NOT: math.fma
// CHECK-COUNT-2: math.sqrt
// CHECK-NOT: math
// CHECK: llvm.return
func.func private @remainder(%a: tensor<131x256xf32>, %b: tensor<256x250xf32>) -> tensor<131x250xf32> {
  %0 = llir.kernel(%a, %b) : (tensor<131x256xf32>, tensor<256x250xf32>) -> tensor<131x250xf32> {
  ^bb0(%x: tensor<131x256xf32>, %y: tensor<256x250xf32>):
    %g = llir.gemm %x, %y k(256) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<131x256xf32>, tensor<256x250xf32> -> tensor<131x250xf32>
    %s = llir.elementwise sqrt(%g) : (tensor<131x250xf32>) -> tensor<131x250xf32>
    llir.yield %s : tensor<131x250xf32>
  }
  return %0 : tensor<131x250xf32>
}

// CHECK-LABEL: llvm.func @whole(
// CHECK-COUNT-26: math.fma
// CHECK-NOT: math.fma
// CHECK: llvm.return
// LOWERED-LABEL: llvm.func @whole(
// LOWERED-NOT: masked
// LOWERED: llvm.return
func.func private @whole(%a: tensor<130x256xf32>, %b: tensor<256x256xf32>) -> tensor<130x256xf32> {
  %0 = llir.kernel(%a, %b) : (tensor<130x256xf32>, tensor<256x256xf32>) -> tensor<130x256xf32> {
  ^bb0(%x: tensor<130x256xf32>, %y: tensor<256x256xf32>):
    %g = llir.gemm %x, %y k(256) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<130x256xf32>, tensor<256x256xf32> -> tensor<130x256xf32>
    llir.yield %g : tensor<130x256xf32>
  }
  return %0 : tensor<130x256xf32>
}

// Columns along k: four rows of four squares side by side, for any number
// of vectors in a tile.
// CHECK-LABEL: llvm.func @transposed(
// CHECK-COUNT-16: llvm.load {{.*}} vector<4xf32>
// CHECK-NOT: llvm.load {{.*}} vector<4xf32>
// CHECK: llvm.return
func.func private @transposed(%a: tensor<130x256xf32>, %b: tensor<256x256xf32>) -> tensor<130x256xf32> {
  %0 = llir.kernel(%a, %b) : (tensor<130x256xf32>, tensor<256x256xf32>) -> tensor<130x256xf32> {
  ^bb0(%x: tensor<130x256xf32>, %y: tensor<256x256xf32>):
    %g = llir.gemm %x, %y k(256) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<130x256xf32>, tensor<256x256xf32> -> tensor<130x256xf32>
    llir.yield %g : tensor<130x256xf32>
  }
  return %0 : tensor<130x256xf32>
}

// Dot products: what follows their sums stands twice, for whole vectors of them
// and for the last, however many sums are taken at once.
// CHECK-LABEL: llvm.func @dots(
// CHECK-COUNT-8: math.fma {{.*}} vector<16xf32>
// CHECK-COUNT-2: math.sqrt {{.*}} : vector<16xf32>
// CHECK-NOT: math
// CHECK: llvm.return
func.func private @dots(%a: tensor<1x256xf32>, %b: tensor<250x256xf32>) -> tensor<1x250xf32> {
  %0 = llir.kernel(%a, %b) : (tensor<1x256xf32>, tensor<250x256xf32>) -> tensor<1x250xf32> {
  ^bb0(%x: tensor<1x256xf32>, %y: tensor<250x256xf32>):
    %g = llir.gemm %x, %y k(256) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1x256xf32>, tensor<250x256xf32> -> tensor<1x250xf32>
    %s = llir.elementwise sqrt(%g) : (tensor<1x250xf32>) -> tensor<1x250xf32>
    llir.yield %s : tensor<1x250xf32>
  }
  return %0 : tensor<1x250xf32>
}

// Pairs of bf16: 13 rows of 2 vectors, each multiplied with the halves of 32 bits that the rows hold side by side; columns
// along k are transposed pair by pair.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=znver4 --convert-llir-to-llvm="arch=znver4 keep-loops" -o - | FileCheck %s --check-prefix=PAIRS
// PAIRS-LABEL: llvm.func @pairs(
// PAIRS: vector.bitcast {{.*}} : vector<8xi16> to vector<4xi32>
// PAIRS-COUNT-26: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"({{.*}}) : (vector<16xf32>, vector<32xbf16>, vector<32xbf16>) -> vector<16xf32>
// PAIRS-NOT: llvm.call_intrinsic
// PAIRS: llvm.return

// Tiles of them, packed alike: two by two registers of sums, and for the rows that remain one by two with less lines.
// CHECK-LABEL: llvm.func @pairs(
// CHECK: vector.bitcast {{.*}} : vector<8xi16> to vector<4xi32>
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"
// CHECK: scf.if
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tilezero"
// CHECK: scf.for
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK-COUNT-4: llvm.call_intrinsic "llvm.x86.tilestored64"
// CHECK: } else {
// CHECK: llvm.call_intrinsic "llvm.x86.ldtilecfg"
// CHECK-COUNT-2: llvm.call_intrinsic "llvm.x86.tdpbf16ps"
// CHECK-NOT: llvm.x86.tdpbf16ps
// CHECK: llvm.call_intrinsic "llvm.x86.tilerelease"
// CHECK: llvm.return
func.func private @pairs(%a: tensor<130x256xbf16>, %b: tensor<256x256xbf16>) -> tensor<130x256xbf16> {
  %0 = llir.kernel(%a, %b) : (tensor<130x256xbf16>, tensor<256x256xbf16>) -> tensor<130x256xbf16> {
  ^bb0(%x: tensor<130x256xbf16>, %y: tensor<256x256xbf16>):
    %g = llir.gemm %x, %y k(256) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<130x256xbf16>, tensor<256x256xbf16> -> tensor<130x256xbf16>
    llir.yield %g : tensor<130x256xbf16>
  }
  return %0 : tensor<130x256xbf16>
}
