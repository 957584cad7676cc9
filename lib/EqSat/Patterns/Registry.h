//===- Registry.h - Rule sets and analyses by name ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_LIB_EQSAT_PATTERNS_REGISTRY_H
#define LUMINAL_LIB_EQSAT_PATTERNS_REGISTRY_H

#include "luminal/EqSat/Patterns/RuleSets.h"
#include "llvm/ADT/MapVector.h"

#include <string>

namespace luminal::eqsat {

/// Filled before any pass runs, and only read afterwards.
struct Registry {
  llvm::MapVector<std::string, RuleSetPopulate, std::map<std::string, unsigned>>
      ruleSets;
  llvm::MapVector<std::string, AnalysisFactory, std::map<std::string, unsigned>>
      analyses;
  std::vector<TypeSpellingsFactory> typeSpellings;
  std::vector<FindEqualities> equalities;
  std::vector<std::function<void(mlir::DialectRegistry &)>> dialects;

  static Registry &get();
};

} // namespace luminal::eqsat

#endif // LUMINAL_LIB_EQSAT_PATTERNS_REGISTRY_H
