//===- ProgramRunner.cpp - Compiled programs against their definition -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "ProgramRunner.h"
#include "luminal/InitAll.h"
#include "luminal/Runtime/Context.h"
#include "luminal/Support/Scalar.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

using namespace luminal;
using namespace luminal::test;

static std::vector<int64_t> shapeOf(const Shape &extents,
                                    const Values &values) {
  std::vector<int64_t> shape;
  for (const Expr &e : extents)
    shape.push_back(
        e.evaluate([&](std::string_view name) -> std::optional<int64_t> {
           return values.find(name)->second;
         }).value_or(-1));
  return shape;
}

static void fill(reference::Tensor &tensor, int64_t limit,
                 std::mt19937_64 &random) {
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

Seeds test::readSeeds(const char *variable, uint64_t usual) {
  const char *text = std::getenv(variable);
  if (!text)
    return {0, usual};
  char *end = nullptr;
  uint64_t number = std::strtoull(text, &end, 10);
  if (*end == ':')
    return {number, std::strtoull(end + 1, nullptr, 10)};
  return {0, number};
}

ProgramRunner::ProgramRunner() {
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

ProgramRunner::~ProgramRunner() { llvm::sys::fs::remove_directories(folder); }

std::string ProgramRunner::getDevice() {
  const char *device = std::getenv("LUMINAL_TEST_DEVICE");
  return device ? device : "cpu";
}

std::string ProgramRunner::getArch() {
  const char *arch = std::getenv("LUMINAL_TEST_ARCH");
  return arch ? arch : "native";
}

std::optional<Tensors> ProgramRunner::interpret(const std::string &text,
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

bool ProgramRunner::compileTo(const std::string &text,
                              const std::string &output,
                              std::optional<Phase> phase) {
  CompileOptions options;
  options.input = folder + "/p.mlir";
  options.output = output;
  options.threads = 1;
  options.target = getDevice();
  options.arch = getArch();
  options.emit = phase;
  if (configure)
    configure(options);
  std::ofstream(options.input) << text;
  error.clear();
  return mlir::succeeded(compile(*context, options));
}

std::string ProgramRunner::check(const std::string &text,
                                 const std::vector<Call> &calls) {
  std::string output = folder + "/p.lum";
  if (!compileTo(text, output, std::nullopt))
    return "not compiled: " + error;
  if (getArch() != "native")
    return {};
  auto artifact = runtime::Artifact::load(output);
  if (!artifact)
    return artifact.error().message;
  for (const Call &call : calls)
    if (std::string wrong = check(*artifact, call); !wrong.empty())
      return wrong;
  return {};
}

std::string ProgramRunner::emitText(const std::string &text, Phase phase) {
  std::string output = folder + "/phase.mlir";
  if (!compileTo(text, output, phase))
    return {};
  std::stringstream written;
  written << std::ifstream(output).rdbuf();
  return written.str();
}

std::string ProgramRunner::compare(const reference::Tensor &want,
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

std::optional<std::vector<Call>>
ProgramRunner::makeCalls(const RandomProgram &program,
                         const std::vector<unsigned> &returned, uint64_t seed) {
  std::string text = program.getText(returned),
              boundText = program.getBoundText(returned);
  std::vector<Call> calls;
  std::mt19937_64 random(seed);
  for (unsigned i = 0; i < (program.symbols.empty() ? 1 : 3); ++i) {
    Call &call = calls.emplace_back();
    call.seed = seed + i;
    call.nodes = returned;
    Values values;
    for (const auto &[name, range] : program.symbols) {
      int64_t hi = range.hi.value_or(24);
      values[name] =
          i == 0   ? hi
          : i == 1 ? range.lo
                   : range.lo + int64_t(random() % uint64_t(hi - range.lo + 1));
      call.sizes += (call.sizes.empty() ? ", where " : " ") + name + " = " +
                    std::to_string(values[name]);
    }
    std::mt19937_64 elements(call.seed);
    for (const Node &n : program.nodes) {
      if (!n.isArgument)
        continue;
      auto tensor =
          reference::Tensor::allocate(n.dtype, shapeOf(n.shape, values));
      if (!tensor) {
        error = "no memory";
        return std::nullopt;
      }
      fill(*tensor, n.limit, elements);
      call.arguments.push_back(*tensor);
    }
    for (const auto &[name, value] : values)
      call.arguments.push_back(
          *reference::Tensor::allocate(DType::F32, {value}));
    auto wanted = interpret(text, call.arguments);
    if (!wanted) {
      error = "the interpreter refuses the program: " + error;
      return std::nullopt;
    }
    auto bounds = interpret(boundText, call.arguments);
    if (!bounds) {
      error = "the interpreter refuses the bounds: " + error + "\n" + boundText;
      return std::nullopt;
    }
    call.wanted = std::move(*wanted);
    size_t next = 0;
    for (unsigned n : returned)
      call.bounds.push_back(program.nodes[n].isExact
                                ? std::nullopt
                                : std::optional((*bounds)[next++]));
  }
  return calls;
}

std::string
ProgramRunner::check(const std::shared_ptr<const runtime::Artifact> &artifact,
                     const Call &call) {
  runtime::ContextOptions options;
  options.threads = 1 + unsigned(call.seed % 2);
  auto made = runtime::Context::create(artifact, options);
  if (!made)
    return made.error().message;
  runtime::Context &context = **made;
  for (uint32_t i = 0; i < call.arguments.size(); ++i) {
    const reference::Tensor &a = call.arguments[i];
    if (Status bound =
            context.bindInput(i, a.data(), a.getDType(),
                              {a.getShape().data(), a.getShape().size()});
        !bound)
      return bound.error().message;
  }
  std::vector<std::string> first;
  for (bool isAgain : {false, true}) {
    if (Status done = context.run(); !done)
      return done.error().message;
    ++counts.calls;
    for (uint32_t i = 0; i < call.wanted.size(); ++i) {
      const reference::Tensor &want = call.wanted[i];
      auto shape = context.getOutputShape(i);
      if (!std::equal(shape.begin(), shape.end(), want.getShape().begin(),
                      want.getShape().end()))
        return "result " + std::to_string(i) + " has another shape";
      auto data = context.getOutputData(i);
      if (!data)
        return data.error().message;
      auto *got = static_cast<const char *>(*data);
      std::string wrong, name = "result " + std::to_string(i) + " (%v" +
                                std::to_string(call.nodes[i]) + ")";
      if (isAgain && std::memcmp(got, first[i].data(), first[i].size()))
        return name + " is not the same bits a second time" + call.sizes;
      if (isAgain)
        continue;
      first.emplace_back(got, want.getNumBytes());
      wrong = compare(want, got, call.bounds[i] ? &*call.bounds[i] : nullptr);
      if (!wrong.empty())
        return name + ", " + wrong + call.sizes;
    }
  }
  return {};
}
