//===- IlpOracle.h - The cheapest choice, by integer programming ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_TEST_UNIT_EQSAT_ILPORACLE_H
#define LUMINAL_TEST_UNIT_EQSAT_ILPORACLE_H

#include "luminal/EqSat/Core/Extraction.h"

#include <optional>

namespace luminal::eqsat::test {

/// Whether the solver (CBC, the executable) is installed.
bool hasIlpSolver();

/// The least cost of the roots with shared nodes counted once: infinite if they
/// cannot be computed, std::nullopt if the solver did not finish. The solver's
/// choice is verified here: every required class has a node, there is no cycle,
/// and the cost is that of the chosen nodes. Its optimality is trusted.
std::optional<double> solveByIlp(const EGraph &graph,
                                 std::span<const ClassId> roots,
                                 const NodeCostFn &cost,
                                 unsigned maxSeconds = 60);

} // namespace luminal::eqsat::test

#endif // LUMINAL_TEST_UNIT_EQSAT_ILPORACLE_H
