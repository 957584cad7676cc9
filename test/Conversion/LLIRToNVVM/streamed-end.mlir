// The end of a stream within a chunk is a mask of that chunk where a softmax alone reads the scores; terms of scores without
// a factor, which are rounded to f16, are approximate.
// RUN: luminal-opt %s --luminal-pipeline="target=cuda arch=sm_90a from=saturated until=scheduled" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_90a %t.mlir -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx
// RUN: %if ptxas %{ ptxas -v -arch=sm_90a %t.ptx -o %t.cubin 2>&1 | FileCheck %s --check-prefix=PTXAS --implicit-check-not=C75 %}
// PTXAS-COUNT-2: 0 bytes spill stores

// CHECK-LABEL: @ends
// CHECK: stream(d2:64)
// CHECK: exp_approx
// CHECK-NOT: exp_fast
// PTX-LABEL: .entry ends(
// In the loop a branch goes around the selections of the last chunk.
// PTX: wgmma.wait_group.sync.aligned 1;
// PTX: setp.lt.s64 [[INSIDE:%p[0-9]+]],
// PTX: @[[INSIDE]] bra
// PTX-COUNT-32: selp.f32
// PTX-NEXT: bra.uni
func.func @ends(%q: tensor<12x1500x64xf16>, %k: tensor<12x1500x64xf16>, %v: tensor<12x1500x64xf16>) -> tensor<12x1500x64xf16> {
  %a = llir.elementwise cast(%q) : (tensor<12x1500x64xf16>) -> tensor<12x1500x64xf32>
  %b = llir.elementwise cast(%k) : (tensor<12x1500x64xf16>) -> tensor<12x1500x64xf32>
  %s = llir.gemm %a, %b k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<12x1500x64xf32>, tensor<12x1500x64xf32> -> tensor<12x1500x1500xf32>
  %p = llir.softmax %s : tensor<12x1500x1500xf32>
  %n = llir.elementwise cast(%p) : (tensor<12x1500x1500xf32>) -> tensor<12x1500x1500xf16>
  %o = llir.gemm %n, %v k(1500) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<12x1500x1500xf16>, tensor<12x1500x64xf16> -> tensor<12x1500x64xf16>
  return %o : tensor<12x1500x64xf16>
}

// Another reader of the scores has to leave out what is not there, in each chunk.
// PTX-LABEL: .entry reads(
// PTX: wgmma.wait_group.sync.aligned 1;
// PTX-NOT: bra
// PTX-COUNT-32: selp.f32
// PTX: vote.sync.all.pred
func.func @reads(%q: tensor<12x1500x64xf16>, %k: tensor<12x1500x64xf16>, %v: tensor<12x1500x64xf16>) -> (tensor<12x1500x64xf16>, tensor<12x1500xf32>) {
  %0:2 = llir.kernel(%q, %k, %v) loops<grid(d0, d1:64) stream(d2:64) threads(128, 128) op2 = block {columnalong = k, columnlanes = 8, rowalong = k, rowlanes = 8, stages = 3, use = wgmma} op3 = joint op7 = joint op8 = joint op14 = block {columnalong = own, columnlanes = 8, stages = 3, terms = beside, use = wgmma}> : (tensor<12x1500x64xf16>, tensor<12x1500x64xf16>, tensor<12x1500x64xf16>) -> (tensor<12x1500x64xf16>, tensor<12x1500xf32>) {
  ^bb0(%q0: tensor<12x1500x64xf16>, %k0: tensor<12x1500x64xf16>, %v0: tensor<12x1500x64xf16>):
    %q1 = llir.elementwise cast(%q0) : (tensor<12x1500x64xf16>) -> tensor<12x1500x64xf32>
    %k1 = llir.elementwise cast(%k0) : (tensor<12x1500x64xf16>) -> tensor<12x1500x64xf32>
    %s = llir.gemm %q1, %k1 k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<12x1500x64xf32>, tensor<12x1500x64xf32> -> tensor<12x1500x1500xf32>
    %m = llir.reduce max %s : tensor<12x1500x1500xf32> -> tensor<12x1500xf32>
    %ms = llir.view %m <(d0, d1, d2) -> (d0, d1)> : tensor<12x1500xf32> -> tensor<12x1500x1500xf32>
    %d = llir.elementwise sub(%s, %ms) : (tensor<12x1500x1500xf32>, tensor<12x1500x1500xf32>) -> tensor<12x1500x1500xf32>
    %e = llir.elementwise exp_approx(%d) : (tensor<12x1500x1500xf32>) -> tensor<12x1500x1500xf32>
    %l = llir.reduce sum %e : tensor<12x1500x1500xf32> -> tensor<12x1500xf32>
    %t = llir.reduce sum %s : tensor<12x1500x1500xf32> -> tensor<12x1500xf32>
    %r = llir.elementwise recip(%l) : (tensor<12x1500xf32>) -> tensor<12x1500xf32>
    %rs = llir.view %r <(d0, d1, d2) -> (d0, d1)> : tensor<12x1500xf32> -> tensor<12x1500x64xf32>
    %n = llir.elementwise cast(%e) : (tensor<12x1500x1500xf32>) -> tensor<12x1500x1500xf16>
    %w = llir.elementwise cast(%n) : (tensor<12x1500x1500xf16>) -> tensor<12x1500x1500xf32>
    %v1 = llir.elementwise cast(%v0) : (tensor<12x1500x64xf16>) -> tensor<12x1500x64xf32>
    %o = llir.gemm %w, %v1 k(1500) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<12x1500x1500xf32>, tensor<12x1500x64xf32> -> tensor<12x1500x64xf32>
    %z = llir.elementwise mul(%rs, %o) : (tensor<12x1500x64xf32>, tensor<12x1500x64xf32>) -> tensor<12x1500x64xf32>
    %y = llir.elementwise cast(%z) : (tensor<12x1500x64xf32>) -> tensor<12x1500x64xf16>
    llir.yield %y, %t : tensor<12x1500x64xf16>, tensor<12x1500xf32>
  }
  return %0#0, %0#1 : tensor<12x1500x64xf16>, tensor<12x1500xf32>
}
