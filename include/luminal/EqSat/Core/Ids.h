//===- Ids.h - Numbers that stand for things inside an e-graph ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The core of the engine (EGraph, Matcher, Runner, Extraction) works on 32-bit
// numbers only. The owner of the graph interns what they stand for: OpTable
// does for MLIR, a small symbol table does in tests and benchmarks.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_EQSAT_CORE_IDS_H
#define LUMINAL_EQSAT_CORE_IDS_H

#include <cstdint>

namespace luminal::eqsat {

/// A class of equal terms. An id stays valid for ever; `EGraph::find` returns
/// its current representative.
using ClassId = uint32_t;
/// An operator: a name with a number of operands. Each has one table.
using OpId = uint32_t;
/// The data of a node besides its operator and children: its result type and
/// its attributes.
using PayloadId = uint32_t;
using TypeId = uint32_t;
using AttrId = uint32_t;
/// The name of an attribute.
using NameId = uint32_t;
using RuleId = uint32_t;

constexpr uint32_t kNone = ~0u;
/// The rule of nodes that are in the program as given.
constexpr RuleId kGiven = 0xffff;
/// Only for unions: the values were known to be equal before any rule ran.
constexpr RuleId kKnown = kGiven + 1;

} // namespace luminal::eqsat

#endif // LUMINAL_EQSAT_CORE_IDS_H
