// A run for a thread block, in shared memory; and a thread for each element that is merged.
// RUN: luminal-opt %s --luminal-pipeline="target=cuda arch=sm_90a from=saturated until=scheduled" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_90a %t.mlir -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx

// CHECK-LABEL: @long
// CHECK: loops<grid() threads(1024, 1024) op0 = whole>
// CHECK: loops<grid() threads(128) op0 = whole>
// CHECK: loops<grid() threads(128) op0 = whole>
// PTX-LABEL: .entry long(
// PTX: .maxntid 1024
// PTX-DAG: .shared .align 16 .b8 {{.*}}[16384]
// PTX-DAG: bar.sync
// PTX-DAG: bar.warp.sync
// PTX-DAG: st.shared
// PTX-DAG: ld.shared
// PTX-LABEL: .entry long_0(
// PTX-NOT: shared
// PTX-LABEL: .entry long_1(
// PTX: st.global.b64
func.func @long(%x: tensor<8000xf32>) -> tensor<8000xi64> {
  %0 = llir.argsort %x {descending = true} : tensor<8000xf32> -> tensor<8000xi64>
  return %0 : tensor<8000xi64>
}

// CHECK-LABEL: @short
// CHECK: loops<grid() threads(128, 128) op0 = whole>
// PTX-LABEL: .entry short(
// PTX: .maxntid 128
// PTX-COUNT-2: vote.sync.ballot.b32
// PTX-NOT: vote.sync
func.func @short(%x: tensor<99x64xi64>) -> tensor<99x3xi64> {
  %0 = llir.argsort %x : tensor<99x64xi64> -> tensor<99x3xi64>
  return %0 : tensor<99x3xi64>
}
