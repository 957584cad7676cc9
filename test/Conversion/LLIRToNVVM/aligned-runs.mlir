// Windows of an image with channels innermost: the contracted index is divided, and read in whole vectors of channels.
// RUN: luminal-opt %s --llir-schedule-kernels="target=cuda arch=sm_80" | FileCheck %s --check-prefix=LOOPS
// RUN: luminal-opt %s --llir-schedule-kernels="target=cuda arch=sm_80" --convert-llir-to-llvm="target=cuda arch=sm_80" | FileCheck %s

// LOOPS-LABEL: @multiple
// LOOPS: rowalong = k, rowlanes = 4
// One access brings four channels, aligned.
// CHECK-LABEL: llvm.func @multiple
// CHECK: llvm.load {{.*}} {alignment = 16 : i64} : !llvm.ptr{{.*}} -> vector<4xf32>
func.func private @multiple(%a: tensor<8x30x30x32xf32>, %b: tensor<64x288xf32>) -> tensor<8x28x28x64xf32> {
  %r = llir.kernel(%a, %b) : (tensor<8x30x30x32xf32>, tensor<64x288xf32>) -> tensor<8x28x28x64xf32> {
  ^bb0(%x: tensor<8x30x30x32xf32>, %w: tensor<64x288xf32>):
    %0 = llir.gemm %x, %w k(288) <(d0, d1, d2, d3, d4) -> (d0, d1 + d4 floordiv 96, d2 + (d4 floordiv 32) mod 3, d4 mod 32)>,
        <(d0, d1, d2, d3, d4) -> (d3, d4)> : tensor<8x30x30x32xf32>, tensor<64x288xf32> -> tensor<8x28x28x64xf32>
    llir.yield %0 : tensor<8x28x28x64xf32>
  }
  return %r : tensor<8x28x28x64xf32>
}

// Of six channels two are neighbours up to the next divisor, whatever the vector.
// LOOPS-LABEL: @pairs
// LOOPS: rowalong = k, rowlanes = 2
func.func private @pairs(%a: tensor<8x30x30x6xf32>, %b: tensor<64x54xf32>) -> tensor<8x28x28x64xf32> {
  %r = llir.kernel(%a, %b) : (tensor<8x30x30x6xf32>, tensor<64x54xf32>) -> tensor<8x28x28x64xf32> {
  ^bb0(%x: tensor<8x30x30x6xf32>, %w: tensor<64x54xf32>):
    %0 = llir.gemm %x, %w k(54) <(d0, d1, d2, d3, d4) -> (d0, d1 + d4 floordiv 18, d2 + (d4 floordiv 6) mod 3, d4 mod 6)>,
        <(d0, d1, d2, d3, d4) -> (d3, d4)> : tensor<8x30x30x6xf32>, tensor<64x54xf32> -> tensor<8x28x28x64xf32>
    llir.yield %0 : tensor<8x28x28x64xf32>
  }
  return %r : tensor<8x28x28x64xf32>
}

// Channels in the middle of the index are no vector.
// LOOPS-LABEL: @apart
// LOOPS: rowlanes = 1
func.func private @apart(%a: tensor<8x30x30x32xf32>, %b: tensor<64x288xf32>) -> tensor<8x28x28x64xf32> {
  %r = llir.kernel(%a, %b) : (tensor<8x30x30x32xf32>, tensor<64x288xf32>) -> tensor<8x28x28x64xf32> {
  ^bb0(%x: tensor<8x30x30x32xf32>, %w: tensor<64x288xf32>):
    %0 = llir.gemm %x, %w k(288) <(d0, d1, d2, d3, d4) -> (d0, d1 + (d4 floordiv 3) mod 3, d2 + d4 mod 3, d4 floordiv 9)>,
        <(d0, d1, d2, d3, d4) -> (d3, d4)> : tensor<8x30x30x32xf32>, tensor<64x288xf32> -> tensor<8x28x28x64xf32>
    llir.yield %0 : tensor<8x28x28x64xf32>
  }
  return %r : tensor<8x28x28x64xf32>
}
