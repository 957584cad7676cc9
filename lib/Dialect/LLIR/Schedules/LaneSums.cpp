//===- LaneSums.cpp - Products of which each lane has its own -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LaneSums.h"
#include "ProductChoices.h"
#include "luminal/Dialect/LLIR/Analysis/ProductReads.h"
#include "luminal/Dialect/LLIR/Analysis/TransposedReads.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// Whether all of `v` at `index` is in memory as the lanes of `dim` are, and
/// some of it differs between them.
static bool isSideBySide(KernelAnalysis &a, Value v, const Index &index,
                         unsigned dim) {
  bool isAll = true, isAny = false;
  a.walk(v, index, [&](const Leaf &leaf) {
    std::optional<Expr::Linear> linear = leaf.address.linearIn(dim);
    if (!linear ||
        !(linear->stride.isConstant(0) || linear->stride.isConstant(1)))
      isAll = false;
    else
      isAny |= bool(leaf.argument) && linear->stride.isConstant(1);
  });
  return isAll && isAny;
}

std::optional<LaneSums> llir::findLaneSums(KernelAnalysis &a,
                                           const MachineModel &machine) {
  ProductOpInterface op = getOnlyProduct(a.kernel);
  if (!op || !canTile(machine) || a.kernel.getNumResults() != 1)
    return std::nullopt;
  int64_t steps = countStraightSteps(op);
  if (steps < 2)
    return std::nullopt;
  Domain domain = findMapDomain(a);
  unsigned most = machine.getLanes(32);
  if (domain.dims.size() < 2 || !getElementType(op->getResult(0)).isF32() ||
      !a.getAssumptions().provablyLessEqual(most, domain.extents.back()))
    return std::nullopt;
  // Where the product is read: once, at one index.
  std::optional<Index> at;
  unsigned reads = 0;
  a.walk(getYielded(a.kernel)[0], domain.index, nullptr,
         [&](Value v, const Index &index) {
           if (v.getDefiningOp() != op.getOperation())
             return;
           ++reads;
           at = index;
         });
  if (reads != 1)
    return std::nullopt;
  unsigned lane = domain.dims.back();
  at->push_back(Expr::dim(a.addDim(op.getReducedExtent())));
  Index lhs = a.mapIndex(op.getLhsMap(), *at),
        rhs = a.mapIndex(op.getRhsMap(), *at);
  bool isOwn = a.variesOver(op.getLhs(), lhs, lane) &&
               a.variesOver(op.getRhs(), rhs, lane);
  if (!isOwn || !isSideBySide(a, op.getLhs(), lhs, lane) ||
      !isSideBySide(a, op.getRhs(), rhs, lane))
    return std::nullopt;
  return LaneSums{op, domain, steps, most};
}

/// Places of a line that a unit has, 0: all, where its borders are cut off. Of
/// few lines it has a part, so that there is work for all workers.
static int64_t chooseLine(const LaneSums &sums, const MachineModel &machine) {
  constexpr int64_t kUnitsEach = 4, kUnknownLine = 64;
  ArrayRef<Expr> extents = sums.domain.extents;
  std::optional<int64_t> line = extents[extents.size() - 2].asConstant();
  if (!line)
    return kUnknownLine;
  Expr units = Expr::ceilDiv(extents.back(), sums.lanes);
  for (const Expr &extent : extents.drop_back(2))
    units = units * extent;
  int64_t wanted = kUnitsEach * machine.workers;
  int64_t count = std::max<int64_t>(units.asConstant().value_or(wanted), 1);
  if (count >= wanted)
    return 0;
  return llvm::divideCeil(*line, llvm::divideCeil(wanted, count));
}

LoopCaseAttr llir::buildLaneSums(KernelAnalysis &a, const LaneSums &sums,
                                 const MachineModel &machine) {
  CaseBuilder c(a.kernel.getContext(), machine);
  ArrayRef<SmallVector<unsigned>> groups = sums.domain.groups;
  for (const SmallVector<unsigned> &group : groups.drop_back(2))
    c.grid.push_back(c.axis(group));
  c.grid.push_back(c.axis(groups.back(), sums.lanes, sums.lanes));
  c.grid.push_back(
      c.axis(groups[groups.size() - 2], chooseLine(sums, machine)));
  c.addForm(sums.op, "element", {{"lanes", 1}, {"unroll", sums.steps}});
  return c.build();
}

bool llir::isStraight(const LaneSums &sums, LoopCaseAttr loopCase) {
  LoopFormAttr form = loopCase.getForm(getPosition(sums.op));
  return form && form.getNumber("unroll", 1) >= sums.steps &&
         llvm::any_of(loopCase.getGrid(),
                      [](LoopAxisAttr axis) { return axis.getLanes() > 1; });
}
