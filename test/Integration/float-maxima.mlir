// REQUIRES: torch
// Maxima of floats by the order of their bits, written by hand for the CPU: those of updates in order, with any number of
// threads. NaN of either sign, infinities, and zeros of both signs; rows that all numbers of one sign meet in.

// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/float-maxima.py %t
// RUN: luminal-compile %s --target=%device -o %t/m.lum
// RUN: luminal-run --reference %s --steps=%t --output-dir=%t/expected
// RUN: luminal-run %t/m.lum --steps=%t --expect=%t/expected --rtol=0 --atol=0 | FileCheck %s
// RUN: luminal-run %t/m.lum --steps=%t --expect=%t/expected --rtol=0 --atol=0 --threads=4 | FileCheck %s
// CHECK-COUNT-4: {{ ok }}
// CHECK-NOT: MISS

func.func @main(%x: tensor<40x3xf32>, %i: tensor<4000xi64>, %u: tensor<4000x3xf32>, %y: tensor<40xf64>, %v: tensor<4000xf64>)
    -> (tensor<40x3xf32>, tensor<40xf64>) {
  %c0 = llir.kernel(%x) loops<grid(d0, d1)> : (tensor<40x3xf32>) -> tensor<40x3xf32> {
  ^bb0(%a: tensor<40x3xf32>):
    llir.yield %a : tensor<40x3xf32>
  }
  %0 = llir.kernel(%c0, %i, %u) loops<grid(d0:8, d1) op0 = unordered> {in_place} : (tensor<40x3xf32>, tensor<4000xi64>, tensor<4000x3xf32>) -> tensor<40x3xf32> {
  ^bb0(%a: tensor<40x3xf32>, %b: tensor<4000xi64>, %c: tensor<4000x3xf32>):
    %s = llir.scatter max %a, %b, %c {checked} : tensor<40x3xf32>, tensor<4000xi64>, tensor<4000x3xf32>
    llir.yield %s : tensor<40x3xf32>
  }
  %c1 = llir.kernel(%y) loops<grid(d0)> : (tensor<40xf64>) -> tensor<40xf64> {
  ^bb0(%a: tensor<40xf64>):
    llir.yield %a : tensor<40xf64>
  }
  %1 = llir.kernel(%c1, %i, %v) loops<grid(d0:8) op0 = unordered> {in_place} : (tensor<40xf64>, tensor<4000xi64>, tensor<4000xf64>) -> tensor<40xf64> {
  ^bb0(%a: tensor<40xf64>, %b: tensor<4000xi64>, %c: tensor<4000xf64>):
    %s = llir.scatter max %a, %b, %c {checked} : tensor<40xf64>, tensor<4000xi64>, tensor<4000xf64>
    llir.yield %s : tensor<40xf64>
  }
  return %0, %1 : tensor<40x3xf32>, tensor<40xf64>
}
