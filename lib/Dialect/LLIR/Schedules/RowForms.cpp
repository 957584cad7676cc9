//===- RowForms.cpp - Reductions of rows, pass by pass --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The index space is that of the reductions' operands: the grid cuts the rows,
// the stream is the reduced dim. Every reduction has the form `pass`, one walk
// over the row, or joins the walk of an earlier one whose result it does not
// need (`with`); results of the whole space's shape are written by a last one.
// With lanes on the stream vectors run along a row, with lanes on the grid
// across rows; `lanes` of a pass hold where its elements are the same in all
// lanes around it. An elementwise value that is reduced and read again may be
// kept (`keep`) by the pass that reduces it, in scratch or in the row of a
// result that the last pass writes.
//
//===----------------------------------------------------------------------===//

#include "Forms.h"
#include "Threads.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// A value that costs at least so many simple operations is worth writing and
/// reading back.
static constexpr unsigned kWorthKeeping = 8;
/// Accumulators of a pass: they hide the latency of its additions.
static constexpr int64_t kPassUnroll = 2;
/// Reductions that join one walk, for their states are in registers.
static constexpr size_t kMostJoined = 4;
/// What a pass brings ahead of its use.
static const StringRef kAhead[] = {"rows"};
/// Vectors of rows that one unit of work takes where lanes run across rows.
static constexpr int64_t kRowVectors = 4;

namespace {

/// A kernel of reductions over rows of one domain.
struct Rows {
  explicit Rows(KernelOp kernel) : kernel(kernel) {
    llvm::append_range(reduces,
                       kernel.getBody().getOps<RowReductionOpInterface>());
    if (reduces.empty())
      return;
    extents = hlir::getExtents(reduces.front()->getOperand(0));
    extent = extents.pop_back_val();
  }

  /// Whether all loops are those of reductions of the same rows, and the
  /// results have their shape or that of the rows.
  Decision check();

  bool isRowLevel(Value v) const { return getRank(v) == extents.size(); }
  bool hasElementLevel() const {
    return llvm::any_of(getYielded(kernel),
                        [&](Value v) { return !isRowLevel(v); });
  }
  unsigned getStreamDim() const { return extents.size(); }
  /// The dims of the rows; `column` is that of their elements.
  Domain findDomain(KernelAnalysis &a, unsigned column) const;

  KernelOp kernel;
  SmallVector<RowReductionOpInterface> reduces;
  /// Of the rows, and of the dim that is reduced.
  SmallVector<Expr> extents;
  Expr extent;
};
} // namespace

Decision Rows::check() {
  if (reduces.empty())
    return Decision::refuse("the kernel has no reduction of rows");
  SmallVector<Expr> domain(extents);
  domain.push_back(extent);
  for (Operation &op : kernel.getOps()) {
    if (!hasLoops(&op))
      continue;
    if (!isa<RowReductionOpInterface>(op))
      return Decision::refuse("an op has other loops", &op);
    if (hlir::getExtents(op.getOperand(0)) != domain)
      return Decision::refuse("a reduction is of other rows than the first",
                              &op);
  }
  for (Value result : kernel.getResults())
    if (SmallVector<Expr> found = hlir::getExtents(result);
        found != domain && found != extents)
      return Decision::refuse("a result is neither over the rows nor over "
                              "their elements");
  return Decision::accept();
}

static bool fits(KernelOp kernel) { return bool(Rows(kernel).check()); }

static Index append(Index index, unsigned dim) {
  index.push_back(Expr::dim(dim));
  return index;
}

Domain Rows::findDomain(KernelAnalysis &a, unsigned column) const {
  return luminal::findDomain(
      a, extents,
      [&](const Index &index, function_ref<void(const Leaf &)> visit) {
        for (RowReductionOpInterface op : reduces)
          a.walk(op->getResult(0), index, visit);
        for (auto [i, v] : llvm::enumerate(getYielded(kernel))) {
          Index at = isRowLevel(v) ? index : append(index, column);
          a.walk(v, at, visit);
          visit({nullptr, a.getResultAddress(i, at)});
        }
      });
}

//===----------------------------------------------------------------------===//
// Walks
//===----------------------------------------------------------------------===//

/// The reductions whose results the terms of `op` need.
static llvm::SetVector<Operation *> findNeeded(Operation *op) {
  llvm::SetVector<Operation *> needed, seen;
  seen.insert(op);
  for (size_t i = 0; i < seen.size(); ++i)
    for (Value operand : seen[i]->getOperands())
      if (Operation *def = operand.getDefiningOp()) {
        seen.insert(def);
        if (hasLoops(def))
          needed.insert(def);
      }
  return needed;
}

namespace {
/// Finds reductions that can share a walk.
class Walks {
public:
  struct Walk {
    SmallVector<RowReductionOpInterface, 2> ops;
    int64_t lanes;
    /// What they read along the row: arguments, and where.
    SmallVector<Leaf> reads;
  };

  Walks(KernelAnalysis &a, const Domain &domain, unsigned column)
      : a(a), domain(domain), column(column) {}

  /// Adds `op`, which uses so many lanes, to the first walk that it can join:
  /// one that reads some of the same, after all whose results `op` needs.
  void add(RowReductionOpInterface op, int64_t lanes) {
    SmallVector<Leaf> reads;
    for (Value operand : op->getOperands())
      a.walk(operand, append(domain.index, column), [&](const Leaf &leaf) {
        if (leaf.argument && leaf.address.usesDim(column))
          reads.push_back(leaf);
      });
    llvm::SetVector<Operation *> needed = findNeeded(op);
    size_t begin = walks.size();
    auto needs = [&](RowReductionOpInterface other) {
      return needed.contains(other);
    };
    while (begin > 0 && llvm::none_of(walks[begin - 1].ops, needs))
      --begin;
    auto isRead = [&](const Leaf &leaf) {
      return llvm::any_of(reads, [&](const Leaf &other) {
        return leaf.argument == other.argument && leaf.address == other.address;
      });
    };
    for (Walk &walk : llvm::drop_begin(walks, begin))
      if (walk.lanes == lanes && walk.ops.size() < kMostJoined &&
          llvm::any_of(walk.reads, isRead)) {
        walk.ops.push_back(op);
        llvm::append_range(walk.reads, reads);
        return;
      }
    walks.push_back({{op}, lanes, std::move(reads)});
  }

  /// Gives all reductions their forms: `getNumbers` those of a walk.
  void addForms(CaseBuilder &c,
                function_ref<void(const Walk &, size_t)> addForm,
                SmallVectorImpl<Reporter::Arg> &why) {
    for (auto [i, walk] : llvm::enumerate(walks)) {
      addForm(walk, i);
      std::string with = getOpName(walk.ops.front());
      for (RowReductionOpInterface op : llvm::drop_begin(walk.ops)) {
        c.addForm(op, "pass", {}, {{"with", with}});
        why.push_back({"joins the walk of " + with, describe(op)});
      }
    }
  }

  SmallVector<Walk> walks;

private:
  KernelAnalysis &a;
  const Domain &domain;
  unsigned column;
};
} // namespace

/// Where elements of a row are far apart and rows are next to each other, or
/// rows are too short to fill a vector. What all rows read alike, as the index
/// that they look up, is no reason for vectors along them.
static bool shouldRunAcross(KernelAnalysis &a, const Rows &rows,
                            const Domain &domain, unsigned column,
                            unsigned lanes,
                            SmallVectorImpl<Reporter::Arg> &why) {
  if (domain.dims.empty() || lanes == 1)
    return false;
  unsigned row = domain.dims.back();
  unsigned along = 0, alike = 0, across = 0;
  // Indices that are read are dims of their own.
  auto isLookedUp = [&](const Expr &address) {
    for (unsigned dim = 0; dim < a.getExtents().size(); ++dim)
      if (address.usesDim(dim) && dim != column &&
          !llvm::is_contained(domain.dims, dim))
        return true;
    return false;
  };
  for (RowReductionOpInterface op : rows.reduces) {
    bool varies =
        a.variesOver(op->getOperand(0), append(domain.index, column), column);
    a.walk(op->getOperand(0), append(domain.index, column),
           [&](const Leaf &leaf) {
             auto inColumn = leaf.address.linearIn(column);
             auto inRow = leaf.address.linearIn(row);
             if (!leaf.argument)
               return;
             bool isAlike = inRow && inRow->stride.isConstant(0);
             bool isSame = inColumn && inColumn->stride.isConstant(0) &&
                           !(varies && isLookedUp(leaf.address));
             if (inColumn && inColumn->stride.isConstant(1))
               ++(isAlike ? alike : along);
             else if (inRow && inRow->stride.isConstant(1) && !isSame)
               ++across;
           });
  }
  why.push_back({"operands read along rows", along + alike});
  why.push_back({"operands read across rows", across});
  if (across != along)
    return across > along;
  along += alike;
  std::optional<int64_t> n = rows.extent.asConstant();
  std::optional<int64_t> count = domain.extents.back().asConstant();
  // Across rows nothing is left over, and no lanes are added up; what is read
  // element by element costs the same.
  return n && *n < (along ? int64_t(lanes) / 2 : 2 * int64_t(lanes)) &&
         (!count || *count > int64_t(lanes));
}

/// The value that is expensive, reduced, and read again; and a result with
/// elements of its type, whose memory is fetched anyway.
static void proposeKept(CaseBuilder &c, const Rows &rows, const Walks &walks,
                        SmallVectorImpl<Reporter::Arg> &why) {
  for (RowReductionOpInterface op : rows.reduces) {
    Operation *def = op->getOperand(0).getDefiningOp();
    auto body = dyn_cast_or_null<BodyOpInterface>(def);
    auto isOfWalk = [&](Operation *reader) {
      return llvm::any_of(walks.walks, [&](const Walks::Walk &walk) {
        return llvm::is_contained(walk.ops, op) &&
               llvm::is_contained(walk.ops, reader);
      });
    };
    if (!body || !body.isPointwise() ||
        llvm::all_of(def->getUsers(), isOfWalk) ||
        cast<CodeOpInterface>(def).getCodeSize() < kWorthKeeping)
      continue;
    why.push_back({"kept", describeWithPlace(def)});
    for (auto [i, v] : llvm::enumerate(getYielded(rows.kernel)))
      if (!rows.isRowLevel(v) &&
          getElementType(v) == getElementType(op->getOperand(0)))
        return c.addForm(def, "keep", {{"result", int64_t(i)}});
    return c.addForm(def, "keep", {});
  }
}

/// Whether passes after the first are to bring the next row: theirs is in the
/// first cache, with room for another one, and rows come from far away.
static Decision shouldBringRows(const KernelAnalysis &a, const Rows &rows,
                                const MachineModel &machine) {
  KernelSizes sizes(a);
  double bytes = 0;
  for (Value operand : rows.reduces.front()->getOperands())
    bytes += sizes.countBytes(operand);
  double count =
      sizes.valueOf(product({rows.extents.begin(), rows.extents.end()}));
  double most = double(machine.l1Bytes) / 2;
  if (2 * bytes > most * std::max(1.0, count))
    return Decision::refuseAbove("two rows leave the first cache no room",
                                 2 * bytes / std::max(1.0, count), most);
  if (bytes <= double(machine.l2Bytes))
    return Decision::refuse("rows are in the second cache");
  return Decision::accept();
}

/// The case `c`, and one with parts where they pay. A unit takes `length` rows;
/// a thread of a GPU reads so many elements and `bytes` of one at once.
static SmallVector<LoopCaseAttr>
addParts(CaseBuilder &c, KernelAnalysis &a, const Rows &rows,
         const Domain &domain, int64_t length, int64_t elements, double bytes,
         const MachineModel &machine, SmallVectorImpl<Reporter::Arg> &why) {
  Expr units = 1;
  for (auto [extent, axis] : llvm::zip_equal(domain.extents, c.grid))
    units = units * (axis.getBlock() ? Expr::ceilDiv(extent, axis.getBlock())
                                     : Expr(1));
  // Of a GPU a multiprocessor takes all teams of a block.
  int64_t atOnce = machine.workers;
  std::optional<int64_t> unitsEach, grain;
  if (c.threads) {
    atOnce *= c.threads / c.team;
    length *= c.threads / c.team;
    // One thread merges all parts of a row: there are no more than keep memory
    // busy.
    if (c.team == 1) {
      atOnce = countThreadsInFlight(bytes, machine);
      unitsEach = 1;
    }
    // No more parts than multiprocessors that teams read at once: one block
    // merges them. A row of 262,208 f32 took 6.5 us on an H200 by 132
    // parts, 7.2 by 64, 8.3 by 32 and 319 (the place of its maximum).
    std::optional<int64_t> all = a.simplify(units * rows.extent).asConstant();
    if (all && c.team > 1) {
      constexpr int64_t kMostEach = 4, kGrainOfBlock = 1 << 14;
      if (c.team > machine.warpThreads)
        grain = kGrainOfBlock;
      unitsEach = std::clamp<int64_t>(
          *all / (machine.workers * int64_t(c.team) * elements), 1, kMostEach);
    }
  }
  return buildWithParts(c, chooseParts(rows.kernel, a.getRanges(),
                                       a.simplify(units), rows.extent,
                                       length * getElementCost(rows.kernel),
                                       atOnce, machine, why, unitsEach, grain));
}

/// Rows that a thread takes at once where neighbours in memory are in different
/// rows: as many as it reads and writes by one access each, where enough
/// threads are left to keep memory busy. It reads so many elements of each in a
/// row.
static unsigned chooseRowLanes(KernelAnalysis &a, const Rows &rows,
                               const Domain &domain, unsigned column,
                               int64_t elements, const MachineModel &machine) {
  Accesses accesses(a);
  for (RowReductionOpInterface op : rows.reduces)
    for (Value operand : op->getOperands())
      accesses.addReads(operand, append(domain.index, column));
  for (auto [i, v] : llvm::enumerate(getYielded(rows.kernel)))
    accesses.addResult(i, rows.isRowLevel(v) ? domain.index
                                             : append(domain.index, column));
  const Expr &extent = domain.extents.back();
  std::optional<int64_t> n = extent.asConstant(),
                         count = product({domain.extents.begin(),
                                          domain.extents.end()})
                                     .asConstant();
  if (!n || !count)
    return 1;
  unsigned lanes = accesses.chooseLanes(domain.dims.back(), extent, machine);
  // Few rows have parts, which make more threads: 65536 x 1000 of f32 took 76
  // us on an H200 by elements, 68 by vectors.
  constexpr int64_t kTurnsOfPart = 4, kLargest = 1 << 20;
  bool areFew = *count < countThreadsInFlight(kLargest, machine);
  auto isBusy = [&] {
    double bytes = double(lanes * elements * accesses.getLeastBits()) / 8;
    int64_t parts =
        llvm::divideCeil(countThreadsInFlight(bytes, machine), *count / lanes);
    std::optional<int64_t> extent = rows.extent.asConstant();
    return parts == 1 ||
           (areFew && extent && *extent >= parts * elements * kTurnsOfPart);
  };
  while (lanes > 1 && (*n % lanes != 0 || *count < lanes || !isBusy()))
    lanes /= 2;
  return lanes;
}

/// A team takes a row, or a thread does where neighbours in memory are in
/// different rows.
static SmallVector<LoopCaseAttr>
proposeThreads(KernelAnalysis &a, const Rows &rows, const Domain &domain,
               unsigned column, const MachineModel &machine,
               SmallVectorImpl<Reporter::Arg> &why) {
  // Vectors that a thread keeps in registers; more of them where they are less
  // than 4 bytes, and where it sums rows alone: memory answers late.
  constexpr int64_t kVectorsEach = 2, kMostRounds = 8, kMostRoundsOfFew = 16,
                    kLeastRounds = 4;
  constexpr double kNear = 1.2;
  CaseBuilder c(a.kernel.getContext(), machine);
  Accesses accesses(a);
  for (RowReductionOpInterface op : rows.reduces)
    for (Value operand : op->getOperands())
      accesses.addReads(operand, append(domain.index, column));
  for (auto [i, v] : llvm::enumerate(getYielded(rows.kernel)))
    if (!rows.isRowLevel(v))
      accesses.addResult(i, append(domain.index, column));
  unsigned lanes = accesses.chooseLanes(column, rows.extent, machine);
  std::optional<int64_t> n = rows.extent.asConstant(), vectors, count;
  count = product({domain.extents.begin(), domain.extents.end()}).asConstant();
  if (n)
    vectors = llvm::divideCeil(*n, lanes);
  SmallVector<Reporter::Arg> ignored;
  bool isAcross =
      shouldRunAcross(a, rows, domain, column, machine.getLanes(32), ignored);
  if (isAcross)
    lanes = 1;
  else
    c.team = chooseTeam(vectors, count, kVectorsEach, machine,
                        lanes > 1 &&
                            lanes == machine.getLanes(accesses.getLeastBits()));
  unsigned bits = accesses.getLeastBits();
  // Narrow elements keep memory busy where a thread takes many; a smaller team
  // meets sooner. 12007 rows of 1537 bf16 took 56 us on an H200 by teams of
  // 512, 31 by 128.
  if (!isAcross && lanes * bits < 32 && vectors && count)
    while (c.team > 4 * machine.warpThreads &&
           *vectors <= int64_t(c.team) / 2 * kMostRoundsOfFew &&
           hasWorkForTeams(*count, c.team / 2))
      c.team /= 2;
  int64_t states = 0;
  for (RowReductionOpInterface op : rows.reduces)
    states += int64_t(
        cast<ReductionOpInterface>(op.getOperation()).getStateTypes().size());
  bool isFew = isAcross ? states == 1 : lanes * bits < 32;
  int64_t most = isFew ? kMostRoundsOfFew : kMostRounds;
  int64_t unroll = chooseRounds(vectors, c.team, most);
  // What is left over is a loop of its own.
  if (!isAcross && isFew && vectors && *vectors >= int64_t(c.team))
    unroll = std::min(unroll, *vectors / int64_t(c.team));
  // A short row is read at once.
  if (isAcross)
    unroll = n && *n <= most ? std::max<int64_t>(1, *n)
                             : chooseUnroll(rows.extent, 1, most);
  unsigned rowLanes = 1;
  if (isAcross)
    rowLanes = chooseRowLanes(a, rows, domain, column, unroll, machine);
  // What threads have on their way beyond what memory takes to answer is in
  // each other's way there: 256 x 500 x 513 of f32 took 68 us on an H200 by 2
  // to 5 at a time, 77 by 8 to 16.
  if (isAcross && n && *n > most && count) {
    double threads = std::min(double(machine.workers) * machine.residentThreads,
                              double(*count) / rowLanes);
    double enough = machine.memoryLatency *
                    machine.getReadRate(machine.workers) /
                    (threads * rowLanes * bits / 8);
    while (unroll > kLeastRounds && double(unroll) > kNear * enough)
      unroll /= 2;
  }
  for (ArrayRef<unsigned> group : domain.groups) {
    bool isLast = c.grid.size() + 1 == domain.groups.size();
    int64_t block = isLast && rowLanes > 1 ? rowLanes : 1;
    c.grid.push_back(c.axis(group, block, block));
  }
  if (!rows.extent.isConstant(1))
    c.stream.push_back(c.axis(rows.getStreamDim(), 0, lanes));
  // As many as may be, also where they leave a rest: rows of 50257 f16 took
  // 62.6 us on an H200 by 16 of them, 69.7 by 11, 65.8 by 8.
  if (isFew && !isAcross && vectors && *vectors > int64_t(c.team) * most)
    unroll = most;
  SmallVector<CaseBuilder::Number> numbers = {{"lanes", lanes},
                                              {"unroll", unroll}};
  // One block's barriers are other blocks' time. A multiprocessor has registers
  // for all threads where each keeps few elements, those of its row.
  constexpr int64_t kFewElements = 8;
  int64_t atATime = machine.residentThreads;
  if (lanes * unroll > kFewElements || !vectors ||
      *vectors > unroll * int64_t(c.team))
    atATime /= 2;
  if (c.team > machine.warpThreads)
    numbers.push_back({"blocks", atATime / c.team});
  Walks walks(a, domain, column);
  for (RowReductionOpInterface op : rows.reduces)
    walks.add(op, lanes);
  walks.addForms(
      c,
      [&](const Walks::Walk &walk, size_t) {
        c.addForm(walk.ops.front(), "pass", numbers);
      },
      why);
  std::optional<int64_t> total;
  if (count)
    total = *count / rowLanes * c.team;
  // Parts of few rows make whole blocks.
  c.threads = chooseThreads(std::nullopt, c.team, machine);
  SmallVector<LoopCaseAttr> cases =
      addParts(c, a, rows, domain, 1, lanes * unroll, double(unroll * bits) / 8,
               machine, why);
  if (cases.front().getParts() > 1)
    return cases;
  c.threads = chooseThreads(total, c.team, machine);
  return {c.build()};
}

static SmallVector<LoopCaseAttr>
propose(KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
        const MachineModel &machine, SmallVectorImpl<Reporter::Arg> &why) {
  Rows rows(kernel);
  if (Decision fits = rows.check(); !fits) {
    if (!rows.reduces.empty())
      why.push_back({"no passes because", fits.str()});
    return {};
  }
  KernelAnalysis a(kernel, ranges);
  unsigned column = a.addDim(rows.extent);
  Domain domain = rows.findDomain(a, column);
  if (machine.blockThreads) {
    why.push_back({"form", "passes over rows"});
    return proposeThreads(a, rows, domain, column, machine, why);
  }
  unsigned most = machine.getLanes(32);
  bool isAcross = shouldRunAcross(a, rows, domain, column, most, why);
  CaseBuilder c(kernel.getContext(), machine);
  unsigned rowLanes = 1, width = chooseLanes(rows.extent, most);
  int64_t length = 1;
  for (auto [i, group] : llvm::enumerate(domain.groups)) {
    if (!isAcross || i + 1 < domain.groups.size()) {
      c.grid.push_back(c.axis(group));
      continue;
    }
    rowLanes = chooseLanes(domain.extents[i], most);
    int64_t block = chooseBlock(domain.extents[i], kRowVectors * most);
    c.grid.push_back(c.axis(group, block, rowLanes));
    length = block ? block : domain.extents[i].asConstant().value_or(1);
  }
  if (!rows.extent.isConstant(1))
    c.stream.push_back(c.axis(rows.getStreamDim(), 0, isAcross ? 1 : width));
  Walks walks(a, domain, column);
  for (RowReductionOpInterface op : rows.reduces) {
    bool varies = rowLanes > 1 && a.variesOver(op->getResult(0), domain.index,
                                               domain.dims.back());
    walks.add(op, varies ? 1 : width);
  }
  bool brings = false;
  if (!isAcross && walks.walks.size() > 1) {
    Decision bring = shouldBringRows(a, rows, machine);
    brings = bool(bring);
    if (!brings)
      why.push_back({"next rows not brought because", bring.str()});
  }
  walks.addForms(
      c,
      [&](const Walks::Walk &walk, size_t i) {
        SmallVector<CaseBuilder::Word, 1> words;
        if (brings && i == 1)
          words.push_back({"ahead", kAhead[0]});
        c.addForm(
            walk.ops.front(), "pass",
            {{"lanes", walk.lanes},
             {"unroll", chooseUnroll(rows.extent, walk.lanes, kPassUnroll)}},
            words);
      },
      why);
  if (!isAcross && rows.hasElementLevel() && machine.hasScratch)
    proposeKept(c, rows, walks, why);
  why.push_back(
      {"form", isAcross ? "vectors across rows" : "vectors along rows"});
  return addParts(c, a, rows, domain, length, /*elements=*/0, /*bytes=*/0,
                  machine, why);
}

static LoopWork count(KernelOp kernel,
                      const KernelAnalysis::SymbolRanges &ranges,
                      LoopCaseAttr loopCase, const MachineModel &machine) {
  KernelAnalysis a(kernel, ranges);
  KernelSizes sizes(a);
  LoopWork work;
  Rows rows(kernel);
  work.units = sizes.countUnits(loopCase, rows.extents);
  llvm::SmallPtrSet<Value, 4> kept;
  for (const ReductionWalk &walk : getWalks(
           llvm::to_vector_of<ReductionOpInterface>(rows.reduces), loopCase)) {
    SmallVector<Value> operands;
    for (ReductionOpInterface op : walk.ops)
      for (Value operand : op->getOperands()) {
        work.operations += sizes.countElements(operand);
        operands.push_back(operand);
      }
    work.operations += sizes.countOperations(operands, &kept);
    for (Value operand : operands)
      if (Operation *def = operand.getDefiningOp();
          def && loopCase.getForm(getPosition(def)))
        kept.insert(operand);
  }
  for (Value yielded : getYielded(kernel))
    work.operations += sizes.countOperations(yielded, &kept);
  work.operations *= countScalarLoss(loopCase, machine);
  work.memoryBytes = sizes.countMemory();
  addFetchedResults(work, kernel, loopCase, sizes, machine);
  // The last pass does little more than write the row (measured on Zen 3: a
  // softmax of 2048 x 2048 takes 4.2 ms so, 3.4 by the caches).
  if (loopCase.getNontemporal())
    for (Value yielded : getYielded(kernel))
      if (double bytes = sizes.countBytes(yielded); !rows.isRowLevel(yielded)) {
        work.exposedBytes += bytes;
        work.memoryBytes -= bytes;
      }
  return work;
}

/// Whether vectors hold an element of each of several rows.
static bool runsAcross(LoopCaseAttr loopCase) {
  return llvm::any_of(loopCase.getGrid(),
                      [](LoopAxisAttr axis) { return axis.getLanes() > 1; });
}

/// Whether the form `pass` of `op` may be as it is.
static LogicalResult verifyPass(Rows &rows, Operation *op, LoopFormAttr form,
                                bool isAcross, const MachineModel &machine,
                                function_ref<InFlightDiagnostic()> emitError) {
  if (failed(verifyNumbers(form,
                           {{"lanes", 1, 64},
                            {"unroll", 1, 16},
                            {"blocks", 1, 32},
                            {"ahead", 0, 0, kAhead}},
                           emitError)))
    return failure();
  if (form.getWord("ahead").empty())
    return success();
  StringRef why;
  if (machine.blockThreads)
    why = "blocks of threads take rows in no order";
  else if (isAcross)
    why = "its vectors run across rows";
  else if (op == rows.reduces.front())
    why = "it is the first pass, which waits for its own row";
  if (!why.empty())
    return emitError() << "lets op" << form.getOp() << ", " << describe(op)
                       << ", bring rows ahead, but " << why;
  return success();
}

/// Whether `op` may join the walk that its form names. `leads` are the walks
/// before it; `varies` tells of a reduction whether it does between lanes.
static LogicalResult
verifyJoined(Rows &rows, RowReductionOpInterface op, LoopFormAttr form,
             ArrayRef<ReductionWalk> walks,
             function_ref<bool(Operation *)> varies,
             function_ref<InFlightDiagnostic()> emitError) {
  StringRef with = form.getWord("with");
  auto refuse = [&](const Twine &why) {
    return emitError() << "lets op" << form.getOp() << ", " << describe(op)
                       << ", join the walk of " << with << ", " << why;
  };
  const ReductionWalk *walk =
      llvm::find_if(walks, [&](const ReductionWalk &walk) {
        return getOpName(walk.ops.front()) == with;
      });
  if (walk == walks.end())
    return refuse("which is no reduction before it with a walk of its own");
  if (form.getNumbers().size() > 1)
    return refuse("and gives it other numbers than that has");
  llvm::SetVector<Operation *> needed = findNeeded(op);
  for (const ReductionWalk &other : llvm::make_range(walk, walks.end()))
    for (ReductionOpInterface earlier : other.ops)
      if (needed.contains(earlier))
        return refuse("but needs the result of " + getOpName(earlier));
  if (varies(op) != varies(walk->ops.front()))
    return refuse("but only one of them is the same in all lanes");
  return success();
}

/// What may be kept, and where.
static LogicalResult verifyKept(Rows &rows, LoopFormAttr form, bool isAcross,
                                unsigned team, const MachineModel &machine,
                                llvm::SmallDenseSet<int64_t> &taken,
                                function_ref<InFlightDiagnostic()> emitError) {
  Operation *op =
      &*std::next(rows.kernel.getBody().front().begin(), form.getOp());
  if (form.getForm().getValue() != "keep")
    return emitError() << "gives op" << form.getOp() << ", " << describe(op)
                       << ", the form " << form.getForm().getValue();
  if (failed(verifyNumbers(
          form, {{"result", 0, int64_t(rows.kernel.getNumResults()) - 1}},
          emitError)))
    return failure();
  bool isReduced = llvm::any_of(rows.reduces, [&](auto &reduce) {
    return llvm::is_contained(reduce->getOperands(), op->getResult(0));
  });
  if (!cast<BodyOpInterface>(op).isPointwise() || !isReduced)
    return emitError() << "keeps op" << form.getOp() << ", " << describe(op)
                       << ", which is not an elementwise value that a pass "
                          "reduces";
  if (isAcross)
    return emitError() << "keeps op" << form.getOp()
                       << ", but its vectors run across rows";
  if (team > 1)
    return emitError() << "keeps op" << form.getOp()
                       << ", but a team of threads takes a row";
  int64_t number = form.getNumber("result", -1);
  if (number < 0 ? !machine.hasScratch : !taken.insert(number).second)
    return emitError() << "keeps op" << form.getOp() << " where "
                       << (number < 0 ? "the machine has no scratch"
                                      : "another value is kept");
  if (number < 0)
    return success();
  Value result = rows.kernel.getResults()[number];
  if (rows.isRowLevel(result) ||
      getElementType(result) != getElementType(op->getResult(0)))
    return emitError() << "keeps op" << form.getOp() << " in result " << number
                       << ", which has not its shape and element type";
  return success();
}

static LogicalResult verify(KernelOp kernel,
                            const KernelAnalysis::SymbolRanges &ranges,
                            LoopCaseAttr loopCase, const MachineModel &machine,
                            function_ref<InFlightDiagnostic()> emitError) {
  Rows rows(kernel);
  if (Decision fits = rows.check(); !fits)
    return emitError() << "has passes, but " << fits.str();
  if (failed(verifyAxes(loopCase.getGrid(), rows.extents, 0, emitError)))
    return failure();
  SmallVector<Expr> all(rows.extents);
  all.push_back(rows.extent);
  if (failed(verifyAxes(loopCase.getStream(), all, rows.getStreamDim(),
                        emitError)))
    return failure();
  for (LoopAxisAttr axis : loopCase.getStream())
    if (axis.getBlock() != 0)
      return emitError() << "streams a row in blocks; a pass takes all of it";
  bool isAcross = runsAcross(loopCase);
  KernelAnalysis a(kernel, ranges);
  Domain domain = rows.findDomain(a, a.addDim(rows.extent));
  auto varies = [&](Operation *op) {
    return isAcross &&
           a.variesOver(op->getResult(0), domain.index, domain.dims.back());
  };
  llvm::SmallDenseSet<int64_t> taken;
  SmallVector<ReductionOpInterface> before;
  for (LoopFormAttr form : loopCase.getForms()) {
    Operation *op = &*std::next(kernel.getBody().front().begin(), form.getOp());
    LogicalResult checked = success();
    if (auto reduction = dyn_cast<RowReductionOpInterface>(op)) {
      checked =
          form.getWord("with").empty()
              ? verifyPass(rows, op, form, isAcross, machine, emitError)
              : verifyJoined(rows, reduction, form, getWalks(before, loopCase),
                             varies, emitError);
      before.push_back(reduction);
    } else {
      checked = verifyKept(rows, form, isAcross, loopCase.getTeam(), machine,
                           taken, emitError);
    }
    if (failed(checked))
      return failure();
  }
  return success();
}

/// The last part to arrive at a row computes all that the first passes do not.
static LogicalResult verifyParts(KernelOp kernel, LoopCaseAttr loopCase,
                                 function_ref<InFlightDiagnostic()> emitError) {
  for (LoopFormAttr form : loopCase.getForms())
    if (form.getForm().getValue() == "keep")
      return emitError() << "keeps op" << form.getOp()
                         << ", but no unit has all of its row";
  // What a team merges is one row's, not a vector of rows'.
  if (loopCase.getTeam() > 1 && runsAcross(loopCase))
    return emitError() << "has parts of vectors across rows, which a team of "
                       << loopCase.getTeam() << " threads does not share";
  SmallVector<ReductionOpInterface> first = getFirstReductions(kernel);
  for (const ReductionWalk &walk :
       getWalks(llvm::to_vector_of<ReductionOpInterface>(Rows(kernel).reduces),
                loopCase))
    for (ReductionOpInterface op : walk.ops)
      if (llvm::is_contained(first, op) !=
          llvm::is_contained(first, walk.ops.front()))
        return emitError() << "lets op" << getPosition(op) << ", "
                           << describe(op) << ", join the walk of "
                           << getOpName(walk.ops.front())
                           << ", but only one of them is cut into parts";
  return success();
}

/// What is kept is read again, so that it is not kept in a result.
static LoopCaseAttr getNontemporal(LoopCaseAttr loopCase) {
  SmallVector<LoopFormAttr> forms;
  for (LoopFormAttr form : loopCase.getForms()) {
    NamedAttrList numbers(form.getNumbers());
    numbers.erase("result");
    MLIRContext *context = form.getContext();
    forms.push_back(LoopFormAttr::get(context, form.getOp(), form.getForm(),
                                      numbers.getDictionary(context)));
  }
  return withNontemporal(loopCase, forms);
}

static const StringRef kNames[] = {"pass"};
const LoopForms llir::kRowForms = {"rows",      kNames,  fits,
                                   propose,     count,   verify,
                                   verifyParts, nullptr, getNontemporal};
