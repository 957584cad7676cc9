// Each rule of Alternatives.pdll, with near misses that it must not match. The prices decide, so a test that a rule fires
// checks that its cheaper side is extracted.

// RUN: split-file %s %t
// RUN: luminal-opt %t/fires.mlir --eqsat-saturate --split-input-file | FileCheck %t/fires.mlir
// RUN: luminal-opt %t/stays.mlir --eqsat-saturate --split-input-file | FileCheck %t/stays.mlir
// Rules that round are not exact.
// RUN: luminal-opt %t/exact.mlir --eqsat-saturate="precision=exact" | FileCheck %t/exact.mlir
//
// The size of the program bounds what the rules add. They stop at that bound, without a warning.
// RUN: luminal-opt %t/long.mlir --eqsat-saturate="report=%t/long.json" -o %t/out.mlir --remarks-filter-missed=eqsat-saturate 2>&1 \
// RUN:   | FileCheck %t/long.mlir
// RUN: FileCheck %t/long.mlir --check-prefix=JSON --input-file=%t/long.json

//--- fires.mlir

// ProductAssociate: a column first.
// CHECK-LABEL: func.func @right(
// CHECK-NEXT: %[[U:.*]] = llir.gemm %arg1, %arg2
// CHECK-SAME: -> tensor<64xf32>
// CHECK-NEXT: llir.gemm %arg0, %[[U]]
func.func @right(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x1xf32>) -> tensor<64x1xf32> {
  %0 = llir.gemm %a, %b k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %1 = llir.gemm %0, %c k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf32>, tensor<64x1xf32> -> tensor<64x1xf32>
  return %1 : tensor<64x1xf32>
}

// -----

// ProductAssociateBack: a row first.
// CHECK-LABEL: func.func @back(
// CHECK-NEXT: %[[U:.*]] = llir.gemm %arg2, %arg0
// CHECK-SAME: -> tensor<64xf32>
// CHECK-NEXT: llir.gemm %[[U]], %arg1
func.func @back(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<1x64xf32>) -> tensor<1x64xf32> {
  %0 = llir.gemm %a, %b k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %1 = llir.gemm %c, %0 k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<1x64xf32>, tensor<64x64xf32> -> tensor<1x64xf32>
  return %1 : tensor<1x64xf32>
}

// -----

// ProductAssociateBackTransposed
// CHECK-LABEL: func.func @back_transposed(
// CHECK-NEXT: %[[U:.*]] = llir.gemm %arg2, %arg1
// CHECK-SAME: -> tensor<64xf32>
// CHECK-NEXT: llir.gemm %[[U]], %arg0
func.func @back_transposed(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<1x64xf32>) -> tensor<1x64xf32> {
  %0 = llir.gemm %a, %b k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %1 = llir.gemm %c, %0 k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1x64xf32>, tensor<64x64xf32> -> tensor<1x64xf32>
  return %1 : tensor<1x64xf32>
}

// -----

// In batches, and a factor that all of them share.
// CHECK-LABEL: func.func @batches(
// CHECK-NEXT: %[[U:.*]] = llir.gemm %arg1, %arg2
// CHECK-SAME: -> tensor<4x64xf32>
// CHECK-NEXT: llir.gemm %arg0, %[[U]]
// CHECK-SAME: <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3)>
func.func @batches(%a: tensor<4x64x64xf32>, %b: tensor<4x64x64xf32>, %c: tensor<64x1xf32>) -> tensor<4x64x1xf32> {
  %0 = llir.gemm %a, %b k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<4x64x64xf32>, tensor<4x64x64xf32> -> tensor<4x64x64xf32>
  %1 = llir.gemm %0, %c k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d3, d2)> : tensor<4x64x64xf32>, tensor<64x1xf32> -> tensor<4x64x1xf32>
  return %1 : tensor<4x64x1xf32>
}

// -----

// ProductsJoinRight and ScaleIntoRight: an adapter of low rank beside a product, for long inputs.
// CHECK-LABEL: func.func @adapter(
// CHECK: %[[B:.*]] = llir.elementwise mul({{.*}}%arg3
// CHECK-NEXT: %[[AB:.*]] = llir.gemm %arg2, %[[B]] k(16)
// CHECK-NEXT: %[[T:.*]] = llir.view %[[AB]] <(d0, d1) -> (d1, d0)>
// CHECK-NEXT: %[[W:.*]] = llir.elementwise add({{.*}}%[[T]]
// CHECK-NEXT: llir.gemm %arg0, %[[W]] k(256)
// CHECK-NEXT: return
func.func @adapter(%x: tensor<1024x256xf32>, %w: tensor<256x256xf32>, %a: tensor<16x256xf32>, %b: tensor<256x16xf32> {hlir.kind = "weight", hlir.name = "b"}) -> tensor<1024x256xf32> {
  %s = llir.constant dense<5.000000e-01> : tensor<f32>
  %0 = llir.gemm %x, %w k(256) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1024x256xf32>, tensor<256x256xf32> -> tensor<1024x256xf32>
  %1 = llir.gemm %x, %a k(256) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1024x256xf32>, tensor<16x256xf32> -> tensor<1024x16xf32>
  %2 = llir.gemm %1, %b k(16) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1024x16xf32>, tensor<256x16xf32> -> tensor<1024x256xf32>
  %v = llir.view %s <(d0, d1) -> ()> : tensor<f32> -> tensor<1024x256xf32>
  %3 = llir.elementwise mul(%2, %v) : (tensor<1024x256xf32>, tensor<1024x256xf32>) -> tensor<1024x256xf32>
  %4 = llir.elementwise add(%0, %3) : (tensor<1024x256xf32>, tensor<1024x256xf32>) -> tensor<1024x256xf32>
  return %4 : tensor<1024x256xf32>
}

// -----

// ProductsJoinLeft
// CHECK-LABEL: func.func @left(
// CHECK-NEXT: %[[W:.*]] = llir.elementwise add(
// CHECK-NEXT: llir.gemm %[[W]], %arg0
// CHECK-NEXT: return
func.func @left(%x: tensor<64x256xf32>, %w: tensor<32x64xf32>, %v: tensor<32x64xf32>) -> tensor<32x256xf32> {
  %0 = llir.gemm %w, %x k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<32x64xf32>, tensor<64x256xf32> -> tensor<32x256xf32>
  %1 = llir.gemm %v, %x k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<32x64xf32>, tensor<64x256xf32> -> tensor<32x256xf32>
  %2 = llir.elementwise add(%0, %1) : (tensor<32x256xf32>, tensor<32x256xf32>) -> tensor<32x256xf32>
  return %2 : tensor<32x256xf32>
}

// -----

// ScaleIntoLeft
// CHECK-LABEL: func.func @scale(
// CHECK: %[[W:.*]] = llir.elementwise mul({{.*}}%arg0
// CHECK-NEXT: llir.gemm %[[W]], %arg1
// CHECK-NEXT: return
func.func @scale(%w: tensor<32x64xf32> {hlir.kind = "weight", hlir.name = "w"}, %x: tensor<64x256xf32>) -> tensor<32x256xf32> {
  %s = llir.constant dense<5.000000e-01> : tensor<f32>
  %0 = llir.gemm %w, %x k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<32x64xf32>, tensor<64x256xf32> -> tensor<32x256xf32>
  %v = llir.view %s <(d0, d1) -> ()> : tensor<f32> -> tensor<32x256xf32>
  %1 = llir.elementwise mul(%0, %v) : (tensor<32x256xf32>, tensor<32x256xf32>) -> tensor<32x256xf32>
  return %1 : tensor<32x256xf32>
}

// -----

// Of two products that differ in the order of dims, the one whose rows are contiguous along its contracted dim is chosen:
// the second product can be fused with the first row by row.
// CHECK-LABEL: func.func @rows(
// CHECK-NEXT: %[[U:.*]] = llir.gemm %arg2, %arg0
// CHECK-SAME: -> tensor<32x4xf32>
// CHECK-NEXT: llir.gemm %[[U]], %arg1
// CHECK-NOT: llir.gemm
func.func @rows(%a: tensor<64x4xf32>, %b: tensor<4x64xf32>, %x: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %0 = hlir.view %a <(d0, d1, d2) -> (d0, d2)> : tensor<64x4xf32> -> tensor<64x64x4xf32>
  %1 = hlir.view %b <(d0, d1, d2) -> (d2, d1)> : tensor<4x64xf32> -> tensor<64x64x4xf32>
  %2 = hlir.mul %0, %1 : tensor<64x64x4xf32>
  %3 = hlir.reduce_sum %2 : tensor<64x64x4xf32> -> tensor<64x64xf32>
  %4 = hlir.view %x <(d0, d1, d2) -> (d0, d2)> : tensor<32x64xf32> -> tensor<32x64x64xf32>
  %5 = hlir.view %3 <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf32> -> tensor<32x64x64xf32>
  %6 = hlir.mul %4, %5 : tensor<32x64x64xf32>
  %7 = hlir.reduce_sum %6 : tensor<32x64x64xf32> -> tensor<32x64xf32>
  return %7 : tensor<32x64xf32>
}

//--- stays.mlir

// Regrouping would change where values are rounded to f16.
// CHECK-LABEL: func.func @narrow(
// CHECK-NEXT: llir.gemm %arg0, %arg1
func.func @narrow(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x1xf16>) -> tensor<64x1xf16> {
  %0 = llir.gemm %a, %b k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
  %1 = llir.gemm %0, %c k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf16>, tensor<64x1xf16> -> tensor<64x1xf16>
  return %1 : tensor<64x1xf16>
}

// -----

// Both factors of the first product have the dim of the second sum: heads.
// CHECK-LABEL: func.func @heads(
// CHECK-NEXT: llir.gemm %arg0, %arg1
func.func @heads(%p: tensor<4x64x64xf32>, %v: tensor<4x64x16xf32>, %w: tensor<64x1xf32>) -> tensor<64x1xf32> {
  %0 = llir.gemm %p, %v k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<4x64x64xf32>, tensor<4x64x16xf32> -> tensor<4x64x16xf32>
  %1 = llir.gemm %0, %w k(64) <(d0, d1, d2) -> (d2 floordiv 16, d0, d2 mod 16)>, <(d0, d1, d2) -> (d2, d1)> : tensor<4x64x16xf32>, tensor<64x1xf32> -> tensor<64x1xf32>
  return %1 : tensor<64x1xf32>
}

// -----

// Other factors; a scale of activations, one by a tensor, and one that is too small.
// CHECK-LABEL: func.func @others(
// CHECK-DAG: llir.gemm %arg2, %arg0
// CHECK-DAG: llir.gemm %arg3, %arg1
// CHECK-NOT: tensor<32x64xf32>, tensor<32x64xf32>) ->
func.func @others(%x: tensor<64x256xf32>, %y: tensor<64x256xf32>, %w: tensor<32x64xf32> {hlir.kind = "weight", hlir.name = "w"}, %v: tensor<32x64xf32>, %s: tensor<32x256xf32>) -> tensor<32x256xf32> {
  %0 = llir.gemm %w, %x k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<32x64xf32>, tensor<64x256xf32> -> tensor<32x256xf32>
  %1 = llir.gemm %v, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<32x64xf32>, tensor<64x256xf32> -> tensor<32x256xf32>
  %k = llir.constant dense<5.000000e-01> : tensor<f32>
  %l = llir.constant dense<1.000000e-10> : tensor<f32>
  %kk = llir.view %k <(d0, d1) -> ()> : tensor<f32> -> tensor<32x256xf32>
  %ll = llir.view %l <(d0, d1) -> ()> : tensor<f32> -> tensor<32x256xf32>
  %2 = llir.elementwise mul(%1, %kk) : (tensor<32x256xf32>, tensor<32x256xf32>) -> tensor<32x256xf32>
  %3 = llir.elementwise mul(%0, %ll) : (tensor<32x256xf32>, tensor<32x256xf32>) -> tensor<32x256xf32>
  %4 = llir.elementwise add(%2, %3) : (tensor<32x256xf32>, tensor<32x256xf32>) -> tensor<32x256xf32>
  %5 = llir.elementwise mul(%0, %s) : (tensor<32x256xf32>, tensor<32x256xf32>) -> tensor<32x256xf32>
  %6 = llir.elementwise add(%4, %5) : (tensor<32x256xf32>, tensor<32x256xf32>) -> tensor<32x256xf32>
  return %6 : tensor<32x256xf32>
}

//--- exact.mlir

// CHECK-LABEL: func.func @exact(
// CHECK-NEXT: llir.gemm %arg0, %arg1
func.func @exact(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x1xf32>) -> tensor<64x1xf32> {
  %0 = llir.gemm %a, %b k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
  %1 = llir.gemm %0, %c k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf32>, tensor<64x1xf32> -> tensor<64x1xf32>
  return %1 : tensor<64x1xf32>
}

//--- long.mlir

// CHECK-NOT: warning
// CHECK: {{.*}}the rules for alternatives stopped: they reached their bound on added nodes
// JSON: "stop": "saturated"
// JSON: "alternatives_rest": true
func.func @long(%a0: tensor<30x5xf32>, %a1: tensor<5x70xf32>, %a2: tensor<70x3xf32>, %a3: tensor<3x90xf32>, %a4: tensor<90x8xf32>, %a5: tensor<8x60xf32>, %a6: tensor<60x2xf32>, %a7: tensor<2x50xf32>, %a8: tensor<50x7xf32>, %a9: tensor<7x40xf32>, %a10: tensor<40x4xf32>, %a11: tensor<4x35xf32>, %a12: tensor<35x6xf32>, %a13: tensor<6x45xf32>, %a14: tensor<45x9xf32>, %a15: tensor<9x55xf32>) -> tensor<30x55xf32> {
  %0 = llir.gemm %a0, %a1 k(5) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<30x5xf32>, tensor<5x70xf32> -> tensor<30x70xf32>
  %1 = llir.gemm %0, %a2 k(70) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<30x70xf32>, tensor<70x3xf32> -> tensor<30x3xf32>
  %2 = llir.gemm %1, %a3 k(3) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<30x3xf32>, tensor<3x90xf32> -> tensor<30x90xf32>
  %3 = llir.gemm %2, %a4 k(90) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<30x90xf32>, tensor<90x8xf32> -> tensor<30x8xf32>
  %4 = llir.gemm %3, %a5 k(8) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<30x8xf32>, tensor<8x60xf32> -> tensor<30x60xf32>
  %5 = llir.gemm %4, %a6 k(60) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<30x60xf32>, tensor<60x2xf32> -> tensor<30x2xf32>
  %6 = llir.gemm %5, %a7 k(2) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<30x2xf32>, tensor<2x50xf32> -> tensor<30x50xf32>
  %7 = llir.gemm %6, %a8 k(50) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<30x50xf32>, tensor<50x7xf32> -> tensor<30x7xf32>
  %8 = llir.gemm %7, %a9 k(7) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<30x7xf32>, tensor<7x40xf32> -> tensor<30x40xf32>
  %9 = llir.gemm %8, %a10 k(40) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<30x40xf32>, tensor<40x4xf32> -> tensor<30x4xf32>
  %10 = llir.gemm %9, %a11 k(4) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<30x4xf32>, tensor<4x35xf32> -> tensor<30x35xf32>
  %11 = llir.gemm %10, %a12 k(35) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<30x35xf32>, tensor<35x6xf32> -> tensor<30x6xf32>
  %12 = llir.gemm %11, %a13 k(6) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<30x6xf32>, tensor<6x45xf32> -> tensor<30x45xf32>
  %13 = llir.gemm %12, %a14 k(45) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<30x45xf32>, tensor<45x9xf32> -> tensor<30x9xf32>
  %14 = llir.gemm %13, %a15 k(9) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<30x9xf32>, tensor<9x55xf32> -> tensor<30x55xf32>
  return %14 : tensor<30x55xf32>
}
