//===- StageForms.cpp - Several anchors over one parallel space -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The grid cuts the parallel space (StageAnalysis). A work item computes the
// anchors for its block in the order of the body, and keeps on chip what later
// anchors read. Products have the forms of ProductForms and take `panel`
// columns at a time (0: all); reductions have the form `pass`. An elementwise
// value with the form `keep` is kept by the first reduction that reads it.
//
//===----------------------------------------------------------------------===//

#include "StageChoices.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// The code size from which a value is worth keeping instead of recomputing.
static constexpr int64_t kWorthKeeping = 8;
/// The extent that is assumed for a local dim if it is not known.
static constexpr int64_t kTypicalExtent = 256;

namespace {

/// Proposes the case of one kernel.
class Proposal {
public:
  Proposal(KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
           const MachineModel &machine)
      : a(kernel, ranges), s(a), machine(machine),
        c(kernel.getContext(), machine) {}

  /// Finds the stages and cuts the parallel space.
  Decision addGrid();
  /// Adds the forms of all ops; `isFew` selects those for few rows.
  void addForms(bool isFew);
  /// Returns the rows that a work item may have; std::nullopt if there are no
  /// rows to cut.
  std::optional<Expr> getRows() const {
    return rowAxis ? std::optional(s.axes[*rowAxis].extent) : std::nullopt;
  }

  KernelAnalysis a;
  StageAnalysis s;
  const MachineModel &machine;
  CaseBuilder c;

private:
  int64_t countLocalBytes() const;
  void addKept(const Stage &stage);

  /// Positions of these axes in the grid.
  std::optional<size_t> rowAxis, columnAxis;
};
} // namespace

static bool fits(KernelOp kernel) {
  // A single anchor has better forms.
  return llvm::count_if(kernel.getOps(),
                        [](Operation &op) { return hasLoops(&op); }) > 1 &&
         llvm::none_of(kernel.getOps(), [](Operation &op) {
           return isa<UpdateOpInterface>(op);
         });
}

/// Returns the bytes that a work item keeps for each of its rows.
int64_t Proposal::countLocalBytes() const {
  double bytes = 0;
  Operation *terminator = a.kernel->getRegion(0).front().getTerminator();
  auto add = [&](Value v) {
    double count = getElementType(v).getIntOrFloatBitWidth() / 8.0;
    SmallVector<Expr> own = hlir::getExtents(v);
    for (const Expr &extent : ArrayRef(own).drop_front(s.extents.size()))
      count *= extent.asConstant().value_or(kTypicalExtent);
    bytes += count;
  };
  for (const Stage &stage : s.stages) {
    if (stage.product && stage.product->getNextNode() != terminator)
      add(stage.product->getResult(0));
    for (RowReductionOpInterface op : stage.reductions)
      add(op->getOperand(0));
  }
  return std::max<int64_t>(1, bytes);
}

Decision Proposal::addGrid() {
  if (Decision found = s.find(); !found)
    return found;
  SmallVector<unsigned> rows = s.findOwnDims(/*ofLeft=*/true),
                        columns = s.findOwnDims(/*ofLeft=*/false);
  // Rows are the fastest axis, so that consecutive work items share their
  // columns.
  SmallVector<SmallVector<unsigned>> groups;
  SmallVector<int64_t> blocks;
  auto add = [&](ArrayRef<unsigned> group, int64_t block) {
    groups.emplace_back(group);
    blocks.push_back(block);
    return groups.size() - 1;
  };
  for (unsigned i = 0; i < s.extents.size(); ++i)
    if (!s.extents[i].isConstant(1) && !llvm::is_contained(rows, i) &&
        !llvm::is_contained(columns, i))
      add(i, 1);
  if (!columns.empty())
    columnAxis = add(columns, 0);
  if (!rows.empty())
    rowAxis = add(rows, 0);
  // The tiles are chosen for all rows and columns.
  s.setAxes(groups, blocks);
  int64_t tileRows = 1, width = 1;
  for (const Stage &stage : s.stages)
    if (stage.product) {
      ProductAnalysis p = s.analyze(stage.product);
      chooseMultiply(p, machine);
      Tile tile = chooseTile(p, machine);
      width = std::max(width, tile.panels * tile.getWidth());
      tileRows = std::max(tileRows, tile.rows);
    }
  if (columnAxis)
    s.axes[*columnAxis].block = width;
  if (rowAxis) {
    StageAxis &axis = s.axes[*rowAxis];
    int64_t count =
        machine.getChipBytes() / countLocalBytes() / (columnAxis ? width : 1);
    count = std::clamp(count / tileRows, int64_t(1), kMostTiles) * tileRows;
    std::optional<int64_t> known = axis.extent.asConstant();
    axis.block = known && *known <= count ? 0 : count;
  }
  for (const StageAxis &axis : s.axes)
    c.grid.push_back(c.axis(axis.positions, axis.block));
  return Decision::accept();
}

/// Keeps values that are expensive, reduced, and read again.
void Proposal::addKept(const Stage &stage) {
  for (RowReductionOpInterface op : stage.reductions) {
    Operation *def = op->getOperand(0).getDefiningOp();
    auto body = dyn_cast_or_null<BodyOpInterface>(def);
    if (!body || !body.isPointwise() || def->hasOneUse() || c.hasForm(def) ||
        cast<CodeOpInterface>(def).getCodeSize() < kWorthKeeping ||
        getRank(op->getOperand(0)) != s.extents.size() + 1)
      continue;
    c.addForm(def, "keep", {});
  }
}

void Proposal::addForms(bool isFew) {
  for (auto [i, stage] : llvm::enumerate(s.stages)) {
    if (ProductOpInterface op = stage.product) {
      ProductAnalysis p = s.analyze(op);
      addStageProduct(c, s, p, rowAxis ? s.axes[*rowAxis].block : 1, isFew,
                      machine);
    }
    for (RowReductionOpInterface op : stage.reductions) {
      Expr extent = op.getReducedExtent();
      unsigned lanes = chooseLanes(extent, machine.getLanes(32));
      c.addForm(op, "pass",
                {{"lanes", lanes},
                 {"unroll", chooseUnroll(extent, lanes, kPassUnroll)}});
    }
    addKept(stage);
    // The next stages read the results of this stage from memory on chip.
    if (stage.product && i + 1 < s.stages.size())
      s.place(stage.product->getResult(0));
  }
}

void llir::addStageProduct(CaseBuilder &c, const StageAnalysis &s,
                           ProductAnalysis &p, int64_t rowBlock, bool isFew,
                           const MachineModel &machine, int64_t chunk) {
  if (!p.columns.alongOwn && !p.columns.alongK)
    p.findRuns();
  SmallVector<CaseBuilder::Word> words;
  if (!isFew)
    chooseMultiply(p, machine, rowBlock);
  bool copiesRows = !needsNoCopy(p);
  if (copiesRows)
    words.push_back({"copy", "rows"});
  if (isFew)
    return addFewRows(c, p, copiesRows, machine.getLanes(8 * p.bytes), words);
  Tile tile = chooseTile(p, machine);
  // Tiles of tile registers can only be halved.
  while (rowBlock && rowBlock % tile.rows)
    tile.rows = p.hasTiles() ? tile.rows / 2 : tile.rows - 1;
  SmallVector<CaseBuilder::Number> more;
  if (!p.columns.group.empty() && p.columns.group[0] >= s.extents.size()) {
    int64_t width = tile.getWidth(), panel = tile.panels * width;
    while (chunk % panel)
      panel -= width;
    more.push_back({"panel", panel});
  }
  addTile(c, p, tile, words, more);
}

static SmallVector<LoopCaseAttr>
propose(KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
        const MachineModel &machine, SmallVectorImpl<Reporter::Arg> &why) {
  if (!fits(kernel) || !canTile(machine) || !machine.hasScratch)
    return {};
  Proposal first(kernel, ranges, machine);
  if (Decision found = first.addGrid(); !found) {
    why.push_back({"no stages because", found.str()});
    if (Operation *other = found.getSubject())
      why.push_back({"in the way", describeWithPlace(other)});
    return {};
  }
  why.push_back({"form", "stages over one parallel space"});
  why.push_back({"parallel dims", uint64_t(first.s.extents.size())});
  why.push_back({"stages", uint64_t(first.s.stages.size())});
  return proposeByRows(first, kernel, ranges, machine);
}

double llir::countBlock(const StageAnalysis &s, const ProductSide &side,
                        const KernelSizes &sizes) {
  const StageAxis *axis = s.getAxis(side);
  return axis && axis->block ? double(axis->block) : sizes.valueOf(side.extent);
}

static LoopWork count(KernelOp kernel,
                      const KernelAnalysis::SymbolRanges &ranges,
                      LoopCaseAttr loopCase, const MachineModel &machine) {
  KernelAnalysis a(kernel, ranges);
  KernelSizes sizes(a);
  LoopWork work;
  StageAnalysis s(a);
  bool fits = s.find() && s.apply(loopCase);
  assert(fits && "a case that was not verified");
  (void)fits;
  work.units = sizes.countUnits(loopCase, s.extents);
  llvm::SmallPtrSet<Value, 4> kept;
  double keptBytes = 0;
  for (const Stage &stage : s.stages) {
    if (ProductOpInterface op = stage.product) {
      ProductAnalysis p = s.analyze(op);
      LoopFormAttr form = loopCase.getForm(getPosition(op));
      (void)bool(p.applyForm(form));
      addProduct(work, p, sizes, countBlock(s, p.rows, sizes),
                 countBlock(s, p.columns, sizes), getTile(form),
                 form.getWord("copy") == "rows", machine);
      s.place(op->getResult(0));
      // Each value is written once and read once.
      keptBytes += 2 * sizes.countBytes(op->getResult(0));
    }
    for (RowReductionOpInterface op : stage.reductions)
      for (Value operand : op->getOperands()) {
        work.operations += sizes.countElements(operand) +
                           sizes.countOperations(operand, &kept);
        Operation *def = operand.getDefiningOp();
        if (def && loopCase.getForm(getPosition(def))) {
          kept.insert(operand);
          keptBytes += 2 * sizes.countBytes(operand);
        }
      }
  }
  for (Value yielded : getYielded(kernel))
    work.operations += sizes.countOperations(yielded, &kept);
  work.memoryBytes += sizes.countMemory();
  // The kept values of a work item do not always fit.
  bool isOnChip = keptBytes / 2 / work.units <= machine.l2Bytes;
  (isOnChip ? work.cacheBytes : work.memoryBytes) += keptBytes;
  return work;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

LogicalResult llir::verifyStage(const StageAnalysis &s, ProductAnalysis &p,
                                LoopFormAttr form, const MachineModel &machine,
                                function_ref<InFlightDiagnostic()> emitError) {
  StringRef name = form.getForm().getValue();
  SmallVector<NumberRule> rules = getProductRules(name);
  // The sides are not swapped, and the blocks are those of the stage.
  llvm::erase_if(rules,
                 [](const NumberRule &r) { return r.name == "columns"; });
  rules.push_back({"panel", 1, int64_t(1) << 20});
  if (failed(verifyNumbers(form, rules, emitError)))
    return failure();
  auto getBlock = [&](const ProductSide &side, int64_t otherwise) {
    const StageAxis *axis = s.getAxis(side);
    return axis ? axis->block : otherwise;
  };
  if (form.getWord("copy") == "windows")
    return emitError() << "copies windows of an image as rows, which only a "
                          "kernel of one product does";
  if (form.getWord("pack") == "runs")
    p.findRuns();
  int64_t rowBlock = getBlock(p.rows, 0);
  int64_t columnBlock = getBlock(p.columns, form.getNumber("panel", 0));
  return verifyProduct(form, p, columnBlock, rowBlock, machine, emitError);
}

static LogicalResult verify(KernelOp kernel,
                            const KernelAnalysis::SymbolRanges &ranges,
                            LoopCaseAttr loopCase, const MachineModel &machine,
                            function_ref<InFlightDiagnostic()> emitError) {
  if (!machine.hasScratch)
    return emitError() << "has stages, for which the machine has no scratch";
  KernelAnalysis a(kernel, ranges);
  StageAnalysis s(a);
  Decision fits = s.find();
  if (fits)
    fits = s.apply(loopCase);
  if (!fits)
    return emitError() << "has stages, but " << fits.str();
  for (auto [i, stage] : llvm::enumerate(s.stages)) {
    if (stage.product) {
      ProductAnalysis p = s.analyze(stage.product);
      if (failed(verifyStage(s, p, loopCase.getForm(getPosition(stage.product)),
                             machine, emitError)))
        return failure();
    }
    for (RowReductionOpInterface op : stage.reductions) {
      LoopFormAttr form = loopCase.getForm(getPosition(op));
      if (form.getForm().getValue() != "pass")
        return emitError() << "gives op" << form.getOp() << " the form "
                           << form.getForm().getValue()
                           << ", a reduction of rows has passes";
      if (failed(verifyNumbers(form, {{"lanes", 1, 64}, {"unroll", 1, 16}},
                               emitError)))
        return failure();
    }
    s.placeKept(i);
  }
  for (LoopFormAttr form : loopCase.getForms())
    if (Operation *op =
            &*std::next(kernel.getBody().front().begin(), form.getOp());
        !hasLoops(op) &&
        (form.getForm().getValue() != "keep" || !form.getNumbers().empty()))
      return emitError() << "gives op" << form.getOp() << ", " << describe(op)
                         << ", the form " << form.getForm().getValue();
  return success();
}

static const StringRef kNames[] = {"tile", "dot", "axpy", "pass"};
const LoopForms llir::kStageForms = {"stages", kNames, fits,
                                     propose,  count,  verify};
