//===- LaneSums.cpp - Products with one sum per lane ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "LaneSums.h"
#include "ProductChoices.h"
#include "luminal/Dialect/LLIR/Analysis/Conditions.h"
#include "luminal/Dialect/LLIR/Analysis/ProductReads.h"
#include "luminal/Dialect/LLIR/Analysis/TransposedReads.h"

#include <set>
#include <utility>

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// Returns whether all reads of `v` at `index` are contiguous in memory along
/// `dim` or independent of it, and some depend on it.
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
  // The index at which the product is read, if it is read exactly once.
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

/// Work items for each worker, for load balance.
constexpr int64_t kUnitsEach = 4;

/// Returns the extent of the line along which a work item iterates.
static const Expr &getLine(const LaneSums &sums) {
  return *std::prev(sums.domain.extents.end(), 2);
}

/// Returns the product of all extents other than those of the lanes and the
/// line, if it is known.
static std::optional<int64_t> countLines(const LaneSums &sums) {
  Expr lines = 1;
  for (const Expr &extent : ArrayRef<Expr>(sums.domain.extents).drop_back(2))
    lines = lines * extent;
  return lines.asConstant();
}

/// Chooses how many places of a line are computed at once: their sums hide each
/// other's latency, and weights are loaded once for all. The number is the one
/// that leaves the fewest places over between the borders of a line.
static int64_t choosePlaces(KernelAnalysis &a, const LaneSums &sums,
                            const MachineModel &machine) {
  // Besides one accumulator for each place, registers hold what a line of the
  // window reads for all of them.
  int64_t most = (int64_t(machine.vectorRegisters) - 4) / 2;
  std::optional<int64_t> line = getLine(sums).asConstant();
  int64_t inner = line.value_or(0), begin = 0;
  if (line) {
    std::set<int64_t> edges =
        findEdges(a, getYielded(a.kernel)[0], sums.domain.index,
                  *std::prev(sums.domain.dims.end(), 2));
    edges.insert(*line);
    inner = 0;
    for (int64_t edge : edges)
      if (edge > begin && edge <= *line)
        inner = std::max(inner, edge - std::exchange(begin, edge));
  }
  int64_t places = 1;
  for (int64_t n : {4, 3, 5})
    if (n <= most && n <= line.value_or(n) &&
        (places == 1 || inner % n < inner % places))
      places = n;
  return places;
}

/// Chooses the channels of a work item. It takes them vector by vector at the
/// same places of the image, where they are adjacent in memory: as many as have
/// their weights in half of L1, or fewer if there are too few lines for all
/// workers.
static int64_t chooseChannels(const LaneSums &sums, int64_t places,
                              const MachineModel &machine) {
  constexpr int64_t kBytes = 4;
  std::optional<int64_t> channels = sums.domain.extents.back().asConstant();
  if (!channels || places == 1)
    return sums.lanes;
  int64_t vectors = llvm::divideCeil(*channels, sums.lanes);
  int64_t wanted = kUnitsEach * machine.workers;
  int64_t lines = std::max<int64_t>(countLines(sums).value_or(wanted), 1);
  int64_t blocks = std::max<int64_t>(
      llvm::divideCeil(wanted, lines),
      llvm::divideCeil(vectors * sums.lanes * sums.steps * kBytes,
                       machine.l1Bytes / 2));
  // All work items must have the same number.
  for (blocks = std::min(blocks, vectors); vectors % blocks;)
    ++blocks;
  return vectors / blocks * sums.lanes;
}

/// Chooses the places of a line for a work item (0: all), after its borders are
/// cut off: a part of a line if there are too few lines for all workers.
static int64_t chooseLine(const LaneSums &sums, int64_t channels,
                          const MachineModel &machine) {
  constexpr int64_t kUnknownLine = 64;
  std::optional<int64_t> line = getLine(sums).asConstant();
  if (!line)
    return kUnknownLine;
  int64_t wanted = kUnitsEach * machine.workers, count = wanted;
  std::optional<int64_t> lines = countLines(sums),
                         all = sums.domain.extents.back().asConstant();
  if (lines && all)
    count = std::max<int64_t>(*lines * llvm::divideCeil(*all, channels), 1);
  if (count >= wanted)
    return 0;
  return llvm::divideCeil(*line, llvm::divideCeil(wanted, count));
}

LoopCaseAttr llir::buildLaneSums(KernelAnalysis &a, const LaneSums &sums,
                                 const MachineModel &machine) {
  CaseBuilder c(a.kernel.getContext(), machine);
  int64_t places = choosePlaces(a, sums, machine);
  int64_t channels = chooseChannels(sums, places, machine);
  ArrayRef<SmallVector<unsigned>> groups = sums.domain.groups;
  for (const SmallVector<unsigned> &group : groups.drop_back(2))
    c.grid.push_back(c.axis(group));
  c.grid.push_back(c.axis(groups.back(), channels, sums.lanes));
  c.grid.push_back(
      c.axis(groups[groups.size() - 2], chooseLine(sums, channels, machine)));
  SmallVector<CaseBuilder::Number> numbers = {{"lanes", 1},
                                              {"unroll", sums.steps}};
  if (places > 1)
    numbers.push_back({"places", places});
  c.addForm(sums.op, "element", numbers);
  return c.build();
}

LogicalResult llir::verifyPlaces(KernelAnalysis &a, LoopCaseAttr loopCase,
                                 const MachineModel &machine,
                                 function_ref<InFlightDiagnostic()> emitError) {
  ArrayRef<LoopAxisAttr> grid = loopCase.getGrid();
  for (LoopFormAttr form : loopCase.getForms()) {
    if (form.getNumber("places", 1) == 1)
      continue;
    std::optional<LaneSums> sums = findLaneSums(a, machine);
    if (!sums || !isStraight(*sums, loopCase) || loopCase.getParts() != 1)
      return emitError() << "takes places of op" << form.getOp()
                         << " at once, which is no product in straight code "
                            "with a sum in each lane";
    if (llvm::none_of(grid, [](LoopAxisAttr axis) {
          return axis.getLanes() == 1 && axis.getBlock() != 1;
        }))
      return emitError() << "takes places of op" << form.getOp()
                         << " at once, but a unit has one";
  }
  return success();
}

bool llir::isStraight(const LaneSums &sums, LoopCaseAttr loopCase) {
  LoopFormAttr form = loopCase.getForm(getPosition(sums.op));
  return form && form.getNumber("unroll", 1) >= sums.steps &&
         llvm::any_of(loopCase.getGrid(),
                      [](LoopAxisAttr axis) { return axis.getLanes() > 1; });
}
