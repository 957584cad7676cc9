//===- ElementReads.cpp - How maps read memory on a CPU -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ElementReads.h"
#include "Forms.h"
#include "luminal/Dialect/LLIR/Analysis/AlignedRuns.h"
#include "luminal/Dialect/LLIR/Analysis/TransposedReads.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"
#include "luminal/Dialect/LLIR/Utils/CodeBudget.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

std::optional<TransposedBlock>
llir::findTransposedBlock(KernelAnalysis &a, const Domain &domain,
                          const MachineModel &machine) {
  constexpr int64_t kMostColumns = 128;
  if (llvm::any_of(KernelOp(a.kernel).getOps(),
                   [](Operation &op) { return hasLoops(&op); }))
    return std::nullopt;
  TransposedReads reads =
      findTransposedReads(a, domain, ClampedReads::Contiguous);
  TransposedBlock block{reads.axis, machine.lineBytes, kMostColumns};
  for (Operation *op : reads.ops)
    a.walk(op->getResult(0), domain.index, [&](const Leaf &leaf) {
      auto inColumn = leaf.address.linearIn(domain.dims.back());
      std::optional<int64_t> stride =
          inColumn ? inColumn->stride.asConstant() : std::nullopt;
      int64_t bytes = llvm::divideCeil(
          getElementType(leaf.argument).getIntOrFloatBitWidth(), 8);
      block.rows = std::min(block.rows, machine.lineBytes / bytes);
      if (stride)
        block.columns = std::min(block.columns,
                                 countLinesInCache(*stride * bytes, machine));
    });
  auto isShort = [&](size_t axis, int64_t most) {
    std::optional<int64_t> n = domain.extents[axis].asConstant();
    return n && *n <= most;
  };
  // Short axes fit into the cache without blocking.
  if (reads.ops.empty() || isShort(domain.dims.size() - 1, block.columns) ||
      isShort(block.axis, 1))
    return std::nullopt;
  block.columns = llvm::bit_floor(uint64_t(block.columns));
  return block;
}

/// The time to load one lane, in vector operations.
static constexpr double kLookUp = 2;

/// Returns whether the elements of a vector are loaded one by one because their
/// index is divided.
static bool isLookedUp(const Expr &address, unsigned dim, unsigned lanes,
                       KernelAnalysis &a) {
  std::optional<int64_t> step =
      findAlignedStep(address, dim, lanes, a.getAssumptions());
  return step != 0 && step != 1;
}

/// Returns the addresses that are not linear along the last axis.
static SmallVector<Expr> findDivided(KernelAnalysis &a, const Domain &domain) {
  SmallVector<Expr> divided;
  for (Value yielded : getYielded(a.kernel))
    a.walk(yielded, domain.index, [&](const Leaf &leaf) {
      if (leaf.argument && !leaf.address.linearIn(domain.dims.back()))
        divided.push_back(leaf.address);
    });
  return divided;
}

/// Returns whether `e` contains a quotient or a remainder of the dim.
static bool divides(const Expr &e, unsigned dim) {
  if (!e.usesDim(dim))
    return false;
  if (e.kind() == Expr::Kind::FloorDiv || e.kind() == Expr::Kind::Mod)
    return true;
  return llvm::any_of(e.operands(),
                      [&](const Expr &x) { return divides(x, dim); });
}

double llir::countLookUps(KernelAnalysis &a, const Domain &domain,
                          unsigned lanes) {
  const unsigned dim = domain.dims.back();
  // A line of known length is cut where an index turns around.
  const bool isCut = domain.extents.back().asConstant().has_value();
  auto lookedUp = llvm::count_if(findDivided(a, domain), [&](const Expr &at) {
    return !(isCut && !divides(at, dim)) && isLookedUp(at, dim, lanes, a);
  });
  return kLookUp * lanes * double(lookedUp);
}

unsigned llir::chooseElementLanes(KernelAnalysis &a, const Domain &domain,
                                  unsigned most) {
  const unsigned dim = domain.dims.back();
  SmallVector<Expr> divided = findDivided(a, domain);
  // What is one element in the longest vectors is so in all.
  llvm::erase_if(divided, [&](const Expr &address) {
    return findAlignedStep(address, dim, most, a.getAssumptions()) == 0;
  });
  const double operations = double(getElementCost(a.kernel) + 1);
  unsigned best = most;
  double least = 0;
  for (unsigned lanes = most; lanes > 1; lanes /= 2) {
    auto lookedUp = llvm::count_if(divided, [&](const Expr &address) {
      return !isAlignedRun(address, dim, lanes, a.getAssumptions());
    });
    double price = operations / lanes + kLookUp * double(lookedUp);
    if (lanes < most && price >= least)
      continue;
    least = price;
    best = lanes;
  }
  return best;
}

unsigned llir::chooseInterleavedLanes(KernelAnalysis &a, const Domain &domain,
                                      unsigned most) {
  const size_t last = domain.dims.size() - 1;
  std::optional<int64_t> few =
      domain.dims.size() > 1 ? domain.extents[last].asConstant() : std::nullopt;
  if (!few || *few < 2 || *few > kMostInterleaved ||
      llvm::any_of(KernelOp(a.kernel).getOps(),
                   [](Operation &op) { return hasLoops(&op); }))
    return 1;
  const unsigned dim = domain.dims[last - 1];
  bool isNear = true;
  auto check = [&](const Leaf &leaf) {
    if (!leaf.argument || !leaf.address.usesDim(dim))
      return;
    auto linear = leaf.address.linearIn(dim);
    auto stride = linear ? linear->stride.asConstant() : std::nullopt;
    isNear &= stride && *stride > 0 && *stride <= kMostInterleaved;
  };
  for (int64_t i = 0; i < *few; ++i) {
    Index index = domain.index;
    for (Expr &at : index)
      at = a.simplify(
          at.substitute([&](const Expr &leaf) -> std::optional<Expr> {
            if (leaf.asDim() != domain.dims[last])
              return std::nullopt;
            return Expr(i);
          }));
    for (Value yielded : getYielded(a.kernel))
      a.walk(yielded, index, check);
  }
  unsigned lanes = chooseLanes(domain.extents[last - 1], most);
  return isNear && int64_t(lanes) > *few ? lanes : 1;
}

int64_t llir::countInterleaved(LoopCaseAttr loopCase, ArrayRef<Expr> extents) {
  ArrayRef<LoopAxisAttr> grid = loopCase.getGrid();
  if (grid.size() < 2 || loopCase.getThreads())
    return 1;
  LoopAxisAttr last = grid.back(), before = grid[grid.size() - 2];
  std::optional<int64_t> few = extents.back().asConstant();
  bool areBeside = last.getBlock() == 0 && last.getLanes() == 1 &&
                   last.getDims().size() == 1 &&
                   last.getDims()[0] + 1 == extents.size() &&
                   before.getLanes() > 1 && few && *few <= kMostInterleaved;
  return areBeside ? *few : 1;
}
