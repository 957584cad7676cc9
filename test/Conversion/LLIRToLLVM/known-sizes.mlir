// Where sizes are known, code that never runs is not emitted: neither a masked
// rest of whole vectors, nor a loop of vectors over less than one.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=sapphirerapids --convert-llir-to-llvm="arch=sapphirerapids keep-loops" -o - | FileCheck %s

// CHECK-LABEL: llvm.func @whole(
// CHECK-NOT: masked
// CHECK-COUNT-1: math.sqrt
// CHECK-NOT: math.sqrt
// CHECK-NOT: masked
// CHECK: llvm.return
func.func private @whole(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = llir.kernel(%a) : (tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%x: tensor<64xf32>):
    %s = llir.elementwise sqrt(%x) : (tensor<64xf32>) -> tensor<64xf32>
    llir.yield %s : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}

// Four units of 4096.
// CHECK-LABEL: llvm.func @units(
// CHECK-NOT: masked
// CHECK-COUNT-1: math.sqrt
// CHECK-NOT: math.sqrt
// CHECK-NOT: masked
// CHECK: llvm.return
func.func private @units(%a: tensor<16384xf32>) -> tensor<16384xf32> {
  %0 = llir.kernel(%a) : (tensor<16384xf32>) -> tensor<16384xf32> {
  ^bb0(%x: tensor<16384xf32>):
    %s = llir.elementwise sqrt(%x) : (tensor<16384xf32>) -> tensor<16384xf32>
    llir.yield %s : tensor<16384xf32>
  }
  return %0 : tensor<16384xf32>
}

// CHECK-LABEL: llvm.func @rest(
// CHECK: masked.load
// CHECK-COUNT-1: math.sqrt
// CHECK-NOT: math.sqrt
// CHECK: llvm.return
func.func private @rest(%a: tensor<10xf32>) -> tensor<10xf32> {
  %0 = llir.kernel(%a) : (tensor<10xf32>) -> tensor<10xf32> {
  ^bb0(%x: tensor<10xf32>):
    %s = llir.elementwise sqrt(%x) : (tensor<10xf32>) -> tensor<10xf32>
    llir.yield %s : tensor<10xf32>
  }
  return %0 : tensor<10xf32>
}

// CHECK-LABEL: llvm.func @both(
// CHECK-COUNT-2: math.sqrt
// CHECK: llvm.return
func.func private @both(%a: tensor<100xf32>) -> tensor<100xf32> {
  %0 = llir.kernel(%a) : (tensor<100xf32>) -> tensor<100xf32> {
  ^bb0(%x: tensor<100xf32>):
    %s = llir.elementwise sqrt(%x) : (tensor<100xf32>) -> tensor<100xf32>
    llir.yield %s : tensor<100xf32>
  }
  return %0 : tensor<100xf32>
}
