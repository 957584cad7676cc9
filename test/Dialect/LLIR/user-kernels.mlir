// The ops of kernels that a user supplies, each optional part once.
// RUN: luminal-opt %s | luminal-opt | FileCheck %s
// RUN: luminal-opt %s --llir-fuse-kernels --llir-plan-memory=keep-calls=true | FileCheck %s --check-prefix=KEPT
// RUN: luminal-opt %s --llir-fuse-kernels --llir-plan-memory | FileCheck %s --check-prefix=NOT-KEPT --implicit-check-not=llir.call

// What the step of a call is to compute, for a pass that checks it.
// KEPT: llir.step "call{{.*}}"(%{{.*}}) writes(%{{.*}}) {{.*}}{llir.computes = @[[F:k[0-9]+]]}
// KEPT: func.func private @[[F]](
// KEPT-NEXT: llir.call "scale"(%arg0)
// NOT-KEPT: llir.step "call

// CHECK: llir.user_kernel @scale (tensor<?x4xf32, #hlir.dims<n>>) -> tensor<?xf32, #hlir.dims<n>> cost(16 * n, 4 * n, 4 * n) reference @reference {
// CHECK-NEXT: llir.user_code file "scale.so" entry "scale" launch #llir.cpu_custom_launch<work = n, grain = 16, scratch = 0, values = [n, 4], {parallel = true}>
// CHECK-NEXT: llir.user_code text ".version 7.0" entry "scale" arch "sm_80" launch #llir.cuda_custom_launch<grid_x = n, grid_y = 1, grid_z = 1, shared = 1024, values = [], {block_x = 32 : i64, block_y = 1 : i64, block_z = 1 : i64, parameters = "b0 b1"}>
llir.user_kernel @scale (tensor<?x4xf32, #hlir.dims<n>>) -> tensor<?xf32, #hlir.dims<n>> cost(16 * n, 4 * n, 4 * n) reference @reference {
  llir.user_code file "scale.so" entry "scale"
      launch #llir.cpu_custom_launch<work = n, grain = 16, scratch = 0, values = [n, 4], {parallel = true}>
  llir.user_code text ".version 7.0" entry "scale" arch "sm_80"
      launch #llir.cuda_custom_launch<grid_x = n, grid_y = 1, grid_z = 1, shared = 1024, values = [],
                                      {block_x = 32, block_y = 1, block_z = 1, parameters = "b0 b1"}>
}

// CHECK-LABEL: func.func @call
func.func @call(%x: tensor<?x4xf32, #hlir.dims<s>>) -> tensor<?xf32, #hlir.dims<s>>
    attributes {hlir.symbols = #hlir.symbols<s in [1, 64]>} {
  // CHECK: llir.call "scale"(%{{.*}}) : (tensor<?x4xf32, #hlir.dims<s>>) -> tensor<?xf32, #hlir.dims<s>> cost(16 * s, 4 * s, 4 * s) launch #llir.cpu_custom_launch<work = s, grain = 16, scratch = 0, values = [s, 4], {code = "custom/0a.so", entry = "scale", parallel = true}>
  %r = llir.call "scale"(%x) : (tensor<?x4xf32, #hlir.dims<s>>) -> tensor<?xf32, #hlir.dims<s>> cost(16 * s, 4 * s, 4 * s)
      launch #llir.cpu_custom_launch<work = s, grain = 16, scratch = 0, values = [s, 4],
                                     {code = "custom/0a.so", entry = "scale", parallel = true}>
  return %r : tensor<?xf32, #hlir.dims<s>>
}
