// What threads of a GPU wait for is part of the price, in nanoseconds. Behind each kernel is what it took an H200.
// RUN: luminal-opt %s --llir-schedule-kernels="target=cuda arch=h200" --split-input-file --remarks-filter=llir-schedule-kernels -o /dev/null 2>&1 | FileCheck %s

// A map of few elements, for the addresses of its operands and for what it reads: 2.1 us.
// CHECK: Function=map | {{.*}}predicted ns=2180
func.func @map(%x: tensor<1024xf32>) -> tensor<1024xf32> {
  %0 = llir.kernel(%x) : (tensor<1024xf32>) -> tensor<1024xf32> {
  ^bb0(%a: tensor<1024xf32>):
    %1 = llir.elementwise neg(%a) : (tensor<1024xf32>) -> tensor<1024xf32>
    llir.yield %1 : tensor<1024xf32>
  }
  return %0 : tensor<1024xf32>
}

// -----

// Teams, which read next to each other: 2.5 us.
// CHECK: Function=teams | {{.*}}predicted ns=2{{[56]}}
func.func @teams(%x: tensor<2x16x64xf32>, %w: tensor<64x64xf32>) -> tensor<2x16x64xf32> {
  %0 = llir.kernel(%x, %w) : (tensor<2x16x64xf32>, tensor<64x64xf32>) -> tensor<2x16x64xf32> {
  ^bb0(%a: tensor<2x16x64xf32>, %b: tensor<64x64xf32>):
    %1 = llir.gemm %a, %b k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d2, d3)> : tensor<2x16x64xf32>, tensor<64x64xf32> -> tensor<2x16x64xf32>
    llir.yield %1 : tensor<2x16x64xf32>
  }
  return %0 : tensor<2x16x64xf32>
}

// -----

// A thread for each element, whose neighbours read other lines of the cache, 16 elements of k in flight: 5.3 us.
// CHECK: Function=lines | {{.*}}predicted ns=6{{[0-4]}}
func.func @lines(%x: tensor<2x4x16x16xf32>, %w: tensor<64x64xf32>) -> tensor<2x16x64xf32> {
  %0 = llir.kernel(%x, %w) : (tensor<2x4x16x16xf32>, tensor<64x64xf32>) -> tensor<2x16x64xf32> {
  ^bb0(%a: tensor<2x4x16x16xf32>, %b: tensor<64x64xf32>):
    %1 = llir.gemm %a, %b k(64) <(d0, d1, d2, d3) -> (d0, d3 floordiv 16, d1, d3 mod 16)>, <(d0, d1, d2, d3) -> (d2, d3)> : tensor<2x4x16x16xf32>, tensor<64x64xf32> -> tensor<2x16x64xf32>
    llir.yield %1 : tensor<2x16x64xf32>
  }
  return %0 : tensor<2x16x64xf32>
}

// -----

// A tile without a ring buffer, step by step, and parts that meet: 15.0 us.
// CHECK: Function=tile | {{.*}}parts=5, {{.*}}predicted ns=1{{[2-6]}}
func.func @tile(%x: tensor<64x1024xf32>, %w: tensor<1024x1024xf32>) -> tensor<64x1024xf32> {
  %0 = llir.kernel(%x, %w) : (tensor<64x1024xf32>, tensor<1024x1024xf32>) -> tensor<64x1024xf32> {
  ^bb0(%a: tensor<64x1024xf32>, %b: tensor<1024x1024xf32>):
    %1 = llir.gemm %a, %b k(1024) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x1024xf32>, tensor<1024x1024xf32> -> tensor<64x1024xf32>
    llir.yield %1 : tensor<64x1024xf32>
  }
  return %0 : tensor<64x1024xf32>
}

// -----

// Rows by teams, each member four columns whose lines are apart: 13.1 us.
// CHECK: Function=program | {{.*}}step by step{{.*}}predicted ns=1{{[3-5]}}
func.func @program(%x: tensor<256x64xf32>, %i: tensor<1x16xi64>, %w: tensor<128x64xf32>) -> tensor<1x16x128xf32> {
  %0 = llir.kernel(%x, %i, %w) : (tensor<256x64xf32>, tensor<1x16xi64>, tensor<128x64xf32>) -> tensor<1x16x128xf32> {
  ^bb0(%a: tensor<256x64xf32>, %j: tensor<1x16xi64>, %b: tensor<128x64xf32>):
    %1 = llir.gather %a, %j {checked} : tensor<256x64xf32>, tensor<1x16xi64> -> tensor<1x16x64xf32>
    %2 = llir.elementwise mul(%1, %1) : (tensor<1x16x64xf32>, tensor<1x16x64xf32>) -> tensor<1x16x64xf32>
    %3 = llir.reduce sum %2 : tensor<1x16x64xf32> -> tensor<1x16xf32>
    %4 = llir.elementwise rsqrt(%3) : (tensor<1x16xf32>) -> tensor<1x16xf32>
    %5 = llir.view %4 <(d0, d1, d2) -> (d0, d1)> : tensor<1x16xf32> -> tensor<1x16x64xf32>
    %6 = llir.elementwise mul(%1, %5) : (tensor<1x16x64xf32>, tensor<1x16x64xf32>) -> tensor<1x16x64xf32>
    %7 = llir.gemm %6, %b k(64) <(d0, d1, d2, d3) -> (0, d1, d3)>, <(d0, d1, d2, d3) -> (d2, d3)> : tensor<1x16x64xf32>, tensor<128x64xf32> -> tensor<1x16x128xf32>
    llir.yield %7 : tensor<1x16x128xf32>
  }
  return %0 : tensor<1x16x128xf32>
}
