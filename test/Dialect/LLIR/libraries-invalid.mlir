// RUN: luminal-opt %s --split-input-file --verify-diagnostics

func.func @sums_nothing(%x: tensor<4x8xf32>, %w: tensor<8x5xf32>, %v: tensor<5xf32>, %c: tensor<4x5xf32>) {
  // expected-error @+1 {{sums over nothing}}
  %0 = llir.cublaslt_matmul(%x, %w) sizes(1, 4, 5, 0) lhs<(d0, d1, d2) -> (8 * d1 + d2)> rhs<(d0, d1, d2) -> (5 * d1 + d2)> result<(d0, d1, d2) -> (5 * d1 + d2)> : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @three_sizes(%x: tensor<4x8xf32>, %w: tensor<8x5xf32>, %v: tensor<5xf32>, %c: tensor<4x5xf32>) {
  // expected-error @+1 {{sizes are batch, rows, columns and inner, four quantities of a map without dims}}
  %0 = llir.cublaslt_matmul(%x, %w) sizes(1, 4, 5) lhs<(d0, d1, d2) -> (8 * d1 + d2)> rhs<(d0, d1, d2) -> (5 * d1 + d2)> result<(d0, d1, d2) -> (5 * d1 + d2)> : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @integers(%x: tensor<4x8xi32>, %w: tensor<8x5xi32>) {
  // expected-error @+1 {{multiplies f16, bf16, f32 and f64, found 'i32'}}
  %0 = llir.cublaslt_matmul(%x, %w) sizes(1, 4, 5, 8) lhs<(d0, d1, d2) -> (8 * d1 + d2)> rhs<(d0, d1, d2) -> (5 * d1 + d2)> result<(d0, d1, d2) -> (5 * d1 + d2)> : (tensor<4x8xi32>, tensor<8x5xi32>) -> tensor<4x5xi32>
  return
}

// -----

func.func @two_types(%x: tensor<4x8xf32>, %w: tensor<8x5xf16>) {
  // expected-error @+1 {{expects operands of one element type, found 'f32' and 'f16'}}
  %0 = llir.cublaslt_matmul(%x, %w) sizes(1, 4, 5, 8) lhs<(d0, d1, d2) -> (8 * d1 + d2)> rhs<(d0, d1, d2) -> (5 * d1 + d2)> result<(d0, d1, d2) -> (5 * d1 + d2)> : (tensor<4x8xf32>, tensor<8x5xf16>) -> tensor<4x5xf32>
  return
}

// -----

func.func @narrows(%x: tensor<4x8xf32>, %w: tensor<8x5xf32>, %v: tensor<5xf32>, %c: tensor<4x5xf32>) {
  // expected-error @+1 {{of 'f32' cannot result in 'f16'}}
  %0 = llir.cublaslt_matmul(%x, %w) sizes(1, 4, 5, 8) lhs<(d0, d1, d2) -> (8 * d1 + d2)> rhs<(d0, d1, d2) -> (5 * d1 + d2)> result<(d0, d1, d2) -> (5 * d1 + d2)> : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf16>
  return
}

// -----

func.func @bias_type(%x: tensor<4x8xf32>, %w: tensor<8x5xf32>, %v: tensor<5xf16>) {
  // expected-error @+1 {{adds 'f16' to a result of 'f32'}}
  %0 = llir.cublaslt_matmul(%x, %w bias %v) sizes(1, 4, 5, 8) lhs<(d0, d1, d2) -> (8 * d1 + d2)> rhs<(d0, d1, d2) -> (5 * d1 + d2)> result<(d0, d1, d2) -> (5 * d1 + d2)> : (tensor<4x8xf32>, tensor<8x5xf32>, tensor<5xf16>) -> tensor<4x5xf32>
  return
}

// -----

func.func @bias_size(%x: tensor<4x8xf32>, %w: tensor<8x5xf32>, %v: tensor<4xf32>) {
  // expected-error @+1 {{expects a bias for each column}}
  %0 = llir.cublaslt_matmul(%x, %w bias %v) sizes(1, 4, 5, 8) lhs<(d0, d1, d2) -> (8 * d1 + d2)> rhs<(d0, d1, d2) -> (5 * d1 + d2)> result<(d0, d1, d2) -> (5 * d1 + d2)> : (tensor<4x8xf32>, tensor<8x5xf32>, tensor<4xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @no_map(%x: tensor<4x8xf32>, %w: tensor<8x5xf32>, %v: tensor<5xf32>, %c: tensor<4x5xf32>) {
  // expected-error @+1 {{expects an addend with a map, or neither}}
  %0 = llir.cublaslt_matmul(%x, %w add %c) sizes(1, 4, 5, 8) lhs<(d0, d1, d2) -> (8 * d1 + d2)> rhs<(d0, d1, d2) -> (5 * d1 + d2)> result<(d0, d1, d2) -> (5 * d1 + d2)> : (tensor<4x8xf32>, tensor<8x5xf32>, tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @divides(%x: tensor<4x8xf32>, %w: tensor<8x5xf32>, %v: tensor<5xf32>, %c: tensor<4x5xf32>) {
  // expected-error @+1 {{the map of lhs is not linear}}
  %0 = llir.cublaslt_matmul(%x, %w) sizes(1, 4, 5, 8) lhs<(d0, d1, d2) -> (8 * d1 + d2 floordiv 2)> rhs<(d0, d1, d2) -> (5 * d1 + d2)> result<(d0, d1, d2) -> (5 * d1 + d2)> : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @product(%x: tensor<4x8xf32>, %w: tensor<8x5xf32>, %v: tensor<5xf32>, %c: tensor<4x5xf32>) {
  // expected-error @+1 {{the map of rhs is not linear}}
  %0 = llir.cublaslt_matmul(%x, %w) sizes(1, 4, 5, 8) lhs<(d0, d1, d2) -> (8 * d1 + d2)> rhs<(d0, d1, d2) -> (d1 * d2)> result<(d0, d1, d2) -> (5 * d1 + d2)> : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @no_unit(%x: tensor<4x8xf32>, %w: tensor<8x5xf32>, %v: tensor<5xf32>, %c: tensor<4x5xf32>) {
  // expected-error @+1 {{the map of lhs has no stride of 1 along row or column}}
  %0 = llir.cublaslt_matmul(%x, %w) sizes(1, 4, 5, 8) lhs<(d0, d1, d2) -> (2 * d1 + 3 * d2)> rhs<(d0, d1, d2) -> (5 * d1 + d2)> result<(d0, d1, d2) -> (5 * d1 + d2)> : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @column_major(%x: tensor<4x8xf32>, %w: tensor<8x5xf32>, %v: tensor<5xf32>, %c: tensor<4x5xf32>) {
  // expected-error @+1 {{the map of the result has no stride of 1 along the column}}
  %0 = llir.cublaslt_matmul(%x, %w) sizes(1, 4, 5, 8) lhs<(d0, d1, d2) -> (8 * d1 + d2)> rhs<(d0, d1, d2) -> (5 * d1 + d2)> result<(d0, d1, d2) -> (d1 + 4 * d2)> : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @outside(%x: tensor<4x8xf32>, %w: tensor<8x5xf32>, %v: tensor<5xf32>, %c: tensor<4x5xf32>) {
  // expected-error @+1 {{the map of lhs, dim 0 of extent 32}}
  %0 = llir.cublaslt_matmul(%x, %w) sizes(1, 4, 5, 8) lhs<(d0, d1, d2) -> (8 * d1 + d2 + 1)> rhs<(d0, d1, d2) -> (5 * d1 + d2)> result<(d0, d1, d2) -> (5 * d1 + d2)> : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @size(%x: tensor<4x8xf32>, %w: tensor<8x5xf32>, %v: tensor<5xf32>, %c: tensor<4x5xf32>) {
  // expected-error @+1 {{its sizes are not those of the result}}
  %0 = llir.cublaslt_matmul(%x, %w) sizes(1, 3, 5, 8) lhs<(d0, d1, d2) -> (8 * d1 + d2)> rhs<(d0, d1, d2) -> (5 * d1 + d2)> result<(d0, d1, d2) -> (5 * d1 + d2)> : (tensor<4x8xf32>, tensor<8x5xf32>) -> tensor<4x5xf32>
  return
}

// -----

func.func @f64_bias(%x: tensor<4x8xf64>, %w: tensor<8x5xf64>, %v: tensor<5xf64>) {
  // expected-error @+1 {{has no bias in f64}}
  %0 = llir.cublaslt_matmul(%x, %w bias %v) sizes(1, 4, 5, 8) lhs<(d0, d1, d2) -> (8 * d1 + d2)> rhs<(d0, d1, d2) -> (5 * d1 + d2)> result<(d0, d1, d2) -> (5 * d1 + d2)> : (tensor<4x8xf64>, tensor<8x5xf64>, tensor<5xf64>) -> tensor<4x5xf64>
  return
}

// -----

func.func @f64_relu(%x: tensor<4x8xf64>, %w: tensor<8x5xf64>) {
  // expected-error @+1 {{has no relu in f64}}
  %0 = llir.cublaslt_matmul(%x, %w) sizes(1, 4, 5, 8) lhs<(d0, d1, d2) -> (8 * d1 + d2)> rhs<(d0, d1, d2) -> (5 * d1 + d2)> result<(d0, d1, d2) -> (5 * d1 + d2)> {epilogue = #llir.epilogue<relu>} : (tensor<4x8xf64>, tensor<8x5xf64>) -> tensor<4x5xf64>
  return
}

// -----

// expected-error @+1 {{has no valid 'epilogue'}}
func.func private @epilogue() attributes {launch = #llir.cublaslt_launch<batch = 1, rows = 4, columns = 5, inner = 8, lhs_offset = 0, lhs_batch = 0, lhs_row = 8, lhs_column = 1, rhs_offset = 0, rhs_batch = 0, rhs_row = 5, rhs_column = 1, addend_offset = 0, addend_batch = 0, addend_row = 0, addend_column = 0, result_offset = 0, result_batch = 0, result_row = 5, result_column = 1, {type = f32, result_type = f32, alpha = 1.0 : f64, addend = false, bias = false, epilogue = "tanh", workspace = 0 : i64}>}

// -----

// expected-error @+1 {{has no valid 'workspace'}}
func.func private @workspace() attributes {launch = #llir.cublaslt_launch<batch = 1, rows = 4, columns = 5, inner = 8, lhs_offset = 0, lhs_batch = 0, lhs_row = 8, lhs_column = 1, rhs_offset = 0, rhs_batch = 0, rhs_row = 5, rhs_column = 1, addend_offset = 0, addend_batch = 0, addend_row = 0, addend_column = 0, result_offset = 0, result_batch = 0, result_row = 5, result_column = 1, {type = f32, result_type = f32, alpha = 1.0 : f64, addend = false, bias = false, epilogue = "none", workspace = -1 : i64}>}

// -----

// expected-error @+1 {{has no valid 'alpha'}}
func.func private @alpha() attributes {launch = #llir.cublaslt_launch<batch = 1, rows = 4, columns = 5, inner = 8, lhs_offset = 0, lhs_batch = 0, lhs_row = 8, lhs_column = 1, rhs_offset = 0, rhs_batch = 0, rhs_row = 5, rhs_column = 1, addend_offset = 0, addend_batch = 0, addend_row = 0, addend_column = 0, result_offset = 0, result_batch = 0, result_row = 5, result_column = 1, {type = f32, result_type = f32, addend = false, bias = false, epilogue = "none", workspace = 0 : i64}>}

// -----

// expected-error @+1 {{has unknown facts}}
func.func private @more() attributes {launch = #llir.cublaslt_launch<batch = 1, rows = 4, columns = 5, inner = 8, lhs_offset = 0, lhs_batch = 0, lhs_row = 8, lhs_column = 1, rhs_offset = 0, rhs_batch = 0, rhs_row = 5, rhs_column = 1, addend_offset = 0, addend_batch = 0, addend_row = 0, addend_column = 0, result_offset = 0, result_batch = 0, result_row = 5, result_column = 1, {type = f32, result_type = f32, alpha = 1.0 : f64, addend = false, bias = false, scale = true, epilogue = "none", workspace = 0 : i64}>}

// -----

llir.schedule @neither symbols <> arena(0) {
  %x = llir.argument input "x" : tensor<4xf32>
  %y = llir.result : tensor<4xf32>
  // expected-error @+1 {{calls neither a function nor a library}}
  llir.step "map"(%x) writes(%y) cost(0, 0)
}

// -----

llir.schedule @both symbols <> arena(0) {
  %x = llir.argument input "x" : tensor<4x8xf32>
  %w = llir.argument input "w" : tensor<8x5xf32>
  %y = llir.result : tensor<4x5xf32>
  // expected-error @+1 {{calls a function, its launch is that of a library}}
  llir.step "product" @k0(%x, %w) writes(%y) cost(0, 0) launch #llir.cublaslt_launch<batch = 1, rows = 4, columns = 5, inner = 8, lhs_offset = 0, lhs_batch = 0, lhs_row = 8, lhs_column = 1, rhs_offset = 0, rhs_batch = 0, rhs_row = 5, rhs_column = 1, addend_offset = 0, addend_batch = 0, addend_row = 0, addend_column = 0, result_offset = 0, result_batch = 0, result_row = 5, result_column = 1, {type = f32, result_type = f32, alpha = 1.0 : f64, addend = false, bias = false, epilogue = "none", workspace = 0 : i64}>
}

// -----

func.func @order_of_bytes(%x: tensor<4x8xi8>) {
  // expected-error @+1 {{orders f16, bf16, f32, f64, i32 and i64, found 'i8'}}
  %0 = llir.argsort %x : tensor<4x8xi8> -> tensor<4x8xi64>
  return
}

// -----

func.func @narrow_positions(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{returns positions of i64, found 'i32'}}
  %0 = llir.argsort %x : tensor<4x8xf32> -> tensor<4x8xi32>
  return
}

// -----

func.func @order_of_one(%x: tensor<f32>) {
  // expected-error @+1 {{expects rows, and a result of their rank}}
  %0 = llir.argsort %x : tensor<f32> -> tensor<i64>
  return
}

// -----

func.func @other_rank(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expects rows, and a result of their rank}}
  %0 = llir.argsort %x : tensor<4x8xf32> -> tensor<8xi64>
  return
}

// -----

func.func @other_rows(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expects a result for each row}}
  %0 = llir.argsort %x : tensor<4x8xf32> -> tensor<5x8xi64>
  return
}

// -----

func.func @too_many(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{has 9 positions of 8 elements}}
  %0 = llir.argsort %x : tensor<4x8xf32> -> tensor<4x9xi64>
  return
}

// -----

// expected-error @+1 {{has no valid 'type'}}
func.func private @order_without_type() attributes {a = #llir.cpu_argsort_launch<rows = 1, length = 9, begin = 0, count = 3, {descending = true, nan_first = true}>}

// -----

// expected-error @+1 {{has no valid 'nan_first'}}
func.func private @order_without_flag() attributes {a = #llir.cpu_argsort_launch<rows = 1, length = 9, begin = 0, count = 3, {type = f32, descending = true}>}

// -----

// expected-error @+1 {{has unknown facts}}
func.func private @order_with_more() attributes {a = #llir.cpu_argsort_launch<rows = 1, length = 9, begin = 0, count = 3, {type = f32, descending = true, nan_first = true, stable = true}>}

// -----

func.func @scan_of_bytes(%x: tensor<4x8xi8>) {
  // expected-error @+1 {{has no sum of 'i8'}}
  %0 = llir.scan %x {axis = 1 : i64, kind = #llir.scan_kind<sum>} : tensor<4x8xi8> -> tensor<4x8xi8>
  return
}

// -----

func.func @log_of_integers(%x: tensor<4x8xi32>) {
  // expected-error @+1 {{has no log_sum_exp of 'i32'}}
  %0 = llir.scan %x {axis = 1 : i64, kind = #llir.scan_kind<log_sum_exp>} : tensor<4x8xi32> -> tensor<4x8xi32>
  return
}

// -----

func.func @wider_extremum(%x: tensor<4x8xf16>) {
  // expected-error @+1 {{cannot result in 'f32', of 'f16'}}
  %0 = llir.scan %x {axis = 1 : i64, kind = #llir.scan_kind<max>} : tensor<4x8xf16> -> tensor<4x8xf32>
  return
}

// -----

func.func @wider_integers(%x: tensor<4x8xi32>) {
  // expected-error @+1 {{cannot result in 'i64', of 'i32'}}
  %0 = llir.scan %x {axis = 1 : i64, kind = #llir.scan_kind<sum>} : tensor<4x8xi32> -> tensor<4x8xi64>
  return
}

// -----

func.func @narrow_places(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{cannot result in 'i32', of 'f32'}}
  %0 = llir.scan %x {axis = 1 : i64, kind = #llir.scan_kind<max>, positions = true} : tensor<4x8xf32> -> tensor<4x8xi32>
  return
}

// -----

func.func @places_of_a_sum(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{has positions of a maximum or a minimum of all elements up to each one alone}}
  %0 = llir.scan %x {axis = 1 : i64, kind = #llir.scan_kind<sum>, positions = true} : tensor<4x8xf32> -> tensor<4x8xi64>
  return
}

// -----

func.func @places_behind(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{has positions of a maximum or a minimum of all elements up to each one alone}}
  %0 = llir.scan %x {axis = 1 : i64, kind = #llir.scan_kind<min>, positions = true, reverse = true} : tensor<4x8xf32> -> tensor<4x8xi64>
  return
}

// -----

func.func @axis_beyond(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expects a result of the rank of its operand, and an axis below it}}
  %0 = llir.scan %x {axis = 2 : i64, kind = #llir.scan_kind<sum>} : tensor<4x8xf32> -> tensor<4x8xf32>
  return
}

// -----

func.func @other_shape(%x: tensor<4x8xf32>) {
  // expected-error @+1 {{expects a result of the operand's shape}}
  %0 = llir.scan %x {axis = 1 : i64, kind = #llir.scan_kind<sum>} : tensor<4x8xf32> -> tensor<4x9xf32>
  return
}

// -----

// expected-error @+1 {{has no valid 'result_type'}}
func.func private @scan_without_type() attributes {a = #llir.cpu_scan_launch<outer = 1, length = 9, inner = 3, {type = f32, kind = "sum", reverse = true, exclusive = false, positions = false}>}

// -----

// expected-error @+1 {{has no valid 'kind'}}
func.func private @scan_without_kind() attributes {a = #llir.cpu_scan_launch<outer = 1, length = 9, inner = 3, {type = f32, result_type = f32, kind = "median", reverse = true, exclusive = false, positions = false}>}

// -----

// expected-error @+1 {{has no valid 'exclusive'}}
func.func private @scan_without_flag() attributes {a = #llir.cpu_scan_launch<outer = 1, length = 9, inner = 3, {type = f32, result_type = f32, kind = "sum", reverse = true, positions = false}>}

// -----

// expected-error @+1 {{has unknown facts}}
func.func private @scan_with_more() attributes {a = #llir.cpu_scan_launch<outer = 1, length = 9, inner = 3, {type = f32, result_type = f32, kind = "sum", reverse = true, exclusive = false, positions = false, stable = true}>}
