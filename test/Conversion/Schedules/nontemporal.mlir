// Results past the caches: whole vectors that are proved to begin at multiples of 16 bytes, and a fence at the end.
// RUN: luminal-opt %s --convert-llir-to-llvm=arch=x86-64-v3 | FileCheck %s --implicit-check-not=nontemporal

// The row that is kept stays in the caches.
// CHECK-LABEL: llvm.func @rows
// CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : vector<8xf32>
// CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 16 : i64, nontemporal} : vector<8xf32>
// CHECK: llvm.fence seq_cst
// CHECK: llvm.return
func.func @rows(%a: tensor<64x80xf32>) -> tensor<64x80xf32> {
  %r = llir.kernel(%a) loops<grid(d0) stream(d1:all v8) nontemporal op0 = pass {lanes = 8} op3 = keep op4 = pass {lanes = 8}> : (tensor<64x80xf32>) -> tensor<64x80xf32> {
  ^bb0(%x: tensor<64x80xf32>):
    %0 = llir.reduce max %x : tensor<64x80xf32> -> tensor<64xf32>
    %1 = llir.view %0 <(d0, d1) -> (d0)> : tensor<64xf32> -> tensor<64x80xf32>
    %2 = llir.elementwise sub(%x, %1) : (tensor<64x80xf32>, tensor<64x80xf32>) -> tensor<64x80xf32>
    %3 = llir.elementwise exp(%2) : (tensor<64x80xf32>) -> tensor<64x80xf32>
    %4 = llir.reduce sum %3 : tensor<64x80xf32> -> tensor<64xf32>
    %5 = llir.elementwise recip(%4) : (tensor<64xf32>) -> tensor<64xf32>
    %6 = llir.view %5 <(d0, d1) -> (d0)> : tensor<64xf32> -> tensor<64x80xf32>
    %7 = llir.elementwise mul(%3, %6) : (tensor<64x80xf32>, tensor<64x80xf32>) -> tensor<64x80xf32>
    llir.yield %7 : tensor<64x80xf32>
  }
  return %r : tensor<64x80xf32>
}

// What is left of a row of 83 is written as usual, and so are vectors of a case that does not say it.
// CHECK-LABEL: llvm.func @elements
// CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 16 : i64, nontemporal} : vector<8xf32>
// CHECK: llvm.intr.masked.store
// CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : vector<8xf32>
// CHECK: llvm.fence seq_cst
// CHECK: llvm.return
func.func @elements(%a: tensor<?x83xf32, #hlir.dims<s>>) -> tensor<?x83xf32, #hlir.dims<s>> attributes {hlir.symbols = #hlir.symbols<s in [1, 4096]>} {
  %r = llir.kernel(%a) loops<if (s: [512, ]) grid(d0*d1:4096 v8) nontemporal else grid(d0*d1:4096 v8)> : (tensor<?x83xf32, #hlir.dims<s>>) -> tensor<?x83xf32, #hlir.dims<s>> {
  ^bb0(%x: tensor<?x83xf32, #hlir.dims<s>>):
    %0 = llir.elementwise neg(%x) : (tensor<?x83xf32, #hlir.dims<s>>) -> tensor<?x83xf32, #hlir.dims<s>>
    llir.yield %0 : tensor<?x83xf32, #hlir.dims<s>>
  }
  return %r : tensor<?x83xf32, #hlir.dims<s>>
}

// The second result is narrower: its vectors of eight bytes are written as usual.
// CHECK-LABEL: llvm.func @two
// CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 16 : i64, nontemporal} : vector<8xf32>
// CHECK: llvm.store %{{.*}}, %{{.*}} {alignment = 1 : i64} : vector<8xi8>
func.func @two(%a: tensor<64x80xf32>) -> (tensor<64x80xf32>, tensor<64x80xi1>) {
  %r:2 = llir.kernel(%a) loops<grid(d0*d1:4096 v8) nontemporal> : (tensor<64x80xf32>) -> (tensor<64x80xf32>, tensor<64x80xi1>) {
  ^bb0(%x: tensor<64x80xf32>):
    %0 = llir.elementwise neg(%x) : (tensor<64x80xf32>) -> tensor<64x80xf32>
    %1 = llir.elementwise less_than(%x, %0) : (tensor<64x80xf32>, tensor<64x80xf32>) -> tensor<64x80xi1>
    llir.yield %0, %1 : tensor<64x80xf32>, tensor<64x80xi1>
  }
  return %r#0, %r#1 : tensor<64x80xf32>, tensor<64x80xi1>
}

// CHECK-LABEL: llvm.func @usual
// CHECK-NOT: llvm.fence
func.func @usual(%a: tensor<64x80xf32>) -> tensor<64x80xf32> {
  %r = llir.kernel(%a) loops<grid(d0*d1:4096 v8)> : (tensor<64x80xf32>) -> tensor<64x80xf32> {
  ^bb0(%x: tensor<64x80xf32>):
    %0 = llir.elementwise neg(%x) : (tensor<64x80xf32>) -> tensor<64x80xf32>
    llir.yield %0 : tensor<64x80xf32>
  }
  return %r : tensor<64x80xf32>
}
