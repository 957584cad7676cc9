//===- PdlPrograms.h - Random programs and random patterns ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LUMINAL_TEST_UNIT_EQSAT_PDLPROGRAMS_H
#define LUMINAL_TEST_UNIT_EQSAT_PDLPROGRAMS_H

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace luminal::eqsat::test {

/// A function of unregistered ops. The last op uses all results of the others,
/// so it shows what replaced them.
struct Source {
  struct Def {
    unsigned symbol;
    std::vector<unsigned> types;
    std::map<char, unsigned> attributes;
    std::vector<unsigned> operands; ///< values
    auto operator<=>(const Def &) const = default;
  };
  struct Result {
    unsigned def, index, type;
  };
  std::vector<Def> defs;
  /// Arguments, then results.
  std::vector<Result> values;

  std::string text() const;
};

struct Pattern {
  std::string name;
  /// The pattern, then the same with the operands of commutative ops in every
  /// other order.
  std::vector<std::string> texts;
  /// Whether the root is replaced by an operation, not by values.
  bool byOperation = false;
};

/// No two ops are equal: every value is a separate class.
Source makeSource(std::mt19937_64 &rng);
/// A pattern cut out of the program at an op: some operands become variables,
/// and some tests are left out. It usually matches there; sometimes a test is
/// made wrong. It may call the natives of `PdlDriverTest.cpp`.
Pattern makePattern(const Source &source, unsigned number,
                    std::mt19937_64 &rng);

} // namespace luminal::eqsat::test

#endif // LUMINAL_TEST_UNIT_EQSAT_PDLPROGRAMS_H
