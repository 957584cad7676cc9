// Anchors that thread blocks computed jointly: scores, states and lines of results in registers, in one kernel.
// RUN: luminal-opt %s --luminal-pipeline="target=cuda arch=sm_80 from=saturated until=scheduled" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: luminal-opt %s --luminal-pipeline="target=cuda arch=sm_90a from=saturated until=scheduled" | FileCheck %s --check-prefix=LARGE
// RUN: luminal-opt %s --luminal-pipeline="target=cuda arch=sm_80 from=saturated until=scheduled" --remarks-filter='llir-schedule-kernels|llir-call-libraries|llir-fuse-kernels' -o %t.none 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_80 %t.mlir -o %t.80.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.80.ptx
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_90a %t.mlir -o %t.90.ptx
// RUN: %if ptxas %{ ptxas -arch=sm_80 %t.80.ptx -o %t.80.cubin %}
// RUN: %if ptxas %{ ptxas -arch=sm_90a %t.90.ptx -o %t.90.cubin %}

// The keys and the values, which are widened for the product, go to the tensor cores as they are; the rows of the values
// lie across k. Both are copied while the chunk before is computed. A maximum is exchanged by the four threads of a row;
// both products are a library's no more.
// REMARK: op=gemm, reason="its kernel streams it jointly with other anchors"
// REMARK: anchors=4, chunk=32, form="anchors in one loop over a streamed dim"
// CHECK-LABEL: @half
// CHECK: llir.kernel(%arg0, %arg1, %arg2) loops<grid(d1, d2:64) stream(d3:32) threads(128, 128) op0 = block {columnalong = k, columnlanes = 8, rowalong = k, rowlanes = 8, stages = 2, use = mma} op{{.*}} = joint {blocks = 2} op{{.*}} = joint {blocks = 2} op{{.*}} = block {columnalong = own, columnlanes = 8, stages = 2, use = mma}>
// CHECK-NOT: llir.kernel
// CHECK-NOT: cublaslt
// CHECK: return
// PTX-LABEL: .entry half(
// PTX-DAG: cp.async.cg.shared.global {{.*}}, 16;
// PTX-DAG: cp.async.commit_group;
// PTX-DAG: cp.async.wait_group 0;
// PTX-DAG: ldmatrix.sync.aligned.m8n8.x4.shared.b16
// PTX-DAG: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// PTX-DAG: shfl.sync.bfly.b32
// PTX-DAG: ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16
// PTX-DAG: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
func.func @half(%q: tensor<1x8x1024x128xbf16>, %k: tensor<1x8x1024x128xbf16>, %v: tensor<1x8x1024x128xbf16>) -> tensor<1x8x1024x128xbf16> {
  %s = llir.gemm %q, %k k(128) <(d0, d1, d2, d3, d4) -> (0, d1, d2, d4)>, <(d0, d1, d2, d3, d4) -> (0, d1, d3, d4)> : tensor<1x8x1024x128xbf16>, tensor<1x8x1024x128xbf16> -> tensor<1x8x1024x1024xbf16>
  %p = llir.softmax %s : tensor<1x8x1024x1024xbf16>
  %o = llir.gemm %p, %v k(1024) <(d0, d1, d2, d3, d4) -> (0, d1, d2, d4)>, <(d0, d1, d2, d3, d4) -> (0, d1, d4, d3)> : tensor<1x8x1024x1024xbf16>, tensor<1x8x1024x128xbf16> -> tensor<1x8x1024x128xbf16>
  return %o : tensor<1x8x1024x128xbf16>
}

// f32 is multiplied and added as it is, the terms through shared memory; any number of rows and keys, a mask, rows that
// share their keys.
// CHECK-LABEL: @dynamic
// CHECK: loops<grid(d0, d1*d2:{{32|64}}) stream(d3:{{[0-9]+}}) threads(256, 256) op{{[0-9]+}} = block {{.*}} use = fma} {{.*}} = joint {{.*}} = joint {{.*}} = block {{.*}} use = fma}>
// CHECK-NOT: llir.kernel
// CHECK: return
// What the mask leaves out is looked at by all threads, and not walked.
// PTX-LABEL: .entry dynamic(
// PTX: bar.red.or.pred
// PTX: fma.rn.f32
// PTX: shfl.sync.bfly.b32
// PTX: st.shared.b32
// PTX: bar.sync 0
func.func @dynamic(%q: tensor<2x3x?x40xf32, #hlir.dims<m>>, %k: tensor<2x?x40xf32, #hlir.dims<n>>, %v: tensor<2x?x72xf32, #hlir.dims<n>>) -> tensor<2x3x?x72xf32, #hlir.dims<m>> attributes {hlir.symbols = #hlir.symbols<m in [0, 4096], n in [0, 4096]>} {
  %s = llir.gemm %q, %k k(40) <(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, <(d0, d1, d2, d3, d4) -> (d0, d3, d4)> : tensor<2x3x?x40xf32, #hlir.dims<m>>, tensor<2x?x40xf32, #hlir.dims<n>> -> tensor<2x3x?x?xf32, #hlir.dims<m, n>>
  %i = llir.iota <(d0, d1, d2, d3) -> (d2)> : tensor<2x3x?x?xi64, #hlir.dims<m, n>>
  %j = llir.iota <(d0, d1, d2, d3) -> (d3)> : tensor<2x3x?x?xi64, #hlir.dims<m, n>>
  %c = llir.elementwise less_equal(%j, %i) : (tensor<2x3x?x?xi64, #hlir.dims<m, n>>, tensor<2x3x?x?xi64, #hlir.dims<m, n>>) -> tensor<2x3x?x?xi1, #hlir.dims<m, n>>
  %lowest = llir.constant dense<0xFF800000> : tensor<f32>
  %all = llir.view %lowest <(d0, d1, d2, d3) -> ()> : tensor<f32> -> tensor<2x3x?x?xf32, #hlir.dims<m, n>>
  %masked = llir.elementwise select(%c, %s, %all) : (tensor<2x3x?x?xi1, #hlir.dims<m, n>>, tensor<2x3x?x?xf32, #hlir.dims<m, n>>, tensor<2x3x?x?xf32, #hlir.dims<m, n>>) -> tensor<2x3x?x?xf32, #hlir.dims<m, n>>
  %p = llir.softmax %masked : tensor<2x3x?x?xf32, #hlir.dims<m, n>>
  %o = llir.gemm %p, %v k(n) <(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, <(d0, d1, d2, d3, d4) -> (d0, d4, d3)> : tensor<2x3x?x?xf32, #hlir.dims<m, n>>, tensor<2x?x72xf32, #hlir.dims<n>> -> tensor<2x3x?x72xf32, #hlir.dims<m>>
  return %o : tensor<2x3x?x72xf32, #hlir.dims<m>>
}

// One query of a head: tensor cores take it with rows that are not there, of which eight are left out. Blocks walk parts
// of the keys and leave their states in the workspace; the last one merges those of all. Four threads have the row: the
// others of the warp merge parts of their own first, and threads exchange what they have then.
// CHECK-LABEL: @few
// CHECK: loops<grid(d0) stream(d2:32) parts({{[0-9]+}}) threads(32, 32) op0 = block {{.*}} use = mma}
// CHECK-NOT: llir.kernel
// CHECK: return
// PTX-LABEL: .entry few(
// PTX: mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32
// PTX: fence.acq_rel.gpu
// PTX-NEXT: atom
// PTX: fence.acq_rel.gpu
// PTX: ld.global
// PTX: shfl.sync.bfly.b32 {{.*}}, 16, 31, -1
// PTX: shfl.sync.bfly.b32 {{.*}}, 8, 31, -1
// PTX: shfl.sync.bfly.b32 {{.*}}, 4, 31, -1
func.func @few(%q: tensor<8x1x128xbf16>, %k: tensor<8x4096x128xbf16>, %v: tensor<8x4096x128xbf16>) -> tensor<8x1x128xbf16> {
  %s = llir.gemm %q, %k k(128) <(d0, d1, d2, d3) -> (d0, 0, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<8x1x128xbf16>, tensor<8x4096x128xbf16> -> tensor<8x1x4096xbf16>
  %p = llir.softmax %s : tensor<8x1x4096xbf16>
  %o = llir.gemm %p, %v k(4096) <(d0, d1, d2, d3) -> (d0, 0, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<8x1x4096xbf16>, tensor<8x4096x128xbf16> -> tensor<8x1x128xbf16>
  return %o : tensor<8x1x128xbf16>
}

// Four heads share their keys: their queries are rows of one tile, so that keys are read once.
// CHECK-LABEL: @grouped
// CHECK: loops<grid(d0, d1:16) stream(d3:32) parts({{[0-9]+}}) threads(32, 32) op0 = block {{.*}} use = mma}
// CHECK-NOT: llir.kernel
// CHECK: return
func.func @grouped(%q: tensor<32x1x128xbf16>, %k: tensor<8x4096x128xbf16>, %v: tensor<8x4096x128xbf16>) -> tensor<32x1x128xbf16> {
  %s = llir.gemm %q, %k k(128) <(d0, d1, d2, d3) -> (d0, 0, d3)>, <(d0, d1, d2, d3) -> (d0 floordiv 4, d2, d3)> : tensor<32x1x128xbf16>, tensor<8x4096x128xbf16> -> tensor<32x1x4096xbf16>
  %p = llir.softmax %s : tensor<32x1x4096xbf16>
  %o = llir.gemm %p, %v k(4096) <(d0, d1, d2, d3) -> (d0, 0, d3)>, <(d0, d1, d2, d3) -> (d0 floordiv 4, d3, d2)> : tensor<32x1x4096xbf16>, tensor<8x4096x128xbf16> -> tensor<32x1x128xbf16>
  return %o : tensor<32x1x128xbf16>
}

// Lines of the result that registers do not hold.
// CHECK-LABEL: @wide
// CHECK-NOT: joint
// CHECK: return
func.func @wide(%q: tensor<8x512x128xf16>, %k: tensor<8x512x128xf16>, %v: tensor<8x512x1024xf16>) -> tensor<8x512x1024xf16> {
  %s = llir.gemm %q, %k k(128) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<8x512x128xf16>, tensor<8x512x128xf16> -> tensor<8x512x512xf16>
  %p = llir.softmax %s : tensor<8x512x512xf16>
  %o = llir.gemm %p, %v k(512) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<8x512x512xf16>, tensor<8x512x1024xf16> -> tensor<8x512x1024xf16>
  return %o : tensor<8x512x1024xf16>
}

// What a library leaves is memory, whatever was before it: anchors of a layer before are none of this one's.
// CHECK-LABEL: @layers
// CHECK: llir.kernel({{.*}}) loops<{{.*}} stream(d3:32)
// CHECK: llir.cublaslt_matmul
// CHECK: llir.kernel({{.*}}) loops<{{.*}} stream(d3:32)
// CHECK-NOT: llir.kernel
// CHECK: return
func.func @layers(%x: tensor<1x8x1024x128xbf16>, %w: tensor<1024x1024xbf16>) -> tensor<1x8x1024x128xbf16> {
  %s = llir.gemm %x, %x k(128) <(d0, d1, d2, d3, d4) -> (0, d1, d2, d4)>, <(d0, d1, d2, d3, d4) -> (0, d1, d3, d4)> : tensor<1x8x1024x128xbf16>, tensor<1x8x1024x128xbf16> -> tensor<1x8x1024x1024xbf16>
  %p = llir.softmax %s : tensor<1x8x1024x1024xbf16>
  %o = llir.gemm %p, %x k(1024) <(d0, d1, d2, d3, d4) -> (0, d1, d2, d4)>, <(d0, d1, d2, d3, d4) -> (0, d1, d4, d3)> : tensor<1x8x1024x1024xbf16>, tensor<1x8x1024x128xbf16> -> tensor<1x8x1024x128xbf16>
  %y = llir.gemm %o, %w k(1024) <(d0, d1, d2, d3) -> (0, d3 floordiv 128, d1, d3 mod 128)>, <(d0, d1, d2, d3) -> (d2, d3)> : tensor<1x8x1024x128xbf16>, tensor<1024x1024xbf16> -> tensor<1x1024x1024xbf16>
  %z = llir.view %y <(d0, d1, d2, d3) -> (0, d2, 128 * d1 + d3)> : tensor<1x1024x1024xbf16> -> tensor<1x8x1024x128xbf16>
  %t = llir.gemm %z, %z k(128) <(d0, d1, d2, d3, d4) -> (0, d1, d2, d4)>, <(d0, d1, d2, d3, d4) -> (0, d1, d3, d4)> : tensor<1x8x1024x128xbf16>, tensor<1x8x1024x128xbf16> -> tensor<1x8x1024x1024xbf16>
  %q = llir.softmax %t : tensor<1x8x1024x1024xbf16>
  %r = llir.gemm %q, %z k(1024) <(d0, d1, d2, d3, d4) -> (0, d1, d2, d4)>, <(d0, d1, d2, d3, d4) -> (0, d1, d4, d3)> : tensor<1x8x1024x1024xbf16>, tensor<1x8x1024x128xbf16> -> tensor<1x8x1024x128xbf16>
  return %r : tensor<1x8x1024x128xbf16>
}

// Terms of f32 that are exponentials, so none is greater than 1, go to the tensor cores as two f16 each; the second one is
// multiplied with finite elements.
// CHECK-LABEL: @split
// CHECK: llir.kernel({{.*}}) loops<{{.*}} stream({{.*}} use = mma} {{.*}} use = mma}
// CHECK-NOT: llir.kernel
// CHECK: return
// PTX-LABEL: .entry split(
// PTX: min.f16x2
// PTX: max.f16x2
// PTX: cvt.f32.f16
// PTX: sub{{.*}}.f32
// PTX: mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
func.func @split(%q: tensor<1x8x1024x64xf16>, %k: tensor<1x8x1024x64xf16>, %v: tensor<1x8x1024x64xf16>) -> tensor<1x8x1024x64xf32> {
  %a = llir.elementwise cast(%q) : (tensor<1x8x1024x64xf16>) -> tensor<1x8x1024x64xf32>
  %b = llir.elementwise cast(%k) : (tensor<1x8x1024x64xf16>) -> tensor<1x8x1024x64xf32>
  %c = llir.elementwise cast(%v) : (tensor<1x8x1024x64xf16>) -> tensor<1x8x1024x64xf32>
  %s = llir.gemm %a, %b k(64) <(d0, d1, d2, d3, d4) -> (0, d1, d2, d4)>, <(d0, d1, d2, d3, d4) -> (0, d1, d3, d4)> : tensor<1x8x1024x64xf32>, tensor<1x8x1024x64xf32> -> tensor<1x8x1024x1024xf32>
  %m = llir.reduce max %s : tensor<1x8x1024x1024xf32> -> tensor<1x8x1024xf32>
  %n = llir.view %m <(d0, d1, d2, d3) -> (d0, d1, d2)> : tensor<1x8x1024xf32> -> tensor<1x8x1024x1024xf32>
  %d = llir.elementwise sub(%s, %n) : (tensor<1x8x1024x1024xf32>, tensor<1x8x1024x1024xf32>) -> tensor<1x8x1024x1024xf32>
  %e = llir.elementwise exp(%d) : (tensor<1x8x1024x1024xf32>) -> tensor<1x8x1024x1024xf32>
  %l = llir.reduce sum %e : tensor<1x8x1024x1024xf32> -> tensor<1x8x1024xf32>
  %o = llir.gemm %e, %c k(1024) <(d0, d1, d2, d3, d4) -> (0, d1, d2, d4)>, <(d0, d1, d2, d3, d4) -> (0, d1, d4, d3)> : tensor<1x8x1024x1024xf32>, tensor<1x8x1024x64xf32> -> tensor<1x8x1024x64xf32>
  %r = llir.view %l <(d0, d1, d2, d3) -> (d0, d1, d2)> : tensor<1x8x1024xf32> -> tensor<1x8x1024x64xf32>
  %t = llir.elementwise div(%o, %r) : (tensor<1x8x1024x64xf32>, tensor<1x8x1024x64xf32>) -> tensor<1x8x1024x64xf32>
  return %t : tensor<1x8x1024x64xf32>
}

// Of other terms nothing is known.
// CHECK-LABEL: @unbounded
// CHECK: llir.kernel({{.*}}) loops<{{.*}} stream({{.*}} use = fma} {{.*}} use = fma}
// CHECK: return
func.func @unbounded(%q: tensor<1x8x1024x64xf16>, %k: tensor<1x8x1024x64xf16>, %v: tensor<1x8x1024x64xf16>, %w: tensor<1024xf32>) -> tensor<1x8x1024x64xf32> {
  %a = llir.elementwise cast(%q) : (tensor<1x8x1024x64xf16>) -> tensor<1x8x1024x64xf32>
  %b = llir.elementwise cast(%k) : (tensor<1x8x1024x64xf16>) -> tensor<1x8x1024x64xf32>
  %c = llir.elementwise cast(%v) : (tensor<1x8x1024x64xf16>) -> tensor<1x8x1024x64xf32>
  %s = llir.gemm %a, %b k(64) <(d0, d1, d2, d3, d4) -> (0, d1, d2, d4)>, <(d0, d1, d2, d3, d4) -> (0, d1, d3, d4)> : tensor<1x8x1024x64xf32>, tensor<1x8x1024x64xf32> -> tensor<1x8x1024x1024xf32>
  %m = llir.reduce max %s : tensor<1x8x1024x1024xf32> -> tensor<1x8x1024xf32>
  %n = llir.view %m <(d0, d1, d2, d3) -> (d0, d1, d2)> : tensor<1x8x1024xf32> -> tensor<1x8x1024x1024xf32>
  %d = llir.elementwise sub(%s, %n) : (tensor<1x8x1024x1024xf32>, tensor<1x8x1024x1024xf32>) -> tensor<1x8x1024x1024xf32>
  %e = llir.elementwise exp(%d) : (tensor<1x8x1024x1024xf32>) -> tensor<1x8x1024x1024xf32>
  %f = llir.view %w <(d0, d1, d2, d3) -> (d3)> : tensor<1024xf32> -> tensor<1x8x1024x1024xf32>
  %p = llir.elementwise mul(%e, %f) : (tensor<1x8x1024x1024xf32>, tensor<1x8x1024x1024xf32>) -> tensor<1x8x1024x1024xf32>
  %l = llir.reduce sum %e : tensor<1x8x1024x1024xf32> -> tensor<1x8x1024xf32>
  %o = llir.gemm %p, %c k(1024) <(d0, d1, d2, d3, d4) -> (0, d1, d2, d4)>, <(d0, d1, d2, d3, d4) -> (0, d1, d4, d3)> : tensor<1x8x1024x1024xf32>, tensor<1x8x1024x64xf32> -> tensor<1x8x1024x64xf32>
  %r = llir.view %l <(d0, d1, d2, d3) -> (d0, d1, d2)> : tensor<1x8x1024xf32> -> tensor<1x8x1024x64xf32>
  %t = llir.elementwise div(%o, %r) : (tensor<1x8x1024x64xf32>, tensor<1x8x1024x64xf32>) -> tensor<1x8x1024x64xf32>
  return %t : tensor<1x8x1024x64xf32>
}

// Many heads: larger tiles of f32, by whose sums each read serves more.
// CHECK-LABEL: @many
// CHECK: loops<grid(d0, d1, d2:{{64|128}}) stream(d3:{{64|128}}) {{.*}} use = fma}>
// LARGE-LABEL: @many
// LARGE: loops<grid(d0, d1, d2:128) stream(d3:128) threads(256, 256) {{.*}} = joint {blocks = 1} {{.*}} use = fma}>
func.func @many(%q: tensor<32x12x128x64xf32>, %k: tensor<32x12x128x64xf32>, %v: tensor<32x12x128x64xf32>) -> tensor<32x12x128x64xf32> {
  %s = llir.gemm %q, %k k(64) <(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, <(d0, d1, d2, d3, d4) -> (d0, d1, d3, d4)> : tensor<32x12x128x64xf32>, tensor<32x12x128x64xf32> -> tensor<32x12x128x128xf32>
  %p = llir.softmax %s : tensor<32x12x128x128xf32>
  %o = llir.gemm %p, %v k(128) <(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, <(d0, d1, d2, d3, d4) -> (d0, d1, d4, d3)> : tensor<32x12x128x128xf32>, tensor<32x12x128x64xf32> -> tensor<32x12x128x64xf32>
  return %o : tensor<32x12x128x64xf32>
}
