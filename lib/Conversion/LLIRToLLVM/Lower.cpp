//===- Lower.cpp - Emitted kernels to the llvm dialect --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Conversion/LLIRToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/Passes.h"

using namespace luminal;
using namespace mlir;

namespace {
/// Calls the C library for functions that MLIR's lowering would expand to
/// exp(x) - 1 and log(1 + x), which lose all precision near zero.
struct CallPreciseFunctions
    : PassWrapper<CallPreciseFunctions, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CallPreciseFunctions)
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<func::FuncDialect, vector::VectorDialect>();
  }
  void runOnOperation() override {
    ConversionTarget target(getContext());
    target.addIllegalOp<math::ExpM1Op, math::Log1pOp>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    RewritePatternSet patterns(&getContext());
    populateMathToLibmConversionPatterns(patterns);
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace

LogicalResult luminal::lowerToLLVM(ModuleOp module) {
  PassManager pm(module.getContext());
  // The caller verifies the result, so verification between the passes is off.
  pm.enableVerifier(false);
  // The emitter repeats address arithmetic; these passes share it and hoist
  // loop invariants.
  pm.addPass(createCanonicalizerPass());
  pm.addPass(createCSEPass());
  pm.addPass(createLoopInvariantCodeMotionPass());
  pm.addPass(std::make_unique<CallPreciseFunctions>());
  pm.addPass(createSCFToControlFlowPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createConvertMathToLLVMPass());
  // f64 transcendentals are calls of the C library.
  pm.addPass(createConvertMathToLibmPass());
  pm.addPass(createConvertFuncToLLVMPass());
  pm.addPass(createConvertVectorToLLVMPass());
  pm.addPass(createArithToLLVMConversionPass());
  pm.addPass(createConvertControlFlowToLLVMPass());
  pm.addPass(createUBToLLVMConversionPass());
  pm.addPass(createReconcileUnrealizedCastsPass());
  if (failed(pm.run(module)))
    return failure();
  // The emitter's loop annotation ends up as a discardable attribute of the
  // loop's last branch, which the translation to LLVM IR would ignore.
  StringRef name = "llvm.loop_annotation";
  module.walk([&](LLVM::BrOp branch) {
    if (auto said = branch->getAttrOfType<LLVM::LoopAnnotationAttr>(name)) {
      branch->removeDiscardableAttr(name);
      branch.setLoopAnnotationAttr(said);
    }
  });
  return success();
}
