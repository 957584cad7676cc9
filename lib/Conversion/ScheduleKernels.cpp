//===- ScheduleKernels.cpp - How each kernel runs -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Conversion/Schedules.
//
//===----------------------------------------------------------------------===//

#include "luminal/Conversion/Passes.h"
#include "luminal/Conversion/Target.h"
#include "luminal/Dialect/LLIR/Utils/KernelClasses.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

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

static std::string getText(llir::LoopsAttr loops) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  stream << Attribute(loops);
  return text;
}

void ScheduleKernels::runOnOperation() {
  std::string error;
  std::unique_ptr<TargetInterface> device =
      createTarget(target, arch, machine, &error, workers);
  if (!device) {
    getOperation().emitError(error);
    return signalPassFailure();
  }
  if (precision == "exact")
    device->setExact();
  // Kernels of repeated layers are alike: the first of them is looked at. What
  // symbols are is known of a function.
  DenseMap<Operation *, llir::KernelClasses> alike;
  DenseMap<Operation *, unsigned> numbers;
  auto functionOf = [](llir::KernelOp kernel) -> Operation * {
    return kernel->getParentOfType<FunctionOpInterface>();
  };
  getOperation().walk([&](llir::KernelOp kernel) {
    if (!kernel.getLoops())
      numbers[kernel] = alike[functionOf(kernel)].add(kernel);
  });
  DenseMap<std::pair<Operation *, unsigned>, llir::ProposedLoops> decided;
  auto result = getOperation().walk([&](llir::KernelOp kernel) {
    auto getRanges = [&]() -> KernelAnalysis::SymbolRanges {
      return hlir::getAssumptions(kernel).getSymbols();
    };
    if (kernel.getLoops())
      return WalkResult(device->verify(kernel, getRanges()));
    auto [it, isNew] =
        decided.try_emplace({functionOf(kernel), numbers.lookup(kernel)});
    llir::ProposedLoops &proposed = it->second;
    if (isNew)
      proposed = device->propose(kernel, getRanges());
    if (!proposed.loops) {
      InFlightDiagnostic diagnostic = kernel.emitOpError()
                                      << "has no schedule on this target";
      for (const Reporter::Arg &arg : proposed.why)
        diagnostic << ", " << arg.key << " " << arg.val;
      return WalkResult::interrupt();
    }
    kernel.setLoopsAttr(proposed.loops);
    auto function = kernel->getParentOfType<FunctionOpInterface>();
    Reporter reporter(&getContext(), DEBUG_TYPE,
                      function ? function.getName() : StringRef());
    if (reporter.isListening()) {
      SmallVector<Reporter::Arg> args = {{"kernel", describe(kernel)},
                                         {"loops", getText(proposed.loops)}};
      llvm::append_range(args, proposed.why);
      reporter.passed(kernel.getLoc(), "schedule", args);
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    signalPassFailure();
}
