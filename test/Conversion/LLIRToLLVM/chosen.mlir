// Of two operands that are joined along rows one is read: which one is the same in all lanes, so its address is chosen.
// RUN: luminal-opt %s --convert-llir-to-llvm="arch=sapphirerapids keep-loops" | FileCheck %s

// CHECK-LABEL: llvm.func @joined
// CHECK: scf.for
// CHECK: scf.for
// CHECK: llvm.select %{{.*}} : i1, !llvm.ptr
// CHECK-NEXT: llvm.load %{{.*}} vector<16xf32>
// CHECK-NOT: llvm.load
// CHECK: llvm.store %{{.*}} vector<16xf32>
func.func private @joined(%a: tensor<64x512xf32>, %b: tensor<64x512xf32>) -> tensor<128x512xf32> {
  %r = llir.kernel(%a, %b) loops<grid(d0, d1:all v16)> : (tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<128x512xf32> {
  ^bb0(%x: tensor<64x512xf32>, %y: tensor<64x512xf32>):
    %at = llir.iota <(d0, d1) -> (d0)> : tensor<128x512xi64>
    %size = llir.constant dense<64> : tensor<i64>
    %sizes = llir.view %size <(d0, d1) -> ()> : tensor<i64> -> tensor<128x512xi64>
    %c = llir.elementwise less_than(%at, %sizes) : (tensor<128x512xi64>, tensor<128x512xi64>) -> tensor<128x512xi1>
    %u = llir.view %x <(d0, d1) -> (min(d0, 63), d1)> : tensor<64x512xf32> -> tensor<128x512xf32>
    %v = llir.view %y <(d0, d1) -> (max(d0 - 64, 0), d1)> : tensor<64x512xf32> -> tensor<128x512xf32>
    %s = llir.elementwise select(%c, %u, %v) : (tensor<128x512xi1>, tensor<128x512xf32>, tensor<128x512xf32>) -> tensor<128x512xf32>
    llir.yield %s : tensor<128x512xf32>
  }
  return %r : tensor<128x512xf32>
}

// Where lanes of an operand are far apart in memory, the condition is a branch: they are loaded in one of them only.
// CHECK-LABEL: llvm.func @transposed
// CHECK: scf.if %{{.*}} -> (vector<16xf32>)
// CHECK: llvm.load %{{.*}} vector<16xf32>
// CHECK: else
// CHECK-COUNT-16: llvm.load %{{.*}} -> f32
// CHECK-NOT: llvm.load
// CHECK: llvm.store %{{.*}} vector<16xf32>
func.func private @transposed(%a: tensor<64x512xf32>, %b: tensor<512x64xf32>) -> tensor<128x512xf32> {
  %r = llir.kernel(%a, %b) loops<grid(d0, d1:all v16)> : (tensor<64x512xf32>, tensor<512x64xf32>) -> tensor<128x512xf32> {
  ^bb0(%x: tensor<64x512xf32>, %y: tensor<512x64xf32>):
    %at = llir.iota <(d0, d1) -> (d0)> : tensor<128x512xi64>
    %size = llir.constant dense<64> : tensor<i64>
    %sizes = llir.view %size <(d0, d1) -> ()> : tensor<i64> -> tensor<128x512xi64>
    %c = llir.elementwise less_than(%at, %sizes) : (tensor<128x512xi64>, tensor<128x512xi64>) -> tensor<128x512xi1>
    %u = llir.view %x <(d0, d1) -> (min(d0, 63), d1)> : tensor<64x512xf32> -> tensor<128x512xf32>
    %v = llir.view %y <(d0, d1) -> (d1, max(d0 - 64, 0))> : tensor<512x64xf32> -> tensor<128x512xf32>
    %s = llir.elementwise select(%c, %u, %v) : (tensor<128x512xi1>, tensor<128x512xf32>, tensor<128x512xf32>) -> tensor<128x512xf32>
    llir.yield %s : tensor<128x512xf32>
  }
  return %r : tensor<128x512xf32>
}
