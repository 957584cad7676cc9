// A block of experts whose rows a front end has sorted, with a gate in the first product: computed in the order of the tokens,
// and in products apart, it has the same elements; also through the whole pipeline of the device.

// RUN: luminal-opt %s --llir-unsort-rows --llir-split-products=block-threads=1024 -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// CHECK-NOT: llir.scatter
// CHECK-COUNT-3: llir.gemm
// CHECK-NOT: llir.gemm

// RUN: rm -rf %t && mkdir -p %t
// RUN: %python %S/Inputs/unsort-rows.py %t
// RUN: luminal-run --reference %s --steps=%t --output-dir=%t/expected
// RUN: luminal-run --reference %t.mlir --steps=%t --expect=%t/expected --rtol=0 --atol=0 | FileCheck %s --check-prefix=SAME
// RUN: luminal-compile %s --target=%device -o %t/m.lum
// RUN: luminal-run %t/m.lum --steps=%t --expect=%t/expected --rtol=0 --atol=0 | FileCheck %s --check-prefix=SAME
// RUN: luminal-compile %t.mlir --target=%device -o %t/m.lum
// RUN: luminal-run %t/m.lum --steps=%t --expect=%t/expected --rtol=0 --atol=0 | FileCheck %s --check-prefix=SAME
// SAME-COUNT-3: {{ ok }}
// SAME-NOT: MISS

func.func @main(%x: tensor<3x64xf32> {hlir.name = "x"}, %w: tensor<40x48x64xf32> {hlir.name = "w"}, %v: tensor<40x64x24xf32> {hlir.name = "v"},
                %s: tensor<6xf32> {hlir.name = "s"}, %i: tensor<3x2xi64> {hlir.name = "i"}) -> tensor<3x64xf32> {
  %flat = llir.view %i <(d0, d1) -> (d1 floordiv 2, d1 mod 2)> : tensor<3x2xi64> -> tensor<1x6xi64>
  %order = llir.argsort %flat : tensor<1x6xi64> -> tensor<1x6xi64>
  %p = llir.view %order <(d0) -> (0, d0)> : tensor<1x6xi64> -> tensor<6xi64>
  %two = llir.constant dense<2> : tensor<i64>
  %twos = llir.view %two <(d0) -> ()> : tensor<i64> -> tensor<6xi64>
  %token = llir.elementwise floor_div(%p, %twos) : (tensor<6xi64>, tensor<6xi64>) -> tensor<6xi64>
  %a = llir.gather %x, %token : tensor<3x64xf32>, tensor<6xi64> -> tensor<6x64xf32>
  %keys = llir.view %i <(d0) -> (d0 floordiv 2, d0 mod 2)> : tensor<3x2xi64> -> tensor<6xi64>
  %k = llir.gather %keys, %p : tensor<6xi64>, tensor<6xi64> -> tensor<6xi64>
  %m = llir.gather %w, %k {checked} : tensor<40x48x64xf32>, tensor<6xi64> -> tensor<6x48x64xf32>
  %n = llir.gather %v, %k {checked} : tensor<40x64x24xf32>, tensor<6xi64> -> tensor<6x64x24xf32>
  %c = llir.gemm %a, %m k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)>
      : tensor<6x64xf32>, tensor<6x48x64xf32> -> tensor<6x48xf32>
  %gate = llir.view %c <(d0, d1) -> (d0, d1)> : tensor<6x48xf32> -> tensor<6x24xf32>
  %up = llir.view %c <(d0, d1) -> (d0, d1 + 24)> : tensor<6x48xf32> -> tensor<6x24xf32>
  %h = llir.elementwise mul(%gate, %up) : (tensor<6x24xf32>, tensor<6x24xf32>) -> tensor<6x24xf32>
  %d = llir.gemm %h, %n k(24) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)>
      : tensor<6x24xf32>, tensor<6x64x24xf32> -> tensor<6x64xf32>
  %share = llir.gather %s, %p : tensor<6xf32>, tensor<6xi64> -> tensor<6xf32>
  %shares = llir.view %share <(d0, d1) -> (d0)> : tensor<6xf32> -> tensor<6x64xf32>
  %weighed = llir.elementwise mul(%d, %shares) : (tensor<6x64xf32>, tensor<6x64xf32>) -> tensor<6x64xf32>
  %zero = llir.constant dense<0> : tensor<i64>
  %none = llir.view %zero <(d0) -> ()> : tensor<i64> -> tensor<6xi64>
  %place = llir.iota <(d0) -> (d0)> : tensor<6xi64>
  %inverse = llir.scatter set %none, %p, %place : tensor<6xi64>, tensor<6xi64>, tensor<6xi64>
  %back = llir.gather %weighed, %inverse : tensor<6x64xf32>, tensor<6xi64> -> tensor<6x64xf32>
  %pairs = llir.view %back <(d0, d1, d2) -> (2 * d0 + d2, d1)> : tensor<6x64xf32> -> tensor<3x64x2xf32>
  %sum = llir.reduce sum %pairs : tensor<3x64x2xf32> -> tensor<3x64xf32>
  return %sum : tensor<3x64xf32>
}
