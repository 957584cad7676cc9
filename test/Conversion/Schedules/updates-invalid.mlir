// RUN: luminal-opt %s --llir-schedule-kernels="target=cuda arch=sm_90a" --split-input-file --verify-diagnostics

func.func @in_place(%a: tensor<9x4xi32>, %i: tensor<3xi64>, %u: tensor<3x4xi32>) -> tensor<9x4xi32> {
  // expected-error @+1 {{its schedule has updates in any order, but the kernel is not in place}}
  %0 = llir.kernel(%a, %i, %u) loops<grid(d0, d1) threads(64) op0 = unordered> : (tensor<9x4xi32>, tensor<3xi64>, tensor<3x4xi32>) -> tensor<9x4xi32> {
  ^bb0(%x: tensor<9x4xi32>, %j: tensor<3xi64>, %v: tensor<3x4xi32>):
    %1 = llir.scatter add %x, %j, %v {checked} : tensor<9x4xi32>, tensor<3xi64>, tensor<3x4xi32>
    llir.yield %1 : tensor<9x4xi32>
  }
  return %0 : tensor<9x4xi32>
}

// -----
func.func @order(%a: tensor<9x4xf32>, %i: tensor<3xi64>, %u: tensor<3x4xf32>) -> tensor<9x4xf32> {
  // expected-error @+1 {{its schedule has updates in any order, but equal indices may set unequal rows}}
  %0 = llir.kernel(%a, %i, %u) loops<grid(d0, d1) threads(64) op0 = unordered> {in_place} : (tensor<9x4xf32>, tensor<3xi64>, tensor<3x4xf32>) -> tensor<9x4xf32> {
  ^bb0(%x: tensor<9x4xf32>, %j: tensor<3xi64>, %v: tensor<3x4xf32>):
    %1 = llir.scatter set %x, %j, %v {checked} : tensor<9x4xf32>, tensor<3xi64>, tensor<3x4xf32>
    llir.yield %1 : tensor<9x4xf32>
  }
  return %0 : tensor<9x4xf32>
}

// -----
func.func @team(%a: tensor<9x4xi32>, %i: tensor<3xi64>, %u: tensor<3x4xi32>) -> tensor<9x4xi32> {
  // expected-error @+1 {{its schedule has updates in any order, of which a thread group of 32 threads shares only rows}}
  %0 = llir.kernel(%a, %i, %u) loops<grid(d0, d1) threads(64, 32) op0 = unordered> {in_place} : (tensor<9x4xi32>, tensor<3xi64>, tensor<3x4xi32>) -> tensor<9x4xi32> {
  ^bb0(%x: tensor<9x4xi32>, %j: tensor<3xi64>, %v: tensor<3x4xi32>):
    %1 = llir.scatter add %x, %j, %v {checked} : tensor<9x4xi32>, tensor<3xi64>, tensor<3x4xi32>
    llir.yield %1 : tensor<9x4xi32>
  }
  return %0 : tensor<9x4xi32>
}

// -----
func.func @joined(%a: tensor<9x4xf32>, %i: tensor<1xi64>, %u: tensor<1x4xf32>) -> tensor<9x4xf32> {
  // expected-error @+1 {{its schedule joins d0, a dim of the indices, and d1, one of the rows}}
  %0 = llir.kernel(%a, %i, %u) loops<grid(d0*d1) threads(64) op0 = unordered> {in_place} : (tensor<9x4xf32>, tensor<1xi64>, tensor<1x4xf32>) -> tensor<9x4xf32> {
  ^bb0(%x: tensor<9x4xf32>, %j: tensor<1xi64>, %v: tensor<1x4xf32>):
    %1 = llir.scatter set %x, %j, %v {checked} : tensor<9x4xf32>, tensor<1xi64>, tensor<1x4xf32>
    llir.yield %1 : tensor<9x4xf32>
  }
  return %0 : tensor<9x4xf32>
}

// -----
func.func @lanes(%a: tensor<9xi32>, %i: tensor<8xi64>, %u: tensor<8xi32>) -> tensor<9xi32> {
  // expected-error @+1 {{its schedule has lanes along d0, in each of which is another index}}
  %0 = llir.kernel(%a, %i, %u) loops<grid(d0:4 v4) threads(64) op0 = unordered> {in_place} : (tensor<9xi32>, tensor<8xi64>, tensor<8xi32>) -> tensor<9xi32> {
  ^bb0(%x: tensor<9xi32>, %j: tensor<8xi64>, %v: tensor<8xi32>):
    %1 = llir.scatter add %x, %j, %v {checked} : tensor<9xi32>, tensor<8xi64>, tensor<8xi32>
    llir.yield %1 : tensor<9xi32>
  }
  return %0 : tensor<9xi32>
}

// -----
func.func @atomics(%a: tensor<9x4xi32>, %i: tensor<3xi64>, %u: tensor<3x4xi32>) -> tensor<9x4xi32> {
  // expected-error @+1 {{its schedule has lanes, but atomics take one element each}}
  %0 = llir.kernel(%a, %i, %u) loops<grid(d0, d1:4 v4) threads(64) op0 = unordered> {in_place} : (tensor<9x4xi32>, tensor<3xi64>, tensor<3x4xi32>) -> tensor<9x4xi32> {
  ^bb0(%x: tensor<9x4xi32>, %j: tensor<3xi64>, %v: tensor<3x4xi32>):
    %1 = llir.scatter add %x, %j, %v {checked} : tensor<9x4xi32>, tensor<3xi64>, tensor<3x4xi32>
    llir.yield %1 : tensor<9x4xi32>
  }
  return %0 : tensor<9x4xi32>
}

// -----
func.func @counters(%a: tensor<9xf32>, %i: tensor<3xi64>, %u: tensor<3xf32>) -> tensor<9xf32> {
  // expected-error @+1 {{its schedule has updates in any order, but equal indices may set unequal rows}}
  %0 = llir.kernel(%a, %i, %u) loops<grid(d0:64) threads(64, 64) op0 = unordered {private = 9}> {in_place} : (tensor<9xf32>, tensor<3xi64>, tensor<3xf32>) -> tensor<9xf32> {
  ^bb0(%x: tensor<9xf32>, %j: tensor<3xi64>, %v: tensor<3xf32>):
    %1 = llir.scatter add %x, %j, %v {checked} : tensor<9xf32>, tensor<3xi64>, tensor<3xf32>
    llir.yield %1 : tensor<9xf32>
  }
  return %0 : tensor<9xf32>
}

// -----
func.func @too_many(%a: tensor<4097xi32>, %i: tensor<3xi64>, %u: tensor<3xi32>) -> tensor<4097xi32> {
  // expected-error @+1 {{its schedule counts in shared memory, which requires a thread group of all threads of a block along one axis, and a counter for each of up to 4096 integers}}
  %0 = llir.kernel(%a, %i, %u) loops<grid(d0:64) threads(64, 64) op0 = unordered {private = 4096}> {in_place} : (tensor<4097xi32>, tensor<3xi64>, tensor<3xi32>) -> tensor<4097xi32> {
  ^bb0(%x: tensor<4097xi32>, %j: tensor<3xi64>, %v: tensor<3xi32>):
    %1 = llir.scatter add %x, %j, %v {checked} : tensor<4097xi32>, tensor<3xi64>, tensor<3xi32>
    llir.yield %1 : tensor<4097xi32>
  }
  return %0 : tensor<4097xi32>
}

// -----
func.func @part_of_a_block(%a: tensor<9xi32>, %i: tensor<3xi64>, %u: tensor<3xi32>) -> tensor<9xi32> {
  // expected-error @+1 {{its schedule counts in shared memory, which requires a thread group of all threads of a block along one axis}}
  %0 = llir.kernel(%a, %i, %u) loops<grid(d0:64) threads(64, 32) op0 = unordered {private = 9}> {in_place} : (tensor<9xi32>, tensor<3xi64>, tensor<3xi32>) -> tensor<9xi32> {
  ^bb0(%x: tensor<9xi32>, %j: tensor<3xi64>, %v: tensor<3xi32>):
    %1 = llir.scatter add %x, %j, %v {checked} : tensor<9xi32>, tensor<3xi64>, tensor<3xi32>
    llir.yield %1 : tensor<9xi32>
  }
  return %0 : tensor<9xi32>
}
