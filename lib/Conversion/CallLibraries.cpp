//===- CallLibraries.cpp - Replaces ops by library calls ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Conversion/Libraries.
//
//===----------------------------------------------------------------------===//

#include "luminal/Conversion/Passes.h"
#include "luminal/Conversion/Target.h"
#include "luminal/Dialect/HLIR/Utils/DeadOps.h"
#include "luminal/Dialect/LLIR/Analysis/StreamTile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace luminal {
#define GEN_PASS_DEF_CALLLIBRARIESPASS
#include "luminal/Conversion/Passes.h.inc"
} // namespace luminal

#define DEBUG_TYPE "llir-call-libraries"

using namespace mlir;
using namespace luminal;

namespace {
class CallLibraries
    : public luminal::impl::CallLibrariesPassBase<CallLibraries> {
public:
  using CallLibrariesPassBase::CallLibrariesPassBase;
  void runOnOperation() override;

private:
  FailureOr<SmallVector<const llir::Library *>>
  getLibraries(const TargetInterface &device);
};
} // namespace

/// The libraries of the device that the option `library` allows.
FailureOr<SmallVector<const llir::Library *>>
CallLibraries::getLibraries(const TargetInterface &device) {
  SmallVector<const llir::Library *> known = device.getLibraries();
  if (library == "all")
    return known;
  if (library == "none")
    return SmallVector<const llir::Library *>();
  for (const llir::Library *one : known)
    if (one->getName() == library)
      return SmallVector<const llir::Library *>{one};
  InFlightDiagnostic error = getOperation().emitError()
                             << "the target '" << device.getName()
                             << "' has no library '" << library
                             << "'; known are: all, none";
  for (const llir::Library *one : known)
    error << ", " << one->getName();
  return error;
}

static void tell(const Reporter &reporter, Location loc, StringRef op,
                 const llir::Library &library,
                 const llir::LibraryChoice &choice) {
  SmallVector<Reporter::Arg> args = {{"op", op},
                                     {"library", library.getName()}};
  llvm::append_range(args, choice.why);
  if (choice.call)
    reporter.passed(loc, "library", args);
  else
    reporter.missed(loc, "library", args);
}

void CallLibraries::runOnOperation() {
  func::FuncOp func = getOperation();
  if (func.isDeclaration() || !llvm::hasSingleElement(func.getBody()))
    return;
  std::unique_ptr<TargetInterface> device =
      createTarget(func, target, arch, machine);
  if (!device)
    return signalPassFailure();
  auto libraries = getLibraries(*device);
  if (failed(libraries))
    return signalPassFailure();
  if (libraries->empty())
    return;
  Block &block = func.getBody().front();
  Assumptions symbols = hlir::getAssumptions(block.getTerminator());
  MachineModel model = device->getMachine();
  Reporter reporter(&getContext(), DEBUG_TYPE, func.getSymName());
  // Products that are streamed jointly with the ops between them stay kernels,
  // which keep the values between on chip.
  DenseSet<Operation *> streamed;
  for (auto product : block.getOps<llir::ProductOpInterface>()) {
    SmallVector<Operation *> anchors = findStreamedAnchors(product);
    if (canStreamByBlocks(product, anchors, symbols, model.sharedBytes))
      streamed.insert_range(anchors);
  }
  bool changed = false;
  for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
    if (!isa<llir::ProductOpInterface>(op))
      continue;
    if (streamed.contains(&op)) {
      reporter.missed(
          op.getLoc(), "library",
          {{"op", op.getName().stripDialect()},
           {"reason", "its kernel streams it jointly with other anchors"}});
      continue;
    }
    for (const llir::Library *one : *libraries) {
      llir::LibraryChoice choice = one->replace(&op, symbols, model, precision);
      if (reporter.isListening())
        tell(reporter, op.getLoc(), op.getName().stripDialect(), *one, choice);
      if (!choice.call)
        continue;
      changed = true;
      break;
    }
  }
  if (changed)
    eraseDeadOps(block);
}
