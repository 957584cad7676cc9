// RUN: luminal-opt %s --llir-schedule-kernels --convert-llir-to-llvm --split-input-file --verify-diagnostics

func.func private @not_a_splat(%a: tensor<2xf32>) -> tensor<2xf32> {
  %r = llir.kernel(%a) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%x: tensor<2xf32>):
    // expected-error @+1 {{is not a splat; inside a kernel it must be an operand}}
    %c = llir.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %0 = llir.elementwise add(%x, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    llir.yield %0 : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

// -----

// The updates read what the scatter overwrites.
func.func private @reads_what_it_writes(%a: tensor<4x2xf32>, %i: tensor<4xi64>) -> tensor<4x2xf32> {
  %r = llir.kernel(%a, %i) {in_place} : (tensor<4x2xf32>, tensor<4xi64>) -> tensor<4x2xf32> {
  ^bb0(%x: tensor<4x2xf32>, %y: tensor<4xi64>):
    %0 = llir.elementwise neg(%x) : (tensor<4x2xf32>) -> tensor<4x2xf32>
    // expected-error @+1 {{in place must read and write operand 0 at one index}}
    %1 = llir.scatter set %x, %y, %0 {checked} : tensor<4x2xf32>, tensor<4xi64>, tensor<4x2xf32>
    llir.yield %1 : tensor<4x2xf32>
  }
  return %r : tensor<4x2xf32>
}

// -----

func.func private @no_workspace(%a: tensor<3x1000xf32>) -> tensor<3xf32> {
  %r = llir.kernel(%a) loops<grid(d0) stream(d1:all) parts(4) op0 = pass> : (tensor<3x1000xf32>) -> tensor<3xf32> {
  ^bb0(%x: tensor<3x1000xf32>):
    %0 = llir.reduce sum %x : tensor<3x1000xf32> -> tensor<3xf32>
    llir.yield %0 : tensor<3xf32>
  }
  return %r : tensor<3xf32>
}
llir.schedule @main symbols <> arena(64) {
  %x = llir.argument input "x" : tensor<3x1000xf32>
  %y = llir.result : tensor<3xf32>
  // expected-error @+1 {{has no workspace, which the parts of no_workspace need}}
  llir.step "sum" @no_workspace(%x) writes(%y) cost(0, 0)
}

// -----

func.func private @small_workspace(%a: tensor<3x1000xf32>) -> tensor<3xf32> {
  %r = llir.kernel(%a) loops<grid(d0) stream(d1:all) parts(4) op0 = pass> : (tensor<3x1000xf32>) -> tensor<3xf32> {
  ^bb0(%x: tensor<3x1000xf32>):
    %0 = llir.reduce sum %x : tensor<3x1000xf32> -> tensor<3xf32>
    llir.yield %0 : tensor<3xf32>
  }
  return %r : tensor<3xf32>
}
llir.schedule @main symbols <> arena(64) {
  %x = llir.argument input "x" : tensor<3x1000xf32>
  %s = llir.slot offset(0) bytes(64)
  %c = llir.counters bytes(8)
  %y = llir.result : tensor<3xf32>
  // expected-error @+1 {{has a workspace of 8 bytes, small_workspace needs 12}}
  llir.step "sum" @small_workspace(%x) writes(%y) workspace(%s, %c) cost(0, 0)
}

// -----

func.func private @no_parts(%a: tensor<3x1000xf32>) -> tensor<3xf32> {
  %r = llir.kernel(%a) loops<grid(d0) stream(d1:all) op0 = pass> : (tensor<3x1000xf32>) -> tensor<3xf32> {
  ^bb0(%x: tensor<3x1000xf32>):
    %0 = llir.reduce sum %x : tensor<3x1000xf32> -> tensor<3xf32>
    llir.yield %0 : tensor<3xf32>
  }
  return %r : tensor<3xf32>
}
llir.schedule @main symbols <> arena(64) {
  %x = llir.argument input "x" : tensor<3x1000xf32>
  %s = llir.slot offset(0) bytes(64)
  %c = llir.counters bytes(12)
  %y = llir.result : tensor<3xf32>
  // expected-error @+1 {{has a workspace, and no case of no_parts has parts}}
  llir.step "sum" @no_parts(%x) writes(%y) workspace(%s, %c) cost(0, 0)
}
