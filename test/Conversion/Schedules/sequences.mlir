// Kernels that one multiprocessor computes in less than a launch takes are one launch of one block.
// RUN: luminal-opt %s --luminal-pipeline="target=cuda arch=h200 from=fused until=scheduled" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_90a %t.mlir -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx
// RUN: %if ptxas %{ ptxas -arch=sm_90a %t.ptx -o %t.cubin %}
// RUN: luminal-opt %s --luminal-pipeline="target=cuda arch=h200 from=fused until=scheduled fuse=kernels" | FileCheck %s --check-prefix=ALONE
// RUN: luminal-opt %s --luminal-pipeline="target=cpu arch=x86-64 from=fused until=scheduled" | FileCheck %s --check-prefix=ALONE
// RUN: luminal-opt %s --luminal-pipeline="target=cuda arch=h200 from=fused until=scheduled" --remarks-filter=llir-sequence-kernels -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// ALONE-NOT: llir.sequence

// A sort of few, whose order two others read: what only they need is on chip, and what others read is a result. The sort
// has 64 threads, which meet among themselves; units of the others are threads, all of the block's.
// CHECK-LABEL: @order
// CHECK: llir.kernel(%arg0) loops<grid() threads(128, 128) op0 = whole> : (tensor<100xf32>) -> (tensor<100xi64>, tensor<100xf32>)
// CHECK: llir.sequence(
// CHECK: llir.kernel({{.*}}) loops<grid() threads(64, 64) op0 = whole>
// CHECK-NEXT: ^bb0
// CHECK-NEXT: llir.sort_runs
// CHECK: llir.kernel({{.*}}) loops<grid(d0) threads(128)>
// CHECK: llir.kernel({{.*}}) loops<grid(d0) threads(128)>
// CHECK: llir.yield %{{.*}}, %{{.*}} : tensor<100xi64>, tensor<100xf32>
// CHECK: return
// REMARK: Passed{{.*}}Function=order | bytes on chip=800, kernels=3, predicted ns={{[0-9]+}}, separate ns={{[0-9]+}}, threads=128
// PTX-LABEL: .entry order(
// PTX: bar.sync 1, 64;
// PTX: bar.sync 0;
// PTX: ld.shared.b64
// PTX-NOT: ld.global.b64
// PTX: st.global.b32
// PTX-NOT: .entry
func.func @order(%x: tensor<100xf32>) -> (tensor<100xf32>, tensor<100xi64>) {
  %0 = llir.kernel(%x) : (tensor<100xf32>) -> tensor<100xi64> {
  ^bb0(%y: tensor<100xf32>):
    %1 = llir.sort_runs %y {keep = #hlir.map<() -> (100)>, run = 128 : i64} : tensor<100xf32> -> tensor<100xi64>
    llir.yield %1 : tensor<100xi64>
  }
  %2 = llir.kernel(%x, %0) : (tensor<100xf32>, tensor<100xi64>) -> tensor<100xf32> {
  ^bb0(%y: tensor<100xf32>, %i: tensor<100xi64>):
    %1 = llir.gather %y, %i {checked} : tensor<100xf32>, tensor<100xi64> -> tensor<100xf32>
    llir.yield %1 : tensor<100xf32>
  }
  %3 = llir.kernel(%0) : (tensor<100xi64>) -> tensor<100xi64> {
  ^bb0(%i: tensor<100xi64>):
    %1 = llir.gather %i, %i {checked} : tensor<100xi64>, tensor<100xi64> -> tensor<100xi64>
    llir.yield %1 : tensor<100xi64>
  }
  return %2, %3 : tensor<100xf32>, tensor<100xi64>
}

// An order that is a result too: the next kernel reads it where it lies on chip, and after the barrier it is copied.
// CHECK-LABEL: @ordered
// CHECK: llir.sequence(
// CHECK: llir.yield %{{.*}}, %{{.*}} : tensor<100xf32>, tensor<100xi64>
// REMARK: Passed{{.*}}Function=ordered | {{.*}}bytes on chip=800
// PTX-LABEL: .entry ordered(
// PTX: bar.sync 0;
// PTX: ld.shared.b64 %[[PLACE:rd[0-9]+]]
// PTX: st.global.b64 {{.*}}, %[[PLACE]];
// PTX-NOT: ld.global.b64
// PTX: st.global.b32
// PTX-LABEL: .entry states(
func.func @ordered(%x: tensor<100xf32>) -> (tensor<100xi64>, tensor<100xf32>) {
  %0 = llir.kernel(%x) : (tensor<100xf32>) -> tensor<100xi64> {
  ^bb0(%y: tensor<100xf32>):
    %1 = llir.sort_runs %y {keep = #hlir.map<() -> (100)>, run = 128 : i64} : tensor<100xf32> -> tensor<100xi64>
    llir.yield %1 : tensor<100xi64>
  }
  %2 = llir.kernel(%x, %0) : (tensor<100xf32>, tensor<100xi64>) -> tensor<100xf32> {
  ^bb0(%y: tensor<100xf32>, %i: tensor<100xi64>):
    %1 = llir.gather %y, %i {checked} : tensor<100xf32>, tensor<100xi64> -> tensor<100xf32>
    llir.yield %1 : tensor<100xf32>
  }
  return %0, %2 : tensor<100xi64>, tensor<100xf32>
}

// What the sequence has made may be updated in place, and what is read through an alias is where it was.
// CHECK-LABEL: @states
// CHECK: llir.sequence(
// CHECK: llir.kernel() loops
// CHECK: llir.kernel({{.*}}) loops<{{.*}}unordered> {in_place}
// CHECK: llir.alias
// CHECK: llir.kernel(
// CHECK: return
// PTX: atom.shared.add.u64
func.func @states(%i: tensor<8xi64>) -> tensor<4x4xi64> {
  %0 = llir.kernel() : () -> tensor<16xi64> {
    %c = llir.constant dense<0> : tensor<i64>
    %1 = llir.view %c <(d0) -> ()> : tensor<i64> -> tensor<16xi64>
    llir.yield %1 : tensor<16xi64>
  }
  %2 = llir.kernel(%0, %i) {in_place} : (tensor<16xi64>, tensor<8xi64>) -> tensor<16xi64> {
  ^bb0(%s: tensor<16xi64>, %j: tensor<8xi64>):
    %1 = llir.scatter add %s, %j, %j {checked} : tensor<16xi64>, tensor<8xi64>, tensor<8xi64>
    llir.yield %1 : tensor<16xi64>
  }
  %3 = llir.alias %2 offset(0) : tensor<16xi64> -> tensor<4x4xi64>
  %4 = llir.kernel(%3) : (tensor<4x4xi64>) -> tensor<4x4xi64> {
  ^bb0(%s: tensor<4x4xi64>):
    %1 = llir.elementwise add(%s, %s) : (tensor<4x4xi64>, tensor<4x4xi64>) -> tensor<4x4xi64>
    llir.yield %1 : tensor<4x4xi64>
  }
  return %4 : tensor<4x4xi64>
}

// What a large kernel makes of a result comes behind the sequence, and small ones that need that are not in it.
// CHECK-LABEL: @between
// CHECK: %[[S:.*]]:2 = llir.kernel(%arg0, %arg1) {{.*}} -> (tensor<64xf32>, tensor<64xf32>)
// CHECK: llir.sequence(
// CHECK: %[[L:.*]] = llir.kernel(%arg2, %[[S]]#{{[01]}})
// CHECK-NEXT: ^bb0
// CHECK-NEXT: llir.gemm
// CHECK: llir.kernel(%[[L]]
// CHECK: return
func.func @between(%x: tensor<64xf32>, %y: tensor<64xf32>, %w: tensor<4096x64xf32>) -> (tensor<64xf32>, tensor<1xf32>) {
  %0 = llir.kernel(%x) : (tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%a: tensor<64xf32>):
    %1 = llir.elementwise exp(%a) : (tensor<64xf32>) -> tensor<64xf32>
    llir.yield %1 : tensor<64xf32>
  }
  %2 = llir.kernel(%w, %0) : (tensor<4096x64xf32>, tensor<64xf32>) -> tensor<4096xf32> {
  ^bb0(%a: tensor<4096x64xf32>, %b: tensor<64xf32>):
    %1 = llir.gemm %a, %b k(64) <(d0, d1) -> (d0, d1)>, <(d0, d1) -> (d1)> : tensor<4096x64xf32>, tensor<64xf32> -> tensor<4096xf32>
    llir.yield %1 : tensor<4096xf32>
  }
  %3 = llir.kernel(%0, %y) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%a: tensor<64xf32>, %b: tensor<64xf32>):
    %1 = llir.elementwise add(%a, %b) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    llir.yield %1 : tensor<64xf32>
  }
  %4 = llir.kernel(%2) : (tensor<4096xf32>) -> tensor<1xf32> {
  ^bb0(%a: tensor<4096xf32>):
    %1 = llir.view %a <(d0) -> (d0)> : tensor<4096xf32> -> tensor<1xf32>
    llir.yield %1 : tensor<1xf32>
  }
  return %3, %4 : tensor<64xf32>, tensor<1xf32>
}

// An update of what the first one reads ends it: the second would move the first behind the update.
// CHECK-LABEL: @ends
// CHECK-NOT: llir.sequence
// CHECK: return
func.func @ends(%x: tensor<64xf32>, %s: tensor<64xf32>, %i: tensor<8xi64>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %0 = llir.kernel(%s) : (tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%a: tensor<64xf32>):
    %1 = llir.elementwise exp(%a) : (tensor<64xf32>) -> tensor<64xf32>
    llir.yield %1 : tensor<64xf32>
  }
  %2 = llir.kernel(%s, %i) {in_place} : (tensor<64xf32>, tensor<8xi64>) -> tensor<64xf32> {
  ^bb0(%a: tensor<64xf32>, %j: tensor<8xi64>):
    %c = llir.constant dense<0.000000e+00> : tensor<f32>
    %1 = llir.view %c <(d0) -> ()> : tensor<f32> -> tensor<8xf32>
    %3 = llir.scatter set %a, %j, %1 {checked} : tensor<64xf32>, tensor<8xi64>, tensor<8xf32>
    llir.yield %3 : tensor<64xf32>
  }
  %4 = llir.kernel(%x) : (tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%a: tensor<64xf32>):
    %1 = llir.elementwise sin(%a) : (tensor<64xf32>) -> tensor<64xf32>
    llir.yield %1 : tensor<64xf32>
  }
  return %0, %2, %4 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}

// An update of memory that none of them reads is no hindrance: it comes before them.
// CHECK-LABEL: @past
// CHECK: llir.kernel(%arg1, %arg2) {{.*}}{in_place}
// CHECK: llir.sequence(
// CHECK: return
func.func @past(%x: tensor<64xf32>, %s: tensor<64xf32>, %i: tensor<8xi64>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %0 = llir.kernel(%x) : (tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%a: tensor<64xf32>):
    %1 = llir.elementwise exp(%a) : (tensor<64xf32>) -> tensor<64xf32>
    llir.yield %1 : tensor<64xf32>
  }
  %2 = llir.kernel(%s, %i) {in_place} : (tensor<64xf32>, tensor<8xi64>) -> tensor<64xf32> {
  ^bb0(%a: tensor<64xf32>, %j: tensor<8xi64>):
    %c = llir.constant dense<0.000000e+00> : tensor<f32>
    %1 = llir.view %c <(d0) -> ()> : tensor<f32> -> tensor<8xf32>
    %3 = llir.scatter set %a, %j, %1 {checked} : tensor<64xf32>, tensor<8xi64>, tensor<8xf32>
    llir.yield %3 : tensor<64xf32>
  }
  %4 = llir.kernel(%x) : (tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%a: tensor<64xf32>):
    %1 = llir.elementwise sin(%a) : (tensor<64xf32>) -> tensor<64xf32>
    llir.yield %1 : tensor<64xf32>
  }
  return %0, %2, %4 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}

// One that needs what they make comes behind them.
// CHECK-LABEL: @follows
// CHECK: %[[S:.*]]:2 = llir.kernel(%arg0)
// CHECK: llir.sequence(
// CHECK: llir.kernel(%arg1, %arg2, %[[S]]#{{[01]}}) {{.*}}{in_place}
// CHECK: return
func.func @follows(%x: tensor<64xf32>, %s: tensor<64xf32>, %i: tensor<8xi64>) -> (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>) {
  %0 = llir.kernel(%x) : (tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%a: tensor<64xf32>):
    %1 = llir.elementwise exp(%a) : (tensor<64xf32>) -> tensor<64xf32>
    llir.yield %1 : tensor<64xf32>
  }
  %2 = llir.kernel(%s, %i, %0) {in_place} : (tensor<64xf32>, tensor<8xi64>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%a: tensor<64xf32>, %j: tensor<8xi64>, %b: tensor<64xf32>):
    %1 = llir.view %b <(d0) -> (d0)> : tensor<64xf32> -> tensor<8xf32>
    %3 = llir.scatter set %a, %j, %1 {checked} : tensor<64xf32>, tensor<8xi64>, tensor<8xf32>
    llir.yield %3 : tensor<64xf32>
  }
  %4 = llir.kernel(%x) : (tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%a: tensor<64xf32>):
    %1 = llir.elementwise sin(%a) : (tensor<64xf32>) -> tensor<64xf32>
    llir.yield %1 : tensor<64xf32>
  }
  return %0, %2, %4 : tensor<64xf32>, tensor<64xf32>, tensor<64xf32>
}

// Sizes that are known at a call, and more work than a launch.
// CHECK-LABEL: @sizes
// CHECK-NOT: llir.sequence
// CHECK: return
// REMARK: Missed{{.*}}Function=sizes {{.*}}reason="its sizes depend on symbols"
// REMARK: Missed{{.*}}Function=sizes {{.*}}reason="one multiprocessor takes longer than a launch"
func.func @sizes(%x: tensor<?xf32, #hlir.dims<s>>, %y: tensor<1000000xf32>) -> (tensor<?xf32, #hlir.dims<s>>, tensor<1000000xf32>)
    attributes {hlir.symbols = #hlir.symbols<s in [1, 64]>} {
  %0 = llir.kernel(%x) : (tensor<?xf32, #hlir.dims<s>>) -> tensor<?xf32, #hlir.dims<s>> {
  ^bb0(%a: tensor<?xf32, #hlir.dims<s>>):
    %1 = llir.elementwise exp(%a) : (tensor<?xf32, #hlir.dims<s>>) -> tensor<?xf32, #hlir.dims<s>>
    llir.yield %1 : tensor<?xf32, #hlir.dims<s>>
  }
  %2 = llir.kernel(%y) : (tensor<1000000xf32>) -> tensor<1000000xf32> {
  ^bb0(%a: tensor<1000000xf32>):
    %1 = llir.elementwise exp(%a) : (tensor<1000000xf32>) -> tensor<1000000xf32>
    llir.yield %1 : tensor<1000000xf32>
  }
  return %0, %2 : tensor<?xf32, #hlir.dims<s>>, tensor<1000000xf32>
}

// A block of 512 threads takes 2 x 17 x 96 elements of eight threads each in 51 turns, of which each waits: as kernels of all
// multiprocessors they take one (six kernels like these took an H200 85 us as a sequence).
// CHECK-LABEL: @turns
// CHECK-NOT: llir.sequence
// CHECK: return
// REMARK: Missed{{.*}}Function=turns {{.*}}reason="one multiprocessor takes longer than a launch"
func.func @turns(%x: tensor<2x17x32xf32>, %w: tensor<96x32xf32>, %v: tensor<32x96xf32>) -> tensor<2x17x32xf32> {
  %0 = llir.kernel(%x, %w) : (tensor<2x17x32xf32>, tensor<96x32xf32>) -> tensor<2x17x96xf32> {
  ^bb0(%a: tensor<2x17x32xf32>, %b: tensor<96x32xf32>):
    %1 = llir.gemm %a, %b k(32) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d2, d3)> : tensor<2x17x32xf32>, tensor<96x32xf32> -> tensor<2x17x96xf32>
    llir.yield %1 : tensor<2x17x96xf32>
  }
  %2 = llir.kernel(%0, %v) : (tensor<2x17x96xf32>, tensor<32x96xf32>) -> tensor<2x17x32xf32> {
  ^bb0(%a: tensor<2x17x96xf32>, %b: tensor<32x96xf32>):
    %1 = llir.gemm %a, %b k(96) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d2, d3)> : tensor<2x17x96xf32>, tensor<32x96xf32> -> tensor<2x17x32xf32>
    llir.yield %1 : tensor<2x17x32xf32>
  }
  return %2 : tensor<2x17x32xf32>
}

// What is prepared from weights runs when these are bound.
// CHECK-LABEL: @prepared
// CHECK: llir.kernel(%arg1)
// CHECK: llir.prepare
// CHECK-NOT: llir.sequence
// CHECK: return
// REMARK: Missed{{.*}}Function=prepared {{.*}}reason="is run when weights are bound"
func.func @prepared(%x: tensor<64xf32>, %w: tensor<64xf32> {hlir.kind = "weight"}) -> tensor<64xf32> {
  %0 = llir.kernel(%w) : (tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%a: tensor<64xf32>):
    %1 = llir.elementwise exp(%a) : (tensor<64xf32>) -> tensor<64xf32>
    llir.yield %1 : tensor<64xf32>
  }
  %2 = llir.prepare %0 : tensor<64xf32>
  %3 = llir.kernel(%x, %2) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32> {
  ^bb0(%a: tensor<64xf32>, %b: tensor<64xf32>):
    %1 = llir.elementwise add(%a, %b) : (tensor<64xf32>, tensor<64xf32>) -> tensor<64xf32>
    llir.yield %1 : tensor<64xf32>
  }
  return %3 : tensor<64xf32>
}
