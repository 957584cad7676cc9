//===- Rounds.h - How many rounds a random test runs ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random tests draw the same rounds in every run, few enough for each change.
// LUMINAL_ROUNDS=N multiplies them all.
//
//===----------------------------------------------------------------------===//

#ifndef LUMINAL_TEST_UNIT_ROUNDS_H
#define LUMINAL_TEST_UNIT_ROUNDS_H

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace luminal::test {

#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kIsSanitized = true;
#else
inline constexpr bool kIsSanitized = false;
#endif

/// `usual` rounds, or `sanitized` in a build that takes ten times as long, in
/// either case as often as LUMINAL_ROUNDS says.
inline uint64_t countRounds(uint64_t usual, uint64_t sanitized) {
  const uint64_t rounds = kIsSanitized ? sanitized : usual;
  const char *text = std::getenv("LUMINAL_ROUNDS");
  const double factor = text ? std::strtod(text, nullptr) : 1;
  return std::max<uint64_t>(1, uint64_t(double(rounds) * factor));
}

} // namespace luminal::test

#endif // LUMINAL_TEST_UNIT_ROUNDS_H
