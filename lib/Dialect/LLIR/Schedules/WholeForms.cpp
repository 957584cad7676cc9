//===- WholeForms.cpp - Kernels of one op ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The op defines its work items and the threads that share one
// (WholeOpInterface), so the schedule has no axes.
//
//===----------------------------------------------------------------------===//

#include "Forms.h"
#include "luminal/Dialect/LLIR/Utils/SequenceMemory.h"

#include <cmath>

using namespace mlir;
using namespace luminal;
using namespace luminal::llir;

/// Returns the only op of a kernel, if its operands are the kernel's; otherwise
/// null.
static WholeOpInterface getOnlyOp(KernelOp kernel) {
  auto body = kernel.getBody().front().without_terminator();
  if (!llvm::hasSingleElement(body))
    return {};
  auto op = dyn_cast<WholeOpInterface>(*body.begin());
  const bool isWhole =
      op && llvm::all_of(op->getOperands(), llvm::IsaPred<BlockArgument>) &&
      llvm::equal(op->getResults(), getYielded(kernel));
  return isWhole ? op : WholeOpInterface();
}

static bool fits(KernelOp kernel) { return bool(getOnlyOp(kernel)); }

static SmallVector<LoopCaseAttr>
propose(KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
        const MachineModel &machine, SmallVectorImpl<Reporter::Arg> &why) {
  WholeOpInterface op = getOnlyOp(kernel);
  if (!op)
    return {};
  CaseBuilder c(kernel.getContext(), machine);
  WholeThreads chosen = op.chooseThreads(
      Assumptions{KernelAnalysis::SymbolRanges(ranges)}, machine);
  c.threads = chosen.threads;
  c.team = chosen.team;
  c.addForm(op, "whole", {});
  why.push_back({"form", "an op of its own"});
  return {c.build()};
}

static LoopWork count(KernelOp kernel,
                      const KernelAnalysis::SymbolRanges &ranges,
                      LoopCaseAttr loopCase, const MachineModel &machine) {
  KernelAnalysis a(kernel, ranges);
  KernelSizes sizes(a);
  LoopWork work;
  WholeOpInterface op = getOnlyOp(kernel);
  work.units = sizes.valueOf(op.countUnits());
  if (loopCase.getThreads())
    work.units =
        std::ceil(work.units * loopCase.getTeam() / loopCase.getThreads());
  if (auto sequence = dyn_cast<SequenceOp>(op.getOperation())) {
    for (KernelOp step : sequence.getKernels())
      work.alone +=
          priceInBlock(step, ranges, machine,
                       step.getLoops()->getCases().front().getThreads());
    return work;
  }
  work.memoryBytes = sizes.countMemory();
  work.operations =
      countScalarLoss(loopCase, machine) * sizes.valueOf(op.countOperations());
  return work;
}

StringRef llir::checkInSequence(KernelOp kernel, unsigned threads,
                                const MachineModel &machine) {
  // Loops whose threads use only barriers of the block, and whose memory, if
  // any, belongs to the block.
  static constexpr StringRef kTitles[] = {"elements", "rows", "whole",
                                          "updates"};
  if (llvm::any_of(kernel.getOps(), llvm::IsaPred<SequenceOp>))
    return "is a sequence itself";
  if (!kernel.getLoops() || kernel.getLoops()->getCases().size() != 1)
    return "has several schedules, by sizes";
  LoopCaseAttr loopCase = kernel.getLoops()->getCases().front();
  if (!loopCase.getThreads() || loopCase.getThreads() > threads)
    return "has more threads than a block";
  if (loopCase.getThreads() % machine.warpThreads)
    return "has less than a warp";
  if (loopCase.getParts() != 1)
    return "has parts, for several blocks";
  if (!llvm::is_contained(kTitles, getLoopsTitle(kernel, loopCase)))
    return "is computed by tiles, or in order";
  for (LoopFormAttr form : loopCase.getForms())
    if (form.getForm() == "share")
      return "has memory that several blocks share";
  return {};
}

/// Checks the requirements of a sequence of kernels.
static LogicalResult
verifySequence(SequenceOp sequence, const KernelAnalysis::SymbolRanges &ranges,
               const MachineModel &machine,
               function_ref<InFlightDiagnostic()> emitError) {
  for (KernelOp kernel : sequence.getKernels()) {
    if (failed(verifyLoops(kernel, ranges, machine)))
      return failure();
    StringRef problem =
        checkInSequence(kernel, sequence.countThreads(), machine);
    if (!problem.empty())
      return emitError() << "has a sequence whose " << describe(kernel) << " "
                         << problem;
  }
  SequenceMemory memory(sequence);
  if (!memory.getProblem().empty())
    return emitError() << "has a sequence in which " << memory.getProblem();
  // Besides the values, each kernel of the sequence has the shared memory that
  // any block may have.
  const int64_t most = machine.sharedBytes - machine.plainSharedBytes;
  if (memory.getBytes() > most)
    return emitError() << "has a sequence whose values take "
                       << memory.getBytes() << " bytes of a block's memory, at "
                       << "most " << most;
  return success();
}

static LogicalResult verify(KernelOp kernel,
                            const KernelAnalysis::SymbolRanges &ranges,
                            LoopCaseAttr loopCase, const MachineModel &machine,
                            function_ref<InFlightDiagnostic()> emitError) {
  WholeOpInterface op = getOnlyOp(kernel);
  if (!op)
    return emitError() << "has the form whole, but the kernel is not one op "
                          "that has it, of its operands to its results";
  if (!loopCase.getGrid().empty() || !loopCase.getStream().empty())
    return emitError() << "has axes, of which the form whole takes none";
  if (failed(verifyNumbers(loopCase.getForm(0), {}, emitError)))
    return failure();
  std::string wrong =
      op.checkTeam(loopCase.getThreads(), loopCase.getTeam(), machine);
  if (!wrong.empty())
    return emitError() << "is not possible: op0, " << describe(op) << ", "
                       << wrong;
  if (auto sequence = dyn_cast<SequenceOp>(op.getOperation()))
    return verifySequence(sequence, ranges, machine, emitError);
  return success();
}

static const StringRef kNames[] = {"whole"};
const LoopForms llir::kWholeForms = {"whole", kNames, fits,
                                     propose, count,  verify};
