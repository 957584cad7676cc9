//===- LLIRInterfaces.td - What every LLIR op states -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_IR_LLIRINTERFACES
#define LUMINAL_DIALECT_LLIR_IR_LLIRINTERFACES

include "mlir/IR/OpBase.td"

def LLIR_CostOpInterface : OpInterface<"CostOpInterface"> {
  let cppNamespace = "::luminal::llir";
  let description = [{
    The inputs of a roofline estimate. Every quantity is an expression over the program's symbols. For a flat op,
    `getCost` is the cost of the op in the body of a fused kernel; for a kernel, it is the cost of the whole launch.
  }];
  let methods = [
    InterfaceMethod<"Returns bytes read and written, scalar operations, and launches (0 for ops that move no data).",
                    "::luminal::llir::Cost", "getCost", (ins), "", [{
      return ConcreteOp::getCostOf($_op->getOperandTypes(), $_op->getResultTypes(), $_op->getAttrDictionary())
          .value_or(::luminal::llir::Cost());
    }]>,
    StaticInterfaceMethod<[{Returns the same for an op that need not exist, for the e-graph. `attributes` are the op's
                            inherent attributes. std::nullopt if the cost needs the op itself.}],
                          "std::optional<::luminal::llir::Cost>", "getCostOf",
                          (ins "::mlir::TypeRange":$operands, "::mlir::TypeRange":$results,
                               "::mlir::DictionaryAttr":$attributes),
                          "", "return std::nullopt;">
  ];
}

def LLIR_CodeOpInterface : OpInterface<"CodeOpInterface"> {
  let cppNamespace = "::luminal::llir";
  let description = [{
    How much code an op adds to the kernel that computes it. Fusion counts this against the kernel's budget
    (`luminal/Dialect/LLIR/Utils/CodeBudget.h` defines the unit).
  }];
  let methods = [
    InterfaceMethod<"Returns the code that computes a result element from elements of the operands; at least 1.",
                    "int64_t", "getCodeSize">,
    InterfaceMethod<[{Returns how many copies of its own and its operands' code the op's loops contain (unrolled, masked
                      and few-row versions). 0 for an op without loops: its readers' loops contain its code.}],
                    "int64_t", "getLoopCopies", (ins), "", "return 0;">,
    InterfaceMethod<"Returns how many copies of its readers' code its loops contain, relative to a plain element loop.",
                    "int64_t", "getReaderCopies", (ins), "", "return 1;">
  ];
}

//===----------------------------------------------------------------------===//
// What a kernel may hold
//===----------------------------------------------------------------------===//

def LLIR_BodyOpInterface : OpInterface<"BodyOpInterface"> {
  let cppNamespace = "::luminal::llir";
  let description = [{
    An op that a kernel may hold. All its results have one index space, and each result element is computed from
    elements of the operands. Further interfaces say whether the op is a reduction, a product, an update and so on. An
    interface of the target's code generator says how its elements become code (`luminal/Conversion/Emission.td`).
  }];
  let methods = [
    InterfaceMethod<[{Calls `read` for each operand with the index at which the op reads it for the result elements at
                      `index`; by default `index` itself. `addDim` makes a new dim of a given extent, for a reduced
                      index or for a row number that is loaded from memory.}],
                    "void", "getReads",
                    (ins "const ::luminal::Index &":$index, "::luminal::llir::AddDim":$addDim,
                         "::luminal::llir::ReadAt":$read),
                    "", [{
      for (::mlir::OpOperand &operand : $_op->getOpOperands())
        read(operand, index);
    }]>,
    InterfaceMethod<"Returns the element as an expression of its index; std::nullopt if it is not one.",
                    "std::optional<::luminal::Expr>", "getElementExpr", (ins "const ::luminal::Index &":$index),
                    "", "return std::nullopt;">,
    InterfaceMethod<"Returns whether the op is index arithmetic only; such an op is repeated in each of its readers.",
                    "bool", "isFree", (ins), "", "return false;">,
    InterfaceMethod<"Returns whether each operand is read at the index of the result.",
                    "bool", "isPointwise", (ins), "", "return false;">
  ];
}

def LLIR_ReductionOpInterface : OpInterface<"ReductionOpInterface", [LLIR_BodyOpInterface]> {
  let cppNamespace = "::luminal::llir";
  let description = [{
    An op whose every result element is a loop over one further dim. The loop accumulates what the op reads along that
    dim into a state, one index after the other; states of two parts of the dim can be merged. A kernel can always
    compute the op as such a loop.
  }];
  let methods = [
    InterfaceMethod<"Returns the extent of the reduced dim.", "::luminal::Expr", "getReducedExtent">,
    InterfaceMethod<"Returns the types of the values of a state.", "::llvm::SmallVector<::mlir::Type>", "getStateTypes">
  ];
}

def LLIR_RowReductionOpInterface : OpInterface<"RowReductionOpInterface", [LLIR_ReductionOpInterface]> {
  let cppNamespace = "::luminal::llir";
  let description = [{
    A reduction of rows: all operands have one shape [rows..., n], the results have the shape [rows...]. A kernel
    computes several reductions of the same rows as passes over the row.
  }];
}

def LLIR_ProductOpInterface : OpInterface<"ProductOpInterface", [LLIR_ReductionOpInterface]> {
  let cppNamespace = "::luminal::llir";
  let description = [{
    A sum of products of two operands over one contracted dim. Each operand is read through a map from [result dims...,
    contracted dim]. Kernels compute the op in tiles.
  }];
  let methods = [
    InterfaceMethod<"Returns the left operand.", "::mlir::Value", "getLhs">,
    InterfaceMethod<"Returns the right operand.", "::mlir::Value", "getRhs">,
    InterfaceMethod<"Returns the left operand's map.", "::luminal::hlir::MapAttr", "getLhsMap">,
    InterfaceMethod<"Returns the right operand's map.", "::luminal::hlir::MapAttr", "getRhsMap">,
    InterfaceMethod<"Replaces the maps of both operands.", "void", "setMaps",
                    (ins "::luminal::hlir::MapAttr":$lhs, "::luminal::hlir::MapAttr":$rhs), "", [{
      $_op.setLhsMapAttr(lhs);
      $_op.setRhsMapAttr(rhs);
    }]>
  ];
}

def LLIR_RescaleOpInterface : OpInterface<"RescaleOpInterface", [LLIR_BodyOpInterface]> {
  let cppNamespace = "::luminal::llir";
  let description = [{
    An op that says how its elements change when the *reference* of their row changes. A reference is a value of the row
    that elements are relative to, such as the running maximum of an online softmax: `exp(x - m)` is multiplied by the
    rescale factor `exp(m - m')` when `m` becomes `m'`, and so is a sum of such terms. This lets a reduction that
    depends on a maximum run in the same loop as the maximum: what it has accumulated is rescaled whenever the maximum
    grows.
  }];
  let methods = [
    InterfaceMethod<[{Returns how the elements of the results change, given how those of each operand change. For a
                      reduction: how its state changes, given how its terms change.}],
                    "::luminal::llir::Rescaling", "getRescaling",
                    (ins "::llvm::ArrayRef<::luminal::llir::Rescaling>":$operands)>,
    InterfaceMethod<"Returns whether the result is a reduction's maximum, which may serve as a reference.",
                    "bool", "isMaximum", (ins), "", "return false;">
  ];
}

def LLIR_UpdateOpInterface : OpInterface<"UpdateOpInterface", [LLIR_BodyOpInterface]> {
  let cppNamespace = "::luminal::llir";
  let description = [{
    An op that replaces or combines some elements of a destination, in order. A kernel may do so in the destination's
    memory. The result has the destination's type.
  }];
  let methods = [
    InterfaceMethod<"Returns the destination, the value that is updated.", "::mlir::Value", "getDest">,
    InterfaceMethod<"Returns the destination's operand.", "::mlir::OpOperand &", "getDestMutable">,
    InterfaceMethod<"Returns the operand that holds the updates.", "::mlir::Value", "getUpdates">
  ];
}

def LLIR_LookupOpInterface : OpInterface<"LookupOpInterface", [LLIR_BodyOpInterface]> {
  let cppNamespace = "::luminal::llir";
  let description = [{
    An op that reads elements of `data` at positions that are loaded from `indices`.
  }];
  let methods = [
    InterfaceMethod<"Returns the value whose elements are read.", "::mlir::Value", "getData">,
    InterfaceMethod<"Returns the value that holds the positions.", "::mlir::Value", "getIndices">
  ];
}

def LLIR_WholeOpInterface : OpInterface<"WholeOpInterface", [LLIR_BodyOpInterface]> {
  let cppNamespace = "::luminal::llir";
  let description = [{
    An op that is a whole kernel: its operands are the kernel's operands, in memory, and its results are the kernel's
    results. The op defines what a work item is and how many threads share one. An interface of the target's code
    generator emits the code of a work item (`WholeEmissionOpInterface`).
  }];
  let methods = [
    InterfaceMethod<"Returns the number of work items, which may run in any order or in parallel.",
                    "::luminal::Expr", "countUnits">,
    InterfaceMethod<"Returns the simple operations of all work items together.", "::luminal::Expr", "countOperations">,
    InterfaceMethod<[{Returns the size of a GPU's thread block, and how many of its threads share a work item. A machine
                      without thread blocks has one thread for each work item.}],
                    "::luminal::llir::WholeThreads", "chooseThreads",
                    (ins "const ::luminal::Assumptions &":$symbols, "const ::luminal::MachineModel &":$machine)>,
    InterfaceMethod<[{Returns why groups of `team` threads, in blocks of `threads`, cannot share a work item; empty if they
                      can.}],
                    "std::string", "checkTeam",
                    (ins "unsigned":$threads, "unsigned":$team, "const ::luminal::MachineModel &":$machine), "", "return {};">
  ];
}

//===----------------------------------------------------------------------===//
// What no kernel holds
//===----------------------------------------------------------------------===//

def LLIR_StandaloneOpInterface : OpInterface<"StandaloneOpInterface"> {
  let cppNamespace = "::luminal::llir";
  let description = [{
    A flat op between kernels: its operands and results are whole tensors in memory. Fusion does not change it; kernels
    before it write its operands.
  }];
  let methods = [
    InterfaceMethod<"Returns whether it writes results to separate memory, so that a function may return them.",
                    "bool", "writesResults", (ins), "", "return true;">,
    InterfaceMethod<"Returns whether it keeps using its operands' memory, which no other value may then share.",
                    "bool", "keepsOperands", (ins), "", "return false;">
  ];
}

def LLIR_BufferOpInterface : OpInterface<"BufferOpInterface"> {
  let cppNamespace = "::luminal::llir";
  let description = [{
    An entry of a schedule that declares a buffer.
  }];
  let methods = [
    InterfaceMethod<"Returns the buffer's size in bytes, over the schedule's symbols.", "::luminal::Expr", "getSize">
  ];
}

def LLIR_LibraryOpInterface : OpInterface<"LibraryOpInterface", [LLIR_StandaloneOpInterface]> {
  let cppNamespace = "::luminal::llir";
  let description = [{
    An op that a library of the target computes. It is a step by itself, and the artifact holds no code for it.
  }];
  let methods = [
    InterfaceMethod<"Returns how the step is launched: the library and its arguments.",
                    "::luminal::llir::LaunchAttrInterface", "getLaunch">,
    InterfaceMethod<"Checks that the library computes what the op means; otherwise emits an error at the op.",
                    "::mlir::LogicalResult", "checkLibrary">,
    InterfaceMethod<"Returns the device memory in bytes that the step needs besides its operands and results.",
                    "int64_t", "getWorkspaceBytes", (ins), "", "return 0;">
  ];
}

def LLIR_ExpandOpInterface : OpInterface<"ExpandOpInterface", [LLIR_StandaloneOpInterface]> {
  let cppNamespace = "::luminal::llir";
  let description = [{
    An op between kernels that is replaced by kernels if no library of the target computes it.
  }];
  let methods = [
    InterfaceMethod<[{Builds these kernels for `machine` and returns the values that replace the results, with the types
                      of the results; null for a result that nothing reads. An op that a library computes on a CPU is
                      expanded only on a machine with thread blocks.}],
                    "::llvm::SmallVector<::mlir::Value>", "expand",
                    (ins "::mlir::ImplicitLocOpBuilder &":$b, "const ::luminal::Assumptions &":$symbols,
                         "const ::luminal::MachineModel &":$machine)>
  ];
}

#endif // LUMINAL_DIALECT_LLIR_IR_LLIRINTERFACES
