// Products that wait for their weights have large tiles, but where these leave much of the last wave's room empty.
// RUN: luminal-opt %s --luminal-pipeline="target=cuda arch=h200 library=none from=fused until=scheduled" | FileCheck %s

// 393 tiles of 128 x 128, of which 264 have room at a time; 786 of 128 x 64.
// CHECK-LABEL: @part_of_a_wave
// CHECK: loops<grid(d1:64, d0:128) threads(256, 256) op0 = block {
func.func @part_of_a_wave(%x: tensor<128x768xf16>, %w: tensor<50257x768xf16>) -> tensor<128x50257xf16> {
  %r = llir.kernel(%x, %w) : (tensor<128x768xf16>, tensor<50257x768xf16>) -> tensor<128x50257xf16> {
  ^bb0(%a: tensor<128x768xf16>, %b: tensor<50257x768xf16>):
    %0 = llir.gemm %a, %b k(768) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<128x768xf16>, tensor<50257x768xf16> -> tensor<128x50257xf16>
    llir.yield %0 : tensor<128x50257xf16>
  }
  return %r : tensor<128x50257xf16>
}

// 786 tiles of 128 x 128 are three waves.
// CHECK-LABEL: @whole_waves
// CHECK: loops<grid(d1:128, d0:128) threads(256, 256) op0 = block {
func.func @whole_waves(%x: tensor<256x768xf16>, %w: tensor<50257x768xf16>) -> tensor<256x50257xf16> {
  %r = llir.kernel(%x, %w) : (tensor<256x768xf16>, tensor<50257x768xf16>) -> tensor<256x50257xf16> {
  ^bb0(%a: tensor<256x768xf16>, %b: tensor<50257x768xf16>):
    %0 = llir.gemm %a, %b k(768) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<256x768xf16>, tensor<50257x768xf16> -> tensor<256x50257xf16>
    llir.yield %0 : tensor<256x50257xf16>
  }
  return %r : tensor<256x50257xf16>
}
