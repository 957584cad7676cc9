//===- PatternForms.h - Rules for each length of a range ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A pattern may leave open how many values a range of operands holds, or how
// many results an operation below the root has. A node of the graph has a fixed
// number of operands, so such a pattern compiles to one rule, a form, for each
// combination of numbers. There are forms for the operand counts of the
// operators in the graph; new operators add new forms.
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

  /// The representative form, with the smallest possible numbers of values.
  /// Emits one error if the pattern cannot be a rule.
  llvm::FailureOr<Rule> first(OpTable &ops, NativeBridge &natives,
                              NativeScopes scopes, bool explained);
  /// Whether there may be more forms.
  bool isOpen() const { return open; }
  /// Adds the missing forms for the operators in the graph, up to the maximum
  /// number of rules. Only for an open pattern.
  void more(OpTable &ops, NativeBridge &natives, NativeScopes scopes,
            bool explained, std::vector<Rule> &rules);

private:
  using Counts = std::vector<unsigned>;
  using Choice = std::vector<std::optional<unsigned>>;
  /// The operands of one operation of the left side: `known` values, plus the
  /// ranges in `unknown`, which are indexes into `ends`.
  struct Operands {
    llvm::StringRef name;
    unsigned known = 0;
    std::vector<unsigned> unknown;
    /// The number of operands if the operation fixes it.
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
  /// The open numbers: ranges of values and operations with any number of
  /// results, and the smallest allowed number for each.
  std::vector<mlir::Value> ends;
  std::vector<unsigned> least;
  std::vector<Operands> operands;
  std::set<Counts> stated;
  bool open = false;
};

} // namespace luminal::eqsat

#endif // LUMINAL_LIB_EQSAT_PATTERNS_PATTERNFORMS_H
