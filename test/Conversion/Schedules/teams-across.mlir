// Norms over channels that are far apart, as of images channel by channel. A thread for each row waits for memory once for each
// few channels: where rows are few, teams read channels far apart, but wait less often.
// RUN: luminal-opt %s --llir-schedule-kernels="target=cuda arch=h200" --split-input-file | FileCheck %s
// RUN: luminal-opt %s --llir-schedule-kernels="target=cuda arch=h200" --split-input-file --remarks-filter=llir-schedule-kernels 2>&1 >/dev/null | FileCheck %s --check-prefix=REMARK

// Rows of 7 x 7 places: a block for each.
// CHECK-LABEL: @places
// CHECK: loops<grid(d0) stream(d1:all) threads(128, 128) op2 = pass {blocks = 8, lanes = 1, unroll = 6}
// REMARK: teams of far elements, not ns=11{{[0-9][0-9][0-9][0-9]}}
func.func @places(%x: tensor<768x49xf16>) -> tensor<49x768xf16> {
  %r = llir.kernel(%x) : (tensor<768x49xf16>) -> tensor<49x768xf16> {
  ^bb0(%a: tensor<768x49xf16>):
    %0 = llir.view %a <(d0, d1) -> (d1, d0)> : tensor<768x49xf16> -> tensor<49x768xf16>
    %1 = llir.elementwise cast(%0) : (tensor<49x768xf16>) -> tensor<49x768xf32>
    %2 = llir.reduce sum %1 : tensor<49x768xf32> -> tensor<49xf32>
    %3 = llir.view %2 <(d0, d1) -> (d0)> : tensor<49xf32> -> tensor<49x768xf32>
    %4 = llir.elementwise sub(%1, %3) : (tensor<49x768xf32>, tensor<49x768xf32>) -> tensor<49x768xf32>
    %5 = llir.elementwise mul(%4, %4) : (tensor<49x768xf32>, tensor<49x768xf32>) -> tensor<49x768xf32>
    %6 = llir.reduce sum %5 : tensor<49x768xf32> -> tensor<49xf32>
    %7 = llir.view %6 <(d0, d1) -> (d0)> : tensor<49xf32> -> tensor<49x768xf32>
    %8 = llir.elementwise mul(%4, %7) : (tensor<49x768xf32>, tensor<49x768xf32>) -> tensor<49x768xf32>
    %9 = llir.elementwise cast(%8) : (tensor<49x768xf32>) -> tensor<49x768xf16>
    llir.yield %9 : tensor<49x768xf16>
  }
  return %r : tensor<49x768xf16>
}

// -----

// Of 28 x 28, shorter ones: a warp for each, neighbours in a block.
// CHECK-LABEL: @warps
// CHECK: loops<grid(d0) stream(d1:all) threads(64, 32) op2 = pass {lanes = 1, unroll = 6}
// REMARK: teams of far elements
func.func @warps(%x: tensor<192x784xf16>) -> tensor<784x192xf16> {
  %r = llir.kernel(%x) : (tensor<192x784xf16>) -> tensor<784x192xf16> {
  ^bb0(%a: tensor<192x784xf16>):
    %0 = llir.view %a <(d0, d1) -> (d1, d0)> : tensor<192x784xf16> -> tensor<784x192xf16>
    %1 = llir.elementwise cast(%0) : (tensor<784x192xf16>) -> tensor<784x192xf32>
    %2 = llir.reduce sum %1 : tensor<784x192xf32> -> tensor<784xf32>
    %3 = llir.view %2 <(d0, d1) -> (d0)> : tensor<784xf32> -> tensor<784x192xf32>
    %4 = llir.elementwise sub(%1, %3) : (tensor<784x192xf32>, tensor<784x192xf32>) -> tensor<784x192xf32>
    %5 = llir.elementwise mul(%4, %4) : (tensor<784x192xf32>, tensor<784x192xf32>) -> tensor<784x192xf32>
    %6 = llir.reduce sum %5 : tensor<784x192xf32> -> tensor<784xf32>
    %7 = llir.view %6 <(d0, d1) -> (d0)> : tensor<784xf32> -> tensor<784x192xf32>
    %8 = llir.elementwise mul(%4, %7) : (tensor<784x192xf32>, tensor<784x192xf32>) -> tensor<784x192xf32>
    %9 = llir.elementwise cast(%8) : (tensor<784x192xf32>) -> tensor<784x192xf16>
    llir.yield %9 : tensor<784x192xf16>
  }
  return %r : tensor<784x192xf16>
}

// -----

// Rows that are enough to keep memory busy have a thread each, whose neighbours read beside it.
// CHECK-LABEL: @many
// CHECK: loops<grid(d0) stream(d1:all) threads({{[0-9]+}}) op2 = pass
// REMARK-NOT: teams of far elements
func.func @many(%x: tensor<96x262144xf16>) -> tensor<262144x96xf16> {
  %r = llir.kernel(%x) : (tensor<96x262144xf16>) -> tensor<262144x96xf16> {
  ^bb0(%a: tensor<96x262144xf16>):
    %0 = llir.view %a <(d0, d1) -> (d1, d0)> : tensor<96x262144xf16> -> tensor<262144x96xf16>
    %1 = llir.elementwise cast(%0) : (tensor<262144x96xf16>) -> tensor<262144x96xf32>
    %2 = llir.reduce sum %1 : tensor<262144x96xf32> -> tensor<262144xf32>
    %3 = llir.view %2 <(d0, d1) -> (d0)> : tensor<262144xf32> -> tensor<262144x96xf32>
    %4 = llir.elementwise sub(%1, %3) : (tensor<262144x96xf32>, tensor<262144x96xf32>) -> tensor<262144x96xf32>
    %5 = llir.elementwise mul(%4, %4) : (tensor<262144x96xf32>, tensor<262144x96xf32>) -> tensor<262144x96xf32>
    %6 = llir.reduce sum %5 : tensor<262144x96xf32> -> tensor<262144xf32>
    %7 = llir.view %6 <(d0, d1) -> (d0)> : tensor<262144xf32> -> tensor<262144x96xf32>
    %8 = llir.elementwise mul(%4, %7) : (tensor<262144x96xf32>, tensor<262144x96xf32>) -> tensor<262144x96xf32>
    %9 = llir.elementwise cast(%8) : (tensor<262144x96xf32>) -> tensor<262144x96xf16>
    llir.yield %9 : tensor<262144x96xf16>
  }
  return %r : tensor<262144x96xf16>
}
