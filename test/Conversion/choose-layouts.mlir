// Values between kernels are stored with the dim innermost along which products read them best.
// RUN: luminal-opt %s --llir-choose-layouts="target=cuda arch=sm_90a" --split-input-file --remarks-filter=llir-choose-layouts 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks
// Weights cannot be prepared without memory for them.
// RUN: luminal-opt %s --llir-choose-layouts="target=cuda arch=sm_90a prepare-bytes=0" --split-input-file | FileCheck %s --check-prefix=NONE
// NONE-COUNT-1: llir.prepare %{{[0-9]+}} : tensor<2x32x32x3x3xf16>
// NONE-NOT: llir.prepare
// A CPU packs what it multiplies, and reads windows of images by channels: nothing changes.
// RUN: luminal-opt %s --split-input-file -o %t.before
// RUN: luminal-opt %s --llir-choose-layouts=arch=znver4 --split-input-file -o %t.after
// RUN: diff %t.before %t.after

// Channels innermost: the contracted index takes them innermost as well, with all weights of an offset next to each
// other, and results are read through a view that makes the order what it was.
// CHECK-LABEL: func.func @convolution(
// CHECK: %[[X:.+]] = llir.view %arg0 <(d0, d1, d2, d3) -> (d0, d3, d1, d2)> : tensor<8x64x58x58xf16> -> tensor<8x58x58x64xf16>
// CHECK: %[[E:.+]] = llir.elementwise exp(%[[X]]) : (tensor<8x58x58x64xf16>) -> tensor<8x58x58x64xf16>
// CHECK: %[[Y:.+]] = llir.view %[[E]] <(d0, d1, d2, d3) -> (d0, d2, d3, d1)> : tensor<8x58x58x64xf16> -> tensor<8x64x58x58xf16>
// CHECK: %[[W:.+]] = llir.view %arg1 <(d0, d1) -> (d0, d1 mod 64, d1 floordiv 192, (d1 floordiv 64) mod 3)> : tensor<64x64x3x3xf16> -> tensor<64x576xf16>
// CHECK: %[[P:.+]] = llir.prepare %[[W]]
// CHECK: llir.gemm %[[Y]], %[[P]] k(576) <(d0, d1, d2, d3, d4) -> (d0, d4 mod 64, d1 + d4 floordiv 192, d2 + (d4 floordiv 64) mod 3)>, <(d0, d1, d2, d3, d4) -> (d3, d4)>
// REMARK: [Passed] layout {{.*}} Function=convolution | {{.*}}innermost=64, predicted ns={{[0-9]+}}, {{.*}}values=1
func.func @convolution(%x: tensor<8x64x58x58xf16>, %w: tensor<64x64x3x3xf16> {hlir.kind = "weight"}) -> tensor<8x56x56x64xf16> {
  %y = llir.elementwise exp(%x) : (tensor<8x64x58x58xf16>) -> tensor<8x64x58x58xf16>
  %r = llir.gemm %y, %w k(576) <(d0, d1, d2, d3, d4) -> (d0, d4 floordiv 9, d1 + (d4 floordiv 3) mod 3, d2 + d4 mod 3)>,
      <(d0, d1, d2, d3, d4) -> (d3, d4 floordiv 9, (d4 floordiv 3) mod 3, d4 mod 3)>
      : tensor<8x64x58x58xf16>, tensor<64x64x3x3xf16> -> tensor<8x56x56x64xf16>
  return %r : tensor<8x56x56x64xf16>
}

// -----

// All that is computed element by element with an image that is moved is moved; so are the results of reductions and
// products, whose reduced dim stays where it is.
// CHECK-LABEL: func.func @group(
// CHECK: llir.gemm {{.*}} -> tensor<8x58x58x64xf16>
// CHECK: llir.reduce max {{.*}} : tensor<8x58x58x64x4xf16> -> tensor<8x58x58x64xf16>
// CHECK: llir.elementwise add({{.*}} -> tensor<8x58x58x64xf16>
// CHECK: llir.prepare
// CHECK: llir.gemm {{.*}} k(576)
// REMARK: [Passed] layout {{.*}} Function=group | {{.*}}values=3
func.func @group(%x: tensor<8x16x58x58xf16>, %z: tensor<8x64x58x58x4xf16>, %v: tensor<64x16xf16> {hlir.kind = "weight"}, %w: tensor<64x64x3x3xf16> {hlir.kind = "weight"}) -> tensor<8x56x56x64xf16> {
  %a = llir.gemm %x, %v k(16) <(d0, d1, d2, d3, d4) -> (d0, d4, d2, d3)>, <(d0, d1, d2, d3, d4) -> (d1, d4)>
      : tensor<8x16x58x58xf16>, tensor<64x16xf16> -> tensor<8x64x58x58xf16>
  %b = llir.reduce max %z : tensor<8x64x58x58x4xf16> -> tensor<8x64x58x58xf16>
  %y = llir.elementwise add(%a, %b) : (tensor<8x64x58x58xf16>, tensor<8x64x58x58xf16>) -> tensor<8x64x58x58xf16>
  %r = llir.gemm %y, %w k(576) <(d0, d1, d2, d3, d4) -> (d0, d4 floordiv 9, d1 + (d4 floordiv 3) mod 3, d2 + d4 mod 3)>,
      <(d0, d1, d2, d3, d4) -> (d3, d4 floordiv 9, (d4 floordiv 3) mod 3, d4 mod 3)>
      : tensor<8x64x58x58xf16>, tensor<64x64x3x3xf16> -> tensor<8x56x56x64xf16>
  return %r : tensor<8x56x56x64xf16>
}

// -----

// Three channels are no vector.
// CHECK-LABEL: func.func @few_channels(
// CHECK-NOT: llir.prepare
// CHECK: return
// REMARK-NOT: Function=few_channels
func.func @few_channels(%x: tensor<8x3x58x58xf16>, %w: tensor<64x3x3x3xf16> {hlir.kind = "weight"}) -> tensor<8x56x56x64xf16> {
  %y = llir.elementwise exp(%x) : (tensor<8x3x58x58xf16>) -> tensor<8x3x58x58xf16>
  %r = llir.gemm %y, %w k(27) <(d0, d1, d2, d3, d4) -> (d0, d4 floordiv 9, d1 + (d4 floordiv 3) mod 3, d2 + d4 mod 3)>,
      <(d0, d1, d2, d3, d4) -> (d3, d4 floordiv 9, (d4 floordiv 3) mod 3, d4 mod 3)>
      : tensor<8x3x58x58xf16>, tensor<64x3x3x3xf16> -> tensor<8x56x56x64xf16>
  return %r : tensor<8x56x56x64xf16>
}

// -----

// An input keeps its order.
// CHECK-LABEL: func.func @input(
// CHECK-NEXT: llir.gemm
// REMARK: [Missed] layout {{.*}} Function=input | {{.*}}reason="values that no elementwise kernel writes, such as inputs, keep their layout"
func.func @input(%x: tensor<8x64x58x58xf16>, %w: tensor<64x64x3x3xf16> {hlir.kind = "weight"}) -> tensor<8x56x56x64xf16> {
  %r = llir.gemm %x, %w k(576) <(d0, d1, d2, d3, d4) -> (d0, d4 floordiv 9, d1 + (d4 floordiv 3) mod 3, d2 + d4 mod 3)>,
      <(d0, d1, d2, d3, d4) -> (d3, d4 floordiv 9, (d4 floordiv 3) mod 3, d4 mod 3)>
      : tensor<8x64x58x58xf16>, tensor<64x64x3x3xf16> -> tensor<8x56x56x64xf16>
  return %r : tensor<8x56x56x64xf16>
}

// -----

// An input that has its channels innermost: only the order of the sum, and that of the weights, changes.
// CHECK-LABEL: func.func @channels_last(
// CHECK-NEXT: llir.view %arg1
// CHECK-NEXT: llir.prepare
// CHECK-NEXT: llir.gemm %arg0, {{.*}} (d0, d1 + d4 floordiv 192, d2 + (d4 floordiv 64) mod 3, d4 mod 64)>
func.func @channels_last(%x: tensor<8x58x58x64xf16>, %w: tensor<64x64x3x3xf16> {hlir.kind = "weight"}) -> tensor<8x56x56x64xf16> {
  %r = llir.gemm %x, %w k(576) <(d0, d1, d2, d3, d4) -> (d0, d1 + (d4 floordiv 3) mod 3, d2 + d4 mod 3, d4 floordiv 9)>,
      <(d0, d1, d2, d3, d4) -> (d3, d4 floordiv 9, (d4 floordiv 3) mod 3, d4 mod 3)>
      : tensor<8x58x58x64xf16>, tensor<64x64x3x3xf16> -> tensor<8x56x56x64xf16>
  return %r : tensor<8x56x56x64xf16>
}

// -----

// What is returned is written in its own order, and the padding of it reads that across.
// CHECK-LABEL: func.func @returned(
// CHECK: %[[Y:.+]] = llir.elementwise exp(%arg0) : (tensor<8x64x56x56xf16>) -> tensor<8x64x56x56xf16>
// CHECK: llir.elementwise neg({{.*}} -> tensor<8x58x58x64xf16>
// CHECK: return %{{.*}}, %[[Y]]
// REMARK: [Passed] layout {{.*}} Function=returned | {{.*}}values=1
func.func @returned(%x: tensor<8x64x56x56xf16>, %w: tensor<64x64x3x3xf16> {hlir.kind = "weight"}) -> (tensor<8x56x56x64xf16>, tensor<8x64x56x56xf16>) {
  %y = llir.elementwise exp(%x) : (tensor<8x64x56x56xf16>) -> tensor<8x64x56x56xf16>
  %v = llir.view %y <(d0, d1, d2, d3) -> (d0, d1, max(min(d2 - 1, 55), 0), max(min(d3 - 1, 55), 0))> : tensor<8x64x56x56xf16> -> tensor<8x64x58x58xf16>
  %p = llir.elementwise neg(%v) : (tensor<8x64x58x58xf16>) -> tensor<8x64x58x58xf16>
  %r = llir.gemm %p, %w k(576) <(d0, d1, d2, d3, d4) -> (d0, d4 floordiv 9, d1 + (d4 floordiv 3) mod 3, d2 + d4 mod 3)>,
      <(d0, d1, d2, d3, d4) -> (d3, d4 floordiv 9, (d4 floordiv 3) mod 3, d4 mod 3)>
      : tensor<8x64x58x58xf16>, tensor<64x64x3x3xf16> -> tensor<8x56x56x64xf16>
  return %r, %y : tensor<8x56x56x64xf16>, tensor<8x64x56x56xf16>
}

// -----

// Two products want one value in different orders: the one that takes longer has it. The other one reads along its own dims.
// CHECK-LABEL: func.func @two_readers(
// CHECK: llir.elementwise exp({{.*}} -> tensor<8x58x58x64xf16>
func.func @two_readers(%x: tensor<8x64x58x58xf16>, %w: tensor<64x64x3x3xf16> {hlir.kind = "weight"}, %v: tensor<16x58xf16> {hlir.kind = "weight"}) -> (tensor<8x56x56x64xf16>, tensor<8x64x58x16xf16>) {
  %y = llir.elementwise exp(%x) : (tensor<8x64x58x58xf16>) -> tensor<8x64x58x58xf16>
  %r = llir.gemm %y, %w k(576) <(d0, d1, d2, d3, d4) -> (d0, d4 floordiv 9, d1 + (d4 floordiv 3) mod 3, d2 + d4 mod 3)>,
      <(d0, d1, d2, d3, d4) -> (d3, d4 floordiv 9, (d4 floordiv 3) mod 3, d4 mod 3)>
      : tensor<8x64x58x58xf16>, tensor<64x64x3x3xf16> -> tensor<8x56x56x64xf16>
  %s = llir.gemm %y, %v k(58) <(d0, d1, d2, d3, d4) -> (d0, d1, d2, d4)>, <(d0, d1, d2, d3, d4) -> (d3, d4)>
      : tensor<8x64x58x58xf16>, tensor<16x58xf16> -> tensor<8x64x58x16xf16>
  return %r, %s : tensor<8x56x56x64xf16>, tensor<8x64x58x16xf16>
}

// -----

// Weights that something else reads too would be in memory twice: beyond a tenth of the weights there is no room for it.
// CHECK-LABEL: func.func @weights_read_twice(
// CHECK-NOT: llir.prepare
// CHECK: return
// REMARK: [Missed] layout {{.*}} Function=weights_read_twice | {{.*}}reason="the predicted gain is too small"
func.func @weights_read_twice(%x: tensor<8x64x58x58xf16>, %z: tensor<64x64x3x3xf16>, %w: tensor<64x64x3x3xf16> {hlir.kind = "weight"}) -> (tensor<8x56x56x64xf16>, tensor<64x64x3x3xf16>) {
  %y = llir.elementwise exp(%x) : (tensor<8x64x58x58xf16>) -> tensor<8x64x58x58xf16>
  %s = llir.elementwise add(%w, %z) : (tensor<64x64x3x3xf16>, tensor<64x64x3x3xf16>) -> tensor<64x64x3x3xf16>
  %r = llir.gemm %y, %w k(576) <(d0, d1, d2, d3, d4) -> (d0, d4 floordiv 9, d1 + (d4 floordiv 3) mod 3, d2 + d4 mod 3)>,
      <(d0, d1, d2, d3, d4) -> (d3, d4 floordiv 9, (d4 floordiv 3) mod 3, d4 mod 3)>
      : tensor<8x64x58x58xf16>, tensor<64x64x3x3xf16> -> tensor<8x56x56x64xf16>
  return %r, %s : tensor<8x56x56x64xf16>, tensor<64x64x3x3xf16>
}

// -----

// Groups of channels, each with weights of its own, and a prepared scale in them: weights are prepared once, in the new order.
// CHECK-LABEL: func.func @groups(
// CHECK: %[[S:.+]] = llir.elementwise mul(
// CHECK-NOT: llir.prepare %[[S]]
// CHECK: %[[W:.+]] = llir.view %[[S]] <(d0, d1, d2) -> (d0, d1, d2 mod 32, d2 floordiv 96, (d2 floordiv 32) mod 3)>
// CHECK: llir.prepare %[[W]] : tensor<2x32x288xf16>
// CHECK: llir.gemm {{.*}} k(288) <(d0, d1, d2, d3, d4, d5) -> (d1, 32 * d0 + d5 mod 32, d2 + d5 floordiv 96, d3 + (d5 floordiv 32) mod 3)>, <(d0, d1, d2, d3, d4, d5) -> (d0, d4, d5)>
func.func @groups(%x: tensor<8x64x58x58xf16>, %w: tensor<2x32x32x3x3xf16> {hlir.kind = "weight"}) -> tensor<2x8x56x56x32xf16> {
  %y = llir.elementwise exp(%x) : (tensor<8x64x58x58xf16>) -> tensor<8x64x58x58xf16>
  %m = llir.elementwise mul(%w, %w) : (tensor<2x32x32x3x3xf16>, tensor<2x32x32x3x3xf16>) -> tensor<2x32x32x3x3xf16>
  %p = llir.prepare %m : tensor<2x32x32x3x3xf16>
  %r = llir.gemm %y, %p k(288) <(d0, d1, d2, d3, d4, d5) -> (d1, 32 * d0 + d5 floordiv 9, d2 + (d5 floordiv 3) mod 3, d3 + d5 mod 3)>,
      <(d0, d1, d2, d3, d4, d5) -> (d0, d4, d5 floordiv 9, (d5 floordiv 3) mod 3, d5 mod 3)>
      : tensor<8x64x58x58xf16>, tensor<2x32x32x3x3xf16> -> tensor<2x8x56x56x32xf16>
  return %r : tensor<2x8x56x56x32xf16>
}
