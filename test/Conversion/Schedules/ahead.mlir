// Where k is short and the results are more than a worker's cache holds, a tile's lines of them, and of what is read beside
// them, are brought while it is summed: a row with each four steps of k, or with each channel of an image.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=sapphirerapids --remarks-filter=llir-schedule-kernels 2>&1 | FileCheck %s
// RUN: luminal-opt %s --llir-schedule-kernels=arch=sapphirerapids --convert-llir-to-llvm="arch=sapphirerapids keep-loops" | FileCheck %s --check-prefix=CODE
// RUN: luminal-opt %s --llir-schedule-kernels=arch=sapphirerapids --convert-llir-to-llvm=arch=sapphirerapids | FileCheck %s --check-prefix=LLVM

// CHECK: Function=added | {{.*}} results="prefetched while a tile is summed"
// CHECK: Function=image | {{.*}} results="prefetched while a tile is summed"
// CHECK-NOT: results=

// CHECK-LABEL: func.func private @added
// CHECK: op0 = tile {ahead = results,
// CODE-LABEL: llvm.func @added
// CODE: scf.for %[[K:.*]] = %{{.*}} to %c16_i64
// CODE: %[[THERE:.*]] = arith.cmpi slt, %[[K]], %{{.*}} : i64
// CODE-NEXT: scf.if %[[THERE]] {
// CODE-COUNT-2: "llvm.intr.prefetch"({{.*}}rw = 0 : i32
// CODE-COUNT-2: "llvm.intr.prefetch"({{.*}}rw = 1 : i32
// CODE-NOT: llvm.intr.prefetch
// CODE: scf.for %{{.*}} = %{{.*}} to %c4_i64
// CODE: math.fma
// LLVM-LABEL: llvm.func @added
// LLVM: llvm.intr.prefetch
func.func private @added(%a: tensor<64x3136xf32>, %b: tensor<256x64xf32>, %c: tensor<256x3136xf32>, %d: tensor<256xf32>) -> tensor<256x3136xf32> {
  %r = llir.kernel(%a, %b, %c, %d) : (tensor<64x3136xf32>, tensor<256x64xf32>, tensor<256x3136xf32>, tensor<256xf32>) -> tensor<256x3136xf32> {
  ^bb0(%x: tensor<64x3136xf32>, %w: tensor<256x64xf32>, %y: tensor<256x3136xf32>, %z: tensor<256xf32>):
    %0 = llir.gemm %x, %w k(64) <(d0, d1, d2) -> (d2, d0)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<64x3136xf32>, tensor<256x64xf32> -> tensor<3136x256xf32>
    %1 = llir.view %y <(d0, d1) -> (d1, d0)> : tensor<256x3136xf32> -> tensor<3136x256xf32>
    %2 = llir.elementwise add(%0, %1) : (tensor<3136x256xf32>, tensor<3136x256xf32>) -> tensor<3136x256xf32>
    %3 = llir.view %z <(d0, d1) -> (d1)> : tensor<256xf32> -> tensor<3136x256xf32>
    %4 = llir.elementwise mul(%2, %3) : (tensor<3136x256xf32>, tensor<3136x256xf32>) -> tensor<3136x256xf32>
    %5 = llir.view %4 <(d0, d1) -> (d1, d0)> : tensor<3136x256xf32> -> tensor<256x3136xf32>
    llir.yield %5 : tensor<256x3136xf32>
  }
  return %r : tensor<256x3136xf32>
}

// Three channels are fewer than a tile's rows: several rows with each.
// CHECK-LABEL: func.func private @image
// CHECK: op0 = tile {ahead = results, columns = lhs, lanes = 16, pack = windows,
// CODE-LABEL: llvm.func @image
// CODE: scf.for %{{.*}} = %{{.*}} to %c3_i64
// CODE: scf.if
// CODE-COUNT-9: "llvm.intr.prefetch"({{.*}}rw = 1 : i32
// CODE: scf.for %{{.*}} = %{{.*}} to %c49_i64
func.func private @image(%a: tensor<3x229x229xf32>, %b: tensor<64x3x7x7xf32>) -> tensor<64x112x112xf32> {
  %r = llir.kernel(%a, %b) : (tensor<3x229x229xf32>, tensor<64x3x7x7xf32>) -> tensor<64x112x112xf32> {
  ^bb0(%x: tensor<3x229x229xf32>, %w: tensor<64x3x7x7xf32>):
    %0 = llir.gemm %x, %w k(147)
        <(d0, d1, d2, d3) -> (d3 floordiv 49, 2 * d0 + (d3 floordiv 7) mod 7, 2 * d1 + d3 mod 7)>,
        <(d0, d1, d2, d3) -> (d2, d3 floordiv 49, (d3 floordiv 7) mod 7, d3 mod 7)>
        : tensor<3x229x229xf32>, tensor<64x3x7x7xf32> -> tensor<112x112x64xf32>
    %1 = llir.view %0 <(d0, d1, d2) -> (d1, d2, d0)> : tensor<112x112x64xf32> -> tensor<64x112x112xf32>
    llir.yield %1 : tensor<64x112x112xf32>
  }
  return %r : tensor<64x112x112xf32>
}

// A long k leaves little to wait for.
// CHECK-LABEL: func.func private @long
// CHECK-NOT: ahead
// CHECK: op0 = tile
// CODE-LABEL: llvm.func @long
// CODE-NOT: llvm.intr.prefetch
func.func private @long(%a: tensor<256x3136xf32>, %b: tensor<256x256xf32>) -> tensor<256x3136xf32> {
  %r = llir.kernel(%a, %b) : (tensor<256x3136xf32>, tensor<256x256xf32>) -> tensor<256x3136xf32> {
  ^bb0(%x: tensor<256x3136xf32>, %w: tensor<256x256xf32>):
    %0 = llir.gemm %x, %w k(256) <(d0, d1, d2) -> (d2, d0)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<256x3136xf32>, tensor<256x256xf32> -> tensor<3136x256xf32>
    %1 = llir.view %0 <(d0, d1) -> (d1, d0)> : tensor<3136x256xf32> -> tensor<256x3136xf32>
    llir.yield %1 : tensor<256x3136xf32>
  }
  return %r : tensor<256x3136xf32>
}

// Few results are in the cache.
// CHECK-LABEL: func.func private @small
// CHECK-NOT: ahead
// CHECK: op0 = tile
// CODE-LABEL: llvm.func @small
// CODE-NOT: llvm.intr.prefetch
func.func private @small(%a: tensor<64x784xf32>, %b: tensor<64x64xf32>) -> tensor<64x784xf32> {
  %r = llir.kernel(%a, %b) : (tensor<64x784xf32>, tensor<64x64xf32>) -> tensor<64x784xf32> {
  ^bb0(%x: tensor<64x784xf32>, %w: tensor<64x64xf32>):
    %0 = llir.gemm %x, %w k(64) <(d0, d1, d2) -> (d2, d0)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<64x784xf32>, tensor<64x64xf32> -> tensor<784x64xf32>
    %1 = llir.view %0 <(d0, d1) -> (d1, d0)> : tensor<784x64xf32> -> tensor<64x784xf32>
    llir.yield %1 : tensor<64x784xf32>
  }
  return %r : tensor<64x784xf32>
}
