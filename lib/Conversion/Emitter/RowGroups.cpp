//===- RowGroups.cpp - Rows of a product that share their columns ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "RowGroups.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
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

/// Whether (i1) `row` has the same columns as the one with `keys`.
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

/// One past the last row of the group that begins at `first`, below `limit`: a
/// warp looks at as many rows at once as it has threads.
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

void luminal::emitGroups(Emitter &e, const ProductAnalysis &p,
                         const Emitter::Team &team, IndexRange range,
                         int64_t most, function_ref<void(IndexRange)> body) {
  Value zero = e.constant(0), one = e.constant(1), cut = e.constant(most);
  e.forLoop(range.lo, range.hi, one, [&](Value first) {
    Emitter::MemoScope scope(e);
    Value isCut = arith::CmpIOp::create(e.b, arith::CmpIPredicate::eq,
                                        e.remU(first, cut), zero);
    SmallVector<Value> keys = emitKeys(e, p, first);
    Value isOther = arith::XOrIOp::create(
        e.b, hasKeys(e, p, keys, e.maxS(e.sub(first, one), zero)),
        arith::ConstantOp::create(e.b, e.b.getBoolAttr(true)));
    e.setDim(p.groupDim, first);
    e.ifThen(arith::OrIOp::create(e.b, isCut, isOther), [&] {
      Value limit = e.minS(e.value(p.rows.extent),
                           e.mul(e.add(e.divU(first, cut), one), cut));
      Value end = findEnd(e, p, team, keys, first, limit);
      e.setDim(p.groupDim, first);
      body({first, end});
    });
  });
}
