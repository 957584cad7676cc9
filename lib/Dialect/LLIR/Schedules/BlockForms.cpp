//===- BlockForms.cpp - Matrix products by blocks of threads --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block of threads takes a tile of the product: the blocks of the grid's axes
// over rows and columns. Both operands pass through shared memory, `depth`
// elements of k at a time, and the sums stay in registers. `use = mma` takes
// the tensor cores, which multiply f16 and bf16 and add f32; `fma` multiplies
// and adds what the sums are. A thread reads `rowlanes` and `columnlanes`
// elements at once, along k or along the side's own dim (`rowalong`,
// `columnalong`).
//
//===----------------------------------------------------------------------===//

#include "BlockChoices.h"
#include "Threads.h"
#include "luminal/Dialect/LLIR/Utils/Values.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// Threads of the block, as its warps and threads are laid over a tile.
static constexpr unsigned kThreads = 256;
/// Rows up to which a team for each element reads no more than it must.
static constexpr int64_t kFewRows = 8;
/// Multiplications from which a tile's steps are worth their latency (measured
/// on an H100); and of one row, where the number of rows is not known.
static constexpr int64_t kManyProducts = 1 << 21;
/// The same where a team could not read both sides along k.
static constexpr int64_t kManyProductsAcross = 1 << 16;
static constexpr int64_t kManyProductsOfRow = 1 << 16;
/// Blocks that keep a GPU busy.
static constexpr int64_t kManyBlocks = 128;
/// A step of k waits for memory once, however deep it is: ResNet-50 of one
/// image took 1.14 ms in f16 at depths of 32 and 0.80 at 64, in f32 2.41 at 16
/// and 1.77 at 32 (H200). Tiles that multiply without tensor cores and are not
/// small are busy meanwhile.
static constexpr int64_t kDepth = 64, kPlainDepth = 16, kSmallTileDepth = 32,
                         kSmallTile = 64 * 64;
/// Where blocks are fewer than multiprocessors, parts of k make so many for
/// each; a part has so many steps at least, beside which it is little to merge
/// parts, and so many of them at most.
static constexpr int64_t kBlocksEach = 2, kLeastSteps = 4, kMostParts = 16;

/// Whether the tensor cores take the elements as they are.
static bool canUseTensorCores(ProductAnalysis &p) {
  Type left = getElementType(p.rows.operand);
  return isNarrowFloat(left) && p.accumulator.isF32() &&
         left == getElementType(p.columns.operand);
}

/// Vectors may not reach beyond the side.
static bool isWhole(const ProductAnalysis &p, const Expr &extent,
                    int64_t lanes) {
  return p.a.simplify(Expr::mod(extent, lanes)).isConstant(0);
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
  // Single elements are read along the dim that steps through memory by one.
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

static int64_t chooseTile(const Expr &extent, int64_t least) {
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

/// Parts of k for `blocks` blocks; 1 where they do not pay. No part is empty.
static int64_t chooseParts(std::optional<int64_t> blocks, const Expr &extent,
                           int64_t depth, const MachineModel &machine,
                           SmallVectorImpl<Reporter::Arg> &why) {
  auto refuse = [&](StringRef reason) {
    why.push_back({"no parts because", reason.str()});
    return 1;
  };
  std::optional<int64_t> n = extent.asConstant();
  if (!blocks || !n)
    return refuse("how many blocks and steps there are is known at a call");
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

static SmallVector<LoopCaseAttr>
propose(KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
        const MachineModel &machine, SmallVectorImpl<Reporter::Arg> &why) {
  ProductOpInterface op = getOnlyProduct(kernel);
  if (machine.blockThreads < kThreads || !op)
    return {};
  KernelAnalysis a(kernel, ranges);
  ProductAnalysis p(a, op);
  if (Decision fits = p.findResults(); !fits) {
    why.push_back({"no tile because", fits.str()});
    return {};
  }
  p.joinDims();
  auto isFew = [](const ProductSide &side) {
    std::optional<int64_t> n = side.extent.asConstant();
    return side.group.empty() || (n && *n <= kFewRows);
  };
  if (isFew(p.rows) || isFew(p.columns)) {
    why.push_back({"no tile because", "one side is few rows"});
    return {};
  }
  Expr products = p.rows.extent * p.columns.extent * p.kExtent *
                  product({p.batchExtents.begin(), p.batchExtents.end()});
  std::optional<int64_t> count = a.simplify(products).asConstant(),
                         ofRow = a.simplify(p.columns.extent * p.kExtent)
                                     .asConstant();
  BlockReading left = chooseReading(p, p.rows, machine),
               right = chooseReading(p, p.columns, machine);
  int64_t least =
      left.isAlongK && right.isAlongK ? kManyProducts : kManyProductsAcross;
  if ((count && *count < least) ||
      (!count && ofRow && *ofRow < kManyProductsOfRow)) {
    why.push_back({"no tile because", "the product is small"});
    return {};
  }
  bool isMMA = canUseTensorCores(p);
  // A warp has 16 rows and 8 columns at least, a thread 2 and 2.
  int64_t rows = chooseTile(p.rows.extent, 32);
  int64_t columns = chooseTile(p.columns.extent, 32);
  auto countBlocks = [&]() -> std::optional<int64_t> {
    Expr count = Expr::ceilDiv(p.rows.extent, rows) *
                 Expr::ceilDiv(p.columns.extent, columns) *
                 product({p.batchExtents.begin(), p.batchExtents.end()});
    return a.simplify(count).asConstant();
  };
  for (int64_t *tile : {&columns, &rows, &columns, &rows})
    if (auto count = countBlocks(); count && *count < kManyBlocks && *tile > 32)
      *tile /= 2;
  CaseBuilder c(kernel.getContext(), machine);
  c.threads = c.team = kThreads;
  int64_t depth = chooseDepth(p.kExtent, rows, columns, isMMA);
  c.parts = chooseParts(countBlocks(), p.kExtent, depth, machine, why);
  for (ArrayRef<unsigned> group : p.batch)
    c.grid.push_back(c.axis(group));
  c.grid.push_back(c.axis(p.columns.group, columns));
  c.grid.push_back(c.axis(p.rows.group, rows));
  auto along = [](const BlockReading &r) { return r.isAlongK ? "k" : "own"; };
  c.addForm(op, "block",
            {{"depth", depth},
             {"rowlanes", left.lanes},
             {"columnlanes", right.lanes}},
            {{"use", isMMA ? "mma" : "fma"},
             {"rowalong", along(left)},
             {"columnalong", along(right)}});
  why.push_back({"form", "tiles in shared memory"});
  return {c.build()};
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
  ProductTile tile = applyCut(p, loopCase, "");
  addProduct(work, p, sizes, tile.rows, tile.columns, tile,
             /*copiesRows=*/true, machine);
  work.units =
      sizes.countUnits(loopCase, p.extents) * double(loopCase.getParts());
  work.products = countInBlocks(work.products, 8 * p.bytes,
                                form.getWord("use") == "mma", machine);
  addResults(work, kernel, sizes);
  return work;
}

static LogicalResult verify(KernelOp kernel,
                            const KernelAnalysis::SymbolRanges &ranges,
                            LoopCaseAttr loopCase, const MachineModel &machine,
                            function_ref<InFlightDiagnostic()> emitError) {
  static const StringRef uses[] = {"mma", "fma"}, alongs[] = {"k", "own"};
  ProductOpInterface op = getOnlyProduct(kernel);
  if (!op || loopCase.getForms().size() != 1 || !loopCase.getStream().empty())
    return emitError() << "has a tile without one product, which is the only "
                          "op with loops";
  if (loopCase.getThreads() != kThreads || loopCase.getTeam() != kThreads)
    return emitError() << "has a tile for a team of " << loopCase.getTeam()
                       << " threads of " << loopCase.getThreads()
                       << ", expected all of " << kThreads;
  LoopFormAttr form = loopCase.getForms().front();
  if (failed(verifyNumbers(form,
                           {{"depth", 16, 64},
                            {"rowlanes", 1, 16},
                            {"columnlanes", 1, 16},
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
  if (Decision fits = p.applyGrid(loopCase, "", roles); !fits)
    return emitError() << "does not fit the product: " << fits.str();
  p.joinDims();
  int64_t rows = 0, columns = 0, depth = form.getNumber("depth", 16);
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
  auto isSize = [](int64_t n, int64_t most) {
    return n >= 16 && n <= most && llvm::isPowerOf2_64(n);
  };
  if (!isSize(rows, 128) || !isSize(columns, 128) || rows < 32 ||
      columns < 32 || !isSize(depth, 64))
    return emitError() << "has a tile of " << rows << " x " << columns << " by "
                       << depth
                       << ", expected powers of two from 32 to 128, by 16 to "
                          "64";
  bool isMMA = form.getWord("use") == "mma";
  if (isMMA && !canUseTensorCores(p))
    return emitError() << "takes the tensor cores, which multiply f16 or bf16 "
                          "and add f32";
  int64_t size = isMMA ? 2 : p.bytes;
  if ((rows + columns) * (depth + 16 / size) * size > kSharedBytes)
    return emitError() << "takes more than " << kSharedBytes
                       << " bytes of shared memory";
  for (bool ofRows : {true, false})
    if (failed(verifyReading(form, p, ofRows, ofRows ? rows : columns, depth,
                             emitError)))
      return failure();
  return success();
}

/// Each part has a step of k.
static LogicalResult verifyParts(KernelOp kernel, LoopCaseAttr loopCase,
                                 function_ref<InFlightDiagnostic()> emitError) {
  std::optional<int64_t> n =
      getOnlyProduct(kernel).getReducedExtent().asConstant();
  int64_t parts = loopCase.getParts(),
          depth = loopCase.getForms().front().getNumber("depth", 16);
  if (!n || llvm::divideCeil(*n, llvm::divideCeil(*n, parts * depth) * depth) !=
                parts)
    return emitError() << "cuts k into " << parts
                       << " parts, of which each needs a step of " << depth;
  return success();
}

static Workspace countWorkspace(KernelOp kernel,
                                const KernelAnalysis::SymbolRanges &ranges,
                                LoopCaseAttr loopCase) {
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
