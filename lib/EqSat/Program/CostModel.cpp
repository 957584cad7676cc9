//===- CostModel.cpp - Cost models ----------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "luminal/EqSat/Program/CostModel.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace luminal;
using namespace luminal::eqsat;

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

using Models = llvm::MapVector<std::string, CostModelFactory,
                               std::map<std::string, unsigned>>;

/// Filled before any pass runs, and only read afterwards.
static Models &registry() {
  static Models models = [] {
    Models m;
    m.insert({"unit", [](Operation *, const MachineModel &) {
                return std::make_unique<UnitCost>();
              }});
    m.insert({"attribute", [](Operation *, const MachineModel &) {
                return std::make_unique<AttributeCost>();
              }});
    return m;
  }();
  return models;
}

static std::vector<RegionTrips> &knownTrips() {
  static std::vector<RegionTrips> list;
  return list;
}

void luminal::eqsat::registerCostModel(StringRef name,
                                       CostModelFactory factory) {
  registry().insert({name.str(), std::move(factory)});
}

SmallVector<StringRef> luminal::eqsat::registeredCostModels() {
  SmallVector<StringRef> names;
  for (auto &[name, factory] : registry())
    names.push_back(name);
  return names;
}

const CostModelFactory *luminal::eqsat::lookupCostModel(StringRef name) {
  auto it = registry().find(name.str());
  return it == registry().end() ? nullptr : &it->second;
}

FailureOr<const CostModelFactory *>
luminal::eqsat::findCostModel(Location loc, StringRef name) {
  if (name.empty())
    name = lookupCostModel("static") ? "static" : "unit";
  if (const CostModelFactory *factory = lookupCostModel(name))
    return factory;
  InFlightDiagnostic diag = emitError(loc) << "no cost model is named '" << name
                                           << "'; known are ";
  llvm::interleaveComma(registeredCostModels(), diag);
  return diag;
}

void luminal::eqsat::registerRegionTrips(RegionTrips trips) {
  knownTrips().push_back(std::move(trips));
}

std::optional<double> luminal::eqsat::regionTrips(Operation *op) {
  for (const RegionTrips &trips : knownTrips())
    if (std::optional<double> n = trips(op))
      return n;
  return std::nullopt;
}
