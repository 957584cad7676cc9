// What phase `fused` promises of kernels, of programs that were written by hand as well.
// RUN: luminal-opt %s -split-input-file -llir-check-kernels -verify-diagnostics
// RUN: split-file %s %t
// RUN: %refuses "unread.mlir:6:10: error: 'llir.kernel' op result 1 has no reader" luminal-compile %t/unread.mlir -o %t/no.lum
// RUN: %refuses "unread.mlir:6:10: error: 'llir.kernel' op result 1 has no reader" luminal-compile %t/unread.mlir -o %t/no.mlir --target=cuda --arch=sm_90a --emit=scheduled

// Other ops and the return read results.
func.func @read(%a: tensor<4xf32>) -> (tensor<2x2xf32>, tensor<4xf32>) {
  %0:2 = llir.kernel(%a) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%x: tensor<4xf32>):
    %1 = llir.elementwise neg(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %2 = llir.elementwise exp(%1) : (tensor<4xf32>) -> tensor<4xf32>
    llir.yield %1, %2 : tensor<4xf32>, tensor<4xf32>
  }
  %3 = llir.alias %0#0 offset(0) : tensor<4xf32> -> tensor<2x2xf32>
  return %3, %0#1 : tensor<2x2xf32>, tensor<4xf32>
}

// -----
//--- unread.mlir

func.func @unread(%a: tensor<4xf32>) -> tensor<4xf32> {
  // What computes the other result is not a reader.
  // expected-error @+2 {{'llir.kernel' op result 1 has no reader: it would be written to memory for nothing}}

  %0:2 = llir.kernel(%a) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  ^bb0(%x: tensor<4xf32>):
    %1 = llir.elementwise neg(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %2 = llir.elementwise exp(%1) : (tensor<4xf32>) -> tensor<4xf32>
    llir.yield %2, %1 : tensor<4xf32>, tensor<4xf32>
  }
  return %0#0 : tensor<4xf32>
}
