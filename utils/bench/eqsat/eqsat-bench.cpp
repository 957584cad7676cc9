//===- eqsat-bench.cpp - The engine's figures beside their goals ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Usage: eqsat-bench [--core | --only WORKLOAD] [--models DIR] [program ...]
//
// Prints one table: the figures of the exact workloads (with --core, only those
// that need no MLIR; or the one that is named: math, sums, chains, rate, text
// or none), then, for each program given and each DIR/*/model.pt2,
// what its saturation takes with all compiled-in rules. Goals of time are for a
// machine where the calibrator takes 8 ns a match; on another machine they
// scale with it. Exit code 1 where a goal is missed.
//
//===----------------------------------------------------------------------===//

#include "Workloads.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <vector>

using namespace luminal::eqsat::bench;

int main(int argc, char **argv) {
  bool coreOnly = false;
  std::string only;
  std::vector<std::string> programs;
  for (int i = 1; i < argc; ++i) {
    if (!strcmp(argv[i], "--core")) {
      coreOnly = true;
    } else if (!strcmp(argv[i], "--only") && i + 1 < argc) {
      only = argv[++i];
    } else if (!strcmp(argv[i], "--models") && i + 1 < argc) {
      std::error_code none;
      for (auto &e : std::filesystem::directory_iterator(argv[++i], none))
        if (std::filesystem::exists(e.path() / "model.pt2"))
          programs.push_back(e.path() / "model.pt2");
    } else {
      programs.push_back(argv[i]);
    }
  }
  std::sort(programs.begin(), programs.end());

  struct Workload {
    const char *name;
    void (*run)(Figures &);
    bool needsMLIR;
  };
  static constexpr Workload kWorkloads[] = {
      {"math", runMath, false},     {"sums", runSums, false},
      {"chains", runChains, false}, {"candidates", runCandidates, false},
      {"rate", runMatchRate, true}, {"text", runChainFromText, true}};
  Figures figures;
  for (const Workload &w : kWorkloads)
    if (only.empty() ? !(coreOnly && w.needsMLIR) : only == w.name)
      w.run(figures);
  if (!coreOnly)
    for (const std::string &program : programs)
      runModel(figures, program);
  printf("%u goals missed\n", figures.numMissed());
  return figures.allMet() ? 0 : 1;
}
