//===- CostModel.h - Cost models ------------------------------------------===//
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
  /// The price of one node without its operands: not negative, and infinite if
  /// the node must not be extracted. It depends on the node view only. Leaves
  /// are free; the model is not called for them.
  virtual double cost(const NodeView &node) = 0;
};

/// `scope` is the function that is saturated (for its symbols), `machine` the
/// machine that it is compiled for.
using CostModelFactory = std::function<std::unique_ptr<CostModel>(
    mlir::Operation *scope, const MachineModel &machine)>;

/// Registers a cost model for `eqsat-saturate{cost=name}`. Built in are
///   unit       every op costs 1
///   attribute  the number in the op's attribute `cost`, or 1 without one; an
///              op with the unit attribute `forbidden` is never extracted
void registerCostModel(llvm::StringRef name, CostModelFactory factory);
/// Null for an unknown name.
const CostModelFactory *lookupCostModel(llvm::StringRef name);
llvm::SmallVector<llvm::StringRef> registeredCostModels();
/// Like `lookupCostModel`, but emits an error for an unknown name. An empty
/// name means `static` if it is registered, otherwise `unit`.
llvm::FailureOr<const CostModelFactory *> findCostModel(mlir::Location loc,
                                                        llvm::StringRef name);

/// Returns how often the regions of an op run, for the ops that the function
/// knows. The e-graph may read these regions as scopes, so each must be a
/// single block that always runs as a whole, at least once, and reads only its
/// arguments and values around it; the operands of its terminator are its
/// results.
using RegionTrips = std::function<std::optional<double>(mlir::Operation *op)>;
void registerRegionTrips(RegionTrips trips);
/// nullopt for an op that no registered function knows.
std::optional<double> regionTrips(mlir::Operation *op);

} // namespace luminal::eqsat

#endif // LUMINAL_EQSAT_PROGRAM_COSTMODEL_H
