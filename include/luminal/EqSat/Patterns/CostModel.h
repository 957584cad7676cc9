//===- CostModel.h - Prices of nodes --------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_EQSAT_PATTERNS_COSTMODEL_H
#define LUMINAL_EQSAT_PATTERNS_COSTMODEL_H

#include "luminal/EqSat/Patterns/RuleSets.h"

namespace luminal::eqsat {

/// Prices nodes for extraction.
class CostModel {
public:
  virtual ~CostModel();
  /// The price of one node by itself: not negative, infinite where the node may
  /// not stand in the result. Nodes that look alike have one price. Leaves are
  /// free and are not asked about.
  virtual double cost(const NodeView &node) = 0;
};

/// `scope` is the function that is saturated (for its symbols).
using CostModelFactory =
    std::function<std::unique_ptr<CostModel>(mlir::Operation *scope)>;

/// Makes a cost model known to `eqsat-saturate{cost=name}`. Built in are
///   unit       every op costs 1
///   attribute  an op costs what its attribute `cost` says (a number), else 1;
///              an op with the unit attribute `forbidden` may not be extracted
void registerCostModel(llvm::StringRef name, CostModelFactory factory);
/// Null for an unknown name.
const CostModelFactory *lookupCostModel(llvm::StringRef name);
llvm::SmallVector<llvm::StringRef> registeredCostModels();

} // namespace luminal::eqsat

#endif // LUMINAL_EQSAT_PATTERNS_COSTMODEL_H
