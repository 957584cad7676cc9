// Lanes of maps that read at divided indices: as many as are neighbours in memory, where that is more than arithmetic loses.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=znver4 | FileCheck %s
// RUN: luminal-opt %s --llir-schedule-kernels=arch=znver4 --convert-llir-to-llvm="arch=znver4 keep-loops" | FileCheck %s --check-prefix=CODE

// Lines of 56 are whole runs of 8.
// CHECK-LABEL: @windows
// CHECK: loops<grid(d0, d1:all v8)>
// CODE-LABEL: llvm.func @windows
// CODE: llvm.load {{.*}} -> vector<8xf32>
// CODE-NOT: gather
// CODE: llvm.return
func.func @windows(%a: tensor<32x58x58xf32>) -> tensor<288x3136xf32> {
  %r = llir.kernel(%a) : (tensor<32x58x58xf32>) -> tensor<288x3136xf32> {
  ^bb0(%x: tensor<32x58x58xf32>):
    %0 = llir.view %x <(d0, d1) -> (d0 floordiv 9, (d0 floordiv 3) mod 3 + d1 floordiv 56, d0 mod 3 + d1 mod 56)>
        : tensor<32x58x58xf32> -> tensor<288x3136xf32>
    llir.yield %0 : tensor<288x3136xf32>
  }
  return %r : tensor<288x3136xf32>
}

// Lines of 57 are no runs of any length.
// CHECK-LABEL: @odd_lines
// CHECK: loops<grid(d0, d1:all v16)>
func.func @odd_lines(%a: tensor<32x59x59xf32>) -> tensor<288x3249xf32> {
  %r = llir.kernel(%a) : (tensor<32x59x59xf32>) -> tensor<288x3249xf32> {
  ^bb0(%x: tensor<32x59x59xf32>):
    %0 = llir.view %x <(d0, d1) -> (d0 floordiv 9, (d0 floordiv 3) mod 3 + d1 floordiv 57, d0 mod 3 + d1 mod 57)>
        : tensor<32x59x59xf32> -> tensor<288x3249xf32>
    llir.yield %0 : tensor<288x3249xf32>
  }
  return %r : tensor<288x3249xf32>
}

// Arithmetic by half as many lanes would take longer than looking up.
// CHECK-LABEL: @arithmetic
// CHECK: loops<grid(d0, d1:all v16)>
func.func @arithmetic(%a: tensor<32x58x58xf32>) -> tensor<288x3136xf32> {
  %r = llir.kernel(%a) : (tensor<32x58x58xf32>) -> tensor<288x3136xf32> {
  ^bb0(%x: tensor<32x58x58xf32>):
    %0 = llir.view %x <(d0, d1) -> (d0 floordiv 9, (d0 floordiv 3) mod 3 + d1 floordiv 56, d0 mod 3 + d1 mod 56)>
        : tensor<32x58x58xf32> -> tensor<288x3136xf32>
    %1 = llir.elementwise erf(%0) : (tensor<288x3136xf32>) -> tensor<288x3136xf32>
    %2 = llir.elementwise sin(%1) : (tensor<288x3136xf32>) -> tensor<288x3136xf32>
    %3 = llir.elementwise erf(%2) : (tensor<288x3136xf32>) -> tensor<288x3136xf32>
    llir.yield %3 : tensor<288x3136xf32>
  }
  return %r : tensor<288x3136xf32>
}
