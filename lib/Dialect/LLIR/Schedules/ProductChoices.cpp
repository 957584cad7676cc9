//===- ProductChoices.cpp - Choices for products on a CPU -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProductChoices.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// Elements along k that are transposed at once if they are cheap to read: four
/// need the fewest shuffles.
static constexpr int64_t kSquare = 4;
/// The most columns that are packed together, in vectors of the tile.
static constexpr int64_t kMostPanels = 8, kMostPanelsOfTiles = 16;
/// The fraction of L1 for rows if sums are in tile registers; panels pass
/// through the rest.
static constexpr double kRowsShare = 2.0 / 3;

/// The largest tile.
static constexpr int64_t kMostRows = 14, kMostWindowVectors = 8;

/// Steps of k that one pass over the columns takes (`axpy`).
static constexpr int64_t kDepth = 8;

bool llir::canTile(const MachineModel &machine) {
  return machine.vectorRegisters > 0 && machine.getLanes(64) > 1;
}

/// Rows and columns of a matrix tile register.
static constexpr int64_t kTileRows = 16, kTileColumns = 16;
static constexpr int64_t kTileRegisters = 8;

/// Returns how long the loops of the product take one worker with this tile.
static double priceTile(const ProductAnalysis &p, const MachineModel &machine,
                        int64_t rowBlock) {
  Tile tile = chooseTile(p, machine);
  KernelSizes sizes(p.a);
  double rows = sizes.valueOf(p.rows.extent);
  LoopWork work;
  addProduct(work, p, sizes, rowBlock ? rowBlock : rows,
             sizes.valueOf(p.columns.extent),
             {double(tile.rows), double(tile.getWidth())}, !needsNoCopy(p),
             machine);
  return priceWork(work, machine, 1);
}

void llir::chooseMultiply(ProductAnalysis &p, const MachineModel &machine,
                          int64_t rowBlock) {
  using Multiply = ProductAnalysis::Multiply;
  if (machine.pairRate > 0 && machine.pairRate >= machine.getFmaRate())
    (void)bool(p.setMultiply(Multiply::Pairs));
  if (machine.tileRate <= 0 || rowBlock % kTileRows)
    return;
  Multiply otherwise = p.getMultiply();
  double price = priceTile(p, machine, rowBlock);
  if (p.setMultiply(Multiply::Tiles) && priceTile(p, machine, rowBlock) > price)
    (void)bool(p.setMultiply(otherwise));
}

Decision llir::needsNoCopy(const ProductAnalysis &p) {
  if (Decision plain = p.isPlain(p.rows); !plain || !p.hasPairs())
    return plain;
  if (!p.rows.alongK || (p.hasTiles() && !p.rows.stepsK))
    return Decision::refuse("pairs of them are not adjacent");
  auto isMultiple = [&](int64_t of) {
    return p.a.simplify(Expr::mod(p.kExtent, of)).isConstant(0);
  };
  if (!isMultiple(2))
    return Decision::refuse("the last pair of them may be incomplete");
  if (p.hasTiles() && !isMultiple(p.kTileElements))
    return Decision::refuse("the last tile of them may be incomplete");
  return Decision::accept();
}

static int64_t getPanelWidth(int64_t lanes, std::optional<int64_t> columns) {
  return columns && *columns <= lanes ? lanes : 2 * lanes;
}

int64_t llir::getPanelWidth(const MachineModel &machine, unsigned bits,
                            std::optional<int64_t> columns) {
  return ::getPanelWidth(machine.getLanes(bits), columns);
}

int64_t llir::countRowsInCache(const ProductAnalysis &p,
                               const MachineModel &machine) {
  int64_t most = kMostRows;
  if (!p.rows.alongK || !needsNoCopy(p))
    return most;
  p.a.walk(p.rows.operand, p.getOperandIndex(p.rows), [&](const Leaf &leaf) {
    auto linear = leaf.address.linearIn(p.rows.dim);
    std::optional<int64_t> stride =
        linear ? linear->stride.asConstant() : std::nullopt;
    if (!leaf.argument || !stride || *stride == 0)
      return;
    int64_t apart =
        *stride * getElementType(leaf.argument).getIntOrFloatBitWidth() / 8;
    most = std::min(most, countLinesInCache(apart, machine));
  });
  return std::max<int64_t>(most, 1);
}

/// Two vectors for each row: one register holds the broadcast element,
/// `vectors` registers hold the columns. The number of rows wastes little on
/// the remainder.
Tile llir::chooseTile(const ProductAnalysis &p, const MachineModel &machine) {
  std::optional<int64_t> m = p.rows.extent.asConstant(),
                         n = p.columns.extent.asConstant(),
                         k = p.kExtent.asConstant();
  Tile t;
  // A tile register has a fixed width, independent of the vector width.
  t.lanes = p.hasTiles() ? kTileColumns : machine.getLanes(8 * p.bytes);
  t.vectors = ::getPanelWidth(t.lanes, n) / t.lanes;
  int64_t registers = machine.vectorRegisters;
  t.rows = std::clamp<int64_t>((registers - 1 - t.vectors) / t.vectors, 1,
                               kMostRows);
  if (p.hasTiles()) {
    // Two by two registers of sums, so that each loaded register is multiplied
    // twice.
    t.rows = m && *m <= kTileRows ? kTileRows : 2 * kTileRows;
    // Each panel reads the rows of a tile again.
    int64_t line = 2 * p.kTileElements * t.rows;
    int64_t most = int64_t(kRowsShare * machine.l1Bytes) / line;
    if (int64_t depth = most * p.kTileElements;
        depth > 0 && k.value_or(kTypicalDepth) > depth)
      t.depth = depth;
  } else {
    t.rows = std::min(t.rows, countRowsInCache(p, machine));
  }
  if (!p.hasTiles() && m && !p.hasGroups()) {
    // Choose the largest tile among those that fit almost best.
    double best = 0;
    const int64_t least = std::max<int64_t>(1, t.rows / (p.rowWindows ? 3 : 2));
    for (int64_t r = t.rows; r >= least; --r) {
      int64_t rest = llvm::alignTo(*m % r, ProductAnalysis::kRemainderRows);
      double fit = *m == 0 ? 1.0 : double(*m) / double(*m / r * r + rest);
      // A smaller tile loads more for each multiply-add (measured on Zen 4:
      // seven rows take 1.12 times as long as fourteen), and the remaining rows
      // need additional code.
      fit *= 1.0 - 0.5 / double(r);
      if (rest)
        fit *= 0.985;
      fit /= getAddressLoss(p, r);
      if (fit > best + 0.01)
        best = fit, t.rows = r;
    }
    if (*m > 0 && *m < t.rows)
      t.rows = *m;
  }
  // Packed columns should fit into half of L2.
  int64_t width = t.getWidth();
  int64_t steps = std::max<int64_t>(
      1, p.countSteps(k.value_or(kTypicalDepth)).asConstant().value());
  int64_t room = machine.l2Bytes / 2 / width / p.getStepBytes() / steps;
  t.panels = std::clamp<int64_t>(
      room, 1, p.hasTiles() ? kMostPanelsOfTiles : kMostPanels);
  if (n)
    t.panels = std::clamp<int64_t>((*n + width - 1) / width, 1, t.panels);
  return t;
}

/// Chooses the fastest tile for `columns` columns at a time.
Tile llir::chooseWindowTile(const ProductAnalysis &p,
                            const MachineModel &machine, int64_t columns,
                            int64_t rows, int64_t mostRows) {
  Tile best{1, 1, machine.getLanes(8 * p.bytes), 1};
  int64_t span = p.windows->getLayout(columns).span;
  double least = 0;
  for (int64_t vectors = 1; vectors <= kMostWindowVectors; ++vectors) {
    int64_t most = (machine.vectorRegisters - 1 - vectors) / vectors;
    for (int64_t r = 1; r <= std::min({most, rows, mostRows}); ++r) {
      double tiles = double(llvm::divideCeil(rows, r)) *
                     double(llvm::divideCeil(span, vectors * best.lanes));
      double price = tiles * priceWindowStep(r, vectors, machine);
      if (least && price >= least)
        continue;
      least = price;
      best.rows = r, best.vectors = vectors;
    }
  }
  return best;
}

static StringRef choosePacking(const ProductAnalysis &p, int64_t lanes) {
  if (p.windows)
    return "windows";
  if (p.panels)
    return "panels";
  if (p.columns.alongOwn)
    return "columns";
  if (p.runs && !p.hasPairs())
    return "runs";
  return p.columns.alongK && lanes > 1 ? "k" : "elements";
}

void llir::addTile(CaseBuilder &c, const ProductAnalysis &p, const Tile &tile,
                   ArrayRef<CaseBuilder::Word> words,
                   ArrayRef<CaseBuilder::Number> more) {
  SmallVector<CaseBuilder::Number> numbers = {
      {"lanes", tile.lanes}, {"rows", tile.rows}, {"vectors", tile.vectors}};
  llvm::append_range(numbers, more);
  SmallVector<CaseBuilder::Word> all(words);
  StringRef packing = choosePacking(p, tile.lanes);
  all.push_back({"pack", packing});
  if (p.hasPairs())
    all.push_back({"multiply", p.hasTiles() ? "tiles" : "pairs"});
  if (packing == "k")
    numbers.push_back({"square", p.isPlain(p.columns)
                                     ? std::min(tile.lanes, kSquare)
                                     : tile.lanes});
  if (tile.depth)
    numbers.push_back({"depth", tile.depth});
  c.addForm(p.op, "tile", numbers, all);
}

bool llir::canDot(const ProductAnalysis &p, bool copiesRows) {
  return (p.rows.alongK || copiesRows) && p.columns.alongK &&
         !p.columns.stepsOwn;
}

void llir::addFewRows(CaseBuilder &c, const ProductAnalysis &p, bool copiesRows,
                      int64_t lanes, ArrayRef<CaseBuilder::Word> words) {
  if (!canDot(p, copiesRows))
    return c.addForm(p.op, "axpy", {{"lanes", lanes}, {"depth", kDepth}},
                     words);
  // Pairs of rows if their number is not known.
  std::optional<int64_t> m, n = p.columns.extent.asConstant();
  if (!p.hasGroups())
    m = p.rows.extent.asConstant();
  int64_t rows = std::clamp<int64_t>(m.value_or(2), 1, kFewRows);
  auto clampColumns = [&](int64_t most) {
    return n ? std::clamp<int64_t>(*n, 1, most) : most;
  };
  SmallVector<CaseBuilder::Number> numbers = {
      {"lanes", lanes},
      {"rows", rows},
      {"width", clampColumns(m && rows <= 2 ? 8 : 4)}};
  if (!m)
    numbers.push_back({"rest", clampColumns(8)});
  c.addForm(p.op, "dot", numbers, words);
}

ProductTile llir::getTile(LoopFormAttr form) {
  if (form.getForm().getValue() != "tile")
    return {};
  return {double(form.getNumber("rows", 1)),
          double(form.getNumber("vectors", 1) * form.getNumber("lanes", 1))};
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

SmallVector<NumberRule> llir::getProductRules(StringRef form) {
  static const StringRef sides[] = {"lhs", "rhs"},
                         copies[] = {"rows", "windows"},
                         packings[] = {"columns", "runs", "windows",
                                       "panels",  "k",    "elements"},
                         multiplies[] = {"pairs", "tiles"};
  // Tiles and dot products need vectors.
  SmallVector<NumberRule> rules = {{"lanes", form == "axpy" ? 1 : 2, 64},
                                   {"columns", 0, 0, sides},
                                   {"copy", 0, 0, copies}};
  if (form == "tile")
    rules.append({{"rows", 1, 64},
                  {"vectors", 1, 8},
                  {"square", 2, 64},
                  {"depth", ProductAnalysis::kTileElements, 1 << 20},
                  {"pack", 0, 0, packings},
                  {"multiply", 0, 0, multiplies}});
  else if (form == "dot")
    rules.append({{"rows", 1, 8}, {"width", 1, 16}, {"rest", 1, 16}});
  else
    rules.push_back({"depth", 1, 32});
  return rules;
}

/// Checks the further requirements of a tile.
static LogicalResult verifyTile(LoopFormAttr form, ProductAnalysis &p,
                                int64_t columnBlock, int64_t rowBlock,
                                const MachineModel &machine,
                                function_ref<InFlightDiagnostic()> emitError) {
  int64_t rows = form.getNumber("rows", 1), lanes = form.getNumber("lanes", 1);
  int64_t vectors = form.getNumber("vectors", 1), width = vectors * lanes;
  int64_t bits = 8 * p.bytes * lanes;
  int64_t registers = llvm::divideCeil(bits, machine.vectorBits) *
                      (rows * vectors + vectors + 1);
  if (p.hasTiles()) {
    if (machine.tileRate <= 0)
      return emitError() << "multiplies tiles of bf16, for which the machine "
                            "has no instruction";
    int64_t strips = rows / kTileRows;
    if (rows % kTileRows || lanes != kTileColumns ||
        strips * vectors + strips + vectors > kTileRegisters)
      return emitError() << "has a tile of " << rows << " x " << vectors
                         << " vectors of " << lanes
                         << " lanes, expected multiples of " << kTileRows
                         << " rows, " << kTileColumns << " lanes, and at most "
                         << kTileRegisters
                         << " registers of sums, rows and columns";
  } else if (registers > machine.vectorRegisters)
    return emitError() << "has a tile of " << rows << " x " << vectors
                       << " vectors, which takes " << registers
                       << " registers of " << machine.vectorRegisters;
  StringRef pack = form.getWord("pack");
  if (pack == "windows") {
    if (!p.windows)
      return emitError() << "reads windows of an image, which only a kernel of "
                            "one product does";
    if (p.hasPairs())
      return emitError() << "reads windows, which are not pairs";
    if (columnBlock % p.windows->getLast().divisor)
      return emitError() << "takes " << columnBlock
                         << " columns of an image, which is not a multiple of "
                         << p.windows->getLast().divisor;
  } else if (columnBlock % width || (!columnBlock && !p.columns.group.empty()))
    return emitError() << "packs " << columnBlock
                       << " columns, which is not a multiple of a tile's, "
                       << width;
  if (rowBlock % rows)
    return emitError() << "takes " << rowBlock
                       << " rows, which is not a multiple of a tile's, "
                       << rows;
  int64_t depth = form.getNumber("depth", 0);
  if (depth % ProductAnalysis::kTileElements || (depth && !p.hasTiles()))
    return emitError() << "takes " << depth
                       << " elements along k at a time, expected a multiple of "
                       << ProductAnalysis::kTileElements << " in tiles";
  if (p.hasPairs()) {
    if (!p.hasTiles() && (machine.pairRate <= 0 || bits < 128))
      return emitError() << "multiplies pairs of bf16 in vectors of " << bits
                         << " bits, for which the machine has no instruction";
    if (pack == "runs")
      return emitError() << "packs runs of memory, which are not pairs";
    if (Decision plain = needsNoCopy(p);
        !plain && form.getWord("copy") != "rows")
      return emitError() << "multiplies pairs of rows that are not copied, but "
                         << plain.str();
  }
  if ((pack == "columns" && !p.columns.alongOwn) ||
      (pack == "k" && !p.columns.alongK))
    return emitError() << "packs along " << pack
                       << ", which does not step through memory";
  int64_t square = form.getNumber("square", lanes);
  if (pack == "k" &&
      (square < 2 || square > lanes || !llvm::isPowerOf2_64(square)))
    return emitError() << "transposes " << square
                       << " at once, expected a power of two from 2 to "
                       << lanes;
  if (pack == "runs") {
    p.findRuns();
    if (!p.runs)
      return emitError() << "packs runs of memory, but the columns are one";
  }
  return success();
}

LogicalResult
llir::verifyProduct(LoopFormAttr form, ProductAnalysis &p, int64_t columnBlock,
                    int64_t rowBlock, const MachineModel &machine,
                    function_ref<InFlightDiagnostic()> emitError) {
  if (Decision fits = p.applyForm(form); !fits)
    return emitError() << (form.getWord("copy") == "windows" && !p.rowWindows
                               ? "copies windows of an image as rows, but "
                           : form.getWord("pack") == "panels"
                               ? "reads panels from memory, but "
                               : "multiplies pairs of bf16, but ")
                       << fits.str();
  StringRef name = form.getForm().getValue();
  if (name == "tile")
    return verifyTile(form, p, columnBlock, rowBlock, machine, emitError);
  if (p.rowWindows)
    return emitError()
           << "copies windows of an image as rows, which only tiles "
              "read";
  bool copies = form.getWord("copy") == "rows";
  if (name == "dot" && (!p.columns.alongK || !(p.rows.alongK || copies)))
    return emitError() << "has dot products along k, but the operands are not "
                          "contiguous along k";
  return success();
}
