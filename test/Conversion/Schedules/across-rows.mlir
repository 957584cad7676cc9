// Sums of rows that are looked up: the index is the same for all columns, and a column is next to the one before. On a GPU a
// thread takes as many columns as it reads at once, if enough threads are left to keep memory busy.
// RUN: luminal-opt %s --llir-schedule-kernels="target=cuda arch=h200" --split-input-file | FileCheck %s
// RUN: luminal-opt %s --llir-schedule-kernels="target=cpu arch=sapphirerapids" --split-input-file | FileCheck %s --check-prefix=CPU

// CHECK-LABEL: @many
// CHECK: loops<grid(d0, d1:8 v8) stream(d2:all) threads(256) op3 = pass {lanes = 1, unroll = 8}>
// CPU-LABEL: @many
// CPU: loops<grid(d0, d1:{{[0-9]+}} v32) stream(d2:all) op3 = pass
func.func @many(%x: tensor<32768x2048xbf16>, %i: tensor<32768xi64>) -> tensor<4096x2048xbf16> {
  %r = llir.kernel(%x, %i) : (tensor<32768x2048xbf16>, tensor<32768xi64>) -> tensor<4096x2048xbf16> {
  ^bb0(%a: tensor<32768x2048xbf16>, %b: tensor<32768xi64>):
    %two = llir.elementwise add(%b, %b) : (tensor<32768xi64>, tensor<32768xi64>) -> tensor<32768xi64>
    %0 = llir.gather %a, %two {checked} : tensor<32768x2048xbf16>, tensor<32768xi64> -> tensor<32768x2048xbf16>
    %1 = llir.view %0 <(d0, d1, d2) -> (8 * d0 + d2, d1)> : tensor<32768x2048xbf16> -> tensor<4096x2048x8xbf16>
    %2 = llir.reduce sum %1 : tensor<4096x2048x8xbf16> -> tensor<4096x2048xbf16>
    llir.yield %2 : tensor<4096x2048xbf16>
  }
  return %r : tensor<4096x2048xbf16>
}

// -----

// Few columns have a thread each.
// CHECK-LABEL: @few
// CHECK: loops<grid(d0, d1) stream(d2:all) threads({{[0-9]+}}) op2 = pass {lanes = 1, unroll = 8}>
func.func @few(%x: tensor<128x2048xbf16>, %i: tensor<128xi64>) -> tensor<16x2048xbf16> {
  %r = llir.kernel(%x, %i) : (tensor<128x2048xbf16>, tensor<128xi64>) -> tensor<16x2048xbf16> {
  ^bb0(%a: tensor<128x2048xbf16>, %b: tensor<128xi64>):
    %0 = llir.gather %a, %b {checked} : tensor<128x2048xbf16>, tensor<128xi64> -> tensor<128x2048xbf16>
    %1 = llir.view %0 <(d0, d1, d2) -> (8 * d0 + d2, d1)> : tensor<128x2048xbf16> -> tensor<16x2048x8xbf16>
    %2 = llir.reduce sum %1 : tensor<16x2048x8xbf16> -> tensor<16x2048xbf16>
    llir.yield %2 : tensor<16x2048xbf16>
  }
  return %r : tensor<16x2048xbf16>
}

// -----

// Where what is looked up lies along the row, a team takes it.
// CHECK-LABEL: @along
// CHECK: loops<grid(d0) stream(d1:all v{{[0-9]+}})
func.func @along(%x: tensor<100x2048xf32>, %i: tensor<4096xi64>) -> tensor<4096xf32> {
  %r = llir.kernel(%x, %i) : (tensor<100x2048xf32>, tensor<4096xi64>) -> tensor<4096xf32> {
  ^bb0(%a: tensor<100x2048xf32>, %b: tensor<4096xi64>):
    %0 = llir.gather %a, %b {checked} : tensor<100x2048xf32>, tensor<4096xi64> -> tensor<4096x2048xf32>
    %1 = llir.reduce sum %0 : tensor<4096x2048xf32> -> tensor<4096xf32>
    llir.yield %1 : tensor<4096xf32>
  }
  return %r : tensor<4096xf32>
}

// -----

// Rows of no elements.
// CHECK-LABEL: @none
// CHECK: loops<grid(d0, d1) stream(d2:all) threads(256) op1 = pass {lanes = 1, unroll = 1}>
func.func @none(%x: tensor<512x0x64xf32>) -> tensor<512x64xf32> {
  %r = llir.kernel(%x) : (tensor<512x0x64xf32>) -> tensor<512x64xf32> {
  ^bb0(%a: tensor<512x0x64xf32>):
    %0 = llir.view %a <(d0, d1, d2) -> (d0, d2, d1)> : tensor<512x0x64xf32> -> tensor<512x64x0xf32>
    %1 = llir.reduce max %0 : tensor<512x64x0xf32> -> tensor<512x64xf32>
    llir.yield %1 : tensor<512x64xf32>
  }
  return %r : tensor<512x64xf32>
}
