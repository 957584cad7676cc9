// RUN: luminal-opt %s | luminal-opt | FileCheck %s
// RUN: luminal-opt %s --mlir-print-op-generic | luminal-opt | FileCheck %s

// CHECK-LABEL: @matmul
func.func @matmul(%x: tensor<4x8xf32>, %w: tensor<5x8xf32>, %v: tensor<5xf32>, %c: tensor<4x5xf32>) -> tensor<4x5xf32> {
  // CHECK: llir.cublaslt_matmul(%{{.*}}, %{{.*}}) sizes(1, 4, 5, 8) lhs<(d0, d1, d2) -> (8 * d1 + d2)> rhs<(d0, d1, d2) -> (d1 + 8 * d2)> result<(d0, d1, d2) -> (5 * d1 + d2)> : (tensor<4x8xf32>, tensor<5x8xf32>) -> tensor<4x5xf32>
  %0 = llir.cublaslt_matmul(%x, %w) sizes(1, 4, 5, 8) lhs<(d0, d1, d2) -> (8 * d1 + d2)> rhs<(d0, d1, d2) -> (d1 + 8 * d2)> result<(d0, d1, d2) -> (5 * d1 + d2)> : (tensor<4x8xf32>, tensor<5x8xf32>) -> tensor<4x5xf32>
  // CHECK: llir.cublaslt_matmul(%{{.*}}, %{{.*}} add %{{.*}} bias %{{.*}}) sizes(1, 4, 5, 8) {{.*}} add<(d0, d1, d2) -> (5 * d1 + d2)> result{{.*}} {alpha = 5.000000e-01 : f64, epilogue = #llir.epilogue<relu>} : (tensor<4x8xf32>, tensor<5x8xf32>, tensor<4x5xf32>, tensor<5xf32>) -> tensor<4x5xf32>
  %1 = llir.cublaslt_matmul(%x, %w add %c bias %v) sizes(1, 4, 5, 8) lhs<(d0, d1, d2) -> (8 * d1 + d2)> rhs<(d0, d1, d2) -> (d1 + 8 * d2)> add<(d0, d1, d2) -> (5 * d1 + d2)> result<(d0, d1, d2) -> (5 * d1 + d2)> {alpha = 0.5, epilogue = #llir.epilogue<relu>} : (tensor<4x8xf32>, tensor<5x8xf32>, tensor<4x5xf32>, tensor<5xf32>) -> tensor<4x5xf32>
  return %1 : tensor<4x5xf32>
}

// CHECK-LABEL: @order
func.func @order(%x: tensor<2x9xf32>) -> (tensor<2x3xi64>, tensor<2x9xi64>) {
  // CHECK: llir.argsort %{{.*}} {descending = true, nan_first = true} : tensor<2x9xf32> -> tensor<2x3xi64>
  %r = llir.argsort %x {descending = true, nan_first = true} : tensor<2x9xf32> -> tensor<2x3xi64>
  // CHECK: llir.argsort %{{[^ ]*}} {begin = #hlir.map<() -> (4)>} : tensor<2x9xf32> -> tensor<2x1xi64>
  %t = llir.argsort %x {begin = #hlir.map<() -> (4)>} : tensor<2x9xf32> -> tensor<2x1xi64>
  // CHECK: llir.argsort %{{[^ ]*}} : tensor<2x9xf32> -> tensor<2x9xi64>
  %s = llir.argsort %x {descending = false} : tensor<2x9xf32> -> tensor<2x9xi64>
  return %r, %s : tensor<2x3xi64>, tensor<2x9xi64>
}

// CHECK-LABEL: @scans
func.func @scans(%x: tensor<2x9xbf16>) -> (tensor<2x9xf32>, tensor<2x9xi64>, tensor<2x9xbf16>) {
  // CHECK: llir.scan %{{[^ ]*}} {axis = 1 : i64, kind = #llir.scan_kind<sum>} : tensor<2x9xbf16> -> tensor<2x9xf32>
  %r = llir.scan %x {axis = 1 : i64, kind = #llir.scan_kind<sum>, reverse = false} : tensor<2x9xbf16> -> tensor<2x9xf32>
  // CHECK: llir.scan %{{[^ ]*}} {axis = 0 : i64, kind = #llir.scan_kind<min>, positions = true} : tensor<2x9xbf16> -> tensor<2x9xi64>
  %s = llir.scan %x {axis = 0 : i64, kind = #llir.scan_kind<min>, positions = true} : tensor<2x9xbf16> -> tensor<2x9xi64>
  // CHECK: llir.scan %{{[^ ]*}} {axis = 1 : i64, exclusive = true, kind = #llir.scan_kind<log_sum_exp>, reverse = true} : tensor<2x9xbf16> -> tensor<2x9xbf16>
  %t = llir.scan %x {axis = 1 : i64, exclusive = true, kind = #llir.scan_kind<log_sum_exp>, reverse = true} : tensor<2x9xbf16> -> tensor<2x9xbf16>
  return %r, %s, %t : tensor<2x9xf32>, tensor<2x9xi64>, tensor<2x9xbf16>
}

// A step of a library has a launch and no callee.
// CHECK-LABEL: llir.schedule @steps
// CHECK: llir.step "product"(%{{.*}}, %{{.*}}) writes(%{{.*}}) cost(1024, 160) launch #llir.cublaslt_launch<batch = 1, rows = n, columns = 5, inner = 8, lhs_offset = 0,
// CHECK-SAME: result_column = 1, {addend = false, alpha = 1.000000e+00 : f64, bias = false, epilogue = "none", result_type = f32, type = f32, workspace = 0 : i64}>
llir.schedule @steps symbols <n in [1, 64]> arena(0) {
  %x = llir.argument input "x" : tensor<?x8xf32, #hlir.dims<n>>
  %w = llir.argument input "w" : tensor<8x5xf32>
  %y = llir.result : tensor<?x5xf32, #hlir.dims<n>>
  llir.step "product"(%x, %w) writes(%y) cost(1024, 160) launch #llir.cublaslt_launch<batch = 1, rows = n, columns = 5, inner = 8, lhs_offset = 0, lhs_batch = 0, lhs_row = 8, lhs_column = 1, rhs_offset = 0, rhs_batch = 0, rhs_row = 5, rhs_column = 1, addend_offset = 0, addend_batch = 0, addend_row = 0, addend_column = 0, result_offset = 0, result_batch = 0, result_row = 5, result_column = 1, {type = f32, result_type = f32, alpha = 1.0 : f64, addend = false, bias = false, epilogue = "none", workspace = 0 : i64}>
  llir.output "y" %y : tensor<?x5xf32, #hlir.dims<n>>
}

// CHECK-LABEL: llir.schedule @ordered
// CHECK: llir.step "order"(%{{.*}}) writes(%{{.*}}) cost(1024, 160) launch #llir.cpu_argsort_launch<rows = n, length = 9, begin = 0, count = 3, {descending = true, nan_first = true, type = f32}>
llir.schedule @ordered symbols <n in [1, 64]> arena(0) {
  %x = llir.argument input "x" : tensor<?x9xf32, #hlir.dims<n>>
  %y = llir.result : tensor<?x3xi64, #hlir.dims<n>>
  llir.step "order"(%x) writes(%y) cost(1024, 160) launch #llir.cpu_argsort_launch<rows = n, length = 9, begin = 0, count = 3, {type = f32, descending = true, nan_first = true}>
  llir.output "y" %y : tensor<?x3xi64, #hlir.dims<n>>
}

// CHECK-LABEL: llir.schedule @scanned
// CHECK: llir.step "sums"(%{{.*}}) writes(%{{.*}}) cost(1024, 160) launch #llir.cpu_scan_launch<outer = n, length = 9, inner = 1, {exclusive = false, kind = "sum", positions = false, result_type = f32, reverse = true, type = f32}>
llir.schedule @scanned symbols <n in [1, 64]> arena(0) {
  %x = llir.argument input "x" : tensor<?x9xf32, #hlir.dims<n>>
  %y = llir.result : tensor<?x9xf32, #hlir.dims<n>>
  llir.step "sums"(%x) writes(%y) cost(1024, 160) launch #llir.cpu_scan_launch<outer = n, length = 9, inner = 1, {type = f32, result_type = f32, kind = "sum", reverse = true, exclusive = false, positions = false}>
  llir.output "y" %y : tensor<?x9xf32, #hlir.dims<n>>
}
