//===- StreamBlockForms.cpp - Streamed anchors by thread blocks -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On a GPU a thread block takes a tile of rows (StreamTile) through all
// anchors, one chunk of the stream after the other. The tile is the block of
// the last grid axis that only left operands have. Products have the form
// `block` without a depth, all with the same `use`. Reductions have the form
// `joint`; a group of neighbouring threads shares a row. `blocks` is the number
// of blocks that must be resident on an SM. `stages` of a product is the number
// of pipeline stages of its right operand in shared memory. With parts
// (split-kv), several blocks process the same rows, each a part of the stream.
//
//===----------------------------------------------------------------------===//

#include "BlockChoices.h"
#include "luminal/Dialect/LLIR/Analysis/MaskAnalysis.h"
#include "luminal/Dialect/LLIR/Analysis/StreamTile.h"
#include "luminal/Dialect/LLIR/Analysis/StreamedStages.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

using Anchor = StreamedSpace::Anchor;
using Role = StreamedSpace::Role;

/// The fewest chunks of a split-kv part: their time equals that of writing and
/// merging its states.
static constexpr int64_t kLeastChunks = 4;

/// Counters of a group of blocks: how many blocks have finished their loop,
/// what they found, and how many have written their results.
static constexpr int64_t kGroupCounterBytes = 16;

static bool fits(KernelOp kernel) {
  bool hasReduction = false, hasProduct = false;
  for (Operation &op : kernel.getOps()) {
    if (isa<UpdateOpInterface>(op))
      return false;
    hasReduction |= isa<RowReductionOpInterface>(op);
    hasProduct |= isa<ProductOpInterface>(op);
  }
  return hasReduction && hasProduct;
}

/// Accepts if anchors are read at the index of the elements that a thread
/// holds.
static Decision areReadInPlace(StreamedStages &t) {
  KernelAnalysis &a = t.a;
  Operation *elsewhere = nullptr;
  auto check = [&](Value root, const Index &at) {
    a.clearPlaces();
    for (const Anchor &anchor : t.getAnchors())
      for (Value result : anchor.op->getResults())
        a.place(result,
                [&, op = anchor.op, rank = getRank(result)](const Index &read) {
                  if (read != Index(ArrayRef(at).take_front(rank)))
                    elsewhere = op;
                  return Expr(0);
                });
    // The anchor itself reads its own operands.
    a.walk(root, at, /*visit=*/nullptr);
    a.clearPlaces();
  };
  auto withLocal = [&](const Expr &extent) {
    Index at = t.s.index;
    at.push_back(Expr::dim(a.addDim(extent)));
    return at;
  };
  for (const Anchor &anchor : t.getAnchors()) {
    Index at = withLocal(t.extent);
    if (anchor.role == Role::Sum)
      check(StreamedSpace::getTerms(cast<ProductOpInterface>(anchor.op)), at);
    if (anchor.role == Role::Reduction)
      for (Value operand : anchor.op->getOperands())
        check(operand, at);
    if (anchor.reference)
      check(anchor.reference, t.s.index);
  }
  for (const MovedResult &result : t.s.results) {
    SmallVector<Expr> extents = hlir::getExtents(result.source);
    bool isLine = extents.size() > t.s.extents.size();
    check(result.source, isLine ? withLocal(extents.back()) : t.s.index);
  }
  if (elsewhere)
    return Decision::refuse(
        "it is read at indices whose elements other threads hold", elsewhere);
  return Decision::accept();
}

/// Accepts if products are over the rows of a tile, and have one index of each
/// other parallel dim.
static Decision areOfRows(const StreamedStages &t) {
  for (const Anchor &anchor : t.getAnchors()) {
    if (anchor.role == Role::Reduction)
      continue;
    ProductAnalysis p = t.analyze(anchor);
    for (ArrayRef<unsigned> group : p.batch) {
      const StageAxis *axis = group.front() < t.s.extents.size()
                                  ? t.s.getAxis(group.front())
                                  : nullptr;
      if (!axis || axis->block != 1)
        return Decision::refuse("it has more dims than rows and columns",
                                anchor.op);
    }
    for (unsigned dim : p.columns.group)
      if (dim != t.getPosition())
        return Decision::refuse("its columns are dims of the grid", anchor.op);
  }
  return Decision::accept();
}

/// Returns the axis whose block is the rows of a tile; null without such an
/// axis.
static const StageAxis *getRowAxis(const StreamedStages &t) {
  const StageAxis *found = nullptr;
  for (const StageAxis &axis : t.s.axes)
    if (axis.block != 1)
      found = &axis;
  return found;
}

/// Accepts if the right operand may be copied asynchronously.
static Decision canCopyRight(const Anchor &anchor, const ProductAnalysis &p,
                             bool useTensorCores, BlockReading right) {
  Type multiplied =
      useTensorCores ? getMultipliedType(anchor) : getSumType(p.op);
  return canCopy(p, p.columns, right, multiplied,
                 /*mayBeAcross=*/useTensorCores);
}

static Expr countBlocks(ArrayRef<StageAxis> axes) {
  Expr blocks = 1;
  for (const StageAxis &axis : axes)
    blocks = blocks * axis.countBlocks();
  return blocks;
}

/// Accepts if blocks may check what other blocks skip, where each block needs
/// `span`: everything between the first index that some row needs and the last
/// one must be processed by some block.
static Decision canShareSkipped(StreamedStages &t, const NeededSpan &span,
                                unsigned parts) {
  const StageAxis *rows = getRowAxis(t);
  if (parts > 1 || !rows || rows != &t.s.axes.back())
    return Decision::refuse("blocks that share columns do not cover the whole "
                            "stream, or are not consecutive");
  if (t.a.simplify(rows->countBlocks()).isConstant(1))
    return Decision::refuse("one block has all rows");
  auto rises = [&](const Expr &x) {
    return getDirection(x, rows->dim).value_or(-1) >= 0;
  };
  if (!rises(span.lo) || !rises(span.hi))
    return Decision::refuse(
        "a row may need earlier indices than the rows before it");
  return Decision::accept();
}

/// Accepts if a block can run the anchors with this tile and this many parts.
static Decision check(StreamedStages &t, const StreamTile &tile, unsigned parts,
                      const MachineModel &machine) {
  if (Decision fits = tile.fits(t.getAnchors(), machine); !fits)
    return fits;
  if (tile.producers && parts > 1)
    return Decision::refuse("warps are specialized, and blocks process parts");
  if (Decision fits = areOfRows(t); !fits)
    return fits;
  if (Decision fits = areReadInPlace(t);
      !fits || tile.skipped != StreamTile::Skipped::Shared)
    return fits;
  NeededSpan span;
  if (Decision found = findStreamSpan(t, t.s.index, span); !found)
    return found;
  return canShareSkipped(t, span, parts);
}

/// Returns whether some block needs both the first and the last chunk of the
/// stream, and so all of it, because a span is contiguous.
static bool needsAll(StreamedStages &t, const NeededSpan &span) {
  const StageAxis *rows = getRowAxis(t);
  std::optional<int64_t> extent = t.extent.asConstant(),
                         count =
                             rows ? rows->extent.asConstant() : std::nullopt;
  if (!extent || !count || *count == 0)
    return false;
  auto at = [&](const Expr &x, int64_t row) {
    std::vector<Expr> dims;
    for (unsigned i = 0; i < t.a.getExtents().size(); ++i)
      dims.push_back(i == rows->dim ? Expr(row) : Expr::dim(i));
    return t.a.simplify(x.substituteDims(dims)).asConstant();
  };
  int64_t first = (*count - 1) / rows->block * rows->block;
  std::optional<int64_t> lo = at(span.lo, first), hi = at(span.hi, *count - 1);
  return lo && hi && *lo < t.chunk && *hi > *extent - t.chunk;
}

/// If every block has an SM to itself, the kernel takes as long as the block
/// with the longest stream. If that one needs the whole stream, or if one block
/// has all rows and needs it, skipping (and checking what is skipped) gains
/// nothing.
static StreamTile::Skipped chooseSkipped(StreamedStages &t,
                                         const MachineModel &machine) {
  NeededSpan span;
  if (!findStreamSpan(t, t.s.index, span))
    return StreamTile::Skipped::Own;
  std::optional<int64_t> blocks =
      t.a.simplify(countBlocks(t.s.axes)).asConstant();
  bool haveSMs = blocks && *blocks <= machine.workers;
  const StageAxis *rows = getRowAxis(t);
  bool isOneBlock = rows && t.a.simplify(rows->countBlocks()).isConstant(1);
  if ((haveSMs || isOneBlock) && needsAll(t, span))
    return StreamTile::Skipped::None;
  return canShareSkipped(t, span, /*parts=*/1) ? StreamTile::Skipped::Shared
                                               : StreamTile::Skipped::Own;
}

static StringRef getWord(StreamTile::Skipped skipped) {
  switch (skipped) {
  case StreamTile::Skipped::Own:
    return "";
  case StreamTile::Skipped::Shared:
    return "shared";
  case StreamTile::Skipped::None:
    return "none";
  }
  llvm_unreachable("an enumerator");
}

/// Adds the forms of all anchors.
static void addForms(CaseBuilder &c, const StreamedStages &t,
                     const StreamTile &tile, const MachineModel &machine) {
  auto along = [](const BlockReading &r) { return r.isAlongK ? "k" : "own"; };
  for (const Anchor &anchor : t.getAnchors()) {
    if (anchor.role == Role::Reduction) {
      c.addForm(anchor.op, "joint",
                {{"blocks", tile.countResidents(t.getAnchors(), machine)}});
      continue;
    }
    ProductAnalysis p = t.analyze(anchor);
    BlockReading right = chooseReading(p, p.columns, machine);
    SmallVector<CaseBuilder::Number> numbers{{"columnlanes", right.lanes}};
    SmallVector<CaseBuilder::Word> words{{"use", tile.useWarpGroups    ? "wgmma"
                                                 : tile.useTensorCores ? "mma"
                                                                       : "fma"},
                                         {"columnalong", along(right)}};
    if (anchor.role == Role::Scores) {
      BlockReading left = chooseReading(p, p.rows, machine);
      numbers.push_back({"rowlanes", left.lanes});
      words.push_back({"rowalong", along(left)});
    }
    if (unsigned stages = tile.countStages(anchor); stages > 1)
      numbers.push_back({"stages", stages});
    if (tile.isAhead && anchor.role == Role::Sum)
      words.push_back({"terms", "beside"});
    if (tile.producers && anchor.role == Role::Sum)
      words.push_back({"warps", "specialized"});
    if (StringRef word = getWord(tile.skipped);
        !word.empty() && anchor.role == Role::Sum)
      words.push_back({"skipped", word});
    c.addForm(anchor.op, "block", numbers, words);
  }
}

//===----------------------------------------------------------------------===//
// Specialized warps
//===----------------------------------------------------------------------===//

/// The fewest operations (multiplications and additions) of a block with
/// specialized warps. Such a block occupies an SM, and no other block hides its
/// prologue and epilogue, as blocks of few rows do for each other; so the limit
/// grows with the number of blocks that would otherwise be resident. If blocks
/// check what others skip, the epilogue takes longer. From attention of 512 and
/// 4,096 keys, heads of 64 and 128, causal and not (H200): break-even at 7, 19,
/// 30 and 40 million.
static constexpr double kLeastOfResident = 8e6, kLeastOfShared = 12e6;

/// The limit for the rows of the busiest SM, relative to its rows with blocks
/// of few rows.
static constexpr double kMostOfRows = 1.1;
/// The fewest blocks for each SM, if the number of rows is known only at a
/// call.
static constexpr double kLeastUnits = 1.5;

/// Estimates the elements of the stream that a row needs, as the mean of some
/// rows.
static double countNeeded(StreamedStages &t, double extent) {
  NeededSpan span;
  if (!findStreamSpan(t, t.s.index, span))
    return extent;
  const StageAxis *rows = getRowAxis(t);
  const Assumptions &symbols = t.a.getAssumptions();
  const double count = rows ? nominalValue(rows->extent, symbols) : 1;
  auto at = [&](const Expr &x, double row) {
    std::vector<Expr> dims;
    for (unsigned i = 0; i < t.a.getExtents().size(); ++i)
      dims.push_back(rows && i == rows->dim ? Expr(int64_t(row))
                                            : Expr::dim(i));
    double value = nominalValue(t.a.simplify(x.substituteDims(dims)), symbols);
    return std::clamp(value, 0.0, extent);
  };
  constexpr int samples = 9;
  double sum = 0;
  for (int i = 0; i < samples; ++i) {
    double row = (count - 1) * i / (samples - 1);
    sum += std::max(0.0, at(span.hi, row) - at(span.lo, row));
  }
  return sum / samples;
}

/// Accepts if specialized warps are faster than the blocks of `other`, which
/// have few rows each, for all possible sizes. All cases of a kernel have the
/// same block size, so the choice cannot be made at a call.
static Decision paysSpecialized(StreamedStages &t, const StreamTile &tile,
                                const StreamTile &other,
                                const MachineModel &machine) {
  const Assumptions &symbols = t.a.getAssumptions();
  double width = 0;
  for (const Anchor &anchor : t.getAnchors())
    if (anchor.role != Role::Reduction) {
      StreamTile::Part part = tile.getPart(anchor);
      width += double(anchor.role == Role::Scores ? part.depth : part.columns);
    }
  const int64_t residents = other.countResidents(t.getAnchors(), machine);
  double least = kLeastOfResident * double(residents - 1);
  if (tile.skipped == StreamTile::Skipped::Shared)
    least += kLeastOfShared;
  double extent = nominalValue(t.extent, symbols),
         needed = countNeeded(t, extent),
         enough = least / (double(tile.rows) * width);
  if (!symbols.provablyLessEqual(
          int64_t(std::ceil(enough * extent / std::max(1.0, needed))),
          t.extent))
    return Decision::refuse("a block may multiply too little");
  const StageAxis *rows = getRowAxis(t);
  double units = nominalValue(countBlocks(t.s.axes), symbols),
         workers = double(machine.workers);
  if (rows && !rows->extent.asConstant()) {
    double others = units / nominalValue(rows->countBlocks(), symbols);
    int64_t least =
        int64_t(std::ceil(kLeastUnits * workers / others)) * tile.rows;
    if (!symbols.provablyLessEqual(least, rows->extent))
      return Decision::refuse("rows may be too few for all multiprocessors");
  } else {
    auto getMostRows = [&](double rows) {
      return rows * std::ceil(units * double(tile.rows) / rows / workers);
    };
    if (getMostRows(double(tile.rows)) >
        kMostOfRows * getMostRows(double(other.rows)))
      return Decision::refuse("multiprocessors would be without work");
  }
  return Decision::accept();
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// The most blocks of one warp on an SM that process split-kv parts: one query
/// of 8 heads over 32,768 keys took 47 us, and 54 with four (H200).
static constexpr int64_t kMostWarps = 2;

/// Builds the cases of a schedule. If blocks of rows leave SMs idle, the first
/// case has split-kv parts; its guard has the conditions that are known only at
/// a call.
static SmallVector<LoopCaseAttr>
buildWithParts(StreamedStages &t, StreamTile tile, const CaseBuilder &c,
               const MachineModel &machine,
               SmallVectorImpl<Reporter::Arg> &why) {
  SmallVector<LoopCaseAttr> whole{c.build()};
  auto refuse = [&](StringRef reason) {
    why.push_back({"no parts because", reason.str()});
    return whole;
  };
  CaseBuilder cut = c;
  Expr count = 1;
  for (const StageAxis &axis : t.s.axes) {
    // A guard for few rows, if their number is not known.
    bool isRows = &axis == getRowAxis(t) && !axis.extent.asConstant();
    if (isRows)
      cut.atMost.push_back({axis.extent, axis.block});
    else
      count = count * axis.countBlocks();
  }
  std::optional<int64_t> blocks = t.a.simplify(count).asConstant();
  if (!blocks)
    return refuse("the number of work items is known only at a call");
  if (*blocks >= machine.workers || *blocks == 0)
    return refuse("there are work items for all workers");
  std::optional<int64_t> extent = t.extent.asConstant();
  int64_t least = kLeastChunks * t.chunk;
  int64_t residents = tile.countResidents(t.getAnchors(), machine);
  // Merging one more part takes longer than it saves.
  if (tile.countMergingSets() > 1)
    residents = std::min(residents, kMostWarps);
  int64_t parts = machine.workers * residents / *blocks;
  if (extent)
    parts = std::min(parts, *extent / least);
  for (int64_t merged :
       {StreamTile::kMergedAtOnce * int64_t(tile.countMergingSets()),
        StreamTile::kMergedAtOnce})
    if (parts > merged)
      parts -= parts % merged;
  if (parts < 2 ||
      t.a.getAssumptions().provablyLessEqual(t.extent, parts * least - 1))
    return refuse("a part would get too little of the stream");
  cut.parts = parts;
  tile.skipped = StreamTile::Skipped::Own;
  cut.forms.clear();
  addForms(cut, t, tile, machine);
  if (!extent)
    cut.atLeast.push_back({t.extent, parts * least});
  why.push_back({"parts", parts});
  if (cut.atLeast.empty() && cut.atMost.empty())
    return {cut.build()};
  return {cut.build(), whole.front()};
}

static SmallVector<LoopCaseAttr>
propose(KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
        const MachineModel &machine, SmallVectorImpl<Reporter::Arg> &why) {
  if (!fits(kernel) || !machine.sharedBytes)
    return {};
  KernelAnalysis a(kernel, ranges);
  StreamedStages t(a);
  CaseBuilder c(kernel.getContext(), machine);
  StreamTile tile;
  SmallVector<unsigned> rows;
  SmallVector<SmallVector<unsigned>> groups;
  SmallVector<int64_t> blocks;
  std::optional<int64_t> count = 1;
  auto setTile = [&](int64_t block, int64_t chunk) {
    SmallVector<SmallVector<unsigned>> ofTile = groups;
    SmallVector<int64_t> sizes = blocks;
    // Rows are the fastest axis, so that consecutive work items share their
    // columns.
    if (!rows.empty()) {
      ofTile.push_back(rows);
      sizes.push_back(block);
    }
    t.s.setAxes(ofTile, sizes);
    t.setChunk(chunk);
  };
  auto find = [&]() -> Decision {
    if (Decision found = t.find(); !found)
      return found;
    rows = t.s.findOwnDims(/*ofLeft=*/true);
    for (unsigned i = 0; i < t.s.extents.size(); ++i)
      if (!t.s.extents[i].isConstant(1) && !llvm::is_contained(rows, i)) {
        groups.push_back({i});
        blocks.push_back(1);
      }
    if (!rows.empty()) {
      std::vector<Expr> extents;
      for (unsigned i : rows)
        extents.push_back(t.s.extents[i]);
      count = a.simplify(product(extents)).asConstant();
    }
    // Large tiles pay if there are enough of them.
    Expr others = 1;
    for (ArrayRef<unsigned> group : groups)
      others = others * t.s.extents[group.front()];
    std::optional<int64_t> batches = others.asConstant();
    bool areMany = batches && count &&
                   *batches * (*count / StreamTile::kJoinedRows) >=
                       int64_t(machine.workers);
    auto choose = [&](ArrayRef<Operation *> copied) {
      return StreamTile::choose(t.getAnchors(), count, machine, copied, areMany,
                                tile);
    };
    if (Decision fits = choose({}); !fits)
      return fits;
    // Whether an operand may be copied depends on how it is read.
    setTile(tile.rows, tile.chunk);
    SmallVector<Operation *> copied;
    for (const Anchor &anchor : t.getAnchors()) {
      if (anchor.role == Role::Reduction)
        continue;
      ProductAnalysis p = t.analyze(anchor);
      if (canCopyRight(anchor, p, tile.useTensorCores,
                       chooseReading(p, p.columns, machine)))
        copied.push_back(anchor.op);
    }
    if (Decision fits = choose(copied); !fits)
      return fits;
    setTile(tile.rows, tile.chunk);
    tile.usedRows = std::min(tile.rows, count.value_or(tile.rows));
    return check(t, tile, /*parts=*/1, machine);
  };
  if (Decision found = find(); !found) {
    why.push_back({"no stream because", found.str()});
    if (Operation *other = found.getSubject())
      why.push_back({"not streamed", describeWithPlace(other)});
    return {};
  }
  auto addAll = [&](CaseBuilder &c, const StreamTile &tile) {
    for (const StageAxis &axis : t.s.axes)
      c.grid.push_back(c.axis(axis.positions, axis.block));
    c.stream.push_back(c.axis({t.getPosition()}, tile.chunk));
    c.threads = c.team = tile.threads + tile.producers;
    addForms(c, t, tile, machine);
  };
  why.push_back({"form", "anchors in one loop over a streamed dim"});
  why.push_back({"anchors", uint64_t(t.getAnchors().size())});
  // For many rows and a long stream.
  auto specialize = [&](CaseBuilder &c) -> Decision {
    std::optional<StreamTile> found =
        tile.specialize(t.getAnchors(), count, machine);
    if (!found)
      return Decision::refuse("a tile of many rows does not fit");
    StreamTile special = *found;
    setTile(special.rows, special.chunk);
    special.skipped = chooseSkipped(t, machine);
    if (Decision fits = check(t, special, /*parts=*/1, machine); !fits)
      return fits;
    if (Decision pays = paysSpecialized(t, special, tile, machine); !pays)
      return pays;
    addAll(c, special);
    why.push_back({"warps specialized for rows", uint64_t(special.rows)});
    return Decision::accept();
  };
  if (tile.isAhead) {
    Decision taken = specialize(c);
    if (taken)
      return {c.build()};
    why.push_back({"no specialized warps because", taken.str()});
  }
  setTile(tile.rows, tile.chunk);
  tile.skipped = chooseSkipped(t, machine);
  addAll(c, tile);
  why.push_back({"chunk", uint64_t(tile.chunk)});
  return buildWithParts(t, tile, c, machine, why);
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
  const StageAxis *axis = getRowAxis(t);
  double rows = axis ? double(axis->block) : double(StreamTile::kWarpRows);
  for (const Anchor &anchor : t.getAnchors()) {
    if (anchor.role == Role::Reduction) {
      for (Value operand : anchor.op->getOperands())
        work.operations +=
            sizes.countElements(operand) + sizes.countOperations(operand);
      continue;
    }
    ProductAnalysis p = t.s.analyze(cast<ProductOpInterface>(anchor.op));
    LoopFormAttr form = loopCase.getForm(getPosition(anchor.op));
    LoopWork ofProduct;
    addProduct(ofProduct, p, sizes, rows, sizes.valueOf(p.columns.extent),
               {rows, double(t.chunk)}, /*copiesRows=*/false, machine);
    work.products += countInBlocks(ofProduct.products, 8 * p.bytes,
                                   form.getWord("use") != "fma", machine);
    work.cacheBytes += ofProduct.cacheBytes;
  }
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
  static const StringRef uses[] = {"mma", "wgmma", "fma"},
                         alongs[] = {"k", "own"}, terms[] = {"beside"},
                         warps[] = {"specialized"},
                         skipped[] = {"shared", "none"};
  if (!machine.sharedBytes)
    return emitError() << "runs anchors in one loop by thread blocks, for "
                          "which the machine has no shared memory";
  if (!::fits(kernel))
    return emitError() << "runs anchors in one loop, but a reduction and a "
                          "product are not among them";
  KernelAnalysis a(kernel, ranges);
  StreamedStages t(a);
  Decision fits = t.find();
  if (fits)
    fits = t.apply(loopCase);
  if (!fits)
    return emitError() << "runs anchors in one loop, but " << fits.str();
  StreamTile tile = StreamTile::get(t, loopCase);
  if (loopCase.getTeam() != loopCase.getThreads())
    return emitError() << "runs anchors in one loop by thread groups of "
                       << loopCase.getTeam()
                       << " threads, expected all of a block";
  unsigned blocked = 0;
  for (const StageAxis &axis : t.s.axes)
    blocked += axis.block != 1;
  if (const StageAxis *axis = getRowAxis(t)) {
    SmallVector<unsigned> own = t.s.findOwnDims(/*ofLeft=*/true);
    if (blocked > 1 || axis->positions != own)
      return emitError() << "takes several indices of an axis that is not all "
                            "rows of the products";
  }
  StringRef use;
  for (const Anchor &anchor : t.getAnchors()) {
    LoopFormAttr form = loopCase.getForm(getPosition(anchor.op));
    bool isProduct = anchor.role != Role::Reduction;
    if (form.getForm().getValue() != (isProduct ? "block" : "joint"))
      return emitError() << "gives op" << form.getOp() << ", "
                         << describe(anchor.op) << ", the form "
                         << form.getForm().getValue();
    SmallVector<NumberRule> rules{{"blocks", 1, 32}};
    if (isProduct)
      rules = {{"columnlanes", 1, 16},
               {"stages", 1, 8},
               {"use", 0, 0, uses},
               {"columnalong", 0, 0, alongs}};
    if (anchor.role == Role::Scores)
      rules.append({{"rowlanes", 1, 16}, {"rowalong", 0, 0, alongs}});
    if (anchor.role == Role::Sum)
      rules.append({{"terms", 0, 0, terms},
                    {"warps", 0, 0, warps},
                    {"skipped", 0, 0, skipped}});
    if (failed(verifyNumbers(form, rules, emitError)))
      return failure();
    if (anchor.role == Role::Sum &&
        (tile.isAhead != (form.getWord("terms") == "beside") ||
         bool(tile.producers) != (form.getWord("warps") == "specialized") ||
         getWord(tile.skipped) != form.getWord("skipped")))
      return emitError() << "sums terms in different ways";
    if (!isProduct)
      continue;
    if (!use.empty() && form.getWord("use") != use)
      return emitError() << "computes products in different ways";
    use = form.getWord("use");
    if (int64_t stages = form.getNumber("stages", 1);
        stages > 1 && stages != tile.stages)
      return emitError() << "copies " << tile.stages << " and " << stages
                         << " chunks of right operands";
  }
  auto isTile = [](int64_t n, int64_t most) {
    return n >= StreamTile::kWarpRows && n <= most && llvm::isPowerOf2_64(n);
  };
  if (!isTile(tile.rows, 256) || !isTile(tile.chunk, 256))
    return emitError() << "has a tile of " << tile.rows << " rows and "
                       << tile.chunk
                       << " indices of the stream, expected powers of two from "
                          "16 to 256";
  // With tensor cores, a warp has 16 rows, or twice as many.
  unsigned expected = tile.useTensorCores ? tile.rows / StreamTile::kWarpRows *
                                                machine.warpThreads
                                          : StreamTile::kPlainThreads;
  bool canHalve = tile.useTensorCores && !tile.useWarpGroups;
  bool isHalf = canHalve && 2 * tile.threads == expected &&
                tile.threads >= machine.warpThreads;
  if (tile.threads != expected && !isHalf)
    return emitError() << "has " << tile.threads << " threads for a tile of "
                       << tile.rows << " rows, expected " << expected
                       << (canHalve ? ", or half as many" : "");
  if (Decision possible = check(t, tile, loopCase.getParts(), machine);
      !possible)
    return emitError() << "runs anchors in one loop by thread blocks, but "
                       << possible.str();
  for (const Anchor &anchor : t.getAnchors()) {
    int64_t blocks =
        loopCase.getForm(getPosition(anchor.op)).getNumber("blocks", 1);
    if (tile.useWarpGroups &&
        failed(verifyResidents(blocks, loopCase.getThreads(),
                               tile.countConsumerRegisters(blocks, machine),
                               tile.countJoinedRegisters(t.getAnchors()),
                               emitError)))
      return failure();
  }
  if (std::optional<int64_t> n = t.extent.asConstant()) {
    int64_t chunks = llvm::divideCeil(*n, t.chunk), parts = loopCase.getParts();
    if (parts > 1 && chunks < parts)
      return emitError() << "cuts the " << chunks
                         << " chunks of its stream into " << parts << " parts";
  }
  for (const Anchor &anchor : t.getAnchors()) {
    if (anchor.role == Role::Reduction)
      continue;
    LoopFormAttr form = loopCase.getForm(getPosition(anchor.op));
    ProductAnalysis p = t.analyze(anchor);
    bool isScores = anchor.role == Role::Scores;
    StreamTile::Part part = tile.getPart(anchor);
    BlockReading right{unsigned(form.getNumber("columnlanes", 1)),
                       form.getWord("columnalong") != "own"};
    if (tile.countStages(anchor) > 1)
      if (Decision copied = canCopyRight(anchor, p, tile.useTensorCores, right);
          !copied)
        return emitError() << "copies elements that op" << form.getOp()
                           << " multiplies, but " << copied.str();
    if (failed(verifyReading(form, p, /*ofRows=*/false, part.columns,
                             part.depth, emitError)) ||
        (isScores && failed(verifyReading(form, p, /*ofRows=*/true, tile.rows,
                                          part.depth, emitError))))
      return failure();
  }
  return success();
}

/// Any case may have parts; `verify` checks what they cut.
static LogicalResult verifyParts(KernelOp, LoopCaseAttr,
                                 function_ref<InFlightDiagnostic()>) {
  return success();
}

/// Returns the workspace of split-kv parts, and the counters of blocks that
/// check what others skip.
static Workspace countWorkspace(KernelOp kernel,
                                const KernelAnalysis::SymbolRanges &ranges,
                                LoopCaseAttr loopCase) {
  KernelAnalysis a(kernel, ranges);
  StreamedStages t(a);
  bool fits = t.find() && t.apply(loopCase);
  assert(fits && "a case that was not verified");
  (void)fits;
  Expr blocks = countBlocks(t.s.axes);
  StreamTile tile = StreamTile::get(t, loopCase);
  int64_t bytes = loopCase.getThreads() * tile.countStateBytes(t);
  if (loopCase.getParts() > 1)
    return {blocks * (bytes * loopCase.getParts()), blocks * kCounterBytes};
  Workspace workspace;
  if (tile.skipped == StreamTile::Skipped::Shared) {
    // One counter for all blocks of the same columns.
    Expr groups = countBlocks(ArrayRef(t.s.axes).drop_back());
    workspace.counters = groups * kGroupCounterBytes;
  }
  return workspace;
}

static const StringRef kNames[] = {"block", "joint"};
const LoopForms llir::kStreamBlockForms = {
    "streamed blocks", kNames,        fits, propose, count, verify,
    verifyParts,       countWorkspace};
