//===- SymExpr.h - SymPy's srepr as expressions ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_TARGET_PT2_ARCHIVE_SYMEXPR_H
#define LUMINAL_LIB_TARGET_PT2_ARCHIVE_SYMEXPR_H

#include "luminal/Support/Expr.h"
#include "luminal/Support/Result.h"

namespace luminal::pt2 {

/// Parses what SymPy's `srepr` prints for an integer expression, for instance
/// `Add(Mul(Integer(2), Symbol('s0', positive=True, integer=True)),
/// Integer(-1))`. Depth and length are limited.
Result<Expr> parseSymExpr(std::string_view text);

/// The same for a condition, `Equality(Symbol('s0', integer=True),
/// Integer(1))`: an expression that is not negative where the condition holds,
/// and negative elsewhere.
Result<Expr> parseSymCondition(std::string_view text);

} // namespace luminal::pt2

#endif // LUMINAL_LIB_TARGET_PT2_ARCHIVE_SYMEXPR_H
