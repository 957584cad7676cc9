//===- Together.cpp - Joint products of few rows --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Several rows are multiplied with operands that are loaded once, and a row is
// loaded once for several columns.
//
//===----------------------------------------------------------------------===//

#include "Together.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// The most rows that are taken together; and the rows up to which loading
/// takes longer than multiplying, so that fewer columns keep more loads in
/// flight. Measured on an H200 (bf16; 4 rows by 4096 x 4096, 4096 x 14336 and
/// 28672 x 4096 take 12.4, 32.9 and 62.0 us, and 14.3, 41.8 and 65.5 with four
/// columns; 8 rows by the last 103 and 89).
static constexpr int64_t kMostRowsTogether = 8, kReadingRows = 4;
static constexpr int64_t kColumnsOfReading = 2, kColumnsTogether = 4;
/// The columns of all products for which a block loads a single row once; and
/// the same if the block shares the row (28672 x 4096 takes 54.7 us, 58.8
/// column by column, 4096 x 14336 28.6 and 29.6).
static constexpr int64_t kColumnsOfRow = 4, kColumnsOfShared = 2;
/// Vectors in flight of a thread.
static constexpr int64_t kVectorsTogether = 16, kVectorsOfRow = 10;
/// Warps, or blocks, that keep an SM loading; and the vectors of k from which a
/// block instead of a warp takes some columns.
static constexpr int64_t kUnitsTogether = 4, kVectorsOfBlock = 1024;
/// The vectors of k that are enough for a block with a single row.
static constexpr int64_t kVectorsOfWholeRow = 512;
/// Registers of a thread besides vectors and accumulators.
static constexpr int64_t kOtherRegisters = 24;

/// Returns the bytes that elements along an axis share: those of the operands
/// of all products that do not depend on the axis.
static double countSharedAlong(KernelAnalysis &a, const KernelSizes &sizes,
                               ArrayRef<ReductionOpInterface> products,
                               const Index &index, unsigned dim) {
  double bytes = 0;
  for (ReductionOpInterface op : products) {
    auto product = cast<ProductOpInterface>(op.getOperation());
    Index inner = index;
    inner.push_back(Expr::dim(a.addDim(op.getReducedExtent())));
    for (auto [v, map] : {std::pair(product.getLhs(), product.getLhsMap()),
                          std::pair(product.getRhs(), product.getRhsMap())})
      if (!a.variesOver(v, a.mapIndex(map, inner), dim))
        bytes += sizes.countBytes(v);
  }
  return bytes;
}

/// Returns whether the data that elements along `rows` share differs along
/// `columns`: a column that each row is multiplied with. Otherwise both dims
/// are columns, of one row or of one row each.
static bool shareColumns(KernelAnalysis &a,
                         ArrayRef<ReductionOpInterface> products,
                         const Index &index, unsigned rows, unsigned columns) {
  for (ReductionOpInterface op : products) {
    auto product = cast<ProductOpInterface>(op.getOperation());
    Index inner = index;
    inner.push_back(Expr::dim(a.addDim(op.getReducedExtent())));
    for (auto [v, map] : {std::pair(product.getLhs(), product.getLhsMap()),
                          std::pair(product.getRhs(), product.getRhsMap())}) {
      Index at = a.mapIndex(map, inner);
      if (!a.variesOver(v, at, rows) && a.variesOver(v, at, columns))
        return true;
    }
  }
  return false;
}

/// Returns how many steps of a thread group over `vectors` vectors are loaded
/// together, up to `most`: the number with the fewest waits. The remaining
/// steps are taken one by one.
static int64_t chooseSteps(std::optional<int64_t> vectors, unsigned team,
                           int64_t most) {
  if (!vectors)
    return std::min<int64_t>(most, 2);
  int64_t steps = llvm::divideCeil(*vectors, team), best = 1, least = steps;
  for (int64_t n = 2; n <= most; ++n) {
    int64_t whole = *vectors / (team * n);
    if (int64_t waits = steps - whole * (n - 1); waits < least)
      best = n, least = waits;
  }
  return best;
}

/// Returns whether an element of the op is read through a lookup, so that it is
/// not known which results need it.
static bool isLookedUp(KernelOp kernel, Operation *op) {
  return llvm::any_of(kernel.getOps(), [&](Operation &reader) {
    auto lookup = dyn_cast<LookupOpInterface>(reader);
    if (!lookup)
      return false;
    llvm::SetVector<Operation *> before;
    findBefore(lookup.getData(), before);
    return before.contains(op);
  });
}

std::optional<TogetherShape>
llir::chooseTogether(KernelAnalysis &a, const Domain &domain,
                     ArrayRef<ReductionOpInterface> products,
                     ArrayRef<AlongReduced> along, bool isShared,
                     const MachineModel &machine) {
  if (products.empty() || domain.dims.empty() ||
      !llvm::all_of(products, [&](ReductionOpInterface op) {
        return isa<ProductOpInterface>(op.getOperation()) &&
               !isLookedUp(a.kernel, op);
      }))
    return std::nullopt;
  // The rows axis shares the most data; columns share the rows.
  TogetherShape shape;
  KernelSizes sizes(a);
  std::optional<size_t> columns;
  double most = 0;
  for (auto [i, dim] : llvm::enumerate(domain.dims)) {
    double shared = countSharedAlong(a, sizes, products, domain.index, dim);
    if (shared == 0)
      continue;
    if (!shape.rowsAxis || shared > most) {
      columns = std::exchange(shape.rowsAxis, i);
      most = shared;
    } else {
      columns = i;
    }
  }
  if (columns &&
      !shareColumns(a, products, domain.index, domain.dims[*shape.rowsAxis],
                    domain.dims[*columns]))
    shape.rowsAxis = std::nullopt;
  if (!columns)
    columns = std::exchange(shape.rowsAxis, std::nullopt);
  if (!columns)
    return std::nullopt;
  shape.columnsAxis = *columns;
  if (shape.rowsAxis) {
    Assumptions symbols(a.getRanges());
    std::optional<int64_t> upper =
        symbols.upperBound(domain.extents[*shape.rowsAxis]);
    if (!upper || *upper < 2 || *upper > kMostRowsTogether)
      return std::nullopt;
    shape.rows = *upper;
  }
  auto count = int64_t(products.size());
  double columnsEach = 1;
  for (auto [i, extent] : llvm::enumerate(domain.extents))
    if (i != shape.rowsAxis)
      columnsEach *= sizes.valueOf(extent);
  columnsEach /= machine.workers;
  auto haveVectors = [&](int64_t vectors) {
    for (auto [op, read] : llvm::zip_equal(products, along))
      if (sizes.valueOf(ReductionOpInterface(op).getReducedExtent()) <
          double(read.lanes) * double(vectors))
        return false;
    return true;
  };
  int64_t mostColumns = !shape.rowsAxis
                            ? (isShared ? kColumnsOfShared : kColumnsOfRow)
                        : shape.rows <= kReadingRows ? kColumnsOfReading
                                                     : kColumnsTogether;
  shape.columns = std::max<int64_t>(1, mostColumns / count);
  shape.threads = shape.rowsAxis || isShared ? kTogetherThreads : kRowThreads;
  // If columns are few, a block takes some of them, then fewer columns each.
  bool isOfBlock =
      shape.rowsAxis
          ? haveVectors(kVectorsOfBlock) ||
                (columnsEach < double(shape.columns * kUnitsTogether) &&
                 haveVectors(shape.threads))
          : haveVectors(kVectorsOfWholeRow);
  shape.team = isOfBlock ? shape.threads : machine.warpThreads;
  double least = shape.rowsAxis && isOfBlock ? 1 : kUnitsTogether;
  while (shape.columns > 1 && columnsEach < double(shape.columns) * least)
    shape.columns /= 2;
  if (columnsEach < least)
    return std::nullopt;
  // A single row has other forms for warps, or for one column at a time.
  if (!shape.rowsAxis && (!isOfBlock || count * shape.columns == 1))
    return std::nullopt;
  int64_t loads = shape.rows + count * shape.columns;
  for (auto [op, read] : llvm::zip_equal(products, along)) {
    std::optional<int64_t> k =
        ReductionOpInterface(op).getReducedExtent().asConstant();
    shape.unrolls.push_back(chooseSteps(
        k ? llvm::divideCeil(*k, read.lanes) : k, shape.team,
        std::max<int64_t>(
            1, (shape.rowsAxis ? kVectorsTogether : kVectorsOfRow) / loads)));
  }
  shape.registers = 4 * loads * *llvm::max_element(shape.unrolls) +
                    count * shape.rows * shape.columns + kOtherRegisters;
  return shape;
}

LogicalResult
llir::verifyTogether(KernelOp kernel, LoopCaseAttr loopCase,
                     function_ref<InFlightDiagnostic()> emitError) {
  int64_t elements = 1;
  for (LoopAxisAttr axis : loopCase.getGrid()) {
    int64_t block = axis.getBlock();
    if (axis.getLanes() > 1 || block < 1 || block > kMostTogether / elements)
      return emitError() << "takes elements of a work item together, at most "
                         << kMostTogether << ", in blocks without lanes";
    elements *= block;
  }
  // Shared values are computed before.
  llvm::SetVector<Operation *> shared;
  for (Operation *op : getSharedOps(kernel, loopCase))
    findBefore(op->getResult(0), shared);
  for (auto [position, op] : llvm::enumerate(kernel.getOps())) {
    if (!hasLoops(&op) || shared.contains(&op))
      continue;
    if (loopCase.getForm(position).getForm().getValue() != kTogether)
      return emitError() << "gives op" << position << ", " << describe(&op)
                         << ", a loop of its own beside others that run "
                            "together";
    if (isLookedUp(kernel, &op))
      return emitError() << "takes elements of op" << position << ", "
                         << describe(&op)
                         << ", together, of which some are looked up";
    llvm::SetVector<Operation *> before;
    before.insert(&op);
    for (size_t i = 0; i < before.size(); ++i)
      for (Value operand : before[i]->getOperands())
        if (Operation *def = operand.getDefiningOp();
            def && !shared.contains(def)) {
          if (hasLoops(def))
            return emitError() << "takes elements of op" << position << ", "
                               << describe(&op) << ", together, which needs op"
                               << getPosition(def) << ", " << describe(def);
          before.insert(def);
        }
  }
  return success();
}
