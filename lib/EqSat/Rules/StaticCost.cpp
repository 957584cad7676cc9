//===- StaticCost.cpp - The roofline price of a node ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Rules.h"
#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "luminal/EqSat/Program/CostModel.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace luminal;
using namespace luminal::eqsat;

/// Whether the factor with the rows of a product is not contiguous along the
/// contracted dim. The last dim of the result belongs to the columns, so the
/// factor that does not depend on it has the rows.
static bool readsAcross(const NodeView &node) {
  if (!node.name->hasInterface<llir::ProductOpInterface>())
    return false;
  auto lhs = node.attributes.getAs<hlir::MapAttr>("lhsMap"),
       rhs = node.attributes.getAs<hlir::MapAttr>("rhsMap");
  const unsigned sum = cast<RankedTensorType>(node.resultTypes[0]).getRank();
  if (!lhs || !rhs || sum == 0 || lhs.usesDim(sum - 1) == rhs.usesDim(sum - 1))
    return false;
  ArrayRef<Expr> read = (lhs.usesDim(sum - 1) ? rhs : lhs).getResults();
  return !read.empty() && !read.back().usesDim(sum);
}

/// Whether a product multiplies elements of f16 or bf16.
static bool isNarrowProduct(const NodeView &node) {
  return node.name->hasInterface<llir::ProductOpInterface>() &&
         llvm::all_of(node.operandTypes, [](Type operand) {
           Type element = cast<RankedTensorType>(operand).getElementType();
           return element.isF16() || element.isBF16();
         });
}

namespace {
/// Uses the costs that LLIR states for its ops; HLIR ops must not be extracted.
/// Each op and each index check has a small additional cost, so that the
/// shorter of two equally fast programs is chosen.
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
    // Account for tensor cores.
    const MachineModel::Rates &rates = machine.products.kernels;
    if (cost && rates.f32 > 0 && isNarrowProduct(node))
      cost->flops = Expr::ceilDiv(
          cost->flops,
          std::max<int64_t>(1, std::lround(rates.f16 / rates.f32)));
    double price = perOp + (cost ? cost->price(assumptions, machine) : 0.0);
    // Of two products of equal price, prefer the one with contiguous rows: such
    // rows can be fused with another product, unlike a transposed view.
    if (readsAcross(node))
      price += perOp / 2;
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
      return llir::nominalValue(repeat.getTripsExpr(),
                                hlir::getAssumptions(repeat));
    return std::nullopt;
  });
}
