//===- BlockForms.cpp - Matrix products by thread blocks ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A thread block takes a tile of the product: the blocks of the grid's axes
// over rows and columns. Both operands pass through shared memory, `depth`
// elements of k at a time; accumulators stay in registers. `use = mma` uses
// tensor cores, which multiply f16 and bf16 and accumulate in f32; `wgmma` uses
// the tensor cores of four warps together, which read shared memory directly;
// `fma` uses multiply-adds in the type of the sums. A thread loads `rowlanes`
// and `columnlanes` elements at once, along k or along the side's own dim
// (`rowalong`, `columnalong`). `stages` is the number of pipeline stages in
// shared memory, one step of k each. Operands that memory holds in the
// multiplied type (`copy`) are prefetched that many steps ahead by asynchronous
// copies. Results then pass through shared memory as well, from where a thread
// writes `resultlanes` at once along columns or rows (`resultalong`).
//
// With `groups = rows`, rows are the batch indices by which the columns are
// looked up (ProductAnalysis). Each group of rows gets tiles of `rows` rows,
// and the block of the rows' axis says in how many rows a work item looks for
// groups. So columns that many rows share are read once for each tile, wherever
// these rows are; if rows are sorted, about once in total.
//
//===----------------------------------------------------------------------===//

#include "BlockChoices.h"
#include "Threads.h"
#include "TileForm.h"
#include "luminal/Dialect/LLIR/Analysis/StreamTile.h"
#include "luminal/Dialect/LLIR/Schedules/ProductTime.h"
#include "luminal/Dialect/LLIR/Utils/SharedMemory.h"
#include "luminal/Dialect/LLIR/Utils/Values.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// The most rows for which a thread group for each element reads no more than
/// necessary.
static constexpr int64_t kFewRows = 8;
/// The multiply-adds of a product for which the steps of a tile are worth their
/// latency (measured on an H100).
static constexpr int64_t kManyProducts = 1 << 21;
/// The same if a thread group could not read both sides along k.
static constexpr int64_t kManyProductsAcross = 1 << 16;
static constexpr int64_t kManyProductsOfRow = 1 << 16;
/// The steps of k: each waits for memory once, whatever its depth. ResNet-50 of
/// one image took 1.14 ms in f16 with depth 32 and 0.80 with 64, in f32 2.41
/// with 16 and 1.77 with 32 (H200). Large tiles without tensor cores compute
/// long enough to hide the latency.
static constexpr int64_t kDepth = 64, kPlainDepth = 16, kSmallTileDepth = 32,
                         kSmallTile = 64 * 64;
/// Operations of an access that brings elements to shared memory, and of
/// storing each element there if they do not stay contiguous.
static constexpr double kReadOperations = 32, kApartOperations = 16;
/// If there are fewer blocks than SMs, split-k makes `kBlocksEach` blocks for
/// each SM. A part has at least `kLeastSteps` steps, so that merging is cheap
/// in comparison, and there are at most `kMostParts` parts.
static constexpr int64_t kBlocksEach = 2, kLeastSteps = 4, kMostParts = 16;
/// Rows in which a work item looks for groups: half the expected size of a
/// group, so that few work items find none or several. With 128 experts, 16
/// tokens took 280 us with 2 rows and 297 with 8; 256 tokens took 414 with 8,
/// 419 with 4 and 426 with 16 (H200).
static constexpr int64_t kLeastGroupSearch = 2, kMostGroupSearch = 32;
/// The rows of a group from which its tiles are twice as large along both
/// sides: 1,185 us instead of 1,232 (256 rows in each group).
static constexpr int64_t kLargeGroup = 256;

/// Returns whether tensor cores can multiply the elements in their stored type.
static bool canUseTensorCores(const ProductAnalysis &p) {
  Type left = getElementType(p.rows.operand);
  return isNarrowFloat(left) && p.accumulator.isF32() &&
         left == getElementType(p.columns.operand);
}

BlockReading llir::chooseReading(ProductAnalysis &p, const ProductSide &side,
                                 const MachineModel &machine) {
  Accesses accesses(p.a);
  accesses.addReads(side.operand, p.getOperandIndex(side));
  auto lanesAlong = [&](unsigned dim, const Expr &extent) {
    unsigned lanes = accesses.chooseLanes(dim, extent, machine);
    while (lanes > 1 && !isWhole(p, extent, lanes))
      lanes /= 2;
    return lanes;
  };
  unsigned alongK = lanesAlong(p.kDim, p.kExtent);
  unsigned alongOwn = lanesAlong(side.dim, side.extent);
  // Read single elements along the dim that is contiguous in memory.
  if (alongK == 1 && alongOwn == 1)
    return {1, side.alongK || !side.alongOwn};
  return {std::max(alongK, alongOwn), alongK >= alongOwn};
}

double llir::countInBlocks(double count, unsigned bits, bool usesTensorCores,
                           const MachineModel &machine) {
  double rate =
      machine.products.kernels.of(usesTensorCores ? 16 : std::max(32u, bits)) /
      machine.workers;
  return rate > 0 ? count * getProductRate(machine) / rate : count;
}

LogicalResult
llir::verifyReading(LoopFormAttr form, const ProductAnalysis &p, bool ofRows,
                    int64_t count, int64_t depth,
                    function_ref<InFlightDiagnostic()> emitError) {
  const ProductSide &side = ofRows ? p.rows : p.columns;
  int64_t lanes = form.getNumber(ofRows ? "rowlanes" : "columnlanes", 1);
  bool isAlongK = form.getWord(ofRows ? "rowalong" : "columnalong") != "own";
  const Expr &extent = isAlongK ? p.kExtent : side.extent;
  if (!llvm::isPowerOf2_64(lanes) || lanes > (isAlongK ? depth : count) ||
      !isWhole(p, extent, lanes))
    return emitError() << "reads " << lanes << " elements of " << extent.str()
                       << " at once, which does not divide it";
  return success();
}

static int64_t boundTile(const Expr &extent, int64_t least) {
  std::optional<int64_t> n = extent.asConstant();
  int64_t tile = n ? 128 : 64;
  while (tile > least && n && tile / 2 >= *n)
    tile /= 2;
  return tile;
}

static int64_t chooseDepth(const Expr &extent, int64_t rows, int64_t columns,
                           bool isMMA) {
  int64_t depth = isMMA                          ? kDepth
                  : rows * columns <= kSmallTile ? kSmallTileDepth
                                                 : kPlainDepth;
  std::optional<int64_t> n = extent.asConstant();
  while (n && depth > 16 && depth / 2 >= *n)
    depth /= 2;
  return depth;
}

/// Returns the split-k parts for `blocks` blocks; 1 if they do not pay. No part
/// is empty.
static int64_t chooseParts(std::optional<int64_t> blocks, const Expr &extent,
                           int64_t depth, const MachineModel &machine,
                           SmallVectorImpl<Reporter::Arg> &why) {
  auto refuse = [&](StringRef reason) {
    why.push_back({"no parts because", reason.str()});
    return 1;
  };
  std::optional<int64_t> n = extent.asConstant();
  if (!blocks || !n)
    return refuse("the number of blocks and steps is known only at a call");
  if (*blocks >= machine.workers || *blocks == 0)
    return refuse("there are blocks for all multiprocessors");
  int64_t steps = llvm::divideCeil(*n, depth);
  int64_t parts = std::min(
      {kMostParts, steps / kLeastSteps,
       int64_t(llvm::divideCeil(kBlocksEach * machine.workers, *blocks))});
  if (parts < 2)
    return refuse("a part would have too few steps");
  parts = llvm::divideCeil(steps, llvm::divideCeil(steps, parts));
  why.push_back({"parts", parts});
  return parts;
}

static ProductShape getShape(const ProductAnalysis &p, const KernelSizes &sizes,
                             unsigned across) {
  double batch = 1;
  for (const Expr &extent : p.batchExtents)
    batch *= sizes.valueOf(extent);
  return {batch,
          sizes.valueOf(p.rows.extent),
          sizes.valueOf(p.columns.extent),
          sizes.valueOf(p.kExtent),
          getElementType(p.rows.operand).getIntOrFloatBitWidth(),
          across};
}

/// Returns the fastest tile, with parts none of which is empty, if all extents
/// are known.
static std::optional<PricedTile> chooseTile(const ProductAnalysis &p,
                                            unsigned across,
                                            const MachineModel &machine) {
  auto known = [&](const Expr &e) { return p.a.simplify(e).asConstant(); };
  std::optional<int64_t> batch = known(product(
                             {p.batchExtents.begin(), p.batchExtents.end()})),
                         m = known(p.rows.extent), n = known(p.columns.extent),
                         k = known(p.kExtent);
  if (!batch || !m || !n || !k || *k == 0)
    return std::nullopt;
  ProductShape shape = getShape(p, KernelSizes(p.a), across);
  PricedTile tile = llir::chooseTile(shape, machine);
  // If reading memory takes most of the time, tiles were measured instead of
  // priced: 16 rows of 4096 x 28672 in bf16 take 1.2 times as long with tiles
  // of 64 x 64 (H200). Large tiles are as fast, unless the last wave leaves
  // half of the SMs' capacity empty: 128 rows of 768 x 50257 took 35.5 us with
  // 128 x 128, 31.3 with 128 x 64.
  if (2 * getReadTime(shape, machine) > getTileTime(shape, tile, machine)) {
    auto countLeft = [&](const PricedTile &by) {
      const double room = double(TileForm::kResidents) * machine.workers,
                   units = double(*batch * llvm::divideCeil(*m, by.rows) *
                                  llvm::divideCeil(*n, by.columns));
      return std::ceil(units / room) * room / units;
    };
    constexpr double kMostLeft = 1.25;
    const PricedTile large{128, 128}, half{128, 64};
    if (*m > TileForm::kGroupRows &&
        countLeft(large) > kMostLeft * countLeft(half))
      return half;
    return std::nullopt;
  }
  int64_t steps = llvm::divideCeil(*k, kDepth);
  tile.parts = llvm::divideCeil(steps, llvm::divideCeil(steps, tile.parts));
  return tile;
}

/// Returns whether a side consists of windows, whose elements are read several
/// times. One thread for each result then reads more than a tile does, even for
/// a few results.
static bool isReadAgain(const ProductAnalysis &p, const ProductSide &side) {
  constexpr double kTimes = 4;
  KernelSizes sizes(p.a);
  double inMemory = 0;
  for (BlockArgument argument : KernelOp(p.a.kernel).getBody().getArguments())
    inMemory += sizes.countElements(argument);
  return p.batchExtents.empty() &&
         sizes.valueOf(side.extent * p.kExtent) > kTimes * inMemory;
}

static SmallVector<LoopCaseAttr>
propose(KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
        const MachineModel &machine, SmallVectorImpl<Reporter::Arg> &why) {
  ProductOpInterface op = getOnlyProduct(kernel);
  if (machine.blockThreads < TileForm::kThreads || !op)
    return {};
  KernelAnalysis a(kernel, ranges);
  ProductAnalysis p(a, op);
  if (Decision fits = p.findResults(); !fits) {
    why.push_back({"no tile because", fits.str()});
    return {};
  }
  bool isGrouped = haveGroupsThatPay(a, op) && p.takeGroups();
  if (!isGrouped)
    p.joinDims();
  Assumptions symbols{KernelAnalysis::SymbolRanges(ranges)};
  auto isFew = [&](const ProductSide &side, const ProductSide &other) {
    std::optional<int64_t> n = symbols.upperBound(side.extent);
    return side.group.empty() ||
           (n && *n <= kFewRows && !isReadAgain(p, other));
  };
  if (isFew(p.rows, p.columns) || isFew(p.columns, p.rows)) {
    why.push_back({"no tile because", "one side has few rows"});
    return {};
  }
  Expr products = p.rows.extent * p.columns.extent * p.kExtent *
                  product({p.batchExtents.begin(), p.batchExtents.end()});
  std::optional<int64_t> count = a.simplify(products).asConstant(),
                         ofRow = a.simplify(p.columns.extent * p.kExtent)
                                     .asConstant();
  BlockReading left = chooseReading(p, p.rows, machine),
               right = chooseReading(p, p.columns, machine);
  if (isGrouped && !left.isAlongK)
    left.lanes = 1;
  int64_t least =
      left.isAlongK && right.isAlongK ? kManyProducts : kManyProductsAcross;
  if ((count && *count < least) ||
      (!count && ofRow && *ofRow < kManyProductsOfRow)) {
    why.push_back({"no tile because", "the product is small"});
    return {};
  }
  bool isMMA = canUseTensorCores(p);
  bool mayJoinWarps = isMMA && machine.hasWarpGroups;
  // A warp has at least 16 rows and 8 columns, a thread at least 2 and 2.
  // Padding to the 64 rows of four warps is worth it: the wasted
  // multiplications cost nothing beside reading the columns (16 and 32 rows of
  // 4096 x 28672 in bf16 took 71 and 75 us on an H200 in tiles of 32, 60 in
  // tiles of 64).
  int64_t rows =
      isGrouped
          ? TileForm::kGroupRows
          : boundTile(p.rows.extent, mayJoinWarps ? TileForm::kGroupRows : 32);
  int64_t columns = boundTile(p.columns.extent, 32);
  int64_t rowBlock = 0;
  if (isGrouped) {
    KernelSizes sizes(a);
    double m = sizes.valueOf(p.rows.extent);
    double expected = m / countRowTiles(p, sizes, m);
    rowBlock = kLeastGroupSearch;
    while (rowBlock < kMostGroupSearch && double(4 * rowBlock) <= expected)
      rowBlock *= 2;
    if (mayJoinWarps && expected >= double(kLargeGroup) &&
        isWhole(p, p.columns.extent, 2 * columns)) {
      rows *= 2;
      columns *= 2;
      rowBlock = rows;
    }
  }
  auto countBlocks = [&]() -> std::optional<int64_t> {
    Expr count = Expr::ceilDiv(p.rows.extent, rowBlock ? rowBlock : rows) *
                 Expr::ceilDiv(p.columns.extent, columns) *
                 product({p.batchExtents.begin(), p.batchExtents.end()});
    return a.simplify(count).asConstant();
  };
  mayJoinWarps &= rows >= TileForm::kGroupRows;
  int64_t leastRows = mayJoinWarps ? TileForm::kGroupRows : 32;
  for (int64_t *tile : {&columns, &rows, &columns, &rows})
    if (auto count = countBlocks(); count && *count < machine.getBusyBlocks() &&
                                    (!isGrouped || tile == &columns) &&
                                    *tile > (tile == &rows ? leastRows : 32))
      *tile /= 2;
  TileForm tile{rows,
                columns,
                chooseDepth(p.kExtent, rows, columns, isMMA),
                isMMA ? "mma" : "fma",
                left,
                right};
  if (mayJoinWarps)
    tile.use = "wgmma";
  tile.chooseStages(p, machine);
  if (mayJoinWarps && tile.stages == 1) {
    tile.use = "mma";
    if (!isGrouped)
      tile.rows = rows = std::min(rows, boundTile(p.rows.extent, 32));
    tile.chooseStages(p, machine);
  }
  // If all sizes are known, choose by the predicted time of tiles.
  std::optional<PricedTile> priced;
  if (tile.useWarpGroups() && tile.copiesRows && tile.copiesColumns &&
      !isGrouped)
    if ((priced = chooseTile(p, !left.isAlongK + !right.isAlongK, machine))) {
      tile.rows = rows = priced->rows;
      tile.columns = columns = priced->columns;
      tile.chooseStages(p, machine, /*mayHaveMany=*/true);
      why.push_back({"parts", priced->parts});
    }
  CaseBuilder c(kernel.getContext(), machine);
  c.threads = c.team = tile.getThreads();
  if (priced)
    c.parts = priced->parts;
  else if (!isGrouped)
    c.parts = chooseParts(countBlocks(), p.kExtent, tile.depth, machine, why);
  for (ArrayRef<unsigned> group : p.batch)
    c.grid.push_back(c.axis(group));
  // The tiles of one group are adjacent: its rows are read from memory once,
  // and its matrix stays in the cache meanwhile (1,232 us; 1,434 in the other
  // order).
  if (isGrouped)
    c.grid.push_back(c.axis(p.rows.group, rowBlock));
  c.grid.push_back(c.axis(p.columns.group, columns));
  if (!isGrouped)
    c.grid.push_back(c.axis(p.rows.group, rows));
  auto along = [](const BlockReading &r) { return r.isAlongK ? "k" : "own"; };
  SmallVector<CaseBuilder::Number> numbers{{"depth", tile.depth},
                                           {"rowlanes", left.lanes},
                                           {"columnlanes", right.lanes}};
  SmallVector<CaseBuilder::Word> words{{"use", tile.use},
                                       {"rowalong", along(left)},
                                       {"columnalong", along(right)}};
  if (tile.stages > 1) {
    numbers.push_back({"stages", tile.stages});
    words.push_back({"copy", tile.getCopied()});
    if (tile.residents > 1)
      numbers.push_back({"blocks", tile.residents});
    tile.chooseResults(p, machine);
    numbers.push_back({"resultlanes", tile.resultLanes});
    words.push_back(
        {"resultalong", tile.resultsAlongRows ? "rows" : "columns"});
  }
  if (isGrouped) {
    numbers.push_back({"rows", rows});
    words.push_back({"groups", "rows"});
    if (p.columns.map != op.getRhsMap())
      words.push_back({"columns", "lhs"});
  }
  c.addForm(op, "block", numbers, words);
  why.push_back({"form", isGrouped ? "a tile in shared memory for each group "
                                     "of rows that look up the same matrix"
                                   : "tiles in shared memory"});
  return {c.build()};
}

/// Adds the cost of loading both sides into shared memory.
static void addReads(LoopWork &work, const ProductAnalysis &p,
                     const KernelSizes &sizes, const TileForm &tile) {
  double all = sizes.valueOf(p.kExtent);
  for (const Expr &extent : p.batchExtents)
    all *= sizes.valueOf(extent);
  double m = sizes.valueOf(p.rows.extent), n = sizes.valueOf(p.columns.extent);
  auto add = [&](double elements, const BlockReading &reading, bool areApart) {
    work.operations +=
        all * elements *
        (kReadOperations / reading.lanes + (areApart ? kApartOperations : 0));
  };
  // Tensor cores read rows along k, and columns along either dim.
  add(m * std::ceil(n / double(tile.columns)), tile.left,
      tile.useTensorCores() && !tile.left.isAlongK);
  double tiles = countRowTiles(p, sizes, tile.rows);
  add(n * tiles, tile.right, /*areApart=*/false);
}

/// Adds the predicted time of tiles whose operands are copied unchanged; false
/// if a lookup decides which rows belong together.
static bool addTiles(LoopWork &work, const ProductAnalysis &p,
                     const KernelSizes &sizes, const TileForm &tile,
                     LoopCaseAttr loopCase, const MachineModel &machine) {
  if (!tile.useWarpGroups() || !tile.copiesRows || !tile.copiesColumns ||
      tile.stages == 1 || p.hasGroups())
    return false;
  ProductShape shape =
      getShape(p, sizes, !tile.left.isAlongK + !tile.right.isAlongK);
  work.tiles =
      getTileTime(shape, {tile.rows, tile.columns, loopCase.getParts()},
                  machine) -
      machine.getKernelTime();
  return true;
}

/// Adds the latencies that blocks wait for: at the begin and end of a kernel,
/// part of which pipeline stages hide (as in getTileTime); where parts write,
/// count and read their sums; and without stages, each step of k.
static void addWaits(LoopWork &work, int64_t stages, double steps,
                     LoopCaseAttr loopCase) {
  const bool hasRing = stages > 1, hasParts = loopCase.getParts() > 1;
  work.threads = work.units * loopCase.getThreads();
  work.resident = double(TileForm::kResidents) * loopCase.getThreads();
  work.ends = (hasRing ? 1.5 : 3.5) + (hasParts ? 4 : 0);
  work.waits = hasRing ? 0 : std::ceil(steps / loopCase.getParts());
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
  ProductTile tile = applyCut(p, loopCase, form.getWord("columns"));
  TileForm shape = TileForm::get(form, tile.rows, tile.columns);
  tile.rows = shape.rows;
  work.units = sizes.countUnits(loopCase, p.extents);
  if (addTiles(work, p, sizes, shape, loopCase, machine)) {
    addResults(work, kernel, sizes);
    return work;
  }
  addProduct(work, p, sizes, tile.rows, tile.columns, tile,
             /*copiesRows=*/true, machine);
  addReads(work, p, sizes, shape);
  work.products = countInBlocks(work.products, 8 * p.bytes,
                                form.getWord("use") != "fma", machine);
  addResults(work, kernel, sizes);
  addWaits(work, shape.stages,
           std::ceil(sizes.valueOf(p.kExtent) / double(shape.depth)), loopCase);
  return work;
}

/// Checks the tile that a form states against the product and the machine.
static LogicalResult verifyTile(const TileForm &tile, const ProductAnalysis &p,
                                LoopFormAttr form, LoopCaseAttr loopCase,
                                const MachineModel &machine,
                                function_ref<InFlightDiagnostic()> emitError) {
  auto isSize = [](int64_t n, int64_t least, int64_t most) {
    return n >= least && n <= most && llvm::isPowerOf2_64(n);
  };
  int64_t most = tile.useWarpGroups() ? 256 : 128;
  if (!isSize(tile.rows, 32, 128) || !isSize(tile.columns, 32, most) ||
      !isSize(tile.depth, 16, 64))
    return emitError() << "has a tile of " << tile.rows << " x " << tile.columns
                       << " by " << tile.depth
                       << ", expected powers of two from 32 to 128, by 16 to "
                          "64";
  if (tile.useTensorCores() && !canUseTensorCores(p))
    return emitError() << "uses tensor cores, which multiply f16 or bf16 "
                          "and add f32";
  if (tile.useWarpGroups() &&
      (!machine.hasWarpGroups || tile.rows % TileForm::kGroupRows ||
       tile.stages == 1))
    return emitError() << "multiplies with wgmma, which requires a machine "
                          "that has it, stages, and "
                       << TileForm::kGroupRows << " rows for each four";
  if (unsigned threads = tile.getThreads();
      loopCase.getThreads() != threads || loopCase.getTeam() != threads)
    return emitError() << "has a tile for a thread group of "
                       << loopCase.getTeam() << " threads of "
                       << loopCase.getThreads() << ", expected all of "
                       << threads;
  int64_t room =
      tile.stages > 1 ? machine.sharedBytes : machine.plainSharedBytes;
  if (tile.countAllSharedBytes(p) > room)
    return emitError() << "takes more than " << room
                       << " bytes of shared memory";
  if (tile.stages == 1 &&
      (form.getNumber("blocks", 0) || form.getNumber("resultlanes", 0) ||
       !form.getWord("resultalong").empty()))
    return emitError() << "states resident blocks, or how results are written, "
                          "but has no stages";
  const ProductSide &along = tile.resultsAlongRows ? p.rows : p.columns;
  if (!llvm::isPowerOf2_32(tile.resultLanes) ||
      !isWhole(p, along.extent, tile.resultLanes))
    return emitError() << "writes " << tile.resultLanes << " results of "
                       << along.extent.str()
                       << " at once, which does not divide it";
  if ((tile.stages > 1) != !tile.getCopied().empty())
    return emitError() << "has stages without copies, or copies without stages";
  for (bool ofRows : {true, false}) {
    if (ofRows ? tile.copiesRows : tile.copiesColumns)
      if (Decision copied =
              ofRows ? tile.canCopyRows(p) : tile.canCopyColumns(p);
          !copied)
        return emitError() << "copies elements of its "
                           << (ofRows ? "rows" : "columns") << ", but "
                           << copied.str();
    if (failed(verifyReading(form, p, ofRows, ofRows ? tile.rows : tile.columns,
                             tile.depth, emitError)))
      return failure();
  }
  return success();
}

LogicalResult
llir::verifyResidents(int64_t blocks, int64_t threads, int64_t room,
                      int64_t sums,
                      function_ref<InFlightDiagnostic()> emitError) {
  if (room < sums + kRegistersBesideSums)
    return emitError() << "requires " << blocks << " resident blocks of "
                       << threads << " threads, which leaves " << room
                       << " registers to each, but its products need "
                       << sums + kRegistersBesideSums;
  return success();
}

static LogicalResult verify(KernelOp kernel,
                            const KernelAnalysis::SymbolRanges &ranges,
                            LoopCaseAttr loopCase, const MachineModel &machine,
                            function_ref<InFlightDiagnostic()> emitError) {
  static const StringRef uses[] = {"mma", "wgmma", "fma"},
                         alongs[] = {"k", "own"},
                         copies[] = {"both", "rows", "columns"},
                         results[] = {"columns", "rows"}, groups[] = {"rows"},
                         sides[] = {"lhs"};
  ProductOpInterface op = getOnlyProduct(kernel);
  if (!op || loopCase.getForms().size() != 1 || !loopCase.getStream().empty())
    return emitError()
           << "has a tile, but the only op with loops is not a product";
  LoopFormAttr form = loopCase.getForms().front();
  if (failed(verifyNumbers(form,
                           {{"depth", 16, 64},
                            {"rowlanes", 1, 16},
                            {"columnlanes", 1, 16},
                            {"stages", 2, 8},
                            {"blocks", 1, 32},
                            {"copy", 0, 0, copies},
                            {"resultlanes", 1, 16},
                            {"resultalong", 0, 0, results},
                            {"rows", 32, 128},
                            {"groups", 0, 0, groups},
                            {"columns", 0, 0, sides},
                            {"use", 0, 0, uses},
                            {"rowalong", 0, 0, alongs},
                            {"columnalong", 0, 0, alongs}},
                           emitError)))
    return failure();
  KernelAnalysis a(kernel, ranges);
  ProductAnalysis p(a, op);
  if (Decision fits = p.findResults(); !fits)
    return emitError() << "has the form block, but " << fits.str();
  SmallVector<ProductAnalysis::Role> roles;
  bool isGrouped = form.getWord("groups") == "rows";
  if (isGrouped != (form.getNumber("rows", 0) > 0) ||
      (!isGrouped && !form.getWord("columns").empty()))
    return emitError()
           << "states the rows of a tile or a side, but no groups of rows";
  if (Decision fits = p.applyGrid(loopCase, form.getWord("columns"), roles);
      !fits)
    return emitError() << "does not fit the product: " << fits.str();
  p.joinDims();
  int64_t rows = 0, columns = 0;
  for (auto [axis, role] : llvm::zip(loopCase.getGrid(), roles)) {
    if (axis.getLanes() > 1)
      return emitError() << "states lanes of an axis, not of the product";
    if (role == ProductAnalysis::Role::Rows)
      rows = axis.getBlock();
    else if (role == ProductAnalysis::Role::Columns)
      columns = axis.getBlock();
    else if (axis.getBlock() != 1)
      return emitError() << "takes more than one product in a tile";
  }
  TileForm tile = TileForm::get(form, rows, columns);
  if (isGrouped && ((!tile.left.isAlongK && tile.left.lanes > 1) ||
                    (tile.resultsAlongRows && tile.resultLanes > 1)))
    return emitError()
           << "takes several rows at once, but groups begin and end at any row";
  if (isGrouped && (rows < 2 || rows > tile.rows || tile.rows % rows ||
                    loopCase.getParts() > 1))
    return emitError() << "looks for groups in " << rows
                       << " rows, expected 2 or more that divide a tile of "
                       << tile.rows << ", and no parts";
  if (failed(verifyTile(tile, p, form, loopCase, machine, emitError)))
    return failure();
  if (form.getWord("use") != "wgmma")
    return success();
  int64_t blocks = form.getNumber("blocks", 1), threads = loopCase.getThreads();
  return verifyResidents(blocks, threads,
                         countThreadRegisters(blocks, threads, machine),
                         rows * columns / threads, emitError);
}

/// Each part must have a step of k.
static LogicalResult verifyParts(KernelOp kernel, LoopCaseAttr loopCase,
                                 function_ref<InFlightDiagnostic()> emitError) {
  std::optional<int64_t> n =
      getOnlyProduct(kernel).getReducedExtent().asConstant();
  int64_t parts = loopCase.getParts(),
          depth = loopCase.getForms().front().getNumber("depth", 16);
  auto countParts = [&](int64_t extent) -> int64_t {
    return llvm::divideCeil(extent,
                            llvm::divideCeil(extent, parts * depth) * depth);
  };
  if (!n || countParts(*n) != parts)
    return emitError() << "cuts k into " << parts
                       << " parts, of which each needs a step of " << depth;
  return success();
}

static Workspace countWorkspace(KernelOp kernel,
                                const KernelAnalysis::SymbolRanges &ranges,
                                LoopCaseAttr loopCase) {
  if (loopCase.getParts() == 1)
    return {};
  KernelAnalysis a(kernel, ranges);
  ProductAnalysis p(a, getOnlyProduct(kernel));
  Expr blocks = getCutReductions(kernel, loopCase).blocks;
  int64_t bytes = loopCase.getParts() * p.bytes;
  for (LoopAxisAttr axis : loopCase.getGrid())
    bytes *= axis.getBlock();
  return {blocks * bytes, blocks * kCounterBytes};
}

static const StringRef kNames[] = {"block"};
const LoopForms llir::kBlockForms = {"blocks",    kNames,        fitsProduct,
                                     propose,     count,         verify,
                                     verifyParts, countWorkspace};
