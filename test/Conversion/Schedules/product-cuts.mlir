// Cuts of products: what loads cost beside multiplications, and units that are not full.
// RUN: luminal-opt %s --llir-schedule-kernels="arch=znver3" | FileCheck %s
// RUN: luminal-opt %s --llir-schedule-kernels="arch=znver3" --remarks-filter=llir-schedule-kernels -o /dev/null 2>&1 \
// RUN:   | FileCheck %s --check-prefix=PRICE

// Windows of a stem. A vector of places for 13 rows wastes the least of them, but spreads 13 elements for 13
// multiplications: with vectors of 256 bits, loads take longer than those.
// CHECK-LABEL: @stem
// CHECK: pack = windows, rows = {{[4-6]}}, vectors = {{[23]}}}>
func.func private @stem(%a: tensor<3x230x230xf32>, %b: tensor<64x3x7x7xf32>) -> tensor<64x112x112xf32> {
  %r = llir.kernel(%a, %b) : (tensor<3x230x230xf32>, tensor<64x3x7x7xf32>) -> tensor<64x112x112xf32> {
  ^bb0(%x: tensor<3x230x230xf32>, %w: tensor<64x3x7x7xf32>):
    %0 = llir.gemm %x, %w k(147)
        <(d0, d1, d2, d3) -> (d3 floordiv 49, 2 * d0 + (d3 floordiv 7) mod 7, 2 * d1 + d3 mod 7)>,
        <(d0, d1, d2, d3) -> (d2, d3 floordiv 49, (d3 floordiv 7) mod 7, d3 mod 7)>
        : tensor<3x230x230xf32>, tensor<64x3x7x7xf32> -> tensor<112x112x64xf32>
    %1 = llir.view %0 <(d0, d1, d2) -> (d1, d2, d0)> : tensor<112x112x64xf32> -> tensor<64x112x112xf32>
    llir.yield %1 : tensor<64x112x112xf32>
  }
  return %r : tensor<64x112x112xf32>
}

// Two units of 128 and 68 columns are no work for sixteen workers, though one worker would take them as fast as any.
// CHECK-LABEL: @uneven
// CHECK-NOT: grid(d1:128, d0:all)
// CHECK: pack = columns
func.func private @uneven(%a: tensor<256x1024xf32>, %b: tensor<1024x196xf32>) -> tensor<256x196xf32> {
  %r = llir.kernel(%a, %b) : (tensor<256x1024xf32>, tensor<1024x196xf32>) -> tensor<256x196xf32> {
  ^bb0(%x: tensor<256x1024xf32>, %y: tensor<1024x196xf32>):
    %0 = llir.gemm %x, %y k(1024) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<256x1024xf32>, tensor<1024x196xf32> -> tensor<256x196xf32>
    llir.yield %0 : tensor<256x196xf32>
  }
  return %r : tensor<256x196xf32>
}

// Rows of a group are few: their matrix is widened once for each group, not once for each two of six rows.
// PRICE: remark: [Passed] schedule {{.*}}Function=groups | form="dot products {{.*}} predicted ns=1{{[0-9][0-9][0-9][0-9][0-9][0-9]$}}
func.func private @groups(%x: tensor<64x512xf32>, %w: tensor<32x1536x512xbf16>, %i: tensor<64xi64>) -> tensor<64x1536xf32> {
  %r = llir.kernel(%x, %w, %i) : (tensor<64x512xf32>, tensor<32x1536x512xbf16>, tensor<64xi64>) -> tensor<64x1536xf32> {
  ^bb0(%a: tensor<64x512xf32>, %m: tensor<32x1536x512xbf16>, %j: tensor<64xi64>):
    %0 = llir.gather %m, %j : tensor<32x1536x512xbf16>, tensor<64xi64> -> tensor<64x1536x512xbf16>
    %1 = llir.elementwise cast(%0) : (tensor<64x1536x512xbf16>) -> tensor<64x1536x512xf32>
    %2 = llir.gemm %a, %1 k(512) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)> : tensor<64x512xf32>, tensor<64x1536x512xf32> -> tensor<64x1536xf32>
    llir.yield %2 : tensor<64x1536xf32>
  }
  return %r : tensor<64x1536xf32>
}
