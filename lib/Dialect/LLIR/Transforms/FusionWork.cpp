//===- FusionWork.cpp - What a group evaluates, and what that takes -------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Fusion.h"
#include "luminal/Dialect/LLIR/Utils/CodeBudget.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// The elements of a kernel that are emitted beside each other and evaluate a
/// value together, as the parts of a complex number do what both are made of.
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

/// Operations that the group does with what it evaluates of `value`.
double FusionPlan::countWork(const Group &group, Value value) const {
  double work = 0;
  for (const Access &access : group.accesses.lookup(value)) {
    const IndexSpace &space = group.spaces[access.space];
    double each = space.work;
    // The product behind the rows multiplies each of their elements with its
    // columns.
    if (group.isRowSpace(access.space) && canStream(group, group.product))
      each = nominalValue(hlir::getExtents(group.product->getResult(0)).back(),
                          symbols);
    work += each * space.weight * nominalSize(space.extents);
  }
  return work;
}
