//===- KernelOracle.cpp - Kernels by their definition ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelOracle.h"
#include "Rounds.h"
#include "luminal/Dialect/LLIR/Schedules/Schedules.h"
#include "luminal/Runtime/CpuFeatures.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/TargetSelect.h"
#include "gtest/gtest.h"

#include <cmath>
#include <cstring>
#include <dlfcn.h>

using namespace luminal;
using namespace luminal::test;
using namespace mlir;
using llir::Fn;

static int64_t evaluate(const Expr &e, const Sizes &sizes,
                        const std::vector<int64_t> &dims = {}) {
  auto value = e.evaluate(
      [&](std::string_view name) -> std::optional<int64_t> {
        auto it = sizes.find(std::string(name));
        return it == sizes.end() ? std::nullopt : std::optional(it->second);
      },
      dims);
  EXPECT_TRUE(value.has_value()) << e.str();
  return value.value_or(0);
}

static std::vector<int64_t> shapeOf(Value v, const Sizes &sizes) {
  std::vector<int64_t> shape;
  for (const Expr &e : hlir::getExtents(v))
    shape.push_back(evaluate(e, sizes));
  return shape;
}

static Type elementOf(Value v) {
  return cast<RankedTensorType>(v.getType()).getElementType();
}

static int64_t count(const std::vector<int64_t> &shape) {
  int64_t n = 1;
  for (int64_t x : shape)
    n *= x;
  return n;
}

static int64_t flatten(const std::vector<int64_t> &index,
                       const std::vector<int64_t> &shape) {
  int64_t at = 0;
  for (size_t i = 0; i < shape.size(); ++i) {
    EXPECT_TRUE(index[i] >= 0 && index[i] < shape[i]) << "index outside";
    at = at * shape[i] + index[i];
  }
  return at;
}

static bool next(std::vector<int64_t> &index,
                 const std::vector<int64_t> &shape) {
  for (size_t i = shape.size(); i-- > 0;) {
    if (++index[i] < shape[i])
      return true;
    index[i] = 0;
  }
  return false;
}

Element test::roundTo(Type type, Element v) {
  if (auto f = dyn_cast<FloatType>(type)) {
    APFloat x(v.f);
    bool lost;
    x.convert(f.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
    x.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
    return {x.convertToDouble(), 0};
  }
  unsigned bits = type.getIntOrFloatBitWidth();
  if (bits < 64 && bits > 1)
    v.i = int64_t(uint64_t(v.i) << (64 - bits)) >> (64 - bits);
  v.f = double(v.i);
  return v;
}

namespace {
class Interpreter {
public:
  Interpreter(const std::vector<Array> &inputs, const Sizes &sizes)
      : inputs(inputs), sizes(sizes) {}
  bool outside = false;

  Element at(Value v, const std::vector<int64_t> &index) {
    if (auto argument = dyn_cast<BlockArgument>(v)) {
      const Array &a = inputs[argument.getArgNumber()];
      return a.data[flatten(index, a.shape)];
    }
    auto key = std::make_pair(v.getAsOpaquePointer(), index);
    auto it = known.find(key);
    if (it != known.end())
      return it->second;
    return known[key] = roundTo(elementOf(v), compute(v, index));
  }

  void checkAll(llir::ScatterOp scatter) {
    std::vector<int64_t> shape = shapeOf(scatter.getIndices(), sizes);
    std::vector<int64_t> index(shape.size());
    if (count(shape))
      do
        checked(at(scatter.getIndices(), index).i,
                shapeOf(scatter.getDest(), sizes)[0]);
      while (next(index, shape));
  }

private:
  std::vector<int64_t> mapped(hlir::MapAttr map,
                              const std::vector<int64_t> &index) {
    std::vector<int64_t> result;
    for (const Expr &e : map.getResults())
      result.push_back(evaluate(e, sizes, index));
    return result;
  }

  int64_t checked(int64_t i, int64_t extent) {
    outside |= i < 0 || i >= extent;
    return outside ? 0 : i;
  }

  Element compute(Value v, const std::vector<int64_t> &index) {
    Operation *op = v.getDefiningOp();
    bool isFloat = isa<FloatType>(elementOf(v));
    if (auto e = dyn_cast<llir::ElementwiseOp>(op))
      return elementwise(e, index);
    if (auto view = dyn_cast<llir::ViewOp>(op))
      return at(view.getOperand(), mapped(view.getMap(), index));
    if (auto c = dyn_cast<llir::ConstantOp>(op)) {
      auto splat = cast<SplatElementsAttr>(c.getValue());
      if (isFloat)
        return {splat.getSplatValue<APFloat>().convertToDouble(), 0};
      int64_t i = splat.getSplatValue<APInt>().getSExtValue();
      return {double(i), i};
    }
    if (auto iota = dyn_cast<llir::IotaOp>(op)) {
      int64_t i = mapped(iota.getMap(), index)[0];
      return {double(i), i};
    }
    if (auto gather = dyn_cast<llir::GatherOp>(op)) {
      size_t rank = shapeOf(gather.getIndices(), sizes).size();
      std::vector<int64_t> where(index.begin(), index.begin() + rank);
      std::vector<int64_t> from{checked(at(gather.getIndices(), where).i,
                                        shapeOf(gather.getData(), sizes)[0])};
      if (outside)
        return {};
      from.insert(from.end(), index.begin() + rank, index.end());
      return at(gather.getData(), from);
    }
    if (auto reduce = dyn_cast<llir::ReduceOp>(op)) {
      int64_t n = shapeOf(reduce.getOperand(), sizes).back();
      bool isMax = reduce.getKind() == llir::ReduceKind::Max;
      // The maximum of no truth values is false.
      bool isFlag = elementOf(reduce.getOperand()).isInteger(1);
      Element sum{isMax ? -INFINITY : 0, isMax && !isFlag ? INT64_MIN : 0};
      for (int64_t k = 0; k < n; ++k) {
        std::vector<int64_t> inner = index;
        inner.push_back(k);
        Element x = at(reduce.getOperand(), inner);
        if (isMax)
          sum = {std::isnan(x.f) || x.f > sum.f ? x.f : sum.f,
                 std::max(sum.i, x.i)};
        else
          sum = {sum.f + x.f, sum.i + x.i};
      }
      return sum;
    }
    if (auto gemm = dyn_cast<llir::GemmOp>(op)) {
      int64_t n = evaluate(gemm.getKExtent(), sizes);
      Element sum;
      for (int64_t k = 0; k < n; ++k) {
        std::vector<int64_t> inner = index;
        inner.push_back(k);
        Element x = at(gemm.getLhs(), mapped(gemm.getLhsMap(), inner));
        Element y = at(gemm.getRhs(), mapped(gemm.getRhsMap(), inner));
        sum = {sum.f + x.f * y.f, sum.i + x.i * y.i};
      }
      return sum;
    }
    if (auto scatter = dyn_cast<llir::ScatterOp>(op)) {
      Element old = at(scatter.getDest(), index);
      std::vector<int64_t> shape = shapeOf(scatter.getIndices(), sizes);
      std::vector<int64_t> where(shape.size());
      int64_t rows = shapeOf(scatter.getDest(), sizes)[0];
      if (count(shape))
        do {
          if (checked(at(scatter.getIndices(), where).i, rows) != index[0] ||
              outside)
            continue;
          std::vector<int64_t> from = where;
          from.insert(from.end(), index.begin() + 1, index.end());
          Element x = at(scatter.getUpdates(), from);
          if (scatter.getCombine() == hlir::Combine::Add)
            x = {old.f + x.f, old.i + x.i};
          else if (scatter.getCombine() == hlir::Combine::Max)
            x = {std::max(old.f, x.f), std::max(old.i, x.i)};
          old = roundTo(elementOf(v), x);
        } while (next(where, shape));
      return old;
    }
    ADD_FAILURE() << "no definition of " << op->getName().getStringRef().str();
    return {};
  }

  Element elementwise(llir::ElementwiseOp e, const std::vector<int64_t> &i) {
    std::vector<Element> a;
    for (Value input : e.getInputs())
      a.push_back(at(input, i));
    bool isFloat = isa<FloatType>(elementOf(e.getInputs().back()));
    auto truth = [](bool b) { return Element{double(b), b}; };
    auto floats = [](double f) { return Element{f, 0}; };
    auto either = [&](double f, int64_t n) {
      return isFloat ? floats(f) : Element{double(n), n};
    };
    switch (e.getFn()) {
    case Fn::Neg:
      return either(-a[0].f, -a[0].i);
    case Fn::Exp:
    case Fn::ExpApprox:
    case Fn::ExpFast:
      return floats(std::exp(a[0].f));
    case Fn::Exp2:
    case Fn::Exp2Fast:
      return floats(std::exp2(a[0].f));
    case Fn::Log:
      return floats(std::log(a[0].f));
    case Fn::Tanh:
      return floats(std::tanh(a[0].f));
    case Fn::Sqrt:
      return floats(std::sqrt(a[0].f));
    case Fn::Recip:
      return floats(1 / a[0].f);
    case Fn::Rsqrt:
      return floats(1 / std::sqrt(a[0].f));
    case Fn::Sin:
      return floats(std::sin(a[0].f));
    case Fn::Silu:
      return floats(a[0].f / (1 + std::exp(-a[0].f)));
    case Fn::Add:
      return either(a[0].f + a[1].f, a[0].i + a[1].i);
    case Fn::Sub:
      return either(a[0].f - a[1].f, a[0].i - a[1].i);
    case Fn::Mul:
      return either(a[0].f * a[1].f, a[0].i * a[1].i);
    case Fn::Div:
      return floats(a[0].f / a[1].f);
    case Fn::BitAnd:
      return Element{0, a[0].i & a[1].i};
    case Fn::BitOr:
      return Element{0, a[0].i | a[1].i};
    case Fn::BitXor:
      return Element{0, a[0].i ^ a[1].i};
    case Fn::ShiftLeft:
      return Element{
          0, a[1].i < 0 ||
                     a[1].i >= elementOf(e.getResult()).getIntOrFloatBitWidth()
                 ? 0
                 : int64_t(uint64_t(a[0].i) << a[1].i)};
    case Fn::ShiftRight:
      return Element{0, a[0].i >>
                            (a[1].i < 0 ? 63 : std::min<int64_t>(a[1].i, 63))};
    case Fn::Max:
      return either(std::max(a[0].f, a[1].f), std::max(a[0].i, a[1].i));
    case Fn::LessThan:
      return truth(isFloat ? a[0].f < a[1].f : a[0].i < a[1].i);
    case Fn::LessEqual:
      return truth(isFloat ? a[0].f <= a[1].f : a[0].i <= a[1].i);
    case Fn::Equal:
      return truth(isFloat ? a[0].f == a[1].f : a[0].i == a[1].i);
    case Fn::Not:
      return truth(!a[0].i);
    case Fn::Or:
      return truth(a[0].i || a[1].i);
    case Fn::Select:
      return a[0].i ? a[1] : a[2];
    case Fn::Cast: {
      Type to = elementOf(e.getResult());
      if (isa<FloatType>(to))
        return floats(isFloat ? a[0].f : double(a[0].i));
      if (to.isInteger(1))
        return truth(isFloat ? a[0].f != 0 : a[0].i != 0);
      return Element{0, isFloat ? int64_t(a[0].f) : a[0].i};
    }
    default:
      ADD_FAILURE() << "no definition of "
                    << llir::stringifyFn(e.getFn()).str();
      return {};
    }
  }

  const std::vector<Array> &inputs;
  const Sizes &sizes;
  std::map<std::pair<void *, std::vector<int64_t>>, Element> known;
};
} // namespace

std::optional<std::vector<Array>>
test::interpret(llir::KernelOp kernel, const std::vector<Array> &inputs,
                const Sizes &sizes) {
  Interpreter interpreter(inputs, sizes);
  std::vector<Array> results;
  for (Value v : kernel.getBody().front().getTerminator()->getOperands()) {
    Array a{shapeOf(v, sizes), elementOf(v), {}};
    std::vector<int64_t> index(a.shape.size());
    if (count(a.shape))
      do
        a.data.push_back(interpreter.at(v, index));
      while (next(index, a.shape));
    results.push_back(std::move(a));
  }
  // Indices are checked even where no element of the result reads them.
  for (auto scatter : kernel.getBody().getOps<llir::ScatterOp>())
    interpreter.checkAll(scatter);
  if (interpreter.outside)
    return std::nullopt;
  return results;
}

//===----------------------------------------------------------------------===//
// Compiled
//===----------------------------------------------------------------------===//

CompiledKernel::CompiledKernel(StringRef text, StringRef cpu) {
  compile(text, cpu);
}

void CompiledKernel::compile(StringRef text, StringRef cpu) {
  static bool once = (llvm::InitializeNativeTarget(),
                      llvm::InitializeNativeTargetAsmPrinter(), true);
  (void)once;
  DialectRegistry registry;
  registerLLIRToLLVMDialects(registry);
  registry.insert<func::FuncDialect, hlir::HLIRDialect, llir::LLIRDialect>();
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  context.allowUnregisteredDialects();
  module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  module->walk([&](llir::KernelOp op) { kernel = op; });
  ASSERT_TRUE(kernel);
  for (Operation *op = kernel; op; op = op->getParentOp())
    if (auto attr = op->getAttrOfType<hlir::SymbolsAttr>(hlir::kSymbolsAttr))
      symbols.assign(attr.getEntries().begin(), attr.getEntries().end());
  std::string error;
  std::optional<CPUTarget> target = CPUTarget::get(cpu, &error);
  ASSERT_TRUE(target) << error;
  if (!kernel.getLoops()) {
    KernelAnalysis::SymbolRanges ranges;
    for (const hlir::SymbolEntry &entry : symbols)
      ranges[std::string(entry.name)] = entry.range;
    kernel.setLoopsAttr(
        llir::proposeLoops(kernel, ranges, target->getMachine()).loops);
  }
  OwningOpRef<ModuleOp> code = ModuleOp::create(module->getLoc());
  FailureOr<KernelInfo> made =
      emitKernel(kernel, "kernel", *target, *code, symbols);
  ASSERT_TRUE(succeeded(made));
  info = *made;
  ASSERT_TRUE(succeeded(mlir::verify(*code)));
  ASSERT_TRUE(succeeded(lowerToLLVM(*code)));
  std::unique_ptr<llvm::MemoryBuffer> object = compileToObject(*code, *target);
  ASSERT_TRUE(object);
  std::unique_ptr<llvm::MemoryBuffer> shared =
      linkSharedObject({object->getMemBufferRef()}, &error);
  ASSERT_TRUE(shared) << error;
  SmallString<128> path;
  int fd;
  ASSERT_FALSE(llvm::sys::fs::createTemporaryFile("kernel", "so", fd, path));
  {
    llvm::raw_fd_ostream stream(fd, /*shouldClose=*/true);
    stream << shared->getBuffer();
  }
  library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  llvm::sys::fs::remove(path);
  ASSERT_TRUE(library) << dlerror();
  function = dlsym(library, "kernel");
  ok = function;
}

CompiledKernel::~CompiledKernel() {
  if (library)
    dlclose(library);
}

std::vector<Array> CompiledKernel::randomInputs(const Sizes &sizes,
                                                uint64_t seed,
                                                int64_t indexLimit) const {
  std::mt19937_64 random(seed);
  std::vector<Array> inputs;
  for (Value v : kernel->getOperands()) {
    Array a{shapeOf(v, sizes), elementOf(v), {}};
    for (int64_t i = 0, n = count(a.shape); i < n; ++i) {
      Element x;
      if (isa<FloatType>(a.element))
        x.f = std::uniform_real_distribution<double>(-2, 2)(random);
      else
        x.i = int64_t(random() %
                      uint64_t(a.element.isInteger(1) ? 2 : indexLimit));
      a.data.push_back(roundTo(a.element, x));
    }
    inputs.push_back(std::move(a));
  }
  return inputs;
}

static int64_t bytesOf(Type element) {
  return dtypeSize(*hlir::getDType(element));
}

static void encode(char *to, Type type, Element v) {
  if (auto f = dyn_cast<FloatType>(type)) {
    APFloat x(v.f);
    bool lost;
    x.convert(f.getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
    uint64_t bits = x.bitcastToAPInt().getZExtValue();
    std::memcpy(to, &bits, bytesOf(type));
    return;
  }
  std::memcpy(to, &v.i, bytesOf(type));
}

static Element decode(const char *from, Type type) {
  uint64_t bits = 0;
  std::memcpy(&bits, from, bytesOf(type));
  if (auto f = dyn_cast<FloatType>(type)) {
    APFloat x(f.getFloatSemantics(), APInt(f.getWidth(), bits));
    bool lost;
    x.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
    return {x.convertToDouble(), 0};
  }
  return roundTo(type, {0, int64_t(bits)});
}

/// Each buffer is between guard bytes that must not change.
struct CompiledKernel::Memory {
  static constexpr int64_t kGuard = 256;
  static constexpr char kFill = 0x5A;
  struct Buffer {
    std::vector<char> bytes;
    char *data = nullptr;
    int64_t size = 0;
  };
  std::vector<Buffer> buffers;
  std::vector<void *> pointers;

  char *add(int64_t size) {
    Buffer buffer;
    buffer.bytes.assign(size + 2 * kGuard + 64, kFill);
    auto base = reinterpret_cast<uintptr_t>(buffer.bytes.data()) + kGuard;
    buffer.data = reinterpret_cast<char *>((base + 63) / 64 * 64);
    buffer.size = size;
    buffers.push_back(std::move(buffer));
    return buffers.back().data;
  }
  bool intact() const {
    for (const Buffer &b : buffers) {
      for (const char *p = b.bytes.data(); p < b.data; ++p)
        if (*p != kFill)
          return false;
      for (const char *p = b.data + b.size; p < b.bytes.data() + b.bytes.size();
           ++p)
        if (*p != kFill)
          return false;
    }
    return true;
  }
};

int CompiledKernel::call(Memory &memory, const Sizes &sizes, int parts) const {
  std::vector<int64_t> values;
  for (const hlir::SymbolEntry &s : symbols)
    values.push_back(sizes.at(std::string(s.name)));
  int64_t work = evaluate(info.work, sizes);
  int64_t scratch = evaluate(info.scratch, sizes);
  Memory own;
  char *scratchAt = own.add(scratch);
  auto run = reinterpret_cast<int32_t (*)(void *const *, const int64_t *,
                                          int64_t, int64_t, void *)>(function);
  int status = 0;
  if (!info.parallel)
    parts = 1;
  for (int p = parts; p-- > 0;)
    status |= run(memory.pointers.data(), values.data(), work * p / parts,
                  work * (p + 1) / parts, scratchAt);
  EXPECT_TRUE(own.intact()) << "wrote outside its scratch";
  return status;
}

int CompiledKernel::run(const std::vector<Array> &inputs, const Sizes &sizes,
                        int parts, std::vector<Array> &results) const {
  Memory memory;
  for (const Array &a : inputs) {
    int64_t size = bytesOf(a.element);
    char *to = memory.add(size * a.data.size());
    for (size_t i = 0; i < a.data.size(); ++i)
      encode(to + i * size, a.element, a.data[i]);
  }
  results.clear();
  for (Value v : kernel->getResults()) {
    results.push_back({shapeOf(v, sizes), elementOf(v), {}});
    if (!llir::KernelOp(kernel).getInPlace())
      memory.add(bytesOf(elementOf(v)) * count(results.back().shape));
  }
  for (Memory::Buffer &b : memory.buffers)
    memory.pointers.push_back(b.data);
  if (llir::KernelOp(kernel).getInPlace())
    memory.pointers.push_back(memory.pointers[0]);
  // Counters are zero, states are whatever was there.
  int64_t counterBytes = 0;
  KernelAnalysis::SymbolRanges ranges;
  for (const hlir::SymbolEntry &entry : symbols)
    ranges[std::string(entry.name)] = entry.range;
  if (auto workspace = llir::getWorkspace(kernel, ranges)) {
    memory.pointers.push_back(memory.add(evaluate(workspace->states, sizes)));
    counterBytes = evaluate(workspace->counters, sizes);
    memory.pointers.push_back(memory.add(counterBytes));
    std::memset(memory.pointers.back(), 0, counterBytes);
  }
  int status = call(memory, sizes, parts);
  EXPECT_TRUE(memory.intact()) << "wrote outside its buffers";
  for (int64_t i = 0; i < counterBytes; ++i)
    EXPECT_EQ(static_cast<char *>(memory.pointers.back())[i], 0)
        << "byte " << i << " of the counters";
  for (size_t r = 0; r < results.size(); ++r) {
    Array &a = results[r];
    const char *from =
        static_cast<const char *>(memory.pointers[inputs.size() + r]);
    for (int64_t i = 0, n = count(a.shape); i < n; ++i)
      a.data.push_back(decode(from + i * bytesOf(a.element), a.element));
  }
  return status;
}

void test::checkKernel(StringRef text, const std::vector<Sizes> &sizes,
                       double tolerance, int64_t indexLimit,
                       function_ref<void(std::vector<Array> &)> change,
                       std::vector<Array> *found) {
  SmallVector<const char *> cpus = {"native", "x86-64-v3"};
  // What takes tiles here is checked in pairs as well.
  if (text.contains("bf16") &&
      runtime::checkCpuFeatures({"avx512bf16", "amx-bf16"}))
    cpus.push_back("cooperlake");
  std::vector<std::unique_ptr<CompiledKernel>> compiled;
  for (const char *cpu : cpus) {
    compiled.push_back(std::make_unique<CompiledKernel>(text, cpu));
    ASSERT_TRUE(compiled.back()->ok);
  }
  uint64_t seed = 1;
  for (const Sizes &s : sizes) {
    // What the body says takes much longer than what is compiled.
    CompiledKernel &first = *compiled.front();
    std::vector<Array> inputs = first.randomInputs(s, seed++, indexLimit);
    if (change)
      change(inputs);
    // It is the release build's matter: compiled code is not instrumented.
    std::optional<std::vector<Array>> expected;
    if (!kIsSanitized)
      expected = interpret(first.kernel, inputs, s);
    for (auto [cpu, code] : llvm::zip_equal(cpus, compiled))
      for (int parts : {1, 3}) {
        std::vector<Array> results;
        int status = code->run(inputs, s, parts, results);
        if (!kIsSanitized)
          ASSERT_EQ(status, expected ? 0 : 1) << cpu;
        if (status)
          continue;
        for (size_t r = 0; expected && r < results.size(); ++r) {
          const Array &got = results[r], &want = (*expected)[r];
          double scale = 1;
          for (const Element &x : want.data)
            if (std::isfinite(x.f))
              scale = std::max(scale, std::abs(x.f));
          for (size_t i = 0; i < want.data.size(); ++i) {
            double x = got.data[i].f, y = want.data[i].f;
            bool same = x == y || (std::isnan(x) && std::isnan(y)) ||
                        std::abs(x - y) <= tolerance * scale;
            ASSERT_TRUE(same && got.data[i].i == want.data[i].i)
                << cpu << ", result " << r << ", element " << i << " in "
                << parts << " parts: " << x << " (" << got.data[i].i << ") for "
                << y << " (" << want.data[i].i << ")";
          }
        }
        if (found && code == compiled.front() && parts != 1)
          llvm::append_range(*found, results);
      }
  }
}
