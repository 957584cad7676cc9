// RUN: luminal-opt %s -split-input-file -llir-check-indices -verify-diagnostics -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// What is printed is read again as the same.
// RUN: luminal-opt %t.mlir -split-input-file -verify-diagnostics | FileCheck %s

// An index that is inside for some sizes only becomes a requirement.
// CHECK-LABEL: func.func @symbolic_extent
// CHECK-SAME: hlir.requires = [#hlir.requirement<lesser = m, greater = n, over = (m), "check-indices.mlir:[[#@LINE+3]]:8: 'hlir.view' op its map, dim 0 of extent n">]
func.func @symbolic_extent(%a: tensor<?xf32, #hlir.dims<n>>, %b: tensor<?xf32, #hlir.dims<m>>) -> tensor<?xf32, #hlir.dims<m>>
    attributes {hlir.symbols = #hlir.symbols<m in [0, 100], n in [0, 100]>} {
  %r = hlir.view %a <(d0) -> (d0)> : tensor<?xf32, #hlir.dims<n>> -> tensor<?xf32, #hlir.dims<m>>
  return %r : tensor<?xf32, #hlir.dims<m>>
}

// -----

// Where the range of a symbol decides, nothing is required.
// CHECK-LABEL: func.func @proved
// CHECK-NOT: hlir.requires
// CHECK: return
func.func @proved(%a: tensor<?xf32, #hlir.dims<n>>) -> tensor<?xf32, #hlir.dims<n - 3>>
    attributes {hlir.symbols = #hlir.symbols<n in [3, 100]>} {
  %r = hlir.view %a <(d0) -> (d0 + 3)> : tensor<?xf32, #hlir.dims<n>> -> tensor<?xf32, #hlir.dims<n - 3>>
  return %r : tensor<?xf32, #hlir.dims<n - 3>>
}

// -----

// Windows: the maximum is at the last points of both dims.
// CHECK-LABEL: func.func @windows
// CHECK-SAME: #hlir.requirement<lesser = k + 2 * m, greater = n, over = (k, m + 1)
func.func @windows(%a: tensor<?xf32, #hlir.dims<n>>, %b: tensor<?x?xf32, #hlir.dims<k, m>>) -> tensor<?x?xf32, #hlir.dims<m + 1, k>>
    attributes {hlir.symbols = #hlir.symbols<k in [0, 100], m in [-1, 100], n in [0, 100]>} {
  %r = llir.view %a <(d0, d1) -> (2 * d0 + d1)> : tensor<?xf32, #hlir.dims<n>> -> tensor<?x?xf32, #hlir.dims<m + 1, k>>
  return %r : tensor<?x?xf32, #hlir.dims<m + 1, k>>
}

// -----

// A stride of unknown sign: either end may be the last index, or the first.
// CHECK-LABEL: func.func @either_end
// CHECK-SAME: #hlir.requirement<lesser = {{.*}}max({{.*}}, greater = n, over = ()
func.func @either_end(%a: tensor<?xf32, #hlir.dims<n>>, %b: tensor<?xf32, #hlir.dims<s>>) -> tensor<4xf32>
    attributes {hlir.symbols = #hlir.symbols<n in [1, 100], s in [0, 10]>} {
  %r = llir.view %a <(d0) -> (d0 * (s - 3) + 9)> : tensor<?xf32, #hlir.dims<n>> -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// A divisor that one size makes 0, and arithmetic that large sizes overflow.
// CHECK-LABEL: func.func @arithmetic
// CHECK-SAME: #hlir.requirement<lesser = 1, greater = n, over = ()
// CHECK-SAME: greater = 9223372036854775807, over = (
func.func @arithmetic(%a: tensor<?xf32, #hlir.dims<n>>, %b: tensor<?x?xf32, #hlir.dims<k, m>>) -> (tensor<4xi64>, tensor<?x?xi64, #hlir.dims<k, m>>)
    attributes {hlir.symbols = #hlir.symbols<k in [0, ], m in [0, ], n in [0, 100]>} {
  %r = hlir.iota <(d0) -> (d0 floordiv n)> : tensor<4xi64>
  %s = hlir.iota <(d0, d1) -> ((d0 * m + d1) mod 7)> : tensor<?x?xi64, #hlir.dims<k, m>>
  return %r, %s : tensor<4xi64>, tensor<?x?xi64, #hlir.dims<k, m>>
}

// -----

// An extent that may be negative.
// CHECK-LABEL: func.func @extent
// CHECK-SAME: #hlir.requirement<lesser = 0, greater = n - 5, over = (), "check-indices.mlir:{{.*}}extent n - 5">
func.func @extent(%a: tensor<?xf32, #hlir.dims<n>>) -> tensor<?xi64, #hlir.dims<n - 5>>
    attributes {hlir.symbols = #hlir.symbols<n in [0, 100]>} {
  %r = hlir.iota <(d0) -> (d0)> : tensor<?xi64, #hlir.dims<n - 5>>
  return %r : tensor<?xi64, #hlir.dims<n - 5>>
}

// -----

// Both maps of a product, and what an alias covers.
// CHECK-LABEL: func.func @product
// CHECK-SAME: #hlir.requirement<lesser = k, greater = n, over = (k), "{{.*}}the map of lhs, dim 1
// CHECK-SAME: #hlir.requirement<lesser = k + 4, greater = 4 * n, over = (k), "{{.*}}its place
func.func @product(%a: tensor<4x?xf32, #hlir.dims<n>>, %b: tensor<?x5xf32, #hlir.dims<k>>) -> (tensor<4x5xf32>, tensor<?xf32, #hlir.dims<k>>)
    attributes {hlir.symbols = #hlir.symbols<k in [0, 9], n in [0, 9]>} {
  %r = llir.gemm %a, %b k(k) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)>
      : tensor<4x?xf32, #hlir.dims<n>>, tensor<?x5xf32, #hlir.dims<k>> -> tensor<4x5xf32>
  %s = llir.alias %a offset(4) : tensor<4x?xf32, #hlir.dims<n>> -> tensor<?xf32, #hlir.dims<k>>
  return %r, %s : tensor<4x5xf32>, tensor<?xf32, #hlir.dims<k>>
}

// -----

// A kernel and its buffers, in a schedule.
// CHECK: llir.schedule @main
// CHECK-SAME: #hlir.requirement<lesser = m, greater = n, over = (m), "{{.*}}'llir.view' op its map
// CHECK-SAME: #hlir.requirement<lesser = 4 * n, greater = 64, over = (4 * n), "{{.*}}'llir.step' op the bytes of operand 0
func.func private @k0(%x: tensor<?xf32, #hlir.dims<n>>) -> tensor<?xf32, #hlir.dims<m>>
    attributes {hlir.symbols = #hlir.symbols<m in [0, 100], n in [0, 100]>} {
  %0 = llir.kernel(%x) : (tensor<?xf32, #hlir.dims<n>>) -> tensor<?xf32, #hlir.dims<m>> {
  ^bb0(%a: tensor<?xf32, #hlir.dims<n>>):
    %v = llir.view %a <(d0) -> (d0)> : tensor<?xf32, #hlir.dims<n>> -> tensor<?xf32, #hlir.dims<m>>
    llir.yield %v : tensor<?xf32, #hlir.dims<m>>
  }
  return %0 : tensor<?xf32, #hlir.dims<m>>
}
llir.schedule @main symbols <m in [0, 100], n in [0, 100]> arena(64) {
  %n = llir.argument input "n" : tensor<?xf32, #hlir.dims<n>>
  %m = llir.argument input "m" : tensor<?xf32, #hlir.dims<m>>
  %x = llir.slot offset(0) bytes(64)
  %y = llir.result : tensor<?xf32, #hlir.dims<m>>
  llir.step "map" @k0(%x) writes(%y) cost(0, 0)
  llir.output "y" %y : tensor<?xf32, #hlir.dims<m>>
}

// -----

// A symbol that nothing uses needs no value.
// CHECK-LABEL: func.func @unused
// CHECK-SAME: #hlir.symbols<n in [0, 100]>
func.func @unused(%a: tensor<?xf32, #hlir.dims<n>>) -> tensor<?xf32, #hlir.dims<n>>
    attributes {hlir.symbols = #hlir.symbols<n in [0, 100], z in [0, 100]>} {
  return %a : tensor<?xf32, #hlir.dims<n>>
}

// -----

func.func @power(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{its map, dim 0 of extent 4: expected an index in [0, 4), found 4}}
  %r = hlir.view %a <(d0) -> ((d0 mod 3) * (d0 mod 3))> : tensor<4xf32> -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// The same is inside an operand of 5.
func.func @power_inside(%a: tensor<5xf32>) -> tensor<4xf32> {
  %r = hlir.view %a <(d0) -> ((d0 mod 3) * (d0 mod 3))> : tensor<5xf32> -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @divisor(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{its map, dim 0 of extent 4: 'd0 floordiv (d0 mod 2)' divides by 0}}
  %r = hlir.view %a <(d0) -> (d0 floordiv (d0 mod 2))> : tensor<4xf32> -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

func.func @overflow(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{overflows 64 bits}}
  %r = hlir.view %a <(d0) -> (max(d0 * 9223372036854775807, 3) mod 4)> : tensor<4xf32> -> tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// Too many points to try, and no corner is the greatest.
func.func @undecided(%a: tensor<3xf32>) -> tensor<5000000xf32> {
  // expected-error @+1 {{its map, dim 0 of extent 3: cannot prove that}}
  %r = hlir.view %a <(d0) -> ((d0 * d0) mod 7 floordiv 2 * (d0 mod 2))> : tensor<3xf32> -> tensor<5000000xf32>
  return %r : tensor<5000000xf32>
}

// -----

// expected-error @+1 {{'n' does not follow from the shape of any input: 'n floordiv 2' has no single solution}}
func.func @no_source(%x: tensor<?xf32, #hlir.dims<n floordiv 2>>) -> tensor<?xf32, #hlir.dims<n floordiv 2>>
    attributes {hlir.symbols = #hlir.symbols<n in [1, 64]>} {
  return %x : tensor<?xf32, #hlir.dims<n floordiv 2>>
}

// -----

func.func private @k0(%x: tensor<17xf32>) -> tensor<4xf32> {
  %0 = llir.kernel(%x) : (tensor<17xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<17xf32>):
    %v = llir.view %a <(d0) -> (d0 + 13)> : tensor<17xf32> -> tensor<4xf32>
    llir.yield %v : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}
llir.schedule @main symbols <> arena(64) {
  %x = llir.slot offset(0) bytes(64)
  %y = llir.result : tensor<4xf32>
  // expected-error @+1 {{the bytes of operand 0, dim 0 of extent 64: expected an index in [0, 64), found 67}}
  llir.step "map" @k0(%x) writes(%y) cost(0, 0)
  llir.output "y" %y : tensor<4xf32>
}
