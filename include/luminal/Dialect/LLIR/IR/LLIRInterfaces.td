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
                    "::luminal::llir::Cost", "getCost", (ins), "", [{
      return ConcreteOp::getCostOf($_op->getOperandTypes(), $_op->getResultTypes(), $_op->getAttrDictionary())
          .value_or(::luminal::llir::Cost());
    }]>,
    StaticInterfaceMethod<[{The same of an op that need not exist, for the e-graph; `attributes` are its inherent ones.
                            std::nullopt where only an op can tell.}],
                          "std::optional<::luminal::llir::Cost>", "getCostOf",
                          (ins "::mlir::TypeRange":$operands, "::mlir::TypeRange":$results,
                               "::mlir::DictionaryAttr":$attributes),
                          "", "return std::nullopt;">
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

//===----------------------------------------------------------------------===//
// What a kernel may hold
//===----------------------------------------------------------------------===//

def LLIR_BodyOpInterface : OpInterface<"BodyOpInterface"> {
  let cppNamespace = "::luminal::llir";
  let description = [{
    An op that a kernel may hold. All its results have one index space, and an element of them is computed from elements
    of the operands. What else an op is, a further interface says: a reduction, a product, an update. How its elements
    become code is an interface of the target's emission (`luminal/Conversion/Emission.td`).
  }];
  let methods = [
    InterfaceMethod<[{Calls `read` with the index at which each operand is read for the elements of the results at `index`,
                      as a rule at `index` itself. `addDim` makes a dim of that extent: a reduced index, or a row that only
                      an element tells.}],
                    "void", "getReads",
                    (ins "const ::luminal::Index &":$index, "::luminal::llir::AddDim":$addDim,
                         "::luminal::llir::ReadAt":$read),
                    "", [{
      for (::mlir::OpOperand &operand : $_op->getOpOperands())
        read(operand, index);
    }]>,
    InterfaceMethod<"The element itself where it is an expression of its index.",
                    "std::optional<::luminal::Expr>", "getElementExpr", (ins "const ::luminal::Index &":$index),
                    "", "return std::nullopt;">,
    InterfaceMethod<"Whether it moves and computes nothing, so that each of its readers repeats it.",
                    "bool", "isFree", (ins), "", "return false;">,
    InterfaceMethod<"Whether each operand is read at the index of the result.",
                    "bool", "isPointwise", (ins), "", "return false;">
  ];
}

def LLIR_ReductionOpInterface : OpInterface<"ReductionOpInterface", [LLIR_BodyOpInterface]> {
  let cppNamespace = "::luminal::llir";
  let description = [{
    An op whose elements are each a loop over one further dim: a state takes what the op reads along it one by one, and
    may be merged with that of another part of the dim. Kernels can always compute it as such a loop.
  }];
  let methods = [
    InterfaceMethod<"Extent of that dim.", "::luminal::Expr", "getReducedExtent">,
    InterfaceMethod<"The types of the values that a state has.", "::llvm::SmallVector<::mlir::Type>", "getStateTypes">
  ];
}

def LLIR_RowReductionOpInterface : OpInterface<"RowReductionOpInterface", [LLIR_ReductionOpInterface]> {
  let cppNamespace = "::luminal::llir";
  let description = [{
    A reduction of rows: the operands are all of one shape [rows..., n], the results of shape [rows...]. Kernels compute
    several over the same rows in passes.
  }];
}

def LLIR_ProductOpInterface : OpInterface<"ProductOpInterface", [LLIR_ReductionOpInterface]> {
  let cppNamespace = "::luminal::llir";
  let description = [{
    A sum of products of two operands over one contracted dim, each read through a map from [result dims..., contracted
    dim]. Kernels compute it in tiles.
  }];
  let methods = [
    InterfaceMethod<"The left operand.", "::mlir::Value", "getLhs">,
    InterfaceMethod<"The right operand.", "::mlir::Value", "getRhs">,
    InterfaceMethod<"How the left operand is read.", "::luminal::hlir::MapAttr", "getLhsMap">,
    InterfaceMethod<"How the right operand is read.", "::luminal::hlir::MapAttr", "getRhsMap">,
    InterfaceMethod<"Reads the operands through other maps.", "void", "setMaps",
                    (ins "::luminal::hlir::MapAttr":$lhs, "::luminal::hlir::MapAttr":$rhs), "", [{
      $_op.setLhsMapAttr(lhs);
      $_op.setRhsMapAttr(rhs);
    }]>
  ];
}

def LLIR_RescaleOpInterface : OpInterface<"RescaleOpInterface", [LLIR_BodyOpInterface]> {
  let cppNamespace = "::luminal::llir";
  let description = [{
    An op that says how its elements change when a *reference* of their row does, a value that they are taken relative to:
    `exp(x - m)` is scaled by `exp(m - m')` when `m` becomes `m'`, and so is a sum of such terms. By that a reduction that
    follows a maximum may run beside it: what it has taken is scaled whenever the maximum grows.
  }];
  let methods = [
    InterfaceMethod<[{How the elements of the results change, given how those of each operand do. Of a reduction: how its state
                      changes, given how its terms do.}],
                    "::luminal::llir::Rescaling", "getRescaling",
                    (ins "::llvm::ArrayRef<::luminal::llir::Rescaling>":$operands)>,
    InterfaceMethod<"Whether the result is a reduction's greatest term, which may serve as a reference.",
                    "bool", "isMaximum", (ins), "", "return false;">
  ];
}

def LLIR_UpdateOpInterface : OpInterface<"UpdateOpInterface", [LLIR_BodyOpInterface]> {
  let cppNamespace = "::luminal::llir";
  let description = [{
    A destination of which some elements are replaced or combined, in order. A kernel may do it in the destination's
    memory. The result has the destination's type.
  }];
  let methods = [
    InterfaceMethod<"The value that is updated.", "::mlir::Value", "getDest">,
    InterfaceMethod<"The operand that it is.", "::mlir::OpOperand &", "getDestMutable">,
    InterfaceMethod<"What it is updated with, an operand.", "::mlir::Value", "getUpdates">
  ];
}

def LLIR_LookupOpInterface : OpInterface<"LookupOpInterface", [LLIR_BodyOpInterface]> {
  let cppNamespace = "::luminal::llir";
  let description = [{
    An op that takes elements of `data` at places which other elements tell.
  }];
  let methods = [
    InterfaceMethod<"The value of which elements are taken.", "::mlir::Value", "getData">,
    InterfaceMethod<"The value that tells which.", "::mlir::Value", "getIndices">
  ];
}

def LLIR_WholeOpInterface : OpInterface<"WholeOpInterface", [LLIR_BodyOpInterface]> {
  let cppNamespace = "::luminal::llir";
  let description = [{
    An op that is a kernel of its own: its operands are the kernel's, in memory, and its results are those of the kernel.
    What a unit of its work is, and which threads take one together, the op says; the code of a unit is an interface of
    the target's emission (`WholeEmissionOpInterface`).
  }];
  let methods = [
    InterfaceMethod<"Units of work, which may be done in any order or at once.", "::luminal::Expr", "countUnits">,
    InterfaceMethod<"Simple operations of all units together.", "::luminal::Expr", "countOperations">,
    InterfaceMethod<[{Threads of a GPU's block, and of them those that take a unit together; a machine without blocks has
                      one for each unit.}],
                    "::luminal::llir::WholeThreads", "chooseThreads",
                    (ins "const ::luminal::Assumptions &":$symbols, "const ::luminal::MachineModel &":$machine)>,
    InterfaceMethod<"Checks that a team of so many threads, in blocks of `threads`, can take a unit; what is wrong.",
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
    A flat op between kernels: its operands are whole tensors in memory, and so are its results. Fusion leaves it as it
    is; what it reads is written by a kernel before it.
  }];
  let methods = [
    InterfaceMethod<"Whether its results are memory that it writes, so that they can be results of the function.",
                    "bool", "writesResults", (ins), "", "return true;">,
    InterfaceMethod<"Whether it goes on using the memory of its operands, which then is nobody else's.",
                    "bool", "keepsOperands", (ins), "", "return false;">
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

def LLIR_LibraryOpInterface : OpInterface<"LibraryOpInterface", [LLIR_StandaloneOpInterface]> {
  let cppNamespace = "::luminal::llir";
  let description = [{
    An op that a library of the target computes, in a step of its own and without code of the artifact.
  }];
  let methods = [
    InterfaceMethod<"How the step is started; the library and all that it is told.",
                    "::luminal::llir::LaunchAttrInterface", "getLaunch">,
    InterfaceMethod<"Whether the library computes what the op says; an error at the op where it does something else.",
                    "::mlir::LogicalResult", "checkLibrary">,
    InterfaceMethod<"Bytes of memory of the device that the step needs besides its operands and results.",
                    "int64_t", "getWorkspaceBytes", (ins), "", "return 0;">
  ];
}

def LLIR_ExpandOpInterface : OpInterface<"ExpandOpInterface", [LLIR_StandaloneOpInterface]> {
  let cppNamespace = "::luminal::llir";
  let description = [{
    An op between kernels that is kernels of its own where no library of the target computes it.
  }];
  let methods = [
    InterfaceMethod<[{Makes these kernels, for a machine with blocks of threads where a library of another one computes
                      it; the values that stand for the results, of their types; null for those that nothing reads.}],
                    "::llvm::SmallVector<::mlir::Value>", "expand",
                    (ins "::mlir::ImplicitLocOpBuilder &":$b, "const ::luminal::Assumptions &":$symbols,
                         "const ::luminal::MachineModel &":$machine)>
  ];
}

#endif // LUMINAL_DIALECT_LLIR_IR_LLIRINTERFACES
