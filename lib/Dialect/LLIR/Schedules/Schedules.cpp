//===- Schedules.cpp - The choice of a kernel's schedule ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Dialect/LLIR/Schedules/Schedules.h"
#include "Forms.h"

#include <cmath>

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

int64_t llir::getElementCost(KernelOp kernel) {
  int64_t cost = 1;
  for (Operation &op : kernel.getOps())
    if (!hasLoops(&op))
      cost += getOperations(&op);
  return cost;
}

ArrayRef<const LoopForms *> llir::getLoopForms() {
  static const LoopForms *forms[] = {
      &kWholeForms,  &kRecurrenceForms,  &kUpdateForms,     &kOrderedForms,
      &kBlockForms,  &kProductForms,     &kRowForms,        &kStreamForms,
      &kStageForms,  &kStreamBlockForms, &kRowProgramForms, &kTransposeForms,
      &kElementForms};
  return forms;
}

const LoopForms *llir::findForms(KernelOp kernel, LoopCaseAttr loopCase,
                                 function_ref<InFlightDiagnostic()> emitError) {
  SmallVector<StringRef> names;
  for (auto [position, op] : llvm::enumerate(kernel.getOps())) {
    if (!hasLoops(&op))
      continue;
    LoopFormAttr form = loopCase.getForm(position);
    if (!form) {
      emitError() << "states no form for op" << position << ", "
                  << describe(&op);
      return nullptr;
    }
    names.push_back(form.getForm().getValue());
    if (llvm::none_of(getLoopForms(), [&](const LoopForms *forms) {
          return llvm::is_contained(forms->names, names.back());
        })) {
      emitError() << "gives op" << position << " the form " << names.back()
                  << ", which does not exist";
      return nullptr;
    }
  }
  if (names.empty()) {
    // In a kernel without loops, the values that are staged on chip decide the
    // forms.
    bool hasTiles = llvm::any_of(loopCase.getForms(), [](LoopFormAttr form) {
      return llvm::is_contained(kTransposeForms.names,
                                form.getForm().getValue());
    });
    return hasTiles ? &kTransposeForms : &kElementForms;
  }
  const LoopForms *named = nullptr;
  for (const LoopForms *forms : getLoopForms()) {
    if (!llvm::all_of(names, [&](StringRef name) {
          return llvm::is_contained(forms->names, name);
        }))
      continue;
    if (forms->fits(kernel) && (!forms->isMeant || forms->isMeant(loopCase)))
      return forms;
    named = named ? named : forms;
  }
  // If all names belong to one set of forms, the error is reported by those
  // forms.
  if (!named)
    emitError() << "gives its ops forms that do not go together";
  return named;
}

std::string llir::getOpName(Operation *op) {
  return "op" + std::to_string(getPosition(op));
}

SmallVector<ReductionWalk> llir::getWalks(ArrayRef<ReductionOpInterface> ops,
                                          LoopCaseAttr loopCase) {
  SmallVector<ReductionWalk> walks;
  for (ReductionOpInterface op : ops) {
    LoopFormAttr form = loopCase.getForm(getPosition(op));
    StringRef with = form.getWord("with");
    ReductionWalk *walk = llvm::find_if(walks, [&](const ReductionWalk &walk) {
      return !with.empty() && with == getOpName(walk.ops.front());
    });
    if (walk != walks.end())
      walk->ops.push_back(op);
    else
      walks.push_back({form, {op}});
  }
  return walks;
}

//===----------------------------------------------------------------------===//
// Proposals
//===----------------------------------------------------------------------===//

/// Returns whether the guard of a case holds for nominal values of symbols.
static bool appliesAtNominal(LoopCaseAttr loopCase,
                             const Assumptions &symbols) {
  if (!loopCase.getGuard())
    return true;
  ArrayRef<int64_t> bounds = loopCase.getBounds();
  for (auto [i, quantity] : llvm::enumerate(loopCase.getGuard().getResults())) {
    double value = nominalValue(quantity, symbols);
    if (value < double(bounds[2 * i]) || value > double(bounds[2 * i + 1]))
      return false;
  }
  return true;
}

/// Counts the work of the case that applies to nominal sizes.
static LoopWork countWork(KernelOp kernel, LoopsAttr loops,
                          const KernelAnalysis::SymbolRanges &ranges,
                          const MachineModel &machine) {
  Assumptions symbols{KernelAnalysis::SymbolRanges(ranges)};
  for (LoopCaseAttr loopCase : loops.getCases())
    if (appliesAtNominal(loopCase, symbols)) {
      const LoopForms *forms =
          findForms(kernel, loopCase, [&] { return kernel.emitOpError(); });
      assert(forms && "a schedule that was not verified");
      return forms->count(kernel, ranges, loopCase, machine);
    }
  llvm_unreachable("the last case has no guard");
}

double llir::priceLoops(KernelOp kernel, LoopsAttr loops,
                        const KernelAnalysis::SymbolRanges &ranges,
                        const MachineModel &machine, unsigned workers) {
  return priceWork(countWork(kernel, loops, ranges, machine), machine, workers);
}

PriceTerms llir::explainPrice(KernelOp kernel, LoopsAttr loops,
                              const KernelAnalysis::SymbolRanges &ranges,
                              const MachineModel &machine, unsigned workers) {
  return getTerms(countWork(kernel, loops, ranges, machine), machine, workers);
}

double llir::priceInBlock(KernelOp kernel,
                          const KernelAnalysis::SymbolRanges &ranges,
                          const MachineModel &machine, unsigned threads) {
  LoopWork work = countWork(kernel, *kernel.getLoops(), ranges, machine);
  work.resident = threads;
  work.waitsForOwn = true;
  PriceTerms terms = getTerms(work, machine, 1);
  return terms.total() - terms.begin;
}

/// By which factor a schedule must be cheaper than one whose forms come first.
static constexpr double kCheaper = 0.9;

/// Returns the first proposal of `choice`; if its forms compete with others,
/// the cheapest among it and the following ones.
static ProposedLoops proposeOf(ArrayRef<const LoopForms *> choice,
                               KernelOp kernel,
                               const KernelAnalysis::SymbolRanges &ranges,
                               const MachineModel &machine) {
  ProposedLoops result;
  for (const LoopForms *forms : choice) {
    ProposedLoops own;
    SmallVector<LoopCaseAttr> cases =
        forms->propose(kernel, ranges, machine, own.why);
    if (cases.empty()) {
      // The reasons are reported with the schedule that is found instead.
      if (!result.loops)
        llvm::append_range(result.why, own.why);
      continue;
    }
    for (LoopCaseAttr &loopCase : cases)
      loopCase =
          chooseStores(kernel, ranges, loopCase, *forms, machine, own.why);
    own.loops = LoopsAttr::get(kernel.getContext(), cases);
    LoopWork work = countWork(kernel, own.loops, ranges, machine);
    own.price = priceWork(work, machine, machine.workers);
    own.priceOfOne = priceWork(work, machine, 1);
    own.why.push_back({"predicted ns", int64_t(std::llround(own.price))});
    if (!result.loops) {
      llvm::append_range(result.why, own.why);
      own.why = std::move(result.why);
      result = std::move(own);
    } else if (own.price < kCheaper * result.price) {
      own.why.push_back({"instead of ns", int64_t(std::llround(result.price))});
      result = std::move(own);
    }
    if (!forms->competes)
      return result;
  }
  return result;
}

ProposedLoops llir::proposeLoops(KernelOp kernel,
                                 const KernelAnalysis::SymbolRanges &ranges,
                                 const MachineModel &machine) {
  return proposeOf(getLoopForms(), kernel, ranges, machine);
}

ProposedLoops
llir::proposeRowProgram(KernelOp kernel,
                        const KernelAnalysis::SymbolRanges &ranges,
                        const MachineModel &machine) {
  return proposeOf({&kRowProgramForms}, kernel, ranges, machine);
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

StringRef llir::getLoopsTitle(KernelOp kernel, LoopCaseAttr loopCase) {
  const LoopForms *forms = findForms(kernel, loopCase, [&] {
    return kernel.emitOpError() << "its schedule ";
  });
  return forms ? forms->title : StringRef();
}

/// Checks the lanes of axes and forms: powers of two, at most those of the
/// machine's vectors.
static LogicalResult verifyLanes(LoopCaseAttr loopCase,
                                 const MachineModel &machine,
                                 function_ref<InFlightDiagnostic()> emitError) {
  // The smallest elements have 8 bits.
  int64_t most = machine.getLanes(8);
  auto check = [&](int64_t lanes) -> LogicalResult {
    if (lanes > most)
      return emitError() << "uses " << lanes
                         << " lanes, the machine's vectors have " << most;
    if (!llvm::isPowerOf2_64(lanes))
      return emitError() << "uses " << lanes
                         << " lanes, which is not a power of two";
    return success();
  };
  for (LoopAxisAttr axis : llvm::concat<const LoopAxisAttr>(
           loopCase.getGrid(), loopCase.getStream()))
    if (failed(check(axis.getLanes())))
      return failure();
  for (LoopFormAttr form : loopCase.getForms())
    if (failed(check(form.getNumber("lanes", 1))))
      return failure();
  return success();
}

/// A launch has the same block size whichever case applies.
static LogicalResult
verifyThreads(LoopCaseAttr loopCase, unsigned threads,
              const MachineModel &machine,
              function_ref<InFlightDiagnostic()> emitError) {
  if (!machine.blockThreads) {
    if (loopCase.getThreads())
      return emitError() << "has threads, but the machine has no thread blocks";
    return success();
  }
  if (!loopCase.getThreads())
    return emitError() << "states no number of threads; a block has 1 "
                          "to "
                       << machine.blockThreads;
  if (loopCase.getThreads() > machine.blockThreads ||
      loopCase.getThreads() % machine.warpThreads)
    return emitError() << "has blocks of " << loopCase.getThreads()
                       << " threads, which is not a multiple of "
                       << machine.warpThreads << " up to "
                       << machine.blockThreads;
  if (loopCase.getThreads() != threads)
    return emitError() << "has blocks of " << loopCase.getThreads()
                       << " threads, another case has " << threads;
  unsigned team = loopCase.getTeam();
  if (team > machine.warpThreads ? team != loopCase.getThreads()
                                 : !llvm::isPowerOf2_32(team))
    return emitError() << "has thread groups of " << team
                       << " threads, expected a power of two up to "
                       << machine.warpThreads << ", or all of a block";
  return success();
}

static LogicalResult verifyGuard(LoopCaseAttr loopCase,
                                 const KernelAnalysis::SymbolRanges &ranges,
                                 function_ref<InFlightDiagnostic()> emitError) {
  if (!loopCase.getGuard())
    return success();
  std::vector<std::string> used;
  for (const Expr &quantity : loopCase.getGuard().getResults())
    quantity.collectSymbols(used);
  for (const std::string &name : used)
    if (!ranges.count(name))
      return emitError() << "asks for the symbol " << name
                         << ", which the program does not have";
  return success();
}

/// Each part of a dim of known extent must have work, up to the granularity of
/// vectors.
static LogicalResult verifyParts(KernelOp kernel, LoopCaseAttr loopCase,
                                 const LoopForms &forms,
                                 function_ref<InFlightDiagnostic()> emitError) {
  if (loopCase.getParts() == 1)
    return success();
  if (!forms.verifyParts)
    return emitError() << "has parts, which loops over " << forms.title
                       << " do not";
  if (failed(forms.verifyParts(kernel, loopCase, emitError)))
    return failure();
  if (forms.countWorkspace)
    return success();
  for (ReductionOpInterface op : getFirstReductions(kernel)) {
    std::optional<int64_t> n = op.getReducedExtent().asConstant();
    if (n && *n < loopCase.getParts())
      return emitError() << "cuts the " << *n << " elements that op"
                         << getPosition(op) << ", " << describe(op)
                         << ", reduces into " << loopCase.getParts()
                         << " parts";
  }
  return success();
}

LogicalResult llir::verifyLoops(KernelOp kernel,
                                const KernelAnalysis::SymbolRanges &ranges,
                                const MachineModel &machine) {
  if (!kernel.getLoops())
    return kernel.emitOpError()
           << "has no schedule; llir-schedule-kernels adds one";
  size_t numOps =
      std::distance(kernel.getBody().front().without_terminator().begin(),
                    kernel.getBody().front().without_terminator().end());
  for (auto [number, loopCase] :
       llvm::enumerate(kernel.getLoops()->getCases())) {
    auto emitError = [&, number = number] {
      InFlightDiagnostic diagnostic = kernel.emitOpError() << "its schedule ";
      if (kernel.getLoops()->getCases().size() > 1)
        diagnostic << "(case " << number << ") ";
      return diagnostic;
    };
    for (LoopFormAttr form : loopCase.getForms())
      if (form.getOp() >= numOps)
        return emitError() << "names op" << form.getOp() << " of a body of "
                           << numOps << " ops";
    if (failed(verifyGuard(loopCase, ranges, emitError)) ||
        failed(verifyLanes(loopCase, machine, emitError)) ||
        failed(verifyThreads(loopCase,
                             kernel.getLoops()->getCases().front().getThreads(),
                             machine, emitError)))
      return failure();
    const LoopForms *forms = findForms(kernel, loopCase, emitError);
    if (!forms ||
        failed(forms->verify(kernel, ranges, loopCase, machine, emitError)) ||
        failed(verifyParts(kernel, loopCase, *forms, emitError)) ||
        failed(verifyNontemporal(kernel, loopCase, *forms, machine, emitError)))
      return failure();
  }
  return success();
}
