// Many rows of a long stream: four warps copy right operands for the others, which multiply.
// RUN: luminal-opt %s --luminal-pipeline="target=cuda arch=h200 from=saturated until=scheduled" --remarks-filter=llir-schedule-kernels -o %t.mlir 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_90a %t.mlir -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx
// RUN: %if ptxas %{ ptxas -v -arch=sm_90a %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS --implicit-check-not=C75 %}
// All registers of a multiprocessor are the block's, which warps share out among themselves (168 for 384 threads).
// PTXAS: Compiling entry function 'wide'
// PTXAS: 0 bytes spill stores
// PTXAS: Used 168 registers, used 2 barriers

// REMARK: Function=wide | {{.*}}warps specialized for rows=128
// CHECK-LABEL: @wide
// CHECK: loops<grid(d0, d1:128) stream(d2:128) threads(384, 384) op0 = block {{.*}} stages = 2, use = wgmma} op{{.*}} stages = 2, terms = beside, use = wgmma, warps = specialized}>
// PTX-LABEL: .entry wide(
// Of each stage of scores and of sums: 128 threads say that they have copied, eight warps that they have multiplied.
// PTX-COUNT-8: mbarrier.init.shared.b64
// PTX: bar.sync 0;
// PTX: setmaxnreg.inc.sync.aligned.u32 232;
// The first scores; one thread of a warp says that it has multiplied.
// PTX: mbarrier.try_wait.parity.shared::cta.b64 p,
// PTX: fence.proxy.async.shared::cta;
// PTX-COUNT-8: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {{.*}}, p, 1, 1, 0, 0;
// PTX: setp.eq.u32 p, {{.*}}, 0;
// PTX-NEXT: @p mbarrier.arrive.shared::cta.b64 _,
// Of the consumers alone.
// PTX: bar.sync 1, 256;
// The scores of the next chunk and the products of this one.
// PTX: mbarrier.try_wait.parity.shared::cta.b64 p,
// PTX: mbarrier.try_wait.parity.shared::cta.b64 p,
// PTX-COUNT-8: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {{.*}}, p, 1, 1, 0, 0;
// PTX-COUNT-8: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {{.*}}, p, 1, 1, 1;
// PTX: wgmma.wait_group.sync.aligned 1;
// PTX: @p mbarrier.arrive.shared::cta.b64 _,
// PTX: setmaxnreg.dec.sync.aligned.u32 32;
// PTX: mbarrier.try_wait.parity.shared::cta.b64 p,
// PTX: cp.async.cg.shared.global
// Copies that are done say so themselves.
// PTX: cp.async.mbarrier.arrive.noinc.shared.b64
func.func @wide(%q: tensor<32x2048x128xbf16>, %k: tensor<32x2048x128xbf16>, %v: tensor<32x2048x128xbf16>) -> tensor<32x2048x128xbf16> {
  %s = llir.gemm %q, %k k(128) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<32x2048x128xbf16>, tensor<32x2048x128xbf16> -> tensor<32x2048x2048xbf16>
  %p = llir.softmax %s : tensor<32x2048x2048xbf16>
  %o = llir.gemm %p, %v k(2048) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<32x2048x2048xbf16>, tensor<32x2048x128xbf16> -> tensor<32x2048x128xbf16>
  return %o : tensor<32x2048x128xbf16>
}

// Few keys: other blocks hide how one begins and ends.
// REMARK: Function=few | {{.*}}no specialized warps because="a block may multiply too little"
// CHECK-LABEL: @few
// CHECK: loops<grid(d0, d1:64) stream(d2:64) threads(128, 128)
func.func @few(%q: tensor<32x2048x128xbf16>, %k: tensor<32x192x128xbf16>, %v: tensor<32x192x128xbf16>) -> tensor<32x2048x128xbf16> {
  %s = llir.gemm %q, %k k(128) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<32x2048x128xbf16>, tensor<32x192x128xbf16> -> tensor<32x2048x192xbf16>
  %p = llir.softmax %s : tensor<32x2048x192xbf16>
  %o = llir.gemm %p, %v k(192) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<32x2048x192xbf16>, tensor<32x192x128xbf16> -> tensor<32x2048x128xbf16>
  return %o : tensor<32x2048x128xbf16>
}

// Few rows: half of the multiprocessors would have none.
// REMARK: Function=idle | {{.*}}no specialized warps because="multiprocessors would be without work"
// CHECK-LABEL: @idle
// CHECK: loops<grid(d0, d1:64) stream(d2:64)
func.func @idle(%q: tensor<8x1024x128xbf16>, %k: tensor<8x4096x128xbf16>, %v: tensor<8x4096x128xbf16>) -> tensor<8x1024x128xbf16> {
  %s = llir.gemm %q, %k k(128) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<8x1024x128xbf16>, tensor<8x4096x128xbf16> -> tensor<8x1024x4096xbf16>
  %p = llir.softmax %s : tensor<8x1024x4096xbf16>
  %o = llir.gemm %p, %v k(4096) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<8x1024x4096xbf16>, tensor<8x4096x128xbf16> -> tensor<8x1024x128xbf16>
  return %o : tensor<8x1024x128xbf16>
}

// All cases of a kernel have as many threads: so many rows and keys are to be there at each call.
// REMARK: Function=some | {{.*}}no specialized warps because="a block may multiply too little"
// REMARK: Function=symbolic | {{.*}}warps specialized for rows=128
// CHECK-LABEL: @some
// CHECK: grid(d0, d1:64) stream(d2:64)
// CHECK-LABEL: @symbolic
// CHECK: loops<grid(d0, d1:128) stream(d2:128) {{.*}} warps = specialized}>
func.func @some(%q: tensor<32x?x128xbf16, #hlir.dims<m>>, %k: tensor<32x?x128xbf16, #hlir.dims<n>>, %v: tensor<32x?x128xbf16, #hlir.dims<n>>) -> tensor<32x?x128xbf16, #hlir.dims<m>> attributes {hlir.symbols = #hlir.symbols<m in [0, 4096], n in [0, 4096]>} {
  %s = llir.gemm %q, %k k(128) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<32x?x128xbf16, #hlir.dims<m>>, tensor<32x?x128xbf16, #hlir.dims<n>> -> tensor<32x?x?xbf16, #hlir.dims<m, n>>
  %p = llir.softmax %s : tensor<32x?x?xbf16, #hlir.dims<m, n>>
  %o = llir.gemm %p, %v k(n) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<32x?x?xbf16, #hlir.dims<m, n>>, tensor<32x?x128xbf16, #hlir.dims<n>> -> tensor<32x?x128xbf16, #hlir.dims<m>>
  return %o : tensor<32x?x128xbf16, #hlir.dims<m>>
}
func.func @symbolic(%q: tensor<32x?x128xbf16, #hlir.dims<m>>, %k: tensor<32x?x128xbf16, #hlir.dims<n>>, %v: tensor<32x?x128xbf16, #hlir.dims<n>>) -> tensor<32x?x128xbf16, #hlir.dims<m>> attributes {hlir.symbols = #hlir.symbols<m in [2048, 4096], n in [1024, 4096]>} {
  %s = llir.gemm %q, %k k(128) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<32x?x128xbf16, #hlir.dims<m>>, tensor<32x?x128xbf16, #hlir.dims<n>> -> tensor<32x?x?xbf16, #hlir.dims<m, n>>
  %p = llir.softmax %s : tensor<32x?x?xbf16, #hlir.dims<m, n>>
  %o = llir.gemm %p, %v k(n) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<32x?x?xbf16, #hlir.dims<m, n>>, tensor<32x?x128xbf16, #hlir.dims<n>> -> tensor<32x?x128xbf16, #hlir.dims<m>>
  return %o : tensor<32x?x128xbf16, #hlir.dims<m>>
}
