//===- FusionStages.cpp - Several anchors in one kernel -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dependent anchors may run as stages of one kernel if they share their rows: a
// product, the softmax of its rows, and a product after that. A work item takes
// a block of rows through all stages, and values between stages stay on chip.
// For this, a group has *row spaces* [rows..., n], one for each extent n.
// Values in a row space are computed for each row, and an anchor that is read
// there, each element once, may join.
//
// A product needs its columns for every block of rows. It joins only if rows
// give enough work items, and if either its columns fit on chip, or all anchors
// may run in one loop over the dim that the last one sums over, chunk by chunk
// (StreamAnalysis.h).
//
//===----------------------------------------------------------------------===//

#include "Fusion.h"
#include "luminal/Dialect/LLIR/Analysis/StreamTile.h"
#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"
#include "luminal/Support/MachineModel.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;
using luminal::hlir::MapAttr;

/// Estimates of the least and the most rows of a work item.
static constexpr double kRowsInUnit = 14;
static constexpr double kMostRowsInUnit = 112;
/// The number of work items that keeps the workers of a machine busy.
static constexpr double kEnoughUnits = 8;
/// Estimates of how much of a streamed dim a split-kv part takes: on a CPU, and
/// at least on a GPU.
static constexpr double kPartOfStream = 512, kPartOfBlocks = 128;

/// Returns the row space of the group with `local` elements in each row.
unsigned FusionPlan::getRowSpace(Group &group, const Expr &local) {
  SmallVector<Expr> extents(group.spaces[kRowsSpace].extents);
  extents.push_back(local);
  if (group.loopsOf == GroupLoops::Rows &&
      group.spaces[kMainSpace].extents == extents)
    return kMainSpace;
  for (unsigned space : group.rowSpaces)
    if (group.spaces[space].extents == extents)
      return space;
  group.spaces.push_back({extents});
  group.rowSpaces.push_back(group.spaces.size() - 1);
  return group.spaces.size() - 1;
}

/// Returns whether a group reads `value` once for each row, or for each element
/// of a row space, at its own index.
bool FusionPlan::isReadByRows(const Group &group, Value value) const {
  auto it = group.accesses.find(value);
  if (it == group.accesses.end() || it->second.size() != 1)
    return false;
  const Access &access = it->second.front();
  bool isRow = access.space == kRowsSpace && !group.rowSpaces.empty();
  return (isRow || group.isRowSpace(access.space)) && access.map.isIdentity() &&
         group.spaces[access.space].extents == hlir::getExtents(value);
}

/// Returns the number of rows that read the same columns.
double FusionPlan::countSharedRows(ProductOpInterface op,
                                   ArrayRef<Expr> rows) const {
  double shared = 1;
  for (auto [i, extent] : llvm::enumerate(rows))
    if (op.getLhsMap().usesDim(i) && !op.getRhsMap().usesDim(i))
      shared *= nominalValue(extent, symbols);
  return shared;
}

/// Returns the rows of a work item that are multiplied with the same columns.
double FusionPlan::countRowsAtOnce(ProductOpInterface op,
                                   ArrayRef<Expr> rows) const {
  return std::min(countSharedRows(op, rows), kMostRowsInUnit);
}

/// Returns whether products in one loop, with no reduction between them, cause
/// less memory traffic than separate kernels. For each index of the stream, a
/// work item reads the columns of all products; separate kernels write and read
/// one element for each row instead.
bool FusionPlan::isLessTraffic(ProductOpInterface last,
                               ArrayRef<Operation *> anchors) const {
  SmallVector<Expr> extents = hlir::getExtents(last->getResult(0));
  double columns = nominalValue(extents.back(), symbols);
  for (Operation *op : anchors)
    if (op != last.getOperation())
      columns += nominalValue(cast<ProductOpInterface>(op).getReducedExtent(),
                              symbols);
  return columns <= 2 * countRowsAtOnce(last, ArrayRef(extents).drop_back());
}

/// Finds the anchors that may run in one loop with a later product. An anchor
/// that could do so with several products goes with the first, that of its
/// softmax.
void FusionPlan::findStreams() {
  if (chipBytes == 0 && sharedBytes == 0)
    return;
  for (bool hasReduction : {true, false})
    for (auto product : func.getBody().front().getOps<ProductOpInterface>()) {
      SmallVector<Operation *> anchors = findStreamedAnchors(product);
      if (anchors.empty() ||
          hasReduction !=
              llvm::any_of(anchors, llvm::IsaPred<RowReductionOpInterface>))
        continue;
      if (chipBytes == 0 &&
          !canStreamByBlocks(product, anchors, symbols, sharedBytes))
        continue;
      if (!hasReduction && !isLessTraffic(product, anchors))
        continue;
      for (Operation *op : anchors)
        streams.try_emplace(op, product);
    }
}

/// Returns whether the group can run `op` in one loop with the product in which
/// it ends.
bool FusionPlan::canStream(const Group &group, Operation *op) const {
  return group.product && streams.lookup(op) == group.product;
}

/// Returns the bytes of the right operand that each block of rows reads.
double FusionPlan::countColumnBytes(ProductOpInterface op) const {
  Expr columns = hlir::getExtents(op->getResult(0)).back();
  Type element = cast<RankedTensorType>(op.getRhs().getType()).getElementType();
  return nominalValue(columns * op.getReducedExtent(), symbols) *
         element.getIntOrFloatBitWidth() / 8;
}

bool FusionPlan::fitsOnChip(ProductOpInterface op) const {
  return countColumnBytes(op) <= chipBytes;
}

/// Returns whether a product can be a stage of a kernel over these rows.
Decision FusionPlan::fitsStage(const Group &group, ProductOpInterface op,
                               ArrayRef<Expr> rows) const {
  Value value = op->getResult(0);
  SmallVector<Expr> extents = hlir::getExtents(value);
  if (extents.size() != rows.size() + 1 ||
      ArrayRef<Expr>(extents).drop_back() != rows)
    return Decision::refuse("its rows are not those of the reader");
  unsigned local = rows.size();
  if (op.getLhsMap().usesDim(local) || !op.getRhsMap().usesDim(local))
    return Decision::refuse("its columns are not those of the right operand");
  // Rows that share columns are cut into blocks.
  double shared = countSharedRows(op, rows);
  double units = nominalSize(rows) / std::max(1.0, shared) *
                 std::ceil(shared / kRowsInUnit);
  double columns =
      nominalValue(extents.back() * op.getReducedExtent(), symbols);
  double bytes = countColumnBytes(op);
  bool isStreamed = canStream(group, op);
  // With split-kv, several work items share one stream.
  if (isStreamed) {
    Expr stream = group.product == op ? op.getReducedExtent() : extents.back();
    double part = chipBytes == 0 ? kPartOfBlocks : kPartOfStream;
    units *= std::max(1.0, nominalValue(stream, symbols) / part);
  }
  if ((bytes > chipBytes || chipBytes == 0) && !isStreamed)
    return Decision::refuseAbove("its columns do not fit on chip together with "
                                 "the rows of the reader, in bytes",
                                 bytes, chipBytes);
  double work = columns * nominalSize(rows);
  if (units < kEnoughUnits && work > MachineModel().grain)
    return Decision::refuse("its rows are too few to share the work");
  return Decision::accept();
}

/// Returns whether a group that computes `value` needs the anchors before it as
/// stages. The kernel of a reduction has rows of its own in any case: it
/// computes a value after the reduction once for each row, and loads what does
/// not join. But if a product computes the value's elements one by one, no
/// memory holds them.
bool FusionPlan::needsStage(const Group &group, Value value) const {
  if (!isReadByRows(group, value))
    return false;
  unsigned space = group.accesses.find(value)->second.front().space;
  return group.loopsOf != GroupLoops::Rows || followsProduct.contains(value) ||
         (space != kMainSpace && space != kRowsSpace);
}

/// Returns whether the anchors that `value` depends on, which the group reads
/// by rows, can be its stages.
Decision FusionPlan::followsStage(const Group &group, Value value) const {
  ArrayRef<Expr> rows = group.spaces[kRowsSpace].extents;
  llvm::SetVector<Value> chain;
  chain.insert(value);
  for (size_t i = 0; i < chain.size(); ++i) {
    Operation *op = chain[i].getDefiningOp();
    if (auto product = dyn_cast<ProductOpInterface>(op)) {
      if (Decision fits = fitsStage(group, product, rows); !fits)
        return fits;
      continue;
    }
    if (isa<RowReductionOpInterface>(op)) {
      if (hlir::getExtents(chain[i]) != rows)
        return Decision::refuse("the rows before it are not the reader's",
                                &group);
      continue;
    }
    for (Value operand : op->getOperands())
      if (followsProduct.contains(operand) || followsRows.contains(operand))
        chain.insert(operand);
  }
  return Decision::accept();
}

/// Lets stages join before a product of the group, if the product reads its
/// left operand row by row, each element once.
void FusionPlan::readByRows(Group &group, ProductOpInterface op) {
  SmallVector<Expr> extents = hlir::getExtents(op->getResult(0));
  if (extents.empty())
    return;
  unsigned local = extents.size() - 1;
  SmallVector<Expr> rows(extents.begin(), extents.begin() + local);
  SmallVector<Expr> elements(rows);
  elements.push_back(op.getReducedExtent());
  SmallVector<Expr> dims;
  // Maps have 0 for dims of extent 1.
  for (unsigned i = 0; i < local; ++i)
    dims.push_back(extents[i].isConstant(1) &&
                           op.getLhsMap().getResults().size() > i
                       ? op.getLhsMap().getResults()[i]
                       : Expr::dim(i));
  dims.push_back(Expr::dim(local + 1));
  if (op.getLhs() == op.getRhs() || group.accesses[op.getLhs()].size() != 1 ||
      hlir::getExtents(op.getLhs()) != elements ||
      op.getLhsMap().getResults() != ArrayRef<Expr>(dims) ||
      !fitsStage(group, op, rows))
    return;
  group.isStreamed |= !fitsOnChip(op);
  if (group.loopsOf == GroupLoops::Product && group.rowSpaces.empty())
    group.spaces[kRowsSpace].extents = rows;
  unsigned space = getRowSpace(group, op.getReducedExtent());
  group.accesses[op.getLhs()].front().space = space;
  // Ops after the product may also read values of the rows.
  if (group.product != op)
    return;
  // Maps are the same whether they have a dim of extent 1 or 0.
  auto simplify = [&](ArrayRef<Expr> results) {
    return MapAttr::getSimplified(op->getContext(), results,
                                  withExtents(symbols, extents));
  };
  MapAttr leading = simplify(ArrayRef<Expr>(dims).drop_back());
  for (auto &[read, accesses] : group.accesses)
    if (accesses.size() == 1 && accesses[0].space == kMainSpace &&
        hlir::getExtents(read) == rows &&
        simplify(accesses[0].map.getResults()) == leading)
      accesses[0] = {kRowsSpace, MapAttr::getIdentity(op->getContext(), local),
                     accesses[0].loops};
}

/// Makes a product that the group reads by rows a stage of the group.
Decision FusionPlan::joinStage(Group &group, ProductOpInterface op) {
  Value value = op->getResult(0);
  // Copied, because the list of spaces grows.
  SmallVector<Expr> rows(group.spaces[kRowsSpace].extents);
  if (Decision fits = fitsStage(group, op, rows); !fits)
    return fits;
  if (group.isStreamed && !canStream(group, op))
    return Decision::refuse("the reader's anchors run in one loop over "
                            "another dim",
                            &group);
  // The code of its readers is not in its loops.
  auto code = cast<CodeOpInterface>(*op);
  int64_t size = group.code + code.getCodeSize() * code.getLoopCopies();
  if (size > codeBudget)
    return Decision::refuseAbove("the code of the reader would go beyond its "
                                 "budget",
                                 size, codeBudget, &group);
  group.inlined.insert(value);
  group.code = size;
  group.isStreamed |= !fitsOnChip(op);
  SmallVector<Expr> extents = hlir::getExtents(value);
  extents.push_back(op.getReducedExtent());
  for (auto [operand, map] : {std::pair(op.getLhs(), op.getLhsMap()),
                              std::pair(op.getRhs(), op.getRhsMap())}) {
    double reads = 1;
    for (auto [i, extent] : llvm::enumerate(extents))
      if (map.usesDim(i))
        reads *= nominalValue(extent, symbols);
    // Each block of rows reads the columns again, and multiplies each element
    // with all of its rows.
    double shared = countSharedRows(op, rows), work = 0;
    if (operand == op.getRhs()) {
      reads *= std::max(1.0, std::ceil(shared / kMostRowsInUnit));
      work = countRowsAtOnce(op, rows);
    }
    addWholeRead(group, operand, reads, code.getLoopCopies(), work);
  }
  readByRows(group, op);
  return Decision::accept(&group);
}

/// The same for a reduction, of which the group reads one element per row.
Decision FusionPlan::joinStage(Group &group, RowReductionOpInterface op) {
  SmallVector<Expr> rows(group.spaces[kRowsSpace].extents);
  Value value = op->getResult(0);
  if (hlir::getExtents(value) != rows)
    return Decision::refuse("the reader reduces other rows", &group);
  if (group.isStreamed && !canStream(group, op))
    return Decision::refuse("the reader's anchors run in one loop over "
                            "another dim",
                            &group);
  for (Value result : op->getResults())
    if (auto it = group.accesses.find(result);
        it != group.accesses.end() && it->second.front().space != kRowsSpace)
      return Decision::refuse("the reader reads it in more than one way",
                              &group);
  if (Decision fits = fitsBudget(group, value); !fits)
    return fits;
  group.inlined.insert(op->result_begin(), op->result_end());
  group.addCode(value);
  unsigned loop = group.addLoop(cast<CodeOpInterface>(*op).getLoopCopies());
  unsigned space = getRowSpace(group, op.getReducedExtent());
  MapAttr identity = MapAttr::getIdentity(op->getContext(), rows.size() + 1);
  for (Value operand : op->getOperands())
    addAccess(group, operand, {space, identity, {loop}});
  return Decision::accept(&group);
}
