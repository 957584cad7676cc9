//===- MapKernel.cpp - Kernels of independent elements --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Kernels.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace luminal;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Shared by all kinds
//===----------------------------------------------------------------------===//

int64_t luminal::getElementCost(llir::KernelOp kernel) {
  int64_t cost = 1;
  for (Operation &op : kernel.getBody().front())
    if (auto e = dyn_cast<llir::ElementwiseOp>(op))
      cost += llir::getFlops(e.getFn());
    else if (isa<llir::GatherOp>(op))
      cost += 4;
  return cost;
}

Expr luminal::getGrain(const Expr &cost) {
  // About ten microseconds of vector code: below that, waking a thread does not
  // pay.
  constexpr int64_t kLeast = 1 << 17;
  return Expr::max(1, Expr::ceilDiv(kLeast, Expr::max(1, cost)));
}

unsigned luminal::chooseLanes(const Expr &extent, unsigned most) {
  std::optional<int64_t> n = extent.asConstant();
  while (n && most > 1 && int64_t(most / 2) >= *n)
    most /= 2;
  return most;
}

void luminal::setDims(Emitter &e, ArrayRef<unsigned> dims,
                      ArrayRef<Expr> extents, Value linear) {
  for (size_t i = dims.size(); i-- > 0;) {
    if (i == 0) {
      e.setDim(dims[0], linear);
      break;
    }
    // Where there is work, no extent is 0.
    Value extent = e.value(extents[i]);
    e.setDim(dims[i], e.remU(linear, extent));
    linear = e.divU(linear, extent);
  }
}

Units luminal::makeUnits(const Domain &domain, int64_t chunk) {
  if (domain.dims.empty())
    return {1, 1, 0};
  ArrayRef<Expr> outer = ArrayRef(domain.extents).drop_back();
  Expr rows = product({outer.begin(), outer.end()});
  const Expr &n = domain.extents.back();
  std::optional<int64_t> known = n.asConstant();
  if (!chunk || (known && *known <= 2 * chunk))
    return {rows, n, 0};
  return {rows * Expr::ceilDiv(n, chunk), Expr::min(n, chunk), chunk};
}

void luminal::emitUnit(Emitter &e, const Domain &domain, const Units &units,
                       Value unit, function_ref<void(Value, Value)> body) {
  if (domain.dims.empty()) {
    body(e.constant(0), e.constant(1));
    return;
  }
  const Expr &n = domain.extents.back();
  Value lo = e.constant(0), hi = e.value(n), row = unit;
  if (units.chunk) {
    Value chunks = e.value(Expr::ceilDiv(n, units.chunk));
    Value chunk = unit;
    if (domain.dims.size() > 1) {
      chunk = e.remU(unit, chunks);
      row = e.divU(unit, chunks);
    }
    Value size = e.constant(units.chunk);
    lo = e.mul(chunk, size);
    Value end = e.add(lo, size);
    std::optional<int64_t> known = n.asConstant();
    hi = known && *known % units.chunk == 0 ? end : e.minS(end, hi);
  }
  if (domain.dims.size() > 1)
    setDims(e, ArrayRef(domain.dims).drop_back(),
            ArrayRef(domain.extents).drop_back(), row);
  body(lo, hi);
}

//===----------------------------------------------------------------------===//
// map and gather
//===----------------------------------------------------------------------===//

WorkShape luminal::emitMapKernel(Emitter &e, const WorkLoop &loop) {
  SmallVector<Expr> extents = getResultExtents(e.kernel, 0);
  ValueRange yielded = getYielded(e.kernel);
  auto walk = [&](const Index &index, function_ref<void(const Leaf &)> visit) {
    for (Value v : yielded)
      e.walk(v, index, visit);
    visit({nullptr,
           e.simplify(linearize(index, {extents.begin(), extents.end()}))});
  };
  Domain domain = makeDomain(e, extents, walk);
  Units units = makeUnits(domain, loop.single ? 1 : 4096);
  auto element = [&] {
    // All are computed before any is written.
    SmallVector<Value> values;
    for (Value v : yielded)
      values.push_back(e.emit(v, domain.index));
    for (auto [i, v] : llvm::enumerate(values))
      e.store(i, domain.index, v);
  };
  Emitter::Repeated repeated(e, {domain.extents.begin(), domain.extents.end()});
  e.forLoop(loop.begin, loop.end, loop.step, [&](Value unit) {
    emitUnit(e, domain, units, unit, [&](Value lo, Value hi) {
      if (domain.dims.empty())
        return element();
      unsigned inner = domain.dims.back();
      if (units.chunk == 1) {
        e.setDim(inner, lo);
        return element();
      }
      e.laneLoop(inner, lo, hi, chooseLanes(domain.extents.back(), e.maxLanes),
                 element);
    });
  });
  return {units.count, getGrain(units.length * getElementCost(e.kernel)), 0};
}
