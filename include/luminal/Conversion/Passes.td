//===- Passes.td - Passes that leave a dialect -------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_CONVERSION_PASSES
#define LUMINAL_CONVERSION_PASSES

include "mlir/Pass/PassBase.td"

def ConvertLLIRToLLVMPass : Pass<"convert-llir-to-llvm", "::mlir::ModuleOp"> {
  let summary = "Write the code of kernels";
  let description = [{
    Replaces each function that holds one `llir.kernel` (as `llir-plan-memory` leaves them) by an `llvm.func` of the same
    name with the kernel's code for the target (docs/Architecture.md, "The kernel function"), and gives the steps that
    call it what the code states of its launch.
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
  let summary = "Make the kernels of a user known";
  let description = [{
    Reads files of kernels (docs/UserKernels.md) with the code for the target, and checks what calls them: each `hlir.custom`
    of a declared name, and each that a rule makes. For each kernel the module gets a rule by which such an op is an
    `llir.call`, and it gets the rules of the files; `eqsat-saturate` takes them.

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
    ListOption<"rules", "rules", "std::string", ".mlir files of rules, to be checked">,
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect", "::mlir::pdl::PDLDialect"];
}

def CallLibrariesPass : Pass<"llir-call-libraries", "::mlir::func::FuncOp"> {
  let summary = "Let a library of the target compute what it computes faster";
  let description = [{
    Replaces flat ops by calls of a library of the device where these take less time than kernels, by the model of the
    machine (docs/LLIR.md, "Libraries"). A product takes the views that it is read through with it, and the scale, sum,
    bias and activation that follow it.

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
    Option<"library", "library", "std::string", "\"all\"", "The library that may be called: all, none, or by name">,
    Option<"precision", "precision", "std::string", "\"finite\"",
           "exact: every rounding of the program stays; rounding, finite: a library may leave some out">,
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def JoinElementsPass : Pass<"llir-join-elements", "::mlir::func::FuncOp"> {
  let summary = "Let products of one row compute what they read in their kernel";
  let description = [{
    A kernel of products of one row takes in a kernel before it that nothing else reads: one of other such products, of which
    it reads each element where it writes its own, as that of a gate; and one that computes the row, as a norm, which each
    block of threads then computes once and shares (docs/LLIR.md, the form `share`). A kernel that sums a few elements of such
    products at a time, as those of a token's experts, takes them in as well (the form `spread`). Only on machines with threads
    in blocks, where starting a kernel costs more than that.

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
           "Maximum code of one kernel, in vector operations">,
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def ChooseLayoutsPass : Pass<"llir-choose-layouts", "::mlir::func::FuncOp"> {
  let summary = "Choose which dim of values between kernels is stored innermost";
  let description = [{
    Where a product reads an operand neither along its contracted index nor along its own dims in whole vectors, a dim that
    the contracted index steps through may be stored innermost in all values that have it in common (docs/LLIR.md,
    "Layouts"). The contracted index then takes that dim innermost as well, and weights are prepared in that order. Done
    where the device predicts that all products and copies concerned take less time.

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
    Option<"prepareBytes", "prepare-bytes", "int64_t", "-1", "As of llir-prepare-weights">,
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def JoinWeightsPass : Pass<"llir-join-weights", "::mlir::func::FuncOp"> {
  let summary = "Let products of the same rows with several weights be one";
  let description = [{
    One after the other, the products of the same rows with the weights of queries, keys and values fill a part of a GPU each.
    Where one product of all columns is predicted to take less than 0.95 of their time, the weights are prepared side by side,
    and each product is a view of it. A vector of weights that is added to some of them, and the functions that follow all of
    them, are joined as well: a part that nothing is added to takes -0. Products that one elementwise op reads stay as they
    are. Nothing is done for machines that call kernels, nor for products of one row (`llir-join-products`).

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
    Option<"prepareBytes", "prepare-bytes", "int64_t", "-1", "As of llir-prepare-weights">,
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def PackWeightsPass : Pass<"llir-pack-weights", "::mlir::func::FuncOp"> {
  let summary = "Prepare weights as products take them";
  let description = [{
    A product on a CPU reads vectors of columns from panels, which it packs in each call. Weights are the same in every call:
    where the device predicts that the product takes less time without packing, they are prepared as panels
    (docs/LLIR.md, "Panels of weights").

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
    Option<"prepareBytes", "prepare-bytes", "int64_t", "-1", "As of llir-prepare-weights">,
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def JoinRowsPass : Pass<"llir-join-rows", "::mlir::func::FuncOp"> {
  let summary = "Make kernels over the same rows one";
  let description = [{
    Kernels that read each other's results and compute the same rows become one where each row follows from itself and
    from memory, what it needs between fits on chip, and the device predicts that one kernel is faster than several (docs/LLIR.md,
    "Row programs").

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
           "Maximum code of one kernel, in vector operations">,
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def ScheduleKernelsPass : Pass<"llir-schedule-kernels", "::mlir::ModuleOp"> {
  let summary = "Choose how each kernel runs";
  let description = [{
    Gives each kernel without a schedule the one that is proposed for the device (docs/LLIR.md, "Schedules"). A
    schedule that stands is kept; it is an error if the kernel cannot run so on the device.

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
           "exact: no instruction that takes denormal numbers for zeros; rounding, finite: those that the machine has">,
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

def SequenceKernelsPass : Pass<"llir-sequence-kernels", "::mlir::func::FuncOp"> {
  let summary = "Make small kernels of a GPU one launch";
  let description = [{
    Scheduled kernels that one multiprocessor computes in less time than their launches take become one kernel, a block of threads
    that computes one after the other (`llir.sequence`), with what is between them in the memory of the block.

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
