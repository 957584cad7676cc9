//===- DeclareKernels.cpp - Declares user kernels in a program ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Conversion/UserKernels.
//
//===----------------------------------------------------------------------===//

#include "luminal/Conversion/Passes.h"
#include "luminal/Conversion/UserKernels.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/Parser/Parser.h"

namespace luminal {
#define GEN_PASS_DEF_DECLAREKERNELSPASS
#include "luminal/Conversion/Passes.h.inc"
} // namespace luminal

using namespace mlir;
using namespace luminal;

namespace {
class DeclareKernels
    : public luminal::impl::DeclareKernelsPassBase<DeclareKernels> {
public:
  using DeclareKernelsPassBase::DeclareKernelsPassBase;

  LogicalResult initialize(MLIRContext *context) override;
  void runOnOperation() override {
    if (failed(known->checkProgram(getOperation())))
      return signalPassFailure();
    known->addRules(getOperation());
  }

private:
  /// Shared by clones of the pass.
  std::shared_ptr<const UserKernels> known;
};
} // namespace

/// In initialize() because no dialect may be loaded while passes run.
LogicalResult DeclareKernels::initialize(MLIRContext *context) {
  std::string error;
  std::unique_ptr<TargetInterface> device =
      createTarget(target, arch, machine, &error);
  if (!device)
    return emitError(UnknownLoc::get(context)) << error;
  SmallVector<std::string> files(kernels.begin(), kernels.end());
  FailureOr<UserKernels> loaded =
      UserKernels::load(context, files, device.get());
  if (failed(loaded))
    return failure();
  known = std::make_shared<const UserKernels>(std::move(*loaded));
  for (const std::string &file : rules) {
    OwningOpRef<ModuleOp> parsed =
        parseSourceFile<ModuleOp>(file, ParserConfig(context));
    // If the file cannot be read, the pass that runs the rules reports it.
    if (parsed && failed(known->checkRules(*parsed)))
      return failure();
  }
  return success();
}
