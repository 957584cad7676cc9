// One query of a few heads over a cache: parts of the keys are blocks enough, so that attention is one kernel, not a launch
// for each of its steps. With fewer keys there are no parts, and all multiprocessors share each step.
// RUN: luminal-opt %s --luminal-pipeline="target=cuda arch=h200 from=saturated until=scheduled" | FileCheck %s

// CHECK-LABEL: @cached
// CHECK: llir.kernel({{.*}}) loops<grid(d0, d1:16) stream(d2:32) parts(4) threads(32, 32) {{.*}}use = mma
// CHECK-NOT: llir.kernel
// CHECK: return
func.func @cached(%q: tensor<4x2x256xbf16>, %k: tensor<4x512x256xbf16>, %v: tensor<4x512x256xbf16>) -> tensor<4x2x256xbf16> {
  %q32 = llir.elementwise cast(%q) : (tensor<4x2x256xbf16>) -> tensor<4x2x256xf32>
  %k32 = llir.elementwise cast(%k) : (tensor<4x512x256xbf16>) -> tensor<4x512x256xf32>
  %v32 = llir.elementwise cast(%v) : (tensor<4x512x256xbf16>) -> tensor<4x512x256xf32>
  %s = llir.gemm %q32, %k32 k(256) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<4x2x256xf32>, tensor<4x512x256xf32> -> tensor<4x2x512xf32>
  %p = llir.softmax %s : tensor<4x2x512xf32>
  %o = llir.gemm %p, %v32 k(512) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<4x2x512xf32>, tensor<4x512x256xf32> -> tensor<4x2x256xf32>
  %r = llir.elementwise cast(%o) : (tensor<4x2x256xf32>) -> tensor<4x2x256xbf16>
  return %r : tensor<4x2x256xbf16>
}

// CHECK-LABEL: @short
// CHECK-COUNT-2: llir.kernel
func.func @short(%q: tensor<2x2x256xbf16>, %k: tensor<2x256x256xbf16>, %v: tensor<2x256x256xbf16>) -> tensor<2x2x256xbf16> {
  %q32 = llir.elementwise cast(%q) : (tensor<2x2x256xbf16>) -> tensor<2x2x256xf32>
  %k32 = llir.elementwise cast(%k) : (tensor<2x256x256xbf16>) -> tensor<2x256x256xf32>
  %v32 = llir.elementwise cast(%v) : (tensor<2x256x256xbf16>) -> tensor<2x256x256xf32>
  %s = llir.gemm %q32, %k32 k(256) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<2x2x256xf32>, tensor<2x256x256xf32> -> tensor<2x2x256xf32>
  %p = llir.softmax %s : tensor<2x2x256xf32>
  %o = llir.gemm %p, %v32 k(256) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<2x2x256xf32>, tensor<2x256x256xf32> -> tensor<2x2x256xf32>
  %r = llir.elementwise cast(%o) : (tensor<2x2x256xf32>) -> tensor<2x2x256xbf16>
  return %r : tensor<2x2x256xbf16>
}
