//===- RowThreads.cpp - Row reductions on a GPU ---------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Rows.h"
#include "Threads.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// Returns how many rows a thread takes at once, if adjacent elements in memory
/// belong to different rows: as many as one access reads and writes, if enough
/// threads remain to keep memory busy. A thread reads `elements` elements of
/// each row in sequence.
static unsigned chooseRowLanes(KernelAnalysis &a, const RowReductions &rows,
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
  // Few rows are cut into parts, which make more threads: 65536 x 1000 f32 took
  // 76 us on an H200 element by element, 68 with vectors.
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

/// Proposes thread groups for a few rows whose neighbours in memory belong to
/// different rows: each thread then reads elements that are far apart, but
/// waits less often. Returns the best by price, if it is well below the price
/// of one thread for each row.
static std::optional<LoopCaseAttr>
proposeTeamsAcross(KernelAnalysis &a, const RowReductions &rows,
                   const Domain &domain, unsigned column, int64_t length,
                   double price, const MachineModel &machine) {
  constexpr double kCheaper = 0.8;
  constexpr unsigned kLeastThreads = 64, kMostThreads = 512;
  constexpr int64_t kMostRounds = 8;
  std::optional<LoopCaseAttr> best;
  price *= kCheaper;
  auto add = [&](unsigned team, unsigned threads) {
    CaseBuilder c(a.kernel.getContext(), machine);
    c.team = team;
    c.threads = threads;
    for (ArrayRef<unsigned> group : domain.groups)
      c.grid.push_back(c.axis(group, 1, 1));
    c.stream.push_back(c.axis(rows.getStreamDim(), 0, 1));
    SmallVector<CaseBuilder::Number> numbers = {
        {"lanes", 1}, {"unroll", chooseRounds(length, team, kMostRounds)}};
    if (team > machine.warpThreads)
      numbers.push_back({"blocks", machine.residentThreads / 2 / team});
    Walks walks(a, domain, column);
    for (RowReductionOpInterface op : rows.reduces)
      walks.add(op, 1);
    SmallVector<Reporter::Arg> ignored;
    walks.addForms(
        c,
        [&](const Walks::Walk &walk, size_t) {
          c.addForm(walk.ops.front(), "pass", numbers);
        },
        ignored);
    LoopCaseAttr built = c.build();
    double own =
        priceWork(countRows(rows.kernel, a.getRanges(), built, machine),
                  machine, machine.workers);
    if (own < price)
      best = built, price = own;
  };
  for (unsigned threads = kLeastThreads; threads <= kMostThreads;
       threads *= 2) {
    for (unsigned team = machine.warpThreads; team > 1; team /= 2)
      add(team, threads);
    if (threads > machine.warpThreads && int64_t(threads) <= length)
      add(threads, threads);
  }
  return best;
}

/// A thread group takes a row, or a thread does if adjacent elements in memory
/// belong to different rows.
SmallVector<LoopCaseAttr>
llir::proposeRowThreads(KernelAnalysis &a, const RowReductions &rows,
                        const Domain &domain, unsigned column,
                        const MachineModel &machine,
                        SmallVectorImpl<Reporter::Arg> &why) {
  // The vectors that a thread keeps in registers; more if they are below 4
  // bytes, or if a thread sums whole rows, to hide memory latency.
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
  // Narrow elements keep memory busy only if a thread loads many of them, and a
  // smaller group has cheaper barriers. 12007 rows of 1537 bf16 took 56 us on
  // an H200 with groups of 512 threads, 31 with 128.
  if (!isAcross && lanes * bits < 32 && vectors && count)
    while (c.team > 4 * machine.warpThreads &&
           *vectors <= int64_t(c.team) / 2 * kMostRoundsOfFew &&
           hasWorkForTeams(*count, c.team / 2, machine))
      c.team /= 2;
  int64_t states = 0;
  for (RowReductionOpInterface op : rows.reduces)
    states += int64_t(
        cast<ReductionOpInterface>(op.getOperation()).getStateTypes().size());
  bool isFew = isAcross ? states == 1 : lanes * bits < 32;
  int64_t most = isFew ? kMostRoundsOfFew : kMostRounds;
  int64_t unroll = chooseRounds(vectors, c.team, most);
  // The remainder is a loop of its own.
  if (!isAcross && isFew && vectors && *vectors >= int64_t(c.team))
    unroll = std::min(unroll, *vectors / int64_t(c.team));
  // A short row is loaded at once.
  if (isAcross)
    unroll = n && *n <= most ? std::max<int64_t>(1, *n)
                             : chooseUnroll(rows.extent, 1, most);
  unsigned rowLanes = 1;
  if (isAcross)
    rowLanes = chooseRowLanes(a, rows, domain, column, unroll, machine);
  // More loads in flight than memory latency requires compete with each other:
  // 256 x 500 x 513 f32 took 68 us on an H200 with 2 to 5 at a time, 77 with 8
  // to 16.
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
  // The most rounds, even if they leave a remainder: rows of 50257 f16 took
  // 62.6 us on an H200 with 16 rounds, 69.7 with 11, 65.8 with 8.
  if (isFew && !isAcross && vectors && *vectors > int64_t(c.team) * most)
    unroll = most;
  SmallVector<CaseBuilder::Number> numbers = {{"lanes", lanes},
                                              {"unroll", unroll}};
  // While one block waits at a barrier, another runs. An SM has enough
  // registers for its maximum of threads if each keeps only a few elements of
  // its row.
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
  if (cases.front().getParts() == 1) {
    c.threads = chooseThreads(total, c.team, machine);
    cases = {c.build()};
  }
  if (!isAcross || !n || !count || *n == 1)
    return cases;
  double price =
      priceWork(countRows(rows.kernel, a.getRanges(), cases.front(), machine),
                machine, machine.workers);
  auto teams = proposeTeamsAcross(a, rows, domain, column, *n, price, machine);
  if (!teams)
    return cases;
  why.push_back(
      {"teams of far elements, not ns", int64_t(std::llround(price))});
  return {*teams};
}
