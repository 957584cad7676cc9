//===- NativesFixture.h - Rules with native functions, on text ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_UNIT_EQSAT_NATIVESFIXTURE_H
#define LUMINAL_UNIT_EQSAT_NATIVESFIXTURE_H

#include "luminal/EqSat/Passes.h"
#include "luminal/EqSat/Patterns/RuleSets.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

namespace luminal::eqsat {

class Natives : public testing::Test {
protected:
  Natives() {
    context.loadDialect<mlir::func::FuncDialect, mlir::pdl::PDLDialect>();
    context.allowUnregisteredDialects();
    // Diagnostics are checked instead of printed.
    context.getDiagEngine().registerHandler([&](mlir::Diagnostic &d) {
      llvm::raw_string_ostream(messages) << d << "\n";
    });
  }

  /// A rule set with a unique name, of patterns as text.
  void
  add(llvm::StringRef name, const char *patterns,
      std::function<void(RuleSetBuilder &, mlir::PDLPatternModule &)> more) {
    registerRuleSet(name, [=](RuleSetBuilder &set) {
      mlir::PDLPatternModule module(mlir::parseSourceString<mlir::ModuleOp>(
          patterns, set.patterns().getContext()));
      more(set, module);
      set.patterns().add(std::move(module));
    });
  }

  /// Text of the module after saturation; empty where it failed.
  std::string saturate(llvm::StringRef set, const char *input) {
    mlir::OwningOpRef<mlir::ModuleOp> module =
        mlir::parseSourceString<mlir::ModuleOp>(input, &context);
    if (!module)
      return "";
    SaturatePassOptions options;
    options.ruleSets = {set.str()};
    options.cost = "attribute";
    options.allowUnregistered = true;
    mlir::PassManager pm(&context);
    pm.addPass(createSaturatePass(options));
    if (failed(pm.run(*module)))
      return "";
    std::string text;
    llvm::raw_string_ostream os(text);
    module->print(os);
    return text;
  }

  /// Text of the function with this name.
  static llvm::StringRef functionOf(llvm::StringRef text,
                                    llvm::StringRef name) {
    return text.split(("@" + name + "(").str()).second.split("func.func").first;
  }

  static bool has(llvm::StringRef text, llvm::StringRef part) {
    return text.contains(part);
  }

  mlir::MLIRContext context;
  std::string messages;
};

/// The known value: that of "test.constant", and that of its negation.
class ValueAnalysis : public ClassAnalysis {
public:
  mlir::Attribute make(const NodeView &node) override {
    if (!node.name)
      return {};
    if (node.name->getStringRef() == "test.constant")
      return node.attributes.get("value");
    auto operand =
        node.operandFacts.size() == 1
            ? mlir::dyn_cast_or_null<mlir::IntegerAttr>(node.operandFacts[0])
            : mlir::IntegerAttr();
    if (node.name->getStringRef() == "test.neg" && operand)
      return mlir::IntegerAttr::get(operand.getType(), -operand.getInt());
    return {};
  }
  std::optional<mlir::Attribute> join(mlir::Attribute,
                                      mlir::Attribute) override {
    return std::nullopt;
  }
};

/// x + z = x, where the native IsZero holds for z.
inline constexpr const char *kAddZero = R"mlir(
pdl.pattern @AddZero : benefit(0) {
  %t = pdl.type
  %x = pdl.operand
  %z = pdl.operand
  %root = pdl.operation "test.add"(%x, %z : !pdl.value, !pdl.value) -> (%t : !pdl.type)
  pdl.apply_native_constraint "IsZero"(%z : !pdl.value)
  pdl.rewrite %root {
    pdl.replace %root with (%x : !pdl.value)
  }
})mlir";

} // namespace luminal::eqsat

#endif // LUMINAL_UNIT_EQSAT_NATIVESFIXTURE_H
