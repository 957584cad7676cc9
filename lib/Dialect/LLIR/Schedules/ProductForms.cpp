//===- ProductForms.cpp - Matrix products ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product over m, n and k (ProductAnalysis). The larger side is read as
// vectors ("columns", the right operand's dims unless `columns = lhs`), the
// other one element by element ("rows"). One of the grid's axes is the columns
// and one the rows; all others are batch. The forms:
//
// - `tile`: a work item packs columns, and a tile of `rows` x `vectors` sums of
//   `lanes` each stays in registers while the loop iterates over k. `pack` says
//   how columns are read, `square` how many are read along k and transposed at
//   once.
// - `dot`: vectors along k, `rows` x `width` sums at a time; remaining rows one
//   at a time, `rest` columns wide.
// - `axpy`: sums of a work item's columns in scratch memory, to which one pass
//   adds `depth` steps of k.
//
// `copy = rows` computes the rows' elements once for each work item. `multiply
// = pairs` multiplies bf16 directly, two indices of k at a time. `multiply =
// tiles` does so with matrix tile registers of 16 rows each; all panels then
// process `depth` elements of k before the next ones, so that a tile's rows
// stay in L1. `ahead = results` prefetches what the tile's epilogue reads and
// writes while the tile is summed. With `groups = rows`, rows are the batch
// indices by which the columns are looked up, and a work item iterates over
// groups of rows with the same lookup.
//
//===----------------------------------------------------------------------===//

#include "LaneSums.h"
#include "ProductChoices.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/Debug.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <utility>

#define DEBUG_TYPE "llir-product-forms"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// The most columns of a work item with few rows; and the least, if it reads
/// columns that are contiguous: enough for long runs of memory.
static constexpr int64_t kColumnsOfFewRows = 512;
static constexpr int64_t kLeastInRuns = 256;
/// The results that are too few for a tile if each is a sum over a long dim.
static constexpr int64_t kFewResults = 64;
/// The most parts into which rows are cut.
static constexpr int64_t kMostParts = 32;
/// The steps of k for which a tile's results are prefetched. With fewer steps
/// the prefetches cost nearly as much as the loads, with more there is little
/// latency to hide (measured on Sapphire Rapids: 64 steps are 5 to 16 % faster,
/// 256 not at all).
static constexpr int64_t kLeastAhead = 32, kMostAhead = 192;
/// A work item's copy of an image takes at most 1/`kShareOfWindows` of its
/// on-chip memory; rows and results pass through the rest (measured on Zen 3,
/// where 237 KB of a 512 KB cache are 10 % slower than 133).
static constexpr int64_t kShareOfWindows = 2;
/// The most panels of a work item if results are contiguous along the rows: a
/// tile writes a part of a line for each column (measured on Zen 4 with 64
/// channels of 56 x 56 places, where eight panels took 1.3 times as long as
/// two).
static constexpr int64_t kMostPanelsOfLines = 2;
/// If rows or columns are not known, cuts are priced at the nominal number and
/// at this one.
static constexpr int64_t kManyRows = 1024;

namespace {

/// Proposes the cases of one product.
class Proposal {
public:
  Proposal(ProductAnalysis &p, const MachineModel &machine,
           SmallVectorImpl<Reporter::Arg> &why)
      : p(p), machine(machine), why(why), lanes(machine.getLanes(8 * p.bytes)) {
  }

  SmallVector<LoopCaseAttr> make();
  /// Moves outer dims of the rows to the batch, if reading all rows together
  /// needs index divisions and reading the inner rows alone does not. Refuses
  /// otherwise. To be called before `make`.
  Decision takePlainRows();

private:
  bool havePanels();
  void splitRows(size_t count);
  bool chooseSideOfPanels();
  void chooseSides();
  bool takeGroups();
  std::optional<int64_t> countRows() const;
  /// Returns whether consecutive work items share the copy of their rows,
  /// instead of packed columns: columns in panels need no packing.
  bool sharesRows() const {
    return p.rowWindows || (copiesRows && p.panels && !p.hasGroups());
  }
  /// Columns and rows (0: all) of a work item.
  struct Cut {
    int64_t columns, rows;
  };
  SmallVector<Cut> listCuts(const Tile &tile, bool isDot) const;
  Cut chooseCut(const Tile &tile, bool isDot) const;
  LoopWork countResults(const KernelSizes &sizes) const;
  LoopWork countCut(const KernelSizes &sizes, LoopWork results, const Cut &cut,
                    const Tile &tile, bool isFew) const;
  /// The best schedule that treats columns as windows of an image.
  struct Choice {
    Tile tile;
    Cut cut;
    LoopWork work;
  };
  std::optional<Choice> chooseWindows();
  Decision waitsForResults() const;
  LoopCaseAttr makeTile(CaseBuilder c, const Tile &tile) const {
    SmallVector<CaseBuilder::Word> words = commonWords();
    if (waitsForResults())
      words.push_back({"ahead", "results"});
    if (p.finishesRows)
      words.push_back({"finish", "rows"});
    addTile(c, p, tile, words);
    return c.build();
  }
  SmallVector<CaseBuilder::Word> commonWords() const;

  ProductAnalysis &p;
  const MachineModel &machine;
  SmallVectorImpl<Reporter::Arg> &why;
  int64_t lanes;
  bool isSwapped = false, copiesRows = false, hasSides = false;
};
} // namespace

/// Returns whether memory holds the columns as panels of the tile's width.
bool Proposal::havePanels() {
  return bool(p.findPanels(
      getPanelWidth(machine, 8 * p.bytes, p.columns.extent.asConstant())));
}

/// Moves dims of the rows that interrupt contiguous results to the batch; the
/// last `count` dims stay.
void Proposal::splitRows(size_t count) {
  ArrayRef<unsigned> outer = ArrayRef(p.rows.group).drop_back(count);
  if (outer.empty())
    return;
  if (p.batch.empty())
    p.batch.emplace_back();
  p.batch[0].append(outer.begin(), outer.end());
  p.rows.group.erase(p.rows.group.begin(), p.rows.group.begin() + outer.size());
}

/// Makes the side that is stored as panels the columns. If results are
/// contiguous along the rows, the epilogue is computed along the rows.
bool Proposal::chooseSideOfPanels() {
  if (!havePanels()) {
    p.swapSides();
    p.joinDims();
    isSwapped = havePanels();
    if (!isSwapped) {
      p.swapSides();
      p.joinDims();
      return false;
    }
  }
  if (!p.countStoredAlong(p.columns))
    if (size_t count = p.countStoredAlong(p.rows)) {
      p.finishesRows = true;
      splitRows(count);
      p.joinDims();
    }
  p.panels.reset();
  why.push_back({"columns", "panels in memory"});
  return true;
}

/// Makes the side along which results are contiguous the columns; dims of it
/// that interrupt contiguous results move to the batch. If columns are few,
/// lanes would be wasted, and the sides are swapped.
void Proposal::chooseSides() {
  if (chooseSideOfPanels())
    return;
  std::optional<int64_t> m = p.rows.extent.asConstant(),
                         n = p.columns.extent.asConstant();
  StringRef side = "the left one";
  if (n && *n < lanes) {
    if (!m || *m > *n) {
      isSwapped = true;
      side = "the right one, which has fewer columns than a vector has lanes";
    }
  } else if (!p.countStoredAlong(p.columns)) {
    size_t count = p.countStoredAlong(p.rows);
    std::vector<Expr> sizes;
    for (unsigned i : ArrayRef(p.rows.group).take_back(count))
      sizes.push_back(p.extents[i]);
    if (count &&
        p.a.getAssumptions().provablyLessEqual(2 * lanes, product(sizes))) {
      isSwapped = true;
      side = "the right one, because the result is contiguous along the left "
             "one's";
      splitRows(count);
    }
  }
  why.push_back({"rows", side});
  if (isSwapped) {
    p.swapSides();
    p.joinDims();
  }
}

Decision Proposal::takePlainRows() {
  if (takeGroups())
    return Decision::refuse("rows look up their columns");
  chooseSides();
  hasSides = true;
  if (p.rows.linear || p.panels || p.finishesRows)
    return Decision::refuse("rows are read without divisions as they are");
  const SmallVector<unsigned> all(p.rows.group);
  const auto batch = p.batch;
  for (size_t count = all.size(); --count > 0;) {
    splitRows(count);
    p.joinDims();
    if (needsNoCopy(p) && countRows().value_or(0) > kFewRows)
      return Decision::accept();
    p.rows.group = all;
    p.batch = batch;
  }
  p.joinDims();
  return Decision::refuse("no rows are read without divisions");
}

/// Returns whether enough rows share the matrix that each looks up.
bool Proposal::takeGroups() {
  if (!haveGroupsThatPay(p.a, p.op) || !p.takeGroups()) {
    p.joinDims();
    return false;
  }
  isSwapped = p.columns.map == p.op.getLhsMap();
  return true;
}

/// Returns the rows of the product, or the expected rows of a group;
/// std::nullopt if the number is not known.
std::optional<int64_t> Proposal::countRows() const {
  std::optional<int64_t> m = p.rows.extent.asConstant();
  if (!p.hasGroups() || !m || *m == 0)
    return m;
  double rows = double(*m) / countRowTiles(p, KernelSizes(p.a), double(*m));
  return std::max<int64_t>(1, std::llround(rows));
}

SmallVector<CaseBuilder::Word> Proposal::commonWords() const {
  SmallVector<CaseBuilder::Word> words;
  if (p.hasGroups())
    words.push_back({"groups", "rows"});
  if (isSwapped)
    words.push_back({"columns", "lhs"});
  if (copiesRows)
    words.push_back({"copy", "rows"});
  else if (p.rowWindows)
    words.push_back({"copy", "windows"});
  return words;
}

/// Counts the work that does not depend on how the kernel is cut.
LoopWork Proposal::countResults(const KernelSizes &sizes) const {
  LoopWork work;
  addResults(work, p.a.kernel, sizes);
  return work;
}

/// Counts the work of the kernel for a cut, given the work of its results.
LoopWork Proposal::countCut(const KernelSizes &sizes, LoopWork results,
                            const Cut &cut, const Tile &tile,
                            bool isFew) const {
  double m = sizes.valueOf(p.rows.extent), n = sizes.valueOf(p.columns.extent);
  LoopWork work = results;
  for (const Expr &extent : p.batchExtents)
    work.units *= sizes.valueOf(extent);
  work.fullUnits = work.units;
  double asMuch = work.units;
  auto divide = [&](double extent, double block) {
    work.units *= std::ceil(extent / block);
    work.fullUnits *= std::max(1.0, std::floor(extent / block));
    asMuch *= std::max(1.0, extent / block);
  };
  divide(n, cut.columns);
  if (cut.rows)
    divide(m, cut.rows);
  work.smallerUnits = asMuch - work.fullUnits;
  ProductTile shape;
  if (!isFew)
    shape = {double(tile.rows), double(tile.getWidth()),
             /*sharesColumns=*/!p.hasGroups() && !sharesRows(),
             /*sharesRows=*/sharesRows()};
  addProduct(work, p, sizes, cut.rows ? cut.rows : m, cut.columns, shape,
             copiesRows, machine);
  return work;
}

/// Returns all cuts worth pricing, those with larger work items first.
SmallVector<Proposal::Cut> Proposal::listCuts(const Tile &tile,
                                              bool isDot) const {
  std::optional<int64_t> m = countRows();
  int64_t width = tile.getWidth();
  SmallVector<int64_t> columns, rows;
  bool isFew = m && *m <= kFewRows;
  if (isFew) {
    int64_t least = isDot ? width : kLeastInRuns;
    for (int64_t n = std::max(kColumnsOfFewRows, tile.panels * width);
         n >= least; n /= 2)
      columns.push_back(llvm::alignTo(n, width));
    rows.push_back(0);
  }
  m = p.rows.extent.asConstant();
  if (!isFew || p.hasGroups()) {
    if (!isFew) {
      for (int64_t panels = tile.panels; panels > 0;
           panels -= std::max<int64_t>(1, panels / 4))
        columns.push_back(panels * width);
      rows.push_back(0);
    }
    // If the number of rows is not known, cut into blocks of as many tiles.
    for (int64_t parts = m ? 2 : 1; parts <= kMostParts;
         parts += std::max<int64_t>(1, parts / 2)) {
      int64_t count = llvm::divideCeil(m.value_or(kManyRows), parts);
      int64_t block = llvm::alignTo(count, tile.rows);
      if (block != rows.back() && (!m || block < *m))
        rows.push_back(block);
    }
  }
  // The copy of an image should stay in the worker's cache, if possible.
  auto fits = [&](int64_t block) {
    return !p.rowWindows ||
           p.getRowLayout(block).size * p.bytes * kShareOfWindows <=
               machine.getChipBytes();
  };
  if (llvm::any_of(rows, fits))
    llvm::erase_if(rows, [&](int64_t block) { return !fits(block); });
  SmallVector<Cut> cuts;
  for (int64_t n : columns)
    for (int64_t block : rows)
      cuts.push_back({n, block});
  return cuts;
}

/// Cuts rows and columns so that all workers finish at about the same time.
Proposal::Cut Proposal::chooseCut(const Tile &tile, bool isDot) const {
  bool isKnown = p.rows.extent.asConstant() && p.columns.extent.asConstant();
  std::optional<int64_t> m = countRows();
  bool isFew = m && *m <= kFewRows;
  SmallVector<int64_t, 2> sizes = {kNominalSymbol};
  if (!isKnown)
    sizes.push_back(kManyRows);
  SmallVector<Cut> cuts = listCuts(tile, isDot);
  SmallVector<SmallVector<LoopWork, 2>, 0> works;
  works.resize(cuts.size());
  for (int64_t size : sizes) {
    KernelSizes known(p.a, size);
    LoopWork results = countResults(known);
    for (auto [cut, work] : llvm::zip_equal(cuts, works))
      work.push_back(countCut(known, results, cut, tile, isFew));
  }
  size_t best = chooseWork(works, machine);
  LLVM_DEBUG(for (auto [cut, work] : llvm::zip_equal(cuts, works)) {
    llvm::dbgs() << "tile " << tile.rows << " x " << tile.getWidth() << ", cut "
                 << cut.rows << " x " << cut.columns << ":";
    for (double workers : {1.0, double(machine.workers)})
      llvm::dbgs() << " " << int64_t(priceWork(work[0], machine, workers));
    llvm::dbgs() << " ns\n";
  });
  return cuts[best];
}

/// Accepts if the lines of a tile's results are far apart, and the latency of
/// loading them is significant compared with its sums.
Decision Proposal::waitsForResults() const {
  std::optional<int64_t> steps = p.kExtent.asConstant();
  if (!steps || *steps < kLeastAhead || *steps > kMostAhead)
    return Decision::refuse("other work takes longer");
  if (p.hasTiles())
    return Decision::refuse("sums are in tile registers");
  if (p.finishesRows || p.rowWindows)
    return Decision::refuse("rows are places of an image");
  KernelSizes sizes(p.a);
  double bytes = 0;
  KernelOp kernel = p.a.kernel;
  for (Value result : kernel.getResults())
    bytes += sizes.countBytes(result);
  if (bytes <= machine.l2Bytes / 2.0)
    return Decision::refuse("a worker's cache may hold the results");
  return Decision::accept();
}

/// Chooses whole lines of an image for a work item, as many as fit on chip.
std::optional<Proposal::Choice> Proposal::chooseWindows() {
  std::optional<int64_t> m = p.rows.extent.asConstant();
  if (p.hasPairs() || !m || *m < 1)
    return std::nullopt;
  if (Decision found = p.findWindows(); !found) {
    // Columns that are contiguous need no remark about windows.
    if (p.runs)
      why.push_back({"no windows because", found.str()});
    return std::nullopt;
  }
  const Windows &windows = *p.windows;
  int64_t lines = windows.getLast().extent;
  SmallVector<Choice> choices;
  SmallVector<SmallVector<LoopWork, 2>, 0> works;
  KernelSizes known(p.a);
  LoopWork results = countResults(known);
  int64_t mostRows = countRowsInCache(p, machine);
  auto tryCut = [&](int64_t count, int64_t rows) {
    int64_t columns = count * windows.getLast().divisor;
    bool fits = windows.getLayout(columns).size * p.bytes * kShareOfWindows <=
                machine.getChipBytes();
    if (!fits && count > 1)
      return;
    Tile tile =
        chooseWindowTile(p, machine, columns, rows ? rows : *m, mostRows);
    if (rows)
      rows = llvm::alignTo(rows, tile.rows);
    if (rows >= *m)
      return;
    Cut cut{columns, rows};
    LoopWork work = countCut(known, results, cut, tile, /*isFew=*/false);
    choices.push_back({tile, cut, work});
    works.push_back({work});
  };
  for (int64_t parts = 1, before = 0; parts <= lines; ++parts) {
    int64_t count = llvm::divideCeil(lines, parts);
    if (count == before)
      continue;
    before = count;
    tryCut(count, 0);
    for (int64_t cuts = 2; cuts <= std::min(kMostParts, *m / 2); cuts *= 2)
      tryCut(count, llvm::divideCeil(*m, cuts));
  }
  if (choices.empty())
    return std::nullopt;
  return choices[chooseWork(works, machine)];
}

SmallVector<LoopCaseAttr> Proposal::make() {
  bool isGrouped = !hasSides && takeGroups();
  if (!isGrouped && !hasSides)
    chooseSides();
  if (!isGrouped && !p.columns.alongOwn && !p.columns.alongK)
    p.findRuns();
  std::optional<int64_t> m = countRows();
  bool maySkinny = !m || *m <= kFewRows, mayTile = !m || *m > kFewRows;
  Decision plain = needsNoCopy(p);
  copiesRows = !plain;
  bool copiesFew = copiesRows, isDot = canDot(p, copiesFew);
  SmallVector<CaseBuilder::Word> wordsOfFew = commonWords();
  std::optional<Choice> ofWindows;
  if (!isGrouped)
    ofWindows = chooseWindows();
  std::optional<Windows> windows = std::exchange(p.windows, std::nullopt);
  if (mayTile) {
    chooseMultiply(p, machine);
    plain = needsNoCopy(p);
    copiesRows = !plain;
  }
  Tile tile = chooseTile(p, machine);
  if (mayTile)
    (void)bool(p.findPanels(tile.getWidth()));
  if (!p.panels)
    p.finishesRows = false;
  bool fitsWindows = p.panels && !plain && p.findRowWindows();
  if (fitsWindows) {
    copiesRows = false;
    tile.rows = chooseTile(p, machine).rows;
  }
  // Lines of results stay in L1 until they are complete.
  if (p.finishesRows)
    tile.panels = std::min(tile.panels, kMostPanelsOfLines);
  Cut cut = chooseCut(tile, isDot);
  bool takesWindows = false;
  if (ofWindows) {
    KernelSizes known(p.a);
    LoopWork packed = countCut(known, countResults(known), cut, tile, !mayTile);
    takesWindows = chooseWork({{ofWindows->work}, {packed}}, machine) == 0;
  }
  if (takesWindows) {
    (void)bool(p.setMultiply(ProductAnalysis::Multiply::Elements));
    p.windows = std::move(windows);
    plain = needsNoCopy(p);
    copiesRows = !plain;
    maySkinny = false, mayTile = true;
    tile = ofWindows->tile, cut = ofWindows->cut;
    if (p.columns.extent.isConstant(cut.columns))
      cut.columns = 0;
  } else if (ofWindows) {
    why.push_back(
        {"with windows ns",
         int64_t(priceWork(ofWindows->work, machine, machine.workers))});
  }

  // Consecutive work items share their columns, or the copy of their rows.
  CaseBuilder c(p.op.getContext(), machine);
  for (ArrayRef<unsigned> group : p.batch)
    c.grid.push_back(c.axis(group));
  if (!p.columns.group.empty())
    c.grid.push_back(c.axis(p.columns.group, cut.columns));
  if (!p.rows.group.empty())
    c.grid.push_back(c.axis(p.rows.group, cut.rows));
  if (sharesRows() && !p.columns.group.empty() && !p.rows.group.empty())
    std::swap(c.grid.back(), c.grid[c.grid.size() - 2]);

  why.push_back({isGrouped ? "m in groups" : "m", p.rows.extent.str()});
  why.push_back({"n", p.columns.extent.str()});
  why.push_back({"k", p.kExtent.str()});
  if (maySkinny)
    why.push_back(
        {mayTile ? "for at most 4 rows" : "form",
         isDot ? "dot products along k, along which both sides are contiguous"
               : "columns scaled by each row's elements, because not both "
                 "sides are read along k"});
  if (mayTile)
    why.push_back({"form", p.windows  ? "windows of an image on chip and a "
                                        "register tile"
                           : p.panels ? "panels of columns from memory and a "
                                        "register tile"
                                      : "packed columns and a register tile"});
  if (p.hasPairs())
    why.push_back(
        {"multiplies", p.hasTiles() ? "tiles of bf16" : "pairs of bf16"});
  if (copiesRows)
    why.push_back({"rows copied", plain.str()});
  else if (p.rowWindows)
    why.push_back({"rows copied", "as lines of an image"});
  if (mayTile && waitsForResults())
    why.push_back({"results", "prefetched while a tile is summed"});

  auto makeSkinny = [&](CaseBuilder few) {
    addFewRows(few, p, copiesFew, lanes, wordsOfFew);
    return few.build();
  };
  if (!mayTile)
    return {makeSkinny(c)};
  if (!maySkinny)
    return {makeTile(c, tile)};
  CaseBuilder few = c;
  few.atMost.push_back({p.rows.extent, kFewRows});
  return {makeSkinny(few), makeTile(c, tile)};
}

/// Returns the operations of a term of the product, without its epilogue.
static int64_t getTermCost(ProductOpInterface op) {
  llvm::SetVector<Operation *> read;
  read.insert(op);
  int64_t cost = 1;
  for (size_t i = 0; i < read.size(); ++i)
    for (Value operand : read[i]->getOperands())
      if (Operation *def = operand.getDefiningOp(); def && read.insert(def))
        cost += getOperations(def);
  return cost;
}

/// Returns whether results are too few to share among workers, so that split-k
/// is used instead, with a form of elements.
static bool isCut(KernelOp kernel, ProductOpInterface op,
                  const KernelAnalysis::SymbolRanges &ranges,
                  const MachineModel &machine) {
  SmallVector<Expr> extents = hlir::getExtents(op->getResult(0));
  std::optional<int64_t> results =
      product({extents.begin(), extents.end()}).asConstant();
  if (!results || *results < 1 || *results > kFewResults ||
      hlir::getExtents(kernel.getResults()[0]) != extents)
    return false;
  SmallVector<Reporter::Arg> ignored;
  PartsChoice choice = chooseParts(kernel, ranges, 1, op.getReducedExtent(),
                                   *results * getTermCost(op), machine.workers,
                                   machine, ignored);
  return choice.parts > 1 && choice.atLeast.empty();
}

static LoopWork count(KernelOp kernel,
                      const KernelAnalysis::SymbolRanges &ranges,
                      LoopCaseAttr loopCase, const MachineModel &machine);

static SmallVector<LoopCaseAttr>
propose(KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
        const MachineModel &machine, SmallVectorImpl<Reporter::Arg> &why) {
  ProductOpInterface op = getOnlyProduct(kernel);
  if (!op || !canTile(machine))
    return {};
  KernelAnalysis a(kernel, ranges);
  ProductAnalysis p(a, op);
  if (Decision fits = p.findResults(); !fits) {
    why.push_back({"no tile because", fits.str()});
    if (Operation *other = fits.getSubject())
      why.push_back({"in the way", describeWithPlace(other)});
    return {};
  }
  if (findLaneSums(a, machine)) {
    why.push_back({"no tile because", "each lane has its own sum"});
    return {};
  }
  if (isCut(kernel, op, ranges, machine)) {
    why.push_back({"no tile because", "few results are sums of many parts"});
    return {};
  }
  SmallVector<LoopCaseAttr> cases = Proposal(p, machine, why).make();
  if (p.rows.group.size() < 2 || p.rows.linear || cases.size() > 1)
    return cases;
  ProductAnalysis other(a, op);
  (void)bool(other.findResults());
  SmallVector<Reporter::Arg> otherwise;
  Proposal proposal(other, machine, otherwise);
  if (!proposal.takePlainRows())
    return cases;
  SmallVector<LoopCaseAttr> plain = proposal.make();
  LoopWork work = count(kernel, ranges, cases.front(), machine),
           ofPlain = count(kernel, ranges, plain.front(), machine);
  if (plain.size() > 1 || chooseWork({{work}, {ofPlain}}, machine) == 0)
    return cases;
  why.assign(otherwise.begin(), otherwise.end());
  return plain;
}

static LoopWork count(KernelOp kernel,
                      const KernelAnalysis::SymbolRanges &ranges,
                      LoopCaseAttr loopCase, const MachineModel &machine) {
  KernelAnalysis a(kernel, ranges);
  KernelSizes sizes(a);
  LoopWork work;
  ProductOpInterface op = getOnlyProduct(kernel);
  LoopFormAttr form = loopCase.getForms().front();
  ProductAnalysis p(a, op);
  ProductTile cut = applyCut(p, loopCase, form.getWord("columns"));
  (void)bool(p.applyForm(form));
  if (form.getWord("pack") == "windows")
    (void)bool(p.findWindows());
  if (form.getWord("pack") == "runs")
    p.findRuns();
  sizes.countUnits(work, loopCase, p.extents);
  ProductTile tile = getTile(form);
  ArrayRef<LoopAxisAttr> grid = loopCase.getGrid();
  tile.sharesColumns = tile.rows && !p.hasGroups() && !grid.empty() &&
                       !p.rows.group.empty() &&
                       grid.back().getDims() == ArrayRef(p.rows.group);
  tile.sharesRows = tile.rows && !grid.empty() && !p.columns.group.empty() &&
                    grid.back().getDims() == ArrayRef(p.columns.group);
  addProduct(work, p, sizes, cut.rows ? cut.rows : sizes.valueOf(p.rows.extent),
             cut.columns ? cut.columns : sizes.valueOf(p.columns.extent), tile,
             form.getWord("copy") == "rows", machine);
  addResults(work, kernel, sizes);
  return work;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static LogicalResult verify(KernelOp kernel,
                            const KernelAnalysis::SymbolRanges &ranges,
                            LoopCaseAttr loopCase, const MachineModel &machine,
                            function_ref<InFlightDiagnostic()> emitError) {
  ProductOpInterface op = getOnlyProduct(kernel);
  if (!op)
    return emitError()
           << "has a tile, but the only op with loops is not a product";
  if (loopCase.getForms().size() != 1 || !loopCase.getStream().empty())
    return emitError() << "states more than the form of the product";
  LoopFormAttr form = loopCase.getForms().front();
  StringRef name = form.getForm().getValue();
  if (form.getOp() != getPosition(op))
    return emitError() << "gives op" << form.getOp() << " the form " << name
                       << ", only a product has one here";
  static const StringRef aheads[] = {"results"}, groups[] = {"rows"},
                         finishes[] = {"rows"};
  SmallVector<NumberRule> rules = getProductRules(name);
  rules.push_back({"groups", 0, 0, groups});
  if (name == "tile")
    rules.append({{"ahead", 0, 0, aheads}, {"finish", 0, 0, finishes}});
  if (failed(verifyNumbers(form, rules, emitError)))
    return failure();
  if (!form.getWord("ahead").empty() && form.getWord("multiply") == "tiles")
    return emitError() << "prefetches results, but its sums are in tile "
                          "registers";
  if (form.getWord("copy") == "windows" && !form.getWord("ahead").empty())
    return emitError() << "copies windows of an image as rows, whose results "
                          "are not prefetched";
  if (!form.getWord("finish").empty() &&
      (form.getWord("multiply") == "tiles" ||
       form.getWord("pack") == "windows" || !form.getWord("ahead").empty()))
    return emitError()
           << "finishes tiles along their rows, which is not possible "
              "with tile registers, windows or prefetched results";
  if (!machine.hasScratch)
    return emitError() << "has the form " << name
                       << ", for which the machine has no scratch";
  KernelAnalysis a(kernel, ranges);
  ProductAnalysis p(a, op);
  if (Decision fits = p.findResults(); !fits)
    return emitError() << "has the form " << name << ", but " << fits.str();
  SmallVector<ProductAnalysis::Role> roles;
  if (Decision fits = p.applyGrid(loopCase, form.getWord("columns"), roles);
      !fits)
    return emitError() << "does not fit the product: " << fits.str();
  p.joinDims();
  int64_t columnBlock = 0, rowBlock = 0;
  for (auto [axis, role] : llvm::zip(loopCase.getGrid(), roles)) {
    if (role == ProductAnalysis::Role::Columns)
      columnBlock = axis.getBlock();
    if (role == ProductAnalysis::Role::Rows)
      rowBlock = axis.getBlock();
    if (axis.getLanes() > 1)
      return emitError() << "states lanes of an axis, not of the product";
  }
  if (p.hasGroups() && (rowBlock == 1 || form.getWord("pack") == "windows" ||
                        form.getWord("pack") == "runs"))
    return emitError() << "takes groups of rows, of which a unit has more than "
                          "one row, and columns that are neither windows nor "
                          "runs";
  if (form.getWord("pack") == "windows")
    if (Decision found = p.findWindows(); !found)
      return emitError() << "reads windows of an image, but " << found.str();
  return verifyProduct(form, p, columnBlock, rowBlock, machine, emitError);
}

static const StringRef kNames[] = {"tile", "dot", "axpy"};
const LoopForms llir::kProductForms = {"product", kNames, fitsProduct,
                                       propose,   count,  verify};
