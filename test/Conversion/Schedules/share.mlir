// Products of one row compute their row, and what is read beside their columns, in one kernel: each thread block
// computes the norm once, in shared memory, and takes many columns.
// RUN: luminal-opt %s --llir-fuse-kernels=chip-bytes=0 --llir-join-elements="target=cuda arch=sm_90a" --llir-schedule-kernels="target=cuda arch=sm_90a" --remarks-filter=llir-join-elements -o %t.mlir 2>%t.remarks
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_90a %t.mlir | FileCheck %s --check-prefix=PTX
// RUN: luminal-opt %s --llir-fuse-kernels=chip-bytes=0 --llir-join-elements=arch=znver4 | FileCheck %s --check-prefix=CALLS

// CALLS-LABEL: @gate
// CALLS-COUNT-3: llir.kernel
// CALLS-LABEL: @twice

// The norm's scale is known before the row is shared; the first columns are in flight by then. A block reads a column
// of both products together.
// CHECK-LABEL: @gate
// CHECK: llir.kernel({{.*}}) loops<grid(d1) threads(128, 128) op2 = element {lanes = 8, unroll = 4} op8 = share {blocks = 1056, each = 8, lanes = 8} op9 = together {lanes = 8, sums = 1, unroll = 2} op11 = together {lanes = 8, sums = 1, unroll = 2}>
// CHECK-NOT: llir.kernel
// CHECK: return
// REMARK: [Passed] elements | {{.*}} Function=gate | as=elements, kernel=gemm, reader=gemm
// REMARK: [Passed] elements | {{.*}} Function=gate | as="shared by a block", kernel=reduce, reader=gemm
// PTX-LABEL: .entry gate(
// PTX: .maxntid 128
// PTX: .minnctapersm 8
// PTX-COUNT-2: prefetch.L2
// PTX: bar.sync 0
// PTX: st.shared.v4.b32
// PTX: bar.sync 0
// PTX-DAG: ld.shared.v4.b32
// PTX-DAG: ld.global.nc.v4.b32
// PTX: st.global.b16
func.func @gate(%x: tensor<1x4096xbf16>, %s: tensor<4096xbf16>, %g: tensor<14336x4096xbf16>, %u: tensor<14336x4096xbf16>) -> tensor<1x14336xbf16> {
  %0 = llir.elementwise cast(%x) : (tensor<1x4096xbf16>) -> tensor<1x4096xf32>
  %1 = llir.elementwise mul(%0, %0) : (tensor<1x4096xf32>, tensor<1x4096xf32>) -> tensor<1x4096xf32>
  %2 = llir.reduce sum %1 : tensor<1x4096xf32> -> tensor<1xf32>
  %3 = llir.elementwise rsqrt(%2) : (tensor<1xf32>) -> tensor<1xf32>
  %4 = llir.view %3 <(d0, d1) -> (d0)> : tensor<1xf32> -> tensor<1x4096xf32>
  %5 = llir.elementwise mul(%0, %4) : (tensor<1x4096xf32>, tensor<1x4096xf32>) -> tensor<1x4096xf32>
  %6 = llir.elementwise cast(%5) : (tensor<1x4096xf32>) -> tensor<1x4096xbf16>
  %7 = llir.view %s <(d0, d1) -> (d1)> : tensor<4096xbf16> -> tensor<1x4096xbf16>
  %8 = llir.elementwise mul(%6, %7) : (tensor<1x4096xbf16>, tensor<1x4096xbf16>) -> tensor<1x4096xbf16>
  %9 = llir.gemm %8, %g k(4096) <(d0, d1, d2) -> (0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1x4096xbf16>, tensor<14336x4096xbf16> -> tensor<1x14336xbf16>
  %10 = llir.elementwise silu(%9) : (tensor<1x14336xbf16>) -> tensor<1x14336xbf16>
  %11 = llir.gemm %8, %u k(4096) <(d0, d1, d2) -> (0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1x4096xbf16>, tensor<14336x4096xbf16> -> tensor<1x14336xbf16>
  %12 = llir.elementwise mul(%10, %11) : (tensor<1x14336xbf16>, tensor<1x14336xbf16>) -> tensor<1x14336xbf16>
  return %12 : tensor<1x14336xbf16>
}

// What others read as well has memory of its own; short rows are taken by warps.
// CHECK-LABEL: @twice
// CHECK: %[[N:.*]] = llir.kernel(%arg0)
// CHECK: llir.kernel(%[[N]], %arg1)
// CHECK: return
// CHECK-LABEL: @short
// CHECK: llir.kernel(%arg0, %arg1) loops<grid(d1) threads(128, 32) op0 = element {{.*}} op2 = share {{.*}} op3 = element
// CHECK-NOT: llir.kernel
// CHECK: return
func.func @twice(%x: tensor<1x256xf32>, %w: tensor<512x256xf32>) -> (tensor<1x512xf32>, tensor<1x256xf32>) {
  %0 = llir.reduce max %x : tensor<1x256xf32> -> tensor<1xf32>
  %1 = llir.view %0 <(d0, d1) -> (d0)> : tensor<1xf32> -> tensor<1x256xf32>
  %2 = llir.elementwise sub(%x, %1) : (tensor<1x256xf32>, tensor<1x256xf32>) -> tensor<1x256xf32>
  %3 = llir.gemm %2, %w k(256) <(d0, d1, d2) -> (0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1x256xf32>, tensor<512x256xf32> -> tensor<1x512xf32>
  return %3, %2 : tensor<1x512xf32>, tensor<1x256xf32>
}
func.func @short(%x: tensor<1x256xf32>, %w: tensor<512x256xf32>) -> tensor<1x512xf32> {
  %0 = llir.reduce max %x : tensor<1x256xf32> -> tensor<1xf32>
  %1 = llir.view %0 <(d0, d1) -> (d0)> : tensor<1xf32> -> tensor<1x256xf32>
  %2 = llir.elementwise sub(%x, %1) : (tensor<1x256xf32>, tensor<1x256xf32>) -> tensor<1x256xf32>
  %3 = llir.gemm %2, %w k(256) <(d0, d1, d2) -> (0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1x256xf32>, tensor<512x256xf32> -> tensor<1x512xf32>
  return %3 : tensor<1x512xf32>
}

// A row that each block would read for long.
// CHECK-LABEL: @long
// CHECK-COUNT-2: llir.kernel
// REMARK: [Missed] elements | {{.*}} Function=long | kernel=reduce, reader=gemm, reason="its row is too long for every block to recompute"
func.func @long(%x: tensor<1x32768xf32>, %w: tensor<512x32768xf32>) -> tensor<1x512xf32> {
  %0 = llir.reduce max %x : tensor<1x32768xf32> -> tensor<1xf32>
  %1 = llir.view %0 <(d0, d1) -> (d0)> : tensor<1xf32> -> tensor<1x32768xf32>
  %2 = llir.elementwise sub(%x, %1) : (tensor<1x32768xf32>, tensor<1x32768xf32>) -> tensor<1x32768xf32>
  %3 = llir.gemm %2, %w k(32768) <(d0, d1, d2) -> (0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1x32768xf32>, tensor<512x32768xf32> -> tensor<1x512xf32>
  return %3 : tensor<1x512xf32>
}

// A right operand that columns of a row of it follow each other in.
// CHECK-LABEL: @across
// CHECK-COUNT-2: llir.kernel
// REMARK: [Missed] elements | {{.*}} Function=across | kernel=reduce, reader=gemm, reason="the products do not read contiguously"
func.func @across(%x: tensor<1x256xf32>, %w: tensor<256x512xf32>) -> tensor<1x512xf32> {
  %0 = llir.reduce max %x : tensor<1x256xf32> -> tensor<1xf32>
  %1 = llir.view %0 <(d0, d1) -> (d0)> : tensor<1xf32> -> tensor<1x256xf32>
  %2 = llir.elementwise sub(%x, %1) : (tensor<1x256xf32>, tensor<1x256xf32>) -> tensor<1x256xf32>
  %3 = llir.gemm %2, %w k(256) <(d0, d1, d2) -> (0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<1x256xf32>, tensor<256x512xf32> -> tensor<1x512xf32>
  return %3 : tensor<1x512xf32>
}
