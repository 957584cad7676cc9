//===- LLIRAttrs.td - The attributes and enums of LLIR -----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_IR_LLIRATTRS
#define LUMINAL_DIALECT_LLIR_IR_LLIRATTRS

include "luminal/Dialect/LLIR/IR/LLIRBase.td"
include "mlir/IR/EnumAttr.td"

/// The scalar functions. Comments below give the number of operands; the op's verifier checks operand and result types.
/// Functions.def states the accuracy of each function for each type.
def LLIR_Fn : I32EnumAttr<"Fn", "a scalar function", [
    // Unary.
    I32EnumAttrCase<"Neg", 0, "neg">, I32EnumAttrCase<"Abs", 1, "abs">, I32EnumAttrCase<"Exp", 2, "exp">,
    I32EnumAttrCase<"Exp2", 3, "exp2">, I32EnumAttrCase<"Expm1", 4, "expm1">, I32EnumAttrCase<"Log", 5, "log">,
    I32EnumAttrCase<"Log2", 6, "log2">, I32EnumAttrCase<"Log1p", 7, "log1p">, I32EnumAttrCase<"Sin", 8, "sin">,
    I32EnumAttrCase<"Cos", 9, "cos">, I32EnumAttrCase<"Tanh", 10, "tanh">, I32EnumAttrCase<"Erf", 11, "erf">,
    I32EnumAttrCase<"Sqrt", 12, "sqrt">, I32EnumAttrCase<"Rsqrt", 13, "rsqrt">, I32EnumAttrCase<"Recip", 14, "recip">,
    I32EnumAttrCase<"Sigmoid", 15, "sigmoid">, I32EnumAttrCase<"Silu", 16, "silu">, I32EnumAttrCase<"Gelu", 17, "gelu">,
    I32EnumAttrCase<"GeluTanh", 18, "gelu_tanh">, I32EnumAttrCase<"Cast", 19, "cast">,
    I32EnumAttrCase<"Floor", 20, "floor">, I32EnumAttrCase<"Ceil", 21, "ceil">, I32EnumAttrCase<"Round", 22, "round">,
    I32EnumAttrCase<"Trunc", 23, "trunc">, I32EnumAttrCase<"Not", 24, "not">, I32EnumAttrCase<"IsNan", 25, "is_nan">,
    // exp with a larger error bound, for softmax terms (each is divided by the sum of all).
    I32EnumAttrCase<"ExpFast", 26, "exp_fast">,
    // Reinterprets the bits of an element as another type of the same width.
    I32EnumAttrCase<"Bitcast", 27, "bitcast">,
    // exp2 for softmax terms that are rounded to f16 or bf16. In f32, results below 2^-126 may be flushed to 0.
    I32EnumAttrCase<"Exp2Fast", 28, "exp2_fast">,
    // exp for the same terms, computed with exp2_fast.
    I32EnumAttrCase<"ExpApprox", 29, "exp_approx">, I32EnumAttrCase<"Atan", 30, "atan">,
    I32EnumAttrCase<"Asin", 31, "asin">, I32EnumAttrCase<"Acos", 49, "acos">,
    // Binary. mod has the sign of the dividend; max and min give NaN if either operand is NaN; integer div truncates.
    I32EnumAttrCase<"Add", 32, "add">, I32EnumAttrCase<"Sub", 33, "sub">, I32EnumAttrCase<"Mul", 34, "mul">,
    I32EnumAttrCase<"Div", 35, "div">, I32EnumAttrCase<"Mod", 36, "mod">, I32EnumAttrCase<"Max", 37, "max">,
    I32EnumAttrCase<"Min", 38, "min">, I32EnumAttrCase<"Pow", 39, "pow">, I32EnumAttrCase<"LessThan", 40, "less_than">,
    I32EnumAttrCase<"LessEqual", 41, "less_equal">, I32EnumAttrCase<"Equal", 42, "equal">, I32EnumAttrCase<"Or", 43, "or">,
    I32EnumAttrCase<"FloorDiv", 44, "floor_div">, I32EnumAttrCase<"FloorMod", 45, "floor_mod">,
    // The bits of i32 and i64. A shift by a negative amount, or by the width or more, leaves no bit of the operand: to the
    // left 0, to the right the sign in each bit.
    I32EnumAttrCase<"BitAnd", 46, "bit_and">, I32EnumAttrCase<"BitOr", 47, "bit_or">,
    I32EnumAttrCase<"BitXor", 48, "bit_xor">, I32EnumAttrCase<"ShiftLeft", 50, "shift_left">,
    I32EnumAttrCase<"ShiftRight", 51, "shift_right">,
    // Ternary: condition (i1), then two operands of the result's type.
    I32EnumAttrCase<"Select", 64, "select">]> {
  let cppNamespace = "::luminal::llir";
  let genSpecializedAttr = 0;
}
/// `#llir.fn<mul>`.
def LLIR_FnAttr : EnumAttr<LLIR_Dialect, LLIR_Fn, "fn"> { let assemblyFormat = "`<` $value `>`"; }

def LLIR_ReduceKind : I32EnumAttr<"ReduceKind", "how a reduction combines elements", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Max", 1, "max">]> {
  let cppNamespace = "::luminal::llir";
  let genSpecializedAttr = 0;
}
/// `#llir.reduce_kind<sum>`.
def LLIR_ReduceKindAttr : EnumAttr<LLIR_Dialect, LLIR_ReduceKind, "reduce_kind"> { let assemblyFormat = "`<` $value `>`"; }

def LLIR_ScanKind : I32EnumAttr<"ScanKind", "what a scan carries from one element to the next", [
    I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Product", 1, "product">, I32EnumAttrCase<"Max", 2, "max">,
    I32EnumAttrCase<"Min", 3, "min">, I32EnumAttrCase<"LogSumExp", 4, "log_sum_exp">]> {
  let cppNamespace = "::luminal::llir";
  let genSpecializedAttr = 0;
}
/// `#llir.scan_kind<sum>`.
def LLIR_ScanKindAttr : EnumAttr<LLIR_Dialect, LLIR_ScanKind, "scan_kind"> { let assemblyFormat = "`<` $value `>`"; }

def LLIR_Epilogue : I32EnumAttr<"Epilogue", "the function at the end of a product", [
    I32EnumAttrCase<"None", 0, "none">, I32EnumAttrCase<"Relu", 1, "relu">,
    I32EnumAttrCase<"GeluTanh", 2, "gelu_tanh">]> {
  let cppNamespace = "::luminal::llir";
  let genSpecializedAttr = 0;
}
/// `#llir.epilogue<relu>`.
def LLIR_EpilogueAttr : EnumAttr<LLIR_Dialect, LLIR_Epilogue, "epilogue"> { let assemblyFormat = "`<` $value `>`"; }

def LLIR_ArgumentKind : I32EnumAttr<"ArgumentKind", "who supplies the memory of an argument", [
    I32EnumAttrCase<"Input", 0, "input">, I32EnumAttrCase<"Weight", 1, "weight">, I32EnumAttrCase<"State", 2, "state">]> {
  let cppNamespace = "::luminal::llir";
}

//===----------------------------------------------------------------------===//
// Schedules of kernels
//===----------------------------------------------------------------------===//

def LLIR_LoopAxisAttr : LLIR_Attr<"LoopAxis", "loop_axis"> {
  let summary = "one loop over some dims, and its blocking";
  let description = [{
    `dims` are dims of the kernel's index space, joined row-major into one axis. A work item takes `block` consecutive
    indices of the axis (0: all of them); `lanes` is the number of consecutive indices that the lanes of one vector
    take.

    Example: `#llir.loop_axis<d0*d1:4096 v16>`: the joined dims d0 and d1 in blocks of 4096 indices, 16 lanes a vector.
    An axis without a number has blocks of one index; `:all` is one block of all indices.
  }];
  let parameters = (ins ArrayRefParameter<"unsigned">:$dims, "int64_t":$block, "unsigned":$lanes);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def LLIR_LoopFormAttr : LLIR_Attr<"LoopForm", "loop_form"> {
  let summary = "how one op of a kernel is computed";
  let description = [{
    `op` is the position of an op in the kernel's body, counted from 0. `form` names how the op's loops are written; the
    form `keep` keeps the op's elements after they are computed. Each form defines which numbers it takes and what they
    mean (docs/Schedules.md).

    Example: `#llir.loop_form<op1 = tile {rows = 14, vectors = 2}>`
  }];
  let parameters = (ins "unsigned":$op, "::mlir::StringAttr":$form, "::mlir::DictionaryAttr":$numbers);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the integer named `name`, or `otherwise` if there is none.
    int64_t getNumber(::llvm::StringRef name, int64_t otherwise) const;
    /// Returns the string named `name`; empty if there is none.
    ::llvm::StringRef getWord(::llvm::StringRef name) const;
  }];
}

def LLIR_LoopCaseAttr : LLIR_Attr<"LoopCase", "loop_case"> {
  let summary = "the schedule of a kernel under a condition on symbols";
  let description = [{
    `guard` lists quantities over the program's symbols, and `bounds` the least and the greatest value of each (the
    largest int64 means no upper bound). The case applies if every quantity is within its bounds; a case without a guard
    always applies. `grid` cuts the parallel index space into work items; the last axis varies fastest. `stream` lists
    the axes over which a work item iterates for the kernel's reductions. `parts` is a split-k factor: it cuts the dim
    reduced by those reductions that read no other op with loops. A work item is then one part of one block of the grid,
    and
    the last part to finish merges the states of all parts (1: the dim is not cut). `forms` state how each op with loops
    is computed. On a GPU, `threads` is the size of a thread block (0 on a CPU), and `team` is the number of adjacent
    threads that share a work item (a thread group). With `nontemporal`, whole vectors of results are written with
    streaming stores, which bypass the caches; this is for results that no cache would hold until they are read.

    Example: `#llir.loop_case<if (s0: [0, 4]) grid(d0) stream(d1 v16) op1 = pass {unroll = 2}>`, and for a GPU
    `#llir.loop_case<grid(d0) stream(d1:all v4) threads(256, 32) op1 = pass {lanes = 4, unroll = 2}>`: a block has 256
    threads, 32 of them share a row.
  }];
  let parameters = (ins OptionalParameter<"::luminal::hlir::MapAttr">:$guard, ArrayRefParameter<"int64_t">:$bounds,
                        ArrayRefParameter<"::luminal::llir::LoopAxisAttr">:$grid,
                        ArrayRefParameter<"::luminal::llir::LoopAxisAttr">:$stream,
                        "unsigned":$parts, "unsigned":$threads, "unsigned":$team, "bool":$nontemporal,
                        ArrayRefParameter<"::luminal::llir::LoopFormAttr">:$forms);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Returns the form of the op at position `op`; null if the case states none.
    LoopFormAttr getForm(unsigned op) const;
  }];
}

def LLIR_LoopsAttr : LLIR_Attr<"Loops", "loops"> {
  let summary = "the schedule of a kernel";
  let description = [{
    How a kernel runs on a machine; its body does not say. The first case whose guard holds applies; the last case has
    no guard. `llir-schedule-kernels` writes the schedule, emitters follow it, and the interpreter ignores it
    (docs/Schedules.md).

    Example: `#llir.loops<if (s0: [0, 4]) grid(d1:512) op0 = dot {rows = 2} else grid(d1:256, d0:112) op0 = tile {rows = 14}>`
  }];
  let parameters = (ins ArrayRefParameter<"::luminal::llir::LoopCaseAttr">:$cases);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def LLIR_BufferType : TypeDef<LLIR_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "a memory buffer of a program's schedule";
  let description = [{
    A range of bytes that steps read and write. The op that defines the buffer says what it holds.

    Example: `!llir.buffer`
  }];
}

#endif // LUMINAL_DIALECT_LLIR_IR_LLIRATTRS
