// A step whose blocks ask for shared memory says how much; the code has its beginning alone.
// RUN: luminal-opt %s --luminal-pipeline="target=cuda arch=sm_90a from=saturated until=lowered" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: luminal-compile %s --target=cuda --arch=sm_90a -o %t.lum && rm -rf %t && %python -m zipfile -e %t.lum %t
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t/device.ptx

// CHECK: launch #llir.cuda_launch<work = 256, grid = 256, block = 128, shared = 81920>
// CHECK: llvm.mlir.global external @k0_shared_0() {addr_space = 3 : i32, alignment = 1024 : i64} : !llvm.array<0 x i8>
// PTX: .extern .shared .align 1024 .b8 k0_shared_0[];
func.func @main(%q: tensor<1x8x1024x128xbf16>, %k: tensor<1x8x1024x128xbf16>, %v: tensor<1x8x1024x128xbf16>) -> tensor<1x8x1024x128xbf16> {
  %s = llir.gemm %q, %k k(128) <(d0, d1, d2, d3, d4) -> (0, d1, d2, d4)>, <(d0, d1, d2, d3, d4) -> (0, d1, d3, d4)> : tensor<1x8x1024x128xbf16>, tensor<1x8x1024x128xbf16> -> tensor<1x8x1024x1024xbf16>
  %p = llir.softmax %s : tensor<1x8x1024x1024xbf16>
  %o = llir.gemm %p, %v k(1024) <(d0, d1, d2, d3, d4) -> (0, d1, d2, d4)>, <(d0, d1, d2, d3, d4) -> (0, d1, d4, d3)> : tensor<1x8x1024x1024xbf16>, tensor<1x8x1024x128xbf16> -> tensor<1x8x1024x128xbf16>
  return %o : tensor<1x8x1024x128xbf16>
}
