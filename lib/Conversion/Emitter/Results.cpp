//===- Results.cpp - What a kernel yields, and where it goes --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Kernels.h"
#include "luminal/Dialect/LLIR/Utils/IndexMaps.h"

using namespace luminal;
using namespace mlir;

ValueRange luminal::getYielded(llir::KernelOp kernel) {
  return cast<llir::YieldOp>(kernel.getBody().front().getTerminator())
      .getValues();
}

SmallVector<Expr> luminal::getResultExtents(llir::KernelOp kernel,
                                            unsigned number) {
  return hlir::getExtents(kernel.getResults()[number]);
}

Index MovedResult::getIndex(Emitter &e, const Index &at) const {
  if (!toResult)
    return at;
  Index result;
  for (const Expr &x : toResult.getResults())
    result.push_back(e.simplify(x.substituteDims(at)));
  return result;
}

Decision luminal::findSource(Emitter &e, Value yielded, MovedResult &result) {
  Assumptions sizes(e.getRanges());
  SmallVector<Expr> domain = hlir::getExtents(yielded);
  hlir::MapAttr map;
  result = {yielded, {}};
  while (auto view = result.source.getDefiningOp<llir::ViewOp>()) {
    map =
        map ? llir::compose(map, view.getMap(), domain, sizes) : view.getMap();
    result.source = view.getOperand();
  }
  if (!map)
    return Decision::accept();
  std::optional<hlir::MapAttr> inverse =
      llir::invert(map, domain, hlir::getExtents(result.source), sizes);
  if (!inverse)
    return Decision::refuse("the last view does not move each element to a "
                            "place of its own",
                            yielded.getDefiningOp());
  result.toResult = *inverse;
  return Decision::accept();
}
