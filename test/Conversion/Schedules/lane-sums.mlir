// Depthwise convolutions whose channels lie side by side: each lane has a short sum of its own, all steps straight code.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=znver4 --remarks-filter=llir-schedule-kernels 2>&1 | FileCheck %s
// RUN: luminal-opt %s --llir-schedule-kernels=arch=znver4 --convert-llir-to-llvm="arch=znver4 keep-loops" | FileCheck %s --check-prefix=CODE

// CHECK: remark: [Passed] schedule {{.*}} Function=padded | form="each lane's sum, fully unrolled"
// CHECK: Function=followed | form="each lane's sum, fully unrolled"
// CHECK: Function=one_line | form="each lane's sum, fully unrolled"
// CHECK: Function=by_lines | form="windows of an image on chip and a register tile"
// CHECK: Function=long | {{.*}}form="{{windows|packed}}
// CHECK: Function=grouped | {{.*}}form="{{windows|packed}}

// A unit has some vectors of channels and walks along a line, three places at a time: what they read of the same is read once.
// Its ends have code of their own, and nothing there compares columns.
// CHECK-LABEL: @padded
// CHECK: loops<grid(d0, d2:48 v16, d1:all) op{{[0-9]+}} = element {lanes = 1, places = 3, unroll = 9}>
// CODE-LABEL: llvm.func @padded
// CODE: scf.for
// CODE: scf.for
// CODE-COUNT-9: math.fma
// CODE-NOT: math.fma
// CODE: llvm.store
// CODE: scf.for {{.*}} to %c54_i64{{.*}} step %c3_i64
// CODE-NOT: arith.cmpi slt, %arg
// CODE-COUNT-27: math.fma
// CODE-NOT: math.fma
// CODE-COUNT-3: llvm.store
// CODE-NOT: llvm.store
// CODE: scf.for
// CODE-COUNT-9: math.fma
// CODE-NOT: math.fma
// CODE: llvm.return
func.func private @padded(%x: tensor<56x56x144xf32>, %w: tensor<9x144xf32>) -> tensor<56x56x144xf32> {
  %0 = llir.kernel(%x, %w) : (tensor<56x56x144xf32>, tensor<9x144xf32>) -> tensor<56x56x144xf32> {
  ^bb0(%a: tensor<56x56x144xf32>, %b: tensor<9x144xf32>):
    %low = llir.constant dense<-1> : tensor<i64>
    %lows = llir.view %low <(d0, d1, d2) -> ()> : tensor<i64> -> tensor<58x58x144xi64>
    %i = llir.iota <(d0, d1, d2) -> (d1 - 1)> : tensor<58x58x144xi64>
    %j = llir.iota <(d0, d1, d2) -> (d0 - 1)> : tensor<58x58x144xi64>
    %n = llir.iota <(d0, d1, d2) -> (56)> : tensor<58x58x144xi64>
    %c = llir.elementwise less_than(%i, %n) : (tensor<58x58x144xi64>, tensor<58x58x144xi64>) -> tensor<58x58x144xi1>
    %d = llir.elementwise less_than(%lows, %i) : (tensor<58x58x144xi64>, tensor<58x58x144xi64>) -> tensor<58x58x144xi1>
    %e = llir.elementwise less_than(%j, %n) : (tensor<58x58x144xi64>, tensor<58x58x144xi64>) -> tensor<58x58x144xi1>
    %f = llir.elementwise less_than(%lows, %j) : (tensor<58x58x144xi64>, tensor<58x58x144xi64>) -> tensor<58x58x144xi1>
    %cd = llir.elementwise mul(%c, %d) : (tensor<58x58x144xi1>, tensor<58x58x144xi1>) -> tensor<58x58x144xi1>
    %ef = llir.elementwise mul(%e, %f) : (tensor<58x58x144xi1>, tensor<58x58x144xi1>) -> tensor<58x58x144xi1>
    %m = llir.elementwise mul(%cd, %ef) : (tensor<58x58x144xi1>, tensor<58x58x144xi1>) -> tensor<58x58x144xi1>
    %z = llir.constant dense<0.0> : tensor<f32>
    %zs = llir.view %z <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<58x58x144xf32>
    %v = llir.view %a <(d0, d1, d2) -> (max(min(d0 - 1, 55), 0), max(min(d1 - 1, 55), 0), d2)> : tensor<56x56x144xf32> -> tensor<58x58x144xf32>
    %s = llir.elementwise select(%m, %v, %zs) : (tensor<58x58x144xi1>, tensor<58x58x144xf32>, tensor<58x58x144xf32>) -> tensor<58x58x144xf32>
    %g = llir.gemm %s, %b k(9) <(d0, d1, d2, d3) -> (d0 + d3 floordiv 3, d1 + d3 mod 3, d2)>, <(d0, d1, d2, d3) -> (d3, d2)>
        : tensor<58x58x144xf32>, tensor<9x144xf32> -> tensor<56x56x144xf32>
    llir.yield %g : tensor<56x56x144xf32>
  }
  return %0 : tensor<56x56x144xf32>
}

// Where what follows is long, sums wait in scratch until the line is done: 48 channels of 56 places, 4 bytes each.
// CHECK-LABEL: @followed
// CHECK: loops<grid(d0, d2:48 v16, d1:all) op0 = element {lanes = 1, places = 4, unroll = 4}>
// CODE-LABEL: llvm.func @followed
// CODE: scf.for {{.*}} step %c4_i64
// CODE-COUNT-16: math.fma
// CODE-NOT: math.fma
// CODE: scf.for {{.*}} to %c56_i64{{.*}} step %c1_i64
// CODE: llvm.load
// CODE: dense<1.44269502>
// CODE-NOT: dense<1.44269502>
// CODE: llvm.return
func.func private @followed(%x: tensor<56x59x144xf32>, %w: tensor<4x144xf32>) -> tensor<56x56x144xf32> {
  %0 = llir.kernel(%x, %w) : (tensor<56x59x144xf32>, tensor<4x144xf32>) -> tensor<56x56x144xf32> {
  ^bb0(%a: tensor<56x59x144xf32>, %b: tensor<4x144xf32>):
    %g = llir.gemm %a, %b k(4) <(d0, d1, d2, d3) -> (d0, d1 + d3, d2)>, <(d0, d1, d2, d3) -> (d3, d2)>
        : tensor<56x59x144xf32>, tensor<4x144xf32> -> tensor<56x56x144xf32>
    %e = llir.elementwise exp(%g) : (tensor<56x56x144xf32>) -> tensor<56x56x144xf32>
    llir.yield %e : tensor<56x56x144xf32>
  }
  return %0 : tensor<56x56x144xf32>
}

// One line is cut for several workers.
// CHECK-LABEL: @one_line
// CHECK: loops<grid(d1:16 v16, d0:{{[1-9][0-9]*}}) op0 = element {lanes = 1, places = 4, unroll = 4}>
func.func private @one_line(%x: tensor<4099x16xf32>, %w: tensor<4x16xf32>) -> tensor<4096x16xf32> {
  %0 = llir.kernel(%x, %w) : (tensor<4099x16xf32>, tensor<4x16xf32>) -> tensor<4096x16xf32> {
  ^bb0(%a: tensor<4099x16xf32>, %b: tensor<4x16xf32>):
    %g = llir.gemm %a, %b k(4) <(d0, d1, d2) -> (d0 + d2, d1)>, <(d0, d1, d2) -> (d2, d1)>
        : tensor<4099x16xf32>, tensor<4x16xf32> -> tensor<4096x16xf32>
    llir.yield %g : tensor<4096x16xf32>
  }
  return %0 : tensor<4096x16xf32>
}

// Lines side by side are windows, as before.
// CHECK-LABEL: @by_lines
// CHECK: pack = windows
func.func private @by_lines(%x: tensor<144x58x58xf32>, %w: tensor<9x144xf32>) -> tensor<144x56x56xf32> {
  %0 = llir.kernel(%x, %w) : (tensor<144x58x58xf32>, tensor<9x144xf32>) -> tensor<144x56x56xf32> {
  ^bb0(%a: tensor<144x58x58xf32>, %b: tensor<9x144xf32>):
    %g = llir.gemm %a, %b k(9) <(d0, d1, d2, d3) -> (d0, d1 + d3 floordiv 3, d2 + d3 mod 3)>, <(d0, d1, d2, d3) -> (d3, d0)>
        : tensor<144x58x58xf32>, tensor<9x144xf32> -> tensor<144x56x56xf32>
    llir.yield %g : tensor<144x56x56xf32>
  }
  return %0 : tensor<144x56x56xf32>
}

// More than 49 steps are no straight code.
// CHECK-LABEL: @long
// CHECK: op0 = tile
func.func private @long(%x: tensor<64x64x144xf32>, %w: tensor<81x144xf32>) -> tensor<56x56x144xf32> {
  %0 = llir.kernel(%x, %w) : (tensor<64x64x144xf32>, tensor<81x144xf32>) -> tensor<56x56x144xf32> {
  ^bb0(%a: tensor<64x64x144xf32>, %b: tensor<81x144xf32>):
    %g = llir.gemm %a, %b k(81) <(d0, d1, d2, d3) -> (d0 + d3 floordiv 9, d1 + d3 mod 9, d2)>, <(d0, d1, d2, d3) -> (d3, d2)>
        : tensor<64x64x144xf32>, tensor<81x144xf32> -> tensor<56x56x144xf32>
    llir.yield %g : tensor<56x56x144xf32>
  }
  return %0 : tensor<56x56x144xf32>
}

// Channels of groups that share an image have columns to share it.
// CHECK-LABEL: @grouped
// CHECK: op0 = tile
func.func private @grouped(%x: tensor<58x58x4xf32>, %w: tensor<9x4x32xf32>) -> tensor<56x56x4x32xf32> {
  %0 = llir.kernel(%x, %w) : (tensor<58x58x4xf32>, tensor<9x4x32xf32>) -> tensor<56x56x4x32xf32> {
  ^bb0(%a: tensor<58x58x4xf32>, %b: tensor<9x4x32xf32>):
    %g = llir.gemm %a, %b k(9) <(d0, d1, d2, d3, d4) -> (d0 + d4 floordiv 3, d1 + d4 mod 3, d2)>, <(d0, d1, d2, d3, d4) -> (d4, d2, d3)>
        : tensor<58x58x4xf32>, tensor<9x4x32xf32> -> tensor<56x56x4x32xf32>
    llir.yield %g : tensor<56x56x4x32xf32>
  }
  return %0 : tensor<56x56x4x32xf32>
}
