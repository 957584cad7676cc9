//===- RowForms.cpp - Row reductions --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The index space is that of the reductions' operands: the grid cuts the rows,
// the stream is the reduced dim. Every reduction has the form `pass`: it is one
// loop over the row, or joins the loop of an earlier reduction that it does not
// depend on (`with`). A last loop writes results with the shape of the whole
// space. With lanes on the stream, vectors run along a row; with lanes on the
// grid, across rows. `lanes` of a pass applies where its elements are the same
// in all lanes around it. The form `keep` keeps an elementwise value that is
// reduced and read again: the pass that reduces it stores it in scratch memory,
// or in the row of a result that the last loop writes.
//
//===----------------------------------------------------------------------===//

#include "Rows.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// The simple operations from which a value is worth storing and reloading.
static constexpr unsigned kWorthKeeping = 8;
/// Accumulators of a pass, which hide the latency of its additions.
static constexpr int64_t kPassUnroll = 2;
/// What a pass may prefetch.
static const StringRef kAhead[] = {"rows"};
/// The vectors of rows that a work item takes if lanes run across rows.
static constexpr int64_t kRowVectors = 4;

bool llir::fitsRows(KernelOp kernel) {
  return bool(RowReductions(kernel).check(KernelAnalysis(kernel, {}),
                                          /*mayMove=*/true));
}

/// Finds an expensive value that is reduced and read again, and a result with
/// its element type, whose memory is fetched anyway.
static void proposeKept(CaseBuilder &c, const RowReductions &rows,
                        const Walks &walks,
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
    for (auto [i, result] : llvm::enumerate(rows.results))
      if (!rows.isRowLevel(result.source) && !result.toResult &&
          getElementType(result.source) == getElementType(op->getOperand(0)))
        return c.addForm(def, "keep", {{"result", int64_t(i)}});
    return c.addForm(def, "keep", {});
  }
}

/// Accepts if passes after the first should prefetch the next row: they find
/// their own row in L1, L1 has room for another row, and rows come from far
/// away.
static Decision shouldBringRows(const KernelAnalysis &a,
                                const RowReductions &rows,
                                const MachineModel &machine) {
  KernelSizes sizes(a);
  double bytes = 0;
  for (Value operand : rows.reduces.front()->getOperands())
    bytes += sizes.countBytes(operand);
  double count =
      sizes.valueOf(product({rows.extents.begin(), rows.extents.end()}));
  double most = double(machine.l1Bytes) / 2;
  if (2 * bytes > most * std::max(1.0, count))
    return Decision::refuseAbove("two rows do not leave enough room in L1",
                                 2 * bytes / std::max(1.0, count), most);
  if (bytes <= double(machine.l2Bytes))
    return Decision::refuse("rows are in L2");
  return Decision::accept();
}

/// Returns how many vectors of rows are reduced at once if lanes run across
/// rows. Whole cache lines are then read, as long as accumulators and
/// intermediate values fit into registers (measured on Zen 4: columns of 4096 x
/// 512 in f32 take a quarter of the time with four vectors at once).
static unsigned chooseVectors(KernelAnalysis &a, const RowReductions &rows,
                              const Domain &domain, unsigned column,
                              const MachineModel &machine) {
  // If rows are not adjacent in memory, there are no whole lines to read.
  bool areSideBySide = false;
  for (RowReductionOpInterface op : rows.reduces)
    for (Value operand : op->getOperands())
      a.walk(operand, append(domain.index, column), [&](const Leaf &leaf) {
        auto inRow = leaf.address.linearIn(domain.dims.back());
        areSideBySide |= leaf.argument && inRow && inRow->stride.isConstant(1);
      });
  if (!areSideBySide)
    return 1;
  // Registers for an element, and for a function that is a polynomial; 64-bit
  // elements count as two of 32 bits.
  constexpr int64_t kOfElement = 2, kOfFunction = 6;
  auto countWords = [](Value v) {
    return llvm::divideCeil(getElementType(v).getIntOrFloatBitWidth(), 32);
  };
  int64_t words = 1, accumulators = 0, functions = 0;
  for (RowReductionOpInterface op : rows.reduces) {
    for (Value operand : op->getOperands())
      words = std::max<int64_t>(words, countWords(operand));
    for (Value result : op->getResults())
      accumulators += kPassUnroll * countWords(result);
  }
  for (Operation &op : KernelOp(rows.kernel).getOps())
    if (auto code = dyn_cast<CodeOpInterface>(op);
        code && code.getCodeSize() >= kWorthKeeping)
      functions = kOfFunction;
  int64_t registers = words * (kOfElement + functions) + accumulators;
  int64_t vectors = machine.vectorRegisters / registers;
  return llvm::bit_floor(
      uint64_t(std::clamp<int64_t>(vectors, 1, kRowVectors)));
}

static SmallVector<LoopCaseAttr>
propose(KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
        const MachineModel &machine, SmallVectorImpl<Reporter::Arg> &why) {
  RowReductions rows(kernel);
  KernelAnalysis a(kernel, ranges);
  // On a GPU, moved results have forms that write whole lines.
  if (Decision fits = rows.check(a, /*mayMove=*/!machine.blockThreads); !fits) {
    if (!rows.reduces.empty())
      why.push_back({"no passes because", fits.str()});
    return {};
  }
  unsigned column = a.addDim(rows.extent);
  Domain domain = rows.findDomain(a, column);
  if (machine.blockThreads) {
    why.push_back({"form", "passes over rows"});
    return proposeRowThreads(a, rows, domain, column, machine, why);
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
    rowLanes =
        chooseLanes(domain.extents[i],
                    most * chooseVectors(a, rows, domain, column, machine));
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

/// Adds the memory latencies of threads, pass by pass, and the reads of a
/// thread group if adjacent elements in memory belong to different rows.
static void addWaits(LoopWork &work, KernelAnalysis &a,
                     const RowReductions &rows, LoopCaseAttr loopCase,
                     const MachineModel &machine) {
  KernelSizes sizes(a);
  const double length = sizes.valueOf(rows.extent);
  double threads = loopCase.getThreads(), team = loopCase.getTeam();
  double rounds = 0;
  for (const ReductionWalk &walk : getWalks(
           llvm::to_vector_of<ReductionOpInterface>(rows.reduces), loopCase)) {
    rounds = std::ceil(length / double(loopCase.getParts()) /
                       (team * double(walk.form.getNumber("lanes", 1)) *
                        double(walk.form.getNumber("unroll", 1))));
    work.waits += rounds;
  }
  // The last loop, which writes results.
  if (rows.hasElementLevel())
    work.waits += rounds;
  work.threads = work.units * threads;
  work.resident = countResident(loopCase);
  unsigned column = a.addDim(rows.extent);
  Domain domain = rows.findDomain(a, column);
  SmallVector<Reporter::Arg> ignored;
  if (team == 1 ||
      !shouldRunAcross(a, rows, domain, column, machine.getLanes(32), ignored))
    return;
  // Each element is on a separate line. The rows of a block share the sectors
  // that it reads.
  const double line = 4 * machine.warpThreads, sector = machine.warpThreads;
  double elements =
      length *
      sizes.valueOf(product({rows.extents.begin(), rows.extents.end()}));
  double walks = rows.reduces.size() + (rows.hasElementLevel() ? 1 : 0);
  work.cacheBytes += line * elements * walks;
  double ofBlock = work.memoryBytes / elements * threads / team;
  work.farBytes +=
      work.memoryBytes * std::max(0.0, sector / std::max(1.0, ofBlock) - 1);
}

LoopWork llir::countRows(KernelOp kernel,
                         const KernelAnalysis::SymbolRanges &ranges,
                         LoopCaseAttr loopCase, const MachineModel &machine) {
  KernelAnalysis a(kernel, ranges);
  KernelSizes sizes(a);
  LoopWork work;
  RowReductions rows(kernel);
  (void)bool(rows.check(a, /*mayMove=*/true));
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
  if (loopCase.getThreads())
    addWaits(work, a, rows, loopCase, machine);
  // The last loop does little more than write the row, so stores are exposed
  // (measured on Zen 3: a softmax of 2048 x 2048 takes 4.2 ms, 3.4 with cached
  // stores).
  if (loopCase.getNontemporal())
    for (const MovedResult &result : rows.results)
      if (double bytes = sizes.countBytes(result.source);
          !rows.isRowLevel(result.source)) {
        work.exposedBytes += bytes;
        work.memoryBytes -= bytes;
      }
  return work;
}

/// Returns whether vectors hold one element of each of several rows.
static bool runsAcross(LoopCaseAttr loopCase) {
  return llvm::any_of(loopCase.getGrid(),
                      [](LoopAxisAttr axis) { return axis.getLanes() > 1; });
}

/// Checks the form `pass` of `op`.
static LogicalResult verifyPass(RowReductions &rows, Operation *op,
                                LoopFormAttr form, bool isAcross,
                                const MachineModel &machine,
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
    why = "thread blocks take rows in any order";
  else if (isAcross)
    why = "its vectors run across rows";
  else if (op == rows.reduces.front())
    why = "it is the first pass, which waits for its own row";
  if (!why.empty())
    return emitError() << "lets op" << form.getOp() << ", " << describe(op)
                       << ", bring rows ahead, but " << why;
  return success();
}

/// Checks that `op` may join the walk that its form names. `walks` are the
/// walks before it; `varies` says of a reduction whether it differs between
/// lanes.
static LogicalResult
verifyJoined(RowReductions &rows, RowReductionOpInterface op, LoopFormAttr form,
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
    return refuse("which is not an earlier reduction with its own loop");
  if (form.getNumbers().size() > 1)
    return refuse("and has other numbers than that one");
  llvm::SetVector<Operation *> needed = findNeeded(op);
  for (const ReductionWalk &other : llvm::make_range(walk, walks.end()))
    for (ReductionOpInterface earlier : other.ops)
      if (needed.contains(earlier))
        return refuse("but needs the result of " + getOpName(earlier));
  if (varies(op) != varies(walk->ops.front()))
    return refuse("but only one of them is the same in all lanes");
  return success();
}

/// Checks what is kept, and where.
static LogicalResult verifyKept(RowReductions &rows, LoopFormAttr form,
                                bool isAcross, unsigned team,
                                const MachineModel &machine,
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
                       << ", but a thread group takes a row";
  int64_t number = form.getNumber("result", -1);
  if (number < 0 ? !machine.hasScratch : !taken.insert(number).second)
    return emitError() << "keeps op" << form.getOp() << " where "
                       << (number < 0 ? "the machine has no scratch"
                                      : "another value is kept");
  if (number < 0)
    return success();
  const MovedResult &result = rows.results[number];
  if (rows.isRowLevel(result.source) || result.toResult ||
      getElementType(result.source) != getElementType(op->getResult(0)))
    return emitError() << "keeps op" << form.getOp() << " in result " << number
                       << ", which has not its shape and element type";
  return success();
}

static LogicalResult verify(KernelOp kernel,
                            const KernelAnalysis::SymbolRanges &ranges,
                            LoopCaseAttr loopCase, const MachineModel &machine,
                            function_ref<InFlightDiagnostic()> emitError) {
  RowReductions rows(kernel);
  KernelAnalysis a(kernel, ranges);
  if (Decision fits = rows.check(a, /*mayMove=*/!machine.blockThreads); !fits)
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

/// The last part of a row computes everything after the first passes.
static LogicalResult verifyParts(KernelOp kernel, LoopCaseAttr loopCase,
                                 function_ref<InFlightDiagnostic()> emitError) {
  for (LoopFormAttr form : loopCase.getForms())
    if (form.getForm().getValue() == "keep")
      return emitError() << "keeps op" << form.getOp()
                         << ", but no unit has all of its row";
  // A thread group merges the states of one row, not of a vector of rows.
  if (loopCase.getTeam() > 1 && runsAcross(loopCase))
    return emitError()
           << "has parts of vectors across rows, which a thread group of "
           << loopCase.getTeam() << " threads does not share";
  SmallVector<ReductionOpInterface> first = getFirstReductions(kernel);
  for (const ReductionWalk &walk :
       getWalks(llvm::to_vector_of<ReductionOpInterface>(
                    RowReductions(kernel).reduces),
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

/// A kept value is read again, so it is not kept in a nontemporal result.
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
const LoopForms llir::kRowForms = {"rows",      kNames,    fitsRows,
                                   propose,     countRows, verify,
                                   verifyParts, nullptr,   getNontemporal};
