//===- StreamTile.cpp - Streamed anchors by a block of threads ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/Analysis/StreamTile.h"
#include "luminal/Dialect/LLIR/Analysis/ProductAnalysis.h"
#include "luminal/Dialect/LLIR/Utils/Values.h"

using namespace luminal;
using namespace mlir;

using Anchor = StreamedSpace::Anchor;
using Role = StreamedSpace::Role;
using AnchorDecision = DecisionAbout<Operation *>;

/// 32-bit registers of a thread that sums and scores may take.
static constexpr int64_t kMostRegisters = 176;
/// Columns of one product, and its steps where they are not streamed.
static constexpr int64_t kMostExtent = 256;
/// Rows, and indices of the stream at a time: by tensor cores so few that
/// several blocks run beside each other, one while another waits.
static constexpr int64_t kMostRows = 64, kMostChunk = 32, kMostPlainChunk = 64;
/// Registers of a multiprocessor, from sm_80 on, and those that a thread needs
/// besides.
static constexpr int64_t kAllRegisters = 1 << 16, kOtherRegisters = 88;

/// The type that a value is widened from, or its own.
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
         llvm::is_contained({llir::Fn::Exp, llir::Fn::ExpFast, llir::Fn::Exp2},
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

/// The products have parts.
int64_t StreamTile::countBytes(ArrayRef<Anchor> anchors) const {
  int64_t bytes = 0;
  for (const Anchor &anchor : anchors) {
    if (anchor.role == Role::Reduction)
      continue;
    Part part = getPart(anchor);
    // Lines are 16 bytes longer than what they hold; there are as many as
    // columns, or as steps.
    auto add = [&](int64_t lines, int64_t length) {
      bytes += lines * (length * part.elementBytes + 16);
    };
    add(std::max(part.depth, part.columns), std::min(part.depth, part.columns));
    if (anchor.role == Role::Scores || !useTensorCores)
      add(rows, part.depth);
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

int64_t StreamTile::countResidents(ArrayRef<Anchor> anchors) const {
  int64_t ofBlock = threads * (countRegisters(anchors) + kOtherRegisters);
  return std::max<int64_t>(1, kAllRegisters / ofBlock);
}

AnchorDecision StreamTile::fits(ArrayRef<Anchor> anchors, int64_t bytes) const {
  for (const Anchor &anchor : anchors) {
    auto op = dyn_cast<llir::ProductOpInterface>(anchor.op);
    if (!op)
      continue;
    Type sum = getSumType(op);
    if (!isa<FloatType>(sum) || sum.getIntOrFloatBitWidth() < 32)
      return AnchorDecision::refuse("its sums are no f32 or f64", op);
    if (useTensorCores && !canUseTensorCores(anchor))
      return AnchorDecision::refuse("the tensor cores, which multiply f16 or "
                                    "bf16 and add f32, cannot compute it",
                                    op);
    if (anchor.role == Role::Sum &&
        getRank(op->getResult(0)) != getRank(op.getLhs()))
      return AnchorDecision::refuse("it has no columns", op);
    if (!findPart(anchor))
      return AnchorDecision::refuse("its columns, or the dim that it sums "
                                    "besides the streamed one, are more than "
                                    "256 or not known",
                                    op);
  }
  if (int64_t needed = countBytes(anchors); needed > bytes)
    return AnchorDecision::refuseAbove("a tile of rows needs more shared "
                                       "memory than there is, in bytes",
                                       needed, bytes);
  if (int64_t needed = countRegisters(anchors); needed > kMostRegisters)
    return AnchorDecision::refuseAbove("a tile of rows needs too many "
                                       "registers",
                                       needed, kMostRegisters);
  return AnchorDecision::accept();
}

AnchorDecision StreamTile::choose(ArrayRef<Anchor> anchors,
                                  std::optional<int64_t> rows, int64_t bytes,
                                  StreamTile &tile) {
  tile.useTensorCores = llvm::all_of(anchors, [](const Anchor &anchor) {
    return anchor.role == Role::Reduction || canUseTensorCores(anchor);
  });
  AnchorDecision last = AnchorDecision::refuse("it has no rows");
  int64_t most = kMostRows;
  // No more than there are.
  while (rows && most > kWarpRows && most / 2 >= *rows)
    most /= 2;
  for (tile.rows = most; tile.rows >= kWarpRows; tile.rows /= 2)
    for (tile.chunk = tile.useTensorCores ? kMostChunk : kMostPlainChunk;
         tile.chunk >= 16; tile.chunk /= 2) {
      tile.threads =
          tile.useTensorCores ? tile.rows / kWarpRows * 32 : kPlainThreads;
      last = tile.fits(anchors, bytes);
      if (last)
        return last;
    }
  return last;
}

/// Rows that read the same columns, about.
static double countSharedRows(llir::ProductOpInterface op,
                              const Assumptions &symbols) {
  double shared = 1;
  for (auto [i, extent] : llvm::enumerate(hlir::getExtents(op->getResult(0))))
    if (op.getLhsMap().usesDim(i) && !op.getRhsMap().usesDim(i))
      shared *= llir::nominalValue(extent, symbols);
  return shared;
}

AnchorDecision luminal::canStreamByBlocks(llir::ProductOpInterface last,
                                          ArrayRef<Operation *> anchors,
                                          const Assumptions &symbols,
                                          int64_t bytes) {
  SmallVector<Expr> extents = hlir::getExtents(last->getResult(0));
  if (anchors.empty() || extents.empty())
    return AnchorDecision::refuse("no anchors are walked with it", last);
  StreamedSpace space(ArrayRef<Expr>(extents).drop_back(),
                      last.getReducedExtent());
  for (Operation *op : anchors)
    if (AnchorDecision added = space.add(op); !added)
      return added;
  for (const Anchor &anchor : space.getAnchors()) {
    auto op = dyn_cast<llir::ProductOpInterface>(anchor.op);
    if (op && countSharedRows(op, symbols) < StreamTile::kWarpRows)
      return AnchorDecision::refuse("few rows read the same columns", op);
  }
  StreamTile tile;
  return StreamTile::choose(space.getAnchors(), std::nullopt, bytes, tile);
}

AnchorDecision luminal::canEndStream(llir::ProductOpInterface last,
                                     const Assumptions &symbols,
                                     int64_t bytes) {
  if (countSharedRows(last, symbols) < StreamTile::kWarpRows)
    return AnchorDecision::refuse("few rows read the same columns", last);
  Anchor anchor{last, Role::Sum, {}};
  StreamTile tile;
  return StreamTile::choose({anchor}, std::nullopt, bytes, tile);
}
