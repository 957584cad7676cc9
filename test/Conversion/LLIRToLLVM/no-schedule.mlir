// Emitters choose nothing: a kernel without a schedule has no code.
// RUN: luminal-opt %s --convert-llir-to-llvm --verify-diagnostics

func.func private @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'llir.kernel' op has no schedule; llir-schedule-kernels adds one}}
  %r = llir.kernel(%a) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>):
    llir.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}
