// Parts of reductions on a GPU: what orders the memory of those that share a row. assemble.mlir assembles it.
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_90a %s | FileCheck %s

// A thread block takes a part: one of them counts, all see its answer in shared memory.
// CHECK-LABEL: .entry block(
// CHECK: st.global
// CHECK: fence.acq_rel.gpu
// CHECK: atom.global.add.u32
// CHECK: bar.sync
// CHECK: bar.sync
// CHECK: fence.acq_rel.gpu
// What others wrote is read past the cache that never changes.
// CHECK: ld.global.b32
// CHECK: shfl.sync.bfly
// CHECK: ret
func.func private @block(%a: tensor<3x1048576xf32>) -> tensor<3xf32> {
  %r = llir.kernel(%a) loops<grid(d0) stream(d1:all v4) parts(40) threads(512, 512) op0 = pass {lanes = 4, unroll = 8}> : (tensor<3x1048576xf32>) -> tensor<3xf32> {
  ^bb0(%x: tensor<3x1048576xf32>):
    %0 = llir.reduce sum %x : tensor<3x1048576xf32> -> tensor<3xf32>
    llir.yield %0 : tensor<3xf32>
  }
  return %r : tensor<3xf32>
}

// A team within a warp votes.
// CHECK-LABEL: .entry team(
// CHECK: fence.acq_rel.gpu
// CHECK: atom.global.add.u32
// CHECK: vote.sync.any.pred
// CHECK: bar.warp.sync
// CHECK: fence.acq_rel.gpu
// CHECK: ret
func.func private @team(%a: tensor<3x1000xf16>) -> tensor<3xf16> {
  %r = llir.kernel(%a) loops<grid(d0) stream(d1:all) parts(4) threads(256, 16) op0 = pass {lanes = 1, unroll = 2}> : (tensor<3x1000xf16>) -> tensor<3xf16> {
  ^bb0(%x: tensor<3x1000xf16>):
    %0 = llir.reduce max %x : tensor<3x1000xf16> -> tensor<3xf16>
    llir.yield %0 : tensor<3xf16>
  }
  return %r : tensor<3xf16>
}

// A thread by itself needs no answer from others.
// CHECK-LABEL: .entry thread(
// CHECK: fence.acq_rel.gpu
// CHECK: atom.global.add.u32
// CHECK-NOT: bar.
// CHECK: fence.acq_rel.gpu
// CHECK: ret
func.func private @thread(%a: tensor<4x1000xf32>, %b: tensor<1000x4xf32>) -> tensor<4x4xf32> {
  %r = llir.kernel(%a, %b) loops<grid(d0, d1) parts(8) threads(64) op0 = element {lanes = 1, unroll = 4}> : (tensor<4x1000xf32>, tensor<1000x4xf32>) -> tensor<4x4xf32> {
  ^bb0(%x: tensor<4x1000xf32>, %y: tensor<1000x4xf32>):
    %0 = llir.gemm %x, %y k(1000) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<4x1000xf32>, tensor<1000x4xf32> -> tensor<4x4xf32>
    llir.yield %0 : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}
