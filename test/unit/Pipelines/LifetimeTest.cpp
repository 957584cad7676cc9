//===- LifetimeTest.cpp - What compiles and loads leave behind ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/InitAll.h"
#include "luminal/Pipelines/Compile.h"
#include "luminal/Runtime/Artifact.h"
#include "luminal/Support/Expr.h"
#include "mlir/IR/DialectRegistry.h"
#include "gtest/gtest.h"
#include <filesystem>
#include <fstream>
#include <thread>
#include <unistd.h>

using namespace luminal;

namespace {
struct TemporaryFolder {
  TemporaryFolder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "luminal-lifetime-XXXXXX")
            .string();
    path = mkdtemp(name.data());
  }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};
} // namespace

/// A program with unique symbols and extents.
static std::string program(unsigned i) {
  std::string s = "length" + std::to_string(i),
              wide = "2 * " + s + " + " + std::to_string(100 + i);
  return "func.func @main(%x: tensor<?x?xf32, #hlir.dims<" + s + ", " + wide +
         ">> {hlir.name = \"x\"}) -> (tensor<?xf32, #hlir.dims<" + s +
         ">> {hlir.name = \"y\"}) attributes {hlir.symbols = #hlir.symbols<" +
         s + " in [1, 8]>} {\n  %0 = hlir.exp2 %x : tensor<?x?xf32, " +
         "#hlir.dims<" + s + ", " + wide +
         ">>\n  %1 = hlir.reduce_sum %0 : " + "tensor<?x?xf32, #hlir.dims<" +
         s + ", " + wide + ">> -> " + "tensor<?xf32, #hlir.dims<" + s +
         ">>\n  return %1 : " + "tensor<?xf32, #hlir.dims<" + s + ">>\n}\n";
}

static void compileAndLoad(const std::filesystem::path &folder, unsigned i) {
  std::filesystem::path input = folder / "m.mlir", output = folder / "m.lum";
  std::ofstream(input) << program(i);
  {
    mlir::DialectRegistry registry;
    registerAllDialects(registry);
    mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
    CompileOptions options;
    options.input = input.string();
    options.output = output.string();
    ASSERT_TRUE(mlir::succeeded(compile(context, options)));
  }
  // Artifacts are loaded and freed on any thread.
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (unsigned k = 0; k < 25; ++k)
        EXPECT_TRUE(runtime::Artifact::load(output.string()));
    });
  for (std::thread &thread : threads)
    thread.join();
}

TEST(Lifetime, CompilesAndLoadsLeaveNoExpressions) {
  registerAllPasses();
  TemporaryFolder folder;
  // Allocations made once per process.
  compileAndLoad(folder.path, 0);
  size_t before = Expr::countNodes();
  for (unsigned i = 1; i < 4; ++i) {
    compileAndLoad(folder.path, i);
    EXPECT_EQ(Expr::countNodes(), before);
  }
}
