// Why the new value of a state is written where the state is, or copied at the end of a call.
// RUN: luminal-opt %s --llir-fuse-kernels --llir-update-in-place --llir-schedule-kernels=arch=x86-64-v3 --llir-write-states --remarks-filter=llir-write-states --verify-diagnostics -o %t

func.func @done(%s: tensor<8xf32> {hlir.kind = "state"}, %x: tensor<8xf32>) -> (tensor<8xf32> {hlir.updates = 0 : i64}) {
  // expected-remark@+1 {{[Passed] state | Category:llir-write-states | Function=done | state=0}}
  %0 = llir.elementwise add(%s, %x) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func @elsewhere(%s: tensor<8xf32> {hlir.kind = "state"}) -> (tensor<8xf32> {hlir.updates = 0 : i64}) {
  %v = llir.view %s <(d0) -> (7 - d0)> : tensor<8xf32> -> tensor<8xf32>
  // expected-remark-re@+1 {{[Missed] state {{.*}} because of="kernel map at {{.*}}:13:8", bytes copied=32, reason="its kernel reads the old value elsewhere than it writes the new one", state=0}}
  %0 = llir.elementwise neg(%v) : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func @shared(%s: tensor<8x64xf32> {hlir.kind = "state"}) -> (tensor<8x64xf32> {hlir.updates = 0 : i64}) {
  %m = llir.reduce max %s : tensor<8x64xf32> -> tensor<8xf32>
  %v = llir.view %m <(d0, d1) -> (d0)> : tensor<8xf32> -> tensor<8x64xf32>
  // expected-remark@+1 {{reason="threads of its kernel share what they read"}}
  %0 = llir.elementwise sub(%s, %v) : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}

func.func @needed(%s: tensor<8xf32> {hlir.kind = "state"}, %x: tensor<8x16xf32>)
    -> (tensor<8xf32> {hlir.updates = 0 : i64}, tensor<8x8xf32>) {
  // expected-remark@+1 {{reason="a reader of the old value has to come after the new one"}}
  %0 = llir.reduce sum %x : tensor<8x16xf32> -> tensor<8xf32>
  %a = llir.view %0 <(d0, d1) -> (d0)> : tensor<8xf32> -> tensor<8x8xf32>
  %b = llir.view %s <(d0, d1) -> (d1)> : tensor<8xf32> -> tensor<8x8xf32>
  %1 = llir.elementwise mul(%a, %b) : (tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8x8xf32>
}

// A part of a concat is written there. By hand: fusion gives what is both a result of its own.
func.func @joined(%s: tensor<4xf32> {hlir.kind = "state"}, %x: tensor<4xf32>)
    -> (tensor<4xf32> {hlir.updates = 0 : i64}, tensor<8xf32>) {
  // expected-remark@+1 {{reason="it is written directly into a concatenation"}}
  %0 = llir.kernel(%s) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %e = llir.elementwise exp(%a) : (tensor<4xf32>) -> tensor<4xf32>
    llir.yield %e : tensor<4xf32>
  }
  %1 = llir.kernel(%x) : (tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>):
    %e = llir.elementwise exp(%a) : (tensor<4xf32>) -> tensor<4xf32>
    llir.yield %e : tensor<4xf32>
  }
  %2 = llir.concat(%0, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return %0, %2 : tensor<4xf32>, tensor<8xf32>
}
