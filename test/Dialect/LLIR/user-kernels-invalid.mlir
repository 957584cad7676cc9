// RUN: luminal-opt %s --split-input-file --verify-diagnostics

func.func @no_code(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{names no code}}
  %r = llir.call "k"(%x) : (tensor<4xf32>) -> tensor<4xf32> cost(0, 0, 0)
      launch #llir.cpu_custom_launch<work = 1, grain = 1, scratch = 0, values = [], {parallel = true}>
  return %r : tensor<4xf32>
}

// -----

func.func @no_result(%x: tensor<4xf32>) {
  // expected-error @+1 {{has no result}}
  "llir.call"(%x) {name = "k", costs = #hlir.map<() -> (0, 0, 0)>, custom_launch = #llir.cpu_custom_launch<work = 1, grain = 1, scratch = 0, values = [], {code = "custom/a.so", entry = "k", parallel = true}>} : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @cost(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{its cost is bytes read, bytes written and scalar operations}}
  %r = llir.call "k"(%x) : (tensor<4xf32>) -> tensor<4xf32> cost(0, 0)
      launch #llir.cpu_custom_launch<work = 1, grain = 1, scratch = 0, values = [], {code = "custom/a.so", entry = "k", parallel = true}>
  return %r : tensor<4xf32>
}

// -----

llir.user_kernel @file_and_text (tensor<4xf32>) -> tensor<4xf32> cost(0, 0, 0) {
  // expected-error @+1 {{expects a file or a text}}
  llir.user_code file "a.so" text "b" entry "k" launch #llir.cpu_custom_launch<work = 1, grain = 1, scratch = 0, values = [], {parallel = true}>
}

// -----

// expected-error @+1 {{uses the symbol 'k', which is no dim of an operand}}
llir.user_kernel @unbound (tensor<?xf32, #hlir.dims<n>>) -> tensor<?xf32, #hlir.dims<n>> cost(k, 0, 0) {
  llir.user_code file "a.so" entry "k" launch #llir.cpu_custom_launch<work = n, grain = 1, scratch = 0, values = [], {parallel = true}>
}

// -----

// expected-error @+1 {{uses the symbol 'n', which is no dim of an operand}}
llir.user_kernel @not_bare (tensor<?xf32, #hlir.dims<2 * n>>) -> tensor<4xf32> cost(0, 0, 0) {
  llir.user_code file "a.so" entry "k" launch #llir.cpu_custom_launch<work = n, grain = 1, scratch = 0, values = [], {parallel = true}>
}

// -----

// expected-error @+1 {{has no code}}
llir.user_kernel @empty (tensor<4xf32>) -> tensor<4xf32> cost(0, 0, 0) {
}

// -----

llir.user_kernel @twice (tensor<4xf32>) -> tensor<4xf32> cost(0, 0, 0) {
  llir.user_code file "a.so" entry "k" launch #llir.cpu_custom_launch<work = 1, grain = 1, scratch = 0, values = [], {parallel = true}>
  // expected-error @+1 {{is a second code for cpu}}
  llir.user_code file "b.so" entry "k" launch #llir.cpu_custom_launch<work = 1, grain = 1, scratch = 0, values = [], {parallel = true}>
}

// -----

// expected-error @+1 {{takes and gives tensors of HLIR, not 'i32'}}
llir.user_kernel @scalar (i32) -> tensor<4xf32> cost(0, 0, 0) {
  llir.user_code file "a.so" entry "k" launch #llir.cpu_custom_launch<work = 1, grain = 1, scratch = 0, values = [], {parallel = true}>
}

// -----

llir.user_kernel @facts (tensor<4xf32>) -> tensor<4xf32> cost(0, 0, 0) {
  // expected-error @+1 {{has no valid 'parallel'}}
  llir.user_code file "a.so" entry "k" launch #llir.cpu_custom_launch<work = 1, grain = 1, scratch = 0, values = [], {parallel = 1}>
}

// -----

llir.user_kernel @unknown_fact (tensor<4xf32>) -> tensor<4xf32> cost(0, 0, 0) {
  // expected-error @+1 {{has an unknown fact 'grid'}}
  llir.user_code file "a.so" entry "k" launch #llir.cpu_custom_launch<work = 1, grain = 1, scratch = 0, values = [], {parallel = true, grid = 1}>
}

// -----

llir.user_kernel @block (tensor<4xf32>) -> tensor<4xf32> cost(0, 0, 0) {
  // expected-error @+1 {{has no valid 'block_y'}}
  llir.user_code text "x" entry "k" launch #llir.cuda_custom_launch<grid_x = 1, grid_y = 1, grid_z = 1, shared = 0, values = [], {block_x = 32, block_y = 0, block_z = 1, parameters = "b0 b1"}>
}

// -----

llir.user_kernel @dims (tensor<4xf32>) -> tensor<4xf32> cost(0, 0, 0) {
  // expected-error @+1 {{expected an expression over symbols}}
  llir.user_code file "a.so" entry "k" launch #llir.cpu_custom_launch<work = d0, grain = 1, scratch = 0, values = [], {parallel = true}>
}
