//===- CPU.cpp - The processor as a target --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Targets.h"
#include "UserCode.h"
#include "luminal/Conversion/LLIRToLLVM.h"
#include "luminal/Runtime/CpuFeatures.h"
#include "luminal/Runtime/Machine.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Threading.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/TargetParser/Triple.h"

using namespace luminal;
using namespace mlir;

namespace {
class CPU : public TargetInterface {
public:
  explicit CPU(CPUTarget target) : target(std::move(target)) {}

  StringRef getName() const override { return "cpu"; }
  FailureOr<EmittedKernel>
  emit(llir::KernelOp kernel, StringRef symbol, ModuleOp dest,
       ArrayRef<hlir::SymbolEntry> symbols) const override;
  LogicalResult lower(ModuleOp module) const override {
    return lowerToLLVM(module);
  }
  FailureOr<TargetCode> compile(ModuleOp module,
                                unsigned threads) const override;
  Result<std::string> checkUserCode(const UserCode &code) const override;

protected:
  MachineModel getDeviceModel() const override { return target.getMachine(); }

private:
  runtime::TargetSpec getSpec(ModuleOp module) const;

  CPUTarget target;
};
} // namespace

/// Whether code uses the tile registers of AMX, which a system may refuse to a
/// process even where the processor has them.
static bool usesTiles(ModuleOp module) {
  WalkResult result = module.walk([](LLVM::CallIntrinsicOp op) {
    return op.getIntrin() == "llvm.x86.ldtilecfg" ? WalkResult::interrupt()
                                                  : WalkResult::advance();
  });
  return result.wasInterrupted();
}

runtime::TargetSpec CPU::getSpec(ModuleOp module) const {
  // Of those, what kernels use.
  static const StringRef ofTiles[] = {"amx-bf16", "amx-tile"};
  bool hasTiles = usesTiles(module);
  runtime::TargetSpec spec;
  spec.kind = getName();
  spec.arch = llvm::Triple(target.triple).getArchName().str();
  spec.cpu = target.cpu;
  SmallVector<StringRef> features;
  StringRef(target.features).split(features, ',', -1, /*KeepEmpty=*/false);
  for (StringRef feature : features)
    if (feature.consume_front("+") && runtime::isIsaFeature(feature.str()) &&
        (!feature.starts_with("amx-") ||
         (hasTiles && llvm::is_contained(ofTiles, feature))))
      spec.features.push_back(feature.str());
  llvm::sort(spec.features);
  return spec;
}

FailureOr<EmittedKernel> CPU::emit(llir::KernelOp kernel, StringRef symbol,
                                   ModuleOp dest,
                                   ArrayRef<hlir::SymbolEntry> symbols) const {
  FailureOr<KernelInfo> info =
      emitKernel(kernel, symbol, target, dest, symbols);
  if (failed(info))
    return failure();
  return EmittedKernel{llir::CPULaunchAttr::get(kernel.getContext(), info->work,
                                                info->grain, info->scratch,
                                                info->parallel),
                       {{"work", info->work.str()},
                        {"grain", info->grain.str()},
                        {"scratch", info->scratch.str()}},
                       std::move(info->requirements)};
}

/// Splits the functions over `parts` modules of about equal amounts of code.
static SmallVector<OwningOpRef<ModuleOp>> splitCode(ModuleOp module,
                                                    unsigned parts) {
  SmallVector<std::pair<uint64_t, LLVM::LLVMFuncOp>> functions;
  SmallVector<Operation *> shared;
  for (Operation &op : *module.getBody()) {
    auto func = dyn_cast<LLVM::LLVMFuncOp>(op);
    if (func && !func.isExternal()) {
      uint64_t size = 0;
      func.walk([&](Operation *) { ++size; });
      functions.push_back({size, func});
    } else if (!isa<llir::ScheduleOp>(op)) {
      shared.push_back(&op);
    }
  }
  // The largest first; equal sizes keep their order.
  SmallVector<unsigned> order = llvm::to_vector(
      llvm::seq<unsigned>(static_cast<unsigned>(functions.size())));
  llvm::sort(order, [&](unsigned a, unsigned b) {
    uint64_t sizeA = functions[a].first, sizeB = functions[b].first;
    return sizeA != sizeB ? sizeA > sizeB : a < b;
  });
  SmallVector<OwningOpRef<ModuleOp>> result;
  SmallVector<uint64_t> load(parts, 0);
  for (unsigned i = 0; i < parts; ++i)
    result.push_back(ModuleOp::create(module.getLoc()));
  for (unsigned i : order) {
    auto &[size, func] = functions[i];
    unsigned least = std::min_element(load.begin(), load.end()) - load.begin();
    load[least] += size;
    result[least]->push_back(func->clone());
  }
  // Declarations and constants are copied to each part.
  for (OwningOpRef<ModuleOp> &part : result)
    for (Operation *op : llvm::reverse(shared))
      part->getBody()->push_front(op->clone());
  return result;
}

FailureOr<TargetCode> CPU::compile(ModuleOp module, unsigned threads) const {
  // The split must not depend on the machine, or the output would.
  constexpr unsigned parts = 2;
  SmallVector<OwningOpRef<ModuleOp>> code = splitCode(module, parts);
  SmallVector<std::unique_ptr<llvm::MemoryBuffer>> objects(parts);
  auto compilePart = [&](size_t i) {
    objects[i] = compileToObject(*code[i], target);
    return success(objects[i] != nullptr);
  };
  MLIRContext &context = *module.getContext();
  LogicalResult compiled = success();
  if ((threads ? threads : context.getNumThreads()) > 1)
    compiled = failableParallelForEachN(&context, 0, parts, compilePart);
  else
    for (unsigned i = 0; i < parts && succeeded(compiled); ++i)
      compiled = compilePart(i);
  if (failed(compiled))
    return failure();
  SmallVector<llvm::MemoryBufferRef> refs;
  for (auto &object : objects)
    refs.push_back(object->getMemBufferRef());
  std::string reason;
  std::unique_ptr<llvm::MemoryBuffer> shared = linkSharedObject(refs, &reason);
  if (!shared)
    return emitError(module.getLoc()) << reason;
  return TargetCode{getSpec(module), {{"host.so", shared->getBuffer().str()}}};
}

Result<std::string> CPU::checkUserCode(const UserCode &code) const {
  llvm::Triple triple(target.triple);
  if (!code.arch.empty() && code.arch != triple.getArchName())
    return Error("is for '" + code.arch.str() + "', the target is '" +
                 triple.getArchName().str() + "'");
  LUMINAL_CHECK(
      checkElf(code, "shared object",
               llvm::ELF::convertArchNameToEMachine(triple.getArchName()),
               llvm::ELF::ET_DYN));
  return std::string("so");
}

TargetKind luminal::getCPUKind() {
  auto create = [](StringRef arch, StringRef machine,
                   std::string *error) -> std::unique_ptr<TargetInterface> {
    std::optional<MachineModel> model;
    if (arch == "native" && !machine.empty()) {
      auto read = runtime::readMachineModel(machine.str());
      if (!read) {
        *error = read.error().message;
        return nullptr;
      }
      model = *read;
    }
    std::optional<CPUTarget> target =
        CPUTarget::get(arch, error, model ? &*model : nullptr);
    if (!target)
      return nullptr;
    return std::make_unique<CPU>(std::move(*target));
  };
  return {"cpu", create, registerLLIRToLLVMDialects};
}
