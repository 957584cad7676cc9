//===- Pipelines.cpp - The phases of a compile, by name -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Pipelines/Pipelines.h"
#include "luminal/Conversion/KernelObjects.h"
#include "luminal/Conversion/Passes.h"
#include "luminal/Conversion/Target.h"
#include "luminal/Dialect/HLIR/Transforms/Passes.h"
#include "luminal/Dialect/LLIR/Transforms/Passes.h"
#include "luminal/EqSat/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace luminal;

static constexpr StringLiteral kPhaseNames[] = {
    "imported",  "rolled",  "saturated", "fused",
    "scheduled", "lowered", "binary"};

StringRef luminal::getPhaseName(Phase phase) {
  return kPhaseNames[static_cast<unsigned>(phase)];
}

std::optional<Phase> luminal::getPhase(StringRef name) {
  for (auto [i, known] : llvm::enumerate(kPhaseNames))
    if (known == name)
      return static_cast<Phase>(i);
  return std::nullopt;
}

Phase luminal::getPhase(ModuleOp module) {
  bool hasCode = true, hasSchedule = false, hasKernels = false;
  bool hasLoops = true;
  bool hasFlat = false, hasHLIR = false, hasRepeat = false;
  module.walk([&](Operation *op) {
    if (isa<llir::ScheduleOp>(op))
      hasSchedule = true;
    else if (auto step = dyn_cast<llir::StepOp>(op))
      hasCode &= step.getLaunch().has_value();
    else if (auto kernel = dyn_cast<llir::KernelOp>(op)) {
      hasKernels = true;
      hasLoops &= kernel.getLoops().has_value();
    } else if (auto repeat = dyn_cast<hlir::RepeatOp>(op)) {
      // An imported program may already have loops over rows.
      hasRepeat |= repeat.getRows().empty();
      hasHLIR = true;
    } else if (isa_and_nonnull<hlir::HLIRDialect>(op->getDialect()))
      hasHLIR = true;
    else if (isa_and_nonnull<llir::LLIRDialect>(op->getDialect()))
      hasFlat = true;
  });
  if (hasSchedule)
    return hasCode    ? Phase::Lowered
           : hasLoops ? Phase::Scheduled
                      : Phase::Fused;
  if (hasHLIR)
    return hasRepeat ? Phase::Rolled : Phase::Imported;
  if (hasKernels)
    return hasLoops ? Phase::Scheduled : Phase::Fused;
  return hasFlat ? Phase::Saturated : Phase::Imported;
}

/// Sets the device options of a pass.
template <typename PassOptions>
static void setDevice(PassOptions &pass, const PipelineOptions &options) {
  pass.target = options.target;
  pass.arch = options.arch;
  pass.machine = options.machine;
}

void luminal::addWithoutLoops(OpPassManager &pm) {
  pm.addNestedPass<func::FuncOp>(llir::createFormRecurrencesPass());
  // The later passes handle each trip of the other loops separately.
  pm.addNestedPass<func::FuncOp>(hlir::createUnrollLoopsPass());
}

LogicalResult luminal::addPhases(OpPassManager &pm, Phase from, Phase to,
                                 const PipelineOptions &options,
                                 std::string *error) {
  // Only an unknown kind of device is an error here; the passes report an
  // unavailable device.
  if (llvm::none_of(getTargetKinds(), [&](const TargetKind &kind) {
        return kind.name == options.target;
      })) {
    (void)createTarget(options.target, options.arch, options.machine, error);
    return failure();
  }
  if (options.roll != "on" && options.roll != "off") {
    *error = "roll=" + options.roll + " is neither on nor off";
    return failure();
  }
  if (options.fuse != "stages" && options.fuse != "kernels" &&
      options.fuse != "ops") {
    *error = "fuse=" + options.fuse + " is neither stages, kernels nor ops";
    return failure();
  }
  auto passes = [&](Phase phase) { return from < phase && to >= phase; };
  // Create the device only for phases that use it: a local device needs a file
  // or a driver.
  std::unique_ptr<TargetInterface> device;
  if (passes(Phase::Saturated) || passes(Phase::Fused)) {
    std::string ignored;
    device = createTarget(options.target, options.arch, options.machine,
                          &ignored, options.workers);
  }
  MachineModel machine = device ? device->getMachine() : MachineModel();

  // In every phase: code is generated only for indices that are proved in
  // bounds.
  if (to > from && to > Phase::Rolled)
    pm.addPass(llir::createCheckIndicesPass());
  // Kernels given as text state themselves which indices from tensors are
  // `checked`; do not trust that.
  if (from == Phase::Fused && to > from)
    pm.addNestedPass<func::FuncOp>(llir::createProveIndicesPass());
  // The kernels may have been written by hand.
  if ((from == Phase::Fused || from == Phase::Scheduled) && to > from)
    pm.addNestedPass<func::FuncOp>(llir::createCheckKernelsPass());

  // 1. imported -> rolled: repeated subgraphs become loops.
  if (passes(Phase::Rolled) && options.roll == "on")
    pm.addNestedPass<func::FuncOp>(hlir::createRollLoopsPass());

  // 2. rolled -> saturated: extract the cheapest equal program, in LLIR only.
  if (passes(Phase::Saturated)) {
    pm.addNestedPass<func::FuncOp>(hlir::createSplitLoopsPass());
    if (!options.kernels.empty()) {
      DeclareKernelsPassOptions declare;
      setDevice(declare, options);
      llvm::append_range(declare.kernels, options.kernels);
      llvm::append_range(declare.rules, options.rules);
      pm.addPass(createDeclareKernelsPass(declare));
    }
    eqsat::SaturatePassOptions saturate;
    llvm::append_range(saturate.ruleFiles, options.rules);
    if (options.ruleSets.size() == 1 && options.ruleSets[0] == "none")
      saturate.noRuleSets = true;
    else
      llvm::append_range(saturate.ruleSets, options.ruleSets);
    saturate.seed = options.seed;
    saturate.precision = options.precision;
    saturate.maxUlps = options.maxUlps;
    saturate.report = options.eqsatReport;
    saturate.explain = options.eqsatExplain;
    llvm::append_range(saturate.explainValues, options.eqsatExplainValues);
    eqsat::Limits limits;
#define LUMINAL_EQSAT_LIMIT(TYPE, FIELD, NAME, DEFAULT, TEXT)                  \
  limits.FIELD = options.FIELD;
#include "luminal/EqSat/Core/Limits.def"
    pm.addPass(eqsat::createSaturatePass(saturate, limits, machine,
                                         options.keepSession));
    addWithoutLoops(pm);
  }

  // 3. saturated -> fused: form kernels, and update states in place.
  if (passes(Phase::Fused)) {
    pm.addNestedPass<func::FuncOp>(llir::createProveIndicesPass());
    pm.addNestedPass<func::FuncOp>(llir::createFindSegmentsPass());
    const double workers = machine.getLeastWorkers();
    // For GPUs, the gain of sorting rows has not been measured.
    if (machine.blockThreads) {
      llir::UnsortRowsPassOptions unsort;
      unsort.readRate = machine.getReadRate(workers);
      unsort.operationRate = machine.operationRate;
      unsort.kernelTime = machine.getKernelTime();
      pm.addNestedPass<func::FuncOp>(llir::createUnsortRowsPass(unsort));
    } else {
      llir::SortRowsPassOptions sort;
      sort.readRate = std::max(machine.getReadRate(workers),
                               workers * machine.getCacheRate());
      sort.operationRate = machine.operationRate;
      sort.kernelTime = machine.getKernelTime();
      pm.addNestedPass<func::FuncOp>(llir::createSortRowsPass(sort));
    }
    llir::PrepareWeightsPassOptions prepare;
    prepare.prepareBytes = options.prepareBytes;
    prepare.share = device ? device->getPrepareShare() : 0.0;
    // A GPU recomputes values that are not prepared for each element that reads
    // them. Use the default model, in which a byte costs as much as two
    // operations.
    const MachineModel &prices =
        machine.blockThreads ? MachineModel() : machine;
    prepare.readRate = prices.readRate;
    prepare.operationRate = prices.operationRate;
    pm.addNestedPass<func::FuncOp>(llir::createPrepareWeightsPass(prepare));
    llir::ExpandRowFunctionsPassOptions expand;
    // Stages need on-chip memory.
    const int64_t chipBytes =
        options.fuse == "stages" ? machine.getChipBytes() : 0;
    const int64_t sharedBytes =
        options.fuse == "stages" ? machine.sharedBytes : 0;
    expand.chipBytes = chipBytes;
    expand.sharedBytes = sharedBytes;
    pm.addNestedPass<func::FuncOp>(llir::createExpandRowFunctionsPass(expand));
    llir::ExpandUpdatesPassOptions updates;
    updates.blockThreads = machine.blockThreads;
    updates.isExact = options.precision == "exact";
    pm.addNestedPass<func::FuncOp>(llir::createExpandUpdatesPass(updates));
    JoinWeightsPassOptions columns;
    setDevice(columns, options);
    columns.prepareBytes = options.prepareBytes;
    if (options.fuse == "stages")
      pm.addNestedPass<func::FuncOp>(createJoinWeightsPass(columns));
    ChooseLayoutsPassOptions layouts;
    setDevice(layouts, options);
    layouts.workers = options.workers;
    layouts.prepareBytes = options.prepareBytes;
    pm.addNestedPass<func::FuncOp>(createChooseLayoutsPass(layouts));
    CallLibrariesPassOptions libraries;
    setDevice(libraries, options);
    libraries.library = options.library;
    libraries.precision = options.precision;
    pm.addNestedPass<func::FuncOp>(createCallLibrariesPass(libraries));
    if (options.fuse == "stages") {
      llir::SplitProductsPassOptions parts;
      parts.blockThreads = machine.blockThreads;
      pm.addNestedPass<func::FuncOp>(llir::createSplitProductsPass(parts));
      llir::JoinProductsPassOptions products;
      products.blockThreads = machine.blockThreads;
      pm.addNestedPass<func::FuncOp>(llir::createJoinProductsPass(products));
    }
    PackWeightsPassOptions pack;
    setDevice(pack, options);
    pack.workers = options.workers;
    pack.prepareBytes = options.prepareBytes;
    pm.addNestedPass<func::FuncOp>(createPackWeightsPass(pack));
    if (options.fuse == "stages")
      pm.addNestedPass<func::FuncOp>(llir::createFormConcatsPass());
    llir::FuseKernelsPassOptions fuse;
    fuse.chipBytes = chipBytes;
    fuse.sharedBytes = sharedBytes;
    // A single op always forms a kernel, whatever the budget.
    if (options.fuse == "ops")
      fuse.codeBudget = 1;
    pm.addNestedPass<func::FuncOp>(llir::createFuseKernelsPass(fuse));
    if (options.fuse == "stages") {
      JoinElementsPassOptions elements;
      setDevice(elements, options);
      pm.addNestedPass<func::FuncOp>(createJoinElementsPass(elements));
      JoinRowsPassOptions rows;
      setDevice(rows, options);
      rows.workers = options.workers;
      pm.addNestedPass<func::FuncOp>(createJoinRowsPass(rows));
    }
    llir::ExpandOrdersPassOptions orders;
    orders.workers = machine.workers;
    orders.blockThreads = machine.blockThreads;
    pm.addNestedPass<func::FuncOp>(llir::createExpandOrdersPass(orders));
    llir::UpdateInPlacePassOptions inPlace;
    inPlace.blockThreads = machine.blockThreads;
    pm.addNestedPass<func::FuncOp>(llir::createUpdateInPlacePass(inPlace));
    if (options.fuse == "stages")
      pm.addNestedPass<func::FuncOp>(llir::createConcatInPlacePass());
    pm.addNestedPass<func::FuncOp>(llir::createAliasSlicesPass());
    pm.addNestedPass<func::FuncOp>(llir::createCheckKernelsPass());
  }

  // 4. fused -> scheduled: choose how each kernel runs. Schedules written by
  // hand are verified before anything reads them.
  if (passes(Phase::Scheduled) ||
      (from == Phase::Scheduled && passes(Phase::Lowered))) {
    ScheduleKernelsPassOptions schedule;
    setDevice(schedule, options);
    schedule.workers = options.workers;
    schedule.precision = options.precision;
    pm.addPass(createScheduleKernelsPass(schedule));
  }
  if (passes(Phase::Scheduled)) {
    if (options.fuse == "stages") {
      SequenceKernelsPassOptions sequence;
      setDevice(sequence, options);
      sequence.workers = options.workers;
      pm.addNestedPass<func::FuncOp>(createSequenceKernelsPass(sequence));
    }
    // Sequencing splits kernels.
    pm.addNestedPass<func::FuncOp>(llir::createCheckKernelsPass());
  }

  // 5. scheduled -> lowered: plan memory and generate launches and code.
  if (passes(Phase::Lowered)) {
    pm.addNestedPass<func::FuncOp>(llir::createWriteStatesPass());
    pm.addPass(llir::createPlanMemoryPass());
    ConvertLLIRToLLVMPassOptions convert;
    setDevice(convert, options);
    pm.addPass(createConvertLLIRToLLVMPass(convert, options.objects));
  }
  return success();
}

namespace {
/// Reports bad options of the pipeline at the module, since a pipeline itself
/// cannot emit errors.
struct RefuseOptions : PassWrapper<RefuseOptions, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RefuseOptions)
  RefuseOptions(std::string problem) : problem(std::move(problem)) {}
  void runOnOperation() override {
    emitError(getOperation().getLoc()) << "luminal-pipeline: " << problem;
    signalPassFailure();
  }
  std::string problem;
};
} // namespace

static LogicalResult buildPipeline(OpPassManager &pm, StringRef text) {
  PipelineOptions options;
  std::string error;
  llvm::raw_string_ostream stream(error);
  if (succeeded(options.parseFromString(text, stream))) {
    std::optional<Phase> from = getPhase(StringRef(options.from));
    std::optional<Phase> until = getPhase(StringRef(options.until));
    if (from && until && *from > *until)
      error = "from=" + options.from + " is later than until=" + options.until;
    else if (from && until && *until != Phase::Binary &&
             succeeded(addPhases(pm, *from, *until, options, &error)))
      return success();
    if (error.empty())
      error = "no phase '" + (from ? options.until : options.from) +
              "'; known are: imported, rolled, saturated, fused, "
              "scheduled, lowered";
  }
  pm.addPass(std::make_unique<RefuseOptions>(StringRef(error).trim().str()));
  return success();
}

void luminal::registerPipelines() {
  registerPassPipeline(
      "luminal-pipeline",
      "Brings a program from one phase to another (docs/Architecture.md)",
      [](OpPassManager &pm, StringRef text,
         function_ref<LogicalResult(const Twine &)>) {
        return buildPipeline(pm, text);
      },
      [](function_ref<void(const mlir::detail::PassOptions &)> handle) {
        handle(PipelineOptions());
      });
}
