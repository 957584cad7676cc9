//===- ScheduleKernels.cpp - Chooses a schedule for each kernel -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Conversion/Schedules.
//
//===----------------------------------------------------------------------===//

#include "luminal/Conversion/Passes.h"
#include "luminal/Conversion/Target.h"
#include "luminal/Dialect/LLIR/Transforms/SplitKernel.h"
#include "luminal/Dialect/LLIR/Utils/KernelClasses.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <cmath>
#include <limits>

namespace luminal {
#define GEN_PASS_DEF_SCHEDULEKERNELSPASS
#include "luminal/Conversion/Passes.h.inc"
} // namespace luminal

#define DEBUG_TYPE "llir-schedule-kernels"

using namespace mlir;
using namespace luminal;

namespace {
class ScheduleKernels
    : public luminal::impl::ScheduleKernelsPassBase<ScheduleKernels> {
public:
  using ScheduleKernelsPassBase::ScheduleKernelsPassBase;
  void runOnOperation() override;
};
} // namespace

/// A kernel is considered for splitting if its price is at least this, in
/// nanoseconds on a CPU and in launch times on a GPU; and it is split if the
/// parts together take at most kMostOfWhole of its price.
static constexpr double kWorthSplitting = 20e3, kLaunchesWorthSplitting = 5;
static constexpr double kMostOfWhole = 0.8;

namespace {
/// The decision for kernels that are alike.
struct Decided {
  llir::ProposedLoops whole;
  /// Schedules of the kernels that replace it; empty if it is kept.
  SmallVector<llir::ProposedLoops> parts;
};
} // namespace

/// If a kernel passes over few long rows several times, workers are idle;
/// separate reductions can be split between work items. Empty if that costs as
/// much.
static SmallVector<llir::ProposedLoops>
proposeSplit(llir::KernelOp kernel, const KernelAnalysis::SymbolRanges &ranges,
             const llir::ProposedLoops &whole, const TargetInterface &device) {
  const MachineModel machine = device.getMachine();
  // On a GPU, thread groups for distant rows leave no worker idle, but read
  // more.
  bool areIdle = machine.blockThreads ||
                 2 * whole.price * machine.workers > 3 * whole.priceOfOne;
  double least = machine.blockThreads
                     ? kLaunchesWorthSplitting * machine.launchTime
                     : kWorthSplitting;
  if (!whole.loops || whole.price < least || !areIdle)
    return {};
  SmallVector<llir::KernelOp> kernels = llir::splitByReductions(kernel);
  SmallVector<llir::ProposedLoops> parts;
  double price = 0;
  for (llir::KernelOp part : kernels) {
    parts.push_back(device.propose(part, ranges));
    price += parts.back().loops ? parts.back().price
                                : std::numeric_limits<double>::infinity();
  }
  for (llir::KernelOp part : llvm::reverse(kernels))
    part.erase();
  if (price > kMostOfWhole * whole.price)
    parts.clear();
  return parts;
}

static std::string getText(llir::LoopsAttr loops) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << Attribute(loops);
  return text;
}

void ScheduleKernels::runOnOperation() {
  std::unique_ptr<TargetInterface> device =
      createTarget(getOperation(), target, arch, machine, workers);
  if (!device)
    return signalPassFailure();
  if (precision == "exact")
    device->setExact();
  // Kernels of repeated layers are alike, and only the first is examined. Facts
  // about symbols belong to the function.
  DenseMap<Operation *, llir::KernelClasses> alike;
  DenseMap<Operation *, unsigned> numbers;
  auto functionOf = [](llir::KernelOp kernel) -> Operation * {
    return kernel->getParentOfType<FunctionOpInterface>();
  };
  getOperation().walk([&](llir::KernelOp kernel) {
    if (!kernel.getLoops())
      numbers[kernel] = alike[functionOf(kernel)].add(kernel);
  });
  DenseMap<std::pair<Operation *, unsigned>, Decided> decided;
  auto result = getOperation().walk([&](llir::KernelOp kernel) {
    auto getRanges = [&]() -> KernelAnalysis::SymbolRanges {
      return hlir::getAssumptions(kernel).getSymbols();
    };
    if (kernel.getLoops())
      return WalkResult(device->verify(kernel, getRanges()));
    auto [it, isNew] =
        decided.try_emplace({functionOf(kernel), numbers.lookup(kernel)});
    auto &[proposed, parts] = it->second;
    if (isNew) {
      KernelAnalysis::SymbolRanges ranges = getRanges();
      proposed = device->propose(kernel, ranges);
      parts = proposeSplit(kernel, ranges, proposed, *device);
    }
    if (!proposed.loops) {
      InFlightDiagnostic diagnostic = kernel.emitOpError()
                                      << "has no schedule on this target";
      for (const Reporter::Arg &arg : proposed.why)
        diagnostic << ", " << arg.key << " " << arg.val;
      return WalkResult::interrupt();
    }
    auto function = kernel->getParentOfType<FunctionOpInterface>();
    Reporter reporter(&getContext(), DEBUG_TYPE,
                      function ? function.getName() : StringRef());
    auto schedule = [&](llir::KernelOp kernel,
                        const llir::ProposedLoops &proposed) {
      kernel.setLoopsAttr(proposed.loops);
      if (!reporter.isListening())
        return;
      SmallVector<Reporter::Arg> args = {{"kernel", describe(kernel)},
                                         {"loops", getText(proposed.loops)}};
      llvm::append_range(args, proposed.why);
      reporter.passed(kernel.getLoc(), "schedule", args);
    };
    if (parts.empty()) {
      schedule(kernel, proposed);
      return WalkResult::advance();
    }
    if (reporter.isListening()) {
      double price = 0;
      for (const llir::ProposedLoops &part : parts)
        price += part.price;
      reporter.passed(kernel.getLoc(), "split",
                      {{"kernel", describe(kernel)},
                       {"into", int64_t(parts.size())},
                       {"because", "few rows leave workers idle"},
                       {"predicted ns", int64_t(std::llround(price))},
                       {"unsplit ns", int64_t(std::llround(proposed.price))}});
    }
    SmallVector<llir::KernelOp> kernels = llir::splitByReductions(kernel);
    for (auto [part, loops] : llvm::zip_equal(kernels, parts))
      schedule(part, loops);
    kernel->replaceAllUsesWith(kernels.back()->getResults());
    kernel.erase();
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    signalPassFailure();
}
