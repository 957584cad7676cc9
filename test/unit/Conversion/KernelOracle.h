//===- KernelOracle.h - Kernels by their definition -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluates the body of an llir.kernel one element at a time, without memory
// for intermediate values, from the definitions of the ops alone; and runs the
// compiled kernel on the same data.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_TEST_UNIT_CONVERSION_KERNELORACLE_H
#define LUMINAL_TEST_UNIT_CONVERSION_KERNELORACLE_H

#include "luminal/Conversion/LLIRToLLVM.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <random>
#include <string>
#include <vector>

namespace luminal::test {

/// A tensor's elements: floats as the nearest double, integers exactly.
struct Element {
  double f = 0;
  int64_t i = 0;
};

struct Array {
  std::vector<int64_t> shape;
  mlir::Type element;
  std::vector<Element> data;
};

using Sizes = std::map<std::string, int64_t>;

/// Rounds to the nearest value of the type.
Element roundTo(mlir::Type type, Element v);

/// Results of the kernel, by definition. std::nullopt where an index is out of
/// range.
std::optional<std::vector<Array>> interpret(llir::KernelOp kernel,
                                            const std::vector<Array> &inputs,
                                            const Sizes &sizes);

/// A kernel from the text of a module with one function that holds it,
/// compiled for the host.
class CompiledKernel {
public:
  explicit CompiledKernel(llvm::StringRef text, llvm::StringRef cpu = "native");
  ~CompiledKernel();

  llir::KernelOp kernel;
  KernelInfo info;
  bool ok = false;

  /// Operands of random elements; integers are in [0, indexLimit).
  std::vector<Array> randomInputs(const Sizes &sizes, uint64_t seed,
                                  int64_t indexLimit) const;
  /// Runs the work range in `parts` pieces; returns the status.
  int run(const std::vector<Array> &inputs, const Sizes &sizes, int parts,
          std::vector<Array> &results) const;

private:
  struct Memory;
  void compile(llvm::StringRef text, llvm::StringRef cpu);
  int call(Memory &memory, const Sizes &sizes, int parts) const;
  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<hlir::SymbolEntry> symbols;
  void *library = nullptr;
  void *function = nullptr;
};

/// Compiles `text`, runs it for each of `sizes` and compares every element with
/// the oracle's. `change` may put other elements into the random operands;
/// `found` takes the results of the host's code, of all sizes.
void checkKernel(
    llvm::StringRef text, const std::vector<Sizes> &sizes = {{}},
    double tolerance = 2e-6, int64_t indexLimit = 3,
    llvm::function_ref<void(std::vector<Array> &)> change = nullptr,
    std::vector<Array> *found = nullptr);

} // namespace luminal::test

#endif // LUMINAL_TEST_UNIT_CONVERSION_KERNELORACLE_H
