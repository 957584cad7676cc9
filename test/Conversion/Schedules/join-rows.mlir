// Kernels over the same rows become one, which takes rows step by step: of any number, and few of them one by one.
// RUN: luminal-opt %s --llir-fuse-kernels --llir-join-rows=arch=znver4 --split-input-file --remarks-filter=llir-join-rows 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK --input-file=%t.remarks
// RUN: luminal-opt %s --llir-fuse-kernels --llir-join-rows=arch=znver4 --llir-schedule-kernels=arch=znver4 --split-input-file | FileCheck %s
// No code beyond the budget.
// RUN: luminal-opt %s --llir-fuse-kernels --llir-join-rows="arch=znver4 code-budget=100" --split-input-file --remarks-filter=llir-join-rows 2>&1 | FileCheck %s --check-prefix=BUDGET
// BUDGET: [Missed] rows {{.*}} reason="the fused kernel would exceed the code budget"

// A layer, a bag, the products of their rows with each other, and a layer of some of them.
// CHECK-LABEL: @bag
// One by one up to where a vector of rows is done as soon; of 13 elements three vectors and one.
// CHECK: llir.kernel{{.*}} loops<if (b: [0, 4]) grid(d0)
// CHECK-SAME: op1 = along {lanes = 4}
// CHECK-SAME: op12 = along {lanes = 16}
// CHECK-SAME: else grid(d0:16 v16)
// CHECK-SAME: keep {lanes = 16}
// CHECK-SAME: across {columns = 8}
// CHECK: llir.segment_reduce
// CHECK-NOT: llir.kernel
// CHECK: return
// REMARK: [Passed] rows {{.*}} Function=bag | {{.*}}form="rows in lanes, step by step", kernels={{[0-9]+}}
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

// What reads other rows stays apart.
// CHECK-LABEL: @other_rows
// CHECK-COUNT-2: llir.kernel
// REMARK: [Missed] rows {{.*}} Function=other_rows | {{.*}}reason="another row of it is read"
func.func @other_rows(%x: tensor<?x8xf32, #hlir.dims<b>>, %w: tensor<8x8xf32>) -> tensor<?x8xf32, #hlir.dims<b>>
    attributes {hlir.symbols = #hlir.symbols<b in [1, 4096]>} {
  %0 = llir.gemm %x, %w k(8) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<?x8xf32, #hlir.dims<b>>, tensor<8x8xf32> -> tensor<?x8xf32, #hlir.dims<b>>
  %1 = llir.view %0 <(d0, d1) -> (b - 1 - d0, d1)> : tensor<?x8xf32, #hlir.dims<b>> -> tensor<?x8xf32, #hlir.dims<b>>
  %2 = llir.gemm %1, %w k(8) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<?x8xf32, #hlir.dims<b>>, tensor<8x8xf32> -> tensor<?x8xf32, #hlir.dims<b>>
  return %2 : tensor<?x8xf32, #hlir.dims<b>>
}

// -----

// Maps that only a program reads join it, also where they are over its rows among themselves.
// CHECK-LABEL: @maps_of_a_program
// CHECK: llir.kernel
// CHECK: llir.reduce
// CHECK-NEXT: llir.yield
// CHECK: llir.kernel{{.*}} loops<
// CHECK: elementwise tanh
// CHECK-NOT: llir.kernel
// CHECK: return
// REMARK: [Passed] rows {{.*}} Function=maps_of_a_program | {{.*}}kernels=4
func.func @maps_of_a_program(%x: tensor<?x16xf32, #hlir.dims<b>>, %w: tensor<16x16xf32>) -> tensor<?x16xf32, #hlir.dims<b>>
    attributes {hlir.symbols = #hlir.symbols<b in [1, 16]>} {
  %sum = llir.kernel(%x, %w) : (tensor<?x16xf32, #hlir.dims<b>>, tensor<16x16xf32>) -> tensor<?x16xf32, #hlir.dims<b>> {
  ^bb0(%a: tensor<?x16xf32, #hlir.dims<b>>, %v: tensor<16x16xf32>):
    %0 = llir.gemm %a, %v k(16) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<?x16xf32, #hlir.dims<b>>, tensor<16x16xf32> -> tensor<?x16xf32, #hlir.dims<b>>
    llir.yield %0 : tensor<?x16xf32, #hlir.dims<b>>
  }
  %columns = llir.kernel(%sum) : (tensor<?x16xf32, #hlir.dims<b>>) -> tensor<16xf32> {
  ^bb0(%a: tensor<?x16xf32, #hlir.dims<b>>):
    %0 = llir.view %a <(d0, d1) -> (d1, d0)> : tensor<?x16xf32, #hlir.dims<b>> -> tensor<16x?xf32, #hlir.dims<b>>
    %1 = llir.reduce sum %0 : tensor<16x?xf32, #hlir.dims<b>> -> tensor<16xf32>
    llir.yield %1 : tensor<16xf32>
  }
  %first = llir.kernel(%sum, %columns, %w) : (tensor<?x16xf32, #hlir.dims<b>>, tensor<16xf32>, tensor<16x16xf32>) -> tensor<?x16xf32, #hlir.dims<b>> {
  ^bb0(%a: tensor<?x16xf32, #hlir.dims<b>>, %s: tensor<16xf32>, %v: tensor<16x16xf32>):
    %0 = llir.view %s <(d0, d1) -> (d1)> : tensor<16xf32> -> tensor<?x16xf32, #hlir.dims<b>>
    %1 = llir.elementwise mul(%a, %0) : (tensor<?x16xf32, #hlir.dims<b>>, tensor<?x16xf32, #hlir.dims<b>>) -> tensor<?x16xf32, #hlir.dims<b>>
    %2 = llir.gemm %1, %v k(16) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<?x16xf32, #hlir.dims<b>>, tensor<16x16xf32> -> tensor<?x16xf32, #hlir.dims<b>>
    llir.yield %2 : tensor<?x16xf32, #hlir.dims<b>>
  }
  %map = llir.kernel(%x) : (tensor<?x16xf32, #hlir.dims<b>>) -> tensor<?x16xf32, #hlir.dims<b>> {
  ^bb0(%a: tensor<?x16xf32, #hlir.dims<b>>):
    %0 = llir.elementwise sin(%a) : (tensor<?x16xf32, #hlir.dims<b>>) -> tensor<?x16xf32, #hlir.dims<b>>
    llir.yield %0 : tensor<?x16xf32, #hlir.dims<b>>
  }
  %other = llir.kernel(%map) : (tensor<?x16xf32, #hlir.dims<b>>) -> tensor<?x16xf32, #hlir.dims<b>> {
  ^bb0(%a: tensor<?x16xf32, #hlir.dims<b>>):
    %0 = llir.elementwise tanh(%a) : (tensor<?x16xf32, #hlir.dims<b>>) -> tensor<?x16xf32, #hlir.dims<b>>
    llir.yield %0 : tensor<?x16xf32, #hlir.dims<b>>
  }
  %last = llir.kernel(%first, %other, %w) : (tensor<?x16xf32, #hlir.dims<b>>, tensor<?x16xf32, #hlir.dims<b>>, tensor<16x16xf32>) -> tensor<?x16xf32, #hlir.dims<b>> {
  ^bb0(%a: tensor<?x16xf32, #hlir.dims<b>>, %s: tensor<?x16xf32, #hlir.dims<b>>, %v: tensor<16x16xf32>):
    %1 = llir.elementwise mul(%a, %s) : (tensor<?x16xf32, #hlir.dims<b>>, tensor<?x16xf32, #hlir.dims<b>>) -> tensor<?x16xf32, #hlir.dims<b>>
    %2 = llir.gemm %1, %v k(16) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<?x16xf32, #hlir.dims<b>>, tensor<16x16xf32> -> tensor<?x16xf32, #hlir.dims<b>>
    llir.yield %2 : tensor<?x16xf32, #hlir.dims<b>>
  }
  return %last : tensor<?x16xf32, #hlir.dims<b>>
}
