//===- SimplifyQuery.h - The table behind SimplifyMemo --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cache behind SimplifyMemo: one table for all threads, filled while a
// SimplifyMemo lives.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_SUPPORT_SIMPLIFYQUERY_H
#define LUMINAL_LIB_SUPPORT_SIMPLIFYQUERY_H

#include "luminal/Support/Expr.h"

namespace luminal {

/// An expression and everything that its simplification depends on: equal
/// queries have equal results.
struct SimplifyQuery {
  SimplifyQuery(const Expr &e, const std::vector<Expr> &extents,
                const std::map<std::string, SymbolRange> &symbols);

  bool operator==(const SimplifyQuery &other) const {
    return e == other.e && extents == other.extents && symbols == other.symbols;
  }

  Expr e;
  std::vector<Expr> extents;
  std::map<std::string, SymbolRange> symbols;
  size_t hash;
};

/// Whether results are cached, that is, a SimplifyMemo lives.
bool keepsSimplified();
std::optional<Expr> findSimplified(const SimplifyQuery &query);
void keepSimplified(SimplifyQuery query, const Expr &answer);

} // namespace luminal

#endif // LUMINAL_LIB_SUPPORT_SIMPLIFYQUERY_H
