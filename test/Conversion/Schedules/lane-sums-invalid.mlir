// RUN: luminal-opt %s --llir-schedule-kernels=arch=znver4 --split-input-file --verify-diagnostics

// Several places need a sum in each lane, of steps that are straight code.

func.func @loop(%x: tensor<56x59x144xf32>, %w: tensor<4x144xf32>) -> tensor<56x56x144xf32> {
  // expected-error @+1 {{its schedule takes places of op0 at once, which is no product in straight code with a sum in each lane}}
  %0 = llir.kernel(%x, %w) loops<grid(d0, d2:48 v16, d1:all) op0 = element {lanes = 1, places = 4, unroll = 2}> : (tensor<56x59x144xf32>, tensor<4x144xf32>) -> tensor<56x56x144xf32> {
  ^bb0(%a: tensor<56x59x144xf32>, %b: tensor<4x144xf32>):
    %g = llir.gemm %a, %b k(4) <(d0, d1, d2, d3) -> (d0, d1 + d3, d2)>, <(d0, d1, d2, d3) -> (d3, d2)>
        : tensor<56x59x144xf32>, tensor<4x144xf32> -> tensor<56x56x144xf32>
    llir.yield %g : tensor<56x56x144xf32>
  }
  return %0 : tensor<56x56x144xf32>
}

// -----

// A unit has to have several.

func.func @one(%x: tensor<56x59x144xf32>, %w: tensor<4x144xf32>) -> tensor<56x56x144xf32> {
  // expected-error @+1 {{its schedule takes places of op0 at once, but a unit has one}}
  %0 = llir.kernel(%x, %w) loops<grid(d0, d1, d2:48 v16) op0 = element {lanes = 1, places = 4, unroll = 4}> : (tensor<56x59x144xf32>, tensor<4x144xf32>) -> tensor<56x56x144xf32> {
  ^bb0(%a: tensor<56x59x144xf32>, %b: tensor<4x144xf32>):
    %g = llir.gemm %a, %b k(4) <(d0, d1, d2, d3) -> (d0, d1 + d3, d2)>, <(d0, d1, d2, d3) -> (d3, d2)>
        : tensor<56x59x144xf32>, tensor<4x144xf32> -> tensor<56x56x144xf32>
    llir.yield %g : tensor<56x56x144xf32>
  }
  return %0 : tensor<56x56x144xf32>
}
