// Channels that have a sum each are stored side by side, so that vectors of them are summed, with weights in that order.
// RUN: luminal-opt %s --llir-choose-layouts=arch=znver4 --split-input-file --remarks-filter=llir-choose-layouts 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks
// A GPU reads windows of an image by its lines.
// RUN: luminal-opt %s --llir-choose-layouts="target=cuda arch=sm_90a" --split-input-file | FileCheck %s --check-prefix=GPU
// GPU: llir.gemm {{.*}} k(9) {{.*}} : tensor<1x96x58x58xf32>, tensor<96x3x3xf32> -> 

// What is before and behind the windows is one class with them.
// CHECK-LABEL: func.func @depthwise(
// CHECK: llir.gemm {{.*}} -> tensor<1x58x58x96xf32>
// CHECK: llir.elementwise exp{{.*}} -> tensor<1x58x58x96xf32>
// CHECK: %[[W:.+]] = llir.view %arg2 <(d0, d1) -> (d1, d0 floordiv 3, d0 mod 3)> : tensor<96x3x3xf32> -> tensor<9x96xf32>
// CHECK: %[[P:.+]] = llir.prepare %[[W]]
// CHECK: llir.gemm %{{.+}}, %[[P]] k(9) {{.*}} -> tensor<1x56x56x96xf32>
// CHECK: llir.elementwise sqrt{{.*}} -> tensor<1x56x56x96xf32>
// REMARK: [Passed] layout {{.*}} Function=depthwise | {{.*}}innermost=96, predicted ns={{[0-9]+}}, {{.*}}values=4
func.func @depthwise(%x: tensor<1x16x58x58xf32>, %u: tensor<96x16xf32> {hlir.kind = "weight"}, %w: tensor<96x3x3xf32> {hlir.kind = "weight"}, %v: tensor<96x16xf32> {hlir.kind = "weight"}) -> tensor<1x16x56x56xf32> {
  %e = llir.gemm %x, %u k(16) <(d0, d1, d2, d3, d4) -> (d0, d4, d2, d3)>, <(d0, d1, d2, d3, d4) -> (d1, d4)>
      : tensor<1x16x58x58xf32>, tensor<96x16xf32> -> tensor<1x96x58x58xf32>
  %y = llir.elementwise exp(%e) : (tensor<1x96x58x58xf32>) -> tensor<1x96x58x58xf32>
  %g = llir.gemm %y, %w k(9) <(d0, d1, d2, d3, d4) -> (d0, d1, d2 + d4 floordiv 3, d3 + d4 mod 3)>,
      <(d0, d1, d2, d3, d4) -> (d1, d4 floordiv 3, d4 mod 3)> : tensor<1x96x58x58xf32>, tensor<96x3x3xf32> -> tensor<1x96x56x56xf32>
  %z = llir.elementwise sqrt(%g) : (tensor<1x96x56x56xf32>) -> tensor<1x96x56x56xf32>
  %r = llir.gemm %z, %v k(96) <(d0, d1, d2, d3, d4) -> (d0, d4, d2, d3)>, <(d0, d1, d2, d3, d4) -> (d4, d1)>
      : tensor<1x96x56x56xf32>, tensor<96x16xf32> -> tensor<1x16x56x56xf32>
  return %r : tensor<1x16x56x56xf32>
}

// -----

// Two channels for each of the image's share its lines.
// CHECK-LABEL: func.func @shared(
// CHECK-NOT: llir.prepare
// CHECK: return
// REMARK-NOT: [Passed] layout {{.*}} Function=shared
func.func @shared(%x: tensor<1x48x58x58xf32>, %w: tensor<48x2x3x3xf32> {hlir.kind = "weight"}) -> tensor<1x48x2x56x56xf32> {
  %y = llir.elementwise exp(%x) : (tensor<1x48x58x58xf32>) -> tensor<1x48x58x58xf32>
  %g = llir.gemm %y, %w k(9) <(d0, d1, d2, d3, d4, d5) -> (d0, d1, d3 + d5 floordiv 3, d4 + d5 mod 3)>,
      <(d0, d1, d2, d3, d4, d5) -> (d1, d2, d5 floordiv 3, d5 mod 3)> : tensor<1x48x58x58xf32>, tensor<48x2x3x3xf32> -> tensor<1x48x2x56x56xf32>
  %r = llir.elementwise sqrt(%g) : (tensor<1x48x2x56x56xf32>) -> tensor<1x48x2x56x56xf32>
  return %r : tensor<1x48x2x56x56xf32>
}
