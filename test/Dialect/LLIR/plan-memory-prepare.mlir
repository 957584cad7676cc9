// What is prepared is a second schedule over weights; a kernel that both need
// is in both, and their functions are shared.
// RUN: luminal-opt %s --split-input-file --verify-diagnostics --llir-fuse-kernels --llir-plan-memory | FileCheck %s

// CHECK-LABEL: llir.schedule @main symbols <> arena(64) prepare @main_prepare
// CHECK-DAG: %[[X:.*]] = llir.argument input "x"
// CHECK-DAG: %[[W:.*]] = llir.argument weight "w"
// CHECK-DAG: %[[V:.*]] = llir.argument weight "v"
// CHECK-DAG: %[[P:.*]] = llir.prepared "p0" : tensor<4xf32>
// CHECK: llir.step {{.*}} @[[$BOTH:k.]](%[[W]], %[[V]])
// CHECK: llir.step {{.*}}(%[[X]], %[[P]])
// CHECK-LABEL: llir.schedule @main_prepare
// CHECK-NEXT: llir.argument weight
// CHECK-NEXT: llir.argument weight
// CHECK: %[[R:.*]] = llir.result : tensor<4xf32>
// CHECK: llir.step {{.*}} @[[$BOTH]](
// CHECK-NOT: llir.step
// CHECK: llir.output "p0" %[[R]]
func.func @main(%x: tensor<8x4xf32> {hlir.kind = "input", hlir.name = "x"}, %w: tensor<4xf32> {hlir.kind = "weight", hlir.name = "w"},
                %v: tensor<4xf32> {hlir.kind = "weight", hlir.name = "v"}) -> (tensor<8x4xf32>, tensor<4xf32>) {
  %0 = llir.elementwise sqrt(%v) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = llir.elementwise div(%w, %0) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %p = llir.prepare %1 : tensor<4xf32>
  %2 = llir.view %p <(d0, d1) -> (d1)> : tensor<4xf32> -> tensor<8x4xf32>
  %3 = llir.elementwise mul(%x, %2) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  %4 = llir.elementwise neg(%1) : (tensor<4xf32>) -> tensor<4xf32>
  return %3, %4 : tensor<8x4xf32>, tensor<4xf32>
}

// -----

// expected-error@+1 {{prepares a value that depends on argument 0, which is not a weight}}
func.func @input(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = llir.elementwise neg(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %p = llir.prepare %0 : tensor<4xf32>
  %1 = llir.elementwise mul(%x, %p) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @symbol(%x: tensor<?xf32, #hlir.dims<n>>) -> tensor<?xf32, #hlir.dims<n>> attributes {hlir.symbols = #hlir.symbols<n in [1, 64]>} {
  %0 = llir.iota <(d0) -> (d0 * n)> : tensor<4xi64>
  // expected-error@+1 {{is to be prepared when weights are bound, but depends on a symbol}}
  %f = llir.elementwise cast(%0) : (tensor<4xi64>) -> tensor<4xf32>
  %p = llir.prepare %f : tensor<4xf32>
  %1 = llir.view %p <(d0) -> (d0 mod 4)> : tensor<4xf32> -> tensor<?xf32, #hlir.dims<n>>
  %2 = llir.elementwise mul(%x, %1) : (tensor<?xf32, #hlir.dims<n>>, tensor<?xf32, #hlir.dims<n>>) -> tensor<?xf32, #hlir.dims<n>>
  return %2 : tensor<?xf32, #hlir.dims<n>>
}

// -----

// A weight is where it is.
// expected-error@+1 {{a prepared value has no separate memory}}
func.func @whole_weight(%x: tensor<4xf32>, %w: tensor<4xf32> {hlir.kind = "weight"}) -> tensor<4xf32> {
  %p = llir.prepare %w : tensor<4xf32>
  %1 = llir.elementwise mul(%x, %p) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
