// Values between kernels are stored with the dim innermost along which products read them best.
// RUN: luminal-opt %s --llir-choose-layouts="target=cuda arch=sm_90a" --split-input-file --remarks-filter=llir-choose-layouts 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks
// Weights cannot be prepared without memory for them.
// RUN: luminal-opt %s --llir-choose-layouts="target=cuda arch=sm_90a prepare-bytes=0" --split-input-file | FileCheck %s --check-prefix=NONE
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
// REMARK: [Passed] layout {{.*}} Function=convolution | {{.*}}innermost=64, predicted ns={{[0-9]+}}, values=1
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
