//===- Recurrence.cpp - Repeated subgraphs as loops -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/HLIR/Transforms/Recurrence.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace mlir;
using namespace luminal::hlir;

//===----------------------------------------------------------------------===//
// Labels
//===----------------------------------------------------------------------===//

static bool isConstant(Operation *op) {
  return op->hasTrait<OpTrait::ConstantLike>();
}

/// Whether ops that differ in their properties may be read from outside as
/// values per trip: constants, and views at different positions.
static bool mayDiffer(Operation *op) {
  return isConstant(op) || isa<ViewOp>(op);
}

/// Whether two maps differ only by constants.
static bool areShifted(MapAttr a, MapAttr b) {
  return a.getNumDims() == b.getNumDims() &&
         llvm::all_of_zip(a.getResults(), b.getResults(),
                          [](const luminal::Expr &x, const luminal::Expr &y) {
                            return x == y || (x - y).asConstant();
                          });
}

/// Whether the ops are the same except for their operands. Constants may differ
/// from trip to trip.
static bool areAlike(Operation *a, Operation *b) {
  return a->getName() == b->getName() &&
         a->getDiscardableAttrDictionary() ==
             b->getDiscardableAttrDictionary() &&
         a->getResultTypes() == b->getResultTypes() &&
         llvm::equal(a->getOperandTypes(), b->getOperandTypes()) &&
         (isConstant(a) ||
          a->getName().compareOpProperties(a->getPropertiesStorage(),
                                           b->getPropertiesStorage()) ||
          (isa<ViewOp>(a) &&
           areShifted(cast<ViewOp>(a).getMap(), cast<ViewOp>(b).getMap())));
}

/// A label for each op, equal for ops that are alike. Ops that cannot be in a
/// loop body have unique labels.
static std::vector<unsigned> getLabels(ArrayRef<Operation *> ops) {
  std::vector<unsigned> labels;
  DenseMap<uint64_t, SmallVector<std::pair<Operation *, unsigned>, 1>> known;
  unsigned next = 0;
  for (Operation *op : ops) {
    if (op->getNumRegions() != 0 || !isMemoryEffectFree(op) ||
        op->hasTrait<OpTrait::IsTerminator>()) {
      labels.push_back(next++);
      continue;
    }
    llvm::hash_code hash = llvm::hash_combine(
        op->getName(), llvm::hash_combine_range(op->getResultTypes()),
        llvm::hash_combine_range(op->getOperandTypes()));
    if (!mayDiffer(op))
      hash = llvm::hash_combine(hash, op->hashProperties());
    auto &same = known[hash];
    auto *it = llvm::find_if(
        same, [&](const auto &entry) { return areAlike(entry.first, op); });
    if (it == same.end()) {
      same.push_back({op, next++});
      it = std::prev(same.end());
    }
    labels.push_back(it->second);
  }
  return labels;
}

/// The bytes of a value, with unknown extents counted as 64. Only used to rank
/// cuts.
static uint64_t estimateBytes(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.getElementType().isIntOrFloat())
    return 1;
  uint64_t bytes = std::max(1u, type.getElementTypeBitWidth() / 8);
  for (int64_t extent : type.getShape())
    bytes *= ShapedType::isDynamic(extent) ? 64 : uint64_t(extent);
  return bytes;
}

//===----------------------------------------------------------------------===//
// A candidate
//===----------------------------------------------------------------------===//

namespace {
/// Ops [start, start + trips * period) of the order, as trips of `period` ops.
struct Window {
  unsigned start, period, trips;
};

/// The kind of an operand in all trips; Captured is any value from outside.
using Read = Recurrence::Read;

class Candidate {
public:
  Candidate(const Dataflow &flow, ArrayRef<unsigned> labels)
      : flow(flow), labels(labels) {}

  /// Fails, with the reason in *why, unless the window's operands form a loop
  /// of at least two trips. Trips at either end are dropped if the others form
  /// one.
  bool take(Window window, StringRef &why);
  /// Adds trips before the first one; their ops may be anywhere in the order.
  void extend();
  unsigned getNumTrips() const { return trips.size(); }
  uint64_t getCarriedBytes() const;
  Recurrence finish();

private:
  bool classify(StringRef &why);
  bool isClassified(unsigned position, unsigned operand, StringRef &why);
  bool addTripBefore();
  bool readsOutside() const;
  bool wouldCycle(ArrayRef<Operation *> added) const;

  struct Place {
    unsigned trip, position, result;
  };
  /// The position of the value in a trip; std::nullopt if it is from outside.
  std::optional<Place> find(Value value) const;
  Operation *at(unsigned trip, unsigned position) const {
    return flow.getOps()[window.start + trip * window.period + position];
  }

  const Dataflow &flow;
  ArrayRef<unsigned> labels;
  Window window = {};
  /// Constants and views that differ between trips; they are read from outside.
  std::vector<bool> isOutside;
  std::vector<SmallVector<Read, 3>> reads;
  /// After classification: the ops by trip and position, including all
  /// positions.
  std::vector<std::vector<Operation *>> trips;
};
} // namespace

std::optional<Candidate::Place> Candidate::find(Value value) const {
  std::optional<unsigned> index = flow.getIndex(value);
  if (!index || *index < window.start ||
      *index >= window.start + window.trips * window.period)
    return std::nullopt;
  unsigned offset = *index - window.start;
  Place place{offset / window.period, offset % window.period,
              cast<OpResult>(value).getResultNumber()};
  if (isOutside[place.position])
    return std::nullopt;
  return place;
}

/// Classifies an operand by a trip in the middle. If trips at one end disagree,
/// they are removed from the window, which is then classified again.
bool Candidate::isClassified(unsigned position, unsigned operand,
                             StringRef &why) {
  auto get = [&](unsigned trip) {
    return at(trip, position)->getOperand(operand);
  };
  unsigned middle = window.trips / 2;
  auto dropBefore = [&](unsigned trip) {
    window.start += trip * window.period;
    window.trips -= trip;
    return false;
  };
  std::optional<Place> place = find(get(middle));
  Read &read = reads[position][operand];
  read = {Read::Captured, {}, 0};
  if (place && isOutside[position]) {
    why = "trips read different positions of a value of another trip";
    window.trips = 0;
    return false;
  }
  if (place) {
    read.value = {place->position, place->result};
    if (place->trip == middle)
      read.kind = Read::Inner;
    else if (place->trip + 1 == middle)
      read.kind = Read::Carried;
    else {
      why = "a trip reads values of trips before the last one";
      return dropBefore(place->trip + 1);
    }
  }
  for (unsigned trip = 0; trip != window.trips; ++trip) {
    std::optional<Place> here = find(get(trip));
    bool isFirst = read.kind == Read::Carried && trip == 0;
    bool agrees =
        isFirst || read.kind == Read::Captured
            ? !here
            : here && BodyValue{here->position, here->result} == read.value &&
                  here->trip + (read.kind == Read::Carried) == trip;
    if (agrees)
      continue;
    why = "trips read values at different positions";
    if (trip < middle)
      return dropBefore(trip + 1);
    window.trips = trip;
    return false;
  }
  return true;
}

bool Candidate::classify(StringRef &why) {
  isOutside.assign(window.period, false);
  reads.assign(window.period, {});
  for (unsigned p = 0; p != window.period; ++p) {
    Operation *first = at(0, p);
    if (mayDiffer(first))
      for (unsigned trip = 1; trip != window.trips; ++trip)
        isOutside[p] =
            isOutside[p] || at(trip, p)->getPropertiesAsAttribute() !=
                                first->getPropertiesAsAttribute();
    reads[p].resize(first->getNumOperands());
  }
  for (unsigned p = 0; p != window.period; ++p)
    for (unsigned k = 0; k != reads[p].size(); ++k)
      if (!isClassified(p, k, why))
        return false;
  return true;
}

bool Candidate::take(Window proposed, StringRef &why) {
  window = proposed;
  // The window shrinks in each iteration.
  while (window.trips >= 2)
    if (classify(why)) {
      for (unsigned trip = 0; trip != window.trips; ++trip) {
        std::vector<Operation *> &ops = trips.emplace_back();
        for (unsigned p = 0; p != window.period; ++p)
          ops.push_back(at(trip, p));
      }
      return true;
    }
  return false;
}

void Candidate::extend() {
  while (addTripBefore())
    ;
}

/// Follows the initial carried values to the ops that computed them. If these
/// are alike, they are an earlier trip.
bool Candidate::addTripBefore() {
  const std::vector<Operation *> &first = trips.front();
  std::vector<Operation *> added(window.period);
  SmallVector<unsigned> list;
  DenseSet<Operation *> isTaken;
  for (const std::vector<Operation *> &trip : trips)
    isTaken.insert(trip.begin(), trip.end());
  auto assign = [&](BodyValue to, Value value) {
    auto result = dyn_cast<OpResult>(value);
    std::optional<unsigned> index = flow.getIndex(value);
    if (!index || result.getResultNumber() != to.result)
      return false;
    Operation *op = result.getOwner();
    if (added[to.position])
      return added[to.position] == op;
    Operation *other = first[to.position];
    if (labels[*index] != labels[*flow.getIndex(other)] ||
        (mayDiffer(op) &&
         op->getPropertiesAsAttribute() != other->getPropertiesAsAttribute()) ||
        !isTaken.insert(op).second)
      return false;
    added[to.position] = op;
    list.push_back(to.position);
    return true;
  };
  for (unsigned p = 0; p != window.period; ++p)
    for (auto [k, read] : llvm::enumerate(reads[p]))
      if (read.kind == Read::Carried &&
          !assign(read.value, first[p]->getOperand(k)))
        return false;
  for (unsigned i = 0; i != list.size(); ++i)
    for (auto [k, read] : llvm::enumerate(reads[list[i]]))
      if (read.kind == Read::Inner &&
          !assign(read.value, added[list[i]]->getOperand(k)))
        return false;
  if (list.empty())
    return false;
  for (unsigned p = 0; p != window.period; ++p)
    if (!isOutside[p] && !added[p])
      return false;
  for (unsigned p = 0; p != window.period; ++p)
    if (isOutside[p])
      added[p] = first[p]; // stands for none
  trips.insert(trips.begin(), added);
  if (readsOutside() && !wouldCycle(added))
    return true;
  trips.erase(trips.begin());
  return false;
}

/// Whether no trip computes what the trips read from outside.
bool Candidate::readsOutside() const {
  DenseSet<Operation *> isTrip;
  for (const std::vector<Operation *> &trip : trips)
    for (auto [p, op] : llvm::enumerate(trip))
      if (!isOutside[p])
        isTrip.insert(op);
  for (auto [t, trip] : llvm::enumerate(trips))
    for (auto [p, op] : llvm::enumerate(trip))
      for (auto [k, read] : llvm::enumerate(reads[p]))
        if ((read.kind == Read::Captured ||
             (read.kind == Read::Carried && t == 0)) &&
            isTrip.contains(op->getOperand(k).getDefiningOp()))
          return false;
  return true;
}

/// Whether a value that the trips read from outside depends on one of them.
bool Candidate::wouldCycle(ArrayRef<Operation *> added) const {
  DenseSet<Operation *> isTrip, depends;
  for (const std::vector<Operation *> &trip : trips)
    for (auto [p, op] : llvm::enumerate(trip))
      if (!isOutside[p])
        isTrip.insert(op);
  unsigned begin = flow.getOps().size(), end = window.start;
  for (auto [p, op] : llvm::enumerate(added))
    if (!isOutside[p])
      begin = std::min(begin, *flow.getIndex(op));
  for (unsigned i = begin; i < end; ++i) {
    Operation *op = flow.getOps()[i];
    if (!isTrip.contains(op))
      forEachRead(op, [&](Value value) {
        Operation *def = value.getDefiningOp();
        if (def && (isTrip.contains(def) || depends.contains(def)))
          depends.insert(op);
      });
  }
  for (const std::vector<Operation *> &trip : trips)
    for (auto [p, op] : llvm::enumerate(trip))
      for (Value operand : op->getOperands())
        if (!isOutside[p] && depends.contains(operand.getDefiningOp()))
          return true;
  return false;
}

Recurrence Candidate::finish() {
  Recurrence made;
  std::vector<unsigned> newPosition(window.period);
  for (unsigned p = 0, n = 0; p != window.period; ++p)
    newPosition[p] = isOutside[p] ? 0 : n++;
  for (const std::vector<Operation *> &trip : trips) {
    std::vector<Operation *> &ops = made.trips.emplace_back();
    for (auto [p, op] : llvm::enumerate(trip))
      if (!isOutside[p])
        ops.push_back(op);
  }
  std::map<std::vector<const void *>, unsigned> lists;
  for (unsigned p = 0; p != window.period; ++p) {
    if (isOutside[p])
      continue;
    SmallVector<Read, 3> &mine = made.reads.emplace_back(reads[p]);
    for (auto [k, read] : llvm::enumerate(mine)) {
      read.value.position = newPosition[read.value.position];
      if (read.kind == Read::Inner)
        continue;
      if (read.kind == Read::Carried) {
        Value initial = trips.front()[p]->getOperand(k);
        auto *it = llvm::find_if(made.carried, [&](const auto &c) {
          return c.initial == initial && c.next == read.value;
        });
        read.index = it - made.carried.begin();
        if (it == made.carried.end())
          made.carried.push_back({initial, read.value});
        continue;
      }
      SmallVector<Value> values;
      std::vector<const void *> key;
      for (const std::vector<Operation *> &trip : trips) {
        values.push_back(trip[p]->getOperand(k));
        key.push_back(values.back().getAsOpaquePointer());
      }
      if (llvm::all_equal(values))
        continue;
      read.kind = Read::Each;
      auto [it, isNew] = lists.try_emplace(key, made.each.size());
      read.index = it->second;
      if (isNew)
        made.each.push_back(values);
    }
  }
  return made;
}

uint64_t Candidate::getCarriedBytes() const {
  uint64_t bytes = 0;
  DenseSet<Value> seen;
  for (unsigned p = 0; p != window.period; ++p)
    for (auto [k, read] : llvm::enumerate(reads[p])) {
      Value value = trips.back()[p]->getOperand(k);
      if (read.kind == Read::Carried && seen.insert(value).second)
        bytes += estimateBytes(value);
    }
  return bytes;
}

//===----------------------------------------------------------------------===//
// Proposals
//===----------------------------------------------------------------------===//

/// The smallest body that is considered, regardless of the number of trips.
static constexpr unsigned kLeastOps = 4;

/// Distances within [least, most] at which runs of `width` labels recur, and
/// how often.
static std::map<unsigned, unsigned> countPeriods(ArrayRef<unsigned> labels,
                                                 unsigned width, unsigned least,
                                                 unsigned most) {
  constexpr uint64_t kBase = 0x9E3779B97F4A7C15;
  uint64_t hash = 0, top = 1;
  for (unsigned i = 0; i != width; ++i)
    top *= kBase;
  DenseMap<uint64_t, unsigned> last;
  std::map<unsigned, unsigned> counts;
  for (unsigned i = 0; i != labels.size(); ++i) {
    hash = hash * kBase + labels[i] + 1;
    if (i >= width)
      hash -= top * (labels[i - width] + 1);
    if (i + 1 < width)
      continue;
    // The two largest keys are reserved by the map.
    auto [it, isNew] = last.try_emplace(hash >> 1, i);
    if (!isNew) {
      const unsigned period = i - it->second;
      if (period >= least && period <= most)
        ++counts[period];
      it->second = i;
    }
  }
  return counts;
}

/// Candidate periods, the most frequent first. Short bodies, which need many
/// trips, come last.
static SmallVector<unsigned> getPeriods(ArrayRef<unsigned> labels,
                                        const RecurrenceLimits &limits) {
  constexpr unsigned kWidth = 8, kMost = 16, kMostShort = 8;
  SmallVector<unsigned> periods;
  auto add = [&](const std::map<unsigned, unsigned> &counts, unsigned most) {
    SmallVector<std::pair<unsigned, unsigned>> ranked(counts.begin(),
                                                      counts.end());
    llvm::stable_sort(ranked, [](const auto &a, const auto &b) {
      return a.second > b.second;
    });
    for (auto &[period, count] :
         ArrayRef(ranked).take_front(std::min<size_t>(ranked.size(), most)))
      periods.push_back(period);
  };
  add(countPeriods(labels, std::min(limits.minOps, kWidth), limits.minOps,
                   labels.size()),
      kMost);
  if (limits.minOps > kLeastOps)
    add(countPeriods(labels, kLeastOps, kLeastOps, limits.minOps - 1),
        kMostShort);
  return periods;
}

/// Offsets in [0, period) at which a trip may begin, in order of the bytes that
/// are carried across. Ops [begin, end) repeat with that period.
static SmallVector<unsigned> getCuts(const Dataflow &flow, unsigned begin,
                                     unsigned end, unsigned period) {
  constexpr unsigned kMaxCuts = 6;
  // The results of one trip's ops, and the last op that reads each.
  unsigned first = end - begin >= 3 * period ? begin + period : begin;
  SmallVector<unsigned> lastRead(period, 0);
  unsigned readEnd = std::min(end, first + 2 * period);
  for (unsigned i = first; i != readEnd; ++i)
    for (Value operand : flow.getOps()[i]->getOperands())
      if (std::optional<unsigned> def = flow.getIndex(operand);
          def && *def >= first && *def < first + period)
        lastRead[*def - first] = i - *def;
  std::vector<int64_t> change(2 * period + 1, 0);
  for (unsigned p = 0; p != period; ++p) {
    Operation *op = flow.getOps()[first + p];
    unsigned reach = std::min(lastRead[p], 2 * period - p - 1);
    if (reach == 0 || isConstant(op))
      continue;
    int64_t bytes = 0;
    for (Value result : op->getResults())
      bytes += estimateBytes(result);
    change[p + 1] += bytes;
    change[p + reach + 1] -= bytes;
  }
  SmallVector<int64_t> cost(period, 0);
  int64_t live = 0;
  for (unsigned i = 0; i != 2 * period; ++i) {
    live += change[i];
    cost[(first - begin + i) % period] += live;
  }
  SmallVector<unsigned> cuts = llvm::to_vector(llvm::seq(0u, period));
  llvm::stable_sort(cuts,
                    [&](unsigned a, unsigned b) { return cost[a] < cost[b]; });
  cuts.truncate(std::min<size_t>(cuts.size(), kMaxCuts));
  return cuts;
}

/// Whether a short body is a step of a recurrence, such as one over time: it
/// computes with what it carries. A chain of selects, such as a concatenation,
/// only passes values on.
static bool isStep(const Recurrence &loop, const RecurrenceLimits &limits) {
  if (loop.getSaving() < limits.minSaved)
    return false;
  // Positions that depend on carried values, and positions that compute with
  // them.
  std::vector<bool> depends(loop.getNumOps()), computes(loop.getNumOps());
  for (unsigned p = 0; p != loop.getNumOps(); ++p) {
    for (const Recurrence::Read &read : loop.reads[p]) {
      const bool isInner = read.kind == Recurrence::Read::Inner;
      depends[p] = depends[p] || read.kind == Recurrence::Read::Carried ||
                   (isInner && depends[read.value.position]);
      computes[p] = computes[p] || (isInner && computes[read.value.position]);
    }
    if (depends[p] && !isa<SelectOp, ViewOp>(loop.trips[0][p]))
      computes[p] = true;
  }
  return llvm::any_of(loop.carried, [&](const auto &carried) {
    return computes[carried.next.position];
  });
}

std::optional<Recurrence> luminal::hlir::findRecurrence(
    const Dataflow &flow, const RecurrenceLimits &limits,
    function_ref<void(Operation *, unsigned, StringRef)> missed) {
  std::vector<unsigned> labels = getLabels(flow.getOps());
  const unsigned n = labels.size();
  std::optional<Recurrence> best;
  std::pair<uint64_t, int64_t> bestRank;
  for (unsigned period : getPeriods(labels, limits)) {
    for (unsigned begin = 0; begin + period < n;) {
      unsigned end = begin;
      while (end + period < n && labels[end] == labels[end + period])
        ++end;
      unsigned next = end + 1;
      end += period;
      // An earlier trip may be found by following the carried values.
      if (end - begin < period * std::max(limits.minTrips - 1, 2u) ||
          limits.minTrips < 2) {
        begin = next;
        continue;
      }
      StringRef why = "fewer trips than min-trips";
      bool isTaken = false;
      for (unsigned cut : getCuts(flow, begin, end, period)) {
        unsigned start = begin + cut;
        if (start + 2 * period > end)
          continue;
        Candidate candidate(flow, labels);
        if (!candidate.take({start, period, (end - start) / period}, why))
          continue;
        candidate.extend();
        if (candidate.getNumTrips() < limits.minTrips)
          continue;
        Recurrence made = candidate.finish();
        if (made.getNumOps() < limits.minOps && !isStep(made, limits)) {
          why = "fewer ops than min-ops";
          continue;
        }
        isTaken = true;
        std::pair<uint64_t, int64_t> rank{
            made.getSaving(), -int64_t(candidate.getCarriedBytes())};
        if (!best || rank > bestRank) {
          best = std::move(made);
          bestRank = rank;
        }
      }
      if (!isTaken)
        missed(flow.getOps()[begin], end - begin, why);
      begin = next;
    }
  }
  return best;
}
