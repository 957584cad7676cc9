// Matrix products by four warps together: steps of k wait in a ring buffer in shared memory, where the instruction reads them.
// RUN: luminal-opt %s --luminal-pipeline="target=cuda arch=sm_90a library=none from=saturated until=scheduled" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_90a %t.mlir -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx
// RUN: %if ptxas %{ ptxas -arch=sm_90a %t.ptx -o %t.cubin %}

// What is multiplied is copied; copies of a later step begin while the tensor cores multiply, before the wait for them.
// Results pass through shared memory: eight at once.
// CHECK-LABEL: @large
// CHECK: loops<grid(d1:128, d0:128) threads(256, 256) op0 = block {blocks = 2, columnalong = k, columnlanes = 8, copy = both, depth = 64, resultalong = columns, resultlanes = 8, rowalong = k, rowlanes = 8, stages = 3, use = wgmma}>
// PTX: .extern .shared .align 1024 .b8 large_shared_0[];
// PTX-LABEL: .entry large(
// PTX: .maxntid 256
// PTX: .minnctapersm 2
// PTX: wgmma.wait_group.sync.aligned 0;
// PTX: cp.async.wait_group 1;
// PTX-NEXT: {{.*}}inline asm
// PTX-NEXT: fence.proxy.async.shared::cta;
// PTX: bar.sync 0
// PTX: wgmma.fence.sync.aligned;
// PTX-COUNT-4: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {{.*}} p, 1, 1, 0, 0;
// PTX: wgmma.commit_group.sync.aligned;
// PTX-NEXT: }
// PTX: cp.async.cg.shared.global
// PTX-DAG: st.shared
// PTX-DAG: st.global.v4.b32
func.func @large(%x: tensor<2048x4096xbf16>, %w: tensor<4096x4096xbf16>) -> tensor<2048x4096xbf16> {
  %0 = llir.gemm %x, %w k(4096) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
      : tensor<2048x4096xbf16>, tensor<4096x4096xbf16> -> tensor<2048x4096xbf16>
  return %0 : tensor<2048x4096xbf16>
}

// The right operand lies across k: the instruction transposes it. Fewer rows are a tile for four warps.
// CHECK-LABEL: @across
// CHECK: loops<grid(d1:{{[0-9]+}}, d0:64) threads(128, 128) op0 = block {{.*}}columnalong = own, columnlanes = 8, copy = both, {{.*}} use = wgmma}>
// PTX-LABEL: .entry across(
// PTX: wgmma.mma_async.sync.aligned{{.*}} p, 1, 1, 0, 1;
func.func @across(%x: tensor<512x768xf16>, %w: tensor<768x768xf16>) -> tensor<512x768xf16> {
  %0 = llir.gemm %x, %w k(768) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)>
      : tensor<512x768xf16>, tensor<768x768xf16> -> tensor<512x768xf16>
  return %0 : tensor<512x768xf16>
}

// Fewer rows than four warps have are padded: nothing but the columns takes time.
// CHECK-LABEL: @few
// CHECK: loops<grid(d1:128, d0:64) threads(128, 128) op0 = block {{.*}} copy = both, {{.*}} use = wgmma}>
// PTX-LABEL: .entry few(
// PTX: wgmma.mma_async.sync.aligned.m64n128k16
func.func @few(%x: tensor<16x4096xbf16>, %w: tensor<28672x4096xbf16>) -> tensor<16x28672xbf16> {
  %0 = llir.gemm %x, %w k(4096) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
      : tensor<16x4096xbf16>, tensor<28672x4096xbf16> -> tensor<16x28672xbf16>
  return %0 : tensor<16x28672xbf16>
}

// A computed operand passes through registers into the same ring. Rows of an odd length are written element by element,
// neighbours by neighbouring threads.
// CHECK-LABEL: @computed
// CHECK: op1 = block {{.*}} copy = columns, depth = 64, resultalong = columns, resultlanes = 1, {{.*}} use = wgmma}>
// PTX-LABEL: .entry computed(
// PTX: st.shared.v4.b32
// PTX: wgmma.mma_async
// PTX: cp.async.cg.shared.global
// PTX: st.global.b16
func.func @computed(%x: tensor<512x256xf16>, %w: tensor<1001x256xf16>) -> tensor<512x1001xf16> {
  %a = llir.elementwise abs(%x) : (tensor<512x256xf16>) -> tensor<512x256xf16>
  %0 = llir.gemm %a, %w k(256) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
      : tensor<512x256xf16>, tensor<1001x256xf16> -> tensor<512x1001xf16>
  return %0 : tensor<512x1001xf16>
}

// The result is kept transposed, so it is written along its rows; few tiles have parts of k.
// CHECK-LABEL: @transposed
// CHECK: parts({{[0-9]+}}) {{.*}} resultalong = rows, resultlanes = 8, {{.*}} use = wgmma}>
// PTX-LABEL: .entry transposed(
// PTX: atom.{{.*}}add
// PTX: st.global.v4.b32
func.func @transposed(%x: tensor<64x2304xf16>, %w: tensor<512x2304xf16>) -> tensor<512x64xf16> {
  %0 = llir.gemm %x, %w k(2304) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
      : tensor<64x2304xf16>, tensor<512x2304xf16> -> tensor<64x512xf16>
  %1 = llir.view %0 <(d0, d1) -> (d1, d0)> : tensor<64x512xf16> -> tensor<512x64xf16>
  return %1 : tensor<512x64xf16>
}
