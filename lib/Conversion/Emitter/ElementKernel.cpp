//===- ElementKernel.cpp - Kernels that compute every element for itself --===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Kernels.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"

using namespace luminal;
using namespace mlir;

WorkShape luminal::emitElements(Emitter &e, const WorkLoop &loop) {
  ValueRange yielded = getYielded(e.kernel);
  auto groups = llir::getGroups(e.loopCase.getGrid());
  Domain domain = makeDomain(e, getResultExtents(e.kernel, 0), groups);
  Grid grid(domain, groups, e.loopCase);
  Emitter::Repeated repeated(e, {domain.extents.begin(), domain.extents.end()});
  e.forLoop(loop.begin, loop.end, loop.step, [&](Value unit) {
    grid.emitIndices(e, unit, [&] {
      // All are computed before one is written.
      SmallVector<Value> values;
      for (Value v : yielded)
        values.push_back(e.emit(v, domain.index));
      e.byOneMember([&] {
        for (auto [i, v] : llvm::enumerate(values))
          e.store(i, domain.index, v);
      });
    });
  });
  return {grid.countUnits(), grid.getUnitLength() * getElementCost(e.kernel),
          0};
}
