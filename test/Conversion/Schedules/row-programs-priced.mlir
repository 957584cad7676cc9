// Both products of a gate read 52 MB. As a row program, a few threads of a row read them element by element, and memory
// waits for them: what follows it among the forms is asked too, and taken where it is cheaper.
// RUN: luminal-opt %s --llir-schedule-kernels="target=cuda arch=h200" | FileCheck %s
// RUN: luminal-opt %s --llir-schedule-kernels="target=cuda arch=h200" --remarks-filter=llir-schedule-kernels -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// CHECK-LABEL: @gate
// CHECK: loops<grid(d0) threads({{[0-9]+}}, {{[0-9]+}}) op0 = element {lanes = 8, unroll = 4} op2 = element {lanes = 8, unroll = 4}>
// REMARK: Function=gate | {{.*}}instead of ns={{[0-9]+}}
func.func @gate(%x: tensor<2560xbf16>, %g: tensor<10240x2560xbf16>, %u: tensor<10240x2560xbf16>) -> tensor<10240xbf16> {
  %0 = llir.kernel(%x, %g, %u) : (tensor<2560xbf16>, tensor<10240x2560xbf16>, tensor<10240x2560xbf16>) -> tensor<10240xbf16> {
  ^bb0(%a: tensor<2560xbf16>, %b: tensor<10240x2560xbf16>, %c: tensor<10240x2560xbf16>):
    %1 = llir.gemm %a, %b k(2560) <(d0, d1) -> (d1)>, <(d0, d1) -> (d0, d1)> : tensor<2560xbf16>, tensor<10240x2560xbf16> -> tensor<10240xbf16>
    %2 = llir.elementwise gelu_tanh(%1) : (tensor<10240xbf16>) -> tensor<10240xbf16>
    %3 = llir.gemm %a, %c k(2560) <(d0, d1) -> (d1)>, <(d0, d1) -> (d0, d1)> : tensor<2560xbf16>, tensor<10240x2560xbf16> -> tensor<10240xbf16>
    %4 = llir.elementwise mul(%3, %2) : (tensor<10240xbf16>, tensor<10240xbf16>) -> tensor<10240xbf16>
    llir.yield %4 : tensor<10240xbf16>
  }
  return %0 : tensor<10240xbf16>
}
