//===- Passes.td - Passes over LLIR ------------------------*- tablegen -*-===//

#ifndef LUMINAL_DIALECT_LLIR_TRANSFORMS_PASSES
#define LUMINAL_DIALECT_LLIR_TRANSFORMS_PASSES

include "mlir/Pass/PassBase.td"

def FuseKernelsPass : Pass<"llir-fuse-kernels", "::mlir::func::FuncOp"> {
  let summary = "Group flat ops into kernels";
  let description = [{
    Replaces the flat ops of a function by `llir.kernel`, `llir.alias` and the `llir.constant` ops that kernels load.
    Elementwise ops, views and gathers join the kernels that read them, a reduction or product takes in what stands
    before and after it, and reductions over one domain become one kernel. What several kernels read, or one kernel
    reads more often than it is worth computing, is written to memory once. softmax, layer_norm and rms_norm are first
    spelled out, so that they join as everything else does.

    Functions that hold other ops than LLIR's are refused; what is fused stays as it is.

    Before:
    ```mlir
    %0 = llir.elementwise add(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = llir.elementwise exp(%0) : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
    ```
    After:
    ```mlir
    %0 = llir.kernel map(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%x: tensor<4xf32>, %y: tensor<4xf32>):
      %1 = llir.elementwise add(%x, %y) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %2 = llir.elementwise exp(%1) : (tensor<4xf32>) -> tensor<4xf32>
      llir.yield %2 : tensor<4xf32>
    }
    return %0 : tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

#endif // LUMINAL_DIALECT_LLIR_TRANSFORMS_PASSES
