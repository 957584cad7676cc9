// The second pass over rows brings the next one, where rows come from far away and two have room in the L1 cache.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=sapphirerapids --remarks-filter=llir-schedule-kernels 2>&1 | FileCheck %s
// RUN: luminal-opt %s --llir-schedule-kernels=arch=sapphirerapids --convert-llir-to-llvm="arch=sapphirerapids keep-loops" | FileCheck %s --check-prefix=CODE

// CHECK-NOT: next rows
// CHECK: Function=near | {{.*}}next rows not brought because="rows are in L2"
// CHECK: Function=long | {{.*}}next rows not brought because="two rows do not leave enough room in L1

// A vector of 16 floats is a line, so that each brings one.
// CHECK-LABEL: func.func @far
// CHECK: op0 = pass {lanes = 16, unroll = 2} op3 = keep {result = 0} op4 = pass {ahead = rows, lanes = 16, unroll = 2}
// CODE-LABEL: llvm.func @far
// CODE-COUNT-2: "llvm.intr.prefetch"({{.*}}rw = 0 : i32
// CODE-NOT: llvm.intr.prefetch
func.func @far(%a: tensor<2048x1024xf32>) -> tensor<2048x1024xf32> {
  %r = llir.kernel(%a) : (tensor<2048x1024xf32>) -> tensor<2048x1024xf32> {
  ^bb0(%x: tensor<2048x1024xf32>):
    %0 = llir.reduce max %x : tensor<2048x1024xf32> -> tensor<2048xf32>
    %1 = llir.view %0 <(d0, d1) -> (d0)> : tensor<2048xf32> -> tensor<2048x1024xf32>
    %2 = llir.elementwise sub(%x, %1) : (tensor<2048x1024xf32>, tensor<2048x1024xf32>) -> tensor<2048x1024xf32>
    %3 = llir.elementwise exp(%2) : (tensor<2048x1024xf32>) -> tensor<2048x1024xf32>
    %4 = llir.reduce sum %3 : tensor<2048x1024xf32> -> tensor<2048xf32>
    %5 = llir.elementwise recip(%4) : (tensor<2048xf32>) -> tensor<2048xf32>
    %6 = llir.view %5 <(d0, d1) -> (d0)> : tensor<2048xf32> -> tensor<2048x1024xf32>
    %7 = llir.elementwise mul(%3, %6) : (tensor<2048x1024xf32>, tensor<2048x1024xf32>) -> tensor<2048x1024xf32>
    llir.yield %7 : tensor<2048x1024xf32>
  }
  return %r : tensor<2048x1024xf32>
}

// Half as many lanes by hand: one of two vectors.
// CHECK-LABEL: func.func @lines
// CODE-LABEL: llvm.func @lines
// CODE-COUNT-1: "llvm.intr.prefetch"({{.*}}rw = 0 : i32
// CODE-NOT: llvm.intr.prefetch
func.func @lines(%a: tensor<2048x1024xf32>) -> tensor<2048x1024xf32> {
  %r = llir.kernel(%a) loops<grid(d0) stream(d1:all v8) op0 = pass {lanes = 8} op4 = pass {ahead = rows, lanes = 8, unroll = 2}> : (tensor<2048x1024xf32>) -> tensor<2048x1024xf32> {
  ^bb0(%x: tensor<2048x1024xf32>):
    %0 = llir.reduce max %x : tensor<2048x1024xf32> -> tensor<2048xf32>
    %1 = llir.view %0 <(d0, d1) -> (d0)> : tensor<2048xf32> -> tensor<2048x1024xf32>
    %2 = llir.elementwise sub(%x, %1) : (tensor<2048x1024xf32>, tensor<2048x1024xf32>) -> tensor<2048x1024xf32>
    %3 = llir.elementwise exp(%2) : (tensor<2048x1024xf32>) -> tensor<2048x1024xf32>
    %4 = llir.reduce sum %3 : tensor<2048x1024xf32> -> tensor<2048xf32>
    %5 = llir.elementwise recip(%4) : (tensor<2048xf32>) -> tensor<2048xf32>
    %6 = llir.view %5 <(d0, d1) -> (d0)> : tensor<2048xf32> -> tensor<2048x1024xf32>
    %7 = llir.elementwise mul(%3, %6) : (tensor<2048x1024xf32>, tensor<2048x1024xf32>) -> tensor<2048x1024xf32>
    llir.yield %7 : tensor<2048x1024xf32>
  }
  return %r : tensor<2048x1024xf32>
}

// CHECK-LABEL: func.func @near
// CHECK-NOT: ahead
// CODE-LABEL: llvm.func @near
// CODE-NOT: llvm.intr.prefetch
func.func @near(%a: tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  %r = llir.kernel(%a) : (tensor<64x1024xf32>) -> tensor<64x1024xf32> {
  ^bb0(%x: tensor<64x1024xf32>):
    %0 = llir.reduce max %x : tensor<64x1024xf32> -> tensor<64xf32>
    %1 = llir.view %0 <(d0, d1) -> (d0)> : tensor<64xf32> -> tensor<64x1024xf32>
    %2 = llir.elementwise sub(%x, %1) : (tensor<64x1024xf32>, tensor<64x1024xf32>) -> tensor<64x1024xf32>
    %3 = llir.elementwise exp(%2) : (tensor<64x1024xf32>) -> tensor<64x1024xf32>
    %4 = llir.reduce sum %3 : tensor<64x1024xf32> -> tensor<64xf32>
    %5 = llir.elementwise recip(%4) : (tensor<64xf32>) -> tensor<64xf32>
    %6 = llir.view %5 <(d0, d1) -> (d0)> : tensor<64xf32> -> tensor<64x1024xf32>
    %7 = llir.elementwise mul(%3, %6) : (tensor<64x1024xf32>, tensor<64x1024xf32>) -> tensor<64x1024xf32>
    llir.yield %7 : tensor<64x1024xf32>
  }
  return %r : tensor<64x1024xf32>
}

// CHECK-LABEL: func.func @long
// CHECK-NOT: ahead
// CODE-LABEL: llvm.func @long
// CODE-NOT: llvm.intr.prefetch
func.func @long(%a: tensor<2048x8192xf32>) -> tensor<2048x8192xf32> {
  %r = llir.kernel(%a) : (tensor<2048x8192xf32>) -> tensor<2048x8192xf32> {
  ^bb0(%x: tensor<2048x8192xf32>):
    %0 = llir.reduce max %x : tensor<2048x8192xf32> -> tensor<2048xf32>
    %1 = llir.view %0 <(d0, d1) -> (d0)> : tensor<2048xf32> -> tensor<2048x8192xf32>
    %2 = llir.elementwise sub(%x, %1) : (tensor<2048x8192xf32>, tensor<2048x8192xf32>) -> tensor<2048x8192xf32>
    %3 = llir.elementwise exp(%2) : (tensor<2048x8192xf32>) -> tensor<2048x8192xf32>
    %4 = llir.reduce sum %3 : tensor<2048x8192xf32> -> tensor<2048xf32>
    %5 = llir.elementwise recip(%4) : (tensor<2048xf32>) -> tensor<2048xf32>
    %6 = llir.view %5 <(d0, d1) -> (d0)> : tensor<2048xf32> -> tensor<2048x8192xf32>
    %7 = llir.elementwise mul(%3, %6) : (tensor<2048x8192xf32>, tensor<2048x8192xf32>) -> tensor<2048x8192xf32>
    llir.yield %7 : tensor<2048x8192xf32>
  }
  return %r : tensor<2048x8192xf32>
}

// Where the next of rows that are looked up lies is not known before its index is read.
// CHECK-LABEL: func.func @looked_up
// CODE-LABEL: llvm.func @looked_up
// CODE-NOT: llvm.intr.prefetch
func.func @looked_up(%a: tensor<1000x80xf32>, %b: tensor<64xi64>) -> (tensor<64xf32>, tensor<64xf32>) {
  %r:2 = llir.kernel(%a, %b) loops<grid(d0) stream(d1:all v8) op1 = pass {lanes = 8} op2 = pass {ahead = rows, lanes = 8}> : (tensor<1000x80xf32>, tensor<64xi64>) -> (tensor<64xf32>, tensor<64xf32>) {
  ^bb0(%x: tensor<1000x80xf32>, %i: tensor<64xi64>):
    %0 = llir.gather %x, %i {checked} : tensor<1000x80xf32>, tensor<64xi64> -> tensor<64x80xf32>
    %1 = llir.reduce max %0 : tensor<64x80xf32> -> tensor<64xf32>
    %2 = llir.reduce sum %0 : tensor<64x80xf32> -> tensor<64xf32>
    llir.yield %1, %2 : tensor<64xf32>, tensor<64xf32>
  }
  return %r#0, %r#1 : tensor<64xf32>, tensor<64xf32>
}
