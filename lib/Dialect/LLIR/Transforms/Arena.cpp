//===- Arena.cpp - Offsets of values that share memory --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Arena.h"
#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

#include <limits>
#include <map>

using namespace luminal;
using namespace luminal::llir;

static constexpr int64_t kAlign = 64;

static Expr alignUp(const Expr &bytes, const Assumptions &symbols) {
  return symbols.simplify(Expr::ceilDiv(bytes, Expr(kAlign)) * Expr(kAlign));
}

namespace {
/// Finds the live ranges that overlap a given one without visiting the others.
/// A binary tree over the steps: each range is listed as covering the largest
/// nodes inside it, and as touching these nodes and all their ancestors.
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

  /// Finds the numbers of all ranges that overlap `range`; some occur
  /// repeatedly.
  void findOverlapping(const ArenaRequest &range,
                       llvm::SmallVectorImpl<unsigned> &found) const {
    forEachPart(range, [&](size_t node) {
      llvm::append_range(found, touching[node]);
      for (node /= 2; node > 0; node /= 2)
        llvm::append_range(found, covering[node]);
    });
  }

private:
  /// Visits the largest nodes that together are the steps of `range`.
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

/// Offsets of requests of known sizes.
struct Plan {
  std::vector<int64_t> begins, ends;
  int64_t total = std::numeric_limits<int64_t>::max();
};

/// A packer for known sizes: places requests one after the other, each in the
/// lowest gap, and keeps the best of several orders.
class Packer {
public:
  Packer(llvm::ArrayRef<ArenaRequest> requests, const Assumptions &symbols)
      : requests(requests),
        bound(static_cast<int64_t>(findPeak(requests, symbols).bytes)) {
    for (const ArenaRequest &request : requests)
      steps = std::max(steps, request.last + 1);
  }

  /// Tries orders that begin with `order`. The request at the top of a plan was
  /// placed too late, so the next order places it first.
  void improve(llvm::SmallVector<unsigned> order);

  const Plan &getBest() const { return best; }

private:
  Plan place(llvm::ArrayRef<unsigned> order);

  llvm::ArrayRef<ArenaRequest> requests;
  unsigned steps = 0;
  /// A lower bound of every plan.
  int64_t bound;
  Plan best;
  /// The pairs of requests compared so far, which limits the plans that long
  /// programs get.
  size_t compared = 0;
};
} // namespace

Plan Packer::place(llvm::ArrayRef<unsigned> order) {
  LiveRanges placed(steps);
  Plan plan;
  plan.begins.resize(requests.size());
  plan.ends.resize(requests.size());
  plan.total = 0;
  llvm::SmallVector<unsigned> others;
  for (unsigned i : order) {
    int64_t size = llvm::alignTo(*requests[i].bytes.asConstant(), kAlign);
    // Only requests with overlapping live ranges conflict.
    others.clear();
    placed.findOverlapping(requests[i], others);
    compared += others.size() + 1;
    llvm::sort(others, [&](unsigned a, unsigned b) {
      return plan.begins[a] != plan.begins[b] ? plan.begins[a] < plan.begins[b]
                                              : a < b;
    });
    int64_t begin = 0;
    for (unsigned other : others)
      if (plan.begins[other] < begin + size)
        begin = std::max(begin, plan.ends[other]);
    plan.begins[i] = begin;
    plan.ends[i] = begin + size;
    placed.add(requests[i], i);
    plan.total = std::max(plan.total, plan.ends[i]);
  }
  return plan;
}

void Packer::improve(llvm::SmallVector<unsigned> order) {
  constexpr int kMaxPlans = 64;
  constexpr size_t kMaxCompared = 1 << 18;
  for (int i = 0; i < kMaxPlans && best.total > bound; ++i) {
    if (compared > kMaxCompared)
      return;
    Plan plan = place(order);
    llvm::SmallVector<unsigned> next;
    for (bool isAtTop : {true, false})
      llvm::copy_if(order, std::back_inserter(next), [&](unsigned request) {
        return (plan.ends[request] == plan.total) == isAtTop;
      });
    order = std::move(next);
    if (plan.total < best.total)
      best = std::move(plan);
  }
}

/// A packer for sizes that are known only at run time: disjoint slots, each as
/// large as the largest request that uses it.
static Expr packSlots(llvm::ArrayRef<ArenaRequest> requests,
                      llvm::ArrayRef<unsigned> order,
                      const Assumptions &symbols,
                      llvm::SmallVectorImpl<Expr> &offsets) {
  struct Slot {
    /// The requests by first step; their live ranges are disjoint.
    std::map<unsigned, unsigned> members;
    Expr bytes;
    double nominal = 0;
  };
  std::vector<Slot> slots;
  for (unsigned i : order) {
    auto isFree = [&](const Slot &slot) {
      // The last request that begins no later than this one ends.
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
  // The bytes that requests add or release at each step.
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
  llvm::SmallVector<double> sizes, areas;
  for (const ArenaRequest &request : requests) {
    sizes.push_back(nominalValue(request.bytes, symbols));
    areas.push_back(sizes.back() * (request.last - request.first + 1));
  }
  auto getOrder = [&](llvm::ArrayRef<double> keys) {
    auto order = llvm::to_vector(llvm::seq<unsigned>(requests.size()));
    llvm::sort(order, [&](unsigned a, unsigned b) {
      return keys[a] != keys[b] ? keys[a] > keys[b] : a < b;
    });
    return order;
  };
  offsets.assign(requests.size(), Expr(0));
  if (!haveConstantSizes(requests))
    return packSlots(requests, getOrder(sizes), symbols, offsets);
  Packer packer(requests, symbols);
  packer.improve(getOrder(sizes));
  packer.improve(getOrder(areas));
  const Plan &plan = packer.getBest();
  for (auto [offset, begin] : llvm::zip_equal(offsets, plan.begins))
    offset = Expr(begin);
  return Expr(plan.total);
}
