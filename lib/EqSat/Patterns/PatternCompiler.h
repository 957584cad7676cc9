//===- PatternCompiler.h - From pdl.pattern to a rule ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_EQSAT_PATTERNS_PATTERNCOMPILER_H
#define LUMINAL_LIB_EQSAT_PATTERNS_PATTERNCOMPILER_H

#include "NativeBridge.h"
#include "luminal/EqSat/Core/Rule.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/Dialect/PDL/IR/PDLOps.h"

namespace luminal::eqsat {

/// How many values a range of the left side holds, or results one of its
/// operations has.
using Extents = llvm::DenseMap<mlir::Value, unsigned>;

/// Which of the rules that a pattern states.
struct Form {
  Extents extents;
  /// Whether there are others.
  bool isOpen = false;
  /// Answer: nothing can match it.
  bool never = false;
};

/// How many results the pattern or the operation itself says that there are.
std::optional<unsigned> declaredResults(mlir::pdl::OperationOp op);
/// How many operands an operation always has, where its traits say so.
std::optional<unsigned> fixedOperands(mlir::OperationName name);

/// A rule that a pattern states. Emits one error at the place in the pattern
/// that cannot be a rule, with the reason.
llvm::FailureOr<Rule> compilePattern(mlir::pdl::PatternOp pattern,
                                     const RuleInfo &info, OpTable &ops,
                                     NativeBridge &natives, NativeScopes scopes,
                                     bool explained, Form &form);

} // namespace luminal::eqsat

#endif // LUMINAL_LIB_EQSAT_PATTERNS_PATTERNCOMPILER_H
