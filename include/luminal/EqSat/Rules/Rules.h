//===- Rules.h - The compiled-in rules ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_EQSAT_RULES_RULES_H
#define LUMINAL_EQSAT_RULES_RULES_H

namespace luminal::eqsat {

/// Registers the rule sets of lib/EqSat/Rules, in this order: views,
/// arithmetic, math, narrow, matmul, norm, order, scan, update, lowering,
/// alternatives. Also registers the analyses whose facts the rules read:
///   number   every element is this number (an attribute of the element type)
///   extent   every element is this expression over symbols (a #hlir.map)
///   range    integer elements lie in [lo, hi] (array<i64: lo, hi>)
/// as well as the equality of tensor types with symbolic dims and the cost
/// model `static`. May be called more than once, before any pass runs.
void registerAllRuleSets();

} // namespace luminal::eqsat

#endif // LUMINAL_EQSAT_RULES_RULES_H
