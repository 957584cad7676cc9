// Matrix products by thread blocks.
// RUN: luminal-opt %s --luminal-pipeline="target=cuda arch=sm_80 library=none from=saturated until=scheduled" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_80 %t.mlir -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx

// bf16 on the tensor cores: both operands are copied to shared memory while the step before is multiplied, and results
// pass through it.
// CHECK-LABEL: @tensor
// CHECK: loops<grid(d1:128, d0:128) threads(256, 256) op0 = block {blocks = 2, columnalong = k, columnlanes = 8, copy = both, depth = 64, resultalong = columns, resultlanes = 8, rowalong = k, rowlanes = 8, stages = 2, use = mma}>
// PTX-LABEL: .entry tensor(
// PTX-DAG: cp.async.cg.shared.global {{.*}}, 16;
// PTX-DAG: cp.async.wait_group 0;
// PTX-DAG: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// PTX-DAG: st.shared
// PTX-DAG: st.global.v4.b32
func.func @tensor(%x: tensor<2048x4096xbf16>, %w: tensor<4096x4096xbf16>) -> tensor<2048x4096xbf16> {
  %0 = llir.gemm %x, %w k(4096) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
      : tensor<2048x4096xbf16>, tensor<4096x4096xbf16> -> tensor<2048x4096xbf16>
  return %0 : tensor<2048x4096xbf16>
}

// The right operand lies along its columns; f32 is multiplied and added as it is.
// CHECK-LABEL: @plain
// CHECK: op0 = block {columnalong = own, columnlanes = 4, depth = 32, rowalong = k, rowlanes = 4, use = fma}>
// PTX-LABEL: .entry plain(
// PTX: fma.rn.f32
func.func @plain(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = llir.gemm %x, %w k(512) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)>
      : tensor<512x512xf32>, tensor<512x512xf32> -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}

// Neither side ends with the tile: elements beyond it are 0 and not stored.
// CHECK-LABEL: @rest
// CHECK: op0 = block {{.*}} use = mma
// PTX-LABEL: .entry rest(
// PTX: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
func.func @rest(%x: tensor<300x333xf16>, %w: tensor<77x333xf16>) -> tensor<300x77xf16> {
  %0 = llir.gemm %x, %w k(333) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
      : tensor<300x333xf16>, tensor<77x333xf16> -> tensor<300x77xf16>
  return %0 : tensor<300x77xf16>
}

// A small product: threads that wait for each other's tiles would lose.
// CHECK-LABEL: @small
// CHECK: op0 = element
func.func @small(%x: tensor<16x64xf32>, %w: tensor<64x64xf32>) -> tensor<16x64xf32> {
  %0 = llir.gemm %x, %w k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
      : tensor<16x64xf32>, tensor<64x64xf32> -> tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}

// Few tiles: parts of k for each. Who is last at a tile adds what all of them left, in their order, and writes it.
// CHECK-LABEL: @parts
// CHECK: loops<grid(d1:32, d0:32) parts(7) threads(256, 256) op0 = block {{.*}} depth = 64, {{.*}} use = mma}>
// PTX-LABEL: .entry parts(
// PTX: mma.sync
// PTX: st.global.b32
// PTX: bar.sync 0
// PTX: fence.acq_rel.gpu
// PTX: atom.{{.*}}add
// PTX-COUNT-28: ld.global.b32
// PTX: add.rn.f32
// PTX: st.global.v4.b32
func.func @parts(%x: tensor<49x4608xf16>, %w: tensor<512x4608xf16>) -> tensor<49x512xf16> {
  %0 = llir.gemm %x, %w k(4608) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
      : tensor<49x4608xf16>, tensor<512x4608xf16> -> tensor<49x512xf16>
  return %0 : tensor<49x512xf16>
}

// As few tiles, but a part would have too few steps; deep steps for a small tile of f32.
// CHECK-LABEL: @few_steps
// CHECK: loops<grid(d1:32, d0:32) threads(256, 256) op0 = block {{.*}} depth = 32, {{.*}} use = fma}>
func.func @few_steps(%x: tensor<49x192xf32>, %w: tensor<512x192xf32>) -> tensor<49x512xf32> {
  %0 = llir.gemm %x, %w k(192) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
      : tensor<49x192xf32>, tensor<512x192xf32> -> tensor<49x512xf32>
  return %0 : tensor<49x512xf32>
}
