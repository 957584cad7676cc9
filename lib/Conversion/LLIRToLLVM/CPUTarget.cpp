//===- CPUTarget.cpp - Processors by name ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Conversion/LLIRToLLVM.h"
#include "luminal/Runtime/CpuFeatures.h"
#include "luminal/Runtime/Machine.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/TargetParser/Triple.h"

using namespace luminal;

/// The features of the processor `cpu`, by LLVM's tables. LLVM treats an
/// unknown name as a generic processor, so the name is looked up first.
static std::unique_ptr<llvm::MCSubtargetInfo>
getSubtarget(const llvm::Target &target, const llvm::Triple &triple,
             llvm::StringRef cpu, llvm::StringRef features) {
  return std::unique_ptr<llvm::MCSubtargetInfo>(
      target.createMCSubtargetInfo(triple, cpu, features));
}

/// The host's features, present and missing, sorted: the order of a StringMap
/// is not deterministic.
static std::vector<std::string> getHostFeatures() {
  std::vector<std::string> features;
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  for (const auto &entry : host)
    features.push_back((entry.second ? "+" : "-") + entry.first().str());
  llvm::sort(features, [](const std::string &a, const std::string &b) {
    return a.substr(1) < b.substr(1);
  });
  return features;
}

/// The features of a named processor. The artifact lists them because it may be
/// loaded on another machine.
static std::vector<std::string>
getFeatures(const llvm::MCSubtargetInfo &subtarget) {
  std::vector<std::string> features;
  for (const llvm::SubtargetFeatureKV &feature :
       subtarget.getEnabledProcessorFeatures())
    features.push_back("+" + std::string(feature.Key));
  return features;
}

/// Chooses the widest profitable vectors, and the number of registers for them.
static void chooseVectors(CPUTarget &target,
                          const llvm::MCSubtargetInfo &subtarget,
                          const MachineModel *measured) {
  bool hasAVX512 =
      subtarget.checkFeatures("+avx512f,+avx512bw,+avx512dq,+avx512vl");
  if (hasAVX512)
    // Processors that are not in the table are newer than the table.
    target.vectorBits = getProfitableVectorBits(target.cpu).value_or(512);
  else
    target.vectorBits = subtarget.checkFeatures("+avx2,+fma") ? 256 : 128;
  unsigned widest = hasAVX512 ? 512 : target.vectorBits;
  if (measured)
    target.vectorBits = std::min(measured->vectorBits, widest);
  target.vectorRegisters = hasAVX512 ? 32 : 16;
  target.hasPairs = hasAVX512 && subtarget.checkFeatures("+avx512bf16");
  target.hasTiles = hasAVX512 && subtarget.checkFeatures("+amx-tile,+amx-bf16");
}

std::optional<CPUTarget> CPUTarget::get(llvm::StringRef arch,
                                        std::string *error,
                                        const MachineModel *measured) {
  static bool once = (llvm::InitializeNativeTarget(),
                      llvm::InitializeNativeTargetAsmPrinter(), true);
  (void)once;
  CPUTarget result;
  if (measured)
    result.model = *measured;
  result.triple = llvm::sys::getDefaultTargetTriple();
  llvm::Triple triple(result.triple);
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, *error);
  if (!target)
    return std::nullopt;
  std::vector<std::string> names;
  if (arch == "native") {
    result.cpu = llvm::sys::getHostCPUName().str();
    names = getHostFeatures();
    if (!measured)
      runtime::askSystem(result.model);
  } else {
    auto plain = getSubtarget(*target, triple, "", "");
    if (!plain->isCPUStringValid(arch)) {
      *error = "unknown processor '" + arch.str() + "' for " + result.triple;
      return std::nullopt;
    }
    result.cpu = arch.str();
    names = getFeatures(*getSubtarget(*target, triple, arch, ""));
  }
  llvm::SubtargetFeatures features;
  // The operating system may refuse tile registers to this process. A named
  // processor is assumed to have what the name implies; a virtual machine may
  // use that name without providing tiles.
  bool mayTile =
      arch != "native" || runtime::checkCpuFeatures({"amx-tile", "amx-bf16"});
  for (const std::string &name : names) {
    llvm::StringRef feature = llvm::StringRef(name).drop_front();
    features.AddFeature(
        !mayTile && feature.starts_with("amx-") ? "-" + feature.str() : name);
  }
  if (triple.isX86()) {
    auto subtarget =
        getSubtarget(*target, triple, result.cpu, features.getString());
    chooseVectors(result, *subtarget, measured);
    if (!measured && arch != "native")
      result.model.l1Bytes =
          getFirstCacheBytes(result.cpu).value_or(result.model.l1Bytes);
    // Makes LLVM's cost model and instruction selection use the same width.
    features.AddFeature("prefer-256-bit", result.vectorBits == 256);
  }
  result.features = features.getString();
  return result;
}

MachineModel CPUTarget::getMachine() const {
  MachineModel machine = model;
  machine.vectorBits = vectorBits;
  machine.vectorRegisters = vectorRegisters;
  // If nothing was measured, pairs are assumed to be as fast as the fma they
  // replace.
  if (!hasPairs)
    machine.pairRate = 0;
  else if (machine.pairRate == 0)
    machine.pairRate = machine.getFmaRate();
  // A tile multiplies sixteen times as many elements as two vectors do; loading
  // the operands halves that.
  constexpr double kTileGain = 8;
  if (!hasTiles)
    machine.tileRate = 0;
  else if (machine.tileRate == 0)
    machine.tileRate = kTileGain * machine.getFmaRate();
  return machine;
}
