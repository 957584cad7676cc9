// Many rows: four warps together multiply what is in shared memory, scores from there and terms from registers.
// RUN: luminal-opt %s --luminal-pipeline="target=cuda arch=sm_90a from=saturated until=scheduled" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_90a %t.mlir -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx
// RUN: %if ptxas %{ ptxas -v -arch=sm_90a %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS --implicit-check-not=C75 %}
// Products are not made to wait for each other (C75..).
// PTXAS-COUNT-2: 0 bytes spill stores
// No other architecture has the instruction.
// RUN: luminal-opt %s --luminal-pipeline="target=cuda arch=sm_90 from=saturated until=scheduled" | FileCheck %s --check-prefix=OTHER

// CHECK-LABEL: @many
// CHECK: loops<grid(d0, d1:64) stream(d2:64) threads(128, 128) op0 = block {{.*}} stages = 2, use = wgmma} op2 = joint {blocks = 3} op6 = joint {blocks = 3} op12 = block {{.*}} stages = 2, terms = beside, use = wgmma}>
// OTHER-LABEL: @many
// OTHER: loops<grid(d0, d1:64) stream(d2:32) threads(128, 128) op0 = block {{.*}} use = mma}
// At the end neighbouring threads exchange what they have of a line, so that each writes 16 bytes of it.
// PTX-LABEL: .entry many(
// PTX: shfl.sync.bfly
// PTX-COUNT-4: st.global.v4
// What threads copied and stored is made known to the tensor cores before the barrier.
// PTX: cp.async.wait_group 1;
// PTX: fence.proxy.async.shared::cta;
// PTX: bar.sync 0;
// PTX: wgmma.fence.sync.aligned;
// PTX-COUNT-8: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {{.*}}, p, 1, 1, 0, 0;
// PTX: wgmma.commit_group.sync.aligned;
// PTX: wgmma.wait_group.sync.aligned 0;
// The scores of the next chunk, then the products of this one, of which the right operand has lines of k.
// PTX: wgmma.fence.sync.aligned;
// PTX-COUNT-8: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {{.*}}, p, 1, 1, 0, 0;
// PTX: wgmma.fence.sync.aligned;
// PTX-COUNT-4: wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {{.*}}, p, 1, 1, 1;
// Terms are computed beside that: behind them a branch holds the wait back, which ptxas would move in front of them.
// PTX: wgmma.wait_group.sync.aligned 1;
// PTX: vote.sync.all.pred
// PTX: wgmma.wait_group.sync.aligned 0;
func.func @many(%q: tensor<32x2048x128xbf16>, %k: tensor<32x192x128xbf16>, %v: tensor<32x192x64xbf16>) -> tensor<32x2048x64xbf16> {
  %s = llir.gemm %q, %k k(128) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<32x2048x128xbf16>, tensor<32x192x128xbf16> -> tensor<32x2048x192xbf16>
  %p = llir.softmax %s : tensor<32x2048x192xbf16>
  %o = llir.gemm %p, %v k(192) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<32x2048x192xbf16>, tensor<32x192x64xbf16> -> tensor<32x2048x64xbf16>
  return %o : tensor<32x2048x64xbf16>
}

// A mask is looked at only in chunks where it may hold something back: behind a branch between the product and the powers.
// CHECK-LABEL: @causal
// What a block skips, others look at: the last one to say what it found repeats all rows where an element is not finite.
// CHECK: loops<grid(d0, d1:64) stream(d2:64) threads(128, 128) op{{.*}} use = wgmma} {{.*}} skipped = shared, stages = 2, terms = beside, use = wgmma}>
// CHECK: exp2_fast
// PTX-LABEL: .entry causal(
// PTX: wgmma.wait_group.sync.aligned 0;
// PTX: bra
// The factor of the scores is that of their maximum, and of each exponent by one fma.
// PTX: max.NaN.f32
// PTX: fma.rn.f32 [[EXPONENT:%r[0-9]+]], {{%r[0-9]+}}, 0f3E38AA3B,
// PTX-NEXT: ex2.approx.ftz.f32 {{%r[0-9]+}}, [[EXPONENT]];
// PTX: cvt.rn.bf16x2.f32
// PTX: wgmma.mma_async
// A block knows whether it is the last one before it has multiplied its last terms.
// PTX: atom.global.inc.u32
// PTX: wgmma.mma_async
// PTX: bar.red.or.pred
// PTX: bar.sync 0;
// PTX: fence.acq_rel.gpu;
// PTX: {{(red|atom).*}}.global.add.u64
func.func @causal(%q: tensor<32x2048x64xbf16>, %k: tensor<32x2048x64xbf16>, %v: tensor<32x2048x64xbf16>) -> tensor<32x2048x64xbf16> {
  %a = llir.elementwise cast(%q) : (tensor<32x2048x64xbf16>) -> tensor<32x2048x64xf32>
  %b = llir.elementwise cast(%k) : (tensor<32x2048x64xbf16>) -> tensor<32x2048x64xf32>
  %s = llir.gemm %a, %b k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<32x2048x64xf32>, tensor<32x2048x64xf32> -> tensor<32x2048x2048xf32>
  %c = llir.constant dense<0.125> : tensor<f32>
  %cs = llir.view %c <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<32x2048x2048xf32>
  %x = llir.elementwise mul(%s, %cs) : (tensor<32x2048x2048xf32>, tensor<32x2048x2048xf32>) -> tensor<32x2048x2048xf32>
  %i = llir.iota <(d0, d1, d2) -> (d1)> : tensor<32x2048x2048xi64>
  %j = llir.iota <(d0, d1, d2) -> (d2)> : tensor<32x2048x2048xi64>
  %m = llir.elementwise less_equal(%j, %i) : (tensor<32x2048x2048xi64>, tensor<32x2048x2048xi64>) -> tensor<32x2048x2048xi1>
  %l = llir.constant dense<0xFF800000> : tensor<f32>
  %ls = llir.view %l <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<32x2048x2048xf32>
  %y = llir.elementwise select(%m, %x, %ls) : (tensor<32x2048x2048xi1>, tensor<32x2048x2048xf32>, tensor<32x2048x2048xf32>) -> tensor<32x2048x2048xf32>
  %p = llir.softmax %y : tensor<32x2048x2048xf32>
  %n = llir.elementwise cast(%p) : (tensor<32x2048x2048xf32>) -> tensor<32x2048x2048xbf16>
  %o = llir.gemm %n, %v k(2048) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<32x2048x2048xbf16>, tensor<32x2048x64xbf16> -> tensor<32x2048x64xbf16>
  return %o : tensor<32x2048x64xbf16>
}
