// Kernels of one op, and schedules of them, that there are not.
// RUN: luminal-opt %s --split-input-file --verify-diagnostics --llir-schedule-kernels="target=cuda arch=sm_80"

func.func @no_states(%x: tensor<40xf32>) -> tensor<40xf32> {
  // expected-error @+1 {{has parts, but not what those before come to}}
  %0 = llir.scan_rows %x {axis = 0 : i64, kind = #llir.scan_kind<sum>, part = #hlir.map<() -> (8)>} : (tensor<40xf32>) -> tensor<40xf32>
  return %0 : tensor<40xf32>
}

// -----

func.func @few_states(%x: tensor<40xf32>, %s: tensor<4xf32>) -> tensor<40xf32> {
  // expected-error @+1 {{expects a state for each part}}
  %0 = llir.scan_rows %x, %s {axis = 0 : i64, kind = #llir.scan_kind<sum>, part = #hlir.map<() -> (8)>} : (tensor<40xf32>, tensor<4xf32>) -> tensor<40xf32>
  return %0 : tensor<40xf32>
}

// -----

func.func @one_state(%x: tensor<40xf32>, %s: tensor<5xf32>) -> tensor<40xf32> {
  // expected-error @+1 {{has states of 2 tensors, found 1}}
  %0 = llir.scan_rows %x, %s {axis = 0 : i64, kind = #llir.scan_kind<log_sum_exp>, part = #hlir.map<() -> (8)>} : (tensor<40xf32>, tensor<5xf32>) -> tensor<40xf32>
  return %0 : tensor<40xf32>
}

// -----

func.func @narrow_state(%x: tensor<40xbf16>) -> tensor<5xbf16> {
  // expected-error @+1 {{carries 'f32', found a state of 'bf16'}}
  %0 = llir.scan_parts %x {axis = 0 : i64, kind = #llir.scan_kind<sum>, part = #hlir.map<() -> (8)>} : tensor<40xbf16> -> tensor<5xbf16>
  return %0 : tensor<5xbf16>
}

// -----

func.func @in_order(%x: tensor<40xf32>) -> tensor<5xf64> {
  // expected-error @+1 {{multiplies floats in order, which have no parts}}
  %0 = llir.scan_parts %x {axis = 0 : i64, kind = #llir.scan_kind<product>, part = #hlir.map<() -> (8)>} : tensor<40xf32> -> tensor<5xf64>
  return %0 : tensor<5xf64>
}

// -----

func.func @empty_parts(%x: tensor<40xf32>) -> tensor<5xf32> {
  // expected-error @+1 {{has empty parts}}
  %0 = llir.scan_parts %x {axis = 0 : i64, kind = #llir.scan_kind<sum>, part = #hlir.map<() -> (0)>} : tensor<40xf32> -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

func.func @axis(%x: tensor<40xf32>) -> tensor<5xf32> {
  // expected-error @+1 {{has no dim 1}}
  %0 = llir.scan_parts %x {axis = 1 : i64, kind = #llir.scan_kind<sum>, part = #hlir.map<() -> (8)>} : tensor<40xf32> -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

func.func @columns(%x: tensor<40x2xf32>) -> tensor<40x2xf32> {
  // expected-error @+1 {{its schedule is not possible: op0, scan_rows, is of a dim that is not the last, whose elements a team cannot share}}
  %0 = llir.kernel(%x) loops<grid() threads(64, 32) op0 = whole> : (tensor<40x2xf32>) -> tensor<40x2xf32> {
  ^bb0(%a: tensor<40x2xf32>):
    %r = llir.scan_rows %a {axis = 0 : i64, kind = #llir.scan_kind<sum>, part = #hlir.map<() -> (40)>} : (tensor<40x2xf32>) -> tensor<40x2xf32>
    llir.yield %r : tensor<40x2xf32>
  }
  return %0 : tensor<40x2xf32>
}

// -----

func.func @team(%x: tensor<40xf32>) -> tensor<40xf32> {
  // expected-error @+1 {{its schedule is not possible: op0, scan_rows, is shared by 8 threads, expected a warp or a block}}
  %0 = llir.kernel(%x) loops<grid() threads(64, 8) op0 = whole> : (tensor<40xf32>) -> tensor<40xf32> {
  ^bb0(%a: tensor<40xf32>):
    %r = llir.scan_rows %a {axis = 0 : i64, kind = #llir.scan_kind<sum>, part = #hlir.map<() -> (40)>} : (tensor<40xf32>) -> tensor<40xf32>
    llir.yield %r : tensor<40xf32>
  }
  return %0 : tensor<40xf32>
}

// -----

func.func @in_order_team(%x: tensor<40xf32>) -> tensor<40xf32> {
  // expected-error @+1 {{multiplies floats in order, which a team cannot share}}
  %0 = llir.kernel(%x) loops<grid() threads(64, 32) op0 = whole> : (tensor<40xf32>) -> tensor<40xf32> {
  ^bb0(%a: tensor<40xf32>):
    %r = llir.scan_rows %a {axis = 0 : i64, kind = #llir.scan_kind<product>, part = #hlir.map<() -> (40)>} : (tensor<40xf32>) -> tensor<40xf32>
    llir.yield %r : tensor<40xf32>
  }
  return %0 : tensor<40xf32>
}

// -----

func.func @more_ops(%x: tensor<40xf32>) -> tensor<40xf32> {
  // expected-error @+1 {{its schedule has the form whole, but the kernel is not one op that has it, of its operands to its results}}
  %0 = llir.kernel(%x) loops<grid() threads(64) op1 = whole> : (tensor<40xf32>) -> tensor<40xf32> {
  ^bb0(%a: tensor<40xf32>):
    %b = llir.elementwise exp(%a) : (tensor<40xf32>) -> tensor<40xf32>
    %r = llir.scan_rows %b {axis = 0 : i64, kind = #llir.scan_kind<sum>, part = #hlir.map<() -> (40)>} : (tensor<40xf32>) -> tensor<40xf32>
    llir.yield %r : tensor<40xf32>
  }
  return %0 : tensor<40xf32>
}

// -----

func.func @axes(%x: tensor<40xf32>) -> tensor<40xf32> {
  // expected-error @+1 {{its schedule has axes, of which the form whole takes none}}
  %0 = llir.kernel(%x) loops<grid(d0) threads(64) op0 = whole> : (tensor<40xf32>) -> tensor<40xf32> {
  ^bb0(%a: tensor<40xf32>):
    %r = llir.scan_rows %a {axis = 0 : i64, kind = #llir.scan_kind<sum>, part = #hlir.map<() -> (40)>} : (tensor<40xf32>) -> tensor<40xf32>
    llir.yield %r : tensor<40xf32>
  }
  return %0 : tensor<40xf32>
}
