// RUN: luminal-opt %s --llir-schedule-kernels="target=cuda arch=sm_90a" --split-input-file --verify-diagnostics

// Each reduction is computed again in the loop of the next one, so unrolled bodies multiply.

func.func @unrolled(%f: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @+1 {{its schedule unrolls reductions inside each other to 55986 operations of code, at most 4096 are allowed}}
  %0 = llir.kernel(%f) loops<grid(d0, d1) threads(64, 1) op0 = element {lanes = 1, unroll = 4} op3 = element {lanes = 1, unroll = 4} op6 = element {lanes = 1, unroll = 4} op9 = element {lanes = 1, unroll = 4} op12 = element {lanes = 1, unroll = 4} op15 = element {lanes = 1, unroll = 4}> : (tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%x: tensor<64x64xf32>):
    %m0 = llir.reduce max %x : tensor<64x64xf32> -> tensor<64xf32>
    %b0 = llir.view %m0 <(d0, d1) -> (d0)> : tensor<64xf32> -> tensor<64x64xf32>
    %d0 = llir.elementwise sub(%x, %b0) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %m1 = llir.reduce max %d0 : tensor<64x64xf32> -> tensor<64xf32>
    %b1 = llir.view %m1 <(d0, d1) -> (d0)> : tensor<64xf32> -> tensor<64x64xf32>
    %d1 = llir.elementwise sub(%d0, %b1) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %m2 = llir.reduce max %d1 : tensor<64x64xf32> -> tensor<64xf32>
    %b2 = llir.view %m2 <(d0, d1) -> (d0)> : tensor<64xf32> -> tensor<64x64xf32>
    %d2 = llir.elementwise sub(%d1, %b2) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %m3 = llir.reduce max %d2 : tensor<64x64xf32> -> tensor<64xf32>
    %b3 = llir.view %m3 <(d0, d1) -> (d0)> : tensor<64xf32> -> tensor<64x64xf32>
    %d3 = llir.elementwise sub(%d2, %b3) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %m4 = llir.reduce max %d3 : tensor<64x64xf32> -> tensor<64xf32>
    %b4 = llir.view %m4 <(d0, d1) -> (d0)> : tensor<64xf32> -> tensor<64x64xf32>
    %d4 = llir.elementwise sub(%d3, %b4) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %m5 = llir.reduce max %d4 : tensor<64x64xf32> -> tensor<64xf32>
    %b5 = llir.view %m5 <(d0, d1) -> (d0)> : tensor<64xf32> -> tensor<64x64xf32>
    %d5 = llir.elementwise sub(%d4, %b5) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    llir.yield %d5 : tensor<64x64xf32>
  }
  return %0 : tensor<64x64xf32>
}
