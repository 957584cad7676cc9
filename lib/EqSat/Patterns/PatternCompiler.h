//===- PatternCompiler.h - From pdl.pattern to a rule ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_EQSAT_PATTERNS_PATTERNCOMPILER_H
#define LUMINAL_LIB_EQSAT_PATTERNS_PATTERNCOMPILER_H

#include "NativeBridge.h"
#include "luminal/EqSat/Core/Rule.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/Dialect/PDL/IR/PDLOps.h"

namespace luminal::eqsat {

/// The number of values in each range of the left side, and the number of
/// results of each of its operations.
using Extents = llvm::DenseMap<mlir::Value, unsigned>;

/// One of the rules to which a pattern compiles.
struct Form {
  Extents extents;
  /// Whether the pattern has other forms.
  bool isOpen = false;
  /// Output: whether nothing can match this form.
  bool never = false;
};

/// The number of results if the pattern or the operation determines it.
std::optional<unsigned> declaredResults(mlir::pdl::OperationOp op);
/// The number of operands if the traits of the operation fix it.
std::optional<unsigned> fixedOperands(mlir::OperationName name);

/// Compiles one form of a pattern to a rule. If the pattern cannot be a rule,
/// emits one error with the reason at the place in the pattern.
llvm::FailureOr<Rule> compilePattern(mlir::pdl::PatternOp pattern,
                                     const RuleInfo &info, OpTable &ops,
                                     NativeBridge &natives, NativeScopes scopes,
                                     bool explained, Form &form);

} // namespace luminal::eqsat

#endif // LUMINAL_LIB_EQSAT_PATTERNS_PATTERNCOMPILER_H
