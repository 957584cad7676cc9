// Schedules of products, and why: the remark says both.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=x86-64-v3 --remarks-filter=llir-schedule-kernels --verify-diagnostics -o %t
// Wider vectors and more registers: a wider tile.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=sapphirerapids | FileCheck %s --check-prefixes=CHECK,TILES
// RUN: luminal-opt %s --llir-schedule-kernels=arch=znver4 | FileCheck %s --check-prefixes=CHECK,PAIRS
// What the schedule of the program is told of them.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=sapphirerapids --convert-llir-to-llvm="arch=sapphirerapids keep-loops" --remarks-filter=convert-llir-to-llvm -o %t 2>&1 | FileCheck %s --check-prefix=LAUNCH
// LAUNCH: remark: [Analysis] launch {{.*}} Function=tiles | grain={{[0-9]+}}, kernel="kernel gemm", scratch={{[0-9]+}}, work=16{{$}}

// CHECK-LABEL: @tiles
// Blocks of rows share what is packed of the columns.
// CHECK: loops<grid(d1:32, d0:140) op0 = tile {lanes = 16, pack = columns, rows = 14, vectors = 2}>
func.func private @tiles(%a: tensor<256x256xf32>, %b: tensor<256x256xf32>) -> tensor<256x256xf32> {
  // expected-remark@+1 {{[Passed] schedule | Category:llir-schedule-kernels | Function=tiles | form="packed columns and a register tile", k=256, kernel="kernel gemm", loops="#llir.loops<grid(d1:16, d0:all) op0 = tile {lanes = 8, pack = columns, rows = 6, vectors = 2}>", m=256, n=256, predicted ns=38622, rows="the left one"}}
  %0 = llir.kernel(%a, %b) : (tensor<256x256xf32>, tensor<256x256xf32>) -> tensor<256x256xf32> {
  ^bb0(%x: tensor<256x256xf32>, %y: tensor<256x256xf32>):
    %g = llir.gemm %x, %y k(256) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<256x256xf32>, tensor<256x256xf32> -> tensor<256x256xf32>
    llir.yield %g : tensor<256x256xf32>
  }
  return %0 : tensor<256x256xf32>
}

// Columns along k are transposed; rows of another type are copied.
func.func private @transposed(%a: tensor<256x256xbf16>, %b: tensor<256x256xbf16>) -> tensor<256x256xbf16> {
  // expected-remark-re@+1 {{op0 = tile {copy = rows, lanes = 8, pack = k, rows = 6, square = 8, vectors = 2}>", {{.*}} rows copied="they are of another type than what is multiplied"}}
  %0 = llir.kernel(%a, %b) : (tensor<256x256xbf16>, tensor<256x256xbf16>) -> tensor<256x256xbf16> {
  ^bb0(%x: tensor<256x256xbf16>, %y: tensor<256x256xbf16>):
    %g = llir.gemm %x, %y k(256) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<256x256xbf16>, tensor<256x256xbf16> -> tensor<256x256xbf16>
    llir.yield %g : tensor<256x256xbf16>
  }
  return %0 : tensor<256x256xbf16>
}

// A processor that multiplies pairs or tiles of bf16 takes them as they are, also where the program widens them first; an odd
// k needs whole pairs of rows, and f16 is no bf16. Not where every rounding is the program's: the instruction knows no denormals.
// RUN: luminal-opt %s --llir-schedule-kernels="arch=sapphirerapids precision=exact" | FileCheck %s --check-prefix=EXACT
// RUN: luminal-opt %s --llir-schedule-kernels=arch=x86-64-v4 | FileCheck %s --check-prefix=EXACT
// EXACT-NOT: multiply =
// CHECK-LABEL: @pairs
// PAIRS: op2 = tile {lanes = 16, multiply = pairs, pack = k, rows = 14, square = 4, vectors = 2}
// TILES: op2 = tile {lanes = 16, multiply = tiles, pack = k, rows = 32, square = 4, vectors = 2}
func.func private @pairs(%a: tensor<256x256xbf16>, %b: tensor<256x256xbf16>) -> tensor<256x256xf32> {
  // expected-remark-re@+1 {{op2 = tile {copy = rows, lanes = 8, pack = k,}}
  %0 = llir.kernel(%a, %b) : (tensor<256x256xbf16>, tensor<256x256xbf16>) -> tensor<256x256xf32> {
  ^bb0(%x: tensor<256x256xbf16>, %y: tensor<256x256xbf16>):
    %f = llir.elementwise cast(%x) : (tensor<256x256xbf16>) -> tensor<256x256xf32>
    %g = llir.elementwise cast(%y) : (tensor<256x256xbf16>) -> tensor<256x256xf32>
    %h = llir.gemm %f, %g k(256) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<256x256xf32>, tensor<256x256xf32> -> tensor<256x256xf32>
    llir.yield %h : tensor<256x256xf32>
  }
  return %0 : tensor<256x256xf32>
}
// CHECK-LABEL: @odd_pairs
// PAIRS: op0 = tile {copy = rows, lanes = 16, multiply = pairs, pack = columns, rows = 14, vectors = 2}
// TILES: op0 = tile {copy = rows, lanes = 16, multiply = tiles, pack = columns, rows = 32, vectors = 2}
func.func private @odd_pairs(%a: tensor<256x255xbf16>, %b: tensor<255x256xbf16>) -> tensor<256x256xbf16> {
  // expected-remark-re@+1 {{op0 = tile {copy = rows, lanes = 8, pack = columns,}}
  %0 = llir.kernel(%a, %b) : (tensor<256x255xbf16>, tensor<255x256xbf16>) -> tensor<256x256xbf16> {
  ^bb0(%x: tensor<256x255xbf16>, %y: tensor<255x256xbf16>):
    %h = llir.gemm %x, %y k(255) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<256x255xbf16>, tensor<255x256xbf16> -> tensor<256x256xbf16>
    llir.yield %h : tensor<256x256xbf16>
  }
  return %0 : tensor<256x256xbf16>
}
// CHECK-LABEL: @no_pairs
// CHECK-NOT: multiply =
// CHECK: return
func.func private @no_pairs(%a: tensor<256x256xf16>, %b: tensor<256x256xf16>) -> tensor<256x256xf16> {
  // expected-remark-re@+1 {{op0 = tile {copy = rows, lanes = 8, pack = k,}}
  %0 = llir.kernel(%a, %b) : (tensor<256x256xf16>, tensor<256x256xf16>) -> tensor<256x256xf16> {
  ^bb0(%x: tensor<256x256xf16>, %y: tensor<256x256xf16>):
    %h = llir.gemm %x, %y k(256) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<256x256xf16>, tensor<256x256xf16> -> tensor<256x256xf16>
    llir.yield %h : tensor<256x256xf16>
  }
  return %0 : tensor<256x256xf16>
}

// One row: dot products where both sides step along k, else scaled columns.
func.func private @dots(%a: tensor<1x256xf32>, %b: tensor<256x256xf32>) -> tensor<1x256xf32> {
  // expected-remark@+1 {{form="dot products along k, along which both sides are contiguous"}}
  %0 = llir.kernel(%a, %b) : (tensor<1x256xf32>, tensor<256x256xf32>) -> tensor<1x256xf32> {
  ^bb0(%x: tensor<1x256xf32>, %y: tensor<256x256xf32>):
    %g = llir.gemm %x, %y k(256) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1x256xf32>, tensor<256x256xf32> -> tensor<1x256xf32>
    llir.yield %g : tensor<1x256xf32>
  }
  return %0 : tensor<1x256xf32>
}
func.func private @scaled(%a: tensor<1x256xf32>, %b: tensor<256x256xf32>) -> tensor<1x256xf32> {
  // expected-remark@+1 {{form="columns scaled by each row's elements, because not both sides are read along k"}}
  %0 = llir.kernel(%a, %b) : (tensor<1x256xf32>, tensor<256x256xf32>) -> tensor<1x256xf32> {
  ^bb0(%x: tensor<1x256xf32>, %y: tensor<256x256xf32>):
    %g = llir.gemm %x, %y k(256) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<1x256xf32>, tensor<256x256xf32> -> tensor<1x256xf32>
    llir.yield %g : tensor<1x256xf32>
  }
  return %0 : tensor<1x256xf32>
}

// Either, where only run time knows the number of rows.
func.func private @either(%a: tensor<?x256xf32, #hlir.dims<n>>, %b: tensor<256x256xf32>) -> tensor<?x256xf32, #hlir.dims<n>>
    attributes {hlir.symbols = #hlir.symbols<n in [1, ]>} {
  // expected-remark-re@+1 {{for at most 4 rows="dot products {{.*}}", form="packed columns and a register tile"}}
  %0 = llir.kernel(%a, %b) : (tensor<?x256xf32, #hlir.dims<n>>, tensor<256x256xf32>) -> tensor<?x256xf32, #hlir.dims<n>> {
  ^bb0(%x: tensor<?x256xf32, #hlir.dims<n>>, %y: tensor<256x256xf32>):
    %g = llir.gemm %x, %y k(256) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<?x256xf32, #hlir.dims<n>>, tensor<256x256xf32> -> tensor<?x256xf32, #hlir.dims<n>>
    llir.yield %g : tensor<?x256xf32, #hlir.dims<n>>
  }
  return %0 : tensor<?x256xf32, #hlir.dims<n>>
}

// Few columns change places with the rows.
func.func private @narrow(%a: tensor<256x256xf32>, %b: tensor<256x3xf32>) -> tensor<256x3xf32> {
  // expected-remark@+1 {{rows="the right one, which has fewer columns than a vector has lanes"}}
  %0 = llir.kernel(%a, %b) : (tensor<256x256xf32>, tensor<256x3xf32>) -> tensor<256x3xf32> {
  ^bb0(%x: tensor<256x256xf32>, %y: tensor<256x3xf32>):
    %g = llir.gemm %x, %y k(256) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<256x256xf32>, tensor<256x3xf32> -> tensor<256x3xf32>
    llir.yield %g : tensor<256x3xf32>
  }
  return %0 : tensor<256x3xf32>
}

// A result in part, or of another index space: each element sums for itself.
func.func private @part(%a: tensor<8x8xf32>) -> tensor<4x8xf32> {
  // expected-remark-re@+1 {{form="each element for itself", in the way="view at {{.*}}", {{.*}} loops="#llir.loops<grid(d0, d1:all v8) op0 = element {lanes = 1, unroll = 4}>", no tile because="the last view does not move each element to a separate position"}}
  %0 = llir.kernel(%a) : (tensor<8x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%x: tensor<8x8xf32>):
    %g = llir.gemm %x, %x k(8) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
    %v = llir.view %g <(d0, d1) -> (d0 * 2, d1)> : tensor<8x8xf32> -> tensor<4x8xf32>
    llir.yield %v : tensor<4x8xf32>
  }
  return %0 : tensor<4x8xf32>
}
