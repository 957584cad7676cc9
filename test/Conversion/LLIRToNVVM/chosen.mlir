// The columns of products that are joined read one operand each: its address is chosen, once for each of four columns.
// RUN: luminal-opt %s --luminal-pipeline="target=cuda arch=sm_90a from=saturated until=scheduled" -o %t.mlir
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_90a %t.mlir | FileCheck %s

// CHECK-LABEL: .entry main(
// CHECK-COUNT-2: ld.global.nc.v4.b32
// CHECK: selp.b64
// CHECK-NEXT: selp.b64
// CHECK-NEXT: ld.global.nc.v4.b32
// CHECK: selp.b64
// CHECK-NEXT: selp.b64
// CHECK-NEXT: ld.global.nc.v4.b32
// CHECK: selp.b64
// CHECK-NEXT: selp.b64
// CHECK-NEXT: ld.global.nc.v4.b32
// CHECK: selp.b64
// CHECK-NEXT: selp.b64
// CHECK-NEXT: ld.global.nc.v4.b32
// CHECK-COUNT-4: ld.global.nc.v4.b32
// CHECK-NOT: ld.global.nc.v4.b32
// CHECK: st.global.b16
func.func @main(%x: tensor<1x4096xbf16>, %q: tensor<4096x4096xbf16>, %k: tensor<1024x4096xbf16>, %v: tensor<1024x4096xbf16>)
    -> (tensor<1x4096xbf16>, tensor<1x1024xbf16>, tensor<1x1024xbf16>) {
  %0 = llir.gemm %x, %q k(4096) <(d0, d1, d2) -> (0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1x4096xbf16>, tensor<4096x4096xbf16> -> tensor<1x4096xbf16>
  %1 = llir.gemm %x, %k k(4096) <(d0, d1, d2) -> (0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1x4096xbf16>, tensor<1024x4096xbf16> -> tensor<1x1024xbf16>
  %2 = llir.gemm %x, %v k(4096) <(d0, d1, d2) -> (0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1x4096xbf16>, tensor<1024x4096xbf16> -> tensor<1x1024xbf16>
  %3 = llir.elementwise neg(%0) : (tensor<1x4096xbf16>) -> tensor<1x4096xbf16>
  %4 = llir.elementwise neg(%1) : (tensor<1x1024xbf16>) -> tensor<1x1024xbf16>
  %5 = llir.elementwise neg(%2) : (tensor<1x1024xbf16>) -> tensor<1x1024xbf16>
  return %3, %4, %5 : tensor<1x4096xbf16>, tensor<1x1024xbf16>, tensor<1x1024xbf16>
}
