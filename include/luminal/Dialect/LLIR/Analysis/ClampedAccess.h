//===- ClampedAccess.h - Neighbours in memory up to a bound -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Concatenation and padding read each operand at an index that is clamped to
// it, such as min(d, 999), and choose afterwards. Where a vector along `d` ends
// at the bound or before, or begins after it, its elements are neighbours in
// memory, or all one element.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_ANALYSIS_CLAMPEDACCESS_H
#define LUMINAL_DIALECT_LLIR_ANALYSIS_CLAMPEDACCESS_H

#include "luminal/Support/Expr.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace luminal {

/// An address, in elements: rest + clamp(dim + offset).
struct ClampedAccess {
  struct Clamp {
    /// min(x, bound), or max(x, bound).
    bool isMin;
    Expr bound;
  };
  Expr offset, rest;
  /// The innermost first; one of each kind at most, and the least bound is not
  /// above the other.
  llvm::SmallVector<Clamp, 2> clamps;

  /// Whether no clamp changes some elements only of a vector of `lanes` at a
  /// multiple of `lanes`, and the dim, of `extent`, has such vectors on both
  /// sides of each bound.
  bool isWholeFor(unsigned lanes, const Expr &extent,
                  const Assumptions &assumptions) const;
};

/// `address` as such along `dim`; nothing where it is linear or anything else.
std::optional<ClampedAccess> findClampedAccess(const Expr &address,
                                               unsigned dim,
                                               const Assumptions &assumptions);

} // namespace luminal

#endif // LUMINAL_DIALECT_LLIR_ANALYSIS_CLAMPEDACCESS_H
