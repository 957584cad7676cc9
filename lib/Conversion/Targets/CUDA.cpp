//===- CUDA.cpp - NVIDIA GPUs as a target ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Targets.h"
#include "UserCode.h"
#include "luminal/Conversion/LLIRToNVVM.h"
#include "luminal/Runtime/CudaFeatures.h"
#include "luminal/Runtime/Device.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace luminal;
using namespace mlir;

namespace {
class CUDA : public TargetInterface {
public:
  CUDA(StringRef arch, MachineModel model) : arch(arch), model(model) {}

  StringRef getName() const override { return "cuda"; }
  /// Device memory is mainly for the weights and the arena.
  double getPrepareShare() const override { return 0.1; }
  SmallVector<const llir::Library *> getLibraries() const override {
    return {&llir::getCublasLt()};
  }
  FailureOr<EmittedKernel>
  emit(llir::KernelOp kernel, StringRef symbol, ModuleOp dest,
       ArrayRef<hlir::SymbolEntry> symbols) const override;
  LogicalResult lower(ModuleOp module) const override {
    return lowerToNVVM(module);
  }
  FailureOr<TargetCode>
  compile(ModuleOp module, unsigned threads,
          std::vector<KernelObject> objects) const override;
  Result<std::string> checkUserCode(const UserCode &code) const override;

protected:
  MachineModel getDeviceModel() const override { return model; }

private:
  std::string arch;
  MachineModel model;
};
} // namespace

FailureOr<EmittedKernel> CUDA::emit(llir::KernelOp kernel, StringRef symbol,
                                    ModuleOp dest,
                                    ArrayRef<hlir::SymbolEntry> symbols) const {
  FailureOr<KernelInfo> info = emitGPUKernel(
      kernel, symbol, dest, symbols, getDeviceModel(), canStartEarly(arch));
  if (failed(info))
    return failure();
  // All cases use the same block size.
  int64_t threads = kernel.getLoops()->getCases().front().getThreads();
  auto launch = llir::CUDALaunchAttr::get(kernel.getContext(), info->work,
                                          info->blocks, threads, info->shared);
  return EmittedKernel{launch,
                       {{"work", info->work.str()},
                        {"grid", info->blocks.str()},
                        {"block", threads},
                        {"shared", info->shared.str()}},
                       std::move(info->requirements)};
}

/// Copies the functions only: the rest of the module is data.
static OwningOpRef<ModuleOp> getCode(ModuleOp module) {
  OwningOpRef<ModuleOp> code = ModuleOp::create(module.getLoc());
  for (Operation &op : *module.getBody())
    if (!isa<llir::ScheduleOp>(op))
      code->push_back(op.clone());
  return code;
}

/// Checks that parts of buffers are aligned to 16 bytes, since vectors of 16
/// bytes are loaded and stored.
static LogicalResult checkAlignment(ModuleOp module) {
  auto result = module.walk([](llir::PartOp part) {
    Expr offset = part.getOffset().getResults()[0];
    Assumptions symbols(KernelAnalysis::SymbolRanges{});
    if (symbols.simplify(Expr::mod(offset, runtime::kBufferAlignment))
            .isConstant(0))
      return WalkResult::advance();
    return WalkResult(part.emitOpError()
                      << "begins at byte " << offset.str()
                      << ", which kernels of a GPU need to be a multiple of "
                      << runtime::kBufferAlignment);
  });
  return failure(result.wasInterrupted());
}

FailureOr<TargetCode> CUDA::compile(ModuleOp module, unsigned,
                                    std::vector<KernelObject>) const {
  if (failed(checkAlignment(module)))
    return failure();
  std::optional<std::string> text = translateToPTX(*getCode(module), arch);
  if (!text)
    return failure();
  std::string error;
  FailureOr<std::string> cubin = assemblePTX(*text, arch, &error);
  if (failed(cubin))
    return emitError(module.getLoc()) << error;
  TargetCode code;
  code.spec.kind = getName();
  code.spec.arch = arch;
  code.spec.cubin = !cubin->empty();
  if (canStartEarly(arch))
    code.spec.features.push_back(std::string(runtime::kWaitsForSteps));
  code.members.push_back({"device.ptx", std::move(*text)});
  if (!cubin->empty())
    code.members.push_back({"device.cubin", std::move(*cubin)});
  return code;
}

Result<std::string> CUDA::checkUserCode(const UserCode &code) const {
  const bool isCubin = isElf(code.bytes);
  std::string ownArch = code.arch.str();
  if (isCubin) {
    LUMINAL_CHECK(checkElf(code, "cubin", llvm::ELF::EM_CUDA, 0));
    if (ownArch.empty())
      return Error("is a cubin, which needs an arch");
  } else {
    LUMINAL_TRY(stated, checkPTX(code));
    if (!ownArch.empty() && ownArch != stated)
      return Error("is for '" + ownArch + "', its .target is '" + stated + "'");
    ownArch = std::move(stated);
  }
  auto needed = runtime::CudaArch::parse(ownArch),
       have = runtime::CudaArch::parse(arch);
  if (!needed)
    return Error("is for '" + ownArch + "', which is no GPU");
  if (!have || !(isCubin ? needed->runsCubin(have->capability)
                         : needed->runs(have->capability)))
    return Error("is for '" + ownArch + "', the target is '" + arch + "'");
  return std::string(isCubin ? "cubin" : "ptx");
}

/// The facts of a device that prices depend on.
static GPUFacts getFacts(const runtime::DeviceInfo &info) {
  GPUFacts facts;
  facts.name = info.name;
  for (const auto &[name, value] : info.properties) {
    if (name == "multiprocessors")
      facts.multiprocessors = static_cast<unsigned>(value);
    else if (name == "clock_mhz")
      facts.clock = double(value) / 1000;
    else if (name == "memory_gb_s")
      facts.memoryRate = double(value);
    else if (name == "cache_bytes")
      facts.cacheBytes = static_cast<int64_t>(value);
  }
  return facts;
}

/// Reads the model from the file at `path`. It must not claim more per block
/// than `device` has.
static Result<MachineModel> readModel(StringRef path,
                                      const MachineModel &device) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return Error(path.str() + ": " + file.getError().message());
  LUMINAL_TRY(document,
              JsonDocument::parse((*file)->getBuffer().str(), path.str()));
  LUMINAL_TRY(model, MachineModel::parse(document.root()));
  auto checkMost = [&](const char *name, int64_t value,
                       int64_t most) -> Status {
    if (value <= most)
      return {};
    LUMINAL_TRY(field, document.root().at(name));
    return field.error("is more than the " + std::to_string(most) +
                       " of the device");
  };
  if (!model.blockThreads)
    return Error(path.str() + ": is no model of a GPU");
  LUMINAL_CHECK(
      checkMost("block_threads", model.blockThreads, device.blockThreads));
  LUMINAL_CHECK(
      checkMost("shared_bytes", model.sharedBytes, device.sharedBytes));
  LUMINAL_CHECK(checkMost("plain_shared_bytes", model.plainSharedBytes,
                          device.plainSharedBytes));
  LUMINAL_CHECK(checkMost("block_registers", model.blockRegisters,
                          device.blockRegisters));
  LUMINAL_CHECK(checkMost("thread_registers", model.threadRegisters,
                          device.threadRegisters));
  LUMINAL_CHECK(
      checkMost("has_warp_groups", model.hasWarpGroups, device.hasWarpGroups));
  if (model.warpThreads != device.warpThreads)
    return Error(path.str() + ": warp_threads: is not the device's");
  return model;
}

TargetKind luminal::getCUDAKind() {
  auto create = [](StringRef arch, StringRef machine,
                   std::string *error) -> std::unique_ptr<TargetInterface> {
    std::string name = arch.str();
    GPUFacts facts;
    if (arch == "native") {
      Result<runtime::Device *> device = runtime::openDevice("cuda");
      if (!device) {
        *error = "no GPU to compile for (" + device.error().message +
                 "); --arch names one, such as sm_90a or h200";
        return nullptr;
      }
      runtime::DeviceInfo info = (*device)->describe();
      name = info.arch;
      facts = getFacts(info);
    } else if (std::string_view known = MachineModel::getArchOfGPU(name);
               !known.empty()) {
      facts.name = name;
      name = known;
    }
    // Prefer the architecture variant with all instructions (sm_90a).
    std::string ignored;
    if (name != arch && isGPUArchitecture(name + "a", &ignored))
      name += "a";
    if (!isGPUArchitecture(name, error))
      return nullptr;
    MachineModel model = MachineModel::getGPU(name, facts);
    if (!machine.empty()) {
      Result<MachineModel> read = readModel(machine, model);
      if (!read) {
        *error = read.error().message;
        return nullptr;
      }
      model = *read;
    }
    return std::make_unique<CUDA>(name, model);
  };
  return {"cuda", create, registerLLIRToNVVMDialects, /*isCalibrated=*/false};
}
