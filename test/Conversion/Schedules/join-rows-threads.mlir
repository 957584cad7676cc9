// Kernels over the same rows become one on a GPU too, where thread groups take the rows.
// RUN: luminal-opt %s --llir-fuse-kernels --llir-join-rows="target=cuda arch=sm_90a" --split-input-file --remarks-filter=llir-join-rows 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks
// RUN: luminal-opt %s --llir-fuse-kernels --llir-join-rows="target=cuda arch=sm_90a" --llir-schedule-kernels="target=cuda arch=sm_90a" --split-input-file | FileCheck %s

// CHECK-LABEL: @bag
// CHECK: llir.kernel{{.*}} loops<grid(d0) threads({{[0-9]+}}, {{[0-9]+}}) op0 = keep {columns = {{[0-9]+}}} op1 = members {columns = {{[0-9]+}}}
// CHECK: llir.segment_reduce
// CHECK-NOT: llir.kernel
// CHECK: return
// REMARK: [Passed] rows {{.*}} Function=bag | {{.*}}form="rows by thread groups, step by step", kernels={{[0-9]+}}
func.func @bag(%x: tensor<?x13xf32, #hlir.dims<b>>, %w: tensor<16x13xf32>, %t: tensor<100x16xf32>, %i: tensor<?xi64, #hlir.dims<n>>, %o: tensor<?xi64, #hlir.dims<b>>, %v: tensor<9x4xf32>) -> tensor<?x9xf32, #hlir.dims<b>>
    attributes {hlir.symbols = #hlir.symbols<b in [1, 4096], n in [1, 65536]>} {
  %0 = llir.gemm %x, %w k(13) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<?x13xf32, #hlir.dims<b>>, tensor<16x13xf32> -> tensor<?x16xf32, #hlir.dims<b>>
  %1 = llir.elementwise tanh(%0) : (tensor<?x16xf32, #hlir.dims<b>>) -> tensor<?x16xf32, #hlir.dims<b>>
  %2 = llir.gather %t, %i {checked} : tensor<100x16xf32>, tensor<?xi64, #hlir.dims<n>> -> tensor<?x16xf32, #hlir.dims<n>>
  %3 = llir.segment_reduce sum %2, %o : tensor<?x16xf32, #hlir.dims<n>>, tensor<?xi64, #hlir.dims<b>> -> tensor<?x16xf32, #hlir.dims<b>>
  %4 = llir.iota <(d0, d1, d2) -> (d1)> : tensor<?x2x16xi64, #hlir.dims<b>>
  %5 = llir.constant dense<1> : tensor<i64>
  %6 = llir.view %5 <(d0, d1, d2) -> ()> : tensor<i64> -> tensor<?x2x16xi64, #hlir.dims<b>>
  %7 = llir.elementwise less_than(%4, %6) : (tensor<?x2x16xi64, #hlir.dims<b>>, tensor<?x2x16xi64, #hlir.dims<b>>) -> tensor<?x2x16xi1, #hlir.dims<b>>
  %8 = llir.view %1 <(d0, d1, d2) -> (d0, d2)> : tensor<?x16xf32, #hlir.dims<b>> -> tensor<?x2x16xf32, #hlir.dims<b>>
  %9 = llir.view %3 <(d0, d1, d2) -> (d0, d2)> : tensor<?x16xf32, #hlir.dims<b>> -> tensor<?x2x16xf32, #hlir.dims<b>>
  %10 = llir.elementwise select(%7, %8, %9) : (tensor<?x2x16xi1, #hlir.dims<b>>, tensor<?x2x16xf32, #hlir.dims<b>>, tensor<?x2x16xf32, #hlir.dims<b>>) -> tensor<?x2x16xf32, #hlir.dims<b>>
  %11 = llir.gemm %10, %10 k(16) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<?x2x16xf32, #hlir.dims<b>>, tensor<?x2x16xf32, #hlir.dims<b>> -> tensor<?x2x2xf32, #hlir.dims<b>>
  %12 = llir.view %11 <(d0, d1) -> (d0, d1 floordiv 2, d1 mod 2)> : tensor<?x2x2xf32, #hlir.dims<b>> -> tensor<?x4xf32, #hlir.dims<b>>
  %13 = llir.gemm %12, %v k(4) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<?x4xf32, #hlir.dims<b>>, tensor<9x4xf32> -> tensor<?x9xf32, #hlir.dims<b>>
  return %13 : tensor<?x9xf32, #hlir.dims<b>>
}

// -----

// One row keeps more than a block has.
// CHECK-LABEL: @wide
// CHECK-COUNT-2: llir.kernel
// REMARK: [Missed] rows {{.*}} Function=wide | {{.*}}no row program because="the kept values of rows are not known to fit in shared memory"
func.func @wide(%x: tensor<65536x4096xf32>, %w: tensor<16384x4096xf32>, %v: tensor<4096x16384xf32>) -> tensor<65536x4096xf32> {
  %0 = llir.gemm %x, %w k(4096) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<65536x4096xf32>, tensor<16384x4096xf32> -> tensor<65536x16384xf32>
  %1 = llir.gemm %0, %v k(16384) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<65536x16384xf32>, tensor<4096x16384xf32> -> tensor<65536x4096xf32>
  return %1 : tensor<65536x4096xf32>
}

// -----

// Layers that fit, but read more weights than they save launches.
// CHECK-LABEL: @layers
// CHECK-COUNT-2: llir.kernel
// REMARK: [Missed] rows {{.*}} Function=layers | {{.*}}reason="separate kernels are predicted to be at least as fast"
func.func @layers(%x: tensor<4096x512xf32>, %w: tensor<512x512xf32>, %v: tensor<512x512xf32>) -> tensor<4096x512xf32> {
  %0 = llir.gemm %x, %w k(512) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<4096x512xf32>, tensor<512x512xf32> -> tensor<4096x512xf32>
  %1 = llir.gemm %0, %v k(512) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<4096x512xf32>, tensor<512x512xf32> -> tensor<4096x512xf32>
  return %1 : tensor<4096x512xf32>
}

// -----

// Of few rows each is much work for one team: others would be idle.
// CHECK-LABEL: @few_rows
// CHECK-COUNT-2: llir.kernel
// REMARK: [Missed] rows {{.*}} Function=few_rows | {{.*}}no row program because="a few rows are too much work for one thread group each"
func.func @few_rows(%x: tensor<3x256xf32>, %w: tensor<2048x256xf32>, %v: tensor<256x2048xf32>) -> tensor<3x256xf32> {
  %0 = llir.gemm %x, %w k(256) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<3x256xf32>, tensor<2048x256xf32> -> tensor<3x2048xf32>
  %1 = llir.gemm %0, %v k(2048) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<3x2048xf32>, tensor<256x2048xf32> -> tensor<3x256xf32>
  return %1 : tensor<3x256xf32>
}

// -----

// A row is one row of @gated's first operand by one of its second: sixteen passes over weights that no cache keeps. One
// pass over them is what several kernels read as well.
// CHECK-LABEL: @gated
// CHECK-COUNT-2: llir.kernel
// REMARK: [Missed] rows {{.*}} Function=gated | {{.*}}reason="separate kernels are predicted to be at least as fast"
func.func @gated(%x: tensor<16x4096xbf16>, %w: tensor<14336x4096xbf16>, %v: tensor<14336x4096xbf16>) -> tensor<16x14336xbf16> {
  %0 = llir.gemm %x, %w k(4096) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<16x4096xbf16>, tensor<14336x4096xbf16> -> tensor<16x14336xbf16>
  %1 = llir.gemm %x, %v k(4096) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<16x4096xbf16>, tensor<14336x4096xbf16> -> tensor<16x14336xbf16>
  %2 = llir.elementwise silu(%0) : (tensor<16x14336xbf16>) -> tensor<16x14336xbf16>
  %3 = llir.elementwise mul(%1, %2) : (tensor<16x14336xbf16>, tensor<16x14336xbf16>) -> tensor<16x14336xbf16>
  return %3 : tensor<16x14336xbf16>
}

// -----

// Near miss: weights that stay in a multiprocessor's cache are read again for nothing.
// CHECK-LABEL: @gated_small
// CHECK-COUNT-1: llir.kernel
// CHECK-NOT: llir.kernel
// REMARK: [Passed] rows {{.*}} Function=gated_small
func.func @gated_small(%x: tensor<256x16xbf16>, %w: tensor<64x16xbf16>, %v: tensor<64x16xbf16>) -> tensor<256x64xbf16> {
  %0 = llir.gemm %x, %w k(16) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<256x16xbf16>, tensor<64x16xbf16> -> tensor<256x64xbf16>
  %1 = llir.gemm %x, %v k(16) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<256x16xbf16>, tensor<64x16xbf16> -> tensor<256x64xbf16>
  %2 = llir.elementwise silu(%0) : (tensor<256x64xbf16>) -> tensor<256x64xbf16>
  %3 = llir.elementwise mul(%1, %2) : (tensor<256x64xbf16>, tensor<256x64xbf16>) -> tensor<256x64xbf16>
  return %3 : tensor<256x64xbf16>
}

// -----

// Members that read columns of 64 bytes have 16 lines for each of their accesses, which the cache gives one by one.
// CHECK-LABEL: @gated_apart
// CHECK-COUNT-2: llir.kernel
// REMARK: [Missed] rows {{.*}} Function=gated_apart | {{.*}}reason="separate kernels are predicted to be at least as fast"
func.func @gated_apart(%x: tensor<256x32xbf16>, %w: tensor<64x32xbf16>, %v: tensor<64x32xbf16>) -> tensor<256x64xbf16> {
  %0 = llir.gemm %x, %w k(32) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<256x32xbf16>, tensor<64x32xbf16> -> tensor<256x64xbf16>
  %1 = llir.gemm %x, %v k(32) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<256x32xbf16>, tensor<64x32xbf16> -> tensor<256x64xbf16>
  %2 = llir.elementwise silu(%0) : (tensor<256x64xbf16>) -> tensor<256x64xbf16>
  %3 = llir.elementwise mul(%1, %2) : (tensor<256x64xbf16>, tensor<256x64xbf16>) -> tensor<256x64xbf16>
  return %3 : tensor<256x64xbf16>
}
