//===- RandomMapsTest.cpp - Maps that stay inside, and maps that do not ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random index maps over random spaces go through the compiler, the interpreter
// and the artifact, which must agree with the map evaluated point by point: a
// program whose map leaves its operand is refused when it is compiled or when
// it is called with the sizes that it leaves it for, and any other call gives
// the right elements. Inputs lie between pages that may not be touched.
//
// LUMINAL_MAPS_SEEDS=FIRST:LAST or LUMINAL_MAPS_SECONDS=N runs other or more
// programs than the default few (docs/Testing.md).
//
//===----------------------------------------------------------------------===//

#include "luminal/InitAll.h"
#include "luminal/Pipelines/Compile.h"
#include "luminal/Reference/Interpreter.h"
#include "luminal/Runtime/Artifact.h"
#include "luminal/Runtime/Context.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <random>
#include <sys/mman.h>
#include <unistd.h>

using namespace luminal;

namespace {
using Values = std::map<std::string, int64_t, std::less<>>;

std::function<std::optional<int64_t>(std::string_view)>
lookUp(const Values &values) {
  return [&values](std::string_view name) -> std::optional<int64_t> {
    auto it = values.find(name);
    return it == values.end() ? std::nullopt
                              : std::optional<int64_t>(it->second);
  };
}

/// One map over one space into one tensor.
struct View {
  std::vector<Expr> map, space, limits;
};

struct Program {
  std::string text;
  /// Applied in order, from the operand.
  std::vector<View> views;
  bool isIota = false;
  std::map<std::string, SymbolRange> symbols;
};

/// As MLIR text.
std::string typeText(const std::vector<Expr> &extents, const char *element) {
  std::string text = "tensor<", dims;
  for (const Expr &e : extents) {
    text += e.asConstant() ? e.str() + "x" : "?x";
    if (!e.asConstant())
      dims += (dims.empty() ? "" : ", ") + e.str();
  }
  text += element;
  return text + (dims.empty() ? ">" : ", #hlir.dims<" + dims + ">>");
}

std::string mapText(const View &view) {
  std::vector<std::string> dims, results;
  for (size_t i = 0; i < view.space.size(); ++i)
    dims.push_back("d" + std::to_string(i));
  for (const Expr &e : view.map)
    results.push_back(e.str());
  return "<(" + llvm::join(dims, ", ") + ") -> (" + llvm::join(results, ", ") +
         ")>";
}

class Generator {
public:
  explicit Generator(unsigned seed) : random(seed) {}

  Program program() {
    Program p;
    bool isDynamic = pick(0, 2) > 0;
    if (isDynamic) {
      p.symbols["m"] = {pick(0, 2), pick(2, 6)};
      p.symbols["n"] = {pick(0, 2), pick(2, 6)};
      if (!pick(0, 5))
        p.symbols["n"].hi.reset();
      names = {"m", "n"};
    }
    unsigned form = unsigned(pick(0, 5));
    p.isIota = form == 4;
    View first = view(p.isIota ? std::vector<Expr>{} : extents(1, 2), p.isIota);
    p.views.push_back(first);
    std::string x = typeText(first.limits, "f32"),
                r = typeText(first.space, p.isIota ? "i64" : "f32");
    std::string body;
    switch (form) {
    case 0:
    default:
      body = "%r = hlir.view %x " + mapText(first) + " : " + x + " -> " + r;
      break;
    case 1:
      body = "%r = llir.view %x " + mapText(first) + " : " + x + " -> " + r;
      break;
    case 2:
      body = "%r = llir.kernel(%x) : (" + x + ") -> " + r +
             " {\n  ^bb0(%a: " + x + "):\n    %v = llir.view %a " +
             mapText(first) + " : " + x + " -> " + r +
             "\n    llir.yield %v : " + r + "\n  }";
      break;
    case 3: {
      View second = view(first.space, false);
      p.views.push_back(second);
      std::string s = typeText(second.space, "f32");
      body = "%v = hlir.view %x " + mapText(first) + " : " + x + " -> " + r +
             "\n  %r = hlir.view %v " + mapText(second) + " : " + r + " -> " +
             s;
      r = s;
      break;
    }
    case 4:
      body = "%r = hlir.iota " + mapText(first) + " : " + r;
      break;
    case 5: {
      // With k of extent 1 and a factor 1, the result is the mapped operand.
      View lhs = first;
      std::string ones;
      for (size_t i = 0; i <= lhs.space.size(); ++i)
        ones += (i ? ", d" : "d") + std::to_string(i);
      body = "%c = llir.constant dense<1.0> : tensor<1xf32>\n  %r = llir.gemm "
             "%x, %c k(1) <(" +
             ones + ") -> (" + results(lhs) + ")>, <(" + ones + ") -> (d" +
             std::to_string(lhs.space.size()) + ")> : " + x +
             ", tensor<1xf32> -> " + r;
      break;
    }
    }
    std::string arguments = p.isIota ? "" : "%x: " + x, symbols;
    for (const auto &[name, range] : p.symbols) {
      arguments += (arguments.empty() ? "%" : ", %") + name +
                   ": tensor<?xf32, #hlir.dims<" + name + ">>";
      symbols += (symbols.empty() ? "" : ", ") + name + " in [" +
                 std::to_string(range.lo) + ", " +
                 (range.hi ? std::to_string(*range.hi) : "") + "]";
    }
    p.text = "func.func @main(" + arguments + ") -> " + r +
             (symbols.empty() ? ""
                              : " attributes {hlir.symbols = #hlir.symbols<" +
                                    symbols + ">}") +
             " {\n  " + body + "\n  return %r : " + r + "\n}\n";
    return p;
  }

  int64_t pick(int64_t lo, int64_t hi) {
    return std::uniform_int_distribution<int64_t>(lo, hi)(random);
  }

private:
  static std::string results(const View &view) {
    std::vector<std::string> texts;
    for (const Expr &e : view.map)
      texts.push_back(e.str());
    return llvm::join(texts, ", ");
  }

  Expr symbol() { return Expr::symbol(names[size_t(pick(0, 1))]); }

  Expr extent() {
    if (names.empty() || pick(0, 1))
      return Expr(pick(1, 6));
    switch (pick(0, 5)) {
    case 0:
      return symbol() + Expr(pick(1, 3));
    case 1:
      return symbol() * Expr(pick(2, 3));
    case 2:
      return Expr::floorDiv(symbol() + Expr(3), 2);
    default:
      return symbol();
    }
  }

  std::vector<Expr> extents(int64_t least, int64_t most) {
    std::vector<Expr> result;
    for (int64_t i = 0, n = pick(least, most); i < n; ++i)
      result.push_back(extent());
    return result;
  }

  Expr leaf(size_t rank) {
    switch (pick(0, 5)) {
    case 0:
      if (!names.empty())
        return symbol();
      [[fallthrough]];
    case 1:
      if (!pick(0, 7))
        return Expr((int64_t(1) << pick(30, 62)) + pick(-1, 1));
      return Expr(pick(-3, 5));
    default:
      return Expr::dim(unsigned(pick(0, int64_t(rank) - 1)));
    }
  }

  Expr expression(unsigned depth, size_t rank) {
    if (depth == 0)
      return leaf(rank);
    Expr a = expression(unsigned(pick(0, depth - 1)), rank),
         b = expression(unsigned(pick(0, depth - 1)), rank);
    switch (pick(0, 7)) {
    case 0:
    case 1:
      return a + b;
    case 2:
      return a - b;
    case 3:
      return a * b;
    case 4:
      return Expr::floorDiv(a, b);
    case 5:
      return Expr::mod(a, b);
    case 6:
      return Expr::max(a, b);
    default:
      return Expr::min(a, b);
    }
  }

  /// Over a random space, into `limits`; bounds are true about every other
  /// time.
  View view(std::vector<Expr> limits, bool isIota) {
    View v{{}, extents(1, 3), std::move(limits)};
    auto make = [&] {
      Expr e;
      do
        e = expression(unsigned(pick(1, 4)), v.space.size());
      while (e.isUndefined());
      return e;
    };
    if (isIota)
      v.map.push_back(make());
    for (const Expr &limit : v.limits) {
      Expr e = make();
      switch (pick(0, 5)) {
      case 0:
        e = Expr::mod(e, limit);
        break;
      case 1:
        e = Expr::max(Expr::min(e, limit - Expr(1)), 0);
        break;
      case 2:
      case 3:
        e = Expr::dim(unsigned(pick(0, int64_t(v.space.size()) - 1)));
        break;
      default:
        break;
      }
      v.map.push_back(e.isUndefined() ? Expr(0) : e);
    }
    return v;
  }

  std::mt19937 random;
  std::vector<std::string> names;
};

//===----------------------------------------------------------------------===//
// Expected results
//===----------------------------------------------------------------------===//

/// Whether `e` and every operand of floordiv, mod, max and min has a value.
bool hasValues(const Expr &e, const Values &values,
               const std::vector<int64_t> &at) {
  if (e.kind() >= Expr::Kind::FloorDiv)
    for (const Expr &operand : e.operands())
      if (!operand.evaluate(lookUp(values), at))
        return false;
  for (const Expr &operand : e.operands())
    if (!hasValues(operand, values, at))
      return false;
  return true;
}

std::vector<int64_t> shapeOf(const std::vector<Expr> &extents,
                             const Values &values) {
  std::vector<int64_t> shape;
  for (const Expr &e : extents)
    shape.push_back(e.evaluate(lookUp(values)).value_or(-1));
  return shape;
}

int64_t sizeOf(const std::vector<int64_t> &shape) {
  int64_t size = 1;
  for (int64_t n : shape)
    size *= n;
  return size;
}

/// The positions that the view reads; std::nullopt where one has no value or is
/// outside.
std::optional<std::vector<int64_t>> positions(const View &view,
                                              const Values &values) {
  std::vector<int64_t> space = shapeOf(view.space, values),
                       limits = shapeOf(view.limits, values);
  std::vector<int64_t> result, at(space.size());
  for (int64_t i = 0, n = sizeOf(space); i < n; ++i) {
    int64_t position = 0;
    for (size_t k = 0; k < view.map.size(); ++k) {
      std::optional<int64_t> index = view.map[k].evaluate(lookUp(values), at);
      if (!index || !hasValues(view.map[k], values, at))
        return std::nullopt;
      if (limits.empty())
        position = *index;
      else if (*index < 0 || *index >= limits[k])
        return std::nullopt;
      else
        position = position * limits[k] + *index;
    }
    result.push_back(position);
    for (size_t k = space.size(); k-- > 0;) {
      if (++at[k] < space[k])
        break;
      at[k] = 0;
    }
  }
  return result;
}

/// The result's elements, where each input element is its position.
std::optional<std::vector<int64_t>> expected(const Program &program,
                                             const Values &values) {
  std::vector<std::vector<int64_t>> all;
  for (const View &view : program.views) {
    std::optional<std::vector<int64_t>> read = positions(view, values);
    if (!read)
      return std::nullopt;
    all.push_back(std::move(*read));
  }
  std::vector<int64_t> result = all.back();
  for (size_t k = all.size() - 1; k-- > 0;)
    for (int64_t &position : result)
      position = all[k][size_t(position)];
  return result;
}

//===----------------------------------------------------------------------===//
// Actual results
//===----------------------------------------------------------------------===//

/// f32 elements 0, 1, 2, ... whose last byte is up to 15 bytes before a page
/// that must not be touched; so is the page before them.
class Guarded {
public:
  explicit Guarded(int64_t count) {
    size_t page = size_t(sysconf(_SC_PAGESIZE));
    size_t bytes = (size_t(count) * 4 + 15) / 16 * 16;
    size_t inner = (std::max<size_t>(bytes, 1) + page - 1) / page * page;
    total = inner + 2 * page;
    base = static_cast<char *>(
        mmap(nullptr, total, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    EXPECT_NE(base, MAP_FAILED);
    EXPECT_EQ(mprotect(base + page, inner, PROT_READ | PROT_WRITE), 0);
    data = reinterpret_cast<float *>(base + page + inner - bytes);
    for (int64_t i = 0; i < count; ++i)
      data[i] = float(i);
  }
  ~Guarded() { munmap(base, total); }
  Guarded(const Guarded &) = delete;
  Guarded &operator=(const Guarded &) = delete;
  float *data;

private:
  char *base;
  size_t total;
};

struct Argument {
  std::vector<int64_t> shape;
  std::unique_ptr<Guarded> memory;
};

std::vector<Argument> makeArguments(const Program &program,
                                    const Values &values) {
  std::vector<std::vector<int64_t>> shapes;
  if (!program.isIota)
    shapes.push_back(shapeOf(program.views[0].limits, values));
  for (const auto &[name, value] : values)
    shapes.push_back({value});
  std::vector<Argument> arguments;
  for (std::vector<int64_t> &shape : shapes) {
    auto memory = std::make_unique<Guarded>(sizeOf(shape));
    arguments.push_back({std::move(shape), std::move(memory)});
  }
  return arguments;
}

/// Elements as integers, or the error.
using Outcome = Result<std::vector<int64_t>>;

std::vector<int64_t> elements(const void *data, int64_t count, bool isInt) {
  std::vector<int64_t> result;
  for (int64_t i = 0; i < count; ++i)
    result.push_back(isInt ? static_cast<const int64_t *>(data)[i]
                           : int64_t(static_cast<const float *>(data)[i]));
  return result;
}

Outcome runArtifact(const std::shared_ptr<const runtime::Artifact> &artifact,
                    const Program &program, const Values &values) {
  runtime::ContextOptions options;
  options.threads = 1;
  LUMINAL_TRY(context, runtime::Context::create(artifact, options));
  std::vector<Argument> arguments = makeArguments(program, values);
  for (uint32_t i = 0; i < arguments.size(); ++i)
    LUMINAL_CHECK(context->bindInput(i, arguments[i].memory->data, DType::F32,
                                     arguments[i].shape));
  LUMINAL_CHECK(context->run());
  auto shape = context->getOutputShape(0);
  LUMINAL_TRY(data, context->getOutputData(0));
  return elements(data, sizeOf({shape.begin(), shape.end()}), program.isIota);
}

class RandomMaps : public testing::Test {
protected:
  RandomMaps() {
    static const bool registered = (registerAllPasses(), true);
    (void)registered;
    mlir::DialectRegistry registry;
    registerAllDialects(registry);
    context = std::make_unique<mlir::MLIRContext>(
        registry, mlir::MLIRContext::Threading::DISABLED);
    context->getDiagEngine().registerHandler([&](mlir::Diagnostic &d) {
      if (d.getSeverity() == mlir::DiagnosticSeverity::Error)
        errors.push_back(d.str());
    });
    llvm::SmallString<128> name;
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("maps", name));
    folder = name.str().str();
  }
  ~RandomMaps() override { llvm::sys::fs::remove_directories(folder); }

  Outcome interpret(const Program &program, const Values &values) {
    errors.clear();
    auto module =
        mlir::parseSourceString<mlir::ModuleOp>(program.text, context.get());
    if (!module)
      return Error(errors.empty() ? "no module" : errors.front());
    std::vector<Argument> arguments = makeArguments(program, values);
    llvm::SmallVector<reference::Tensor> tensors;
    for (const Argument &a : arguments)
      tensors.push_back(
          reference::Tensor::borrow(DType::F32, a.shape, a.memory->data));
    auto func = *module->getOps<mlir::func::FuncOp>().begin();
    auto results = reference::evaluate(func, tensors);
    if (mlir::failed(results))
      return Error(errors.empty() ? "no error" : errors.front());
    return elements((*results)[0].data(), (*results)[0].getNumElements(),
                    program.isIota);
  }

  void runOne(unsigned seed);

  std::unique_ptr<mlir::MLIRContext> context;
  std::vector<std::string> errors;
  std::string folder;
  struct {
    unsigned programs = 0, refused = 0, refusedTrue = 0, calls = 0,
             refusedCalls = 0;
  } counts;
};
} // namespace

void RandomMaps::runOne(unsigned seed) {
  Generator generator(seed);
  Program program = generator.program();
  SCOPED_TRACE("seed " + std::to_string(seed) + ":\n" + program.text);
  ++counts.programs;

  // Sizes of the calls: the ends of the ranges, and some between.
  std::vector<Values> sizes;
  for (unsigned i = 0; i < (program.symbols.empty() ? 1 : 8); ++i) {
    Values values;
    unsigned k = 0;
    for (const auto &[name, range] : program.symbols) {
      int64_t hi = range.hi.value_or(9);
      values[name] =
          i < 4 ? (i >> k++ & 1 ? hi : range.lo) : generator.pick(range.lo, hi);
    }
    sizes.push_back(std::move(values));
  }

  std::string input = folder + "/p.mlir", output = folder + "/p.lum";
  std::ofstream(input) << program.text;
  CompileOptions options;
  options.input = input;
  options.output = output;
  options.threads = 1;
  errors.clear();
  bool isCompiled = mlir::succeeded(compile(*context, options));
  std::shared_ptr<const runtime::Artifact> artifact;
  if (isCompiled) {
    auto loaded = runtime::Artifact::load(output);
    ASSERT_TRUE(loaded) << loaded.error().message;
    artifact = *loaded;
  } else {
    ++counts.refused;
    EXPECT_EQ(errors.size(), 1u);
    EXPECT_FALSE(llvm::sys::fs::exists(output));
  }
  bool isAlwaysTrue = true;
  for (const Values &values : sizes) {
    std::string at;
    for (const auto &[name, value] : values)
      at += name + " = " + std::to_string(value) + " ";
    SCOPED_TRACE(at);
    std::optional<std::vector<int64_t>> truth = expected(program, values);
    isAlwaysTrue &= truth.has_value();
    // The verifier refuses maps that are wrong for all sizes.
    Outcome interpreted = interpret(program, values);
    if (truth && isCompiled) {
      ASSERT_TRUE(interpreted) << interpreted.error().message;
      EXPECT_EQ(*interpreted, *truth);
    }
    if (!artifact)
      continue;
    ++counts.calls;
    Outcome found = runArtifact(artifact, program, values);
    counts.refusedCalls += !found;
    EXPECT_EQ(bool(found), truth.has_value())
        << (found ? "a call went through" : found.error().message)
        << "\nthe interpreter says: "
        << (interpreted ? "fine" : interpreted.error().message);
    if (found && truth)
      EXPECT_EQ(*found, *truth);
  }
  if (!isCompiled && isAlwaysTrue) {
    // Without symbols, every point of these small spaces is tried.
    EXPECT_FALSE(program.symbols.empty()) << errors.front();
    ++counts.refusedTrue;
  }
  llvm::sys::fs::remove(output);
}

TEST_F(RandomMaps, AreRefusedOrRight) {
  unsigned first = 0, last = 150;
  int64_t seconds = 0;
  if (const char *text = std::getenv("LUMINAL_MAPS_SECONDS"))
    seconds = std::strtoll(text, nullptr, 10);
  if (const char *text = std::getenv("LUMINAL_MAPS_SEEDS")) {
    char *end = nullptr;
    first = unsigned(std::strtoul(text, &end, 10));
    last =
        *end == ':' ? unsigned(std::strtoul(end + 1, nullptr, 10)) : first + 1;
  }
  auto begin = std::chrono::steady_clock::now();
  auto isTimeLeft = [&] {
    return std::chrono::steady_clock::now() - begin <
           std::chrono::seconds(seconds);
  };
  unsigned seed = first;
  for (; (seconds ? isTimeLeft() : seed < last) && !HasFailure(); ++seed)
    runOne(seed);
  std::printf("%u programs: %u refused when compiled (%u of them right for the "
              "sizes tried); %u calls, %u refused\n",
              counts.programs, counts.refused, counts.refusedTrue, counts.calls,
              counts.refusedCalls);
  // Both outcomes must occur, or the test shows nothing.
  if (!HasFailure() && counts.programs >= 100) {
    EXPECT_GT(counts.refused, 0u);
    EXPECT_GT(counts.refusedCalls, 0u);
    EXPECT_GT(counts.calls, counts.refusedCalls);
  }
}
