//===- LLIRInterfaces.td - What every LLIR op states -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_IR_LLIRINTERFACES
#define LUMINAL_DIALECT_LLIR_IR_LLIRINTERFACES

include "mlir/IR/OpBase.td"

def LLIR_CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::luminal::llir";
  let description = [{
    The inputs of a roofline estimate. Every quantity is an expression over the program's symbols. `getCost` of a flat
    op is its cost in the body of a fused kernel; of a kernel, the launch as a whole.
  }];
  let methods = [
    InterfaceMethod<"Bytes read and written, scalar operations, and launches (0 for ops that move no data).",
                    "::luminal::llir::Cost", "getCost">
  ];
}

def LLIR_CodeOpInterface : OpInterface<"CodeOpInterface"> {
  let cppNamespace = "::luminal::llir";
  let description = [{
    What an op adds to the code of a kernel that computes it. Fusion counts it against the kernel's budget
    (`luminal/Dialect/LLIR/Utils/CodeBudget.h`, which also says what the unit is).
  }];
  let methods = [
    InterfaceMethod<"Code that computes one element of the result from elements of the operands, at least 1.",
                    "int64_t", "getCodeSize">,
    InterfaceMethod<[{Copies of the code of its operands, and of its own, that the loops of the op hold (unrolled, masked,
                      and for few rows); 0 for an op without loops, whose code is in those of its readers.}],
                    "int64_t", "getLoopCopies", (ins), "", "return 0;">,
    InterfaceMethod<"Copies of the code of its readers that its loops hold for each copy of a plain loop over elements.",
                    "int64_t", "getReaderCopies", (ins), "", "return 1;">
  ];
}

def LLIR_BufferOpInterface : OpInterface<"BufferOpInterface"> {
  let cppNamespace = "::luminal::llir";
  let description = [{
    An entry of a schedule that declares a buffer.
  }];
  let methods = [
    InterfaceMethod<"The size of the buffer in bytes, over the schedule's symbols.", "::luminal::Expr", "getSize">
  ];
}

#endif // LUMINAL_DIALECT_LLIR_IR_LLIRINTERFACES
