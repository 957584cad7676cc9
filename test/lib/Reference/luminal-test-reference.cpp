//===- luminal-test-reference.cpp - Functions evaluated for tests ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluates every function without arguments of a .mlir file (its operands are
// constants), and prints a line for each result: "@name#0: " and the dense
// value, or with --bytes the bytes in hexadecimal. Exits with 2 if one fails.
//
//===----------------------------------------------------------------------===//

#include "luminal/InitAll.h"
#include "luminal/Reference/Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"

using namespace luminal;

int main(int argc, char **argv) {
  llvm::cl::opt<std::string> file(llvm::cl::Positional, llvm::cl::Required);
  llvm::cl::opt<bool> bytes("bytes", llvm::cl::desc("print bytes, not values"));
  llvm::cl::ParseCommandLineOptions(argc, argv);
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(file, sources, &context);
  if (!module)
    return 2;
  for (auto function : module->getOps<mlir::func::FuncOp>()) {
    if (function.isDeclaration() || function.getNumArguments())
      continue;
    auto results = reference::evaluate(function, {});
    if (failed(results))
      return 2;
    for (auto [i, tensor] : llvm::enumerate(*results)) {
      llvm::outs() << '@' << function.getName() << '#' << i << ": ";
      llvm::StringRef raw(tensor.data(), tensor.getNumBytes());
      if (bytes)
        llvm::outs() << llvm::toHex(raw) << '\n';
      else
        llvm::outs() << reference::toAttribute(&context, tensor) << '\n';
    }
  }
  return 0;
}
