//===- CPU.cpp - The processor as a target --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Targets.h"
#include "UserCode.h"
#include "luminal/Conversion/LLIRToLLVM.h"
#include "luminal/Conversion/RenameSymbol.h"
#include "luminal/Runtime/CpuFeatures.h"
#include "luminal/Runtime/Machine.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Threading.h"
#include "llvm/BinaryFormat/ELF.h"
#include "llvm/TargetParser/Triple.h"

#include <set>

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
  std::string describeObjects() const override;
  FailureOr<std::vector<KernelObject>>
  assemble(ModuleOp module, unsigned threads) const override;
  FailureOr<TargetCode>
  compile(ModuleOp module, unsigned threads,
          std::vector<KernelObject> objects) const override;
  Result<std::string> checkUserCode(const UserCode &code) const override;

protected:
  MachineModel getDeviceModel() const override { return target.getMachine(); }

private:
  runtime::TargetSpec getSpec(ArrayRef<KernelObject> objects) const;

  CPUTarget target;
};
} // namespace

/// The AMX features that the code uses. The artifact requires them because the
/// operating system may refuse them even if the processor has them.
static std::vector<std::string> findTileFeatures(ModuleOp module) {
  WalkResult result = module.walk([](LLVM::CallIntrinsicOp op) {
    return op.getIntrin() == "llvm.x86.ldtilecfg" ? WalkResult::interrupt()
                                                  : WalkResult::advance();
  });
  if (result.wasInterrupted())
    return {"amx-bf16", "amx-tile"};
  return {};
}

runtime::TargetSpec CPU::getSpec(ArrayRef<KernelObject> objects) const {
  std::set<std::string> used;
  for (const KernelObject &object : objects)
    used.insert(object.features.begin(), object.features.end());
  runtime::TargetSpec spec;
  spec.kind = getName();
  spec.arch = llvm::Triple(target.triple).getArchName().str();
  spec.cpu = target.cpu;
  SmallVector<StringRef> features;
  StringRef(target.features).split(features, ',', -1, /*KeepEmpty=*/false);
  for (StringRef feature : features)
    if (feature.consume_front("+") && runtime::isIsaFeature(feature.str()) &&
        (!feature.starts_with("amx-") || used.count(feature.str())))
      spec.features.push_back(feature.str());
  llvm::sort(spec.features);
  return spec;
}

std::string CPU::describeObjects() const {
  std::string text;
  llvm::raw_string_ostream(text)
      << target.triple << "\n"
      << target.cpu << "\n"
      << target.features << "\nvectors " << target.vectorBits << " x "
      << target.vectorRegisters << (target.hasPairs ? " pairs" : "")
      << (target.hasTiles ? " tiles" : "") << "\n"
      << target.getMachine().str() << "\n";
  return text;
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

/// Splits the code into modules with one function each, in order. Declarations
/// and constants are copied to each.
static std::vector<OwningOpRef<ModuleOp>> splitCode(ModuleOp module) {
  SmallVector<Operation *> shared;
  SmallVector<LLVM::LLVMFuncOp> functions;
  for (Operation &op : *module.getBody()) {
    auto func = dyn_cast<LLVM::LLVMFuncOp>(op);
    if (func && !func.isExternal())
      functions.push_back(func);
    else if (!isa<llir::ScheduleOp, func::FuncOp>(op))
      shared.push_back(&op);
  }
  std::vector<OwningOpRef<ModuleOp>> parts;
  for (LLVM::LLVMFuncOp func : functions) {
    ModuleOp part = *parts.emplace_back(ModuleOp::create(module.getLoc()));
    for (Operation *op : shared)
      part.push_back(op->clone());
    part.push_back(func->clone());
  }
  return parts;
}

/// The name of the function in every object, which therefore does not depend on
/// the kernel's number in a program.
static constexpr StringLiteral kFunctionName = "kernel";

FailureOr<std::vector<KernelObject>> CPU::assemble(ModuleOp module,
                                                   unsigned threads) const {
  std::vector<OwningOpRef<ModuleOp>> parts = splitCode(module);
  std::vector<KernelObject> objects(parts.size());
  // The largest modules are compiled first.
  std::vector<std::pair<int64_t, size_t>> order;
  for (auto [i, part] : llvm::enumerate(parts)) {
    int64_t size = 0;
    part->walk([&](Operation *) { ++size; });
    order.emplace_back(-size, i);
  }
  llvm::sort(order);
  auto assembleOne = [&](size_t next) {
    size_t i = order[next].second;
    auto func = cast<LLVM::LLVMFuncOp>(parts[i]->getBody()->back());
    objects[i].symbol = func.getSymName().str();
    objects[i].features = findTileFeatures(*parts[i]);
    func.setSymName(kFunctionName);
    auto object = compileToObject(*parts[i], target);
    if (!object)
      return failure();
    objects[i].bytes = object->getBuffer().str();
    return success();
  };
  MLIRContext &context = *module.getContext();
  if ((threads ? threads : context.getNumThreads()) > 1) {
    if (failed(
            failableParallelForEachN(&context, 0, parts.size(), assembleOne)))
      return failure();
  } else {
    for (size_t i = 0; i < parts.size(); ++i)
      if (failed(assembleOne(i)))
        return failure();
  }
  return objects;
}

FailureOr<TargetCode> CPU::compile(ModuleOp module, unsigned threads,
                                   std::vector<KernelObject> objects) const {
  FailureOr<std::vector<KernelObject>> own = assemble(module, threads);
  if (failed(own))
    return failure();
  llvm::append_range(objects, *own);
  std::string reason;
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> named;
  std::vector<llvm::MemoryBufferRef> refs;
  for (const KernelObject &object : objects) {
    named.push_back(
        renameSymbol(object.bytes, kFunctionName, object.symbol, &reason));
    if (!named.back())
      return emitError(module.getLoc()) << reason;
    refs.push_back(named.back()->getMemBufferRef());
  }
  // A program of library calls alone has an empty library.
  if (refs.empty()) {
    OwningOpRef<ModuleOp> none = ModuleOp::create(module.getLoc());
    named.push_back(compileToObject(*none, target));
    if (!named.back())
      return failure();
    refs.push_back(named.back()->getMemBufferRef());
  }
  std::unique_ptr<llvm::MemoryBuffer> shared = linkSharedObject(refs, &reason);
  if (!shared)
    return emitError(module.getLoc()) << reason;
  return TargetCode{getSpec(objects), {{"host.so", shared->getBuffer().str()}}};
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
  return {"cpu", create, registerLLIRToLLVMDialects, /*isCalibrated=*/true};
}
