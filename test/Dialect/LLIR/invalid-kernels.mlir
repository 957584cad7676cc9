// RUN: luminal-opt %s --split-input-file --verify-diagnostics

func.func @in_place_map(%a: tensor<4xf32>) {
  // expected-error @+1 {{in place expects an update in its body}}
  %0 = llir.kernel(%a) {in_place} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>):
    llir.yield %x : tensor<4xf32>
  }
  return
}

// -----

func.func @no_result(%a: tensor<4xf32>) {
  // expected-error @+1 {{expects a result}}
  llir.kernel(%a) : (tensor<4xf32>) -> () {
  ^bb0(%x: tensor<4xf32>):
    llir.yield
  }
  return
}

// -----

func.func @in_place_type(%a: tensor<1xi64>, %b: tensor<4xf32>) {
  // expected-error @+1 {{in place expects one result of the type of operand 0}}
  %0 = llir.kernel(%a, %b) {in_place} : (tensor<1xi64>, tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%i: tensor<1xi64>, %x: tensor<4xf32>):
    %one = llir.constant dense<1.0> : tensor<1xf32>
    %0 = llir.scatter set %x, %i, %one : tensor<4xf32>, tensor<1xi64>, tensor<1xf32>
    llir.yield %0 : tensor<4xf32>
  }
  return
}

// -----

func.func @arguments(%a: tensor<4xf32>) {
  // expected-error @+1 {{the block's arguments are not of the types of the operands}}
  %0 = llir.kernel(%a) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
    llir.yield %x : tensor<4xf32>
  }
  return
}

// -----

func.func @yields(%a: tensor<4xf32>) {
  // expected-error @+1 {{yields other types than those of its results}}
  %0 = llir.kernel(%a) : (tensor<4xf32>) -> tensor<5xf32> {
  ^bb0(%x: tensor<4xf32>):
    llir.yield %x : tensor<4xf32>
  }
  return
}

// -----

func.func @row_function(%a: tensor<4x8xf32>) {
  %0 = llir.kernel(%a) : (tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%x: tensor<4x8xf32>):
    // expected-error @+1 {{is not allowed in a kernel}}
    %1 = llir.softmax %x : tensor<4x8xf32>
    llir.yield %1 : tensor<4x8xf32>
  }
  return
}

// -----

func.func @alias_type(%a: tensor<4xf32>) {
  // expected-error @+1 {{changes the element type from 'f32' to 'i32'}}
  %0 = llir.alias %a offset(0) : tensor<4xf32> -> tensor<4xi32>
  return
}

// -----

func.func @alias_offset(%a: tensor<4xf32>) {
  // expected-error @+1 {{its offset is one quantity, a map without dims}}
  %0 = llir.alias %a offset(0, 0) : tensor<4xf32> -> tensor<4xf32>
  return
}

// -----

func.func @alias_outside(%a: tensor<4xf32>) {
  // expected-error @+1 {{its place, dim 0 of extent 4: expected an index in [0, 4), found 4}}
  %0 = llir.alias %a offset(3) : tensor<4xf32> -> tensor<2xf32>
  return
}

// -----

func.func @concat_type(%a: tensor<4xf32>, %b: tensor<4xi32>) {
  // expected-error @+1 {{has a part of 'i32', but its result is of 'f32'}}
  %0 = llir.concat(%a, %b) : (tensor<4xf32>, tensor<4xi32>) -> tensor<8xf32>
  return
}

// -----

func.func @concat_size(%a: tensor<4xf32>) {
  // expected-error @+1 {{has 8 elements, but its parts have 4}}
  %0 = llir.concat(%a) : (tensor<4xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @concat_nothing() {
  // expected-error @+1 {{expects a part}}
  %0 = llir.concat() : () -> tensor<0xf32>
  return
}

// -----

// expected-error @+1 {{arena uses the symbol s1, which the schedule does not have}}
llir.schedule @main symbols <s0 in [1, 64]> arena(s1) {
}

// -----

llir.schedule @main symbols <s0 in [1, 64]> arena(0) {
  // expected-error @+1 {{offset is one quantity, a map without dims}}
  %t = llir.slot offset(0, 0) bytes(64)
}

// -----

llir.schedule @main symbols <> arena(0) {
  // expected-error @+1 {{expects a tensor type, found 'i32'}}
  %x = llir.argument input "x" : i32
}

// -----

func.func private @k0()
llir.schedule @main symbols <> arena(0) {
  // expected-error @+1 {{writes nothing}}
  llir.step "map" @k0() writes() cost(0, 0)
}

// -----

func.func private @k0()
llir.schedule @main symbols <> arena(0) {
  %t = llir.slot offset(0) bytes(64)
  // expected-error @+1 {{cost is bytes and scalar operations, two quantities of a map without dims}}
  llir.step "map" @k0() writes(%t) cost(0)
}

// -----

func.func private @k0()
llir.schedule @main symbols <> arena(0) {
  %t = llir.slot offset(0) bytes(64)
  // expected-error @+1 {{expected ','}}
  llir.step "map" @k0() writes(%t) cost(0, 0) launch #llir.cpu_launch<work = 1>
}

// -----

func.func private @k0()
llir.schedule @main symbols <> arena(0) {
  %t = llir.slot offset(0) bytes(64)
  // expected-error @+1 {{the scratch of launch uses the symbol s0, which the schedule does not have}}
  llir.step "map" @k0() writes(%t) cost(0, 0) launch #llir.cpu_launch<work = 1, grain = 1, scratch = 4 * s0>
}

// -----

func.func private @k0()
llir.schedule @main symbols <> arena(0) {
  %t = llir.slot offset(0) bytes(64)
  // expected-error @+1 {{the grid of launch uses the symbol s0, which the schedule does not have}}
  llir.step "map" @k0() writes(%t) cost(0, 0) launch #llir.cuda_launch<work = 1, grid = s0, block = 32, shared = 0>
}

// -----

func.func private @k0()
llir.schedule @main symbols <> arena(0) {
  %t = llir.slot offset(0) bytes(64)
  // expected-error @+1 {{a block has from 1 to 1024 threads, found 2048}}
  llir.step "map" @k0() writes(%t) cost(0, 0) launch #llir.cuda_launch<work = 1, grid = 1, block = 2048, shared = 0>
}

// -----

func.func private @k0()
llir.schedule @main symbols <> arena(0) {
  %t = llir.slot offset(0) bytes(64)
  // expected-error @+1 {{invalid kind of attribute specified}}
  llir.step "map" @k0() writes(%t) cost(0, 0) launch 7
}

// -----

llir.schedule @main symbols <> arena(0) {
  %t = llir.slot offset(0) bytes(64)
  // expected-error @+1 {{calls k0, which is not defined beside the schedule}}
  llir.step "map" @k0() writes(%t) cost(0, 0)
}

// -----

func.func private @k0(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
llir.schedule @main symbols <> arena(0) {
  %t = llir.slot offset(0) bytes(64)
  // expected-error @+1 {{calls k0 with 2 operands and 1 results, it takes 1 and 1}}
  llir.step "map" @k0(%t, %t) writes(%t) cost(0, 0)
}

// -----

func.func private @k0(%x: tensor<?xf32, #hlir.dims<n>>) -> tensor<?xf32, #hlir.dims<n>> attributes {hlir.symbols = #hlir.symbols<n in [1, 2]>} {
  return %x : tensor<?xf32, #hlir.dims<n>>
}
llir.schedule @main symbols <n in [1, 64]> arena(0) {
  %t = llir.slot offset(0) bytes(64)
  // expected-error @+1 {{calls k0, whose symbols are not those of the schedule}}
  llir.step "map" @k0(%t) writes(%t) cost(0, 0)
}

// -----

llir.schedule @main symbols <> arena(0) {
  // expected-error @+1 {{bytes is one quantity, a map without dims}}
  %c = llir.counters bytes(4, 4)
}

// -----

func.func private @k0()
llir.schedule @main symbols <> arena(0) {
  %t = llir.slot offset(0) bytes(64)
  // expected-error @+1 {{has a workspace other than a slot and counters}}
  llir.step "sum" @k0() writes(%t) workspace(%t, %t) cost(0, 0)
}

// -----

func.func private @k0()
llir.schedule @main symbols <> arena(0) {
  %t = llir.slot offset(0) bytes(64)
  // expected-error @+1 {{must be in the workspace of exactly one step}}
  %c = llir.counters bytes(4)
  llir.step "sum" @k0() writes(%t) workspace(%t, %c) cost(0, 0)
  llir.step "sum" @k0() writes(%t) workspace(%t, %c) cost(0, 0)
}

// -----

func.func private @k0()
llir.schedule @main symbols <> arena(0) {
  // expected-error @+1 {{must be in the workspace of exactly one step}}
  %c = llir.counters bytes(4)
  llir.step "sum" @k0() writes(%c) cost(0, 0)
}

// -----

func.func @overwrites_nothing_of_the_type(%a: tensor<4xf32>, %b: tensor<4xi64>) {
  // expected-error @+1 {{overwrites operand 1, and has no result of its type}}
  %0 = llir.kernel(%a, %b) {overwrites = array<i64: 0, 1>} : (tensor<4xf32>, tensor<4xi64>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>, %y: tensor<4xi64>):
    llir.yield %x : tensor<4xf32>
  }
  return
}

// -----

func.func @overwrites_twice(%a: tensor<4xf32>) {
  // expected-error @+1 {{overwrites operands, each once and in order}}
  %0 = llir.kernel(%a) {overwrites = array<i64: 0, 0>} : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>):
    llir.yield %x : tensor<4xf32>
  }
  return
}
