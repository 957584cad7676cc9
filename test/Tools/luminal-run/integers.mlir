// Integers beside tensors: exact, of any sign, by name, compiled and interpreted. A file is named as what it holds.

// RUN: rm -rf %t && mkdir -p %t
// RUN: %python -c "import sys; sys.path.insert(0, '%utils/testing'); import npy; npy.save('%t/x.npy', 'i8', [2], [1, -1]); npy.save('%t/n.npy', 'i8', [], [-7]); npy.save('%t/least.npy', 'i8', [2], [-2**63 + 1, 2**63 - 1]); npy.save('%t/minus.npy', 'i8', [2], [-6, -8])"
// RUN: luminal-compile %s -o %t/m.lum --quiet
// RUN: luminal-run %t/m.lum --info | FileCheck %s --check-prefix=INFO
// INFO: n: an integer, n

// RUN: luminal-run %t/m.lum --input=%t/x.npy --input=n=-7 --expect=%t/minus.npy --output=%t/y.npy
// RUN: cmp %t/y.npy %t/minus.npy
// RUN: luminal-run %t/m.lum --input=n=-7 --input=%t/x.npy --output=%t/y.safetensors
// RUN: luminal-run %t/m.lum --input=n=%t/n.npy --input=%t/x.npy --expect=%t/y.safetensors
// RUN: luminal-run %t/m.lum --input=n=-9223372036854775808 --input=%t/x.npy --expect=%t/least.npy
// RUN: luminal-run --reference %s --input=n=-9223372036854775808 --input=%t/x.npy --expect=%t/least.npy

// RUN: %refuses --usage "n=9223372036854775808: expected a 64-bit integer, or a file" luminal-run %t/m.lum --input=n=9223372036854775808 --input=%t/x.npy
// RUN: %refuses --usage "n=1.5: expected a 64-bit integer" luminal-run %t/m.lum --input=n=1.5 --input=%t/x.npy
// RUN: %refuses --usage "input 'n' (i64[]) is missing: give it with --input=n=VALUE" luminal-run %t/m.lum --input=%t/x.npy
// RUN: %refuses --usage "n=2: input 'n' is given twice" luminal-run %t/m.lum --input=n=1 --input=n=2 --input=%t/x.npy

func.func @main(%x: tensor<2xi64> {hlir.name = "x"}) -> (tensor<2xi64> {hlir.name = "y"})
    attributes {hlir.symbols = #hlir.symbols<n in [-9223372036854775808, 9223372036854775807]>, hlir.integers = [{name = "n", value = #hlir.map<() -> (n)>}]} {
  %n = hlir.iota <() -> (n)> : tensor<i64>
  %all = hlir.view %n <(d0) -> ()> : tensor<i64> -> tensor<2xi64>
  %0 = hlir.add %x, %all : tensor<2xi64>
  return %0 : tensor<2xi64>
}
