// A program and its variants share the functions of equal kernels, and prepare each equal value once.
// RUN: luminal-opt %s --split-input-file --verify-diagnostics --llir-fuse-kernels --llir-plan-memory | FileCheck %s

// CHECK-LABEL: llir.schedule @main symbols <s in [1, 64]>
// CHECK-SAME: prepare @main_prepare attributes {llir.variants = [@one]}
// CHECK-DAG: llir.prepared "p0"
// CHECK-DAG: llir.step {{.*}} @k0(
// CHECK-DAG: llir.step {{.*}} @k1(
// CHECK: llir.schedule @one symbols <s in [1, 1]> arena(0) prepare @main_prepare
// CHECK-DAG: llir.prepared "p0"
// CHECK-DAG: llir.prepared "p1"
// CHECK-DAG: llir.step {{.*}} @k2(
// CHECK-DAG: llir.step {{.*}} @k1(
// CHECK-LABEL: llir.schedule @main_prepare
// CHECK: llir.output "p0"
// CHECK: llir.output "p1"
// CHECK-NOT: llir.output
func.func @main(%x: tensor<?x4xf32, #hlir.dims<s>> {hlir.kind = "input", hlir.name = "x"}, %w: tensor<4xf32> {hlir.kind = "weight", hlir.name = "w"})
    -> (tensor<?x4xf32, #hlir.dims<s>>, tensor<4xf32>) attributes {hlir.symbols = #hlir.symbols<s in [1, 64]>, llir.variants = [@one]} {
  %0 = llir.elementwise sqrt(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %p = llir.prepare %0 : tensor<4xf32>
  %1 = llir.view %p <(d0, d1) -> (d1)> : tensor<4xf32> -> tensor<?x4xf32, #hlir.dims<s>>
  %2 = llir.elementwise mul(%x, %1) : (tensor<?x4xf32, #hlir.dims<s>>, tensor<?x4xf32, #hlir.dims<s>>) -> tensor<?x4xf32, #hlir.dims<s>>
  %3 = llir.elementwise neg(%w) : (tensor<4xf32>) -> tensor<4xf32>
  return %2, %3 : tensor<?x4xf32, #hlir.dims<s>>, tensor<4xf32>
}
func.func @one(%x: tensor<1x4xf32> {hlir.kind = "input", hlir.name = "x"}, %w: tensor<4xf32> {hlir.kind = "weight", hlir.name = "w"})
    -> (tensor<1x4xf32>, tensor<4xf32>) attributes {hlir.symbols = #hlir.symbols<s in [1, 1]>} {
  %0 = llir.elementwise sqrt(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %p = llir.prepare %0 : tensor<4xf32>
  %e = llir.elementwise exp(%w) : (tensor<4xf32>) -> tensor<4xf32>
  %q = llir.prepare %e : tensor<4xf32>
  %1 = llir.view %p <(d0, d1) -> (d1)> : tensor<4xf32> -> tensor<1x4xf32>
  %2 = llir.view %q <(d0, d1) -> (d1)> : tensor<4xf32> -> tensor<1x4xf32>
  %3 = llir.elementwise mul(%x, %1) : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  %4 = llir.elementwise mul(%3, %2) : (tensor<1x4xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
  %5 = llir.elementwise neg(%w) : (tensor<4xf32>) -> tensor<4xf32>
  return %4, %5 : tensor<1x4xf32>, tensor<4xf32>
}

// -----

// expected-error@+1 {{has @other as a variant, which is not another program}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {llir.variants = [@other]} {
  %0 = llir.elementwise sqrt(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-error@+1 {{has @main as a variant, which is not another program}}
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {llir.variants = [@main]} {
  %0 = llir.elementwise sqrt(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {llir.variants = [@other]} {
  %0 = llir.elementwise sqrt(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
// expected-error@+1 {{is a variant of 'main', but has other arguments}}
func.func @other(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = llir.elementwise sqrt(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Programs side by side have functions of their own names, and share those of equal kernels.
// CHECK-LABEL: llir.schedule @first
// CHECK: llir.step {{.*}} @k0(
// CHECK-LABEL: llir.schedule @second
// CHECK: llir.step {{.*}} @k1(
// CHECK-LABEL: llir.schedule @third
// CHECK: llir.step {{.*}} @k0(
func.func @first(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = llir.elementwise sqrt(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @second(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = llir.elementwise neg(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @third(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = llir.elementwise sqrt(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
