// Streams by thread blocks, written by hand, that the kernel or the machine does not allow.
// RUN: luminal-opt %s --llir-schedule-kernels="target=cuda arch=sm_90a" --split-input-file --verify-diagnostics

func.func @team(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @+1 {{its schedule runs anchors in one loop by thread groups of 32 threads, expected all of a block}}
  %0 = llir.kernel(%a, %b, %c) loops<grid(d0:64) stream(d1:64) threads(128, 32) op0 = block {use = mma} op1 = joint op5 = block {use = mma}> : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16> {
  ^bb0(%q: tensor<64x64xf16>, %k: tensor<64x64xf16>, %v: tensor<64x64xf16>):
    %1 = llir.gemm %q, %k k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
    %2 = llir.reduce max %1 : tensor<64x64xf16> -> tensor<64xf16>
    %3 = llir.view %2 <(d0, d1) -> (d0)> : tensor<64xf16> -> tensor<64x64xf16>
    %4 = llir.elementwise sub(%1, %3) : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %5 = llir.elementwise exp(%4) : (tensor<64x64xf16>) -> tensor<64x64xf16>
    %6 = llir.gemm %5, %v k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
    llir.yield %6 : tensor<64x64xf16>
  }
  return %0 : tensor<64x64xf16>
}

// -----

func.func @threads(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @+1 {{its schedule has 256 threads for a tile of 64 rows, expected 128, or half as many}}
  %0 = llir.kernel(%a, %b, %c) loops<grid(d0:64) stream(d1:64) threads(256, 256) op0 = block {use = mma} op1 = joint op5 = block {use = mma}> : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16> {
  ^bb0(%q: tensor<64x64xf16>, %k: tensor<64x64xf16>, %v: tensor<64x64xf16>):
    %1 = llir.gemm %q, %k k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
    %2 = llir.reduce max %1 : tensor<64x64xf16> -> tensor<64xf16>
    %3 = llir.view %2 <(d0, d1) -> (d0)> : tensor<64xf16> -> tensor<64x64xf16>
    %4 = llir.elementwise sub(%1, %3) : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %5 = llir.elementwise exp(%4) : (tensor<64x64xf16>) -> tensor<64x64xf16>
    %6 = llir.gemm %5, %v k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
    llir.yield %6 : tensor<64x64xf16>
  }
  return %0 : tensor<64x64xf16>
}

// -----

func.func @tile(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @+1 {{its schedule has a tile of 64 rows and 48 indices of the stream, expected powers of two from 16 to 256}}
  %0 = llir.kernel(%a, %b, %c) loops<grid(d0:64) stream(d1:48) threads(128, 128) op0 = block {use = mma} op1 = joint op5 = block {use = mma}> : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16> {
  ^bb0(%q: tensor<64x64xf16>, %k: tensor<64x64xf16>, %v: tensor<64x64xf16>):
    %1 = llir.gemm %q, %k k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
    %2 = llir.reduce max %1 : tensor<64x64xf16> -> tensor<64xf16>
    %3 = llir.view %2 <(d0, d1) -> (d0)> : tensor<64xf16> -> tensor<64x64xf16>
    %4 = llir.elementwise sub(%1, %3) : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %5 = llir.elementwise exp(%4) : (tensor<64x64xf16>) -> tensor<64x64xf16>
    %6 = llir.gemm %5, %v k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
    llir.yield %6 : tensor<64x64xf16>
  }
  return %0 : tensor<64x64xf16>
}

// -----

func.func @cores(%a: tensor<64x64xf32>, %b: tensor<64x64xf32>, %c: tensor<64x64xf32>) -> tensor<64x64xf32> {
  // expected-error @+1 {{its schedule runs anchors in one loop by thread blocks, but the tensor cores, which multiply f16 or bf16 and add f32, cannot compute it}}
  %0 = llir.kernel(%a, %b, %c) loops<grid(d0:64) stream(d1:64) threads(128, 128) op0 = block {use = mma} op1 = joint op5 = block {use = mma}> : (tensor<64x64xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32> {
  ^bb0(%q: tensor<64x64xf32>, %k: tensor<64x64xf32>, %v: tensor<64x64xf32>):
    %1 = llir.gemm %q, %k k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    %2 = llir.reduce max %1 : tensor<64x64xf32> -> tensor<64xf32>
    %3 = llir.view %2 <(d0, d1) -> (d0)> : tensor<64xf32> -> tensor<64x64xf32>
    %4 = llir.elementwise sub(%1, %3) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
    %5 = llir.elementwise exp(%4) : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %6 = llir.gemm %5, %v k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf32>, tensor<64x64xf32> -> tensor<64x64xf32>
    llir.yield %6 : tensor<64x64xf32>
  }
  return %0 : tensor<64x64xf32>
}

// -----

func.func @mixed(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @+1 {{its schedule computes products in different ways}}
  %0 = llir.kernel(%a, %b, %c) loops<grid(d0:64) stream(d1:64) threads(128, 128) op0 = block {use = mma} op1 = joint op5 = block {use = fma}> : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16> {
  ^bb0(%q: tensor<64x64xf16>, %k: tensor<64x64xf16>, %v: tensor<64x64xf16>):
    %1 = llir.gemm %q, %k k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
    %2 = llir.reduce max %1 : tensor<64x64xf16> -> tensor<64xf16>
    %3 = llir.view %2 <(d0, d1) -> (d0)> : tensor<64xf16> -> tensor<64x64xf16>
    %4 = llir.elementwise sub(%1, %3) : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %5 = llir.elementwise exp(%4) : (tensor<64x64xf16>) -> tensor<64x64xf16>
    %6 = llir.gemm %5, %v k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
    llir.yield %6 : tensor<64x64xf16>
  }
  return %0 : tensor<64x64xf16>
}

// -----

func.func @wide(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x272xf16>) -> tensor<64x272xf16> {
  // expected-error @+1 {{its schedule runs anchors in one loop by thread blocks, but its columns, or the dim that it sums besides the streamed one, are more than 256 or not known}}
  %0 = llir.kernel(%a, %b, %c) loops<grid(d0:64) stream(d1:64) threads(128, 128) op0 = block {use = mma} op1 = joint op5 = block {use = mma}> : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x272xf16>) -> tensor<64x272xf16> {
  ^bb0(%q: tensor<64x64xf16>, %k: tensor<64x64xf16>, %v: tensor<64x272xf16>):
    %1 = llir.gemm %q, %k k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
    %2 = llir.reduce max %1 : tensor<64x64xf16> -> tensor<64xf16>
    %3 = llir.view %2 <(d0, d1) -> (d0)> : tensor<64xf16> -> tensor<64x64xf16>
    %4 = llir.elementwise sub(%1, %3) : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %5 = llir.elementwise exp(%4) : (tensor<64x64xf16>) -> tensor<64x64xf16>
    %6 = llir.gemm %5, %v k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf16>, tensor<64x272xf16> -> tensor<64x272xf16>
    llir.yield %6 : tensor<64x272xf16>
  }
  return %0 : tensor<64x272xf16>
}

// -----

func.func @memory(%a: tensor<64x256xf64>, %b: tensor<64x256xf64>, %c: tensor<64x256xf64>) -> tensor<64x256xf64> {
  // expected-error @+1 {{its schedule runs anchors in one loop by thread blocks, but a tile of rows needs more shared memory than there is, in bytes}}
  %0 = llir.kernel(%a, %b, %c) loops<grid(d0:64) stream(d1:64) threads(256, 256) op0 = block {use = fma} op1 = joint op5 = block {use = fma}> : (tensor<64x256xf64>, tensor<64x256xf64>, tensor<64x256xf64>) -> tensor<64x256xf64> {
  ^bb0(%q: tensor<64x256xf64>, %k: tensor<64x256xf64>, %v: tensor<64x256xf64>):
    %1 = llir.gemm %q, %k k(256) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x256xf64>, tensor<64x256xf64> -> tensor<64x64xf64>
    %2 = llir.reduce max %1 : tensor<64x64xf64> -> tensor<64xf64>
    %3 = llir.view %2 <(d0, d1) -> (d0)> : tensor<64xf64> -> tensor<64x64xf64>
    %4 = llir.elementwise sub(%1, %3) : (tensor<64x64xf64>, tensor<64x64xf64>) -> tensor<64x64xf64>
    %5 = llir.elementwise exp(%4) : (tensor<64x64xf64>) -> tensor<64x64xf64>
    %6 = llir.gemm %5, %v k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf64>, tensor<64x256xf64> -> tensor<64x256xf64>
    llir.yield %6 : tensor<64x256xf64>
  }
  return %0 : tensor<64x256xf64>
}

// -----

func.func @registers(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x256xf16>) -> tensor<64x256xf16> {
  // expected-error @+1 {{its schedule runs anchors in one loop by thread blocks, but a tile of rows needs too many registers}}
  %0 = llir.kernel(%a, %b, %c) loops<grid(d0:16) stream(d1:128) threads(32, 32) op0 = block {use = mma} op1 = joint op5 = block {use = mma}> : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x256xf16>) -> tensor<64x256xf16> {
  ^bb0(%q: tensor<64x64xf16>, %k: tensor<64x64xf16>, %v: tensor<64x256xf16>):
    %1 = llir.gemm %q, %k k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
    %2 = llir.reduce max %1 : tensor<64x64xf16> -> tensor<64xf16>
    %3 = llir.view %2 <(d0, d1) -> (d0)> : tensor<64xf16> -> tensor<64x64xf16>
    %4 = llir.elementwise sub(%1, %3) : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %5 = llir.elementwise exp(%4) : (tensor<64x64xf16>) -> tensor<64x64xf16>
    %6 = llir.gemm %5, %v k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf16>, tensor<64x256xf16> -> tensor<64x256xf16>
    llir.yield %6 : tensor<64x256xf16>
  }
  return %0 : tensor<64x256xf16>
}

// -----

func.func @form(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @+1 {{its schedule gives op1, reduce, the form block}}
  %0 = llir.kernel(%a, %b, %c) loops<grid(d0:64) stream(d1:64) threads(128, 128) op0 = block {use = mma} op1 = block op5 = block {use = mma}> : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16> {
  ^bb0(%q: tensor<64x64xf16>, %k: tensor<64x64xf16>, %v: tensor<64x64xf16>):
    %1 = llir.gemm %q, %k k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
    %2 = llir.reduce max %1 : tensor<64x64xf16> -> tensor<64xf16>
    %3 = llir.view %2 <(d0, d1) -> (d0)> : tensor<64xf16> -> tensor<64x64xf16>
    %4 = llir.elementwise sub(%1, %3) : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %5 = llir.elementwise exp(%4) : (tensor<64x64xf16>) -> tensor<64x64xf16>
    %6 = llir.gemm %5, %v k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
    llir.yield %6 : tensor<64x64xf16>
  }
  return %0 : tensor<64x64xf16>
}

// -----

func.func @depth(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @+1 {{its schedule gives op0 depth, which the form block does not have}}
  %0 = llir.kernel(%a, %b, %c) loops<grid(d0:64) stream(d1:64) threads(128, 128) op0 = block {depth = 16, use = mma} op1 = joint op5 = block {use = mma}> : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16> {
  ^bb0(%q: tensor<64x64xf16>, %k: tensor<64x64xf16>, %v: tensor<64x64xf16>):
    %1 = llir.gemm %q, %k k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
    %2 = llir.reduce max %1 : tensor<64x64xf16> -> tensor<64xf16>
    %3 = llir.view %2 <(d0, d1) -> (d0)> : tensor<64xf16> -> tensor<64x64xf16>
    %4 = llir.elementwise sub(%1, %3) : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %5 = llir.elementwise exp(%4) : (tensor<64x64xf16>) -> tensor<64x64xf16>
    %6 = llir.gemm %5, %v k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
    llir.yield %6 : tensor<64x64xf16>
  }
  return %0 : tensor<64x64xf16>
}

// -----

func.func @lanes(%a: tensor<64x60xf16>, %b: tensor<64x60xf16>, %c: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @+1 {{its schedule reads 8 elements of 60 at once, which does not divide it}}
  %0 = llir.kernel(%a, %b, %c) loops<grid(d0:64) stream(d1:64) threads(128, 128) op0 = block {rowlanes = 8, use = mma} op1 = joint op5 = block {use = mma}> : (tensor<64x60xf16>, tensor<64x60xf16>, tensor<64x64xf16>) -> tensor<64x64xf16> {
  ^bb0(%q: tensor<64x60xf16>, %k: tensor<64x60xf16>, %v: tensor<64x64xf16>):
    %1 = llir.gemm %q, %k k(60) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x60xf16>, tensor<64x60xf16> -> tensor<64x64xf16>
    %2 = llir.reduce max %1 : tensor<64x64xf16> -> tensor<64xf16>
    %3 = llir.view %2 <(d0, d1) -> (d0)> : tensor<64xf16> -> tensor<64x64xf16>
    %4 = llir.elementwise sub(%1, %3) : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %5 = llir.elementwise exp(%4) : (tensor<64x64xf16>) -> tensor<64x64xf16>
    %6 = llir.gemm %5, %v k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
    llir.yield %6 : tensor<64x64xf16>
  }
  return %0 : tensor<64x64xf16>
}

// -----

func.func @stages(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @+1 {{its schedule copies 3 and 2 chunks of right operands}}
  %r = llir.kernel(%a, %b, %c) loops<grid(d0:64) stream(d1:32) threads(128, 128) op0 = block {columnlanes = 8, rowlanes = 8, stages = 2, use = mma} op1 = joint op5 = block {columnalong = own, columnlanes = 8, stages = 3, use = mma}> : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16> {
  ^bb0(%q: tensor<64x64xf16>, %k: tensor<64x64xf16>, %v: tensor<64x64xf16>):
    %1 = llir.gemm %q, %k k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
    %2 = llir.reduce max %1 : tensor<64x64xf16> -> tensor<64xf16>
    %3 = llir.view %2 <(d0, d1) -> (d0)> : tensor<64xf16> -> tensor<64x64xf16>
    %4 = llir.elementwise sub(%1, %3) : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %5 = llir.elementwise exp(%4) : (tensor<64x64xf16>) -> tensor<64x64xf16>
    %6 = llir.gemm %5, %v k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
    llir.yield %6 : tensor<64x64xf16>
  }
  return %r : tensor<64x64xf16>
}

// -----

func.func @computed(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @+1 {{its schedule copies elements that op1 multiplies, but they are computed}}
  %r = llir.kernel(%a, %b, %c) loops<grid(d0:64) stream(d1:32) threads(128, 128) op1 = block {columnlanes = 8, rowlanes = 8, stages = 2, use = mma} op2 = joint op6 = block {columnalong = own, columnlanes = 8, use = mma}> : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16> {
  ^bb0(%q: tensor<64x64xf16>, %k0: tensor<64x64xf16>, %v: tensor<64x64xf16>):
    %0 = llir.elementwise neg(%k0) : (tensor<64x64xf16>) -> tensor<64x64xf16>
    %1 = llir.gemm %q, %0 k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
    %2 = llir.reduce max %1 : tensor<64x64xf16> -> tensor<64xf16>
    %3 = llir.view %2 <(d0, d1) -> (d0)> : tensor<64xf16> -> tensor<64x64xf16>
    %4 = llir.elementwise sub(%1, %3) : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %5 = llir.elementwise exp(%4) : (tensor<64x64xf16>) -> tensor<64x64xf16>
    %6 = llir.gemm %5, %v k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
    llir.yield %6 : tensor<64x64xf16>
  }
  return %r : tensor<64x64xf16>
}

// -----

func.func @pieces(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @+1 {{its schedule copies elements that op0 multiplies, but they are not read in whole copies}}
  %r = llir.kernel(%a, %b, %c) loops<grid(d0:64) stream(d1:32) threads(128, 128) op0 = block {columnlanes = 4, stages = 2, use = mma} op1 = joint op5 = block {use = mma}> : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16> {
  ^bb0(%q: tensor<64x64xf16>, %k: tensor<64x64xf16>, %v: tensor<64x64xf16>):
    %1 = llir.gemm %q, %k k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
    %2 = llir.reduce max %1 : tensor<64x64xf16> -> tensor<64xf16>
    %3 = llir.view %2 <(d0, d1) -> (d0)> : tensor<64xf16> -> tensor<64x64xf16>
    %4 = llir.elementwise sub(%1, %3) : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %5 = llir.elementwise exp(%4) : (tensor<64x64xf16>) -> tensor<64x64xf16>
    %6 = llir.gemm %5, %v k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
    llir.yield %6 : tensor<64x64xf16>
  }
  return %r : tensor<64x64xf16>
}

// -----

func.func @parts(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @+1 {{its schedule cuts the 2 chunks of its stream into 3 parts}}
  %r = llir.kernel(%a, %b, %c) loops<grid(d0:64) stream(d1:32) parts(3) threads(128, 128) op0 = block {use = mma} op1 = joint op5 = block {use = mma}> : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16> {
  ^bb0(%q: tensor<64x64xf16>, %k: tensor<64x64xf16>, %v: tensor<64x64xf16>):
    %1 = llir.gemm %q, %k k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
    %2 = llir.reduce max %1 : tensor<64x64xf16> -> tensor<64xf16>
    %3 = llir.view %2 <(d0, d1) -> (d0)> : tensor<64xf16> -> tensor<64x64xf16>
    %4 = llir.elementwise sub(%1, %3) : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %5 = llir.elementwise exp(%4) : (tensor<64x64xf16>) -> tensor<64x64xf16>
    %6 = llir.gemm %5, %v k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
    llir.yield %6 : tensor<64x64xf16>
  }
  return %r : tensor<64x64xf16>
}

// -----

func.func @group(%a: tensor<64x64xf16>, %b: tensor<64x64xf16>, %c: tensor<64x64xf16>) -> tensor<64x64xf16> {
  // expected-error @+1 {{its schedule runs anchors in one loop by thread blocks, but this machine has no wgmma, or not for so many rows}}
  %r = llir.kernel(%a, %b, %c) loops<grid(d0:32) stream(d1:32) threads(64, 64) op0 = block {use = wgmma} op1 = joint op5 = block {use = wgmma}> : (tensor<64x64xf16>, tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16> {
  ^bb0(%q: tensor<64x64xf16>, %k: tensor<64x64xf16>, %v: tensor<64x64xf16>):
    %1 = llir.gemm %q, %k k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
    %2 = llir.reduce max %1 : tensor<64x64xf16> -> tensor<64xf16>
    %3 = llir.view %2 <(d0, d1) -> (d0)> : tensor<64xf16> -> tensor<64x64xf16>
    %4 = llir.elementwise sub(%1, %3) : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf16>
    %5 = llir.elementwise exp(%4) : (tensor<64x64xf16>) -> tensor<64x64xf16>
    %6 = llir.gemm %5, %v k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<64x64xf16>, tensor<64x64xf16> -> tensor<64x64xf16>
    llir.yield %6 : tensor<64x64xf16>
  }
  return %r : tensor<64x64xf16>
}

// -----

func.func @beside(%a: tensor<128x64xf16>, %b: tensor<128x64xf16>, %c: tensor<128x64xf16>) -> tensor<128x64xf16> {
  // expected-error @+1 {{its schedule runs anchors in one loop by thread blocks, but terms overlap with products only with wgmma, scores, and copies of all right operands}}
  %r = llir.kernel(%a, %b, %c) loops<grid(d0:64) stream(d1:64) threads(128, 128) op0 = block {use = wgmma} op1 = joint op5 = block {terms = beside, use = wgmma}> : (tensor<128x64xf16>, tensor<128x64xf16>, tensor<128x64xf16>) -> tensor<128x64xf16> {
  ^bb0(%q: tensor<128x64xf16>, %k: tensor<128x64xf16>, %v: tensor<128x64xf16>):
    %1 = llir.gemm %q, %k k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<128x64xf16>, tensor<128x64xf16> -> tensor<128x128xf16>
    %2 = llir.reduce max %1 : tensor<128x128xf16> -> tensor<128xf16>
    %3 = llir.view %2 <(d0, d1) -> (d0)> : tensor<128xf16> -> tensor<128x128xf16>
    %4 = llir.elementwise sub(%1, %3) : (tensor<128x128xf16>, tensor<128x128xf16>) -> tensor<128x128xf16>
    %5 = llir.elementwise exp(%4) : (tensor<128x128xf16>) -> tensor<128x128xf16>
    %6 = llir.gemm %5, %v k(128) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<128x128xf16>, tensor<128x64xf16> -> tensor<128x64xf16>
    llir.yield %6 : tensor<128x64xf16>
  }
  return %r : tensor<128x64xf16>
}

// -----

func.func @skipped(%a: tensor<128x64xf16>, %b: tensor<128x64xf16>, %c: tensor<128x64xf16>) -> tensor<128x64xf16> {
  // expected-error @+1 {{its schedule runs anchors in one loop by thread blocks, but}}
  %r = llir.kernel(%a, %b, %c) loops<grid(d0:64) stream(d1:64) threads(128, 128) op0 = block {use = mma} op1 = joint op5 = block {skipped = shared, use = mma}> : (tensor<128x64xf16>, tensor<128x64xf16>, tensor<128x64xf16>) -> tensor<128x64xf16> {
  ^bb0(%q: tensor<128x64xf16>, %k: tensor<128x64xf16>, %v: tensor<128x64xf16>):
    %1 = llir.gemm %q, %k k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<128x64xf16>, tensor<128x64xf16> -> tensor<128x128xf16>
    %2 = llir.reduce max %1 : tensor<128x128xf16> -> tensor<128xf16>
    %3 = llir.view %2 <(d0, d1) -> (d0)> : tensor<128xf16> -> tensor<128x128xf16>
    %4 = llir.elementwise sub(%1, %3) : (tensor<128x128xf16>, tensor<128x128xf16>) -> tensor<128x128xf16>
    %5 = llir.elementwise exp(%4) : (tensor<128x128xf16>) -> tensor<128x128xf16>
    %6 = llir.gemm %5, %v k(128) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<128x128xf16>, tensor<128x64xf16> -> tensor<128x64xf16>
    llir.yield %6 : tensor<128x64xf16>
  }
  return %r : tensor<128x64xf16>
}

// -----
func.func @no_reduction(%a: tensor<128x64xf16>, %b: tensor<128x64xf16>, %c: tensor<128x64xf16>) -> tensor<128x64xf16> {
  // expected-error @+1 {{its schedule runs anchors in one loop, but a reduction and a product are not among them}}
  %r = llir.kernel(%a, %b, %c) loops<grid(d0:64) stream(d1:64) threads(128, 128) op0 = block {use = mma} op2 = joint> : (tensor<128x64xf16>, tensor<128x64xf16>, tensor<128x64xf16>) -> tensor<128x64xf16> {
  ^bb0(%q: tensor<128x64xf16>, %k: tensor<128x64xf16>, %v: tensor<128x64xf16>):
    %1 = llir.gemm %q, %k k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<128x64xf16>, tensor<128x64xf16> -> tensor<128x128xf16>
    %2 = llir.elementwise sigmoid(%1) : (tensor<128x128xf16>) -> tensor<128x128xf16>
    %3 = llir.gemm %2, %v k(128) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<128x128xf16>, tensor<128x64xf16> -> tensor<128x64xf16>
    llir.yield %3 : tensor<128x64xf16>
  }
  return %r : tensor<128x64xf16>
}

// -----

func.func @not_beside(%a: tensor<256x64xf16>, %b: tensor<256x64xf16>, %c: tensor<256x64xf16>) -> tensor<256x64xf16> {
  // expected-error @+1 {{specialized warps require terms that overlap with products}}
  %0 = llir.kernel(%a, %b, %c) loops<grid(d0:128) stream(d1:128) threads(384, 384) op0 = block {columnalong = k, columnlanes = 8, rowalong = k, rowlanes = 8, stages = 2, use = wgmma} op1 = joint op5 = block {columnalong = own, columnlanes = 8, stages = 2, use = wgmma, warps = specialized}> : (tensor<256x64xf16>, tensor<256x64xf16>, tensor<256x64xf16>) -> tensor<256x64xf16> {
  ^bb0(%q: tensor<256x64xf16>, %k: tensor<256x64xf16>, %v: tensor<256x64xf16>):
    %1 = llir.gemm %q, %k k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<256x64xf16>, tensor<256x64xf16> -> tensor<256x256xf16>
    %2 = llir.reduce max %1 : tensor<256x256xf16> -> tensor<256xf16>
    %3 = llir.view %2 <(d0, d1) -> (d0)> : tensor<256xf16> -> tensor<256x256xf16>
    %4 = llir.elementwise sub(%1, %3) : (tensor<256x256xf16>, tensor<256x256xf16>) -> tensor<256x256xf16>
    %5 = llir.elementwise exp(%4) : (tensor<256x256xf16>) -> tensor<256x256xf16>
    %6 = llir.gemm %5, %v k(256) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<256x256xf16>, tensor<256x64xf16> -> tensor<256x64xf16>
    llir.yield %6 : tensor<256x64xf16>
  }
  return %0 : tensor<256x64xf16>
}

// -----

func.func @parts(%a: tensor<256x64xf16>, %b: tensor<256x64xf16>, %c: tensor<256x64xf16>) -> tensor<256x64xf16> {
  // expected-error @+1 {{warps are specialized, and blocks process parts}}
  %0 = llir.kernel(%a, %b, %c) loops<grid(d0:128) stream(d1:64) parts(2) threads(384, 384) op0 = block {columnalong = k, columnlanes = 8, rowalong = k, rowlanes = 8, stages = 2, use = wgmma} op1 = joint op5 = block {columnalong = own, columnlanes = 8, stages = 2, terms = beside, use = wgmma, warps = specialized}> : (tensor<256x64xf16>, tensor<256x64xf16>, tensor<256x64xf16>) -> tensor<256x64xf16> {
  ^bb0(%q: tensor<256x64xf16>, %k: tensor<256x64xf16>, %v: tensor<256x64xf16>):
    %1 = llir.gemm %q, %k k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<256x64xf16>, tensor<256x64xf16> -> tensor<256x256xf16>
    %2 = llir.reduce max %1 : tensor<256x256xf16> -> tensor<256xf16>
    %3 = llir.view %2 <(d0, d1) -> (d0)> : tensor<256xf16> -> tensor<256x256xf16>
    %4 = llir.elementwise sub(%1, %3) : (tensor<256x256xf16>, tensor<256x256xf16>) -> tensor<256x256xf16>
    %5 = llir.elementwise exp(%4) : (tensor<256x256xf16>) -> tensor<256x256xf16>
    %6 = llir.gemm %5, %v k(256) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<256x256xf16>, tensor<256x64xf16> -> tensor<256x64xf16>
    llir.yield %6 : tensor<256x64xf16>
  }
  return %0 : tensor<256x64xf16>
}

// -----

func.func @registers(%a: tensor<256x64xf16>, %b: tensor<256x64xf16>, %c: tensor<256x64xf16>) -> tensor<256x64xf16> {
  // expected-error @+1 {{requires 1 resident blocks of 640 threads, which leaves 112 registers to each, but its products need 160}}
  %0 = llir.kernel(%a, %b, %c) loops<grid(d0:256) stream(d1:128) threads(640, 640) op0 = block {columnalong = k, columnlanes = 8, rowalong = k, rowlanes = 8, stages = 2, use = wgmma} op1 = joint op5 = block {columnalong = own, columnlanes = 8, stages = 2, terms = beside, use = wgmma, warps = specialized}> : (tensor<256x64xf16>, tensor<256x64xf16>, tensor<256x64xf16>) -> tensor<256x64xf16> {
  ^bb0(%q: tensor<256x64xf16>, %k: tensor<256x64xf16>, %v: tensor<256x64xf16>):
    %1 = llir.gemm %q, %k k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<256x64xf16>, tensor<256x64xf16> -> tensor<256x256xf16>
    %2 = llir.reduce max %1 : tensor<256x256xf16> -> tensor<256xf16>
    %3 = llir.view %2 <(d0, d1) -> (d0)> : tensor<256xf16> -> tensor<256x256xf16>
    %4 = llir.elementwise sub(%1, %3) : (tensor<256x256xf16>, tensor<256x256xf16>) -> tensor<256x256xf16>
    %5 = llir.elementwise exp(%4) : (tensor<256x256xf16>) -> tensor<256x256xf16>
    %6 = llir.gemm %5, %v k(256) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<256x256xf16>, tensor<256x64xf16> -> tensor<256x64xf16>
    llir.yield %6 : tensor<256x64xf16>
  }
  return %0 : tensor<256x64xf16>
}

// -----

func.func @producers(%a: tensor<256x64xf16>, %b: tensor<256x64xf16>, %c: tensor<256x64xf16>) -> tensor<256x64xf16> {
  // expected-error @+1 {{has 128 threads for a tile of 128 rows, expected 256}}
  %0 = llir.kernel(%a, %b, %c) loops<grid(d0:128) stream(d1:128) threads(256, 256) op0 = block {columnalong = k, columnlanes = 8, rowalong = k, rowlanes = 8, stages = 2, use = wgmma} op1 = joint op5 = block {columnalong = own, columnlanes = 8, stages = 2, terms = beside, use = wgmma, warps = specialized}> : (tensor<256x64xf16>, tensor<256x64xf16>, tensor<256x64xf16>) -> tensor<256x64xf16> {
  ^bb0(%q: tensor<256x64xf16>, %k: tensor<256x64xf16>, %v: tensor<256x64xf16>):
    %1 = llir.gemm %q, %k k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<256x64xf16>, tensor<256x64xf16> -> tensor<256x256xf16>
    %2 = llir.reduce max %1 : tensor<256x256xf16> -> tensor<256xf16>
    %3 = llir.view %2 <(d0, d1) -> (d0)> : tensor<256xf16> -> tensor<256x256xf16>
    %4 = llir.elementwise sub(%1, %3) : (tensor<256x256xf16>, tensor<256x256xf16>) -> tensor<256x256xf16>
    %5 = llir.elementwise exp(%4) : (tensor<256x256xf16>) -> tensor<256x256xf16>
    %6 = llir.gemm %5, %v k(256) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d2, d1)> : tensor<256x256xf16>, tensor<256x64xf16> -> tensor<256x64xf16>
    llir.yield %6 : tensor<256x64xf16>
  }
  return %0 : tensor<256x64xf16>
}
