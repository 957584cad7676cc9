// RUN: luminal-opt %s --split-input-file --verify-diagnostics

func.func @arity(%a: tensor<4xf32>) {
  // expected-error @+1 {{add takes 2 operands, found 1}}
  %0 = llir.elementwise add(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @shape(%a: tensor<4xf32>, %b: tensor<5xf32>) {
  // expected-error @+1 {{operand 'tensor<5xf32>' has another shape than the result 'tensor<4xf32>'}}
  %0 = llir.elementwise add(%a, %b) : (tensor<4xf32>, tensor<5xf32>) -> tensor<4xf32>
  return
}

// -----

// Extents of one symbol that differ for every value of it.
func.func @symbolic_shape(%a: tensor<?xf32, #hlir.dims<s0>>, %b: tensor<?xf32, #hlir.dims<s0 + 1>>)
    attributes {hlir.symbols = #hlir.symbols<s0 in [1, 64]>} {
  // expected-error @+1 {{has another shape than the result}}
  %0 = llir.elementwise add(%a, %b) : (tensor<?xf32, #hlir.dims<s0>>, tensor<?xf32, #hlir.dims<s0 + 1>>)
      -> tensor<?xf32, #hlir.dims<s0>>
  return
}

// -----

func.func @condition(%a: tensor<4xf32>) {
  // expected-error @+1 {{expects an i1 condition, found 'f32'}}
  %0 = llir.elementwise select(%a, %a, %a) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @selected(%c: tensor<4xi1>, %a: tensor<4xf32>, %b: tensor<4xf64>) {
  // expected-error @+1 {{selects 'f64' but results in 'f32'}}
  %0 = llir.elementwise select(%c, %a, %b) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}

// -----

func.func @float_function(%a: tensor<4xi64>) {
  // expected-error @+1 {{exp takes f16, bf16, f32 or f64, found 'i64'}}
  %0 = llir.elementwise exp(%a) : (tensor<4xi64>) -> tensor<4xi64>
  return
}

// -----

func.func @add_of_bools(%a: tensor<4xi1>) {
  // expected-error @+1 {{add takes a float, i32 or i64, found 'i1'}}
  %0 = llir.elementwise add(%a, %a) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  return
}

// -----

func.func @storage(%a: tensor<4xf8E4M3FN>) {
  // expected-error @+1 {{neg takes a float, i32 or i64, found 'f8E4M3FN'}}
  %0 = llir.elementwise neg(%a) : (tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  return
}

// -----

func.func @two_types(%a: tensor<4xf32>, %b: tensor<4xf64>) {
  // expected-error @+1 {{operands have two element types, 'f32' and 'f64'}}
  %0 = llir.elementwise add(%a, %b) : (tensor<4xf32>, tensor<4xf64>) -> tensor<4xf32>
  return
}

// -----

func.func @comparison(%a: tensor<4xf32>) {
  // expected-error @+1 {{less_than of 'f32' is 'i1', found 'f32'}}
  %0 = llir.elementwise less_than(%a, %a) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @view_type(%a: tensor<4xf32>) {
  // expected-error @+1 {{changes the element type from 'f32' to 'f64'}}
  %0 = llir.view %a <(d0) -> (d0)> : tensor<4xf32> -> tensor<4xf64>
  return
}

// -----

func.func @view_dims(%a: tensor<4xf32>) {
  // expected-error @+1 {{its map is a map of 2 dims, expected 1}}
  %0 = llir.view %a <(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @view_results(%a: tensor<4x4xf32>) {
  // expected-error @+1 {{its map has 1 results, 'tensor<4x4xf32>' has rank 2}}
  %0 = llir.view %a <(d0) -> (d0)> : tensor<4x4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @view_outside(%a: tensor<4xf32>) {
  // expected-error @+1 {{its map, dim 0 of extent 4: expected an index in [0, 4), found 4}}
  %0 = llir.view %a <(d0) -> (d0 + 1)> : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @iota_type() {
  // expected-error @+1 {{expects i32 or i64 elements, found 'f32'}}
  %0 = llir.iota <(d0) -> (d0)> : tensor<4xf32>
  return
}

// -----

func.func @iota_dims() {
  // expected-error @+1 {{its map has 2 dims, expected 1}}
  %0 = llir.iota <(d0, d1) -> (d0)> : tensor<4xi64>
  return
}

// -----

func.func @iota_results() {
  // expected-error @+1 {{its map has 2 results, expected 1}}
  %0 = llir.iota <(d0) -> (d0, d0)> : tensor<4xi64>
  return
}

// -----

func.func @reduce_rank(%a: tensor<f32>) {
  // expected-error @+1 {{expects an operand of rank 1 or more}}
  %0 = llir.reduce sum %a : tensor<f32> -> tensor<f32>
  return
}

// -----

func.func @reduce_type(%a: tensor<4xi1>) {
  // expected-error @+1 {{cannot form a sum of 'i1'}}
  %0 = llir.reduce sum %a : tensor<4xi1> -> tensor<i1>
  return
}

// -----

func.func @reduce_result_type(%a: tensor<4xf32>) {
  // expected-error @+1 {{reduces 'f32' but results in 'f64'}}
  %0 = llir.reduce sum %a : tensor<4xf32> -> tensor<f64>
  return
}

// -----

func.func @reduce_shape(%a: tensor<4x5xf32>) {
  // expected-error @+1 {{expects the operand's shape without its last dim, found 'tensor<5xf32>' of 'tensor<4x5xf32>'}}
  %0 = llir.reduce max %a : tensor<4x5xf32> -> tensor<5xf32>
  return
}

// -----

func.func @softmax_rank(%a: tensor<f32>) {
  // expected-error @+1 {{expects an operand of rank 1 or more}}
  %0 = llir.softmax %a : tensor<f32>
  return
}

// -----

func.func @norm_type(%a: tensor<4xi64>) {
  // expected-error @+1 {{takes f16, bf16, f32 or f64, found 'i64'}}
  %0 = llir.layer_norm %a {eps = 1.0e-5 : f64} : tensor<4xi64>
  return
}

// -----

func.func @gemm_types(%a: tensor<4x8xf32>, %b: tensor<5x8xf16>) {
  // expected-error @+1 {{expects one numeric element type, found 'f32', 'f16' and 'f32'}}
  %0 = llir.gemm %a, %b k(8) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
      : tensor<4x8xf32>, tensor<5x8xf16> -> tensor<4x5xf32>
  return
}

// -----

func.func @gemm_map(%a: tensor<4x8xf32>, %b: tensor<5x8xf32>) {
  // expected-error @+1 {{the map of rhs is a map of 2 dims, expected 3}}
  %0 = llir.gemm %a, %b k(8) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1) -> (d0, d1)>
      : tensor<4x8xf32>, tensor<5x8xf32> -> tensor<4x5xf32>
  return
}

// -----

func.func @gemm_outside(%a: tensor<4x8xf32>, %b: tensor<5x8xf32>) {
  // expected-error @+1 {{the map of lhs, dim 1 of extent 8: expected an index in [0, 8), found 8}}
  %0 = llir.gemm %a, %b k(9) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
      : tensor<4x8xf32>, tensor<5x8xf32> -> tensor<4x5xf32>
  return
}

// -----

func.func @segments_rank(%a: tensor<4x8xf32>, %i: tensor<2x1xi64>) {
  // expected-error@+1 {{expects a vector of begins, found 'tensor<2x1xi64>'}}
  %0 = llir.segment_reduce sum %a, %i : tensor<4x8xf32>, tensor<2x1xi64> -> tensor<2x1x8xf32>
  return
}

// -----

func.func @segments_shape(%a: tensor<4x8xf32>, %i: tensor<2xi64>) {
  // expected-error@+1 {{expects the begins' shape followed by the data's rows, found 'tensor<2x4xf32>'}}
  %0 = llir.segment_reduce max %a, %i : tensor<4x8xf32>, tensor<2xi64> -> tensor<2x4xf32>
  return
}

// -----

func.func @segments_type(%a: tensor<4x8xf32>, %i: tensor<2xi64>) {
  // expected-error@+1 {{reduces 'f32' but results in 'f64'}}
  %0 = llir.segment_reduce max %a, %i : tensor<4x8xf32>, tensor<2xi64> -> tensor<2x8xf64>
  return
}

// -----

func.func @segments_bool(%a: tensor<4x8xi1>, %i: tensor<2xi64>) {
  // expected-error@+1 {{cannot reduce 'i1'}}
  %0 = llir.segment_reduce max %a, %i : tensor<4x8xi1>, tensor<2xi64> -> tensor<2x8xi1>
  return
}

// -----

func.func @gather_indices(%a: tensor<4x8xf32>, %i: tensor<2xf32>) {
  // expected-error @+1 {{expects i32 or i64 indices, found 'f32'}}
  %0 = llir.gather %a, %i : tensor<4x8xf32>, tensor<2xf32> -> tensor<2x8xf32>
  return
}

// -----

func.func @gather_rank(%a: tensor<f32>, %i: tensor<2xi64>) {
  // expected-error @+1 {{expects rows along a dim, found rank 0}}
  %0 = llir.gather %a, %i : tensor<f32>, tensor<2xi64> -> tensor<2xf32>
  return
}

// -----

func.func @gather_shape(%a: tensor<4x8xf32>, %i: tensor<2xi64>) {
  // expected-error @+1 {{expects the indices' shape followed by the data's rows, found 'tensor<2x4xf32>'}}
  %0 = llir.gather %a, %i : tensor<4x8xf32>, tensor<2xi64> -> tensor<2x4xf32>
  return
}

// -----

func.func @scatter_type(%a: tensor<4x8xf32>, %i: tensor<2xi64>, %u: tensor<2x8xf64>) {
  // expected-error @+1 {{scatters 'f64' into 'f32'}}
  %0 = llir.scatter set %a, %i, %u : tensor<4x8xf32>, tensor<2xi64>, tensor<2x8xf64>
  return
}

// -----

func.func @scatter_shape(%a: tensor<4x8xf32>, %i: tensor<2xi64>, %u: tensor<3x8xf32>) {
  // expected-error @+1 {{expects updates of the indices' shape followed by the destination's rows, found 'tensor<3x8xf32>'}}
  %0 = llir.scatter set %a, %i, %u : tensor<4x8xf32>, tensor<2xi64>, tensor<3x8xf32>
  return
}

// -----

func.func @scatter_bools(%a: tensor<4xi1>, %i: tensor<2xi64>, %u: tensor<2xi1>) {
  // expected-error @+1 {{cannot add 'i1'}}
  %0 = llir.scatter add %a, %i, %u : tensor<4xi1>, tensor<2xi64>, tensor<2xi1>
  return
}
