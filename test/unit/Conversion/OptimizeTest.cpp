//===- OptimizeTest.cpp - What LLVM does to emitted kernels ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Conversion/LLIRToLLVM.h"
#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/ProfDataUtils.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"
#include "gtest/gtest.h"

using namespace luminal;

namespace {

/// y[i] = x[i] * x[i] for i in [0, %n); `$n` stands for the length.
constexpr llvm::StringLiteral kLoop = R"(
define void @k(ptr %x, ptr %y, i64 %n) {
entry:
  %status = alloca i32
  store i32 0, ptr %status
  br label %header
header:
  %i = phi i64 [ 0, %entry ], [ %next, %body ]
  %c = icmp slt i64 %i, $n
  br i1 %c, label %body, label %exit
body:
  %a = getelementptr float, ptr %x, i64 %i
  %v = load float, ptr %a
  %w = load float, ptr %a
  %p = fmul float %v, %w
  %b = getelementptr float, ptr %y, i64 %i
  store float %p, ptr %b
  %next = add nsw i64 %i, 1
  br label %header
exit:
  ret void
}
)";

/// The module in `text` after optimizeModule; null, and a failure, where it is
/// none.
std::unique_ptr<llvm::Module> optimize(llvm::StringRef text,
                                       llvm::LLVMContext &context) {
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(text, diagnostic, context);
  std::string error;
  std::optional<CPUTarget> cpu = CPUTarget::get("native", &error);
  if (!module || !cpu) {
    ADD_FAILURE() << diagnostic.getMessage().str() << error;
    return nullptr;
  }
  llvm::Triple triple(cpu->triple);
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(
      triple, cpu->cpu, cpu->features, llvm::TargetOptions(), std::nullopt));
  module->setTargetTriple(triple);
  module->setDataLayout(machine->createDataLayout());
  optimizeModule(*module, *machine);
  return module;
}

/// kLoop of that length.
std::string loopOf(llvm::StringRef length) {
  std::string text = kLoop.str();
  return text.replace(text.find("$n"), 2, length.str());
}

/// Instructions of each sort in the loop after optimizeModule.
struct Counts {
  unsigned allocas = 0, loads = 0, products = 0, branches = 0;

  explicit Counts(llvm::StringRef length) {
    llvm::LLVMContext context;
    auto module = optimize(loopOf(length), context);
    if (!module)
      return;
    for (const llvm::Instruction &i :
         llvm::instructions(*module->getFunction("k"))) {
      allocas += i.getOpcode() == llvm::Instruction::Alloca;
      loads += i.getOpcode() == llvm::Instruction::Load;
      products += i.getOpcode() == llvm::Instruction::FMul;
      branches += i.getOpcode() == llvm::Instruction::Br;
    }
  }
};

TEST(Optimize, RemovesVariablesAndRepeatedLoads) {
  Counts counts("%n");
  EXPECT_EQ(counts.allocas, 0u);
  EXPECT_EQ(counts.loads, counts.products);
}

// Code of loops whose length is a symbol is the emitter's: copies of it would
// cost compile time alone.
TEST(Optimize, UnrollsLoopsOfKnownLengthOnly) {
  Counts dynamic("%n");
  EXPECT_EQ(dynamic.products, 1u);
  Counts fixed("4");
  EXPECT_EQ(fixed.products, 4u);
  EXPECT_EQ(fixed.branches, 0u);
}

/// How often the loop of that length is said to go on, for each time that it
/// ends, as often as it squares; nothing: that is not said.
std::optional<uint64_t> getWeight(llvm::StringRef length) {
  llvm::LLVMContext context;
  auto module = optimize(loopOf(length), context);
  if (!module)
    return std::nullopt;
  uint64_t products = 0;
  std::optional<uint64_t> weight;
  for (const llvm::Instruction &i :
       llvm::instructions(*module->getFunction("k"))) {
    products += i.getOpcode() == llvm::Instruction::FMul;
    llvm::SmallVector<uint32_t> weights;
    if (llvm::extractBranchWeights(i, weights) && weights.size() == 2)
      weight = std::max(weights[0], weights[1]) /
               std::max(1u, std::min(weights[0], weights[1]));
  }
  return weight ? std::optional((*weight + 1) * products) : std::nullopt;
}

// What runs often keeps its registers, wherever other loops are nested deeper.
TEST(Optimize, SaysHowOftenLoopsOfKnownLengthRun) {
  EXPECT_EQ(getWeight("4096"), 4096u);
  EXPECT_EQ(getWeight("%n"), std::nullopt);
}

// As wide as the element, not as what it was truncated from.
TEST(Optimize, StoresOneElementWhereOneLaneIsSet) {
  llvm::LLVMContext context;
  auto module = optimize(R"(
define void @k(<4 x i32> %v, ptr %p) {
  %t = trunc <4 x i32> %v to <4 x i16>
  call void @llvm.masked.store.v4i16.p0(<4 x i16> %t, ptr align 2 %p, <4 x i1> <i1 false, i1 true, i1 false, i1 false>)
  ret void
}
)",
                         context);
  ASSERT_TRUE(module);
  unsigned stores = 0;
  for (const llvm::Instruction &i :
       llvm::instructions(*module->getFunction("k"))) {
    EXPECT_FALSE(llvm::isa<llvm::CallBase>(i));
    if (const auto *store = llvm::dyn_cast<llvm::StoreInst>(&i)) {
      ++stores;
      EXPECT_TRUE(store->getValueOperand()->getType()->isIntegerTy(16));
      EXPECT_EQ(store->getAlign().value(), 2u);
    }
  }
  EXPECT_EQ(stores, 1u);
}

} // namespace
