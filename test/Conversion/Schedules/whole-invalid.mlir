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

func.func @two_results(%x: tensor<40xf32>) -> (tensor<40xf32>, tensor<40xf32>) {
  // expected-error @+1 {{has 2 results, expected one, or places and extrema}}
  %0:2 = llir.scan_rows %x {axis = 0 : i64, kind = #llir.scan_kind<sum>, part = #hlir.map<() -> (40)>} : (tensor<40xf32>) -> (tensor<40xf32>, tensor<40xf32>)
  return %0#0, %0#1 : tensor<40xf32>, tensor<40xf32>
}

// -----

func.func @extrema(%x: tensor<40xf32>) -> (tensor<40xi64>, tensor<40xf64>) {
  // expected-error @+1 {{has extrema of 'f32', found 'f64'}}
  %0:2 = llir.scan_rows %x {axis = 0 : i64, kind = #llir.scan_kind<max>, part = #hlir.map<() -> (40)>, positions = true} : (tensor<40xf32>) -> (tensor<40xi64>, tensor<40xf64>)
  return %0#0, %0#1 : tensor<40xi64>, tensor<40xf64>
}

// -----

func.func @narrow_state(%x: tensor<40xbf16>) -> tensor<5xbf16> {
  // expected-error @+1 {{carries 'f32', found a state of 'bf16'}}
  %0 = llir.scan_parts %x {axis = 0 : i64, kind = #llir.scan_kind<sum>, part = #hlir.map<() -> (8)>} : tensor<40xbf16> -> tensor<5xbf16>
  return %0 : tensor<5xbf16>
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
  // expected-error @+1 {{its schedule is not possible: op0, scan_rows, is of a dim other than the last, whose elements a thread group cannot share}}
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

// -----

func.func @run(%x: tensor<40xf32>) -> tensor<40xi64> {
  // expected-error @+1 {{has runs of 48 elements, expected a power of two from 64 to 2048}}
  %0 = llir.sort_runs %x {keep = #hlir.map<() -> (48)>, run = 48 : i64} : tensor<40xf32> -> tensor<40xi64>
  return %0 : tensor<40xi64>
}

// -----

func.func @kept(%x: tensor<100xf32>) -> tensor<9xi64> {
  // expected-error @+1 {{expects rows of 10 elements}}
  %0 = llir.sort_runs %x {keep = #hlir.map<() -> (5)>, run = 64 : i64} : tensor<100xf32> -> tensor<9xi64>
  return %0 : tensor<9xi64>
}

// -----

func.func @keys(%x: tensor<100xf64>) -> (tensor<100xi32>, tensor<100xi32>) {
  // expected-error @+1 {{has keys of 'i64', found 'i32'}}
  %0:2 = llir.sort_runs %x {keep = #hlir.map<() -> (64)>, run = 64 : i64} : tensor<100xf64> -> tensor<100xi32>, tensor<100xi32>
  return %0#0, %0#1 : tensor<100xi32>, tensor<100xi32>
}

// -----

func.func @positions(%x: tensor<100xf32>) -> tensor<100xi32> {
  // expected-error @+1 {{has positions of i64, found 'i32'}}
  %0 = llir.sort_runs %x {keep = #hlir.map<() -> (64)>, run = 64 : i64} : tensor<100xf32> -> tensor<100xi32>
  return %0 : tensor<100xi32>
}

// -----

func.func @ways(%p: tensor<100xi32>, %k: tensor<100xi32>) -> tensor<100xi64> {
  // expected-error @+1 {{merges from 2 to 65536 runs, found 1}}
  %0 = llir.merge_runs %p, %k {keep = #hlir.map<() -> (100)>, run = #hlir.map<() -> (64)>, ways = 1 : i64} : tensor<100xi32>, tensor<100xi32> -> tensor<100xi64>
  return %0 : tensor<100xi64>
}

// -----

func.func @sorting_team(%x: tensor<100xf32>) -> tensor<100xi64> {
  // expected-error @+1 {{its schedule is not possible: op0, sort_runs, is shared by 32 threads of 64, expected blocks of 64, one for each pair}}
  %0 = llir.kernel(%x) loops<grid() threads(64, 32) op0 = whole> : (tensor<100xf32>) -> tensor<100xi64> {
  ^bb0(%a: tensor<100xf32>):
    %r = llir.sort_runs %a {keep = #hlir.map<() -> (100)>, run = 128 : i64} : tensor<100xf32> -> tensor<100xi64>
    llir.yield %r : tensor<100xi64>
  }
  return %0 : tensor<100xi64>
}

// -----

func.func @counting_team(%x: tensor<100xf32>) -> tensor<100xi64> {
  // expected-error @+1 {{its schedule is not possible: op0, sort_runs, is shared by 64 threads of 64, expected blocks of 256, two for each element}}
  %0 = llir.kernel(%x) loops<grid() threads(64, 64) op0 = whole> : (tensor<100xf32>) -> tensor<100xi64> {
  ^bb0(%v: tensor<100xf32>):
    %i = llir.sort_runs %v {counted, keep = #hlir.map<() -> (100)>, run = 128 : i64} : tensor<100xf32> -> tensor<100xi64>
    llir.yield %i : tensor<100xi64>
  }
  return %0 : tensor<100xi64>
}

// -----

func.func @merging_team(%p: tensor<100xi32>, %k: tensor<100xi32>) -> tensor<100xi64> {
  // expected-error @+1 {{its schedule is not possible: op0, merge_runs, takes element by element, which a thread group of 32 threads cannot share}}
  %0 = llir.kernel(%p, %k) loops<grid() threads(64, 32) op0 = whole> : (tensor<100xi32>, tensor<100xi32>) -> tensor<100xi64> {
  ^bb0(%a: tensor<100xi32>, %b: tensor<100xi32>):
    %r = llir.merge_runs %a, %b {keep = #hlir.map<() -> (100)>, run = #hlir.map<() -> (64)>, ways = 8 : i64} : tensor<100xi32>, tensor<100xi32> -> tensor<100xi64>
    llir.yield %r : tensor<100xi64>
  }
  return %0 : tensor<100xi64>
}

// -----

func.func @sequence_threads(%x: tensor<100xf32>) -> tensor<100xf32> {
  // expected-error @+1 {{its schedule is not possible: op0, sequence, is shared by 64 threads of 64, expected a block of 128, as one of its kernels has}}
  %0 = llir.kernel(%x) loops<grid() threads(64, 64) op0 = whole> : (tensor<100xf32>) -> tensor<100xf32> {
  ^bb0(%a: tensor<100xf32>):
    %r = llir.sequence(%a) : (tensor<100xf32>) -> tensor<100xf32> {
    ^bb0(%b: tensor<100xf32>):
      %s = llir.kernel(%b) loops<grid(d0) threads(128)> : (tensor<100xf32>) -> tensor<100xf32> {
      ^bb0(%c: tensor<100xf32>):
        %t = llir.elementwise exp(%c) : (tensor<100xf32>) -> tensor<100xf32>
        llir.yield %t : tensor<100xf32>
      }
      llir.yield %s : tensor<100xf32>
    }
    llir.yield %r : tensor<100xf32>
  }
  return %0 : tensor<100xf32>
}

// -----

func.func @sequence_of_parts(%x: tensor<4x1000xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{its schedule has a sequence whose kernel reduce has parts, for several blocks}}
  %0 = llir.kernel(%x) loops<grid() threads(32, 32) op0 = whole> : (tensor<4x1000xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4x1000xf32>):
    %r = llir.sequence(%a) : (tensor<4x1000xf32>) -> tensor<4xf32> {
    ^bb0(%b: tensor<4x1000xf32>):
      %s = llir.kernel(%b) loops<grid(d0) stream(d1:all) parts(2) threads(32, 32) op0 = pass {lanes = 1, unroll = 1}> : (tensor<4x1000xf32>) -> tensor<4xf32> {
      ^bb0(%c: tensor<4x1000xf32>):
        %t = llir.reduce sum %c : tensor<4x1000xf32> -> tensor<4xf32>
        llir.yield %t : tensor<4xf32>
      }
      llir.yield %s : tensor<4xf32>
    }
    llir.yield %r : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @sequence_on_chip(%x: tensor<1xf32>) -> tensor<1xf32> {
  // expected-error @+1 {{has a sequence whose values take 400000 bytes of a block's memory, at most}}
  %0 = llir.kernel(%x) loops<grid() threads(64, 64) op0 = whole> : (tensor<1xf32>) -> tensor<1xf32> {
  ^bb0(%a: tensor<1xf32>):
    %r = llir.sequence(%a) : (tensor<1xf32>) -> tensor<1xf32> {
    ^bb0(%b: tensor<1xf32>):
      %s = llir.kernel(%b) loops<grid(d0) threads(64)> : (tensor<1xf32>) -> tensor<100000xf32> {
      ^bb0(%c: tensor<1xf32>):
        %t = llir.view %c <(d0) -> (0)> : tensor<1xf32> -> tensor<100000xf32>
        llir.yield %t : tensor<100000xf32>
      }
      %u = llir.kernel(%s) loops<grid() threads(64)> : (tensor<100000xf32>) -> tensor<1xf32> {
      ^bb0(%c: tensor<100000xf32>):
        %t = llir.view %c <(d0) -> (99999)> : tensor<100000xf32> -> tensor<1xf32>
        llir.yield %t : tensor<1xf32>
      }
      llir.yield %u : tensor<1xf32>
    }
    llir.yield %r : tensor<1xf32>
  }
  return %0 : tensor<1xf32>
}

// -----

func.func @sequence_without_schedule(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = llir.kernel(%x) loops<grid() threads(64, 64) op0 = whole> : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    %r = llir.sequence(%a) : (tensor<8xf32>) -> tensor<8xf32> {
    ^bb0(%b: tensor<8xf32>):
      // expected-error @+1 {{is part of a sequence, but has no schedule with a single case}}
      %s = llir.kernel(%b) : (tensor<8xf32>) -> tensor<8xf32> {
      ^bb0(%c: tensor<8xf32>):
        %t = llir.elementwise exp(%c) : (tensor<8xf32>) -> tensor<8xf32>
        llir.yield %t : tensor<8xf32>
      }
      llir.yield %s : tensor<8xf32>
    }
    llir.yield %r : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// -----

func.func @sequence_of_argument(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = llir.kernel(%x) loops<grid() threads(64, 64) op0 = whole> : (tensor<8xf32>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>):
    // expected-error @+1 {{yields a value that is not the result of one of its kernels, or one twice}}
    %r = llir.sequence(%a) : (tensor<8xf32>) -> tensor<8xf32> {
    ^bb0(%b: tensor<8xf32>):
      llir.yield %b : tensor<8xf32>
    }
    llir.yield %r : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}

// -----

func.func @sequence_in_place(%x: tensor<8xf32>, %i: tensor<2xi64>) -> tensor<8xf32> {
  %0 = llir.kernel(%x, %i) loops<grid() threads(64, 64) op0 = whole> : (tensor<8xf32>, tensor<2xi64>) -> tensor<8xf32> {
  ^bb0(%a: tensor<8xf32>, %j: tensor<2xi64>):
    %r = llir.sequence(%a, %j) : (tensor<8xf32>, tensor<2xi64>) -> tensor<8xf32> {
    ^bb0(%b: tensor<8xf32>, %k: tensor<2xi64>):
      // expected-error @+1 {{updates in place an operand that no kernel of its sequence has written}}
      %s = llir.kernel(%b, %k) loops<grid(d0) threads(64) op2 = unordered> {in_place} : (tensor<8xf32>, tensor<2xi64>) -> tensor<8xf32> {
      ^bb0(%c: tensor<8xf32>, %l: tensor<2xi64>):
        %z = llir.constant dense<0.0> : tensor<f32>
        %v = llir.view %z <(d0) -> ()> : tensor<f32> -> tensor<2xf32>
        %t = llir.scatter set %c, %l, %v {checked} : tensor<8xf32>, tensor<2xi64>, tensor<2xf32>
        llir.yield %t : tensor<8xf32>
      }
      llir.yield %s : tensor<8xf32>
    }
    llir.yield %r : tensor<8xf32>
  }
  return %0 : tensor<8xf32>
}
