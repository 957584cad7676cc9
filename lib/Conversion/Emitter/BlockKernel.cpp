//===- BlockKernel.cpp - Matrix products by blocks of threads -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both operands pass through shared memory, k side by side in each row of a
// tile. While a tile is multiplied, the elements of the next are on their way
// to registers.
//
//===----------------------------------------------------------------------===//

#include "BlockTile.h"
#include "luminal/Conversion/ScalarMath.h"
#include "luminal/Dialect/LLIR/Analysis/ProductAnalysis.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace luminal;
using namespace mlir;

namespace {
/// One operand's part of the tile.
struct Side {
  const ProductSide *side;
  int64_t count;
  unsigned lanes;
  bool isAlongK;
  /// The first index of the unit.
  Value lo;
  Value memory;
};

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
  /// The vectors of a side that this thread brings, of k from `begin` on.
  SmallVector<Value> loadSide(const Side &side, Value begin);
  void storeSide(const Side &side, ValueRange vectors);
  /// Index of the side and of k, within the tile, of a thread's vector.
  std::pair<Value, Value> getPlace(const Side &side, unsigned number);
  unsigned countVectors(const Side &side) const {
    return llvm::divideCeil(side.count * depth, int64_t(threads) * side.lanes);
  }
  Type getVectorType(const Side &side) const {
    if (side.lanes == 1)
      return tile->getStored();
    return VectorType::get({int64_t(side.lanes)}, tile->getStored());
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
  Side left, right;
  size_t rowAxis = 0, columnAxis = 0;
};
} // namespace

Grid BlockKernel::makeGrid(ArrayRef<Role> roles) {
  SmallVector<Axis> axes;
  size_t batch = 0;
  auto words = [&](StringRef lanes, StringRef along, const ProductSide &side,
                   int64_t block) {
    return Side{&side,
                block,
                unsigned(form.getNumber(lanes, 1)),
                form.getWord(along) != "own",
                {},
                {}};
  };
  for (auto [axis, role] : llvm::zip_equal(e.loopCase.getGrid(), roles)) {
    int64_t block = axis.getBlock();
    if (role == Role::Batch) {
      axes.push_back({p.batchDims[batch], p.batchExtents[batch], block, 1});
      ++batch;
    } else if (role == Role::Rows) {
      rowAxis = axes.size();
      axes.push_back({p.rows.dim, p.rows.extent, block, 1});
      left = words("rowlanes", "rowalong", p.rows, block);
    } else {
      columnAxis = axes.size();
      axes.push_back({p.columns.dim, p.columns.extent, block, 1});
      right = words("columnlanes", "columnalong", p.columns, block);
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
  TileShape shape{left.count, right.count, depth};
  tile = form.getWord("use") == "mma"
             ? makeTensorTile(e, shape, getElementType(p.rows.operand), thread)
             : makePlainTile(e, shape, p.accumulator, thread);
  left.memory = e.makeShared(tile->getStored(), left.count * tile->getStride());
  right.memory =
      e.makeShared(tile->getStored(), right.count * tile->getStride());
  std::vector<Expr> extents(p.batchExtents.begin(), p.batchExtents.end());
  extents.insert(extents.end(), {p.rows.extent, p.columns.extent});
  Emitter::Repeated repeated(e, std::move(extents));
  e.forLoop(loop.begin, loop.end, loop.step,
            [&](Value unit) { emitUnit(grid, unit); });
  return {grid.countUnits(), Expr(left.count * right.count) * p.kExtent, 0};
}

std::pair<Value, Value> BlockKernel::getPlace(const Side &side,
                                              unsigned number) {
  Value index = e.add(thread, e.constant(int64_t(number) * threads));
  int64_t inner = (side.isAlongK ? depth : side.count) / side.lanes;
  Value fast = e.mul(e.remU(index, e.constant(inner)), e.constant(side.lanes));
  Value slow = e.divU(index, e.constant(inner));
  return side.isAlongK ? std::pair(slow, fast) : std::pair(fast, slow);
}

SmallVector<Value> BlockKernel::loadSide(const Side &side, Value begin) {
  const ProductSide &s = *side.side;
  SmallVector<Value> result;
  Emitter::Repeated repeated(e, {p.kExtent});
  bool isFull = isWhole(s.extent, side.count) && isWhole(p.kExtent, depth);
  // Fewer elements than threads: some threads bring nothing.
  bool isSpread = side.count * depth % (int64_t(threads) * side.lanes) == 0;
  Value zero =
      arith::ConstantOp::create(e.b, e.b.getZeroAttr(getVectorType(side)));
  for (unsigned i = 0, n = countVectors(side); i < n; ++i) {
    auto [own, k] = getPlace(side, i);
    Value at = e.add(side.lo, own), atK = e.add(begin, k);
    auto load = [&] {
      Emitter::MemoScope inner(e);
      e.setDim(s.dim, at);
      e.setDim(p.kDim, atK);
      if (side.lanes > 1)
        e.setLane(side.isAlongK ? p.kDim : s.dim, side.lanes);
      Value v = e.spread(e.emit(s.operand, p.getOperandIndex(s)));
      Type element = getElementType(s.operand);
      if (tile->getElement() != element) {
        v = emitCast(e.b, v, element, tile->getElement());
        element = tile->getElement();
      }
      v = e.toStorage(v, element);
      e.clearLane();
      return SmallVector<Value>{v};
    };
    if (isFull && isSpread) {
      result.push_back(load()[0]);
      continue;
    }
    Value inside = e.less(at, e.value(s.extent));
    inside =
        arith::AndIOp::create(e.b, inside, e.less(atK, e.value(p.kExtent)));
    if (!isSpread)
      inside = arith::AndIOp::create(
          e.b, inside,
          arith::AndIOp::create(e.b, e.less(own, e.constant(side.count)),
                                e.less(k, e.constant(depth))));
    result.push_back(e.ifElse(inside, {getVectorType(side)}, load,
                              [&] { return SmallVector<Value>{zero}; })[0]);
  }
  return result;
}

void BlockKernel::storeSide(const Side &side, ValueRange vectors) {
  Type stored = tile->getStored();
  unsigned bytes = stored.getIntOrFloatBitWidth() / 8;
  Value stride = e.constant(tile->getStride());
  for (auto [i, v] : llvm::enumerate(vectors)) {
    auto [own, k] = getPlace(side, i);
    auto store = [&, own = own, k = k, v = v] {
      auto at = [&](int64_t step) {
        Value row = e.add(own, e.constant(step));
        return e.address(side.memory, e.add(e.mul(row, stride), k), stored);
      };
      if (side.lanes == 1 || side.isAlongK) {
        LLVM::StoreOp::create(e.b, v, at(0), std::min(16u, bytes * side.lanes));
        return;
      }
      for (unsigned l = 0; l < side.lanes; ++l)
        LLVM::StoreOp::create(
            e.b, vector::ExtractOp::create(e.b, v, int64_t(l)), at(l), bytes);
    };
    if (side.count * depth % (int64_t(threads) * side.lanes) == 0)
      store();
    else
      e.ifThen(arith::AndIOp::create(e.b, e.less(own, e.constant(side.count)),
                                     e.less(k, e.constant(depth))),
               store);
  }
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
  if (isWhole(p.rows.extent, left.count) &&
      isWhole(p.columns.extent, right.count))
    return write();
  Value inside =
      arith::AndIOp::create(e.b, e.less(row, e.value(p.rows.extent)),
                            e.less(column, e.value(p.columns.extent)));
  e.ifThen(inside, write);
}

void BlockKernel::emitUnit(const Grid &grid, Value unit) {
  SmallVector<IndexRange> ranges = grid.setUnit(e, unit);
  left.lo = ranges[rowAxis].lo;
  right.lo = ranges[columnAxis].lo;
  SmallVector<Value> state = tile->begin();
  size_t sums = state.size();
  llvm::append_range(state, loadSide(left, e.constant(0)));
  size_t lefts = state.size() - sums;
  llvm::append_range(state, loadSide(right, e.constant(0)));
  Value n = e.value(p.kExtent), step = e.constant(depth);
  state = e.forLoop(
      e.constant(0), n, step, state, [&](Value k, ValueRange carried) {
        // All have read the tile before.
        NVVM::Barrier0Op::create(e.b);
        storeSide(left, carried.slice(sums, lefts));
        storeSide(right, carried.drop_front(sums + lefts));
        NVVM::Barrier0Op::create(e.b);
        Value after = e.add(k, step);
        SmallVector<Type> types(carried.drop_front(sums).getTypes());
        SmallVector<Value> old(carried.drop_front(sums));
        SmallVector<Value> next = e.ifElse(
            e.less(after, n), types,
            [&] {
              SmallVector<Value> loaded = loadSide(left, after);
              llvm::append_range(loaded, loadSide(right, after));
              return loaded;
            },
            [&] { return old; });
        SmallVector<Value> result =
            tile->multiply(carried.take_front(sums), left.memory, right.memory);
        llvm::append_range(result, next);
        return result;
      });
  tile->forEach(ArrayRef(state).take_front(sums),
                [&](Value row, Value column, Value sum) {
                  finish(e.add(left.lo, row), e.add(right.lo, column), sum);
                });
}

WorkShape luminal::emitBlocks(Emitter &e, const WorkLoop &loop) {
  return BlockKernel(e, loop).emit();
}
