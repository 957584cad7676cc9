//===- Compile.cpp - The whole compile as one function --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Pipelines/Compile.h"
#include "CompileReport.h"
#include "FindVariants.h"
#include "KernelCheck.h"
#include "Phases.h"
#include "PlannedKernels.h"
#include "Roofline.h"
#include "RulePromises.h"
#include "SampleInputs.h"
#include "ScheduleNotes.h"
#include "SearchProgram.h"
#include "luminal/Dialect/HLIR/Utils/Reporter.h"
#include "luminal/Dialect/LLIR/Transforms/Preparation.h"
#include "luminal/Dialect/LLIR/Utils/Variants.h"
#include "luminal/Runtime/Machine.h"
#include "luminal/Runtime/Weights.h"
#include "luminal/Support/MemoryFile.h"
#include "luminal/Support/OutputFile.h"
#include "luminal/Support/SafeTensors.h"
#include "luminal/Support/SimplifyMemo.h"
#include "luminal/Target/Artifact.h"
#include "luminal/Target/PT2.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <chrono>

using namespace mlir;
using namespace luminal;

namespace {
class Compiler {
public:
  Compiler(MLIRContext &context, const CompileOptions &options)
      : context(context), options(options) {}

  LogicalResult run();

private:
  template <typename Fn>
  LogicalResult measure(StringRef name, Fn fn);
  LogicalResult runPhase(Phase from, Phase to);
  PhaseFiles getFiles() const;
  LogicalResult openKernels();
  bool searches(Phase phase, Phase last) const;
  LogicalResult search(Phase from);
  LogicalResult bring(Phase from, Phase last);
  LogicalResult bringBeside(ArrayRef<func::FuncOp> others, Phase from,
                            Phase last);
  LogicalResult compileVariants(Phase from, Phase last);
  LogicalResult readSamples();
  void readSamplesOfArchive(func::FuncOp func);
  void findMachine();
  LogicalResult emitText();
  LogicalResult emitArtifact();
  LogicalResult openWeights(ArtifactOptions &artifact);
  LogicalResult checkArtifact(llir::ScheduleOp program,
                              const ArtifactOptions &artifact);
  std::string nameRules();
  LogicalResult emitOutput();
  LogicalResult check(Status status);
  InFlightDiagnostic error() {
    return emitError(FileLineColLoc::get(&context, options.input, 0, 0));
  }

  MLIRContext &context;
  CompileOptions options;
  std::unique_ptr<TargetInterface> target;
  /// File with the model of this machine; empty if none is used.
  std::string machine;
  OwningOpRef<ModuleOp> module;
  /// For checking kernels: the module as it was read, and as it was scheduled.
  OwningOpRef<ModuleOp> original, scheduled;
  SampleInputs samples;
  CompileReport report;
  /// " of s=1" while the variant s=1 is compiled.
  std::string part;
  /// Stores code of kernels, if that is possible.
  std::unique_ptr<PlannedKernels> kernels;
  std::optional<KernelObjects> objects;
  /// Files that passes write.
  std::optional<MemoryFile> saturation, explanation;
};
} // namespace

template <typename Fn>
LogicalResult Compiler::measure(StringRef name, Fn fn) {
  if (options.progress)
    options.progress((name + part).str());
  auto begin = std::chrono::steady_clock::now();
  LogicalResult result = fn();
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  report.phases.push_back({(name + part).str(), took.count()});
  return result;
}

//===----------------------------------------------------------------------===//
// Phases
//===----------------------------------------------------------------------===//

PhaseFiles Compiler::getFiles() const {
  PhaseFiles files;
  if (!options.report.empty())
    files.saturation = saturation->getPath();
  if (!options.explain.empty())
    files.explanation = explanation->getPath();
  return files;
}

LogicalResult Compiler::runPhase(Phase from, Phase to) {
  PhaseFiles files = getFiles();
  files.objects = objects ? &*objects : nullptr;
  return runPhases(*module, from, to, options, machine, files);
}

/// Whether the next phases, from extraction to scheduling, are decided by
/// measuring.
bool Compiler::searches(Phase phase, Phase last) const {
  return (options.searchSeconds > 0 || options.searchCandidates > 0) &&
         last >= Phase::Scheduled && phase >= Phase::Rolled &&
         phase < Phase::Scheduled;
}

/// The function of the program, unless the module has been lowered too far.
static func::FuncOp getOnlyFunction(ModuleOp module) {
  auto functions = llvm::make_filter_range(
      module.getOps<func::FuncOp>(),
      [](func::FuncOp func) { return !func.isDeclaration(); });
  return llvm::hasSingleElement(functions) ? *functions.begin()
                                           : func::FuncOp();
}

LogicalResult Compiler::search(Phase from) {
  func::FuncOp func = getOnlyFunction(*module);
  SampleInputs own = func ? samples.within(func) : SampleInputs();
  FailureOr<SearchedProgram> found =
      searchProgram(*module, from, options, machine, *target, own, getFiles());
  if (failed(found))
    return failure();
  module = std::move(found->module);
  report.searches.push_back({part, std::move(found->report)});
  return openKernels();
}

/// Opens the cache of compiled kernels. A search result that is found again
/// then needs no code generation either.
LogicalResult Compiler::openKernels() {
  if (objects || options.emit || target->describeObjects().empty())
    return success();
  auto cache = openPlanCache(context, options);
  if (!cache)
    return error() << cache.error().message;
  kernels = std::make_unique<PlannedKernels>(std::move(*cache));
  objects.emplace(KernelObjects{*kernels, options.threads, {}});
  return success();
}

LogicalResult Compiler::bring(Phase from, Phase last) {
  for (Phase phase = from; phase < last;) {
    if (searches(phase, last)) {
      if (failed(measure("searched", [&] { return search(phase); })))
        return failure();
      phase = Phase::Scheduled;
      continue;
    }
    if (phase == Phase::Scheduled && !options.report.empty())
      noteSchedules(*module, *target, !report.searches.empty());
    Phase next = static_cast<Phase>(static_cast<unsigned>(phase) + 1);
    if (failed(
            measure(getPhaseName(next), [&] { return runPhase(phase, next); })))
      return failure();
    phase = next;
  }
  return success();
}

/// Like `bring`, but bounds the memory for values computed from weights: those
/// of this module and of `others`, which are variants of its program, must fit
/// into one budget together.
LogicalResult Compiler::bringBeside(ArrayRef<func::FuncOp> others, Phase from,
                                    Phase last) {
  if (others.empty())
    return bring(from, last);
  OwningOpRef<ModuleOp> given = cast<ModuleOp>(module->clone());
  if (failed(bring(from, last)))
    return failure();
  const int64_t asked = options.prepareBytes;
  // Without an explicit bound, values that replace weights do not count.
  auto count = [&](ArrayRef<func::FuncOp> programs) {
    llir::PreparedBytes bytes = llir::countPreparedBytes(programs);
    return bytes.values - (asked < 0 ? bytes.replaced : 0);
  };
  func::FuncOp func = getOnlyFunction(*module);
  int64_t most = asked;
  if (asked < 0)
    most = int64_t(target->getPrepareShare() *
                   double(llir::countWeightBytes(func)));
  SmallVector<func::FuncOp> all(others);
  all.push_back(func);
  const int64_t together = count(all);
  if (together <= most)
    return success();
  // First try a budget that assumes that all values shared with the others stay
  // shared.
  const int64_t left = most - count(others), own = count(func);
  const int64_t inCommon = count(others) + own - together;
  for (int64_t room : {left + inCommon, left}) {
    options.prepareBytes = std::max<int64_t>(room, 0);
    module = cast<ModuleOp>(given->clone());
    LogicalResult result = bring(from, last);
    options.prepareBytes = asked;
    if (failed(result))
      return failure();
    all.back() = getOnlyFunction(*module);
    if (count(all) <= most)
      break;
  }
  return success();
}

/// Brings the program and each variant to phase `last` separately, and puts
/// them into one module.
LogicalResult Compiler::compileVariants(Phase from, Phase last) {
  func::FuncOp func = getOnlyFunction(*module);
  if (!func || from >= Phase::Scheduled)
    return error() << "--variant is for a program of one function whose "
                      "kernels have no schedules yet";
  const std::string name = func.getSymName().str();
  std::vector<std::string> all = options.variants;
  if (!options.findVariants.empty() && failed(measure("variants", [&] {
        auto found = findVariants(func, from, options.findVariants, options,
                                  machine, *target);
        if (succeeded(found))
          llvm::append_range(all, *found);
        return LogicalResult(found);
      })))
    return failure();
  OwningOpRef<ModuleOp> given = std::move(module);
  SmallVector<OwningOpRef<ModuleOp>> variants;
  SmallVector<func::FuncOp> done;
  SmallVector<hlir::SymbolsAttr> tables;
  for (const std::string &ranges : all) {
    part = " of " + ranges;
    module = cast<ModuleOp>(given.get()->clone());
    if (failed(narrowSymbols(*module, ranges, options)))
      return failure();
    tables.push_back(getOnlyFunction(*module)->getAttrOfType<hlir::SymbolsAttr>(
        hlir::kSymbolsAttr));
    if (failed(bringBeside(done, from, last)))
      return failure();
    done.push_back(getOnlyFunction(*module));
    variants.push_back(std::move(module));
  }
  part.clear();
  module = std::move(given);
  if (failed(bringBeside(done, from, last)))
    return failure();
  Operation *program = module->lookupSymbol(name);
  auto whole = program->getAttrOfType<hlir::SymbolsAttr>(hlir::kSymbolsAttr);
  SmallVector<Attribute> names;
  for (auto [i, variant] : llvm::enumerate(variants)) {
    func::FuncOp own = getOnlyFunction(*variant);
    // List all symbols of the program, including those that the variant does
    // not use.
    SmallVector<hlir::SymbolEntry> entries;
    for (const hlir::SymbolEntry &entry : tables[i].getEntries())
      if (llvm::any_of(whole.getEntries(), [&](const hlir::SymbolEntry &e) {
            return e.name == entry.name;
          }))
        entries.push_back(entry);
    own->setAttr(hlir::kSymbolsAttr, hlir::SymbolsAttr::get(&context, entries));
    own.setSymName(name + "_variant" + std::to_string(i));
    own->remove();
    module->push_back(own);
    names.push_back(FlatSymbolRefAttr::get(own));
  }
  if (!names.empty())
    program->setAttr(llir::kVariantsAttr, ArrayAttr::get(&context, names));
  return success();
}

LogicalResult Compiler::readSamples() {
  func::FuncOp func = getOnlyFunction(*module);
  if (!options.sampleInputs.empty()) {
    if (!func || !module->getOps<llir::ScheduleOp>().empty())
      return error() << "--sample-input is for a program of one function that "
                        "has no memory yet";
    Result<SampleInputs> read = SampleInputs::read(options.sampleInputs, func);
    if (!read)
      return error() << "--sample-input: " << read.error().message;
    samples = std::move(*read);
  } else if (func && (options.checkKernels ||
                      searches(std::max(getPhase(*module), Phase::Rolled),
                               options.emit.value_or(Phase::Lowered)))) {
    readSamplesOfArchive(func);
  }
  return success();
}

/// Reads the inputs with which an archive was exported. If there are none,
/// inputs are random.
void Compiler::readSamplesOfArchive(func::FuncOp func) {
  Result<Bytes> bytes = options.inputBytes ? Result<Bytes>(*options.inputBytes)
                                           : mapFile(options.input);
  if (!bytes || !bytes->text().starts_with("PK"))
    return;
  auto found = readPT2Samples(std::move(*bytes), options.input);
  if (found && found->empty())
    return;
  Result<SampleInputs> read = found ? SampleInputs::of(std::move(*found), func)
                                    : Result<SampleInputs>(found.takeError());
  if (read) {
    samples = std::move(*read);
    return;
  }
  Reporter(&context, "search", "")
      .missed(FileLineColLoc::get(&context, options.input, 0, 0), "note",
              {{"reason", "the archive's own inputs are not used: " +
                              read.error().message}});
}

/// Finds the machine model for `native`. A file that cannot be used is replaced
/// by a new measurement, since its owner asked for code tuned to this machine.
void Compiler::findMachine() {
  if (options.arch != "native" ||
      llvm::none_of(getTargetKinds(), [&](const TargetKind &kind) {
        return kind.name == options.target && kind.isCalibrated;
      }))
    return;
  std::string path = runtime::getMachineFile(options.planCache);
  auto found = runtime::readMachineModel(path);
  if (found && !*found)
    return;
  if (!found) {
    auto warn = [&](const std::string &message) {
      emitWarning(FileLineColLoc::get(&context, options.input, 0, 0))
          << message;
    };
    warn(found.error().message + "; this machine is measured again");
    if (auto measured = runtime::calibrate(path); !measured) {
      warn(measured.error().message);
      return;
    }
  }
  machine = path;
}

static std::string textOf(const MemoryFile &file) {
  Result<Bytes> bytes = file.read();
  return bytes ? std::string(bytes->text()) : std::string();
}

LogicalResult Compiler::check(Status status) {
  if (status)
    return success();
  return error() << status.error().message;
}

LogicalResult Compiler::run() {
  // Report errors that need no work first.
  for (std::optional<MemoryFile> *file : {&saturation, &explanation}) {
    Result<MemoryFile> made = MemoryFile::create();
    if (!made)
      return error() << made.error().message;
    file->emplace(std::move(*made));
  }
  findMachine();
  std::string reason;
  target = createTarget(options.target, options.arch, machine, &reason,
                        options.workers);
  if (!target)
    return error() << reason;
  // Files written beside the output are kept only if the output is.
  struct Side {
    OutputFile file;
    llvm::function_ref<std::string()> text;
  };
  auto reportText = [&] {
    report.saturation = textOf(*saturation);
    constexpr double kNanoseconds = 1e9;
    const Roofline roofline(target->getMachine());
    report.bytesPerSecond = roofline.bytes * kNanoseconds;
    report.flopsPerSecond = roofline.operations * kNanoseconds;
    return report.str(options, *module);
  };
  auto explanationText = [&] { return textOf(*explanation); };
  std::vector<Side> sides;
  auto addSide = [&](const std::string &path,
                     llvm::function_ref<std::string()> text) {
    if (path.empty())
      return success();
    Result<OutputFile> file = OutputFile::create(path);
    if (!file)
      return LogicalResult(error() << file.error().message);
    sides.push_back(Side{std::move(*file), text});
    return success();
  };
  if (failed(addSide(options.report, reportText)) ||
      failed(addSide(options.explain, explanationText)) || failed(emitOutput()))
    return failure();
  bool isGood = true;
  for (Side &side : sides)
    isGood = isGood && succeeded(check(side.file.keep(side.text())));
  if (isGood)
    return success();
  llvm::sys::fs::file_status status;
  if (!llvm::sys::fs::status(options.output, status, /*follow=*/false) &&
      llvm::sys::fs::is_regular_file(status))
    llvm::sys::fs::remove(options.output);
  return failure();
}

LogicalResult Compiler::emitOutput() {
  Phase last = options.emit.value_or(Phase::Lowered);
  if (failed(measure("imported", [&] {
        module = readInput(context, options);
        return success(static_cast<bool>(module));
      })))
    return failure();
  if (failed(readSamples()))
    return failure();
  Phase phase = getPhase(*module);
  if (phase > last)
    return error() << "is past phase " << getPhaseName(last) << " already";
  if (phase >= Phase::Saturated && !options.rules.empty())
    emitWarning(module->getLoc())
        << "no rule of " << options.rules.front()
        << " is used: the program is in LLIR, which is not saturated";
  else if (last >= Phase::Saturated)
    for (const std::string &file : options.rules)
      samplePromises(context, file, options.planCache, options.ruleSeconds);
  if (options.checkKernels) {
    if (options.emit || phase > Phase::Scheduled || !getOnlyFunction(*module))
      return error() << "--check-kernels is for an artifact of one function "
                        "that has no memory yet";
    original = cast<ModuleOp>(module->clone());
  }
  if (!options.variants.empty() || !options.findVariants.empty()) {
    Phase alone = std::min(last, Phase::Scheduled);
    if (failed(compileVariants(phase, alone)))
      return failure();
    phase = std::max(phase, alone);
  }
  if (original) {
    if (failed(bring(phase, Phase::Scheduled)))
      return failure();
    phase = Phase::Scheduled;
    scheduled = cast<ModuleOp>(module->clone());
  }
  if (failed(bring(phase, last)))
    return failure();
  return options.emit ? emitText() : emitArtifact();
}

LogicalResult Compiler::emitText() {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  stream << "\n";
  return check(writeFileAtomically(
      options.output.empty() ? "-" : options.output, {text}));
}

//===----------------------------------------------------------------------===//
// The artifact
//===----------------------------------------------------------------------===//

/// The path of `file` relative to the folder of `artifact` if it is inside that
/// folder; otherwise only its name, which works if both are in one folder.
static std::string getRelativePath(StringRef file, StringRef artifact) {
  StringRef name = llvm::sys::path::filename(file);
  auto folderOf = [](StringRef path) {
    SmallString<256> real;
    StringRef parent = llvm::sys::path::parent_path(path);
    if (llvm::sys::fs::real_path(parent.empty() ? "." : parent, real))
      real.clear();
    return real;
  };
  SmallString<256> from = folderOf(artifact), to = folderOf(file);
  StringRef below = to;
  if (from.empty() || !below.consume_front(from) ||
      !(below.empty() || below.starts_with("/") || from.str().ends_with("/")))
    return name.str();
  below = below.ltrim('/');
  return below.empty() ? name.str() : (below + "/" + name).str();
}

/// Sets the source of the weights: their digest and, to embed them, their
/// bytes.
LogicalResult Compiler::openWeights(ArtifactOptions &artifact) {
  const bool inMemory = options.weights.empty() && options.inputBytes;
  const std::string &path =
      options.weights.empty() ? options.input : options.weights;
  if (Result<ZipArchive> archive =
          inMemory ? ZipArchive::fromBytes(*options.inputBytes, path)
                   : ZipArchive::open(path)) {
    artifact.weightsDigest = archive->getWeightsDigest();
    if (!inMemory)
      artifact.weightsFile = getRelativePath(path, options.output);
    if (options.embedWeights)
      artifact.embed = [archive = std::make_shared<ZipArchive>(std::move(
                            *archive))](ArrayRef<runtime::WeightSpec> weights) {
        return runtime::findWeights(*archive, weights);
      };
    return success();
  }
  if (options.weights.empty()) {
    if (options.embedWeights)
      return error() << "holds no weights to embed; --weights= names a file "
                        "that does";
    return success();
  }
  Result<SafeTensors> tensors = SafeTensors::open(path);
  if (!tensors)
    return error() << tensors.error().message;
  artifact.weightsFile = getRelativePath(path, options.output);
  if (options.embedWeights)
    artifact.embed = [tensors =
                          std::make_shared<SafeTensors>(std::move(*tensors)),
                      path](ArrayRef<runtime::WeightSpec> weights)
        -> Result<std::vector<Bytes>> {
      std::vector<Bytes> found;
      for (const runtime::WeightSpec &weight : weights) {
        const HostTensor *tensor = tensors->find(weight.name);
        if (!tensor)
          return Error(path + ": has no tensor '" + weight.name + "'");
        if (!runtime::fits(*tensor, weight))
          return Error(path + ": '" + weight.name + "' is " +
                       typeText(*tensor) + ", expected " +
                       runtime::typeText(weight));
        found.push_back(tensor->bytes);
      }
      return found;
    };
  return success();
}

LogicalResult Compiler::emitArtifact() {
  SmallVector<llir::ScheduleOp> programs = getPrograms(*module);
  if (programs.size() != 1)
    return error() << "expects one function to compile";
  // The module may have been lowered before, for this or another target.
  for (auto schedule : module->getOps<llir::ScheduleOp>())
    for (auto step : schedule.getBody().getOps<llir::StepOp>())
      if (auto launch = step.getLaunch();
          launch && launch->getTargetName() != target->getName())
        return step.emitOpError()
               << "has a launch for " << launch->getTargetName()
               << ", the target is " << target->getName();
  ArtifactOptions artifact;
  if (failed(openWeights(artifact)))
    return failure();
  if (failed(measure("binary", [&] {
        std::vector<KernelObject> finished;
        if (objects) {
          Reporter(&context, "search", "")
              .passed(FileLineColLoc::get(&context, options.input, 0, 0),
                      "objects",
                      {{"known", int64_t(objects->numKnown)},
                       {"made", int64_t(objects->objects.size()) -
                                    int64_t(objects->numKnown)}});
          finished = std::move(objects->objects);
        }
        FailureOr<TargetCode> code =
            compileCode(*module, options, *target, std::move(finished));
        if (succeeded(code))
          artifact.code = std::move(*code);
        return LogicalResult(code);
      })))
    return failure();
  if (original && failed(measure("checked", [&] {
        return checkArtifact(programs.front(), artifact);
      })))
    return failure();
  return measure("artifact", [&] {
    return writeArtifact(programs.front(), artifact, options.output);
  });
}

/// Checks in a temporary file, so that a wrong artifact never reaches the
/// output path.
LogicalResult Compiler::checkArtifact(llir::ScheduleOp program,
                                      const ArtifactOptions &artifact) {
  Result<MemoryFile> file = MemoryFile::create();
  if (!file)
    return error() << file.error().message;
  if (failed(writeArtifact(program, artifact, file->getPath())))
    return failure();
  runtime::LoadOptions load;
  load.findWeightsFile = false;
  if (!artifact.embed &&
      !(options.allowMissingWeights && options.weights.empty()))
    load.weightsPath = getWeightsPath(options);
  auto loaded = runtime::Artifact::load(file->getPath(), load);
  if (!loaded)
    return error() << "--check-kernels: " << loaded.error().message;
  return checkKernels(
      {*original, *scheduled, *loaded, [&] { return nameRules(); }}, options,
      samples);
}

/// The rules that turn the input into the static choice, separated by commas.
/// To find them, the program is saturated again with proofs.
std::string Compiler::nameRules() {
  std::string names;
  Result<MemoryFile> file = MemoryFile::create();
  Phase from = getPhase(*original);
  if (!file || from >= Phase::Saturated)
    return names;
  OwningOpRef<ModuleOp> copy = cast<ModuleOp>(original->clone());
  CompileOptions how = options;
  how.configure = nullptr;
  how.explainValues.clear();
  PhaseFiles files;
  files.explanation = file->getPath();
  ScopedDiagnosticHandler silent(&context,
                                 [](Diagnostic &) { return success(); });
  if (failed(runPhases(*copy, from, Phase::Saturated, how, machine, files)))
    return names;
  // Parse lines such as "  2: %3 = %2 by NAME (rules.mlir:1), exact".
  const std::string text = textOf(*file);
  llvm::SetVector<StringRef> rules;
  for (StringRef line : llvm::split(text, '\n')) {
    auto [before, after] = line.split(" by ");
    auto [name, place] = after.split(" (");
    if (before.contains(": %") && !place.empty() && !name.contains(' '))
      rules.insert(name);
  }
  return llvm::join(rules, ", ");
}

//===----------------------------------------------------------------------===//
// Entry
//===----------------------------------------------------------------------===//

LogicalResult luminal::compile(MLIRContext &context,
                               const CompileOptions &options) {
  // Emit only the first error; the others are consequences of it.
  unsigned errors = 0;
  ScopedDiagnosticHandler onlyOne(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() != DiagnosticSeverity::Error)
      return failure();
    return success(errors++ > 0);
  });
  SimplifyMemo memo;
  if (succeeded(Compiler(context, options).run()))
    return success();
  if (errors == 0)
    emitError(FileLineColLoc::get(&context, options.input, 0, 0))
        << "compilation failed without a diagnostic";
  return failure();
}
