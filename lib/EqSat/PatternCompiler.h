//===- PatternCompiler.h - From pdl.pattern to a rule ---------------------===//

#ifndef LUMINAL_LIB_EQSAT_PATTERNCOMPILER_H
#define LUMINAL_LIB_EQSAT_PATTERNCOMPILER_H

#include "NativeBridge.h"
#include "luminal/EqSat/Rule.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/Dialect/PDL/IR/PDLOps.h"

namespace luminal::eqsat {

/// The rule that a pattern states. Emits one error at the place in the pattern
/// that cannot be a rule, with the reason.
llvm::FailureOr<Rule> compilePattern(mlir::pdl::PatternOp pattern,
                                     const RuleInfo &info, OpTable &ops,
                                     NativeBridge &natives, NativeScopes scopes,
                                     bool explained = false);

} // namespace luminal::eqsat

#endif // LUMINAL_LIB_EQSAT_PATTERNCOMPILER_H
