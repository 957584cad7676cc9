// RUN: luminal-opt %s --llir-schedule-kernels="target=cuda arch=sm_90a" --split-input-file --verify-diagnostics

func.func @threads(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
  // expected-error@+1 {{its schedule has tiles for a thread group of 128 threads of 128, expected all of 256}}
  %0 = llir.kernel(%x) loops<grid(d0:64, d1:64) threads(128, 128) op0 = transpose {lanes = 4}> : (tensor<512x512xf32>) -> tensor<512x512xf32> {
  ^bb0(%a: tensor<512x512xf32>):
    %1 = llir.view %a <(d0, d1) -> (d1, d0)> : tensor<512x512xf32> -> tensor<512x512xf32>
    llir.yield %1 : tensor<512x512xf32>
  }
  return %0 : tensor<512x512xf32>
}

// -----

func.func @straight(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
  // expected-error@+1 {{its schedule brings a tile of op0, view, which is not read across memory}}
  %0 = llir.kernel(%x) loops<grid(d0:64, d1:64) threads(256, 256) op0 = transpose {lanes = 4}> : (tensor<512x512xf32>) -> tensor<512x512xf32> {
  ^bb0(%a: tensor<512x512xf32>):
    %1 = llir.view %a <(d0, d1) -> (511 - d0, d1)> : tensor<512x512xf32> -> tensor<512x512xf32>
    llir.yield %1 : tensor<512x512xf32>
  }
  return %0 : tensor<512x512xf32>
}

// -----

func.func @size(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
  // expected-error@+1 {{its schedule has tiles of 32 indices of an axis, expected 64 or 32 of the last and of that along which tiles are read, 1 of the others}}
  %0 = llir.kernel(%x) loops<grid(d0:32, d1:64) threads(256, 256) op0 = transpose {lanes = 4}> : (tensor<512x512xf32>) -> tensor<512x512xf32> {
  ^bb0(%a: tensor<512x512xf32>):
    %1 = llir.view %a <(d0, d1) -> (d1, d0)> : tensor<512x512xf32> -> tensor<512x512xf32>
    llir.yield %1 : tensor<512x512xf32>
  }
  return %0 : tensor<512x512xf32>
}

// -----

func.func @lanes(%x: tensor<510x510xf32>) -> tensor<510x510xf32> {
  // expected-error@+1 {{its schedule brings 4 elements of 510 at once, which does not divide it}}
  %0 = llir.kernel(%x) loops<grid(d0:64, d1:64) threads(256, 256) op0 = transpose {lanes = 4}> : (tensor<510x510xf32>) -> tensor<510x510xf32> {
  ^bb0(%a: tensor<510x510xf32>):
    %1 = llir.view %a <(d0, d1) -> (d1, d0)> : tensor<510x510xf32> -> tensor<510x510xf32>
    llir.yield %1 : tensor<510x510xf32>
  }
  return %0 : tensor<510x510xf32>
}

// -----

func.func @memory(%x: tensor<512x512xf64>, %y: tensor<512x512xf64>) -> tensor<512x512xf64> {
  // expected-error@+1 {{its schedule takes more than 49152 bytes of shared memory}}
  %0 = llir.kernel(%x, %y) loops<grid(d0:64, d1:64) threads(256, 256) op0 = transpose {lanes = 2} op1 = transpose {lanes = 2}> : (tensor<512x512xf64>, tensor<512x512xf64>) -> tensor<512x512xf64> {
  ^bb0(%a: tensor<512x512xf64>, %b: tensor<512x512xf64>):
    %1 = llir.view %a <(d0, d1) -> (d1, d0)> : tensor<512x512xf64> -> tensor<512x512xf64>
    %2 = llir.view %b <(d0, d1) -> (d1, d0)> : tensor<512x512xf64> -> tensor<512x512xf64>
    %3 = llir.elementwise mul(%1, %2) : (tensor<512x512xf64>, tensor<512x512xf64>) -> tensor<512x512xf64>
    llir.yield %3 : tensor<512x512xf64>
  }
  return %0 : tensor<512x512xf64>
}
