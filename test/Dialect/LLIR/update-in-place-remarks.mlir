// Why a scatter is in place, or copies what it updates.
// RUN: luminal-opt %s --llir-fuse-kernels --llir-update-in-place --remarks-filter=llir-update-in-place --verify-diagnostics -o %t

func.func @state(%s: tensor<8xf32> {hlir.kind = "state"}, %i: tensor<2xi64>, %u: tensor<2xf32>)
    -> (tensor<8xf32> {hlir.updates = 0 : i64}) {
  // expected-remark@+1 {{[Passed] in-place | Category:llir-update-in-place | Function=state}}
  %0 = llir.scatter set %s, %i, %u {checked} : tensor<8xf32>, tensor<2xi64>, tensor<2xf32>
  return %0 : tensor<8xf32>
}

// The second update is of a kernel's result, the first of an input.
func.func @input(%s: tensor<8xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) -> tensor<8xf32> {
  // expected-remark@+1 {{[Missed] in-place | Category:llir-update-in-place | Function=input | bytes copied=32, reason="the destination is an argument, and this is not its new value"}}
  %0 = llir.scatter set %s, %i, %u {checked} : tensor<8xf32>, tensor<2xi64>, tensor<2xf32>
  // expected-remark@+1 {{[Passed] in-place}}
  %1 = llir.scatter set %0, %i, %u {checked} : tensor<8xf32>, tensor<2xi64>, tensor<2xf32>
  return %1 : tensor<8xf32>
}

func.func @constant(%i: tensor<2xi64>, %u: tensor<2xf32>) -> tensor<2xf32> {
  %c = llir.constant dense<[1.0, 2.0]> : tensor<2xf32>
  // expected-remark@+1 {{because of="constant at}}
  %0 = llir.scatter set %c, %i, %u {checked} : tensor<2xf32>, tensor<2xi64>, tensor<2xf32>
  return %0 : tensor<2xf32>
}

// The old value is read after the update by a kernel that needs the new one;
// another reader does not.
func.func @reader_needs_update(%s: tensor<8xf32> {hlir.kind = "state"}, %i: tensor<2xi64>, %u: tensor<2xf32>, %w: tensor<8x8xf32>)
    -> (tensor<8xf32> {hlir.updates = 0 : i64}, tensor<8xf32>) {
  // expected-remark-re@+1 {{because of="kernel map at {{.*}}:33:8", bytes copied=32, reason="a reader of the old value has to come after the new one"}}
  %0 = llir.scatter set %s, %i, %u {checked} : tensor<8xf32>, tensor<2xi64>, tensor<2xf32>
  %1 = llir.elementwise sub(%0, %s) : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}
func.func @reader_before(%s: tensor<8xf32> {hlir.kind = "state"}, %i: tensor<2xi64>, %u: tensor<2xf32>)
    -> (tensor<8xf32> {hlir.updates = 0 : i64}, tensor<8xf32>) {
  // expected-remark@+1 {{[Passed] in-place}}
  %0 = llir.scatter set %s, %i, %u {checked} : tensor<8xf32>, tensor<2xi64>, tensor<2xf32>
  %1 = llir.elementwise neg(%s) : (tensor<8xf32>) -> tensor<8xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// Two updates of one value: only one can be in place.
func.func @two_updates(%x: tensor<8x4xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %s = llir.reduce sum %x : tensor<8x4xf32> -> tensor<8xf32>
  // expected-remark@+1 {{[Passed] in-place}}
  %0 = llir.scatter set %s, %i, %u {checked} : tensor<8xf32>, tensor<2xi64>, tensor<2xf32>
  // expected-remark-re@+1 {{[Missed] in-place {{.*}} because of="kernel scatter at {{.*}}:48:8", bytes copied=32, reason="another update writes the memory"}}
  %1 = llir.scatter add %s, %i, %u {checked} : tensor<8xf32>, tensor<2xi64>, tensor<2xf32>
  return %0, %1 : tensor<8xf32>, tensor<8xf32>
}

// A destination that is computed in the kernel has no memory.
func.func @computed(%x: tensor<8xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) -> tensor<8xf32> {
  %s = llir.elementwise neg(%x) : (tensor<8xf32>) -> tensor<8xf32>
  // expected-remark@+1 {{reason="the destination is computed in the kernel"}}
  %0 = llir.scatter set %s, %i, %u {checked} : tensor<8xf32>, tensor<2xi64>, tensor<2xf32>
  return %0 : tensor<8xf32>
}

// Updates that come from the memory that they change.
func.func @reads_itself(%s: tensor<8xf32> {hlir.kind = "state"}, %i: tensor<8xi64>)
    -> (tensor<8xf32> {hlir.updates = 0 : i64}) {
  // expected-remark@+1 {{reason="the kernel reads the destination elsewhere"}}
  %0 = llir.scatter set %s, %i, %s {checked} : tensor<8xf32>, tensor<8xi64>, tensor<8xf32>
  return %0 : tensor<8xf32>
}

func.func @turned(%s: tensor<8x8xf32> {hlir.kind = "state"}, %i: tensor<2xi64>, %u: tensor<2x8xf32>)
    -> (tensor<8x8xf32> {hlir.updates = 0 : i64}) {
  %v = llir.view %s <(d0, d1) -> (d1, d0)> : tensor<8x8xf32> -> tensor<8x8xf32>
  // expected-remark@+1 {{reason="the result is in another order than the destination"}}
  %0 = llir.scatter set %v, %i, %u {checked} : tensor<8x8xf32>, tensor<2xi64>, tensor<2x8xf32>
  return %0 : tensor<8x8xf32>
}
