//===- Optimize.cpp - LLVM's clean-up of emitted kernels ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The emitter has chosen loops, vectors and unrolling, so only local
// optimisation is left to LLVM. LLVM's standard pipeline gives the same speed
// at two to three times the compile time: it vectorises, inlines, matches
// idioms and recomputes trip counts.
//
//===----------------------------------------------------------------------===//

#include "luminal/Conversion/LLIRToLLVM.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/Transforms/IPO/AlwaysInliner.h"
#include "llvm/Transforms/IPO/GlobalDCE.h"
#include "llvm/Transforms/InstCombine/InstCombine.h"
#include "llvm/Transforms/Scalar/DivRemPairs.h"
#include "llvm/Transforms/Scalar/EarlyCSE.h"
#include "llvm/Transforms/Scalar/GVN.h"
#include "llvm/Transforms/Scalar/LICM.h"
#include "llvm/Transforms/Scalar/LoopPassManager.h"
#include "llvm/Transforms/Scalar/LoopRotation.h"
#include "llvm/Transforms/Scalar/LoopUnrollPass.h"
#include "llvm/Transforms/Scalar/SROA.h"
#include "llvm/Transforms/Scalar/SimplifyCFG.h"
#include "llvm/Transforms/Utils/LoopUtils.h"

using namespace llvm;

namespace {
/// Replaces a masked store with one constant active lane by a store of that
/// element. LLVM 22 for x86 narrows the vector of such a store but stores the
/// lane at its original width, which overwrites elements past the end.
struct StoreSingleLanes : PassInfoMixin<StoreSingleLanes> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &);
};
} // namespace

/// The only active lane of a constant mask.
static std::optional<unsigned> getOnlyLane(const Value *mask) {
  const auto *constant = dyn_cast<Constant>(mask);
  const auto *type = dyn_cast<FixedVectorType>(mask->getType());
  if (!constant || !type)
    return std::nullopt;
  std::optional<unsigned> lane;
  for (unsigned i = 0; i < type->getNumElements(); ++i) {
    const Constant *element = constant->getAggregateElement(i);
    if (!element || !(element->isNullValue() || element->isOneValue()))
      return std::nullopt;
    if (element->isNullValue())
      continue;
    if (lane)
      return std::nullopt;
    lane = i;
  }
  return lane;
}

PreservedAnalyses StoreSingleLanes::run(Function &function,
                                        FunctionAnalysisManager &) {
  bool changed = false;
  for (Instruction &i : make_early_inc_range(instructions(function))) {
    auto *call = dyn_cast<IntrinsicInst>(&i);
    if (!call || call->getIntrinsicID() != Intrinsic::masked_store)
      continue;
    std::optional<unsigned> lane = getOnlyLane(call->getArgOperand(2));
    if (!lane)
      continue;
    IRBuilder<> builder(call);
    Value *element = builder.CreateExtractElement(call->getArgOperand(0),
                                                  builder.getInt64(*lane));
    Value *pointer = builder.CreateConstGEP1_64(element->getType(),
                                                call->getArgOperand(1), *lane);
    Align alignment = call->getParamAlign(1).valueOrOne();
    if (*lane)
      alignment = std::min(alignment, function.getDataLayout().getABITypeAlign(
                                          element->getType()));
    builder.CreateAlignedStore(element, pointer, alignment);
    call->eraseFromParent();
    changed = true;
  }
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}

static FunctionPassManager buildPipeline() {
  FunctionPassManager passes;
  // The kernel's status is an alloca.
  passes.addPass(SROAPass(SROAOptions::ModifyCFG));
  passes.addPass(EarlyCSEPass(/*UseMemorySSA=*/true));
  passes.addPass(SimplifyCFGPass());
  passes.addPass(InstCombinePass());
  LoopPassManager loops;
  loops.addPass(LoopRotatePass());
  loops.addPass(LICMPass(LICMOptions()));
  passes.addPass(createFunctionToLoopPassAdaptor(std::move(loops),
                                                 /*UseMemorySSA=*/true));
  passes.addPass(GVNPass());
  passes.addPass(InstCombinePass());
  // Only loops with a constant trip count: the emitter unrolls the others where
  // it pays.
  passes.addPass(LoopUnrollPass(LoopUnrollOptions(2).setRuntime(false)));
  passes.addPass(InstCombinePass());
  passes.addPass(createFunctionToLoopPassAdaptor(LICMPass(LICMOptions()),
                                                 /*UseMemorySSA=*/true));
  passes.addPass(SimplifyCFGPass());
  passes.addPass(DivRemPairsPass());
  passes.addPass(StoreSingleLanes());
  return passes;
}

namespace {
/// Annotates loops that have a constant trip count with it. Otherwise the
/// register allocator assumes the same count for all loops and favours values
/// in the deepest one: constants of an epilogue, two loops inside the loop over
/// tiles, were kept in registers while the accumulators of the product were
/// spilled.
struct WeighLoops : PassInfoMixin<WeighLoops> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &fam);
};
} // namespace

PreservedAnalyses WeighLoops::run(Function &function,
                                  FunctionAnalysisManager &fam) {
  auto &loops = fam.getResult<LoopAnalysis>(function);
  if (loops.empty())
    return PreservedAnalyses::all();
  auto &evolution = fam.getResult<ScalarEvolutionAnalysis>(function);
  for (Loop *loop : loops.getLoopsInPreorder())
    if (unsigned count = evolution.getSmallConstantTripCount(loop))
      setLoopEstimatedTripCount(loop, count,
                                /*EstimatedLoopInvocationWeight=*/1);
  return PreservedAnalyses::all();
}

void luminal::optimizeModule(Module &module, TargetMachine &machine) {
  PassBuilder builder(&machine);
  LoopAnalysisManager lam;
  FunctionAnalysisManager fam;
  CGSCCAnalysisManager cgam;
  ModuleAnalysisManager mam;
  builder.registerModuleAnalyses(mam);
  builder.registerCGSCCAnalyses(cgam);
  builder.registerFunctionAnalyses(fam);
  builder.registerLoopAnalyses(lam);
  builder.crossRegisterProxies(lam, fam, cgam, mam);
  ModulePassManager passes;
  // libdevice is linked into the module and queries the target here.
  builder.invokePipelineStartEPCallbacks(passes, OptimizationLevel::O2);
  passes.addPass(AlwaysInlinerPass());
  passes.addPass(GlobalDCEPass());
  FunctionPassManager ofFunctions = buildPipeline();
  // PTX has virtual registers.
  if (!machine.getTargetTriple().isNVPTX())
    ofFunctions.addPass(WeighLoops());
  passes.addPass(createModuleToFunctionPassAdaptor(std::move(ofFunctions)));
  passes.run(module, mam);
}
