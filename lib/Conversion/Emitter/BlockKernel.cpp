//===- BlockKernel.cpp - Matrix products by blocks of threads -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both operands pass through shared memory, k side by side in each row of a
// tile. While a tile is multiplied, the elements of the next are on their way
// to registers.
//
//===----------------------------------------------------------------------===//

#include "BlockSide.h"
#include "luminal/Conversion/ScalarMath.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace luminal;
using namespace mlir;

namespace {
class BlockKernel {
public:
  BlockKernel(Emitter &e, const WorkLoop &loop)
      : e(e), loop(loop),
        p(e, *e.kernel.getBody().getOps<llir::ProductOpInterface>().begin()),
        form(e.loopCase.getForm(llir::getPosition(p.op))),
        depth(form.getNumber("depth", 16)) {}

  WorkShape emit();

private:
  using Role = ProductAnalysis::Role;

  Grid makeGrid(ArrayRef<Role> roles);
  void emitUnit(const Grid &grid, Value unit);
  bool isWhole(const Expr &extent, int64_t count) {
    return e.simplify(Expr::mod(extent, count)).isConstant(0);
  }
  void finish(Value row, Value column, Value sum);

  Emitter &e;
  const WorkLoop &loop;
  ProductAnalysis p;
  llir::LoopFormAttr form;
  int64_t depth;
  unsigned threads = 0;
  Value thread;
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
  threads = e.team.count;
  thread = e.team.member;
  // The code below says itself what each thread does.
  e.team = Emitter::Team();
  TileShape shape{grid.axes[rowAxis].block, grid.axes[columnAxis].block, depth};
  tile = form.getWord("use") == "mma"
             ? makeTensorTile(e, shape, getElementType(p.rows.operand), thread,
                              threads / 32, /*warpColumns=*/4)
             : makePlainTile(e, shape, p.accumulator, thread);
  auto makeSide = [&](const ProductSide &side, int64_t count) {
    BlockSide made(e, p, side, *tile,
                   BlockSide::getReading(form, /*ofRows=*/&side == &p.rows),
                   count, depth, thread, threads);
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
  return {grid.countUnits(), Expr(shape.rows * shape.columns) * p.kExtent, 0};
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

void BlockKernel::emitUnit(const Grid &grid, Value unit) {
  SmallVector<IndexRange> ranges = grid.setUnit(e, unit);
  Value row = ranges[rowAxis].lo, column = ranges[columnAxis].lo;
  SmallVector<Value> state = tile->begin();
  size_t sums = state.size();
  llvm::append_range(state, left->load(row, e.constant(0)));
  size_t lefts = state.size() - sums;
  llvm::append_range(state, right->load(column, e.constant(0)));
  Value n = e.value(p.kExtent), step = e.constant(depth);
  state = e.forLoop(
      e.constant(0), n, step, state, [&](Value k, ValueRange carried) {
        // All have read the tile before.
        NVVM::Barrier0Op::create(e.b);
        left->store(carried.slice(sums, lefts));
        right->store(carried.drop_front(sums + lefts));
        NVVM::Barrier0Op::create(e.b);
        Value after = e.add(k, step);
        SmallVector<Type> types(carried.drop_front(sums).getTypes());
        SmallVector<Value> old(carried.drop_front(sums));
        SmallVector<Value> next = e.ifElse(
            e.less(after, n), types,
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
  tile->forEach(ArrayRef(state).take_front(sums),
                [&](Value inRow, Value inColumn, Value sum) {
                  finish(e.add(row, inRow), e.add(column, inColumn), sum);
                });
}

WorkShape luminal::emitBlocks(Emitter &e, const WorkLoop &loop) {
  return BlockKernel(e, loop).emit();
}
