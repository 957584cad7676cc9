//===- ScatterLoops.cpp - Loops shared by scatter kernels -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ScatterLoops.h"
#include "luminal/Conversion/ScalarMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace luminal;
using namespace mlir;

ScatterLoops::ScatterLoops(Emitter &e, const WorkLoop &loop)
    : e(e), loop(loop),
      op(*e.kernel.getBody().getOps<llir::ScatterOp>().begin()),
      extents(hlir::getExtents(op.getDest())),
      indexExtents(hlir::getExtents(op.getIndices())),
      row(e.addDim(extents[0])) {}

Index ScatterLoops::join(Index a, const Index &b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

bool ScatterLoops::findResult() {
  Decision found = findSource(e, getYielded(e.kernel)[0], result);
  if (found && result.source == op.getResult())
    return true;
  e.fail(op, "is yielded through a view whose inverse is not found");
  return false;
}

Expr ScatterLoops::position(const Index &columns) {
  return e.getResultAddress(
      0, result.getIndex(e, join({Expr::dim(row)}, columns)));
}

bool ScatterLoops::checkInPlace(const Index &columns) {
  if (!e.kernel.getInPlace())
    return true;
  Value argument = e.kernel.getBody().getArgument(0);
  bool sound = true;
  unsigned reads = 0;
  e.walk(op.getDest(), join({Expr::dim(row)}, columns), [&](const Leaf &leaf) {
    ++reads;
    sound &= leaf.argument == argument && leaf.address == position(columns);
  });
  Operation *def = op.getDest().getDefiningOp();
  for (; def; def = def->getOperand(0).getDefiningOp())
    sound &= isa<llir::ViewOp>(def) && def->hasOneUse();
  if (sound && reads == 1 && argument.hasOneUse())
    return true;
  e.fail(op, "in place must read and write operand 0 at one index, and "
             "nothing else may read it");
  return false;
}

Value ScatterLoops::combine(Expr at, Value update) {
  if (op.getCombine() == hlir::Combine::Set)
    return update;
  Value old = e.loadResult(0, at);
  if (isa<VectorType>(old.getType()))
    update = e.spread(update);
  if (op.getCombine() == hlir::Combine::Max)
    return emitMax(e.b, old, update);
  return emitFn(e.b, llir::Fn::Add, {old, update},
                getElementTypeOrSelf(old.getType()));
}

void ScatterLoops::atRow(const Index &updateIndex, function_ref<void()> body) {
  Value at = e.emit(op.getIndices(), updateIndex);
  if (at.getType().isInteger(32))
    at = arith::ExtSIOp::create(e.b, e.b.getI64Type(), at);
  // The code below is guarded by this check, so an empty destination needs no
  // other.
  Value inside = at;
  if (op.getChecked())
    inside = e.emitRangeCheck(at, extents[0], /*guarded=*/true);
  e.setDim(row, inside);
  Value valid = arith::CmpIOp::create(e.b, arith::CmpIPredicate::ult, at,
                                      e.value(extents[0]));
  e.ifThen(valid, body);
}
