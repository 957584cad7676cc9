// Schedules written by hand that the kernel or the processor does not allow.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=x86-64-v3 --split-input-file --verify-diagnostics

func.func @axes(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
  // expected-error @+1 {{its schedule has axes over d0, the kernel's are d0, d1}}
  %r = llir.kernel(%a) loops<grid(d0)> : (tensor<4x8xf32>) -> tensor<4x8xf32> {
  ^bb0(%x: tensor<4x8xf32>):
    llir.yield %x : tensor<4x8xf32>
  }
  return %r : tensor<4x8xf32>
}

// -----
func.func @lanes(%a: tensor<4x80xf32>) -> tensor<4x80xf32> {
  // expected-error @+1 {{its schedule uses 64 lanes, the machine's vectors have 32}}
  %r = llir.kernel(%a) loops<grid(d0, d1:all v64)> : (tensor<4x80xf32>) -> tensor<4x80xf32> {
  ^bb0(%x: tensor<4x80xf32>):
    llir.yield %x : tensor<4x80xf32>
  }
  return %r : tensor<4x80xf32>
}

// -----
func.func @symbol(%a: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{its schedule (case 0) asks for the symbol s, which the program does not have}}
  %r = llir.kernel(%a) loops<if (s: [0, 4]) grid(d0) else grid(d0:2)> : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>):
    llir.yield %x : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----
func.func @no_form(%a: tensor<4x8xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{its schedule states no form for op0, reduce}}
  %r = llir.kernel(%a) loops<grid(d0) stream(d1:all)> : (tensor<4x8xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4x8xf32>):
    %0 = llir.reduce sum %x : tensor<4x8xf32> -> tensor<4xf32>
    llir.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----
func.func @unknown(%a: tensor<4x8xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{its schedule gives op0 the form spiral, which does not exist}}
  %r = llir.kernel(%a) loops<grid(d0) stream(d1:all) op0 = spiral> : (tensor<4x8xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4x8xf32>):
    %0 = llir.reduce sum %x : tensor<4x8xf32> -> tensor<4xf32>
    llir.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----
func.func @other_op(%a: tensor<4x8xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{its schedule names op7 of a body of 1 ops}}
  %r = llir.kernel(%a) loops<grid(d0) stream(d1:all) op0 = pass op7 = pass> : (tensor<4x8xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4x8xf32>):
    %0 = llir.reduce sum %x : tensor<4x8xf32> -> tensor<4xf32>
    llir.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----
func.func @number(%a: tensor<4x8xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{its schedule gives op0 depth, which the form pass does not have}}
  %r = llir.kernel(%a) loops<grid(d0) stream(d1:all) op0 = pass {depth = 2}> : (tensor<4x8xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4x8xf32>):
    %0 = llir.reduce sum %x : tensor<4x8xf32> -> tensor<4xf32>
    llir.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----
func.func @range(%a: tensor<4x8xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{its schedule gives op0 unroll = 1000 : i64, which is out of range}}
  %r = llir.kernel(%a) loops<grid(d0) stream(d1:all) op0 = pass {unroll = 1000}> : (tensor<4x8xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4x8xf32>):
    %0 = llir.reduce sum %x : tensor<4x8xf32> -> tensor<4xf32>
    llir.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----
func.func @row_in_blocks(%a: tensor<4x8xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{its schedule streams a row in blocks; a pass takes all of it}}
  %r = llir.kernel(%a) loops<grid(d0) stream(d1:4) op0 = pass> : (tensor<4x8xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4x8xf32>):
    %0 = llir.reduce sum %x : tensor<4x8xf32> -> tensor<4xf32>
    llir.yield %0 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----
func.func @keep(%a: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) {
  // expected-error @+1 {{its schedule keeps op0 in result 1, which has not its shape and element type}}
  %r:2 = llir.kernel(%a) loops<grid(d0) stream(d1:all) op0 = keep {result = 1} op1 = pass> : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) {
  ^bb0(%x: tensor<4x8xf32>):
    %0 = llir.elementwise exp(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %1 = llir.reduce sum %0 : tensor<4x8xf32> -> tensor<4xf32>
    llir.yield %0, %1 : tensor<4x8xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4x8xf32>, tensor<4xf32>
}

// -----
func.func @keep_across(%a: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) {
  // expected-error @+1 {{its schedule keeps op0, but its vectors run across rows}}
  %r:2 = llir.kernel(%a) loops<grid(d0:all v4) stream(d1:all) op0 = keep op1 = pass> : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4xf32>) {
  ^bb0(%x: tensor<4x8xf32>):
    %0 = llir.elementwise exp(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %1 = llir.reduce sum %0 : tensor<4x8xf32> -> tensor<4xf32>
    llir.yield %0, %1 : tensor<4x8xf32>, tensor<4xf32>
  }
  return %r#0, %r#1 : tensor<4x8xf32>, tensor<4xf32>
}

// -----
func.func @registers(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @+1 {{its schedule has a tile of 14 x 2 vectors, which takes 31 registers of 16}}
  %r = llir.kernel(%a, %b) loops<grid(d1:32, d0:all) op0 = tile {lanes = 8, pack = columns, rows = 14, vectors = 2}> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>):
    %0 = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    llir.yield %0 : tensor<64x64xf32>
  }
  return %r : tensor<64x64xf32>
}

// -----
func.func @columns(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @+1 {{its schedule packs 40 columns, which is not a multiple of a tile's, 16}}
  %r = llir.kernel(%a, %b) loops<grid(d1:40, d0:all) op0 = tile {lanes = 8, pack = columns, rows = 6, vectors = 2}> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>):
    %0 = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    llir.yield %0 : tensor<64x64xf32>
  }
  return %r : tensor<64x64xf32>
}

// -----
func.func @packing(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @+1 {{its schedule packs along k, which does not step through memory}}
  %r = llir.kernel(%a, %b) loops<grid(d1:32, d0:all) op0 = tile {lanes = 8, pack = k, rows = 6, vectors = 2}> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>):
    %0 = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    llir.yield %0 : tensor<64x64xf32>
  }
  return %r : tensor<64x64xf32>
}

// -----
func.func @two_shapes(%a: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8x4xf32>) {
  // expected-error @+1 {{has no schedule on this target, no elements because the results have different shapes}}
  %r:2 = llir.kernel(%a) : (tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<8x4xf32>) {
  ^bb0(%x: tensor<4x8xf32>):
    %0 = llir.view %x <(d0, d1) -> (d1, d0)> : tensor<4x8xf32> -> tensor<8x4xf32>
    llir.yield %x, %0 : tensor<4x8xf32>, tensor<8x4xf32>
  }
  return %r#0, %r#1 : tensor<4x8xf32>, tensor<8x4xf32>
}

// -----
func.func @two_updates(%a: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{has no schedule on this target, no elements because its loops are not those of a reduction}}
  %r = llir.kernel(%a, %i, %u) : (tensor<4xf32>, tensor<2xi64>, tensor<2xf32>) -> tensor<4xf32> {
  ^bb0(%x: tensor<4xf32>, %j: tensor<2xi64>, %v: tensor<2xf32>):
    %0 = llir.scatter set %x, %j, %v : tensor<4xf32>, tensor<2xi64>, tensor<2xf32>
    %1 = llir.scatter add %0, %j, %v : tensor<4xf32>, tensor<2xi64>, tensor<2xf32>
    llir.yield %1 : tensor<4xf32>
  }
  return %r : tensor<4xf32>
}

// -----
func.func @stage_form(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64xf32> {
  // expected-error @+1 {{its schedule gives its ops forms that do not go together}}
  %r = llir.kernel(%a, %b) loops<grid(d0:all) op0 = tile {lanes = 8, pack = columns, panel = 16, rows = 4, vectors = 2} op1 = element> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64xf32> {
  ^bb0(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>):
    %0 = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %1 = llir.reduce max %0 : tensor<64x64xf32> -> tensor<64xf32>
    llir.yield %1 : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}

// -----
func.func @stage_axes(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64xf32> {
  // expected-error @+1 {{its schedule has stages, but the axes are not the dims of the parallel space}}
  %r = llir.kernel(%a, %b) loops<grid(d0:all, d1) op0 = tile {lanes = 8, pack = columns, panel = 16, rows = 4, vectors = 2} op1 = pass> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64xf32> {
  ^bb0(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>):
    %0 = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %1 = llir.reduce max %0 : tensor<64x64xf32> -> tensor<64xf32>
    llir.yield %1 : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}

// -----
func.func @stage_panel(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64xf32> {
  // expected-error @+1 {{its schedule packs 24 columns, which is not a multiple of a tile's, 16}}
  %r = llir.kernel(%a, %b) loops<grid(d0:all) op0 = tile {lanes = 8, pack = columns, panel = 24, rows = 4, vectors = 2} op1 = pass> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64xf32> {
  ^bb0(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>):
    %0 = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %1 = llir.reduce max %0 : tensor<64x64xf32> -> tensor<64xf32>
    llir.yield %1 : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}

// -----
func.func @stage_rows(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64xf32> {
  // expected-error @+1 {{its schedule takes 6 rows, which is not a multiple of a tile's, 4}}
  %r = llir.kernel(%a, %b) loops<grid(d0:6) op0 = tile {lanes = 8, pack = columns, panel = 16, rows = 4, vectors = 2} op1 = pass> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64xf32> {
  ^bb0(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>):
    %0 = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %1 = llir.reduce max %0 : tensor<64x64xf32> -> tensor<64xf32>
    llir.yield %1 : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}

// -----
func.func @stream_without(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64xf32> {
  // expected-error @+1 {{its schedule runs anchors in one loop, but its stream is not the dim after those of the parallel space}}
  %r = llir.kernel(%a, %b) loops<grid(d0:all) op0 = tile {lanes = 8, pack = columns, panel = 16, rows = 4, vectors = 2} op1 = joint> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64xf32> {
  ^bb0(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>):
    %0 = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %1 = llir.reduce max %0 : tensor<64x64xf32> -> tensor<64xf32>
    llir.yield %1 : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}

// -----
func.func @stream_all(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64xf32> {
  // expected-error @+1 {{its schedule runs anchors in one loop, but its stream has no chunk, or lanes}}
  %r = llir.kernel(%a, %b) loops<grid(d0:all) stream(d1:all) op0 = tile {lanes = 8, pack = columns, panel = 16, rows = 4, vectors = 2} op1 = joint> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64xf32> {
  ^bb0(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>):
    %0 = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %1 = llir.reduce max %0 : tensor<64x64xf32> -> tensor<64xf32>
    llir.yield %1 : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}

// -----
func.func @stream_panel(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64xf32> {
  // expected-error @+1 {{its schedule has a chunk of 24, which is not a multiple of the panel of op0}}
  %r = llir.kernel(%a, %b) loops<grid(d0:all) stream(d1:24) op0 = tile {lanes = 8, pack = columns, panel = 16, rows = 4, vectors = 2} op1 = joint> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64xf32> {
  ^bb0(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>):
    %0 = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %1 = llir.reduce max %0 : tensor<64x64xf32> -> tensor<64xf32>
    llir.yield %1 : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}

// -----
func.func @stream_pass(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64xf32> {
  // expected-error @+1 {{its schedule gives its ops forms that do not go together}}
  %r = llir.kernel(%a, %b) loops<grid(d0:all) stream(d1:16) op0 = joint op1 = pass> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64xf32> {
  ^bb0(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>):
    %0 = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %1 = llir.reduce max %0 : tensor<64x64xf32> -> tensor<64xf32>
    llir.yield %1 : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}

// -----
func.func @stream_product(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64xf32> {
  // expected-error @+1 {{its schedule gives op0, gemm, the form joint}}
  %r = llir.kernel(%a, %b) loops<grid(d0:all) stream(d1:16) op0 = joint op1 = joint> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64xf32> {
  ^bb0(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>):
    %0 = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %1 = llir.reduce max %0 : tensor<64x64xf32> -> tensor<64xf32>
    llir.yield %1 : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}

// -----
// Terms that are divided by their sum need it complete.
func.func @stream_complete(%a: tensor<64x64xf32>, %b: tensor<64x8xf32>) -> tensor<64x8xf32> {
  // expected-error @+1 {{its schedule runs anchors in one loop, but it needs the final result of an anchor before it}}
  %r = llir.kernel(%a, %b) loops<grid(d0:all) stream(d1:16) op0 = joint op3 = tile {lanes = 8, pack = columns, panel = 8, rows = 4, vectors = 1}> : (tensor<64x64xf32>, tensor<64x8xf32>) -> tensor<64x8xf32> {
  ^bb0(%x: tensor<64x64xf32>, %y: tensor<64x8xf32>):
    %0 = llir.reduce sum %x : tensor<64x64xf32> -> tensor<64xf32>
    %1 = llir.view %0 <(d0, d1) -> (d0)> : tensor<64xf32> -> tensor<64x64xf32>
    %2 = llir.elementwise div(%x, %1) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %3 = llir.gemm %2, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf32>, tensor<64x8xf32> -> tensor<64x8xf32>
    llir.yield %3 : tensor<64x8xf32>
  }
  return %r : tensor<64x8xf32>
}

// -----
// Nor may the reference be the maximum of other values.
func.func @stream_reference(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64xf32> {
  // expected-error @+1 {{its schedule runs anchors in one loop, but its terms are relative to the maximum of other values}}
  %r = llir.kernel(%a, %b) loops<grid(d0:all) stream(d1:16) op0 = joint op4 = joint> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64xf32> {
  ^bb0(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>):
    %0 = llir.reduce max %x : tensor<64x64xf32> -> tensor<64xf32>
    %1 = llir.view %0 <(d0, d1) -> (d0)> : tensor<64xf32> -> tensor<64x64xf32>
    %2 = llir.elementwise sub(%y, %1) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %3 = llir.elementwise exp(%2) : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %4 = llir.reduce sum %3 : tensor<64x64xf32> -> tensor<64xf32>
    llir.yield %4 : tensor<64xf32>
  }
  return %r : tensor<64xf32>
}

// -----
// A result of all scores would have to be kept.
func.func @stream_scores(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> (tensor<64xf32>, tensor<64x64xf32>) {
  // expected-error @+1 {{its schedule runs anchors in one loop, but a result reads all of its elements}}
  %r:2 = llir.kernel(%a, %b) loops<grid(d0:all) stream(d1:16) op0 = tile {lanes = 8, pack = columns, panel = 16, rows = 4, vectors = 2} op1 = joint> : (tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<64xf32>, tensor<64x64xf32>) {
  ^bb0(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>):
    %0 = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %1 = llir.reduce max %0 : tensor<64x64xf32> -> tensor<64xf32>
    llir.yield %1, %0 : tensor<64xf32>, tensor<64x64xf32>
  }
  return %r#0, %r#1 : tensor<64xf32>, tensor<64x64xf32>
}

// -----
func.func @stream_of_two_products(%a: tensor<64x64xf32>, %b: tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64x16xf32>) {
  // expected-error @+1 {{its schedule runs anchors in one loop, but no product sums over the results of another product}}
  %r:2 = llir.kernel(%a, %b) loops<grid(d0:all) stream(d1:16) op0 = tile {lanes = 8, pack = columns, panel = 16, rows = 4, vectors = 2} op1 = tile {lanes = 8, pack = columns, panel = 16, rows = 4, vectors = 2}> : (tensor<64x64xf32>, tensor<64x32xf32>) -> (tensor<64x32xf32>, tensor<64x16xf32>) {
  ^bb0(%x: tensor<64x64xf32>, %y: tensor<64x32xf32>):
    %0 = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf32>, tensor<64x32xf32> -> tensor<64x32xf32>
    %1 = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf32>, tensor<64x32xf32> -> tensor<64x16xf32>
    llir.yield %0, %1 : tensor<64x32xf32>, tensor<64x16xf32>
  }
  return %r#0, %r#1 : tensor<64x32xf32>, tensor<64x16xf32>
}
