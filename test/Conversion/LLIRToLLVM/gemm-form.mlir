// The form of a product, and why.
// DEFINE: %{remarks} = --remarks-filter-passed=convert-llir-to-llvm --remarks-filter-missed=convert-llir-to-llvm
// RUN: luminal-opt %s --convert-llir-to-llvm="arch=x86-64-v3 keep-loops" %{remarks} --verify-diagnostics -o %t
// Wider vectors and more registers: a wider tile.
// RUN: luminal-opt %s --convert-llir-to-llvm="arch=sapphirerapids keep-loops" --remarks-filter=convert-llir-to-llvm -o %t 2>&1 | FileCheck %s
// CHECK: remark: [Passed] gemm-form {{.*}} Function=tiles | {{.*}}lanes=16, {{.*}}tile="13 x 32"
// What the schedule is given.
// CHECK: remark: [Analysis] launch {{.*}} Function=tiles | grain={{[0-9]+}}, kernel="kernel gemm", scratch={{[0-9]+}}, work=3{{$}}

func.func private @tiles(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>) -> tensor<256x256xf32> {
  %0 = llir.kernel gemm(%a, %b) : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32> {
  ^bb0(%x: tensor<256x256xf32>, %y: tensor<256x256xf32>):
    // expected-remark@+1 {{[Passed] gemm-form | Category:convert-llir-to-llvm | Function=tiles | batch=1, columns in a unit=128, columns packed="vectors along the columns", form="packed columns and a register tile", k=256, lanes=8, m=256, n=256, rows="the left one", rows in a unit=48, tile="6 x 16"}}
    %g = llir.gemm %x, %y k(256) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<256x256xf32>, tensor<256x256xf32> -> tensor<256x256xf32>
    llir.yield %g : tensor<256x256xf32>
  }
  return %0 : tensor<256x256xf32>
}

// Columns along k are transposed; rows of another type are copied.
func.func private @transposed(%a: tensor<256x256xbf16>, %b: tensor<256x256xbf16>) -> tensor<256x256xbf16> {
  %0 = llir.kernel gemm(%a, %b) : (tensor<256x256xbf16>, tensor<256x256xbf16>) -> tensor<256x256xbf16> {
  ^bb0(%x: tensor<256x256xbf16>, %y: tensor<256x256xbf16>):
    // expected-remark-re@+1 {{columns packed="vectors along k, transposed", {{.*}} rows copied="they are of another type than their sums"}}
    %g = llir.gemm %x, %y k(256) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<256x256xbf16>, tensor<256x256xbf16> -> tensor<256x256xbf16>
    llir.yield %g : tensor<256x256xbf16>
  }
  return %0 : tensor<256x256xbf16>
}

// One row: dot products where both sides step along k, else scaled columns.
func.func private @dots(%a: tensor<1x256xf32>, %b: tensor<256x256xf32>) -> tensor<1x256xf32> {
  %0 = llir.kernel gemm(%a, %b) : (tensor<1x256xf32>, tensor<256x256xf32>) -> tensor<1x256xf32> {
  ^bb0(%x: tensor<1x256xf32>, %y: tensor<256x256xf32>):
    // expected-remark@+1 {{form="dot products along k, which both sides step through in memory"}}
    %g = llir.gemm %x, %y k(256) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1x256xf32>, tensor<256x256xf32> -> tensor<1x256xf32>
    llir.yield %g : tensor<1x256xf32>
  }
  return %0 : tensor<1x256xf32>
}
func.func private @scaled(%a: tensor<1x256xf32>, %b: tensor<256x256xf32>) -> tensor<1x256xf32> {
  %0 = llir.kernel gemm(%a, %b) : (tensor<1x256xf32>, tensor<256x256xf32>) -> tensor<1x256xf32> {
  ^bb0(%x: tensor<1x256xf32>, %y: tensor<256x256xf32>):
    // expected-remark@+1 {{form="columns scaled by each row's elements, for both sides are not read along k"}}
    %g = llir.gemm %x, %y k(256) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<1x256xf32>, tensor<256x256xf32> -> tensor<1x256xf32>
    llir.yield %g : tensor<1x256xf32>
  }
  return %0 : tensor<1x256xf32>
}

// Both forms, where the number of rows is known only at run time.
func.func private @either(%a: tensor<?x256xf32, #hlir.dims<n>>, %b: tensor<256x256xf32>) -> tensor<?x256xf32, #hlir.dims<n>>
    attributes {hlir.symbols = #hlir.symbols<n in [1, ]>} {
  %0 = llir.kernel gemm(%a, %b) : (tensor<?x256xf32, #hlir.dims<n>>, tensor<256x256xf32>) -> tensor<?x256xf32, #hlir.dims<n>> {
  ^bb0(%x: tensor<?x256xf32, #hlir.dims<n>>, %y: tensor<256x256xf32>):
    // expected-remark-re@+1 {{for at most 4 rows="dot products {{.*}}", form="packed columns and a register tile"}}
    %g = llir.gemm %x, %y k(256) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<?x256xf32, #hlir.dims<n>>, tensor<256x256xf32> -> tensor<?x256xf32, #hlir.dims<n>>
    llir.yield %g : tensor<?x256xf32, #hlir.dims<n>>
  }
  return %0 : tensor<?x256xf32, #hlir.dims<n>>
}

// Few columns are swapped with the rows.
func.func private @narrow(%a: tensor<256x256xf32>, %b: tensor<256x3xf32>) -> tensor<256x3xf32> {
  %0 = llir.kernel gemm(%a, %b) : (tensor<256x256xf32>, tensor<256x3xf32>) -> tensor<256x3xf32> {
  ^bb0(%x: tensor<256x256xf32>, %y: tensor<256x3xf32>):
    // expected-remark@+1 {{rows="the right one, which has fewer columns than a vector has lanes"}}
    %g = llir.gemm %x, %y k(256) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<256x256xf32>, tensor<256x3xf32> -> tensor<256x3xf32>
    llir.yield %g : tensor<256x3xf32>
  }
  return %0 : tensor<256x3xf32>
}

// A result in part, or of another index space: each element sums for itself.
func.func private @part(%a: tensor<8x8xf32>) -> tensor<4x8xf32> {
  %0 = llir.kernel gemm(%a) : (tensor<8x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%x: tensor<8x8xf32>):
    // expected-remark-re@+1 {{[Missed] gemm-form {{.*}} because of="view at {{.*}}", form="each element sums for itself", reason="the last view does not move each element to a place of its own"}}
    %g = llir.gemm %x, %x k(8) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    %v = llir.view %g <(d0, d1) -> (d0 * 2, d1)> : tensor<8x8xf32> -> tensor<4x8xf32>
    llir.yield %v : tensor<4x8xf32>
  }
  return %0 : tensor<4x8xf32>
}
