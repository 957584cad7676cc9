//===- KernelCheck.cpp - Checks kernels against the interpreter -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Planning the scheduled module with `keep-calls` gives the steps of the
// artifact in the same order, each with a function that defines what it
// computes. So the results of every step can be compared with the interpreter's
// on the contents of memory before the step.
//
// Tested by test/Tools/luminal-compile/check-kernels.test.
//
//===----------------------------------------------------------------------===//

#include "KernelCheck.h"
#include "BoundProgram.h"
#include "luminal/Conversion/UserKernels.h"
#include "luminal/Dialect/HLIR/IR/Signature.h"
#include "luminal/Dialect/HLIR/Utils/Reporter.h"
#include "luminal/Dialect/LLIR/Transforms/Passes.h"
#include "luminal/Dialect/LLIR/Utils/Variants.h"
#include "luminal/Pipelines/KernelKey.h"
#include "luminal/Reference/Interpreter.h"
#include "luminal/Target/Artifact.h"
#include "llvm/ADT/StringSet.h"

#define DEBUG_TYPE "check-kernels"

using namespace mlir;
using namespace luminal;
using reference::SymbolValues;

using Tensors = SmallVector<reference::Tensor>;

/// Number of evaluations with random rounding.
static constexpr uint64_t kRoundings = 3;

static std::vector<HostTensor> borrow(ArrayRef<reference::Tensor> tensors,
                                      ArrayRef<std::string> names) {
  std::vector<HostTensor> borrowed;
  for (const auto &[tensor, name] : llvm::zip_equal(tensors, names)) {
    HostTensor host{name,
                    tensor.getDType(),
                    {tensor.getShape().begin(), tensor.getShape().end()},
                    {}};
    host.bytes.data = reinterpret_cast<const uint8_t *>(tensor.data());
    host.bytes.size = tensor.getNumBytes();
    borrowed.push_back(std::move(host));
  }
  return borrowed;
}

static reference::Tensor borrow(const HostTensor &tensor) {
  return reference::Tensor::borrow(tensor.dtype, tensor.shape,
                                   tensor.bytes.data);
}

namespace {
/// The interpreter, extended by the user kernels' definitions.
class Definition {
public:
  Definition(MLIRContext *context, const UserKernels &kernels)
      : context(context), kernels(kernels) {}

  /// The results of a function, or the reason why it cannot be evaluated.
  Result<Tensors> evaluate(func::FuncOp func, ArrayRef<reference::Tensor> from,
                           const SymbolValues *symbols,
                           std::optional<uint64_t> seed = {}) const;
  /// Describes the difference between `found` and the interpreter's results;
  /// empty if rounding explains it.
  Result<std::string> compare(func::FuncOp func,
                              ArrayRef<reference::Tensor> from,
                              const SymbolValues *symbols,
                              ArrayRef<unsigned> results,
                              const std::vector<HostTensor> &found) const;

private:
  MLIRContext *context;
  const UserKernels &kernels;
};

class Checker {
public:
  Checker(CheckedProgram checked, const CompileOptions &options,
          const SampleInputs &samples, const UserKernels &kernels)
      : program(std::move(checked)), options(options), samples(samples),
        context(program.scheduled.getContext()),
        loc(FileLineColLoc::get(context, options.input, 0, 0)),
        definition(context, kernels) {}

  LogicalResult run();
  /// Emits each text only once.
  void warn(Location loc, const std::string &message);

  const Definition &getDefinition() const { return definition; }

private:
  std::string describe(size_t number) const;
  LogicalResult refuse(llir::StepOp step, const Twine &difference);
  LogicalResult plan();
  std::vector<TimedSizes> getSizes(size_t number) const;
  std::vector<TimedSizes> getOtherSizes(const TimedSizes &sizes) const;
  Result<std::unique_ptr<BoundProgram>> bind(const TimedSizes &sizes);
  LogicalResult checkProgram(size_t number);
  LogicalResult checkPreparation(const BoundProgram &bound);
  LogicalResult checkSteps(BoundProgram &bound, ArrayRef<llir::StepOp> steps,
                           const std::string &where);
  LogicalResult checkWhole(BoundProgram &bound, const std::string &where);

  CheckedProgram program;
  const CompileOptions &options;
  const SampleInputs &samples;
  MLIRContext *context;
  Location loc;
  Definition definition;
  /// The steps of each program of the artifact, and of the preparation of
  /// weights.
  SmallVector<SmallVector<llir::StepOp>> programs;
  SmallVector<llir::StepOp> preparation;
  std::unique_ptr<Operands> operands;
  bool isPrepared = false;
  llvm::StringSet<> warned;
  uint64_t numSteps = 0;
};

/// Checks each step of a call.
class StepChecker : public runtime::StepListener {
public:
  StepChecker(Checker &checker, const BoundProgram &bound,
              ArrayRef<llir::StepOp> steps);

  void before(const runtime::StepReport &report) override;
  Status after(const runtime::StepReport &report) override;

  /// The first step that differs, or null.
  llir::StepOp different;
  std::string difference;
  uint64_t numChecked = 0;

private:
  func::FuncOp getFunction(llir::StepOp step) const;
  Result<std::vector<HostTensor>> read(TypeRange types,
                                       std::span<void *const> memory) const;

  Checker &checker;
  const BoundProgram &bound;
  ArrayRef<llir::StepOp> steps;
  SymbolValues symbols;
  Status reading;
  std::vector<HostTensor> inputs;
};
} // namespace

//===----------------------------------------------------------------------===//
// The definition
//===----------------------------------------------------------------------===//

Result<Tensors> Definition::evaluate(func::FuncOp func,
                                     ArrayRef<reference::Tensor> from,
                                     const SymbolValues *symbols,
                                     std::optional<uint64_t> seed) const {
  std::string message = "cannot be evaluated";
  bool isFirst = true;
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    if (std::exchange(isFirst, false))
      message = diagnostic.str();
    return success();
  });
  reference::Options how;
  how.symbols = symbols;
  how.roundingSeed = seed;
  how.custom = [&](StringRef name, ArrayRef<reference::Tensor> inputs,
                   DictionaryAttr) -> std::optional<Tensors> {
    const UserKernel *kernel = kernels.find(name);
    if (!kernel || !kernel->reference) {
      isFirst = false;
      message = "nothing says what kernel '" + name.str() + "' computes";
      return std::nullopt;
    }
    FailureOr<Tensors> results = reference::evaluate(kernel->reference, inputs);
    return succeeded(results) ? std::optional(*results) : std::nullopt;
  };
  FailureOr<Tensors> results = reference::evaluate(func, from, how);
  if (failed(results))
    return Error(message);
  return std::move(*results);
}

Result<std::string>
Definition::compare(func::FuncOp func, ArrayRef<reference::Tensor> from,
                    const SymbolValues *symbols, ArrayRef<unsigned> results,
                    const std::vector<HostTensor> &found) const {
  std::vector<std::string> names;
  for (const HostTensor &tensor : found)
    names.push_back(tensor.name);
  auto choose = [&](const Tensors &all) {
    return llvm::map_to_vector(results, [&](unsigned i) { return all[i]; });
  };
  LUMINAL_TRY(nearest, evaluate(func, from, symbols));
  Tensors chosen = choose(nearest);
  std::vector<HostTensor> expected = borrow(chosen, names);
  std::string difference = describeDifference(expected, found, Closeness());
  if (difference.empty())
    return difference;
  // Most results are close enough. Measure the effect of rounding only for the
  // others.
  Closeness closeness;
  for (uint64_t seed = 1; seed <= kRoundings; ++seed) {
    LUMINAL_TRY(rounded, evaluate(func, from, symbols, seed));
    Tensors other = choose(rounded);
    closeness.addRounding(expected, borrow(other, names));
  }
  return describeDifference(expected, found, closeness);
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

StepChecker::StepChecker(Checker &checker, const BoundProgram &bound,
                         ArrayRef<llir::StepOp> steps)
    : checker(checker), bound(bound), steps(steps) {
  const runtime::Context &context = bound.getContext();
  const auto &specs = context.getArtifact().getManifest().symbols;
  for (auto [spec, value] : llvm::zip_equal(specs, context.getSymbolValues()))
    symbols[spec.name] = value;
}

func::FuncOp StepChecker::getFunction(llir::StepOp step) const {
  FlatSymbolRefAttr name = step.getCalleeAttr();
  if (!name)
    name = step->getAttrOfType<FlatSymbolRefAttr>(llir::kComputesAttr);
  return name ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(step, name)
              : func::FuncOp();
}

Result<std::vector<HostTensor>>
StepChecker::read(TypeRange types, std::span<void *const> memory) const {
  std::vector<HostTensor> tensors;
  for (auto [i, type] : llvm::enumerate(types)) {
    auto tensorType = cast<RankedTensorType>(type);
    HostTensor tensor;
    tensor.name = std::to_string(i);
    tensor.dtype = *hlir::getDType(tensorType.getElementType());
    for (const Expr &extent : hlir::getExtents(tensorType)) {
      std::optional<int64_t> size =
          extent.evaluate([&](std::string_view name) -> std::optional<int64_t> {
            auto it = symbols.find(name);
            return it == symbols.end() ? std::nullopt
                                       : std::optional(it->second);
          });
      if (!size || *size < 0)
        return Error("extent " + extent.str() + " has no value");
      tensor.shape.push_back(*size);
    }
    uint8_t *to = allocateTensor(tensor);
    if (!to)
      return Error("not enough memory to copy operands");
    if (tensor.bytes.size > 0)
      LUMINAL_CHECK(
          bound.getContext().readMemory(memory[i], to, tensor.bytes.size));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

void StepChecker::before(const runtime::StepReport &report) {
  func::FuncOp func = getFunction(steps[report.step]);
  if (!func) {
    reading = Error("a step has no function that defines what it computes");
    return;
  }
  auto operands = read(func.getArgumentTypes(), report.buffers);
  reading = operands ? Status() : Status(operands.takeError());
  if (operands)
    inputs = std::move(*operands);
}

Status StepChecker::after(const runtime::StepReport &report) {
  LUMINAL_CHECK(std::move(reading));
  llir::StepOp step = steps[report.step];
  func::FuncOp func = getFunction(step);
  LUMINAL_TRY(found, read(func.getResultTypes(),
                          report.buffers.subspan(func.getNumArguments())));
  Tensors from;
  for (const HostTensor &tensor : inputs)
    from.push_back(borrow(tensor));
  SmallVector<unsigned> all =
      llvm::to_vector(llvm::seq<unsigned>(0, func.getNumResults()));
  auto compared =
      checker.getDefinition().compare(func, from, &symbols, all, found);
  if (!compared) {
    checker.warn(step.getLoc(),
                 "kernel '" + step.getLabel().str() +
                     "' is not checked: " + compared.error().message);
    return {};
  }
  ++numChecked;
  if (compared->empty())
    return {};
  different = step;
  difference = *compared;
  return Error(difference);
}

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

void Checker::warn(Location at, const std::string &message) {
  if (warned.insert(message).second)
    emitWarning(at) << message;
}

std::string Checker::describe(size_t number) const {
  if (number == 0)
    return "";
  const runtime::Manifest &m = program.artifact->getManifest();
  return " in the variant for " + m.variants[number - 1]->getGuardText(m);
}

/// Finds the steps of the artifact's programs and the functions that define
/// them.
LogicalResult Checker::plan() {
  llir::PlanMemoryPassOptions how;
  how.keepCalls = true;
  PassManager pm(context);
  pm.addPass(llir::createPlanMemoryPass(how));
  if (failed(pm.run(program.scheduled)))
    return failure();
  auto stepsOf = [](llir::ScheduleOp schedule) {
    return llvm::to_vector(schedule.getBody().getOps<llir::StepOp>());
  };
  llir::ScheduleOp schedule =
      *program.scheduled.getOps<llir::ScheduleOp>().begin();
  programs.push_back(stepsOf(schedule));
  FailureOr<SmallVector<Operation *>> variants = llir::getVariants(schedule);
  if (failed(variants))
    return failure();
  for (Operation *variant : *variants)
    programs.push_back(stepsOf(cast<llir::ScheduleOp>(variant)));
  if (llir::ScheduleOp prepare = schedule.getPrepareSchedule())
    preparation = stepsOf(prepare);
  return success();
}

/// The sizes at which a program is checked: first those at which it is timed,
/// then the smallest ones.
std::vector<TimedSizes> Checker::getSizes(size_t number) const {
  TimedSizes timed, least;
  for (const runtime::SymbolSpec &symbol :
       program.artifact->getPrograms()[number].manifest->symbols) {
    const SymbolRange &range = symbol.range;
    auto given = samples.getSizes().find(symbol.name);
    bool isGiven = given != samples.getSizes().end() &&
                   given->second >= range.lo &&
                   (!range.hi || given->second <= *range.hi);
    timed[symbol.name] = isGiven ? given->second : getTimedSize(range);
    least[symbol.name] =
        range.lo > 0 || (range.hi && *range.hi < 1) ? range.lo : 1;
  }
  std::vector<TimedSizes> all = {timed};
  if (least != timed)
    all.push_back(least);
  return all;
}

/// Sizes near `sizes` just outside the ranges of variants.
std::vector<TimedSizes> Checker::getOtherSizes(const TimedSizes &sizes) const {
  std::vector<TimedSizes> all;
  const runtime::Manifest &m = program.artifact->getManifest();
  for (const auto &variant : m.variants)
    for (auto [own, whole] : llvm::zip_equal(variant->symbols, m.symbols))
      for (std::optional<int64_t> size :
           {own.range.hi ? std::optional(*own.range.hi + 1) : std::nullopt,
            std::optional(own.range.lo - 1)})
        if (size && *size >= whole.range.lo &&
            (!whole.range.hi || *size <= *whole.range.hi)) {
          all.push_back(sizes);
          all.back()[own.name] = *size;
        }
  return all;
}

Result<std::unique_ptr<BoundProgram>> Checker::bind(const TimedSizes &sizes) {
  operands = std::make_unique<Operands>(Operands::Values::Centred, &samples);
  LUMINAL_TRY(bound, BoundProgram::create(program.artifact, options.threads,
                                          sizes, *operands));
  LUMINAL_CHECK(bound->prepare());
  return std::move(bound);
}

LogicalResult Checker::refuse(llir::StepOp step, const Twine &difference) {
  StringRef name = step.getLabel();
  InFlightDiagnostic diagnostic = emitError(
      hlir::describePlace(step.getLoc()).empty() ? loc : step.getLoc());
  diagnostic << "kernel '" << name << "'";
  if (auto computes =
          step->getAttrOfType<FlatSymbolRefAttr>(llir::kComputesAttr))
    SymbolTable::lookupNearestSymbolFrom(step, computes)
        ->walk([&](llir::CallOp call) {
          diagnostic << " (" << call.getName() << ")";
        });
  return diagnostic << " computes something else than its definition: "
                    << difference;
}

LogicalResult Checker::checkSteps(BoundProgram &bound,
                                  ArrayRef<llir::StepOp> steps,
                                  const std::string &where) {
  StepChecker listener(*this, bound, steps);
  auto outputs = bound.compute(&listener);
  numSteps += listener.numChecked;
  if (listener.different)
    return refuse(listener.different, listener.difference + where);
  if (!outputs)
    return emitError(loc) << "cannot be checked" << where << ": "
                          << outputs.error().message;
  return success();
}

/// Checks the preparation of weights once, with the weights of any program.
LogicalResult Checker::checkPreparation(const BoundProgram &bound) {
  if (preparation.empty() || std::exchange(isPrepared, true))
    return success();
  Operands none(Operands::Values::Centred);
  auto prepare = BoundProgram::create(program.artifact->getPrepare(),
                                      options.threads, {}, none, &bound);
  Status ready = prepare ? (*prepare)->prepare() : Status(prepare.takeError());
  if (!ready)
    return emitError(loc) << "the preparation of weights cannot be checked: "
                          << ready.error().message;
  return checkSteps(**prepare, preparation, " (as weights are bound)");
}

LogicalResult Checker::checkWhole(BoundProgram &bound,
                                  const std::string &where) {
  func::FuncOp func = *program.given.getOps<func::FuncOp>().begin();
  Tensors from;
  size_t input = 0, weight = 0;
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    auto kind = func.getArgAttrOfType<StringAttr>(i, hlir::kKindAttr);
    bool isWeight = kind && kind.getValue() == "weight";
    from.push_back(borrow(isWeight ? bound.getWeights()[weight++]
                                   : bound.getInputs()[input++]));
    // The initial value of a state is among the weights too.
    weight += !isWeight && func.getArgAttr(i, hlir::kSourceAttr);
  }
  auto found = bound.compute();
  if (!found)
    return emitError(loc) << "cannot be checked" << where << ": "
                          << found.error().message;
  SmallVector<unsigned> results;
  for (unsigned i = 0; i < func.getNumResults(); ++i)
    if (!func.getResultAttr(i, hlir::kUpdatesAttr) &&
        !func.getResultAttr(i, hlir::kAssertionAttr))
      results.push_back(i);
  auto compared = definition.compare(func, from, nullptr, results, *found);
  if (!compared) {
    warn(loc, "the whole program is not checked: " + compared.error().message);
    return success();
  }
  if (compared->empty())
    return success();
  const std::string rules = program.nameRules();
  return emitError(loc)
         << "each kernel is correct, but the whole program gives other results "
            "than the program that was read: "
         << *compared << where
         << "; the rules used are: " << (rules.empty() ? "none" : rules);
}

LogicalResult Checker::checkProgram(size_t number) {
  std::string reason = "a variant has all sizes that were tried";
  bool isChecked = false;
  auto check = [&](const TimedSizes &sizes) -> FailureOr<bool> {
    auto bound = bind(sizes);
    if (!bound) {
      reason = bound.error().message;
      return false;
    }
    if ((*bound)->getContext().getProgram() != number)
      return false;
    std::string where = describe(number);
    for (const auto &[name, size] : sizes)
      where += (where.empty() || name == sizes.begin()->first ? " at " : ", ") +
               name + "=" + std::to_string(size);
    isChecked = true;
    if (failed(checkPreparation(**bound)) ||
        failed(checkSteps(**bound, programs[number], where)) ||
        failed(checkWhole(**bound, where)))
      return failure();
    return true;
  };
  for (const TimedSizes &sizes : getSizes(number)) {
    FailureOr<bool> done = check(sizes);
    if (failed(done))
      return failure();
    if (*done)
      continue;
    for (const TimedSizes &other : getOtherSizes(sizes)) {
      FailureOr<bool> found = check(other);
      if (failed(found))
        return failure();
      if (*found)
        break;
    }
  }
  if (!isChecked)
    warn(loc, "the program" + describe(number) + " is not checked: " + reason);
  return success();
}

LogicalResult Checker::run() {
  if (failed(plan()))
    return failure();
  const auto &known = program.artifact->getPrograms();
  for (auto [own, steps] : llvm::zip_equal(known, programs))
    if (own.manifest->steps.size() != steps.size())
      return emitError(loc) << "cannot be checked: the artifact has other "
                               "steps than the program it was made of";
  for (size_t number = 0; number < programs.size(); ++number)
    if (failed(checkProgram(number)))
      return failure();
  Reporter(context, DEBUG_TYPE, "")
      .passed(loc, "checked",
              {{"programs", uint64_t(programs.size())}, {"steps", numSteps}});
  return success();
}

LogicalResult luminal::checkKernels(CheckedProgram program,
                                    const CompileOptions &options,
                                    const SampleInputs &samples) {
  FailureOr<UserKernels> kernels = UserKernels::load(
      program.given.getContext(), options.kernels, /*target=*/nullptr);
  if (failed(kernels))
    return failure();
  return Checker(std::move(program), options, samples, *kernels).run();
}
