//===- ProductAnalysis.h - A matrix product over three dims ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dims of a product fall into four groups: in both maps (batch), in one
// alone, and the contracted one. Each group is one dim here, so that any number
// of them is a matrix product over m, n and k. One side is read as vectors
// ("columns"), the other element by element ("rows").
//
// Where the columns of a batch index are looked up, as the weights of an expert
// are by each of its rows, consecutive batch indices with the same lookups are
// a *group*: rows of one matrix product.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_DIALECT_LLIR_ANALYSIS_PRODUCTANALYSIS_H
#define LUMINAL_DIALECT_LLIR_ANALYSIS_PRODUCTANALYSIS_H

#include "luminal/Dialect/LLIR/Analysis/Windows.h"

namespace luminal {

/// The element type in which a product is summed: f32 for f16 and bf16, else
/// its own.
mlir::Type getSumType(llir::ProductOpInterface op);

/// One side of a product.
struct ProductSide {
  /// What the product reads; of an f32 that widens f16 or bf16, the latter.
  mlir::Value operand;
  hlir::MapAttr map;
  /// Dims of the product that only this side has; those of extent 1 are in no
  /// group.
  llvm::SmallVector<unsigned> group;
  /// The group as one dim, and its extent (1 for an empty group).
  unsigned dim = 0;
  Expr extent = 1;
  /// Whether every read is linear with a stride of 0 or 1 along the side's own
  /// dim, along k; and linear in both at all.
  bool alongOwn = true, alongK = true, linear = true;
  /// Whether a read steps through memory along the side's own dim; whether all
  /// do along k.
  bool stepsOwn = false, stepsK = true;
};

class ProductAnalysis {
public:
  /// Finds the groups; rows are the left operand's, columns the right one's.
  ProductAnalysis(KernelAnalysis &a, llir::ProductOpInterface op);

  /// Where the results of the kernel keep the product's elements; refused where
  /// that is not known.
  Decision findResults();

  /// Only steps [begin, begin + count) of k, of which there are at most `most`.
  void setSteps(const Expr &begin, const Expr &count, int64_t most);

  void swapSides() { std::swap(rows, columns); }
  /// Makes the batch dims by whose index the columns are looked up the rows, of
  /// which there are none otherwise (before joinDims), and dims of the columns
  /// that only tell which matrix it is, as a token's experts; the sides change
  /// places where the left operand is looked up. Refused where the columns
  /// depend on them in another way.
  Decision takeGroups();
  bool hasGroups() const { return isGrouped; }
  /// Takes sides and groups from a schedule: `columns` is `lhs` where the left
  /// operand is read as vectors. Of the axes over dims that only one side has,
  /// the last is the rows or columns; all others are batch. With `groups =
  /// rows` in the product's form the last axis over batch dims is the rows.
  /// `roles` gets one entry an axis. Refused where the axes are not dims of the
  /// product.
  enum class Role { Batch, Rows, Columns };
  Decision applyGrid(llir::LoopCaseAttr loopCase, llvm::StringRef columns,
                     llvm::SmallVectorImpl<Role> &roles);
  /// Makes each group one dim, in the order of its list, and looks at how the
  /// operands are read along them. To be called again after a group changed.
  void joinDims();
  /// Finds `runs` (after joinDims).
  void findRuns();
  /// Finds `windows` (after joinDims); refused where there are none.
  Decision findWindows();
  /// Finds `rowWindows` (after joinDims); refused where there are none.
  Decision findRowWindows();
  /// The copy for `count` consecutive rows (0: all), wherever they begin.
  Windows::Layout getRowLayout(int64_t count) const;
  /// Finds `panels` of `width` columns (after joinDims); refused where memory
  /// holds no such ones.
  Decision findPanels(int64_t width);

  /// How many of the side's last dims, joined, every result is written along.
  size_t countStoredAlong(const ProductSide &side);
  /// What is multiplied: elements as they are summed; or bf16 as they are, two
  /// of k at a time, by vectors, or by tiles of `kTileElements` of k.
  enum class Multiply { Elements, Pairs, Tiles };
  static constexpr int64_t kTileElements = 32;
  /// Rows of those beyond the last whole tile that are taken at once.
  static constexpr int64_t kRemainderRows = 4;
  /// Refused where a side is of another type.
  Decision setMultiply(Multiply kind);
  /// The same as the form of the product says.
  Decision applyForm(llir::LoopFormAttr form);
  Multiply getMultiply() const { return multiply; }
  bool hasPairs() const { return multiply != Multiply::Elements; }
  bool hasTiles() const { return multiply == Multiply::Tiles; }
  /// Steps of `k` indices of k.
  Expr countSteps(const Expr &k) const {
    if (hasTiles())
      return kTileElements / 2 * Expr::ceilDiv(k, kTileElements);
    return hasPairs() ? Expr::ceilDiv(k, 2) : k;
  }
  /// Bytes of what is multiplied in one step.
  int64_t getStepBytes() const { return hasPairs() ? 4 : bytes; }
  /// Whether elements of a side are taken at places that others tell.
  bool isLookedUp(const ProductSide &side) const;
  /// Whether an element of a side is one read of a factor.
  Decision isPlain(const ProductSide &side) const;
  /// Whether `lanes` elements of a side, from a multiple of it on along k or
  /// its own dim, are next to each other in an operand of the kernel, and begin
  /// at a multiple of their size.
  Decision isRun(const ProductSide &side, bool isAlongK, int64_t lanes) const;

  Index getOperandIndex(const ProductSide &side) const {
    return getOperandIndex(side, index);
  }
  /// At the product's index `at`.
  Index getOperandIndex(const ProductSide &side, Index at) const;
  /// Where the results' elements of the product's index `at` belong.
  llvm::SmallVector<Index> getResultIndices(const Index &at) const;

  KernelAnalysis &a;
  llir::ProductOpInterface op;
  /// Of the product.
  llvm::SmallVector<Expr> extents;
  llvm::SmallVector<MovedResult> results;
  /// Sums are of this type, of so many bytes; what is multiplied, of that.
  mlir::Type accumulator;
  int64_t bytes;
  mlir::Type factor;
  ProductSide rows, columns;
  /// Dims outside both sides, as axes of one or more dims each.
  llvm::SmallVector<llvm::SmallVector<unsigned>> batch;
  llvm::SmallVector<unsigned> batchDims;
  llvm::SmallVector<Expr> batchExtents;
  /// The contracted dim, counted from `kBegin`: how many steps it has, and how
  /// many at most, for memory.
  unsigned kDim;
  Expr kBegin = 0, kExtent, kRoom;
  /// The product's index over batchDims, rows.dim and columns.dim.
  Index index;
  Multiply multiply = Multiply::Elements;
  /// The columns as runs of memory, where they are read along more than one;
  /// and the index in their operand over the dims of the runs.
  std::optional<Domain> runs;
  Index runIndex;
  /// The columns as windows of an image, where they are read so.
  std::optional<Windows> windows;
  /// The rows as windows of an image, which a unit copies as it does for
  /// columns; a row's elements are taken from there one by one.
  std::optional<Windows> rowWindows;
  /// The columns where memory holds them as a tile reads them, as weights that
  /// were prepared: `width` of them side by side for each step of k, these one
  /// after the other, then the next panel. The last one has room for all.
  struct Panels {
    mlir::BlockArgument memory;
    /// Where the first one begins.
    Expr begin;
    int64_t width;
  };
  std::optional<Panels> panels;
  /// Whether what follows a tile is computed on vectors of its rows, not of its
  /// columns, for results are written along them.
  bool finishesRows = false;

  /// Elements that tell which columns a row has (after joinDims), at indices
  /// over `groupDim`.
  struct Key {
    mlir::Value value;
    Index index;
    /// How many values it may have.
    Expr extent;
  };
  llvm::SmallVector<Key, 1> keys;
  /// A row of the group, by which its columns are found.
  unsigned groupDim = 0;

private:
  Decision findKeys();
  Decision collectKeys(const Index &at, unsigned dim,
                       llvm::SmallVectorImpl<Key> &found);
  llvm::SmallVector<unsigned> takeKeyDims();
  bool isGrouped = false;
  /// For each dim of the grouped rows, what it is over `groupDim`.
  llvm::SmallVector<std::pair<unsigned, Expr>> groupIndex;
};

} // namespace luminal

#endif // LUMINAL_DIALECT_LLIR_ANALYSIS_PRODUCTANALYSIS_H
