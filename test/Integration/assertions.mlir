// A result may be an assertion: where it is false the call fails with its text, by the interpreter and compiled.

// RUN: rm -rf %t && mkdir -p %t
// RUN: %python -c "import sys; sys.path.insert(0, '%utils/testing'); import npy; npy.save('%t/good.npy', 'f4', [4], [1., 2., 3., 4.]); npy.save('%t/bad.npy', 'f4', [4], [1., -2., 3., 4.])"
// RUN: luminal-compile %s -o %t/m.lum --quiet
// RUN: luminal-run %t/m.lum --input=%t/good.npy --output-dir=%t
// RUN: luminal-run --reference %s --input=%t/good.npy --expect=%t/output_0.npy
// RUN: not luminal-run %t/m.lum --input=%t/bad.npy 2>&1 | FileCheck %s
// RUN: not luminal-run --reference %s --input=%t/bad.npy 2>&1 | FileCheck %s
// CHECK: error: {{.*}}an element of x is negative

// The inputs that a search makes up need not satisfy it.
// RUN: luminal-compile %s -o %t/searched.lum --search-candidates=2 --check-kernels --quiet
// RUN: not luminal-run %t/searched.lum --input=%t/bad.npy 2>&1 | FileCheck %s

// On a GPU a kernel of the program writes it as well, and the manifest says which output it is.
// RUN: luminal-compile %s -o %t/gpu.lum --target=cuda --arch=sm_90a --quiet
// RUN: unzip -p %t/gpu.lum manifest.json | FileCheck %s --check-prefix=GPU
// GPU: "assertion":{{ *}}"an element of x is negative"

func.func @main(%x: tensor<4xf32> {hlir.name = "x"}) -> (tensor<4xf32>, tensor<i1> {hlir.assertion = "an element of x is negative"}) {
  %0 = hlir.add %x, %x : tensor<4xf32>
  %zero = hlir.constant dense<0.0> : tensor<f32>
  %zeros = hlir.view %zero <(d0) -> ()> : tensor<f32> -> tensor<4xf32>
  %negative = hlir.less_than %x, %zeros : tensor<4xf32> -> tensor<4xi1>
  %any = hlir.reduce_max %negative : tensor<4xi1> -> tensor<i1>
  %true = hlir.constant dense<true> : tensor<i1>
  %false = hlir.constant dense<false> : tensor<i1>
  %none = hlir.select %any, %false, %true : tensor<i1>, tensor<i1>
  return %0, %none : tensor<4xf32>, tensor<i1>
}
