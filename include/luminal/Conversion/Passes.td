//===- Passes.td - Passes that leave a dialect -------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_CONVERSION_PASSES
#define LUMINAL_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def ConvertLLIRToLLVMPass : Pass<"convert-llir-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Emit the code of kernels";
  let description = [{
    Replaces each function that holds one `llir.kernel` (the output of `llir-plan-memory`) by an `llvm.func` of the same name
    with the kernel's code for the target (docs/Architecture.md, "The kernel function"). Sets the launch attributes of the
    steps that call it.
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"", "Kind of device">,
    Option<"arch", "arch", "std::string", "\"native\"", "Which device of that kind">,
    Option<"machine", "machine", "std::string", "\"\"", "File with the model of the machine">,
    Option<"keepLoops", "keep-loops", "bool", "false", "Stop at scf, vector and arith ops, before the llvm dialect">,
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def DeclareKernelsPass : Pass<"llir-declare-kernels", "::mlir::ModuleOp"> {
  let summary = "Declare user kernels";
  let description = [{
    Reads files of user kernels (docs/UserKernels.md) with the code for the target, and checks their callers: each
    `hlir.custom` of a declared name, in the program or made by a rule. Adds to the module a rule for each kernel that
    rewrites such an op to an `llir.call`, and the rules of the files, for `eqsat-saturate`.

    Before:
    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %r = hlir.custom "double"(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %r : tensor<4xf32>
    }
    ```
    After:
    ```mlir
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { ... }
    pdl.pattern @"call double" : benefit(1) attributes {eqsat.promise = "exact", eqsat.stratum = "lowering"} { ... }
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"", "Kind of device">,
    Option<"arch", "arch", "std::string", "\"native\"", "Which device of that kind">,
    Option<"machine", "machine", "std::string", "\"\"", "File with the model of the machine">,
    ListOption<"kernels", "kernels", "std::string", ".mlir files of kernels">,
    ListOption<"rules", "rules", "std::string", ".mlir files of rules to check">,
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect", "::mlir::pdl::PDLDialect"];
}

def CallLibrariesPass : Pass<"llir-call-libraries", "::mlir::func::FuncOp"> {
  let summary = "Replace ops by library calls where the library is faster";
  let description = [{
    Replaces flat ops by calls of a library of the device where the machine model predicts that the call is faster than a
    kernel (docs/GPU.md, "Libraries"). A matrix product is replaced together with the views of its operands and with the
    scale, sum, bias and activation that follow it.

    Before:
    ```mlir
    %0 = llir.gemm %a, %b k(4096) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<2048x4096xbf16>, tensor<4096x4096xbf16> -> tensor<2048x4096xbf16>
    %1 = llir.elementwise gelu_tanh(%0) : (tensor<2048x4096xbf16>) -> tensor<2048x4096xbf16>
    ```
    After:
    ```mlir
    %1 = llir.cublaslt_matmul(%a, %b) sizes(1, 2048, 4096, 4096) lhs<(d0, d1, d2) -> (4096 * d1 + d2)>
        rhs<(d0, d1, d2) -> (d1 + 4096 * d2)> result<(d0, d1, d2) -> (4096 * d1 + d2)>
        {epilogue = #llir.epilogue<gelu_tanh>, ...} : ...
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"", "Kind of device">,
    Option<"arch", "arch", "std::string", "\"native\"", "Which device of that kind">,
    Option<"machine", "machine", "std::string", "\"\"", "File with the model of the machine">,
    Option<"library", "library", "std::string", "\"all\"", "The libraries that may be called: all, none, or the name of one">,
    Option<"precision", "precision", "std::string", "\"finite\"",
           "exact: keep every rounding of the program; rounding, finite: a library may skip some">,
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def JoinElementsPass : Pass<"llir-join-elements", "::mlir::func::FuncOp"> {
  let summary = "Fuse producers into the kernels of one-row products";
  let description = [{
    Fuses into a kernel of one-row products a preceding kernel that has no other reader. This may be another one-row product
    that is read at the index that is written, such as a gate. It may be the kernel that computes the row, such as a norm:
    then each thread block computes the row once and shares it (docs/GPU.md, the form `share`). A kernel that sums a few
    elements of such products, such as those of a token's experts, fuses them too (the form `spread`). Applies only to
    machines with thread blocks, where a launch costs more than the repeated work.

    Before:
    ```mlir
    %n = llir.kernel(%x) : (tensor<1x4096xf32>) -> tensor<1x4096xf32> { ... }
    %r = llir.kernel(%n, %w) : (tensor<1x4096xf32>, tensor<512x4096xf32>) -> tensor<1x512xf32> { ... }
    ```
    After:
    ```mlir
    %r = llir.kernel(%x, %w) : (tensor<1x4096xf32>, tensor<512x4096xf32>) -> tensor<1x512xf32> { ... }
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"", "Kind of device">,
    Option<"arch", "arch", "std::string", "\"native\"", "Which device of that kind">,
    Option<"machine", "machine", "std::string", "\"\"", "File with the model of the machine">,
    Option<"codeBudget", "code-budget", "unsigned", "4 * ::luminal::llir::kKernelCodeBudget",
           "Maximum code size of a kernel, in vector operations">,
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def ChooseLayoutsPass : Pass<"llir-choose-layouts", "::mlir::func::FuncOp"> {
  let summary = "Choose which dim of values between kernels is stored innermost";
  let description = [{
    Applies where a product can load an operand in whole vectors neither along the contracted index nor along the operand's
    own dims. A dim that the contracted index steps through may then be stored innermost in all values that share it
    (docs/Layouts.md, "Layouts"). The contracted index is reordered to have that dim innermost, and weights are prepared in that
    order. Done if the target predicts that all products and copies concerned take less time together.

    Before:
    ```mlir
    %y = llir.elementwise exp(%x) : (tensor<64x58x58xf16>) -> tensor<64x58x58xf16>
    %r = llir.gemm %y, %w k(576)
        <(d0, d1, d2, d3) -> (d3 floordiv 9, d0 + (d3 floordiv 3) mod 3, d1 + d3 mod 3)>, ...
    ```
    After:
    ```mlir
    %v = llir.view %x <(d0, d1, d2) -> (d2, d0, d1)> : tensor<64x58x58xf16> -> tensor<58x58x64xf16>
    %u = llir.elementwise exp(%v) : (tensor<58x58x64xf16>) -> tensor<58x58x64xf16>
    %y = llir.view %u <(d0, d1, d2) -> (d1, d2, d0)> : tensor<58x58x64xf16> -> tensor<64x58x58xf16>
    %p = llir.prepare ... : tensor<64x576xf16>
    %r = llir.gemm %y, %p k(576)
        <(d0, d1, d2, d3) -> (d3 mod 64, d0 + d3 floordiv 192, d1 + (d3 floordiv 64) mod 3)>, ...
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"", "Kind of device">,
    Option<"arch", "arch", "std::string", "\"native\"", "Which device of that kind">,
    Option<"machine", "machine", "std::string", "\"\"", "File with the model of the machine">,
    Option<"workers", "workers", "unsigned", "0", "Workers that share a kernel; 0: those of the machine">,
    Option<"prepareBytes", "prepare-bytes", "int64_t", "-1", "See llir-prepare-weights">,
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def JoinWeightsPass : Pass<"llir-join-weights", "::mlir::func::FuncOp"> {
  let summary = "Join products of the same rows with several weights into one";
  let description = [{
    Run one after the other, the products of the same rows with the weights of queries, keys and values each fill only a part
    of a GPU. If one product with all columns is predicted to take less than 0.95 of their time, the weights are prepared side
    by side, and each original product becomes a view of the joined one. Bias vectors of some of them and functions that
    follow all of them are joined too; columns without a bias add -0. Products that are read by one elementwise op are left
    alone. Does nothing on machines that call kernels as functions, nor for one-row products (`llir-join-products`).

    Before:
    ```mlir
    %a = llir.gemm %x, %v k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<8x64xf32>, tensor<32x64xf32> -> tensor<8x32xf32>
    %b = llir.gemm %x, %w k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<8x64xf32>, tensor<8x64xf32> -> tensor<8x8xf32>
    ```
    After:
    ```mlir
    %s = llir.elementwise select(%before32, %v40, %w40) : (tensor<40x64xi1>, tensor<40x64xf32>, tensor<40x64xf32>) -> tensor<40x64xf32>
    %p = llir.prepare %s : tensor<40x64xf32>
    %c = llir.gemm %x, %p k(64) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)> : tensor<8x64xf32>, tensor<40x64xf32> -> tensor<8x40xf32>
    %a = llir.view %c <(d0, d1) -> (d0, d1)> : tensor<8x40xf32> -> tensor<8x32xf32>
    %b = llir.view %c <(d0, d1) -> (d0, d1 + 32)> : tensor<8x40xf32> -> tensor<8x8xf32>
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"", "Kind of device">,
    Option<"arch", "arch", "std::string", "\"native\"", "Which device of that kind">,
    Option<"machine", "machine", "std::string", "\"\"", "File with the model of the machine">,
    Option<"prepareBytes", "prepare-bytes", "int64_t", "-1", "See llir-prepare-weights">,
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def PackWeightsPass : Pass<"llir-pack-weights", "::mlir::func::FuncOp"> {
  let summary = "Pack weights ahead of time for products";
  let description = [{
    A product on a CPU reads vectors of columns from panels, which it packs in each call. Weights are the same in every call:
    where the target predicts that the product is faster if it does not pack them, they are prepared as panels
    (docs/Layouts.md, "Packed weights").

    Before:
    ```mlir
    %r = llir.gemm %x, %w k(512) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<64x512xf32>, tensor<1024x512xf32> -> tensor<64x1024xf32>
    ```
    After:
    ```mlir
    %v = llir.view %w <(d0, d1, d2) -> (32 * d0 + d2, d1)> : tensor<1024x512xf32> -> tensor<32x512x32xf32>
    %p = llir.prepare %v : tensor<32x512x32xf32>
    %r = llir.gemm %x, %p k(512) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1 floordiv 32, d2, d1 mod 32)>
        : tensor<64x512xf32>, tensor<32x512x32xf32> -> tensor<64x1024xf32>
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"", "Kind of device">,
    Option<"arch", "arch", "std::string", "\"native\"", "Which device of that kind">,
    Option<"machine", "machine", "std::string", "\"\"", "File with the model of the machine">,
    Option<"workers", "workers", "unsigned", "0", "Workers that share a kernel; 0: those of the machine">,
    Option<"prepareBytes", "prepare-bytes", "int64_t", "-1", "See llir-prepare-weights">,
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def JoinRowsPass : Pass<"llir-join-rows", "::mlir::func::FuncOp"> {
  let summary = "Fuse kernels over the same rows";
  let description = [{
    Fuses kernels that read each other's results and compute the same rows, if a row depends on no other row of these kernels,
    its intermediate values fit on chip, and the target predicts that one kernel is faster (docs/Fusion.md, "Row programs").

    Before:
    ```mlir
    %h = llir.kernel(%x, %w) : (tensor<?x13xf32>, tensor<64x13xf32>) -> tensor<?x64xf32> { ... }
    %r = llir.kernel(%h, %v) : (tensor<?x64xf32>, tensor<16x64xf32>) -> tensor<?x16xf32> { ... }
    ```
    After:
    ```mlir
    %r = llir.kernel(%x, %w, %v) : (tensor<?x13xf32>, tensor<64x13xf32>, tensor<16x64xf32>) -> tensor<?x16xf32> { ... }
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"", "Kind of device">,
    Option<"arch", "arch", "std::string", "\"native\"", "Which device of that kind">,
    Option<"machine", "machine", "std::string", "\"\"", "File with the model of the machine">,
    Option<"workers", "workers", "unsigned", "0", "Workers that share a kernel; 0: those of the machine">,
    Option<"codeBudget", "code-budget", "unsigned", "4 * ::luminal::llir::kKernelCodeBudget",
           "Maximum code size of a kernel, in vector operations">,
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def ScheduleKernelsPass : Pass<"llir-schedule-kernels", "::mlir::ModuleOp"> {
  let summary = "Choose a schedule for each kernel";
  let description = [{
    Gives each kernel without a schedule the one that the target proposes (docs/Schedules.md). Existing schedules
    are kept; it is an error if the target cannot run one.

    Before:
    ```mlir
    %r = llir.kernel(%x) : (tensor<64x1000xf32>) -> tensor<64x1000xf32> { ... }
    ```
    After, for vectors of 512 bits:
    ```mlir
    %r = llir.kernel(%x) loops<grid(d0*d1:4096 v16)> : (tensor<64x1000xf32>) -> tensor<64x1000xf32> { ... }
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"", "Kind of device">,
    Option<"arch", "arch", "std::string", "\"native\"", "Which device of that kind">,
    Option<"machine", "machine", "std::string", "\"\"", "File with the model of the machine">,
    Option<"workers", "workers", "unsigned", "0", "Workers that share a kernel; 0: those of the machine">,
    Option<"precision", "precision", "std::string", "\"finite\"",
           "exact: no instruction that flushes denormals; rounding, finite: all instructions of the machine">,
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def SequenceKernelsPass : Pass<"llir-sequence-kernels", "::mlir::func::FuncOp"> {
  let summary = "Combine small GPU kernels into one launch";
  let description = [{
    Combines scheduled kernels that one multiprocessor computes in less time than their launches take. The new kernel is one
    thread block that computes them one after the other (`llir.sequence`), with intermediate values in the block's memory.

    Before:
    ```mlir
    %0 = llir.kernel(%x) loops<grid(d0) threads(64)> : (tensor<8xf32>) -> tensor<8xf32> { ... }
    %1 = llir.kernel(%0) loops<grid() threads(32, 32) op0 = whole> : (tensor<8xf32>) -> tensor<8xi64> { ... }
    ```
    After:
    ```mlir
    %1 = llir.kernel(%x) loops<grid() threads(64, 64) op0 = whole> : (tensor<8xf32>) -> tensor<8xi64> {
    ^bb0(%y: tensor<8xf32>):
      %2 = llir.sequence(%y) : (tensor<8xf32>) -> tensor<8xi64> { ... }
      llir.yield %2 : tensor<8xi64>
    }
    ```
  }];
  let options = [
    Option<"target", "target", "std::string", "\"cpu\"", "Kind of device">,
    Option<"arch", "arch", "std::string", "\"native\"", "Which device of that kind">,
    Option<"machine", "machine", "std::string", "\"\"", "File with the model of the machine">,
    Option<"workers", "workers", "unsigned", "0", "Workers that share a kernel; 0: those of the machine">,
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

#endif // LUMINAL_CONVERSION_PASSES
