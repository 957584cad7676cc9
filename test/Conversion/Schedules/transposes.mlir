// Maps that read memory across the results go through tiles in shared memory; and near misses that do not.
// RUN: luminal-opt %s --luminal-pipeline="target=cuda arch=sm_90a from=saturated until=scheduled" --remarks-filter=llir-schedule-kernels -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_90a %t.mlir | FileCheck %s --check-prefix=PTX

// 16 bytes at a time both ways; a line of the tile is an odd number of words.
// CHECK-LABEL: @plain
// CHECK: loops<grid(d0:64, d1:64 v8) threads(256, 256) op0 = transpose {lanes = 8}>
// REMARK: transposed tiles in shared memory
// PTX-LABEL: .entry plain(
// PTX: .shared .align 16 .b8 plain_shared_0[8448]
// PTX: bar.sync
// PTX: ld.global.nc.v4.b32
// PTX: st.shared.b32
// PTX: bar.sync
// PTX-COUNT-8: ld.shared.b16 {{.*}}
// PTX: st.global.v4.b32
func.func @plain(%x: tensor<512x768xbf16>) -> tensor<768x512xbf16> {
  %0 = llir.view %x <(d0, d1) -> (d1, d0)> : tensor<512x768xbf16> -> tensor<768x512xbf16>
  return %0 : tensor<768x512xbf16>
}

// Sizes that are no whole tiles are guarded; what is not transposed is read as it is.
// CHECK-LABEL: @odd
// CHECK: loops<grid(d0:64, d1:64) threads(256, 256) op0 = transpose {lanes = 1}>
// PTX-LABEL: .entry odd(
// PTX: setp
// PTX: st.shared.b32
// PTX: ld.shared.b32
// PTX: add.rn.f32
func.func @odd(%x: tensor<501x703xf32>, %y: tensor<703x501xf32>) -> tensor<703x501xf32> {
  %0 = llir.view %x <(d0, d1) -> (d1, d0)> : tensor<501x703xf32> -> tensor<703x501xf32>
  %1 = llir.elementwise add(%0, %y) : (tensor<703x501xf32>, tensor<703x501xf32>) -> tensor<703x501xf32>
  return %1 : tensor<703x501xf32>
}

// Batches, and an axis between: channels last to channels first.
// CHECK-LABEL: @batched
// CHECK: loops<grid(d0, d1:64, d2*d3:64 v4) threads(256, 256) op0 = transpose {lanes = 4}>
func.func @batched(%x: tensor<8x32x32x96xf32>) -> tensor<8x96x32x32xf32> {
  %0 = llir.view %x <(d0, d1, d2, d3) -> (d0, d2, d3, d1)> : tensor<8x32x32x96xf32> -> tensor<8x96x32x32xf32>
  return %0 : tensor<8x96x32x32xf32>
}

// Two tiles of f64 take a quarter each.
// CHECK-LABEL: @two
// CHECK: loops<grid(d0:32, d1:32 v2) threads(256, 256) op0 = transpose {lanes = 2} op1 = transpose {lanes = 2}>
func.func @two(%x: tensor<512x512xf64>, %y: tensor<512x512xf64>) -> tensor<512x512xf64> {
  %0 = llir.view %x <(d0, d1) -> (d1, d0)> : tensor<512x512xf64> -> tensor<512x512xf64>
  %1 = llir.view %y <(d0, d1) -> (d1, d0)> : tensor<512x512xf64> -> tensor<512x512xf64>
  %2 = llir.elementwise mul(%0, %1) : (tensor<512x512xf64>, tensor<512x512xf64>) -> tensor<512x512xf64>
  return %2 : tensor<512x512xf64>
}

// Near misses: heads whose elements stay neighbours, little to transpose, a value that is the same along
// the results' last dim, a view that is also read elsewhere.
// CHECK-LABEL: @heads
// CHECK-NOT: transpose
func.func @heads(%x: tensor<16x2048x12x64xf16>) -> tensor<16x12x2048x64xf16> {
  %0 = llir.view %x <(d0, d1, d2, d3) -> (d0, d2, d1, d3)> : tensor<16x2048x12x64xf16> -> tensor<16x12x2048x64xf16>
  return %0 : tensor<16x12x2048x64xf16>
}

// CHECK-LABEL: @narrow
// CHECK-NOT: transpose
// REMARK: there is little to transpose
func.func @narrow(%x: tensor<100000x3xf32>) -> tensor<3x100000xf32> {
  %0 = llir.view %x <(d0, d1) -> (d1, d0)> : tensor<100000x3xf32> -> tensor<3x100000xf32>
  return %0 : tensor<3x100000xf32>
}

// CHECK-LABEL: @spread
// CHECK-NOT: transpose
func.func @spread(%x: tensor<512xf32>, %y: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = llir.view %x <(d0, d1) -> (d0)> : tensor<512xf32> -> tensor<512x512xf32>
  %1 = llir.elementwise mul(%0, %y) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  return %1 : tensor<512x512xf32>
}

// CHECK-LABEL: @elsewhere
// CHECK-NOT: transpose
func.func @elsewhere(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = llir.kernel(%x) : (tensor<512x512xf32>) -> tensor<512x512xf32> {
  ^bb0(%a: tensor<512x512xf32>):
    %1 = llir.view %a <(d0, d1) -> (d1, d0)> : tensor<512x512xf32> -> tensor<512x512xf32>
    %2 = llir.elementwise exp(%1) : (tensor<512x512xf32>) -> tensor<512x512xf32>
    %3 = llir.view %2 <(d0, d1) -> (511 - d0, d1)> : tensor<512x512xf32> -> tensor<512x512xf32>
    %4 = llir.elementwise add(%1, %3) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
    llir.yield %4 : tensor<512x512xf32>
  }
  return %0 : tensor<512x512xf32>
}
