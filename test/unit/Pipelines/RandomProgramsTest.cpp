//===- RandomProgramsTest.cpp - Fused programs against their definition ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs of flat LLIR, fused, scheduled, compiled and run, give what
// the interpreter says of the flat program: integers and exact functions bit
// for bit, all others within the bounds that ErrorBounds.h computes. A program
// that fails is printed with the first of its values that fails alone.
//
// LUMINAL_PROGRAMS=N runs N programs, LUMINAL_PROGRAMS=FIRST:LAST chosen ones
// (docs/Testing.md).
//
//===----------------------------------------------------------------------===//

#include "RandomProgram.h"
#include "luminal/InitAll.h"
#include "luminal/Pipelines/Compile.h"
#include "luminal/Reference/Interpreter.h"
#include "luminal/Runtime/Artifact.h"
#include "luminal/Runtime/Context.h"
#include "luminal/Support/Scalar.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <random>

using namespace luminal;
using namespace luminal::test;

namespace {
using Values = std::map<std::string, int64_t, std::less<>>;
using Tensors = llvm::SmallVector<reference::Tensor>;

std::vector<int64_t> shapeOf(const Shape &extents, const Values &values) {
  std::vector<int64_t> shape;
  for (const Expr &e : extents)
    shape.push_back(
        e.evaluate([&](std::string_view name) -> std::optional<int64_t> {
           return values.find(name)->second;
         }).value_or(-1));
  return shape;
}

void fill(reference::Tensor &tensor, int64_t limit, std::mt19937_64 &random) {
  DType t = tensor.getDType();
  for (int64_t i = 0; i < tensor.getNumElements(); ++i) {
    char *at = tensor.mutableData() + size_t(i) * dtypeSize(t);
    if (isFloatDType(t))
      storeFloat(t, double(int64_t(random() % 4001) - 2000) / 1000, at);
    else if (t == DType::I1)
      storeInt(t, int64_t(random() % 2), at);
    else
      storeInt(t,
               limit ? int64_t(random() % uint64_t(limit))
                     : int64_t(random() % 17) - 8,
               at);
  }
}

class RandomPrograms : public testing::Test {
protected:
  RandomPrograms() {
    static const bool registered = (registerAllPasses(), true);
    (void)registered;
    mlir::DialectRegistry registry;
    registerAllDialects(registry);
    context = std::make_unique<mlir::MLIRContext>(
        registry, mlir::MLIRContext::Threading::DISABLED);
    context->getDiagEngine().registerHandler([&](mlir::Diagnostic &d) {
      if (d.getSeverity() == mlir::DiagnosticSeverity::Error && error.empty())
        error = d.str();
    });
    llvm::SmallString<128> name;
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("programs", name));
    folder = name.str().str();
  }
  ~RandomPrograms() override { llvm::sys::fs::remove_directories(folder); }

  /// Results of the function in `text`; an empty error if there are any.
  std::optional<Tensors> interpret(const std::string &text,
                                   const Tensors &arguments) {
    error.clear();
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, context.get());
    if (!module)
      return std::nullopt;
    auto results = reference::evaluate(
        *module->getOps<mlir::func::FuncOp>().begin(), arguments);
    if (mlir::failed(results))
      return std::nullopt;
    return *results;
  }

  std::shared_ptr<const runtime::Artifact> compileText(const std::string &text);
  /// What is wrong with the results of a call; empty if they agree.
  std::string call(const RandomProgram &program,
                   const std::vector<unsigned> &returned,
                   const std::shared_ptr<const runtime::Artifact> &artifact,
                   const Values &values, uint64_t seed);
  std::string run(const RandomProgram &program,
                  const std::vector<unsigned> &returned, uint64_t seed);
  std::string compare(const reference::Tensor &want, const char *got,
                      const reference::Tensor *bound);

  std::unique_ptr<mlir::MLIRContext> context;
  std::string error, folder;
  struct {
    uint64_t programs = 0, calls = 0, elements = 0, bounded = 0, unbounded = 0,
             loose = 0;
  } counts;
};
} // namespace

std::shared_ptr<const runtime::Artifact>
RandomPrograms::compileText(const std::string &text) {
  CompileOptions options;
  options.input = folder + "/p.mlir";
  options.output = folder + "/p.lum";
  options.threads = 1;
  std::ofstream(options.input) << text;
  error.clear();
  if (mlir::failed(compile(*context, options)))
    return nullptr;
  auto loaded = runtime::Artifact::load(options.output);
  if (!loaded) {
    error = loaded.error().message;
    return nullptr;
  }
  return *loaded;
}

std::string RandomPrograms::compare(const reference::Tensor &want,
                                    const char *got,
                                    const reference::Tensor *bound) {
  DType t = want.getDType();
  size_t size = dtypeSize(t);
  // The size of what is compared, to tell how sharp the bounds are.
  double scale = 0;
  for (int64_t i = 0; bound && i < want.getNumElements(); ++i)
    if (double x = std::abs(loadFloat(t, want.data() + size_t(i) * size));
        std::isfinite(x))
      scale = std::max(scale, x);
  for (int64_t i = 0; i < want.getNumElements(); ++i) {
    const char *x = want.data() + size_t(i) * size, *y = got + size_t(i) * size;
    ++counts.elements;
    std::string difference;
    if (!isFloatDType(t)) {
      if (loadInt(t, x) != loadInt(t, y))
        difference = std::to_string(loadInt(t, y)) + " for " +
                     std::to_string(loadInt(t, x));
    } else {
      double a = loadFloat(t, x), b = loadFloat(t, y), most = 0;
      if (bound) {
        most = loadFloat(DType::F64, bound->data() + size_t(i) * 8);
        ++counts.bounded;
        // Narrow types have units of 1/128 themselves.
        counts.loose += dtypeSize(t) > 2 && most > 0.01 * scale;
        if (std::isnan(most) || std::isinf(most)) {
          ++counts.unbounded;
          continue;
        }
      }
      bool isSame = a == b || (std::isnan(a) && std::isnan(b)) ||
                    std::abs(a - b) <= most * 1.01;
      if (!isSame) {
        char buffer[120];
        std::snprintf(buffer, sizeof(buffer),
                      "%.17g for %.17g, off by %g, "
                      "bound %g",
                      b, a, std::abs(a - b), most);
        difference = buffer;
      }
    }
    if (!difference.empty())
      return "element " + std::to_string(i) + ": " + difference;
  }
  return {};
}

std::string
RandomPrograms::call(const RandomProgram &program,
                     const std::vector<unsigned> &returned,
                     const std::shared_ptr<const runtime::Artifact> &artifact,
                     const Values &values, uint64_t seed) {
  std::mt19937_64 random(seed);
  Tensors arguments;
  for (const Node &n : program.nodes) {
    if (!n.isArgument)
      continue;
    auto tensor =
        reference::Tensor::allocate(n.dtype, shapeOf(n.shape, values));
    if (!tensor)
      return "no memory";
    fill(*tensor, n.limit, random);
    arguments.push_back(*tensor);
  }
  for (const auto &[name, value] : values)
    arguments.push_back(*reference::Tensor::allocate(DType::F32, {value}));

  auto wanted = interpret(program.getText(returned), arguments);
  if (!wanted)
    return "the interpreter refuses the program: " + error;
  auto bounds = interpret(program.getBoundText(returned), arguments);
  if (!bounds)
    return "the interpreter refuses the bounds: " + error + "\n" +
           program.getBoundText(returned);

  runtime::ContextOptions options;
  options.threads = 1 + unsigned(seed % 2);
  auto made = runtime::Context::create(artifact, options);
  if (!made)
    return made.error().message;
  runtime::Context &context = **made;
  for (uint32_t i = 0; i < arguments.size(); ++i) {
    const reference::Tensor &a = arguments[i];
    if (Status bound =
            context.bindInput(i, a.data(), a.getDType(),
                              {a.getShape().data(), a.getShape().size()});
        !bound)
      return bound.error().message;
  }
  if (Status done = context.run(); !done)
    return done.error().message;
  ++counts.calls;
  size_t nextBound = 0;
  for (uint32_t i = 0; i < returned.size(); ++i) {
    auto shape = context.getOutputShape(i);
    if (!std::equal(shape.begin(), shape.end(), (*wanted)[i].getShape().begin(),
                    (*wanted)[i].getShape().end()))
      return "result " + std::to_string(i) + " has another shape";
    auto data = context.getOutputData(i);
    if (!data)
      return data.error().message;
    const reference::Tensor *bound =
        program.nodes[returned[i]].isExact ? nullptr : &(*bounds)[nextBound++];
    std::string wrong =
        compare((*wanted)[i], static_cast<const char *>(*data), bound);
    if (!wrong.empty())
      return "result " + std::to_string(i) + " (%v" +
             std::to_string(returned[i]) + "), " + wrong;
  }
  return {};
}

std::string RandomPrograms::run(const RandomProgram &program,
                                const std::vector<unsigned> &returned,
                                uint64_t seed) {
  auto artifact = compileText(program.getText(returned));
  if (!artifact)
    return "not compiled: " + error;
  // Sizes at the ends of the ranges, and some between.
  std::mt19937_64 random(seed);
  for (unsigned i = 0; i < (program.symbols.empty() ? 1 : 3); ++i) {
    Values values;
    std::string at;
    for (const auto &[name, range] : program.symbols) {
      int64_t hi = range.hi.value_or(24);
      values[name] =
          i == 0   ? hi
          : i == 1 ? range.lo
                   : range.lo + int64_t(random() % uint64_t(hi - range.lo + 1));
      at += " " + name + " = " + std::to_string(values[name]);
    }
    std::string wrong = call(program, returned, artifact, values, seed + i);
    if (!wrong.empty())
      return wrong + (at.empty() ? "" : ", where" + at);
  }
  return {};
}

TEST_F(RandomPrograms, ComputeWhatTheirOpsSay) {
#if __has_feature(address_sanitizer)
  uint64_t first = 0, last = 60;
#else
  uint64_t first = 0, last = 300;
#endif
  if (const char *text = std::getenv("LUMINAL_PROGRAMS")) {
    char *end = nullptr;
    last = std::strtoull(text, &end, 10);
    if (*end == ':') {
      first = last;
      last = std::strtoull(end + 1, nullptr, 10);
    }
  }
  unsigned failures = 0;
  for (uint64_t seed = first; seed < last && failures < 10; ++seed) {
    RandomProgram program = makeRandomProgram(seed);
    ++counts.programs;
    std::string wrong = run(program, program.results, seed);
    if (wrong.empty())
      continue;
    ++failures;
    // The first value that is wrong alone makes the smallest program.
    std::vector<unsigned> returned = program.results;
    for (unsigned i = 0; i < program.nodes.size(); ++i) {
      if (program.nodes[i].isArgument)
        continue;
      std::string alone = run(program, {i}, seed);
      if (alone.empty())
        continue;
      returned = {i};
      wrong = alone;
      break;
    }
    ADD_FAILURE() << "seed " << seed << ": " << wrong << "\n"
                  << program.getText(returned);
  }
  std::printf("%llu programs, %llu calls, %llu elements: %.1f%% within bounds, "
              "%.2f%% of these without one, %.2f%% loose\n",
              (unsigned long long)counts.programs,
              (unsigned long long)counts.calls,
              (unsigned long long)counts.elements,
              100.0 * double(counts.bounded) / double(counts.elements),
              100.0 * double(counts.unbounded) / double(counts.bounded),
              100.0 * double(counts.loose) / double(counts.bounded));
  // Bounds that allow anything would show nothing. One program may be of
  // masked rows alone.
  if (counts.programs < 200)
    return;
  EXPECT_LT(double(counts.loose + counts.unbounded),
            0.1 * double(counts.bounded));
}
