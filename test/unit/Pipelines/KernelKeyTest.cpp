//===- KernelKeyTest.cpp - Keys of kernels, and their schedules -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Pipelines/KernelKey.h"
#include "luminal/InitAll.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace luminal;
using namespace mlir;

namespace {
struct KernelKey : testing::Test {
  KernelKey() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context = std::make_unique<MLIRContext>(registry,
                                            MLIRContext::Threading::DISABLED);
    context->getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
      errors.push_back(diagnostic.str());
      return success();
    });
    std::string reason;
    target = createTarget("cpu", "x86-64-v3", "", &reason, /*workers=*/2);
    EXPECT_TRUE(target) << reason;
  }

  /// A sum over rows of a matrix, of `rows` and `columns`, whose sizes are
  /// symbols; the operand is called `name`.
  llir::KernelOp parse(StringRef name, StringRef rows, StringRef columns,
                       StringRef loops = "") {
    StringRef first = std::min(rows, columns), last = std::max(rows, columns);
    std::string matrix = ("tensor<?x?xf32, #hlir.dims<" + rows + ", " +
                          columns + ">>")
                             .str(),
                vector = ("tensor<?xf32, #hlir.dims<" + rows + ">>").str();
    std::string text =
        ("func.func @f(%" + name + ": " + matrix + ") -> " + vector +
         " attributes {hlir.symbols = #hlir.symbols<" + first +
         " in [1, 4096], " + last + " in [1, 4096]>} {\n  %r = llir.kernel(%" +
         name + ")" + loops + " : (" + matrix + ") -> " + vector +
         " {\n  ^bb0(%x: " + matrix + "):\n    %0 = llir.reduce sum %x : " +
         matrix + " -> " + vector + "\n    llir.yield %0 : " + vector +
         "\n  }\n  return %r : " + vector + "\n}\n")
            .str();
    modules.push_back(
        parseSourceString<ModuleOp>(text, ParserConfig(context.get())));
    EXPECT_TRUE(modules.back()) << text;
    llir::KernelOp kernel;
    if (modules.back())
      modules.back()->walk([&](llir::KernelOp op) { kernel = op; });
    return kernel;
  }
  static LoneKernel isolate(llir::KernelOp kernel) {
    auto func = kernel->getParentOfType<func::FuncOp>();
    return isolateKernel(
        kernel, func->getAttrOfType<hlir::SymbolsAttr>(hlir::kSymbolsAttr)
                    .getEntries());
  }

  std::unique_ptr<MLIRContext> context;
  std::unique_ptr<TargetInterface> target;
  std::vector<OwningOpRef<ModuleOp>> modules;
  std::vector<std::string> errors;
  TimingDevice device{"cpu", "native", 2, 2, "a device"};
};
} // namespace

TEST_F(KernelKey, NamesAreNotPartOfIt) {
  LoneKernel a = isolate(parse("a", "s0", "s1")),
             b = isolate(parse("other", "z", "k"));
  EXPECT_EQ(a.text, b.text);
  EXPECT_EQ(a.symbols, (std::vector<std::string>{"s0", "s1"}));
  EXPECT_EQ(b.symbols, (std::vector<std::string>{"z", "k"}));
  EXPECT_EQ(getKernelKey(a, {64, 64}, device),
            getKernelKey(b, {64, 64}, device));
  // The text is a program of its own.
  EXPECT_TRUE(parseSourceString<ModuleOp>(a.text, ParserConfig(context.get())));
}

TEST_F(KernelKey, EverythingElseIs) {
  LoneKernel a = isolate(parse("a", "s0", "s1"));
  std::string key = getKernelKey(a, {64, 64}, device);
  EXPECT_EQ(key.size(), 64u);
  EXPECT_NE(key, getKernelKey(a, {64, 65}, device));
  LoneKernel scheduled = isolate(parse(
      "a", "s0", "s1",
      " loops<grid(d0) stream(d1:all v8) op0 = pass {lanes = 8, unroll = 2}>"));
  EXPECT_NE(key, getKernelKey(scheduled, {64, 64}, device));
  for (auto change : std::initializer_list<void (*)(TimingDevice &)>{
           [](TimingDevice &d) { d.target = "cuda"; },
           [](TimingDevice &d) { d.arch = "znver4"; },
           [](TimingDevice &d) { d.workers = 3; },
           [](TimingDevice &d) { d.threads = 3; },
           [](TimingDevice &d) { d.device = "another"; }}) {
    TimingDevice other = device;
    change(other);
    EXPECT_NE(key, getKernelKey(a, {64, 64}, other));
  }
}

TEST_F(KernelKey, SchedulesAreLegalAndTheFirstIsTheStaticOne) {
  llir::KernelOp kernel = parse("a", "s0", "s1");
  KernelAnalysis::SymbolRanges ranges =
      hlir::getAssumptions(kernel).getSymbols();
  SmallVector<llir::ProposedLoops> all = target->proposeAll(kernel, ranges);
  ASSERT_GE(all.size(), 4u);
  EXPECT_FALSE(kernel.getLoops());
  EXPECT_EQ(all.front().loops, target->propose(kernel, ranges).loops);
  llvm::SmallDenseSet<Attribute> seen;
  for (const llir::ProposedLoops &proposed : all) {
    EXPECT_TRUE(seen.insert(proposed.loops).second);
    EXPECT_GT(proposed.price, 0);
    kernel.setLoopsAttr(proposed.loops);
    EXPECT_TRUE(succeeded(target->verify(kernel, ranges)));
  }
  // What was tried and cannot be is no error.
  EXPECT_TRUE(errors.empty());

  // One number is other, and those that are legal come by price.
  kernel.setLoopsAttr(all.front().loops);
  SmallVector<llir::ProposedLoops> near =
      target->refine(kernel, all.front().loops, ranges);
  EXPECT_EQ(kernel.getLoops(), all.front().loops);
  ASSERT_GE(near.size(), 3u);
  for (size_t i = 0; i < near.size(); ++i) {
    EXPECT_NE(near[i].loops, all.front().loops);
    if (i)
      EXPECT_LE(near[i - 1].price, near[i].price);
    kernel.setLoopsAttr(near[i].loops);
    EXPECT_TRUE(succeeded(target->verify(kernel, ranges)));
  }
}

/// Six reductions, each of which the elements' form computes again in the loop
/// of the next, take hours: no clock waits for them.
TEST_F(KernelKey, WhatIsHopelessIsNotTried) {
  std::string reason, type = "tensor<64x64xf32>", last = "%x",
                      text = "func.func @f(%f: " + type + ") -> " + type +
                             " {\n%r = llir.kernel(%f) : (" + type + ") -> " +
                             type + " {\n^bb0(%x: " + type + "):\n";
  for (char c : StringRef("abcdef")) {
    std::string m = std::string("%m") + c, b = std::string("%b") + c,
                d = std::string("%d") + c;
    text += m + " = llir.reduce max " + last + " : " + type +
            " -> tensor<64xf32>\n" + b + " = llir.view " + m +
            " <(d0, d1) -> (d0)> : tensor<64xf32> -> " + type + "\n" + d +
            " = llir.elementwise sub(" + last + ", " + b + ") : (" + type +
            ", " + type + ") -> " + type + "\n";
    last = d;
  }
  text += "llir.yield " + last + " : " + type + "\n}\nreturn %r : " + type +
          "\n}\n";
  target = createTarget("cuda", "sm_90a", "", &reason, /*workers=*/0);
  ASSERT_TRUE(target) << reason;
  auto module = parseSourceString<ModuleOp>(text, ParserConfig(context.get()));
  ASSERT_TRUE(module) << text;
  llir::KernelOp kernel;
  module->walk([&](llir::KernelOp op) { kernel = op; });
  KernelAnalysis::SymbolRanges ranges =
      hlir::getAssumptions(kernel).getSymbols();
  SmallVector<llir::ProposedLoops> all = target->proposeAll(kernel, ranges);
  EXPECT_GE(all.size(), 2u);
  for (const llir::ProposedLoops &proposed : all) {
    kernel.setLoopsAttr(proposed.loops);
    EXPECT_NE(
        llir::getLoopsTitle(kernel, proposed.loops.getCases().front()).str(),
        "elements");
  }
}

namespace {
/// Kernels of many sorts, as text of their bodies.
struct Sort {
  StringRef name, arguments, operands, result, body;
  /// For failures.
  friend void PrintTo(const Sort &sort, std::ostream *out) {
    *out << sort.name.str();
  }
};
const Sort kSorts[] = {
    {"softmax", "%f: tensor<64x256xf32>", "(%f) : (tensor<64x256xf32>)",
     "tensor<64x256xf32>",
     R"(^bb0(%x: tensor<64x256xf32>):
  %m = llir.reduce max %x : tensor<64x256xf32> -> tensor<64xf32>
  %b = llir.view %m <(d0, d1) -> (d0)> : tensor<64xf32> -> tensor<64x256xf32>
  %d = llir.elementwise sub(%x, %b) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
  %e = llir.elementwise exp(%d) : (tensor<64x256xf32>) -> tensor<64x256xf32>
  %s = llir.reduce sum %e : tensor<64x256xf32> -> tensor<64xf32>
  %t = llir.view %s <(d0, d1) -> (d0)> : tensor<64xf32> -> tensor<64x256xf32>
  %r = llir.elementwise div(%e, %t) : (tensor<64x256xf32>, tensor<64x256xf32>) -> tensor<64x256xf32>
  llir.yield %r : tensor<64x256xf32>)"},
    {"elements", "%f: tensor<7x9xf16>", "(%f) : (tensor<7x9xf16>)",
     "tensor<9x7xf16>",
     R"(^bb0(%x: tensor<7x9xf16>):
  %v = llir.view %x <(d0, d1) -> (d1, d0)> : tensor<7x9xf16> -> tensor<9x7xf16>
  %r = llir.elementwise neg(%v) : (tensor<9x7xf16>) -> tensor<9x7xf16>
  llir.yield %r : tensor<9x7xf16>)"},
    {"columns", "%f: tensor<4096x32xf32>", "(%f) : (tensor<4096x32xf32>)",
     "tensor<32xf32>",
     R"(^bb0(%x: tensor<4096x32xf32>):
  %v = llir.view %x <(d0, d1) -> (d1, d0)> : tensor<4096x32xf32> -> tensor<32x4096xf32>
  %s = llir.reduce sum %v : tensor<32x4096xf32> -> tensor<32xf32>
  llir.yield %s : tensor<32xf32>)"},
    {"update", "%f: tensor<32x8xi64>, %g: tensor<5xi64>, %h: tensor<5x8xi64>",
     "(%f, %g, %h) : (tensor<32x8xi64>, tensor<5xi64>, tensor<5x8xi64>)",
     "tensor<32x8xi64>",
     R"(^bb0(%x: tensor<32x8xi64>, %i: tensor<5xi64>, %u: tensor<5x8xi64>):
  %s = llir.scatter add %x, %i, %u {checked} : tensor<32x8xi64>, tensor<5xi64>, tensor<5x8xi64>
  llir.yield %s : tensor<32x8xi64>)"}};

struct EverySort
    : KernelKey,
      testing::WithParamInterface<
          std::tuple<Sort, std::pair<const char *, const char *>>> {};
} // namespace

TEST_P(EverySort, SchedulesAreLegal) {
  auto [sort, device] = GetParam();
  std::string reason;
  target =
      createTarget(device.first, device.second, "", &reason, /*workers=*/0);
  ASSERT_TRUE(target) << reason;
  std::string text =
      ("func.func @f(" + sort.arguments + ") -> " + sort.result +
       " {\n%r = llir.kernel" + sort.operands + " -> " + sort.result + " {\n" +
       sort.body + "\n}\nreturn %r : " + sort.result + "\n}\n")
          .str();
  auto module = parseSourceString<ModuleOp>(text, ParserConfig(context.get()));
  ASSERT_TRUE(module) << text;
  llir::KernelOp kernel;
  module->walk([&](llir::KernelOp op) { kernel = op; });
  KernelAnalysis::SymbolRanges ranges =
      hlir::getAssumptions(kernel).getSymbols();
  SmallVector<llir::ProposedLoops> all = target->proposeAll(kernel, ranges);
  EXPECT_GE(all.size(), 2u);
  for (const llir::ProposedLoops &proposed : all) {
    kernel.setLoopsAttr(proposed.loops);
    EXPECT_TRUE(succeeded(target->verify(kernel, ranges)));
  }
  EXPECT_TRUE(errors.empty());
}

static std::string
nameOf(const testing::TestParamInfo<EverySort::ParamType> &i) {
  const auto &[sort, device] = i.param;
  std::string name = (sort.name + "_" + device.second).str();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    Targets, EverySort,
    testing::Combine(testing::ValuesIn(kSorts),
                     testing::Values(std::pair("cpu", "x86-64-v4"),
                                     std::pair("cuda", "sm_80"),
                                     std::pair("cuda", "sm_90a"))),
    nameOf);
