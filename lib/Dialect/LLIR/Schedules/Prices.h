//===- Prices.h - Predicted times of scheduled kernels --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forms say what a case does at nominal sizes; a roofline over the machine's
// rates makes that a time.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_PRICES_H
#define LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_PRICES_H

#include "luminal/Dialect/LLIR/Analysis/ProductAnalysis.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"
#include "luminal/Support/MachineModel.h"

namespace luminal::llir {

/// What a case does, all of its units together.
struct LoopWork {
  /// Units of work, which workers take one by one; how many of them are full
  /// where the last ones along a dim are smaller (0: all are), and how many
  /// full ones do as much as those that are not.
  double units = 1, fullUnits = 0, smallerUnits = 0;
  /// Simple f32 operations, on vectors; and multiplications with addition.
  double operations = 0;
  double products = 0;
  /// Nanoseconds that all workers take for tiles whose time was fitted as a
  /// whole, with what they read.
  double tiles = 0;
  /// Bytes from and to memory; those that a worker's own caches hold when they
  /// are read again; and those that only the cache of all workers holds.
  double memoryBytes = 0;
  double cacheBytes = 0;
  double farBytes = 0;
  /// Bytes to memory that a worker waits for, with nothing else to do: caches
  /// would take them and write them while it goes on.
  double exposedBytes = 0;
  /// Threads of a GPU, how many of them a multiprocessor has room for (0: as
  /// many as it holds of any), and how often each waits for memory, one time
  /// after the other: those that run at once wait together. And how often the
  /// kernel does where it begins and ends.
  double threads = 0, resident = 0, waits = 0, ends = 0;
  /// Whether what they wait for is in the multiprocessor's own memory by then.
  bool waitsForOwn = false;
  /// Nanoseconds of one multiprocessor, with all that it waits for.
  double alone = 0;
  /// Whether results are so large that they are in no cache afterwards, nor
  /// what was there before.
  bool leavesCaches = false;
  /// Operations that a worker does once for all units of a group that it takes
  /// one after the other, of so many groups.
  double shared = 0, groups = 1;
};

/// Multiplications per nanosecond that priceWork counts on of a worker.
double getProductRate(const MachineModel &machine);

/// Nanoseconds that `workers` workers of the machine take.
double priceWork(const LoopWork &work, const MachineModel &machine,
                 double workers);
PriceTerms getTerms(const LoopWork &work, const MachineModel &machine,
                    double workers);

/// Of several ways to cut one kernel, the best for all workers, and for one,
/// since the threads of a call are the caller's: the one of the least product
/// of both prices, in which that of all workers counts twice. The first of
/// equally good ones. Each has the work at the same sizes of the
/// kernel, one or more, which count the same.
size_t chooseWork(llvm::ArrayRef<llvm::SmallVector<LoopWork, 2>> candidates,
                  const MachineModel &machine);

/// Simple operations that an element of the op takes: none where it only moves.
int64_t getOperations(mlir::Operation *op);

/// The sizes of a kernel where symbols have the value `nominal`, within their
/// ranges.
class KernelSizes {
public:
  explicit KernelSizes(const KernelAnalysis &a,
                       int64_t nominal = kNominalSymbol)
      : a(a), nominal(nominal) {}

  double valueOf(const Expr &e) const {
    return nominalValue(e, a.getAssumptions(), nominal);
  }
  /// The same where dims have those values.
  double valueAt(const Expr &e, const std::vector<int64_t> &dims) const;
  double countElements(mlir::Value v) const;
  double countBytes(mlir::Value v) const;
  /// Units of the grid, over a space of these extents; of a GPU: blocks.
  double countUnits(LoopCaseAttr loopCase, llvm::ArrayRef<Expr> extents) const;
  /// The same, and how many of them are full, of a CPU.
  void countUnits(LoopWork &work, LoopCaseAttr loopCase,
                  llvm::ArrayRef<Expr> extents) const;

  /// Operations to compute all of `v`, from what ops with loops and `kept`
  /// values leave.
  double countOperations(
      mlir::Value v,
      const llvm::SmallPtrSetImpl<mlir::Value> *kept = nullptr) const {
    return countOperations(llvm::ArrayRef(v), kept);
  }
  /// The same of several values, at one index after the other.
  double countOperations(
      llvm::ArrayRef<mlir::Value> roots,
      const llvm::SmallPtrSetImpl<mlir::Value> *kept = nullptr) const;
  /// The same where ops with loops on the way are computed anew for each
  /// element that reads them.
  double countNested() const;
  /// What the kernel reads and writes at least.
  double countMemory() const;

private:
  const KernelAnalysis &a;
  int64_t nominal;
};

/// Adds what threads of a GPU wait for that compute elements: what these read,
/// and then each reduction, round by round; with the lines that it reads.
void addElementWaits(LoopWork &work, KernelAnalysis &a, LoopCaseAttr loopCase,
                     const KernelSizes &sizes, const MachineModel &machine);

/// Threads that a multiprocessor has room for by the blocks that the forms of a
/// case name; 0 where they name none.
double countResident(LoopCaseAttr loopCase);

/// By how much fewer lanes than a vector has slow a case down.
double countScalarLoss(LoopCaseAttr loopCase, const MachineModel &machine);

/// Rows and columns of a product; 0: not said.
struct ProductTile {
  double rows = 0, columns = 0;
  /// Whether units that follow each other have the same columns, which are
  /// packed once.
  bool sharesColumns = false;
  /// The same of the rows, of which an image is copied once.
  bool sharesRows = false;
};
/// Cuts a product, the only one of its kernel, as the case says, which was
/// verified: the rows and columns of a unit. `columns` is that number of the
/// form.
ProductTile applyCut(ProductAnalysis &p, LoopCaseAttr loopCase,
                     llvm::StringRef columns);
/// How many tiles of `rows` rows a product has, each of at most one group of
/// rows where these are grouped: sorted ones, whose keys are drawn at random.
double countRowTiles(const ProductAnalysis &p, const KernelSizes &sizes,
                     double rows);
/// Whether rows of a product look up their columns, and so many are expected to
/// look up the same that these are read once for a group of rows.
bool haveGroupsThatPay(KernelAnalysis &a, ProductOpInterface op);
/// How much longer the sums of a tile of `rows` take than those of another as
/// large, where rows are windows of an image that are not at the same distances
/// in each tile.
double getAddressLoss(const ProductAnalysis &p, int64_t rows);
/// What a step of k takes that spreads `rows` single elements and loads
/// `vectors` vectors of windows and multiplies all by all, in multiplications
/// of vectors.
double priceWindowStep(double rows, double vectors,
                       const MachineModel &machine);
/// Adds a product of which a unit takes `rows` x `columns`. `tile` is the rows
/// and columns that its loops take at a time, 0 where they pack nothing.
void addProduct(LoopWork &work, const ProductAnalysis &p,
                const KernelSizes &sizes, double rows, double columns,
                ProductTile tile, bool copiesRows, const MachineModel &machine);

/// Adds the bytes that results cost beside their own: what a store fetches of
/// lines that no cache holds, or what a reader fetches of those that were
/// written past a cache which would have held them.
void addFetchedResults(LoopWork &work, KernelOp kernel, LoopCaseAttr loopCase,
                       const KernelSizes &sizes, const MachineModel &machine);

/// Adds what follows a kernel's products, and all of its memory.
void addResults(LoopWork &work, KernelOp kernel, const KernelSizes &sizes);

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_PRICES_H
