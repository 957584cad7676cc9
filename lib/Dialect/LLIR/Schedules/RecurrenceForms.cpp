//===- RecurrenceForms.cpp - Recurrences ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The grid cuts the carried elements. A work item iterates over all trips for
// each of its elements, `lanes` at a time; on a GPU each thread has one
// element.
//
//===----------------------------------------------------------------------===//

#include "Forms.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// Threads of a block. Every trip waits for its loads, so elements are spread
/// over as many SMs as possible.
static constexpr unsigned kThreads = 64;
/// The most trips whose inputs are prefetched before the first trip, and the
/// most elements of them, which are held in registers.
static constexpr int64_t kMostAhead = 16, kMostElements = 64;

/// Returns the kernel's recurrence if the kernel holds nothing else.
static RecurrenceOp getOnlyRecurrence(KernelOp kernel) {
  auto body = kernel.getBody().front().without_terminator();
  if (!llvm::hasSingleElement(body))
    return {};
  auto op = dyn_cast<RecurrenceOp>(*body.begin());
  const bool isWhole =
      op && llvm::all_of(op->getOperands(), llvm::IsaPred<BlockArgument>) &&
      llvm::all_of(getYielded(kernel), [&](Value v) {
        return v.getDefiningOp() == op.getOperation();
      });
  return isWhole ? op : RecurrenceOp();
}

static bool fits(KernelOp kernel) { return bool(getOnlyRecurrence(kernel)); }

/// Joins adjacent dims of the carried tensors into one axis if all reads and
/// writes of a trip stay linear in it.
static Domain findRecurrenceDomain(KernelAnalysis &a, RecurrenceOp op) {
  Expr trip = Expr::dim(a.addDim(op.getTripsExpr()));
  SmallVector<Expr> shape = hlir::getExtents(op.getCarried()[0]);
  return findDomain(
      a, shape,
      [&](const Index &index, function_ref<void(const Leaf &)> visit) {
        visit({nullptr,
               a.simplify(linearize(index, getExtentsOf(op.getCarried()[0])))});
        op.walkArguments(
            index, [&](const Expr &e) { return a.simplify(e); },
            [&](BlockArgument argument, const Index &at) {
              const unsigned carried = op.getCarried().size();
              if (argument.getArgNumber() < carried)
                return;
              const unsigned input = argument.getArgNumber() - carried;
              Index from = op.getInputIndex(input, trip, at);
              visit({nullptr, a.simplify(linearize(
                                  from, getExtentsOf(op.getInputs()[input])))});
            });
      });
}

static SmallVector<LoopCaseAttr>
propose(KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
        const MachineModel &machine, SmallVectorImpl<Reporter::Arg> &why) {
  RecurrenceOp op = getOnlyRecurrence(kernel);
  if (!op)
    return {};
  KernelAnalysis a(kernel, ranges);
  Domain domain = findRecurrenceDomain(a, op);
  CaseBuilder c(kernel.getContext(), machine);
  unsigned lanes = 1;
  if (machine.blockThreads) {
    c.threads = kThreads;
  } else if (!domain.groups.empty()) {
    unsigned bits = 8;
    for (Value v : op.getCarried())
      bits = std::max(bits, getElementType(v).getIntOrFloatBitWidth());
    lanes = chooseLanes(domain.extents.back(), machine.getLanes(bits));
  }
  for (auto [i, group] : llvm::enumerate(domain.groups))
    c.grid.push_back(i + 1 == domain.groups.size() && lanes > 1
                         ? c.axis(group, lanes, lanes)
                         : c.axis(group));
  // On a GPU, prefetch: otherwise a thread would wait for its loads in every
  // trip.
  int64_t ahead = 1;
  while (machine.blockThreads && ahead < kMostAhead &&
         2 * ahead * int64_t(op.getInputs().size()) <= kMostElements)
    ahead *= 2;
  if (ahead > 1)
    c.addForm(op, "recurrence", {{"ahead", ahead}});
  else
    c.addForm(op, "recurrence", {});
  why.push_back({"form", "all trips of an element"});
  return {c.build()};
}

static LoopWork count(KernelOp kernel,
                      const KernelAnalysis::SymbolRanges &ranges,
                      LoopCaseAttr loopCase, const MachineModel &machine) {
  RecurrenceOp op = getOnlyRecurrence(kernel);
  KernelAnalysis a(kernel, ranges);
  KernelSizes sizes(a);
  LoopWork work;
  work.units = sizes.countUnits(loopCase, hlir::getExtents(op.getCarried()[0]));
  work.operations =
      countScalarLoss(loopCase, machine) * sizes.valueOf(op.getCost().flops);
  work.memoryBytes = sizes.countMemory();
  return work;
}

static LogicalResult verify(KernelOp kernel,
                            const KernelAnalysis::SymbolRanges &,
                            LoopCaseAttr loopCase, const MachineModel &machine,
                            function_ref<InFlightDiagnostic()> emitError) {
  RecurrenceOp op = getOnlyRecurrence(kernel);
  if (!op)
    return emitError() << "has the form recurrence, but the kernel is not one "
                          "of its operands to its results";
  if (!loopCase.getStream().empty())
    return emitError() << "has a stream, which the form recurrence takes none "
                          "of";
  if (loopCase.getTeam() > 1)
    return emitError() << "has thread groups of " << loopCase.getTeam()
                       << " threads, but each carries what it has alone";
  if (bool(machine.blockThreads) != bool(loopCase.getThreads()))
    return emitError() << "is for another kind of machine";
  if (failed(verifyNumbers(loopCase.getForm(0), {{"ahead", 1, kMostAhead}},
                           emitError)))
    return failure();
  return verifyAxes(loopCase.getGrid(), hlir::getExtents(op.getCarried()[0]), 0,
                    emitError);
}

static const StringRef kNames[] = {"recurrence"};
const LoopForms llir::kRecurrenceForms = {"recurrence", kNames, fits,
                                          propose,      count,  verify};
