//===- Neighbours.cpp - Neighbouring schedules ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Forms propose the schedules that their prices prefer. The schedule that is
// fastest when measured is usually close to them. So the search tries every
// number of a schedule doubled or halved, if the forms' own checks accept the
// result; no form needs code for its neighbours.
//
// Tested by test/unit/Pipelines/KernelKeyTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "Forms.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/Debug.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

#define DEBUG_TYPE "llir-schedules"

namespace {
/// The components of a case, which are changed one at a time.
struct CaseParts {
  explicit CaseParts(LoopCaseAttr c)
      : original(c), grid(c.getGrid()), stream(c.getStream()),
        parts(c.getParts()), threads(c.getThreads()), team(c.getTeam()),
        nontemporal(c.getNontemporal()), forms(c.getForms()) {}

  /// Returns the case, or null if it is invalid.
  LoopCaseAttr build() const {
    MLIRContext *context = original.getContext();
    return LoopCaseAttr::getChecked(
        [&] { return emitError(UnknownLoc::get(context)); }, context,
        original.getGuard(), original.getBounds(), ArrayRef(grid),
        ArrayRef(stream), parts, threads, team, nontemporal, ArrayRef(forms));
  }

  LoopCaseAttr original;
  SmallVector<LoopAxisAttr> grid, stream;
  unsigned parts, threads, team;
  bool nontemporal;
  SmallVector<LoopFormAttr> forms;
};

/// Collects the cases that are one step from a case. The caller silences the
/// errors of invalid ones.
class CaseSteps {
public:
  explicit CaseSteps(LoopCaseAttr from) : from(from) {}

  SmallVector<LoopCaseAttr> take();

private:
  void stepAxes(SmallVector<LoopAxisAttr> CaseParts::*axes);
  void stepForms();
  void stepLanes();
  void add(const CaseParts &parts) {
    if (LoopCaseAttr built = parts.build())
      found.push_back(built);
  }

  LoopCaseAttr from;
  SmallVector<LoopCaseAttr> found;
};
} // namespace

/// Returns the double and the half of a number.
static SmallVector<int64_t, 2> getSteps(int64_t number) {
  constexpr int64_t kMost = int64_t(1) << 30;
  SmallVector<int64_t, 2> steps;
  if (number > 0 && number < kMost)
    steps.push_back(2 * number);
  if (number > 1)
    steps.push_back(number / 2);
  return steps;
}

/// An axis with a block of one index has no lanes.
static LoopAxisAttr withBlock(LoopAxisAttr axis, int64_t block) {
  return LoopAxisAttr::get(axis.getContext(), axis.getDims(), block,
                           block == 1 ? 1 : axis.getLanes());
}

static LoopFormAttr withNumber(LoopFormAttr form, StringAttr name,
                               int64_t number) {
  NamedAttrList numbers(form.getNumbers());
  numbers.set(name, Builder(form.getContext()).getI64IntegerAttr(number));
  return LoopFormAttr::get(form.getContext(), form.getOp(), form.getForm(),
                           numbers.getDictionary(form.getContext()));
}

void CaseSteps::stepAxes(SmallVector<LoopAxisAttr> CaseParts::*axes) {
  CaseParts parts(from);
  for (size_t i = 0; i < (parts.*axes).size(); ++i) {
    LoopAxisAttr axis = (parts.*axes)[i];
    auto step = [&](int64_t block) {
      CaseParts changed(from);
      (changed.*axes)[i] = withBlock(axis, block);
      add(changed);
    };
    for (int64_t block : getSteps(axis.getBlock()))
      step(block);
    if (axis.getBlock())
      step(0);
  }
}

/// Changes each number of a form; also the numbers of all forms with one name
/// together, because some must agree.
void CaseSteps::stepForms() {
  CaseParts parts(from);
  for (size_t i = 0; i < parts.forms.size(); ++i)
    for (NamedAttribute number : parts.forms[i].getNumbers()) {
      auto value = dyn_cast<IntegerAttr>(number.getValue());
      if (!value || number.getName() == "lanes")
        continue;
      for (int64_t stepped : getSteps(value.getInt())) {
        CaseParts one(from), all(from);
        one.forms[i] = withNumber(parts.forms[i], number.getName(), stepped);
        add(one);
        bool hasOthers = false;
        for (LoopFormAttr &form : all.forms)
          if (form.getNumbers().get(number.getName()) == value) {
            hasOthers |= form.getOp() != parts.forms[i].getOp();
            form = withNumber(form, number.getName(), stepped);
          }
        if (hasOthers)
          add(all);
      }
    }
}

/// Changes the lanes of all axes and forms together.
void CaseSteps::stepLanes() {
  for (bool isMore : {true, false}) {
    CaseParts parts(from);
    bool hasAny = false, isLegal = true;
    auto step = [&](int64_t lanes) {
      hasAny = true;
      isLegal &= isMore || lanes > 1;
      return isMore ? 2 * lanes : lanes / 2;
    };
    for (auto *axes : {&parts.grid, &parts.stream})
      for (LoopAxisAttr &axis : *axes)
        if (axis.getLanes() > 1)
          axis = LoopAxisAttr::get(axis.getContext(), axis.getDims(),
                                   axis.getBlock(), step(axis.getLanes()));
    for (LoopFormAttr &form : parts.forms)
      if (int64_t lanes = form.getNumber("lanes", 1); lanes > 1)
        form = withNumber(form, StringAttr::get(form.getContext(), "lanes"),
                          step(lanes));
    if (hasAny && isLegal)
      add(parts);
  }
}

SmallVector<LoopCaseAttr> CaseSteps::take() {
  stepAxes(&CaseParts::grid);
  stepAxes(&CaseParts::stream);
  auto stepNumber = [&](unsigned CaseParts::*number) {
    CaseParts parts(from);
    for (int64_t stepped : getSteps(parts.*number)) {
      CaseParts changed(from);
      changed.*number = stepped;
      add(changed);
    }
  };
  stepNumber(&CaseParts::parts);
  if (from.getThreads()) {
    stepNumber(&CaseParts::threads);
    stepNumber(&CaseParts::team);
    // A thread group may be the whole block.
    CaseParts parts(from);
    parts.team = parts.threads;
    add(parts);
  }
  CaseParts other(from);
  other.nontemporal = !other.nontemporal;
  add(other);
  stepLanes();
  stepForms();
  return std::move(found);
}

namespace {
/// Suppresses the errors of invalid schedules.
struct Silence {
  explicit Silence(MLIRContext *context)
      : handler(context, [](Diagnostic &) { return success(); }) {}
  ScopedDiagnosticHandler handler;
};
} // namespace

/// Returns whether the kernel can have these loops.
static bool isLegal(KernelOp kernel, LoopsAttr loops,
                    const KernelAnalysis::SymbolRanges &ranges,
                    const MachineModel &machine) {
  std::optional<LoopsAttr> before = kernel.getLoops();
  kernel.setLoopsAttr(loops);
  bool result = succeeded(verifyLoops(kernel, ranges, machine));
  if (before)
    kernel.setLoopsAttr(*before);
  else
    kernel.removeLoopsAttr();
  return result;
}

static ProposedLoops makeProposal(KernelOp kernel, LoopsAttr loops,
                                  const KernelAnalysis::SymbolRanges &ranges,
                                  const MachineModel &machine) {
  ProposedLoops result;
  result.loops = loops;
  result.price = priceLoops(kernel, loops, ranges, machine, machine.workers);
  result.priceOfOne = priceLoops(kernel, loops, ranges, machine, 1);
  return result;
}

/// Drops schedules whose price exceeds `head` so much that no error of the
/// price can explain it, so that they are not measured. (Six nested reductions
/// that are recomputed in each other take hours.)
static void dropHopeless(SmallVectorImpl<ProposedLoops> &proposals,
                         double head) {
  constexpr double kMostTimes = 256;
  llvm::erase_if(proposals, [&](const ProposedLoops &proposed) {
    bool isHopeless = proposed.price > kMostTimes * head;
    if (isHopeless)
      LLVM_DEBUG(llvm::dbgs() << "not tried: " << proposed.loops
                              << " is predicted to take " << proposed.price
                              << " ns, the schedule at hand " << head << "\n");
    return isHopeless;
  });
}

static void sortByPrice(SmallVectorImpl<ProposedLoops> &proposals) {
  llvm::stable_sort(proposals,
                    [](const ProposedLoops &a, const ProposedLoops &b) {
                      return a.price < b.price;
                    });
}

SmallVector<ProposedLoops>
llir::getNeighbours(KernelOp kernel, LoopsAttr loops,
                    const KernelAnalysis::SymbolRanges &ranges,
                    const MachineModel &machine) {
  Silence silence(kernel.getContext());
  SmallVector<ProposedLoops> found;
  llvm::SmallDenseSet<Attribute> seen = {loops};
  ArrayRef<LoopCaseAttr> cases = loops.getCases();
  for (size_t i = 0; i < cases.size(); ++i)
    for (LoopCaseAttr stepped : CaseSteps(cases[i]).take()) {
      SmallVector<LoopCaseAttr> changed(cases);
      changed[i] = stepped;
      LoopsAttr other = LoopsAttr::get(kernel.getContext(), changed);
      if (seen.insert(other).second && isLegal(kernel, other, ranges, machine))
        found.push_back(makeProposal(kernel, other, ranges, machine));
    }
  dropHopeless(found,
               priceLoops(kernel, loops, ranges, machine, machine.workers));
  sortByPrice(found);
  return found;
}

SmallVector<ProposedLoops>
llir::proposeAllLoops(KernelOp kernel,
                      const KernelAnalysis::SymbolRanges &ranges,
                      const MachineModel &machine) {
  ProposedLoops head = proposeLoops(kernel, ranges, machine);
  if (!head.loops)
    return {};
  Silence silence(kernel.getContext());
  SmallVector<ProposedLoops> others;
  llvm::SmallDenseSet<Attribute> seen = {head.loops};
  for (const LoopForms *forms : getLoopForms()) {
    SmallVector<Reporter::Arg> ignored;
    SmallVector<LoopCaseAttr> cases =
        forms->propose(kernel, ranges, machine, ignored);
    // A form that would not have been chosen may propose an invalid case.
    if (cases.empty() || llvm::is_contained(cases, LoopCaseAttr()))
      continue;
    LoopsAttr loops = LoopsAttr::get(kernel.getContext(), cases);
    if (seen.insert(loops).second && isLegal(kernel, loops, ranges, machine))
      others.push_back(makeProposal(kernel, loops, ranges, machine));
  }
  dropHopeless(others, head.price);
  sortByPrice(others);
  SmallVector<ProposedLoops> all = {head};
  llvm::append_range(all, others);
  for (ProposedLoops &near : getNeighbours(kernel, head.loops, ranges, machine))
    if (seen.insert(near.loops).second)
      all.push_back(std::move(near));
  return all;
}
