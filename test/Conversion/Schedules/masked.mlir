// What units of a stream walk where a mask is proved from indices, and why they walk all where it is not.
// RUN: luminal-opt %s --split-input-file --llir-fuse-kernels --llir-schedule-kernels=arch=x86-64-v3 --remarks-filter=llir-schedule-kernels -o %t 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: luminal-opt %s --split-input-file --llir-fuse-kernels | FileCheck %s --check-prefix=KERNELS
// RUN: luminal-opt %s --split-input-file --llir-fuse-kernels --llir-schedule-kernels=arch=x86-64-v3 --llir-plan-memory --convert-llir-to-llvm="arch=x86-64-v3 keep-loops" | FileCheck %s --check-prefix=CODE

// Rows tell where the walk ends; elements that are multiplied by zero are looked at for a NaN.
// REMARK: Function=causal {{.*}} walks from=0, walks to="d1 + 1"
// CODE-LABEL: llvm.func @k0
// CODE: arith.minsi
// CODE: arith.maxsi
// CODE: arith.cmpf uno
// CODE: scf.for
func.func @causal(%q: tensor<8x1024x64xf32>, %k: tensor<8x16384x64xf32>, %v: tensor<8x16384x32xf32>) -> tensor<8x1024x32xf32> {
  %key = llir.iota <(d0, d1, d2) -> (d2)> : tensor<8x1024x16384xi64>
  %query = llir.iota <(d0, d1, d2) -> (d1)> : tensor<8x1024x16384xi64>
  %mask = llir.elementwise less_equal(%key, %query) : (tensor<8x1024x16384xi64>, tensor<8x1024x16384xi64>) -> tensor<8x1024x16384xi1>
  %s = llir.gemm %q, %k k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<8x1024x64xf32>, tensor<8x16384x64xf32> -> tensor<8x1024x16384xf32>
  %c = llir.constant dense<0xFF800000> : tensor<f32>
  %l = llir.view %c <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<8x1024x16384xf32>
  %x = llir.elementwise select(%mask, %s, %l) : (tensor<8x1024x16384xi1>, tensor<8x1024x16384xf32>, tensor<8x1024x16384xf32>) -> tensor<8x1024x16384xf32>
  %p = llir.softmax %x : tensor<8x1024x16384xf32>
  %o = llir.gemm %p, %v k(16384) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<8x1024x16384xf32>, tensor<8x16384x32xf32> -> tensor<8x1024x32xf32>
  return %o : tensor<8x1024x32xf32>
}

// -----
// Both ends of a window.
// REMARK: Function=window {{.*}} walks from="max(d1 - 255, 0)", walks to="d1 + 1"
func.func @window(%q: tensor<8x1024x64xf32>, %k: tensor<8x16384x64xf32>, %v: tensor<8x16384x32xf32>) -> tensor<8x1024x32xf32> {
  %key = llir.iota <(d0, d1, d2) -> (d2)> : tensor<8x1024x16384xi64>
  %query = llir.iota <(d0, d1, d2) -> (d1)> : tensor<8x1024x16384xi64>
  %causal = llir.elementwise less_equal(%key, %query) : (tensor<8x1024x16384xi64>, tensor<8x1024x16384xi64>) -> tensor<8x1024x16384xi1>
  %distance = llir.elementwise sub(%query, %key) : (tensor<8x1024x16384xi64>, tensor<8x1024x16384xi64>) -> tensor<8x1024x16384xi64>
  %wide = llir.iota <(d0, d1, d2) -> (256)> : tensor<8x1024x16384xi64>
  %near = llir.elementwise less_than(%distance, %wide) : (tensor<8x1024x16384xi64>, tensor<8x1024x16384xi64>) -> tensor<8x1024x16384xi1>
  %mask = llir.elementwise mul(%causal, %near) : (tensor<8x1024x16384xi1>, tensor<8x1024x16384xi1>) -> tensor<8x1024x16384xi1>
  %s = llir.gemm %q, %k k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<8x1024x64xf32>, tensor<8x16384x64xf32> -> tensor<8x1024x16384xf32>
  %c = llir.constant dense<0xFF800000> : tensor<f32>
  %l = llir.view %c <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<8x1024x16384xf32>
  %x = llir.elementwise select(%mask, %s, %l) : (tensor<8x1024x16384xi1>, tensor<8x1024x16384xf32>, tensor<8x1024x16384xf32>) -> tensor<8x1024x16384xf32>
  %p = llir.softmax %x : tensor<8x1024x16384xf32>
  %o = llir.gemm %p, %v k(16384) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<8x1024x16384xf32>, tensor<8x16384x32xf32> -> tensor<8x1024x32xf32>
  return %o : tensor<8x1024x32xf32>
}

// -----
// What is masked may be spelled the other way round, and sizes may be known at a call.
// REMARK: Function=negated {{.*}} walks from="max(d1 - m + n - 99, 0)", walks to="d1 - m + n + 1"
func.func @negated(%q: tensor<8x?x64xf32, #hlir.dims<m>>, %k: tensor<8x?x64xf32, #hlir.dims<n>>, %v: tensor<8x?x32xf32, #hlir.dims<n>>) -> tensor<8x?x32xf32, #hlir.dims<m>> attributes {hlir.symbols = #hlir.symbols<m in [1, 4096], n in [1, 65536]>} {
  %key = llir.iota <(d0, d1, d2) -> (d2)> : tensor<8x?x?xi64, #hlir.dims<m, n>>
  %query = llir.iota <(d0, d1, d2) -> (d1 + n - m)> : tensor<8x?x?xi64, #hlir.dims<m, n>>
  %late = llir.elementwise less_than(%query, %key) : (tensor<8x?x?xi64, #hlir.dims<m, n>>, tensor<8x?x?xi64, #hlir.dims<m, n>>) -> tensor<8x?x?xi1, #hlir.dims<m, n>>
  %far = llir.iota <(d0, d1, d2) -> (d2 + 100)> : tensor<8x?x?xi64, #hlir.dims<m, n>>
  %early = llir.elementwise less_equal(%far, %query) : (tensor<8x?x?xi64, #hlir.dims<m, n>>, tensor<8x?x?xi64, #hlir.dims<m, n>>) -> tensor<8x?x?xi1, #hlir.dims<m, n>>
  %out = llir.elementwise or(%late, %early) : (tensor<8x?x?xi1, #hlir.dims<m, n>>, tensor<8x?x?xi1, #hlir.dims<m, n>>) -> tensor<8x?x?xi1, #hlir.dims<m, n>>
  %mask = llir.elementwise not(%out) : (tensor<8x?x?xi1, #hlir.dims<m, n>>) -> tensor<8x?x?xi1, #hlir.dims<m, n>>
  %s = llir.gemm %q, %k k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<8x?x64xf32, #hlir.dims<m>>, tensor<8x?x64xf32, #hlir.dims<n>> -> tensor<8x?x?xf32, #hlir.dims<m, n>>
  %c = llir.constant dense<0xFF800000> : tensor<f32>
  %l = llir.view %c <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<8x?x?xf32, #hlir.dims<m, n>>
  %x = llir.elementwise select(%mask, %s, %l) : (tensor<8x?x?xi1, #hlir.dims<m, n>>, tensor<8x?x?xf32, #hlir.dims<m, n>>, tensor<8x?x?xf32, #hlir.dims<m, n>>) -> tensor<8x?x?xf32, #hlir.dims<m, n>>
  %p = llir.softmax %x : tensor<8x?x?xf32, #hlir.dims<m, n>>
  %o = llir.gemm %p, %v k(n) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<8x?x?xf32, #hlir.dims<m, n>>, tensor<8x?x32xf32, #hlir.dims<n>> -> tensor<8x?x32xf32, #hlir.dims<m>>
  return %o : tensor<8x?x32xf32, #hlir.dims<m>>
}

// -----
// One select in another; a scale and a cap between.
// REMARK: Function=nested {{.*}} walks from="max(d1 floordiv 2 - 99, 0)", walks to="d1 + 1"
func.func @nested(%q: tensor<8x1024x64xf32>, %k: tensor<8x16384x64xf32>, %v: tensor<8x16384x32xf32>) -> tensor<8x1024x32xf32> {
  %key = llir.iota <(d0, d1, d2) -> (d2)> : tensor<8x1024x16384xi64>
  %query = llir.iota <(d0, d1, d2) -> (d1)> : tensor<8x1024x16384xi64>
  %mask = llir.elementwise less_equal(%key, %query) : (tensor<8x1024x16384xi64>, tensor<8x1024x16384xi64>) -> tensor<8x1024x16384xi1>
  %wide = llir.iota <(d0, d1, d2) -> (d2 * 2 + 200)> : tensor<8x1024x16384xi64>
  %near = llir.elementwise less_than(%query, %wide) : (tensor<8x1024x16384xi64>, tensor<8x1024x16384xi64>) -> tensor<8x1024x16384xi1>
  %s = llir.gemm %q, %k k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<8x1024x64xf32>, tensor<8x16384x64xf32> -> tensor<8x1024x16384xf32>
  %c = llir.constant dense<0xFF800000> : tensor<f32>
  %l = llir.view %c <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<8x1024x16384xf32>
  %y = llir.elementwise select(%mask, %s, %l) : (tensor<8x1024x16384xi1>, tensor<8x1024x16384xf32>, tensor<8x1024x16384xf32>) -> tensor<8x1024x16384xf32>
  %z = llir.elementwise add(%y, %y) : (tensor<8x1024x16384xf32>, tensor<8x1024x16384xf32>) -> tensor<8x1024x16384xf32>
  %x = llir.elementwise select(%near, %z, %l) : (tensor<8x1024x16384xi1>, tensor<8x1024x16384xf32>, tensor<8x1024x16384xf32>) -> tensor<8x1024x16384xf32>
  %p = llir.softmax %x : tensor<8x1024x16384xf32>
  %o = llir.gemm %p, %v k(16384) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<8x1024x16384xf32>, tensor<8x16384x32xf32> -> tensor<8x1024x32xf32>
  return %o : tensor<8x1024x32xf32>
}

// -----
// The least span that has both: the first keys are seen by all.
// REMARK: Function=either {{.*}} walks from=0, walks to="max(d1 + 1, 4)"
func.func @either(%q: tensor<8x1024x64xf32>, %k: tensor<8x16384x64xf32>, %v: tensor<8x16384x32xf32>) -> tensor<8x1024x32xf32> {
  %key = llir.iota <(d0, d1, d2) -> (d2)> : tensor<8x1024x16384xi64>
  %query = llir.iota <(d0, d1, d2) -> (d1)> : tensor<8x1024x16384xi64>
  %mask = llir.elementwise less_equal(%key, %query) : (tensor<8x1024x16384xi64>, tensor<8x1024x16384xi64>) -> tensor<8x1024x16384xi1>
  %four = llir.iota <(d0, d1, d2) -> (4)> : tensor<8x1024x16384xi64>
  %first = llir.elementwise less_than(%key, %four) : (tensor<8x1024x16384xi64>, tensor<8x1024x16384xi64>) -> tensor<8x1024x16384xi1>
  %mask2 = llir.elementwise or(%mask, %first) : (tensor<8x1024x16384xi1>, tensor<8x1024x16384xi1>) -> tensor<8x1024x16384xi1>
  %s = llir.gemm %q, %k k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<8x1024x64xf32>, tensor<8x16384x64xf32> -> tensor<8x1024x16384xf32>
  %c = llir.constant dense<0xFF800000> : tensor<f32>
  %l = llir.view %c <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<8x1024x16384xf32>
  %x = llir.elementwise select(%mask2, %s, %l) : (tensor<8x1024x16384xi1>, tensor<8x1024x16384xf32>, tensor<8x1024x16384xf32>) -> tensor<8x1024x16384xf32>
  %p = llir.softmax %x : tensor<8x1024x16384xf32>
  %o = llir.gemm %p, %v k(16384) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<8x1024x16384xf32>, tensor<8x16384x32xf32> -> tensor<8x1024x32xf32>
  return %o : tensor<8x1024x32xf32>
}

// -----
// A mask that is read is not proved.
// REMARK: Function=read {{.*}} walks all because="no index of the stream is proved to be masked"
func.func @read(%q: tensor<8x1024x64xf32>, %k: tensor<8x16384x64xf32>, %v: tensor<8x16384x32xf32>, %mask: tensor<8x1024x16384xi1>) -> tensor<8x1024x32xf32> {
  
  %s = llir.gemm %q, %k k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<8x1024x64xf32>, tensor<8x16384x64xf32> -> tensor<8x1024x16384xf32>
  %c = llir.constant dense<0xFF800000> : tensor<f32>
  %l = llir.view %c <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<8x1024x16384xf32>
  %x = llir.elementwise select(%mask, %s, %l) : (tensor<8x1024x16384xi1>, tensor<8x1024x16384xf32>, tensor<8x1024x16384xf32>) -> tensor<8x1024x16384xf32>
  %p = llir.softmax %x : tensor<8x1024x16384xf32>
  %o = llir.gemm %p, %v k(16384) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<8x1024x16384xf32>, tensor<8x16384x32xf32> -> tensor<8x1024x32xf32>
  return %o : tensor<8x1024x32xf32>
}

// -----
// A finite number is not nothing: a row may have no greater one.
// REMARK: Function=finite {{.*}} walks all because="no index of the stream is proved to be masked"
func.func @finite(%q: tensor<8x1024x64xf32>, %k: tensor<8x16384x64xf32>, %v: tensor<8x16384x32xf32>) -> tensor<8x1024x32xf32> {
  %key = llir.iota <(d0, d1, d2) -> (d2)> : tensor<8x1024x16384xi64>
  %query = llir.iota <(d0, d1, d2) -> (d1)> : tensor<8x1024x16384xi64>
  %mask = llir.elementwise less_equal(%key, %query) : (tensor<8x1024x16384xi64>, tensor<8x1024x16384xi64>) -> tensor<8x1024x16384xi1>
  %s = llir.gemm %q, %k k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<8x1024x64xf32>, tensor<8x16384x64xf32> -> tensor<8x1024x16384xf32>
  %c = llir.constant dense<-1.000000e+09> : tensor<f32>
  %l = llir.view %c <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<8x1024x16384xf32>
  %x = llir.elementwise select(%mask, %s, %l) : (tensor<8x1024x16384xi1>, tensor<8x1024x16384xf32>, tensor<8x1024x16384xf32>) -> tensor<8x1024x16384xf32>
  %p = llir.softmax %x : tensor<8x1024x16384xf32>
  %o = llir.gemm %p, %v k(16384) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<8x1024x16384xf32>, tensor<8x16384x32xf32> -> tensor<8x1024x32xf32>
  return %o : tensor<8x1024x32xf32>
}

// -----
// Added to a score that is +inf or NaN, -inf does not hide it: what makes scores is compared with a bound.
// REMARK: Function=added {{.*}} walks from=0, walks to="d1 + 1"
// CODE: arith.cmpi ugt
func.func @added(%q: tensor<8x1024x64xf32>, %k: tensor<8x16384x64xf32>, %v: tensor<8x16384x32xf32>) -> tensor<8x1024x32xf32> {
  %key = llir.iota <(d0, d1, d2) -> (d2)> : tensor<8x1024x16384xi64>
  %query = llir.iota <(d0, d1, d2) -> (d1)> : tensor<8x1024x16384xi64>
  %mask = llir.elementwise less_equal(%key, %query) : (tensor<8x1024x16384xi64>, tensor<8x1024x16384xi64>) -> tensor<8x1024x16384xi1>
  %s = llir.gemm %q, %k k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<8x1024x64xf32>, tensor<8x16384x64xf32> -> tensor<8x1024x16384xf32>
  %c = llir.constant dense<0xFF800000> : tensor<f32>
  %l = llir.view %c <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<8x1024x16384xf32>
  %n = llir.constant dense<0.000000e+00> : tensor<f32>
  %zero = llir.view %n <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<8x1024x16384xf32>
  %b = llir.elementwise select(%mask, %zero, %l) : (tensor<8x1024x16384xi1>, tensor<8x1024x16384xf32>, tensor<8x1024x16384xf32>) -> tensor<8x1024x16384xf32>
  %x = llir.elementwise add(%s, %b) : (tensor<8x1024x16384xf32>, tensor<8x1024x16384xf32>) -> tensor<8x1024x16384xf32>
  %p = llir.softmax %x : tensor<8x1024x16384xf32>
  %o = llir.gemm %p, %v k(16384) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<8x1024x16384xf32>, tensor<8x16384x32xf32> -> tensor<8x1024x32xf32>
  return %o : tensor<8x1024x32xf32>
}

// -----
// All but the diagonal.
// REMARK: Function=diagonal {{.*}} walks all because="no index of the stream is proved to be masked"
func.func @diagonal(%q: tensor<8x1024x64xf32>, %k: tensor<8x16384x64xf32>, %v: tensor<8x16384x32xf32>) -> tensor<8x1024x32xf32> {
  %key = llir.iota <(d0, d1, d2) -> (d2)> : tensor<8x1024x16384xi64>
  %query = llir.iota <(d0, d1, d2) -> (d1)> : tensor<8x1024x16384xi64>
  %mask = llir.elementwise equal(%key, %query) : (tensor<8x1024x16384xi64>, tensor<8x1024x16384xi64>) -> tensor<8x1024x16384xi1>
  %s = llir.gemm %q, %k k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<8x1024x64xf32>, tensor<8x16384x64xf32> -> tensor<8x1024x16384xf32>
  %c = llir.constant dense<0xFF800000> : tensor<f32>
  %l = llir.view %c <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<8x1024x16384xf32>
  %x = llir.elementwise select(%mask, %l, %s) : (tensor<8x1024x16384xi1>, tensor<8x1024x16384xf32>, tensor<8x1024x16384xf32>) -> tensor<8x1024x16384xf32>
  %p = llir.softmax %x : tensor<8x1024x16384xf32>
  %o = llir.gemm %p, %v k(16384) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<8x1024x16384xf32>, tensor<8x16384x32xf32> -> tensor<8x1024x32xf32>
  return %o : tensor<8x1024x32xf32>
}

// -----
// Every other key: no span.
// REMARK: Function=strided {{.*}} walks all because="no index of the stream is proved to be masked"
func.func @strided(%q: tensor<8x1024x64xf32>, %k: tensor<8x16384x64xf32>, %v: tensor<8x16384x32xf32>) -> tensor<8x1024x32xf32> {
  %key = llir.iota <(d0, d1, d2) -> (d2 mod 2)> : tensor<8x1024x16384xi64>
  %query = llir.iota <(d0, d1, d2) -> (d1)> : tensor<8x1024x16384xi64>
  %mask = llir.elementwise less_equal(%key, %query) : (tensor<8x1024x16384xi64>, tensor<8x1024x16384xi64>) -> tensor<8x1024x16384xi1>
  %s = llir.gemm %q, %k k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<8x1024x64xf32>, tensor<8x16384x64xf32> -> tensor<8x1024x16384xf32>
  %c = llir.constant dense<0xFF800000> : tensor<f32>
  %l = llir.view %c <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<8x1024x16384xf32>
  %x = llir.elementwise select(%mask, %s, %l) : (tensor<8x1024x16384xi1>, tensor<8x1024x16384xf32>, tensor<8x1024x16384xf32>) -> tensor<8x1024x16384xf32>
  %p = llir.softmax %x : tensor<8x1024x16384xf32>
  %o = llir.gemm %p, %v k(16384) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<8x1024x16384xf32>, tensor<8x16384x32xf32> -> tensor<8x1024x32xf32>
  return %o : tensor<8x1024x32xf32>
}

// -----
// A mask of all heads is found again where it is read, though that is more operations than to load it: the walk is shorter.
// KERNELS-LABEL: func.func @shared
// KERNELS: llir.kernel(%arg0, %arg1, %arg2)
// KERNELS-NOT: llir.kernel
// KERNELS: return
// REMARK: Function=shared {{.*}} walks from="max(d1 - 255, 0)", walks to="d1 + 1"
func.func @shared(%q: tensor<8x1024x64xf32>, %k: tensor<8x16384x64xf32>, %v: tensor<8x16384x32xf32>) -> tensor<8x1024x32xf32> {
  %key = llir.iota <(d0, d1) -> (d1)> : tensor<1024x16384xi64>
  %query = llir.iota <(d0, d1) -> (d0)> : tensor<1024x16384xi64>
  %causal = llir.elementwise less_equal(%key, %query) : (tensor<1024x16384xi64>, tensor<1024x16384xi64>) -> tensor<1024x16384xi1>
  %wide = llir.iota <(d0, d1) -> (d1 + 256)> : tensor<1024x16384xi64>
  %near = llir.elementwise less_than(%query, %wide) : (tensor<1024x16384xi64>, tensor<1024x16384xi64>) -> tensor<1024x16384xi1>
  %both = llir.elementwise mul(%causal, %near) : (tensor<1024x16384xi1>, tensor<1024x16384xi1>) -> tensor<1024x16384xi1>
  %mask = llir.view %both <(d0, d1, d2) -> (d1, d2)> : tensor<1024x16384xi1> -> tensor<8x1024x16384xi1>
  %s = llir.gemm %q, %k k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<8x1024x64xf32>, tensor<8x16384x64xf32> -> tensor<8x1024x16384xf32>
  %c = llir.constant dense<0xFF800000> : tensor<f32>
  %l = llir.view %c <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<8x1024x16384xf32>
  %x = llir.elementwise select(%mask, %s, %l) : (tensor<8x1024x16384xi1>, tensor<8x1024x16384xf32>, tensor<8x1024x16384xf32>) -> tensor<8x1024x16384xf32>
  %p = llir.softmax %x : tensor<8x1024x16384xf32>
  %o = llir.gemm %p, %v k(16384) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<8x1024x16384xf32>, tensor<8x16384x32xf32> -> tensor<8x1024x32xf32>
  return %o : tensor<8x1024x32xf32>
}

// -----
// No one bounds what else is added.
// REMARK: Function=added_to_any {{.*}}walks all because="no index of the stream is proved to be masked"
func.func @added_to_any(%q: tensor<8x1024x64xf32>, %k: tensor<8x16384x64xf32>, %v: tensor<8x16384x32xf32>, %w: tensor<8x1024x16384xf32>) -> tensor<8x1024x32xf32> {
  %key = llir.iota <(d0, d1, d2) -> (d2)> : tensor<8x1024x16384xi64>
  %query = llir.iota <(d0, d1, d2) -> (d1)> : tensor<8x1024x16384xi64>
  %mask = llir.elementwise less_equal(%key, %query) : (tensor<8x1024x16384xi64>, tensor<8x1024x16384xi64>) -> tensor<8x1024x16384xi1>
  %s = llir.gemm %q, %k k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<8x1024x64xf32>, tensor<8x16384x64xf32> -> tensor<8x1024x16384xf32>
  %c = llir.constant dense<0xFF800000> : tensor<f32>
  %l = llir.view %c <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<8x1024x16384xf32>
  %z = llir.constant dense<0.0> : tensor<f32>
  %n = llir.view %z <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<8x1024x16384xf32>
  %b = llir.elementwise select(%mask, %n, %l) : (tensor<8x1024x16384xi1>, tensor<8x1024x16384xf32>, tensor<8x1024x16384xf32>) -> tensor<8x1024x16384xf32>
  %y = llir.elementwise add(%s, %w) : (tensor<8x1024x16384xf32>, tensor<8x1024x16384xf32>) -> tensor<8x1024x16384xf32>
  %x = llir.elementwise add(%b, %y) : (tensor<8x1024x16384xf32>, tensor<8x1024x16384xf32>) -> tensor<8x1024x16384xf32>
  %p = llir.softmax %x : tensor<8x1024x16384xf32>
  %o = llir.gemm %p, %v k(16384) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<8x1024x16384xf32>, tensor<8x16384x32xf32> -> tensor<8x1024x32xf32>
  return %o : tensor<8x1024x32xf32>
}

// -----
// Any function of what is masked that keeps the infinity (Functions.def has its value).
// REMARK: Function=rounded {{.*}} walks from=0, walks to="d1 + 1"
func.func @rounded(%q: tensor<8x1024x64xf32>, %k: tensor<8x16384x64xf32>, %v: tensor<8x16384x32xf32>) -> tensor<8x1024x32xf32> {
  %key = llir.iota <(d0, d1, d2) -> (d2)> : tensor<8x1024x16384xi64>
  %query = llir.iota <(d0, d1, d2) -> (d1)> : tensor<8x1024x16384xi64>
  %mask = llir.elementwise less_equal(%key, %query) : (tensor<8x1024x16384xi64>, tensor<8x1024x16384xi64>) -> tensor<8x1024x16384xi1>
  %s = llir.gemm %q, %k k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<8x1024x64xf32>, tensor<8x16384x64xf32> -> tensor<8x1024x16384xf32>
  %c = llir.constant dense<0xFF800000> : tensor<f32>
  %l = llir.view %c <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<8x1024x16384xf32>
  %x = llir.elementwise select(%mask, %s, %l) : (tensor<8x1024x16384xi1>, tensor<8x1024x16384xf32>, tensor<8x1024x16384xf32>) -> tensor<8x1024x16384xf32>
  %y = llir.elementwise floor(%x) : (tensor<8x1024x16384xf32>) -> tensor<8x1024x16384xf32>
  %p = llir.softmax %y : tensor<8x1024x16384xf32>
  %o = llir.gemm %p, %v k(16384) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<8x1024x16384xf32>, tensor<8x16384x32xf32> -> tensor<8x1024x32xf32>
  return %o : tensor<8x1024x32xf32>
}

// -----
// Without a reduction between both products: attention by sigmoids.
// KERNELS-LABEL: func.func @sigmoids
// KERNELS: llir.kernel(%arg0, %arg1, %arg2)
// KERNELS-NOT: llir.kernel
// KERNELS: return
// REMARK: Function=sigmoids | anchors=2, {{.*}} walks from=0, walks to="d1 + 1"
func.func @sigmoids(%q: tensor<8x1024x64xf32>, %k: tensor<8x16384x64xf32>, %v: tensor<8x16384x32xf32>) -> tensor<8x1024x32xf32> {
  %key = llir.iota <(d0, d1, d2) -> (d2)> : tensor<8x1024x16384xi64>
  %query = llir.iota <(d0, d1, d2) -> (d1)> : tensor<8x1024x16384xi64>
  %mask = llir.elementwise less_equal(%key, %query) : (tensor<8x1024x16384xi64>, tensor<8x1024x16384xi64>) -> tensor<8x1024x16384xi1>
  %s = llir.gemm %q, %k k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<8x1024x64xf32>, tensor<8x16384x64xf32> -> tensor<8x1024x16384xf32>
  %c = llir.constant dense<0xFF800000> : tensor<f32>
  %l = llir.view %c <(d0, d1, d2) -> ()> : tensor<f32> -> tensor<8x1024x16384xf32>
  %x = llir.elementwise select(%mask, %s, %l) : (tensor<8x1024x16384xi1>, tensor<8x1024x16384xf32>, tensor<8x1024x16384xf32>) -> tensor<8x1024x16384xf32>
  %p = llir.elementwise sigmoid(%x) : (tensor<8x1024x16384xf32>) -> tensor<8x1024x16384xf32>
  %o = llir.gemm %p, %v k(16384) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<8x1024x16384xf32>, tensor<8x16384x32xf32> -> tensor<8x1024x32xf32>
  return %o : tensor<8x1024x32xf32>
}

// -----
// A condition as a number that scores are multiplied with: where they are numbers, zero. That is seen at the call.
// REMARK: Function=multiplied {{.*}} walks from=0, walks to="d1 + 1"
// CODE: arith.cmpi ugt
func.func @multiplied(%q: tensor<8x1024x64xf32>, %k: tensor<8x16384x64xf32>, %v: tensor<8x16384x32xf32>) -> tensor<8x1024x32xf32> {
  %key = llir.iota <(d0, d1, d2) -> (d2)> : tensor<8x1024x16384xi64>
  %query = llir.iota <(d0, d1, d2) -> (d1)> : tensor<8x1024x16384xi64>
  %mask = llir.elementwise less_equal(%key, %query) : (tensor<8x1024x16384xi64>, tensor<8x1024x16384xi64>) -> tensor<8x1024x16384xi1>
  %s = llir.gemm %q, %k k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<8x1024x64xf32>, tensor<8x16384x64xf32> -> tensor<8x1024x16384xf32>
  %x = llir.elementwise silu(%s) : (tensor<8x1024x16384xf32>) -> tensor<8x1024x16384xf32>
  %m = llir.elementwise cast(%mask) : (tensor<8x1024x16384xi1>) -> tensor<8x1024x16384xf32>
  %p = llir.elementwise mul(%x, %m) : (tensor<8x1024x16384xf32>, tensor<8x1024x16384xf32>) -> tensor<8x1024x16384xf32>
  %o = llir.gemm %p, %v k(16384) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<8x1024x16384xf32>, tensor<8x16384x32xf32> -> tensor<8x1024x32xf32>
  return %o : tensor<8x1024x32xf32>
}

// -----
// No one bounds the exponential of a score.
// REMARK: Function=multiplied_exp {{.*}}walks all because="no index of the stream is proved to be masked"
func.func @multiplied_exp(%q: tensor<8x1024x64xf32>, %k: tensor<8x16384x64xf32>, %v: tensor<8x16384x32xf32>) -> tensor<8x1024x32xf32> {
  %key = llir.iota <(d0, d1, d2) -> (d2)> : tensor<8x1024x16384xi64>
  %query = llir.iota <(d0, d1, d2) -> (d1)> : tensor<8x1024x16384xi64>
  %mask = llir.elementwise less_equal(%key, %query) : (tensor<8x1024x16384xi64>, tensor<8x1024x16384xi64>) -> tensor<8x1024x16384xi1>
  %s = llir.gemm %q, %k k(64) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<8x1024x64xf32>, tensor<8x16384x64xf32> -> tensor<8x1024x16384xf32>
  %x = llir.elementwise exp(%s) : (tensor<8x1024x16384xf32>) -> tensor<8x1024x16384xf32>
  %m = llir.elementwise cast(%mask) : (tensor<8x1024x16384xi1>) -> tensor<8x1024x16384xf32>
  %p = llir.elementwise mul(%x, %m) : (tensor<8x1024x16384xf32>, tensor<8x1024x16384xf32>) -> tensor<8x1024x16384xf32>
  %o = llir.gemm %p, %v k(16384) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<8x1024x16384xf32>, tensor<8x16384x32xf32> -> tensor<8x1024x32xf32>
  return %o : tensor<8x1024x32xf32>
}

// -----
// A unit of at most 112 rows would read 256 columns for an index of the stream: more than both products move between them.
// KERNELS-LABEL: func.func @wide
// KERNELS: llir.kernel(%arg0, %arg1)
// KERNELS: llir.kernel(%{{.*}}, %arg2)
func.func @wide(%q: tensor<8x1024x128xf32>, %k: tensor<8x16384x128xf32>, %v: tensor<8x16384x128xf32>) -> tensor<8x1024x128xf32> {
  %s = llir.gemm %q, %k k(128) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d2, d3)> : tensor<8x1024x128xf32>, tensor<8x16384x128xf32> -> tensor<8x1024x16384xf32>
  %p = llir.elementwise sigmoid(%s) : (tensor<8x1024x16384xf32>) -> tensor<8x1024x16384xf32>
  %o = llir.gemm %p, %v k(16384) <(d0, d1, d2, d3) -> (d0, d1, d3)>, <(d0, d1, d2, d3) -> (d0, d3, d2)> : tensor<8x1024x16384xf32>, tensor<8x16384x128xf32> -> tensor<8x1024x128xf32>
  return %o : tensor<8x1024x128xf32>
}
