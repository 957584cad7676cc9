//===- ProductForms.cpp - Matrix products ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product over m, n and k (ProductAnalysis). The larger side is read as
// vectors ("columns", of the right operand unless `columns = lhs`), the other
// element by element ("rows"). Of the grid's axes, one is columns and one rows;
// all others are batch. The forms:
//
// - `tile`: columns are packed for a unit, and a tile of `rows` x `vectors`
//   sums of `lanes` each stays in registers while k passes. `pack` says how
//   columns are read, `square` how many are read along k and transposed at
//   once.
// - `dot`: vectors along k, `rows` x `width` sums at a time; rows that are left
//   over one at a time, `rest` columns wide.
// - `axpy`: sums of a unit's columns in scratch, to which `depth` rows of k are
//   added in one pass.
//
// `copy = rows` computes the rows' elements once for each unit.
//
//===----------------------------------------------------------------------===//

#include "Forms.h"
#include "luminal/Dialect/LLIR/Analysis/ProductAnalysis.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// Up to here a product is bound by memory, and tiles waste most of their rows.
static constexpr int64_t kFewRows = 4;
/// Columns of a unit of few rows: enough to read memory in long runs.
static constexpr int64_t kColumnsOfFewRows = 512;
/// Tiles of rows in one unit: packing is paid once a unit.
static constexpr int64_t kTilesInUnit = 8;
/// Units of columns from which rows are not cut.
static constexpr int64_t kManyUnits = 8;
/// Rows of the columns' operand that one pass over the columns takes.
static constexpr int64_t kDepth = 8;
/// Elements along k that are transposed at once where reading them is cheap:
/// four take the fewest shuffles.
static constexpr int64_t kSquare = 4;
/// Columns that are packed together at most, in vectors of the tile.
static constexpr int64_t kMostPanels = 8;
/// k where it is not known.
static constexpr int64_t kTypicalDepth = 1024;

namespace {
class ProductForms : public LoopForms {
public:
  ArrayRef<StringRef> getNames() const override {
    static const StringRef names[] = {"tile", "dot", "axpy"};
    return names;
  }
  SmallVector<LoopCaseAttr>
  propose(KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
          const MachineModel &machine,
          SmallVectorImpl<Reporter::Arg> &why) const override;
  LogicalResult
  verify(KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
         LoopCaseAttr loopCase, const MachineModel &machine,
         function_ref<InFlightDiagnostic()> emitError) const override;
};

/// The register tile: `rows` x `vectors` sums, and how many tiles of columns
/// are packed together.
struct Tile {
  int64_t rows, vectors, panels;
};

/// The cases of one product.
class Proposal {
public:
  Proposal(ProductAnalysis &p, const MachineModel &machine,
           SmallVectorImpl<Reporter::Arg> &why)
      : p(p), machine(machine), why(why), lanes(machine.getLanes(8 * p.bytes)) {
  }

  SmallVector<LoopCaseAttr> make();

private:
  void chooseSides();
  Tile chooseTile() const;
  StringRef choosePacking() const;
  LoopCaseAttr makeTile(CaseBuilder c, const Tile &tile) const;
  LoopCaseAttr makeDot(CaseBuilder c) const;
  LoopCaseAttr makeAxpy(CaseBuilder c) const;
  SmallVector<CaseBuilder::Word> commonWords() const;

  ProductAnalysis &p;
  const MachineModel &machine;
  SmallVectorImpl<Reporter::Arg> &why;
  int64_t lanes;
  bool isSwapped = false, copiesRows = false;
};
} // namespace

/// Whether a kernel has one op with loops.
static bool isOnlyLoop(KernelOp kernel) {
  return llvm::count_if(kernel.getOps(),
                        [](Operation &op) { return hasLoops(&op); }) == 1;
}

/// Tiles are made of vectors, in registers.
static bool canTile(const MachineModel &machine) {
  return machine.vectorRegisters > 0 && machine.getLanes(64) > 1;
}

const LoopForms &llir::getProductForms() {
  static const ProductForms forms;
  return forms;
}

/// The side whose elements the results keep side by side is the columns; of
/// its dims, those that part what is side by side join the batch. Few columns
/// waste lanes: then the sides change places as well.
void Proposal::chooseSides() {
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
      side = "the right one, for the result keeps the left one's side by side";
      ArrayRef<unsigned> outer = ArrayRef(p.rows.group).drop_back(count);
      if (!outer.empty()) {
        if (p.batch.empty())
          p.batch.emplace_back();
        p.batch[0].append(outer.begin(), outer.end());
        p.rows.group.erase(p.rows.group.begin(),
                           p.rows.group.begin() + outer.size());
      }
    }
  }
  why.push_back({"rows", side});
  if (isSwapped) {
    p.swapSides();
    p.joinDims();
  }
}

/// Two vectors a row; one register holds the broadcast, `vectors` the columns.
/// Rows so that little is wasted on the remainder.
Tile Proposal::chooseTile() const {
  std::optional<int64_t> m = p.rows.extent.asConstant(),
                         n = p.columns.extent.asConstant(),
                         k = p.kExtent.asConstant();
  Tile t;
  t.vectors = n && *n <= lanes ? 1 : 2;
  int64_t registers = machine.vectorRegisters;
  t.rows = std::clamp<int64_t>((registers - 1 - t.vectors) / t.vectors, 1, 14);
  if (m) {
    // The largest of the nearly best fits.
    double best = 0;
    for (int64_t r = t.rows, least = std::max<int64_t>(1, r / 2); r >= least;
         --r) {
      double fit = *m == 0 ? 1.0 : double(*m) / double((*m + r - 1) / r * r);
      // A smaller tile loads more for each product.
      fit *= 1.0 - 0.15 / double(r);
      if (fit > best + 0.01)
        best = fit, t.rows = r;
    }
    if (*m > 0 && *m < t.rows)
      t.rows = *m;
  }
  // Packed columns should stay within half of the second-level cache.
  int64_t width = t.vectors * lanes;
  int64_t depth = std::max<int64_t>(1, k.value_or(kTypicalDepth));
  int64_t room = machine.l2Bytes / 2 / width / p.bytes / depth;
  t.panels = std::clamp<int64_t>(room, 1, kMostPanels);
  if (n)
    t.panels = std::clamp<int64_t>((*n + width - 1) / width, 1, t.panels);
  return t;
}

StringRef Proposal::choosePacking() const {
  if (p.columns.alongOwn)
    return "columns";
  if (p.runs)
    return "runs";
  return p.columns.alongK && lanes > 1 ? "k" : "elements";
}

SmallVector<CaseBuilder::Word> Proposal::commonWords() const {
  SmallVector<CaseBuilder::Word> words;
  if (isSwapped)
    words.push_back({"columns", "lhs"});
  if (copiesRows)
    words.push_back({"copy", "rows"});
  return words;
}

LoopCaseAttr Proposal::makeTile(CaseBuilder c, const Tile &tile) const {
  SmallVector<CaseBuilder::Number> numbers = {
      {"lanes", lanes}, {"rows", tile.rows}, {"vectors", tile.vectors}};
  SmallVector<CaseBuilder::Word> words = commonWords();
  StringRef packing = choosePacking();
  words.push_back({"pack", packing});
  if (packing == "k")
    numbers.push_back(
        {"square", p.isPlain(p.columns) ? std::min(lanes, kSquare) : lanes});
  c.addForm(p.op, "tile", numbers, words);
  return c.build();
}

LoopCaseAttr Proposal::makeDot(CaseBuilder c) const {
  // Pairs of rows where their number is not known.
  std::optional<int64_t> m = p.rows.extent.asConstant(),
                         n = p.columns.extent.asConstant();
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
  c.addForm(p.op, "dot", numbers, commonWords());
  return c.build();
}

LoopCaseAttr Proposal::makeAxpy(CaseBuilder c) const {
  c.addForm(p.op, "axpy", {{"lanes", lanes}, {"depth", kDepth}}, commonWords());
  return c.build();
}

SmallVector<LoopCaseAttr> Proposal::make() {
  p.joinDims();
  chooseSides();
  if (!p.columns.alongOwn && !p.columns.alongK)
    p.findRuns();
  std::optional<int64_t> m = p.rows.extent.asConstant(),
                         n = p.columns.extent.asConstant();
  Tile tile = chooseTile();
  bool maySkinny = !m || *m <= kFewRows, mayTile = !m || *m > kFewRows;
  int64_t unitColumns = tile.panels * tile.vectors * lanes;
  // Rows are cut only where columns do not give enough units.
  if (!mayTile)
    unitColumns = std::max(unitColumns, kColumnsOfFewRows);
  Decision plain = p.isPlain(p.rows);
  copiesRows = !plain;
  bool manyColumns = n && *n >= kManyUnits * unitColumns;
  int64_t rowBlock = kTilesInUnit * tile.rows;
  if ((manyColumns && !copiesRows) || (m && *m <= rowBlock))
    rowBlock = 0;
  bool isDot =
      (p.rows.alongK || copiesRows) && p.columns.alongK && !p.columns.stepsOwn;

  // Consecutive units share their columns.
  CaseBuilder c(p.op.getContext(), machine);
  for (ArrayRef<unsigned> group : p.batch)
    c.grid.push_back(c.axis(group));
  if (!p.columns.group.empty())
    c.grid.push_back(c.axis(p.columns.group, unitColumns));
  if (!p.rows.group.empty())
    c.grid.push_back(c.axis(p.rows.group, rowBlock));

  why.push_back({"m", p.rows.extent.str()});
  why.push_back({"n", p.columns.extent.str()});
  why.push_back({"k", p.kExtent.str()});
  if (maySkinny)
    why.push_back({mayTile ? "for at most 4 rows" : "form",
                   isDot ? "dot products along k, which both sides step "
                           "through in memory"
                         : "columns scaled by each row's elements, for both "
                           "sides are not read along k"});
  if (mayTile)
    why.push_back({"form", "packed columns and a register tile"});
  if (copiesRows)
    why.push_back({"rows copied", plain.str()});

  auto makeSkinny = [&](CaseBuilder few) {
    return isDot ? makeDot(std::move(few)) : makeAxpy(std::move(few));
  };
  if (!mayTile)
    return {makeSkinny(c)};
  if (!maySkinny)
    return {makeTile(c, tile)};
  CaseBuilder few = c;
  few.atMost.push_back({p.rows.extent, kFewRows});
  return {makeSkinny(few), makeTile(c, tile)};
}

SmallVector<LoopCaseAttr> ProductForms::propose(
    KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
    const MachineModel &machine, SmallVectorImpl<Reporter::Arg> &why) const {
  auto products = kernel.getBody().getOps<ProductOpInterface>();
  if (!isOnlyLoop(kernel) || products.empty() || !canTile(machine))
    return {};
  KernelAnalysis a(kernel, ranges);
  ProductAnalysis p(a, *products.begin());
  if (Decision fits = p.findResults(); !fits) {
    why.push_back({"no tile because", fits.str()});
    if (Operation *other = fits.getSubject())
      why.push_back({"in the way", describeWithPlace(other)});
    return {};
  }
  return Proposal(p, machine, why).make();
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

/// The numbers that each form has.
static SmallVector<NumberRule> getRules(StringRef form) {
  static const StringRef sides[] = {"lhs", "rhs"}, copies[] = {"rows"},
                         packings[] = {"columns", "runs", "k", "elements"};
  // Tiles and dot products are made of vectors.
  SmallVector<NumberRule> rules = {{"lanes", form == "axpy" ? 1 : 2, 64},
                                   {"columns", 0, 0, sides},
                                   {"copy", 0, 0, copies}};
  if (form == "tile")
    rules.append({{"rows", 1, 64},
                  {"vectors", 1, 8},
                  {"square", 2, 64},
                  {"pack", 0, 0, packings}});
  else if (form == "dot")
    rules.append({{"rows", 1, 8}, {"width", 1, 16}, {"rest", 1, 16}});
  else
    rules.push_back({"depth", 1, 32});
  return rules;
}

/// What a tile needs beyond that.
static LogicalResult verifyTile(LoopFormAttr form, ProductAnalysis &p,
                                int64_t columnBlock, int64_t rowBlock,
                                const MachineModel &machine,
                                function_ref<InFlightDiagnostic()> emitError) {
  int64_t rows = form.getNumber("rows", 1), lanes = form.getNumber("lanes", 1);
  int64_t vectors = form.getNumber("vectors", 1), width = vectors * lanes;
  int64_t bits = 8 * p.bytes * lanes;
  int64_t registers = llvm::divideCeil(bits, machine.vectorBits) *
                      (rows * vectors + vectors + 1);
  if (registers > machine.vectorRegisters)
    return emitError() << "has a tile of " << rows << " x " << vectors
                       << " vectors, which takes " << registers
                       << " registers of " << machine.vectorRegisters;
  if (columnBlock % width || (!columnBlock && !p.columns.group.empty()))
    return emitError() << "packs " << columnBlock
                       << " columns, which is not a multiple of a tile's, "
                       << width;
  if (rowBlock % rows)
    return emitError() << "takes " << rowBlock
                       << " rows, which is not a multiple of a tile's, "
                       << rows;
  StringRef pack = form.getWord("pack");
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
ProductForms::verify(KernelOp kernel,
                     const KernelAnalysis::SymbolRanges &ranges,
                     LoopCaseAttr loopCase, const MachineModel &machine,
                     function_ref<InFlightDiagnostic()> emitError) const {
  auto products = kernel.getBody().getOps<ProductOpInterface>();
  if (!isOnlyLoop(kernel) || products.empty())
    return emitError() << "has a tile without one product, which is the only "
                          "op with loops";
  ProductOpInterface op = *products.begin();
  if (loopCase.getForms().size() != 1 || !loopCase.getStream().empty())
    return emitError() << "says more than the form of the product";
  LoopFormAttr form = loopCase.getForms().front();
  StringRef name = form.getForm().getValue();
  if (form.getOp() != getPosition(op))
    return emitError() << "gives op" << form.getOp() << " the form " << name
                       << ", only a product has one here";
  if (failed(verifyNumbers(form, getRules(name), emitError)))
    return failure();
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
  if (name == "tile")
    return verifyTile(form, p, columnBlock, rowBlock, machine, emitError);
  bool copies = form.getWord("copy") == "rows";
  if (name == "dot" && (!p.columns.alongK || !(p.rows.alongK || copies)))
    return emitError() << "has dot products along k, which does not step "
                          "through memory";
  return success();
}
