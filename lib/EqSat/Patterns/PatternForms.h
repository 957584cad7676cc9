//===- PatternForms.h - One rule for each number of values in a range -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pattern may leave open how many values a range of operands holds, or how
// many results an operation below the root has. A node of the graph has a fixed
// number of operands, so such a pattern is a rule for each choice of numbers: a
// form. There is one for each number of operands that operators of the graph
// have; new operators bring new forms.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_LIB_EQSAT_PATTERNS_PATTERNFORMS_H
#define LUMINAL_LIB_EQSAT_PATTERNS_PATTERNFORMS_H

#include "PatternCompiler.h"

#include <set>

namespace luminal::eqsat {

class PatternForms {
public:
  PatternForms(mlir::pdl::PatternOp pattern, const RuleInfo &info)
      : pattern(pattern), info(info) {}

  /// The form that stands for all, with as few values as there can be. Emits
  /// one error where the pattern cannot be a rule.
  llvm::FailureOr<Rule> first(OpTable &ops, NativeBridge &natives,
                              NativeScopes scopes, bool explained);
  /// Whether there may be more.
  bool isOpen() const { return open; }
  /// Adds those that the graph has room for and that are not there yet, until
  /// there are more rules than there can be. Only where the pattern is open.
  void more(OpTable &ops, NativeBridge &natives, NativeScopes scopes,
            bool explained, std::vector<Rule> &rules);

private:
  using Counts = std::vector<unsigned>;
  using Choice = std::vector<std::optional<unsigned>>;
  /// Operands of one operation of the left side: so many values, and what is
  /// in `unknown`, which are places in `ends`.
  struct Operands {
    llvm::StringRef name;
    unsigned known = 0;
    std::vector<unsigned> unknown;
    /// How many the operation always has.
    std::optional<unsigned> fixed;
  };

  llvm::LogicalResult analyse();
  llvm::LogicalResult refuse(mlir::Operation *op, const llvm::Twine &reason);
  unsigned endOf(mlir::Value v, unsigned atLeast);
  void enumerate(size_t at, Choice &choice, const OpTable *ops,
                 std::set<Counts> &all) const;
  Extents extents(const Counts &counts) const;

  mlir::pdl::PatternOp pattern;
  const RuleInfo &info;
  /// What is left open: ranges of values, and operations with any number of
  /// results; and the smallest number of each.
  std::vector<mlir::Value> ends;
  std::vector<unsigned> least;
  std::vector<Operands> operands;
  std::set<Counts> stated;
  bool open = false;
};

} // namespace luminal::eqsat

#endif // LUMINAL_LIB_EQSAT_PATTERNS_PATTERNFORMS_H
