// Row programs on a GPU: a thread group takes a row, and its members meet once for each level of steps.
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_90a %s -o %t.ptx
// RUN: FileCheck %s --input-file=%t.ptx
// RUN: FileCheck %s --check-prefix=MEET --input-file=%t.ptx
// RUN: FileCheck %s --check-prefix=PARTS --input-file=%t.ptx
// RUN: sed -e 's/private @bags/@main/' -e '/^func.*@concatenation/,$d' %s | luminal-opt --luminal-pipeline="target=cuda arch=sm_90a from=scheduled until=lowered" | FileCheck %s --check-prefix=LAUNCH

// LAUNCH: launch #llir.cuda_launch<work = 300, grid = 38, block = 64, shared = 2304>
// CHECK-LABEL: .visible .entry
// CHECK: bar.warp.sync
// First what needs no other step. Both bags are one loop, before which and in which nothing is written.
// CHECK-NOT: st.shared
// CHECK: @%p{{[0-9]+}} bra
// CHECK-NOT: st.shared
// CHECK: @%p{{[0-9]+}} bra
// CHECK-COUNT-3: st.shared
// CHECK-NOT: st.shared
// CHECK: bar.warp.sync
// The sums are read by nothing but the maximum, which alone is kept.
// CHECK-COUNT-5: fma.rn.f32
// CHECK: st.shared
// CHECK-NOT: st.shared
// CHECK: bar.warp.sync
// One sum of all members' parts.
// CHECK-COUNT-3: shfl.sync.bfly
// CHECK: st.shared
// Before a row, and after each level.
// MEET-LABEL: .entry bags
// MEET-COUNT-4: bar.warp.sync
// MEET-NOT: bar.warp.sync
// MEET-LABEL: .entry concatenation
func.func private @bags(%x: tensor<300x5xf32>, %w: tensor<8x5xf32>, %t: tensor<50x8xf32>, %i: tensor<700xi64>, %o: tensor<300xi64>, %u: tensor<60x8xf32>, %j: tensor<400xi64>, %p: tensor<300xi64>, %v: tensor<1x8xf32>) -> tensor<300x1xf32> {
  %0 = llir.kernel(%x, %w, %t, %i, %o, %u, %j, %p, %v) loops<grid(d0) threads(64, 8) op0 = keep op1 = members op4 = keep op6 = keep op7 = keep op8 = keep op9 = along> : (tensor<300x5xf32>, tensor<8x5xf32>, tensor<50x8xf32>, tensor<700xi64>, tensor<300xi64>, tensor<60x8xf32>, tensor<400xi64>, tensor<300xi64>, tensor<1x8xf32>) -> tensor<300x1xf32> {
  ^bb0(%a: tensor<300x5xf32>, %b: tensor<8x5xf32>, %c: tensor<50x8xf32>, %d: tensor<700xi64>, %e: tensor<300xi64>, %f: tensor<60x8xf32>, %g: tensor<400xi64>, %h: tensor<300xi64>, %k: tensor<1x8xf32>):
    %1 = llir.view %a <(d0, d1) -> (d0, d1)> : tensor<300x5xf32> -> tensor<300x5xf32>
    %2 = llir.gemm %1, %b k(5) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<300x5xf32>, tensor<8x5xf32> -> tensor<300x8xf32>
    %3 = llir.gather %c, %d {checked} : tensor<50x8xf32>, tensor<700xi64> -> tensor<700x8xf32>
    %4 = llir.elementwise neg(%3) : (tensor<700x8xf32>) -> tensor<700x8xf32>
    %5 = llir.segment_reduce sum %4, %e : tensor<700x8xf32>, tensor<300xi64> -> tensor<300x8xf32>
    %6 = llir.gather %f, %g {checked} : tensor<60x8xf32>, tensor<400xi64> -> tensor<400x8xf32>
    %7 = llir.segment_reduce sum %6, %h : tensor<400x8xf32>, tensor<300xi64> -> tensor<300x8xf32>
    %8 = llir.elementwise max(%2, %5) : (tensor<300x8xf32>, tensor<300x8xf32>) -> tensor<300x8xf32>
    %9 = llir.elementwise max(%8, %7) : (tensor<300x8xf32>, tensor<300x8xf32>) -> tensor<300x8xf32>
    %10 = llir.gemm %9, %k k(8) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (0, d2)> : tensor<300x8xf32>, tensor<1x8xf32> -> tensor<300x1xf32>
    llir.yield %10 : tensor<300x1xf32>
  }
  return %0 : tensor<300x1xf32>
}

// What is concatenated is kept a part after the other, and nothing is chosen.
// PARTS-LABEL: .visible .entry concatenation
// PARTS-NOT: selp.f32
// PARTS-NOT: selp.b32
// PARTS: ret
func.func private @concatenation(%x: tensor<64x8xf32>, %w: tensor<4x8xf32>, %v: tensor<5x10xf32>) -> tensor<64x5xf32> {
  %0 = llir.kernel(%x, %w, %v) loops<grid(d0) threads(64, 8) op0 = members op1 = keep op8 = keep op9 = members> : (tensor<64x8xf32>, tensor<4x8xf32>, tensor<5x10xf32>) -> tensor<64x5xf32> {
  ^bb0(%a: tensor<64x8xf32>, %b: tensor<4x8xf32>, %c: tensor<5x10xf32>):
    %1 = llir.gemm %a, %b k(8) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x8xf32>, tensor<4x8xf32> -> tensor<64x4xf32>
    %2 = llir.elementwise neg(%1) : (tensor<64x4xf32>) -> tensor<64x4xf32>
    %3 = llir.iota <(d0, d1) -> (d1)> : tensor<64x10xi64>
    %4 = llir.constant dense<4> : tensor<i64>
    %5 = llir.view %4 <(d0, d1) -> ()> : tensor<i64> -> tensor<64x10xi64>
    %6 = llir.elementwise less_than(%3, %5) : (tensor<64x10xi64>, tensor<64x10xi64>) -> tensor<64x10xi1>
    %7 = llir.view %2 <(d0, d1) -> (d0, min(d1, 3))> : tensor<64x4xf32> -> tensor<64x10xf32>
    %8 = llir.view %a <(d0, d1) -> (d0, max(d1 - 4, 0))> : tensor<64x8xf32> -> tensor<64x10xf32>
    %9 = llir.elementwise select(%6, %7, %8) : (tensor<64x10xi1>, tensor<64x10xf32>, tensor<64x10xf32>) -> tensor<64x10xf32>
    %10 = llir.gemm %9, %c k(10) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x10xf32>, tensor<5x10xf32> -> tensor<64x5xf32>
    llir.yield %10 : tensor<64x5xf32>
  }
  return %0 : tensor<64x5xf32>
}
