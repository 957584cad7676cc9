// Images that are reflected, continued or repeated beyond their borders: the copy is of what the windows see, and the loops
// that copy it are cut where a line turns. What windows see need not be a value of its own.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=znver4 --remarks-filter=llir-schedule-kernels 2>&1 | FileCheck %s
// RUN: luminal-opt %s --llir-schedule-kernels=arch=znver4 --convert-llir-to-llvm="arch=znver4 keep-loops" | FileCheck %s --check-prefix=CODE

// CHECK: Function=reflected | form="windows of an image on chip and a register tile"
// CHECK: Function=continued | form="windows of an image on chip and a register tile"
// CHECK: Function=repeated | form="windows of an image on chip and a register tile"
// CHECK: Function=other | form="packed columns and a register tile"

// CHECK-LABEL: @reflected
// CHECK: pack = windows
// CODE-LABEL: llvm.func @reflected
// CODE: scf.for %{{.*}} to %c48_i64
// CODE: llvm.load %{{.*}} vector<16xf32>
// CODE: math.fma
func.func private @reflected(%a: tensor<64x56x56xf32>, %b: tensor<64x64x3x3xf32>) -> tensor<64x56x56xf32> {
  %r = llir.kernel(%a, %b) : (tensor<64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<64x56x56xf32> {
  ^bb0(%x: tensor<64x56x56xf32>, %w: tensor<64x64x3x3xf32>):
    %0 = llir.gemm %x, %w k(576)
        <(d0, d1, d2, d3) -> (d3 floordiv 9, min(max(d0 + (d3 floordiv 3) mod 3 - 1, -d0 - (d3 floordiv 3) mod 3 + 1), -max(d0 + (d3 floordiv 3) mod 3 - 1, -d0 - (d3 floordiv 3) mod 3 + 1) + 110), min(max(d1 + d3 mod 3 - 1, -d1 - d3 mod 3 + 1), -max(d1 + d3 mod 3 - 1, -d1 - d3 mod 3 + 1) + 110))>,
        <(d0, d1, d2, d3) -> (d2, d3 floordiv 9, (d3 floordiv 3) mod 3, d3 mod 3)>
        : tensor<64x56x56xf32>, tensor<64x64x3x3xf32> -> tensor<56x56x64xf32>
    %1 = llir.view %0 <(d0, d1, d2) -> (d1, d2, d0)> : tensor<56x56x64xf32> -> tensor<64x56x56xf32>
    llir.yield %1 : tensor<64x56x56xf32>
  }
  return %r : tensor<64x56x56xf32>
}

// CHECK-LABEL: @continued
// CHECK: pack = windows
func.func private @continued(%a: tensor<64x56x56xf32>, %b: tensor<64x64x3x3xf32>) -> tensor<64x28x28xf32> {
  %r = llir.kernel(%a, %b) : (tensor<64x56x56xf32>, tensor<64x64x3x3xf32>) -> tensor<64x28x28xf32> {
  ^bb0(%x: tensor<64x56x56xf32>, %w: tensor<64x64x3x3xf32>):
    %0 = llir.gemm %x, %w k(576)
        <(d0, d1, d2, d3) -> (d3 floordiv 9, max(min(2 * d0 + (d3 floordiv 3) mod 3 - 1, 55), 0), max(min(2 * d1 + d3 mod 3 - 1, 55), 0))>,
        <(d0, d1, d2, d3) -> (d2, d3 floordiv 9, (d3 floordiv 3) mod 3, d3 mod 3)>
        : tensor<64x56x56xf32>, tensor<64x64x3x3xf32> -> tensor<28x28x64xf32>
    %1 = llir.view %0 <(d0, d1, d2) -> (d1, d2, d0)> : tensor<28x28x64xf32> -> tensor<64x28x28xf32>
    llir.yield %1 : tensor<64x28x28xf32>
  }
  return %r : tensor<64x28x28xf32>
}

// CHECK-LABEL: @repeated
// CHECK: pack = windows
func.func private @repeated(%a: tensor<64x1024xf32>, %b: tensor<64x64x9xf32>) -> tensor<64x1024xf32> {
  %r = llir.kernel(%a, %b) : (tensor<64x1024xf32>, tensor<64x64x9xf32>) -> tensor<64x1024xf32> {
  ^bb0(%x: tensor<64x1024xf32>, %w: tensor<64x64x9xf32>):
    %0 = llir.gemm %x, %w k(576) <(d0, d1, d2) -> (d2 floordiv 9, (d0 + d2 mod 9 + 1020) mod 1024)>,
        <(d0, d1, d2) -> (d1, d2 floordiv 9, d2 mod 9)>
        : tensor<64x1024xf32>, tensor<64x64x9xf32> -> tensor<1024x64xf32>
    %1 = llir.view %0 <(d0, d1) -> (d1, d0)> : tensor<1024x64xf32> -> tensor<64x1024xf32>
    llir.yield %1 : tensor<64x1024xf32>
  }
  return %r : tensor<64x1024xf32>
}

// What is read depends on the column also otherwise.
// CHECK-LABEL: @other
// CHECK-NOT: pack = windows
func.func private @other(%a: tensor<64x64xf32>, %b: tensor<64x64x3xf32>) -> tensor<64x60xf32> {
  %r = llir.kernel(%a, %b) : (tensor<64x64xf32>, tensor<64x64x3xf32>) -> tensor<64x60xf32> {
  ^bb0(%x: tensor<64x64xf32>, %w: tensor<64x64x3xf32>):
    %0 = llir.gemm %x, %w k(192)
        <(d0, d1, d2) -> (d2 floordiv 3, min(d0 + d2 mod 3, 2 * d0))>,
        <(d0, d1, d2) -> (d1, d2 floordiv 3, d2 mod 3)>
        : tensor<64x64xf32>, tensor<64x64x3xf32> -> tensor<60x64xf32>
    %1 = llir.view %0 <(d0, d1) -> (d1, d0)> : tensor<60x64xf32> -> tensor<64x60xf32>
    llir.yield %1 : tensor<64x60xf32>
  }
  return %r : tensor<64x60xf32>
}
