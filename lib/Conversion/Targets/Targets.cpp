//===- Targets.cpp - The kinds of devices ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Targets.h"

using namespace luminal;
using namespace mlir;

TargetInterface::~TargetInterface() = default;

runtime::LaunchSpec luminal::toLaunchSpec(llir::LaunchAttrInterface launch) {
  std::optional<runtime::LaunchSpec> spec = runtime::makeLaunch(
      launch.getTargetName().str(), launch.getLibrary().str());
  assert(spec && "a launch of a target without artifacts");
  SmallVector<llir::LaunchField> fields = launch.getFields();
  runtime::visitFields(*spec, [&](std::string_view name, auto &value) {
    using Value = std::remove_reference_t<decltype(value)>;
    auto isNamed = [&](const llir::LaunchField &f) {
      return f.name == StringRef(name);
    };
    if constexpr (std::is_same_v<Value, std::vector<Expr>>) {
      for (const llir::LaunchField &field :
           llvm::make_filter_range(fields, isNamed))
        value.push_back(std::get<Expr>(field.value));
    } else {
      auto *field = llvm::find_if(fields, isNamed);
      assert(field != fields.end() && "a launch without a field");
      value = std::get<Value>(field->value);
    }
  });
  return *spec;
}

MachineModel TargetInterface::getMachine() const {
  MachineModel machine = getDeviceModel();
  if (workers)
    machine.workers = workers;
  // bf16 pairs and tiles flush denormals.
  if (isExact)
    machine.pairRate = machine.tileRate = 0;
  return machine;
}

llir::ProposedLoops
TargetInterface::propose(llir::KernelOp kernel,
                         const KernelAnalysis::SymbolRanges &ranges) const {
  return llir::proposeLoops(kernel, ranges, getMachine());
}

SmallVector<llir::ProposedLoops>
TargetInterface::proposeAll(llir::KernelOp kernel,
                            const KernelAnalysis::SymbolRanges &ranges) const {
  return llir::proposeAllLoops(kernel, ranges, getMachine());
}

SmallVector<llir::ProposedLoops>
TargetInterface::refine(llir::KernelOp kernel, llir::LoopsAttr loops,
                        const KernelAnalysis::SymbolRanges &ranges) const {
  return llir::getNeighbours(kernel, loops, ranges, getMachine());
}

LogicalResult
TargetInterface::verify(llir::KernelOp kernel,
                        const KernelAnalysis::SymbolRanges &ranges) const {
  return llir::verifyLoops(kernel, ranges, getMachine());
}

FailureOr<std::vector<KernelObject>> TargetInterface::assemble(ModuleOp module,
                                                               unsigned) const {
  return module.emitError()
         << "kernels have no objects of their own on " << getName();
}

llvm::ArrayRef<TargetKind> luminal::getTargetKinds() {
  static const TargetKind kinds[] = {getCPUKind(), getCUDAKind()};
  return kinds;
}

std::string luminal::listTargetKinds() {
  return llvm::join(
      llvm::map_range(getTargetKinds(),
                      [](const TargetKind &kind) { return kind.name.str(); }),
      ", ");
}

std::unique_ptr<TargetInterface>
luminal::createTarget(StringRef name, StringRef arch, StringRef machine,
                      std::string *error, unsigned workers) {
  for (const TargetKind &kind : getTargetKinds())
    if (kind.name == name) {
      std::unique_ptr<TargetInterface> device =
          kind.create(arch, machine, error);
      if (device)
        device->setWorkers(workers);
      return device;
    }
  *error = "no code for the target '" + name.str() +
           "'; known are: " + listTargetKinds();
  return nullptr;
}

std::unique_ptr<TargetInterface>
luminal::createTarget(Operation *op, StringRef name, StringRef arch,
                      StringRef machine, unsigned workers) {
  std::string error;
  std::unique_ptr<TargetInterface> device =
      createTarget(name, arch, machine, &error, workers);
  if (!device)
    op->emitError(error);
  return device;
}

void luminal::registerTargetDialects(DialectRegistry &registry) {
  for (const TargetKind &kind : getTargetKinds())
    kind.registerDialects(registry);
}
