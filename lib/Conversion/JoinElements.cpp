//===- JoinElements.cpp - Fuses producers into one-row products -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The time of a one-row product is that of reading its right operand, so small
// kernels before it matter. This pass fuses into its kernel those that it alone
// reads: products with the same columns whose elements are read at the index
// where they are written, and the kernel that computes its row, which each
// thread block then repeats. A reduction of a few elements of products is fused
// with them as well.
//
// Tested by test/Conversion/Schedules/share.mlir and rows-of-matrices.mlir.
//
//===----------------------------------------------------------------------===//

#include "luminal/Conversion/Passes.h"
#include "luminal/Conversion/Target.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"
#include "luminal/Dialect/LLIR/Utils/CodeBudget.h"
#include "luminal/Dialect/LLIR/Utils/MergeKernels.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cmath>

namespace luminal {
#define GEN_PASS_DEF_JOINELEMENTSPASS
#include "luminal/Conversion/Passes.h.inc"
} // namespace luminal

#define DEBUG_TYPE "llir-join-elements"

using namespace mlir;
using namespace luminal;

namespace {
class JoinElements : public luminal::impl::JoinElementsPassBase<JoinElements> {
public:
  using JoinElementsPassBase::JoinElementsPassBase;
  void runOnOperation() override;

private:
  llir::KernelOp join(llir::KernelOp kernel, llir::KernelOp reader);
  /// The same where the reader reduces a few elements of the kernel at a time.
  llir::KernelOp joinTerms(llir::KernelOp kernel, llir::KernelOp reader);
  llir::KernelOp replaceBoth(llir::KernelOp kernel, llir::KernelOp reader,
                             llir::KernelOp merged, StringRef as);

  std::shared_ptr<TargetInterface> device;
};
} // namespace

/// The largest row, in bytes, that every thread block may recompute.
static constexpr int64_t kMostBytesOfRow = 1 << 15;

static std::optional<int64_t> countBytes(Value v) {
  auto type = cast<RankedTensorType>(v.getType());
  if (!type.hasStaticShape())
    return std::nullopt;
  int64_t bits = std::max(8u, type.getElementType().getIntOrFloatBitWidth());
  return type.getNumElements() * bits / 8;
}

/// Whether all loops of the kernel, which has one result, are products with the
/// result's columns, and each column is multiplied with one row. Sets `isOne`
/// if that is the same row for all columns.
static bool isOfRow(llir::KernelOp kernel, bool &isOne) {
  if (kernel.getInPlace() || kernel.getLoops() || kernel.getNumResults() != 1)
    return false;
  SmallVector<Expr> extents = hlir::getExtents(kernel.getResult(0));
  bool any = false;
  isOne = true;
  for (Operation &op : kernel.getOps()) {
    if (!llir::hasLoops(&op))
      continue;
    auto product = dyn_cast<llir::ProductOpInterface>(op);
    if (!product || hlir::getExtents(op.getResult(0)) != extents)
      return false;
    for (auto [d, extent] : llvm::enumerate(extents)) {
      if (extent.isConstant(1) || !product.getLhsMap().usesDim(d))
        continue;
      isOne = false;
      if (!product.getRhsMap().usesDim(d))
        return false;
    }
    any = true;
  }
  return any;
}

/// Whether `reader` reads operand `number` only at the index where it writes
/// its result.
static Decision readsInPlace(llir::KernelOp reader, unsigned number,
                             const KernelAnalysis::SymbolRanges &ranges) {
  KernelAnalysis a(reader, ranges);
  SmallVector<Expr> extents = hlir::getExtents(reader.getResult(0));
  Index index;
  for (const Expr &extent : extents)
    index.push_back(extent.isConstant(1) ? Expr(0)
                                         : Expr::dim(a.addDim(extent)));
  Expr own = a.getResultAddress(0, index);
  bool isOwn = true;
  a.walk(getYielded(reader)[0], index, [&](const Leaf &leaf) {
    isOwn &= !leaf.argument || leaf.argument.getArgNumber() != number ||
             leaf.address == own;
  });
  return isOwn ? Decision::accept()
               : Decision::refuse("the reader reads elements at another index "
                                  "than it writes");
}

/// Whether the kernel computes one row that fits into a thread block.
static Decision computesRow(llir::KernelOp kernel) {
  for (Operation &op : kernel.getOps())
    if (llir::hasLoops(&op) && !isa<llir::RowReductionOpInterface>(op))
      return Decision::refuse("it has loops other than row reductions", &op);
  std::optional<int64_t> bytes = 0;
  for (Value operand : kernel.getInputs()) {
    std::optional<int64_t> more = countBytes(operand);
    if (!more || !bytes)
      return Decision::refuse("the length of its row is unknown");
    *bytes += *more;
  }
  if (*bytes > kMostBytesOfRow)
    return Decision::refuse("its row is too long for every block to recompute");
  return Decision::accept();
}

static Reporter makeReporter(llir::KernelOp reader) {
  return Reporter(reader.getContext(), DEBUG_TYPE,
                  reader->getParentOfType<func::FuncOp>().getName());
}

/// Reports why both kernels are kept; returns null.
static llir::KernelOp stay(llir::KernelOp kernel, llir::KernelOp reader,
                           StringRef reason) {
  makeReporter(reader).missed(kernel.getLoc(), "elements",
                              {{"kernel", kernel.getTitle()},
                               {"reader", reader.getTitle()},
                               {"reason", reason.str()}});
  return {};
}

/// Fuses both kernels and returns the result, or null if they are kept.
llir::KernelOp JoinElements::join(llir::KernelOp kernel,
                                  llir::KernelOp reader) {
  KernelAnalysis::SymbolRanges ranges =
      hlir::getAssumptions(reader).getSymbols();
  bool isOneRow = true, isOneRowBefore = true;
  (void)isOfRow(reader, isOneRow);
  bool isRow = !isOfRow(kernel, isOneRowBefore);
  if (isRow && !isOneRow)
    return stay(kernel, reader, "every block would recompute all rows");
  unsigned number = llvm::find(reader.getInputs(), kernel.getResult(0)) -
                    reader.getInputs().begin();
  if (Decision found =
          isRow ? computesRow(kernel) : readsInPlace(reader, number, ranges);
      !found)
    return stay(kernel, reader, found.str());
  SmallVector<Value> results;
  llir::KernelOp merged = llir::mergeKernels({kernel, reader}, results);
  auto drop = [&](StringRef reason) {
    merged.erase();
    return stay(kernel, reader, reason);
  };
  if (isRow &&
      llir::findSharedRows(merged, device->getMachine()).values.empty())
    return drop("the products do not read its result as their row");
  if (llir::countElementCode(merged) > codeBudget)
    return drop("the fused kernel would exceed the code budget");
  // Threads can share an element only if it is read contiguously.
  llir::ProposedLoops proposed =
      llir::proposeLoops(merged, ranges, device->getMachine());
  if (!proposed.loops ||
      !llvm::all_of(proposed.loops.getCases(),
                    [](llir::LoopCaseAttr c) { return c.getTeam() > 1; }))
    return drop("the products do not read contiguously");
  // If rows are multiplied with different matrices, separate kernels may have
  // better schedules.
  if (!isOneRow || !isOneRowBefore) {
    double apart = 0;
    for (llir::KernelOp part : {kernel, reader})
      apart += device->propose(part, ranges).price;
    if (proposed.price > apart)
      return drop("the fused kernel would take longer than both");
  }
  return replaceBoth(kernel, reader, merged,
                     isRow ? "shared by a block" : "elements");
}

llir::KernelOp JoinElements::joinTerms(llir::KernelOp kernel,
                                       llir::KernelOp reader) {
  KernelAnalysis::SymbolRanges ranges =
      hlir::getAssumptions(reader).getSymbols();
  SmallVector<Value> results;
  llir::KernelOp merged = llir::mergeKernels({kernel, reader}, results);
  auto drop = [&](StringRef reason) {
    merged.erase();
    return stay(kernel, reader, reason);
  };
  if (llir::countElementCode(merged) > codeBudget)
    return drop("the fused kernel would exceed the code budget");
  llir::ProposedLoops proposed =
      llir::proposeLoops(merged, ranges, device->getMachine());
  if (!proposed.loops ||
      !llvm::all_of(proposed.loops.getCases(), [](llir::LoopCaseAttr c) {
        return llvm::any_of(c.getForms(), llir::hasSpreadTerms);
      }))
    return drop("the thread groups of a block cannot each compute a term");
  double apart = 0;
  for (llir::KernelOp part : {kernel, reader})
    apart += device->propose(part, ranges).price;
  if (proposed.price > apart)
    return drop("the fused kernel would take longer than both");
  return replaceBoth(kernel, reader, merged, "terms");
}

llir::KernelOp JoinElements::replaceBoth(llir::KernelOp kernel,
                                         llir::KernelOp reader,
                                         llir::KernelOp merged, StringRef as) {
  makeReporter(reader).passed(merged.getLoc(), "elements",
                              {{"kernel", kernel.getTitle()},
                               {"reader", reader.getTitle()},
                               {"as", as.str()}});
  reader.getResult(0).replaceAllUsesWith(merged.getResult(0));
  reader.erase();
  kernel.erase();
  return merged;
}

/// Whether the kernel's only loop is a reduction of a few elements at a time of
/// operand `number`, each of which is read once.
static bool reducesFew(llir::KernelOp kernel, unsigned number) {
  if (kernel.getInPlace() || kernel.getLoops() || kernel.getNumResults() != 1)
    return false;
  Operation *reduction = nullptr;
  for (Operation &op : kernel.getOps())
    if (llir::hasLoops(&op)) {
      if (reduction)
        return false;
      reduction = &op;
    }
  std::optional<int64_t> terms =
      reduction ? llir::getSpreadTerms(reduction) : std::nullopt;
  if (!terms)
    return false;
  auto read = cast<RankedTensorType>(kernel.getInputs()[number].getType()),
       written = cast<RankedTensorType>(kernel.getResult(0).getType());
  return read.hasStaticShape() && written.hasStaticShape() &&
         read.getNumElements() == written.getNumElements() * *terms;
}

void JoinElements::runOnOperation() {
  func::FuncOp func = getOperation();
  if (func.isDeclaration())
    return;
  device = createTarget(func, target, arch, machine);
  if (!device)
    return signalPassFailure();
  if (!device->getMachine().blockThreads)
    return;
  auto getKernels = [&] {
    return llvm::to_vector(func.getBody().front().getOps<llir::KernelOp>());
  };
  // The defining kernel of an operand if only one kernel reads it and that
  // kernel may fuse it; else null.
  auto getOwned = [](Value operand) -> llir::KernelOp {
    auto kernel = operand.getDefiningOp<llir::KernelOp>();
    bool isOwned = kernel && !kernel.getInPlace() && !kernel.getLoops() &&
                   kernel.getNumResults() == 1 &&
                   llvm::hasSingleElement(operand.getUsers());
    return isOwned ? kernel : llir::KernelOp();
  };
  SmallVector<llir::KernelOp> readers;
  for (llir::KernelOp kernel : getKernels())
    if (bool isOne; isOfRow(kernel, isOne))
      readers.push_back(kernel);
  // Later readers may fuse kernels that are results of fusion.
  llvm::SmallPtrSet<Operation *, 16> gone;
  for (llir::KernelOp reader : readers) {
    if (gone.contains(reader))
      continue;
    bool changed = true;
    while (changed) {
      changed = false;
      for (Value operand : reader.getInputs()) {
        llir::KernelOp kernel = getOwned(operand);
        if (!kernel)
          continue;
        Operation *old = kernel;
        if (llir::KernelOp joined = join(kernel, reader)) {
          gone.insert(old);
          reader = joined;
          changed = true;
          break;
        }
      }
    }
  }
  for (llir::KernelOp reader : getKernels())
    for (auto [number, operand] : llvm::enumerate(reader.getInputs()))
      if (llir::KernelOp kernel = getOwned(operand);
          kernel && reducesFew(reader, number))
        if (bool isOne; isOfRow(kernel, isOne) && joinTerms(kernel, reader))
          break;
}
