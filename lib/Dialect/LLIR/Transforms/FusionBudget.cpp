//===- FusionBudget.cpp - How much code a group has -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The emitter computes a value once in each loop that needs it, and there once
// for each index at which it is read: so a value that a group computes counts
// once for each access and each loop, times the copies that the loop has of its
// body. When a value is visited all its accesses are known, so the count is
// right when it is made.
//
//===----------------------------------------------------------------------===//

#include "Fusion.h"
#include "luminal/Dialect/LLIR/Utils/Values.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

int64_t Group::countCopies(Value value) const {
  int64_t copies = 0;
  auto it = accesses.find(value);
  if (it == accesses.end())
    return copies;
  for (const Access &access : it->second)
    for (unsigned loop : access.loops)
      copies += loops[loop];
  return copies;
}

int64_t Group::getCodeWith(Value value) const {
  auto op = cast<CodeOpInterface>(value.getDefiningOp());
  int64_t copies = op.getLoopCopies();
  if (!copies)
    copies = countCopies(value);
  return code * op.getReaderCopies() + op.getCodeSize() * copies;
}

void Group::addCode(Value value) {
  code = getCodeWith(value);
  int64_t factor =
      cast<CodeOpInterface>(value.getDefiningOp()).getReaderCopies();
  for (int64_t &copies : loops)
    copies *= factor;
}

/// Whether a group stays within its budget with one more value. A value with
/// several readers is a good place to split a kernel: once it is written, the
/// ops before it are computed once and not for each reader. But what indices
/// alone tell, as a mask of attention, is more to read than to compute.
Decision FusionPlan::fitsBudget(const Group &group, Value value) const {
  if (group.inlined.empty())
    return Decision::accept(); // a single op is never refused
  int64_t limit = codeBudget;
  // To save a copy in memory, some more code is allowed.
  if (cast<BodyOpInterface>(value.getDefiningOp()).isFree() ||
      skipWidening(value) != value || ofIndices.contains(value))
    limit = 2 * codeBudget;
  else if (!llvm::all_equal(value.getUsers()))
    limit = codeBudget / 2;
  int64_t code = group.getCodeWith(value);
  if (code <= limit)
    return Decision::accept();
  return Decision::refuseAbove("the code of the reader would go beyond its "
                               "budget",
                               code, limit, &group);
}

Decision FusionPlan::fitBudgets(Value value) const {
  auto it = readers.find(value);
  if (it != readers.end())
    for (const Group *group : it->second)
      if (Decision fits = fitsBudget(*group, value); !fits)
        return fits;
  return Decision::accept();
}
