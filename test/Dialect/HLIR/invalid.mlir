// RUN: luminal-opt %s --split-input-file --verify-diagnostics
// One section for each message of a verifier or parser of the dialect.

// expected-error @+1 {{expected 1 expressions in #hlir.dims, one for each dynamic dim, found 2}}
func.func private @dims_count(tensor<?x4xf32, #hlir.dims<a, b>>)

// -----

// expected-error @+1 {{expected no #hlir.dims on a static shape}}
func.func private @dims_static(tensor<4xf32, #hlir.dims<a>>)

// -----

// expected-error @+1 {{expected an extent over symbols, found 'd0 + 1', which uses a dim}}
func.func private @dims_of_index(tensor<?xf32, #hlir.dims<d0 + 1>>)

// -----

// expected-error @+1 {{expected an extent over symbols, found the constant 4, which is a static dim}}
func.func private @dims_constant(tensor<?xf32, #hlir.dims<2 + 2>>)

// -----

// expected-error @+1 {{an integer of the expression overflows 64 bits}}
func.func private @dims_overflow(tensor<?xf32, #hlir.dims<99999999999999999999 * s>>)

// -----

// expected-error @+1 {{expected an integer, a name or '(', found the end}}
func.func private @dims_text(tensor<?xf32, #hlir.dims<s *>>)

// -----

// expected-error @+1 {{expected at most 1 dims in a map, found d2}}
func.func private @map_dims() attributes {a = #hlir.map<(d0) -> (d2)>}

// -----

// expected-error @+1 {{expected 'd1'}}
func.func private @map_order() attributes {a = #hlir.map<(d0, d2) -> (d0)>}

// -----

// expected-error @+1 {{expected symbols in ascending order, found 'a' after 'b'}}
func.func private @symbols_order() attributes {hlir.symbols = #hlir.symbols<b in [1, 2], a in [1, 2]>}

// -----

// expected-error @+1 {{expected a range that is not empty for 'a', found [3, 2]}}
func.func private @symbols_range() attributes {hlir.symbols = #hlir.symbols<a in [3, 2]>}

// -----

// expected-error @+1 {{expected the name of a symbol, found 'd0'}}
func.func private @symbols_name() attributes {hlir.symbols = #hlir.symbols<d0 in [3, 4]>}

// -----

// expected-error @+1 {{expected #hlir.symbols as hlir.symbols, found 1 : i64}}
func.func private @symbols_kind() attributes {hlir.symbols = 1}

// -----

// expected-error @+1 {{expected hlir.symbols on a function only}}
module attributes {hlir.symbols = #hlir.symbols<>} {}

// -----

// expected-error @+1 {{expected symbols that hlir.symbols of the function declares, found 'b'}}
func.func private @symbols_argument(tensor<?xf32, #hlir.dims<b>>) attributes {hlir.symbols = #hlir.symbols<a in [1, 2]>}

// -----

func.func @symbols_body(%x: tensor<4xf32>) attributes {hlir.symbols = #hlir.symbols<a in [1, 2]>} {
  // expected-error @+1 {{expected symbols that hlir.symbols of the function declares, found 'b'}}
  %0 = hlir.view %x <(d0) -> (0)> : tensor<4xf32> -> tensor<?xf32, #hlir.dims<b>>
  return
}

// -----

// expected-error @+1 {{expected no attribute '"hlir.other"' on an operation}}
func.func private @operation_attribute() attributes {hlir.other = 1}

// -----

// expected-error @+1 {{expected [{position = <i64>, value = <any>}] on a function as hlir.literal_inputs, found [{position = 1 : i64}]}}
func.func private @literal() attributes {hlir.literal_inputs = [{position = 1}]}

// -----

// expected-error @+1 {{expected a string as hlir.name, found 1 : i64}}
func.func private @name(tensor<4xf32> {hlir.name = 1})

// -----

// expected-error @+1 {{expected "input", "weight" or "state" as hlir.kind, found "buffer"}}
func.func private @kind(tensor<4xf32> {hlir.kind = "buffer"})

// -----

// expected-error @+1 {{expected {bytes = <i64>, member = <string>, offset = <i64>} as hlir.source, found {bytes = 4 : i64, member = "x"}}}
func.func private @source(tensor<4xf32> {hlir.source = {member = "x", bytes = 4}})

// -----

// expected-error @+1 {{expected no attribute '"hlir.symbols"' on an argument}}
func.func private @argument_attribute(tensor<4xf32> {hlir.symbols = 1})

// -----

// expected-error @+1 {{expected the index of an argument (i64) as hlir.updates, found 1 : i64}}
func.func private @updates_index(tensor<4xf32>) -> (tensor<4xf32> {hlir.updates = 1})

// -----

// expected-error @+1 {{expected the type of argument 0, 'tensor<4xf32>', for the result that updates it, found 'tensor<5xf32>'}}
func.func private @updates_type(tensor<4xf32> {hlir.kind = "state"}) -> (tensor<5xf32> {hlir.updates = 0})

// -----

// expected-error @+1 {{expected argument 0, which a result updates, to be a state}}
func.func private @updates_input(tensor<4xf32> {hlir.kind = "input"}) -> (tensor<4xf32> {hlir.updates = 0})

// -----

// expected-error @+1 {{expected one result that updates argument 0, found results 0 and 1}}
func.func private @updates_twice(tensor<4xf32> {hlir.kind = "state"}) -> (tensor<4xf32> {hlir.updates = 0}, tensor<4xf32> {hlir.updates = 0})

// -----

// expected-error @+1 {{expected no attribute '"hlir.kind"' on a result}}
func.func private @result_attribute() -> (tensor<4xf32> {hlir.kind = "input"})

// -----

func.func @element_type(%x: tensor<4xui64>) {
  // expected-error @+1 {{expected an element type of HLIR for operand 0, found 'ui64'}}
  %0 = hlir.cast %x : tensor<4xui64> -> tensor<4xf32>
  return
}

// -----

func.func @storage_type(%x: tensor<4xui32>) {
  // expected-error @+1 {{expected element type f16, bf16, f32, f64, i32 or i64, found 'ui32'}}
  %0 = hlir.add %x, %x : tensor<4xui32>
  return
}

// -----

func.func @bitcast_width(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected element types of one width, neither of them i1, found 'f32' and 'i64'}}
  %0 = hlir.bitcast %x : tensor<4xf32> -> tensor<4xi64>
  return
}

// -----

func.func @bitcast_bool(%x: tensor<4xi1>) {
  // expected-error @+1 {{expected element types of one width, neither of them i1, found 'i1' and 'i1'}}
  %0 = hlir.bitcast %x : tensor<4xi1> -> tensor<4xi1>
  return
}

// -----

func.func @bitcast_shape(%x: tensor<?xf32, #hlir.dims<s>>) {
  // expected-error @+1 {{expected result type 'tensor<?xi32, #hlir.dims<s>>', found 'tensor<?xi32, #hlir.dims<t>>'}}
  %0 = hlir.bitcast %x : tensor<?xf32, #hlir.dims<s>> -> tensor<?xi32, #hlir.dims<t>>
  return
}

// -----

func.func @no_encoding(%x: tensor<?xf32>) {
  // expected-error @+1 {{expected a #hlir.dims encoding on the dynamic shape of operand 0, found 'tensor<?xf32>'}}
  %0 = hlir.sqrt %x : tensor<?xf32>
  return
}

// -----

func.func @other_encoding(%x: tensor<4xf32, 1>) {
  // expected-error @+1 {{expected no encoding on the static shape of operand 0, found 'tensor<4xf32, 1 : i64>'}}
  %0 = hlir.sqrt %x : tensor<4xf32, 1>
  return
}

// -----

func.func @unary_element(%x: tensor<4xi32>) {
  // expected-error @+1 {{expected element type f16, bf16, f32 or f64, found 'i32'}}
  %0 = hlir.sqrt %x : tensor<4xi32>
  return
}

// -----

func.func @unary_storage(%x: tensor<4xf8E5M2>) {
  // expected-error @+1 {{expected element type f16, bf16, f32 or f64, found 'f8E5M2'}}
  %0 = hlir.exp2 %x : tensor<4xf8E5M2>
  return
}

// -----

// Shapes that differ only in the position of the dynamic dim.
func.func @same_encoding(%a: tensor<?x4xf32, #hlir.dims<s>>, %b: tensor<4x?xf32, #hlir.dims<s>>) {
  // expected-error @+1 {{expected the type of operand 0, 'tensor<?x4xf32, #hlir.dims<s>>', for operand 1, found 'tensor<4x?xf32, #hlir.dims<s>>'}}
  %0 = "hlir.add"(%a, %b) : (tensor<?x4xf32, #hlir.dims<s>>, tensor<4x?xf32, #hlir.dims<s>>) -> tensor<?x4xf32, #hlir.dims<s>>
  return
}

// -----

func.func @add_bool(%x: tensor<4xi1>) {
  // expected-error @+1 {{expected element type f16, bf16, f32, f64, i32 or i64, found 'i1'}}
  %0 = hlir.add %x, %x : tensor<4xi1>
  return
}

// -----

func.func @mul_storage(%x: tensor<4xi8>) {
  // expected-error @+1 {{expected element type f16, bf16, f32, f64, i32, i64 or i1, found 'i8'}}
  %0 = hlir.mul %x, %x : tensor<4xi8>
  return
}

// -----

func.func @mod_bool(%x: tensor<4xi1>) {
  // expected-error @+1 {{expected element type f16, bf16, f32, f64, i32 or i64, found 'i1'}}
  %0 = hlir.mod %x, %x : tensor<4xi1>
  return
}

// -----

func.func @less_than_result(%x: tensor<4xf32>) {
  // expected-error @+1 {{expected result type 'tensor<4xi1>', found 'tensor<4xf32>'}}
  %0 = hlir.less_than %x, %x : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @less_than_storage(%x: tensor<4xui8>) {
  // expected-error @+1 {{expected element type f16, bf16, f32, f64, i32, i64 or i1, found 'ui8'}}
  %0 = hlir.less_than %x, %x : tensor<4xui8> -> tensor<4xi1>
  return
}

// -----

func.func @cast_shape(%x: tensor<?xf32, #hlir.dims<s>>) {
  // expected-error @+1 {{expected result type 'tensor<?xf64, #hlir.dims<s>>', found 'tensor<?xf64, #hlir.dims<t>>'}}
  %0 = hlir.cast %x : tensor<?xf32, #hlir.dims<s>> -> tensor<?xf64, #hlir.dims<t>>
  return
}
