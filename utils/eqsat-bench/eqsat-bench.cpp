//===- eqsat-bench.cpp - The engine's figures beside their goals ----------===//
//
// Usage: eqsat-bench [--core] [program.mlir ...]
//
// Prints one table: times of the exact workloads beside their goals, then, for
// each program given, what its saturation takes with all compiled-in rules.
// Goals are times on a machine where the calibrator takes 8 ns a match; on
// another machine they scale with it. Exit code 1 where a count is wrong.
//
//===----------------------------------------------------------------------===//

#include "Workloads.h"

#include <cstdio>
#include <cstring>

using namespace luminal::eqsat::bench;

int main(int argc, char **argv) {
  bool coreOnly = argc > 1 && !strcmp(argv[1], "--core");
  double calibration = calibrate();
  printf("calibrator: %.2f ns a match (goals are scaled by %.2f)\n\n",
         calibration, calibration / 8);
  printf("%-34s %10s %10s %8s %8s  %s\n", "workload", "ms", "goal", "MB",
         "goal", "");
  bool right = true;
  auto print = [&](const Row &row) {
    double goal = row.goal * calibration / 8;
    bool over = (goal != 0 && row.milliseconds > goal) ||
                (row.goalMegabytes != 0 && row.megabytes > row.goalMegabytes);
    auto number = [](double x, char *out, size_t size, const char *format) {
      if (x == 0)
        out[0] = 0;
      else
        snprintf(out, size, format, x);
      return out;
    };
    char a[32], b[32], c[32], d[32];
    printf("%-34s %10s %10s %8s %8s  %s%s\n", row.name.c_str(),
           number(row.milliseconds, a, sizeof(a), "%.2f"),
           number(goal, b, sizeof(b), "%.1f"),
           number(row.megabytes, c, sizeof(c), "%.1f"),
           number(row.goalMegabytes, d, sizeof(d), "%.0f"),
           over ? "OVER; " : "", row.note.c_str());
    fflush(stdout);
    right &= row.note.rfind("WRONG", 0) != 0;
  };
  print(runMath());
  print(runSum(10, 80));
  print(runSum(11, 300));
  for (const Chain &chain : kChains)
    print(chain.matrices == 161 ? runChain(161, 8000, 300)
                                : runChain(chain.matrices, 0, 0));
  if (coreOnly)
    return right ? 0 : 1;
  print(runMatchRate());
  print(runChainFromText(161, 10000));
  for (int i = 1; i < argc; ++i)
    for (const Row &row : runModel(argv[i]))
      print(row);
  return right ? 0 : 1;
}
