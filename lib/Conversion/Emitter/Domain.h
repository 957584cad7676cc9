//===- Domain.h - Iteration spaces with adjacent dims joined --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_CONVERSION_EMITTER_DOMAIN_H
#define LUMINAL_LIB_CONVERSION_EMITTER_DOMAIN_H

#include "Emitter.h"

namespace luminal {

/// A row-major iteration space as few loops: unit dims are dropped, and
/// adjacent dims are joined wherever every address stays linear.
struct Domain {
  /// Dims of the emitter, outermost first; none for a single point.
  llvm::SmallVector<unsigned> dims;
  llvm::SmallVector<Expr> extents;
  /// The index in the original space, over `dims`.
  Index index;
};

/// What is read at an index of the original space.
using WalkAt = llvm::function_ref<void(const Index &,
                                       llvm::function_ref<void(const Leaf &)>)>;

/// Joins the dims of `extents`.
Domain makeDomain(Emitter &e, llvm::ArrayRef<Expr> extents, WalkAt walk);

/// The leaves of a domain in terms of its dims.
llvm::SmallVector<Leaf> getLeaves(const Domain &domain, WalkAt walk);

} // namespace luminal

#endif // LUMINAL_LIB_CONVERSION_EMITTER_DOMAIN_H
