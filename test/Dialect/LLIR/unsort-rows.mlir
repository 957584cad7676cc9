// Rows that were sorted by the matrix that each looks up stay where they are read, if few share one.
// RUN: luminal-opt %s --llir-unsort-rows="read-rate=10 operation-rate=10 kernel-time=1000" | FileCheck %s
// RUN: luminal-opt %s --llir-unsort-rows="read-rate=10 operation-rate=10 kernel-time=1000" --remarks-filter=llir-unsort-rows -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// The place of a token follows from the row's number; nothing is sorted any more.
// CHECK-LABEL: @few
// CHECK-NOT: llir.argsort
// CHECK: %[[X:.*]] = llir.view %arg0 <(d0, d1) -> (d0 floordiv 2, d1)> : tensor<2x64xf32> -> tensor<4x64xf32>
// CHECK: %[[W:.*]] = llir.gather %arg1, %arg2 {checked}
// CHECK: %[[Y:.*]] = llir.gemm %[[X]], %[[W]] k(64) {{.*}} -> tensor<4x48xf32>
// CHECK: return %[[Y]]
// REMARK: remark: [Passed] rows {{.*}} Function=few | cost ns={{[0-9]+}}, gain ns={{[0-9]+}}
func.func @few(%x: tensor<2x64xf32>, %w: tensor<80x48x64xf32>, %i: tensor<4xi64>) -> tensor<4x48xf32> {
  %p = llir.argsort %i : tensor<4xi64> -> tensor<4xi64>
  %two = llir.constant dense<2> : tensor<i64>
  %twos = llir.view %two <(d0) -> ()> : tensor<i64> -> tensor<4xi64>
  %token = llir.elementwise floor_div(%p, %twos) : (tensor<4xi64>, tensor<4xi64>) -> tensor<4xi64>
  %a = llir.gather %x, %token : tensor<2x64xf32>, tensor<4xi64> -> tensor<4x64xf32>
  %k = llir.gather %i, %p : tensor<4xi64>, tensor<4xi64> -> tensor<4xi64>
  %m = llir.gather %w, %k {checked} : tensor<80x48x64xf32>, tensor<4xi64> -> tensor<4x48x64xf32>
  %c = llir.gemm %a, %m k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)>
      : tensor<4x64xf32>, tensor<4x48x64xf32> -> tensor<4x48xf32>
  %q = llir.argsort %p : tensor<4xi64> -> tensor<4xi64>
  %r = llir.gather %c, %q : tensor<4x48xf32>, tensor<4xi64> -> tensor<4x48xf32>
  return %r : tensor<4x48xf32>
}

// Many rows of few matrices.
// CHECK-LABEL: @many
// CHECK: llir.argsort
// CHECK: llir.scatter
// REMARK: remark: [Missed] rows {{.*}} Function=many | cost ns={{[0-9]+}}, gain ns={{[0-9]+}}, reason="sorted rows share matrices"
func.func @many(%x: tensor<512x64xf32>, %w: tensor<8x48x64xf32>, %i: tensor<512xi64>) -> tensor<512x48xf32> {
  %p = llir.argsort %i : tensor<512xi64> -> tensor<512xi64>
  %a = llir.gather %x, %p : tensor<512x64xf32>, tensor<512xi64> -> tensor<512x64xf32>
  %k = llir.gather %i, %p : tensor<512xi64>, tensor<512xi64> -> tensor<512xi64>
  %m = llir.gather %w, %k {checked} : tensor<8x48x64xf32>, tensor<512xi64> -> tensor<512x48x64xf32>
  %c = llir.gemm %a, %m k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)>
      : tensor<512x64xf32>, tensor<512x48x64xf32> -> tensor<512x48xf32>
  %zero = llir.constant dense<0> : tensor<i64>
  %none = llir.view %zero <(d0) -> ()> : tensor<i64> -> tensor<512xi64>
  %place = llir.iota <(d0) -> (d0)> : tensor<512xi64>
  %q = llir.scatter set %none, %p, %place : tensor<512xi64>, tensor<512xi64>, tensor<512xi64>
  %r = llir.gather %c, %q : tensor<512x48xf32>, tensor<512xi64> -> tensor<512x48xf32>
  return %r : tensor<512x48xf32>
}

// The rows in order are a result as well; and a row that depends on its place in the order is none that follows.
// CHECK-LABEL: @read
// CHECK: llir.argsort
// CHECK: llir.gemm
// CHECK: llir.argsort
// CHECK-NOT: llir.gemm
// REMARK: remark: [Missed] rows {{.*}} Function=read | reason="another op reads them in sorted order"
// REMARK: remark: [Missed] rows {{.*}} Function=read | reason="they do not depend on sorted rows alone"
func.func @read(%x: tensor<4x64xf32>, %w: tensor<80x48x64xf32>, %i: tensor<4xi64>) -> (tensor<4x48xf32>, tensor<4x48xf32>, tensor<4x48xf32>) {
  %p = llir.argsort %i : tensor<4xi64> -> tensor<4xi64>
  %a = llir.gather %x, %p : tensor<4x64xf32>, tensor<4xi64> -> tensor<4x64xf32>
  %k = llir.gather %i, %p : tensor<4xi64>, tensor<4xi64> -> tensor<4xi64>
  %m = llir.gather %w, %k {checked} : tensor<80x48x64xf32>, tensor<4xi64> -> tensor<4x48x64xf32>
  %c = llir.gemm %a, %m k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)>
      : tensor<4x64xf32>, tensor<4x48x64xf32> -> tensor<4x48xf32>
  %q = llir.argsort %p : tensor<4xi64> -> tensor<4xi64>
  %r = llir.gather %c, %q : tensor<4x48xf32>, tensor<4xi64> -> tensor<4x48xf32>
  %place = llir.iota <(d0, d1) -> (d0)> : tensor<4x48xi64>
  %number = llir.elementwise cast(%place) : (tensor<4x48xi64>) -> tensor<4x48xf32>
  %d = llir.elementwise add(%c, %number) : (tensor<4x48xf32>, tensor<4x48xf32>) -> tensor<4x48xf32>
  %s = llir.gather %d, %q : tensor<4x48xf32>, tensor<4xi64> -> tensor<4x48xf32>
  return %r, %c, %s : tensor<4x48xf32>, tensor<4x48xf32>, tensor<4x48xf32>
}

// The order of parts of a row is not one of all its rows.
// CHECK-LABEL: @first
// CHECK: llir.argsort
// CHECK: llir.gather
// REMARK-NOT: Function=first
func.func @first(%x: tensor<4x8xf32>, %i: tensor<8xi64>) -> tensor<4x8xf32> {
  %p = llir.argsort %i : tensor<8xi64> -> tensor<4xi64>
  %q = llir.argsort %p : tensor<4xi64> -> tensor<4xi64>
  %r = llir.gather %x, %q : tensor<4x8xf32>, tensor<4xi64> -> tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
