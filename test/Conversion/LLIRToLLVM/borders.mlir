// The loop over a line of a padded image is cut where comparisons of its index change. In each part nothing is compared lane
// by lane, and no position is clamped: the middle is copied.
// RUN: luminal-opt %s --convert-llir-to-llvm="arch=sapphirerapids keep-loops" | FileCheck %s

// CHECK-LABEL: llvm.func @padded
// CHECK-NOT: arith.select
// CHECK-NOT: arith.minsi
// CHECK: scf.for %{{.*}} to %c112_i64
// CHECK: llvm.load {{.*}} vector<16xf32>
// CHECK: llvm.return
func.func private @padded(%a: tensor<64x112xf32>) -> tensor<64x114xf32> {
  %r = llir.kernel(%a) loops<grid(d0, d1:all v16)> : (tensor<64x112xf32>) -> tensor<64x114xf32> {
  ^bb0(%x: tensor<64x112xf32>):
    %at = llir.iota <(d0, d1) -> (d1 - 1)> : tensor<64x114xi64>
    %size = llir.constant dense<112> : tensor<i64>
    %sizes = llir.view %size <(d0, d1) -> ()> : tensor<i64> -> tensor<64x114xi64>
    %none = llir.constant dense<-1> : tensor<i64>
    %nones = llir.view %none <(d0, d1) -> ()> : tensor<i64> -> tensor<64x114xi64>
    %c0 = llir.elementwise less_than(%at, %sizes) : (tensor<64x114xi64>, tensor<64x114xi64>) -> tensor<64x114xi1>
    %c1 = llir.elementwise less_than(%nones, %at) : (tensor<64x114xi64>, tensor<64x114xi64>) -> tensor<64x114xi1>
    %c = llir.elementwise mul(%c0, %c1) : (tensor<64x114xi1>, tensor<64x114xi1>) -> tensor<64x114xi1>
    %v = llir.view %x <(d0, d1) -> (d0, max(min(d1 - 1, 111), 0))> : tensor<64x112xf32> -> tensor<64x114xf32>
    %f = llir.constant dense<0.0> : tensor<f32>
    %fs = llir.view %f <(d0, d1) -> ()> : tensor<f32> -> tensor<64x114xf32>
    %s = llir.elementwise select(%c, %v, %fs) : (tensor<64x114xi1>, tensor<64x114xf32>, tensor<64x114xf32>) -> tensor<64x114xf32>
    llir.yield %s : tensor<64x114xf32>
  }
  return %r : tensor<64x114xf32>
}

// A unit that has a part of a line only is not cut.
// CHECK-LABEL: llvm.func @blocks
// CHECK: arith.select
// CHECK: llvm.return
func.func private @blocks(%a: tensor<64x112xf32>) -> tensor<64x114xf32> {
  %r = llir.kernel(%a) loops<grid(d0, d1:64 v16)> : (tensor<64x112xf32>) -> tensor<64x114xf32> {
  ^bb0(%x: tensor<64x112xf32>):
    %at = llir.iota <(d0, d1) -> (d1 - 1)> : tensor<64x114xi64>
    %size = llir.constant dense<112> : tensor<i64>
    %sizes = llir.view %size <(d0, d1) -> ()> : tensor<i64> -> tensor<64x114xi64>
    %c0 = llir.elementwise less_than(%at, %sizes) : (tensor<64x114xi64>, tensor<64x114xi64>) -> tensor<64x114xi1>
    %v = llir.view %x <(d0, d1) -> (d0, max(min(d1 - 1, 111), 0))> : tensor<64x112xf32> -> tensor<64x114xf32>
    %f = llir.constant dense<0.0> : tensor<f32>
    %fs = llir.view %f <(d0, d1) -> ()> : tensor<f32> -> tensor<64x114xf32>
    %s = llir.elementwise select(%c0, %v, %fs) : (tensor<64x114xi1>, tensor<64x114xf32>, tensor<64x114xf32>) -> tensor<64x114xf32>
    llir.yield %s : tensor<64x114xf32>
  }
  return %r : tensor<64x114xf32>
}

// So is one that is read back beyond a border: where it turns, by the map alone.
// CHECK-LABEL: llvm.func @reflected
// CHECK-NOT: arith.maxsi
// CHECK-NOT: arith.minsi
// CHECK: scf.for %{{.*}} to %c224_i64
// CHECK-NOT: arith.maxsi
// CHECK-NOT: arith.minsi
// CHECK: llvm.load {{.*}} vector<16xf32>
// CHECK-NOT: arith.maxsi
// CHECK-NOT: arith.minsi
// CHECK: llvm.return
func.func private @reflected(%a: tensor<64x224xf32>) -> tensor<64x226xf32> {
  %r = llir.kernel(%a) loops<grid(d0, d1:all v16)> : (tensor<64x224xf32>) -> tensor<64x226xf32> {
  ^bb0(%x: tensor<64x224xf32>):
    %v = llir.view %x <(d0, d1) -> (d0, min(max(d1 - 1, -d1 + 1), -max(d1 - 1, -d1 + 1) + 446))> : tensor<64x224xf32> -> tensor<64x226xf32>
    llir.yield %v : tensor<64x226xf32>
  }
  return %r : tensor<64x226xf32>
}

// And where a line begins again beyond its ends.
// CHECK-LABEL: llvm.func @repeated
// CHECK-NOT: arith.remsi
// CHECK: llvm.load {{.*}} vector<16xf32>
// CHECK-NOT: arith.remsi
// CHECK: llvm.return
func.func private @repeated(%a: tensor<64x224xf32>) -> tensor<64x226xf32> {
  %r = llir.kernel(%a) loops<grid(d0, d1:all v16)> : (tensor<64x224xf32>) -> tensor<64x226xf32> {
  ^bb0(%x: tensor<64x224xf32>):
    %v = llir.view %x <(d0, d1) -> (d0, (d1 - 1) mod 224)> : tensor<64x224xf32> -> tensor<64x226xf32>
    llir.yield %v : tensor<64x226xf32>
  }
  return %r : tensor<64x226xf32>
}
