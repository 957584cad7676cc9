// A difference of quotients in 64 bits adds the negation of the second one: ptxas 13.0 for sm_90 makes a wrong upper half of
// `sub.s64` where the second is 0 (`test/unit/Pipelines/RandomKernelsTest.cpp` runs such kernels).
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_90a %s | FileCheck %s

// CHECK-LABEL: .entry lengths(
// CHECK-NOT: sub.s64
// CHECK: mul.hi.u32
// CHECK: neg.s32 [[N:%r[0-9]+]]
// CHECK: cvt.s64.s32 {{.*}}, [[N]]
// CHECK: add.s64
// CHECK-NOT: sub.s64
// CHECK: ret
func.func private @lengths(%a: tensor<8x5xf32>) -> tensor<8x5xf32> {
  %r = llir.kernel(%a) : (tensor<8x5xf32>) -> tensor<8x5xf32> {
  ^bb0(%x: tensor<8x5xf32>):
    %0 = llir.iota <(d0, d1) -> (-((4 * d1) floordiv 5) + (4 * d1 + 3) floordiv 5 + 2)> : tensor<8x5xi64>
    %1 = llir.elementwise cast(%0) : (tensor<8x5xi64>) -> tensor<8x5xf32>
    %2 = llir.elementwise div(%x, %1) : (tensor<8x5xf32>, tensor<8x5xf32>) -> tensor<8x5xf32>
    llir.yield %2 : tensor<8x5xf32>
  }
  return %r : tensor<8x5xf32>
}
