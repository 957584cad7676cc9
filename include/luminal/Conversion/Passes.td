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
    Option<"machine", "machine", "std::string", "\"\"", "File with the model of this machine, for native">,
    Option<"keepLoops", "keep-loops", "bool", "false", "Stop at scf, vector and arith ops, before the llvm dialect">,
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
    Option<"machine", "machine", "std::string", "\"\"", "File with the model of this machine, for native">,
    Option<"workers", "workers", "unsigned", "0", "Workers that share a kernel; 0: those of the machine">,
  ];
  let dependentDialects = ["::luminal::llir::LLIRDialect"];
}

#endif // LUMINAL_CONVERSION_PASSES
