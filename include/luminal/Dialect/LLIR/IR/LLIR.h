//===- LLIR.h - The LLIR dialect ------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_IR_LLIR_H
#define LUMINAL_DIALECT_LLIR_IR_LLIR_H

#include "luminal/Dialect/HLIR/IR/HLIR.h"

namespace luminal::llir {

/// The inputs of a roofline price; expressions over the program's symbols.
struct Cost {
  Expr bytesRead;
  Expr bytesWritten;
  /// Scalar operations, a transcendental counted as `getFlops(Fn)` of them.
  Expr flops;
  /// Kernels launched.
  Expr launches;
};

} // namespace luminal::llir

#include "luminal/Dialect/LLIR/IR/LLIRDialect.h.inc"

#include "luminal/Dialect/LLIR/IR/LLIREnums.h.inc"

#include "luminal/Dialect/LLIR/IR/LLIRInterfaces.h.inc"

#define GET_OP_CLASSES
#include "luminal/Dialect/LLIR/IR/LLIROps.h.inc"

namespace luminal::llir {

/// Number of operands of a scalar function: 1, 2 or 3.
unsigned getArity(Fn fn);
/// Price of one scalar function in simple operations.
unsigned getFlops(Fn fn);

} // namespace luminal::llir

#endif // LUMINAL_DIALECT_LLIR_IR_LLIR_H
