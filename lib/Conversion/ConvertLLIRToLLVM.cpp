//===- ConvertLLIRToLLVM.cpp - Kernel functions to llvm functions ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   func.func private @k0(%x) { kernel(%x) }  -->  llvm.func @k0(...)
//   step @k0(%b) writes(%c)                       -->  step ... launch <...>
//
// Tested by test/Conversion/LLIRToLLVM.
//
//===----------------------------------------------------------------------===//

#include "luminal/Conversion/KernelObjects.h"
#include "luminal/Conversion/Passes.h"
#include "luminal/Dialect/LLIR/Utils/Remarks.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"

namespace luminal {
#define GEN_PASS_DEF_CONVERTLLIRTOLLVMPASS
#include "luminal/Conversion/Passes.h.inc"
} // namespace luminal

#define DEBUG_TYPE "convert-llir-to-llvm"

using namespace mlir;
using namespace luminal;

namespace {
class ConvertLLIRToLLVM
    : public luminal::impl::ConvertLLIRToLLVMPassBase<ConvertLLIRToLLVM> {
public:
  using ConvertLLIRToLLVMPassBase::ConvertLLIRToLLVMPassBase;
  ConvertLLIRToLLVM(ConvertLLIRToLLVMPassOptions options,
                    KernelObjects *objects)
      : ConvertLLIRToLLVMPassBase(std::move(options)), objects(objects) {}
  void getDependentDialects(DialectRegistry &registry) const override {
    ConvertLLIRToLLVMPassBase::getDependentDialects(registry);
    registerTargetDialects(registry);
  }
  void runOnOperation() override;

private:
  /// A kernel that is being compiled.
  struct Task {
    func::FuncOp func;
    llir::KernelOp kernel;
    /// Key in the store of objects.
    std::string key;
    FinishedKernel made;
    bool isKnown = false;
  };
  LogicalResult assemble(std::vector<Task> &tasks, ModuleOp code,
                         const TargetInterface &device);

  /// If null, the code stays in the module.
  KernelObjects *objects = nullptr;
};
} // namespace

/// The kernel of a function that contains nothing else, or null.
static llir::KernelOp getOnlyKernel(func::FuncOp func) {
  if (func.isDeclaration() || !llvm::hasSingleElement(func.getBody()))
    return {};
  auto body = func.getBody().front().without_terminator();
  if (!llvm::hasSingleElement(body))
    return {};
  return dyn_cast<llir::KernelOp>(*body.begin());
}

/// The symbols that a kernel's function declares.
static ArrayRef<hlir::SymbolEntry> getSymbols(func::FuncOp func) {
  auto table = func->getAttrOfType<hlir::SymbolsAttr>(hlir::kSymbolsAttr);
  return table ? table.getEntries() : ArrayRef<hlir::SymbolEntry>();
}

/// Reports the launch of a kernel as a remark.
static void tellLaunch(llir::KernelOp kernel, StringRef symbol,
                       const EmittedKernel &code, StringRef pass) {
  Reporter reporter(kernel.getContext(), pass, symbol);
  if (!reporter.isListening())
    return;
  SmallVector<Reporter::Arg> args = {{"kernel", describe(kernel)}};
  llvm::append_range(args, code.remark);
  reporter.analysis(kernel.getLoc(), "launch", args);
}

/// Checks that a step provides the workspace that the kernel's schedule needs.
static LogicalResult
checkWorkspace(llir::StepOp step,
               const std::optional<llir::Workspace> &workspace) {
  if (step.getWorkspace().empty() != !workspace.has_value())
    return step.emitOpError()
           << (workspace ? "has no workspace, which the parts of "
                         : "has a workspace, and no case of ")
           << *step.getCallee() << (workspace ? " need" : " has parts");
  if (!workspace)
    return success();
  Assumptions symbols = hlir::getAssumptions(step);
  const Expr sizes[] = {workspace->states, workspace->counters};
  for (auto [buffer, bytes] : llvm::zip_equal(step.getWorkspace(), sizes)) {
    auto op = buffer.getDefiningOp<llir::BufferOpInterface>();
    Expr needed = symbols.simplify(bytes),
         found = symbols.simplify(op.getSize());
    if (needed != found && !symbols.provablyLessEqual(needed, found))
      return step.emitOpError()
             << "has a workspace of " << found.str() << " bytes, "
             << *step.getCallee() << " needs " << needed.str();
  }
  return success();
}

/// Assembles and stores the objects of the kernels in `code`, which were not in
/// the store.
LogicalResult ConvertLLIRToLLVM::assemble(std::vector<Task> &tasks,
                                          ModuleOp code,
                                          const TargetInterface &device) {
  FailureOr<std::vector<KernelObject>> made =
      device.assemble(code, objects->threads);
  if (failed(made))
    return failure();
  auto next = made->begin();
  for (Task &task : tasks) {
    if (task.isKnown) {
      ++objects->numKnown;
    } else {
      task.made.object = std::move(*next++);
      objects->store.keep(
          task.key, task.made.str(hlir::describePlace(task.kernel.getLoc()),
                                  &getContext()));
    }
    objects->objects.push_back(std::move(task.made.object));
  }
  return success();
}

void ConvertLLIRToLLVM::runOnOperation() {
  ModuleOp module = getOperation();
  std::unique_ptr<TargetInterface> device =
      createTarget(module, target, arch, machine);
  if (!device)
    return signalPassFailure();
  OwningOpRef<ModuleOp> code = ModuleOp::create(module.getLoc());
  std::vector<Task> tasks;
  llvm::StringMap<std::optional<llir::Workspace>> workspaces;
  for (auto func : module.getOps<func::FuncOp>()) {
    llir::KernelOp kernel = getOnlyKernel(func);
    if (!kernel)
      continue;
    Task &task = tasks.emplace_back(Task{func, kernel, {}, {}});
    StringRef name = func.getSymName();
    if (objects) {
      task.key = getObjectKey(func, *device);
      if (std::optional<std::string> entry = objects->store.find(task.key))
        if (auto known = FinishedKernel::parse(
                *entry, name, hlir::describePlace(kernel.getLoc()),
                &getContext())) {
          task.made = std::move(*known);
          task.isKnown = true;
        }
    }
    if (!task.isKnown) {
      FailureOr<EmittedKernel> made =
          device->emit(kernel, name, *code, getSymbols(func));
      if (failed(made))
        return signalPassFailure();
      task.made.emitted = std::move(*made);
    }
    tellLaunch(kernel, name, task.made.emitted, DEBUG_TYPE);
    workspaces[name] =
        llir::getWorkspace(kernel, hlir::getAssumptions(func).getSymbols());
  }
  if (!keepLoops && failed(device->lower(*code)))
    return signalPassFailure();
  if (objects && failed(assemble(tasks, *code, *device)))
    return signalPassFailure();
  /// By kernel, in module order.
  SmallVector<std::pair<StringAttr, SmallVector<Requirement>>> requirements;
  llvm::StringMap<EmittedKernel> emitted;
  for (Task &task : tasks) {
    SmallVector<Requirement> own;
    hlir::addRequirements(own, task.made.emitted.requirements);
    requirements.push_back({task.func.getSymNameAttr(), std::move(own)});
    emitted[task.func.getSymName()] = std::move(task.made.emitted);
    if (objects)
      task.func.eraseBody();
    else
      task.func.erase();
  }
  if (!objects) {
    Block &body = *module.getBody();
    body.getOperations().splice(body.end(), code->getBody()->getOperations());
  }
  for (auto schedule : module.getOps<llir::ScheduleOp>()) {
    llvm::StringSet<> called;
    for (auto step : schedule.getBody().getOps<llir::StepOp>())
      called.insert(step.getCallee().value_or(""));
    SmallVector<Requirement> all = hlir::getRequirements(schedule);
    for (const auto &[kernel, own] : requirements)
      if (called.contains(kernel))
        hlir::addRequirements(all, own);
    hlir::setRequirements(schedule, all);
  }
  auto given = module.walk([&](llir::StepOp step) {
    auto it = emitted.find(step.getCallee().value_or(""));
    if (it == emitted.end())
      return WalkResult::advance();
    step.setLaunchAttr(it->second.launch);
    return WalkResult(checkWorkspace(step, workspaces[*step.getCallee()]));
  });
  if (given.wasInterrupted())
    signalPassFailure();
}

std::unique_ptr<Pass>
luminal::createConvertLLIRToLLVMPass(ConvertLLIRToLLVMPassOptions options,
                                     KernelObjects *objects) {
  return std::make_unique<ConvertLLIRToLLVM>(std::move(options), objects);
}
