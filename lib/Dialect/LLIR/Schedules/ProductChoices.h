//===- ProductChoices.h - Choices for products on a CPU -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_PRODUCTCHOICES_H
#define LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_PRODUCTCHOICES_H

#include "Forms.h"
#include "luminal/Dialect/LLIR/Analysis/ProductAnalysis.h"

namespace luminal::llir {

/// Up to here a product is bound by memory, and tiles waste most of their rows.
constexpr int64_t kFewRows = 4;
/// k where it is not known.
constexpr int64_t kTypicalDepth = 1024;

/// The register tile: `rows` x `vectors` sums of `lanes` each, and how many
/// tiles of columns are packed together.
struct Tile {
  int64_t rows, vectors, lanes, panels;
  /// Elements along k that all panels take before the next ones; 0: all.
  int64_t depth = 0;

  int64_t getWidth() const { return vectors * lanes; }
};

/// Tiles are made of vectors, in registers.
bool canTile(const MachineModel &machine);
Tile chooseTile(const ProductAnalysis &p, const MachineModel &machine);
/// Rows of a tile that the first cache holds a line each of, where they are
/// read in place: lines a multiple of its ways apart are in one set of it. On
/// Zen 4 rows of 3,072 in f32, which are 12 KiB apart, took 1.25 times as long
/// by 14 at a time as by 8 to 10, with panels of columns (128 rows) and without
/// (1,500 rows, where copying them took 1.2 times as long); rows of 768 the
/// same.
int64_t countRowsInCache(const ProductAnalysis &p, const MachineModel &machine);
/// A tile for columns that are windows of an image, `columns` of them and
/// `rows` at a time, of at most `mostRows`.
Tile chooseWindowTile(const ProductAnalysis &p, const MachineModel &machine,
                      int64_t columns, int64_t rows, int64_t mostRows);
/// Has the product multiply bf16 in pairs or tiles where the machine does that
/// no slower; `rowBlock` rows in a unit, 0: all. Before the tile is chosen.
void chooseMultiply(ProductAnalysis &p, const MachineModel &machine,
                    int64_t rowBlock = 0);
/// Whether the rows' elements are copied for a unit, and why.
Decision needsNoCopy(const ProductAnalysis &p);
/// Gives the product the form `tile`.
void addTile(CaseBuilder &c, const ProductAnalysis &p, const Tile &tile,
             llvm::ArrayRef<CaseBuilder::Word> words,
             llvm::ArrayRef<CaseBuilder::Number> more = {});
/// Whether a product of few rows takes dot products along k, and not columns
/// scaled by each row's elements.
bool canDot(const ProductAnalysis &p, bool copiesRows);
/// Gives the product the form `dot` or `axpy`.
void addFewRows(CaseBuilder &c, const ProductAnalysis &p, bool copiesRows,
                int64_t lanes, llvm::ArrayRef<CaseBuilder::Word> words);

/// The rows and columns that the loops of a form take at a time.
ProductTile getTile(LoopFormAttr form);

/// The numbers that each form of a product has.
llvm::SmallVector<NumberRule> getProductRules(llvm::StringRef form);
/// Checks what the form needs besides: `columnBlock` columns at a time, and
/// `rowBlock` rows in a unit; 0: all.
mlir::LogicalResult
verifyProduct(LoopFormAttr form, ProductAnalysis &p, int64_t columnBlock,
              int64_t rowBlock, const MachineModel &machine,
              llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_PRODUCTCHOICES_H
