//===- PartsEmitter.cpp - Split reductions --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PartsEmitter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

using namespace luminal;
using namespace mlir;

PartsEmitter::PartsEmitter(Emitter &e)
    : e(e), cut(llir::getCutReductions(e.kernel, e.loopCase)) {
  if (isCut())
    dim = e.addDim(cut.parts);
}

Expr PartsEmitter::countTerms() const {
  Expr terms = 0;
  for (llir::ReductionOpInterface op : cut.ops)
    terms = terms + op.getReducedExtent();
  return terms;
}

void PartsEmitter::emitUnit(
    Value unit, const Index &index,
    function_ref<void(Value, function_ref<void()>)> forEachIndex,
    function_ref<void()> finish) {
  // If each thread has a work item, consecutive threads get consecutive blocks,
  // so that their loads coalesce. Otherwise consecutive work items are parts of
  // one block.
  bool isThread = e.loopCase.getThreads() && e.team.count == 1;
  Value count =
      isThread ? e.value(e.simplify(cut.blocks)) : e.constant(cut.parts);
  Value part = e.remU(unit, count), block = e.divU(unit, count);
  if (isThread)
    std::swap(part, block);
  forEachIndex(block, [&] {
    Emitter::MemoScope scope(e);
    writeStates(part, index);
  });
  e.ifThen(emitArrival(e, block, cut.parts), [&] {
    forEachIndex(block, [&] {
      Emitter::MemoScope scope(e);
      readStates(index);
      finish();
    });
  });
}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

/// Parts begin at multiples of what a thread group reads per iteration.
Emitter::Span PartsEmitter::getSpan(const llir::ReductionWalk &walk,
                                    Value part) {
  int64_t step = walk.form.getNumber("lanes", 1) * e.team.count;
  llir::ReductionOpInterface first = walk.ops.front();
  Expr extent = first.getReducedExtent();
  Expr share = e.simplify(cut.getPartExtent(extent, step));
  Value length = e.value(share), lo = e.mul(part, length);
  // All parts are full if the extent is provably a multiple of the share.
  if (e.simplify(share * cut.parts - extent).isConstant(0))
    return {lo, length, {share}};
  Value left = e.maxS(e.constant(0), e.sub(e.value(extent), lo));
  return {lo, e.minS(length, left), {share, extent}};
}

Expr PartsEmitter::getAddress(llir::ReductionOpInterface op,
                              const Index &index) const {
  Index extents = getExtentsOf(op->getResult(0));
  return e.simplify(Expr::dim(dim) * product(extents) +
                    linearize(index, extents));
}

Value PartsEmitter::getBase(size_t place) {
  return e.address(e.states, e.value(e.simplify(cut.places[place])),
                   e.b.getI8Type());
}

void PartsEmitter::writeStates(Value part, const Index &index) {
  SmallVector<SmallVector<Value>> all;
  for (const llir::ReductionWalk &walk : llir::getWalks(cut.ops, e.loopCase)) {
    bool varies = e.isVector() &&
                  e.variesOverLanes(walk.ops.front()->getResult(0), index);
    llvm::append_range(all, e.emitStates(walk.ops, index, varies, walk.form,
                                         getSpan(walk, part)));
  }
  e.setDim(dim, part);
  e.byOneMember([&] {
    size_t place = 0;
    for (auto [op, state] : llvm::zip_equal(cut.ops, all))
      for (auto [type, v] : llvm::zip_equal(op.getStateTypes(), state))
        e.storeTo(getBase(place++), type, getAddress(op, index), v);
  });
}

void PartsEmitter::readStates(const Index &index) {
  size_t place = 0;
  for (llir::ReductionOpInterface op : cut.ops) {
    auto emission = cast<ReductionEmissionOpInterface>(op.getOperation());
    SmallVector<Type> types = op.getStateTypes();
    Expr address = getAddress(op, index);
    SmallVector<Value> bases;
    for (size_t i = 0; i < types.size(); ++i)
      bases.push_back(getBase(place++));
    auto take = [&](ValueRange state) {
      SmallVector<Value> other;
      for (auto [base, type] : llvm::zip_equal(bases, types))
        other.push_back(e.loadFrom(base, type, address, /*invariant=*/false));
      return emission.emitMerge(e.b, state, other);
    };
    // One state per lane if the address depends on the lanes.
    SmallVector<Type> kept;
    for (Type type : types)
      kept.push_back(e.usesLanes(address) ? e.laneType(type) : type);
    SmallVector<Value> state = emission.emitInitial(e.b, kept);
    Emitter::Span parts = e.getWhole(cut.parts);
    if (e.team.count > 1) {
      state = e.teamLoop(dim, parts, 1, 1, state, take);
      state = e.mergeTeam(emission, state);
    } else {
      state = e.forLoop(parts.lo, parts.length, e.constant(1), state,
                        [&](Value part, ValueRange carried) {
                          e.setDim(dim, part);
                          return take(carried);
                        });
    }
    SmallVector<Value> results = emission.emitResults(e.b, state);
    for (auto [result, element] : llvm::zip_equal(op->getResults(), results))
      e.remember(result, index, element);
  }
}

//===----------------------------------------------------------------------===//
// Arrival
//===----------------------------------------------------------------------===//

/// What a worker wrote before it counted itself is visible to workers that
/// count after it. The fences provide that order: the atomics are relaxed in
/// the code for NVIDIA GPUs.
Value luminal::emitArrival(Emitter &e, Value block, int64_t parts) {
  ImplicitLocOpBuilder &b = e.b;
  Type i32 = b.getI32Type();
  auto number = [&](int32_t n) -> Value {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(n));
  };
  auto fence = [&] {
    LLVM::FenceOp::create(b, LLVM::AtomicOrdering::acq_rel, e.syncScope);
  };
  Value one = number(1), most = number(parts - 1), zero = number(0);
  Value counter = e.address(e.counters, block, i32);
  auto count = [&]() -> SmallVector<Value> {
    fence();
    Value before = LLVM::AtomicRMWOp::create(
        b, LLVM::AtomicBinOp::add, counter, one,
        LLVM::AtomicOrdering::monotonic, e.syncScope, /*alignment=*/4);
    Value isLast =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, before, most);
    // The last one resets the counter for the next launch.
    e.ifThen(isLast, [&] { LLVM::StoreOp::create(b, zero, counter, 4); });
    return {isLast};
  };
  Value isLast;
  if (e.team.count == 1) {
    isLast = count()[0];
  } else {
    Value isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                          e.team.member, e.constant(0));
    Value none = arith::ConstantOp::create(b, b.getBoolAttr(false));
    auto skip = [&] { return SmallVector<Value>{none}; };
    isLast = e.shareFlag(e.ifElse(isFirst, {b.getI1Type()}, count, skip)[0]);
  }
  fence();
  return isLast;
}
