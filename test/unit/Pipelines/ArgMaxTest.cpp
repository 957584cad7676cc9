//===- ArgMaxTest.cpp - A foreign anchor in the whole pipeline ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `test.argmax` (test/lib/Conversion/ArgMax.h) is fused with the product that
// it reads, scheduled, emitted and run, although nothing in lib/ knows it.
//
//===----------------------------------------------------------------------===//

#include "ArgMax.h"
#include "luminal/InitAll.h"
#include "luminal/Pipelines/Compile.h"
#include "luminal/Runtime/Context.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"
#include <fstream>
#include <random>

using namespace luminal;

namespace {
constexpr int64_t kRows = 37, kColumns = 45, kDepth = 16;

/// A product of x [37, 16] and w [45, 16], and `rest`.
std::string getProgram(llvm::StringRef rest) {
  return (R"(
func.func @main(%x: tensor<37x16xf32> {hlir.name = "x", hlir.kind = "input"},
                %w: tensor<45x16xf32> {hlir.name = "w", hlir.kind = "input"})
    -> (tensor<37xf32>, tensor<37xi64>) {
  %g = llir.gemm %x, %w k(16) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
      : tensor<37x16xf32>, tensor<45x16xf32> -> tensor<37x45xf32>
)" + rest +
          "  return %v, %i : tensor<37xf32>, tensor<37xi64>\n}\n")
      .str();
}

class ArgMax : public testing::Test {
protected:
  ArgMax() {
    static const bool registered = (registerAllPasses(), true);
    (void)registered;
    mlir::DialectRegistry registry;
    registerAllDialects(registry);
    registry.insert<test::TestDialect>();
    context = std::make_unique<mlir::MLIRContext>(
        registry, mlir::MLIRContext::Threading::DISABLED);
    llvm::SmallString<128> name;
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("argmax", name));
    folder = name.str().str();
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for (float &v : x)
      v = normal(random);
    for (float &v : w)
      v = normal(random);
  }
  ~ArgMax() override { llvm::sys::fs::remove_directories(folder); }

  /// The text after a phase, or the artifact.
  std::string compileTo(const std::string &program,
                        std::optional<Phase> phase) {
    CompileOptions options;
    options.input = folder + "/p.mlir";
    options.output = folder + (phase ? "/out.mlir" : "/p.lum");
    options.emit = phase;
    std::ofstream(options.input) << program;
    EXPECT_TRUE(mlir::succeeded(compile(*context, options)));
    std::ifstream file(options.output);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  /// Runs the artifact and compares with loops in double.
  void check() {
    auto artifact = runtime::Artifact::load(folder + "/p.lum");
    ASSERT_TRUE(bool(artifact));
    auto made = runtime::Context::create(*artifact, {});
    ASSERT_TRUE(bool(made));
    runtime::Context &c = **made;
    const int64_t xShape[] = {kRows, kDepth}, wShape[] = {kColumns, kDepth};
    ASSERT_TRUE(bool(c.bindInput(0, x, DType::F32, xShape)));
    ASSERT_TRUE(bool(c.bindInput(1, w, DType::F32, wShape)));
    ASSERT_TRUE(bool(c.run()));
    auto *values = static_cast<const float *>(*c.getOutputData(0));
    auto *indices = static_cast<const int64_t *>(*c.getOutputData(1));
    for (int64_t r = 0; r < kRows; ++r) {
      double best = -1e30;
      int64_t at = 0;
      for (int64_t n = 0; n < kColumns; ++n) {
        double sum = 0;
        for (int64_t k = 0; k < kDepth; ++k)
          sum += double(x[r * kDepth + k]) * w[n * kDepth + k];
        if (sum > best)
          best = sum, at = n;
      }
      EXPECT_EQ(indices[r], at) << "row " << r;
      EXPECT_NEAR(values[r], best, 1e-4) << "row " << r;
    }
  }

  std::unique_ptr<mlir::MLIRContext> context;
  std::string folder;
  float x[kRows * kDepth], w[kColumns * kDepth];
};

size_t count(const std::string &text, const std::string &what) {
  size_t found = 0;
  for (size_t at = text.find(what); at != text.npos;
       at = text.find(what, at + 1))
    ++found;
  return found;
}
} // namespace

TEST_F(ArgMax, FusesWithTheProductItReads) {
  std::string program = getProgram("  %v, %i = \"test.argmax\"(%g) : "
                                   "(tensor<37x45xf32>) -> (tensor<37xf32>, "
                                   "tensor<37xi64>)\n");
  std::string text = compileTo(program, Phase::Scheduled);
  EXPECT_EQ(count(text, "llir.kernel("), 1u) << text;
  EXPECT_EQ(count(text, "op0 = tile"), 1u) << text;
  EXPECT_EQ(count(text, "op1 = pass"), 1u) << text;
  compileTo(program, std::nullopt);
  check();
}

// Elementwise ops read both results and are fused into the same kernel.
TEST_F(ArgMax, HasAnEpilogue) {
  std::string program = getProgram(R"(
  %a, %j = "test.argmax"(%g) : (tensor<37x45xf32>) -> (tensor<37xf32>, tensor<37xi64>)
  %b = llir.elementwise neg(%a) : (tensor<37xf32>) -> tensor<37xf32>
  %v = llir.elementwise neg(%b) : (tensor<37xf32>) -> tensor<37xf32>
  %k = llir.elementwise neg(%j) : (tensor<37xi64>) -> tensor<37xi64>
  %i = llir.elementwise neg(%k) : (tensor<37xi64>) -> tensor<37xi64>
)");
  compileTo(program, std::nullopt);
  check();
}

// Without a product: reduces rows in passes.
TEST_F(ArgMax, ReducesRows) {
  std::string program = getProgram(R"(
  %h = llir.view %g <(d0, d1) -> (d0, d1)> : tensor<37x45xf32> -> tensor<37x45xf32>
  %m = llir.reduce max %h : tensor<37x45xf32> -> tensor<37xf32>
  %mb = llir.view %m <(d0, d1) -> (d0)> : tensor<37xf32> -> tensor<37x45xf32>
  %d = llir.elementwise sub(%h, %mb) : (tensor<37x45xf32>, tensor<37x45xf32>) -> tensor<37x45xf32>
  %e, %i = "test.argmax"(%d) : (tensor<37x45xf32>) -> (tensor<37xf32>, tensor<37xi64>)
  %v = llir.elementwise add(%e, %m) : (tensor<37xf32>, tensor<37xf32>) -> tensor<37xf32>
)");
  compileTo(program, std::nullopt);
  check();
}

// Each part's state of two values is in the workspace.
TEST_F(ArgMax, ReducesRowsInParts) {
  std::string text = R"(
func.func @main(%x: tensor<37x16xf32> {hlir.name = "x", hlir.kind = "input"},
                %w: tensor<45x16xf32> {hlir.name = "w", hlir.kind = "input"})
    -> (tensor<37xf32>, tensor<37xi64>) {
  %g = llir.kernel(%x, %w) : (tensor<37x16xf32>, tensor<45x16xf32>) -> tensor<37x45xf32> {
  ^bb0(%a: tensor<37x16xf32>, %b: tensor<45x16xf32>):
    %0 = llir.gemm %a, %b k(16) <(d0, d1, d2) -> (d0, d2)>, <(d0, d1, d2) -> (d1, d2)>
        : tensor<37x16xf32>, tensor<45x16xf32> -> tensor<37x45xf32>
    llir.yield %0 : tensor<37x45xf32>
  }
  %v, %i = llir.kernel(%g) loops<GRID stream(d1:all) parts(7) op0 = pass {lanes = LANES, unroll = 2}>
      : (tensor<37x45xf32>) -> (tensor<37xf32>, tensor<37xi64>) {
  ^bb0(%a: tensor<37x45xf32>):
    %0, %1 = "test.argmax"(%a) : (tensor<37x45xf32>) -> (tensor<37xf32>, tensor<37xi64>)
    llir.yield %0, %1 : tensor<37xf32>, tensor<37xi64>
  }
  return %v, %i : tensor<37xf32>, tensor<37xi64>
}
)";
  for (auto [grid, lanes] :
       {std::pair("grid(d0)", "4"), std::pair("grid(d0:16 v8)", "1")}) {
    std::string program = text;
    program.replace(program.find("GRID"), 4, grid);
    program.replace(program.find("LANES"), 5, lanes);
    std::string planned = compileTo(program, Phase::Lowered);
    EXPECT_EQ(count(planned, "workspace("), 1u) << planned;
    compileTo(program, std::nullopt);
    check();
  }
}
