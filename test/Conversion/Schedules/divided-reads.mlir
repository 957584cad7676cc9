// Lanes of maps that read at divided indices: as many as are neighbours in memory, where that is more than arithmetic loses.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=znver4 | FileCheck %s
// RUN: luminal-opt %s --llir-schedule-kernels=arch=znver4 --convert-llir-to-llvm="arch=znver4 keep-loops" | FileCheck %s --check-prefix=CODE

// Lines of 56 are whole runs of 8.
// CHECK-LABEL: @windows
// CHECK: loops<grid(d0, d1:all v8)>
// CODE-LABEL: llvm.func @windows
// CODE: llvm.load {{.*}} -> vector<8xf32>
// CODE-NOT: gather
// CODE: llvm.return
func.func @windows(%a: tensor<32x58x58xf32>) -> tensor<288x3136xf32> {
  %r = llir.kernel(%a) : (tensor<32x58x58xf32>) -> tensor<288x3136xf32> {
  ^bb0(%x: tensor<32x58x58xf32>):
    %0 = llir.view %x <(d0, d1) -> (d0 floordiv 9, (d0 floordiv 3) mod 3 + d1 floordiv 56, d0 mod 3 + d1 mod 56)>
        : tensor<32x58x58xf32> -> tensor<288x3136xf32>
    llir.yield %0 : tensor<288x3136xf32>
  }
  return %r : tensor<288x3136xf32>
}

// Lines of 57 are no runs of any length.
// CHECK-LABEL: @odd_lines
// CHECK: loops<grid(d0, d1:all v16)>
func.func @odd_lines(%a: tensor<32x59x59xf32>) -> tensor<288x3249xf32> {
  %r = llir.kernel(%a) : (tensor<32x59x59xf32>) -> tensor<288x3249xf32> {
  ^bb0(%x: tensor<32x59x59xf32>):
    %0 = llir.view %x <(d0, d1) -> (d0 floordiv 9, (d0 floordiv 3) mod 3 + d1 floordiv 57, d0 mod 3 + d1 mod 57)>
        : tensor<32x59x59xf32> -> tensor<288x3249xf32>
    llir.yield %0 : tensor<288x3249xf32>
  }
  return %r : tensor<288x3249xf32>
}

// Arithmetic by half as many lanes would take longer than looking up.
// CHECK-LABEL: @arithmetic
// CHECK: loops<grid(d0, d1:all v16)>
func.func @arithmetic(%a: tensor<32x58x58xf32>) -> tensor<288x3136xf32> {
  %r = llir.kernel(%a) : (tensor<32x58x58xf32>) -> tensor<288x3136xf32> {
  ^bb0(%x: tensor<32x58x58xf32>):
    %0 = llir.view %x <(d0, d1) -> (d0 floordiv 9, (d0 floordiv 3) mod 3 + d1 floordiv 56, d0 mod 3 + d1 mod 56)>
        : tensor<32x58x58xf32> -> tensor<288x3136xf32>
    %1 = llir.elementwise erf(%0) : (tensor<288x3136xf32>) -> tensor<288x3136xf32>
    %2 = llir.elementwise sin(%1) : (tensor<288x3136xf32>) -> tensor<288x3136xf32>
    %3 = llir.elementwise erf(%2) : (tensor<288x3136xf32>) -> tensor<288x3136xf32>
    llir.yield %3 : tensor<288x3136xf32>
  }
  return %r : tensor<288x3136xf32>
}

// The channel of a pixel is one for whole runs of pixels: it is read once for a vector.
// CHECK-LABEL: @channels
// CHECK: loops<grid(d0, d1:all v16)>
// CODE-LABEL: llvm.func @channels
// CODE: %[[SCALE:.*]] = llvm.load {{.*}} -> f32
// CODE: vector.broadcast %[[SCALE]] : f32 to vector<16xf32>
// CODE-NOT: gather
// CODE: llvm.return
func.func @channels(%a: tensor<8x8192xf32>, %s: tensor<64xf32>) -> tensor<8x8192xf32> {
  %r = llir.kernel(%a, %s) : (tensor<8x8192xf32>, tensor<64xf32>) -> tensor<8x8192xf32> {
  ^bb0(%x: tensor<8x8192xf32>, %y: tensor<64xf32>):
    %0 = llir.view %y <(d0, d1) -> (8 * d0 + d1 floordiv 1024)> : tensor<64xf32> -> tensor<8x8192xf32>
    %1 = llir.elementwise mul(%x, %0) : (tensor<8x8192xf32>, tensor<8x8192xf32>) -> tensor<8x8192xf32>
    llir.yield %1 : tensor<8x8192xf32>
  }
  return %r : tensor<8x8192xf32>
}

// Elements somewhere in memory are looked up by one instruction, by indices of 32 bits where they are that small.
// CODE-LABEL: llvm.func @somewhere
// CODE: llvm.getelementptr {{.*}}vector<16xi32>) -> vector<16x!llvm.ptr>, f32
// CODE: llvm.intr.masked.gather {{.*}} -> vector<16xf32>
func.func @somewhere(%a: tensor<5000xf32>, %i: tensor<4096xi64>) -> tensor<4096xf32> {
  %r = llir.kernel(%a, %i) : (tensor<5000xf32>, tensor<4096xi64>) -> tensor<4096xf32> {
  ^bb0(%x: tensor<5000xf32>, %y: tensor<4096xi64>):
    %0 = llir.gather %x, %y {checked} : tensor<5000xf32>, tensor<4096xi64> -> tensor<4096xf32>
    llir.yield %0 : tensor<4096xf32>
  }
  return %r : tensor<4096xf32>
}
