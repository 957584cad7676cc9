//===- CostModel.h - Prices of nodes, and how often regions run -----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_EQSAT_PROGRAM_COSTMODEL_H
#define LUMINAL_EQSAT_PROGRAM_COSTMODEL_H

#include "luminal/EqSat/Patterns/RuleSets.h"
#include "luminal/Support/MachineModel.h"

namespace luminal::eqsat {

/// Prices nodes for extraction.
class CostModel {
public:
  virtual ~CostModel();
  /// The price of one node by itself: not negative, infinite where the node may
  /// not be extracted. It depends on the node view alone. Leaves are free, and
  /// no model is called for them.
  virtual double cost(const NodeView &node) = 0;
};

/// `scope` is the function that is saturated (for its symbols), `machine` the
/// one that its program is for.
using CostModelFactory = std::function<std::unique_ptr<CostModel>(
    mlir::Operation *scope, const MachineModel &machine)>;

/// Makes a cost model known to `eqsat-saturate{cost=name}`. Built in are
///   unit       every op costs 1
///   attribute  an op costs what its attribute `cost` says (a number), else 1;
///              an op with the unit attribute `forbidden` may not be extracted
void registerCostModel(llvm::StringRef name, CostModelFactory factory);
/// Null for an unknown name.
const CostModelFactory *lookupCostModel(llvm::StringRef name);
llvm::SmallVector<llvm::StringRef> registeredCostModels();
/// The same with an error for an unknown name. Empty: `static` where it is
/// registered, else `unit`.
llvm::FailureOr<const CostModelFactory *> findCostModel(mlir::Location loc,
                                                        llvm::StringRef name);

/// How often the regions of an op run, for ops that this function knows and
/// whose regions the e-graph may read as scopes: a single block each, run as a
/// whole from its arguments and the values around it to the operands of its
/// terminator, at least once.
using RegionTrips = std::function<std::optional<double>(mlir::Operation *op)>;
void registerRegionTrips(RegionTrips trips);
/// Nothing for an op that no registered function knows.
std::optional<double> regionTrips(mlir::Operation *op);

} // namespace luminal::eqsat

#endif // LUMINAL_EQSAT_PROGRAM_COSTMODEL_H
