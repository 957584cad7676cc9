// Reductions that cannot join a walk.
// RUN: luminal-opt %s --llir-schedule-kernels=arch=x86-64-v3 --split-input-file --verify-diagnostics

func.func @joins_what_it_needs(%a: tensor<64x32xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  // expected-error @+1 {{its schedule lets op4, reduce, join the walk of op0, but needs the result of op0}}
  %r:2 = llir.kernel(%a) loops<grid(d0) stream(d1:all) op0 = pass op1 = pass op4 = pass {with = op0}> : (tensor<64x32xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  ^bb0(%x: tensor<64x32xf32>):
    %0 = llir.reduce max %x : tensor<64x32xf32> -> tensor<64xf32>
    %1 = llir.reduce sum %x : tensor<64x32xf32> -> tensor<64xf32>
    %2 = llir.view %0 <(d0, d1) -> (d0)> : tensor<64xf32> -> tensor<64x32xf32>
    %3 = llir.elementwise sub(%x, %2) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %4 = llir.reduce sum %3 : tensor<64x32xf32> -> tensor<64xf32>
    llir.yield %1, %4 : tensor<64xf32>, tensor<64xf32>
  }
  return %r#0, %r#1 : tensor<64xf32>, tensor<64xf32>
}

// -----
func.func @joins_a_joined_one(%a: tensor<64x32xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  // expected-error @+1 {{its schedule lets op4, reduce, join the walk of op1, which is not an earlier reduction with its own loop}}
  %r:2 = llir.kernel(%a) loops<grid(d0) stream(d1:all) op0 = pass op1 = pass {with = op0} op4 = pass {with = op1}> : (tensor<64x32xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  ^bb0(%x: tensor<64x32xf32>):
    %0 = llir.reduce max %x : tensor<64x32xf32> -> tensor<64xf32>
    %1 = llir.reduce sum %x : tensor<64x32xf32> -> tensor<64xf32>
    %2 = llir.view %0 <(d0, d1) -> (d0)> : tensor<64xf32> -> tensor<64x32xf32>
    %3 = llir.elementwise sub(%x, %2) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %4 = llir.reduce sum %3 : tensor<64x32xf32> -> tensor<64xf32>
    llir.yield %1, %4 : tensor<64xf32>, tensor<64xf32>
  }
  return %r#0, %r#1 : tensor<64xf32>, tensor<64xf32>
}

// -----
func.func @joins_a_later_one(%a: tensor<64x32xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  // expected-error @+1 {{its schedule lets op1, reduce, join the walk of op4, which is not an earlier reduction with its own loop}}
  %r:2 = llir.kernel(%a) loops<grid(d0) stream(d1:all) op0 = pass op1 = pass {with = op4} op4 = pass> : (tensor<64x32xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  ^bb0(%x: tensor<64x32xf32>):
    %0 = llir.reduce max %x : tensor<64x32xf32> -> tensor<64xf32>
    %1 = llir.reduce sum %x : tensor<64x32xf32> -> tensor<64xf32>
    %2 = llir.view %0 <(d0, d1) -> (d0)> : tensor<64xf32> -> tensor<64x32xf32>
    %3 = llir.elementwise sub(%x, %2) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %4 = llir.reduce sum %3 : tensor<64x32xf32> -> tensor<64xf32>
    llir.yield %1, %4 : tensor<64xf32>, tensor<64xf32>
  }
  return %r#0, %r#1 : tensor<64xf32>, tensor<64xf32>
}

// -----
func.func @joins_with_numbers(%a: tensor<64x32xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  // expected-error @+1 {{its schedule lets op1, reduce, join the walk of op0, and has other numbers than that one}}
  %r:2 = llir.kernel(%a) loops<grid(d0) stream(d1:all) op0 = pass op1 = pass {unroll = 2, with = op0} op4 = pass> : (tensor<64x32xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  ^bb0(%x: tensor<64x32xf32>):
    %0 = llir.reduce max %x : tensor<64x32xf32> -> tensor<64xf32>
    %1 = llir.reduce sum %x : tensor<64x32xf32> -> tensor<64xf32>
    %2 = llir.view %0 <(d0, d1) -> (d0)> : tensor<64xf32> -> tensor<64x32xf32>
    %3 = llir.elementwise sub(%x, %2) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %4 = llir.reduce sum %3 : tensor<64x32xf32> -> tensor<64xf32>
    llir.yield %1, %4 : tensor<64xf32>, tensor<64xf32>
  }
  return %r#0, %r#1 : tensor<64xf32>, tensor<64xf32>
}

// -----
func.func @joins_beside_parts(%a: tensor<64x32xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  // expected-error @+1 {{its schedule lets op4, reduce, join the walk of op1, but only one of them is cut into parts}}
  %r:2 = llir.kernel(%a) loops<grid(d0) stream(d1:all) parts(4) op0 = pass op1 = pass op4 = pass {with = op1}> : (tensor<64x32xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  ^bb0(%x: tensor<64x32xf32>):
    %0 = llir.reduce max %x : tensor<64x32xf32> -> tensor<64xf32>
    %1 = llir.reduce sum %x : tensor<64x32xf32> -> tensor<64xf32>
    %2 = llir.view %0 <(d0, d1) -> (d0)> : tensor<64xf32> -> tensor<64x32xf32>
    %3 = llir.elementwise sub(%x, %2) : (tensor<64x32xf32>, tensor<64x32xf32>) -> tensor<64x32xf32>
    %4 = llir.reduce sum %3 : tensor<64x32xf32> -> tensor<64xf32>
    llir.yield %1, %4 : tensor<64xf32>, tensor<64xf32>
  }
  return %r#0, %r#1 : tensor<64xf32>, tensor<64xf32>
}

// -----
// The sum of the column is the same in all rows.
func.func @joins_other_lanes(%a: tensor<64x32xf32>, %b: tensor<32xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  // expected-error @+1 {{its schedule lets op2, reduce, join the walk of op0, but only one of them is the same in all lanes}}
  %r:2 = llir.kernel(%a, %b) loops<grid(d0:all v8) stream(d1:all) op0 = pass op2 = pass {with = op0}> : (tensor<64x32xf32>, tensor<32xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  ^bb0(%x: tensor<64x32xf32>, %y: tensor<32xf32>):
    %0 = llir.reduce max %x : tensor<64x32xf32> -> tensor<64xf32>
    %1 = llir.view %y <(d0, d1) -> (d1)> : tensor<32xf32> -> tensor<64x32xf32>
    %2 = llir.reduce sum %1 : tensor<64x32xf32> -> tensor<64xf32>
    llir.yield %0, %2 : tensor<64xf32>, tensor<64xf32>
  }
  return %r#0, %r#1 : tensor<64xf32>, tensor<64xf32>
}
