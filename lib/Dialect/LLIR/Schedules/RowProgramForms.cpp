//===- RowProgramForms.cpp - Row programs ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The grid cuts the rows (RowProgram) into vectors of rows. An op with loops
// has the form `across`: it computes `columns` elements of its last local dim
// at a time, each a vector over the rows, in one loop over what it reduces. An
// elementwise value, a lookup or a view of memory with the form `keep` is
// computed once for each row. So small products need no packing and no
// shuffles, and intermediate values stay in L1 and L2. A few rows are computed
// one by one with the form `along`, whose lanes run along what an op reduces.
//
// On a GPU a thread group takes a row: with the form `members` its threads
// share the elements of an op's results, with `along` the elements that it
// reduces.
//
//===----------------------------------------------------------------------===//

#include "Forms.h"
#include "Threads.h"
#include "luminal/Dialect/LLIR/Analysis/RowProgram.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallBitVector.h"

#include <cmath>

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// Accumulators of an op with loops.
static constexpr int64_t kColumns = 8;
/// The cost of adding up the lanes of a sum, in operations on single elements.
static constexpr double kAddLanes = 40;
/// The cost of a multiplication with one element for all rows, relative to one
/// in a tile. With 512 bits the instruction loads the element itself.
static double getLossBesideTile(const MachineModel &machine) {
  return machine.vectorBits >= 512 ? 1.25 : 1.5;
}
/// The operations, for each lane, of loading an element per lane: the lanes are
/// loaded one by one.
static constexpr double kOwnRead = 0.5;
/// The most bytes that a vector of rows keeps; beyond that, kept values fall
/// out of the near caches. Attention of 700 keys in f64, which keeps 136 KiB
/// with vectors of 256 bits and twice that with 512, took 1.7 and 1.5 times as
/// long as in separate kernels.
static constexpr int64_t kMostKept = 128 << 10;
/// The results of an op that a GPU thread computes at once: their common
/// operands are loaded once, and their sums are independent.
static constexpr int64_t kShares = 4;
/// The operations of a thread for a barrier, and for a round in which threads
/// exchange what each has summed.
static constexpr double kMeeting = 30, kExchange = 15;
/// The most operations of a single thread while there are too few rows for all
/// SMs: the time of a few launches.
static constexpr double kMostAlone = 8192;

/// Memory latencies at the begin of a kernel: it loads the addresses of its
/// operands.
static constexpr double kEnds = 1;

static bool fits(KernelOp kernel) {
  bool hasReduction = false;
  for (Operation &op : kernel.getOps()) {
    if (hasLoops(&op) && !isa<ReductionOpInterface>(op))
      return false;
    hasReduction |= isa<ReductionOpInterface>(op);
  }
  return hasReduction;
}

/// Returns the steps of a loop over `extent` elements with `lanes` lanes: the
/// remainder is processed element by element.
static double countSteps(double extent, double lanes) {
  return std::floor(extent / lanes) + std::fmod(extent, lanes);
}

//===----------------------------------------------------------------------===//
// Thread groups
//===----------------------------------------------------------------------===//

namespace {
/// The work of a thread of a group for one row.
struct TeamWork {
  /// Multiply-adds, and operations.
  double products = 0, operations = 0;
  /// Whether each op with loops shares its reduction (`along`) or its results.
  SmallVector<bool> areAlong;
  /// How often the thread reads the operands of each step.
  SmallVector<double> reads;
};
} // namespace

/// Counts the work of one thread of a group of `team` threads for one row.
static TeamWork countTeamWork(const RowProgram &p, const KernelSizes &sizes,
                              double team) {
  TeamWork work;
  double exchange = kExchange * std::log2(team);
  for (Operation *op : p.steps) {
    Value result = op->getResult(0);
    double elements = std::max(1.0, sizes.valueOf(p.countLocal(result)));
    auto reduction = dyn_cast<ReductionOpInterface>(op);
    work.operations += kMeeting;
    work.areAlong.push_back(false);
    work.reads.push_back(std::ceil(elements / team));
    if (!reduction) {
      work.operations +=
          std::ceil(elements / team) * cast<CodeOpInterface>(op).getCodeSize();
      continue;
    }
    double extent = sizes.valueOf(reduction.getReducedExtent()),
           apart = std::ceil(elements / team) * extent,
           along = elements * (std::ceil(extent / team) + exchange);
    bool isAlong = team > 1 && along < apart;
    work.areAlong.back() = isAlong;
    double &counted =
        isa<ProductOpInterface>(op) ? work.products : work.operations;
    work.reads.back() = isAlong ? elements * std::ceil(extent / team) : apart;
    counted += work.reads.back();
    if (isAlong)
      work.operations += elements * exchange;
    // Operands that are computed for each reduced element.
    for (Value operand : op->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (def && !hasLoops(def) && !llvm::is_contained(p.steps, def))
        work.operations += getOperations(def) * (isAlong ? along : apart);
    }
  }
  return work;
}

/// Returns the threads of a row: as many as shorten the time of a row while all
/// rows are still resident at a time.
static unsigned chooseMembers(const RowProgram &p, const KernelSizes &sizes,
                              const MachineModel &machine) {
  double rows = sizes.valueOf(product({p.extents.begin(), p.extents.end()})),
         room = machine.workers * machine.smoothThreads, least = 0;
  unsigned best = 0;
  for (unsigned team = 1; team <= machine.warpThreads; team *= 2) {
    TeamWork work = countTeamWork(p, sizes, team);
    double time =
        (work.products + work.operations) * std::max(1.0, rows * team / room);
    if (!best || time < least)
      best = team, least = time;
  }
  return best;
}

namespace {
/// The reads of the steps of a row program, as the warps of thread groups see
/// them.
class StepReads {
public:
  StepReads(const RowProgram &p, const KernelSizes &sizes,
            const MachineModel &machine);

  /// Returns how often the rows, in order, iterate over everything they read of
  /// `argument`: rows along some outer dims read the same elements.
  double countPasses(BlockArgument argument) const;
  /// Returns the bytes that threads load repeatedly, because they share a
  /// sector with needed elements and the SM's cache evicts them before their
  /// use.
  double countBytesAgain(const TeamWork &work, double team) const;
  /// Returns the bytes of lines that accesses take from the SM's cache and from
  /// shared memory, in sequence.
  double countLines(const TeamWork &work, double team) const;
  /// Returns how many memory latencies a thread waits for.
  double countWaits(const TeamWork &work, const LoopCaseAttr &loopCase) const;

private:
  /// The distance in bytes between neighbours along the last dim of the rows,
  /// along the last local dim of the step's result, and along the reduced dim.
  struct Read {
    double rows = 0, local = 0, reduced = 0;
    /// Whether the read is from memory, and from more than fits into an SM's
    /// cache.
    bool isInMemory = false, isFar = false;
  };
  /// Returns the pieces of memory of `size` bytes that a warp reads at a time.
  double countPieces(const Read &read, double team, bool isAlong,
                     double size) const {
    auto along = [&](double count, double stride) {
      return std::min(count, std::max(1.0, count * stride / size));
    };
    return along(team, isAlong ? read.reduced : read.local) *
           along(machine.warpThreads / team, read.rows);
  }

  const MachineModel &machine;
  SmallVector<SmallVector<Read, 2>> ofSteps;
  /// The extents of the rows' dims, and the dims that the reads of each
  /// argument depend on.
  SmallVector<double> extents;
  llvm::DenseMap<BlockArgument, llvm::SmallBitVector> changes;
};
} // namespace

StepReads::StepReads(const RowProgram &p, const KernelSizes &sizes,
                     const MachineModel &machine)
    : machine(machine) {
  KernelAnalysis a(p.a.kernel, p.a.getRanges());
  size_t rank = p.extents.size();
  for (const Expr &extent : p.extents)
    extents.push_back(sizes.valueOf(extent));
  for (Operation *op : p.steps) {
    SmallVector<Expr> own = hlir::getExtents(op->getResult(0));
    Index index;
    for (const Expr &extent : own)
      index.push_back(Expr::dim(a.addDim(extent)));
    auto findLast = [&](size_t begin, size_t end) -> std::optional<unsigned> {
      for (size_t i = end; i-- > begin;)
        if (!own[i].isConstant(1))
          return index[i].asDim();
      return std::nullopt;
    };
    std::optional<unsigned> row = findLast(0, rank),
                            local = findLast(rank, own.size()), reduced;
    SmallVector<Read, 2> &reads = ofSteps.emplace_back();
    auto visit = [&](const Leaf &leaf) {
      // On chip, threads read adjacent elements, or all the same one.
      if (!leaf.argument) {
        reads.push_back({});
        return;
      }
      double bytes =
          std::max(8u, getElementType(leaf.argument).getIntOrFloatBitWidth()) /
          8.0;
      auto apart = [&](std::optional<unsigned> dim) {
        if (!dim)
          return 0.0;
        std::optional<Expr::Linear> linear = leaf.address.linearIn(*dim);
        // An address that is not linear is assumed to be far away.
        return linear ? bytes * std::abs(sizes.valueOf(linear->stride))
                      : double(machine.l1Bytes);
      };
      bool isFar = sizes.countBytes(leaf.argument) > double(machine.l1Bytes);
      reads.push_back({apart(row), apart(local), apart(reduced),
                       /*isInMemory=*/true, isFar});
      if (!isFar)
        return;
      llvm::SmallBitVector &dims = changes[leaf.argument];
      dims.resize(rank);
      for (size_t i = 0; i < rank; ++i)
        if (apart(index[i].asDim()) > 0)
          dims.set(i);
    };
    cast<BodyOpInterface>(op).getReads(
        index,
        [&](const Expr &extent) {
          reduced = a.addDim(extent);
          return Expr::dim(*reduced);
        },
        [&](OpOperand &operand, const Index &at) {
          a.walk(operand.get(), at, visit);
        });
    // Later steps read its values on chip.
    for (Value result : op->getResults())
      a.place(result, [](const Index &) { return Expr(0); });
  }
}

double StepReads::countPasses(BlockArgument argument) const {
  auto found = changes.find(argument);
  if (found == changes.end())
    return 1;
  double passes = 1;
  for (int i = 0; i < found->second.find_last(); ++i)
    if (!found->second.test(i))
      passes *= extents[i];
  return passes;
}

double StepReads::countBytesAgain(const TeamWork &work, double team) const {
  // Two products of 16 rows with 14336 x 4096 in bf16, one element for each
  // thread, took 14.7 ms on an H200: 60 GB of sectors.
  double line = 4 * machine.warpThreads, sector = machine.warpThreads, rows = 1,
         bytes = 0;
  for (double extent : extents)
    rows *= extent;
  double warps =
      std::min(rows * team / machine.workers, double(machine.residentThreads)) /
      machine.warpThreads;
  for (auto [number, reads] : llvm::enumerate(ofSteps)) {
    double kept = 0, ofWarp = 0;
    for (const Read &read : reads) {
      if (!read.isFar)
        continue;
      kept +=
          warps * line * countPieces(read, team, work.areAlong[number], line);
      ofWarp += sector * countPieces(read, team, work.areAlong[number], sector);
    }
    // Half of the cache may hold lines that are not needed any more.
    if (kept > double(machine.l1Bytes) / 2)
      bytes += work.reads[number] * rows * team / machine.warpThreads * ofWarp;
  }
  return bytes;
}

double StepReads::countLines(const TeamWork &work, double team) const {
  const double line = 4 * machine.warpThreads;
  double rows = 1, bytes = 0;
  for (double extent : extents)
    rows *= extent;
  for (auto [number, reads] : llvm::enumerate(ofSteps))
    for (const Read &read : reads)
      bytes += work.reads[number] * rows * team / machine.warpThreads * line *
               countPieces(read, team, work.areAlong[number], line);
  return bytes;
}

double StepReads::countWaits(const TeamWork &work,
                             const LoopCaseAttr &loopCase) const {
  // Loads in flight of a thread for each of `columns` results.
  constexpr double kAhead = 16;
  double waits = 0;
  for (auto [number, reads] : llvm::enumerate(ofSteps)) {
    if (llvm::none_of(reads, [](const Read &read) { return read.isInMemory; }))
      continue;
    double columns = loopCase.getForms()[number].getNumber("columns", 1);
    waits += std::ceil(work.reads[number] / (kAhead * columns));
  }
  return waits;
}

/// Counts the work of a case in which thread groups take rows.
static LoopWork countTeams(const RowProgram &p, const KernelSizes &sizes,
                           LoopCaseAttr loopCase, const MachineModel &machine) {
  LoopWork work;
  double team = loopCase.getTeam(),
         rows = sizes.valueOf(product({p.extents.begin(), p.extents.end()}));
  TeamWork ofMember = countTeamWork(p, sizes, team);
  work.units = sizes.countUnits(loopCase, p.extents);
  work.products = ofMember.products * team * rows;
  work.operations = ofMember.operations * team * rows;
  work.memoryBytes = sizes.countMemory();
  auto addReads = [&](double bytes, double again) {
    (bytes <= machine.l2Bytes   ? work.cacheBytes
     : bytes <= machine.l3Bytes ? work.farBytes
                                : work.memoryBytes) += bytes * again;
  };
  StepReads reads(p, sizes, machine);
  work.farBytes += reads.countBytesAgain(ofMember, team);
  // 16 rows of 64 by 128 columns with as many terms, four columns for each
  // thread on separate lines, took an H200 13 us.
  work.cacheBytes += reads.countLines(ofMember, team);
  work.threads = work.units * loopCase.getThreads();
  work.ends = kEnds;
  work.waits = reads.countWaits(ofMember, loopCase);
  // Each block loads from a cache what is the same for all rows.
  double shared = 0;
  for (BlockArgument argument : p.a.kernel.getBody().getArguments())
    if (p.isShared(argument))
      shared += sizes.countBytes(argument);
    else
      addReads(sizes.countBytes(argument), reads.countPasses(argument) - 1);
  addReads(shared, work.units);
  return work;
}

/// Proposes a case in which thread groups take rows.
static SmallVector<LoopCaseAttr>
proposeTeams(RowProgram &p, ArrayRef<unsigned> dims,
             const MachineModel &machine, SmallVectorImpl<Reporter::Arg> &why) {
  KernelSizes sizes(p.a);
  CaseBuilder c(p.a.kernel.getContext(), machine);
  c.team = chooseMembers(p, sizes, machine);
  TeamWork work = countTeamWork(p, sizes, c.team);
  Expr all = product({p.extents.begin(), p.extents.end()});
  if (sizes.valueOf(all) * c.team < machine.workers * machine.smoothThreads &&
      work.products + work.operations > kMostAlone) {
    why.push_back(
        {"no row program because",
         std::string(
             "a few rows are too much work for one thread group each")});
    return {};
  }
  std::optional<int64_t> rows = all.asConstant();
  c.threads = chooseThreads(rows ? std::optional<int64_t>(*rows * c.team)
                                 : std::nullopt,
                            c.team, machine);
  p.setTeam(c.team);
  std::optional<int64_t> bytes = p.countTeamBytes(machine).asConstant();
  while (bytes && c.threads > machine.warpThreads &&
         *bytes * (c.threads / c.team) > machine.plainSharedBytes)
    c.threads /= 2;
  if (!bytes || *bytes * (c.threads / c.team) > machine.plainSharedBytes) {
    why.push_back(
        {"no row program because",
         std::string("the kept values of rows are not known to fit in shared "
                     "memory")});
    return {};
  }
  for (unsigned dim : dims)
    c.grid.push_back(c.axis(dim));
  for (auto [op, isAlong] : llvm::zip_equal(p.steps, work.areAlong)) {
    if (isAlong) {
      c.addForm(op, "along", {});
      continue;
    }
    std::optional<int64_t> elements =
        p.countLocal(op->getResult(0)).asConstant();
    int64_t shares =
        elements ? std::max<int64_t>(1, llvm::divideCeil(*elements, c.team))
                 : kShares;
    c.addForm(op, hasLoops(op) ? "members" : "keep",
              {{"columns", std::min(shares, kShares)}});
  }
  why.push_back({"form", "rows by thread groups, step by step"});
  why.push_back({"steps", uint64_t(p.steps.size())});
  why.push_back({"bytes kept", *bytes});
  return {c.build()};
}

//===----------------------------------------------------------------------===//
// Vectors of rows
//===----------------------------------------------------------------------===//

static LoopWork count(KernelOp kernel,
                      const KernelAnalysis::SymbolRanges &ranges,
                      LoopCaseAttr loopCase, const MachineModel &machine) {
  KernelAnalysis a(kernel, ranges);
  KernelSizes sizes(a);
  RowProgram p(a);
  bool found(p.apply(loopCase));
  assert(found && "a case that was not verified");
  (void)found;
  if (loopCase.getThreads())
    return countTeams(p, sizes, loopCase, machine);
  LoopWork work;
  work.units = sizes.countUnits(loopCase, p.extents);
  double lanes = 1;
  for (LoopAxisAttr axis : loopCase.getGrid())
    lanes = axis.getLanes();
  double rows = sizes.valueOf(product({p.extents.begin(), p.extents.end()}));
  // A vector takes the same time if it has fewer rows.
  double idle = work.units * lanes / std::max(1.0, rows),
         loss = countScalarLoss(loopCase, machine);
  auto widthOf = [](Value v) {
    return getElementType(v).getIntOrFloatBitWidth() > 32 ? 2.0 : 1.0;
  };
  llvm::SmallPtrSet<Value, 8> kept;
  double keptBytes = 0;
  // Values that are common to all rows are computed once for a vector; other
  // operands are loaded lane by lane.
  auto countOperations = [&](Value root, bool isRowByRow = false) {
    llvm::SetVector<Value> seen;
    seen.insert(root);
    double ownReads = 0;
    for (size_t i = 0; i < seen.size(); ++i) {
      Operation *op = seen[i].getDefiningOp();
      if (!op)
        ownReads += p.hasRows(seen[i]);
      else if (!kept.contains(seen[i]))
        seen.insert(op->operand_begin(), op->operand_end());
    }
    double operations =
        isRowByRow || lanes == 1
            ? 0
            : sizes.countElements(root) * ownReads * lanes * kOwnRead;
    llvm::DenseSet<Value> ofRows;
    for (Value v : seen)
      if (v.getDefiningOp() ? kept.contains(v) : p.hasRows(v))
        ofRows.insert(v);
    for (Operation &op : kernel.getOps()) {
      Value v = op.getResult(0);
      if (!seen.contains(v) || kept.contains(v))
        continue;
      if (llvm::any_of(op.getOperands(),
                       [&](Value operand) { return ofRows.contains(operand); }))
        ofRows.insert(v);
      if (!hasLoops(&op))
        operations += sizes.countElements(v) * getOperations(&op) /
                      (ofRows.contains(v) ? 1 : lanes);
    }
    return operations;
  };
  for (Operation *op : p.steps) {
    Value result = op->getResult(0);
    double elements = sizes.countElements(result);
    if (auto reduction = dyn_cast<ReductionOpInterface>(op)) {
      double extent = sizes.valueOf(reduction.getReducedExtent()),
             terms = elements * extent, taken = terms * idle * loss;
      bool isProduct = isa<ProductOpInterface>(op);
      if (lanes == 1) {
        double along = loopCase.getForm(getPosition(op)).getNumber("lanes", 1);
        taken = elements * machine.getLanes(32) * countSteps(extent, along);
        work.operations += elements * kAddLanes;
      } else if (isProduct) {
        taken *= getLossBesideTile(machine);
      }
      (isProduct ? work.products : work.operations) += taken * widthOf(result);
      for (Value operand : op->getOperands()) {
        double again = terms / std::max(1.0, sizes.countElements(operand));
        if (isProduct)
          again = std::max(1.0, again / kColumns);
        work.operations += again * idle * loss * countOperations(operand);
      }
    } else if (isa<LookupOpInterface>(op)) {
      work.operations += loss * countOperations(result, /*isRowByRow=*/true);
    } else {
      work.operations += idle * loss * countOperations(result);
    }
    for (Value v : op->getResults()) {
      kept.insert(v);
      keptBytes += 2 * sizes.countBytes(v);
    }
  }
  for (Value yielded : getYielded(kernel))
    work.operations += idle * loss * countOperations(yielded);
  work.memoryBytes += sizes.countMemory();
  // A work item reads once what is the same for all rows.
  double shared = 0;
  for (BlockArgument argument : kernel.getBody().getArguments())
    if (p.isShared(argument))
      shared += sizes.countBytes(argument);
  double again = shared * std::max(0.0, work.units - 1);
  (shared <= machine.l2Bytes ? work.cacheBytes : work.memoryBytes) += again;
  work.cacheBytes += keptBytes;
  return work;
}

/// Builds the case that takes rows one by one, with lanes along what the steps
/// reduce.
static CaseBuilder makeFew(const RowProgram &p, ArrayRef<unsigned> dims,
                           const MachineModel &machine) {
  CaseBuilder c(p.a.kernel.getContext(), machine);
  int64_t lanes = machine.getLanes(32);
  for (unsigned dim : dims)
    c.grid.push_back(c.axis(dim));
  for (Operation *op : p.steps) {
    auto reduction = dyn_cast<ReductionOpInterface>(op);
    Expr extent = reduction ? reduction.getReducedExtent()
                            : hlir::getExtents(op->getResult(0)).back();
    unsigned along = chooseLanes(extent, lanes);
    if (std::optional<int64_t> known = extent.asConstant(); reduction && known)
      for (unsigned fewer = along / 2; fewer > 1; fewer /= 2)
        if (countSteps(*known, fewer) < countSteps(*known, along))
          along = fewer;
    c.addForm(op, reduction ? "along" : "keep", {{"lanes", along}});
  }
  return c;
}

/// Builds the case with rows in the lanes of vectors.
static LoopCaseAttr makeMany(const RowProgram &p, ArrayRef<unsigned> dims,
                             int64_t lanes, const MachineModel &machine) {
  CaseBuilder c(p.a.kernel.getContext(), machine);
  if (!dims.empty())
    c.grid.push_back(c.axis(dims, lanes, lanes));
  for (Operation *op : p.steps) {
    SmallVector<Expr> own = hlir::getExtents(op->getResult(0));
    if (isa<LookupOpInterface>(op)) {
      bool hasLocal = own.size() > p.extents.size();
      c.addForm(op, "keep",
                {{"lanes", hasLocal ? chooseLanes(own.back(), lanes) : 1}});
      continue;
    }
    if (!hasLoops(op)) {
      c.addForm(op, "keep", {});
      continue;
    }
    int64_t columns = 1;
    if (own.size() > p.extents.size())
      columns = std::min(own.back().asConstant().value_or(kColumns), kColumns);
    c.addForm(op, "across", {{"columns", std::max<int64_t>(1, columns)}});
  }
  return c.build();
}

/// Returns the number of rows, below a whole vector, up to which taking rows
/// one by one is faster, with all other symbols that small.
static int64_t countFew(KernelOp kernel, const Expr &rows,
                        const KernelAnalysis::SymbolRanges &ranges,
                        LoopCaseAttr few, LoopCaseAttr many, int64_t lanes,
                        const MachineModel &machine) {
  int64_t most = 0;
  for (int64_t value = 1; value < lanes; ++value) {
    KernelAnalysis::SymbolRanges at = ranges;
    for (auto &[name, range] : at) {
      range.lo = std::max(range.lo, value);
      range.hi = std::min(range.lo, range.hi.value_or(range.lo));
    }
    double number = nominalValue(rows, Assumptions(at));
    auto priceOf = [&](LoopCaseAttr loopCase) {
      return priceWork(count(kernel, at, loopCase, machine), machine, 1);
    };
    if (number >= lanes || priceOf(few) > priceOf(many))
      break;
    most = int64_t(number);
    if (rows.asConstant())
      break;
  }
  return most;
}

static SmallVector<LoopCaseAttr>
propose(KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
        const MachineModel &machine, SmallVectorImpl<Reporter::Arg> &why) {
  bool hasTeams = machine.warpThreads > 0;
  if (!fits(kernel) ||
      (!hasTeams && (!machine.hasScratch || machine.vectorRegisters == 0)) ||
      llvm::count_if(kernel.getOps(),
                     [](Operation &op) { return hasLoops(&op); }) < 2)
    return {};
  // One row is too little work for a thread group; blocks share it instead.
  if (!findSharedRows(kernel, machine).values.empty())
    return {};
  auto refuse = [&](const Twine &reason, Operation *op = nullptr) {
    why.push_back({"no row program because", reason.str()});
    if (op)
      why.push_back({"in the way of rows", describeWithPlace(op)});
    return SmallVector<LoopCaseAttr>();
  };
  KernelAnalysis a(kernel, ranges);
  RowProgram p(a);
  if (Decision found = p.find(RowProgram::findWished(kernel)); !found)
    return refuse(found.str(), found.getSubject());
  int64_t lanes = machine.getLanes(32);
  SmallVector<unsigned> dims;
  for (auto [i, extent] : llvm::enumerate(p.extents))
    if (!extent.isConstant(1))
      dims.push_back(i);
  if (hasTeams)
    return proposeTeams(p, dims, machine, why);
  std::optional<int64_t> bytes = p.countBytes(lanes).asConstant();
  if (!bytes || *bytes > std::min(machine.getChipBytes(), kMostKept))
    return refuse(
        "the kept values of a vector of rows are not known to fit on chip");
  Expr rows = product({p.extents.begin(), p.extents.end()});
  CaseBuilder few = makeFew(p, dims, machine);
  LoopCaseAttr many = makeMany(p, dims, lanes, machine);
  int64_t mostFew =
      countFew(kernel, rows, ranges, few.build(), many, lanes, machine);
  why.push_back({"form", "rows in lanes, step by step"});
  why.push_back({"steps", uint64_t(p.steps.size())});
  why.push_back({"bytes kept", *bytes});
  if (std::optional<int64_t> known = rows.asConstant())
    return {*known <= mostFew ? few.build() : many};
  why.push_back({"rows one by one up to", mostFew});
  if (!mostFew)
    return {many};
  few.atMost.push_back({rows, mostFew});
  return {few.build(), many};
}

/// Checks a case in which thread groups take rows.
static LogicalResult verifyTeams(const RowProgram &p, LoopCaseAttr loopCase,
                                 const MachineModel &machine,
                                 function_ref<InFlightDiagnostic()> emitError) {
  unsigned team = loopCase.getTeam();
  if (team > machine.warpThreads)
    return emitError() << "takes rows by thread groups of " << team
                       << " threads, which are more than a warp";
  std::optional<int64_t> bytes = p.countTeamBytes(machine).asConstant();
  int64_t teams = loopCase.getThreads() / team;
  if (!bytes || *bytes * teams > machine.plainSharedBytes)
    return emitError() << "keeps values that are not known to fit in "
                       << machine.plainSharedBytes << " bytes of shared memory";
  for (LoopFormAttr form : loopCase.getForms()) {
    Operation *op =
        &*std::next(p.a.kernel.getBody().front().begin(), form.getOp());
    StringRef name = form.getForm().getValue();
    bool isAlong = name == "along";
    if (hasLoops(op) ? !isAlong && name != "members" : name != "keep")
      return emitError() << "gives op" << form.getOp() << ", " << describe(op)
                         << ", the form " << name << ", expected "
                         << (hasLoops(op) ? "members or along" : "keep");
    NumberRule rule =
        isAlong ? NumberRule{"unroll", 1, 16} : NumberRule{"columns", 1, 16};
    if (failed(verifyNumbers(form, {rule}, emitError)))
      return failure();
  }
  return success();
}

static LogicalResult verify(KernelOp kernel,
                            const KernelAnalysis::SymbolRanges &ranges,
                            LoopCaseAttr loopCase, const MachineModel &machine,
                            function_ref<InFlightDiagnostic()> emitError) {
  bool hasTeams = loopCase.getThreads() > 0;
  if (!hasTeams && !machine.hasScratch)
    return emitError() << "keeps values of rows, for which the machine has no "
                          "scratch";
  if (!loopCase.getStream().empty())
    return emitError() << "has a stream, which a row program does not take";
  KernelAnalysis a(kernel, ranges);
  RowProgram p(a);
  if (Decision found = p.apply(loopCase); !found) {
    InFlightDiagnostic error = emitError() << "takes rows step by step, but "
                                           << found.str();
    if (Operation *op = found.getSubject())
      error << ": " << describe(op);
    return error;
  }
  bool isAcross = llvm::any_of(loopCase.getForms(), [](LoopFormAttr form) {
    return form.getForm().getValue() == "across";
  });
  if (isAcross && loopCase.getGrid().size() > 1)
    return emitError() << "has several axes, but rows are one axis";
  if (failed(verifyAxes(loopCase.getGrid(), p.extents, 0, emitError)))
    return failure();
  for (LoopAxisAttr axis : loopCase.getGrid())
    if (int64_t(axis.getLanes()) != axis.getBlock() ||
        (!isAcross && axis.getLanes() > 1))
      return emitError() << "takes blocks of rows other than whole vectors";
  if (hasTeams)
    return verifyTeams(p, loopCase, machine, emitError);
  for (LoopFormAttr form : loopCase.getForms()) {
    Operation *op = &*std::next(kernel.getBody().front().begin(), form.getOp());
    SmallVector<NumberRule> rules;
    StringRef expected = !hasLoops(op) ? "keep" : isAcross ? "across" : "along";
    if (form.getForm().getValue() != expected)
      return emitError() << "gives op" << form.getOp() << ", " << describe(op)
                         << ", the form " << form.getForm().getValue()
                         << ", expected " << expected;
    if (expected == "across")
      rules.push_back({"columns", 1, 16});
    else
      rules.push_back({"lanes", 1, 64});
    if (expected == "along")
      rules.push_back({"unroll", 1, 16});
    if (failed(verifyNumbers(form, rules, emitError)))
      return failure();
  }
  return success();
}

static const StringRef kNames[] = {"across", "along", "members"};
const LoopForms llir::kRowProgramForms = {"row program",
                                          kNames,
                                          fits,
                                          propose,
                                          count,
                                          verify,
                                          /*verifyParts=*/nullptr,
                                          /*countWorkspace=*/nullptr,
                                          /*getNontemporal=*/nullptr,
                                          /*competes=*/true};
