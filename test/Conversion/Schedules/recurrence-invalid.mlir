// RUN: luminal-opt %s --llir-schedule-kernels=arch=x86-64-v3 --split-input-file --verify-diagnostics

func.func @stream(%h: tensor<4x20xf32>, %x: tensor<9x4x20xf32>) -> tensor<4x20xf32> {
  // expected-error @+1 {{has a stream, which the form recurrence takes none of}}
  %0 = llir.kernel(%h, %x) loops<grid(d0) stream(d1:4) op0 = recurrence> : (tensor<4x20xf32>, tensor<9x4x20xf32>) -> tensor<4x20xf32> {
  ^bb0(%a: tensor<4x20xf32>, %b: tensor<9x4x20xf32>):
    %r = llir.recurrence trips <() -> (9)> carried(%a : tensor<4x20xf32>) inputs(%b : tensor<9x4x20xf32>) maps [#hlir.map<(d0, d1, d2) -> (d0, d1, d2)>] : tensor<4x20xf32> {
    ^bb0(%s: tensor<4x20xf32>, %row: tensor<4x20xf32>):
      %n = llir.elementwise add(%s, %row) : (tensor<4x20xf32>, tensor<4x20xf32>) -> tensor<4x20xf32>
      llir.yield %n : tensor<4x20xf32>
    }
    llir.yield %r : tensor<4x20xf32>
  }
  return %0 : tensor<4x20xf32>
}

// -----

func.func @threads(%h: tensor<4x20xf32>, %x: tensor<9x4x20xf32>) -> tensor<4x20xf32> {
  // expected-error @+1 {{its schedule has threads, but the machine has no thread blocks}}
  %0 = llir.kernel(%h, %x) loops<grid(d0, d1) threads(64) op0 = recurrence> : (tensor<4x20xf32>, tensor<9x4x20xf32>) -> tensor<4x20xf32> {
  ^bb0(%a: tensor<4x20xf32>, %b: tensor<9x4x20xf32>):
    %r = llir.recurrence trips <() -> (9)> carried(%a : tensor<4x20xf32>) inputs(%b : tensor<9x4x20xf32>) maps [#hlir.map<(d0, d1, d2) -> (d0, d1, d2)>] : tensor<4x20xf32> {
    ^bb0(%s: tensor<4x20xf32>, %row: tensor<4x20xf32>):
      %n = llir.elementwise add(%s, %row) : (tensor<4x20xf32>, tensor<4x20xf32>) -> tensor<4x20xf32>
      llir.yield %n : tensor<4x20xf32>
    }
    llir.yield %r : tensor<4x20xf32>
  }
  return %0 : tensor<4x20xf32>
}

// -----

func.func @ahead(%h: tensor<4x20xf32>, %x: tensor<9x4x20xf32>) -> tensor<4x20xf32> {
  // expected-error @+1 {{ahead}}
  %0 = llir.kernel(%h, %x) loops<grid(d0, d1) op0 = recurrence {ahead = 17}> : (tensor<4x20xf32>, tensor<9x4x20xf32>) -> tensor<4x20xf32> {
  ^bb0(%a: tensor<4x20xf32>, %b: tensor<9x4x20xf32>):
    %r = llir.recurrence trips <() -> (9)> carried(%a : tensor<4x20xf32>) inputs(%b : tensor<9x4x20xf32>) maps [#hlir.map<(d0, d1, d2) -> (d0, d1, d2)>] : tensor<4x20xf32> {
    ^bb0(%s: tensor<4x20xf32>, %row: tensor<4x20xf32>):
      %n = llir.elementwise add(%s, %row) : (tensor<4x20xf32>, tensor<4x20xf32>) -> tensor<4x20xf32>
      llir.yield %n : tensor<4x20xf32>
    }
    llir.yield %r : tensor<4x20xf32>
  }
  return %0 : tensor<4x20xf32>
}

// -----

func.func @axes(%h: tensor<4x20xf32>, %x: tensor<9x4x20xf32>) -> tensor<4x20xf32> {
  // expected-error @+1 {{axes}}
  %0 = llir.kernel(%h, %x) loops<grid(d0) op0 = recurrence> : (tensor<4x20xf32>, tensor<9x4x20xf32>) -> tensor<4x20xf32> {
  ^bb0(%a: tensor<4x20xf32>, %b: tensor<9x4x20xf32>):
    %r = llir.recurrence trips <() -> (9)> carried(%a : tensor<4x20xf32>) inputs(%b : tensor<9x4x20xf32>) maps [#hlir.map<(d0, d1, d2) -> (d0, d1, d2)>] : tensor<4x20xf32> {
    ^bb0(%s: tensor<4x20xf32>, %row: tensor<4x20xf32>):
      %n = llir.elementwise add(%s, %row) : (tensor<4x20xf32>, tensor<4x20xf32>) -> tensor<4x20xf32>
      llir.yield %n : tensor<4x20xf32>
    }
    llir.yield %r : tensor<4x20xf32>
  }
  return %0 : tensor<4x20xf32>
}
