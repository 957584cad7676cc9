// Tiles written by hand that the product or the machine does not allow.
// RUN: luminal-opt %s --llir-schedule-kernels="target=cuda arch=sm_90a" --split-input-file --verify-diagnostics

func.func @cores(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @+1 {{its schedule uses tensor cores, which multiply f16 or bf16 and add f32}}
  %0 = llir.kernel(%a, %b) loops<grid(d1:64, d0:64) threads(256, 256) op0 = block {depth = 16, use = mma}> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>):
    %1 = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    llir.yield %1 : tensor<64x64xf32>
  }
  return %0 : tensor<64x64xf32>
}

// -----
func.func @team(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @+1 {{its schedule has a tile for a thread group of 32 threads of 256, expected all of 256}}
  %0 = llir.kernel(%a, %b) loops<grid(d1:64, d0:64) threads(256, 32) op0 = block {depth = 16, use = fma}> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>):
    %1 = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    llir.yield %1 : tensor<64x64xf32>
  }
  return %0 : tensor<64x64xf32>
}

// -----
func.func @size(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @+1 {{its schedule has a tile of 64 x 48 by 16, expected powers of two from 32 to 128, by 16 to 64}}
  %0 = llir.kernel(%a, %b) loops<grid(d1:48, d0:64) threads(256, 256) op0 = block {depth = 16, use = fma}> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>):
    %1 = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    llir.yield %1 : tensor<64x64xf32>
  }
  return %0 : tensor<64x64xf32>
}

// -----
func.func @shared(%a: tensor<64x64xf64>, %b: tensor<64x64xf64>) -> tensor<64x64xf64> {
  // expected-error @+1 {{its schedule takes more than 49152 bytes of shared memory}}
  %0 = llir.kernel(%a, %b) loops<grid(d1:128, d0:128) threads(256, 256) op0 = block {depth = 32, use = fma}> : (tensor<64x64xf64>, tensor<64x64xf64>) -> tensor<64x64xf64> {
  ^bb0(%x: tensor<64x64xf64>, %y: tensor<64x64xf64>):
    %1 = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<64x64xf64>, tensor<64x64xf64> -> tensor<64x64xf64>
    llir.yield %1 : tensor<64x64xf64>
  }
  return %0 : tensor<64x64xf64>
}

// -----
func.func @lanes(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  // expected-error @+1 {{its schedule reads 3 elements of 64 at once, which does not divide it}}
  %0 = llir.kernel(%a, %b) loops<grid(d1:64, d0:64) threads(256, 256) op0 = block {depth = 32, rowlanes = 3, use = mma}> : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  ^bb0(%x: tensor<64x64xbf16>, %y: tensor<64x64xbf16>):
    %1 = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xbf16>
    llir.yield %1 : tensor<64x64xbf16>
  }
  return %0 : tensor<64x64xbf16>
}

// -----
// Four steps of 64 cannot be cut in three: two parts would take them all.
func.func @parts(%a: tensor<64x256xf16>, %b: tensor<64x256xf16>) -> tensor<64x64xf32> {
  // expected-error @+1 {{its schedule cuts k into 3 parts, of which each needs a step of 64}}
  %0 = llir.kernel(%a, %b) loops<grid(d1:64, d0:64) parts(3) threads(256, 256) op2 = block {depth = 64, use = mma}> : (tensor<64x256xf16>, tensor<64x256xf16>) -> tensor<64x64xf32> {
  ^bb0(%x: tensor<64x256xf16>, %y: tensor<64x256xf16>):
    %2 = llir.elementwise cast(%x) : (tensor<64x256xf16>) -> tensor<64x256xf32>
    %3 = llir.elementwise cast(%y) : (tensor<64x256xf16>) -> tensor<64x256xf32>
    %1 = llir.gemm %2, %3 k(256) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<64x256xf32>, tensor<64x256xf32> -> tensor<64x64xf32>
    llir.yield %1 : tensor<64x64xf32>
  }
  return %0 : tensor<64x64xf32>
}

// -----
func.func @groups(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  // expected-error @+1 {{its schedule multiplies with wgmma, which requires a machine that has it, stages, and 64 rows for each four}}
  %0 = llir.kernel(%a, %b) loops<grid(d1:64, d0:64) threads(128, 128) op0 = block {depth = 64, columnalong = k, columnlanes = 8, rowalong = k, rowlanes = 8, use = wgmma}> : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  ^bb0(%x: tensor<64x64xbf16>, %y: tensor<64x64xbf16>):
    %1 = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xbf16>
    llir.yield %1 : tensor<64x64xbf16>
  }
  return %0 : tensor<64x64xbf16>
}

// -----
func.func @copies(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  // expected-error @+1 {{its schedule has stages without copies, or copies without stages}}
  %0 = llir.kernel(%a, %b) loops<grid(d1:64, d0:64) threads(256, 256) op0 = block {depth = 64, columnalong = k, columnlanes = 8, rowalong = k, rowlanes = 8, stages = 2, use = mma}> : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  ^bb0(%x: tensor<64x64xbf16>, %y: tensor<64x64xbf16>):
    %1 = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xbf16>
    llir.yield %1 : tensor<64x64xbf16>
  }
  return %0 : tensor<64x64xbf16>
}

// -----
func.func @computed(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  // expected-error @+1 {{its schedule copies elements of its rows, but they are computed}}
  %0 = llir.kernel(%a, %b) loops<grid(d1:64, d0:64) threads(256, 256) op1 = block {copy = both, depth = 64, columnalong = k, columnlanes = 8, rowalong = k, rowlanes = 8, stages = 2, use = mma}> : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  ^bb0(%x: tensor<64x64xbf16>, %y: tensor<64x64xbf16>):
    %2 = llir.elementwise abs(%x) : (tensor<64x64xbf16>) -> tensor<64x64xbf16>
    %1 = llir.gemm %2, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xbf16>
    llir.yield %1 : tensor<64x64xbf16>
  }
  return %0 : tensor<64x64xbf16>
}

// -----
func.func @narrow(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  // expected-error @+1 {{its schedule copies elements of its columns, but they are not read in whole copies}}
  %0 = llir.kernel(%a, %b) loops<grid(d1:64, d0:64) threads(256, 256) op0 = block {columnlanes = 4, copy = both, depth = 64, rowlanes = 8, stages = 2, use = mma}> : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  ^bb0(%x: tensor<64x64xbf16>, %y: tensor<64x64xbf16>):
    %1 = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xbf16>
    llir.yield %1 : tensor<64x64xbf16>
  }
  return %0 : tensor<64x64xbf16>
}

// -----
func.func @results(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  // expected-error @+1 {{its schedule writes 3 results of 64 at once, which does not divide it}}
  %0 = llir.kernel(%a, %b) loops<grid(d1:64, d0:64) threads(128, 128) op0 = block {copy = both, depth = 64, columnalong = k, columnlanes = 8, rowalong = k, rowlanes = 8, resultlanes = 3, stages = 2, use = wgmma}> : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  ^bb0(%x: tensor<64x64xbf16>, %y: tensor<64x64xbf16>):
    %1 = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xbf16>
    llir.yield %1 : tensor<64x64xbf16>
  }
  return %0 : tensor<64x64xbf16>
}

// -----
func.func @unstaged(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  // expected-error @+1 {{its schedule states resident blocks, or how results are written, but has no stages}}
  %0 = llir.kernel(%a, %b) loops<grid(d1:64, d0:64) threads(256, 256) op0 = block {depth = 64, columnalong = k, columnlanes = 8, rowalong = k, rowlanes = 8, resultlanes = 2, use = mma}> : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  ^bb0(%x: tensor<64x64xbf16>, %y: tensor<64x64xbf16>):
    %1 = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xbf16>
    llir.yield %1 : tensor<64x64xbf16>
  }
  return %0 : tensor<64x64xbf16>
}

// -----
func.func @ring(%a: tensor<64x64xbf16>, %b: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  // expected-error @+1 {{its schedule takes more than 232448 bytes of shared memory}}
  %0 = llir.kernel(%a, %b) loops<grid(d1:256, d0:64) threads(128, 128) op0 = block {copy = both, depth = 64, columnalong = k, columnlanes = 8, rowalong = k, rowlanes = 8, stages = 8, use = wgmma}> : (tensor<64x64xbf16>, tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  ^bb0(%x: tensor<64x64xbf16>, %y: tensor<64x64xbf16>):
    %1 = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<64x64xbf16>, tensor<64x64xbf16> -> tensor<64x64xbf16>
    llir.yield %1 : tensor<64x64xbf16>
  }
  return %0 : tensor<64x64xbf16>
}

// -----
func.func @tile_rows(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @+1 {{its schedule states the rows of a tile or a side, but no groups of rows}}
  %0 = llir.kernel(%a, %b) loops<grid(d1:64, d0:8) threads(256, 256) op0 = block {depth = 16, rows = 64, use = fma}> : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>):
    %1 = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    llir.yield %1 : tensor<64x64xf32>
  }
  return %0 : tensor<64x64xf32>
}

// -----
func.func @no_groups(%a: tensor<64x64xf32>, %b: tensor<64x64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @+1 {{its schedule does not fit the product: no matrix is looked up}}
  %0 = llir.kernel(%a, %b) loops<grid(d1:64, d0:8) threads(256, 256) op0 = block {depth = 16, groups = rows, rows = 64, use = fma}> : (tensor<64x64xf32>, tensor<64x64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%x: tensor<64x64xf32>, %y: tensor<64x64x64xf32>):
    %1 = llir.gemm %x, %y k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)>
        : tensor<64x64xf32>, tensor<64x64x64xf32> -> tensor<64x64xf32>
    llir.yield %1 : tensor<64x64xf32>
  }
  return %0 : tensor<64x64xf32>
}

// -----
func.func @search(%a: tensor<64x64xf32>, %b: tensor<3x64x64xf32>, %i: tensor<64xi64>) -> tensor<64x64xf32> {
  // expected-error @+1 {{its schedule looks for groups in 1 rows, expected 2 or more that divide a tile of 64, and no parts}}
  %0 = llir.kernel(%a, %b, %i) loops<grid(d1:64, d0) threads(256, 256) op1 = block {depth = 16, groups = rows, rows = 64, use = fma}> : (tensor<64x64xf32>, tensor<3x64x64xf32>, tensor<64xi64>) -> tensor<64x64xf32> {
  ^bb0(%x: tensor<64x64xf32>, %y: tensor<3x64x64xf32>, %j: tensor<64xi64>):
    %1 = llir.gather %y, %j {checked} : tensor<3x64x64xf32>, tensor<64xi64> -> tensor<64x64x64xf32>
    %2 = llir.gemm %x, %1 k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)>
        : tensor<64x64xf32>, tensor<64x64x64xf32> -> tensor<64x64xf32>
    llir.yield %2 : tensor<64x64xf32>
  }
  return %0 : tensor<64x64xf32>
}

// -----
func.func @rows_at_once(%a: tensor<64x64xf32>, %b: tensor<3x64x64xf32>, %i: tensor<64xi64>) -> tensor<64x64xf32> {
  // expected-error @+1 {{its schedule takes several rows at once, but groups begin and end at any row}}
  %0 = llir.kernel(%a, %b, %i) loops<grid(d1:64, d0:8) threads(256, 256) op1 = block {depth = 16, groups = rows, rowalong = own, rowlanes = 4, rows = 64, use = fma}> : (tensor<64x64xf32>, tensor<3x64x64xf32>, tensor<64xi64>) -> tensor<64x64xf32> {
  ^bb0(%x: tensor<64x64xf32>, %y: tensor<3x64x64xf32>, %j: tensor<64xi64>):
    %1 = llir.gather %y, %j {checked} : tensor<3x64x64xf32>, tensor<64xi64> -> tensor<64x64x64xf32>
    %2 = llir.gemm %x, %1 k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d0, d1, d2)>
        : tensor<64x64xf32>, tensor<64x64x64xf32> -> tensor<64x64xf32>
    llir.yield %2 : tensor<64x64xf32>
  }
  return %0 : tensor<64x64xf32>
}

// -----
func.func @parts_of_teams_across(%a: tensor<65536x1000xf32>) -> tensor<1000xf32> {
  // expected-error @+1 {{its schedule has parts of vectors across rows, which a thread group of 2 threads does not share}}
  %r = llir.kernel(%a) loops<grid(d0:4 v4) stream(d1:all) parts(2) threads(256, 2) op1 = pass {unroll = 2}> : (tensor<65536x1000xf32>) -> tensor<1000xf32> {
  ^bb0(%x: tensor<65536x1000xf32>):
    %0 = llir.view %x <(d0, d1) -> (d1, d0)> : tensor<65536x1000xf32> -> tensor<1000x65536xf32>
    %1 = llir.reduce sum %0 : tensor<1000x65536xf32> -> tensor<1000xf32>
    llir.yield %1 : tensor<1000xf32>
  }
  return %r : tensor<1000xf32>
}
