//===- UpdateForms.cpp - Updates in any order -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A scatter in place whose updates may run in any order: the grid cuts the
// updates, so all work is shared. If rows are long and numerous, a thread group
// takes a row and loads its index once, with `unroll` vectors for each thread
// in sequence. If many updates go to few integers (`private`), a block counts
// in shared memory before it adds to the result.
//
//===----------------------------------------------------------------------===//

#include "Forms.h"
#include "Threads.h"
#include "luminal/Dialect/LLIR/Analysis/UpdateOrder.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

static bool fits(KernelOp kernel) { return bool(getOnlyScatter(kernel)); }

/// The total vectors, and the vectors of a row, from which a thread group takes
/// each row.
static constexpr int64_t kManyVectors = 1 << 18, kLongRow = 8;
/// Vectors in flight of a thread, and the most rounds.
static constexpr int64_t kVectorsEach = 4, kMostRounds = 8;

/// The largest destination that gets counters in shared memory, and the fewest
/// updates for each counter; threads of a block; the updates of a block; and
/// the number of blocks among which fewer updates are divided.
static constexpr int64_t kMostCounters = 4096, kUpdatesEach = 64;
static constexpr int64_t kCountingThreads = 256, kCountedUpdates = 1 << 14,
                         kCountingBlocks = 512;

/// Returns the number of counters in shared memory with which a block can sum
/// separately: for integer sums into a destination of known size.
static std::optional<int64_t> getCounters(ScatterOp op) {
  SmallVector<Expr> extents = hlir::getExtents(op.getDest());
  std::optional<int64_t> counters =
      extents.size() == 1 ? extents[0].asConstant() : std::nullopt;
  Type type = getElementTypeOrSelf(op.getUpdates());
  if (op.getCombine() != hlir::Combine::Add ||
      !(type.isInteger(32) || type.isInteger(64)) || !counters ||
      *counters > kMostCounters)
    return std::nullopt;
  return counters;
}

/// Returns the dims of the updates. Dims of the indices are not joined with
/// dims of the rows: all elements of a row have one index.
static Domain findUpdates(KernelAnalysis &a, ScatterOp op, Accesses *accesses) {
  Index counts = getExtentsOf(op.getIndices());
  unsigned row = a.addDim(hlir::getExtents(op.getDest())[0]);
  MovedResult result;
  // If the source is refused, the emitter reports the error; any grid will do
  // here.
  bool isMoved = bool(findSource(a, getYielded(a.kernel)[0], result));
  auto getTarget = [&](const Index &index) {
    Index at = {Expr::dim(row)};
    at.insert(at.end(), index.begin() + counts.size(), index.end());
    return result.getIndex(a, at);
  };
  Domain domain = findDomain(
      a, hlir::getExtents(op.getUpdates()),
      [&](const Index &index, function_ref<void(const Leaf &)> visit) {
        a.walk(op.getUpdates(), index, visit);
        Index update(index.begin(), index.begin() + counts.size());
        visit({nullptr, linearize(update, counts)});
        if (isMoved)
          visit({nullptr, a.getResultAddress(0, getTarget(index))});
      });
  // Without updates every address is 0, and all dims were joined.
  SmallVector<SmallVector<unsigned>> groups;
  for (ArrayRef<unsigned> group : domain.groups) {
    size_t ofIndices = llvm::count_if(
        group, [&](unsigned dim) { return dim < counts.size(); });
    for (ArrayRef<unsigned> part :
         {group.take_front(ofIndices), group.drop_front(ofIndices)})
      if (!part.empty())
        groups.emplace_back(part);
  }
  if (groups.size() != domain.groups.size())
    domain = makeDomain(a, hlir::getExtents(op.getUpdates()), groups);
  if (accesses) {
    accesses->addReads(op.getUpdates(), domain.index);
    if (isMoved)
      accesses->addResult(0, getTarget(domain.index));
  }
  return domain;
}

static SmallVector<LoopCaseAttr>
propose(KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
        const MachineModel &machine, SmallVectorImpl<Reporter::Arg> &why) {
  ScatterOp op = getOnlyScatter(kernel);
  // On a CPU, columns are divided among a few workers instead.
  if (!op || !machine.blockThreads || !kernel.getInPlace())
    return {};
  KernelAnalysis a(kernel, ranges);
  if (!isOrderFree(op, a.getAssumptions())) {
    why.push_back({"in order because", "equal indices may set unequal rows"});
    return {};
  }
  Accesses accesses(a);
  Domain domain = findUpdates(a, op, &accesses);
  CaseBuilder c(kernel.getContext(), machine);
  unsigned lanes = 1, rank = getRank(op.getIndices());
  // Atomics handle one element at a time.
  if (op.getCombine() == hlir::Combine::Set && !domain.groups.empty() &&
      domain.groups.back().front() >= rank)
    lanes = accesses.chooseLanes(domain.dims.back(), domain.extents.back(),
                                 machine);
  std::optional<int64_t> total =
      product({domain.extents.begin(), domain.extents.end()}).asConstant();
  std::optional<int64_t> counters = getCounters(op);
  if (total && counters && domain.groups.size() == 1 &&
      *total >= kUpdatesEach * *counters && *total >= kCountedUpdates) {
    int64_t block = std::clamp<int64_t>(
        llvm::alignTo(*total / kCountingBlocks, kCountingThreads),
        kCountingThreads, kCountedUpdates);
    c.team = c.threads = kCountingThreads;
    c.grid.push_back(c.axis(domain.groups[0], block));
    c.addForm(op, "unordered", {{"private", *counters}, {"unroll", 4}});
    why.push_back({"form", "updates in any order, counted by each block"});
    return {c.build()};
  }
  if (total)
    total = *total / lanes;
  std::optional<int64_t> vectors;
  if (lanes > 1)
    vectors = domain.extents.back().asConstant();
  if (vectors)
    vectors = llvm::divideCeil(*vectors, lanes);
  bool isTeam =
      vectors && *vectors >= kLongRow && total && *total >= kManyVectors;
  if (isTeam)
    c.team = std::min(machine.warpThreads,
                      chooseTeam(vectors, std::nullopt, kVectorsEach, machine));
  for (auto [i, group] : llvm::enumerate(domain.groups))
    c.grid.push_back(i + 1 < domain.groups.size()
                         ? c.axis(group)
                         : c.axis(group, isTeam ? 0 : lanes, lanes));
  c.threads = chooseThreads(total, c.team, machine);
  SmallVector<CaseBuilder::Number> numbers;
  if (isTeam)
    numbers.push_back({"unroll", chooseRounds(vectors, c.team, kMostRounds)});
  c.addForm(op, "unordered", numbers);
  why.push_back({"form", "updates in any order"});
  return {c.build()};
}

static LoopWork count(KernelOp kernel,
                      const KernelAnalysis::SymbolRanges &ranges,
                      LoopCaseAttr loopCase, const MachineModel &machine) {
  KernelAnalysis a(kernel, ranges);
  KernelSizes sizes(a);
  LoopWork work;
  ScatterOp op = getOnlyScatter(kernel);
  work.units = sizes.countUnits(loopCase, hlir::getExtents(op.getUpdates()));
  work.operations = countScalarLoss(loopCase, machine) *
                    (sizes.countElements(op.getUpdates()) +
                     sizes.countOperations(op.getUpdates()));
  // Rows without updates are not accessed.
  work.memoryBytes =
      2 * sizes.countBytes(op.getUpdates()) + sizes.countBytes(op.getIndices());
  return work;
}

static LogicalResult verify(KernelOp kernel,
                            const KernelAnalysis::SymbolRanges &ranges,
                            LoopCaseAttr loopCase, const MachineModel &machine,
                            function_ref<InFlightDiagnostic()> emitError) {
  ScatterOp op = getOnlyScatter(kernel);
  if (!op)
    return emitError() << "has updates in any order, but the only op with "
                          "loops is not a scatter";
  if (!kernel.getInPlace())
    return emitError() << "has updates in any order, but the kernel is not in "
                          "place";
  if (!isOrderFree(op, Assumptions{KernelAnalysis::SymbolRanges(ranges)}))
    return emitError() << "has updates in any order, but equal indices may set "
                          "unequal rows";
  if (!loopCase.getStream().empty())
    return emitError()
           << "has a stream, which the form unordered does not take";
  unsigned rank = getRank(op.getIndices());
  for (LoopAxisAttr axis : loopCase.getGrid()) {
    if (axis.getDims().front() < rank && axis.getDims().back() >= rank)
      return emitError() << "joins d" << rank - 1 << ", a dim of the indices, "
                         << "and d" << rank << ", one of the rows";
    if (axis.getLanes() > 1 && axis.getDims().front() < rank)
      return emitError() << "has lanes along d" << axis.getDims().front()
                         << ", in each of which is another index";
    if (axis.getLanes() > 1 && op.getCombine() != hlir::Combine::Set)
      return emitError() << "has lanes, but atomics take one element each";
  }
  const int64_t counters =
      loopCase.getForm(getPosition(op)).getNumber("private", 0);
  if (counters &&
      (getCounters(op) != counters || loopCase.getGrid().size() != 1 ||
       loopCase.getGrid()[0].getBlock() == 1 || loopCase.getTeam() == 1 ||
       loopCase.getTeam() != loopCase.getThreads()))
    return emitError()
           << "counts in shared memory, which requires a thread group of all "
              "threads of a block along one axis, and a counter "
              "for each of up to "
           << kMostCounters << " integers";
  if (!counters && loopCase.getTeam() > 1 &&
      (loopCase.getGrid().empty() ||
       loopCase.getGrid().back().getBlock() == 1 ||
       loopCase.getGrid().back().getDims().front() < rank))
    return emitError()
           << "has updates in any order, of which a thread group of "
           << loopCase.getTeam() << " threads shares only rows";
  if (failed(verifyScatterForms(
          op, loopCase, {{"unroll", 1, 16}, {"private", 0, kMostCounters}},
          emitError)))
    return failure();
  return verifyAxes(loopCase.getGrid(), hlir::getExtents(op.getUpdates()), 0,
                    emitError);
}

static const StringRef kNames[] = {"unordered"};
const LoopForms llir::kUpdateForms = {"updates", kNames, fits,
                                      propose,   count,  verify};
