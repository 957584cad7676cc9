//===- RuleSets.cpp - Rule sets by name -----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/EqSat/Patterns/RuleSets.h"
#include "Registry.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace luminal::eqsat;

ClassAnalysis::~ClassAnalysis() = default;
TypeSpellings::~TypeSpellings() = default;

Registry &Registry::get() {
  static Registry registry;
  return registry;
}

void luminal::eqsat::registerAnalysis(StringRef name, AnalysisFactory factory) {
  Registry::get().analyses.insert({name.str(), std::move(factory)});
}

void luminal::eqsat::registerTypeSpellings(TypeSpellingsFactory factory) {
  Registry::get().typeSpellings.push_back(std::move(factory));
}

void luminal::eqsat::registerEqualities(FindEqualities find) {
  Registry::get().equalities.push_back(std::move(find));
}

void luminal::eqsat::registerRuleDialects(
    std::function<void(DialectRegistry &)> insert) {
  Registry::get().dialects.push_back(std::move(insert));
}

void luminal::eqsat::registerRuleSet(StringRef name, RuleSetPopulate populate) {
  Registry::get().ruleSets.insert({name.str(), std::move(populate)});
}

SmallVector<StringRef> luminal::eqsat::registeredRuleSets() {
  SmallVector<StringRef> names;
  for (auto &[name, populate] : Registry::get().ruleSets)
    names.push_back(name);
  return names;
}
