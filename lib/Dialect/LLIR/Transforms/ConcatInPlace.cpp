//===- ConcatInPlace.cpp - Concatenations written in place ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %2 = kernel(%0, %1) {           -->   %2 = concat(%0, %1)
//     select(d0 < 1, %0, %1)
//   }
//
// Tested by test/Dialect/LLIR/concat-in-place.mlir.
//
//===----------------------------------------------------------------------===//

#include "JoinedRows.h"
#include "OverwriteOrder.h"
#include "luminal/Dialect/LLIR/Analysis/KernelAnalysis.h"
#include "luminal/Dialect/LLIR/Transforms/Passes.h"
#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"
#include "luminal/Dialect/LLIR/Utils/MergeKernels.h"
#include "luminal/Dialect/LLIR/Utils/Remarks.h"

namespace luminal::llir {
#define GEN_PASS_DEF_CONCATINPLACEPASS
#include "luminal/Dialect/LLIR/Transforms/Passes.h.inc"
} // namespace luminal::llir

#define DEBUG_TYPE "llir-concat-in-place"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;
using luminal::hlir::MapAttr;

namespace {
/// A part of the concatenation: a copy of elements of an operand.
struct Part {
  Value operand;
  MapAttr map;
  SmallVector<Expr> extents;
  /// Whether a kernel may write the part directly.
  bool isWritten = false;
};

using Decision = DecisionAbout<Operation *>;

class ConcatInPlace : public llir::impl::ConcatInPlacePassBase<ConcatInPlace> {
public:
  using ConcatInPlacePassBase::ConcatInPlacePassBase;
  void runOnOperation() override;

private:
  Decision findParts(KernelOp kernel, ArrayRef<Rows> rows,
                     SmallVectorImpl<Part> &parts);
  bool mayWrite(Value operand) const;
  void join(KernelOp kernel, ArrayRef<Part> parts);

  Assumptions symbols;
  /// The ops computed when weights are bound, where equal values are merged.
  DenseSet<Operation *> prepared;
  /// Values that are parts of a concatenation already.
  DenseSet<Value> taken;
};
} // namespace

/// Returns whether an update in place writes the memory of a value.
static bool isUpdated(Value value) {
  return llvm::any_of(getReaders(value), [&](Operation *reader) {
    auto update = dyn_cast<KernelOp>(reader);
    return update && update.getInPlace() &&
           getStorage(update.getInputs()[0]) == value;
  });
}

/// Returns whether the value's memory belongs to its own step only, so that it
/// may be a part of another value's memory.
bool ConcatInPlace::mayWrite(Value operand) const {
  Operation *op = operand.getDefiningOp();
  auto kernel = dyn_cast_or_null<KernelOp>(op);
  if (!(kernel && !kernel.getInPlace()) &&
      !isa_and_present<LibraryOpInterface>(op))
    return false;
  return !prepared.contains(op) && !taken.contains(operand) &&
         !isUpdated(operand) &&
         llvm::none_of(getReaders(operand), [](Operation *reader) {
           return reader->hasTrait<OpTrait::IsTerminator>() ||
                  isa<PrepareOp, ConcatOp>(reader);
         });
}

Decision ConcatInPlace::findParts(KernelOp kernel, ArrayRef<Rows> rows,
                                  SmallVectorImpl<Part> &parts) {
  Value joined = getYielded(kernel)[0];
  // A later reader of a part would see what the update wrote there.
  if (isUpdated(kernel.getResults()[0]))
    return Decision::refuse("an update writes its memory");
  DenseSet<Value> written;
  for (const Rows &next : rows) {
    if (!isAligned(next, joined, symbols))
      return Decision::refuse("a part is not known to begin at a multiple of "
                              "the alignment of buffers");
    auto [value, map, own] = getSource(next, joined, symbols);
    Part part{{}, map, own};
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument)
      return Decision::refuse(
          "a part is computed by the kernel that concatenates it",
          value.getDefiningOp());
    part.operand = kernel.getInputs()[argument.getArgNumber()];
    part.isWritten = isAllInOrder(part.map, part.extents,
                                  hlir::getExtents(part.operand), symbols) &&
                     mayWrite(part.operand) &&
                     written.insert(part.operand).second;
    parts.push_back(std::move(part));
  }
  auto numWritten =
      llvm::count_if(parts, [](const Part &p) { return p.isWritten; });
  if (2 * numWritten < int64_t(parts.size()))
    return Decision::refuseAbove("most parts have to be copied",
                                 double(parts.size() - numWritten),
                                 double(parts.size()) / 2);
  return Decision::accept();
}

void ConcatInPlace::join(KernelOp kernel, ArrayRef<Part> parts) {
  OpBuilder builder(kernel);
  auto type = cast<RankedTensorType>(kernel.getResults()[0].getType());
  SmallVector<Value> values;
  for (const Part &part : parts) {
    values.push_back(part.isWritten
                         ? part.operand
                         : copyThrough(part.operand, part.map,
                                       hlir::getTensorType(
                                           part.extents, type.getElementType()),
                                       builder));
    taken.insert(values.back());
  }
  auto concat = ConcatOp::create(builder, kernel.getLoc(), type, values);
  kernel.getResults()[0].replaceAllUsesWith(concat.getResult());
  kernel.erase();
}

void ConcatInPlace::runOnOperation() {
  func::FuncOp func = getOperation();
  if (func.isDeclaration() || !llvm::hasSingleElement(func.getBody()))
    return;
  // Sizes may be zero, so the ranges of extents do not hold.
  symbols = Assumptions(hlir::getAssumptions(func).getSymbols());
  taken.clear();
  prepared = findPrepared(func);
  Block &block = func.getBody().front();
  for (KernelOp kernel : llvm::make_early_inc_range(block.getOps<KernelOp>())) {
    if (kernel.getInPlace() || kernel.getNumResults() != 1 ||
        prepared.contains(kernel))
      continue;
    Value joined = getYielded(kernel)[0];
    SmallVector<Rows> rows = cutRows(joined, symbols);
    if (rows.size() < 2)
      continue;
    SmallVector<Part> parts;
    Decision decision = findParts(kernel, rows, parts);
    Reporter reporter(&getContext(), DEBUG_TYPE, func.getSymName());
    if (!decision) {
      reporter.missed(
          kernel.getLoc(), "concat-in-place",
          {{"parts", uint64_t(rows.size())}, {"reason", decision.str()}});
      continue;
    }
    reporter.passed(
        kernel.getLoc(), "concat-in-place",
        {{"parts", uint64_t(parts.size())},
         {"copied", uint64_t(llvm::count_if(
                        parts, [](const Part &p) { return !p.isWritten; }))}});
    join(kernel, parts);
  }
}
