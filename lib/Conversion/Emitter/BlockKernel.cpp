//===- BlockKernel.cpp - Matrix products by blocks of threads -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both operands pass through shared memory, k side by side in each row of a
// tile. While a tile is multiplied, the elements of the next are on their way
// to registers.
//
// Where the schedule has parts, a unit is a part of k for a tile. Each thread
// leaves its sums in memory, where the same thread of the block that is last at
// the tile finds them: that block adds those of all parts, in their order.
//
//===----------------------------------------------------------------------===//

#include "BlockSide.h"
#include "PartsEmitter.h"
#include "luminal/Conversion/ScalarMath.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <utility>

using namespace luminal;
using namespace mlir;

namespace {
class BlockKernel {
public:
  BlockKernel(Emitter &e, const WorkLoop &loop)
      : e(e), loop(loop),
        p(e, *e.kernel.getBody().getOps<llir::ProductOpInterface>().begin()),
        form(e.loopCase.getForm(llir::getPosition(p.op))),
        depth(form.getNumber("depth", 16)), parts(e.loopCase.getParts()) {}

  WorkShape emit();

private:
  using Role = ProductAnalysis::Role;

  Grid makeGrid(ArrayRef<Role> roles);
  void emitUnit(const Grid &grid, Value unit);
  SmallVector<Value> multiply(Value row, Value column, Value begin, Value end);
  Value getPlace(Value block, Value part, size_t sum) const;
  void emitPart(Value block, Value part, ValueRange sums);
  SmallVector<Value> mergeParts(Value block);
  bool isWhole(const Expr &extent, int64_t count) {
    return e.simplify(Expr::mod(extent, count)).isConstant(0);
  }
  void finish(Value row, Value column, Value sum);

  Emitter &e;
  const WorkLoop &loop;
  ProductAnalysis p;
  llir::LoopFormAttr form;
  int64_t depth, parts;
  /// All threads of a block.
  Emitter::Team team;
  std::unique_ptr<BlockTile> tile;
  std::optional<BlockSide> left, right;
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
  bool fits = p.findResults() && p.applyGrid(e.loopCase, "", roles);
  assert(fits && "a schedule that was not verified");
  (void)fits;
  p.joinDims();
  Grid grid = makeGrid(roles);
  // The code below says itself what each thread does.
  team = std::exchange(e.team, Emitter::Team());
  TileShape shape{grid.axes[rowAxis].block, grid.axes[columnAxis].block, depth};
  tile = form.getWord("use") == "mma"
             ? makeTensorTile(e, shape, getElementType(p.rows.operand),
                              team.member, team.count / 32, /*warpColumns=*/4)
             : makePlainTile(e, shape, p.accumulator, team.member);
  auto makeSide = [&](const ProductSide &side, int64_t count) {
    BlockSide made(e, p, side, *tile,
                   BlockSide::getReading(form, /*ofRows=*/&side == &p.rows),
                   count, depth, team.member, team.count);
    made.setMemory(e.makeShared(tile->getStored(), made.countElements()));
    return made;
  };
  left.emplace(makeSide(p.rows, shape.rows));
  right.emplace(makeSide(p.columns, shape.columns));
  std::vector<Expr> extents(p.batchExtents.begin(), p.batchExtents.end());
  extents.insert(extents.end(), {p.rows.extent, p.columns.extent});
  Emitter::Repeated repeated(e, std::move(extents));
  e.forLoop(loop.begin, loop.end, loop.step,
            [&](Value unit) { emitUnit(grid, unit); });
  return {grid.countUnits() * parts,
          Expr::ceilDiv(Expr(shape.rows * shape.columns) * p.kExtent, parts),
          0};
}

/// Writes all results at the product's index, whose element is `sum`.
void BlockKernel::finish(Value row, Value column, Value sum) {
  auto write = [&] {
    Emitter::MemoScope inner(e);
    e.setDim(p.rows.dim, row);
    e.setDim(p.columns.dim, column);
    Value product = p.op->getResult(0);
    e.remember(product, p.index,
               emitCast(e.b, sum, p.accumulator, getElementType(product)));
    SmallVector<Value> values;
    for (const MovedResult &result : p.results)
      values.push_back(e.emit(result.source, p.index));
    SmallVector<Index> indices = p.getResultIndices(p.index);
    for (auto [i, v] : llvm::enumerate(values))
      e.store(i, indices[i], v);
  };
  if (isWhole(p.rows.extent, left->getCount()) &&
      isWhole(p.columns.extent, right->getCount()))
    return write();
  Value inside =
      arith::AndIOp::create(e.b, e.less(row, e.value(p.rows.extent)),
                            e.less(column, e.value(p.columns.extent)));
  e.ifThen(inside, write);
}

/// The sums of steps [begin, end) of k, of which there is one at least.
SmallVector<Value> BlockKernel::multiply(Value row, Value column, Value begin,
                                         Value end) {
  SmallVector<Value> state = tile->begin();
  size_t sums = state.size();
  llvm::append_range(state, left->load(row, begin));
  size_t lefts = state.size() - sums;
  llvm::append_range(state, right->load(column, begin));
  Value step = e.constant(depth);
  state = e.forLoop(begin, end, step, state, [&](Value k, ValueRange carried) {
    // All have read the tile before.
    NVVM::Barrier0Op::create(e.b);
    left->store(carried.slice(sums, lefts));
    right->store(carried.drop_front(sums + lefts));
    NVVM::Barrier0Op::create(e.b);
    Value after = e.add(k, step);
    SmallVector<Type> types(carried.drop_front(sums).getTypes());
    SmallVector<Value> old(carried.drop_front(sums));
    SmallVector<Value> next = e.ifElse(
        e.less(after, end), types,
        [&] {
          SmallVector<Value> loaded = left->load(row, after);
          llvm::append_range(loaded, right->load(column, after));
          return loaded;
        },
        [&] { return old; });
    SmallVector<Value> result = tile->multiply(
        carried.take_front(sums), left->getOperand(), right->getOperand());
    llvm::append_range(result, next);
    return result;
  });
  state.truncate(sums);
  return state;
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
  Value row = ranges[rowAxis].lo, column = ranges[columnAxis].lo;
  SmallVector<Value> sums = multiply(row, column, begin, end);
  auto write = [&](ValueRange sums) {
    tile->forEach(sums, [&](Value inRow, Value inColumn, Value sum) {
      finish(e.add(row, inRow), e.add(column, inColumn), sum);
    });
  };
  if (parts == 1)
    return write(sums);
  emitPart(block, part, sums);
  e.team = team;
  Value isLast = emitArrival(e, block, parts);
  e.team = Emitter::Team();
  e.ifThen(isLast, [&] { write(mergeParts(block)); });
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

/// Where this thread has a sum of a part; threads side by side.
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
  // All threads have, before one counts the block.
  NVVM::Barrier0Op::create(e.b);
}

SmallVector<Value> BlockKernel::mergeParts(Value block) {
  // Reads that are on their way at once, a thread.
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
