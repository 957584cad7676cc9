// One kernel, unlike schedules: the loops follow them.
// RUN: luminal-opt %s --convert-llir-to-llvm="arch=x86-64-v3 keep-loops" | FileCheck %s

// One element of d0 a unit, four vectors of d1 and a loop over what is left.
// CHECK-LABEL: llvm.func @rows(
// CHECK: scf.for
// CHECK: scf.for
// CHECK: math.absf %{{.*}} : vector<4xf32>
// CHECK: scf.if
// CHECK: math.absf %{{.*}} : vector<4xf32>
func.func private @rows(%a: tensor<64x18xf32>) -> tensor<64x18xf32> {
  %r = llir.kernel(%a) loops<grid(d0, d1:all v4)> : (tensor<64x18xf32>) -> tensor<64x18xf32> {
  ^bb0(%x: tensor<64x18xf32>):
    %0 = llir.elementwise abs(%x) : (tensor<64x18xf32>) -> tensor<64x18xf32>
    llir.yield %0 : tensor<64x18xf32>
  }
  return %r : tensor<64x18xf32>
}

// Blocks of both dims, scalar: three loops, no vector.
// CHECK-LABEL: llvm.func @blocks(
// CHECK-NOT: vector<
// CHECK: scf.for
// CHECK: scf.for
// CHECK: scf.for
// CHECK: math.absf %{{.*}} : f32
// CHECK-NOT: vector<
func.func private @blocks(%a: tensor<64x16xf32>) -> tensor<64x16xf32> {
  %r = llir.kernel(%a) loops<grid(d1:4, d0:8)> : (tensor<64x16xf32>) -> tensor<64x16xf32> {
  ^bb0(%x: tensor<64x16xf32>):
    %0 = llir.elementwise abs(%x) : (tensor<64x16xf32>) -> tensor<64x16xf32>
    llir.yield %0 : tensor<64x16xf32>
  }
  return %r : tensor<64x16xf32>
}

// Two cases, a branch between them.
// CHECK-LABEL: llvm.func @cases(
// CHECK: %[[FEW:.*]] = arith.andi
// CHECK: scf.if %[[FEW]] {
// CHECK: math.absf %{{.*}} : f32
// CHECK: } else {
// CHECK: math.absf %{{.*}} : vector<8xf32>
func.func private @cases(%a: tensor<?xf32, #hlir.dims<s>>) -> tensor<?xf32, #hlir.dims<s>> attributes {hlir.symbols = #hlir.symbols<s in [0, ]>} {
  %r = llir.kernel(%a) loops<if (s: [0, 4]) grid(d0:all) else grid(d0:512 v8)> : (tensor<?xf32, #hlir.dims<s>>) -> tensor<?xf32, #hlir.dims<s>> {
  ^bb0(%x: tensor<?xf32, #hlir.dims<s>>):
    %0 = llir.elementwise abs(%x) : (tensor<?xf32, #hlir.dims<s>>) -> tensor<?xf32, #hlir.dims<s>>
    llir.yield %0 : tensor<?xf32, #hlir.dims<s>>
  }
  return %r : tensor<?xf32, #hlir.dims<s>>
}

// Dot products of one row, four at a time; what follows them takes vectors of their sums.
// CHECK-LABEL: llvm.func @dots(
// CHECK: scf.for {{.*}} iter_args({{.*}}, {{.*}}, {{.*}}, {{.*}}, {{.*}}, {{.*}}, {{.*}}, {{.*}}) -> (vector<8xf32>,
// CHECK-NOT: math.absf %{{.*}} : f32
// CHECK: math.absf %{{.*}} : vector<8xf32>
func.func private @dots(%a: tensor<1x64xf32>, %b: tensor<96x64xf32>) -> tensor<1x96xf32> {
  %r = llir.kernel(%a, %b) loops<grid(d1:all) op0 = dot {lanes = 8, rows = 1, width = 4}> : (tensor<1x64xf32>, tensor<96x64xf32>) -> tensor<1x96xf32> {
  ^bb0(%x: tensor<1x64xf32>, %y: tensor<96x64xf32>):
    %0 = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1x64xf32>, tensor<96x64xf32> -> tensor<1x96xf32>
    %1 = llir.elementwise abs(%0) : (tensor<1x96xf32>) -> tensor<1x96xf32>
    llir.yield %1 : tensor<1x96xf32>
  }
  return %r : tensor<1x96xf32>
}

// A sum along rows with three accumulators of a vector each.
// CHECK-LABEL: llvm.func @along(
// CHECK: scf.for {{.*}} iter_args({{.*}}, {{.*}}, {{.*}}) -> (vector<8xf32>, vector<8xf32>, vector<8xf32>)
func.func private @along(%a: tensor<64x999xf32>) -> tensor<64xf32> {
  %r = llir.kernel(%a) loops<grid(d0) stream(d1:all v8) op0 = pass {lanes = 8, unroll = 3}> : (tensor<64x999xf32>) -> tensor<64xf32> {
  ^bb0(%x: tensor<64x999xf32>):
    %0 = llir.reduce sum %x : tensor<64x999xf32> -> tensor<64xf32>
    llir.yield %0 : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}

// The same across rows: one vector of eight rows.
// CHECK-LABEL: llvm.func @across(
// CHECK: scf.for {{.*}} iter_args({{[^,]*}}) -> (vector<8xf32>)
func.func private @across(%a: tensor<64x999xf32>) -> tensor<64xf32> {
  %r = llir.kernel(%a) loops<grid(d0:16 v8) stream(d1:all) op0 = pass> : (tensor<64x999xf32>) -> tensor<64xf32> {
  ^bb0(%x: tensor<64x999xf32>):
    %0 = llir.reduce sum %x : tensor<64x999xf32> -> tensor<64xf32>
    llir.yield %0 : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}

// A product in a tile of 3 x 1 vectors, and element by element.
// CHECK-LABEL: llvm.func @tile(
// CHECK: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>, vector<8xf32>)
// CHECK-COUNT-3: math.fma
func.func private @tile(%a: tensor<66x64xf32>, %b: tensor<64x64xf32>) -> tensor<66x64xf32> {
  %r = llir.kernel(%a, %b) loops<grid(d1:64, d0:33) op0 = tile {lanes = 8, pack = columns, rows = 3, vectors = 1}> : (tensor<66x64xf32>, tensor<64x64xf32>) -> tensor<66x64xf32> {
  ^bb0(%x: tensor<66x64xf32>, %y: tensor<64x64xf32>):
    %0 = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<66x64xf32>, tensor<64x64xf32> -> tensor<66x64xf32>
    llir.yield %0 : tensor<66x64xf32>
  }
  return %r : tensor<66x64xf32>
}

// CHECK-LABEL: llvm.func @elements(
// CHECK: scf.for {{.*}} -> (vector<8xf32>, vector<8xf32>)
// CHECK-COUNT-2: math.fma
// CHECK-NEXT: scf.yield
func.func private @elements(%a: tensor<66x64xf32>, %b: tensor<64x64xf32>) -> tensor<66x64xf32> {
  %r = llir.kernel(%a, %b) loops<grid(d0, d1:all v8) op0 = element {unroll = 2}> : (tensor<66x64xf32>, tensor<64x64xf32>) -> tensor<66x64xf32> {
  ^bb0(%x: tensor<66x64xf32>, %y: tensor<64x64xf32>):
    %0 = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<66x64xf32>, tensor<64x64xf32> -> tensor<66x64xf32>
    llir.yield %0 : tensor<66x64xf32>
  }
  return %r : tensor<66x64xf32>
}
