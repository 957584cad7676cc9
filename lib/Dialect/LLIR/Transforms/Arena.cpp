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

static Expr alignUp(const Expr &bytes, const Assumptions &symbols) {
  return symbols.simplify(Expr::ceilDiv(bytes, Expr(kAlign)) * Expr(kAlign));
}

namespace {
/// Live ranges by steps: those that overlap a given one are found without a
/// look at the others. A tree of halves of the steps: a range is listed as
/// covering the largest nodes that lie in it, and as touching all nodes above
/// and including them.
class LiveRanges {
public:
  explicit LiveRanges(unsigned steps)
      : leaves(llvm::PowerOf2Ceil(std::max(1u, steps))), covering(2 * leaves),
        touching(2 * leaves) {}

  void add(const ArenaRequest &range, unsigned number) {
    forEachPart(range, [&](size_t node) {
      covering[node].push_back(number);
      for (; node > 0; node /= 2)
        if (touching[node].empty() || touching[node].back() != number)
          touching[node].push_back(number);
    });
  }

  /// The numbers of all ranges that overlap `range`; some more than once.
  void findOverlapping(const ArenaRequest &range,
                       llvm::SmallVectorImpl<unsigned> &found) const {
    forEachPart(range, [&](size_t node) {
      llvm::append_range(found, touching[node]);
      for (node /= 2; node > 0; node /= 2)
        llvm::append_range(found, covering[node]);
    });
  }

private:
  /// The largest nodes that together are the steps of `range`.
  template <typename Fn>
  void forEachPart(const ArenaRequest &range, Fn fn) const {
    size_t begin = leaves + range.first, end = leaves + range.last + 1;
    for (; begin < end; begin /= 2, end /= 2) {
      if (begin % 2)
        fn(begin++);
      if (end % 2)
        fn(--end);
    }
  }

  size_t leaves;
  /// Node 1 is the root, 2i and 2i + 1 are the halves of node i.
  std::vector<llvm::SmallVector<unsigned, 0>> covering, touching;
};
} // namespace

/// All sizes are known: first fit by decreasing size, at the lowest gap.
static Expr packConstants(llvm::ArrayRef<ArenaRequest> requests,
                          llvm::ArrayRef<unsigned> order,
                          llvm::SmallVectorImpl<Expr> &offsets) {
  unsigned steps = 0;
  for (const ArenaRequest &request : requests)
    steps = std::max(steps, request.last + 1);
  LiveRanges placed(steps);
  std::vector<int64_t> begins(requests.size()), ends(requests.size());
  int64_t total = 0;
  llvm::SmallVector<unsigned> others;
  for (unsigned i : order) {
    int64_t size = llvm::alignTo(*requests[i].bytes.asConstant(), kAlign);
    // Only requests with overlapping live ranges conflict.
    others.clear();
    placed.findOverlapping(requests[i], others);
    llvm::sort(others, [&](unsigned a, unsigned b) {
      return begins[a] != begins[b] ? begins[a] < begins[b] : a < b;
    });
    int64_t begin = 0;
    for (unsigned other : others)
      if (begins[other] < begin + size)
        begin = std::max(begin, ends[other]);
    begins[i] = begin;
    ends[i] = begin + size;
    placed.add(requests[i], i);
    offsets[i] = Expr(begin);
    total = std::max(total, ends[i]);
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
    /// By first step; their live ranges are disjoint.
    std::map<unsigned, unsigned> members;
    Expr bytes;
    double nominal = 0;
  };
  std::vector<Slot> slots;
  for (unsigned i : order) {
    auto isFree = [&](const Slot &slot) {
      // The last one that begins no later than this one ends.
      auto after = slot.members.upper_bound(requests[i].last);
      return after == slot.members.begin() ||
             requests[std::prev(after)->second].last < requests[i].first;
    };
    // The smallest free slot: later requests are smaller.
    Slot *best = nullptr;
    for (Slot &slot : slots)
      if ((!best || slot.nominal < best->nominal) && isFree(slot))
        best = &slot;
    if (!best)
      best = &slots.emplace_back();
    best->members[requests[i].first] = i;
    Expr bytes = symbols.simplify(Expr::max(best->bytes, requests[i].bytes));
    if (bytes != best->bytes) {
      best->bytes = bytes;
      best->nominal = nominalValue(bytes, symbols);
    }
  }
  Expr total = 0;
  for (const Slot &slot : slots) {
    for (auto [first, member] : slot.members)
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
