//===- StaticCost.cpp - The roofline price of a node ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Rules.h"
#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "luminal/EqSat/Program/CostModel.h"

#include <limits>

using namespace mlir;
using namespace luminal;
using namespace luminal::eqsat;

namespace {
/// The costs that LLIR states of its ops; HLIR ops do not run. Each op and each
/// check of an index costs a little more, so that of equally fast programs the
/// shorter one is taken.
class StaticCost : public CostModel {
public:
  StaticCost(Operation *function, const MachineModel &machine)
      : assumptions(hlir::getAssumptions(function)), machine(machine) {}

  double cost(const NodeView &node) override {
    constexpr double perOp = 1e-3;
    if (!node.name ||
        isa_and_nonnull<hlir::HLIRDialect>(node.name->getDialect()))
      return std::numeric_limits<double>::infinity();
    std::optional<llir::Cost> cost;
    if (auto *costed = node.name->getInterface<llir::CostOpInterface>())
      cost = costed->getCostOf(node.operandTypes, node.resultTypes,
                               node.attributes);
    double price = perOp + (cost ? cost->price(assumptions, machine) : 0.0);
    return node.attributes.contains("checked") ? price + perOp : price;
  }

private:
  Assumptions assumptions;
  MachineModel machine;
};
} // namespace

void luminal::eqsat::registerStaticCost() {
  registerCostModel("static",
                    [](Operation *function, const MachineModel &machine) {
                      return std::make_unique<StaticCost>(function, machine);
                    });
  registerRegionTrips([](Operation *op) -> std::optional<double> {
    if (auto repeat = dyn_cast<hlir::RepeatOp>(op))
      return double(repeat.getTrips());
    return std::nullopt;
  });
}
