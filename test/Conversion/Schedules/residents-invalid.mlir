// So many blocks on a multiprocessor leave a thread fewer registers than an instruction of four warps takes.
// RUN: luminal-opt %s --llir-schedule-kernels="target=cuda arch=sm_90a" --split-input-file --verify-diagnostics

func.func @stream(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @+1 {{its schedule requires 10 resident blocks of 128 threads, which leaves 48 registers to each, but its products need 96}}
  %r = llir.kernel(%a, %b, %c) loops<grid(d0:64) stream(d1:64) threads(128, 128) op0 = block {use = wgmma} op1 = joint {blocks = 10} op5 = block {use = wgmma}> : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16> {
  ^bb0(%q: tensor<64x64xf16>, %k: tensor<64x64xf16>, %v: tensor<64x64xf16>):
    %1 = llir.gemm %q, %k k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
    %2 = llir.reduce max %1 : tensor<64x64xf16> -> tensor<64xf16>
    %3 = llir.view %2 <(d0, d1) -> (d0)> : tensor<64xf16> -> tensor<64x64xf16>
    %4 = llir.elementwise sub(%1, %3) : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %5 = llir.elementwise exp(%4) : (tensor<64x64xf16>) -> tensor<64x64xf16>
    %6 = llir.gemm %5, %v k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
    llir.yield %6 : tensor<64x64xf16>
  }
  return %r : tensor<64x64xf16>
}

// -----

func.func @product(%a: tensor<512x512xf16>, %b: tensor<512x512xf16>) -> tensor<512x512xf16> {
  // expected-error @+1 {{its schedule requires 4 resident blocks of 256 threads, which leaves 64 registers to each, but its products need 96}}
  %r = llir.kernel(%a, %b) loops<grid(d0:128, d1:128) threads(256, 256) op0 = block {blocks = 4, columnalong = k, columnlanes = 8, copy = both, depth = 32, rowalong = k, rowlanes = 8, stages = 3, use = wgmma}> : (tensor<512x512xf16>, tensor<512x512xf16>) -> tensor<512x512xf16> {
  ^bb0(%x: tensor<512x512xf16>, %y: tensor<512x512xf16>):
    %1 = llir.gemm %x, %y k(512) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<512x512xf16>, tensor<512x512xf16> -> tensor<512x512xf16>
    llir.yield %1 : tensor<512x512xf16>
  }
  return %r : tensor<512x512xf16>
}
