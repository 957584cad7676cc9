//===- CPUTarget.cpp - Processors by name ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Conversion/LLIRToLLVM.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/Triple.h"

using namespace luminal;

/// What the processor `cpu` has, by LLVM's own tables. LLVM answers an unknown
/// name with a generic processor, so the name is looked up first.
static std::unique_ptr<llvm::MCSubtargetInfo>
getSubtarget(const llvm::Target &target, const llvm::Triple &triple,
             llvm::StringRef cpu, llvm::StringRef features) {
  return std::unique_ptr<llvm::MCSubtargetInfo>(
      target.createMCSubtargetInfo(triple, cpu, features));
}

std::optional<CPUTarget> CPUTarget::get(llvm::StringRef arch,
                                        std::string *error) {
  static bool once = (llvm::InitializeNativeTarget(),
                      llvm::InitializeNativeTargetAsmPrinter(), true);
  (void)once;
  CPUTarget result;
  result.triple = llvm::sys::getDefaultTargetTriple();
  llvm::Triple triple(result.triple);
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, *error);
  if (!target)
    return std::nullopt;
  if (arch == "native") {
    result.cpu = llvm::sys::getHostCPUName().str();
    llvm::SubtargetFeatures features;
    // A StringMap has no order of its own that may reach the artifact.
    llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
    std::vector<std::string> names;
    for (const auto &entry : host)
      names.push_back((entry.second ? "+" : "-") + entry.first().str());
    llvm::sort(names, [](const std::string &a, const std::string &b) {
      return a.substr(1) < b.substr(1);
    });
    for (const std::string &name : names)
      features.AddFeature(name);
    result.features = features.getString();
  } else {
    auto plain = getSubtarget(*target, triple, "", "");
    if (!plain->isCPUStringValid(arch)) {
      *error = "unknown processor '" + arch.str() + "' for " + result.triple;
      return std::nullopt;
    }
    result.cpu = arch.str();
  }
  auto subtarget = getSubtarget(*target, triple, result.cpu, result.features);
  if (triple.isX86()) {
    result.vectorBits =
        subtarget->checkFeatures("+avx512f,+avx512bw,+avx512dq,+avx512vl") ? 512
        : subtarget->checkFeatures("+avx2,+fma")                           ? 256
                                                 : 128;
    // Where wide registers lower the clock, LLVM says so, and its word is
    // taken.
    if (result.vectorBits == 512 && subtarget->checkFeatures("+prefer-256-bit"))
      result.vectorBits = 256;
  }
  return result;
}
