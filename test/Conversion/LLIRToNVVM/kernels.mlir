// Every kind of kernel as PTX; where ptxas is installed, as machine code too (assemble.mlir).
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_80 %s | FileCheck %s

// CHECK: .target sm_80

// A grid-stride loop over elements.
// CHECK-LABEL: .visible .entry map(
// CHECK: %ctaid.x
// CHECK: fma.rn.f32
func.func @map(%a: tensor<?x8xf32, #hlir.dims<s0>>, %b: tensor<8xf32>) -> tensor<?x8xf32, #hlir.dims<s0>>
    attributes {hlir.symbols = #hlir.symbols<s0 in [1, 64]>} {
  %0 = llir.kernel(%a, %b)
      : (tensor<?x8xf32, #hlir.dims<s0>>, tensor<8xf32>) -> tensor<?x8xf32, #hlir.dims<s0>> {
  ^bb0(%x: tensor<?x8xf32, #hlir.dims<s0>>, %y: tensor<8xf32>):
    %1 = llir.view %y <(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<?x8xf32, #hlir.dims<s0>>
    %2 = llir.elementwise add(%x, %1) : (tensor<?x8xf32, #hlir.dims<s0>>, tensor<?x8xf32, #hlir.dims<s0>>) -> tensor<?x8xf32, #hlir.dims<s0>>
    %3 = llir.elementwise exp(%2) : (tensor<?x8xf32, #hlir.dims<s0>>) -> tensor<?x8xf32, #hlir.dims<s0>>
    %4 = llir.elementwise sin(%3) : (tensor<?x8xf32, #hlir.dims<s0>>) -> tensor<?x8xf32, #hlir.dims<s0>>
    llir.yield %4 : tensor<?x8xf32, #hlir.dims<s0>>
  }
  return %0 : tensor<?x8xf32, #hlir.dims<s0>>
}

// f64 stays f64: its exp is libdevice's, linked in; no call is unresolved.
// CHECK-NOT: .extern
// CHECK-LABEL: .visible .entry wide(
// CHECK: fma.rn.f64
func.func @wide(%a: tensor<8xf64>) -> tensor<8xf64> {
  %0 = llir.kernel(%a) : (tensor<8xf64>) -> tensor<8xf64> {
  ^bb0(%x: tensor<8xf64>):
    %1 = llir.elementwise exp(%x) : (tensor<8xf64>) -> tensor<8xf64>
    %2 = llir.elementwise mod(%1, %x) : (tensor<8xf64>, tensor<8xf64>) -> tensor<8xf64>
    llir.yield %2 : tensor<8xf64>
  }
  return %0 : tensor<8xf64>
}

// Half precision in, f32 inside; what is rounded to it is made of the instructions for 2^x and 1/x, without a branch.
// CHECK-LABEL: .visible .entry narrow(
// CHECK-NOT: f64
// CHECK: cvt.f32.f16
// CHECK-NOT: f64
// CHECK: ex2.approx.f32
// CHECK-NOT: f64
// CHECK: rcp.approx.f32
// CHECK-NOT: f64
// CHECK: cvt.rn.f16.f32
func.func @narrow(%a: tensor<8xf16>, %b: tensor<8xbf16>) -> (tensor<8xf16>, tensor<8xbf16>) {
  %0:2 = llir.kernel(%a, %b) : (tensor<8xf16>, tensor<8xbf16>) -> (tensor<8xf16>, tensor<8xbf16>) {
  ^bb0(%x: tensor<8xf16>, %y: tensor<8xbf16>):
    %1 = llir.elementwise tanh(%x) : (tensor<8xf16>) -> tensor<8xf16>
    %2 = llir.elementwise gelu(%y) : (tensor<8xbf16>) -> tensor<8xbf16>
    llir.yield %1, %2 : tensor<8xf16>, tensor<8xbf16>
  }
  return %0#0, %0#1 : tensor<8xf16>, tensor<8xbf16>
}

// An index out of range sets the status word.
// CHECK-LABEL: .visible .entry gather(
// CHECK: st{{.*}}.{{b|u}}32
func.func @gather(%a: tensor<10x4xf32>, %i: tensor<3xi64>) -> tensor<3x4xf32> {
  %0 = llir.kernel(%a, %i) : (tensor<10x4xf32>, tensor<3xi64>) -> tensor<3x4xf32> {
  ^bb0(%x: tensor<10x4xf32>, %j: tensor<3xi64>):
    %1 = llir.gather %x, %j {checked} : tensor<10x4xf32>, tensor<3xi64> -> tensor<3x4xf32>
    llir.yield %1 : tensor<3x4xf32>
  }
  return %0 : tensor<3x4xf32>
}

// CHECK-LABEL: .visible .entry softmax(
// CHECK: div.rn.f32
func.func @softmax(%a: tensor<4x?xf32, #hlir.dims<s0>>) -> tensor<4x?xf32, #hlir.dims<s0>>
    attributes {hlir.symbols = #hlir.symbols<s0 in [1, 64]>} {
  %0 = llir.kernel(%a) : (tensor<4x?xf32, #hlir.dims<s0>>) -> tensor<4x?xf32, #hlir.dims<s0>> {
  ^bb0(%x: tensor<4x?xf32, #hlir.dims<s0>>):
    %m = llir.reduce max %x : tensor<4x?xf32, #hlir.dims<s0>> -> tensor<4xf32>
    %mb = llir.view %m <(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x?xf32, #hlir.dims<s0>>
    %d = llir.elementwise sub(%x, %mb) : (tensor<4x?xf32, #hlir.dims<s0>>, tensor<4x?xf32, #hlir.dims<s0>>) -> tensor<4x?xf32, #hlir.dims<s0>>
    %e = llir.elementwise exp(%d) : (tensor<4x?xf32, #hlir.dims<s0>>) -> tensor<4x?xf32, #hlir.dims<s0>>
    %s = llir.reduce sum %e : tensor<4x?xf32, #hlir.dims<s0>> -> tensor<4xf32>
    %sb = llir.view %s <(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4x?xf32, #hlir.dims<s0>>
    %r = llir.elementwise div(%e, %sb) : (tensor<4x?xf32, #hlir.dims<s0>>, tensor<4x?xf32, #hlir.dims<s0>>) -> tensor<4x?xf32, #hlir.dims<s0>>
    llir.yield %r : tensor<4x?xf32, #hlir.dims<s0>>
  }
  return %0 : tensor<4x?xf32, #hlir.dims<s0>>
}

// A simple product: one thread for each element.
// CHECK-LABEL: .visible .entry gemm(
// CHECK: mul.rn.f32
func.func @gemm(%a: tensor<4x8xf32>, %b: tensor<5x8xf32>) -> tensor<4x5xf32> {
  %0 = llir.kernel(%a, %b) : (tensor<4x8xf32>, tensor<5x8xf32>) -> tensor<4x5xf32> {
  ^bb0(%x: tensor<4x8xf32>, %y: tensor<5x8xf32>):
    %1 = llir.gemm %x, %y k(8) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<4x8xf32>, tensor<5x8xf32> -> tensor<4x5xf32>
    %2 = llir.elementwise silu(%1) : (tensor<4x5xf32>) -> tensor<4x5xf32>
    llir.yield %2 : tensor<4x5xf32>
  }
  return %0 : tensor<4x5xf32>
}

// CHECK-LABEL: .visible .entry scatter(
// CHECK: add.{{.*}}f32
func.func @scatter(%a: tensor<10x4xf32>, %i: tensor<3xi64>, %u: tensor<3x4xf32>) -> tensor<10x4xf32> {
  %0 = llir.kernel(%a, %i, %u) : (tensor<10x4xf32>, tensor<3xi64>, tensor<3x4xf32>) -> tensor<10x4xf32> {
  ^bb0(%x: tensor<10x4xf32>, %j: tensor<3xi64>, %v: tensor<3x4xf32>):
    %1 = llir.scatter add %x, %j, %v {checked} : tensor<10x4xf32>, tensor<3xi64>, tensor<3x4xf32>
    llir.yield %1 : tensor<10x4xf32>
  }
  return %0 : tensor<10x4xf32>
}
