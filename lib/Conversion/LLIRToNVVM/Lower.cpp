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

/// Whether the op has no exact PTX instruction, so that libdevice computes it.
static bool needsLibdevice(Operation *op) {
  if (isa<arith::RemFOp>(op))
    return true;
  // fma, sqrt, floor and others are instructions, as is the approximate exp2 of
  // f32. The remaining math ops occur here only in f64.
  if (isa<math::Exp2Op>(op) && op->getResult(0).getType().isF32())
    return false;
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

/// Rounds to bf16 with the instruction for two values, whose throughput is
/// several times that of the one for a single value.
static void roundInPairs(ModuleOp module) {
  SmallVector<arith::TruncFOp> ops;
  module.walk([&](arith::TruncFOp op) {
    if (op.getIn().getType().isF32() && op.getType().isBF16())
      ops.push_back(op);
  });
  for (arith::TruncFOp op : ops) {
    ImplicitLocOpBuilder b(op.getLoc(), op);
    Value none = arith::ConstantOp::create(b, b.getF32FloatAttr(0));
    auto pair = LLVM::CallIntrinsicOp::create(
        b, Type(VectorType::get({2}, b.getBF16Type())),
        b.getStringAttr("llvm.nvvm.ff2bf16x2.rn"),
        ValueRange{none, op.getIn()});
    Value first = LLVM::ConstantOp::create(b, b.getI32IntegerAttr(0));
    op.replaceAllUsesWith(
        LLVM::ExtractElementOp::create(b, pair.getResult(0), first)
            .getResult());
    op.erase();
  }
}

LogicalResult luminal::lowerToNVVM(ModuleOp module) {
  PassManager clean(module.getContext());
  clean.addPass(createCanonicalizerPass());
  clean.addPass(createCSEPass());
  clean.addPass(createLoopInvariantCodeMotionPass());
  clean.addPass(createSCFToControlFlowPass());
  if (failed(clean.run(module)) || failed(convertToLibdevice(module)))
    return failure();
  roundInPairs(module);
  return lowerToLLVM(module);
}
