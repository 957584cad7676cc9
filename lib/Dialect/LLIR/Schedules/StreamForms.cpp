//===- StreamForms.cpp - Streamed anchors on a CPU ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// As for stages, the grid cuts the parallel space. A work item then iterates
// over the first dim after it, the stream, in chunks, with all anchors in one
// loop (StreamedStages). This is for kernels whose rows do not fit on chip as a
// whole. Products have the forms of stages, reductions the form `joint`. With
// parts (split-kv), several work items process the same rows, each a part of
// the stream.
//
//===----------------------------------------------------------------------===//

#include "StageChoices.h"
#include "luminal/Dialect/LLIR/Analysis/MaskAnalysis.h"

#include <cmath>

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

using Anchor = StreamedSpace::Anchor;
using Role = StreamedSpace::Role;

/// The smallest and the largest chunk of the stream: a row's states are
/// rescaled once in each chunk.
static constexpr int64_t kLeastChunk = 64, kMostChunk = 512;
/// Split-kv work items for each worker, for load balance.
static constexpr int64_t kUnitsEach = 2;
/// Prices that differ by less are equal, because parts need memory.
static constexpr double kWorthParts = 0.9;

namespace {
/// Proposes the case of one kernel.
class Proposal {
public:
  Proposal(KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
           const MachineModel &machine)
      : a(kernel, ranges), t(a), s(t.s), machine(machine),
        c(kernel.getContext(), machine) {}

  /// Finds the anchors and cuts the parallel space.
  Decision addGrid();
  /// Returns whether the rows of a full work item fit on chip as a whole, so
  /// that stages need no stream.
  bool fitsOnChip() const;
  void addForms(bool isFew);
  std::optional<Expr> getRows() const {
    return rowAxis ? std::optional(s.axes[*rowAxis].extent) : std::nullopt;
  }

  /// Returns the blocks of the grid, for few rows if their number is not known.
  Expr countBlocks() const;

  KernelAnalysis a;
  StreamedStages t;
  StageAnalysis &s;
  const MachineModel &machine;
  CaseBuilder c;

private:
  int64_t countBytesOfElement() const;

  std::optional<size_t> rowAxis;
  /// The rows of a work item in full tiles.
  int64_t fullRows = 1;
};
} // namespace

static bool fits(KernelOp kernel) {
  unsigned anchors = 0;
  for (Operation &op : kernel.getOps()) {
    if (isa<UpdateOpInterface>(op))
      return false;
    anchors += hasLoops(&op);
  }
  return anchors > 1;
}

/// Returns the bytes that one index of the stream takes for one row of the work
/// item.
int64_t Proposal::countBytesOfElement() const {
  int64_t bits = 0;
  auto add = [&](Value v) {
    bits += getElementType(v).getIntOrFloatBitWidth();
  };
  for (const Anchor &anchor : t.getAnchors()) {
    if (anchor.role == Role::Scores)
      add(anchor.op->getResult(0));
    if (anchor.role == Role::Sum)
      if (Value terms = t.getComputedTerms(anchor))
        add(terms);
  }
  return std::max<int64_t>(1, bits / 8);
}

Decision Proposal::addGrid() {
  if (Decision found = t.find(); !found)
    return found;
  SmallVector<unsigned> rows = s.findOwnDims(/*ofLeft=*/true);
  SmallVector<SmallVector<unsigned>> groups;
  SmallVector<int64_t> blocks;
  for (unsigned i = 0; i < s.extents.size(); ++i)
    if (!s.extents[i].isConstant(1) && !llvm::is_contained(rows, i)) {
      groups.push_back({i});
      blocks.push_back(1);
    }
  // Rows are the fastest axis, so that consecutive work items share their
  // columns.
  if (!rows.empty()) {
    rowAxis = groups.size();
    groups.push_back(rows);
    blocks.push_back(0);
  }
  s.setAxes(groups, blocks);
  int64_t tileRows = 1;
  for (const Anchor &anchor : t.getAnchors())
    if (auto product = dyn_cast<ProductOpInterface>(anchor.op)) {
      ProductAnalysis p = s.analyze(product);
      chooseMultiply(p, machine);
      tileRows = std::max(tileRows, chooseTile(p, machine).rows);
    }
  fullRows = rowAxis ? kMostTiles * tileRows : 1;
  if (rowAxis) {
    std::optional<int64_t> known = s.axes[*rowAxis].extent.asConstant();
    bool isAll = known && *known <= fullRows;
    s.axes[*rowAxis].block = isAll ? 0 : fullRows;
    if (isAll)
      fullRows = *known;
  }
  // A chunk of all rows takes half of the on-chip memory; packed columns and
  // result lines take the rest.
  int64_t chunk = kLeastChunk;
  while (chunk < kMostChunk && 2 * chunk * fullRows * countBytesOfElement() <=
                                   machine.getChipBytes() / 2)
    chunk *= 2;
  t.setChunk(chunk);
  for (const StageAxis &axis : s.axes)
    c.grid.push_back(c.axis(axis.positions, axis.block));
  c.stream.push_back(c.axis({t.getPosition()}, chunk));
  return Decision::accept();
}

Expr Proposal::countBlocks() const {
  Expr blocks = 1;
  for (auto [i, axis] : llvm::enumerate(s.axes))
    if (i != rowAxis || axis.extent.asConstant())
      blocks = blocks * axis.countBlocks();
  return blocks;
}

bool Proposal::fitsOnChip() const {
  std::optional<int64_t> known = t.extent.asConstant();
  return known &&
         *known * fullRows * countBytesOfElement() <= machine.getChipBytes();
}

void Proposal::addForms(bool isFew) {
  a.clearPlaces();
  for (const Anchor &anchor : t.getAnchors()) {
    if (anchor.role == Role::Reduction) {
      unsigned lanes = chooseLanes(t.extent, machine.getLanes(32));
      c.addForm(anchor.op, "joint",
                {{"lanes", lanes},
                 {"unroll", chooseUnroll(t.extent, lanes, kPassUnroll)}});
      continue;
    }
    if (anchor.role == Role::Sum)
      if (Value terms = t.getComputedTerms(anchor))
        t.placeInChunk(terms);
    // A chunk of scores consists of whole panels.
    ProductAnalysis p = t.analyze(anchor);
    addStageProduct(c, s, p, rowAxis ? s.axes[*rowAxis].block : 1, isFew,
                    machine, anchor.role == Role::Scores ? t.chunk : 0);
    if (anchor.role == Role::Scores)
      t.placeInChunk(anchor.op->getResult(0));
  }
  a.clearPlaces();
}

/// Returns `e` over the dims of the kernel, with `values` substituted for the
/// dims of `row`.
static Expr atRow(const Expr &e, const Index &row, ArrayRef<Expr> values) {
  return e.substitute([&](const Expr &leaf) -> std::optional<Expr> {
    for (auto [dim, value] : llvm::zip_equal(row, values))
      if (leaf.asDim() && leaf == dim)
        return value;
    return std::nullopt;
  });
}

/// Describes for the remark which part of the stream work items process.
static void describeWalk(StreamedStages &t,
                         SmallVectorImpl<Reporter::Arg> &why) {
  Index row = t.getAnyRow();
  NeededSpan span;
  if (Decision found = findStreamSpan(t, row, span); !found) {
    why.push_back({"walks all because", found.str()});
    return;
  }
  SmallVector<Expr> dims;
  for (unsigned i = 0; i < row.size(); ++i)
    dims.push_back(Expr::dim(i));
  why.push_back({"walks from", atRow(span.lo, row, dims).str()});
  why.push_back({"walks to", atRow(span.hi, row, dims).str()});
}

/// The number of rows that are sampled for the average span.
static constexpr int kSampledRows = 16;

/// Returns the fraction of the stream that work items process on average.
static double getWalkedShare(StreamedStages &t, const KernelSizes &sizes) {
  Index row = t.getAnyRow();
  NeededSpan span;
  if (!findStreamSpan(t, row, span))
    return 1;
  double extent = std::max(1.0, sizes.valueOf(t.extent)), walked = 0;
  for (int i = 0; i < kSampledRows; ++i) {
    SmallVector<Expr> at;
    for (const Expr &e : t.s.extents)
      at.push_back(
          int64_t(sizes.valueOf(e) * (2 * i + 1) / (2 * kSampledRows)));
    double lo = std::max(0.0, sizes.valueOf(atRow(span.lo, row, at)));
    double hi = std::min(extent, sizes.valueOf(atRow(span.hi, row, at)));
    walked += std::max(0.0, hi - lo);
  }
  return walked / kSampledRows / extent;
}

static LoopWork count(KernelOp kernel,
                      const KernelAnalysis::SymbolRanges &ranges,
                      LoopCaseAttr loopCase, const MachineModel &machine);

/// Returns the price of the stages that the kernel could have instead.
static std::optional<double>
priceStages(KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
            const MachineModel &machine) {
  SmallVector<Reporter::Arg> ignored;
  SmallVector<LoopCaseAttr> cases =
      kStageForms.propose(kernel, ranges, machine, ignored);
  if (cases.empty())
    return std::nullopt;
  LoopWork work = kStageForms.count(kernel, ranges, cases.back(), machine);
  return priceWork(work, machine, machine.workers);
}

/// Cuts the stream of the first case into split-kv parts if there are fewer
/// blocks than workers and if that is faster. If the length of the stream is
/// known only at a call, the guard requires whole chunks for all parts. Returns
/// whether the stream was cut.
static bool addParts(Proposal &first, KernelOp kernel,
                     const KernelAnalysis::SymbolRanges &ranges,
                     const MachineModel &machine,
                     SmallVectorImpl<LoopCaseAttr> &cases,
                     SmallVectorImpl<Reporter::Arg> &why) {
  auto refuse = [&](StringRef reason) {
    why.push_back({"no parts because", reason.str()});
    return false;
  };
  std::optional<int64_t> blocks = first.countBlocks().asConstant(),
                         extent = first.t.extent.asConstant();
  if (!blocks)
    return refuse("the number of work items is known only at a call");
  if (*blocks >= machine.workers || *blocks == 0)
    return refuse("there are work items for all workers");
  int64_t parts = llvm::divideCeil(kUnitsEach * machine.workers, *blocks);
  if (extent)
    parts = std::min(parts, *extent / first.t.chunk);
  if (parts < 2 || first.a.getAssumptions().provablyLessEqual(
                       first.t.extent, parts * first.t.chunk - 1))
    return refuse("a part would have less than a chunk");
  CaseBuilder cut = first.c;
  cut.parts = parts;
  if (!extent)
    cut.atLeast.push_back({first.t.extent, parts * first.t.chunk});
  LoopCaseAttr withParts = cut.build();
  if (extent && first.getRows().value_or(1).asConstant()) {
    auto price = [&](LoopCaseAttr loopCase) {
      LoopWork work = count(kernel, ranges, loopCase, machine);
      return priceWork(work, machine, machine.workers);
    };
    double otherwise = price(cases.front());
    if (first.fitsOnChip())
      otherwise = std::min(
          otherwise, priceStages(kernel, ranges, machine).value_or(otherwise));
    if (price(withParts) > kWorthParts * otherwise)
      return refuse("they are not faster by their price");
  }
  why.push_back({"parts", parts});
  if (extent)
    cases.front() = withParts;
  else
    cases.insert(cases.begin(), withParts);
  return true;
}

static SmallVector<LoopCaseAttr>
propose(KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
        const MachineModel &machine, SmallVectorImpl<Reporter::Arg> &why) {
  // A kernel without products reads its rows again from memory instead.
  if (!fits(kernel) || !canTile(machine) || !machine.hasScratch ||
      kernel.getBody().front().getOps<ProductOpInterface>().empty())
    return {};
  Proposal first(kernel, ranges, machine);
  if (Decision found = first.addGrid(); !found) {
    why.push_back({"no stream because", found.str()});
    if (Operation *other = found.getSubject())
      why.push_back({"not streamed", describeWithPlace(other)});
    return {};
  }
  // Products without reductions that fit on chip become stages.
  if (!first.t.space->hasRole(Role::Reduction) && first.fitsOnChip())
    return {};
  SmallVector<LoopCaseAttr> cases =
      proposeByRows(first, kernel, ranges, machine);
  bool hasParts = addParts(first, kernel, ranges, machine, cases, why);
  if (first.fitsOnChip() && !hasParts)
    return {};
  why.push_back({"form", "anchors in one loop over a streamed dim"});
  why.push_back({"anchors", uint64_t(first.t.getAnchors().size())});
  why.push_back({"chunk", uint64_t(first.t.chunk)});
  describeWalk(first.t, why);
  return cases;
}

static LoopWork count(KernelOp kernel,
                      const KernelAnalysis::SymbolRanges &ranges,
                      LoopCaseAttr loopCase, const MachineModel &machine) {
  KernelAnalysis a(kernel, ranges);
  KernelSizes sizes(a);
  LoopWork work;
  StreamedStages t(a);
  bool fits = t.find() && t.apply(loopCase);
  assert(fits && "a case that was not verified");
  (void)fits;
  work.units = sizes.countUnits(loopCase, t.s.extents);
  double extent = std::max(1.0, sizes.valueOf(t.extent));
  double chunks = std::ceil(extent / double(t.chunk));
  llvm::SmallPtrSet<Value, 4> kept;
  for (const Anchor &anchor : t.getAnchors()) {
    if (anchor.role == Role::Reduction) {
      for (Value operand : anchor.op->getOperands())
        work.operations += sizes.countElements(operand) +
                           sizes.countOperations(operand, &kept);
      continue;
    }
    // The terms of a chunk are written and read on chip.
    if (anchor.role == Role::Sum)
      if (Value terms = t.getComputedTerms(anchor)) {
        t.placeInChunk(terms);
        kept.insert(terms);
        work.cacheBytes += 2 * sizes.countBytes(terms);
      }
    ProductAnalysis p = t.s.analyze(cast<ProductOpInterface>(anchor.op));
    LoopFormAttr form = loopCase.getForm(getPosition(anchor.op));
    (void)bool(p.applyForm(form));
    llir::addProduct(work, p, sizes, countBlock(t.s, p.rows, sizes),
                     sizes.valueOf(p.columns.extent), getTile(form),
                     form.getWord("copy") == "rows", machine);
    Value result = anchor.op->getResult(0);
    double times = anchor.role == Role::Sum ? chunks : 1;
    work.cacheBytes += 2 * times * sizes.countBytes(result);
    if (anchor.role == Role::Scores)
      t.placeInChunk(result);
  }
  double share = getWalkedShare(t, sizes);
  for (double *count : {&work.operations, &work.products, &work.cacheBytes})
    *count *= share;
  for (Value yielded : getYielded(kernel))
    work.operations += sizes.countOperations(yielded, &kept);
  work.memoryBytes += sizes.countMemory();
  // The states of parts are written, read, and merged.
  if (int64_t parts = loopCase.getParts(); parts > 1) {
    double states = work.units * sizes.valueOf(t.countStateBytes());
    work.cacheBytes += 2 * states;
    work.operations += states;
  }
  return work;
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static LogicalResult verify(KernelOp kernel,
                            const KernelAnalysis::SymbolRanges &ranges,
                            LoopCaseAttr loopCase, const MachineModel &machine,
                            function_ref<InFlightDiagnostic()> emitError) {
  if (!machine.hasScratch)
    return emitError()
           << "runs anchors in one loop, for which the machine has no scratch";
  KernelAnalysis a(kernel, ranges);
  StreamedStages t(a);
  Decision fits = t.find();
  if (fits)
    fits = t.apply(loopCase);
  if (!fits)
    return emitError() << "runs anchors in one loop, but " << fits.str();
  if (std::optional<int64_t> n = t.extent.asConstant()) {
    int64_t chunks = llvm::divideCeil(*n, t.chunk), parts = loopCase.getParts();
    if (parts > 1 && chunks < parts)
      return emitError() << "cuts the " << chunks
                         << " chunks of its stream into " << parts << " parts";
  }
  for (const Anchor &anchor : t.getAnchors()) {
    LoopFormAttr form = loopCase.getForm(getPosition(anchor.op));
    if (anchor.role == Role::Reduction) {
      if (form.getForm().getValue() != "joint")
        return emitError() << "gives op" << form.getOp() << " the form "
                           << form.getForm().getValue()
                           << ", a reduction of a stream is joint";
      if (failed(verifyNumbers(form, {{"lanes", 1, 64}, {"unroll", 1, 16}},
                               emitError)))
        return failure();
      continue;
    }
    if (form.getForm().getValue() == "joint")
      return emitError() << "gives op" << form.getOp() << ", "
                         << describe(anchor.op) << ", the form joint";
    if (anchor.role == Role::Sum)
      if (Value terms = t.getComputedTerms(anchor))
        t.placeInChunk(terms);
    ProductAnalysis p = t.analyze(anchor);
    if (failed(verifyStage(t.s, p, form, machine, emitError)))
      return failure();
    if (anchor.role == Role::Scores) {
      if (t.chunk % form.getNumber("panel", 1))
        return emitError() << "has a chunk of " << t.chunk
                           << ", which is not a multiple of the panel of op"
                           << form.getOp();
      t.placeInChunk(anchor.op->getResult(0));
    }
  }
  a.clearPlaces();
  for (LoopFormAttr form : loopCase.getForms())
    if (!hasLoops(&*std::next(kernel.getBody().front().begin(), form.getOp())))
      return emitError() << "gives op" << form.getOp()
                         << " a form, which only anchors of a stream have";
  return success();
}

/// Any case may have parts; `verify` checks what they cut.
static LogicalResult verifyParts(KernelOp, LoopCaseAttr,
                                 function_ref<InFlightDiagnostic()>) {
  return success();
}

/// Returns the workspace of split-kv parts.
static Workspace countWorkspace(KernelOp kernel,
                                const KernelAnalysis::SymbolRanges &ranges,
                                LoopCaseAttr loopCase) {
  if (loopCase.getParts() == 1)
    return {};
  KernelAnalysis a(kernel, ranges);
  StreamedStages t(a);
  bool fits = t.find() && t.apply(loopCase);
  assert(fits && "a case that was not verified");
  (void)fits;
  Expr blocks = 1;
  for (const StageAxis &axis : t.s.axes)
    blocks = blocks * axis.countBlocks();
  return {blocks * (t.countStateBytes() * int64_t(loopCase.getParts())),
          blocks * kCounterBytes};
}

/// Stages on chip have tiles as well, but no stream.
static bool isMeant(LoopCaseAttr loopCase) {
  return !loopCase.getStream().empty();
}

static const StringRef kNames[] = {"tile", "dot", "axpy", "joint"};
const LoopForms llir::kStreamForms = {"streamed",
                                      kNames,
                                      fits,
                                      propose,
                                      count,
                                      verify,
                                      verifyParts,
                                      countWorkspace,
                                      /*getNontemporal=*/nullptr,
                                      /*competes=*/false,
                                      isMeant};
