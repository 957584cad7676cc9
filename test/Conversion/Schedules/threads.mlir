// Blocks and teams of threads, on a machine that has them.
// RUN: luminal-opt %s --llir-schedule-kernels="target=cuda arch=sm_90a" --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: @kept
// CHECK: loops<grid(d0) threads(128, 32)>
func.func @kept(%a: tensor<400xf32>) -> tensor<400xf32> {
  %r = llir.kernel(%a) loops<grid(d0) threads(128, 32)> : (tensor<400xf32>) -> tensor<400xf32> {
  ^bb0(%x: tensor<400xf32>):
    llir.yield %x : tensor<400xf32>
  }
  return %r : tensor<400xf32>
}

// -----
func.func @none(%a: tensor<400xf32>) -> tensor<400xf32> {
  // expected-error @+1 {{its schedule says no number of threads, of which a block has 1 to 1024}}
  %r = llir.kernel(%a) loops<grid(d0)> : (tensor<400xf32>) -> tensor<400xf32> {
  ^bb0(%x: tensor<400xf32>):
    llir.yield %x : tensor<400xf32>
  }
  return %r : tensor<400xf32>
}

// -----
func.func @odd(%a: tensor<400xf32>) -> tensor<400xf32> {
  // expected-error @+1 {{its schedule has blocks of 100 threads, which is not a multiple of 32 up to 1024}}
  %r = llir.kernel(%a) loops<grid(d0) threads(100)> : (tensor<400xf32>) -> tensor<400xf32> {
  ^bb0(%x: tensor<400xf32>):
    llir.yield %x : tensor<400xf32>
  }
  return %r : tensor<400xf32>
}

// -----
func.func @team(%a: tensor<400xf32>) -> tensor<400xf32> {
  // expected-error @+1 {{its schedule has teams of 64 threads, expected a power of two up to 32, or all of a block}}
  %r = llir.kernel(%a) loops<grid(d0) threads(128, 64)> : (tensor<400xf32>) -> tensor<400xf32> {
  ^bb0(%x: tensor<400xf32>):
    llir.yield %x : tensor<400xf32>
  }
  return %r : tensor<400xf32>
}

// -----
func.func @uneven(%a: tensor<400xf32>) -> tensor<400xf32> {
  // expected-error @+1 {{a block of 128 threads is no number of teams of 48}}
  %r = llir.kernel(%a) loops<grid(d0) threads(128, 48)> : (tensor<400xf32>) -> tensor<400xf32> {
  ^bb0(%x: tensor<400xf32>):
    llir.yield %x : tensor<400xf32>
  }
  return %r : tensor<400xf32>
}

// -----
func.func @cases(%a: tensor<?xf32, #hlir.dims<s>>) -> tensor<?xf32, #hlir.dims<s>>
    attributes {hlir.symbols = #hlir.symbols<s in [1, 64]>} {
  // expected-error @+1 {{its schedule (case 1) has blocks of 128 threads, another case has 64}}
  %r = llir.kernel(%a) loops<if (s: [0, 4]) grid(d0) threads(64) else grid(d0) threads(128)>
      : (tensor<?xf32, #hlir.dims<s>>) -> tensor<?xf32, #hlir.dims<s>> {
  ^bb0(%x: tensor<?xf32, #hlir.dims<s>>):
    llir.yield %x : tensor<?xf32, #hlir.dims<s>>
  }
  return %r : tensor<?xf32, #hlir.dims<s>>
}
