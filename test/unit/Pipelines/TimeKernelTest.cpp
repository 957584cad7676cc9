//===- TimeKernelTest.cpp - How long kernels take -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/Pipelines/TimeKernel.h"
#include "luminal/InitAll.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace luminal;
using namespace mlir;

namespace {
struct TimeKernel : testing::Test {
  TimeKernel() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context = std::make_unique<MLIRContext>(registry,
                                            MLIRContext::Threading::DISABLED);
    context->getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        errors.push_back(diagnostic.str());
      return success();
    });
    options.seconds = 0.002;
  }

  /// A map over rows of 1000 with `function` on `rows` of them.
  static std::string makeProgram(StringRef function, StringRef rows,
                                 StringRef loops) {
    std::string type;
    if (!rows.starts_with("s"))
      type = ("tensor<" + rows + "x1000xf32>").str();
    else
      type = ("tensor<?x1000xf32, #hlir.dims<" + rows + ">>").str();
    std::string symbols =
        rows.starts_with("s")
            ? "attributes {hlir.symbols = #hlir.symbols<s in [1, 100000]>} "
            : "";
    return "func.func @main(%a: " + type + ") -> " + type + " " + symbols +
           "{\n  %r = llir.kernel(%a)" + loops.str() + " : (" + type + ") -> " +
           type + " {\n  ^bb0(%x: " + type + "):\n    %0 = llir.elementwise " +
           function.str() + "(%x) : (" + type + ") -> " + type +
           "\n    llir.yield %0 : " + type + "\n  }\n  return %r : " + type +
           "\n}\n";
  }

  std::unique_ptr<MLIRContext> context;
  std::vector<std::string> errors;
  TimeOptions options;
};
} // namespace

TEST_F(TimeKernel, MoreWorkTakesLonger) {
  FailureOr<double> few =
      timeProgram(*context, makeProgram("sin", "10", ""), options);
  FailureOr<double> many =
      timeProgram(*context, makeProgram("sin", "1000", ""), options);
  ASSERT_TRUE(succeeded(few) && succeeded(many));
  EXPECT_GT(*few, 0);
  EXPECT_GT(*many, 2 * *few);
}

TEST_F(TimeKernel, SizesAreTheCallers) {
  std::string program = makeProgram("sin", "s", "");
  FailureOr<double> usual = timeProgram(*context, program, options);
  options.symbols["s"] = 6400;
  FailureOr<double> many = timeProgram(*context, program, options);
  ASSERT_TRUE(succeeded(usual) && succeeded(many));
  EXPECT_GT(*many, 2 * *usual);
}

TEST_F(TimeKernel, SchedulesAreObeyed) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(
      makeProgram("sin", "1000", " loops<grid(d0*d1:4096 v1)>"),
      ParserConfig(context.get()));
  ASSERT_TRUE(module);
  llir::KernelOp kernel;
  module->walk([&](llir::KernelOp op) { kernel = op; });
  FailureOr<double> scalar = timeKernel(kernel, {}, options);
  kernel.removeLoopsAttr();
  FailureOr<double> vector = timeKernel(kernel, {}, options);
  ASSERT_TRUE(succeeded(scalar) && succeeded(vector));
  EXPECT_GT(*scalar, *vector);
}

TEST_F(TimeKernel, AnErrorIsOne) {
  EXPECT_TRUE(failed(timeProgram(
      *context, makeProgram("sin", "10", " loops<grid(d0)>"), options)));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].find("its schedule has axes over d0"), std::string::npos);
  options.symbols["s"] = 0;
  EXPECT_TRUE(
      failed(timeProgram(*context, makeProgram("sin", "s", ""), options)));
  ASSERT_EQ(errors.size(), 2u);
}
