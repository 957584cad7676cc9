// Attention of many keys is one kernel whose anchors are walked jointly; of few, one of stages. A product whose terms need
// their sum complete stays a kernel of its own.
// RUN: luminal-opt %s --split-input-file --llir-fuse-kernels --llir-schedule-kernels=arch=x86-64-v3 | FileCheck %s
// RUN: luminal-opt %s --split-input-file --llir-fuse-kernels --llir-schedule-kernels=arch=x86-64-v3 --remarks-filter=llir-schedule-kernels -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: luminal-opt %s --split-input-file --llir-fuse-kernels --llir-schedule-kernels=arch=x86-64-v3 --llir-plan-memory --convert-llir-to-llvm="arch=x86-64-v3 keep-loops" | FileCheck %s --check-prefix=CODE

// REMARK: anchors=4, chunk={{[0-9]+}}, form="anchors in one loop over a streamed dim"

// CHECK-LABEL: func.func @long
// CHECK: llir.kernel(%arg0, %arg1, %arg2) loops<grid(d0, d1:{{[0-9]+}}) stream(d2:{{[0-9]+}}) op{{.*}} = tile {{.*}} = joint {{.*}} = joint {{.*}} = tile
// CHECK-NOT: llir.kernel
// The factor of a chunk: one exponential for each row, outside the loop over its elements.
// CODE: llvm.func @k0
// CODE: math.fma
// CODE: arith.cmpf oeq
func.func @long(%q: tensor<8x1024x64xf32>, %k: tensor<8x16384x64xf32>, %v: tensor<8x16384x32xf32>) -> tensor<8x1024x32xf32> {
  %s = llir.gemm %q, %k k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<8x1024x64xf32>, tensor<8x16384x64xf32> -> tensor<8x1024x16384xf32>
  %p = llir.softmax %s : tensor<8x1024x16384xf32>
  %o = llir.gemm %p, %v k(16384) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<8x1024x16384xf32>, tensor<8x16384x32xf32> -> tensor<8x1024x32xf32>
  return %o : tensor<8x1024x32xf32>
}

// -----
// CHECK-LABEL: func.func @short
// CHECK: llir.kernel(%arg0, %arg1, %arg2) loops<grid
// CHECK-NOT: joint
// CHECK-NOT: llir.kernel
// CHECK: return
func.func @short(%q: tensor<8x128x64xf32>, %k: tensor<8x64x64xf32>, %v: tensor<8x64x32xf32>) -> tensor<8x128x32xf32> {
  %s = llir.gemm %q, %k k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<8x128x64xf32>, tensor<8x64x64xf32> -> tensor<8x128x64xf32>
  %p = llir.softmax %s : tensor<8x128x64xf32>
  %o = llir.gemm %p, %v k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<8x128x64xf32>, tensor<8x64x32xf32> -> tensor<8x128x32xf32>
  return %o : tensor<8x128x32xf32>
}

// -----
// CHECK-LABEL: func.func @also_read
// CHECK: llir.kernel
// CHECK-NOT: joint
// CHECK: llir.kernel
// CHECK-NOT: joint
// CHECK: return
func.func @also_read(%q: tensor<8x1024x64xf32>, %k: tensor<8x16384x64xf32>, %v: tensor<8x16384x32xf32>) -> (tensor<8x1024x32xf32>, tensor<8x1024x16384xf32>) {
  %s = llir.gemm %q, %k k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<8x1024x64xf32>, tensor<8x16384x64xf32> -> tensor<8x1024x16384xf32>
  %p = llir.softmax %s : tensor<8x1024x16384xf32>
  %o = llir.gemm %p, %v k(16384) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<8x1024x16384xf32>, tensor<8x16384x32xf32> -> tensor<8x1024x32xf32>
  return %o, %p : tensor<8x1024x32xf32>, tensor<8x1024x16384xf32>
}

// -----
// Widening a key is little beside the rows that a unit multiplies it with, though each unit does it again; a function of it is
// not.
// CHECK-LABEL: func.func @narrow
// CHECK: llir.kernel(%arg0, %arg1, %arg2) loops<grid(d0, d1:{{[0-9]+}}) stream(d2:{{[0-9]+}})
// CHECK-NOT: llir.kernel
// CHECK: return
func.func @narrow(%q: tensor<8x1024x64xbf16>, %k: tensor<8x16384x64xbf16>, %v: tensor<8x16384x32xbf16>) -> tensor<8x1024x32xbf16> {
  %x = llir.elementwise cast(%q) : (tensor<8x1024x64xbf16>) -> tensor<8x1024x64xf32>
  %y = llir.elementwise cast(%k) : (tensor<8x16384x64xbf16>) -> tensor<8x16384x64xf32>
  %z = llir.elementwise cast(%v) : (tensor<8x16384x32xbf16>) -> tensor<8x16384x32xf32>
  %s = llir.gemm %x, %y k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<8x1024x64xf32>, tensor<8x16384x64xf32> -> tensor<8x1024x16384xf32>
  %p = llir.softmax %s : tensor<8x1024x16384xf32>
  %o = llir.gemm %p, %z k(16384) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<8x1024x16384xf32>, tensor<8x16384x32xf32> -> tensor<8x1024x32xf32>
  %r = llir.elementwise cast(%o) : (tensor<8x1024x32xf32>) -> tensor<8x1024x32xbf16>
  return %r : tensor<8x1024x32xbf16>
}

// -----
// CHECK-LABEL: func.func @costly
// CHECK: llir.kernel(%arg1)
// CHECK: llir.kernel{{.*}} stream(d2:
// CHECK-NOT: llir.kernel
// CHECK: return
func.func @costly(%q: tensor<8x1024x64xf32>, %k: tensor<8x16384x64xf32>, %v: tensor<8x16384x32xf32>) -> tensor<8x1024x32xf32> {
  %y = llir.elementwise gelu(%k) : (tensor<8x16384x64xf32>) -> tensor<8x16384x64xf32>
  %s = llir.gemm %q, %y k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<8x1024x64xf32>, tensor<8x16384x64xf32> -> tensor<8x1024x16384xf32>
  %p = llir.softmax %s : tensor<8x1024x16384xf32>
  %o = llir.gemm %p, %v k(16384) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<8x1024x16384xf32>, tensor<8x16384x32xf32> -> tensor<8x1024x32xf32>
  return %o : tensor<8x1024x32xf32>
}
