//===- RuleSets.cpp - Rules by name, and what they stand on ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/EqSat/Patterns/RuleSets.h"
#include "Registry.h"
#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace luminal::eqsat;

ClassAnalysis::~ClassAnalysis() = default;
TypeSpellings::~TypeSpellings() = default;
CostModel::~CostModel() = default;

namespace {

class UnitCost : public CostModel {
  double cost(const NodeView &) override { return 1; }
};

class AttributeCost : public CostModel {
  double cost(const NodeView &node) override {
    if (node.attributes.contains("forbidden"))
      return kInfinity;
    if (auto n = node.attributes.getAs<IntegerAttr>("cost"))
      return n.getValue().signedRoundToDouble();
    if (auto x = node.attributes.getAs<FloatAttr>("cost"))
      return x.getValueAsDouble();
    return 1;
  }
  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
};

} // namespace

Registry &Registry::get() {
  static Registry registry = [] {
    Registry r;
    r.costModels.insert(
        {"unit", [](Operation *) { return std::make_unique<UnitCost>(); }});
    r.costModels.insert({"attribute", [](Operation *) {
                           return std::make_unique<AttributeCost>();
                         }});
    return r;
  }();
  return registry;
}

void luminal::eqsat::registerAnalysis(StringRef name, AnalysisFactory factory) {
  Registry::get().analyses.insert({name.str(), std::move(factory)});
}

void luminal::eqsat::registerRegionTrips(RegionTrips trips) {
  Registry::get().regionTrips.push_back(std::move(trips));
}

void luminal::eqsat::registerTypeSpellings(TypeSpellingsFactory factory) {
  Registry::get().typeSpellings.push_back(std::move(factory));
}

void luminal::eqsat::registerRuleDialects(
    std::function<void(DialectRegistry &)> insert) {
  Registry::get().dialects.push_back(std::move(insert));
}

void luminal::eqsat::registerRuleSet(StringRef name, RuleSetPopulate populate) {
  Registry::get().ruleSets.insert({name.str(), std::move(populate)});
}

void luminal::eqsat::registerCostModel(StringRef name,
                                       CostModelFactory factory) {
  Registry::get().costModels.insert({name.str(), std::move(factory)});
}

template <typename Map>
static SmallVector<StringRef> namesOf(const Map &map) {
  SmallVector<StringRef> names;
  for (auto &entry : map)
    names.push_back(entry.first);
  return names;
}

SmallVector<StringRef> luminal::eqsat::registeredRuleSets() {
  return namesOf(Registry::get().ruleSets);
}

SmallVector<StringRef> luminal::eqsat::registeredCostModels() {
  return namesOf(Registry::get().costModels);
}

const CostModelFactory *luminal::eqsat::lookupCostModel(StringRef name) {
  auto &models = Registry::get().costModels;
  auto it = models.find(name.str());
  return it == models.end() ? nullptr : &it->second;
}
