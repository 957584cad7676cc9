// What lanes look up one by one has a price; what a line that is cut copies has none, nor what is read as a run.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=x86-64-v3 --remarks-filter=llir-schedule-kernels 2>&1 >/dev/null | FileCheck %s

// CHECK: Function=copied | {{.*}}predicted ns=6554
func.func @copied(%a: tensor<64x512xf32>) -> tensor<64x512xf32> {
  %r = llir.kernel(%a) : (tensor<64x512xf32>) -> tensor<64x512xf32> {
  ^bb0(%x: tensor<64x512xf32>):
    %0 = llir.elementwise neg(%x) : (tensor<64x512xf32>) -> tensor<64x512xf32>
    llir.yield %0 : tensor<64x512xf32>
  }
  return %r : tensor<64x512xf32>
}

// Half of what is read, each twice.
// CHECK: Function=upsampled | {{.*}}predicted ns=8007
func.func @upsampled(%a: tensor<64x256xf32>) -> tensor<64x512xf32> {
  %r = llir.kernel(%a) : (tensor<64x256xf32>) -> tensor<64x512xf32> {
  ^bb0(%x: tensor<64x256xf32>):
    %0 = llir.view %x <(d0, d1) -> (d0, d1 floordiv 2)> : tensor<64x256xf32> -> tensor<64x512xf32>
    %1 = llir.elementwise neg(%0) : (tensor<64x512xf32>) -> tensor<64x512xf32>
    llir.yield %1 : tensor<64x512xf32>
  }
  return %r : tensor<64x512xf32>
}

// CHECK: Function=padded | {{.*}}predicted ns=6541
func.func @padded(%a: tensor<64x510xf32>) -> tensor<64x512xf32> {
  %r = llir.kernel(%a) : (tensor<64x510xf32>) -> tensor<64x512xf32> {
  ^bb0(%x: tensor<64x510xf32>):
    %0 = llir.view %x <(d0, d1) -> (d0, max(min(d1 - 1, 509), 0))> : tensor<64x510xf32> -> tensor<64x512xf32>
    %1 = llir.elementwise neg(%0) : (tensor<64x512xf32>) -> tensor<64x512xf32>
    llir.yield %1 : tensor<64x512xf32>
  }
  return %r : tensor<64x512xf32>
}
