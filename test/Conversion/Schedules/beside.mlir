// The few elements of a last axis, as the parts of complex numbers, are computed side by side for a vector along the axis
// before: each reads its own operands, the ops of both are in one kernel, and stores of whole vectors are interleaved.
// RUN: luminal-opt %s --llir-fuse-kernels --llir-schedule-kernels=arch=sapphirerapids | FileCheck %s --check-prefix=SCHEDULE
// RUN: luminal-opt %s --llir-fuse-kernels --llir-schedule-kernels=arch=sapphirerapids --llir-plan-memory --convert-llir-to-llvm="arch=sapphirerapids keep-loops" | FileCheck %s --check-prefix=CODE

// SCHEDULE-LABEL: func.func @main
// SCHEDULE: llir.kernel(%{{.*}}, %{{.*}}) loops<grid(d0:{{[0-9]+}} v16, d1:all)>
// SCHEDULE-NOT: llir.kernel

// CODE-LABEL: llvm.func @
// CODE-NOT: arith.select
// CODE-COUNT-8: llvm.load {{.*}} vector<16xf32>
// CODE-NOT: llvm.load
// CODE: vector.shuffle %{{.*}}, %{{.*}} [0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23]
// CODE: llvm.store {{.*}} vector<16xf32>
// CODE: vector.shuffle %{{.*}}, %{{.*}} [8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31]
// CODE: llvm.store {{.*}} vector<16xf32>
func.func @main(%a: tensor<65536x2xf32> {hlir.kind = "input", hlir.name = "a"}, %b: tensor<65536x2xf32> {hlir.kind = "input", hlir.name = "b"}) -> (tensor<65536x2xf32> {hlir.name = "y"})
    attributes {hlir.symbols = #hlir.symbols<>} {
  %ar = llir.view %a <(d0) -> (d0, 0)> : tensor<65536x2xf32> -> tensor<65536xf32>
  %ai = llir.view %a <(d0) -> (d0, 1)> : tensor<65536x2xf32> -> tensor<65536xf32>
  %br = llir.view %b <(d0) -> (d0, 0)> : tensor<65536x2xf32> -> tensor<65536xf32>
  %bi = llir.view %b <(d0) -> (d0, 1)> : tensor<65536x2xf32> -> tensor<65536xf32>
  %rr = llir.elementwise mul(%ar, %br) : (tensor<65536xf32>, tensor<65536xf32>) -> tensor<65536xf32>
  %ii = llir.elementwise mul(%ai, %bi) : (tensor<65536xf32>, tensor<65536xf32>) -> tensor<65536xf32>
  %ri = llir.elementwise mul(%ar, %bi) : (tensor<65536xf32>, tensor<65536xf32>) -> tensor<65536xf32>
  %ir = llir.elementwise mul(%ai, %br) : (tensor<65536xf32>, tensor<65536xf32>) -> tensor<65536xf32>
  %re = llir.elementwise sub(%rr, %ii) : (tensor<65536xf32>, tensor<65536xf32>) -> tensor<65536xf32>
  %im = llir.elementwise add(%ri, %ir) : (tensor<65536xf32>, tensor<65536xf32>) -> tensor<65536xf32>
  %part = llir.iota <(d0, d1) -> (d1)> : tensor<65536x2xi64>
  %one = llir.constant dense<1> : tensor<i64>
  %ones = llir.view %one <(d0, d1) -> ()> : tensor<i64> -> tensor<65536x2xi64>
  %isReal = llir.elementwise less_than(%part, %ones) : (tensor<65536x2xi64>, tensor<65536x2xi64>) -> tensor<65536x2xi1>
  %res = llir.view %re <(d0, d1) -> (d0)> : tensor<65536xf32> -> tensor<65536x2xf32>
  %ims = llir.view %im <(d0, d1) -> (d0)> : tensor<65536xf32> -> tensor<65536x2xf32>
  %y = llir.elementwise select(%isReal, %res, %ims) : (tensor<65536x2xi1>, tensor<65536x2xf32>, tensor<65536x2xf32>) -> tensor<65536x2xf32>
  return %y : tensor<65536x2xf32>
}
