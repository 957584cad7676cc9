//===- ProductAnalysis.h - A matrix product over three dims ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dims of a product fall into four groups: those in both maps (batch),
// those in one map alone, and the contracted dim. Here each group is joined
// into one dim, so any product is a matrix product over m, n and k. One side is
// read as vectors ("columns"), the other one element by element ("rows").
//
// If the columns of a batch index are looked up, as each row looks up the
// weights of its expert, consecutive batch indices with the same lookup are a
// *group*: rows of one matrix product.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_ANALYSIS_PRODUCTANALYSIS_H
#define LUMINAL_DIALECT_LLIR_ANALYSIS_PRODUCTANALYSIS_H

#include "luminal/Dialect/LLIR/Analysis/Windows.h"

namespace luminal {

/// Returns the accumulator type of a product: f32 for f16 and bf16, otherwise
/// the element type.
mlir::Type getSumType(llir::ProductOpInterface op);

/// One side of a product.
struct ProductSide {
  /// The operand that is read. If f16 or bf16 is widened to f32, this is the
  /// narrow value.
  mlir::Value operand;
  hlir::MapAttr map;
  /// The dims of the product that only this side has, without those of extent
  /// 1.
  llvm::SmallVector<unsigned> group;
  /// The group as one dim, and its extent (1 for an empty group).
  unsigned dim = 0;
  Expr extent = 1;
  /// Whether every read is linear with a stride of 0 or 1 along the side's own
  /// dim, and along k; and whether every read is linear in both.
  bool alongOwn = true, alongK = true, linear = true;
  /// Whether some read steps through memory along the side's own dim; whether
  /// all reads do along k.
  bool stepsOwn = false, stepsK = true;
};

/// A product as a matrix product over rows, columns and k.
class ProductAnalysis {
public:
  /// Finds the groups. Rows are the left operand's dims, columns the right
  /// one's.
  ProductAnalysis(KernelAnalysis &a, llir::ProductOpInterface op);

  /// Finds where the results of the kernel store the product's elements;
  /// refuses if that is not known.
  Decision findResults();

  /// Restricts k to the steps [begin, begin + count); `most` bounds their
  /// number.
  void setSteps(const Expr &begin, const Expr &count, int64_t most);

  void swapSides() { std::swap(rows, columns); }
  /// Makes rows of the batch dims whose index the columns are looked up by, and
  /// of the dims of columns that only select a matrix, such as a token's
  /// experts. To be called before joinDims, for a product without other rows.
  /// The sides are swapped if the left operand is looked up. Refuses if the
  /// columns depend on these dims in any other way.
  Decision takeGroups();
  bool hasGroups() const { return isGrouped; }
  /// Takes sides and groups from a schedule: with `columns = lhs` the left
  /// operand is read as vectors. Among the axes over dims that only one side
  /// has, the last axis is that side's rows or columns; all other axes are
  /// batch. With `groups = rows` in the product's form, the last axis over
  /// batch dims is the rows. `roles` gets one entry for each axis. Refuses if
  /// the axes are not dims of the product.
  enum class Role { Batch, Rows, Columns };
  Decision applyGrid(llir::LoopCaseAttr loopCase, llvm::StringRef columns,
                     llvm::SmallVectorImpl<Role> &roles);
  /// Joins each group into one dim, in the order of its list, and finds how the
  /// operands are read along it. To be called again after a group changed.
  void joinDims();
  /// Finds `runs`, after joinDims.
  void findRuns();
  /// Finds `windows`, after joinDims; refuses if there are none.
  Decision findWindows();
  /// Finds `rowWindows`, after joinDims; refuses if there are none.
  Decision findRowWindows();
  /// Returns the layout of the copy for `count` consecutive rows (0: all),
  /// wherever they begin.
  Windows::Layout getRowLayout(int64_t count) const;
  /// Finds `panels` of `width` columns, after joinDims; refuses if memory holds
  /// no such panels.
  Decision findPanels(int64_t width);

  /// Returns how many of the side's last dims are, joined, contiguous in every
  /// result.
  size_t countStoredAlong(const ProductSide &side);
  /// How elements are multiplied: as elements of the sum's type; or as bf16, by
  /// vector instructions that take two indices of k, or by matrix tiles of
  /// `kTileElements` indices of k.
  enum class Multiply { Elements, Pairs, Tiles };
  static constexpr int64_t kTileElements = 32;
  /// The number of rows beyond the last whole tile that are computed at once.
  static constexpr int64_t kRemainderRows = 4;
  /// Sets how elements are multiplied; refuses if a side has another type.
  Decision setMultiply(Multiply kind);
  /// Does the same as the form of the product says.
  Decision applyForm(llir::LoopFormAttr form);
  Multiply getMultiply() const { return multiply; }
  bool hasPairs() const { return multiply != Multiply::Elements; }
  bool hasTiles() const { return multiply == Multiply::Tiles; }
  /// Returns the number of steps that `k` indices of k take.
  Expr countSteps(const Expr &k) const {
    if (hasTiles())
      return kTileElements / 2 * Expr::ceilDiv(k, kTileElements);
    return hasPairs() ? Expr::ceilDiv(k, 2) : k;
  }
  /// Returns the bytes of one operand element of a step.
  int64_t getStepBytes() const { return hasPairs() ? 4 : bytes; }
  /// Returns whether elements of a side are read at positions loaded from
  /// memory.
  bool isLookedUp(const ProductSide &side) const;
  /// Accepts if an element of a side is a single read in the multiplied type.
  Decision isPlain(const ProductSide &side) const;
  /// Accepts if `lanes` elements of a side, from a multiple of `lanes` on along
  /// k or the side's own dim, are contiguous in an operand of the kernel and
  /// aligned to their total size.
  Decision isRun(const ProductSide &side, bool isAlongK, int64_t lanes) const;

  Index getOperandIndex(const ProductSide &side) const {
    return getOperandIndex(side, index);
  }
  /// Returns the index in the side's operand for the product's index `at`.
  Index getOperandIndex(const ProductSide &side, Index at) const;
  /// Returns, for each result, the index where the product's element `at` is
  /// stored.
  llvm::SmallVector<Index> getResultIndices(const Index &at) const;

  KernelAnalysis &a;
  llir::ProductOpInterface op;
  /// The extents of the product.
  llvm::SmallVector<Expr> extents;
  llvm::SmallVector<MovedResult> results;
  /// The type of sums and its bytes, and the type that is multiplied.
  mlir::Type accumulator;
  int64_t bytes;
  mlir::Type factor;
  ProductSide rows, columns;
  /// Dims of neither side, as axes of one or more dims each.
  llvm::SmallVector<llvm::SmallVector<unsigned>> batch;
  llvm::SmallVector<unsigned> batchDims;
  llvm::SmallVector<Expr> batchExtents;
  /// The contracted dim, counted from `kBegin`: its number of steps, and an
  /// upper bound of that number for memory.
  unsigned kDim;
  Expr kBegin = 0, kExtent, kRoom;
  /// The product's index over batchDims, rows.dim and columns.dim.
  Index index;
  Multiply multiply = Multiply::Elements;
  /// The columns as contiguous runs of memory, if they are read along more than
  /// one dim; and the index in their operand, over the dims of the runs.
  std::optional<Domain> runs;
  Index runIndex;
  /// The columns as windows of an image, if they are.
  std::optional<Windows> windows;
  /// The rows as windows of an image, if they are. A work item copies the image
  /// as it does for columns, and reads the elements of rows one by one from the
  /// copy.
  std::optional<Windows> rowWindows;
  /// The columns as panels, if memory already holds them in the order in which
  /// a tile reads them, such as prepared weights: for each step of k, `width`
  /// columns side by side; the steps of a panel follow each other, then the
  /// next panel follows. The last panel is padded to full width.
  struct Panels {
    mlir::BlockArgument memory;
    /// Where the first panel begins.
    Expr begin;
    int64_t width;
  };
  std::optional<Panels> panels;
  /// Whether the epilogue of a tile is computed on vectors along its rows
  /// instead of its columns, because results are contiguous along rows.
  bool finishesRows = false;

  /// Elements that decide which columns a row has (after joinDims), at indices
  /// over `groupDim`.
  struct Key {
    mlir::Value value;
    Index index;
    /// The number of values that it may have.
    Expr extent;
  };
  llvm::SmallVector<Key, 1> keys;
  /// The dim of a row in the grouped rows, by which its columns are looked up.
  unsigned groupDim = 0;

private:
  Decision findKeys();
  Decision collectKeys(const Index &at, unsigned dim,
                       llvm::SmallVectorImpl<Key> &found);
  llvm::SmallVector<unsigned> takeKeyDims();
  bool isGrouped = false;
  /// For each dim of the grouped rows, its index over `groupDim`.
  llvm::SmallVector<std::pair<unsigned, Expr>> groupIndex;
};

} // namespace luminal

#endif // LUMINAL_DIALECT_LLIR_ANALYSIS_PRODUCTANALYSIS_H
