//===- TileForm.cpp - Tiles of thread blocks ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "TileForm.h"
#include "Threads.h"
#include "luminal/Dialect/LLIR/Utils/SharedMemory.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// Bytes that one asynchronous copy takes.
static constexpr int64_t kCopiedBytes = 16;
/// Steps of k in shared memory or on their way there, at most; fewer where that
/// leaves room for TileForm::kResidents blocks on a multiprocessor.
static constexpr int64_t kMostStages = 4;
/// With groups some blocks find none and end: three with so many stages keep
/// more of a multiprocessor busy than two with one more (0.957 of the time of a
/// block of experts on an H200).
static constexpr int64_t kGroupResidents = 3, kGroupStages = 3;
/// More of them where they are small: by 64 x 32 in 6 stages BERT of 128 tokens
/// took 0.93 of the time in f16, products by 64 x 64 up to 1.2 (H200).
static constexpr int64_t kManyStages = 6, kBytesOfManyStages = 80 << 10;
/// Sums of a thread with which so many blocks have room.
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

/// Lines are 16 bytes longer than what they hold; by wgmma, where they are as
/// long as that, there is room for one more. Sides begin at multiples.
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

/// Results are written along what has the widest vectors.
void TileForm::chooseResults(const ProductAnalysis &p,
                             const MachineModel &machine) {
  Accesses accesses(p.a);
  SmallVector<Index> indices = p.getResultIndices(p.index);
  for (auto [i, index] : llvm::enumerate(indices))
    accesses.addResult(i, index);
  unsigned alongRows = accesses.chooseLanes(p.rows.dim, p.rows.extent, machine),
           alongColumns =
               accesses.chooseLanes(p.columns.dim, p.columns.extent, machine);
  // A group of rows begins and ends anywhere.
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

/// Of a tile with stages, of so many bytes each.
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

/// Copies pay where tensor cores wait for what is read, and there is anything
/// to copy: without them a product of f32 took 1.1 times as long, and with the
/// other side read element by element ResNet-50 1.6 times (H200).
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
  // Of one stage of several, which begins where copies may.
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
