// How much code fusion puts into one kernel (docs/Fusion.md).
// DEFINE: %{opt} = luminal-opt %s --llir-fuse-kernels="code-budget=100" -o %t
// RUN: %{opt} && FileCheck %s --input-file=%t
// RUN: %{opt} --remarks-filter-analyse=llir-fuse-kernels 2>&1 | FileCheck %s --check-prefix=CODE
// RUN: %{opt} --remarks-filter-missed=llir-fuse-kernels 2>&1 | FileCheck %s --check-prefix=MISSED
// Every single op still has a kernel.
// RUN: luminal-opt %s --llir-fuse-kernels="code-budget=0" -o %t && FileCheck %s --input-file=%t --check-prefix=ONE

// Two exponentials of weight 10, each in a loop of whole vectors and in a
// masked one, are 40; five are 100.
// CHECK-LABEL: @chain
// CHECK-COUNT-2: llir.elementwise exp
// CHECK: llir.kernel
// CHECK-COUNT-5: llir.elementwise exp
// CHECK-NOT: llir.elementwise
// CODE: Function=chain | code=40, kind=map
// CODE: Function=chain | code=100, kind=map
// MISSED: Function=chain | {{.*}} op="elementwise exp", reader="elementwise exp at {{.*}}", readers=1, reason="the code of the reader would go beyond its budget (120, at most 100)"
// ONE-LABEL: @chain
// ONE-COUNT-7: llir.kernel
// ONE-NOT: llir.kernel
func.func @chain(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = llir.elementwise exp(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = llir.elementwise exp(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = llir.elementwise exp(%1) : (tensor<4xf32>) -> tensor<4xf32>
  %3 = llir.elementwise exp(%2) : (tensor<4xf32>) -> tensor<4xf32>
  %4 = llir.elementwise exp(%3) : (tensor<4xf32>) -> tensor<4xf32>
  %5 = llir.elementwise exp(%4) : (tensor<4xf32>) -> tensor<4xf32>
  %6 = llir.elementwise exp(%5) : (tensor<4xf32>) -> tensor<4xf32>
  return %6 : tensor<4xf32>
}

// A step reads its value three times: a kernel that is half full ends there,
// so that one value goes from kernel to kernel, and kernels are equal.
// ONE-LABEL: @steps
// CHECK-LABEL: @steps
// CHECK: %[[A:.*]] = llir.kernel(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[B:.*]] = llir.kernel(%[[A]]) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: %[[C:.*]] = llir.kernel(%[[B]]) : (tensor<4xf32>) -> tensor<4xf32>
// CHECK: return %[[C]]
// CODE-COUNT-3: Function=steps | code=76, kind=map
// MISSED: Function=steps | {{.*}} op="elementwise add", {{.*}} reason="the code of the reader would go beyond its budget (78, at most 50)"
func.func @steps(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = llir.elementwise exp(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = llir.elementwise sin(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = llir.elementwise mul(%0, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = llir.elementwise exp(%2) : (tensor<4xf32>) -> tensor<4xf32>
  %4 = llir.elementwise add(%a, %3) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %5 = llir.elementwise exp(%4) : (tensor<4xf32>) -> tensor<4xf32>
  %6 = llir.elementwise sin(%4) : (tensor<4xf32>) -> tensor<4xf32>
  %7 = llir.elementwise mul(%5, %6) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %8 = llir.elementwise exp(%7) : (tensor<4xf32>) -> tensor<4xf32>
  %9 = llir.elementwise add(%4, %8) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %10 = llir.elementwise exp(%9) : (tensor<4xf32>) -> tensor<4xf32>
  %11 = llir.elementwise sin(%9) : (tensor<4xf32>) -> tensor<4xf32>
  %12 = llir.elementwise mul(%10, %11) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %13 = llir.elementwise exp(%12) : (tensor<4xf32>) -> tensor<4xf32>
  %14 = llir.elementwise add(%9, %13) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %14 : tensor<4xf32>
}

// What is read at two indices is computed at both: exp 2 * 10 * 2, the view and
// the addition 2 each.
// CHECK-LABEL: @two_indices
// CHECK: llir.kernel
// CHECK-NOT: llir.kernel
// CODE: Function=two_indices | code=44, kind=map
func.func @two_indices(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = llir.elementwise exp(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = llir.view %0 <(d0, d1) -> (d1, d0)> : tensor<4x4xf32> -> tensor<4x4xf32>
  %2 = llir.elementwise add(%0, %1) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// Each pass over the rows computes it again: the second sum's does so beside
// the first's, and 20 in 12 copies are beyond the budget.
// CHECK-LABEL: @passes
// CHECK: llir.kernel
// CHECK: llir.elementwise tanh
// CHECK: llir.kernel
// CHECK-COUNT-2: llir.reduce
// CODE: Function=passes | code=40, kind=map
// CODE: Function=passes | code=60, kind=reduce
// MISSED: Function=passes | {{.*}} op="elementwise tanh", reader="elementwise sub at {{.*}}", readers=1, reason="the code of the reader would go beyond its budget (300, at most 50)"
func.func @passes(%a: tensor<8x64xf32>) -> tensor<8xf32> {
  %0 = llir.elementwise tanh(%a) : (tensor<8x64xf32>) -> tensor<8x64xf32>
  %1 = llir.reduce max %0 : tensor<8x64xf32> -> tensor<8xf32>
  %2 = llir.view %1 <(d0, d1) -> (d0)> : tensor<8xf32> -> tensor<8x64xf32>
  %3 = llir.elementwise sub(%0, %2) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  %4 = llir.reduce sum %3 : tensor<8x64xf32> -> tensor<8xf32>
  return %4 : tensor<8xf32>
}

// A product has a kernel whatever its size, and takes no epilogue here.
// CHECK-LABEL: @product
// CHECK: llir.kernel
// CHECK: llir.kernel
// CODE: Function=product | code=256, kind=gemm
// CODE: Function=product | code=20, kind=map
// MISSED: Function=product | {{.*}} op=gemm, reader="elementwise exp at {{.*}}", readers=1, reason="the code of the reader would go beyond its budget (336, at most 100)"
func.func @product(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = llir.gemm %a, %a k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %1 = llir.elementwise exp(%0) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %1 : tensor<64x64xf32>
}

// Elements of a small tensor are cheap, but not their code: two kernels do not
// both compute a long chain.
// CHECK-LABEL: @small
// CHECK: llir.kernel
// CHECK-COUNT-2: llir.elementwise sin
// CHECK-NOT: llir.elementwise sin
// MISSED: Function=small | {{.*}} op="elementwise sin", {{.*}} readers=2, reason="computing it in each reader takes more code than it is worth
func.func @small(%a: tensor<1xf32>) -> (tensor<1xf32>, tensor<2xf32>) {
  %0 = llir.elementwise sin(%a) : (tensor<1xf32>) -> tensor<1xf32>
  %1 = llir.elementwise sin(%0) : (tensor<1xf32>) -> tensor<1xf32>
  %2 = llir.elementwise exp(%1) : (tensor<1xf32>) -> tensor<1xf32>
  %3 = llir.view %1 <(d0) -> (0)> : tensor<1xf32> -> tensor<2xf32>
  %4 = llir.elementwise tanh(%3) : (tensor<2xf32>) -> tensor<2xf32>
  return %2, %4 : tensor<1xf32>, tensor<2xf32>
}

// What indices alone tell is computed by all kernels that read it, though they
// have more than half of the code that they may have.
// CHECK-LABEL: @mask
// CHECK: llir.kernel
// CHECK: llir.elementwise less_than
// CHECK: llir.kernel
// CHECK: llir.elementwise less_than
// CHECK-NOT: llir.kernel
func.func @mask(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %i = llir.iota <(d0, d1) -> (d0)> : tensor<64x64xi64>
  %j = llir.iota <(d0, d1) -> (d1)> : tensor<64x64xi64>
  %m = llir.elementwise less_than(%i, %j) : (tensor<64x64xi64>, tensor<64x64xi64>) -> tensor<64x64xi1>
  %0 = llir.elementwise select(%m, %a, %b) : (tensor<64x64xi1>, tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = llir.elementwise exp(%0) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = llir.reduce sum %1 : tensor<64x64xf32> -> tensor<64xf32>
  %3 = llir.elementwise select(%m, %b, %a) : (tensor<64x64xi1>, tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %4 = llir.elementwise exp(%3) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %5 = llir.reduce sum %4 : tensor<64x64xf32> -> tensor<64xf32>
  return %2, %5 : tensor<64xf32>, tensor<64xf32>
}
