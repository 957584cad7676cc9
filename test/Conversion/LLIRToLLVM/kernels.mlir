// RUN: luminal-opt %s --llir-schedule-kernels=arch=x86-64-v3 --convert-llir-to-llvm="arch=x86-64-v3 keep-loops" | FileCheck %s

// One flat loop of whole vectors, then the masked remainder; a broadcast
// operand is one scalar load.

// CHECK-LABEL: llvm.func @map
// CHECK-SAME: (%{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr, %{{.*}}: i64, %{{.*}}: i64, %{{.*}}: !llvm.ptr) -> i32
// CHECK: scf.for
// CHECK: scf.for
// CHECK: llvm.load %{{.*}} invariant {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
// CHECK: llvm.load %{{.*}} invariant {alignment = 4 : i64} : !llvm.ptr -> f32
// CHECK: vector.broadcast
// CHECK: arith.mulf %{{.*}} : vector<8xf32>
// CHECK: llvm.store %{{.*}} {alignment = 4 : i64} : vector<8xf32>
// CHECK: scf.if
// CHECK: llvm.intr.masked.load
// CHECK: llvm.intr.masked.store
func.func private @map(%a: tensor<?x6xf32, #hlir.dims<n>>, %b: tensor<f32>) -> tensor<?x6xf32, #hlir.dims<n>>
    attributes {hlir.symbols = #hlir.symbols<n in [0, ]>} {
  %r = llir.kernel(%a, %b) : (tensor<?x6xf32, #hlir.dims<n>>, tensor<f32>) -> tensor<?x6xf32, #hlir.dims<n>> {
  ^bb0(%x: tensor<?x6xf32, #hlir.dims<n>>, %y: tensor<f32>):
    %0 = llir.view %y <(d0, d1) -> ()> : tensor<f32> -> tensor<?x6xf32, #hlir.dims<n>>
    %1 = llir.elementwise mul(%x, %0) : (tensor<?x6xf32, #hlir.dims<n>>, tensor<?x6xf32, #hlir.dims<n>>) -> tensor<?x6xf32, #hlir.dims<n>>
    llir.yield %1 : tensor<?x6xf32, #hlir.dims<n>>
  }
  return %r : tensor<?x6xf32, #hlir.dims<n>>
}

// Columns are summed with lanes over rows: no strided read.

// CHECK-LABEL: llvm.func @across
// CHECK: scf.for {{.*}} -> (vector<32xf32>, vector<32xf32>)
// CHECK-NOT: vector.insert
// CHECK: llvm.return
func.func private @across(%a: tensor<100x64xf32>) -> tensor<64xf32> {
  %r = llir.kernel(%a) : (tensor<100x64xf32>) -> tensor<64xf32> {
  ^bb0(%x: tensor<100x64xf32>):
    %0 = llir.view %x <(d0, d1) -> (d1, d0)> : tensor<100x64xf32> -> tensor<64x100xf32>
    %1 = llir.reduce sum %0 : tensor<64x100xf32> -> tensor<64xf32>
    llir.yield %1 : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}

// A checked gather clamps its index and raises the status; an unchecked one
// does neither.

// CHECK-LABEL: llvm.func @checked
// CHECK: arith.cmpi uge
// CHECK: arith.ori
// CHECK: arith.select
func.func private @checked(%a: tensor<10x4xf32>, %i: tensor<2xi64>) -> tensor<2x4xf32> {
  %r = llir.kernel(%a, %i) : (tensor<10x4xf32>, tensor<2xi64>) -> tensor<2x4xf32> {
  ^bb0(%x: tensor<10x4xf32>, %y: tensor<2xi64>):
    %0 = llir.gather %x, %y {checked} : tensor<10x4xf32>, tensor<2xi64> -> tensor<2x4xf32>
    llir.yield %0 : tensor<2x4xf32>
  }
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: llvm.func @unchecked
// CHECK-NOT: arith.cmpi uge
// CHECK: llvm.return
func.func private @unchecked(%a: tensor<10x4xf32>, %i: tensor<2xi64>) -> tensor<2x4xf32> {
  %r = llir.kernel(%a, %i) : (tensor<10x4xf32>, tensor<2xi64>) -> tensor<2x4xf32> {
  ^bb0(%x: tensor<10x4xf32>, %y: tensor<2xi64>):
    %0 = llir.gather %x, %y : tensor<10x4xf32>, tensor<2xi64> -> tensor<2x4xf32>
    llir.yield %0 : tensor<2x4xf32>
  }
  return %r : tensor<2x4xf32>
}

// The columns of a convolution are filled line by line from runs of pixels:
// whole vectors, then the masked remainder of the run; no position is computed
// lane by lane.

// CHECK-LABEL: llvm.func @convolution
// CHECK-NOT: vector<8xi64>
// CHECK: %[[V:.*]] = llvm.load %{{.*}} invariant {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
// CHECK: llvm.store %[[V]], %{{.*}} {alignment = 4 : i64} : vector<8xf32>
// CHECK: scf.if
// CHECK: llvm.intr.masked.load
func.func private @convolution(%x: tensor<4x18x34xf32>, %w: tensor<16x4x3x3xf32>) -> tensor<16x16x32xf32> {
  %r = llir.kernel(%x, %w) loops<grid(d0*d1:128, d2:all) op0 = tile {columns = lhs, lanes = 8, pack = runs, rows = 4, vectors = 2}>
      : (tensor<4x18x34xf32>, tensor<16x4x3x3xf32>) -> tensor<16x16x32xf32> {
  ^bb0(%a: tensor<4x18x34xf32>, %b: tensor<16x4x3x3xf32>):
    %0 = llir.gemm %a, %b k(36)
        <(d0, d1, d2, d3) -> (d3 floordiv 9, d0 + d3 floordiv 3 mod 3, d1 + d3 mod 3)>,
        <(d0, d1, d2, d3) -> (d2, d3 floordiv 9, d3 floordiv 3 mod 3, d3 mod 3)>
        : tensor<4x18x34xf32>, tensor<16x4x3x3xf32> -> tensor<16x32x16xf32>
    %1 = llir.view %0 <(d0, d1, d2) -> (d1, d2, d0)> : tensor<16x32x16xf32> -> tensor<16x16x32xf32>
    llir.yield %1 : tensor<16x16x32xf32>
  }
  return %r : tensor<16x16x32xf32>
}

// Exponentials of numbers so low that they round to zero multiply no numbers that underflow, for which x86 takes long.
// CHECK-LABEL: llvm.func @low_exponentials(
// CHECK: arith.maximumf
// CHECK: arith.cmpf olt
// CHECK: %[[P:.*]] = arith.select
// CHECK: %[[ONCE:.*]] = arith.mulf %[[P]],
// CHECK: arith.mulf %[[ONCE]],
// CHECK: llvm.return
func.func private @low_exponentials(%a: tensor<64xf32>) -> tensor<64xf32> {
  %0 = llir.kernel(%a) : (tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%x: tensor<64xf32>):
    %e = llir.elementwise exp_fast(%x) : (tensor<64xf32>) -> tensor<64xf32>
    llir.yield %e : tensor<64xf32>
  }
  return %0 : tensor<64xf32>
}
