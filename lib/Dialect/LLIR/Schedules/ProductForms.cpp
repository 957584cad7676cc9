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

#include "ProductChoices.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// Columns of a unit of few rows: enough to read memory in long runs.
static constexpr int64_t kColumnsOfFewRows = 512;
/// Tiles of rows in one unit: packing is paid once a unit.
static constexpr int64_t kTilesInUnit = 8;
/// Units of columns from which rows are not cut.
static constexpr int64_t kManyUnits = 8;

namespace {

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
  LoopCaseAttr makeTile(CaseBuilder c, const Tile &tile) const {
    addTile(c, p, tile, lanes, commonWords());
    return c.build();
  }
  SmallVector<CaseBuilder::Word> commonWords() const;

  ProductAnalysis &p;
  const MachineModel &machine;
  SmallVectorImpl<Reporter::Arg> &why;
  int64_t lanes;
  bool isSwapped = false, copiesRows = false;
};
} // namespace

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

SmallVector<CaseBuilder::Word> Proposal::commonWords() const {
  SmallVector<CaseBuilder::Word> words;
  if (isSwapped)
    words.push_back({"columns", "lhs"});
  if (copiesRows)
    words.push_back({"copy", "rows"});
  return words;
}

SmallVector<LoopCaseAttr> Proposal::make() {
  p.joinDims();
  chooseSides();
  if (!p.columns.alongOwn && !p.columns.alongK)
    p.findRuns();
  std::optional<int64_t> m = p.rows.extent.asConstant(),
                         n = p.columns.extent.asConstant();
  Tile tile = chooseTile(p, machine, lanes);
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
  bool isDot = canDot(p, copiesRows);

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
    addFewRows(few, p, copiesRows, lanes, commonWords());
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
  return Proposal(p, machine, why).make();
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
    return emitError() << "has a tile without one product, which is the only "
                          "op with loops";
  if (loopCase.getForms().size() != 1 || !loopCase.getStream().empty())
    return emitError() << "says more than the form of the product";
  LoopFormAttr form = loopCase.getForms().front();
  StringRef name = form.getForm().getValue();
  if (form.getOp() != getPosition(op))
    return emitError() << "gives op" << form.getOp() << " the form " << name
                       << ", only a product has one here";
  if (failed(verifyNumbers(form, getProductRules(name), emitError)))
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
  return verifyProduct(form, p, columnBlock, rowBlock, machine, emitError);
}

static const StringRef kNames[] = {"tile", "dot", "axpy"};
const LoopForms llir::kProductForms = {"product", kNames, fitsProduct, propose,
                                       verify};
