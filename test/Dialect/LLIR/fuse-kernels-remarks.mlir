// Each decision of fusion, and why a value is not computed where it is read.
// DEFINE: %{opt} = luminal-opt %s --llir-fuse-kernels -o %t
// RUN: %{opt} --remarks-filter-passed=llir-fuse-kernels --remarks-filter-missed=llir-fuse-kernels --verify-diagnostics
// RUN: %{opt} --remarks-filter-analyse=llir-fuse-kernels 2>&1 | FileCheck %s --check-prefix=KERNEL
// A filter for another pass's remarks shows none of these.
// RUN: luminal-opt %S/fuse-kernels.mlir --llir-fuse-kernels --remarks-filter=llir-plan-memory -o %t 2>&1 | FileCheck %s --allow-empty --check-prefix=NONE
// NONE-NOT: remark

// KERNEL: remark: [Analysis] kernel | Category:llir-fuse-kernels | Function=chain | code=22, kind=map, operands=1, ops=2, results=1
func.func @chain(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-remark-re@+1 {{[Passed] fusion | Category:llir-fuse-kernels | Function=chain | as="a value of the kernel", op="elementwise neg", reader="elementwise exp at {{.*}}remarks.mlir:13:8"}}
  %0 = llir.elementwise neg(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = llir.elementwise exp(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// A result that a kernel with the same index space reads is written by that
// kernel; a reader of another index space loads it.
func.func @result(%a: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  // expected-remark-re@+1 {{[Passed] fusion {{.*}} as="a further result of the kernel", op="elementwise neg", reader="elementwise exp at {{.*}}:22:8"}}
  %0 = llir.elementwise neg(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = llir.elementwise exp(%0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0, %1 : tensor<4x8xf32>, tensor<4x8xf32>
}
func.func @result_of_another_space(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4x8xf32>) {
  // expected-remark-re@+1 {{[Missed] fusion {{.*}} further result="no reader reads each element exactly once", op="elementwise neg", reader="elementwise exp at {{.*}}:29:8", readers=1, reason="it is a result of the function"}}
  %0 = llir.elementwise neg(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = llir.view %0 <(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
  %2 = llir.elementwise exp(%1) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0, %2 : tensor<4xf32>, tensor<4x8xf32>
}

// A cheap value is computed again.
func.func @cheap_again(%a: tensor<4xf32>) -> tensor<4x8xf32> {
  // expected-remark@+1 {{[Passed] fusion}}
  %0 = llir.elementwise tanh(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = llir.view %0 <(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x8xf32>
  %2 = llir.elementwise exp(%1) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}
func.func @dear_again(%a: tensor<4096xf32>) -> tensor<4096x8xf32> {
  // expected-remark-re@+1 {{[Missed] fusion {{.*}} op="elementwise tanh", reader="elementwise exp at {{.*}}", readers=1, reason="computing it once more for each reader costs more operations than memory does (630784, at most 36384)"}}
  %0 = llir.elementwise tanh(%a) : (tensor<4096xf32>) -> tensor<4096xf32>
  %1 = llir.view %0 <(d0, d1) -> (d0)> : tensor<4096xf32> -> tensor<4096x8xf32>
  %2 = llir.elementwise exp(%1) : (tensor<4096x8xf32>) -> tensor<4096x8xf32>
  return %2 : tensor<4096x8xf32>
}

// An epilogue joins its product; a second product does not repeat the first.
func.func @products(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-remark-re@+1 {{[Passed] fusion {{.*}} as="the loops of the kernel", op=gemm, reader="elementwise exp at {{.*}}"}}
  %0 = llir.gemm %a, %a k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  // expected-remark-re@+1 {{[Missed] fusion {{.*}} op="elementwise exp", reader="gemm at {{.*}}", readers=1, reason="the reader would repeat the product or reduction before it"}}
  %1 = llir.elementwise exp(%0) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = llir.gemm %1, %a k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}
func.func @product_of_two_readers(%a: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8xf32>) {
  // expected-remark-re@+1 {{op=gemm, reader="reduce at {{.*}}", readers=2, reason="several kernels read it"}}
  %0 = llir.gemm %a, %a k(8) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %1 = llir.elementwise exp(%0) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = llir.reduce sum %0 : tensor<8x8xf32> -> tensor<8xf32>
  return %1, %2 : tensor<8x8xf32>, tensor<8xf32>
}
func.func @product_read_twice(%a: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-remark@+1 {{readers=1, reason="the reader reads it in more than one way"}}
  %0 = llir.gemm %a, %a k(8) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %1 = llir.view %0 <(d0, d1) -> (d1, d0)> : tensor<8x8xf32> -> tensor<8x8xf32>
  %2 = llir.elementwise add(%0, %1) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
func.func @product_in_part(%a: tensor<8x8xf32>) -> tensor<4x8xf32> {
  // expected-remark@+1 {{readers=1, reason="the reader does not read each element exactly once"}}
  %0 = llir.gemm %a, %a k(8) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %1 = llir.view %0 <(d0, d1) -> (d0 * 2, d1)> : tensor<8x8xf32> -> tensor<4x8xf32>
  %2 = llir.elementwise exp(%1) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// Rows of a reduction: of the same domain, or not.
func.func @same_rows(%x: tensor<8x16xf32>) -> tensor<8xf32> {
  // expected-remark-re@+1 {{[Passed] fusion {{.*}} as="the loops of the kernel", op=reduce, reader="elementwise add at {{.*}}"}}
  %0 = llir.reduce max %x : tensor<8x16xf32> -> tensor<8xf32>
  // expected-remark-re@+1 {{[Passed] fusion {{.*}} op=reduce, reader="elementwise add at {{.*}}"}}
  %1 = llir.reduce sum %x : tensor<8x16xf32> -> tensor<8xf32>
  %2 = llir.elementwise add(%0, %1) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
func.func @other_rows(%x: tensor<8x16xf32>, %y: tensor<8x3xf32>) -> tensor<8xf32> {
  // expected-remark-re@+1 {{[Missed] fusion {{.*}} op=reduce, reader="elementwise add at {{.*}}", readers=1, reason="the reader reduces other rows"}}
  %0 = llir.reduce max %x : tensor<8x16xf32> -> tensor<8xf32>
  // expected-remark-re@+1 {{[Passed] fusion {{.*}} op=reduce, reader="elementwise add at {{.*}}"}}
  %1 = llir.reduce sum %y : tensor<8x3xf32> -> tensor<8xf32>
  %2 = llir.elementwise add(%0, %1) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}

// Only views may follow a scatter in its kernel.
func.func @scatter_then_exp(%s: tensor<8xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) -> tensor<8xf32> {
  // expected-remark@+1 {{reason="only views may follow a scatter in its kernel"}}
  %0 = llir.scatter set %s, %i, %u {checked} : tensor<8xf32>, tensor<2xi64>, tensor<2xf32>
  %1 = llir.elementwise exp(%0) : (tensor<8xf32>) -> tensor<8xf32>
  return %1 : tensor<8xf32>
}
