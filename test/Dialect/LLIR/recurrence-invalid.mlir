// RUN: luminal-opt %s --split-input-file --verify-diagnostics

func.func @nothing(%x: tensor<9x4xf32>) {
  // expected-error @+1 {{carries nothing}}
  %r = llir.recurrence trips <() -> (9)> inputs(%x : tensor<9x4xf32>) maps [#hlir.map<(d0, d1) -> (d0, d1)>] : tensor<9x4xf32> {
  ^bb0(%row: tensor<4xf32>):
    llir.yield %row : tensor<4xf32>
  }
  return
}

// -----

func.func @maps(%h: tensor<4xf32>, %x: tensor<9x4xf32>) {
  // expected-error @+1 {{has 0 maps of 1 inputs}}
  %r = llir.recurrence trips <() -> (9)> carried(%h : tensor<4xf32>) inputs(%x : tensor<9x4xf32>) maps [] : tensor<4xf32> {
  ^bb0(%s: tensor<4xf32>, %row: tensor<4xf32>):
    llir.yield %s : tensor<4xf32>
  }
  return
}

// -----

func.func @trips(%h: tensor<4xf32>) {
  // expected-error @+1 {{its trips are one quantity, a map without dims}}
  %r = llir.recurrence trips <(d0) -> (d0)> carried(%h : tensor<4xf32>) maps [] : tensor<4xf32> {
  ^bb0(%s: tensor<4xf32>):
    llir.yield %s : tensor<4xf32>
  }
  return
}

// -----

func.func @outside(%h: tensor<4xf32>, %x: tensor<9x4xf32>) {
  // expected-error @+1 {{the map of an input, dim 0 of extent 9: expected an index in [0, 9), found 9}}
  %r = llir.recurrence trips <() -> (9)> carried(%h : tensor<4xf32>) inputs(%x : tensor<9x4xf32>) maps [#hlir.map<(d0, d1) -> (d0 + 1, d1)>] : tensor<4xf32> {
  ^bb0(%s: tensor<4xf32>, %row: tensor<4xf32>):
    %n = llir.elementwise add(%s, %row) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    llir.yield %n : tensor<4xf32>
  }
  return
}

// -----

func.func @reduces(%h: tensor<f32>, %x: tensor<9x4xf32>) {
  // expected-error @+1 {{has llir.reduce, which is not of one element at a time}}
  %r = llir.recurrence trips <() -> (9)> carried(%h : tensor<f32>) inputs(%x : tensor<9x4xf32>) maps [#hlir.map<(d0, d1) -> (d0, d1)>] : tensor<f32> {
  ^bb0(%s: tensor<f32>, %row: tensor<4xf32>):
    %t = llir.reduce sum %row : tensor<4xf32> -> tensor<f32>
    llir.yield %t : tensor<f32>
  }
  return
}

// -----

func.func @turns(%h: tensor<4xf32>) {
  // expected-error @+1 {{reads what number 0 carries at another index than its own}}
  %r = llir.recurrence trips <() -> (9)> carried(%h : tensor<4xf32>) maps [] : tensor<4xf32> {
  ^bb0(%s: tensor<4xf32>):
    %t = llir.view %s <(d0) -> (3 - d0)> : tensor<4xf32> -> tensor<4xf32>
    llir.yield %t : tensor<4xf32>
  }
  return
}

// -----

func.func @yields(%h: tensor<4xf32>) {
  // expected-error @+1 {{yields 'tensor<4xf32>' as number 1, which does not fit what it carries and 'tensor<8x4xf32>'}}
  %r:2 = llir.recurrence trips <() -> (9)> carried(%h : tensor<4xf32>) maps [] : tensor<4xf32>, tensor<8x4xf32> {
  ^bb0(%s: tensor<4xf32>):
    llir.yield %s, %s : tensor<4xf32>, tensor<4xf32>
  }
  return
}

// -----

func.func @element(%h: tensor<4xf32>, %x: tensor<9x4xf16>) {
  // expected-error @+1 {{reads input 0 as another type}}
  %r = llir.recurrence trips <() -> (9)> carried(%h : tensor<4xf32>) inputs(%x : tensor<9x4xf16>) maps [#hlir.map<(d0, d1) -> (d0, d1)>] : tensor<4xf32> {
  ^bb0(%s: tensor<4xf32>, %row: tensor<4xf32>):
    llir.yield %row : tensor<4xf32>
  }
  return
}
