//===- Rules.h - What the files of this folder share ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_EQSAT_RULES_RULES_H
#define LUMINAL_LIB_EQSAT_RULES_RULES_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "luminal/EqSat/Patterns/RuleSets.h"

namespace luminal::eqsat {

/// Functions of so many floats that round by more than half an ulp somewhere.
llvm::SmallVector<llir::Fn> roundingFunctions(mlir::MLIRContext *context,
                                              unsigned arity);

/// The analyses `number`, `extent`, `range` and `weight`, and equality of
/// tensor types.
void registerFacts();
/// The cost model `static`, and how often HLIR's regions run.
void registerStaticCost();
/// Every native function that a .pdll of this folder declares.
void addNatives(RuleSetBuilder &set);
/// Those of Alternatives.pdll.
void addAlternativeNatives(RuleSetBuilder &set);

/// Those of Order.pdll.
void addOrderNatives(RuleSetBuilder &set);

/// Those of Scan.pdll.
void addScanNatives(RuleSetBuilder &set);
/// Its running products of floats.
void addProductNatives(RuleSetBuilder &set);

/// Those of Update.pdll.
void addUpdateNatives(RuleSetBuilder &set);

/// The arguments of a native function: a tensor type, of a value or given as
/// one (null where it is none); and an index map.
mlir::RankedTensorType tensorOf(const MatchContext &c, const NativeValue &v);
hlir::MapAttr mapOf(const NativeValue &v);

/// A rank-0 constant and the view that repeats it; kNone at a limit.
ClassId makeSplat(MatchContext &c, mlir::TypedAttr value,
                  mlir::RankedTensorType shape);

/// `value`, an f64, rounded to a float type; or the same integer, where the
/// integer type has it (i1 as 0 and 1). Null where there is no such number.
mlir::TypedAttr numberOfType(double value, mlir::Type elementType);

} // namespace luminal::eqsat

#endif // LUMINAL_LIB_EQSAT_RULES_RULES_H
