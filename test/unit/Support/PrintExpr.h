//===- PrintExpr.h - Expressions as text in GoogleTest's messages ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_TEST_UNIT_SUPPORT_PRINTEXPR_H
#define LUMINAL_TEST_UNIT_SUPPORT_PRINTEXPR_H

#include "luminal/Support/Expr.h"
#include <ostream>

namespace luminal {
inline void PrintTo(const Expr &e, std::ostream *os) { *os << e.str(); }
} // namespace luminal

#endif // LUMINAL_TEST_UNIT_SUPPORT_PRINTEXPR_H
