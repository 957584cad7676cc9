//===- FusionBudget.cpp - The code budget of fusion -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The emitter computes a value once in each loop that needs it, and once for
// each index at which the loop reads it. So a value that a group computes
// counts once for each access and each loop, times the copies of its body that
// the loop has. When the plan visits a value, all accesses to it are known, so
// the count is final.
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

/// Returns whether a group stays within its budget with one more value. A value
/// with several readers is a good place to split a kernel: once it is written,
/// the ops before it are computed once and not for each reader. The limit is
/// higher for values that depend on indices alone, such as an attention mask,
/// because reading them costs more than computing them.
Decision FusionPlan::fitsBudget(const Group &group, Value value) const {
  if (group.inlined.empty())
    return Decision::accept(); // a single op is never refused
  int64_t limit = codeBudget;
  // More code is allowed if it saves a copy in memory.
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
