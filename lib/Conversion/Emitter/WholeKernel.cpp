//===- WholeKernel.cpp - Kernels of one op --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The op itself emits the code of a work item (WholeEmissionOpInterface).
//
//===----------------------------------------------------------------------===//

#include "Kernels.h"

using namespace luminal;
using namespace mlir;

WorkShape luminal::emitWhole(Emitter &e, const WorkLoop &loop) {
  Operation &op = e.kernel.getBody().front().front();
  auto whole = cast<llir::WholeOpInterface>(op);
  auto code = dyn_cast<WholeEmissionOpInterface>(op);
  if (!code) {
    e.fail(&op, "has no code as a kernel of its own");
    return {};
  }
  Expr units = e.simplify(whole.countUnits());
  Emitter::Repeated repeated(e, {units});
  e.forLoop(loop.begin, loop.end, loop.step,
            [&](Value unit) { code.emitUnit(e, unit); });
  return {units, Expr::ceilDiv(whole.countOperations(), Expr::max(1, units)), 0,
          0, e.launchShared};
}
