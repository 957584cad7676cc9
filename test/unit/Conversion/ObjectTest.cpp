//===- ObjectTest.cpp - From the llvm dialect to a loaded library ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Conversion/LLIRToLLVM.h"
#include "luminal/Runtime/CpuFeatures.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/TargetParser/Triple.h"
#include "gtest/gtest.h"

#include <cmath>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace luminal;
using namespace mlir;

namespace {

constexpr const char *kModule = R"(
  llvm.func @k0(%out: !llvm.ptr, %in: !llvm.ptr) {
    %x = llvm.load %in {alignment = 4 : i64} : !llvm.ptr -> vector<4xf32>
    %y = arith.addf %x, %x : vector<4xf32>
    llvm.store %y, %out {alignment = 4 : i64} : vector<4xf32>, !llvm.ptr
    llvm.return
  }
)";
constexpr const char *kLibm = R"(
  llvm.func @k1(%out: !llvm.ptr, %in: !llvm.ptr) {
    %x = llvm.load %in : !llvm.ptr -> f64
    %y = math.tanh %x : f64
    llvm.store %y, %out : f64, !llvm.ptr
    llvm.return
  }
)";

TEST(Object, CompilesLinksAndRuns) {
  DialectRegistry registry;
  registerLLIRToLLVMDialects(registry);
  MLIRContext context(registry);
  std::string error;
  std::optional<CPUTarget> target = CPUTarget::get("native", &error);
  ASSERT_TRUE(target) << error;
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects;
  std::vector<llvm::MemoryBufferRef> refs;
  for (const char *text : {kModule, kLibm}) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    ASSERT_TRUE(succeeded(lowerToLLVM(*module)));
    objects.push_back(compileToObject(*module, *target));
    ASSERT_TRUE(objects.back());
    refs.push_back(objects.back()->getMemBufferRef());
  }
  auto library = linkSharedObject(refs, &error);
  ASSERT_TRUE(library) << error;
  // The same objects give the same bytes, in the same process.
  auto again = linkSharedObject(refs, &error);
  ASSERT_TRUE(again) << error;
  EXPECT_EQ(library->getBuffer(), again->getBuffer());

  int fd = memfd_create("host.so", 0);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(write(fd, library->getBufferStart(), library->getBufferSize()),
            ssize_t(library->getBufferSize()));
  void *handle = dlopen(("/proc/self/fd/" + std::to_string(fd)).c_str(),
                        RTLD_NOW | RTLD_LOCAL);
  ASSERT_TRUE(handle) << dlerror();
  auto k0 =
      reinterpret_cast<void (*)(float *, const float *)>(dlsym(handle, "k0"));
  auto k1 =
      reinterpret_cast<void (*)(double *, const double *)>(dlsym(handle, "k1"));
  ASSERT_TRUE(k0 && k1);
  float in[] = {1, 2, 3, 4}, out[4];
  k0(out, in);
  EXPECT_EQ(out[3], 8);
  double x = 0.5, y;
  k1(&y, &x);
  EXPECT_EQ(y, std::tanh(0.5));
  dlclose(handle);
  close(fd);
}

TEST(Object, NamesProcessors) {
  std::string error;
  EXPECT_FALSE(CPUTarget::get("no-such-processor", &error));
  EXPECT_NE(error.find("unknown processor 'no-such-processor'"),
            std::string::npos)
      << error;
#if defined(__x86_64__)
  EXPECT_EQ(CPUTarget::get("x86-64", &error)->vectorBits, 128u);
  EXPECT_EQ(CPUTarget::get("x86-64-v3", &error)->vectorBits, 256u);
  EXPECT_EQ(CPUTarget::get("znver4", &error)->getLanes(32), 16u);
#endif
}

#if defined(__x86_64__)
// The target options given to LLVM agree with those of the emitters.
TEST(Object, TunesForTheWidthThatPays) {
  std::string error;
  for (const char *name : {"sapphirerapids", "znver5", "native"}) {
    std::optional<CPUTarget> target = CPUTarget::get(name, &error);
    ASSERT_TRUE(target) << error;
    EXPECT_EQ(StringRef(target->features).contains("-prefer-256-bit"),
              target->vectorBits != 256)
        << name;
  }
  std::optional<CPUTarget> throttled = CPUTarget::get("skylake-avx512", &error);
  EXPECT_EQ(throttled->vectorBits, 256u);
  EXPECT_EQ(throttled->vectorRegisters, 32u);
  EXPECT_TRUE(StringRef(throttled->features).contains("+prefer-256-bit"));
  EXPECT_EQ(CPUTarget::get("haswell", &error)->vectorRegisters, 16u);
}

static std::unique_ptr<llvm::MCSubtargetInfo>
createSubtarget(const CPUTarget &native, StringRef cpu, StringRef features) {
  std::string error;
  llvm::Triple triple(native.triple);
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  EXPECT_TRUE(target) << error;
  return std::unique_ptr<llvm::MCSubtargetInfo>(
      target ? target->createMCSubtargetInfo(triple, cpu, features) : nullptr);
}

/// Features that decide whether code can run.
static std::vector<std::string>
getIsaFeatures(const llvm::MCSubtargetInfo &subtarget) {
  std::vector<std::string> features;
  for (const llvm::SubtargetFeatureKV &feature :
       subtarget.getEnabledProcessorFeatures())
    if (runtime::isIsaFeature(feature.Key))
      features.push_back(feature.Key);
  return features;
}

// A virtual machine may bear a processor's name without all of its features,
// and Linux may refuse tiles.
TEST(Object, UsesNoFeatureThatTheHostLacks) {
  std::string error;
  std::optional<CPUTarget> native = CPUTarget::get("native", &error);
  ASSERT_TRUE(native) << error;
  auto subtarget = createSubtarget(*native, native->cpu, native->features),
       named = createSubtarget(*native, native->cpu, "");
  ASSERT_TRUE(subtarget && named);
  std::vector<std::string> used = getIsaFeatures(*subtarget);
  EXPECT_FALSE(used.empty());
  Status usable = runtime::checkCpuFeatures(used);
  EXPECT_TRUE(usable) << usable.error().message;
  // The name alone may have more: each is one that the target refuses.
  for (const std::string &feature : getIsaFeatures(*named))
    if (!llvm::is_contained(used, feature))
      EXPECT_TRUE(StringRef(native->features).contains("-" + feature))
          << feature;
}

// A processor that a new LLVM adds and the table lacks is reported here.
TEST(Object, ListsEveryProcessorWithAVX512) {
  std::string error;
  std::optional<CPUTarget> native = CPUTarget::get("native", &error);
  ASSERT_TRUE(native) << error;
  unsigned count = 0;
  auto all = createSubtarget(*native, "", "");
  ASSERT_TRUE(all);
  for (const llvm::SubtargetSubTypeKV &entry :
       all->getAllProcessorDescriptions()) {
    if (!createSubtarget(*native, entry.Key, "")
             ->checkFeatures("+avx512f,+avx512bw,+avx512dq,+avx512vl"))
      continue;
    EXPECT_TRUE(getProfitableVectorBits(entry.Key)) << entry.Key;
    ++count;
  }
  EXPECT_GT(count, 10u);
}
#endif

} // namespace
