//===- TransposedReads.cpp - Reads that are not contiguous ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/Analysis/TransposedReads.h"
#include "luminal/Dialect/LLIR/Analysis/ClampedAccess.h"

using namespace luminal;
using namespace mlir;

Domain luminal::findMapDomain(KernelAnalysis &a) {
  return findDomain(
      a, getResultExtents(a.kernel, 0),
      [&](const Index &index, function_ref<void(const Leaf &)> visit) {
        for (Value yielded : getYielded(a.kernel))
          a.walk(yielded, index, visit);
        visit({nullptr, a.getResultAddress(0, index)});
      });
}

/// Returns the axis along which everything read for `v` is contiguous;
/// std::nullopt if it is contiguous along the last axis or along none.
static std::optional<size_t> findAxis(KernelAnalysis &a, Value v,
                                      const Domain &domain,
                                      ClampedReads clamped) {
  std::optional<size_t> axis;
  bool agree = true;
  a.walk(v, domain.index, [&](const Leaf &leaf) {
    std::optional<size_t> along;
    for (size_t i = 0; i < domain.dims.size(); ++i) {
      auto linear = leaf.address.linearIn(domain.dims[i]);
      const bool isClamped =
          !linear && clamped == ClampedReads::Contiguous &&
          findClampedAccess(leaf.address, domain.dims[i], a.getAssumptions());
      agree &= linear || isClamped;
      if ((isClamped || (linear && linear->stride.isConstant(1))) &&
          !domain.extents[i].isConstant(1))
        along = i;
    }
    // A value that is constant along the last axis is read once and needs no
    // transpose.
    agree &= leaf.argument && along && *along + 1 < domain.dims.size() &&
             leaf.address.usesDim(domain.dims.back()) &&
             (!axis || axis == along);
    axis = along;
  });
  return agree ? axis : std::nullopt;
}

TransposedReads luminal::findTransposedReads(KernelAnalysis &a,
                                             const Domain &domain,
                                             ClampedReads clamped) {
  TransposedReads reads;
  if (domain.dims.size() < 2)
    return reads;
  llvm::MapVector<Operation *, bool> views;
  for (Value yielded : getYielded(a.kernel))
    a.walk(
        yielded, domain.index, [](const Leaf &) {},
        [&](Value v, const Index &index) {
          if (isa<llir::ViewOp>(v.getDefiningOp())) {
            auto [it, isNew] = views.insert({v.getDefiningOp(), true});
            it->second &= index == domain.index;
          }
        });
  for (auto [op, isAtIndex] : views) {
    if (!isAtIndex)
      continue;
    std::optional<size_t> axis = findAxis(a, op->getResult(0), domain, clamped);
    if (!axis || (!reads.ops.empty() && *axis != reads.axis))
      continue;
    reads.axis = *axis;
    reads.ops.push_back(op);
  }
  return reads;
}
