//===- RandomProgramsTest.cpp - Fused programs against their definition ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs of flat LLIR, fused, scheduled, compiled and run, give what
// the interpreter says of the flat program: integers and exact functions bit
// for bit, all others within the bounds that ErrorBounds.h computes. A program
// that fails is printed with the first of its values that fails alone.
//
// LUMINAL_PROGRAMS=N runs N programs, LUMINAL_PROGRAMS=FIRST:LAST chosen ones;
// LUMINAL_ORDERS does so for programs of orders, scans and updates,
// LUMINAL_EXPERTS for mixtures of experts.
// LUMINAL_TEST_DEVICE=cuda runs them there (docs/Testing.md).
//
//===----------------------------------------------------------------------===//

#include "ProgramRunner.h"
#include "Rounds.h"
#include "gtest/gtest.h"

#include <cstdio>

using namespace luminal;
using namespace luminal::test;

/// Compiles the program that returns these values, and checks its calls.
static std::string run(ProgramRunner &runner, const RandomProgram &program,
                       const std::vector<unsigned> &returned, uint64_t seed) {
  auto calls = runner.makeCalls(program, returned, seed);
  return calls ? runner.check(program.getText(returned), *calls) : runner.error;
}

/// Runs the programs of these seeds; how many there were.
static uint64_t runAll(ProgramRunner &runner, Seeds seeds,
                       RandomProgram (*make)(uint64_t)) {
  auto [first, last] = seeds;
  uint64_t programs = 0;
  unsigned failures = 0;
  for (uint64_t seed = first; seed < last && failures < 10; ++seed) {
    RandomProgram program = make(seed);
    ++programs;
    std::string wrong = run(runner, program, program.results, seed);
    if (wrong.empty())
      continue;
    ++failures;
    // The first value that is wrong alone makes the smallest program.
    std::vector<unsigned> returned = program.results;
    for (unsigned i = 0; i < program.nodes.size(); ++i) {
      if (program.nodes[i].isArgument)
        continue;
      std::string alone = run(runner, program, {i}, seed);
      if (alone.empty())
        continue;
      returned = {i};
      wrong = alone;
      break;
    }
    ADD_FAILURE() << "seed " << seed << ": " << wrong << "\n"
                  << program.getText(returned);
  }
  return programs;
}

TEST(RandomPrograms, ComputeWhatTheirOpsSay) {
  ProgramRunner runner;
  const RunCounts &counts = runner.counts;
  uint64_t programs =
      runAll(runner, readSeeds("LUMINAL_PROGRAMS", countRounds(100, 15)),
             [](uint64_t seed) { return makeRandomProgram(seed); });
  std::printf("%llu programs, %llu calls, %llu elements: %.1f%% within bounds, "
              "%.2f%% of these without one, %.2f%% loose\n",
              (unsigned long long)programs, (unsigned long long)counts.calls,
              (unsigned long long)counts.elements,
              100.0 * double(counts.bounded) / double(counts.elements),
              100.0 * double(counts.unbounded) / double(counts.bounded),
              100.0 * double(counts.loose) / double(counts.bounded));
  // Bounds that allow anything would show nothing. One program may be of
  // masked rows alone.
  if (programs < 100)
    return;
  EXPECT_LT(double(counts.loose + counts.unbounded),
            0.1 * double(counts.bounded));
}

TEST(RandomOrders, ComputeWhatTheirOpsSay) {
  ProgramRunner runner;
  uint64_t programs =
      runAll(runner, readSeeds("LUMINAL_ORDERS", countRounds(40, 8)),
             makeRandomOrders);
  std::printf("%llu programs, %llu calls, %llu elements\n",
              (unsigned long long)programs,
              (unsigned long long)runner.counts.calls,
              (unsigned long long)runner.counts.elements);
}

TEST(RandomExperts, ComputeWhatTheirOpsSay) {
  ProgramRunner runner;
  uint64_t programs =
      runAll(runner, readSeeds("LUMINAL_EXPERTS", countRounds(12, 4)),
             makeRandomExperts);
  std::printf("%llu programs, %llu calls, %llu elements\n",
              (unsigned long long)programs,
              (unsigned long long)runner.counts.calls,
              (unsigned long long)runner.counts.elements);
}
