// Which products cuBLASLt computes, as what, and why others stay with kernels.
// RUN: luminal-opt %s --split-input-file --llir-call-libraries="target=cuda arch=sm_80" | FileCheck %s
// RUN: luminal-opt %s --split-input-file --llir-call-libraries="target=cuda arch=sm_80 precision=exact" | FileCheck %s --check-prefix=EXACT
// RUN: luminal-opt %s --split-input-file --llir-call-libraries="target=cuda arch=sm_80 library=none" | FileCheck %s --check-prefix=NONE
// RUN: luminal-opt %s --split-input-file --llir-call-libraries="target=cpu arch=x86-64" | FileCheck %s --check-prefix=NONE
// RUN: luminal-opt %s --split-input-file --llir-call-libraries="target=cuda arch=sm_80" --remarks-filter=llir-call-libraries --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: not luminal-opt %s --split-input-file --llir-call-libraries="target=cuda arch=sm_80 library=cudnn" 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// NONE-NOT: cublaslt
// UNKNOWN: error: the target 'cuda' has no library 'cudnn'; known are: all, none, cublaslt

// A linear layer: the transposed weight is read in place, the bias and the activation are the library's.
// CHECK-LABEL: @linear
// CHECK-NOT: llir.gemm
// CHECK: %[[R:.*]] = llir.cublaslt_matmul(%arg0, %arg1 bias %arg2) sizes(1, 512, 3072, 768)
// CHECK-SAME: lhs<(d0, d1, d2) -> (768 * d1 + d2)> rhs<(d0, d1, d2) -> (d1 + 768 * d2)>
// CHECK-SAME: result<(d0, d1, d2) -> (3072 * d1 + d2)> {epilogue = #llir.epilogue<gelu_tanh>}
// CHECK-NEXT: return %[[R]]
// Where every rounding stays, the sum is rounded before the bias.
// EXACT-LABEL: @linear
// EXACT: %[[R:.*]] = llir.cublaslt_matmul(%arg0, %arg1) sizes(1, 512, 3072, 768)
// EXACT: llir.elementwise add(%[[R]]
// REMARK: remark: [Passed] library{{.*}} columns=3072, inner=768{{.*}} library=cublaslt{{.*}} op=gemm, rows=512
func.func @linear(%x: tensor<512x768xf16>, %w: tensor<3072x768xf16>, %b: tensor<3072xf16>) -> tensor<512x3072xf16> {
  %t = llir.view %w <(d0, d1) -> (d1, d0)> : tensor<3072x768xf16> -> tensor<768x3072xf16>
  %0 = llir.gemm %x, %t k(768) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<512x768xf16>, tensor<768x3072xf16> -> tensor<512x3072xf16>
  %v = llir.view %b <(d0, d1) -> (d1)> : tensor<3072xf16> -> tensor<512x3072xf16>
  %1 = llir.elementwise add(%0, %v) : (tensor<512x3072xf16>, tensor<512x3072xf16>) -> tensor<512x3072xf16>
  %2 = llir.elementwise gelu_tanh(%1) : (tensor<512x3072xf16>) -> tensor<512x3072xf16>
  return %2 : tensor<512x3072xf16>
}

// -----

// A scale, a residual and relu, through reshapes; the residual may be of any layout whose rows are dense.
// CHECK-LABEL: @residual
// CHECK: llir.cublaslt_matmul(%arg0, %arg1 add %arg2) sizes(1, 512, 1024, 1024)
// CHECK-SAME: add<(d0, d1, d2) -> (2048 * d1 + d2 + 1024)> result<(d0, d1, d2) -> (1024 * d1 + d2)>
// CHECK-SAME: {alpha = 5.000000e-01 : f64, epilogue = #llir.epilogue<relu>}
// CHECK-SAME: -> tensor<4x128x1024xf32>
func.func @residual(%x: tensor<512x1024xf32>, %w: tensor<1024x1024xf32>, %c: tensor<4x128x2048xf32>) -> tensor<4x128x1024xf32> {
  %0 = llir.gemm %x, %w k(1024) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<512x1024xf32>, tensor<1024x1024xf32> -> tensor<512x1024xf32>
  %h = llir.constant dense<0.5> : tensor<f32>
  %hb = llir.view %h <(d0, d1) -> ()> : tensor<f32> -> tensor<512x1024xf32>
  %1 = llir.elementwise mul(%hb, %0) : (tensor<512x1024xf32>, tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %2 = llir.view %1 <(d0, d1, d2) -> (128 * d0 + d1, d2)> : tensor<512x1024xf32> -> tensor<4x128x1024xf32>
  %s = llir.view %c <(d0, d1, d2) -> (d0, d1, d2 + 1024)> : tensor<4x128x2048xf32> -> tensor<4x128x1024xf32>
  %3 = llir.elementwise add(%2, %s) : (tensor<4x128x1024xf32>, tensor<4x128x1024xf32>) -> tensor<4x128x1024xf32>
  %z = llir.constant dense<0.0> : tensor<4x128x1024xf32>
  %4 = llir.elementwise max(%3, %z) : (tensor<4x128x1024xf32>, tensor<4x128x1024xf32>) -> tensor<4x128x1024xf32>
  return %4 : tensor<4x128x1024xf32>
}

// -----

// Heads of attention: a batch with a stride, of parts of one tensor; the result goes where its reader wants it.
// CHECK-LABEL: @heads
// CHECK: llir.cublaslt_matmul(%arg0, %arg1) sizes(16, 256, 128, 256)
// CHECK-SAME: lhs<(d0, d1, d2) -> (65536 * d0 + 256 * d1 + d2)> rhs<(d0, d1, d2) -> (128 * d0 + 6144 * d1 + d2 + 4096)>
// CHECK-SAME: result<(d0, d1, d2) -> (128 * d0 + 2048 * d1 + d2)>
// CHECK-SAME: -> tensor<256x2048xf16>
func.func @heads(%p: tensor<16x256x256xf16>, %qkv: tensor<256x6144xf16>) -> tensor<256x2048xf16> {
  %v = llir.view %qkv <(d0, d1, d2) -> (d1, 128 * d0 + d2 + 4096)> : tensor<256x6144xf16> -> tensor<16x256x128xf16>
  %0 = llir.gemm %p, %v k(256) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<16x256x256xf16>, tensor<16x256x128xf16> -> tensor<16x256x128xf16>
  %1 = llir.view %0 <(d0, d1) -> (d1 floordiv 128, d0, d1 mod 128)> : tensor<16x256x128xf16> -> tensor<256x2048xf16>
  return %1 : tensor<256x2048xf16>
}

// -----

// A batch that shares its right side is more rows; two that do not lie one stride apart stay a batch.
// CHECK-LABEL: @shared
// CHECK: llir.cublaslt_matmul(%arg0, %arg1) sizes(1, 2048, 512, 512)
// CHECK: llir.cublaslt_matmul(%arg2, %arg1) sizes(4, 512, 512, 512)
// CHECK-SAME: lhs<(d0, d1, d2) -> (262144 * d0 + d1 + 512 * d2)> rhs<(d0, d1, d2) -> (512 * d1 + d2)>
func.func @shared(%a: tensor<4x512x512xbf16>, %w: tensor<512x512xbf16>, %t: tensor<4x512x512xbf16>) -> (tensor<4x512x512xbf16>, tensor<4x512x512xbf16>) {
  %0 = llir.gemm %a, %w k(512) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d3, d2)> : tensor<4x512x512xbf16>, tensor<512x512xbf16> -> tensor<4x512x512xbf16>
  %1 = llir.gemm %t, %w k(512) <(d0, d1, d2, d3) -> (d0, d3, d1)>, <(d0, d1, d2, d3) -> (d3, d2)> : tensor<4x512x512xbf16>, tensor<512x512xbf16> -> tensor<4x512x512xbf16>
  return %0, %1 : tensor<4x512x512xbf16>, tensor<4x512x512xbf16>
}

// -----

// Sizes that are known at run time: the choice is made for usual ones.
// CHECK-LABEL: @dynamic
// CHECK: llir.cublaslt_matmul(%arg0, %arg1) sizes(1, n, 4096, 4096)
func.func @dynamic(%x: tensor<?x4096xbf16, #hlir.dims<n>>, %w: tensor<4096x4096xbf16>) -> tensor<?x4096xbf16, #hlir.dims<n>> attributes {hlir.symbols = #hlir.symbols<n in [0, 4096]>} {
  %0 = llir.gemm %x, %w k(4096) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<?x4096xbf16, #hlir.dims<n>>, tensor<4096x4096xbf16> -> tensor<?x4096xbf16, #hlir.dims<n>>
  return %0 : tensor<?x4096xbf16, #hlir.dims<n>>
}

// -----

// A kernel of one row is bound by memory.
// CHECK-LABEL: @row
// CHECK: llir.gemm
// REMARK: remark: [Missed] library{{.*}} reason="kernels are as fast", rows=1
func.func @row(%x: tensor<4096xbf16>, %w: tensor<4096x4096xbf16>) -> tensor<4096xbf16> {
  %0 = llir.gemm %x, %w k(4096) <(d0, d1) -> (d1)>, <(d0, d1) -> (d0, d1)> : tensor<4096xbf16>, tensor<4096x4096xbf16> -> tensor<4096xbf16>
  return %0 : tensor<4096xbf16>
}

// -----

// A call of the library takes longer than a small product.
// CHECK-LABEL: @small
// CHECK: llir.gemm
// REMARK: remark: [Missed] library{{.*}} reason="kernels are as fast", rows=16
func.func @small(%x: tensor<16x64xf32>, %w: tensor<64x64xf32>) -> tensor<16x64xf32> {
  %0 = llir.gemm %x, %w k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<16x64xf32>, tensor<64x64xf32> -> tensor<16x64xf32>
  return %0 : tensor<16x64xf32>
}

// -----

// CHECK-LABEL: @windows
// CHECK: llir.gemm
// REMARK: remark: [Missed] library{{.*}} reason="the elements of an operand are not at linear positions"
func.func @windows(%x: tensor<512x1024xf32>, %w: tensor<1024x1024xf32>) -> tensor<512x1024xf32> {
  %0 = llir.gemm %x, %w k(1024) <(d0, d1, d2) -> (d0, (d1 + d2) mod 1024)>, <(d0, d1, d2) -> (d2, d1)> : tensor<512x1024xf32>, tensor<1024x1024xf32> -> tensor<512x1024xf32>
  return %0 : tensor<512x1024xf32>
}

// -----

// CHECK-LABEL: @overlap
// CHECK: llir.gemm
// REMARK: remark: [Missed] library{{.*}} reason="neither the rows nor the columns of a matrix are contiguous"
func.func @overlap(%x: tensor<2047xf32>, %w: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %0 = llir.gemm %x, %w k(1024) <(d0, d1, d2) -> (d0 + d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<2047xf32>, tensor<1024x1024xf32> -> tensor<1024x1024xf32>
  return %0 : tensor<1024x1024xf32>
}

// -----

// CHECK-LABEL: @integers
// CHECK: llir.gemm
// REMARK: remark: [Missed] library{{.*}} reason="the library has no product of its element type"
func.func @integers(%x: tensor<1024x1024xi32>) -> tensor<1024x1024xi32> {
  %0 = llir.gemm %x, %x k(1024) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<1024x1024xi32>, tensor<1024x1024xi32> -> tensor<1024x1024xi32>
  return %0 : tensor<1024x1024xi32>
}

// -----

// CHECK-LABEL: @empty
// CHECK: llir.gemm
// REMARK: remark: [Missed] library{{.*}} reason="the contracted dim may be empty"
func.func @empty(%x: tensor<1024x?xf32, #hlir.dims<n>>) -> tensor<1024x1024xf32> attributes {hlir.symbols = #hlir.symbols<n in [0, 4096]>} {
  %0 = llir.gemm %x, %x k(n) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1024x?xf32, #hlir.dims<n>>, tensor<1024x?xf32, #hlir.dims<n>> -> tensor<1024x1024xf32>
  return %0 : tensor<1024x1024xf32>
}

// -----

// Products of f16 in f32, as PyTorch computes them: the operands are read as they were, and the sum is rounded once, as
// the program says.
// CHECK-LABEL: @widened
// CHECK: llir.cublaslt_matmul(%arg0, %arg1 bias %arg2) sizes(1, 128, 3072, 768)
// CHECK-SAME: {epilogue = #llir.epilogue<gelu_tanh>} : (tensor<128x768xf16>, tensor<3072x768xf16>, tensor<3072xf16>) -> tensor<128x3072xf16>
// CHECK-NOT: elementwise
// EXACT-LABEL: @widened
// EXACT: llir.cublaslt_matmul(%arg0, %arg1 bias %arg2) sizes(1, 128, 3072, 768)
// EXACT-SAME: {epilogue = #llir.epilogue<gelu_tanh>}
// EXACT-SAME: -> tensor<128x3072xf16>
func.func @widened(%x: tensor<128x768xf16>, %w: tensor<3072x768xf16>, %b: tensor<3072xf16>) -> tensor<128x3072xf16> {
  %wx = llir.elementwise cast(%x) : (tensor<128x768xf16>) -> tensor<128x768xf32>
  %ww = llir.elementwise cast(%w) : (tensor<3072x768xf16>) -> tensor<3072x768xf32>
  %wb = llir.elementwise cast(%b) : (tensor<3072xf16>) -> tensor<3072xf32>
  %0 = llir.gemm %wx, %ww k(768) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<128x768xf32>, tensor<3072x768xf32> -> tensor<128x3072xf32>
  %v = llir.view %wb <(d0, d1) -> (d1)> : tensor<3072xf32> -> tensor<128x3072xf32>
  %1 = llir.elementwise add(%0, %v) : (tensor<128x3072xf32>, tensor<128x3072xf32>) -> tensor<128x3072xf32>
  %2 = llir.elementwise gelu_tanh(%1) : (tensor<128x3072xf32>) -> tensor<128x3072xf32>
  %3 = llir.elementwise cast(%2) : (tensor<128x3072xf32>) -> tensor<128x3072xf16>
  return %3 : tensor<128x3072xf16>
}

// -----

// Heads next to each other again: no strides fit the summed dim, so the operand is copied.
// CHECK-LABEL: @merged
// CHECK: %[[C:.*]] = llir.view %arg0 <(d0, d1) -> (d1 floordiv 64, d0, d1 mod 64)> : tensor<16x512x64xf16> -> tensor<512x1024xf16>
// CHECK: llir.cublaslt_matmul(%[[C]], %arg1) sizes(1, 512, 1024, 1024)
func.func @merged(%x: tensor<16x512x64xf16>, %w: tensor<1024x1024xf16>) -> tensor<512x1024xf16> {
  %0 = llir.gemm %x, %w k(1024) <(d0, d1, d2) -> (d2 floordiv 64, d0, d2 mod 64)>, <(d0, d1, d2) -> (d2, d1)> : tensor<16x512x64xf16>, tensor<1024x1024xf16> -> tensor<512x1024xf16>
  return %0 : tensor<512x1024xf16>
}

// -----

// The library's gelu is coarse where rows are not aligned: a kernel computes it.
// CHECK-LABEL: @unaligned
// CHECK: llir.cublaslt_matmul(%arg0, %arg1) sizes(1, 512, 1001, 1024)
// CHECK-NOT: epilogue
// CHECK: llir.elementwise gelu_tanh
func.func @unaligned(%x: tensor<512x1024xf32>, %w: tensor<1024x1001xf32>) -> tensor<512x1001xf32> {
  %0 = llir.gemm %x, %w k(1024) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<512x1024xf32>, tensor<1024x1001xf32> -> tensor<512x1001xf32>
  %1 = llir.elementwise gelu_tanh(%0) : (tensor<512x1001xf32>) -> tensor<512x1001xf32>
  return %1 : tensor<512x1001xf32>
}

// -----

// A value that is read elsewhere, or returned, is computed as it is.
// CHECK-LABEL: @readTwice
// CHECK: %[[P:.*]] = llir.cublaslt_matmul
// CHECK-NOT: epilogue
// CHECK: %[[G:.*]] = llir.elementwise gelu_tanh(%[[P]])
// CHECK: return %[[P]], %[[G]]
func.func @readTwice(%x: tensor<512x1024xbf16>, %w: tensor<1024x1024xbf16>) -> (tensor<512x1024xbf16>, tensor<512x1024xbf16>) {
  %0 = llir.gemm %x, %w k(1024) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<512x1024xbf16>, tensor<1024x1024xbf16> -> tensor<512x1024xbf16>
  %1 = llir.elementwise gelu_tanh(%0) : (tensor<512x1024xbf16>) -> tensor<512x1024xbf16>
  return %0, %1 : tensor<512x1024xbf16>, tensor<512x1024xbf16>
}

// -----

// Where rows of a narrow type begin at no multiples of 16 bytes the library takes several times as long as else, and
// longer than kernels. f32 has no such loss.
// CHECK-LABEL: @odd_rows(
// CHECK-NOT: cublaslt
// REMARK: remark: [Missed] library{{.*}} columns=50257{{.*}} reason="kernels are as fast"
func.func @odd_rows(%x: tensor<4096x768xf16>, %w: tensor<50257x768xf16>) -> tensor<4096x50257xf16> {
  %r = llir.gemm %x, %w k(768) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<4096x768xf16>, tensor<50257x768xf16> -> tensor<4096x50257xf16>
  return %r : tensor<4096x50257xf16>
}
// CHECK-LABEL: @even_rows(
// CHECK: cublaslt_matmul
func.func @even_rows(%x: tensor<4096x768xf16>, %w: tensor<50264x768xf16>) -> tensor<4096x50264xf16> {
  %r = llir.gemm %x, %w k(768) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<4096x768xf16>, tensor<50264x768xf16> -> tensor<4096x50264xf16>
  return %r : tensor<4096x50264xf16>
}
// CHECK-LABEL: @odd_rows_f32(
// CHECK: cublaslt_matmul
func.func @odd_rows_f32(%x: tensor<4096x768xf32>, %w: tensor<3001x768xf32>) -> tensor<4096x3001xf32> {
  %r = llir.gemm %x, %w k(768) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<4096x768xf32>, tensor<3001x768xf32> -> tensor<4096x3001xf32>
  return %r : tensor<4096x3001xf32>
}
