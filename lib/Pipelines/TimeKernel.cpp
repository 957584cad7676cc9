//===- TimeKernel.cpp - How long a kernel takes on the machine at hand ----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Pipelines/TimeKernel.h"
#include "luminal/Pipelines/Compile.h"
#include "luminal/Runtime/Context.h"
#include "luminal/Support/MemoryFile.h"
#include "luminal/Support/OutputFile.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

#include <random>

using namespace mlir;
using namespace luminal;

namespace {
/// A loaded artifact and memory for its operands.
class Program {
public:
  Program(std::shared_ptr<const runtime::Artifact> artifact,
          const TimeOptions &options)
      : artifact(std::move(artifact)), options(options) {}

  Result<double> time();

private:
  Status bind(runtime::Context &context);
  const void *makeOperand(DType dtype, int64_t bytes);

  std::shared_ptr<const runtime::Artifact> artifact;
  const TimeOptions &options;
  /// Rows of 64 bytes, which are as aligned as the runtime's own memory.
  struct alignas(64) Line {
    uint8_t bytes[64];
  };
  std::vector<std::vector<Line>> operands;
  std::mt19937 random;
};
} // namespace

/// Floats between 1 and 2 (in f16, bf16 and f8 too: their exponents), which no
/// function has trouble with; integers 0, which are indices of any tensor.
const void *Program::makeOperand(DType dtype, int64_t bytes) {
  std::vector<Line> &lines = operands.emplace_back(bytes / sizeof(Line) + 1);
  auto *data = reinterpret_cast<uint8_t *>(lines.data());
  auto fill = [&](auto one, unsigned mantissa) {
    using Word = decltype(one);
    Word mask = (Word(1) << mantissa) - 1;
    for (int64_t i = 0; i + int64_t(sizeof(Word)) <= bytes; i += sizeof(Word)) {
      Word word = one | (Word(random()) & mask);
      std::memcpy(data + i, &word, sizeof word);
    }
  };
  switch (dtype) {
  case DType::F64:
    fill(uint64_t(0x3FF) << 52, 52);
    break;
  case DType::F32:
    fill(uint32_t(0x3F800000), 23);
    break;
  case DType::F16:
    fill(uint16_t(0x3C00), 10);
    break;
  case DType::BF16:
    fill(uint16_t(0x3F80), 7);
    break;
  default:
    break;
  }
  return data;
}

Status Program::bind(runtime::Context &context) {
  const runtime::Manifest &m = artifact->getManifest();
  std::map<std::string, int64_t, std::less<>> values;
  for (const runtime::SymbolSpec &symbol : m.symbols) {
    constexpr int64_t kUsual = 64;
    auto it = options.symbols.find(symbol.name);
    values[symbol.name] =
        it != options.symbols.end()
            ? it->second
            : std::min(std::max(kUsual, symbol.range.lo),
                       symbol.range.hi.value_or(kUsual + symbol.range.lo));
  }
  auto valueOf = [&](std::string_view name) -> std::optional<int64_t> {
    auto it = values.find(name);
    return it == values.end() ? std::nullopt : std::optional(it->second);
  };
  auto shapeOf =
      [&](const runtime::TensorSpec &spec) -> Result<std::vector<int64_t>> {
    std::vector<int64_t> shape;
    for (const Expr &extent : spec.shape) {
      std::optional<int64_t> n = extent.evaluate(valueOf);
      if (!n || *n < 0)
        return Error("'" + spec.name + "' has no size");
      shape.push_back(*n);
    }
    return shape;
  };
  auto bindOne = [&](const runtime::TensorSpec &spec, auto bindTo) -> Status {
    LUMINAL_TRY(shape, shapeOf(spec));
    std::optional<int64_t> bytes = tensorBytes(spec.dtype, shape);
    if (!bytes)
      return Error("'" + spec.name + "' is too large");
    return bindTo(makeOperand(spec.dtype, *bytes), shape);
  };
  for (auto [i, input] : llvm::enumerate(m.inputs))
    LUMINAL_CHECK(bindOne(input, [&](const void *data, auto &shape) {
      return context.bindInput(i, data, input.dtype, shape);
    }));
  for (auto [i, weight] : llvm::enumerate(m.weights))
    if (weight.buffer)
      LUMINAL_CHECK(bindOne(weight, [&](const void *data, auto &shape) {
        return context.bindWeight(i, data, weight.dtype, shape);
      }));
  return Status();
}

Result<double> Program::time() {
  runtime::ContextOptions contextOptions;
  contextOptions.threads = options.threads;
  LUMINAL_TRY(context, runtime::Context::create(artifact, contextOptions));
  LUMINAL_CHECK(bind(*context));
  // As often as the time asked for takes.
  constexpr unsigned kMostRepeats = 1 << 20;
  constexpr double kNanoseconds = 1e9;
  unsigned repeats = 1;
  while (true) {
    LUMINAL_TRY(each, context->timeSteps(repeats));
    double seconds = each * repeats / kNanoseconds;
    if (seconds >= options.seconds || repeats >= kMostRepeats)
      break;
    repeats *= 2;
  }
  std::vector<double> times;
  for (unsigned round = 0; round < std::max(1u, options.rounds); ++round) {
    LUMINAL_TRY(each, context->timeSteps(repeats));
    times.push_back(each / kNanoseconds);
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2,
                   times.end());
  return times[times.size() / 2];
}

FailureOr<double> luminal::timeProgram(MLIRContext &context, StringRef text,
                                       const TimeOptions &options) {
  Location place = FileLineColLoc::get(&context, "kernel", 0, 0);
  Result<MemoryFile> source = MemoryFile::create(), code = MemoryFile::create();
  if (!source || !code)
    return emitError(place) << "no memory for the program's text and code";
  if (Status status = writeFileAtomically(source->getPath(), {text.str()});
      !status)
    return emitError(place) << status.error().message;
  CompileOptions compileOptions;
  compileOptions.input = source->getPath();
  compileOptions.output = code->getPath();
  compileOptions.target = options.target;
  compileOptions.arch = options.arch;
  compileOptions.workers = options.workers;
  compileOptions.planCache = options.planCache;
  compileOptions.allowMissingWeights = true;
  if (failed(compile(context, compileOptions)))
    return failure();
  runtime::LoadOptions load;
  load.findWeightsFile = false;
  Result<std::shared_ptr<const runtime::Artifact>> artifact =
      runtime::Artifact::load(code->getPath(), load);
  if (!artifact)
    return emitError(place) << artifact.error().message;
  Result<double> seconds = Program(*artifact, options).time();
  if (!seconds)
    return emitError(place) << seconds.error().message;
  return *seconds;
}

FailureOr<double> luminal::timeKernel(llir::KernelOp kernel,
                                      ArrayRef<hlir::SymbolEntry> symbols,
                                      const TimeOptions &options) {
  MLIRContext *context = kernel->getContext();
  context->loadDialect<func::FuncDialect>();
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
  OpBuilder b = OpBuilder::atBlockEnd(module->getBody());
  auto function =
      func::FuncOp::create(b, kernel.getLoc(), "main",
                           b.getFunctionType(kernel.getInputs().getTypes(),
                                             kernel.getResultTypes()));
  if (!symbols.empty())
    function->setAttr(hlir::kSymbolsAttr,
                      hlir::SymbolsAttr::get(context, symbols));
  Block *body = function.addEntryBlock();
  b.setInsertionPointToStart(body);
  IRMapping map;
  map.map(kernel.getInputs(), body->getArguments());
  Operation *copy = b.clone(*kernel, map);
  // A state would change from run to run.
  cast<llir::KernelOp>(copy).setInPlace(false);
  func::ReturnOp::create(b, kernel.getLoc(), copy->getResults());
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  return timeProgram(*context, text, options);
}
