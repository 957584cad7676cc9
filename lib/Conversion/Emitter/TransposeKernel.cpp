//===- TransposeKernel.cpp - Transposes through shared memory -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transposes. A work item is a tile of the results. The views named by the
// schedule are read along their contiguous axis into shared memory; then the
// elements are computed along the results' contiguous axis and read from there.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "luminal/Dialect/LLIR/Analysis/TransposedReads.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace luminal;
using namespace mlir;

namespace {
class TransposeKernel {
public:
  TransposeKernel(Emitter &e, const WorkLoop &loop)
      : e(e), loop(loop), groups(llir::getGroups(e.loopCase.getGrid())),
        domain(makeDomain(e, getResultExtents(e.kernel, 0), groups)),
        grid(domain, groups, e.loopCase),
        rows(findTransposedReads(e, domain).axis),
        columns(domain.dims.size() - 1), tile(grid.axes[columns].block) {
    // The first indices of the tile.
    firstRow = e.addDim(domain.extents[rows]);
    firstColumn = e.addDim(domain.extents[columns]);
  }

  WorkShape emit() {
    Emitter::Repeated repeated(e,
                               {domain.extents.begin(), domain.extents.end()});
    SmallVector<std::pair<Value, Value>> staged;
    for (llir::LoopFormAttr form : e.loopCase.getForms()) {
      Value v = getValue(form);
      Type storage = getStorageType(getElementType(v));
      staged.push_back(
          {v, e.makeShared(storage, tile * llir::getTilePitch(getElementType(v),
                                                              tile))});
    }
    e.forLoop(loop.begin, loop.end, loop.step, [&](Value unit) {
      SmallVector<IndexRange> ranges = grid.setUnit(e, unit);
      e.setDim(firstRow, ranges[rows].lo);
      e.setDim(firstColumn, ranges[columns].lo);
      // All threads are done with the previous tile.
      NVVM::Barrier0Op::create(e.b);
      for (auto [form, value] :
           llvm::zip_equal(e.loopCase.getForms(), staged)) {
        auto [v, memory] = value;
        e.setBase(v, memory);
        forEach(rows, columns, form.getNumber("lanes", 1), ranges,
                [&] { e.keep(v, getPlace(v), e.emit(v, domain.index)); });
      }
      NVVM::Barrier0Op::create(e.b);
      for (auto [v, memory] : staged)
        e.place(v, [&, v = v](const Index &) { return getPlace(v); });
      forEach(columns, rows, grid.axes[columns].lanes, ranges, [&] {
        SmallVector<Value> values;
        for (Value v : getYielded(e.kernel))
          values.push_back(e.emit(v, domain.index));
        for (auto [i, v] : llvm::enumerate(values))
          e.store(i, domain.index, v);
      });
      e.clearPlaces();
    });
    return {grid.countUnits(),
            grid.getUnitLength() * llir::getElementCost(e.kernel), 0};
  }

private:
  Value getValue(llir::LoopFormAttr form) {
    return std::next(e.kernel.getBody().front().begin(), form.getOp())
        ->getResult(0);
  }

  /// The position of the element at the current index in the tile, whose rows
  /// are contiguous.
  Expr getPlace(Value v) const {
    auto inTile = [&](size_t axis, unsigned first) {
      return Expr::dim(domain.dims[axis]) - Expr::dim(first);
    };
    return inTile(columns, firstColumn) *
               Expr(llir::getTilePitch(getElementType(v), tile)) +
           inTile(rows, firstRow);
  }

  /// Runs `body` for all indices of the tile, `lanes` at a time along `fast`,
  /// distributed over the threads.
  void forEach(size_t fast, size_t slow, unsigned lanes,
               ArrayRef<IndexRange> ranges, function_ref<void()> body) {
    constexpr unsigned kUnroll = 4;
    int64_t vectors = tile / lanes;
    unsigned k = e.addDim(vectors * tile);
    Emitter::Span span = e.getWhole(vectors * tile);
    int64_t rounds = llvm::divideCeil(vectors * tile, e.team.count);
    auto isWhole = [&](size_t axis) {
      return e.simplify(Expr::mod(domain.extents[axis], tile)).isConstant(0);
    };
    e.teamLoop(
        k, span, 1, std::min<int64_t>(kUnroll, rounds), {}, [&](ValueRange) {
          Value at = e.value(Expr::dim(k));
          Value inSlow = e.divU(at, e.constant(vectors));
          Value inFast =
              e.mul(e.remU(at, e.constant(vectors)), e.constant(lanes));
          Value first = e.add(ranges[fast].lo, inFast);
          Value second = e.add(ranges[slow].lo, inSlow);
          auto emitOne = [&] {
            e.setDim(domain.dims[fast], first);
            e.setDim(domain.dims[slow], second);
            e.setLane(domain.dims[fast], lanes);
            body();
            e.clearLane();
          };
          Value inside;
          for (auto [axis, index] :
               {std::pair(fast, first), std::pair(slow, second)}) {
            if (isWhole(axis))
              continue;
            Value less = e.less(index, ranges[axis].hi);
            inside =
                inside ? Value(arith::AndIOp::create(e.b, inside, less)) : less;
          }
          if (inside)
            e.ifThen(inside, emitOne);
          else
            emitOne();
          return SmallVector<Value>();
        });
  }

  Emitter &e;
  const WorkLoop &loop;
  SmallVector<SmallVector<unsigned>> groups;
  Domain domain;
  Grid grid;
  /// The axes of the domain along which tiles are read and written.
  size_t rows, columns;
  int64_t tile;
  unsigned firstRow, firstColumn;
};
} // namespace

WorkShape luminal::emitTransposes(Emitter &e, const WorkLoop &loop) {
  return TransposeKernel(e, loop).emit();
}
