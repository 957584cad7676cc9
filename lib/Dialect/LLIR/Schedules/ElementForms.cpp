//===- ElementForms.cpp - Elementwise kernels -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cuts the index space of the results, and computes each element with
// everything that it depends on: maps, gathers, and any other kernel whose
// results have one shape. A reduction or product inside has the form `element`:
// its loop runs once for each element that reads it, over `lanes` indices at a
// time if all lanes around it need the same element, with `unroll`
// accumulators.
//
// With the form `together`, one loop computes all elements of a work item (a
// block of each axis), so that shared operands are loaded once, such as a
// weight that several rows are multiplied with. The loop also takes `lanes`
// indices at a time, which each element accumulates in `sums` separate sums.
//
// A reduction of few terms, each of which depends on products, has the form
// `spread`: each thread group of a block computes one term.
//
// A value that all products of one row read, such as the norm of the row, has
// the form `share`: each of `blocks` thread blocks computes it once in shared
// memory and then computes many elements; `each` of the blocks are resident on
// an SM.
//
//===----------------------------------------------------------------------===//

#include "ElementReads.h"
#include "Forms.h"
#include "LaneSums.h"
#include "SpreadTerms.h"
#include "Together.h"
#include "luminal/Dialect/LLIR/Analysis/ProductReads.h"
#include "luminal/Dialect/LLIR/Analysis/TransposedReads.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

static bool fits(KernelOp) { return true; }

/// Returns whether every reduction that parts would cut has one element for
/// each result element.
static bool canCut(KernelOp kernel) {
  return llvm::all_of(getFirstReductions(kernel), [&](auto op) {
    return hlir::getExtents(op->getResult(0)) == getResultExtents(kernel, 0);
  });
}

/// Accumulators of a reduction inside an element, for each operand.
static constexpr int64_t kUnrollOfOperand = 2;

/// Returns the case `c`, and one with its reductions cut into parts if they
/// pay.
static SmallVector<LoopCaseAttr> addParts(CaseBuilder &c, KernelAnalysis &a,
                                          const Domain &domain,
                                          const MachineModel &machine,
                                          SmallVectorImpl<Reporter::Arg> &why) {
  SmallVector<ReductionOpInterface> first = getFirstReductions(a.kernel);
  if (first.empty() || !canCut(a.kernel))
    return {c.build()};
  Expr units = 1;
  int64_t length = 1, atOnce = machine.workers;
  for (auto [extent, axis] : llvm::zip_equal(domain.extents, c.grid)) {
    units = units * (axis.getBlock() ? Expr::ceilDiv(extent, axis.getBlock())
                                     : Expr(1));
    length *=
        axis.getBlock() ? axis.getBlock() : extent.asConstant().value_or(1);
  }
  // An SM runs several thread groups at once, so one of them is slower than a
  // CPU core.
  if (c.threads) {
    atOnce *= c.threads / c.team;
    length *= c.threads / c.team;
  }
  return buildWithParts(
      c, chooseParts(a.kernel, a.getRanges(), a.simplify(units),
                     first.front().getReducedExtent(),
                     length * getElementCost(a.kernel), atOnce, machine, why));
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

/// The most operations in the code of a kernel. A reduction that another
/// reduction's loop reads is recomputed in it, so copies of loop bodies
/// multiply: six nested reductions, each unrolled by four, had 26,000 lines of
/// PTX.
static constexpr double kMostCode = 4096;

/// Counts the operations of the code if each reduction has the unroll that
/// `getUnroll` returns, and its loop has a tail.
static double countCode(KernelOp kernel,
                        function_ref<int64_t(ReductionOpInterface)> getUnroll) {
  Operation *terminator = kernel.getBody().front().getTerminator();
  // A value is computed once for all its readers in one loop, and once in each
  // loop that reads it.
  llvm::DenseMap<Value, double> copies, copiesOfLoops;
  for (Value yielded : terminator->getOperands())
    copies[yielded] = 1;
  double code = 0;
  for (Operation *op = terminator->getPrevNode(); op; op = op->getPrevNode()) {
    double count = 0;
    for (Value result : op->getResults())
      count =
          std::max(count, copies.lookup(result) + copiesOfLoops.lookup(result));
    auto reduction = dyn_cast<ReductionOpInterface>(op);
    if (reduction) {
      int64_t unroll = getUnroll(reduction);
      count *= unroll > 1 ? unroll + 1 : 1;
    }
    code += count * (reduction ? 1 : getOperations(op));
    for (Value operand : op->getOperands())
      if (reduction)
        copiesOfLoops[operand] += count;
      else
        copies[operand] = std::max(copies.lookup(operand), count);
  }
  return code;
}

/// Halves the largest unrolls until the code is short enough.
static void shortenCode(KernelOp kernel,
                        ArrayRef<ReductionOpInterface> reductions,
                        MutableArrayRef<int64_t> unrolls) {
  if (unrolls.empty())
    return;
  auto getUnroll = [&](ReductionOpInterface op) {
    return unrolls[llvm::find(reductions, op) - reductions.begin()];
  };
  while (countCode(kernel, getUnroll) > kMostCode) {
    int64_t *largest = llvm::max_element(unrolls);
    if (*largest == 1)
      return;
    *largest /= 2;
  }
}

//===----------------------------------------------------------------------===//
// Shared values
//===----------------------------------------------------------------------===//

/// Thread blocks that share values, on each SM, and their threads.
static constexpr int64_t kSharingBlocksEach = 8;
static constexpr unsigned kSharingThreads = 128;

static constexpr StringLiteral kShare = "share";

/// Returns the extent of the only dim of `v` that is not 1 (1 if there is
/// none); std::nullopt if there are several, or if it is not known.
static std::optional<int64_t> getLength(Value v) {
  int64_t length = 1;
  for (const Expr &extent : hlir::getExtents(v)) {
    std::optional<int64_t> n = extent.asConstant();
    if (!n || (*n != 1 && length != 1))
      return std::nullopt;
    length *= *n;
  }
  return length;
}

static int64_t countSharedBytes(Value v) {
  int64_t bits = std::max(8u, getElementType(v).getIntOrFloatBitWidth());
  return getLength(v).value_or(0) * bits / 8;
}

/// Returns the row that a product of one row reads, if it is computed; null if
/// it is loaded.
static Value getComputedRow(ReductionOpInterface op) {
  auto product = dyn_cast<ProductOpInterface>(op.getOperation());
  if (!product)
    return {};
  for (auto [d, extent] :
       llvm::enumerate(hlir::getExtents(product->getResult(0))))
    if (!extent.isConstant(1) && product.getLhsMap().usesDim(d))
      return {};
  Value row = product.getLhs();
  while (auto view = row.getDefiningOp<ViewOp>())
    row = view.getOperand();
  return row.getDefiningOp<ElementwiseOp>() ? row : Value();
}

SharedRows llir::findSharedRows(KernelOp kernel, const MachineModel &machine) {
  SharedRows found;
  int64_t bytes = 0;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    auto reduction = dyn_cast<ReductionOpInterface>(op);
    Value row = reduction ? getComputedRow(reduction) : Value();
    if (!row || llvm::is_contained(found.values, row))
      continue;
    llvm::SetVector<Operation *> before;
    findBefore(row, before);
    SmallVector<ReductionOpInterface> reductions;
    bool isOneEach = true;
    for (Operation *op : before)
      if (hasLoops(op)) {
        auto inner = dyn_cast<ReductionOpInterface>(op);
        isOneEach &= inner && !isa<ProductOpInterface>(op) &&
                     llvm::all_of(op->getResults(), [](Value result) {
                       return getLength(result) == 1;
                     });
        reductions.push_back(inner);
      }
    // Without a reduction, its readers recompute it.
    if (!isOneEach || reductions.empty() || !getLength(row))
      continue;
    bytes += countSharedBytes(row);
    found.values.push_back(row);
    for (ReductionOpInterface inner : reductions)
      if (!llvm::is_contained(found.reductions, inner))
        found.reductions.push_back(inner);
  }
  // Half of shared memory remains for what threads exchange.
  if (!machine.blockThreads || bytes > machine.plainSharedBytes / 2)
    return {};
  return found;
}

/// Proposes the form `together` for products of few rows; std::nullopt if it
/// does not apply.
static std::optional<CaseBuilder>
proposeTogether(KernelAnalysis &a, const Domain &domain,
                ArrayRef<ReductionOpInterface> products,
                ArrayRef<AlongReduced> along, const MachineModel &machine,
                SmallVectorImpl<Reporter::Arg> &why) {
  if (getFirstReductions(a.kernel).size() != products.size())
    return std::nullopt;
  std::optional<TogetherShape> shape =
      chooseTogether(a, domain, products, along, /*isShared=*/false, machine);
  if (!shape)
    return std::nullopt;
  CaseBuilder c(a.kernel.getContext(), machine);
  c.threads = shape->threads;
  c.team = shape->team;
  for (auto [i, group] : llvm::enumerate(domain.groups))
    c.grid.push_back(c.axis(group, shape->getBlock(i)));
  int64_t blocks = machine.blockRegisters / (shape->registers * c.threads);
  for (auto [op, read, unroll] :
       llvm::zip_equal(products, along, shape->unrolls))
    c.addForm(op, kTogether,
              {{"blocks", std::max<int64_t>(1, blocks)},
               {"lanes", read.lanes},
               {"sums", 1},
               {"unroll", unroll}});
  why.push_back({"rows together", shape->rows});
  return c;
}

/// Proposes the form `spread` for a reduction of few terms; std::nullopt if it
/// does not apply.
static std::optional<CaseBuilder>
proposeSpread(KernelAnalysis &a, const Domain &domain,
              ArrayRef<ReductionOpInterface> reductions,
              const MachineModel &machine,
              SmallVectorImpl<Reporter::Arg> &why) {
  std::optional<SpreadTerms> spread =
      chooseSpread(a, domain, reductions, machine);
  if (!spread)
    return std::nullopt;
  CaseBuilder c(a.kernel.getContext(), machine);
  c.team = spread->team * static_cast<unsigned>(spread->terms);
  c.threads = c.team;
  for (const SmallVector<unsigned> &group : domain.groups)
    c.grid.push_back(c.axis(group));
  for (auto [op, lanes, unroll] :
       llvm::zip_equal(spread->products, spread->lanes, spread->unrolls))
    c.addForm(op, "element", {{"lanes", lanes}, {"unroll", unroll}});
  c.addForm(spread->reduction, kSpread, {});
  why.push_back({"terms over teams", spread->terms});
  return c;
}

/// Adds the forms of the values that all thread blocks compute first.
static void addSharedRows(CaseBuilder &c, const SharedRows &shared,
                          const MachineModel &machine) {
  for (Value v : shared.values) {
    unsigned bits = std::max(8u, getElementType(v).getIntOrFloatBitWidth());
    c.addForm(
        v.getDefiningOp(), kShare,
        {{"blocks", kSharingBlocksEach * machine.workers},
         {"each", kSharingBlocksEach},
         {"lanes", chooseLanes(Expr(*getLength(v)), machine.getLanes(bits))}});
  }
}

/// Does the same if a thread group takes several columns together.
static SmallVector<LoopCaseAttr> proposeSharedTogether(
    KernelAnalysis &a, const Domain &domain, const SharedRows &shared,
    ArrayRef<ReductionOpInterface> reductions, ArrayRef<unsigned> lanes,
    const MachineModel &machine, SmallVectorImpl<Reporter::Arg> &why) {
  SmallVector<ReductionOpInterface> products;
  SmallVector<AlongReduced> along;
  for (auto [op, width] : llvm::zip_equal(reductions, lanes))
    if (!llvm::is_contained(shared.reductions, op)) {
      products.push_back(op);
      along.push_back({true, width});
    }
  std::optional<TogetherShape> shape =
      chooseTogether(a, domain, products, along, /*isShared=*/true, machine);
  if (!shape || shape->rowsAxis)
    return {};
  CaseBuilder c(a.kernel.getContext(), machine);
  c.threads = shape->threads;
  c.team = shape->team;
  for (auto [i, group] : llvm::enumerate(domain.groups))
    c.grid.push_back(c.axis(group, shape->getBlock(i)));
  addSharedRows(c, shared, machine);
  size_t product = 0;
  for (auto [op, width] : llvm::zip_equal(reductions, lanes)) {
    if (llvm::is_contained(shared.reductions, op)) {
      std::optional<int64_t> vectors =
          ReductionOpInterface(op).getReducedExtent().asConstant();
      if (vectors)
        vectors = llvm::divideCeil(*vectors, width);
      c.addForm(
          op, "element",
          {{"lanes", width}, {"unroll", chooseRounds(vectors, c.threads, 8)}});
      continue;
    }
    c.addForm(
        op, kTogether,
        {{"lanes", width}, {"sums", 1}, {"unroll", shape->unrolls[product++]}});
  }
  why.push_back({"shared", int64_t(shared.values.size())});
  why.push_back({"columns together", shape->columns});
  return {c.build()};
}

/// Thread blocks take the elements (warps if they are short), after each block
/// has computed the values that all of them read. On an H200, a gate of 2 x
/// 14336 columns of 4096 after a norm took 55 us with blocks of four warps and
/// 67 with warps.
static SmallVector<LoopCaseAttr>
proposeShared(KernelAnalysis &a, const Domain &domain, const SharedRows &shared,
              ArrayRef<ReductionOpInterface> reductions,
              const MachineModel &machine,
              SmallVectorImpl<Reporter::Arg> &why) {
  constexpr int64_t kMostRounds = 8, kVectorsEach = 4;
  CaseBuilder c(a.kernel.getContext(), machine);
  for (const SmallVector<unsigned> &group : domain.groups)
    c.grid.push_back(c.axis(group));
  c.threads = kSharingThreads;
  c.team = kSharingThreads;
  addSharedRows(c, shared, machine);
  SmallVector<unsigned> lanes;
  SmallVector<std::optional<int64_t>> vectors;
  for (ReductionOpInterface op : reductions) {
    bool isShared = llvm::is_contained(shared.reductions, op);
    Index index =
        isShared ? Index(getRank(op->getResult(0)), Expr(0)) : domain.index;
    AlongReduced along = findAlongReduced(a, op, index, machine);
    if (!along.isAlong && !isShared) {
      why.push_back({"not shared because", "a product does not read along"});
      return {};
    }
    lanes.push_back(along.isAlong ? along.lanes : 1);
    vectors.push_back(op.getReducedExtent().asConstant());
    if (vectors.back())
      vectors.back() = llvm::divideCeil(*vectors.back(), lanes.back());
    if (!isShared &&
        vectors.back().value_or(0) < int64_t(c.threads) * kVectorsEach)
      c.team = machine.warpThreads;
  }
  if (auto cases = proposeSharedTogether(a, domain, shared, reductions, lanes,
                                         machine, why);
      !cases.empty())
    return cases;
  for (auto [i, op] : llvm::enumerate(reductions)) {
    bool isShared = llvm::is_contained(shared.reductions, op);
    c.addForm(
        op, "element",
        {{"lanes", lanes[i]},
         {"unroll", chooseRounds(vectors[i], isShared ? c.threads : c.team,
                                 kMostRounds)}});
  }
  why.push_back({"shared", int64_t(shared.values.size())});
  return {c.build()};
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// Returns how many rows a thread takes at once, if it looks up its operands
/// and a vector of a row is smaller than the widest access: it then waits for
/// several indices together. 2^19 rows of 100 f16 took 83 us on an H200 one by
/// one, 64 two at a time.
static int64_t chooseRowsEach(KernelOp kernel, const Domain &domain,
                              unsigned lanes, unsigned bits,
                              const MachineModel &machine) {
  std::optional<int64_t> count =
      product({domain.extents.begin(), domain.extents.end()}).asConstant();
  bool looksUp = llvm::any_of(kernel.getOps(), [](Operation &op) {
    return isa<LookupOpInterface>(op);
  });
  if (!looksUp || lanes == 1 || domain.extents.size() < 2 || !count)
    return 1;
  int64_t rows = machine.getLanes(lanes * bits);
  std::optional<int64_t> extent =
      domain.extents[domain.extents.size() - 2].asConstant();
  while (rows > 1 && (*extent % rows != 0 ||
                      *count / lanes / rows < machine.getAllThreads()))
    rows /= 2;
  return rows;
}

/// If all reductions read along memory, a thread group takes each element;
/// otherwise a thread takes an element, or a vector of elements.
static SmallVector<LoopCaseAttr>
proposeThreads(KernelAnalysis &a, const Domain &domain,
               MutableArrayRef<ReductionOpInterface> reductions,
               const MachineModel &machine,
               SmallVectorImpl<Reporter::Arg> &why) {
  constexpr int64_t kVectorsEach = 4, kMostRounds = 4;
  // The most vectors for each thread of half a warp. Products of one row in
  // bf16 with blocks of 128 threads took 0.90 of the time for columns of 768
  // (16,384 columns), 0.98 (50,257) and 0.88 for 512 (32,000), but 1.01 for
  // 1,024 (H200).
  constexpr int64_t kVectorsOfHalf = 6;
  // Elements that are few enough for each to have a block, whose threads unroll
  // more rounds; and elements for each worker from which no parts are needed.
  constexpr int64_t kFewElements = 1 << 14, kElementsEach = 4,
                    kMostRoundsOfBlock = 8;
  CaseBuilder c(a.kernel.getContext(), machine);
  std::optional<int64_t> count =
      product({domain.extents.begin(), domain.extents.end()}).asConstant();
  SmallVector<AlongReduced> along;
  for (ReductionOpInterface op : reductions) {
    // A reduction of another rank is computed by each element that reads it.
    bool isOfElements =
        hlir::getExtents(op->getResult(0)).size() == domain.index.size();
    along.push_back(isOfElements
                        ? findAlongReduced(a, op, domain.index, machine)
                        : AlongReduced());
  }
  auto vectorsOf = [&](size_t i) -> std::optional<int64_t> {
    std::optional<int64_t> n = reductions[i].getReducedExtent().asConstant();
    return n ? std::optional<int64_t>(llvm::divideCeil(*n, along[i].lanes)) : n;
  };
  if (auto spread = proposeSpread(a, domain, reductions, machine, why))
    return {spread->build()};
  unsigned lanes = 1;
  int64_t rowsEach = 1, bits = 0;
  bool isHalf = false;
  if (reductions.empty()) {
    Accesses accesses(a);
    for (auto [i, v] : llvm::enumerate(getYielded(a.kernel))) {
      accesses.addReads(v, domain.index);
      accesses.addResult(i, domain.index);
    }
    if (!domain.dims.empty())
      lanes = accesses.chooseLanes(domain.dims.back(), domain.extents.back(),
                                   machine);
    // A short kernel benefits more from threads than from vectors.
    while (lanes > 1 && count && *count / lanes < (1 << 14))
      lanes /= 2;
    bits = accesses.getLeastBits();
    rowsEach = chooseRowsEach(a.kernel, domain, lanes, bits, machine);
  } else if (llvm::all_of(along,
                          [](const AlongReduced &r) { return r.isAlong; })) {
    if (auto together =
            proposeTogether(a, domain, reductions, along, machine, why))
      return {together->build()};
    // A warp takes each element if elements are many or short, counting all
    // operands of an element: a gate and the values it multiplies are two
    // products in each element (6,144 elements of 2,048 in bf16 took a block of
    // experts 33.9 us on an H200 with warps, 31.4 with blocks).
    unsigned block = 4 * machine.warpThreads;
    std::optional<int64_t> vectors = vectorsOf(0), all = 0;
    for (size_t i = 0; i < reductions.size(); ++i) {
      std::optional<int64_t> more = vectorsOf(i);
      // With several reductions, no thread may idle in the last round of one.
      const bool fits = more && (reductions.size() == 1 || *more % block == 0);
      all = all && fits ? std::optional(*all + *more) : std::nullopt;
    }
    bool fillsBlock = count && all && *count <= kFewElements &&
                      *count >= kElementsEach * machine.workers &&
                      *all >= int64_t(block) * kVectorsEach;
    c.team = fillsBlock
                 ? block
                 : std::min(machine.warpThreads,
                            chooseTeam(vectors, count, kVectorsEach, machine));
    // Half a warp if there are more warps than are resident at a time.
    const int64_t room = int64_t(machine.workers) * machine.residentThreads;
    isHalf = c.team == machine.warpThreads && vectors && count &&
             *vectors <= kVectorsOfHalf * int64_t(c.team) / 2 &&
             *count * c.team > room;
    if (isHalf)
      c.team /= 2;
  }
  for (auto [i, group] : llvm::enumerate(domain.groups))
    c.grid.push_back(i + 1 == domain.groups.size() ? c.axis(group, lanes, lanes)
                     : i + 2 == domain.groups.size() ? c.axis(group, rowsEach)
                                                     : c.axis(group));
  SmallVector<int64_t> unrolls;
  for (auto [i, op] : llvm::enumerate(reductions)) {
    int64_t rounds =
        c.team > machine.warpThreads ? kMostRoundsOfBlock : kMostRounds;
    unrolls.push_back(
        c.team > 1 ? chooseRounds(vectorsOf(i), c.team, rounds)
                   : chooseUnroll(op.getReducedExtent(), 1, kMostRounds));
  }
  shortenCode(a.kernel, reductions, unrolls);
  for (auto [i, op] : llvm::enumerate(reductions))
    c.addForm(
        op, "element",
        {{"lanes", c.team > 1 ? along[i].lanes : 1}, {"unroll", unrolls[i]}});
  std::optional<int64_t> total;
  if (count)
    total = *count * c.team / lanes / rowsEach;
  // 2^24 to 2^28 elements took 0.89 to 0.99 of the time with blocks of 128
  // threads if each thread has whole vectors, 1.13 if each has one f64 (H200).
  bool haveVectors = int64_t(lanes) * rowsEach * bits >= machine.vectorBits;
  c.threads =
      chooseThreads(total, c.team, machine,
                    haveVectors || isHalf ? 4 * machine.warpThreads : 256);
  return addParts(c, a, domain, machine, why);
}

/// Returns whether the last dim of the elements is shorter than a vector.
static bool fillNoVector(const Domain &domain, unsigned most) {
  std::optional<int64_t> n = 1;
  if (!domain.extents.empty())
    n = domain.extents.back().asConstant();
  return n && *n < int64_t(most);
}

/// Returns whether all reductions read memory along the dim that they reduce.
static bool areAlongReduced(KernelAnalysis &a, const Domain &domain,
                            const MachineModel &machine) {
  SmallVector<ReductionOpInterface> first = getFirstReductions(a.kernel);
  return !first.empty() && canCut(a.kernel) &&
         llvm::all_of(first, [&](ReductionOpInterface op) {
           return findAlongReduced(a, op, domain.index, machine).isAlong;
         });
}

static SmallVector<LoopCaseAttr>
propose(KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
        const MachineModel &machine, SmallVectorImpl<Reporter::Arg> &why) {
  KernelAnalysis a(kernel, ranges);
  SmallVector<Expr> extents = getResultExtents(kernel, 0);
  for (Value result : kernel.getResults())
    if (hlir::getExtents(result) != extents) {
      why.push_back(
          {"no elements because", "the results have different shapes"});
      return {};
    }
  Domain domain = findMapDomain(a);
  if (machine.blockThreads) {
    SmallVector<ReductionOpInterface> reductions;
    for (Operation &op : kernel.getBody().front().without_terminator())
      if (auto reduction = dyn_cast<ReductionOpInterface>(op))
        reductions.push_back(reduction);
      else if (hasLoops(&op))
        return {};
    why.push_back({"form", "each element for itself"});
    SharedRows shared = findSharedRows(kernel, machine);
    if (!shared.values.empty())
      if (SmallVector<LoopCaseAttr> cases =
              proposeShared(a, domain, shared, reductions, machine, why);
          !cases.empty())
        return cases;
    return proposeThreads(a, domain, reductions, machine, why);
  }
  if (std::optional<LaneSums> sums = findLaneSums(a, machine)) {
    why.push_back({"form", "each lane's sum, fully unrolled"});
    return {buildLaneSums(a, *sums, machine)};
  }
  unsigned most = machine.getLanes(32), lanes = 1;
  CaseBuilder c(kernel.getContext(), machine);
  bool alongReduced =
      fillNoVector(domain, most) && areAlongReduced(a, domain, machine);
  const unsigned interleaved = chooseInterleavedLanes(a, domain, most);
  for (auto [i, group] : llvm::enumerate(domain.groups)) {
    if (interleaved > 1 && i + 2 >= domain.groups.size()) {
      lanes = interleaved;
      bool isLast = i + 1 == domain.groups.size();
      int64_t few = *domain.extents.back().asConstant();
      c.grid.push_back(isLast ? c.axis(group, 0)
                              : c.axis(group,
                                       chooseBlock(domain.extents[i],
                                                   machine.unitElements / few),
                                       lanes));
      if (isLast)
        why.push_back({"interleaved", few});
      continue;
    }
    if (i + 1 < domain.groups.size()) {
      c.grid.push_back(c.axis(group));
      continue;
    }
    int64_t block = chooseBlock(domain.extents[i], machine.unitElements);
    if (block != 1 && !alongReduced)
      lanes =
          chooseElementLanes(a, domain, chooseLanes(domain.extents[i], most));
    c.grid.push_back(c.axis(group, block, lanes));
  }
  if (std::optional<TransposedBlock> block =
          findTransposedBlock(a, domain, machine)) {
    lanes = std::min<int64_t>(lanes, block->columns);
    const size_t last = c.grid.size() - 1;
    c.grid[block->axis] = c.axis(domain.groups[block->axis], block->rows);
    c.grid[last] = c.axis(domain.groups[last], block->columns, lanes);
    why.push_back({"transposed in blocks of", block->columns});
  }
  // Ops whose element is the same in all lanes wherever it is read.
  llvm::MapVector<Operation *, bool> varies;
  for (Value yielded : getYielded(kernel))
    a.walk(
        yielded, domain.index, [](const Leaf &) {},
        [&](Value v, const Index &index) {
          Operation *op = v.getDefiningOp();
          if (hasLoops(op))
            varies[op] |=
                lanes > 1 && a.variesOver(v, index, domain.dims.back());
        });
  SmallVector<ReductionOpInterface> reductions;
  SmallVector<unsigned> widths;
  SmallVector<int64_t> unrolls;
  for (auto [op, overLanes] : varies) {
    auto reduction = dyn_cast<ReductionOpInterface>(op);
    if (!reduction) {
      why.push_back(
          {"no elements because", "its loops are not those of a reduction"});
      return {};
    }
    Expr extent = reduction.getReducedExtent();
    reductions.push_back(reduction);
    widths.push_back(overLanes ? 1 : chooseLanes(extent, most));
    unrolls.push_back(chooseUnroll(extent, widths.back(),
                                   kUnrollOfOperand * op->getNumOperands()));
  }
  shortenCode(kernel, reductions, unrolls);
  for (auto [i, op] : llvm::enumerate(reductions))
    c.addForm(op, "element", {{"lanes", widths[i]}, {"unroll", unrolls[i]}});
  why.push_back({"form", "each element for itself"});
  return addParts(c, a, domain, machine, why);
}

SmallVector<Operation *> llir::getSharedOps(KernelOp kernel,
                                            LoopCaseAttr loopCase) {
  SmallVector<Operation *> ops;
  for (auto [i, op] : llvm::enumerate(kernel.getOps()))
    if (LoopFormAttr form = loopCase.getForm(i);
        form && form.getForm().getValue() == kShare)
      ops.push_back(&op);
  return ops;
}

static LoopWork count(KernelOp kernel,
                      const KernelAnalysis::SymbolRanges &ranges,
                      LoopCaseAttr loopCase, const MachineModel &machine) {
  KernelAnalysis a(kernel, ranges);
  for (Operation *op : getSharedOps(kernel, loopCase))
    a.place(op->getResult(0), [](const Index &) { return Expr(0); });
  KernelSizes sizes(a);
  LoopWork work;
  work.units = sizes.countUnits(loopCase, getResultExtents(kernel, 0));
  if (std::optional<LaneSums> sums = findLaneSums(a, machine);
      sums && isStraight(*sums, loopCase)) {
    // Apart from its borders, a line has no comparisons; a step is a load and a
    // multiply-add, one operation.
    addResults(work, kernel, sizes);
    work.operations +=
        double(sums->steps) * sizes.countElements(sums->op->getResult(0));
    addFetchedResults(work, kernel, loopCase, sizes, machine);
    return work;
  }
  work.operations = sizes.countNested() * countScalarLoss(loopCase, machine);
  work.memoryBytes = sizes.countMemory();
  if (!loopCase.getThreads() && !loopCase.getGrid().empty() &&
      llvm::none_of(kernel.getOps(),
                    [](Operation &op) { return hasLoops(&op); }))
    if (unsigned lanes = loopCase.getGrid().back().getLanes(); lanes > 1)
      work.operations += countLookUps(a, findMapDomain(a), lanes) *
                         sizes.countElements(kernel.getResults()[0]);
  addFetchedResults(work, kernel, loopCase, sizes, machine);
  if (loopCase.getThreads())
    addElementWaits(work, a, loopCase, sizes, machine);
  return work;
}

static bool isTogether(LoopFormAttr form) {
  return form.getForm().getValue() == kTogether;
}

bool llir::areTogether(LoopCaseAttr loopCase) {
  return llvm::any_of(loopCase.getForms(), isTogether);
}

static LogicalResult verify(KernelOp kernel,
                            const KernelAnalysis::SymbolRanges &ranges,
                            LoopCaseAttr loopCase, const MachineModel &machine,
                            function_ref<InFlightDiagnostic()> emitError) {
  SmallVector<Expr> extents = getResultExtents(kernel, 0);
  for (Value result : kernel.getResults())
    if (hlir::getExtents(result) != extents)
      return emitError() << "computes element by element, but the results have "
                            "different shapes";
  if (!loopCase.getStream().empty())
    return emitError() << "has a stream, which the form element does not take";
  if (failed(verifyAxes(loopCase.getGrid(), extents, 0, emitError)))
    return failure();
  int64_t bytes = 0;
  for (LoopFormAttr form : loopCase.getForms()) {
    Operation *op = &*std::next(kernel.getBody().front().begin(), form.getOp());
    if (form.getForm().getValue() == kShare) {
      if (!machine.blockThreads || loopCase.getTeam() < machine.warpThreads ||
          loopCase.getParts() != 1)
        return emitError() << "shares op" << form.getOp() << ", "
                           << describe(op)
                           << ", without teams of a warp, or between parts";
      if (!isa<ElementwiseOp>(op) || !getLength(op->getResult(0)))
        return emitError() << "shares op" << form.getOp() << ", "
                           << describe(op)
                           << ", which is no row of known length";
      bytes += countSharedBytes(op->getResult(0));
      if (bytes > machine.plainSharedBytes / 2)
        return emitError() << "shares " << bytes << " bytes, a block has "
                           << machine.plainSharedBytes / 2 << " for that";
      if (failed(verifyNumbers(
              form, {{"blocks", 1, 1 << 16}, {"each", 1, 32}, {"lanes", 1, 64}},
              emitError)))
        return failure();
      continue;
    }
    if (!isa<ReductionOpInterface>(op))
      return emitError() << "gives op" << form.getOp() << ", " << describe(op)
                         << ", the form " << form.getForm().getValue();
    if (hasSpreadTerms(form)) {
      if (failed(verifyNumbers(form, {}, emitError)))
        return failure();
      continue;
    }
    SmallVector<NumberRule> rules = {{"lanes", 1, 64},
                                     {"unroll", 1, kMostStraightSteps}};
    if (isTogether(form)) {
      rules.push_back({"sums", 1, form.getNumber("lanes", 1)});
      rules.push_back({"blocks", 1, 32});
    } else {
      rules.push_back({"places", 1, 8});
    }
    if (failed(verifyNumbers(form, rules, emitError)))
      return failure();
    if (form.getNumber("lanes", 1) % form.getNumber("sums", 1))
      return emitError() << "gives op" << form.getOp()
                         << " sums of which lanes are no multiple";
  }
  if (failed(verifySpread(kernel, loopCase, machine, emitError)))
    return failure();
  double code = countCode(kernel, [&](ReductionOpInterface op) {
    LoopFormAttr form = loopCase.getForm(getPosition(op));
    return form ? form.getNumber("unroll", 1) : 1;
  });
  bool isUnrolled = llvm::any_of(loopCase.getForms(), [](LoopFormAttr form) {
    return form.getNumber("unroll", 1) > 1;
  });
  if (isUnrolled && code > kMostCode)
    return emitError() << "unrolls reductions inside each other to "
                       << int64_t(std::min(code, 1e15))
                       << " operations of code, at most " << int64_t(kMostCode)
                       << " are allowed";
  if (areTogether(loopCase))
    return verifyTogether(kernel, loopCase, emitError);
  KernelAnalysis a(kernel, ranges);
  return verifyPlaces(a, loopCase, machine, emitError);
}

static LogicalResult verifyParts(KernelOp kernel, LoopCaseAttr loopCase,
                                 function_ref<InFlightDiagnostic()> emitError) {
  if (areTogether(loopCase))
    return emitError() << "has parts of elements that are taken together";
  if (getFirstReductions(kernel).empty())
    return emitError() << "has parts, but no reduction that they could cut";
  if (!canCut(kernel))
    return emitError() << "has parts of a reduction without one element for "
                          "each result element";
  return success();
}

static LoopCaseAttr getNontemporal(LoopCaseAttr loopCase) {
  return withNontemporal(loopCase, loopCase.getForms());
}

static const StringRef kNames[] = {"element", kShare, kTogether, kSpread};
const LoopForms llir::kElementForms = {"elements",  kNames,  fits,
                                       propose,     count,   verify,
                                       verifyParts, nullptr, getNontemporal};
