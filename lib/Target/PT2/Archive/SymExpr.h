//===- SymExpr.h - Parses SymPy's srepr into expressions ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_TARGET_PT2_ARCHIVE_SYMEXPR_H
#define LUMINAL_LIB_TARGET_PT2_ARCHIVE_SYMEXPR_H

#include "luminal/Support/Expr.h"
#include "luminal/Support/Result.h"

namespace luminal::pt2 {

/// SymPy keeps exact fractions inside integer expressions (s/2 with s even): a
/// value is a numerator and a denominator, until an op makes it an integer.
struct Fraction {
  Expr num;
  Expr den = Expr(1);
  bool isInteger() const { return den.isConstant(1); }
  Expr floor() const { return isInteger() ? num : Expr::floorDiv(num, den); }
};

/// Rounds toward zero: a plain floor or ceiling if `symbols` determine the
/// sign.
Expr truncate(const Fraction &value, const Assumptions &symbols);

/// Applies an op by SymPy's name, such as "Add", to one or more operands.
Result<Fraction> applySymOp(const std::string &op,
                            const std::vector<Fraction> &args);

/// Compares by SymPy's name, such as "Equality": an expression that is not
/// negative iff the comparison holds.
Result<Expr> compareSym(const std::string &op,
                        const std::vector<Fraction> &args);

/// Parses what SymPy's `srepr` prints for an integer expression, for instance
/// `Add(Mul(Integer(2), Symbol('s0', positive=True, integer=True)),
/// Integer(-1))`. Depth and length are limited.
Result<Expr> parseSymExpr(std::string_view text);

/// The same for a condition, `Equality(Symbol('s0', integer=True),
/// Integer(1))`: an expression that is not negative iff the condition holds.
Result<Expr> parseSymCondition(std::string_view text);

} // namespace luminal::pt2

#endif // LUMINAL_LIB_TARGET_PT2_ARCHIVE_SYMEXPR_H
