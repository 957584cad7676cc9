//===- TileForm.cpp - Tiles of thread blocks ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TileForm.h"
#include "Threads.h"
#include "luminal/Dialect/LLIR/Utils/SharedMemory.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// Bytes of one asynchronous copy.
static constexpr int64_t kCopiedBytes = 16;
/// The most pipeline stages in shared memory; fewer if that makes room for
/// TileForm::kResidents blocks on an SM.
static constexpr int64_t kMostStages = 4;
/// With groups some blocks find no group and end early: three blocks with this
/// many stages keep an SM busier than two with one more (0.957 of the time of a
/// block of experts on an H200).
static constexpr int64_t kGroupResidents = 3, kGroupStages = 3;
/// The limits for small stages: in tiles of 64 x 32 with 6 stages, BERT of 128
/// tokens took 0.93 of the time in f16, but products in tiles of 64 x 64 up to
/// 1.2 (H200).
static constexpr int64_t kManyStages = 6, kBytesOfManyStages = 80 << 10;
/// The accumulators of a thread with which that many blocks are resident.
static constexpr int64_t kSumsOfResident = 64;

bool llir::isWhole(const ProductAnalysis &p, const Expr &extent,
                   int64_t lanes) {
  return p.a.simplify(Expr::mod(extent, lanes)).isConstant(0);
}

TileForm TileForm::get(LoopFormAttr form, int64_t rows, int64_t columns) {
  TileForm tile;
  tile.rows = form.getNumber("rows", rows);
  tile.columns = columns;
  tile.depth = form.getNumber("depth", 16);
  tile.use = form.getWord("use");
  auto getReading = [&](StringRef lanes, StringRef along) {
    return BlockReading{unsigned(form.getNumber(lanes, 1)),
                        form.getWord(along) != "own"};
  };
  tile.left = getReading("rowlanes", "rowalong");
  tile.right = getReading("columnlanes", "columnalong");
  tile.stages = form.getNumber("stages", 1);
  tile.residents = form.getNumber("blocks", 1);
  tile.resultLanes = form.getNumber("resultlanes", 1);
  tile.resultsAlongRows = form.getWord("resultalong") == "rows";
  StringRef copied = form.getWord("copy");
  tile.copiesRows = copied == "rows" || copied == "both";
  tile.copiesColumns = copied == "columns" || copied == "both";
  return tile;
}

/// Lines are padded by 16 bytes; with wgmma they are swizzled and not padded,
/// and there is room for one more line. Each side begins at an aligned offset.
int64_t TileForm::countSharedBytes(const ProductAnalysis &p) const {
  int64_t bytes = useTensorCores() ? 2 : p.bytes;
  auto count = [&](int64_t lines, int64_t length) {
    int64_t all = lines * (length * bytes + 16);
    if (useWarpGroups())
      all = (length % 64 ? lines + 1 : lines) * length * bytes;
    return int64_t(llvm::alignTo(all, stages > 1 ? kLaunchSharedAlignment : 1));
  };
  bool isAcross = useTensorCores() && !right.isAlongK;
  return count(rows, depth) +
         (isAcross ? count(depth, columns) : count(columns, depth));
}

int64_t TileForm::countAllSharedBytes(const ProductAnalysis &p) const {
  int64_t ring = stages * countSharedBytes(p);
  if (stages == 1)
    return ring;
  int64_t lines = resultsAlongRows ? columns : rows;
  return std::max(ring, (rows * columns + lines * kResultPadding) * p.bytes);
}

/// Results are written along the side with the widest vectors.
void TileForm::chooseResults(const ProductAnalysis &p,
                             const MachineModel &machine) {
  Accesses accesses(p.a);
  SmallVector<Index> indices = p.getResultIndices(p.index);
  for (auto [i, index] : llvm::enumerate(indices))
    accesses.addResult(i, index);
  unsigned alongRows = accesses.chooseLanes(p.rows.dim, p.rows.extent, machine),
           alongColumns =
               accesses.chooseLanes(p.columns.dim, p.columns.extent, machine);
  // A group of rows may begin and end at any row.
  if (p.hasGroups())
    alongRows = 1;
  auto isPart = [&](const Expr &extent, unsigned lanes) {
    return isWhole(p, extent, lanes);
  };
  while (alongRows > 1 && !isPart(p.rows.extent, alongRows))
    alongRows /= 2;
  while (alongColumns > 1 && !isPart(p.columns.extent, alongColumns))
    alongColumns /= 2;
  resultsAlongRows =
      alongRows != alongColumns
          ? alongRows > alongColumns
          : !accesses.areAlong(p.columns.dim) && accesses.areAlong(p.rows.dim);
  resultLanes = std::max(alongRows, alongColumns);
}

/// Returns the resident blocks for a tile with stages of `bytes` bytes each.
static int64_t countResidents(const TileForm &tile, int64_t bytes,
                              const ProductAnalysis &p,
                              const MachineModel &machine) {
  if (tile.countSums() > kSumsOfResident)
    return 1;
  return p.hasGroups() &&
                 kGroupResidents * kGroupStages * bytes <= machine.sharedBytes
             ? kGroupResidents
             : TileForm::kResidents;
}

/// Asynchronous copies pay only with tensor cores, and only if both sides allow
/// vector loads: without tensor cores an f32 product took 1.1 times as long,
/// and with one side read element by element ResNet-50 took 1.6 times as long
/// (H200).
void TileForm::chooseStages(const ProductAnalysis &p,
                            const MachineModel &machine, bool mayHaveMany) {
  if (!useTensorCores())
    return;
  copiesRows = bool(canCopyRows(p));
  copiesColumns = bool(canCopyColumns(p));
  stages = residents = 1;
  auto isFast = [&](bool isCopied, const BlockReading &reading) {
    unsigned bits = getMultipliedType(p).getIntOrFloatBitWidth();
    return isCopied || reading.lanes * bits >= 8 * kCopiedBytes;
  };
  if ((!copiesRows && !copiesColumns) || !isFast(copiesRows, left) ||
      !isFast(copiesColumns, right)) {
    copiesRows = copiesColumns = false;
    return;
  }
  // The bytes of one of several stages, which begins at the alignment of
  // copies.
  stages = kMostStages;
  int64_t bytes = countSharedBytes(p);
  residents = countResidents(*this, bytes, p, machine);
  bool isSmall = mayHaveMany && useWarpGroups() && left.isAlongK &&
                 right.isAlongK && kManyStages * bytes <= kBytesOfManyStages;
  stages = std::min(isSmall ? kManyStages : kMostStages,
                    machine.sharedBytes / residents / bytes);
  if (stages > 1)
    return;
  copiesRows = copiesColumns = false;
  stages = residents = 1;
}

Decision llir::canCopy(const ProductAnalysis &p, const ProductSide &side,
                       BlockReading reading, Type multiplied,
                       bool mayBeAcross) {
  Type element = getElementType(side.operand);
  if (element != multiplied)
    return Decision::refuse("they are of another type than what is multiplied",
                            p.op);
  if (reading.lanes * element.getIntOrFloatBitWidth() != 8 * kCopiedBytes)
    return Decision::refuse("they are not read in whole copies", p.op);
  if (!mayBeAcross && !reading.isAlongK)
    return Decision::refuse("they have to be transposed", p.op);
  return p.isRun(side, reading.isAlongK, reading.lanes);
}
