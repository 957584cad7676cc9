//===- Rules.h - Declarations shared by the rules -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_EQSAT_RULES_RULES_H
#define LUMINAL_LIB_EQSAT_RULES_RULES_H

#include "luminal/Dialect/LLIR/IR/LLIR.h"
#include "luminal/EqSat/Patterns/RuleSets.h"

namespace luminal::eqsat {

/// The functions with `arity` float operands whose error exceeds half an ulp
/// for some operands.
llvm::SmallVector<llir::Fn> roundingFunctions(mlir::MLIRContext *context,
                                              unsigned arity);

/// Registers the analyses `number`, `extent`, `range` and `weight`, and the
/// equality of tensor types.
void registerFacts();
/// Registers the cost model `static`, and how often regions of HLIR run.
void registerStaticCost();
/// Adds all native functions that the .pdll files of this folder declare.
void addNatives(RuleSetBuilder &set);
/// Adds the native functions of Alternatives.pdll.
void addAlternativeNatives(RuleSetBuilder &set);

/// Adds the native functions of Order.pdll.
void addOrderNatives(RuleSetBuilder &set);

/// Adds the native functions of Scan.pdll.
void addScanNatives(RuleSetBuilder &set);
/// Adds those for running products of floats in Scan.pdll.
void addProductNatives(RuleSetBuilder &set);

/// Adds the native functions of Update.pdll.
void addUpdateNatives(RuleSetBuilder &set);

/// The tensor type of a native's argument, which is a value or a type (null if
/// it is not a tensor); and the index map of an argument.
mlir::RankedTensorType tensorOf(const MatchContext &c, const NativeValue &v);
hlir::MapAttr mapOf(const NativeValue &v);

/// Makes a rank-0 constant and the view that repeats it; kNone at a limit.
ClassId makeSplat(MatchContext &c, mlir::TypedAttr value,
                  mlir::RankedTensorType shape);

/// `value` rounded to a float type, or as an integer if the type can represent
/// it (i1 as 0 and 1). Null if it cannot.
mlir::TypedAttr numberOfType(double value, mlir::Type elementType);

} // namespace luminal::eqsat

#endif // LUMINAL_LIB_EQSAT_RULES_RULES_H
