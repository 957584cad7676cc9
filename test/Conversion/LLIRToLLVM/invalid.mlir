// RUN: luminal-opt %s --llir-schedule-kernels --convert-llir-to-llvm --split-input-file --verify-diagnostics

func.func private @not_a_splat(%a: tensor<2xf32>) -> tensor<2xf32> {
  %r = llir.kernel(%a) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%x: tensor<2xf32>):
    // expected-error @+1 {{is not a splat; inside a kernel it must be an operand}}
    %c = llir.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %0 = llir.elementwise add(%x, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    llir.yield %0 : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

// -----

// The updates read what the scatter overwrites.
func.func private @reads_what_it_writes(%a: tensor<4x2xf32>, %i: tensor<4xi64>) -> tensor<4x2xf32> {
  %r = llir.kernel(%a, %i) {in_place} : (tensor<4x2xf32>, tensor<4xi64>) -> tensor<4x2xf32> {
  ^bb0(%x: tensor<4x2xf32>, %y: tensor<4xi64>):
    %0 = llir.elementwise neg(%x) : (tensor<4x2xf32>) -> tensor<4x2xf32>
    // expected-error @+1 {{in place must read and write operand 0 at one index}}
    %1 = llir.scatter set %x, %y, %0 {checked} : tensor<4x2xf32>, tensor<4xi64>, tensor<4x2xf32>
    llir.yield %1 : tensor<4x2xf32>
  }
  return %r : tensor<4x2xf32>
}
