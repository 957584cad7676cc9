//===- StreamTile.cpp - Tiles of streamed anchors -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/Analysis/StreamTile.h"
#include "luminal/Dialect/LLIR/Analysis/ProductAnalysis.h"
#include "luminal/Dialect/LLIR/Analysis/StreamedStages.h"
#include "luminal/Dialect/LLIR/Utils/SharedMemory.h"
#include "luminal/Dialect/LLIR/Utils/Values.h"

using namespace luminal;
using namespace mlir;

using Anchor = StreamedSpace::Anchor;
using Role = StreamedSpace::Role;
using AnchorDecision = DecisionAbout<Operation *>;

/// The swizzle width in bytes of operands that wgmma reads from shared memory.
static constexpr int64_t kSwizzledBytes = 128;
/// The most columns of a product, and the largest k that is not streamed.
static constexpr int64_t kMostExtent = 256;
/// The most rows and the largest chunk of a tile. With tensor cores they are
/// small enough that several blocks are resident, and one computes while
/// another waits.
static constexpr int64_t kMostRows = 64, kMostChunk = 32, kMostPlainChunk = 64,
                         kLargePlainChunk = 128;
/// The chunk with wgmma.
static constexpr int64_t kGroupChunk = 64;
/// The chunk with specialized warps, and the number of consumer warp groups;
/// one block then occupies an SM.
static constexpr int64_t kSpecializedChunk = 128, kSpecializedGroups = 2;
/// The number of resident blocks that should remain when a tile holds terms and
/// scores at once (`isAhead`).
static constexpr int64_t kBlocksBeside = 2;
/// Registers of a thread besides accumulators, scores and data in flight.
static constexpr int64_t kOtherRegisters = 79;
/// The same with wgmma, which reads operands from shared memory.
static constexpr int64_t kOtherRegistersOfGroup = 48;
/// Pipeline stages if operands are copied to shared memory unchanged: one chunk
/// is copied while another is multiplied.
static constexpr unsigned kStages = 2;
/// The same for a block of one warp, which has no other warp to hide its
/// latency: one query over 134 MB of keys and values took 43 us, and 47 us with
/// two stages (H200).
static constexpr unsigned kWarpStages = 3;

/// Returns the type that a value is widened from, otherwise its own type.
static Type getNarrowType(Value v) {
  while (auto view = v.getDefiningOp<llir::ViewOp>())
    v = view.getOperand();
  return getElementType(llir::skipWidening(v));
}

bool luminal::hasSplitTerms(const Anchor &anchor) {
  auto op = cast<llir::ProductOpInterface>(anchor.op);
  if (anchor.role != Role::Sum ||
      !llir::isNarrowFloat(getNarrowType(op.getRhs())) ||
      !getSumType(op).isF32() || !getElementType(op.getLhs()).isF32())
    return false;
  // Exponentials relative to the maximum are in [0, 1].
  auto terms = op.getLhs().getDefiningOp<llir::ElementwiseOp>();
  return terms && anchor.reference &&
         llvm::is_contained({llir::Fn::Exp, llir::Fn::ExpFast,
                             llir::Fn::ExpApprox, llir::Fn::Exp2,
                             llir::Fn::Exp2Fast},
                            terms.getFn());
}

Type luminal::getMultipliedType(const Anchor &anchor) {
  auto op = cast<llir::ProductOpInterface>(anchor.op);
  Type right = getNarrowType(op.getRhs()), sum = getSumType(op);
  bool fits = right == getNarrowType(op.getLhs()) || hasSplitTerms(anchor);
  return llir::isNarrowFloat(right) && sum.isF32() && fits ? right : sum;
}

static bool canUseTensorCores(const Anchor &anchor) {
  return getMultipliedType(anchor) !=
         getSumType(cast<llir::ProductOpInterface>(anchor.op));
}

std::optional<StreamTile::Part>
StreamTile::findPart(const Anchor &anchor) const {
  auto op = cast<llir::ProductOpInterface>(anchor.op);
  Expr extent = anchor.role == Role::Scores
                    ? op.getReducedExtent()
                    : hlir::getExtents(op->getResult(0)).back();
  std::optional<int64_t> known = extent.asConstant();
  if (!known || *known < 1 || *known > kMostExtent)
    return std::nullopt;
  int64_t own = llvm::alignTo(*known, kWarpRows);
  Type sum = getSumType(op);
  Type element = useTensorCores ? getMultipliedType(anchor) : sum;
  auto bytesOf = [](Type type) {
    return std::max<int64_t>(1, type.getIntOrFloatBitWidth() / 8);
  };
  if (anchor.role == Role::Scores)
    return Part{own, chunk, bytesOf(element), bytesOf(sum)};
  return Part{chunk, own, bytesOf(element), bytesOf(sum)};
}

/// Sums the shared memory of all products; each has a part.
int64_t StreamTile::countBytes(ArrayRef<Anchor> anchors) const {
  int64_t bytes = countBarrierBytes();
  for (const Anchor &anchor : anchors) {
    if (anchor.role == Role::Reduction)
      continue;
    Part part = getPart(anchor);
    // Each line is padded by 16 bytes against bank conflicts. For wgmma there
    // is one more line instead, and lines are whole swizzle widths.
    auto count = [&](int64_t lines, int64_t length) {
      int64_t line = length * part.elementBytes;
      if (!useWarpGroups)
        return lines * (line + 16);
      return (lines + (line % kSwizzledBytes != 0)) * line;
    };
    auto add = [&](int64_t size) {
      bytes += llvm::alignTo(size, llir::kLaunchSharedAlignment);
    };
    // Lines run along columns or along k, as the operand is stored.
    for (unsigned i = 0; i < countStages(anchor); ++i)
      add(std::max(count(part.depth, part.columns),
                   count(part.columns, part.depth)));
    if (anchor.role == Role::Scores || !useTensorCores)
      add(count(rows, part.depth));
  }
  return bytes;
}

int64_t StreamTile::countRegisters(ArrayRef<Anchor> anchors) const {
  int64_t registers = 0;
  for (const Anchor &anchor : anchors)
    if (anchor.role != Role::Reduction) {
      Part part = getPart(anchor);
      registers +=
          rows * part.columns / threads * llvm::divideCeil(part.sumBytes, 4);
    }
  return registers;
}

int64_t StreamTile::countJoinedRegisters(ArrayRef<Anchor> anchors) const {
  int64_t registers = 0;
  for (const Anchor &anchor : anchors)
    if (anchor.role != Role::Reduction) {
      Part part = getPart(anchor);
      int64_t sums =
          rows * part.columns / threads * llvm::divideCeil(part.sumBytes, 4);
      registers += sums;
      // Terms have two bytes each.
      if (isAhead && anchor.role == Role::Scores)
        registers += sums / 2;
    }
  return registers;
}

/// Returns the registers for data in flight to shared memory.
int64_t StreamTile::countMoved(ArrayRef<Anchor> anchors) const {
  int64_t registers = 0;
  for (const Anchor &anchor : anchors)
    if (anchor.role != Role::Reduction && countStages(anchor) == 1) {
      Part part = getPart(anchor);
      registers += part.depth * part.columns * part.elementBytes /
                   (4 * int64_t(threads));
    }
  return registers;
}

/// Registers are allocated in multiples of eight.
static int64_t roundRegisters(int64_t n) { return n / 8 * 8; }

int64_t luminal::countThreadRegisters(int64_t blocks, int64_t threads,
                                      const MachineModel &machine) {
  return roundRegisters(machine.blockRegisters / (blocks * threads));
}

/// Two barriers for each chunk of scores and of sums in shared memory: the
/// chunk has arrived, and the chunk has been multiplied.
int64_t StreamTile::countBarrierBytes() const {
  constexpr int64_t bytes = 8;
  return producers
             ? llvm::alignTo(4 * stages * bytes, llir::kLaunchSharedAlignment)
             : 0;
}

int64_t StreamTile::countConsumerRegisters(int64_t blocks,
                                           const MachineModel &machine) const {
  const int64_t all = threads + producers;
  const int64_t ofBlock = all * countThreadRegisters(blocks, all, machine);
  return roundRegisters(
      std::min<int64_t>((ofBlock - producers * kProducerRegisters) / threads,
                        machine.threadRegisters));
}

int64_t StreamTile::countResidents(ArrayRef<Anchor> anchors,
                                   const MachineModel &machine) const {
  int64_t ofThread = countRegisters(anchors) + countMoved(anchors) +
                     (useWarpGroups ? kOtherRegistersOfGroup : kOtherRegisters);
  int64_t ofBlock = threads * std::min(ofThread, machine.threadRegisters) +
                    int64_t(producers) * kProducerRegisters;
  int64_t residents =
      std::min(machine.blockRegisters / ofBlock,
               machine.sharedBytes / std::max<int64_t>(1, countBytes(anchors)));
  return std::clamp<int64_t>(residents, 1, machine.residentBlocks);
}

StreamTile StreamTile::get(const StreamedStages &t,
                           llir::LoopCaseAttr loopCase) {
  StreamTile tile;
  tile.rows = kWarpRows;
  tile.usedRows = 1;
  for (const StageAxis &axis : t.s.axes)
    if (axis.block != 1) {
      tile.rows = axis.block;
      tile.usedRows =
          std::min(tile.rows, axis.extent.asConstant().value_or(tile.rows));
    }
  tile.chunk = t.chunk;
  tile.threads = loopCase.getThreads();
  for (const Anchor &anchor : t.getAnchors()) {
    if (anchor.role == Role::Reduction)
      continue;
    llir::LoopFormAttr form = loopCase.getForm(llir::getPosition(anchor.op));
    tile.useWarpGroups = form.getWord("use") == "wgmma";
    tile.useTensorCores = tile.useWarpGroups || form.getWord("use") == "mma";
    if (StringRef word = form.getWord("skipped"); !word.empty())
      tile.skipped = word == "shared" ? Skipped::Shared : Skipped::None;
    tile.isAhead |= form.getWord("terms") == "beside";
    if (form.getWord("warps") == "specialized")
      tile.producers = kProducers;
    if (int64_t stages = form.getNumber("stages", 1); stages > 1) {
      tile.stages = stages;
      tile.copied.insert(anchor.op);
    }
  }
  tile.threads -= std::min(tile.threads, tile.producers);
  return tile;
}

/// Groups of four threads hold the same rows, in each half of a warp's rows.
unsigned StreamTile::countMergingSets() const {
  constexpr uint64_t half = kWarpRows / 2;
  const uint64_t own = llvm::PowerOf2Ceil(std::max<int64_t>(1, usedRows));
  bool isWarp = useTensorCores && rows == kWarpRows && threads == 4 * half;
  return isWarp && own <= half ? unsigned(half / own) : 1;
}

int64_t StreamTile::countStateBytes(const StreamedStages &t) const {
  int64_t bytes = 0;
  auto add = [&](Type type, int64_t count) {
    bytes += count * llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
  };
  for (const Anchor *anchor : t.getReferences())
    add(StreamedStages::getWideType(anchor->reference), countRowsOfThread());
  for (const Anchor &anchor : t.getAnchors()) {
    if (anchor.role == Role::Reduction)
      for (Type type :
           cast<llir::ReductionOpInterface>(anchor.op).getStateTypes())
        add(type, countRowsOfThread());
    if (anchor.role == Role::Sum) {
      Part part = getPart(anchor);
      bytes += rows * part.columns / threads * part.sumBytes;
    }
  }
  return bytes;
}

AnchorDecision StreamTile::fits(ArrayRef<Anchor> anchors,
                                const MachineModel &machine) const {
  for (const Anchor &anchor : anchors) {
    auto op = dyn_cast<llir::ProductOpInterface>(anchor.op);
    if (!op)
      continue;
    Type sum = getSumType(op);
    if (!isa<FloatType>(sum) || sum.getIntOrFloatBitWidth() < 32)
      return AnchorDecision::refuse("its accumulators are not f32 or f64", op);
    if (useTensorCores && !canUseTensorCores(anchor))
      return AnchorDecision::refuse("the tensor cores, which multiply f16 or "
                                    "bf16 and add f32, cannot compute it",
                                    op);
    if (useWarpGroups && hasSplitTerms(anchor))
      return AnchorDecision::refuse(
          "its terms are split, which wgmma does not support", op);
    if (anchor.role == Role::Sum &&
        getRank(op->getResult(0)) != getRank(op.getLhs()))
      return AnchorDecision::refuse("it has no columns", op);
    if (!findPart(anchor))
      return AnchorDecision::refuse("its columns, or the dim that it sums "
                                    "besides the streamed one, are more than "
                                    "256 or not known",
                                    op);
  }
  if (isAhead) {
    auto isScores = [](const Anchor &anchor) {
      return anchor.role == Role::Scores;
    };
    auto isCopied = [&](const Anchor &anchor) {
      return anchor.role == Role::Reduction || countStages(anchor) > 1;
    };
    if (!useWarpGroups || !llvm::any_of(anchors, isScores) ||
        !llvm::all_of(anchors, isCopied))
      return AnchorDecision::refuse(
          "terms overlap with products only with wgmma, scores, and copies of "
          "all right operands");
  }
  if (producers && !isAhead)
    return AnchorDecision::refuse(
        "specialized warps require terms that overlap with products");
  if (useWarpGroups && (!machine.hasWarpGroups || rows % kGroupRows != 0))
    return AnchorDecision::refuse(
        "this machine has no wgmma, or not for so many rows");
  if (int64_t needed = countBytes(anchors); needed > machine.sharedBytes)
    return AnchorDecision::refuseAbove("a tile of rows needs more shared "
                                       "memory than there is, in bytes",
                                       needed, machine.sharedBytes);
  int64_t most = machine.threadRegisters - kOtherRegisters;
  if (int64_t needed = countRegisters(anchors); needed > most)
    return AnchorDecision::refuseAbove("a tile of rows needs too many "
                                       "registers",
                                       needed, most);
  return AnchorDecision::accept();
}

AnchorDecision StreamTile::choose(ArrayRef<Anchor> anchors,
                                  std::optional<int64_t> rows,
                                  const MachineModel &machine,
                                  ArrayRef<Operation *> copied, bool areMany,
                                  StreamTile &tile) {
  tile.useTensorCores = llvm::all_of(anchors, [](const Anchor &anchor) {
    return anchor.role == Role::Reduction || canUseTensorCores(anchor);
  });
  tile.copied.insert_range(copied);
  AnchorDecision last = AnchorDecision::refuse("it has no rows");
  int64_t most = kMostRows;
  // The tile has no more rows than the problem.
  while (rows && most > kWarpRows && most / 2 >= *rows)
    most /= 2;
  if (tile.useTensorCores && machine.hasWarpGroups && most >= kGroupRows) {
    tile.useWarpGroups = true;
    tile.chunk = kGroupChunk;
    bool areCopied = llvm::all_of(anchors, [&](const Anchor &anchor) {
      return anchor.role == Role::Reduction || tile.copied.contains(anchor.op);
    });
    // With twice as many rows, shared memory would be read half as often. But
    // more resident blocks hide each other's prologue and epilogue: attention
    // of 64 and 128 elements a head took 3 to 20 % longer with 128 rows (H200,
    // 512 and 4,096 keys).
    tile.rows = kGroupRows;
    tile.threads = tile.rows / kWarpRows * machine.warpThreads;
    tile.stages = copied.empty() ? 1 : kStages;
    if (tile.fits(anchors, machine)) {
      // Overlap products with terms only if that does not reduce the number of
      // resident blocks, which overlap with each other as well.
      int64_t least = std::min<int64_t>(tile.countResidents(anchors, machine),
                                        kBlocksBeside);
      StreamTile ahead = tile;
      ahead.isAhead = true;
      // With three chunks in shared memory attention took 1.0 to 1.1 times as
      // long (512 to 4,096 keys, heads of 64 and 128, H200).
      if (areCopied && ahead.fits(anchors, machine) &&
          ahead.countResidents(anchors, machine) >= least)
        tile = ahead;
      return AnchorDecision::accept();
    }
    tile.useWarpGroups = false;
  }
  // With FMA instructions, more accumulators in a thread mean fewer loads for
  // each: 384 causal heads of 128 rows took 55 us, and 68 us with smaller tiles
  // (H200).
  if (!tile.useTensorCores && areMany) {
    tile.rows = kJoinedRows;
    tile.chunk = kLargePlainChunk;
    tile.threads = kPlainThreads;
    tile.stages = copied.empty() ? 1 : kStages;
    if (tile.fits(anchors, machine))
      return AnchorDecision::accept();
  }
  for (tile.rows = most; tile.rows >= kWarpRows; tile.rows /= 2)
    for (tile.chunk = tile.useTensorCores ? kMostChunk : kMostPlainChunk;
         tile.chunk >= 16; tile.chunk /= 2)
      for (tile.stages = copied.empty() ? 1 : kWarpStages; tile.stages > 0;
           --tile.stages) {
        tile.threads = tile.useTensorCores
                           ? tile.rows / kWarpRows * machine.warpThreads
                           : kPlainThreads;
        if (tile.stages > kStages && tile.threads > machine.warpThreads)
          continue;
        last = tile.fits(anchors, machine);
        if (last)
          return last;
      }
  return last;
}

std::optional<StreamTile>
StreamTile::specialize(ArrayRef<Anchor> anchors, std::optional<int64_t> rows,
                       const MachineModel &machine) const {
  StreamTile tile = *this;
  tile.producers = kProducers;
  // Three consumer warp groups took 0.96 to 1.0 of the time for heads of 64
  // elements, but spilled registers where a stream ends within a chunk (H200).
  tile.rows = kSpecializedGroups * kGroupRows;
  tile.threads = tile.rows / kWarpRows * machine.warpThreads;
  tile.chunk = kSpecializedChunk;
  tile.stages = kStages;
  tile.usedRows = std::min(tile.rows, rows.value_or(tile.rows));
  bool fit = tile.fits(anchors, machine) &&
             tile.countConsumerRegisters(/*blocks=*/1, machine) >=
                 tile.countJoinedRegisters(anchors) + kRegistersBesideSums;
  return fit ? std::optional(tile) : std::nullopt;
}

/// Estimates how many rows read the same columns.
static double countSharedRows(llir::ProductOpInterface op,
                              const Assumptions &symbols) {
  double shared = 1;
  for (auto [i, extent] : llvm::enumerate(hlir::getExtents(op->getResult(0))))
    if (op.getLhsMap().usesDim(i) && !op.getRhsMap().usesDim(i))
      shared *= llir::nominalValue(extent, symbols);
  return shared;
}

/// Returns the model of the least GPU, with `bytes` of shared memory.
static MachineModel getAnyGPU(int64_t bytes) {
  MachineModel machine = MachineModel::getLeastGPU();
  machine.sharedBytes = bytes;
  return machine;
}

AnchorDecision luminal::canStreamByBlocks(llir::ProductOpInterface last,
                                          ArrayRef<Operation *> anchors,
                                          const Assumptions &symbols,
                                          int64_t bytes) {
  SmallVector<Expr> extents = hlir::getExtents(last->getResult(0));
  if (anchors.empty() || extents.empty())
    return AnchorDecision::refuse("no other anchor runs in its loop", last);
  StreamedSpace space(ArrayRef<Expr>(extents).drop_back(),
                      last.getReducedExtent());
  for (Operation *op : anchors)
    if (AnchorDecision added = space.add(op); !added)
      return added;
  if (!space.hasRole(Role::Reduction))
    return AnchorDecision::refuse("no reduction runs in its loop", last);
  StreamTile tile;
  AnchorDecision chosen = StreamTile::choose(space.getAnchors(), std::nullopt,
                                             getAnyGPU(bytes), /*copied=*/{},
                                             /*areMany=*/false, tile);
  if (!chosen || tile.useTensorCores)
    return chosen;
  // Padding rows cost as much as real rows.
  for (const Anchor &anchor : space.getAnchors()) {
    auto op = dyn_cast<llir::ProductOpInterface>(anchor.op);
    if (op && countSharedRows(op, symbols) < StreamTile::kWarpRows)
      return AnchorDecision::refuse("few rows read the same columns", op);
  }
  return chosen;
}

AnchorDecision luminal::canEndStream(llir::ProductOpInterface last,
                                     const Assumptions &symbols,
                                     int64_t bytes) {
  // Its terms may turn out to be exponentials, which tensor cores can multiply.
  bool isNarrow = llir::isNarrowFloat(getNarrowType(last.getRhs()));
  if (!isNarrow && countSharedRows(last, symbols) < StreamTile::kWarpRows)
    return AnchorDecision::refuse("few rows read the same columns", last);
  Anchor anchor{last, Role::Sum, {}};
  StreamTile tile;
  return StreamTile::choose({anchor}, std::nullopt, getAnyGPU(bytes),
                            /*copied=*/{}, /*areMany=*/false, tile);
}
