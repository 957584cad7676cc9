//===- FusionWork.cpp - The work of a fusion group ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Fusion.h"
#include "luminal/Dialect/LLIR/Utils/CodeBudget.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// Returns how many elements of a kernel are emitted side by side and share the
/// evaluation of a value, as the real and imaginary part of a complex number
/// do.
double FusionPlan::countBeside(const Group &group, const Access &access) const {
  ArrayRef<Expr> extents = group.spaces[access.space].extents;
  if (chipBytes == 0 || access.space != kMainSpace ||
      group.loopsOf != GroupLoops::Elements || extents.size() < 2 ||
      access.map.usesDim(extents.size() - 1))
    return 1;
  std::optional<int64_t> few = extents.back().asConstant();
  return few && *few >= 1 && *few <= kMostInterleaved ? double(*few) : 1;
}

double FusionPlan::countEvaluations(const Group &group, Value value) const {
  double evaluations = 0;
  for (const Access &access : group.accesses.lookup(value)) {
    const IndexSpace &space = group.spaces[access.space];
    evaluations +=
        space.weight * nominalSize(space.extents) / countBeside(group, access);
  }
  return evaluations;
}

/// Returns the operations that the group does with the evaluated elements of
/// `value`.
double FusionPlan::countWork(const Group &group, Value value) const {
  double work = 0;
  for (const Access &access : group.accesses.lookup(value)) {
    const IndexSpace &space = group.spaces[access.space];
    double each = space.work;
    // The product after the rows multiplies each element with all of its
    // columns.
    if (group.isRowSpace(access.space) && canStream(group, group.product))
      each = nominalValue(hlir::getExtents(group.product->getResult(0)).back(),
                          symbols);
    work += each * space.weight * nominalSize(space.extents);
  }
  return work;
}
