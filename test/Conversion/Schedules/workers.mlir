// How a product is cut follows the number of workers: one takes large units, for packing is paid once a unit; sixteen get
// a unit each, in the same order of sums. Columns are as many as have room, for all rows are read again for each block of them.
// RUN: luminal-opt %s --llir-schedule-kernels="arch=sapphirerapids workers=1" | FileCheck %s --check-prefix=ONE
// RUN: luminal-opt %s --llir-schedule-kernels="arch=sapphirerapids workers=16" | FileCheck %s --check-prefix=MANY
// RUN: luminal-opt %s --llir-schedule-kernels=arch=sapphirerapids | FileCheck %s --check-prefix=MANY
// RUN: luminal-compile %s --arch=sapphirerapids --workers=1 --emit=scheduled | FileCheck %s --check-prefix=ONE

// ONE: loops<grid(d1:128, d0:all) op0 = tile
// MANY: loops<grid(d1:128, d0:516) op0 = tile
func.func @main(%a: tensor<1024x1024xf32>, %b: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  %r = llir.kernel(%a, %b) : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {
  ^bb0(%x: tensor<1024x1024xf32>, %y: tensor<1024x1024xf32>):
    %0 = llir.gemm %x, %y k(1024) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<1024x1024xf32>, tensor<1024x1024xf32> -> tensor<1024x1024xf32>
    llir.yield %0 : tensor<1024x1024xf32>
  }
  return %r : tensor<1024x1024xf32>
}
