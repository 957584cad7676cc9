//===- RowGroups.cpp - Groups of a grouped product ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RowGroups.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace luminal;
using namespace mlir;

/// The elements that tell the columns of `row`.
static SmallVector<Value> emitKeys(Emitter &e, const ProductAnalysis &p,
                                   Value row) {
  e.setDim(p.groupDim, row);
  SmallVector<Value> keys;
  for (const ProductAnalysis::Key &key : p.keys)
    keys.push_back(e.emit(key.value, key.index));
  return keys;
}

/// Whether (i1) `row` has the same keys.
static Value hasKeys(Emitter &e, const ProductAnalysis &p, ValueRange keys,
                     Value row) {
  Emitter::FreshScope scope(e);
  Value same;
  for (auto [key, other] : llvm::zip(keys, emitKeys(e, p, row))) {
    Value equal =
        arith::CmpIOp::create(e.b, arith::CmpIPredicate::eq, key, other);
    same = same ? Value(arith::AndIOp::create(e.b, same, equal)) : equal;
  }
  return same;
}

/// The end of the group that begins at `first`, at most `limit`. A warp tests
/// as many rows at once as it has threads.
static Value findEnd(Emitter &e, const ProductAnalysis &p,
                     const Emitter::Team &team, ValueRange keys, Value first,
                     Value limit) {
  ImplicitLocOpBuilder &b = e.b;
  Type i64 = b.getI64Type();
  Value one = e.constant(1), last = e.sub(limit, one);
  auto loop =
      scf::WhileOp::create(b, TypeRange{i64}, ValueRange{e.add(first, one)});
  OpBuilder::InsertionGuard guard(b);
  Block *before = b.createBlock(&loop.getBefore(), {}, {i64}, {b.getLoc()});
  Value at = before->getArgument(0), row = at, atOnce = one;
  if (team.count > 1) {
    atOnce = e.constant(team.warp);
    row = e.add(at, e.remU(team.member, atOnce));
  }
  Value same = arith::AndIOp::create(b, e.less(row, limit),
                                     hasKeys(e, p, keys, e.minS(row, last)));
  Value count = e.countLeading(same, team);
  Value next = e.add(at, count);
  Value goesOn =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, count, atOnce);
  scf::ConditionOp::create(b, goesOn, ValueRange{next});
  Block *after = b.createBlock(&loop.getAfter(), {}, {i64}, {b.getLoc()});
  scf::YieldOp::create(b, after->getArguments());
  return loop.getResult(0);
}

/// Whether (i1) a group begins at `row`.
static Value isFirst(Emitter &e, const ProductAnalysis &p, Value row,
                     ValueRange keys, int64_t most) {
  Value zero = e.constant(0);
  Value isCut = arith::CmpIOp::create(e.b, arith::CmpIPredicate::eq,
                                      e.remU(row, e.constant(most)), zero);
  Value isOther = arith::XOrIOp::create(
      e.b, hasKeys(e, p, keys, e.maxS(e.sub(row, e.constant(1)), zero)),
      arith::ConstantOp::create(e.b, e.b.getBoolAttr(true)));
  return arith::OrIOp::create(e.b, isCut, isOther);
}

/// Calls `body` for each row of `range` at which a group begins.
static void findGroups(Emitter &e, const ProductAnalysis &p, IndexRange range,
                       int64_t most, function_ref<void(Value)> body) {
  e.forLoop(range.lo, range.hi, e.constant(1), [&](Value row) {
    Emitter::MemoScope scope(e);
    SmallVector<Value> keys = emitKeys(e, p, row);
    e.ifThen(isFirst(e, p, row, keys, most), [&] { body(row); });
  });
}

/// The same, with one row per thread of a warp: the loads overlap, and most
/// work items contain no beginning.
static void findGroupsByWarp(Emitter &e, const ProductAnalysis &p,
                             const Emitter::Team &team, IndexRange range,
                             int64_t most, function_ref<void(Value)> body) {
  ImplicitLocOpBuilder &b = e.b;
  Type i32 = b.getI32Type(), i64 = b.getI64Type();
  Value atOnce = e.constant(team.warp), one = e.constant(1);
  auto number = [&](int32_t n) -> Value {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(n));
  };
  e.forLoop(range.lo, range.hi, atOnce, [&](Value begin) {
    Value found;
    {
      Emitter::FreshScope scope(e);
      Value row = e.add(begin, e.remU(team.member, atOnce));
      Value inside = e.less(row, range.hi);
      row = e.minS(row, e.sub(range.hi, one));
      SmallVector<Value> keys = emitKeys(e, p, row);
      Value first =
          arith::AndIOp::create(b, inside, isFirst(e, p, row, keys, most));
      found = NVVM::VoteSyncOp::create(b, i32, team.mask, first,
                                       NVVM::VoteSyncKind::ballot);
    }
    auto loop = scf::WhileOp::create(b, TypeRange{i32}, ValueRange{found});
    OpBuilder::InsertionGuard guard(b);
    Block *before = b.createBlock(&loop.getBefore(), {}, {i32}, {b.getLoc()});
    Value left = before->getArgument(0);
    Value goesOn =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, left, number(0));
    scf::ConditionOp::create(b, goesOn, ValueRange{left});
    Block *after = b.createBlock(&loop.getAfter(), {}, {i32}, {b.getLoc()});
    left = after->getArgument(0);
    Value place = LLVM::CountTrailingZerosOp::create(b, i32, left,
                                                     /*is_zero_poison=*/true);
    {
      Emitter::MemoScope scope(e);
      body(e.add(begin, arith::ExtUIOp::create(b, i64, place)));
    }
    Value rest = arith::AndIOp::create(
        b, left, arith::SubIOp::create(b, left, number(1)));
    scf::YieldOp::create(b, ValueRange{rest});
  });
}

void luminal::emitGroups(Emitter &e, const ProductAnalysis &p,
                         const Emitter::Team &team, IndexRange range,
                         int64_t most, function_ref<void(IndexRange)> body) {
  Value one = e.constant(1), cut = e.constant(most);
  auto take = [&](Value first) {
    SmallVector<Value> keys = emitKeys(e, p, first);
    Value limit = e.minS(e.value(p.rows.extent),
                         e.mul(e.add(e.divU(first, cut), one), cut));
    Value end = findEnd(e, p, team, keys, first, limit);
    e.setDim(p.groupDim, first);
    body({first, end});
  };
  if (team.count > 1)
    findGroupsByWarp(e, p, team, range, most, take);
  else
    findGroups(e, p, range, most, take);
}
