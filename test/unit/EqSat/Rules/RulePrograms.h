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
  /// The functions of the elementwise ops that are left, where given; "softmax"
  /// and the like for other ops. Constants and views do not count.
  std::optional<std::vector<std::string>> left = std::nullopt;
  /// Written in this type throughout, its operands too, where one is given:
  /// like a front end that computes nothing wider than its values.
  std::string spelledIn = {};
};

/// Every composite in every dtype, spellings of models, products and norms,
/// structure. The symbol `s0` is in [0, 8].
std::vector<RuleProgram> allRulePrograms();
/// Those of them that order rows.
std::vector<RuleProgram> orderPrograms();
/// Those of them that scan rows.
std::vector<RuleProgram> scanPrograms();
/// Those of them that update rows.
std::vector<RuleProgram> updatePrograms();

/// Of so many programs one is taken: what they compute is a matter of the
/// release build, and a sanitized one takes ten times as long.
#if __has_feature(address_sanitizer)
constexpr size_t kRuleProgramStride = 5;
#else
constexpr size_t kRuleProgramStride = 1;
#endif
/// The same of programs that are checked twice, by exact rules alone and by
/// all: a sanitized build does one of both in turn.
constexpr size_t kCheckStride =
    kRuleProgramStride == 1 ? 1 : 2 * kRuleProgramStride;
constexpr bool isCheckTaken(size_t i, bool isExact) {
  return (isExact ? i : i + kRuleProgramStride) % kCheckStride == 0;
}

} // namespace luminal::test

#endif // LUMINAL_TEST_UNIT_EQSAT_RULEPROGRAMS_H
