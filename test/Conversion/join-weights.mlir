// Products of the same rows with several weights are one where that is predicted to be faster, with what is added to columns
// and the functions that follow all of them.
// RUN: luminal-opt %s --llir-join-weights="target=cuda arch=h200" --split-input-file | FileCheck %s
// RUN: luminal-opt %s --llir-join-weights="target=cuda arch=h200" --split-input-file --remarks-filter=llir-join-weights -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: luminal-opt %s --llir-join-weights="target=cuda arch=h200 prepare-bytes=1000" --split-input-file | FileCheck %s --check-prefix=APART
// RUN: luminal-opt %s --llir-join-weights="target=cpu arch=x86-64-v3" --split-input-file | FileCheck %s --check-prefix=APART

// Nothing is added to the second one, whose columns take -0.
// CHECK-LABEL: @attention
// CHECK: %[[W:.*]] = llir.prepare %{{.*}} : tensor<2304x768xf16>
// CHECK: %[[WIDE:.*]] = llir.elementwise cast(%[[W]])
// CHECK: %[[ALL:.*]] = llir.gemm %{{.*}}, %[[WIDE]] k(768) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<128x768xf32>, tensor<2304x768xf32> -> tensor<128x2304xf32>
// CHECK: llir.constant dense<-0.000000e+00> : tensor<f16>
// CHECK: %[[B:.*]] = llir.prepare %{{.*}} : tensor<2304xf16>
// CHECK: %[[BIAS:.*]] = llir.view %{{.*}} <(d0, d1) -> (d1)> : tensor<2304xf32> -> tensor<128x2304xf32>
// CHECK: %[[SUM:.*]] = llir.elementwise add(%[[ALL]], %[[BIAS]])
// CHECK: %[[NARROW:.*]] = llir.elementwise cast(%[[SUM]]) : (tensor<128x2304xf32>) -> tensor<128x2304xf16>
// CHECK-DAG: llir.view %[[NARROW]] <(d0, d1) -> (d0, d1)> : tensor<128x2304xf16> -> tensor<128x768xf16>
// CHECK-DAG: llir.view %[[NARROW]] <(d0, d1) -> (d0, d1 + 768)> : tensor<128x2304xf16> -> tensor<128x768xf16>
// CHECK-DAG: llir.view %[[NARROW]] <(d0, d1) -> (d0, d1 + 1536)> : tensor<128x2304xf16> -> tensor<128x768xf16>
// CHECK-NOT: llir.gemm
// CHECK: return
// REMARK: remark: [Passed] weights {{.*}} Function=attention | {{.*}}columns=2304, joined=3, predicted ns={{[0-9]+}}
// APART-LABEL: @attention
// APART-COUNT-3: llir.gemm
// APART-NOT: llir.prepare
func.func @attention(%x: tensor<128x768xf16>, %q: tensor<768x768xf16> {hlir.kind = "weight"}, %k: tensor<768x768xf16> {hlir.kind = "weight"},
    %v: tensor<768x768xf16> {hlir.kind = "weight"}, %bq: tensor<768xf16> {hlir.kind = "weight"}, %bv: tensor<768xf16> {hlir.kind = "weight"})
    -> (tensor<128x768xf16>, tensor<128x768xf16>, tensor<128x768xf16>) {
  %0 = llir.elementwise cast(%x) : (tensor<128x768xf16>) -> tensor<128x768xf32>
  %1 = llir.elementwise cast(%q) : (tensor<768x768xf16>) -> tensor<768x768xf32>
  %2 = llir.elementwise cast(%k) : (tensor<768x768xf16>) -> tensor<768x768xf32>
  %3 = llir.elementwise cast(%v) : (tensor<768x768xf16>) -> tensor<768x768xf32>
  %4 = llir.gemm %0, %1 k(768) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<128x768xf32>, tensor<768x768xf32> -> tensor<128x768xf32>
  %5 = llir.gemm %0, %2 k(768) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<128x768xf32>, tensor<768x768xf32> -> tensor<128x768xf32>
  %6 = llir.gemm %0, %3 k(768) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<128x768xf32>, tensor<768x768xf32> -> tensor<128x768xf32>
  %7 = llir.elementwise cast(%bq) : (tensor<768xf16>) -> tensor<768xf32>
  %8 = llir.view %7 <(d0, d1) -> (d1)> : tensor<768xf32> -> tensor<128x768xf32>
  %9 = llir.elementwise add(%4, %8) : (tensor<128x768xf32>, tensor<128x768xf32>) -> tensor<128x768xf32>
  %10 = llir.elementwise cast(%bv) : (tensor<768xf16>) -> tensor<768xf32>
  %11 = llir.view %10 <(d0, d1) -> (d1)> : tensor<768xf32> -> tensor<128x768xf32>
  %12 = llir.elementwise add(%11, %6) : (tensor<128x768xf32>, tensor<128x768xf32>) -> tensor<128x768xf32>
  %13 = llir.elementwise cast(%9) : (tensor<128x768xf32>) -> tensor<128x768xf16>
  %14 = llir.elementwise cast(%5) : (tensor<128x768xf32>) -> tensor<128x768xf16>
  %15 = llir.elementwise cast(%12) : (tensor<128x768xf32>) -> tensor<128x768xf16>
  %16 = llir.elementwise neg(%13) : (tensor<128x768xf16>) -> tensor<128x768xf16>
  %17 = llir.elementwise abs(%14) : (tensor<128x768xf16>) -> tensor<128x768xf16>
  %18 = llir.elementwise sqrt(%15) : (tensor<128x768xf16>) -> tensor<128x768xf16>
  return %16, %17, %18 : tensor<128x768xf16>, tensor<128x768xf16>, tensor<128x768xf16>
}

// -----

// One alone is stored along the contracted dim, where a function follows that no library computes.
// CHECK-LABEL: @along
// CHECK: %[[W:.*]] = llir.prepare %{{.*}} : tensor<3072x768xf16>
// CHECK: llir.gemm %{{.*}}, %{{.*}} k(768) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
// CHECK-NOT: llir.prepare
// CHECK: return
// REMARK: remark: [Passed] weights {{.*}} Function=along | {{.*}}columns=3072, joined=1
// APART-LABEL: @along
// APART-NOT: llir.prepare
func.func @along(%x: tensor<128x768xf16>, %w: tensor<768x3072xf16> {hlir.kind = "weight"}) -> tensor<128x3072xf16> {
  %0 = llir.elementwise cast(%x) : (tensor<128x768xf16>) -> tensor<128x768xf32>
  %1 = llir.elementwise cast(%w) : (tensor<768x3072xf16>) -> tensor<768x3072xf32>
  %2 = llir.gemm %0, %1 k(768) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<128x768xf32>, tensor<768x3072xf32> -> tensor<128x3072xf32>
  %3 = llir.elementwise cast(%2) : (tensor<128x3072xf32>) -> tensor<128x3072xf16>
  %4 = llir.elementwise gelu(%3) : (tensor<128x3072xf16>) -> tensor<128x3072xf16>
  return %4 : tensor<128x3072xf16>
}

// -----

// Large ones fill the machine by themselves; products of one row need no memory to be one; and what no weight is, what the
// function returns, and a gate stay as they are.
// CHECK-LABEL: @others
// CHECK-COUNT-9: llir.gemm
// CHECK-NOT: llir.prepare
// REMARK-DAG: remark: [Missed] weights {{.*}} Function=others | {{.*}}joined=2, {{.*}}reason="the predicted gain is too small"
// REMARK-DAG: remark: [Missed] weights {{.*}} Function=others | reason="it has one row"
// REMARK-DAG: remark: [Missed] weights {{.*}} Function=others | reason="not exactly one operand is a weight"
// REMARK-DAG: remark: [Missed] weights {{.*}} Function=others | reason="the function returns it"
// REMARK-DAG: remark: [Missed] weights {{.*}} Function=others | reason="one elementwise op reads it and another product"
func.func @others(%x: tensor<8192x4096xf16>, %y: tensor<1x4096xf16>, %z: tensor<64x4096xf16>, %a: tensor<4096x4096xf16> {hlir.kind = "weight"},
    %b: tensor<4096x4096xf16> {hlir.kind = "weight"}, %c: tensor<4096x4096xf16>)
    -> (tensor<8192x4096xf16>, tensor<8192x4096xf16>, tensor<1x4096xf16>, tensor<1x4096xf16>, tensor<64x4096xf16>, tensor<64x4096xf16>, tensor<64x4096xf16>, tensor<64x4096xf16>) {
  %0 = llir.gemm %x, %a k(4096) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<8192x4096xf16>, tensor<4096x4096xf16> -> tensor<8192x4096xf16>
  %1 = llir.gemm %x, %b k(4096) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<8192x4096xf16>, tensor<4096x4096xf16> -> tensor<8192x4096xf16>
  %2 = llir.elementwise neg(%0) : (tensor<8192x4096xf16>) -> tensor<8192x4096xf16>
  %3 = llir.elementwise neg(%1) : (tensor<8192x4096xf16>) -> tensor<8192x4096xf16>
  %4 = llir.gemm %y, %a k(4096) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1x4096xf16>, tensor<4096x4096xf16> -> tensor<1x4096xf16>
  %5 = llir.gemm %y, %b k(4096) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<1x4096xf16>, tensor<4096x4096xf16> -> tensor<1x4096xf16>
  %6 = llir.elementwise neg(%4) : (tensor<1x4096xf16>) -> tensor<1x4096xf16>
  %7 = llir.elementwise neg(%5) : (tensor<1x4096xf16>) -> tensor<1x4096xf16>
  %8 = llir.gemm %z, %c k(4096) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x4096xf16>, tensor<4096x4096xf16> -> tensor<64x4096xf16>
  %9 = llir.elementwise neg(%8) : (tensor<64x4096xf16>) -> tensor<64x4096xf16>
  %10 = llir.gemm %z, %a k(4096) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x4096xf16>, tensor<4096x4096xf16> -> tensor<64x4096xf16>
  %11 = llir.gemm %z, %b k(4096) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x4096xf16>, tensor<4096x4096xf16> -> tensor<64x4096xf16>
  %12 = llir.elementwise neg(%11) : (tensor<64x4096xf16>) -> tensor<64x4096xf16>
  %13 = llir.elementwise abs(%9) : (tensor<64x4096xf16>) -> tensor<64x4096xf16>
  %14 = llir.gemm %13, %a k(4096) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x4096xf16>, tensor<4096x4096xf16> -> tensor<64x4096xf16>
  %15 = llir.gemm %13, %b k(4096) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x4096xf16>, tensor<4096x4096xf16> -> tensor<64x4096xf16>
  %16 = llir.elementwise mul(%14, %15) : (tensor<64x4096xf16>, tensor<64x4096xf16>) -> tensor<64x4096xf16>
  return %2, %3, %6, %7, %9, %10, %12, %16 : tensor<8192x4096xf16>, tensor<8192x4096xf16>, tensor<1x4096xf16>, tensor<1x4096xf16>, tensor<64x4096xf16>, tensor<64x4096xf16>, tensor<64x4096xf16>, tensor<64x4096xf16>
}
