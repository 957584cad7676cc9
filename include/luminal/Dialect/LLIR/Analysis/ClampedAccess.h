//===- ClampedAccess.h - Contiguous accesses behind clamps ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Concatenation and padding read each operand at an index that is clamped to
// its extent, such as min(d, 999), and select afterwards. If a vector along `d`
// ends at the bound or before it, or begins after it, its elements are
// contiguous in memory, or all are the same element.
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
  /// The innermost clamp first; at most one of each kind, and the lower bound
  /// does not exceed the upper one.
  llvm::SmallVector<Clamp, 2> clamps;

  /// Returns whether each clamp changes all or none of the elements of every
  /// vector of `lanes` elements that begins at a multiple of `lanes`, and the
  /// dim, of `extent`, has such vectors on both sides of each bound.
  bool isWholeFor(unsigned lanes, const Expr &extent,
                  const Assumptions &assumptions) const;
};

/// Matches `address` as such an access along `dim`; std::nullopt if it is
/// linear or has another form.
std::optional<ClampedAccess> findClampedAccess(const Expr &address,
                                               unsigned dim,
                                               const Assumptions &assumptions);

} // namespace luminal

#endif // LUMINAL_DIALECT_LLIR_ANALYSIS_CLAMPEDACCESS_H
