//===- RuleFixture.h - The compiled-in rules, and values for programs -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_TEST_UNIT_EQSAT_RULEFIXTURE_H
#define LUMINAL_TEST_UNIT_EQSAT_RULEFIXTURE_H

#include "Patterns/RuleLoader.h"
#include "RulePrograms.h"
#include "luminal/Reference/Interpreter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "gtest/gtest.h"

#include <random>

namespace luminal::test {

class RuleFixture : public testing::Test {
protected:
  RuleFixture();

  mlir::OwningOpRef<mlir::ModuleOp> build(const RuleProgram &instance);
  /// Values of every kind, or in the range that the operand has.
  reference::Tensor random(const Operand &operand, mlir::RankedTensorType type,
                           const reference::SymbolValues &symbols);
  /// Arguments for a program of `build` whose symbol is `extent`.
  std::vector<reference::Tensor> arguments(const RuleProgram &instance,
                                           mlir::func::FuncOp function,
                                           int64_t extent);

  mlir::MLIRContext context;
  /// Has every rule set.
  eqsat::RuleLoader loader;
  std::mt19937 rng{7};
  /// The numbers that rules name.
  std::vector<double> literals;

private:
  void collectLiterals();
  mlir::Type elementType(llvm::StringRef name);
};

} // namespace luminal::test

#endif // LUMINAL_TEST_UNIT_EQSAT_RULEFIXTURE_H
