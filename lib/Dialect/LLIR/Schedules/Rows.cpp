//===- Rows.cpp - Kernels of reductions over rows -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Rows.h"
#include "Threads.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// The most reductions in one walk, because their states are in registers.
static constexpr size_t kMostJoined = 4;

Decision RowReductions::check(const KernelAnalysis &a, bool mayMove) {
  if (reduces.empty())
    return Decision::refuse("the kernel has no reduction of rows");
  SmallVector<Expr> domain(extents);
  domain.push_back(extent);
  for (Operation &op : kernel.getOps()) {
    if (!hasLoops(&op))
      continue;
    if (!isa<RowReductionOpInterface>(op))
      return Decision::refuse("an op has other loops", &op);
    if (hlir::getExtents(op.getOperand(0)) != domain)
      return Decision::refuse("a reduction is of other rows than the first",
                              &op);
  }
  results.clear();
  if (Decision found = findRowResults(a, domain, results); !found)
    return found;
  for (const MovedResult &result : results)
    if (result.toResult && !mayMove)
      return Decision::refuse("a result is stored in another order than its "
                              "rows",
                              result.source.getDefiningOp());
  return Decision::accept();
}

Index llir::append(Index index, unsigned dim) {
  index.push_back(Expr::dim(dim));
  return index;
}

Domain RowReductions::findDomain(KernelAnalysis &a, unsigned column) const {
  return luminal::findDomain(
      a, extents,
      [&](const Index &index, function_ref<void(const Leaf &)> visit) {
        for (RowReductionOpInterface op : reduces)
          a.walk(op->getResult(0), index, visit);
        for (auto [i, result] : llvm::enumerate(results)) {
          Index at = isRowLevel(result.source) ? index : append(index, column);
          a.walk(result.source, at, visit);
          visit({nullptr, a.getResultAddress(i, result.getIndex(a, at))});
        }
      });
}

//===----------------------------------------------------------------------===//
// Walks
//===----------------------------------------------------------------------===//

llvm::SetVector<Operation *> llir::findNeeded(Operation *op) {
  llvm::SetVector<Operation *> needed, seen;
  seen.insert(op);
  for (size_t i = 0; i < seen.size(); ++i)
    for (Value operand : seen[i]->getOperands())
      if (Operation *def = operand.getDefiningOp()) {
        seen.insert(def);
        if (hasLoops(def))
          needed.insert(def);
      }
  return needed;
}

void Walks::add(RowReductionOpInterface op, int64_t lanes) {
  SmallVector<Leaf> reads;
  for (Value operand : op->getOperands())
    a.walk(operand, append(domain.index, column), [&](const Leaf &leaf) {
      if (leaf.argument && leaf.address.usesDim(column))
        reads.push_back(leaf);
    });
  llvm::SetVector<Operation *> needed = findNeeded(op);
  size_t begin = walks.size();
  auto needs = [&](RowReductionOpInterface other) {
    return needed.contains(other);
  };
  while (begin > 0 && llvm::none_of(walks[begin - 1].ops, needs))
    --begin;
  auto isRead = [&](const Leaf &leaf) {
    return llvm::any_of(reads, [&](const Leaf &other) {
      return leaf.argument == other.argument && leaf.address == other.address;
    });
  };
  for (Walk &walk : llvm::drop_begin(walks, begin))
    if (walk.lanes == lanes && walk.ops.size() < kMostJoined &&
        llvm::any_of(walk.reads, isRead)) {
      walk.ops.push_back(op);
      llvm::append_range(walk.reads, reads);
      return;
    }
  walks.push_back({{op}, lanes, std::move(reads)});
}

void Walks::addForms(CaseBuilder &c,
                     function_ref<void(const Walk &, size_t)> addForm,
                     SmallVectorImpl<Reporter::Arg> &why) {
  for (auto [i, walk] : llvm::enumerate(walks)) {
    addForm(walk, i);
    std::string with = getOpName(walk.ops.front());
    for (RowReductionOpInterface op : llvm::drop_begin(walk.ops)) {
      c.addForm(op, "pass", {}, {{"with", with}});
      why.push_back({"joins the walk of " + with, describe(op)});
    }
  }
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

bool llir::shouldRunAcross(KernelAnalysis &a, const RowReductions &rows,
                           const Domain &domain, unsigned column,
                           unsigned lanes,
                           SmallVectorImpl<Reporter::Arg> &why) {
  if (domain.dims.empty() || lanes == 1)
    return false;
  unsigned row = domain.dims.back();
  unsigned along = 0, alike = 0, across = 0;
  // Loaded indices are dims of their own.
  auto isLookedUp = [&](const Expr &address) {
    for (unsigned dim = 0; dim < a.getExtents().size(); ++dim)
      if (address.usesDim(dim) && dim != column &&
          !llvm::is_contained(domain.dims, dim))
        return true;
    return false;
  };
  for (RowReductionOpInterface op : rows.reduces) {
    bool varies =
        a.variesOver(op->getOperand(0), append(domain.index, column), column);
    a.walk(op->getOperand(0), append(domain.index, column),
           [&](const Leaf &leaf) {
             auto inColumn = leaf.address.linearIn(column);
             auto inRow = leaf.address.linearIn(row);
             if (!leaf.argument)
               return;
             bool isAlike = inRow && inRow->stride.isConstant(0);
             bool isSame = inColumn && inColumn->stride.isConstant(0) &&
                           !(varies && isLookedUp(leaf.address));
             if (inColumn && inColumn->stride.isConstant(1))
               ++(isAlike ? alike : along);
             else if (inRow && inRow->stride.isConstant(1) && !isSame)
               ++across;
           });
  }
  why.push_back({"operands read along rows", along + alike});
  why.push_back({"operands read across rows", across});
  std::optional<int64_t> n = rows.extent.asConstant();
  std::optional<int64_t> count = domain.extents.back().asConstant();
  // Adding up the lanes of very short rows takes longer than reading across
  // rows (measured on Zen 4: 3 elements take 0.7, 5 elements 0.75, 7 elements
  // 1.04 of the time along rows; windows of 3 with stride 2 take 0.12).
  constexpr int64_t kShortest = 3;
  bool isShortest = n && *n > 1 && *n * kShortest <= int64_t(lanes) &&
                    (!count || *count > int64_t(lanes));
  if (across != along)
    return across > along || isShortest;
  along += alike;
  // Across rows there is no remainder and no lanes are added up; loads of
  // single elements cost the same.
  return n && *n < (along ? int64_t(lanes) / 2 : 2 * int64_t(lanes)) &&
         (!count || *count > int64_t(lanes));
}

SmallVector<LoopCaseAttr> llir::addParts(CaseBuilder &c, KernelAnalysis &a,
                                         const RowReductions &rows,
                                         const Domain &domain, int64_t length,
                                         int64_t elements, double bytes,
                                         const MachineModel &machine,
                                         SmallVectorImpl<Reporter::Arg> &why) {
  Expr units = 1;
  for (auto [extent, axis] : llvm::zip_equal(domain.extents, c.grid))
    units = units * (axis.getBlock() ? Expr::ceilDiv(extent, axis.getBlock())
                                     : Expr(1));
  // On a GPU, an SM runs all thread groups of a block.
  int64_t atOnce = machine.workers;
  std::optional<int64_t> unitsEach, grain;
  if (c.threads) {
    atOnce *= c.threads / c.team;
    length *= c.threads / c.team;
    // One thread merges all parts of a row, so parts are only as many as keep
    // memory busy.
    if (c.team == 1) {
      atOnce = countThreadsInFlight(bytes, machine);
      unitsEach = 1;
    }
    // At most one part for each SM that reads at once, because one block merges
    // them. A row of 262,208 f32 took 6.5 us on an H200 with 132 parts, 7.2
    // with 64, 8.3 with 32 and 319 (the position of its maximum).
    std::optional<int64_t> all = a.simplify(units * rows.extent).asConstant();
    if (all && c.team > 1) {
      constexpr int64_t kMostEach = 4, kGrainOfBlock = 1 << 14;
      if (c.team > machine.warpThreads)
        grain = kGrainOfBlock;
      unitsEach = std::clamp<int64_t>(
          *all / (machine.workers * int64_t(c.team) * elements), 1, kMostEach);
    }
  }
  return buildWithParts(c, chooseParts(rows.kernel, a.getRanges(),
                                       a.simplify(units), rows.extent,
                                       length * getElementCost(rows.kernel),
                                       atOnce, machine, why, unitsEach, grain));
}
