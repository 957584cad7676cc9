//===- Prices.h - Predicted times of scheduled kernels --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forms count the work of a case at nominal sizes; a roofline over the
// machine's rates converts the work to time.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_PRICES_H
#define LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_PRICES_H

#include "luminal/Dialect/LLIR/Analysis/ProductAnalysis.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"
#include "luminal/Support/MachineModel.h"

namespace luminal::llir {

/// The work of a case, all its work items together.
struct LoopWork {
  /// Work items, which workers take one by one. If the last ones along a dim
  /// are smaller: the number of full ones (0: all are full), and the smaller
  /// ones expressed as a number of full ones.
  double units = 1, fullUnits = 0, smallerUnits = 0;
  /// Simple f32 operations on vectors, and multiply-adds.
  double operations = 0;
  double products = 0;
  /// Nanoseconds on all workers of tiles whose time was fitted as a whole,
  /// including their reads.
  double tiles = 0;
  /// Bytes from and to memory; bytes that are read again from a worker's own
  /// caches; and bytes that are read again from the cache shared by all
  /// workers.
  double memoryBytes = 0;
  double cacheBytes = 0;
  double farBytes = 0;
  /// Bytes written to memory while the worker waits; a cache would absorb such
  /// writes and the worker would continue.
  double exposedBytes = 0;
  /// For a GPU: the number of threads, how many of them are resident on an SM
  /// (0: its maximum), and how many memory latencies each thread waits for in
  /// sequence; resident threads wait in parallel. `ends` are the latencies at
  /// the begin and end of the kernel.
  double threads = 0, resident = 0, waits = 0, ends = 0;
  /// Whether the data that threads wait for is in the SM's own cache.
  bool waitsForOwn = false;
  /// Nanoseconds of one SM, including its memory latencies.
  double alone = 0;
  /// Whether results are so large that neither they nor earlier data remain in
  /// any cache.
  bool leavesCaches = false;
  /// `shared` operations are done once for a group of consecutive work items;
  /// `groups` is the number of such groups.
  double shared = 0, groups = 1;
};

/// Returns the multiply-adds per nanosecond that priceWork assumes for a
/// worker.
double getProductRate(const MachineModel &machine);

/// Returns the predicted nanoseconds on `workers` workers of the machine.
double priceWork(const LoopWork &work, const MachineModel &machine,
                 double workers);
PriceTerms getTerms(const LoopWork &work, const MachineModel &machine,
                    double workers);

/// Returns the best of several ways to cut one kernel, for all workers and for
/// one, since the caller decides on the threads of a call: the first with the
/// least product of the price for one worker and the squared price for all.
/// Each candidate has the work at the same sizes of the kernel, one or more,
/// with equal weights.
size_t chooseWork(llvm::ArrayRef<llvm::SmallVector<LoopWork, 2>> candidates,
                  const MachineModel &machine);

/// Returns the simple operations of one element of the op; 0 if it only moves
/// data.
int64_t getOperations(mlir::Operation *op);

/// The sizes of a kernel when symbols have the value `nominal`, clamped to
/// their ranges.
class KernelSizes {
public:
  explicit KernelSizes(const KernelAnalysis &a,
                       int64_t nominal = kNominalSymbol)
      : a(a), nominal(nominal) {}

  double valueOf(const Expr &e) const {
    return nominalValue(e, a.getAssumptions(), nominal);
  }
  /// Does the same with values for dims.
  double valueAt(const Expr &e, const std::vector<int64_t> &dims) const;
  double countElements(mlir::Value v) const;
  double countBytes(mlir::Value v) const;
  /// Returns the work items of the grid over a space of these extents; on a GPU
  /// the thread blocks.
  double countUnits(LoopCaseAttr loopCase, llvm::ArrayRef<Expr> extents) const;
  /// Sets the work items, and on a CPU how many of them are full.
  void countUnits(LoopWork &work, LoopCaseAttr loopCase,
                  llvm::ArrayRef<Expr> extents) const;

  /// Returns the operations to compute all of `v` from the results of ops with
  /// loops and from `kept` values.
  double countOperations(
      mlir::Value v,
      const llvm::SmallPtrSetImpl<mlir::Value> *kept = nullptr) const {
    return countOperations(llvm::ArrayRef(v), kept);
  }
  /// The same for several values, computed together at each index.
  double countOperations(
      llvm::ArrayRef<mlir::Value> roots,
      const llvm::SmallPtrSetImpl<mlir::Value> *kept = nullptr) const;
  /// The same if ops with loops on the way are recomputed for each element that
  /// reads them.
  double countNested() const;
  /// Returns a lower bound of the bytes that the kernel reads and writes.
  double countMemory() const;

private:
  const KernelAnalysis &a;
  int64_t nominal;
};

/// Adds the memory latencies of GPU threads that compute elements: the reads of
/// the elements, then those of each reduction, round by round, with the cache
/// lines that it reads.
void addElementWaits(LoopWork &work, KernelAnalysis &a, LoopCaseAttr loopCase,
                     const KernelSizes &sizes, const MachineModel &machine);

/// Returns the threads that are resident on an SM, from the blocks that the
/// forms of a case state; 0 if they state none.
double countResident(LoopCaseAttr loopCase);

/// Returns the slowdown of a case that uses fewer SIMD lanes than the machine
/// has.
double countScalarLoss(LoopCaseAttr loopCase, const MachineModel &machine);

/// Rows and columns of a product that are taken at a time; 0: not stated.
struct ProductTile {
  double rows = 0, columns = 0;
  /// Whether consecutive work items have the same columns, which are packed
  /// once.
  bool sharesColumns = false;
  /// Whether consecutive work items have the same rows, of which an image is
  /// copied once.
  bool sharesRows = false;
};
/// Cuts a product, the only one of its kernel, as a verified case says. Returns
/// the rows and columns of a work item. `columns` is the word of that name in
/// the form.
ProductTile applyCut(ProductAnalysis &p, LoopCaseAttr loopCase,
                     llvm::StringRef columns);
/// Returns how many tiles of `rows` rows a product has. If rows are grouped, a
/// tile has rows of one group only; the estimate assumes sorted rows with
/// random keys.
double countRowTiles(const ProductAnalysis &p, const KernelSizes &sizes,
                     double rows);
/// Returns whether rows of a product look up their columns, and enough rows are
/// expected to look up the same ones that reading them once for a group pays.
bool haveGroupsThatPay(KernelAnalysis &a, ProductOpInterface op);
/// Returns the slowdown of a tile of `rows` rows compared with one of the same
/// size, if rows are windows of an image whose distances differ between tiles.
double getAddressLoss(const ProductAnalysis &p, int64_t rows);
/// Returns the price of a step of k that broadcasts `rows` single elements,
/// loads `vectors` vectors of windows and multiplies each with each; the unit
/// is a vector multiply-add.
double priceWindowStep(double rows, double vectors,
                       const MachineModel &machine);
/// Adds a product whose work items take `rows` x `columns`. `tile` is the rows
/// and columns that the loops take at a time, 0 if they pack nothing.
void addProduct(LoopWork &work, const ProductAnalysis &p,
                const KernelSizes &sizes, double rows, double columns,
                ProductTile tile, bool copiesRows, const MachineModel &machine);

/// Adds the additional bytes of writing results: the lines that a store fetches
/// because no cache holds them, or the lines that a reader fetches because they
/// were written past a cache that would have held them.
void addFetchedResults(LoopWork &work, KernelOp kernel, LoopCaseAttr loopCase,
                       const KernelSizes &sizes, const MachineModel &machine);

/// Adds the ops after a kernel's products, and all its memory traffic.
void addResults(LoopWork &work, KernelOp kernel, const KernelSizes &sizes);

} // namespace luminal::llir

#endif // LUMINAL_LIB_DIALECT_LLIR_SCHEDULES_PRICES_H
