//===- StaticCost.cpp - The roofline price of a node ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Rules.h"
#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "luminal/EqSat/Patterns/CostModel.h"

#include <limits>

using namespace mlir;
using namespace luminal;
using namespace luminal::eqsat;

namespace {
/// What LLIR states of its ops; what is HLIR does not run. Each op costs a
/// little, so that of equal programs the shorter one is taken, and so does a
/// check of an index.
class StaticCost : public CostModel {
public:
  explicit StaticCost(Operation *function)
      : assumptions(hlir::getAssumptions(function)) {}

  double cost(const NodeView &node) override {
    constexpr double perOp = 1e-3;
    if (!node.name ||
        isa_and_nonnull<hlir::HLIRDialect>(node.name->getDialect()))
      return std::numeric_limits<double>::infinity();
    std::optional<llir::Cost> cost = llir::getFlatCost(
        *node.name, node.operandTypes, node.resultTypes, node.attributes);
    double price = perOp + (cost ? cost->price(assumptions) : 0.0);
    return node.attributes.contains("checked") ? price + perOp : price;
  }

private:
  Assumptions assumptions;
};
} // namespace

void luminal::eqsat::registerStaticCost() {
  registerCostModel("static", [](Operation *function) {
    return std::make_unique<StaticCost>(function);
  });
}
