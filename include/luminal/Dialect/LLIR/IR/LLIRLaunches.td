//===- LLIRLaunches.td - How steps are started, by target --*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_DIALECT_LLIR_IR_LLIRLAUNCHES
#define LUMINAL_DIALECT_LLIR_IR_LLIRLAUNCHES

include "luminal/Dialect/LLIR/IR/LLIRAttrs.td"
include "luminal/Dialect/LLIR/IR/LLIRLaunchInterface.td"

class LLIR_LaunchAttr<string name, string attrMnemonic, list<string> stated = []>
    : LLIR_Attr<name, attrMnemonic> {
  let traits = [DeclareAttrInterfaceMethods<LLIR_LaunchAttrInterface, stated>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def LLIR_CPULaunchAttr : LLIR_LaunchAttr<"CPULaunch", "cpu_launch"> {
  let summary = "calls of a kernel, each for a part of its work range";
  let description = [{
    If `parallel` is set, the work range [0, `work`) is cut into parts of at least `grain` for the threads. Each thread
    supplies `scratch` bytes of memory.

    Example: `#llir.cpu_launch<work = s0, grain = 16, scratch = 0, parallel>`
  }];
  // A map without dims holds the expressions: work, grain, scratch.
  let parameters = (ins "::luminal::hlir::MapAttr":$quantities, "bool":$parallel);
  let builders = [AttrBuilder<(ins "const ::luminal::Expr &":$work, "const ::luminal::Expr &":$grain,
                                   "const ::luminal::Expr &":$scratch, "bool":$parallel)>];
}

def LLIR_CUDALaunchAttr : LLIR_LaunchAttr<"CUDALaunch", "cuda_launch"> {
  let summary = "a grid of thread blocks";
  let description = [{
    `grid` blocks of `block` threads compute `work` work items; any number of blocks gives the same result. Each block
    has `shared` bytes of dynamic shared memory.

    Example: `#llir.cuda_launch<work = 128 * s0, grid = s0, block = 128, shared = 0>`
  }];
  // A map without dims holds the expressions: work, grid, shared.
  let parameters = (ins "::luminal::hlir::MapAttr":$quantities, "int64_t":$block);
  let builders = [AttrBuilder<(ins "const ::luminal::Expr &":$work, "const ::luminal::Expr &":$grid,
                                   "int64_t":$block, "const ::luminal::Expr &":$shared)>];
}

def LLIR_CublasLtLaunchAttr : LLIR_LaunchAttr<"CublasLtLaunch", "cublaslt_launch", ["getLibrary"]> {
  let summary = "a matrix product by cuBLASLt";
  let description = [{
    The sizes and strides of `llir.cublaslt_matmul` by name, in elements. Element (b, i, j) of a matrix M is at
    `M_offset + M_batch * b + M_row * i + M_column * j`. The buffers of the step are lhs, rhs, the addend and the bias
    (if the op has them), the result, and `workspace` bytes of memory.

    Example: `#llir.cublaslt_launch<batch = 1, rows = 4, columns = 5, inner = 8, lhs_offset = 0, lhs_batch = 0,
    lhs_row = 8, lhs_column = 1, rhs_offset = 0, rhs_batch = 0, rhs_row = 1, rhs_column = 8, addend_offset = 0,
    addend_batch = 0, addend_row = 0, addend_column = 0, result_offset = 0, result_batch = 0, result_row = 5,
    result_column = 1, {type = f32, result_type = f32, alpha = 1.0 : f64, addend = false, bias = true,
    epilogue = "relu", workspace = 1024 : i64}>`
  }];
  // A map without dims holds the expressions, in the order above.
  let parameters = (ins "::luminal::hlir::MapAttr":$quantities, "::mlir::DictionaryAttr":$facts);
}

def LLIR_CPUArgsortLaunchAttr : LLIR_LaunchAttr<"CPUArgsortLaunch", "cpu_argsort_launch", ["getLibrary"]> {
  let summary = "argsort of rows, by the runtime library";
  let description = [{
    The arguments of `llir.argsort`: `rows` rows of `length` elements of `type`. The runtime writes `count` positions of
    each row, beginning with rank `begin`. The buffers of the step are the rows and the positions.

    Example: `#llir.cpu_argsort_launch<rows = s0, length = 9, begin = 0, count = 3, {type = f32, descending = false,
    nan_first = false}>`
  }];
  // A map without dims holds the expressions, in the order above.
  let parameters = (ins "::luminal::hlir::MapAttr":$quantities, "::mlir::DictionaryAttr":$facts);
}

def LLIR_CPUScanLaunchAttr : LLIR_LaunchAttr<"CPUScanLaunch", "cpu_scan_launch", ["getLibrary"]> {
  let summary = "a running sum, product or extremum, by the runtime library";
  let description = [{
    The arguments of `llir.scan`: `outer` times `length` times `inner` elements, scanned along `length`. The buffers of
    the step are the elements and the result.

    Example: `#llir.cpu_scan_launch<outer = s0, length = 9, inner = 1, {type = f32, result_type = f32, kind = "sum",
    reverse = false, exclusive = false, positions = false}>`
  }];
  // A map without dims holds the expressions, in the order above.
  let parameters = (ins "::luminal::hlir::MapAttr":$quantities, "::mlir::DictionaryAttr":$facts);
}

#endif // LUMINAL_DIALECT_LLIR_IR_LLIRLAUNCHES
