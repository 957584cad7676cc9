//===- ProductChoices.h - Choices for products on a CPU -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_PRODUCTCHOICES_H
#define LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_PRODUCTCHOICES_H

#include "Forms.h"
#include "luminal/Dialect/LLIR/Analysis/ProductAnalysis.h"

namespace luminal::llir {

/// Up to this number of rows a product is memory-bound, and most rows of a tile
/// would be padding.
constexpr int64_t kFewRows = 4;
/// The extent of k that is assumed if it is not known.
constexpr int64_t kTypicalDepth = 1024;

/// The register tile: `rows` x `vectors` accumulators of `lanes` each; `panels`
/// is the number of column tiles that are packed together.
struct Tile {
  int64_t rows, vectors, lanes, panels;
  /// The elements along k that all panels process before the next ones; 0: all.
  int64_t depth = 0;

  int64_t getWidth() const { return vectors * lanes; }
};

/// Returns whether products can have register tiles: the machine has vectors.
bool canTile(const MachineModel &machine);
/// Chooses the register tile of a product.
Tile chooseTile(const ProductAnalysis &p, const MachineModel &machine);
/// Returns how many rows of a tile fit into L1 with one line each, if they are
/// read in place: rows whose distance is a multiple of a way's size map to the
/// same set. On Zen 4, rows of 3,072 f32, which are 12 KiB apart, took 1.25
/// times as long in tiles of 14 as in tiles of 8 to 10, with panels of columns
/// (128 rows) and without (1,500 rows, where copying the rows took 1.2 times as
/// long); rows of 768 took the same time.
int64_t countRowsInCache(const ProductAnalysis &p, const MachineModel &machine);
/// Chooses a tile for columns that are windows of an image, `columns` of them
/// and `rows` rows at a time, with at most `mostRows` rows.
Tile chooseWindowTile(const ProductAnalysis &p, const MachineModel &machine,
                      int64_t columns, int64_t rows, int64_t mostRows);
/// Lets the product multiply bf16 in pairs or matrix tiles if the machine is no
/// slower that way. `rowBlock` is the rows of a work item, 0: all. To be called
/// before the tile is chosen.
void chooseMultiply(ProductAnalysis &p, const MachineModel &machine,
                    int64_t rowBlock = 0);
/// Accepts if the elements of rows need no copy for a work item; otherwise says
/// why they do.
Decision needsNoCopy(const ProductAnalysis &p);
/// Gives the product the form `tile`.
void addTile(CaseBuilder &c, const ProductAnalysis &p, const Tile &tile,
             llvm::ArrayRef<CaseBuilder::Word> words,
             llvm::ArrayRef<CaseBuilder::Number> more = {});
/// Returns whether a product of few rows should use dot products along k
/// (`dot`) instead of scaling columns by the elements of rows (`axpy`).
bool canDot(const ProductAnalysis &p, bool copiesRows);
/// Gives the product the form `dot` or `axpy`.
void addFewRows(CaseBuilder &c, const ProductAnalysis &p, bool copiesRows,
                int64_t lanes, llvm::ArrayRef<CaseBuilder::Word> words);

/// Returns the rows and columns that the loops of a form take at a time.
ProductTile getTile(LoopFormAttr form);

/// Returns the numbers that each form of a product has.
llvm::SmallVector<NumberRule> getProductRules(llvm::StringRef form);
/// Checks the other requirements of the form, for `columnBlock` columns at a
/// time and `rowBlock` rows in a work item; 0: all.
mlir::LogicalResult
verifyProduct(LoopFormAttr form, ProductAnalysis &p, int64_t columnBlock,
              int64_t rowBlock, const MachineModel &machine,
              llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_PRODUCTCHOICES_H
