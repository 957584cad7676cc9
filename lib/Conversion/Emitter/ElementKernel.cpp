//===- ElementKernel.cpp - Kernels that compute every element for itself --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "PartsEmitter.h"

using namespace luminal;
using namespace mlir;

WorkShape luminal::emitElements(Emitter &e, const WorkLoop &loop) {
  ValueRange yielded = getYielded(e.kernel);
  auto groups = llir::getGroups(e.loopCase.getGrid());
  Domain domain = makeDomain(e, getResultExtents(e.kernel, 0), groups);
  Grid grid(domain, groups, e.loopCase);
  Emitter::Repeated repeated(e, {domain.extents.begin(), domain.extents.end()});
  PartsEmitter parts(e);
  auto emitElement = [&] {
    // All are computed before one is written.
    SmallVector<Value> values;
    for (Value v : yielded)
      values.push_back(e.emit(v, domain.index));
    e.byOneMember([&] {
      for (auto [i, v] : llvm::enumerate(values))
        e.store(i, domain.index, v);
    });
  };
  auto forEachIndex = [&](Value block, function_ref<void()> body) {
    grid.emitIndices(e, block, body);
  };
  e.forLoop(loop.begin, loop.end, loop.step, [&](Value unit) {
    if (parts.isCut())
      parts.emitUnit(unit, domain.index, forEachIndex, emitElement);
    else
      forEachIndex(unit, emitElement);
  });
  Expr cost = grid.getUnitLength() * getElementCost(e.kernel);
  if (parts.isCut())
    cost = parts.getUnitCost(cost * parts.countTerms());
  return {parts.countUnits(grid.countUnits()), cost, 0};
}
