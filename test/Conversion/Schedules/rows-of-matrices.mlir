// Rows with a matrix each: two products of the same columns are one kernel, whose elements blocks take, for an element reads much; no element is taken
// together with those of other matrices, as rows are that share columns. A norm of all rows is no part of it.
// RUN: luminal-opt %s --llir-fuse-kernels=chip-bytes=0 --llir-join-elements="target=cuda arch=sm_90a" --llir-schedule-kernels="target=cuda arch=sm_90a" --remarks-filter=llir-join-elements -o %t.mlir 2>%t.remarks
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: luminal-opt %s --llir-fuse-kernels=chip-bytes=0 --llir-join-elements="target=cuda arch=sm_90a code-budget=1" --remarks-filter=llir-join-elements -o /dev/null 2>&1 | FileCheck %s --check-prefix=BUDGET
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks

// CHECK-LABEL: @gate
// CHECK: llir.kernel(%arg0) {{.*}} -> tensor<8x2048xbf16>
// CHECK: llir.kernel({{.*}}) loops<grid(d0, d1) threads(128, 128) op{{[0-9]+}} = element {lanes = 8, unroll = 2} op{{[0-9]+}} = element {lanes = 8, unroll = 2}>
// CHECK-NOT: llir.kernel
// CHECK: return
// REMARK: [Passed] elements | {{.*}} Function=gate | as=elements, kernel=gemm, reader=gemm
// REMARK: [Missed] elements | {{.*}} Function=gate | kernel=reduce, reader=gemm, reason="every block would recompute all rows"
func.func @gate(%x: tensor<8x2048xbf16>, %w: tensor<128x1536x2048xbf16>, %i: tensor<8xi64>) -> tensor<8x768xbf16> {
  %0 = llir.elementwise cast(%x) : (tensor<8x2048xbf16>) -> tensor<8x2048xf32>
  %1 = llir.elementwise mul(%0, %0) : (tensor<8x2048xf32>, tensor<8x2048xf32>) -> tensor<8x2048xf32>
  %2 = llir.reduce sum %1 : tensor<8x2048xf32> -> tensor<8xf32>
  %3 = llir.elementwise rsqrt(%2) : (tensor<8xf32>) -> tensor<8xf32>
  %4 = llir.view %3 <(d0, d1) -> (d0)> : tensor<8xf32> -> tensor<8x2048xf32>
  %5 = llir.elementwise mul(%0, %4) : (tensor<8x2048xf32>, tensor<8x2048xf32>) -> tensor<8x2048xf32>
  %6 = llir.elementwise cast(%5) : (tensor<8x2048xf32>) -> tensor<8x2048xbf16>
  %m = llir.gather %w, %i {checked} : tensor<128x1536x2048xbf16>, tensor<8xi64> -> tensor<8x1536x2048xbf16>
  %7 = llir.gemm %6, %m k(2048) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)> : tensor<8x2048xbf16>, tensor<8x1536x2048xbf16> -> tensor<8x768xbf16>
  %8 = llir.gemm %6, %m k(2048) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1 + 768, d2)> : tensor<8x2048xbf16>, tensor<8x1536x2048xbf16> -> tensor<8x768xbf16>
  %9 = llir.elementwise silu(%7) : (tensor<8x768xbf16>) -> tensor<8x768xbf16>
  %10 = llir.elementwise mul(%9, %8) : (tensor<8x768xbf16>, tensor<8x768xbf16>) -> tensor<8x768xbf16>
  return %10 : tensor<8x768xbf16>
}

// One row: its products with all matrices have two dims of columns, neither of which is rows.
// CHECK-LABEL: @one
// CHECK: llir.kernel({{.*}}) loops<grid(d0, d1) threads(256, 32) op{{[0-9]+}} = element {lanes = 8, unroll = 4}>
func.func @one(%x: tensor<2048xbf16>, %w: tensor<128x1536x2048xbf16>, %i: tensor<8xi64>) -> tensor<8x1536xbf16> {
  %m = llir.gather %w, %i {checked} : tensor<128x1536x2048xbf16>, tensor<8xi64> -> tensor<8x1536x2048xbf16>
  %0 = llir.gemm %x, %m k(2048) <(d0, d1, d2) -> (d2)>, <(d0, d1, d2) -> (d0, d1, d2)> : tensor<2048xbf16>, tensor<8x1536x2048xbf16> -> tensor<8x1536xbf16>
  return %0 : tensor<8x1536xbf16>
}

// The weighted sum of a token's experts is in their kernel: each team of a block computes one of the eight products of a column.
// CHECK-LABEL: @experts
// CHECK: llir.kernel({{.*}}) loops<grid(d0) threads(128, 128) op{{[0-9]+}} = element {lanes = 8, unroll = 2} op{{[0-9]+}} = spread>
// CHECK-NOT: llir.kernel
// CHECK: return
// REMARK: [Passed] elements | {{.*}} Function=experts | as=terms, kernel=gemm, reader=reduce
// BUDGET: [Missed] elements | {{.*}} Function=experts | kernel=gemm, reader=reduce, reason="the fused kernel would exceed the code budget"
func.func @experts(%x: tensor<8x768xbf16>, %w: tensor<128x2048x768xbf16>, %i: tensor<8xi64>, %s: tensor<8xbf16>) -> tensor<2048xbf16> {
  %m = llir.gather %w, %i {checked} : tensor<128x2048x768xbf16>, tensor<8xi64> -> tensor<8x2048x768xbf16>
  %0 = llir.gemm %x, %m k(768) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)> : tensor<8x768xbf16>, tensor<8x2048x768xbf16> -> tensor<8x2048xbf16>
  %1 = llir.view %s <(d0, d1) -> (d0)> : tensor<8xbf16> -> tensor<8x2048xbf16>
  %2 = llir.elementwise mul(%0, %1) : (tensor<8x2048xbf16>, tensor<8x2048xbf16>) -> tensor<8x2048xbf16>
  %3 = llir.view %2 <(d0, d1) -> (d1, d0)> : tensor<8x2048xbf16> -> tensor<2048x8xbf16>
  %4 = llir.reduce sum %3 : tensor<2048x8xbf16> -> tensor<2048xbf16>
  return %4 : tensor<2048xbf16>
}

// Too many elements, elements that are read several times, and products that somebody else reads as well.
// CHECK-LABEL: @many
// CHECK-COUNT-2: llir.kernel(
// CHECK-LABEL: @again
// CHECK-COUNT-2: llir.kernel(
// CHECK-LABEL: @both
// CHECK-COUNT-2: llir.kernel(
func.func @many(%x: tensor<32x768xbf16>, %w: tensor<32x2048x768xbf16>) -> tensor<2048xbf16> {
  %0 = llir.gemm %x, %w k(768) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)> : tensor<32x768xbf16>, tensor<32x2048x768xbf16> -> tensor<32x2048xbf16>
  %1 = llir.view %0 <(d0, d1) -> (d1, d0)> : tensor<32x2048xbf16> -> tensor<2048x32xbf16>
  %2 = llir.reduce sum %1 : tensor<2048x32xbf16> -> tensor<2048xbf16>
  return %2 : tensor<2048xbf16>
}
func.func @again(%x: tensor<8x768xbf16>, %w: tensor<8x2048x768xbf16>, %s: tensor<4x8xbf16>) -> tensor<4x2048xbf16> {
  %0 = llir.gemm %x, %w k(768) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)> : tensor<8x768xbf16>, tensor<8x2048x768xbf16> -> tensor<8x2048xbf16>
  %1 = llir.view %0 <(d0, d1, d2) -> (d2, d1)> : tensor<8x2048xbf16> -> tensor<4x2048x8xbf16>
  %2 = llir.view %s <(d0, d1, d2) -> (d0, d2)> : tensor<4x8xbf16> -> tensor<4x2048x8xbf16>
  %3 = llir.elementwise mul(%1, %2) : (tensor<4x2048x8xbf16>, tensor<4x2048x8xbf16>) -> tensor<4x2048x8xbf16>
  %4 = llir.reduce sum %3 : tensor<4x2048x8xbf16> -> tensor<4x2048xbf16>
  return %4 : tensor<4x2048xbf16>
}
func.func @both(%x: tensor<8x768xbf16>, %w: tensor<8x2048x768xbf16>) -> (tensor<2048xbf16>, tensor<8x2048xbf16>) {
  %0 = llir.gemm %x, %w k(768) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)> : tensor<8x768xbf16>, tensor<8x2048x768xbf16> -> tensor<8x2048xbf16>
  %1 = llir.view %0 <(d0, d1) -> (d1, d0)> : tensor<8x2048xbf16> -> tensor<2048x8xbf16>
  %2 = llir.reduce sum %1 : tensor<2048x8xbf16> -> tensor<2048xbf16>
  return %2, %0 : tensor<2048xbf16>, tensor<8x2048xbf16>
}
