//===- Lower.cpp - Emitted GPU kernels to the nvvm dialect ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Conversion/LLIRToNVVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/Passes.h"

using namespace luminal;
using namespace mlir;

void luminal::registerLLIRToNVVMDialects(DialectRegistry &registry) {
  registerLLIRToLLVMDialects(registry);
  registry.insert<NVVM::NVVMDialect>();
  registerNVVMDialectTranslation(registry);
}

/// Whether PTX has no exact instruction for the op, so that libdevice computes
/// it.
static bool needsLibdevice(Operation *op) {
  if (isa<arith::RemFOp>(op))
    return true;
  // fma, sqrt, floor and the like are instructions; the rest of the math
  // dialect reaches this point in f64 only.
  return isa<math::ExpOp, math::Exp2Op, math::ExpM1Op, math::LogOp,
             math::Log2Op, math::Log1pOp, math::SinOp, math::CosOp,
             math::TanhOp, math::ErfOp, math::ErfcOp, math::PowFOp>(op);
}

static LogicalResult convertToLibdevice(ModuleOp module) {
  LowerToLLVMOptions options(module.getContext());
  LLVMTypeConverter converter(module.getContext(), options);
  RewritePatternSet patterns(module.getContext());
  populateLibDeviceConversionPatterns(converter, patterns, /*benefit=*/1);
  ConversionTarget target(*module.getContext());
  target.markUnknownOpDynamicallyLegal(
      [](Operation *op) { return !needsLibdevice(op); });
  return applyPartialConversion(module, target, std::move(patterns));
}

LogicalResult luminal::lowerToNVVM(ModuleOp module) {
  PassManager clean(module.getContext());
  clean.addPass(createCanonicalizerPass());
  clean.addPass(createCSEPass());
  clean.addPass(createLoopInvariantCodeMotionPass());
  clean.addPass(createSCFToControlFlowPass());
  if (failed(clean.run(module)) || failed(convertToLibdevice(module)))
    return failure();
  return lowerToLLVM(module);
}
