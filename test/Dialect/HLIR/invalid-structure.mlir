// RUN: luminal-opt %s --split-input-file --verify-diagnostics
// Reductions, index ops and structure: one section for each message.

func.func @reduce_rank(%x: tensor<f32>) {
  // expected-error @+1 {{expected an operand of rank 1 or more, found 'tensor<f32>'}}
  %0 = hlir.reduce_sum %x : tensor<f32> -> tensor<f32>
  return
}

// -----

func.func @reduce_sum_bool(%x: tensor<2x3xi1>) {
  // expected-error @+1 {{expected element type f16, bf16, f32, f64, i32 or i64, found 'i1'}}
  %0 = hlir.reduce_sum %x : tensor<2x3xi1> -> tensor<2xi1>
  return
}

// -----

func.func @reduce_result(%x: tensor<2x3xf32>) {
  // expected-error @+1 {{expected result type 'tensor<2xf32>', found 'tensor<3xf32>'}}
  %0 = hlir.reduce_max %x : tensor<2x3xf32> -> tensor<3xf32>
  return
}

// -----

// Extents that ranges prove different are refused, and others are not.
func.func @reduce_symbols(%x: tensor<?x3xf32, #hlir.dims<s>>) attributes {hlir.symbols = #hlir.symbols<s in [1, 4], t in [1, 4]>} {
  %0 = hlir.reduce_max %x : tensor<?x3xf32, #hlir.dims<s>> -> tensor<?xf32, #hlir.dims<t>>
  // expected-error @+1 {{expected result type 'tensor<?xf32, #hlir.dims<s>>', found 'tensor<?xf32, #hlir.dims<t + 4>>'}}
  %1 = hlir.reduce_max %x : tensor<?x3xf32, #hlir.dims<s>> -> tensor<?xf32, #hlir.dims<t + 4>>
  return
}

// -----

func.func @iota_dims() {
  // expected-error @+1 {{expected a map of 2 dims, the rank of the result, found 1}}
  %0 = hlir.iota <(d0) -> (d0)> : tensor<2x3xi64>
  return
}

// -----

func.func @iota_results() {
  // expected-error @+1 {{expected a map with 1 result, found 2}}
  %0 = hlir.iota <(d0, d1) -> (d0, d1)> : tensor<2x3xi64>
  return
}

// -----

func.func @iota_element() {
  // expected-error @+1 {{expected element type i32 or i64, found 'f32'}}
  %0 = hlir.iota <(d0) -> (d0)> : tensor<2xf32>
  return
}

// -----

func.func @gather_indices(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected indices of i32 or i64, found 'f32'}}
  %0 = hlir.gather %x, %x : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @gather_rank(%x: tensor<f32>, %i: tensor<2xi64>) {
  // expected-error @+1 {{expected data of rank 1 or more, found 'tensor<f32>'}}
  %0 = hlir.gather %x, %i : tensor<f32>, tensor<2xi64> -> tensor<2xf32>
  return
}

// -----

func.func @gather_result(%x: tensor<9x4xf32>, %i: tensor<2xi64>) {
  // expected-error @+1 {{expected result type 'tensor<2x4xf32>', found 'tensor<2xf32>'}}
  %0 = hlir.gather %x, %i : tensor<9x4xf32>, tensor<2xi64> -> tensor<2xf32>
  return
}

// -----

func.func @scatter_rank(%x: tensor<f32>, %i: tensor<2xi64>, %u: tensor<2xf32>) {
  // expected-error @+1 {{expected a destination of rank 1 or more, found 'tensor<f32>'}}
  %0 = hlir.scatter set %x, %i, %u : tensor<f32>, tensor<2xi64>, tensor<2xf32>
  return
}

// -----

func.func @scatter_bool(%x: tensor<4xi1>, %i: tensor<2xi64>, %u: tensor<2xi1>) {
  %0 = hlir.scatter max %x, %i, %u : tensor<4xi1>, tensor<2xi64>, tensor<2xi1>
  // expected-error @+1 {{expected element type f16, bf16, f32, f64, i32 or i64, found 'i1'}}
  %1 = hlir.scatter add %x, %i, %u : tensor<4xi1>, tensor<2xi64>, tensor<2xi1>
  return
}

// -----

func.func @scatter_storage(%x: tensor<4xi8>, %i: tensor<2xi64>, %u: tensor<2xi8>) {
  // expected-error @+1 {{expected element type f16, bf16, f32, f64, i32, i64 or i1, found 'i8'}}
  %0 = hlir.scatter set %x, %i, %u : tensor<4xi8>, tensor<2xi64>, tensor<2xi8>
  return
}

// -----

func.func @scatter_updates(%x: tensor<9x4xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) {
  // expected-error @+1 {{expected updates of type 'tensor<2x4xf32>', found 'tensor<2xf32>'}}
  %0 = hlir.scatter set %x, %i, %u : tensor<9x4xf32>, tensor<2xi64>, tensor<2xf32>
  return
}

// -----

func.func @constant_size() {
  // expected-error @+1 {{expected a constant of at most 65536 bytes, found 65544}}
  %0 = hlir.constant dense<0> : tensor<8193xi64>
  return
}

// -----

func.func @constant_resource() {
  // expected-error @+1 {{expected a dense value}}
  %0 = hlir.constant dense_resource<r> : tensor<4xi64>
  return
}

// -----

func.func @constant_element() {
  // expected-error @+1 {{expected an element type of HLIR for result 0, found 'ui64'}}
  %0 = hlir.constant dense<0> : tensor<4xui64>
  return
}

// -----

func.func @view_dims(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected a map of 1 dims, the rank of the result, found 2}}
  %0 = hlir.view %x <(d0, d1) -> (d0)> : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @view_results(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected a map with 1 result, found 0}}
  %0 = hlir.view %x <(d0) -> ()> : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @view_element(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected element type 'f32', found 'f64'}}
  %0 = hlir.view %x <(d0) -> (d0)> : tensor<4xf32> -> tensor<4xf64>
  return
}

// -----

func.func @view_above(%x: tensor<4xf32>) {
  // expected-error @+1 {{its map, dim 0 of extent 4: expected an index in [0, 4), found 4}}
  %0 = hlir.view %x <(d0) -> (d0 + 1)> : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @view_below(%x: tensor<4xf32>) {
  // expected-error @+1 {{its map, dim 0 of extent 4: expected an index in [0, 4), found -1}}
  %0 = hlir.view %x <(d0) -> (2 - d0)> : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

// One past the end, whatever s is. Where nothing is proved, run time decides;
// where there is no element, none is outside.
func.func @view_symbolic(%x: tensor<?xf32, #hlir.dims<s>>) {
  %0 = hlir.view %x <(d0) -> (d0 + 9)> : tensor<?xf32, #hlir.dims<s>> -> tensor<4xf32>
  %1 = hlir.view %x <(d0) -> (d0 - 9)> : tensor<?xf32, #hlir.dims<s>> -> tensor<0xf32>
  // expected-error @+1 {{its map, dim 0 of extent s: expected an index in [0, s), found s}}
  %2 = hlir.view %x <(d0) -> (d0)> : tensor<?xf32, #hlir.dims<s>> -> tensor<?xf32, #hlir.dims<s + 1>>
  return
}

// -----

func.func @select_condition(%c: tensor<4xi32>, %x: tensor<4xf32>) {
  // expected-error @+1 {{expected condition type 'tensor<4xi1>', found 'tensor<4xi32>'}}
  %0 = hlir.select %c, %x, %x : tensor<4xi32>, tensor<4xf32>
  return
}

// -----

func.func @repeat_trips(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 1 trip or more, found 0}}
  hlir.repeat 0 {
    hlir.yield
  }
  return
}

// -----

func.func @repeat_each(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected a multiple of 2 operands in each, found 1}}
  hlir.repeat 2 each(%x : tensor<4xf32>) {
  ^bb0(%w: tensor<4xf32>):
    hlir.yield
  }
  return
}

// -----

func.func @repeat_group(%x: tensor<4xf32>, %y: tensor<5xf32>) {
  // expected-error @+1 {{expected the type of the first operand, 'tensor<4xf32>', for operand 1 of group 0, found 'tensor<5xf32>'}}
  hlir.repeat 2 each(%x, %y : tensor<4xf32>, tensor<5xf32>) {
  ^bb0(%w: tensor<4xf32>):
    hlir.yield
  }
  return
}

// -----

func.func @repeat_arguments(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 1 block arguments, found 0}}
  hlir.repeat 1 each(%x : tensor<4xf32>) {
    hlir.yield
  }
  return
}

// -----

func.func @repeat_argument_type(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected type 'tensor<4xf32>' for number 0 of the block arguments, found 'tensor<5xf32>'}}
  hlir.repeat 1 each(%x : tensor<4xf32>) {
  ^bb0(%w: tensor<5xf32>):
    hlir.yield
  }
  return
}

// -----

func.func @repeat_results(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 1 results, found 0}}
  hlir.repeat 1 carried(%x : tensor<4xf32>) {
  ^bb0(%c: tensor<4xf32>):
    hlir.yield %c : tensor<4xf32>
  }
  return
}

// -----

func.func @repeat_yield(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 1 yielded values, found 0}}
  %0 = hlir.repeat 1 carried(%x : tensor<4xf32>) {
  ^bb0(%c: tensor<4xf32>):
    hlir.yield
  } -> tensor<4xf32>
  return
}

// -----

func.func @repeat_each_trip(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected 3 results, found 2}}
  %0:2 = hlir.repeat 2 carried(%x : tensor<4xf32>) {
  ^bb0(%c: tensor<4xf32>):
    hlir.yield %c, %c : tensor<4xf32>, tensor<4xf32>
  } -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @yield_parent() {
  // expected-error @+1 {{expects parent op 'hlir.repeat'}}
  hlir.yield
}

// -----

func.func @custom_name(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected the name of a kernel, found none}}
  %0 = hlir.custom ""(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @repeat_without_rows(%x: tensor<4xf32>) {
  // expected-error @+1 {{takes its number of trips from rows, but has no rows}}
  hlir.repeat ? carried(%x : tensor<4xf32>) {
  ^bb0(%c: tensor<4xf32>):
    hlir.yield %c : tensor<4xf32>
  } -> tensor<4xf32>
  return
}

// -----

func.func @repeat_rows(%x: tensor<5x4xf32>) {
  // expected-error @+1 {{expected 6 rows, found 'tensor<5x4xf32>' as number 0}}
  hlir.repeat 6 rows(%x : tensor<5x4xf32>) {
  ^bb0(%row: tensor<4xf32>):
    hlir.yield
  }
  return
}

// -----

func.func @repeat_row_type(%x: tensor<5x4xf32>) {
  // expected-error @+1 {{expected type 'tensor<4xf32>' for number 0 of the block arguments, found 'tensor<5x4xf32>'}}
  hlir.repeat 5 rows(%x : tensor<5x4xf32>) {
  ^bb0(%row: tensor<5x4xf32>):
    hlir.yield
  }
  return
}

// -----

func.func @repeat_stacked(%x: tensor<5x4xf32>) {
  // expected-error @+1 {{stacks 2 values, of 1 of a trip}}
  %r = hlir.repeat 5 rows(%x : tensor<5x4xf32>) stacked 2 {
  ^bb0(%row: tensor<4xf32>):
    hlir.yield %row : tensor<4xf32>
  } -> tensor<5x4xf32>
  return
}

// -----

func.func @repeat_stacked_type(%x: tensor<5x4xf32>) {
  // expected-error @+1 {{expected type 'tensor<5x4xf32>' for number 0 of the results, found 'tensor<4xf32>'}}
  %r = hlir.repeat 5 rows(%x : tensor<5x4xf32>) stacked 1 {
  ^bb0(%row: tensor<4xf32>):
    hlir.yield %row : tensor<4xf32>
  } -> tensor<4xf32>
  return
}

// -----

func.func @repeat_each_of_unknown(%x: tensor<?x4xf32, #hlir.dims<n>>, %w: tensor<4xf32>) attributes {hlir.symbols = #hlir.symbols<n in [1, 9]>} {
  // expected-error @+1 {{has lists, but its number of trips is not known}}
  hlir.repeat ? each(%w : tensor<4xf32>) rows(%x : tensor<?x4xf32, #hlir.dims<n>>) {
  ^bb0(%a: tensor<4xf32>, %row: tensor<4xf32>):
    hlir.yield
  }
  return
}

// -----

func.func @repeat_results_of_unknown(%x: tensor<?x4xf32, #hlir.dims<n>>) attributes {hlir.symbols = #hlir.symbols<n in [1, 9]>} {
  // expected-error @+1 {{has a result for each trip, but its number of trips is not known}}
  %r = hlir.repeat ? rows(%x : tensor<?x4xf32, #hlir.dims<n>>) {
  ^bb0(%row: tensor<4xf32>):
    hlir.yield %row : tensor<4xf32>
  } -> tensor<4xf32>
  return
}
