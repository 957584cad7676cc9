//===- BlockKernel.cpp - Matrix products by thread blocks -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A matrix product by a thread block. Both operands pass through shared memory.
// Without pipeline stages, the elements of the next step of k are loaded to
// registers while the current step is multiplied.
//
// With `stages`, shared memory holds that many steps of k. Operands that are
// copied asynchronously are several steps ahead, the others pass through
// registers one step ahead. Copies go to the stage that was read in the
// previous step, so one barrier per step suffices.
//
// With `parts` (split-k), a work item is a part of k for a tile. Each thread
// stores its accumulators to memory. The last block to arrive for a tile adds
// up those of all parts in order, each thread reading what the same thread of
// other blocks stored.
//
// With `groups` (columns depend on a key of the row, as in grouped products), a
// work item computes the groups that begin in its range of rows, one tile per
// group.
//
// The epilogue may look up one number per row, such as the weight of an expert.
// Threads load those numbers before the tile is multiplied and put them into
// shared memory beside the results.
//
//===----------------------------------------------------------------------===//

#include "BlockSide.h"
#include "PartsEmitter.h"
#include "RowGroups.h"
#include "luminal/Conversion/ScalarMath.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"
#include "luminal/Dialect/LLIR/Utils/SharedMemory.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/ScopeExit.h"

#include <utility>

using namespace luminal;
using namespace mlir;

static int64_t getResultBytes(const TileShape &shape, bool alongRows,
                              int64_t bytes) {
  int64_t lines = alongRows ? shape.columns : shape.rows;
  int64_t length = alongRows ? shape.rows : shape.columns;
  return lines * (length + llir::kResultPadding) * bytes;
}

namespace {
class BlockKernel {
public:
  BlockKernel(Emitter &e, const WorkLoop &loop)
      : e(e), loop(loop),
        p(e, *e.kernel.getBody().getOps<llir::ProductOpInterface>().begin()),
        form(e.loopCase.getForm(llir::getPosition(p.op))),
        depth(form.getNumber("depth", 16)), stages(form.getNumber("stages", 1)),
        parts(e.loopCase.getParts()),
        resultLanes(form.getNumber("resultlanes", 1)),
        resultsAlongRows(form.getWord("resultalong") == "rows") {}

  WorkShape emit();

private:
  using Role = ProductAnalysis::Role;

  /// An operand, and the base of its pipeline stages.
  struct Operand {
    BlockSide side;
    bool isCopied;
    Value memory;
  };

  Grid makeGrid(ArrayRef<Role> roles);
  std::unique_ptr<BlockTile> makeTile(TileShape shape) const;
  int64_t makeRoom();
  void emitUnit(const Grid &grid, Value unit);
  void write(Value row, Value column, ValueRange sums);
  SmallVector<Value> multiply(Value row, Value column, Value begin, Value end);
  SmallVector<Value> multiplyStaged(Value row, Value column, Value begin,
                                    Value end);
  Value getBuffer(const Operand &operand, Value slot);
  void startCopies(Value row, Value column, Value k, Value end, Value slot);
  void publish();
  Value getPlace(Value block, Value part, size_t sum) const;
  void emitPart(Value block, Value part, ValueRange sums);
  SmallVector<Value> mergeParts(Value block);
  bool isWhole(const Operand &operand, const Expr &extent);
  bool areAllWhole() {
    return !p.hasGroups() && isWhole(*left, p.rows.extent) &&
           isWhole(*right, p.columns.extent);
  }
  void writeResults(Value row, Value column, Value sum);
  void finish(Value row, Value column, Value sum);
  void finishStaged(Value row, Value column, ValueRange sums);

  /// A lookup in the epilogue that depends on the row only.
  struct OfRow {
    Value value;
    Index index;
    /// The dim of `index` that is the product's row.
    size_t at = 0;
    /// Byte offset in shared memory.
    int64_t place = 0;
    /// The elements that this thread has loaded.
    SmallVector<Value> own;
  };
  void findOfRows(int64_t ringBytes);
  std::optional<OfRow> findOfRow();
  /// The number of rows of a tile whose elements a thread loads.
  int64_t countOwnRows() const {
    return llvm::divideCeil(tile->getShape().rows, int64_t(team.count));
  }
  /// The row of the tile of the thread's element `number`.
  Value getOwnRow(int64_t number) const {
    Value at = e.add(team.member, e.constant(number * team.count));
    return e.remU(at, e.constant(tile->getShape().rows));
  }
  void readOfRows(Value row);
  void shareOfRows();

  SmallVector<OfRow, 1> ofRows;
  /// The dim whose value is the first row of the tile.
  unsigned tileDim = 0;
  Emitter &e;
  const WorkLoop &loop;
  ProductAnalysis p;
  llir::LoopFormAttr form;
  int64_t depth, stages, parts;
  /// Elements of a result per store of a thread, and whether they are
  /// consecutive rows.
  unsigned resultLanes;
  bool resultsAlongRows;
  /// Base of the pipeline stages.
  Value shared;
  /// All threads of the block.
  Emitter::Team team;
  std::unique_ptr<BlockTile> tile;
  std::optional<Operand> left, right;
  size_t rowAxis = 0, columnAxis = 0;
};
} // namespace

Grid BlockKernel::makeGrid(ArrayRef<Role> roles) {
  SmallVector<Axis> axes;
  size_t batch = 0;
  for (auto [axis, role] : llvm::zip_equal(e.loopCase.getGrid(), roles)) {
    int64_t block = axis.getBlock();
    if (role == Role::Batch) {
      axes.push_back({p.batchDims[batch], p.batchExtents[batch], block, 1});
      ++batch;
    } else if (role == Role::Rows) {
      rowAxis = axes.size();
      axes.push_back({p.rows.dim, p.rows.extent, block, 1});
    } else {
      columnAxis = axes.size();
      axes.push_back({p.columns.dim, p.columns.extent, block, 1});
    }
  }
  return Grid(std::move(axes));
}

WorkShape BlockKernel::emit() {
  SmallVector<Role> roles;
  bool fits = p.findResults() &&
              p.applyGrid(e.loopCase, form.getWord("columns"), roles);
  assert(fits && "a schedule that was not verified");
  (void)fits;
  p.joinDims();
  Grid grid = makeGrid(roles);
  // From here on the code chooses the threads itself; the emitter's loops are
  // not distributed.
  team = std::exchange(e.team, Emitter::Team());
  TileShape shape{form.getNumber("rows", grid.axes[rowAxis].block),
                  grid.axes[columnAxis].block, depth};
  tile = makeTile(shape);
  StringRef copied = form.getWord("copy");
  auto makeSide = [&](const ProductSide &side, int64_t count, StringRef name) {
    return Operand{
        BlockSide(e, p, side, *tile,
                  BlockSide::getReading(form, /*ofRows=*/&side == &p.rows),
                  count, depth, team.member, team.count),
        copied == name || copied == "both",
        {}};
  };
  left.emplace(makeSide(p.rows, shape.rows, "rows"));
  right.emplace(makeSide(p.columns, shape.columns, "columns"));
  int64_t bytes = makeRoom();
  if (int64_t blocks = form.getNumber("blocks", 0))
    e.setResidents(blocks);
  std::vector<Expr> extents(p.batchExtents.begin(), p.batchExtents.end());
  extents.insert(extents.end(), {p.rows.extent, p.columns.extent});
  Emitter::Repeated repeated(e, std::move(extents));
  e.forLoop(loop.begin, loop.end, loop.step,
            [&](Value unit) { emitUnit(grid, unit); });
  WorkShape result;
  result.work = grid.countUnits() * parts;
  result.cost =
      Expr::ceilDiv(Expr(shape.rows * shape.columns) * p.kExtent, parts);
  result.shared = bytes;
  return result;
}

std::unique_ptr<BlockTile> BlockKernel::makeTile(TileShape shape) const {
  StringRef use = form.getWord("use");
  unsigned warps = team.count / e.machine.warpThreads;
  Type element = getElementType(p.rows.operand);
  if (use == "wgmma")
    return makeWarpGroupTile(e, shape, element, team.member, warps);
  if (use == "mma")
    return makeTensorTile(e, shape, element, team.member, warps,
                          /*warpColumns=*/4);
  return makePlainTile(e, shape, p.accumulator, team.member);
}

/// Assigns shared memory to both operands. Returns the bytes of dynamic shared
/// memory, which pipeline stages use because they may exceed the static limit.
int64_t BlockKernel::makeRoom() {
  Type stored = tile->getStored();
  if (stages == 1) {
    for (auto *operand : {&left, &right})
      (*operand)->side.setMemory(
          e.makeShared(stored, (*operand)->side.countElements()));
    return 0;
  }
  shared = e.makeLaunchShared();
  int64_t bytes = 0;
  for (auto *operand : {&left, &right}) {
    (*operand)->memory = e.address(shared, e.constant(bytes), e.b.getI8Type());
    bytes += llvm::alignTo(stages * (*operand)->side.countElements() *
                               (stored.getIntOrFloatBitWidth() / 8),
                           llir::kLaunchSharedAlignment);
  }
  findOfRows(bytes);
  return std::max(bytes,
                  getResultBytes(tile->getShape(), resultsAlongRows, p.bytes));
}

//===----------------------------------------------------------------------===//
// Lookups per row
//===----------------------------------------------------------------------===//

/// Finds the first lookup in the epilogue whose index depends on the row but
/// not on the column.
std::optional<BlockKernel::OfRow> BlockKernel::findOfRow() {
  std::optional<OfRow> found;
  auto visit = [&](Value v, const Index &index) {
    auto at = llvm::find(index, Expr::dim(p.rows.dim));
    const bool isOfRow =
        v.getDefiningOp<llir::LookupOpInterface>() && at != index.end() &&
        llvm::none_of(index,
                      [&](const Expr &x) { return x.usesDim(p.columns.dim); });
    if (isOfRow && !found)
      found = OfRow{v, index, size_t(at - index.begin()), 0, {}};
  };
  // Stop at the product: lookups in its operands do not count.
  e.place(p.op->getResult(0), [](const Index &) { return Expr(0); });
  for (const MovedResult &result : p.results)
    e.walk(result.source, p.index, nullptr, visit);
  return found;
}

/// Finds the lookups that fit into the stages' memory behind the results.
void BlockKernel::findOfRows(int64_t ringBytes) {
  constexpr size_t kMost = 4;
  int64_t place = getResultBytes(tile->getShape(), resultsAlongRows, p.bytes);
  while (ofRows.size() < kMost) {
    std::optional<OfRow> next = findOfRow();
    if (!next)
      break;
    int64_t width =
        getStorageType(getElementType(next->value)).getIntOrFloatBitWidth() / 8;
    next->place = llvm::alignTo(place, 16);
    place = next->place + tile->getShape().rows * width;
    if (place > ringBytes)
      break;
    // Stop at this lookup, so that the next search does not find one inside its
    // index.
    e.place(next->value, [](const Index &) { return Expr(0); });
    ofRows.push_back(std::move(*next));
  }
  e.clearPlaces();
  if (!ofRows.empty())
    tileDim = e.addDim(p.rows.extent);
}

/// Rows past the end repeat the last row.
void BlockKernel::readOfRows(Value row) {
  Value last = e.sub(left->side.getEnd(), e.constant(1));
  for (OfRow &of : ofRows) {
    of.own.clear();
    for (int64_t i = 0, n = countOwnRows(); i < n; ++i) {
      Emitter::FreshScope scope(e);
      e.setDim(p.rows.dim, e.minS(e.add(row, getOwnRow(i)), last));
      of.own.push_back(e.emit(of.value, of.index));
    }
  }
}

/// Writes the elements that this thread loaded to shared memory.
void BlockKernel::shareOfRows() {
  for (const OfRow &of : ofRows) {
    Type element = getElementType(of.value), stored = getStorageType(element);
    Value memory = e.address(shared, e.constant(of.place), e.b.getI8Type());
    for (auto [i, v] : llvm::enumerate(of.own))
      LLVM::StoreOp::create(e.b, e.toStorage(v, element),
                            e.address(memory, getOwnRow(i), stored));
    e.setBase(of.value, memory);
  }
}

/// Whether the extent is a multiple of the tile's size.
bool BlockKernel::isWhole(const Operand &operand, const Expr &extent) {
  return e.simplify(Expr::mod(extent, operand.side.getCount())).isConstant(0);
}

/// Writes all results at one index of the product, or at `resultLanes`
/// consecutive ones. `sum` holds the product there.
void BlockKernel::writeResults(Value row, Value column, Value sum) {
  Emitter::MemoScope inner(e);
  e.setDim(p.rows.dim, row);
  e.setDim(p.columns.dim, column);
  if (resultLanes > 1)
    e.setLane(resultsAlongRows ? p.rows.dim : p.columns.dim, resultLanes);
  Value product = p.op->getResult(0);
  e.remember(product, p.index,
             emitCast(e.b, sum, p.accumulator, getElementType(product)));
  SmallVector<Value> values;
  for (const MovedResult &result : p.results)
    values.push_back(e.emit(result.source, p.index));
  SmallVector<Index> indices = p.getResultIndices(p.index);
  for (auto [i, v] : llvm::enumerate(values))
    e.store(i, indices[i], v);
  e.clearLane();
}

/// The same if the index is inside the product.
void BlockKernel::finish(Value row, Value column, Value sum) {
  if (areAllWhole())
    return writeResults(row, column, sum);
  Value inside = arith::AndIOp::create(e.b, e.less(row, left->side.getEnd()),
                                       e.less(column, right->side.getEnd()));
  e.ifThen(inside, [&] { writeResults(row, column, sum); });
}

/// Writes the results of a whole tile by way of shared memory, so that
/// neighbouring threads access neighbouring addresses, in stores and in loads
/// of the epilogue.
void BlockKernel::finishStaged(Value row, Value column, ValueRange sums) {
  const TileShape &shape = tile->getShape();
  int64_t length = resultsAlongRows ? shape.rows : shape.columns;
  int64_t stride = length + llir::kResultPadding;
  Type stored = getStorageType(p.accumulator);
  auto getAddress = [&](Value inRow, Value inColumn) {
    Value line = resultsAlongRows ? inColumn : inRow;
    Value inLine = resultsAlongRows ? inRow : inColumn;
    return e.address(shared, e.add(e.mul(line, e.constant(stride)), inLine),
                     stored);
  };
  // All threads are done with the operands, whose memory is reused.
  NVVM::Barrier0Op::create(e.b);
  tile->forEach(sums, [&](Value inRow, Value inColumn, Value sum) {
    LLVM::StoreOp::create(e.b, e.toStorage(sum, p.accumulator),
                          getAddress(inRow, inColumn));
  });
  shareOfRows();
  NVVM::Barrier0Op::create(e.b);
  if (!ofRows.empty())
    e.setDim(tileDim, row);
  for (const OfRow &of : ofRows)
    e.place(of.value, [at = of.at, first = Expr::dim(tileDim)](
                          const Index &index) { return index[at] - first; });
  auto forget = llvm::make_scope_exit([&] { e.clearPlaces(); });
  Value perLine = e.constant(length / resultLanes);
  Type read = stored;
  if (resultLanes > 1)
    read = VectorType::get({int64_t(resultLanes)}, stored);
  unsigned bytes =
      std::min<unsigned>(16, resultLanes * stored.getIntOrFloatBitWidth() / 8);
  auto takeOne = [&](Value number, bool isInside) {
    Value line = e.divU(number, perLine);
    Value inLine = e.mul(e.remU(number, perLine), e.constant(resultLanes));
    Value inRow = resultsAlongRows ? inLine : line;
    Value inColumn = resultsAlongRows ? line : inLine;
    Value sum =
        LLVM::LoadOp::create(e.b, read, getAddress(inRow, inColumn), bytes);
    sum = e.fromStorage(sum, p.accumulator);
    Value atRow = e.add(row, inRow), atColumn = e.add(column, inColumn);
    if (isInside)
      writeResults(atRow, atColumn, sum);
    else
      finish(atRow, atColumn, sum);
  };
  // Several iterations at once, so that their loads overlap.
  int64_t count = shape.rows * shape.columns / resultLanes;
  auto take = [&](int64_t atOnce, bool isInside) {
    while (atOnce > 1 && count % (atOnce * team.count))
      atOnce /= 2;
    e.forLoop(team.member, e.constant(count), e.constant(atOnce * team.count),
              [&](Value first) {
                for (int64_t i = 0; i < atOnce; ++i)
                  takeOne(e.add(first, e.constant(i * team.count)), isInside);
              });
  };
  constexpr int64_t kAtOnce = 4;
  if (areAllWhole())
    return take(kAtOnce, /*isInside=*/true);
  auto ends = [&](const Operand &operand, Value begin) {
    return e.less(operand.side.getEnd(),
                  e.add(begin, e.constant(operand.side.getCount())));
  };
  Value isOutside =
      arith::OrIOp::create(e.b, ends(*left, row), ends(*right, column));
  e.ifElse(
      isOutside, {},
      [&] {
        take(1, /*isInside=*/false);
        return SmallVector<Value>();
      },
      [&] {
        take(kAtOnce, /*isInside=*/true);
        return SmallVector<Value>();
      });
}

/// Accumulates steps [begin, end) of k; there must be at least one.
SmallVector<Value> BlockKernel::multiply(Value row, Value column, Value begin,
                                         Value end) {
  BlockSide &lefts = left->side, &rights = right->side;
  SmallVector<Value> state = tile->begin();
  size_t sums = state.size();
  llvm::append_range(state, lefts.load(row, begin));
  size_t ofLeft = state.size() - sums;
  llvm::append_range(state, rights.load(column, begin));
  Value step = e.constant(depth);
  state = e.forLoop(begin, end, step, state, [&](Value k, ValueRange carried) {
    // All threads are done with the previous tile.
    NVVM::Barrier0Op::create(e.b);
    lefts.store(carried.slice(sums, ofLeft));
    rights.store(carried.drop_front(sums + ofLeft));
    NVVM::Barrier0Op::create(e.b);
    Value after = e.add(k, step);
    SmallVector<Type> types(carried.drop_front(sums).getTypes());
    SmallVector<Value> old(carried.drop_front(sums));
    SmallVector<Value> next = e.ifElse(
        e.less(after, end), types,
        [&] {
          SmallVector<Value> loaded = lefts.load(row, after);
          llvm::append_range(loaded, rights.load(column, after));
          return loaded;
        },
        [&] { return old; });
    SmallVector<Value> result = tile->multiply(
        carried.take_front(sums), lefts.getOperand(), rights.getOperand());
    llvm::append_range(result, next);
    return result;
  });
  state.truncate(sums);
  return state;
}

//===----------------------------------------------------------------------===//
// Pipeline stages
//===----------------------------------------------------------------------===//

/// The address of stage `slot` of an operand.
Value BlockKernel::getBuffer(const Operand &operand, Value slot) {
  return e.address(operand.memory,
                   e.mul(slot, e.constant(operand.side.countElements())),
                   tile->getStored());
}

/// Starts the copies of the step at `k`, if there is one. A copy group is
/// committed in any case, so that groups can be counted.
void BlockKernel::startCopies(Value row, Value column, Value k, Value end,
                              Value slot) {
  e.ifThen(e.less(k, end), [&] {
    if (left->isCopied)
      left->side.copy(row, k, getBuffer(*left, slot));
    if (right->isCopied)
      right->side.copy(column, k, getBuffer(*right, slot));
  });
  NVVM::CpAsyncCommitGroupOp::create(e.b);
}

/// Makes writes to shared memory visible to the block, and to tensor cores that
/// read it asynchronously.
void BlockKernel::publish() {
  if (form.getWord("use") == "wgmma")
    emitSharedFence(e);
  NVVM::Barrier0Op::create(e.b);
}

/// `multiply` with pipeline stages.
SmallVector<Value> BlockKernel::multiplyStaged(Value row, Value column,
                                               Value begin, Value end) {
  Value step = e.constant(depth), count = e.constant(stages),
        ahead = e.constant(stages - 1);
  // All threads are done with the previous work item.
  NVVM::Barrier0Op::create(e.b);
  for (int64_t i = 0; i + 1 < stages; ++i)
    startCopies(row, column, e.add(begin, e.constant(i * depth)), end,
                e.constant(i));
  SmallVector<std::pair<Operand *, Value>> loaded;
  if (!left->isCopied)
    loaded.push_back({&*left, row});
  if (!right->isCopied)
    loaded.push_back({&*right, column});
  auto load = [&](Value k) {
    SmallVector<Value> all;
    for (auto [operand, lo] : loaded)
      llvm::append_range(all, operand->side.load(lo, k));
    return all;
  };
  SmallVector<Value> state = tile->begin();
  size_t sums = state.size();
  llvm::append_range(state, load(begin));
  state.push_back(e.constant(0));
  state = e.forLoop(begin, end, step, state, [&](Value k, ValueRange carried) {
    Value slot = carried.back();
    ValueRange vectors = carried.drop_front(sums).drop_back();
    // This thread's copies for this step have landed.
    NVVM::CpAsyncWaitGroupOp::create(e.b, stages - 2);
    ValueRange rest = vectors;
    for (auto [operand, lo] : loaded) {
      operand->side.setMemory(getBuffer(*operand, slot));
      size_t own = operand->side.countVectors();
      operand->side.store(rest.take_front(own));
      rest = rest.drop_front(own);
    }
    publish();
    // The stage of the previous step is free.
    Value free = e.remU(e.add(slot, ahead), count);
    Value after = e.add(k, step);
    SmallVector<Value> next(vectors);
    SmallVector<Value> result = tile->multiplyBeside(
        carried.take_front(sums), left->side.getOperand(getBuffer(*left, slot)),
        right->side.getOperand(getBuffer(*right, slot)), [&] {
          startCopies(row, column, e.add(k, e.constant((stages - 1) * depth)),
                      end, free);
          if (next.empty())
            return;
          SmallVector<Type> types(vectors.getTypes());
          next = e.ifElse(
              e.less(after, end), types, [&] { return load(after); },
              [&] { return SmallVector<Value>(vectors); });
        });
    llvm::append_range(result, next);
    result.push_back(e.remU(e.add(slot, e.constant(1)), count));
    return result;
  });
  return tile->settle(ValueRange(state).take_front(sums));
}

//===----------------------------------------------------------------------===//
// Work items
//===----------------------------------------------------------------------===//

void BlockKernel::write(Value row, Value column, ValueRange sums) {
  if (stages > 1)
    return finishStaged(row, column, sums);
  tile->forEach(sums, [&](Value inRow, Value inColumn, Value sum) {
    finish(e.add(row, inRow), e.add(column, inColumn), sum);
  });
}

void BlockKernel::emitUnit(const Grid &grid, Value unit) {
  Value count = e.constant(parts), block = unit, part, begin = e.constant(0),
        end = e.value(p.kExtent);
  if (parts > 1) {
    block = e.divU(unit, count), part = e.remU(unit, count);
    Value share =
        e.value(e.simplify(llir::getPartExtent(p.kExtent, parts, depth)));
    begin = e.mul(part, share);
    end = e.minS(end, e.add(begin, share));
  }
  SmallVector<IndexRange> ranges = grid.setUnit(e, block);
  Value column = ranges[columnAxis].lo;
  auto sumUp = [&](Value row) {
    return stages > 1 ? multiplyStaged(row, column, begin, end)
                      : multiply(row, column, begin, end);
  };
  if (p.hasGroups())
    return emitGroups(e, p, team, ranges[rowAxis], tile->getShape().rows,
                      [&](IndexRange rows) {
                        left->side.setEnd(rows.hi);
                        readOfRows(rows.lo);
                        write(rows.lo, column, sumUp(rows.lo));
                      });
  Value row = ranges[rowAxis].lo;
  if (parts == 1) {
    readOfRows(row);
    return write(row, column, sumUp(row));
  }
  SmallVector<Value> sums = sumUp(row);
  emitPart(block, part, sums);
  e.team = team;
  Value isLast = emitArrival(e, block, parts);
  e.team = Emitter::Team();
  e.ifThen(isLast, [&] {
    readOfRows(row);
    write(row, column, mergeParts(block));
  });
}

//===----------------------------------------------------------------------===//
// Split-k
//===----------------------------------------------------------------------===//

/// The address of this thread's accumulator `sum` of a part; consecutive
/// threads are adjacent.
Value BlockKernel::getPlace(Value block, Value part, size_t sum) const {
  Value number = e.add(e.mul(block, e.constant(parts)), part);
  Value first =
      e.add(e.mul(number, e.constant(int64_t(tile->countSums()) * team.count)),
            e.constant(int64_t(sum) * team.count));
  return e.address(e.states, e.add(first, team.member),
                   getStorageType(p.accumulator));
}

void BlockKernel::emitPart(Value block, Value part, ValueRange sums) {
  for (auto [i, sum] : llvm::enumerate(sums))
    LLVM::StoreOp::create(e.b, e.toStorage(sum, p.accumulator),
                          getPlace(block, part, i));
  // All threads have stored their accumulators before one thread counts the
  // block.
  NVVM::Barrier0Op::create(e.b);
}

SmallVector<Value> BlockKernel::mergeParts(Value block) {
  // Loads in flight per thread.
  constexpr size_t kReads = 32;
  SmallVector<Value> sums = tile->begin();
  int64_t atOnce = parts;
  while (atOnce > 1 && (parts % atOnce || atOnce * sums.size() > kReads))
    --atOnce;
  return e.forLoop(
      e.constant(0), e.constant(parts), e.constant(atOnce), sums,
      [&](Value first, ValueRange carried) {
        SmallVector<Value> read, next(carried);
        for (int64_t part = 0; part < atOnce; ++part)
          for (size_t i = 0; i < next.size(); ++i)
            read.push_back(e.fromStorage(
                LLVM::LoadOp::create(
                    e.b, getStorageType(p.accumulator),
                    getPlace(block, e.add(first, e.constant(part)), i)),
                p.accumulator));
        for (auto [i, v] : llvm::enumerate(read)) {
          Value &sum = next[i % next.size()];
          sum = emitFn(e.b, llir::Fn::Add, {sum, v}, p.accumulator);
        }
        return next;
      });
}

WorkShape luminal::emitBlocks(Emitter &e, const WorkLoop &loop) {
  return BlockKernel(e, loop).emit();
}
