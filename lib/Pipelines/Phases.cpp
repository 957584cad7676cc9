//===- Phases.cpp - From one phase to a later one -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Phases.h"
#include "luminal/Conversion/UserKernels.h"
#include "luminal/Dialect/HLIR/Transforms/Passes.h"
#include "luminal/Support/MemoryFile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Transforms/Passes.h"

#include <limits>

using namespace mlir;
using namespace luminal;

LogicalResult luminal::runPhases(ModuleOp module, Phase from, Phase to,
                                 const CompileOptions &options,
                                 StringRef machine, const PhaseFiles &files) {
  PipelineOptions pipeline;
  pipeline.target = options.target;
  pipeline.arch = options.arch;
  pipeline.machine = machine.str();
  pipeline.workers = options.workers;
  pipeline.library = options.library;
  pipeline.roll = options.roll;
  pipeline.fuse = options.fuse;
  pipeline.seed = options.seed;
  pipeline.prepareBytes = options.prepareBytes;
  pipeline.precision = options.precision;
  pipeline.maxUlps = options.maxUlps;
#define LUMINAL_EQSAT_LIMIT(TYPE, FIELD, NAME, DEFAULT, TEXT)                  \
  pipeline.FIELD = options.limits.FIELD;
#include "luminal/EqSat/Core/Limits.def"
  for (const std::string &name : options.ruleSets)
    pipeline.ruleSets.push_back(name);
  for (const std::string &file : options.rules)
    pipeline.rules.push_back(file);
  for (const std::string &file : options.kernels)
    pipeline.kernels.push_back(file);
  pipeline.eqsatReport = files.saturation;
  pipeline.eqsatExplain = files.explanation;
  pipeline.keepSession = files.keepSession;
  pipeline.objects = files.objects;
  for (const std::string &name : options.explainValues)
    pipeline.eqsatExplainValues.push_back(name);
  PassManager pm(module.getContext());
  std::string reason;
  auto error = [&] {
    return emitError(
        FileLineColLoc::get(module.getContext(), options.input, 0, 0));
  };
  if (failed(addPhases(pm, from, to, pipeline, &reason)))
    return error() << reason;
  if (options.configure && failed(options.configure(pm)))
    return error() << "bad pass manager options";
  // Verify once at the end of a phase; luminal-opt verifies after each pass.
  pm.enableVerifier(false);
  if (failed(pm.run(module)))
    return failure();
  return verify(module);
}

LogicalResult luminal::narrowSymbols(ModuleOp module, StringRef ranges,
                                     const CompileOptions &options) {
  hlir::NarrowSymbolsPassOptions narrow;
  SmallVector<StringRef> texts;
  ranges.split(texts, ',');
  for (StringRef text : texts)
    narrow.ranges.push_back(text.str());
  PassManager pm(module.getContext());
  pm.addNestedPass<func::FuncOp>(hlir::createNarrowSymbolsPass(narrow));
  pm.addPass(createCanonicalizerPass());
  if (options.configure && failed(options.configure(pm)))
    return emitError(
               FileLineColLoc::get(module.getContext(), options.input, 0, 0))
           << "bad pass manager options";
  return pm.run(module);
}

std::string luminal::getWeightsPath(const CompileOptions &options) {
  if (!options.weights.empty())
    return options.weights;
  bool isArchive =
      !options.inputBytes && StringRef(options.input).ends_with(".pt2");
  return isArchive ? options.input : std::string();
}

std::string luminal::printModule(ModuleOp module, Locations locations) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  constexpr int64_t unlimited = std::numeric_limits<int64_t>::max();
  module->print(stream, OpPrintingFlags()
                            .enableDebugInfo(locations == Locations::Yes)
                            .elideLargeElementsAttrs(unlimited)
                            .elideLargeResourceString(unlimited));
  return text;
}

FailureOr<TargetCode> luminal::compileCode(ModuleOp module,
                                           const CompileOptions &options,
                                           const TargetInterface &target,
                                           std::vector<KernelObject> objects) {
  FailureOr<TargetCode> code =
      target.compile(module, options.threads, std::move(objects));
  if (failed(code))
    return failure();
  FailureOr<UserKernels> kernels =
      UserKernels::load(module.getContext(), options.kernels, &target);
  if (failed(kernels) || failed(kernels->addCode(module, *code)))
    return failure();
  return code;
}

FailureOr<std::vector<std::shared_ptr<const runtime::Artifact>>>
luminal::makeArtifacts(ModuleOp module, Phase from,
                       const CompileOptions &options, StringRef machine,
                       const TargetInterface &target,
                       const std::string &weights) {
  if (failed(runPhases(module, from, Phase::Lowered, options, machine)))
    return failure();
  FailureOr<TargetCode> code = compileCode(module, options, target);
  if (failed(code))
    return failure();
  ArtifactOptions artifact;
  artifact.code = std::move(*code);
  std::vector<std::shared_ptr<const runtime::Artifact>> loaded;
  for (llir::ScheduleOp program : getPrograms(module)) {
    Result<MemoryFile> file = MemoryFile::create();
    if (!file)
      return program.emitError(file.error().message);
    if (failed(writeArtifact(program, artifact, file->getPath())))
      return failure();
    runtime::LoadOptions load;
    load.weightsPath = weights;
    load.findWeightsFile = false;
    Result<std::shared_ptr<const runtime::Artifact>> made =
        runtime::Artifact::load(file->getPath(), load);
    if (!made)
      return program.emitError(made.error().message);
    loaded.push_back(std::move(*made));
  }
  return loaded;
}
