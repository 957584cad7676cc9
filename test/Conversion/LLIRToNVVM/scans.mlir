// What threads take a row of a scan, or a part of it, and how they exchange what it comes to.
// RUN: luminal-opt %s --luminal-pipeline="target=cuda arch=sm_90a from=saturated until=scheduled" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_90a %t.mlir -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx

// A warp for each short row: no shared memory.
// CHECK-LABEL: @short
// CHECK: loops<grid() threads(256, 32) op0 = whole>
// PTX-LABEL: .entry short(
// PTX-COUNT-5: shfl.sync.up.b32
// PTX-NOT: bar.sync
// PTX: shfl.sync.idx.b32
// PTX: st.global
func.func @short(%x: tensor<4096x512xf32>) -> tensor<4096x512xf32> {
  %0 = llir.scan %x {axis = 1 : i64, kind = #llir.scan_kind<sum>, reverse = true} : tensor<4096x512xf32> -> tensor<4096x512xf32>
  return %0 : tensor<4096x512xf32>
}

// A block for each part of a long one, merged over its warps through shared memory.
// CHECK-LABEL: @long
// CHECK: loops<grid() threads(256, 256) op0 = whole> : (tensor<40000xf32>) -> tensor<40xf32>
// CHECK: loops<grid() threads(256, 256) op0 = whole> : (tensor<40000xf32>, tensor<40xf32>) -> tensor<40000xf32>
// PTX-LABEL: .entry long(
// PTX: shfl.sync.up.b32
// PTX: st.shared.b32
// PTX: ld.shared
// PTX-LABEL: .entry long_0(
// PTX: st.shared.b32
// PTX: ld.shared
// PTX: st.global
func.func @long(%x: tensor<40000xf32>) -> tensor<40000xf32> {
  %0 = llir.scan %x {axis = 0 : i64, kind = #llir.scan_kind<sum>} : tensor<40000xf32> -> tensor<40000xf32>
  return %0 : tensor<40000xf32>
}

// Columns: threads alone.
// CHECK-LABEL: @columns
// CHECK: loops<grid() threads(64) op0 = whole>
// PTX-LABEL: .entry columns(
// PTX-NOT: shfl
func.func @columns(%x: tensor<4096x512xi32>) -> tensor<4096x512xi32> {
  %0 = llir.scan %x {axis = 0 : i64, kind = #llir.scan_kind<max>} : tensor<4096x512xi32> -> tensor<4096x512xi32>
  return %0 : tensor<4096x512xi32>
}
// Products of floats, in f64.
// CHECK-LABEL: @product
// CHECK: loops<grid() threads(256, 256) op0 = whole>
// PTX-LABEL: .entry product(
// PTX: mul.rn.f64
func.func @product(%x: tensor<3x40000xf32>) -> tensor<3x40000xf32> {
  %0 = llir.scan %x {axis = 1 : i64, kind = #llir.scan_kind<product>} : tensor<3x40000xf32> -> tensor<3x40000xf32>
  return %0 : tensor<3x40000xf32>
}
