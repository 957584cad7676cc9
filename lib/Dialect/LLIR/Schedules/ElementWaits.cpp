//===- ElementWaits.cpp - Latency of elementwise kernels ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "SpreadTerms.h"
#include "luminal/Dialect/LLIR/Analysis/TransposedReads.h"

#include <cmath>

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// Memory latencies at the begin of a kernel: it loads the addresses of its
/// operands (maps of few elements take an H200 2.0 to 2.2 us).
static constexpr double kEnds = 1;
/// Steps of a reduction whose loads are in flight together: ptxas unrolls
/// shorter loops (64 to 256 elements, loaded one by one, take an H200 one
/// latency for each 16).
static constexpr double kStepsAhead = 16;

/// Returns values of the analysis' dims for the threads of a warp, in groups
/// along `reduced`, in the middle of the elements.
static SmallVector<std::vector<int64_t>>
placeWarp(const KernelAnalysis &a, const Domain &domain, unsigned reduced,
          unsigned team, double lanes, const KernelSizes &sizes,
          const MachineModel &machine) {
  double count = 1;
  for (const Expr &extent : domain.extents)
    count *= std::max(1.0, sizes.valueOf(extent));
  const unsigned teams = machine.warpThreads / team;
  double first = std::floor(count / 2 / teams) * teams;
  SmallVector<std::vector<int64_t>> places;
  for (unsigned thread = 0; thread < machine.warpThreads; ++thread) {
    std::vector<int64_t> &dims = places.emplace_back(a.getExtents().size(), 0);
    dims[reduced] = int64_t(thread % team * lanes);
    double rest = std::min(first + thread / team, count - 1);
    for (auto [dim, extent] :
         llvm::reverse(llvm::zip_equal(domain.dims, domain.extents))) {
      double size = std::max(1.0, sizes.valueOf(extent));
      dims[dim] = int64_t(std::fmod(rest, size));
      rest = std::floor(rest / size);
    }
  }
  return places;
}

/// Adds the L1 lines that the accesses of a reduction take in sequence: for
/// each access as many as the addresses of a warp's threads spread over.
static void addLines(LoopWork &work, KernelAnalysis &a, const Domain &domain,
                     ReductionOpInterface op, LoopCaseAttr loopCase,
                     double lanes, double steps, const KernelSizes &sizes,
                     const MachineModel &machine) {
  SmallVector<Leaf> leaves;
  unsigned reduced = 0;
  cast<BodyOpInterface>(op.getOperation())
      .getReads(
          domain.index,
          [&](const Expr &extent) {
            reduced = a.addDim(extent);
            return Expr::dim(reduced);
          },
          [&](OpOperand &operand, const Index &at) {
            a.walk(operand.get(), at, [&](const Leaf &leaf) {
              if (leaf.argument)
                leaves.push_back(leaf);
            });
          });
  const double line = double(machine.lineBytes);
  SmallVector<std::vector<int64_t>> places =
      placeWarp(a, domain, reduced,
                std::min(getTeamOf(op, loopCase), machine.warpThreads), lanes,
                sizes, machine);
  for (const Leaf &leaf : leaves) {
    double bytes =
        std::max(8u, getElementType(leaf.argument).getIntOrFloatBitWidth()) /
        8.0;
    llvm::SmallDenseSet<int64_t, 32> lines;
    for (const std::vector<int64_t> &dims : places)
      lines.insert(int64_t(
          std::floor(sizes.valueAt(leaf.address, dims) * bytes / line)));
    // An address that does not depend on the reduced index is read once.
    std::optional<Expr::Linear> linear = leaf.address.linearIn(reduced);
    bool isSame = linear && linear->stride.isConstant(0);
    work.cacheBytes += work.threads / machine.warpThreads *
                       (isSame ? 1 : steps) * line * double(lines.size());
  }
}

void llir::addElementWaits(LoopWork &work, KernelAnalysis &a,
                           LoopCaseAttr loopCase, const KernelSizes &sizes,
                           const MachineModel &machine) {
  work.threads = work.units * loopCase.getThreads();
  if (getSharedOps(a.kernel, loopCase).empty())
    work.resident = countResident(loopCase);
  work.ends = kEnds;
  work.waits = 1;
  Domain domain = findMapDomain(a);
  // How often a thread computes each value: once for each element of the
  // reductions around it.
  llvm::DenseMap<Value, double> times;
  Operation *terminator = a.kernel.getBody().front().getTerminator();
  for (Value yielded : terminator->getOperands())
    times[yielded] = 1;
  for (Operation *op = terminator->getPrevNode(); op; op = op->getPrevNode()) {
    double count = 0;
    for (Value result : op->getResults())
      count = a.isPlaced(result) ? 1.0 : std::max(count, times.lookup(result));
    auto reduction = dyn_cast<ReductionOpInterface>(op);
    LoopFormAttr form = loopCase.getForm(getPosition(op));
    // The terms of a spread reduction are computed at the same time.
    if (reduction && form && !hasSpreadTerms(form)) {
      double lanes = form.getNumber("lanes", 1),
             ahead = form.getNumber("unroll", 1);
      double steps =
          std::ceil(sizes.valueOf(reduction.getReducedExtent()) /
                    (loopCase.getParts() * getTeamOf(op, loopCase) * lanes));
      bool isElement = form.getForm().getValue() == "element";
      if (isElement)
        ahead = std::max(ahead, kStepsAhead);
      work.waits += count * std::ceil(steps / ahead);
      // A reduction of another rank is computed by each element that reads it.
      if (isElement && getTeamOf(op, loopCase) == loopCase.getTeam() &&
          hlir::getExtents(op->getResult(0)).size() == domain.index.size())
        addLines(work, a, domain, reduction, loopCase, lanes, steps, sizes,
                 machine);
      count *= std::max(1.0, steps);
    }
    for (Value operand : op->getOperands())
      times[operand] = std::max(times.lookup(operand), count);
  }
}
