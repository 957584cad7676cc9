//===- RulePrograms.h - Programs that make every rule fire ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_TEST_UNIT_EQSAT_RULEPROGRAMS_H
#define LUMINAL_TEST_UNIT_EQSAT_RULEPROGRAMS_H

#include "luminal/Dialect/HLIR/Utils/Composites.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace luminal::test {

/// An operand: extents in text form ("3", "s0"), and what values it gets.
struct Operand {
  std::vector<std::string> extents;
  std::string element;
  /// Integers in [lo, hi]; floats without bounds have all kinds of values.
  std::optional<std::pair<int64_t, int64_t>> range = std::nullopt;
  bool isWeight = false;
  /// Floats in the range are integers: their sums are exact in any order.
  bool isIntegral = false;
};

using Build =
    std::function<mlir::Value(hlir::Composer &, llvm::ArrayRef<mlir::Value>)>;

struct RuleProgram {
  std::string name;
  std::vector<Operand> operands;
  Build build;
  /// The remaining functions of elementwise ops, if given; "softmax" and the
  /// like stand for other ops. Constants and views do not count.
  std::optional<std::vector<std::string>> left = std::nullopt;
  /// If given, the type in which the whole program is written, including its
  /// operands: like a front end that computes nothing in a wider type than its
  /// values.
  std::string spelledIn = {};
};

/// Programs for every composite in every dtype, spellings of models, products
/// and norms, and structure. The symbol `s0` is in [0, 8].
std::vector<RuleProgram> allRulePrograms();
/// The programs that order rows.
std::vector<RuleProgram> orderPrograms();
/// The programs that scan rows.
std::vector<RuleProgram> scanPrograms();
/// The programs that update rows.
std::vector<RuleProgram> updatePrograms();
/// The programs of inverse trigonometric functions and of the bits of integers.
std::vector<RuleProgram> anglePrograms();

/// Stride over the programs: the release build tests their results, and a
/// sanitized build takes ten times as long.
#if __has_feature(address_sanitizer)
constexpr size_t kRuleProgramStride = 5;
#else
constexpr size_t kRuleProgramStride = 1;
#endif
/// The same for programs that are checked twice, with exact rules and with all
/// rules: a sanitized build alternates between the two.
constexpr size_t kCheckStride =
    kRuleProgramStride == 1 ? 1 : 2 * kRuleProgramStride;
constexpr bool isCheckTaken(size_t i, bool isExact) {
  return (isExact ? i : i + kRuleProgramStride) % kCheckStride == 0;
}

} // namespace luminal::test

#endif // LUMINAL_TEST_UNIT_EQSAT_RULEPROGRAMS_H
