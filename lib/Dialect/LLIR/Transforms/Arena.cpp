//===- Arena.cpp - Offsets of values that share memory --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Arena.h"
#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <map>

using namespace luminal;
using namespace luminal::llir;

static constexpr int64_t kAlign = 64;

static bool overlapInTime(const ArenaRequest &a, const ArenaRequest &b) {
  return a.first <= b.last && b.first <= a.last;
}

static Expr alignUp(const Expr &bytes, const Assumptions &symbols) {
  return symbols.simplify(Expr::ceilDiv(bytes, Expr(kAlign)) * Expr(kAlign));
}

/// All sizes are known: first fit by decreasing size, at the lowest gap.
static Expr packConstants(llvm::ArrayRef<ArenaRequest> requests,
                          llvm::ArrayRef<unsigned> order,
                          llvm::SmallVectorImpl<Expr> &offsets) {
  struct Placed {
    int64_t begin, end;
    unsigned request;
  };
  llvm::SmallVector<Placed> placed;
  int64_t total = 0;
  for (unsigned i : order) {
    int64_t size = llvm::alignTo(*requests[i].bytes.asConstant(), kAlign);
    // In order of offset; only requests with overlapping live ranges conflict.
    int64_t begin = 0;
    for (const Placed &other : placed)
      if (overlapInTime(requests[i], requests[other.request]) &&
          other.begin < begin + size)
        begin = std::max(begin, other.end);
    Placed place = {begin, begin + size, i};
    placed.insert(llvm::upper_bound(placed, place,
                                    [](const Placed &a, const Placed &b) {
                                      return a.begin < b.begin;
                                    }),
                  place);
    offsets[i] = Expr(begin);
    total = std::max(total, place.end);
  }
  return Expr(total);
}

/// Sizes are known only at run time: disjoint slots, each as large as the
/// largest request that uses it.
static Expr packSlots(llvm::ArrayRef<ArenaRequest> requests,
                      llvm::ArrayRef<unsigned> order,
                      const Assumptions &symbols,
                      llvm::SmallVectorImpl<Expr> &offsets) {
  struct Slot {
    llvm::SmallVector<unsigned> members;
    Expr bytes;
  };
  llvm::SmallVector<Slot> slots;
  for (unsigned i : order) {
    auto isFree = [&](const Slot &slot) {
      return llvm::none_of(slot.members, [&](unsigned member) {
        return overlapInTime(requests[i], requests[member]);
      });
    };
    // The smallest free slot: later requests are smaller.
    Slot *best = nullptr;
    for (Slot &slot : slots)
      if (isFree(slot) && (!best || nominalValue(slot.bytes, symbols) <
                                        nominalValue(best->bytes, symbols)))
        best = &slot;
    if (!best)
      best = &slots.emplace_back();
    best->members.push_back(i);
    best->bytes = symbols.simplify(Expr::max(best->bytes, requests[i].bytes));
  }
  Expr total = 0;
  for (const Slot &slot : slots) {
    for (unsigned member : slot.members)
      offsets[member] = total;
    total = total + alignUp(slot.bytes, symbols);
  }
  return symbols.simplify(total);
}

bool llir::haveConstantSizes(llvm::ArrayRef<ArenaRequest> requests) {
  return llvm::all_of(requests, [](const ArenaRequest &request) {
    return request.bytes.asConstant().has_value();
  });
}

Expr llir::getBytes(mlir::Value value) {
  auto type = llvm::cast<mlir::RankedTensorType>(value.getType());
  llvm::SmallVector<Expr> extents = hlir::getExtents(type);
  return product({extents.begin(), extents.end()}) *
         Expr(dtypeSize(*hlir::getDType(type.getElementType())));
}

ArenaPeak llir::findPeak(llvm::ArrayRef<ArenaRequest> requests,
                         const Assumptions &symbols) {
  // The requests that begin and end at each step.
  std::map<unsigned, double> changes;
  for (const ArenaRequest &request : requests) {
    double bytes = nominalValue(alignUp(request.bytes, symbols), symbols);
    changes[request.first] += bytes;
    changes[request.last + 1] -= bytes;
  }
  ArenaPeak peak;
  double live = 0;
  for (auto [step, change] : changes) {
    live += change;
    if (live > peak.bytes)
      peak = {live, step};
  }
  return peak;
}

Expr llir::packArena(llvm::ArrayRef<ArenaRequest> requests,
                     const Assumptions &symbols,
                     llvm::SmallVectorImpl<Expr> &offsets) {
  llvm::SmallVector<double> sizes;
  llvm::SmallVector<unsigned> order;
  for (auto [i, request] : llvm::enumerate(requests)) {
    sizes.push_back(nominalValue(request.bytes, symbols));
    order.push_back(i);
  }
  llvm::sort(order, [&](unsigned a, unsigned b) {
    return sizes[a] != sizes[b] ? sizes[a] > sizes[b] : a < b;
  });
  offsets.assign(requests.size(), Expr(0));
  if (haveConstantSizes(requests))
    return packConstants(requests, order, offsets);
  return packSlots(requests, order, symbols, offsets);
}
