//===- ScanKernel.cpp - Kernels that scan rows ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scans. A work item is a row, or a part of one, in the order [outer, part,
// inner] with inner the fastest. A single thread processes it element by
// element. In a thread group each thread takes some elements, the threads'
// totals are scanned, and the group continues from the overall total. The order
// in which states are merged depends only on the schedule.
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"
#include "ScanCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace luminal;
using namespace mlir;

namespace {
/// Consecutive elements per thread of a group.
constexpr int64_t kEach = 4;

class ScanKernel {
public:
  ScanKernel(Emitter &e, Value operand, uint64_t axis, const Expr &part,
             bool reverse, std::unique_ptr<ScanCode> code)
      : e(e), operand(operand), axis(axis), part(part), reverse(reverse),
        code(std::move(code)), extents(hlir::getExtents(operand)),
        length(e.value(extents[axis])) {
    for (const Expr &extent : extents)
      dims.push_back(e.addDim(extent));
  }

  /// Sets the range of a work item. `parts`: parts per row; 1 if rows are not
  /// split.
  void setUnit(Value unit, const Expr &parts) {
    SmallVector<unsigned> unitDims = dims;
    SmallVector<Expr> unitExtents = extents;
    unitDims[axis] = partDim = e.addDim(parts);
    unitExtents[axis] = parts;
    setDims(e, unitDims, unitExtents, unit);
    begin = e.mul(e.value(Expr::dim(partDim)), e.value(part));
    end = e.minS(length, e.add(begin, e.value(part)));
  }

  /// The total of the work item's elements, in every thread.
  ScanCode::State reduce() {
    ScanCode::State identity = code->getIdentity();
    Value step = e.constant(e.team.count), first = begin;
    if (e.team.count > 1)
      first = e.add(begin, e.team.member);
    ScanCode::State own = e.forLoop(
        first, end, step, identity, [&](Value at, ValueRange carried) {
          return code->merge(ScanCode::State(carried), read(at));
        });
    return getAll(own);
  }

  /// The total of the parts before this one, from their `states`.
  ScanCode::State readBefore(ValueRange states) {
    ScanCode::State identity = code->getIdentity();
    unsigned dim = e.addDim(hlir::getExtents(states[0])[axis]);
    Index index = getIndex(Expr::dim(dim));
    Value first = e.team.count > 1 ? e.team.member : e.constant(0);
    ScanCode::State own =
        e.forLoop(first, e.value(Expr::dim(partDim)), e.constant(e.team.count),
                  identity, [&](Value at, ValueRange carried) {
                    e.setDim(dim, at);
                    ScanCode::State next;
                    for (Value state : states)
                      next.push_back(e.emit(state, index));
                    return code->merge(ScanCode::State(carried), next);
                  });
    return getAll(own);
  }

  /// Writes the work item's results, starting from the state `before`.
  void scan(ScanCode::State before, bool exclusive) {
    if (e.team.count > 1)
      return scanByTeam(std::move(before), exclusive);
    e.forLoop(begin, end, e.constant(1), before,
              [&](Value at, ValueRange carried) {
                ScanCode::State state(carried);
                ScanCode::State next = code->merge(state, read(at));
                write(at, exclusive ? state : next);
                return next;
              });
  }

  /// Writes the state of the work item's part.
  void writeState(const ScanCode::State &state) {
    e.byOneMember([&] {
      for (auto [i, v] : llvm::enumerate(state))
        e.store(i, getIndex(Expr::dim(partDim)), v);
    });
  }

private:
  Index getIndex(const Expr &at) const {
    Index index;
    for (unsigned dim : dims)
      index.push_back(Expr::dim(dim));
    index[axis] = at;
    return index;
  }
  /// Sets dims[axis] to the position of element `at` in scan order, and returns
  /// it.
  Value setPlace(Value at) {
    if (reverse)
      at = e.sub(e.sub(length, e.constant(1)), at);
    e.setDim(dims[axis], at);
    return at;
  }
  ScanCode::State read(Value at) {
    Emitter::MemoScope scope(e);
    Value place = setPlace(at);
    return code->getElement(e.emit(operand, getIndex(Expr::dim(dims[axis]))),
                            place);
  }
  void write(Value at, const ScanCode::State &state) {
    setPlace(at);
    ScanCode::State elements = code->getResults(state);
    for (unsigned i = 0; i < e.kernel.getNumResults(); ++i)
      e.store(i, getIndex(Expr::dim(dims[axis])), elements[i]);
  }
  Emitter::TeamScan scanTeam(const ScanCode::State &own) {
    return e.scanTeam(own, code->getIdentity(),
                      [&](ArrayRef<Value> a, ArrayRef<Value> b) {
                        return code->merge(a, b);
                      });
  }
  /// The merged states of all threads.
  ScanCode::State getAll(const ScanCode::State &own) {
    return scanTeam(own).all;
  }

  void scanByTeam(ScanCode::State before, bool exclusive) {
    Value step = e.constant(kEach * e.team.count);
    Value offset = e.mul(e.team.member, e.constant(kEach));
    e.forLoop(begin, end, step, before, [&](Value base, ValueRange carried) {
      Value first = e.add(base, offset), last = e.sub(end, e.constant(1));
      // The inclusive scan of this thread's elements.
      SmallVector<ScanCode::State> own;
      SmallVector<Value> isThere;
      for (int64_t k = 0; k < kEach; ++k) {
        Value at = e.add(first, e.constant(k));
        isThere.push_back(e.less(at, end));
        ScanCode::State next = read(e.minS(at, last));
        if (k > 0)
          next = code->merge(own.back(), next);
        ScanCode::State rest = k > 0 ? own.back() : code->getIdentity();
        own.push_back(choose(isThere.back(), next, rest));
      }
      Emitter::TeamScan team = scanTeam(own.back());
      ScanCode::State behind =
          code->merge(ScanCode::State(carried), team.before);
      for (int64_t k = 0; k < kEach; ++k) {
        ScanCode::State state = behind;
        if (!exclusive)
          state = code->merge(behind, own[k]);
        else if (k > 0)
          state = code->merge(behind, own[k - 1]);
        e.ifThen(isThere[k],
                 [&] { write(e.add(first, e.constant(k)), state); });
      }
      return code->merge(ScanCode::State(carried), team.all);
    });
  }
  ScanCode::State choose(Value condition, ArrayRef<Value> x,
                         ArrayRef<Value> y) {
    ScanCode::State chosen;
    for (auto [a, b] : llvm::zip_equal(x, y))
      chosen.push_back(arith::SelectOp::create(e.b, condition, a, b));
    return chosen;
  }

  Emitter &e;
  Value operand;
  uint64_t axis;
  Expr part;
  bool reverse;
  std::unique_ptr<ScanCode> code;
  SmallVector<Expr> extents;
  Value length;
  SmallVector<unsigned> dims;
  unsigned partDim = 0;
  /// The work item's elements, numbered in scan order.
  Value begin, end;
};

struct ScanPartsEmission
    : WholeEmissionOpInterface::ExternalModel<ScanPartsEmission,
                                              llir::ScanPartsOp> {
  void emitUnit(Operation *op, Emitter &e, Value unit) const {
    auto scan = cast<llir::ScanPartsOp>(op);
    ScanKernel kernel(
        e, scan.getOperand(), scan.getAxis(), scan.getPartExtent(),
        scan.getReverse(),
        makeScanCode(e.b, scan.getKind(), getElementType(scan.getOperand()),
                     getElementType(scan.getStates()[0]), scan.getPositions()));
    kernel.setUnit(unit, hlir::getExtents(scan.getStates()[0])[scan.getAxis()]);
    kernel.writeState(kernel.reduce());
  }
};

struct ScanRowsEmission
    : WholeEmissionOpInterface::ExternalModel<ScanRowsEmission,
                                              llir::ScanRowsOp> {
  void emitUnit(Operation *op, Emitter &e, Value unit) const {
    auto scan = cast<llir::ScanRowsOp>(op);
    std::unique_ptr<ScanCode> code =
        makeScanCode(e.b, scan.getKind(), getElementType(scan.getOperand()),
                     getElementType(scan.getScanned()[0]), scan.getPositions());
    ScanCode::State before = code->getIdentity();
    ScanKernel kernel(e, scan.getOperand(), scan.getAxis(),
                      scan.getPartExtent(), scan.getReverse(), std::move(code));
    const bool hasParts = !scan.getStates().empty();
    kernel.setUnit(
        unit, hasParts ? hlir::getExtents(scan.getStates()[0])[scan.getAxis()]
                       : Expr(1));
    if (hasParts)
      before = kernel.readBefore(scan.getStates());
    kernel.scan(before, scan.getExclusive());
  }
};
} // namespace

void luminal::attachScans(MLIRContext &context) {
  llir::ScanPartsOp::attachInterface<ScanPartsEmission>(context);
  llir::ScanRowsOp::attachInterface<ScanRowsEmission>(context);
}
