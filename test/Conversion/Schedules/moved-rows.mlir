// Rows whose results are stored in another order: passes across rows read and write whole lines. A GPU takes other forms.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=znver4 | FileCheck %s
// RUN: luminal-opt %s --llir-schedule-kernels=arch=znver4 --convert-llir-to-llvm="arch=znver4 keep-loops" | FileCheck %s --check-prefix=CODE
// RUN: luminal-opt %s --llir-schedule-kernels="target=cuda arch=h200" | FileCheck %s --check-prefix=CUDA

// Exponentials take registers, so two vectors are at once.
// CHECK-LABEL: @softmax
// CHECK: loops<grid(d0, d1:64 v32) stream(d2:all) op1 = pass {lanes = 1, unroll = 2} op5 = pass {lanes = 1, unroll = 2}>
// CODE-LABEL: llvm.func @softmax
// CODE: llvm.store {{.*}} : vector<32xf32>
// CODE-NOT: llvm.intr.masked.scatter
// CODE: llvm.return
// CUDA-LABEL: @softmax
// CUDA-NOT: = pass
// CUDA: return
func.func @softmax(%a: tensor<8x128x1000xf32>) -> tensor<8x128x1000xf32> {
  %r = llir.kernel(%a) : (tensor<8x128x1000xf32>) -> tensor<8x128x1000xf32> {
  ^bb0(%x: tensor<8x128x1000xf32>):
    %0 = llir.view %x <(d0, d1, d2) -> (d0, d2, d1)> : tensor<8x128x1000xf32> -> tensor<8x1000x128xf32>
    %1 = llir.reduce max %0 : tensor<8x1000x128xf32> -> tensor<8x1000xf32>
    %2 = llir.view %1 <(d0, d1, d2) -> (d0, d1)> : tensor<8x1000xf32> -> tensor<8x1000x128xf32>
    %3 = llir.elementwise sub(%0, %2) : (tensor<8x1000x128xf32>, tensor<8x1000x128xf32>) -> tensor<8x1000x128xf32>
    %4 = llir.elementwise exp(%3) : (tensor<8x1000x128xf32>) -> tensor<8x1000x128xf32>
    %5 = llir.reduce sum %4 : tensor<8x1000x128xf32> -> tensor<8x1000xf32>
    %6 = llir.view %5 <(d0, d1, d2) -> (d0, d1)> : tensor<8x1000xf32> -> tensor<8x1000x128xf32>
    %7 = llir.elementwise div(%4, %6) : (tensor<8x1000x128xf32>, tensor<8x1000x128xf32>) -> tensor<8x1000x128xf32>
    %8 = llir.view %7 <(d0, d1, d2) -> (d0, d2, d1)> : tensor<8x1000x128xf32> -> tensor<8x128x1000xf32>
    llir.yield %8 : tensor<8x128x1000xf32>
  }
  return %r : tensor<8x128x1000xf32>
}
