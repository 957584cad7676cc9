//===- Prices.cpp - Predicted times of scheduled kernels ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Prices.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// The fraction of the multiply-add rate that a tile reaches, given its loads
/// and its epilogue; and that of loops without a tile, which load more.
static constexpr double kTileShare = 0.8;
static constexpr double kPlainShare = 0.4;
/// Operations to pack one element of the columns, and to copy one of the rows
/// (measured on Zen 4, where packing takes 0.24 ns an element).
static constexpr double kPackOperations = 7;
/// The same if columns are gathered run by run, with a partial vector at the
/// ends of each run (measured on Sapphire Rapids with runs of one vector: 1.8
/// ns an element).
static constexpr double kRunOperations = 20;
static constexpr double kCopyOperations = 2;
/// The same to load single elements that are not contiguous, whose addresses
/// are computed (measured on Zen 4 with windows of 7 x 7 elements, 0.5 ns an
/// element).
static constexpr double kElementOperations = 10;
/// Operations to transpose one sum of a tile, and to store it in vectors that
/// may be partial (measured on Zen 4, 0.3 ns a sum).
static constexpr double kTransposeOperations = 4;
/// The time to load a vector that crosses a cache line, in vector FMAs.
static constexpr double kWindowLoad = 2;
/// Load and per-k-step overhead of a tile, in vector FMAs, when the FMAs
/// dominate.
static constexpr double kLoadShare = 0.1, kStepOverhead = 2;
/// The fraction of a full tile's step spent in FMAs; kTileShare covers the
/// rest.
static constexpr double kFullStep = 0.9;
/// The slowdown of a tile whose rows have one address each, which exceed the
/// address registers (measured on Zen 4: 14 rows of images with lines of 64 or
/// 96, compared with lines of 28 and 56).
static constexpr double kOwnAddresses = 1.37;
/// Runs of consecutive work items that each of several workers gets.
static constexpr double kRuns = 4;
/// By which fraction of a work item the finishing times of workers differ,
/// because they start at different times and are disturbed.
static constexpr double kUneven = 0.1;
/// The latency of the shared cache of a GPU (L2), as a fraction of memory
/// latency (49 to 3136 rows of 768 to 96 f16 took an H200 0.39 us for each time
/// that their threads waited).
static constexpr double kNearWait = 0.6;
/// The same for an SM's own cache, including the exchange between threads of a
/// group (sequences of 2 to 8 kernels in a block take an H200 3.5 to 85 us).
static constexpr double kOwnWait = 0.2;
/// Cuts whose products of prices differ by less than this factor are equal.
static constexpr double kSame = 1.06;

double llir::getProductRate(const MachineModel &machine) {
  return machine.getFmaRate() * kTileShare;
}

/// Returns how many full work items the busiest of `count` workers does. Full
/// ones are taken first; each smaller one goes to a worker that is done
/// earlier.
static double countRounds(const LoopWork &work, double count) {
  double units = std::max(1.0, work.units);
  double smaller = units - work.fullUnits;
  if (!work.fullUnits || smaller <= 0)
    return std::ceil(units / count);
  double rounds = std::ceil(work.fullUnits / count);
  double size = std::clamp(work.smallerUnits / smaller, 1e-3, 1.0);
  double room = (rounds * count - work.fullUnits) * std::floor(1 / size);
  return rounds + std::ceil(std::max(0.0, smaller - room) / count) * size;
}

PriceTerms llir::getTerms(const LoopWork &work, const MachineModel &machine,
                          double workers) {
  PriceTerms terms;
  // First for one worker.
  terms.operations = work.operations / machine.operationRate;
  terms.products = work.products / getProductRate(machine);
  terms.cache = std::max(0.0, work.cacheBytes / machine.getCacheRate() -
                                  terms.operations - terms.products);
  terms.far = work.farBytes / machine.getSharedCacheRate();
  terms.shared = work.shared / machine.operationRate;
  double busy = terms.computing();
  double units = std::max(1.0, work.units);
  // The runtime uses only as many workers as the work is worth; a GPU's blocks
  // are distributed over the whole GPU.
  double count = std::min(workers, units);
  if (!machine.blockThreads) {
    // As the launch counts: a multiply-add is one operation.
    double worth = std::floor((work.operations + work.products + work.shared) /
                              double(machine.grain));
    count = std::clamp(count, 1.0, std::max(1.0, worth));
  }
  double rounds = countRounds(work, count);
  // If the work items of a group are divided among workers, each of these does
  // the shared work once.
  terms.shared *= std::clamp((count > 1 ? kRuns * count : 1) / work.groups, 1.0,
                             std::max(1.0, units / work.groups));
  busy = terms.computing();
  double part =
      rounds /
      (work.fullUnits > 0 ? work.fullUnits + work.smallerUnits : units);
  for (double *term : {&terms.operations, &terms.products, &terms.cache,
                       &terms.far, &terms.shared})
    *term *= part;
  terms.products += work.tiles * machine.workers / workers;
  terms.begin = machine.launchTime;
  if (count > 1) {
    terms.begin += machine.blockThreads ? 0 : machine.handOverTime;
    // Small work items of one group are not balanced individually: workers take
    // them in runs.
    terms.uneven = kUneven * busy /
                   (work.shared > 0 ? std::min(units, kRuns * count) : units);
  }
  double rate = machine.getReadRate(count);
  terms.memory =
      work.memoryBytes /
      (work.leavesCaches ? rate
                         : machine.getTrafficRate(work.memoryBytes, count));
  if (work.waits + work.ends > 0) {
    double room = work.resident > 0 ? work.resident : machine.residentThreads;
    double waves = std::max(1.0, std::ceil(work.threads / (workers * room)));
    // A block computes between its waits, and other blocks of its SM run while
    // it waits.
    double latency = machine.memoryLatency *
                     (work.waitsForOwn                              ? kOwnWait
                      : work.memoryBytes <= double(machine.l3Bytes) ? kNearWait
                                                                    : 1);
    terms.waiting = (work.ends + waves * work.waits) * latency +
                    terms.computing() / (work.waitsForOwn ? 1 : rounds);
  }
  terms.exposed = work.exposedBytes / rate + work.alone;
  return terms;
}

double llir::priceWork(const LoopWork &work, const MachineModel &machine,
                       double workers) {
  return getTerms(work, machine, workers).total();
}

size_t llir::chooseWork(ArrayRef<SmallVector<LoopWork, 2>> candidates,
                        const MachineModel &machine) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  // Relative to the first candidate, so that each size has the same weight.
  auto priceFor = [&](ArrayRef<LoopWork> works, double workers) {
    double sum = 0;
    for (auto [work, first] : llvm::zip_equal(works, candidates.front()))
      sum += priceWork(work, machine, workers) /
             std::max(1e-3, priceWork(first, machine, workers));
    return sum;
  };
  double bestPrice = kNone;
  size_t best = 0;
  for (auto [i, works] : llvm::enumerate(candidates)) {
    double all = priceFor(works, machine.workers);
    double price = priceFor(works, 1) * all * all;
    if (price * kSame < bestPrice)
      best = i, bestPrice = price;
  }
  return best;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

double KernelSizes::valueAt(const Expr &e,
                            const std::vector<int64_t> &dims) const {
  std::optional<int64_t> value = e.evaluate(
      [&](std::string_view name) -> std::optional<int64_t> {
        return int64_t(valueOf(Expr::symbol(name)));
      },
      dims);
  return double(value.value_or(0));
}

double KernelSizes::countElements(Value v) const {
  SmallVector<Expr> extents = hlir::getExtents(v);
  return valueOf(product({extents.begin(), extents.end()}));
}

double KernelSizes::countBytes(Value v) const {
  // In memory, i1 takes a byte.
  unsigned bits = std::max(8u, getElementType(v).getIntOrFloatBitWidth());
  return countElements(v) * bits / 8;
}

/// Returns the product, over all axes that are cut, of `countAlong` of the
/// extent and the block.
template <typename Fn>
static double overBlocks(const KernelSizes &sizes, LoopCaseAttr loopCase,
                         ArrayRef<Expr> extents, Fn countAlong) {
  double units = loopCase.getParts();
  for (LoopAxisAttr axis : loopCase.getGrid()) {
    double extent = 1;
    for (unsigned dim : axis.getDims())
      extent *= sizes.valueOf(extents[dim]);
    if (axis.getBlock())
      units *= countAlong(extent, axis.getBlock());
  }
  return units;
}

double KernelSizes::countUnits(LoopCaseAttr loopCase,
                               ArrayRef<Expr> extents) const {
  double units =
      overBlocks(*this, loopCase, extents, [](double extent, double block) {
        return std::ceil(extent / block);
      });
  // On a GPU a worker takes thread blocks.
  if (loopCase.getThreads())
    units = std::ceil(units * loopCase.getTeam() / loopCase.getThreads());
  return units;
}

void KernelSizes::countUnits(LoopWork &work, LoopCaseAttr loopCase,
                             ArrayRef<Expr> extents) const {
  work.units = countUnits(loopCase, extents);
  work.fullUnits =
      overBlocks(*this, loopCase, extents, [](double extent, double block) {
        return std::max(1.0, std::floor(extent / block));
      });
  work.smallerUnits = overBlocks(*this, loopCase, extents,
                                 [](double extent, double block) {
                                   return std::max(1.0, extent / block);
                                 }) -
                      work.fullUnits;
}

/// Returns how many contiguous elements one index of a gather reads.
static int64_t countRow(GatherOp op) {
  auto type = cast<RankedTensorType>(op.getData().getType());
  int64_t count = 1;
  for (int64_t extent : type.getShape().drop_front())
    count *= ShapedType::isDynamic(extent) ? kNominalSymbol : extent;
  return std::max<int64_t>(1, count);
}

int64_t llir::getOperations(Operation *op) {
  auto body = dyn_cast<BodyOpInterface>(op);
  auto code = dyn_cast<CodeOpInterface>(op);
  int64_t operations = body && code && !body.isFree() ? code.getCodeSize() : 0;
  // An index is loaded and checked once for its row, which vectors load.
  if (auto gather = dyn_cast<GatherOp>(op))
    return llvm::divideCeil(operations, countRow(gather));
  return operations;
}

double
KernelSizes::countOperations(ArrayRef<Value> roots,
                             const llvm::SmallPtrSetImpl<Value> *kept) const {
  llvm::SetVector<Value> chain;
  auto add = [&](Value operand) {
    Operation *op = operand.getDefiningOp();
    if (op && !hasLoops(op) && !(kept && kept->contains(operand)))
      chain.insert(operand);
  };
  llvm::for_each(roots, add);
  double operations = 0;
  for (size_t i = 0; i < chain.size(); ++i) {
    Operation *op = chain[i].getDefiningOp();
    operations += getOperations(op) * countElements(chain[i]);
    for (Value operand : op->getOperands())
      add(operand);
  }
  return operations;
}

double KernelSizes::countNested() const {
  KernelOp kernel = a.kernel;
  Operation *terminator = kernel.getBody().front().getTerminator();
  // How often each value is computed; a value that is read several times at one
  // index is computed once.
  llvm::DenseMap<Value, double> counts;
  for (Value yielded : terminator->getOperands())
    counts[yielded] = countElements(yielded);
  double operations = 0;
  for (Operation *op = terminator->getPrevNode(); op; op = op->getPrevNode()) {
    double count = 0;
    for (Value result : op->getResults())
      count = a.isPlaced(result) ? countElements(result)
                                 : std::max(count, counts.lookup(result));
    auto reduction = dyn_cast<ReductionOpInterface>(op);
    if (reduction)
      count *= std::max(1.0, valueOf(reduction.getReducedExtent()));
    operations += count * (reduction ? 1 : getOperations(op));
    for (Value operand : op->getOperands())
      counts[operand] = std::max(counts.lookup(operand), count);
  }
  return operations;
}

double KernelSizes::countMemory() const {
  KernelOp kernel = a.kernel;
  Cost cost = kernel.getCost();
  return valueOf(cost.bytesRead + cost.bytesWritten);
}

double llir::countResident(LoopCaseAttr loopCase) {
  double blocks = 0;
  for (LoopFormAttr form : loopCase.getForms())
    blocks = std::max(blocks, double(form.getNumber("blocks", 0)));
  return blocks * loopCase.getThreads();
}

double llir::countScalarLoss(LoopCaseAttr loopCase,
                             const MachineModel &machine) {
  if (loopCase.getThreads())
    return 1;
  int64_t lanes = 1;
  for (LoopAxisAttr axis : loopCase.getGrid())
    lanes = std::max<int64_t>(lanes, axis.getLanes());
  for (LoopAxisAttr axis : loopCase.getStream())
    lanes = std::max<int64_t>(lanes, axis.getLanes());
  for (LoopFormAttr form : loopCase.getForms())
    lanes = std::max(lanes, form.getNumber("lanes", 1));
  return std::max(1.0, double(machine.getLanes(32)) / lanes);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

ProductTile llir::applyCut(ProductAnalysis &p, LoopCaseAttr loopCase,
                           StringRef columns) {
  SmallVector<ProductAnalysis::Role> roles;
  bool fits = p.findResults() && p.applyGrid(loopCase, columns, roles);
  assert(fits && "a case that was not verified");
  (void)fits;
  p.joinDims();
  ProductTile cut;
  for (auto [axis, role] : llvm::zip(loopCase.getGrid(), roles)) {
    if (role == ProductAnalysis::Role::Columns)
      cut.columns = axis.getBlock();
    if (role == ProductAnalysis::Role::Rows)
      cut.rows = axis.getBlock();
  }
  return cut;
}

/// Returns the slowdown of a step of k, relative to its multiplications, if
/// columns are loaded in place instead of packed.
static double getLoadLoss(const ProductAnalysis &p, ProductTile tile,
                          const MachineModel &machine) {
  double vectors = tile.columns / machine.getLanes(8 * p.bytes);
  return std::max(1.0, kFullStep *
                           priceWindowStep(tile.rows, vectors, machine) /
                           std::max(1.0, tile.rows * vectors));
}

namespace {
/// Totals over all columns: the places of their tiles, the vectors of their
/// copies, and the elements in these copies.
struct PlaceCounts {
  double places = 0, vectors = 0, elements = 0;
};
} // namespace

/// Counts them for blocks of `block` columns and tiles of `tile` places.
static PlaceCounts countPlaces(const Windows &windows, double columns,
                               double block, double tile, double lanes) {
  PlaceCounts counts;
  const Windows::Digit &first = windows.digits.front();
  bool hasBorder = windows.axes[first.axis].reach > 0;
  auto add = [&](double times, double size) {
    if (times < 1 || size < 1)
      return;
    Windows::Layout layout = windows.getLayout(size);
    counts.places += times * std::ceil(layout.span / tile) * tile;
    // The ends of a line are separate vectors.
    counts.vectors += times * layout.size / layout.line *
                      (std::ceil(layout.line / lanes) + (hasBorder ? 2 : 0));
    counts.elements += times * layout.size;
  };
  block = std::min(block, columns);
  add(std::floor(columns / block), block);
  add(1, std::fmod(columns, block));
  return counts;
}

double llir::priceWindowStep(double rows, double vectors,
                             const MachineModel &machine) {
  double loads = kWindowLoad * vectors + machine.getSpreadTime() * rows;
  return std::max(rows * vectors, loads) + kLoadShare * loads + kStepOverhead;
}

double llir::getAddressLoss(const ProductAnalysis &p, int64_t rows) {
  bool haveOwn = p.rowWindows &&
                 p.rowWindows->getDistances(rows, p.getRowLayout(0)).empty();
  return haveOwn ? kOwnAddresses : 1;
}

double llir::countRowTiles(const ProductAnalysis &p, const KernelSizes &sizes,
                           double rows) {
  double m = sizes.valueOf(p.rows.extent);
  double tiles = std::max(1.0, std::ceil(m / std::max(1.0, rows)));
  if (!p.hasGroups())
    return tiles;
  double all = 1;
  for (const ProductAnalysis::Key &key : p.keys)
    all *= std::max(1.0, sizes.valueOf(key.extent));
  // The expected number of distinct keys among m, all equally likely.
  double groups = all * (1 - std::pow(1 - 1 / all, m));
  return std::clamp(tiles - 1 + groups, tiles, std::max(tiles, m));
}

bool llir::haveGroupsThatPay(KernelAnalysis &a, ProductOpInterface op) {
  // The average rows of a group for which the search for groups is cheap.
  constexpr double kLeastShared = 1.25;
  ProductAnalysis p(a, op);
  KernelSizes sizes(a);
  return p.takeGroups() &&
         countRowTiles(p, sizes, sizes.valueOf(p.rows.extent)) * kLeastShared <=
             sizes.valueOf(p.rows.extent);
}

void llir::addProduct(LoopWork &work, const ProductAnalysis &p,
                      const KernelSizes &sizes, double rows, double columns,
                      ProductTile tile, bool copiesRows,
                      const MachineModel &machine) {
  double m = sizes.valueOf(p.rows.extent), n = sizes.valueOf(p.columns.extent),
         k = sizes.valueOf(p.kExtent), all = 1;
  for (const Expr &extent : p.batchExtents)
    all *= sizes.valueOf(extent);
  auto blocksOf = [](double extent, double block) {
    return std::max(1.0, std::ceil(extent / std::max(1.0, block)));
  };
  double rowBlocks = countRowTiles(p, sizes, rows),
         columnBlocks = blocksOf(n, columns);
  // f64 takes two lanes.
  double width = p.bytes > 4 ? 2 : 1;
  // Pairs are multiplied and moved as one element.
  double rate = p.hasTiles() ? machine.tileRate : machine.pairRate;
  double multiplied = p.hasPairs() ? machine.getFmaRate() / rate : width,
         moved = p.hasPairs() ? 0.5 : width;
  auto paddedTo = [](double extent, double step) {
    return step > 0 ? std::ceil(extent / step) * step : extent;
  };
  if (p.hasTiles())
    k = paddedTo(k, p.kTileElements);
  // Rows beyond the last whole tile are taken a few at a time. This needs a
  // known number of rows, and does not apply to windows, whose loads take
  // longer.
  bool takesFew = p.rows.extent.asConstant() && !p.hasTiles() && !p.windows;
  auto paddedRows = [&](double extent) {
    double rest = tile.rows > 0 ? std::fmod(extent, tile.rows) : 0;
    double whole = paddedTo(rest, tile.rows),
           few = paddedTo(rest, p.kRemainderRows);
    return extent - rest + (takesFew ? std::min(few, whole) : whole);
  };
  double padded = rowBlocks * paddedRows(std::min(rows, m));
  // The last block is smaller.
  padded = std::min(padded, m + rowBlocks * tile.rows);
  double left = all * m * k, right = all * n * k;
  // The last tile of columns only has the vectors that it fills, if that is
  // known.
  bool knowsLast = p.columns.extent.asConstant() && !p.hasTiles();
  double step = knowsLast ? machine.getLanes(8 * p.bytes) : tile.columns;
  double places = std::max(n, paddedTo(n, std::min(step, tile.columns))),
         loss = 1;
  // Elements of the columns that work items hold.
  double held = right;
  if (p.windows) {
    double lanes = machine.getLanes(8 * p.bytes);
    PlaceCounts counts =
        countPlaces(*p.windows, n, columns, std::max(1.0, tile.columns), lanes);
    places = counts.places;
    right = all * counts.vectors * lanes;
    held = all * counts.elements;
    loss = getLoadLoss(p, tile, machine);
  } else if (tile.rows) {
    loss = getAddressLoss(p, int64_t(tile.rows));
  }
  work.products += all * std::max(m, padded) * places * k * multiplied * loss *
                   (tile.rows ? 1 : kTileShare / kPlainShare);
  // The loops of the copy resolve the borders of an image.
  llvm::SmallPtrSet<Value, 8> untold;
  if (p.windows || p.rowWindows)
    for (Operation &op : KernelOp(p.a.kernel).getBody().front())
      for (Value result : op.getResults())
        if (getElementType(result).isInteger(1))
          untold.insert(result);
  auto perElement = [&](const ProductSide &side) {
    return sizes.countOperations(side.operand, &untold) /
           std::max(1.0, sizes.countElements(side.operand));
  };
  double ofRight = perElement(p.columns), ofLeft = perElement(p.rows);
  // Products of few rows do not pack their operands.
  bool hasRuns = p.runs && !p.hasPairs() && tile.rows && !p.panels;
  if (p.windows)
    ofRight += kCopyOperations;
  else if (hasRuns)
    ofRight += kRunOperations;
  else if (!p.panels && !p.columns.alongOwn && !p.columns.alongK)
    ofRight += kElementOperations;
  else if (!p.panels && tile.rows)
    ofRight += kPackOperations;
  // The columns are computed for each tile of rows; the rows of a group may be
  // few.
  if (!p.windows && !tile.rows)
    ofRight *=
        std::max(1.0, (p.hasGroups() ? m / rowBlocks : std::min(rows, m)) / 2);
  if (copiesRows)
    ofLeft += p.rows.alongK ? kCopyOperations : kElementOperations;
  if (p.finishesRows)
    work.operations += kTransposeOperations * all * m * n;
  if (tile.sharesColumns && !p.rowWindows) {
    work.shared += moved * right * ofRight;
    work.groups = std::max(1.0, all * columnBlocks);
  } else {
    work.operations += moved * rowBlocks * right * ofRight;
  }
  // Elements of the rows that work items hold, in total and each.
  double heldRows = left, unitRows = left;
  if (p.rowWindows) {
    // The ends of a line are separate vectors.
    Windows::Layout layout =
        p.getRowLayout(rows < m ? int64_t(rows) : int64_t(0));
    double lanes = machine.getLanes(8 * p.bytes);
    double copied = double(layout.size) / double(layout.line) *
                    (std::ceil(double(layout.line) / lanes) + 2) * lanes;
    double copying =
        all * rowBlocks * copied * (perElement(p.rows) + kCopyOperations);
    if (tile.sharesRows) {
      work.shared += copying;
      work.groups = std::max(1.0, all * rowBlocks);
    } else {
      work.operations += columnBlocks * copying;
    }
    unitRows = all * double(layout.size);
    heldRows = rowBlocks * unitRows;
  } else if (copiesRows && tile.sharesRows) {
    work.shared += moved * left * ofLeft;
    work.groups = std::max(1.0, all * rowBlocks);
  } else {
    work.operations += moved * columnBlocks * left * ofLeft;
  }
  // Data that is read again comes from a worker's own cache, if the columns of
  // a work item fit into it (for rows: with all rows), otherwise from the
  // shared cache.
  auto countOnce = [&](const ProductSide &side, double elements) {
    return elements / std::max(1.0, all) *
           getElementType(side.operand).getIntOrFloatBitWidth() / 8;
  };
  auto readAgain = [&](double once, double times, double near) {
    (near <= machine.l2Bytes   ? work.cacheBytes
     : once <= machine.l3Bytes ? work.farBytes
                               : work.memoryBytes) += times * all * once;
  };
  double rowBytes = countOnce(p.rows, heldRows),
         columnBytes = countOnce(p.columns, held);
  double unitBytes = columnBytes / columnBlocks;
  // Without grouping, the kernel's cost reads each row's own columns.
  if (p.hasGroups())
    work.memoryBytes -= (m - rowBlocks) * columnBytes;
  else
    readAgain(columnBytes, rowBlocks - 1, unitBytes);
  readAgain(rowBytes, columnBlocks - 1,
            countOnce(p.rows, unitRows) + unitBytes);
}

void llir::addResults(LoopWork &work, KernelOp kernel,
                      const KernelSizes &sizes) {
  for (Value yielded : getYielded(kernel))
    work.operations += sizes.countOperations(yielded);
  work.memoryBytes += sizes.countMemory();
}
