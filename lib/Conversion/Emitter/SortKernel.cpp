//===- SortKernel.cpp - Kernels that sort and merge runs ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorts. A run is sorted in the shared memory of a block, either by a bitonic
// network, comparing keys and then positions (so no two elements are equal and
// the order is stable), or by counting the elements before each element. The
// last run is padded with elements that sort last. To merge runs, each
// element's position is the number of elements of all runs that precede it.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "luminal/Conversion/ScalarMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace luminal;
using namespace mlir;

namespace {
/// The rows of a tensor, and the row of a work item.
class Rows {
public:
  Rows(Emitter &e, Value tensor) : extents(hlir::getExtents(tensor)) {
    for (const Expr &extent : extents)
      dims.push_back(e.addDim(extent));
  }
  /// Sets the row for work items of which each row has `count`; returns the
  /// number of the work item in its row.
  Value setUnit(Emitter &e, Value unit, const Expr &count) {
    SmallVector<unsigned> unitDims = dims;
    SmallVector<Expr> unitExtents = extents;
    unitDims.back() = e.addDim(count);
    unitExtents.back() = count;
    setDims(e, unitDims, unitExtents, unit);
    return e.value(Expr::dim(unitDims.back()));
  }
  /// The index of element `at` of the row.
  Index getIndex(Emitter &e, Value at) {
    e.setDim(dims.back(), at);
    Index index;
    for (unsigned dim : dims)
      index.push_back(Expr::dim(dim));
    return index;
  }

  SmallVector<Expr> extents;

private:
  SmallVector<unsigned> dims;
};

/// The sorted positions, and the keys if they are results too.
class Taken {
public:
  Taken(Emitter &e, Operation *op) : e(e), op(op), rows(e, op->getResult(0)) {}

  void setRow(Value unit, const Expr &count) { rows.setUnit(e, unit, count); }
  /// Stores element `at` of the row: a position (i64) and its key.
  void store(Value at, Value position, Value key) {
    Index index = rows.getIndex(e, at);
    Type type = getElementType(op->getResult(0));
    if (!type.isInteger(64))
      position = arith::TruncIOp::create(e.b, type, position);
    e.store(0, index, position);
    if (op->getNumResults() == 2)
      e.store(1, index, key);
  }

private:
  Emitter &e;
  Operation *op;
  Rows rows;
};
} // namespace

static Value compare(Emitter &e, arith::CmpIPredicate predicate, Value x,
                     Value y) {
  return arith::CmpIOp::create(e.b, predicate, x, y);
}

static Value both(Emitter &e, Value x, Value y) {
  return arith::AndIOp::create(e.b, x, y);
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

/// An integer (i32 or i64) that orders like the elements `x`. -0 has the key of
/// 0; no number has the key of NaN.
static Value emitKey(Emitter &e, Value x, Type element, bool descending,
                     bool nanFirst) {
  ImplicitLocOpBuilder &b = e.b;
  Type type = element;
  if (element.isF16() || element.isBF16()) {
    type = b.getF32Type();
    x = emitCast(b, x, element, type);
  }
  Type bits = b.getIntegerType(type.getIntOrFloatBitWidth());
  auto constant = [&](const APInt &v) -> Value {
    return arith::ConstantOp::create(b, b.getIntegerAttr(bits, v));
  };
  const unsigned width = bits.getIntOrFloatBitWidth();
  Value key = x;
  if (isa<FloatType>(type)) {
    Value raw = arith::BitcastOp::create(b, bits, x);
    Value zero = constant(APInt::getZero(width));
    Value flipped = arith::XOrIOp::create(
        b, raw, constant(APInt::getSignedMaxValue(width)));
    key = arith::SelectOp::create(
        b, compare(e, arith::CmpIPredicate::slt, raw, zero), flipped, raw);
    Value none = arith::ConstantOp::create(b, b.getFloatAttr(type, 0.0));
    key = arith::SelectOp::create(
        b, arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, x, none), zero,
        key);
  }
  if (descending)
    key = arith::XOrIOp::create(b, key, constant(APInt::getAllOnes(width)));
  if (!isa<FloatType>(type))
    return key;
  Value nan = constant(nanFirst ? APInt::getSignedMinValue(width)
                                : APInt::getSignedMaxValue(width));
  return arith::SelectOp::create(
      b, arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x), nan, key);
}

//===----------------------------------------------------------------------===//
// sort_runs
//===----------------------------------------------------------------------===//

namespace {
class RunSorter {
public:
  RunSorter(Emitter &e, llir::SortRunsOp op)
      : e(e), op(op), run(static_cast<int64_t>(op.getRun())),
        element(getElementType(op.getOperand())) {}

  void emitUnit(Value unit) {
    Rows rows(e, op.getOperand());
    Expr n = rows.extents.back();
    checkPositions(n);
    Expr runs = e.simplify(Expr::ceilDiv(n, run));
    Value number = rows.setUnit(e, unit, runs);
    Value begin = e.mul(number, e.constant(run));
    Value length = e.minS(e.constant(run), e.sub(e.value(n), begin));
    for (Type type : getParts())
      memory.push_back(makeMemory(type));
    meet();
    load(rows, begin, length);
    meet();
    if (!op.getCounted())
      sort();
    Taken taken(e, op);
    taken.setRow(unit, runs);
    if (op.getCounted())
      count(taken, number, begin, length);
    else
      write(taken, number, begin, length);
  }

private:
  void checkPositions(const Expr &n) {
    constexpr int64_t kMost = (int64_t(1) << 32) - 1;
    if (!Assumptions(e.getRanges()).provablyLessEqual(n, kMost))
      hlir::addRequirements(
          e.requirements,
          Requirement{n,
                      kMost,
                      {},
                      hlir::describePlace(op.getLoc()) +
                          ": 'llir.sort_runs' op the positions of a row"});
  }
  /// Shared memory of the block; for a single thread, memory of its own.
  Value makeMemory(Type type) {
    if (e.team.count > 1)
      return e.makeShared(type, run);
    return makeThreadMemory(e, type, run);
  }
  void meet() {
    if (e.team.count > 1)
      NVVM::Barrier0Op::create(e.b);
  }
  /// Runs `body` for each index in the range, distributed over the threads.
  void forEach(Value lo, Value hi, function_ref<void(Value)> body) {
    Value first = e.team.count > 1 ? e.add(lo, e.team.member) : lo;
    e.forLoop(first, hi, e.constant(e.team.count), body);
  }

  void load(Rows &rows, Value begin, Value length) {
    Value last = e.sub(length, e.constant(1));
    forEach(e.constant(0), e.constant(run), [&](Value i) {
      Index index = rows.getIndex(e, e.add(begin, e.minS(i, last)));
      Value key = emitKey(e, e.emit(op.getOperand(), index), element,
                          op.getDescending(), op.getNanFirst());
      Type type = key.getType();
      Value beyond = arith::ConstantOp::create(
          e.b, e.b.getIntegerAttr(type, APInt::getSignedMaxValue(
                                            type.getIntOrFloatBitWidth())));
      key = arith::SelectOp::create(e.b, e.less(i, length), key, beyond);
      store(i, pack(key, i));
    });
  }

  /// A bitonic sort: runs of 2, 4, ... elements are sorted by compare-exchange
  /// at half their size, a quarter, ... 1.
  void sort() {
    const int64_t steps = llvm::Log2_64(static_cast<uint64_t>(run));
    Value one = e.constant(1);
    e.forLoop(one, e.constant(steps + 1), one, [&](Value step) {
      e.forLoop(e.constant(0), step, one, [&](Value done) {
        Value distance = e.sub(e.sub(step, one), done);
        exchange(step, distance);
        meetAfter(step, distance);
      });
    });
  }

  /// Synchronises after a step. While the distance is less than a warp, each
  /// warp works on its own range of elements.
  void meetAfter(Value step, Value distance) {
    if (e.team.count <= 1)
      return;
    Value own = e.constant(llvm::Log2_64(e.team.warp));
    Value isLast =
        compare(e, arith::CmpIPredicate::eq, distance, e.constant(0));
    // The next distance: half of this one, or the first of the next step.
    Value next = arith::SelectOp::create(e.b, isLast, step,
                                         e.sub(distance, e.constant(1)));
    Value isFar = e.less(own, e.maxS(distance, next));
    e.ifElse(
        isFar, {},
        [&] {
          NVVM::Barrier0Op::create(e.b);
          return SmallVector<Value>();
        },
        [&] {
          NVVM::SyncWarpOp::create(e.b, e.team.mask);
          return SmallVector<Value>();
        });
  }

  void exchange(Value step, Value distance) {
    ImplicitLocOpBuilder &b = e.b;
    Type i32 = b.getI32Type();
    auto narrow = [&](Value v) -> Value {
      return arith::TruncIOp::create(b, i32, v);
    };
    auto wide = [&](Value v) -> Value {
      return arith::ExtUIOp::create(b, b.getI64Type(), v);
    };
    Value one = arith::ConstantOp::create(b, b.getI32IntegerAttr(1));
    Value bit = narrow(distance), stride = arith::ShLIOp::create(b, one, bit);
    Value size = arith::ShLIOp::create(b, one, narrow(step));
    Value below = arith::SubIOp::create(b, stride, one);
    forEach(e.constant(0), e.constant(run / 2), [&](Value pair) {
      pair = narrow(pair);
      // Insert the distance's bit into the number of the pair.
      Value low = both(e, pair, below);
      Value i =
          arith::SubIOp::create(b, arith::ShLIOp::create(b, pair, one), low);
      Value j = arith::OrIOp::create(b, i, stride);
      Value ascends =
          compare(e, arith::CmpIPredicate::eq, both(e, i, size),
                  arith::ConstantOp::create(b, b.getI32IntegerAttr(0)));
      i = wide(i);
      j = wide(j);
      SmallVector<Value> x = read(i), y = read(j);
      e.ifThen(compare(e, arith::CmpIPredicate::eq, isBehind(x, y), ascends),
               [&] {
                 store(i, y);
                 store(j, x);
               });
    });
  }

  //===--------------------------------------------------------------------===//
  // Elements in memory
  //===--------------------------------------------------------------------===//

  /// The storage of an element: a 32-bit key with the position in the low bits,
  /// or a key and a position.
  SmallVector<Type> getParts() const {
    Type i64 = e.b.getI64Type();
    return isWide() ? SmallVector<Type>{i64, e.b.getI32Type()}
                    : SmallVector<Type>{i64};
  }
  bool isWide() const { return element.getIntOrFloatBitWidth() == 64; }
  SmallVector<Value> pack(Value key, Value place) {
    ImplicitLocOpBuilder &b = e.b;
    if (isWide())
      return {key, arith::TruncIOp::create(b, b.getI32Type(), place)};
    key = arith::ExtSIOp::create(b, b.getI64Type(), key);
    return {arith::OrIOp::create(
        b, arith::ShLIOp::create(b, key, e.constant(32)), place)};
  }
  Value getKey(ArrayRef<Value> x) {
    if (isWide())
      return x[0];
    return arith::TruncIOp::create(
        e.b, e.b.getI32Type(),
        arith::ShRUIOp::create(e.b, x[0], e.constant(32)));
  }
  /// The position of the element (i64).
  Value getPlace(ArrayRef<Value> x) {
    Value place =
        isWide() ? x[1]
                 : Value(arith::TruncIOp::create(e.b, e.b.getI32Type(), x[0]));
    return arith::ExtUIOp::create(e.b, e.b.getI64Type(), place);
  }
  /// Whether x comes after y; no two elements are equal.
  Value isBehind(ArrayRef<Value> x, ArrayRef<Value> y) {
    Value after = compare(e, arith::CmpIPredicate::sgt, x[0], y[0]);
    if (!isWide())
      return after;
    Value same = both(e, compare(e, arith::CmpIPredicate::eq, x[0], y[0]),
                      compare(e, arith::CmpIPredicate::ugt, x[1], y[1]));
    return arith::OrIOp::create(e.b, after, same);
  }
  /// Size of `type` in bytes, which is also its alignment.
  static unsigned getBytes(Type type) {
    return type.getIntOrFloatBitWidth() / 8;
  }
  SmallVector<Value> read(Value at) {
    SmallVector<Value> parts;
    for (auto [base, type] : llvm::zip_equal(memory, getParts()))
      parts.push_back(LLVM::LoadOp::create(e.b, type, e.address(base, at, type),
                                           getBytes(type)));
    return parts;
  }
  void store(Value at, ArrayRef<Value> parts) {
    for (auto [base, v] : llvm::zip_equal(memory, parts))
      LLVM::StoreOp::create(e.b, v, e.address(base, at, v.getType()),
                            getBytes(v.getType()));
  }

  /// The position in the row's results of the first element of a run.
  Value getTarget(Value number, Value first) {
    // Earlier runs are full.
    Expr ofRun =
        Expr::min(op.getKept(), Expr::max(0, Expr(run) - op.getFirst()));
    return e.sub(e.mul(number, e.value(e.simplify(ofRun))), first);
  }

  void write(Taken &taken, Value number, Value begin, Value length) {
    Value first = e.value(op.getFirst()), kept = e.value(op.getKept());
    Value end = e.minS(length, e.add(first, kept));
    Value target = getTarget(number, first);
    forEach(first, end, [&](Value i) {
      SmallVector<Value> x = read(i);
      taken.store(e.add(target, i), e.add(begin, getPlace(x)), getKey(x));
    });
  }

  /// Counting sort: each element's rank is the number of elements before it.
  void count(Taken &taken, Value number, Value begin, Value length) {
    Value first = e.value(op.getFirst()), kept = e.value(op.getKept());
    Value end = e.minS(length, e.add(first, kept));
    Value target = getTarget(number, first);
    auto take = [&](ArrayRef<Value> x, Value rank, Value isMine) {
      Value isTaken =
          both(e, compare(e, arith::CmpIPredicate::sge, rank, first),
               e.less(rank, end));
      e.ifThen(isMine ? both(e, isTaken, isMine) : isTaken, [&] {
        taken.store(e.add(target, rank), e.add(begin, getPlace(x)), getKey(x));
      });
    };
    if (e.team.count > 1)
      countByWarps(take);
    else
      countAlone(take);
  }

  using Take = function_ref<void(ArrayRef<Value> x, Value rank, Value isMine)>;

  /// A warp ranks one element. Each thread compares it with an equal share of
  /// all elements, and the warp counts the results by votes.
  void countByWarps(Take take) {
    ImplicitLocOpBuilder &b = e.b;
    Type i32 = b.getI32Type();
    const int64_t warp = e.team.warp;
    Value lane = e.remU(e.team.member, e.constant(warp)),
          isMine = compare(e, arith::CmpIPredicate::eq, lane, e.constant(0));
    SmallVector<SmallVector<Value>> others;
    for (int64_t from = 0; from < run; from += warp)
      others.push_back(read(e.add(lane, e.constant(from))));
    e.forLoop(
        e.divU(e.team.member, e.constant(warp)), e.constant(run),
        e.constant(e.team.count / warp), [&](Value at) {
          SmallVector<Value> x = read(at);
          Value rank;
          for (ArrayRef<Value> y : others) {
            Value votes =
                NVVM::VoteSyncOp::create(b, i32, e.team.mask, isBehind(x, y),
                                         NVVM::VoteSyncKind::ballot);
            Value before = LLVM::CtPopOp::create(b, votes);
            rank =
                rank ? Value(arith::AddIOp::create(b, rank, before)) : before;
          }
          take(x, arith::ExtUIOp::create(b, b.getI64Type(), rank), isMine);
        });
  }

  void countAlone(Take take) {
    constexpr int64_t kUnroll = 4;
    Value zero = e.constant(0);
    forEach(zero, e.constant(run), [&](Value at) {
      SmallVector<Value> x = read(at);
      Value rank = e.forLoop(
          zero, e.constant(run), e.constant(kUnroll), {zero},
          [&](Value other, ValueRange carried) -> SmallVector<Value> {
            Value before = carried[0];
            for (int64_t n = 0; n < kUnroll; ++n)
              before = e.add(
                  before, arith::ExtUIOp::create(
                              e.b, e.b.getI64Type(),
                              isBehind(x, read(e.add(other, e.constant(n))))));
            return {before};
          })[0];
      take(x, rank, {});
    });
  }

  Emitter &e;
  llir::SortRunsOp op;
  int64_t run;
  Type element;
  SmallVector<Value> memory;
};

struct SortRunsEmission
    : WholeEmissionOpInterface::ExternalModel<SortRunsEmission,
                                              llir::SortRunsOp> {
  void emitUnit(Operation *op, Emitter &e, Value unit) const {
    RunSorter(e, cast<llir::SortRunsOp>(op)).emitUnit(unit);
  }
};

//===----------------------------------------------------------------------===//
// merge_runs
//===----------------------------------------------------------------------===//

class RunMerger {
public:
  RunMerger(Emitter &e, llir::MergeRunsOp op)
      : e(e), op(op), rows(e, op.getKeys()) {}

  void emitUnit(Value unit) {
    Expr row = rows.extents.back(), run = op.getRunExtent(),
         group = e.simplify(run * Expr(static_cast<int64_t>(op.getWays())));
    Value at = rows.setUnit(e, unit, row);
    Value runLength = e.value(run), groupLength = e.value(group);
    Value number = e.divU(at, groupLength);
    Value begin = e.mul(number, groupLength);
    Value end = e.minS(e.value(row), e.add(begin, groupLength));
    Value own =
        e.add(begin, e.mul(e.divU(e.sub(at, begin), runLength), runLength));
    key = read(op.getKeys(), at);
    // The rank starts with the element's position in its own run; elements of
    // earlier runs precede it also if they are equal.
    Value rank = e.forLoop(
        begin, end, runLength, e.sub(at, own),
        [&](Value first, ValueRange carried) -> SmallVector<Value> {
          Value isOther = compare(e, arith::CmpIPredicate::ne, first, own);
          return e.ifElse(
              isOther, {e.b.getI64Type()},
              [&]() -> SmallVector<Value> {
                Value last = e.minS(end, e.add(first, runLength));
                return {e.add(
                    carried[0],
                    e.sub(findEnd(first, last, e.less(first, own)), first))};
              },
              [&]() -> SmallVector<Value> { return {carried[0]}; });
        })[0];
    Value place = read(op.getPositions(), at);
    place = arith::ExtUIOp::create(e.b, e.b.getI64Type(), place);
    Value begins = e.value(op.getFirst());
    Value taken = e.sub(rank, begins);
    Value isTaken =
        both(e, compare(e, arith::CmpIPredicate::sge, taken, e.constant(0)),
             e.less(taken, e.value(op.getKept())));
    Expr ofGroup = Expr::min(op.getKept(), Expr::max(0, group - op.getFirst()));
    Taken results(e, op);
    results.setRow(unit, row);
    e.ifThen(isTaken, [&] {
      Value before = e.mul(number, e.value(e.simplify(ofGroup)));
      results.store(e.add(before, taken), place, key);
    });
  }

private:
  Value read(Value of, Value at) {
    Emitter::MemoScope scope(e);
    return e.emit(of, rows.getIndex(e, at));
  }
  /// Binary search in [first, last) for the first element that does not come
  /// before the key; with `equal`, for the first that comes after it.
  Value findEnd(Value first, Value last, Value equal) {
    ImplicitLocOpBuilder &b = e.b;
    Type i64 = b.getI64Type();
    auto loop =
        scf::WhileOp::create(b, TypeRange{i64, i64}, ValueRange{first, last});
    OpBuilder::InsertionGuard guard(b);
    {
      Block *before = b.createBlock(&loop.getBefore(), {}, {i64, i64},
                                    {b.getLoc(), b.getLoc()});
      scf::ConditionOp::create(
          b, e.less(before->getArgument(0), before->getArgument(1)),
          before->getArguments());
    }
    Block *after = b.createBlock(&loop.getAfter(), {}, {i64, i64},
                                 {b.getLoc(), b.getLoc()});
    Value low = after->getArgument(0), high = after->getArgument(1);
    Value middle =
        e.add(low, arith::ShRUIOp::create(b, e.sub(high, low), e.constant(1)));
    Value found = read(op.getKeys(), middle);
    Value comes = compare(e, arith::CmpIPredicate::slt, found, key);
    Value same =
        both(e, equal, compare(e, arith::CmpIPredicate::eq, found, key));
    comes = arith::OrIOp::create(b, comes, same);
    scf::YieldOp::create(
        b, ValueRange{arith::SelectOp::create(
                          b, comes, e.add(middle, e.constant(1)), low),
                      arith::SelectOp::create(b, comes, high, middle)});
    return loop.getResult(0);
  }

  Emitter &e;
  llir::MergeRunsOp op;
  Rows rows;
  Value key;
};

struct MergeRunsEmission
    : WholeEmissionOpInterface::ExternalModel<MergeRunsEmission,
                                              llir::MergeRunsOp> {
  void emitUnit(Operation *op, Emitter &e, Value unit) const {
    RunMerger(e, cast<llir::MergeRunsOp>(op)).emitUnit(unit);
  }
};
} // namespace

void luminal::attachSorts(MLIRContext &context) {
  llir::SortRunsOp::attachInterface<SortRunsEmission>(context);
  llir::MergeRunsOp::attachInterface<MergeRunsEmission>(context);
}
