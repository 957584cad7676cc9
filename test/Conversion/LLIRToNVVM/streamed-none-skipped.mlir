// Where each block has a multiprocessor and some block walks all of the stream, none leaves anything out: it would end no
// sooner, and somebody would have to look at what is left out.
// RUN: luminal-opt %s --luminal-pipeline="target=cuda arch=h200 from=saturated until=scheduled" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: luminal-translate --llir-to-ptx --gpu-arch=sm_90a %t.mlir -o %t.ptx
// RUN: FileCheck %s --check-prefix=PTX --input-file=%t.ptx

// CHECK-LABEL: @causal
// CHECK: skipped = none
// PTX-LABEL: .entry causal(
// PTX-NOT: bar.red
// PTX-NOT: atom
// PTX: ret;
func.func @causal(%q: tensor<12x128x64xf16>, %k: tensor<12x128x64xf16>, %v: tensor<12x128x64xf16>) -> tensor<12x128x64xf16> {
  %a = llir.elementwise cast(%q) : (tensor<12x128x64xf16>) -> tensor<12x128x64xf32>
  %b = llir.elementwise cast(%k) : (tensor<12x128x64xf16>) -> tensor<12x128x64xf32>
  %s = llir.gemm %a, %b k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<12x128x64xf32>, tensor<12x128x64xf32> -> tensor<12x128x128xf32>
  %i = llir.iota <(d0, d1, d2) -> (d1)> : tensor<12x128x128xi64>
  %j = llir.iota <(d0, d1, d2) -> (d2)> : tensor<12x128x128xi64>
  %m = llir.elementwise less_equal(%j, %i) : (tensor<12x128x128xi64>, tensor<12x128x128xi64>) -> tensor<12x128x128xi1>
  %l = llir.constant dense<0xFF800000> : tensor<f32>
  %ls = llir.view %l <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<12x128x128xf32>
  %y = llir.elementwise select(%m, %s, %ls) : (tensor<12x128x128xi1>, tensor<12x128x128xf32>, tensor<12x128x128xf32>) -> tensor<12x128x128xf32>
  %p = llir.softmax %y : tensor<12x128x128xf32>
  %n = llir.elementwise cast(%p) : (tensor<12x128x128xf32>) -> tensor<12x128x128xf16>
  %o = llir.gemm %n, %v k(128) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<12x128x128xf16>, tensor<12x128x64xf16> -> tensor<12x128x64xf16>
  return %o : tensor<12x128x64xf16>
}

// One block has all rows of a head, however many heads there are.
// CHECK-LABEL: @one_block
// CHECK: skipped = none
// PTX-LABEL: .entry one_block(
// PTX-NOT: bar.red
// PTX-NOT: atom
// PTX: ret;
func.func @one_block(%q: tensor<480x64x64xf16>, %k: tensor<480x64x64xf16>, %v: tensor<480x64x64xf16>) -> tensor<480x64x64xf16> {
  %a = llir.elementwise cast(%q) : (tensor<480x64x64xf16>) -> tensor<480x64x64xf32>
  %b = llir.elementwise cast(%k) : (tensor<480x64x64xf16>) -> tensor<480x64x64xf32>
  %s = llir.gemm %a, %b k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<480x64x64xf32>, tensor<480x64x64xf32> -> tensor<480x64x64xf32>
  %i = llir.iota <(d0, d1, d2) -> (d1)> : tensor<480x64x64xi64>
  %j = llir.iota <(d0, d1, d2) -> (d2)> : tensor<480x64x64xi64>
  %m = llir.elementwise less_equal(%j, %i) : (tensor<480x64x64xi64>, tensor<480x64x64xi64>) -> tensor<480x64x64xi1>
  %l = llir.constant dense<0xFF800000> : tensor<f32>
  %ls = llir.view %l <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<480x64x64xf32>
  %y = llir.elementwise select(%m, %s, %ls) : (tensor<480x64x64xi1>, tensor<480x64x64xf32>, tensor<480x64x64xf32>) -> tensor<480x64x64xf32>
  %p = llir.softmax %y : tensor<480x64x64xf32>
  %n = llir.elementwise cast(%p) : (tensor<480x64x64xf32>) -> tensor<480x64x64xf16>
  %o = llir.gemm %n, %v k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<480x64x64xf16>, tensor<480x64x64xf16> -> tensor<480x64x64xf16>
  return %o : tensor<480x64x64xf16>
}

// In a window no block walks all.
// CHECK-LABEL: @window
// CHECK: skipped = shared
// PTX-LABEL: .entry window(
// PTX: atom
func.func @window(%q: tensor<12x256x64xf16>, %k: tensor<12x256x64xf16>, %v: tensor<12x256x64xf16>) -> tensor<12x256x64xf16> {
  %a = llir.elementwise cast(%q) : (tensor<12x256x64xf16>) -> tensor<12x256x64xf32>
  %b = llir.elementwise cast(%k) : (tensor<12x256x64xf16>) -> tensor<12x256x64xf32>
  %s = llir.gemm %a, %b k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<12x256x64xf32>, tensor<12x256x64xf32> -> tensor<12x256x256xf32>
  %i = llir.iota <(d0, d1, d2) -> (d1)> : tensor<12x256x256xi64>
  %e = llir.iota <(d0, d1, d2) -> (d2 + 40)> : tensor<12x256x256xi64>
  %j = llir.iota <(d0, d1, d2) -> (d2)> : tensor<12x256x256xi64>
  %m = llir.elementwise less_equal(%j, %i) : (tensor<12x256x256xi64>, tensor<12x256x256xi64>) -> tensor<12x256x256xi1>
  %w = llir.elementwise less_equal(%i, %e) : (tensor<12x256x256xi64>, tensor<12x256x256xi64>) -> tensor<12x256x256xi1>
  %l = llir.constant dense<0xFF800000> : tensor<f32>
  %ls = llir.view %l <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<12x256x256xf32>
  %y = llir.elementwise select(%m, %s, %ls) : (tensor<12x256x256xi1>, tensor<12x256x256xf32>, tensor<12x256x256xf32>) -> tensor<12x256x256xf32>
  %z = llir.elementwise select(%w, %y, %ls) : (tensor<12x256x256xi1>, tensor<12x256x256xf32>, tensor<12x256x256xf32>) -> tensor<12x256x256xf32>
  %p = llir.softmax %z : tensor<12x256x256xf32>
  %n = llir.elementwise cast(%p) : (tensor<12x256x256xf32>) -> tensor<12x256x256xf16>
  %o = llir.gemm %n, %v k(256) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<12x256x256xf16>, tensor<12x256x64xf16> -> tensor<12x256x64xf16>
  return %o : tensor<12x256x64xf16>
}
