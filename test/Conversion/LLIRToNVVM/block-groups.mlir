// Rows that look up their columns: a tile for each group of rows with the same matrix, which is read once for all of them.
// RUN: luminal-opt %s --luminal-pipeline="target=cuda arch=sm_90a library=none from=saturated until=scheduled" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_90a %t.mlir -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx
// RUN: %if ptxas %{ ptxas -arch=sm_90a %t.ptx -o %t.cubin %}

// A warp looks where groups begin, at a row a thread, and where each ends. Tiles of one group are neighbours. What is looked up is copied as other operands are.
// CHECK-LABEL: @experts
// CHECK: loops<grid(d0:8, d1:128) threads(128, 128) op1 = block {{.*}}copy = both, {{.*}}groups = rows, {{.*}}rows = 64, {{.*}}use = wgmma}>
// PTX-LABEL: .entry experts(
// PTX: vote.sync.ballot.b32
// PTX: vote.sync.ballot.b32
// PTX: cp.async.cg.shared.global
// PTX: wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16
func.func @experts(%x: tensor<2048x2048xbf16>, %w: tensor<128x1536x2048xbf16>, %ids: tensor<2048xi64>) -> tensor<2048x1536xbf16> {
  %0 = llir.gather %w, %ids : tensor<128x1536x2048xbf16>, tensor<2048xi64> -> tensor<2048x1536x2048xbf16>
  %1 = llir.gemm %x, %0 k(2048) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)>
      : tensor<2048x2048xbf16>, tensor<2048x1536x2048xbf16> -> tensor<2048x1536xbf16>
  return %1 : tensor<2048x1536xbf16>
}

// Either operand may be looked up. Of large groups few begin in 8 rows: a unit looks at 32. Rows that are looked up are a kernel of their own, for each block of columns reads them.
// CHECK-LABEL: @left
// CHECK: loops<grid(d0:32, {{d[0-9]:[0-9]+}}) {{.*}}op1 = block {{.*}}columns = lhs, copy = both, {{.*}}groups = rows
// PTX-LABEL: .entry left_0(
func.func @left(%x: tensor<256x1024xf16>, %w: tensor<16x512x1024xf16>, %ids: tensor<2048xi32>, %tokens: tensor<2048xi64>) -> tensor<2048x512xf16> {
  %0 = llir.gather %w, %ids {checked} : tensor<16x512x1024xf16>, tensor<2048xi32> -> tensor<2048x512x1024xf16>
  %1 = llir.gather %x, %tokens {checked} : tensor<256x1024xf16>, tensor<2048xi64> -> tensor<2048x1024xf16>
  %2 = llir.gemm %0, %1 k(1024) <(d0, d1, d2) -> (d0, d1, d2)>, <(d0, d1, d2) -> (d0, d2)>
      : tensor<2048x512x1024xf16>, tensor<2048x1024xf16> -> tensor<2048x512xf16>
  return %2 : tensor<2048x512xf16>
}

// Results whose rows lie side by side are written one by one: a vector of them would reach into the next group.
// CHECK-LABEL: @turned
// CHECK: op1 = block {{.*}}groups = rows, resultalong = rows, resultlanes = 1, {{.*}}use = wgmma}>
func.func @turned(%x: tensor<2048x1024xbf16>, %w: tensor<16x512x1024xbf16>, %ids: tensor<2048xi64>) -> tensor<512x2048xbf16> {
  %0 = llir.gather %w, %ids : tensor<16x512x1024xbf16>, tensor<2048xi64> -> tensor<2048x512x1024xbf16>
  %1 = llir.gemm %x, %0 k(1024) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)>
      : tensor<2048x1024xbf16>, tensor<2048x512x1024xbf16> -> tensor<2048x512xbf16>
  %2 = llir.view %1 <(d0, d1) -> (d1, d0)> : tensor<2048x512xbf16> -> tensor<512x2048xbf16>
  return %2 : tensor<512x2048xbf16>
}

// Groups of 256 rows have tiles of 128, by 256 columns.
// CHECK-LABEL: @large
// CHECK: loops<grid(d0:128, d1:256) threads(256, 256) op1 = block {{.*}}groups = rows, {{.*}}rows = 128, stages = 4, use = wgmma}>
// PTX-LABEL: .entry large(
// PTX: wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16
func.func @large(%x: tensor<8192x1024xbf16>, %w: tensor<32x512x1024xbf16>, %ids: tensor<8192xi64>) -> tensor<8192x512xbf16> {
  %0 = llir.gather %w, %ids : tensor<32x512x1024xbf16>, tensor<8192xi64> -> tensor<8192x512x1024xbf16>
  %1 = llir.gemm %x, %0 k(1024) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)>
      : tensor<8192x1024xbf16>, tensor<8192x512x1024xbf16> -> tensor<8192x512xbf16>
  return %1 : tensor<8192x512xbf16>
}

// As many matrices as rows: nothing to share.
// CHECK-LABEL: @few
// CHECK-NOT: groups = rows
// CHECK: return
func.func @few(%x: tensor<16x2048xbf16>, %w: tensor<128x1536x2048xbf16>, %ids: tensor<16xi64>) -> tensor<16x1536xbf16> {
  %0 = llir.gather %w, %ids : tensor<128x1536x2048xbf16>, tensor<16xi64> -> tensor<16x1536x2048xbf16>
  %1 = llir.gemm %x, %0 k(2048) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)>
      : tensor<16x2048xbf16>, tensor<16x1536x2048xbf16> -> tensor<16x1536xbf16>
  return %1 : tensor<16x1536xbf16>
}

// What a row multiplies depends on the row itself, not on what it looks up alone.
// CHECK-LABEL: @own
// CHECK-NOT: groups = rows
// CHECK: return
func.func @own(%x: tensor<2048x256xbf16>, %w: tensor<4x512x256xbf16>, %s: tensor<2048x256xbf16>, %ids: tensor<2048xi64>) -> tensor<2048x512xbf16> {
  %0 = llir.gather %w, %ids : tensor<4x512x256xbf16>, tensor<2048xi64> -> tensor<2048x512x256xbf16>
  %1 = llir.view %s <(d0, d1, d2) -> (d0, d2)> : tensor<2048x256xbf16> -> tensor<2048x512x256xbf16>
  %2 = llir.elementwise mul(%0, %1) : (tensor<2048x512x256xbf16>, tensor<2048x512x256xbf16>) -> tensor<2048x512x256xbf16>
  %3 = llir.gemm %x, %2 k(256) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)>
      : tensor<2048x256xbf16>, tensor<2048x512x256xbf16> -> tensor<2048x512xbf16>
  return %3 : tensor<2048x512xbf16>
}

// What the results look up for their row alone is read before the tile is multiplied, and left beside the results.
// CHECK-LABEL: @weighted
// CHECK: loops<grid(d0:8, d1:128) {{.*}}blocks = 3, {{.*}}groups = rows, {{.*}}rows = 64, stages = 3, use = wgmma}>
// PTX-LABEL: .entry weighted(
// PTX: ld.global.nc.b16 [[WEIGHT:%rs[0-9]+]],
// PTX: wgmma.mma_async
// PTX: st.shared.b16 [{{.*}}], [[WEIGHT]];
// PTX: bar.sync
// PTX-NOT: ld.global
// PTX: ld.shared.b16
// PTX-NOT: ld.global
// PTX: ret
func.func @weighted(%x: tensor<2048x768xbf16>, %w: tensor<128x512x768xbf16>, %ids: tensor<2048xi64>, %s: tensor<2048xbf16>,
                    %order: tensor<2048xi64>) -> tensor<2048x512xbf16> {
  %r = llir.kernel(%x, %w, %ids, %s, %order) : (tensor<2048x768xbf16>, tensor<128x512x768xbf16>, tensor<2048xi64>, tensor<2048xbf16>, tensor<2048xi64>) -> tensor<2048x512xbf16> {
  ^bb0(%a: tensor<2048x768xbf16>, %b: tensor<128x512x768xbf16>, %i: tensor<2048xi64>, %t: tensor<2048xbf16>, %o: tensor<2048xi64>):
    %0 = llir.gather %b, %i {checked} : tensor<128x512x768xbf16>, tensor<2048xi64> -> tensor<2048x512x768xbf16>
    %1 = llir.gemm %a, %0 k(768) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)>
        : tensor<2048x768xbf16>, tensor<2048x512x768xbf16> -> tensor<2048x512xbf16>
    %2 = llir.gather %t, %o {checked} : tensor<2048xbf16>, tensor<2048xi64> -> tensor<2048xbf16>
    %3 = llir.view %2 <(d0, d1) -> (d0)> : tensor<2048xbf16> -> tensor<2048x512xbf16>
    %4 = llir.elementwise mul(%1, %3) : (tensor<2048x512xbf16>, tensor<2048x512xbf16>) -> tensor<2048x512xbf16>
    llir.yield %4 : tensor<2048x512xbf16>
  }
  return %r : tensor<2048x512xbf16>
}

// What they look up for a row and a column is read where it is needed.
// CHECK-LABEL: @table
// PTX-LABEL: .entry table(
// PTX-NOT: st.shared.b16
// PTX: ret
func.func @table(%x: tensor<2048x768xbf16>, %w: tensor<128x512x768xbf16>, %ids: tensor<2048xi64>, %s: tensor<64x512xbf16>,
                 %order: tensor<2048xi64>) -> tensor<2048x512xbf16> {
  %r = llir.kernel(%x, %w, %ids, %s, %order) : (tensor<2048x768xbf16>, tensor<128x512x768xbf16>, tensor<2048xi64>, tensor<64x512xbf16>, tensor<2048xi64>) -> tensor<2048x512xbf16> {
  ^bb0(%a: tensor<2048x768xbf16>, %b: tensor<128x512x768xbf16>, %i: tensor<2048xi64>, %t: tensor<64x512xbf16>, %o: tensor<2048xi64>):
    %0 = llir.gather %b, %i {checked} : tensor<128x512x768xbf16>, tensor<2048xi64> -> tensor<2048x512x768xbf16>
    %1 = llir.gemm %a, %0 k(768) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)>
        : tensor<2048x768xbf16>, tensor<2048x512x768xbf16> -> tensor<2048x512xbf16>
    %2 = llir.gather %t, %o {checked} : tensor<64x512xbf16>, tensor<2048xi64> -> tensor<2048x512xbf16>
    %3 = llir.elementwise mul(%1, %2) : (tensor<2048x512xbf16>, tensor<2048x512xbf16>) -> tensor<2048x512xbf16>
    llir.yield %3 : tensor<2048x512xbf16>
  }
  return %r : tensor<2048x512xbf16>
}
